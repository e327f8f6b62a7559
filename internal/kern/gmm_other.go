//go:build (!amd64 && !arm64) || purego

package kern

func fastProducts(t, x []float64, from, to int) bool                    { return false }
func fastSquares(t, x []float64, d int) bool                            { return false }
func fastNorms(dst, y []float64, d int) bool                            { return false }
func fastMultiply(y, x, w []float64, f, q int) bool                     { return false }
func fastSoften(s, lse, ent, inv []float64, k int, beta float64) bool   { return false }
func fastLogSumExp(dst, s []float64, k int) bool                        { return false }
func fastShare(r, s, f []float64, kp int) bool                          { return false }
func fastAccumulate(sum, t, r []float64, f, kp int) bool                { return false }
func fastPeak(int, bool) (flops float64)                                { return 0 }
func fastCentre(y, x, m []float64, d int) bool                          { return false }
func fastLower(sum, t, r []float64, d, dp int) bool                     { return false }
func fastWhitened(dst, x, mean, w, shift []float64, d, k int) bool      { return false }
func fastEllipses(dst, x, mean, scale, shift []float64, d, k int) bool  { return false }
func fastMasked(_, _, _, _, _, _, _ []float64, d, k int) bool           { return false }
func fastSpheres(dst, x, mean, f, shift []float64, d, k int) bool       { return false }
func fastArgmax(best []float64, label []int32, s []float64, k int) bool { return false }
func fastBand(sum, t, r []float64, f, columns, dp int)                  {}

func fastFew(_, _, _, _ []float64, _, _ int) bool                                    { return false }
func fastTally(*[4 * Lanes]float64, []float64, []float64, []float64, []float64) bool { return false }
func fastPresent(_, _, _ []float64, _ int) (missing, ok bool)                        { return false, false }
func fastLargest([]float64, int) (float64, bool)                                     { return 0, false }

func fastPack[F float32 | float64](x []float64, src []F, origin []float64, d int) bool {
	return false
}

func fastTails(_, _, _, _, _, _, _ []float64, _ int) bool { return false }
func fastWeigh(_, _, _, _, _, _ []float64, _ int) bool    { return false }

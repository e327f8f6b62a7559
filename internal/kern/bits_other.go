//go:build (!amd64 && !arm64) || purego

package kern

func fastPackColumns(words []uint32, x []float64, d int) (bits, ok bool) { return false, false }
func (b *Bits) fastScore(dst []float64, words []uint32) bool             { return false }
func (b *Bits) fastSubsets(table, r []float64, stride, width int) bool   { return false }
func (b *Bits) fastLookups(sum []float64, words []uint32, table []float64, stride, w int) bool {
	return false
}

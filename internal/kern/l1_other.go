//go:build (!amd64 && !arm64) || purego

package kern

func fastL1All(_, _, _ []float64, _, _ int) bool                          { return false }
func fastL1Nearest(_ []float64, _ []int64, _, _ []float64, _, _ int) bool { return false }
func fastL1Rows(_, _, _ []float64, _ []int32, _ int) bool                 { return false }
func fastDistanceSums(_, _, _, _ []float64, _, _ int) bool                { return false }

func fastBracket(_, _ []float64, _ []int32, _, _, _ []float64, _ []int32, _ int) (n int, ok bool) {
	return 0, false
}

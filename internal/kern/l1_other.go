//go:build !amd64 || purego

package kern

func l1AllFast(_, _, _ []float64, _, _ int) bool                          { return false }
func l1NearestFast(_ []float64, _ []int64, _, _ []float64, _, _ int) bool { return false }
func l1RowsFast(_, _, _ []float64, _ []int32, _ int) bool                 { return false }
func distanceSumsFast(_, _, _, _ []float64, _, _ int) bool                { return false }

func bracketFast(_, _ []float64, _ []int32, _, _, _ []float64, _ []int32, _ int) (n int, ok bool) {
	return 0, false
}

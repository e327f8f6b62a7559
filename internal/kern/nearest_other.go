//go:build !amd64 || purego

package kern

// TileWidth is the largest number of centres in a tile of Dense that pays.
func TileWidth() int { return 4 }

// HasIntegers reports whether Integers is fast at the level in use.
func HasIntegers() bool { return false }

func denseFast(_, _, _ []float32, _ *[3]float32, _ []DenseState, _, _ []int32, _ []uint32, _, _, _, _ int, _ bool) bool {
	return false
}

func integersFast(_ []uint8, _ []float32, _ []int8, _, _ []float32, _ *[Rows]float32, _ bool, _, _, _ int) bool {
	return false
}

func survivorsFast(_ []Survivor, _, _, _ []float32, _ *[Rows]float32, _, _ int) (n int, multi uint32, ok bool) {
	return 0, 0, false
}

func sqdistAllFast(_, _, _ []float64, _, _ int, _ bool) bool { return false }

func argminFast(_ []float64, _ []int64, _ []float64, _ int) bool { return false }

func twoLeastFast(_, _ []float64, _ []int64, _ []float64, _ int) bool { return false }

func sqdistRowFast(_, _, _ []float64, _, _ int) bool { return false }

func dotsFast(_, _, _ []float32, _ []Pair, _ int) bool { return false }

func pairsFast[F float32 | float64](_ []float64, _ []F, _, _ []float64, _ []Pair, _ int) bool {
	return false
}

func scatterFast[F float32 | float64](_, _ []float64, _ []F, _ []float64, _ []Move, _ int) bool {
	return false
}

func dueFast(_ []uint32, _ []float32, _ []int32, _ []float32, _ int) bool { return false }

func slackFast(_ []float32, _ []DenseState, _ []float32, _ []int32, _ []float32, _ *[7]float32, _ int) bool {
	return false
}

func runnerUpFast(_ *[Rows]float32, _, _, _ []float32, _, _ int) bool { return false }

func shiftFast(_, _ []float64, _ []float32, _ []float64, _ float64, _ []Change, _ int) bool {
	return false
}

func compressFast(_, _ []float32, _ uint32, _ int) bool { return false }

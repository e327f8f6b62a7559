//go:build (!amd64 && !arm64) || purego

package kern

// TileWidth is the largest number of centres in a tile of Dense that pays.
func TileWidth() int { return 4 }

// HasIntegers reports whether Integers is fast at the level in use, in words or in bytes.
func HasIntegers(_ bool) bool { return false }

// MostByte is the largest byte of a row for Integers: all are added up in 32 bits.
func MostByte() int { return 255 }

func fastDense(_, _, _ []float32, _ *[3]float32, _ []DenseState, _, _ []int32, _ []uint32, _, _, _, _ int, _ bool) bool {
	return false
}

func fastIntegers(_ []uint8, _ []float32, _ []int8, _, _ []float32, _ *[Rows]float32, _ bool, _, _, _ int) bool {
	return false
}

func fastSurvivors(_ []Survivor, _, _, _ []float32, _ *[Rows]float32, _, _ int) (n int, multi uint32, ok bool) {
	return 0, 0, false
}

func fastSqdistAll(_, _, _ []float64, _, _ int, _ bool) bool { return false }

func fastArgmin(_ []float64, _ []int64, _ []float64, _ int) bool { return false }

func fastTwoLeast(_, _ []float64, _ []int64, _ []float64, _ int) bool { return false }

func fastSqdistRow(_, _, _ []float64, _, _ int) bool { return false }

func fastDots(_, _, _ []float32, _ []Pair, _ int) bool { return false }

func fastPairs[F float32 | float64](_ []float64, _ []F, _, _ []float64, _ []Pair, _ int) bool {
	return false
}

func fastScatter[F float32 | float64](_, _ []float64, _ []F, _ []float64, _ []Move, _ int) bool {
	return false
}

// DueInRegisters is the largest number of clusters whose clocks Due holds in registers.
func DueInRegisters() int { return 0 }

func fastDue(_ []uint32, _ []float32, _ []int32, _ []float32, _ int) bool { return false }

func fastSlack(_ []float32, _ []DenseState, _ []float32, _ []int32, _ []float32, _ *[7]float32, _ int) bool {
	return false
}

func fastRunnerUp(_ *[Rows]float32, _, _, _ []float32, _, _ int) bool { return false }

func fastShift(_, _ []float64, _ []float32, _ []float64, _ float64, _ []Change, _ int) bool {
	return false
}

func fastCompress(_, _ []float32, _ uint32, _ int) bool { return false }

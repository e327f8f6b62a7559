//go:build !purego

package kern

// TileWidth is the largest number of centres in a tile of Dense that registers hold at the level in use.
func TileWidth() int {
	if level == Go {
		return 4
	}
	return 12
}

// HasIntegers reports whether Integers is fast at the level in use.
func HasIntegers() bool { return false }

var denseNEON = [...]func(x, c, norm, coef, state *float32, label, got *int32, flags *uint32, d, tiles, panels, resume, next int){
	nil, denseNEONx1, denseNEONx2, denseNEONx3, denseNEONx4, denseNEONx5, denseNEONx6, denseNEONx7, denseNEONx8, denseNEONx9, denseNEONx10, denseNEONx11, denseNEONx12,
}

func fastDense(x, c, norm []float32, coef *[3]float32, state []DenseState, label, got []int32, flags []uint32, d, w, tiles, panels int, resume bool) bool {
	if level == Go || w >= len(denseNEON) || d == 0 || tiles == 0 {
		return false
	}
	on, next := 0, 0
	if resume {
		on = 1
	}
	if len(state) > 1 {
		next = len(state[0]) * 4
	}
	denseNEON[w](&x[0], &c[0], &norm[0], &coef[0], &state[0][0], &label[0], &got[0], &flags[0], d, tiles, panels, on, next)
	return true
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

func fastDue(_ []uint32, _ []float32, _ []int32, _ []float32, _ int) bool { return false }

func fastSlack(_ []float32, _ []DenseState, _ []float32, _ []int32, _ []float32, _ *[7]float32, _ int) bool {
	return false
}

func fastRunnerUp(_ *[Rows]float32, _, _, _ []float32, _, _ int) bool { return false }

func fastShift(_, _ []float64, _ []float32, _ []float64, _ float64, _ []Change, _ int) bool {
	return false
}

func fastCompress(_, _ []float32, _ uint32, _ int) bool { return false }

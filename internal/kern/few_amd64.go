//go:build !purego

package kern

func fastFew(sum, t, q, w []float64, f, k int) bool {
	switch level {
	case AVX512:
		fewAVX512(&sum[0], &t[0], &q[0], &w[0], f, k)
	case AVX2:
		fewAVX2(&sum[0], &t[0], &q[0], &w[0], f, k)
	default:
		return false
	}
	return true
}

func fastTally(sum *[4 * Lanes]float64, factor, w, lse, ent []float64) bool {
	switch level {
	case AVX512:
		tallyAVX512(&sum[0], &factor[0], &w[0], &lse[0], &ent[0])
	case AVX2:
		tallyAVX2(&sum[0], &factor[0], &w[0], &lse[0], &ent[0])
	default:
		return false
	}
	return true
}

func fastLargest(x []float64, n int) (float64, bool) {
	switch level {
	case AVX512:
		return largestAVX512(&x[0], n), true
	case AVX2:
		return largestAVX2(&x[0], n), true
	}
	return 0, false
}

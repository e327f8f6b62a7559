//go:build !purego

package kern

func fastL1All(dst, x, centres []float64, k, d int) bool {
	if level == Go {
		return false
	}
	step := max(callCells/d, 1)
	for c := 0; c < k; c += step {
		if n := min(step, k-c); level == AVX512 {
			l1AllAVX512(&dst[c*Rows], &x[0], &centres[c*d], n, d)
		} else {
			l1AllAVX2(&dst[c*Rows], &x[0], &centres[c*d], n, d)
		}
	}
	return true
}

func fastL1Nearest(least []float64, label []int64, x, centres []float64, k, d int) bool {
	if level == Go {
		return false
	}
	step := max(callCells/d, 1)
	for c := 0; c < k; c += step {
		if n := min(step, k-c); level == AVX512 {
			l1NearestAVX512(&least[0], &label[0], &x[0], &centres[c*d], c, n, d)
		} else {
			l1NearestAVX2(&least[0], &label[0], &x[0], &centres[c*d], c, n, d)
		}
	}
	return true
}

// rowCells is how many cells one call of the kernels that go by rows takes in.
const rowCells = 32 * callCells

func fastL1Rows(dst, x, centres []float64, label []int32, d int) bool {
	if level == Go {
		return false
	}
	step := max(rowCells/d, 1)
	for lo := 0; lo < len(dst); lo += step {
		if n := min(step, len(dst)-lo); level == AVX512 {
			l1RowsAVX512(&dst[lo], &x[lo*d], &centres[0], &label[lo], n, d)
		} else {
			l1RowsAVX2(&dst[lo], &x[lo*d], &centres[0], &label[lo], n, d)
		}
	}
	return true
}

func fastBracket(hit, weight []float64, slot []int32, table, x, w []float64, label []int32, d int) (n int, ok bool) {
	if level == Go {
		return 0, false
	}
	step := max(rowCells/2/d, 1)
	for lo := 0; lo < len(label); lo += step {
		if m := min(step, len(label)-lo); level == AVX512 {
			n += bracketAVX512(&hit[n], &weight[n], &slot[n], &table[0], &x[lo*d], &w[lo], &label[lo], m, d)
		} else {
			n += bracketAVX2(&hit[n], &weight[n], &slot[n], &table[0], &x[lo*d], &w[lo], &label[lo], m, d)
		}
	}
	return n, true
}

func fastDistanceSums(dst, x, w, centres []float64, k, d int) bool {
	if level == Go {
		return false
	}
	step := max(callCells/(d+8), 1)
	for c := 0; c < k; c += step {
		if n := min(step, k-c); level == AVX512 {
			distanceSumsAVX512(&dst[c], &x[0], &w[0], &centres[c*d], n, d)
		} else {
			distanceSumsAVX2(&dst[c], &x[0], &w[0], &centres[c*d], n, d)
		}
	}
	return true
}

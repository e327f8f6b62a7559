//go:build !purego

package kern

// The functions below run the assembly of the level in use and report whether there is one. Lengths are checked by their
// callers.

func fastPack[F float32 | float64](x []float64, src []F, origin []float64, d int) bool {
	if level == Go {
		return false
	}
	switch src := any(&src[0]).(type) {
	case *float32:
		pack32NEON(&x[0], src, &origin[0], d)
	case *float64:
		pack64NEON(&x[0], src, &origin[0], d)
	}
	return true
}

func fastProducts(t, x []float64, from, to int) bool {
	if level == Go {
		return false
	}
	productsNEON(&t[0], &x[0], from, to)
	return true
}

func fastSquares(t, x []float64, d int) bool {
	if level == Go {
		return false
	}
	squaresNEON(&t[0], &x[0], d)
	return true
}

func fastCentre(y, x, m []float64, d int) bool {
	if level == Go {
		return false
	}
	centreNEON(&y[0], &x[0], &m[0], d)
	return true
}

func fastNorms(dst, y []float64, d int) bool {
	if level == Go {
		return false
	}
	normsNEON(&dst[0], &y[0], d)
	return true
}

func fastMultiply(y, x, w []float64, f, q int) bool {
	if level == Go {
		return false
	}
	multiplyNEON(&y[0], &x[0], &w[0], f, q)
	return true
}

func fastSoften(s, lse, ent, inv []float64, k int, beta float64) bool {
	if level == Go {
		return false
	}
	softenNEON(&s[0], &lse[0], &ent[0], &inv[0], k, beta, 1/beta)
	return true
}

func fastLogSumExp(dst, s []float64, k int) bool {
	if level == Go {
		return false
	}
	logSumExpNEON(&dst[0], &s[0], k)
	return true
}

func fastArgmax(best []float64, label []int32, s []float64, k int) bool {
	if level == Go {
		return false
	}
	argmaxNEON(&best[0], &label[0], &s[0], k)
	return true
}

func fastShare(r, s, f []float64, kp int) bool {
	if level == Go {
		return false
	}
	shareNEON(&r[0], &s[0], &f[0], kp)
	return true
}

func fastFew(sum, t, q, w []float64, f, k int) bool {
	if level == Go {
		return false
	}
	fewNEON(&sum[0], &t[0], &q[0], &w[0], f, k)
	return true
}

func fastTally(sum *[4 * Lanes]float64, factor, w, lse, ent []float64) bool {
	if level == Go {
		return false
	}
	tallyNEON(&sum[0], &factor[0], &w[0], &lse[0], &ent[0])
	return true
}

func fastPresent(there, filled, x []float64, d int) (missing, ok bool) {
	if level == Go {
		return false, false
	}
	return presentNEON(&there[0], &filled[0], &x[0], d), true
}

func fastLargest(x []float64, n int) (float64, bool) {
	if level == Go {
		return 0, false
	}
	return largestNEON(&x[0], n), true
}

func fastTails(s, u, log, shift, half, inverse, ratio []float64, k int) bool {
	if level == Go {
		return false
	}
	tailsNEON(&s[0], &u[0], &log[0], &shift[0], &half[0], &inverse[0], &ratio[0], k)
	return true
}

func fastWeigh(sum, row, q, w, u, log []float64, k int) bool {
	if level == Go {
		return false
	}
	weighNEON(&sum[0], &row[0], &q[0], &w[0], &u[0], &log[0], k)
	return true
}

// mostFeatures is how many features a tile of accumulate holds.
const mostFeatures = 5

func fastAccumulate(sum, t, r []float64, f, kp int) bool {
	if level == Go {
		return false
	}
	for c := 0; c < kp; c += 8 {
		accumulateTiles(sum[c:], t, r[c:], f, kp)
	}
	return true
}

// fastBand adds f features t times the first columns of r, dp wide, to sum.
func fastBand(sum, t, r []float64, f, columns, dp int) {
	for c := 0; c < columns; c += 8 {
		accumulateTiles(sum[c:], t, r[c:], f, dp)
	}
}

func fastLower(sum, t, r []float64, d, dp int) bool {
	if level == Go {
		return false
	}
	for c := 0; c < dp; c += 8 {
		from := min(c, d)
		accumulateTiles(sum[from*dp+c:], t[from*Rows:], r[c:], d+1-from, dp)
	}
	return true
}

// accumulateTiles runs 8 components through all features, in groups as even as can be.
func accumulateTiles(sum, t, r []float64, f, kp int) {
	for q, left := 0, f; left > 0; {
		tiles := (left + mostFeatures - 1) / mostFeatures
		q = (left + tiles - 1) / tiles
		n := min(left-(q-1)*tiles, 1<<9) // groups of q; the others are of q-1. Bounded: assembly is not preempted.
		accumulateNEON(&sum[0], &t[0], &r[0], n, q, kp)
		if left -= n * q; left > 0 {
			sum, t = sum[n*q*kp:], t[n*q*Rows:]
		}
	}
}

func fastWhitened(dst, x, mean, w, shift []float64, d, k int) bool {
	if level == Go {
		return false
	}
	tiles := LowerTiles(d)
	most := max(1<<19/(tiles*Rows), 1) // components a call: assembly is not preempted, so it is kept under 100 us
	for c := 0; c < k; c += most {
		whitenedNEON(&dst[c*Rows], &x[0], &mean[c*d], &w[c*tiles], &shift[c], d, min(most, k-c))
	}
	return true
}

func fastEllipses(dst, x, mean, scale, shift []float64, d, k int) bool {
	if level == Go {
		return false
	}
	step := max(callCells/d, 1)
	for c := 0; c < k; c += step {
		ellipsesNEON(&dst[c*Rows], &x[0], &mean[c*d], &scale[c*d], &shift[c], d, min(step, k-c))
	}
	return true
}

func fastMasked(dst, x, mask, mean, scale, add, shift []float64, d, k int) bool {
	if level == Go {
		return false
	}
	step := max(callCells/d, 1)
	for c := 0; c < k; c += step {
		maskedNEON(&dst[c*Rows], &x[0], &mask[0], &mean[c*d], &scale[c*d], &add[c*d], &shift[c], d, min(step, k-c))
	}
	return true
}

func fastSpheres(dst, x, mean, f, shift []float64, d, k int) bool {
	if level == Go {
		return false
	}
	step := max(callCells/d, 1)
	for c := 0; c < k; c += step {
		spheresNEON(&dst[c*Rows], &x[0], &mean[c*d], &f[c], &shift[c], d, min(step, k-c))
	}
	return true
}

func fastPeak(n int, float32s bool) (flops float64) {
	switch {
	case level == Go:
		return 0
	case float32s:
		peak32NEON(n)
		return 2 * 12 * 4 * float64(n)
	}
	peak64NEON(n)
	return 2 * 12 * 2 * float64(n)
}

//go:build !purego

package kern

import "math"

// The functions below run the assembly of the level in use and report whether there is one. Lengths are checked by their
// callers.

func fastPack[F float32 | float64](x []float64, src []F, origin []float64, d int) bool {
	if level == Go {
		return false
	}
	switch src := any(&src[0]).(type) {
	case *float32:
		if level == AVX512 {
			pack32AVX512(&x[0], src, &origin[0], d)
		} else {
			pack32AVX2(&x[0], src, &origin[0], d)
		}
	case *float64:
		if level == AVX512 {
			pack64AVX512(&x[0], src, &origin[0], d)
		} else {
			pack64AVX2(&x[0], src, &origin[0], d)
		}
	}
	return true
}

func fastProducts(t, x []float64, from, to int) bool {
	switch level {
	case AVX512:
		productsAVX512(&t[0], &x[0], from, to)
	case AVX2:
		productsAVX2(&t[0], &x[0], from, to)
	default:
		return false
	}
	return true
}

func fastSquares(t, x []float64, d int) bool {
	switch level {
	case AVX512:
		squaresAVX512(&t[0], &x[0], d)
	case AVX2:
		squaresAVX2(&t[0], &x[0], d)
	default:
		return false
	}
	return true
}

func fastCentre(y, x, m []float64, d int) bool {
	switch level {
	case AVX512:
		centreAVX512(&y[0], &x[0], &m[0], d)
	case AVX2:
		centreAVX2(&y[0], &x[0], &m[0], d)
	default:
		return false
	}
	return true
}

func fastNorms(dst, y []float64, d int) bool {
	switch level {
	case AVX512:
		normsAVX512(&dst[0], &y[0], d)
	case AVX2:
		normsAVX2(&dst[0], &y[0], d)
	default:
		return false
	}
	return true
}

func fastMultiply(y, x, w []float64, f, q int) bool {
	switch level {
	case AVX512:
		multiplyAVX512(&y[0], &x[0], &w[0], f, q)
	case AVX2:
		multiplyAVX2(&y[0], &x[0], &w[0], f, q)
	default:
		return false
	}
	return true
}

func fastSoften(s, lse, ent, inv []float64, k int, beta float64) bool {
	switch level {
	case AVX512:
		softenAVX512(&s[0], &lse[0], &ent[0], &inv[0], k, beta*math.Log2E, 1/beta)
	case AVX2:
		softenAVX2(&s[0], &lse[0], &ent[0], &inv[0], k, beta*math.Log2E, 1/beta)
	default:
		return false
	}
	return true
}

func fastLogSumExp(dst, s []float64, k int) bool {
	switch level {
	case AVX512:
		logSumExpAVX512(&dst[0], &s[0], k)
	case AVX2:
		logSumExpAVX2(&dst[0], &s[0], k)
	default:
		return false
	}
	return true
}

func fastArgmax(best []float64, label []int32, s []float64, k int) bool {
	switch level {
	case AVX512:
		argmaxAVX512(&best[0], &label[0], &s[0], k)
	case AVX2:
		argmaxAVX2(&best[0], &label[0], &s[0], k)
	default:
		return false
	}
	return true
}

func fastShare(r, s, f []float64, kp int) bool {
	switch level {
	case AVX512:
		shareAVX512(&r[0], &s[0], &f[0], kp)
	case AVX2:
		shareAVX2(&r[0], &s[0], &f[0], kp)
	default:
		return false
	}
	return true
}

// most512 is how many features a tile of accumulate holds for 1 to 4 vectors of components.
var most512 = [...]int{0, 16, 12, 8, 6}

func fastAccumulate(sum, t, r []float64, f, kp int) bool {
	switch level {
	case AVX512:
		for left := kp / 8; left > 0; {
			n := min(left, 4)
			if left == 5 || left == 6 {
				n = 3
			}
			accumulateTiles(n, sum, t, r, f, kp, most512[n])
			left -= n
			if left > 0 {
				sum, r = sum[8*n:], r[8*n:]
			}
		}
	case AVX2:
		for c := 0; c < kp; c += 8 {
			accumulateTiles(0, sum[c:], t, r[c:], f, kp, 6)
		}
	default:
		return false
	}
	return true
}

// fastBand adds f features t times the first columns of r, dp wide, to sum.
func fastBand(sum, t, r []float64, f, columns, dp int) {
	for c := 0; c < columns; {
		if n := min((columns-c)/8, 4); level == AVX512 {
			accumulateTiles(n, sum[c:], t, r[c:], f, dp, most512[n])
			c += 8 * n
		} else {
			accumulateTiles(0, sum[c:], t, r[c:], f, dp, 6)
			c += 8
		}
	}
}

func fastLower(sum, t, r []float64, d, dp int) bool {
	if level == Go {
		return false
	}
	for c, n := 0, 0; c < dp; c += 8 * n {
		n = 1
		if level == AVX512 {
			n = min((dp-c)/8, 2) // 16 columns at a time: fewer leave more loads, more leave more above the diagonal
		}
		from := min(c, d)
		if level == AVX512 {
			accumulateTiles(n, sum[from*dp+c:], t[from*Rows:], r[c:], d+1-from, dp, most512[n])
		} else {
			accumulateTiles(0, sum[from*dp+c:], t[from*Rows:], r[c:], d+1-from, dp, 6)
		}
	}
	return true
}

func fastWhitened(dst, x, mean, w, shift []float64, d, k int) bool {
	if level == Go {
		return false
	}
	tiles := LowerTiles(d)
	most := max(1<<21/(tiles*Rows), 1) // components a call: assembly is not preempted, so it is kept under 100 us
	for c := 0; c < k; c += most {
		n := min(most, k-c)
		if level == AVX512 {
			whitenedAVX512(&dst[c*Rows], &x[0], &mean[c*d], &w[c*tiles], &shift[c], d, n)
		} else {
			whitenedAVX2(&dst[c*Rows], &x[0], &mean[c*d], &w[c*tiles], &shift[c], d, n)
		}
	}
	return true
}

func fastEllipses(dst, x, mean, scale, shift []float64, d, k int) bool {
	if level == Go {
		return false
	}
	for c := 0; c < k; {
		n, q := inThrees(k-c, d)
		if level == AVX512 {
			ellipsesAVX512(&dst[c*Rows], &x[0], &mean[c*d], &scale[c*d], &shift[c], d, n, q)
		} else {
			ellipsesAVX2(&dst[c*Rows], &x[0], &mean[c*d], &scale[c*d], &shift[c], d, n, q)
		}
		c += n * q
	}
	return true
}

func fastMasked(dst, x, mask, mean, scale, add, shift []float64, d, k int) bool {
	if level == Go {
		return false
	}
	for c := 0; c < k; {
		n, q := inThrees(k-c, d)
		if level == AVX512 {
			maskedAVX512(&dst[c*Rows], &x[0], &mask[0], &mean[c*d], &scale[c*d], &add[c*d], &shift[c], d, n, q)
		} else {
			maskedAVX2(&dst[c*Rows], &x[0], &mask[0], &mean[c*d], &scale[c*d], &add[c*d], &shift[c], d, n, q)
		}
		c += n * q
	}
	return true
}

func fastSpheres(dst, x, mean, f, shift []float64, d, k int) bool {
	if level == Go {
		return false
	}
	for c := 0; c < k; {
		n, q := inThrees(k-c, d)
		if level == AVX512 {
			spheresAVX512(&dst[c*Rows], &x[0], &mean[c*d], &f[c], &shift[c], d, n, q)
		} else {
			spheresAVX2(&dst[c*Rows], &x[0], &mean[c*d], &f[c], &shift[c], d, n, q)
		}
		c += n * q
	}
	return true
}

// inThrees returns how many groups of q of k components one call takes: threes as long as there are, within bounded time.
func inThrees(k, d int) (groups, q int) {
	if k < 3 {
		return 1, k
	}
	return min(k/3, max(1<<16/d, 1)), 3
}

// tiles splits n features into groups of q and of q-1, the larger first, as even as can be.
func tiles(n, most int) (q, large, small int) {
	groups := (n + most - 1) / most
	q = (n + groups - 1) / groups
	small = groups*q - n
	return q, groups - small, small
}

// accumulateTiles runs nv vectors of 8 components, or 8 components of AVX2 where nv is 0, through all features.
func accumulateTiles(nv int, sum, t, r []float64, f, kp, most int) {
	q, large, small := tiles(f, most)
	limit := max(1<<12/q, 1) // groups a call, for bounded time
	for large+small > 0 {
		n := min(large, limit)
		large -= n
		if n == 0 {
			q, large, small = q-1, small, 0
			continue
		}
		s, p := &sum[0], &r[0]
		switch nv {
		case 0:
			accumulate2AVX2(s, &t[0], p, n, q, kp)
		case 1:
			accumulate1AVX512(s, &t[0], p, n, q, kp)
		case 2:
			accumulate2AVX512(s, &t[0], p, n, q, kp)
		case 3:
			accumulate3AVX512(s, &t[0], p, n, q, kp)
		case 4:
			accumulate4AVX512(s, &t[0], p, n, q, kp)
		}
		t = t[n*q*Rows:]
		if len(sum) > n*q*kp {
			sum = sum[n*q*kp:]
		}
	}
}

func fastPeak(n int, float32s bool) (flops float64) {
	lanes := 4.0
	switch {
	case level == Go:
		return 0
	case level == AVX512 && float32s:
		peak32AVX512(n)
		lanes = 16
	case level == AVX512:
		peak64AVX512(n)
		lanes = 8
	case float32s:
		peak32AVX2(n)
		lanes = 8
	default:
		peak64AVX2(n)
	}
	return 2 * 12 * lanes * float64(n)
}
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

func fastPresent(there, filled, x []float64, d int) (missing, ok bool) {
	switch level {
	case AVX512:
		return presentAVX512(&there[0], &filled[0], &x[0], d), true
	case AVX2:
		return presentAVX2(&there[0], &filled[0], &x[0], d), true
	}
	return false, false
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

func fastTails(s, u, log, shift, half, inverse, ratio []float64, k int) bool {
	switch level {
	case AVX512:
		tailsAVX512(&s[0], &u[0], &log[0], &shift[0], &half[0], &inverse[0], &ratio[0], k)
	case AVX2:
		tailsAVX2(&s[0], &u[0], &log[0], &shift[0], &half[0], &inverse[0], &ratio[0], k)
	default:
		return false
	}
	return true
}

func fastWeigh(sum, row, q, w, u, log []float64, k int) bool {
	switch level {
	case AVX512:
		weighAVX512(&sum[0], &row[0], &q[0], &w[0], &u[0], &log[0], k)
	case AVX2:
		weighAVX2(&sum[0], &row[0], &q[0], &w[0], &u[0], &log[0], k)
	default:
		return false
	}
	return true
}

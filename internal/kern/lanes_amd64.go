//go:build !purego

package kern

// The functions below run the assembly of the level in use and report whether there is one. Lengths are checked by their
// callers.

func fastLaneDeviations(y, x, mean *float64, d, kp int) bool {
	switch level {
	case AVX512:
		laneDeviationsAVX512(y, x, mean, d, kp)
	case AVX2:
		laneDeviationsAVX2(y, x, mean, d, kp)
	default:
		return false
	}
	return true
}

func fastLaneProduct(dst, m, y *float64, rows []int32, d, kp int) bool {
	switch level {
	case AVX512:
		laneProductAVX512(dst, m, y, &rows[0], len(rows), d, kp)
	case AVX2:
		laneProductAVX2(dst, m, y, &rows[0], len(rows), d, kp)
	default:
		return false
	}
	return true
}

// laneRows is how many rows one call of norms or moments takes, in fours: all, unless that would be more than some 100 us,
// for assembly is not preempted.
func laneRows(d int) int { return max(1<<18/(d*(d+1)/2)/4, 1) * 4 }

func fastLaneNorms(dst, y, w []float64, n, d, kp int) bool {
	if level == Go {
		return false
	}
	most := laneRows(d)
	for r := 0; r < n; r += most {
		m := min(most, n-r)
		for c := 0; c < kp; c += Lanes {
			if level == AVX512 {
				laneNormsAVX512(&dst[r*kp+c], &y[r*d*kp+c], &w[c], m, d, kp)
			} else {
				laneNormsAVX2(&dst[r*kp+c], &y[r*d*kp+c], &w[c], m, d, kp)
			}
		}
	}
	return true
}

func fastLaneMoments(sum, y, q []float64, n, d, kp int) bool {
	if level == Go {
		return false
	}
	most := laneRows(d)
	for r := 0; r < n; r += most {
		m := min(most, n-r)
		for c := 0; c < kp; c += Lanes {
			if level == AVX512 {
				laneMomentsAVX512(&sum[c], &y[r*d*kp+c], &q[r*kp+c], m, d, kp)
			} else {
				laneMomentsAVX2(&sum[c], &y[r*d*kp+c], &q[r*kp+c], m, d, kp)
			}
		}
	}
	return true
}

func fastLaneScatter(sum, v, q *float64, at []int32, kp int) bool {
	switch level {
	case AVX512:
		laneScatterAVX512(sum, v, q, &at[0], len(at), kp)
	case AVX2:
		laneScatterAVX2(sum, v, q, &at[0], len(at), kp)
	default:
		return false
	}
	return true
}

// laneFewAVX512 and laneFewAVX2 are the sizes of the largest matrices whose triangles fit into registers.
const laneFewAVX512, laneFewAVX2 = 7, 4

func fastLaneInverse(v, pivot []float64, n, kp int, least float64) bool {
	switch {
	case level == AVX512 && n <= laneFewAVX512:
		laneInverseFewAVX512(&v[0], &pivot[0], n, kp, least)
	case level == AVX2 && n <= laneFewAVX2:
		laneInverseFewAVX2(&v[0], &pivot[0], n, kp, least)
	case level == Go:
		return false
	default:
		// As many pivots as take some 100 us at most; an even number is left of them.
		most := max(1<<18/(n*n/2)/2, 1) * 2
		for c := 0; c < kp; c += Lanes {
			for from, to := 0, most+n%2; from < n; from, to = to, to+most {
				if level == AVX512 {
					laneInverseAVX512(&v[c], &pivot[c], n, kp, from, min(to, n), least)
				} else {
					laneInverseAVX2(&v[c], &pivot[c], n, kp, from, min(to, n), least)
				}
			}
		}
	}
	return true
}

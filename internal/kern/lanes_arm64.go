//go:build !purego

package kern

// The functions below run the assembly of the level in use and report whether there is one. Lengths are checked by their
// callers.

func fastLaneDeviations(y, x, mean *float64, d, kp int) bool {
	if level == Go {
		return false
	}
	laneDeviationsNEON(y, x, mean, d, kp)
	return true
}

func fastLaneProduct(dst, m, y *float64, rows []int32, d, kp int) bool {
	if level == Go {
		return false
	}
	laneProductNEON(dst, m, y, &rows[0], len(rows), d, kp)
	return true
}

// laneRows is how many rows one call of norms or moments takes, in fours: all, unless that would be more than some 100 us,
// for assembly is not preempted.
func laneRows(d int) int { return max(1<<16/(d*(d+1)/2)/4, 1) * 4 }

func fastLaneNorms(dst, y, w []float64, n, d, kp int) bool {
	if level == Go {
		return false
	}
	most := laneRows(d)
	for r := 0; r < n; r += most {
		for c := 0; c < kp; c += Lanes {
			laneNormsNEON(&dst[r*kp+c], &y[r*d*kp+c], &w[c], min(most, n-r), d, kp)
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
		for c := 0; c < kp; c += Lanes {
			laneMomentsNEON(&sum[c], &y[r*d*kp+c], &q[r*kp+c], min(most, n-r), d, kp)
		}
	}
	return true
}

func fastLaneScatter(sum, v, q *float64, at []int32, kp int) bool {
	if level == Go {
		return false
	}
	laneScatterNEON(sum, v, q, &at[0], len(at), kp)
	return true
}

func fastLaneInverse(v, pivot []float64, n, kp int, least float64) bool {
	if level == Go {
		return false
	}
	most := max(1<<16/(n*n/2+1), 1) // pivots that take some 100 us at most
	for c := 0; c < kp; c += Lanes {
		for from := 0; from < n; from += most {
			laneInverseNEON(&v[c], &pivot[c], n, kp, from, min(from+most, n), least)
		}
	}
	return true
}

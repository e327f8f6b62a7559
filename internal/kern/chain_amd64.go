//go:build !purego

package kern

// chainRows is how many rows one call takes: no more than some 100 us, for assembly is not preempted.
func chainRows(k, kp int) int { return max(1<<18/(k*kp), 1) }

// mostOnStack is how many states have scratch memory on the stack.
const mostOnStack = 64

func fastChainForward(alpha, c, b, past, forward []float64, k, kp int) bool {
	if level == Go {
		return false
	}
	var own [2 * mostOnStack]float64
	scratch := own[:]
	if kp > mostOnStack {
		scratch = make([]float64, 2*kp)
	}
	v, w := scratch[:kp], scratch[kp:2*kp]
	for from, most := 0, chainRows(k, kp); from < len(c); from += most {
		n := min(most, len(c)-from)
		copy(v, past)
		if level == AVX512 {
			chainForwardAVX512(&alpha[from*kp], &c[from], &b[from*kp], &v[0], &w[0], &forward[0], n, k, kp)
		} else {
			chainForwardAVX2(&alpha[from*kp], &c[from], &b[from*kp], &v[0], &w[0], &forward[0], n, k, kp)
		}
		past = alpha[(from+n-1)*kp : (from+n)*kp]
	}
	return true
}

func fastChainBackward(gamma, beta, alpha, c, b, back []float64, k, kp int) bool {
	if level == Go {
		return false
	}
	for to, most := len(c), chainRows(k, kp); to > 0; to -= most {
		n, last := min(most, to), (to-1)*kp
		if level == AVX512 {
			chainBackwardAVX512(&gamma[last], &beta[0], &alpha[last], &c[to-1], &b[last], &back[0], n, k, kp)
		} else {
			chainBackwardAVX2(&gamma[last], &beta[0], &alpha[last], &c[to-1], &b[last], &back[0], n, k, kp)
		}
	}
	return true
}

func fastChainMoves(moves, alpha, u []float64, n, k, kp int) bool {
	if level == Go {
		return false
	}
	for from, most := 0, chainRows(Lanes, Lanes); from < n; from += most {
		rows := min(most, n-from)
		for to := 0; to < kp; to += Lanes {
			if level == AVX512 {
				for a := 0; a < k; a += 8 {
					chainMovesAVX512(&moves[a*kp+to], &alpha[from*kp+a], &u[from*kp+to], rows, kp)
				}
				continue
			}
			for a := 0; a < k; a += 4 {
				chainMovesAVX2(&moves[a*kp+to], &alpha[from*kp+a], &u[from*kp+to], rows, kp)
			}
		}
	}
	return true
}

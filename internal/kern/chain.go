package kern

// The recursions of a Markov chain of k states on the rows of a sequence. States lie side by side, Pad(k) numbers a row, those from k on 0: see
// package chain, which says what they are.

// ChainForward sets, for each of n rows, c[t] to the sum of (past' forward) b[t], and alpha[t] to that divided by c[t]; past is alpha of the row
// before. forward, k x Pad(k), has row a from state a. n is the length of c.
func ChainForward(alpha, c, b, past, forward []float64, k int) {
	kp := Pad(k)
	alpha, b, past, forward = alpha[:len(c)*kp], b[:len(c)*kp], past[:kp], forward[:k*kp]
	if len(c) == 0 || k == 0 || fastChainForward(alpha, c, b, past, forward, k, kp) {
		return
	}
	for t := range c {
		row, sum := alpha[t*kp:(t+1)*kp], 0.0
		times(row, past, forward, k)
		for i, v := range b[t*kp : (t+1)*kp] {
			row[i] *= v
			sum += row[i]
		}
		c[t] = sum
		for i := range row {
			row[i] /= sum
		}
		past = row
	}
}

// ChainBackward goes from the last of n rows to the first. At each it sets gamma[t] = alpha[t] beta, b[t] = b[t] beta / c[t], and beta =
// back' b[t], that of the row before. back, k x Pad(k), has row b to state b. n is the length of c; gamma may be alpha.
func ChainBackward(gamma, beta, alpha, c, b, back []float64, k int) {
	kp := Pad(k)
	gamma, alpha, b, beta, back = gamma[:len(c)*kp], alpha[:len(c)*kp], b[:len(c)*kp], beta[:kp], back[:k*kp]
	if len(c) == 0 || k == 0 || fastChainBackward(gamma, beta, alpha, c, b, back, k, kp) {
		return
	}
	for t := len(c) - 1; t >= 0; t-- {
		scale, u := 1/c[t], b[t*kp:(t+1)*kp]
		for i, v := range beta {
			u[i] *= v * scale
			gamma[t*kp+i] = alpha[t*kp+i] * v
		}
		times(beta, u, back, k)
	}
}

// ChainMoves adds sum_t alpha[t*Pad(k)+a] u[t*Pad(k)+b] over n rows to moves[a*Pad(k)+b], Pad(k) x Pad(k).
func ChainMoves(moves, alpha, u []float64, n, k int) {
	kp := Pad(k)
	moves, alpha, u = moves[:kp*kp], alpha[:n*kp], u[:n*kp]
	if n == 0 || k == 0 || fastChainMoves(moves, alpha, u, n, k, kp) {
		return
	}
	for t := range n {
		v := u[t*kp : (t+1)*kp]
		for a, p := range alpha[t*kp : t*kp+k] {
			row := moves[a*kp : (a+1)*kp]
			for i, w := range v {
				row[i] += p * w
			}
		}
	}
}

// times sets y, Pad(k), to x' m, m k x Pad(k).
func times(y, x, m []float64, k int) {
	n := len(y)
	for i := 0; i < n; i += Lanes {
		var s [Lanes]float64
		for a, p := range x[:k] {
			row := (*[Lanes]float64)(m[a*n+i:])
			s[0] += p * row[0]
			s[1] += p * row[1]
			s[2] += p * row[2]
			s[3] += p * row[3]
			s[4] += p * row[4]
			s[5] += p * row[5]
			s[6] += p * row[6]
			s[7] += p * row[7]
		}
		copy(y[i:], s[:])
	}
}

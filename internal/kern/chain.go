package kern

// The recursions of a Markov chain of k states on the rows of a sequence. States lie side by side, Pad(k) numbers a row: see package chain, which says
// what they are.

// ChainForward sets, for each of n rows, alpha[t] = (past' forward) b[t] / c[t], c[t] being what makes it add up to 1; past is alpha of the
// row before. forward, k x Pad(k), has row a from state a, and b is 0 beyond k.
func ChainForward(alpha, c, b, past, forward []float64, k int) {
	n := Pad(k)
	for t := range c {
		row, scale := alpha[t*n:(t+1)*n], 0.0
		times(row, past, forward, k)
		for i, v := range b[t*n : (t+1)*n] {
			row[i] *= v
			scale += row[i]
		}
		c[t] = scale
		for i := range row {
			row[i] /= scale
		}
		past = row
	}
}

// ChainBackward goes from the last of n rows to the first. At each it sets gamma[t] = alpha[t] beta and u = b[t] beta / c[t], adds the products of
// alpha[t-1] and u to moves, k x Pad(k), and makes beta = back' u that of the row before. past is alpha of the row before the first; nil
// where there is none, and then beta is left as it is there. gamma may be alpha.
func ChainBackward(gamma, moves, beta, alpha, c, b, past, back []float64, k int) {
	n := Pad(k)
	var own [8 * Lanes]float64
	u := own[:min(n, len(own))]
	if n > len(own) {
		u = make([]float64, n)
	}
	for t := len(c) - 1; t >= 0; t-- {
		before := past
		if t > 0 {
			before = alpha[(t-1)*n : t*n]
		}
		scale := 1 / c[t]
		for i, v := range beta[:n] {
			u[i] = b[t*n+i] * v * scale
			gamma[t*n+i] = alpha[t*n+i] * v
		}
		if before == nil {
			return
		}
		for a, p := range before[:k] {
			row := moves[a*n : (a+1)*n]
			for i, v := range u {
				row[i] += p * v
			}
		}
		times(beta[:n], u, back, k)
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

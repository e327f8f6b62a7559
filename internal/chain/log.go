package chain

import "math"

// The same recursions with logarithms throughout: k^2 exponentials a row, and no number is lost.

// LogForward is Forward with logarithms: alpha, scores (the logarithms of b), past and what c is set to are logarithms. -Inf in c says that no path
// explains the rows up to this one; alpha of it and of what follows is then -Inf.
func (m *Chain) LogForward(alpha, c, scores, past []float64) {
	n := m.Stride
	for t := range c {
		row := alpha[t*n : t*n+m.K]
		for b := range row {
			if past == nil {
				row[b] = m.logInitial[b]
			} else {
				row[b] = logSumOf(past[:m.K], m.logBack[b*n:])
			}
			row[b] += scores[t*n+b]
		}
		if c[t] = logSumOf(row, nil); !math.IsInf(c[t], -1) {
			for b := range row {
				row[b] -= c[t]
			}
		}
		past = alpha[t*n : (t+1)*n]
	}
}

// LogBackward is Backward and AddMoves with logarithms, but for gamma and moves: alpha, c, scores, beta and past are logarithms. moves, K x K, is
// the expected transitions themselves. gamma may be alpha.
func (m *Chain) LogBackward(gamma, moves, beta, alpha, c, scores, past []float64) {
	n, k := m.Stride, m.K
	u := make([]float64, k)
	for t := len(c) - 1; t >= 0; t-- {
		before := past
		if t > 0 {
			before = alpha[(t-1)*n : t*n]
		}
		for b := range k {
			gamma[t*n+b] = math.Exp(alpha[t*n+b] + beta[b])
			u[b] = scores[t*n+b] + beta[b] - c[t]
		}
		clear(gamma[t*n+k : (t+1)*n])
		if before == nil {
			return
		}
		for a := range k {
			row := m.logForward[a*n : a*n+k]
			for b, q := range row {
				if x := before[a] + q + u[b]; x > -745 { // below, exp is 0
					moves[a*k+b] += math.Exp(x)
				}
			}
			beta[a] = logSumOf(u, row)
		}
	}
}

// logSumOf returns log sum_i exp(x_i + y_i); a y of nil is all 0. It is -Inf where all are.
func logSumOf(x, y []float64) float64 {
	top := math.Inf(-1)
	for i, v := range x {
		if y != nil {
			v += y[i]
		}
		top = max(top, v)
	}
	if math.IsInf(top, -1) {
		return top
	}
	sum := 0.0
	for i, v := range x {
		if y != nil {
			v += y[i]
		}
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}

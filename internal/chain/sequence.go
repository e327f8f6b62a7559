package chain

import (
	"fmt"
	"math"
)

// ImpossibleError says that a sequence has probability 0: no path of states with positive probabilities explains its rows up to this one.
type ImpossibleError struct{ Row int } // from 0, among the rows of the call: of a run or a block of a sequence, its own

// Error implements error.
func (e *ImpossibleError) Error() string {
	return fmt.Sprintf("the model gives a sequence probability 0: no path of states leads to row %d of those at hand", e.Row+1)
}

// Sequence is what a chain says of the rows of one sequence, as the last call has set it. Its memory serves the next one too; the zero value is
// ready for use.
type Sequence struct {
	LogDensity []float64 // n: ln p(row t | rows before), nats; they add up to the log-likelihood
	Filtered   []float64 // n x Stride: P(state of row t | rows up to t)
	Smoothed   []float64 // n x Stride: P(state of row t | all rows); of Smooth
	Moves      []float64 // K x K: expected number of transitions, row a those from state a; of Smooth

	b, c, moves, beta []float64
	logs              bool // Filtered and c are logarithms
}

// Filter sets s.Filtered and s.LogDensity from the scores of the rows of a sequence, n x Stride: log densities of each row in each state, nats,
// finite or -Inf. A row of which nothing is known has 0 in every state. It fails with an *ImpossibleError.
func (m *Chain) Filter(s *Sequence, scores []float64) error {
	return m.FilterOn(s, scores, new(Past))
}

// Past is what is known of the rows before, where a sequence is filtered run by run. The zero value is its beginning.
type Past struct {
	state []float64 // Stride: alpha of the last row; nil before the first
	logs  bool      // it is logarithms, and so is all that follows
}

// FilterOn is Filter of a run of rows that follow those that past knows, which it becomes the end of.
func (m *Chain) FilterOn(s *Sequence, scores []float64, past *Past) error {
	if err := m.filter(s, scores, past); err != nil {
		return err
	}
	if n := len(s.Filtered); n > 0 {
		past.state, past.logs = append(past.state[:0], s.Filtered[n-m.Stride:]...), s.logs
	}
	s.exponentials(m)
	return nil
}

// filter is Filter, which may leave logarithms in s.Filtered.
func (m *Chain) filter(s *Sequence, scores []float64, past *Past) error {
	n := len(scores) / m.Stride
	s.LogDensity, s.c = sized(s.LogDensity, n), sized(s.c, n)
	s.Filtered, s.b = sized(s.Filtered, n*m.Stride), sized(s.b, n*m.Stride)
	for t := range n {
		row, b := scores[t*m.Stride:t*m.Stride+m.K], s.b[t*m.Stride:(t+1)*m.Stride]
		top := math.Inf(-1)
		for _, v := range row {
			top = max(top, v)
		}
		if math.IsInf(top, -1) {
			return &ImpossibleError{t}
		}
		clear(b)
		for a, v := range row {
			b[a] = math.Exp(v - top)
		}
		s.LogDensity[t] = top
	}
	if s.logs = n > 0 && (past.logs || !m.Forward(s.Filtered, s.c, s.b, past.state)); !s.logs {
		for t, c := range s.c {
			s.LogDensity[t] += math.Log(c)
		}
		return nil
	}
	m.LogForward(s.Filtered, s.c, scores, past.logarithms())
	for t, l := range s.c {
		if math.IsInf(l, -1) {
			return &ImpossibleError{t}
		}
	}
	copy(s.LogDensity, s.c)
	return nil
}

// logarithms returns the logarithms of the past; nil before the first row.
func (p *Past) logarithms() []float64 {
	if p.logs || p.state == nil {
		return p.state
	}
	l := make([]float64, len(p.state))
	for a, v := range p.state {
		l[a] = math.Log(v)
	}
	return l
}

// exponentials turns logarithms in s.Filtered into probabilities.
func (s *Sequence) exponentials(m *Chain) {
	if !s.logs {
		return
	}
	for t := range s.c {
		row := s.Filtered[t*m.Stride : (t+1)*m.Stride]
		for a := range row[:m.K] {
			row[a] = math.Exp(row[a])
		}
		clear(row[m.K:])
	}
}

// Smooth sets all of s from the scores of the rows of a sequence, as Filter takes them.
func (m *Chain) Smooth(s *Sequence, scores []float64) error {
	if err := m.filter(s, scores, new(Past)); err != nil {
		return err
	}
	s.beta = sized(s.beta, m.Stride)
	m.last(s.beta, s.logs)
	m.smooth(s, scores, nil)
	return nil
}

// last sets beta to that of the last row of a sequence: 1, or its logarithm.
func (m *Chain) last(beta []float64, logs bool) {
	for a := range beta {
		if beta[a] = 1; logs {
			beta[a] = 0
		}
	}
}

// smooth sets s.Smoothed and s.Moves for rows that are filtered. s.beta is that of the last row and becomes that of the row before the first; past is
// what filter had of that row, nil where there is none.
func (m *Chain) smooth(s *Sequence, scores, past []float64) {
	s.Smoothed, s.Moves = sized(s.Smoothed, len(s.Filtered)), sized(s.Moves, m.K*m.K)
	if s.logs {
		clear(s.Moves)
		m.LogBackward(s.Smoothed, s.Moves, s.beta, s.Filtered, s.c, scores, past)
		s.exponentials(m)
		return
	}
	s.moves = sized(s.moves, m.Stride*m.Stride)
	clear(s.moves)
	m.Backward(s.Smoothed, s.beta, s.Filtered, s.c, s.b)
	m.AddMoves(s.moves, s.Filtered, s.b, past)
	m.Moves(s.Moves, s.moves)
}

// Viterbi sets path, n, to the likeliest path of states of a sequence with such scores, as Filter takes them, and returns the log density
// of the path and the rows together, nats. Of paths that are equal it takes the one with the lowest states at the end. It fails with an
// *ImpossibleError. Viterbi 1967; no probability is lost, since all are logarithms.
func (m *Chain) Viterbi(path []int32, scores []float64) (float64, error) {
	if len(path) == 0 {
		return 0, nil
	}
	from := make([]int32, len(path)*m.K)
	best, err := m.paths(nil, from, scores)
	if err != nil {
		return math.Inf(-1), err
	}
	at := likeliest(best)
	m.trace(path, from, at)
	return best[at], nil
}

// paths returns the log density of the likeliest path to each state in the last of some rows, K numbers. before is that of the row before the
// first; nil where the first row begins the sequence. It sets from, rows x K, unless that is nil, to the state before each state of each row on
// these paths; of equals to the first.
func (m *Chain) paths(before []float64, from []int32, scores []float64) ([]float64, error) {
	n, k := m.Stride, m.K
	best, next := make([]float64, k), make([]float64, k)
	copy(best, before)
	for t := range len(scores) / n {
		top := math.Inf(-1)
		for b := range k {
			at, v := 0, math.Inf(-1)
			if t == 0 && before == nil {
				v = m.logInitial[b]
			} else {
				for a, p := range best {
					if q := p + m.logBack[b*n+a]; q > v {
						at, v = a, q
					}
				}
			}
			if from != nil {
				from[t*k+b] = int32(at)
			}
			next[b] = v + scores[t*n+b]
			top = max(top, next[b])
		}
		if math.IsInf(top, -1) {
			return nil, &ImpossibleError{t}
		}
		best, next = next, best
	}
	return best, nil
}

// trace sets path to the one that ends in a state, by what paths has set from to, and returns the state before its first row.
func (m *Chain) trace(path, from []int32, end int32) (before int32) {
	for t := len(path) - 1; t >= 0; t-- {
		path[t] = end
		end = from[t*m.K+int(end)]
	}
	return end
}

// likeliest returns the place of the largest number, of equals the first.
func likeliest(v []float64) (at int32) {
	for a, x := range v {
		if x > v[at] {
			at = int32(a)
		}
	}
	return at
}

// sized returns s with n numbers, in its memory where that is enough.
func sized(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}

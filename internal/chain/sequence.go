package chain

import (
	"fmt"
	"math"
)

// ImpossibleError says that a sequence has probability 0: no path of states with positive probabilities explains its rows up to this one.
type ImpossibleError struct{ Row int } // from 0

// Error implements error.
func (e *ImpossibleError) Error() string {
	return fmt.Sprintf("the model gives the first %d rows of a sequence probability 0: no path of states leads there", e.Row+1)
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
	s.Smoothed, s.Moves = sized(s.Smoothed, len(s.Filtered)), sized(s.Moves, m.K*m.K)
	s.moves, s.beta = sized(s.moves, m.Stride*m.Stride), sized(s.beta, m.Stride)
	clear(s.moves)
	if s.logs {
		clear(s.beta)
		clear(s.Moves)
		m.LogBackward(s.Smoothed, s.Moves, s.beta, s.Filtered, s.c, scores, nil)
		s.exponentials(m)
		return nil
	}
	for a := range s.beta {
		s.beta[a] = 1
	}
	m.Backward(s.Smoothed, s.moves, s.beta, s.Filtered, s.c, s.b, nil)
	m.Moves(s.Moves, s.moves)
	return nil
}

// Viterbi sets path, n, to the likeliest path of states of a sequence with such scores, as Filter takes them, and returns the log density
// of the path and the rows together, nats. Of paths that are equal it takes the one with the lowest states at the end. It fails with an
// *ImpossibleError. Viterbi 1967; no probability is lost, since all are logarithms.
func (m *Chain) Viterbi(path []int32, scores []float64) (float64, error) {
	n, k := m.Stride, m.K
	from := make([]int32, len(path)*k) // the state before each state of each row on the best path there
	best, next := make([]float64, k), make([]float64, k)
	for t := range path {
		top := math.Inf(-1)
		for b := range k {
			v := m.logInitial[b]
			if t > 0 {
				at := 0
				v = math.Inf(-1)
				for a, p := range best {
					if q := p + m.logBack[b*n+a]; q > v {
						at, v = a, q
					}
				}
				from[t*k+b] = int32(at)
			}
			next[b] = v + scores[t*n+b]
			top = max(top, next[b])
		}
		if math.IsInf(top, -1) {
			return top, &ImpossibleError{t}
		}
		best, next = next, best
	}
	if len(path) == 0 {
		return 0, nil
	}
	last, at := len(path)-1, 0
	for a, v := range best {
		if v > best[at] {
			at = a
		}
	}
	path[last] = int32(at)
	for t := last; t > 0; t-- {
		path[t-1] = from[t*k+int(path[t])]
	}
	return best[at], nil
}

// sized returns s with n numbers, in its memory where that is enough.
func sized(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}

// Package chain has the recursions of a hidden Markov model on one sequence: from the densities of its rows in every state to the
// probabilities of its states. It knows plain slices, no densities and no parameters.
//
// Numbers of a row in its states lie side by side: row t of a sequence is at [t*Stride], Stride being K rounded up to a multiple of
// kern.Lanes; what stands from K on in a row is 0, of logarithms anything.
//
// The recursions are those of Baum and others (1970) with every row scaled to add up to 1 (Rabiner 1989, section V A):
//
//	alpha_t = (A' alpha_t-1) b_t / c_t    P(state of row t | rows up to t); A' alpha_t-1 is p in the first row
//	beta_t  = A (b_t+1 beta_t+1 / c_t+1)  1 in the last row
//	gamma_t = alpha_t beta_t              P(state of row t | all rows)
//	xi_t    = alpha_t-1 A b_t beta_t/c_t  P(states of rows t-1 and t | all rows)
//
// where b_t is the density of row t in each state and c_t that of row t given those before it. Numbers of float64 are enough for them unless c_t is
// so small that what is lost below it could matter: see Underflow. Then a sequence is done again with logarithms throughout (log.go).
package chain

import (
	"math"

	"github.com/latent-go/latent/internal/kern"
)

// Underflow is the c_t, of densities b_t of which the largest is about 1, below which the scaled recursions are not used: a state whose alpha_t was lost below the least
// number of float64, some 1e-308, may then be the one that explains the row.
const Underflow = 1e-200

// Chain is a Markov chain of K states: where a sequence begins, and where it goes from each state. It is not changed once it is made, and
// goroutines may share it.
type Chain struct {
	K, Stride int

	initial []float64 // Stride
	forward []float64 // K x Stride: row a has the probabilities of the state after state a
	back    []float64 // K x Stride: row b has the probabilities of state b after each state

	logInitial, logForward, logBack []float64 // their logarithms; -Inf for 0

	closed bool // some probability is so small that a state once lost may not be entered again: see lostAfter
}

// leastEntry is the logarithm of the probability, 1e-90, from which on a state that was lost is entered again from others before it matters.
const leastEntry = -207.2326583694641

// New returns the chain with the initial probabilities, k of them, and the transition probabilities, k x k with row a those of the state after state a.
// They are finite, not negative, and add up to 1. Both are copied.
func New(initial, transitions []float64) *Chain {
	logs := func(p []float64) []float64 {
		l := make([]float64, len(p))
		for i, v := range p {
			l[i] = math.Log(v)
		}
		return l
	}
	m := tempered(logs(initial), logs(transitions), 1)
	copy(m.initial, initial) // to the last bit
	for i, q := range transitions {
		a, b := i/m.K, i%m.K
		m.forward[a*m.Stride+b], m.back[b*m.Stride+a] = q, q
	}
	return m
}

// Tempered returns the chain whose probabilities of paths are those of m to a power above 0. They do not add up to 1.
func (m *Chain) Tempered(power float64) *Chain {
	transitions := make([]float64, 0, m.K*m.K)
	for a := range m.K {
		transitions = append(transitions, m.logForward[a*m.Stride:a*m.Stride+m.K]...)
	}
	return tempered(m.logInitial[:m.K], transitions, power)
}

// tempered returns the chain whose probabilities have so many times these logarithms.
func tempered(initial, transitions []float64, power float64) *Chain {
	k := len(initial)
	m := &Chain{K: k, Stride: kern.Pad(k)}
	n := m.Stride
	all := make([]float64, 2*(2*k+1)*n)
	cut := func(rows int) (s []float64) { s, all = all[:rows*n:rows*n], all[rows*n:]; return s }
	m.initial, m.forward, m.back = cut(1), cut(k), cut(k)
	m.logInitial, m.logForward, m.logBack = cut(1), cut(k), cut(k)
	for a, l := range initial {
		l *= power
		m.initial[a], m.logInitial[a] = math.Exp(l), l
		m.closed = m.closed || l < leastEntry
		for b, l := range transitions[a*k : (a+1)*k] {
			l *= power
			q := math.Exp(l)
			m.forward[a*n+b], m.back[b*n+a] = q, q
			m.logForward[a*n+b], m.logBack[b*n+a] = l, l
			m.closed = m.closed || l < leastEntry
		}
	}
	return m
}

// Forward sets alpha, n x Stride, to the probabilities of the states of n rows given the rows up to each, and c, n, to what each row's density
// adds up to given the rows before it. b, n x Stride, has the densities; those of a row may be divided by any number, by which c is then
// divided too. past is alpha of the row before, Stride; nil where the first row begins the sequence. It reports false, at once, where the rows have
// to be done with logarithms.
func (m *Chain) Forward(alpha, c, b, past []float64) bool {
	n, from := m.Stride, 0
	if past == nil {
		row, sum := alpha[:n], 0.0
		for a, p := range m.initial {
			row[a] = p * b[a]
			sum += row[a]
		}
		if c[0] = sum; !(sum >= Underflow) || m.closed && m.lostAtFirst(row) {
			return false
		}
		for a := range row {
			row[a] /= sum
		}
		past, from = row, 1
	}
	kern.ChainForward(alpha[from*n:], c[from:], b[from*n:], past, m.forward, m.K)
	for _, v := range c[from:] {
		if !(v >= Underflow) {
			return false
		}
	}
	return !m.closed || !m.lostAfter(alpha, past, from)
}

// least is the alpha below which float64 may have lost it.
const least = 1e-290

// lostAtFirst reports whether a state that a sequence can begin in is lost in its first row, alpha before it is scaled.
func (m *Chain) lostAtFirst(row []float64) bool {
	for a, l := range m.logInitial[:m.K] {
		if !math.IsInf(l, -1) && row[a] < least {
			return true
		}
	}
	return false
}

// lostAfter reports whether a state that can follow those before it is lost in any row of alpha from row from on. past is the row before.
func (m *Chain) lostAfter(alpha, past []float64, from int) bool {
	n := m.Stride
	for t := from; t < len(alpha)/n; t++ {
		row := alpha[t*n : (t+1)*n]
		for b := range m.K {
			if row[b] >= least {
				continue
			}
			for a, p := range past[:m.K] {
				if p > 0 && !math.IsInf(m.logForward[a*n+b], -1) {
					return true
				}
			}
		}
		past = row
	}
	return false
}

// Backward goes from the last of n rows to the first and sets gamma, n x Stride, to the probabilities of their states given all rows of the
// sequence. alpha, c and b are those of Forward; b becomes what AddMoves takes. beta, Stride, is that of the last row, all 1 at the end of the
// sequence, and becomes that of the row before the first. gamma may be alpha where no moves are wanted.
func (m *Chain) Backward(gamma, beta, alpha, c, b []float64) {
	kern.ChainBackward(gamma, beta, alpha, c, b, m.back, m.K)
}

// AddMoves adds to moves, Stride x Stride, the expected transitions into n rows, row a from state a, before they are multiplied by the transition
// probabilities: see Moves. alpha is that of Forward and u what Backward has made of b. past is alpha of the row before; nil where the first row
// begins the sequence, into which there is no transition.
func (m *Chain) AddMoves(moves, alpha, u, past []float64) {
	n, rows := m.Stride, len(u)/m.Stride
	kern.ChainMoves(moves, alpha, u[min(n, len(u)):], max(rows-1, 0), m.K)
	if past != nil {
		kern.ChainMoves(moves, past, u, 1, m.K)
	}
}

// Moves sets dst, K x K, to the expected transitions that AddMoves has gathered in moves.
func (m *Chain) Moves(dst, moves []float64) {
	for a := range m.K {
		for b := range m.K {
			if q := m.forward[a*m.Stride+b]; q > 0 {
				dst[a*m.K+b] = q * moves[a*m.Stride+b]
			} else {
				dst[a*m.K+b] = 0
			}
		}
	}
}

// Ahead sets next, Stride, to the probabilities of the states a row after one whose states have the probabilities now. The two do not overlap.
func (m *Chain) Ahead(next, now []float64) {
	n := m.Stride
	clear(next)
	for a, p := range now[:m.K] {
		for b, q := range m.forward[a*n : a*n+m.K] {
			next[b] += p * q
		}
	}
}

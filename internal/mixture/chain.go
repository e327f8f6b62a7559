package mixture

import (
	"github.com/latent-go/latent/internal/chain"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// A hidden Markov model: the components are states, and the labels of the rows of a sequence are a Markov chain (Baum, Petrie, Soules and Weiss 1970).
//
// The probabilities of the first state, and for each state those of the next, are k+1 distributions over k levels. All that a climb asks of them a
// family of categories answers: their logits are its parameters, (k+1) x k of them, and Stats.Chain its sums, rows being the first rows of
// sequences and the moves between rows. So a probability of 0 or 1 is an edge like one of a level, a row of transitions that no move supports
// stays as it is, and the information is that of multinomials.

// chain returns the family of the k+1 distributions, of one column.
func (m *Mixture) chain() family.Categorical { return family.Categorical{Levels: []int{m.K}} }

// chainStats returns the sums s for the family of chain, with the prior's pseudo-moves if they are wanted. They share memory where there are none.
func (m *Mixture) chainStats(s *family.Stats, pseudo bool) *family.Stats {
	own := &family.Stats{K: m.K + 1, D: 1, W: s.W, Sum: s.Chain}
	if pseudo && m.Prior != nil {
		own.Sum = m.pseudoMoves().Sum
		for i, v := range s.Chain {
			own.Sum[i] += v
		}
	}
	return own
}

// pseudoMoves returns what the prior, which must not be nil, adds to the sums of chainStats.
func (m *Mixture) pseudoMoves() *family.Stats {
	own := &family.Stats{K: m.K + 1, D: 1, Sum: make([]float64, (m.K+1)*m.K)}
	for i := range own.Sum {
		if own.Sum[i] = m.Prior.Transitions; i < m.K {
			own.Sum[i] = m.Prior.Weights
		}
	}
	return own
}

// ChainProbabilities returns the probabilities of the first state, k, and of the state after each, k x k with row a those after state a. Those on the floor
// that stands for 0 are 0. The mixture must be a chain.
func (m *Mixture) ChainProbabilities(theta []float64) (initial, transitions []float64) {
	all := m.chain().Natural(nil, theta[:m.logits()], m.K+1)
	for from := 0; from < len(all); from += m.K {
		row, sum := all[from:from+m.K], 0.0
		for i, p := range row {
			if p <= family.MinProbability*(1+1e-9) {
				row[i] = 0
			}
			sum += row[i]
		}
		for i := range row {
			row[i] /= sum
		}
	}
	return all[:m.K], all[m.K:]
}

// SetChainProbabilities sets the logits of theta to those of probabilities as ChainProbabilities returns them, raised to the floor.
func (m *Mixture) SetChainProbabilities(theta, initial, transitions []float64) {
	m.chain().FromNatural(theta[:m.K], initial, 1)
	m.chain().FromNatural(theta[m.K:m.logits()], transitions, m.K)
}

// leastMoves is the expected number of moves from a state, or the weight of sequences, below which they do not tell where it goes.
const leastMoves = 0.1

// Unmoved sets held at the logits of distributions of the chain that next to nothing tells, by the sums s: a row of transitions from a state that
// only ends sequences, without a prior of transitions. What a climb is to make of them is unknown, and the M-step leaves or sets them as it can.
func (m *Mixture) Unmoved(held []bool, s *family.Stats) {
	if !m.Chain {
		return
	}
	moves := m.chainStats(s, true).Sum
	for from := 0; from < len(moves); from += m.K {
		sum := 0.0
		for _, v := range moves[from : from+m.K] {
			sum += v
		}
		if sum < leastMoves {
			for i := range m.K {
				held[from+i] = true
			}
		}
	}
}

// bindChain returns the chain at theta, its paths' probabilities to the power of beta.
func (m *Mixture) bindChain(theta []float64, beta float64) *chain.Chain {
	all := m.chain().Natural(nil, theta[:m.logits()], m.K+1)
	c := chain.New(all[:m.K], all[m.K:])
	if beta != 1 {
		return c.Tempered(beta)
	}
	return c
}

// Chain returns the chain of b; nil where there is none.
func (b *Bound) Chain() *chain.Chain { return b.chain }

// Densities sets d, kern.Rows x Stride, to the densities of the rows of p in each state, to the power of beta and divided by what makes those of a
// row add up to 1, and scale, kern.Rows, to the logarithm of that number divided by beta, nats. A row without any cell has the same density in every
// state.
func (b *Bound) Densities(d, scale []float64, p *family.Panel, sc *Scratch) {
	s := b.states(p, sc)
	kern.Soften(s, sc.lse, sc.ent, sc.tmp, b.k, b.beta)
	copy(scale, sc.lse)
	kern.Share(d, sc.logits[:kern.Pad(b.k)*kern.Rows], sc.tmp, b.k)
}

// LogDensities sets d, kern.Rows x Stride, to the logarithms of those densities, as they are.
func (b *Bound) LogDensities(d []float64, p *family.Panel, sc *Scratch) {
	for i := range sc.tmp {
		sc.tmp[i] = b.beta
	}
	b.states(p, sc)
	kern.Share(d, sc.logits[:kern.Pad(b.k)*kern.Rows], sc.tmp, b.k)
}

// states returns the scores of the rows of p in each state, which are in sc too, with 0 for more states up to a full vector.
func (b *Bound) states(p *family.Panel, sc *Scratch) []float64 {
	s := b.Logits(p, sc)
	clear(sc.logits[len(s) : kern.Pad(b.k)*kern.Rows])
	return s
}

// GatherStates adds to the sums of s, and to what sc holds of them until Flush, the rows of p whose states have the probabilities gamma,
// p.N x Stride.
func (b *Bound) GatherStates(s *family.Stats, p *family.Panel, gamma []float64, sc *Scratch) {
	if p.Holes { // a fused kernel adds the rows as Logits has completed them
		b.Logits(p, sc)
	}
	n := kern.Pad(b.k)
	for i := range kern.Rows {
		w := p.W[i]
		if sc.tmp[i] = w; w > 0 {
			s.Rows++
			s.W += w
		}
		if i < p.N {
			for c, v := range gamma[i*n : i*n+b.k] {
				sc.logits[c*kern.Rows+i] = v
			}
			continue
		}
		for c := range b.k {
			sc.logits[c*kern.Rows+i] = 0
		}
	}
	b.share(s, p, sc, sc.tmp, b.fused)
}

// CloseChain sets the entropy of the paths, nats, in the sums of a whole sweep with theta at inverse temperature beta: beta times what the
// free energy is above the expected log density of rows and paths together.
func (m *Mixture) CloseChain(theta []float64, beta float64, s *family.Stats) {
	s.Entropy = 0
	s.Entropy = max(beta*(s.F-m.FreeEnergy(theta, theta, beta, s)), 0)
}

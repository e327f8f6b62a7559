package family

import (
	"slices"

	"github.com/latent-go/latent/internal/rng"
)

// Stats are the sums of one sweep: all that a step needs to know of the rows. They add, over blocks of rows, threads
// and machines; nothing else ever crosses between them.
type Stats struct {
	K, D    int
	Rows    int64     // rows of positive weight
	W       float64   // sum of row weights
	F       float64   // free energy at the sweep's beta, nats; for a family without density minus the cost
	LogLik  float64   // sum_i w_i log p(x_i), nats; 0 for a family without density
	Entropy float64   // sum_i w_i H(q_i), nats; 0 for hard labels
	Labels  uint64    // fingerprint of the hard labels of all rows of positive weight; 0 for soft ones and a HardKernel
	N       []float64 // k: sum_i w_i r_ic
	Sum     []float64 // the family's own sums
	Far     []Far     // the worst explained rows, worst first, at most FarMax; only where the family asks for them
	FarMax  int

	// Of a hidden Markov model of k states, (k+1) x k: first the sums over sequences of their weights times the probabilities of their first states, then,
	// for each state a, the expected number of moves from it to every state, times row weights; nil of others.
	Chain []float64

	// Of a noise component: sum_i w_i r_i0, and sum_i w_i r_i0 log p_0(x_i), nats; 0 where there is none.
	Noise, NoiseDensity float64
}

// leastSupport is the share of the row weight that a component counts for in the metric, however little it has. What no
// row supports has no natural length: moves of 1 standard error would lead out of the range of float64.
const leastSupport = 1e-9

// Support returns what component c counts for in the complete-data information: N[c], or a tiny share of W if that is more.
func (s *Stats) Support(c int) float64 { return s.support(s.N[c]) }

// SupportOf is Support of a component of which n is sum_i w_i r_i.
func (s *Stats) SupportOf(n float64) float64 { return s.support(n) }

func (s *Stats) support(n float64) float64 { return max(n, leastSupport*s.W, minWeight) }

// Far is a row and how badly its best component explains it.
type Far struct {
	Row   int64
	Score float64 // the row's best score: the lower the worse
	W     float64 // row weight
	Label int32   // the component it belongs to
	X     []float64
}

// NewStats returns empty sums: the identity of Merge.
func NewStats(k, d, sums, farMax int) *Stats {
	return &Stats{K: k, D: d, N: make([]float64, k), Sum: make([]float64, sums), FarMax: farMax}
}

// clone returns a copy of s whose N and Sum are its own.
func (s *Stats) clone() *Stats {
	own := *s
	own.N, own.Sum = slices.Clone(s.N), slices.Clone(s.Sum)
	return &own
}

// Reset makes s empty again and keeps its memory.
func (s *Stats) Reset() {
	n, sum, chain, far := s.N, s.Sum, s.Chain, s.Far[:0]
	clear(n)
	clear(sum)
	clear(chain)
	*s = Stats{K: s.K, D: s.D, N: n, Sum: sum, Chain: chain, Far: far, FarMax: s.FarMax}
}

// Merge adds o, the sums of the rows that follow those of s.
func (s *Stats) Merge(o *Stats) {
	s.Rows += o.Rows
	s.W += o.W
	s.F += o.F
	s.LogLik += o.LogLik
	s.Entropy += o.Entropy
	s.Labels += o.Labels
	s.Noise += o.Noise
	s.NoiseDensity += o.NoiseDensity
	for i, v := range o.N {
		s.N[i] += v
	}
	for i, v := range o.Sum {
		s.Sum[i] += v
	}
	for i, v := range o.Chain {
		s.Chain[i] += v
	}
	for i := range o.Far {
		s.Offer(o.Far[i])
	}
}

// Fingerprint is what a row's label adds to Labels: the bits of both, mixed. The sum over rows
// does not depend on how they were split, and a moved label leaves it the same once in 2^64 times.
func Fingerprint(row int64, label int32) uint64 {
	return rng.Mix(uint64(row)*0xd1342543de82ef95 + (uint64(label)+1)*0x9e3779b97f4a7c15)
}

// Offer puts f among the worst explained rows if it is one of them; of equals the earlier row stays. f.X is copied.
func (s *Stats) Offer(f Far) {
	if s.FarMax == 0 || len(s.Far) == s.FarMax && s.Far[len(s.Far)-1].Score <= f.Score {
		return
	}
	at, _ := slices.BinarySearchFunc(s.Far, f.Score, func(a Far, score float64) int {
		if a.Score <= score {
			return -1
		}
		return 1
	})
	var x []float64
	if len(s.Far) == s.FarMax {
		x = s.Far[len(s.Far)-1].X
		s.Far = s.Far[:len(s.Far)-1]
	}
	f.X = append(x[:0], f.X...)
	s.Far = slices.Insert(s.Far, at, f)
}

// Worse reports whether Offer would keep a row of this score.
func (s *Stats) Worse(score float64) bool {
	return s.FarMax > 0 && (len(s.Far) < s.FarMax || score < s.Far[len(s.Far)-1].Score)
}

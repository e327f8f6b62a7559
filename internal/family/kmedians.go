package family

import (
	"math"
	"slices"

	"github.com/latent-go/latent/internal/kern"
)

// KMedians is the cluster of K-medians: a Laplace density of one fixed scale in every column. Its score is minus the L1
// distance to the centre, which is the log density of scale 1 without its constant, so that the free energy of hard
// labels is minus the L1 cost.
//
// theta is k x d centres. The best centre is the median of each column, and medians do not add: the median of two blocks
// of rows is not told by any fixed number of sums of each. So there are no sums but N, and MStep keeps theta. Package
// hard takes the medians from rows in memory; this family scores rows, in memory or not.
type KMedians struct{}

// Name returns "kmedians".
func (KMedians) Name() string { return "kmedians" }

// Params returns k*d.
func (KMedians) Params(k, d int) int { return k * d }

// Sums returns 0.
func (KMedians) Sums(_, _ int) int { return 0 }

// Free returns k*d.
func (KMedians) Free(k, d int) int { return k * d }

// Density returns false: scores are minus L1 distances.
func (KMedians) Density() bool { return false }

// Bind copies the centres.
func (KMedians) Bind(theta []float64, k, d int) Kernel {
	return &absoluteKernel{k: k, d: d, c: slices.Clone(theta)}
}

// MStep copies theta: sums cannot tell medians.
func (KMedians) MStep(next, theta []float64, _ *Stats) { copy(next, theta) }

// Expected returns the free energy of the sweep where next is theta, and NaN elsewhere: sums cannot tell the cost about
// other centres.
func (KMedians) Expected(next, theta []float64, s *Stats) float64 {
	if !slices.Equal(next, theta) {
		return math.NaN()
	}
	return s.F
}

// AtFloor returns all false: there is no floor.
func (KMedians) AtFloor(_ []float64, k, _ int) []bool { return make([]bool, k) }

type absoluteKernel struct {
	k, d int
	c    []float64
}

func (a *absoluteKernel) Score(dst []float64, p *Panel, _ *Workspace) {
	dst = dst[:a.k*kern.Rows]
	kern.L1All(dst, p.X, a.c, a.k, a.d)
	for i, v := range dst {
		dst[i] = -min(v, math.MaxFloat64) // finite where the sum overflows: 0 times it must be 0
	}
}

func (a *absoluteKernel) Add(s *Stats, _ *Panel, r []float64, _ *Workspace) {
	for c := range a.k {
		for _, v := range r[c*kern.Rows : c*kern.Rows+kern.Rows] {
			s.N[c] += v
		}
	}
}

func (a *absoluteKernel) AddHard(s *Stats, p *Panel, label []int32) {
	for i := range p.N {
		s.N[label[i]] += p.W[i]
	}
}

// FarRows returns how many empty clusters one sweep can name rows for.
func (a *absoluteKernel) FarRows() int { return min(a.k, 16) }

package family

import (
	"math"

	"github.com/latent-go/latent/internal/kern"
)

// KMeans is the cluster of k-means: a spherical Gaussian whose variance is fixed and shared. Its score is minus the
// squared Euclidean distance to the centre, which is the Gaussian of variance 1/2 without its constant, so that the
// free energy of hard labels is minus the inertia (MacQueen 1967; Lloyd 1982).
//
// theta is k x d centres. Sums are k x d: sum w x of each cluster, about the origin, so that small integers stay
// exact. A cluster that lost all its rows moves to the row farthest from its own centre, which never raises the
// cost.
type KMeans struct{}

// Name returns "kmeans".
func (KMeans) Name() string { return "kmeans" }

// Params returns k*d.
func (KMeans) Params(k, d int) int { return k * d }

// Sums returns k*d.
func (KMeans) Sums(k, d int) int { return k * d }

// Free returns k*d.
func (KMeans) Free(k, d int) int { return k * d }

// Density returns false: scores are minus squared distances.
func (KMeans) Density() bool { return false }

// Bind copies the centres.
func (KMeans) Bind(theta []float64, k, d int) Kernel {
	return &fixedKernel{k: k, d: d, c: append([]float64(nil), theta...)}
}

// MStep moves every centre to the mean of its rows.
func (KMeans) MStep(next, theta []float64, s *Stats) {
	k, d := s.K, s.D
	n, sum := s.N, s.Sum
	far := 0
	for c := range k {
		if n[c] > 0 {
			continue
		}
		// The farthest rows first; a row at its own centre has nothing to gain.
		for far < len(s.Far) && (s.Far[far].Score == 0 || n[s.Far[far].Label] <= s.Far[far].W) {
			far++
		}
		if far == len(s.Far) {
			continue
		}
		f := &s.Far[far]
		far++
		n[f.Label] -= f.W
		n[c] = f.W
		s.F -= f.W * f.Score // the sums are now those of the moved labels, and so is the cost about theta
		for j, x := range f.X {
			s.F -= f.W * (x - theta[c*d+j]) * (x - theta[c*d+j])
			sum[int(f.Label)*d+j] -= f.W * x
			sum[c*d+j] = f.W * x
		}
	}
	for c := range k {
		for j := range d {
			if n[c] > 0 {
				next[c*d+j] = sum[c*d+j] / n[c]
			} else {
				next[c*d+j] = theta[c*d+j]
			}
		}
	}
}

// Expected returns minus the inertia of the rows about the centres next; for soft labels the entropy in s.F is
// added. It is exact only up to the cancellation of sums about the origin, and serves the trace.
func (KMeans) Expected(next, theta []float64, s *Stats) float64 {
	// sum w |x-b|^2 = sum w |x-a|^2 - 2 (b-a).(S - N a) + N |b-a|^2, and -s.F is the first term.
	f := s.F
	for c := range s.K {
		for j := range s.D {
			a, b := theta[c*s.D+j], next[c*s.D+j]
			f += 2*(b-a)*(s.Sum[c*s.D+j]-s.N[c]*a) - s.N[c]*(b-a)*(b-a)
		}
	}
	return f
}

// AtFloor returns all false: there is no floor.
func (KMeans) AtFloor(_ []float64, k, _ int) []bool { return make([]bool, k) }

type fixedKernel struct {
	k, d int
	c    []float64
}

func (f *fixedKernel) Score(dst []float64, p *Panel, _ *Workspace) {
	dst = dst[:f.k*kern.Rows]
	kern.SqdistAll(dst, p.X, f.c, f.k, f.d)
	for i, v := range dst {
		dst[i] = -min(v, math.MaxFloat64) // finite for a row so far that its square overflows: 0 times it must be 0
	}
}

func (f *fixedKernel) Add(s *Stats, p *Panel, r []float64, _ *Workspace) {
	for c := range f.k {
		s.N[c] += kern.First(s.Sum[c*f.d:c*f.d+f.d], p.X, r[c*kern.Rows:])
	}
}

func (f *fixedKernel) AddHard(s *Stats, p *Panel, label []int32) {
	for i := range p.N {
		w := p.W[i]
		if w == 0 {
			continue
		}
		s.N[label[i]] += w
		sum := s.Sum[int(label[i])*f.d : int(label[i])*f.d+f.d]
		for j := range sum {
			sum[j] += w * p.X[j*kern.Rows+i]
		}
	}
}

// FarRows returns how many empty clusters one sweep can move.
func (f *fixedKernel) FarRows() int { return FarRows(f.k) }

// FarRows is how many rows a sweep of k clusters names for those that may be empty.
func FarRows(k int) int { return min(k, 16) }

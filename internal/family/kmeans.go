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
//
// With Gaps distances are over the cells that are there, nothing scaled up (k-POD: Chi, Chi and Baraniuk 2016), a centre's coordinate is
// the mean of the cells that are there, and k x d weights of the rows that have a cell follow the sums.
type KMeans struct {
	Gaps *Gaps // what cells are missing; nil for complete rows
}

// WithGaps implements Incomplete.
func (KMeans) WithGaps(g *Gaps) Family { return KMeans{g} }

// Patterns implements Incomplete.
func (f KMeans) Patterns() *Gaps { return f.Gaps }

// cells returns the sums of the cells of each centre's rows, and the weights of the rows that have one.
func (f KMeans) cells(s *Stats) cells {
	if f.Gaps == nil {
		return completeCells(s)
	}
	n := s.K * s.D
	return cells{s.Sum[:n], s.Sum[n:]}
}

// Name returns "kmeans".
func (KMeans) Name() string { return "kmeans" }

// Params returns k*d.
func (KMeans) Params(k, d int) int { return k * d }

// Sums returns k*d, and twice that with gaps.
func (f KMeans) Sums(k, d int) int {
	if f.Gaps != nil {
		return 2 * k * d
	}
	return k * d
}

// Free returns k*d.
func (KMeans) Free(k, d int) int { return k * d }

// Density returns false: scores are minus squared distances.
func (KMeans) Density() bool { return false }

// Bind copies the centres.
func (f KMeans) Bind(theta []float64, k, d int) Kernel {
	return &fixedKernel{gaps: f.Gaps != nil, k: k, d: d, c: append([]float64(nil), theta...)}
}

// MStep moves every centre to the mean of its rows.
func (f KMeans) MStep(next, theta []float64, s *Stats) {
	k, d := s.K, s.D
	n, x := s.N, f.cells(s)
	sum := x.sum
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
		for j, v := range f.X {
			if v != v { // missing
				continue
			}
			s.F -= f.W * (v - theta[c*d+j]) * (v - theta[c*d+j])
			from, to := int(f.Label)*d+j, c*d+j
			sum[from] -= f.W * v
			sum[to] = f.W * v
			x.weight[from] -= f.W
			x.weight[to] = f.W
		}
	}
	for i, w := range x.weight {
		if n[i/d] > 0 && w > 0 {
			next[i] = sum[i] / w
		} else {
			next[i] = theta[i]
		}
	}
}

// Expected returns minus the inertia of the rows about the centres next; for soft labels the entropy in s.F is
// added. It is exact only up to the cancellation of sums about the origin, and serves the trace.
func (f KMeans) Expected(next, theta []float64, s *Stats) float64 {
	// sum w |x-b|^2 = sum w |x-a|^2 - 2 (b-a).(S - N a) + N |b-a|^2, and -s.F is the first term.
	sum, x := s.F, f.cells(s)
	for i, a := range theta {
		b, n := next[i], x.weight[i]
		sum += 2*(b-a)*(x.sum[i]-n*a) - n*(b-a)*(b-a)
	}
	return sum
}

// AtFloor returns all false: there is no floor.
func (KMeans) AtFloor(_ []float64, k, _ int) []bool { return make([]bool, k) }

type fixedKernel struct {
	gaps bool // cells may be missing
	k, d int
	c    []float64
}

func (f *fixedKernel) Score(dst []float64, p *Panel, ws *Workspace) {
	dst = dst[:f.k*kern.Rows]
	if p.Holes {
		for c := range f.k { // with the centre in place of what is missing its difference is 0
			centre := f.c[c*f.d : c*f.d+f.d]
			kern.SqdistAll(dst[c*kern.Rows:(c+1)*kern.Rows], p.filledWith(ws, centre), centre, 1, f.d)
		}
	} else {
		kern.SqdistAll(dst, p.X, f.c, f.k, f.d)
	}
	for i, v := range dst {
		dst[i] = -min(v, math.MaxFloat64) // finite for a row so far that its square overflows: 0 times it must be 0
	}
}

func (f *fixedKernel) Add(s *Stats, p *Panel, r []float64, ws *Workspace) {
	x := p.X
	if f.gaps {
		x = p.cells()
	}
	for c := range f.k {
		s.N[c] += kern.First(s.Sum[c*f.d:c*f.d+f.d], x, r[c*kern.Rows:])
		if f.gaps {
			kern.First(s.Sum[(f.k+c)*f.d:(f.k+c+1)*f.d], p.Mask, r[c*kern.Rows:])
		}
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
		if f.gaps {
			addCells(sum, s.Sum[(f.k+int(label[i]))*f.d:], p, i, w)
			continue
		}
		for j := range sum {
			sum[j] += w * p.X[j*kern.Rows+i]
		}
	}
}

// addCells adds the cells of row i that are there to sum, with weight w, and w to their weights.
func addCells(sum, weight []float64, p *Panel, i int, w float64) {
	for j := range sum {
		if v := p.X[j*kern.Rows+i]; v == v {
			sum[j] += w * v
			weight[j] += w
		}
	}
}

// FarRows returns how many empty clusters one sweep can move.
func (f *fixedKernel) FarRows() int { return FarRows(f.k) }

// FarRows is how many rows a sweep of k clusters names for those that may be empty.
func FarRows(k int) int { return min(k, 16) }

// Package family says what a cluster looks like: the log density of a component, the sums it needs from a sweep and
// the step those sums give.
//
// Parameters are one flat vector theta in free coordinates (means, logarithms of scales, log-Cholesky factors), so
// that every vector is a valid model and drivers can add vectors. Means are relative to the origin of the sweep, and
// logarithms are natural. Mixing weights are not here but in package mixture.
package family

import "github.com/latent-go/latent/internal/kern"

// A Family is the shape shared by the k components of a mixture on d columns. Implementations are immutable.
type Family interface {
	// Name is the word used by the command and the model file, such as "full".
	Name() string
	// Params is the length of theta.
	Params(k, d int) int
	// Sums is the length of Stats.Sum.
	Sums(k, d int) int
	// Free counts the parameters that an information criterion charges for, mixing weights not included.
	Free(k, d int) int
	// Density reports whether scores are log densities; if not (k-means) they are minus a cost.
	Density() bool
	// Bind prepares theta for one sweep. The kernel keeps no reference to theta.
	Bind(theta []float64, k, d int) Kernel
	// MStep sets next to the maximiser of the expected complete-data log-likelihood, given the sums that a sweep
	// with theta collected. A component that no row supports keeps its parameters, or moves to a row of s.Far.
	// next and theta may be the same slice.
	MStep(next, theta []float64, s *Stats)
	// Expected returns sum_i w_i sum_c r_ic log p_c(x_i) in nats for the parameters next, from the sums that a
	// sweep with theta collected: the free energy after an M-step costs no pass. A family without density returns
	// the whole free energy.
	Expected(next, theta []float64, s *Stats) float64
	// AtFloor tells which components sit on a floor of the family (a smallest variance).
	AtFloor(theta []float64, k, d int) []bool
}

// A Kernel is a family bound to parameters for one sweep. It is read-only and shared by workers, each of which brings
// its own Workspace; it allocates nothing.
type Kernel interface {
	// Score sets dst[c*kern.Rows+i] = log p_c(x_i), in nats.
	Score(dst []float64, p *Panel, ws *Workspace)
	// Add adds the panel to s.N and s.Sum. r[c*kern.Rows+i] is row weight times responsibility, 0 beyond p.N.
	Add(s *Stats, p *Panel, r []float64, ws *Workspace)
}

// A HardKernel can add a panel whose rows belong to one component each, which is cheaper than responsibilities.
type HardKernel interface {
	Kernel
	// AddHard adds row i with weight p.W[i] to component label[i].
	AddHard(s *Stats, p *Panel, label []int32)
	// FarRows is how many of the worst explained rows the M-step may ask for.
	FarRows() int
}

// A Panel is kern.Rows rows, stored variable by variable and relative to the origin.
type Panel struct {
	N, D  int
	X     []float64 // D x kern.Rows: X[j*kern.Rows+i]
	W     []float64 // kern.Rows row weights; 0 beyond N
	First int64     // index of the first row
}

// Workspace is the scratch memory of one worker.
type Workspace struct {
	Y, V []float64 // d x kern.Rows each
	T    []float64 // kern.Rows
}

// NewWorkspace returns scratch memory for d columns.
func NewWorkspace(d int) *Workspace {
	return &Workspace{Y: make([]float64, d*kern.Rows), V: make([]float64, d*kern.Rows), T: make([]float64, kern.Rows)}
}

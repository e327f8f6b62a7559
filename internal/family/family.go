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
	// AtFloor tells which components sit on a floor that decides their density, as a smallest variance does: one of a few rows there is
	// degenerate and does not win. A family in which no component gains by shrinking onto a row returns all false.
	AtFloor(theta []float64, k, d int) []bool
}

// A Natural family has components that are told by other numbers than means: by probabilities or rates.
type Natural interface {
	Family
	// Natural sets dst to those numbers of the k components theta, one component after another; nil allocates.
	Natural(dst, theta []float64, k int) []float64
	// FromNatural sets theta to the parameters of the k components with such numbers, moved inside the floors.
	FromNatural(theta, natural []float64, k int)
}

// A Based family has log densities of which a part depends on the row alone, as -log x! of a count does. A sweep over rows in
// memory has it from the first pass.
type Based interface {
	Family
	// Base sets base, of kern.Rows numbers, to that part for the panel x of d columns.
	Base(base, x []float64, d int)
}

// A Flattening family may have components that the floor of variances regularises although no variance that AtFloor looks at is on
// the floor.
type Flattening interface {
	Family
	// Flat tells which those are, for the sums of a sweep with theta and the M-step next.
	Flat(next, theta []float64, s *Stats) []bool
}

// A Smooth family has a density that can be differentiated: what every driver but EM needs, and the certificate. All of
// it comes from the sums of one sweep; no pass is needed. Its kernel is a GradKernel, which standard errors need.
//
// The complete-data information is the one the rows would carry if their components were known: minus the second
// derivative of the expected complete-data log-likelihood at theta, responsibilities held fixed, in expectation over
// the rows of each component. It is block diagonal, and EM's own step is its inverse times the gradient near a fixed
// point (Jamshidian and Jennrich 1997).
type Smooth interface {
	Family
	// Grad sets g to the gradient of Expected in its first argument at theta, for the sums of a sweep with theta. By
	// Fisher's identity that is the gradient of the free energy at any inverse temperature. It may leave g anything at
	// the parameters of a component without weight.
	Grad(g, theta []float64, s *Stats)
	// Precondition sets z to the inverse of the complete-data information at theta times q. z and q may be the same.
	Precondition(z, q, theta []float64, s *Stats)
	// Multiply sets q to the complete-data information at theta times z. q and z must not overlap.
	Multiply(q, z, theta []float64, s *Stats)
	// SquaredLength returns z' I z, I the complete-data information at theta: squared standard errors.
	SquaredLength(z, theta []float64, s *Stats) float64
	// Reach returns how far the move z goes from theta in units of the longest that a driver may try in one step: 2
	// standard deviations of a component for its mean, 1 for a log scale, 3 for a logit.
	Reach(z, theta []float64, k, d int) float64
	// Nudge adds small random moves to theta, 0.05 of a component's own standard deviation in size, that part
	// components which have become the same. normal returns standard normal numbers.
	Nudge(theta []float64, k, d int, normal func() float64)
	// Apart returns how far components a and b are apart: the length of the move from one to the other in the
	// complete-data information of one row of a, in parameters that are not shared. 0 means that they are the same.
	Apart(theta []float64, a, b, k, d int) float64
	// Place calls do with the places in theta of the means, or probabilities, of component c.
	Place(c, k, d int, do func(from, to int))
	// Project moves theta inside the floors. What is inside stays as it is, to the bit.
	Project(theta []float64, k, d int)
	// Held sets held[i] for the parameters that sit on a floor at theta, and clears the others: the certificate and standard errors leave them
	// out, and a result names them.
	Held(held []bool, theta []float64, k, d int)
}

// An Edged family has probabilities near 0 or 1 among the parameters that Held marks. The M-step multiplies such a probability
// by a ratio. Where that is above 1 the edge is no optimum but a saddle, which takes hundreds of steps to leave.
type Edged interface {
	Smooth
	// Release clears held at the parameters that the step from theta to next moves off the edge, and reports whether there
	// are any.
	Release(held []bool, theta, next []float64, k, d int) bool
	// Inside moves off the edge those probabilities of theta that are held there, though the edge is no better than what lies beside it.
	// It reports whether there are any. g is the gradient of the free energy at theta, weights the weight of each component.
	Inside(theta []float64, held []bool, g, weights []float64, k, d int) bool
}

// Constants of Inside.
const (
	// indifferent is the share of a probability that the M-step takes off it, below which its edge is taken for no better
	// than what lies beside it: at an end that is known to a hundredth of a standard error the share is known better than that.
	indifferent = 0.005
	// besideEdge is where such a probability is moved to.
	besideEdge = 0.01
)

// releases is the step of a logit, off its edge, above which it is not held: what a curvature can be told from 0 by.
const releases = 1e-4

// A Curved family has parameters about which it is better to move in a frame that goes with them than in theta: see
// ascent.Curved. Moves in the frame are laid out like theta.
type Curved interface {
	Smooth
	// Turned reports whether the frame is another than theta.
	Turned() bool
	// Framed sets f to the gradient g in the frame at theta. f and g may be the same slice.
	Framed(f, g, theta []float64, k, d int)
	// PreconditionFramed is Precondition in the frame. z and q may be the same.
	PreconditionFramed(z, q, theta []float64, s *Stats)
	// Unframed sets z to the move of theta that the move w in the frame begins with. z and w may be the same slice.
	Unframed(z, w, theta []float64, k, d int)
	// Along sets next to where the move w in the frame leads from theta.
	Along(next, w, theta []float64, k, d int)
	// Between sets w, the move in the frame at theta that led to next, to the one that leads to what next has become
	// inside the floors. It returns false where the frame at next is not the one that w leads to.
	Between(w, next, theta []float64, k, d int) bool
}

// A Kernel is a family bound to parameters for one sweep. It is read-only and shared by workers, each of which brings
// its own Workspace; it allocates nothing.
type Kernel interface {
	// Score sets dst[c*kern.Rows+i] = log p_c(x_i), in nats. Rows beyond p.N, and of weight 0, may hold any numbers. No score is below
	// -math.MaxFloat64/4, so that those of several components can be added: a row that far off is named.
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

// Spare is how many variables more than D a panel of a sweep has memory for: a kernel may put features of the rows beside their
// cells, and finds there what it likes.
const Spare = 2

// A Panel is kern.Rows rows, stored variable by variable and relative to the origin.
type Panel struct {
	N, D int
	X    []float64 // D x kern.Rows: X[j*kern.Rows+i]; where the capacity says so, with Spare
	W    []float64 // kern.Rows row weights; 0 beyond N
	// Where the family is for rows with gaps: Mask, D x kern.Rows, is 1 where X has a cell and 0 where it is missing, NaN; Filled is X with 0
	// in place of missing cells.
	Mask, Filled []float64
	Holes        bool // a cell of the rows is missing
	// Pattern is nil, or the number of each row's pattern among those of the table, Complete where nothing is missing.
	Pattern []int32
	Bits    []uint32  // nil, or what a Binary family's PackBits made of the rows: its FusedKernel does not look at X then
	Base    []float64 // nil, or what a Based family's Base made of the rows
	own     []uint32  // memory for bits where nobody brought them
	First   int64     // index of the first row
}

// Workspace is the scratch memory of one worker.
type Workspace struct {
	Y, V   []float64 // d x kern.Rows each
	T      []float64 // kern.Rows
	filled []float64 // of Panel.filledWith
	own    *Gathered // of kernels that gather one panel
	parts  []*partScratch
	scores []float64 // k x kern.Rows: of one part
	shares []float64 // responsibilities of the rows that have a cell of a part
	tails  *tailRows // of a Student family
}

// gathered returns what one panel is gathered in.
func (w *Workspace) gathered() *Gathered {
	if w.own == nil {
		w.own = new(Gathered)
	}
	return w.own
}

// NewWorkspace returns scratch memory for d columns.
func NewWorkspace(d int) *Workspace {
	return &Workspace{Y: make([]float64, d*kern.Rows), V: make([]float64, d*kern.Rows), T: make([]float64, kern.Rows)}
}

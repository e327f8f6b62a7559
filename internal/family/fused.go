package family

import (
	"math"

	"github.com/latent-go/latent/internal/kern"
)

// A Fusable kernel has a form in which a sweep runs fastest.
type Fusable interface {
	Kernel
	// Fuse returns that form for components with mixing weights whose logarithms are logw; nil where the plain form is
	// as fast.
	Fuse(logw []float64) FusedKernel
}

// A FusedKernel runs panel by panel like a Kernel, but adds to sums of its own layout, which cost hardly more operations
// than the arithmetic asks for. They become Stats once a run of panels is over. It is read-only and shared by workers,
// each of which brings its own Gathered.
type FusedKernel interface {
	// Logits sets dst[c*kern.Rows+i] = log pi_c + log p_c(x_i), in nats.
	Logits(dst []float64, p *Panel, g *Gathered, ws *Workspace)
	// Gather adds the panel to g, and perhaps to s; factor[i] q[c*kern.Rows+i] is row weight times responsibility, 0 beyond
	// p.N. q has memory for kern.Pad(k) components and may be overwritten; what the surplus ones hold does not matter. Where p.Holes is set,
	// p must be the panel of the last call of Logits with g.
	Gather(s *Stats, p *Panel, q, factor []float64, g *Gathered, ws *Workspace)
	// Flush adds to s what g holds and empties g.
	Flush(s *Stats, g *Gathered)
}

// A TotalKernel says whether it takes sums over whole rows, by the weights of the panel instead of responsibilities, which add up to them. Where a
// part of the weights belongs to none of its components, the panel must then have the rest. Of another FusedKernel it is not known.
type TotalKernel interface {
	FusedKernel
	// Totals reports whether it does so.
	Totals() bool
}

// A BoundedKernel can tell which components matter to rows that lie close together, and run with those alone.
type BoundedKernel interface {
	FusedKernel
	// Bounded reports whether the other methods may be called, and prepares for them. It is not safe for workers.
	Bounded() bool
	// Matter sets bit c of sets[i*words:], words = (k+63)/64, for the components that may matter to rows in box i and clears
	// the others, and returns how many bits it has set. Others have scores from Logits that are more than margin[c] below
	// those of some component at every row of the box; so they are if the score is raised by relax log d^2, where the row
	// lies d of its standard deviations from the component's mean.
	Matter(sets []uint64, boxes *Boxes, margin []float64, relax float64, g *Gathered) (pairs int)
	// Means sets boxes to the points where the components from on have their means, as many as there is room for.
	Means(boxes *Boxes, from int)
	// Choose returns a kernel of the components of, ascending and at least one, for the panels until its Flush, which
	// leaves their sums in g for the Flush of all. It lives in g and keeps of.
	Choose(of []int, g *Gathered) FusedKernel
}

// Boxes are up to kern.Rows boxes, each around the rows of a panel that have weight.
type Boxes struct {
	N            int
	Centre, Half []float64 // d x kern.Rows: centres and half-widths, by variables
}

// NewBoxes returns memory for boxes of d variables.
func NewBoxes(d int) *Boxes {
	return &Boxes{Centre: make([]float64, d*kern.Rows), Half: make([]float64, d*kern.Rows)}
}

// Add appends the box of p. Of a panel without weight it is a point, the origin.
func (b *Boxes) Add(p *Panel) {
	at := b.N
	b.N++
	whole := p.N == kern.Rows
	for _, w := range p.W[:p.N] {
		whole = whole && w > 0
	}
	for j := range p.D {
		x := p.X[j*kern.Rows : j*kern.Rows+kern.Rows]
		lo, hi := math.Inf(1), math.Inf(-1)
		if whole {
			lo, hi = extremes((*[kern.Rows]float64)(x))
		} else {
			for i, w := range p.W[:p.N] {
				if w > 0 {
					lo, hi = min(lo, x[i]), max(hi, x[i])
				}
			}
		}
		if lo > hi {
			lo, hi = 0, 0
		}
		c := lo/2 + hi/2
		b.Centre[j*kern.Rows+at] = c
		b.Half[j*kern.Rows+at] = max(hi-c, c-lo) * (1 + 0x1p-50)
	}
}

// extremes returns the least and the largest of x.
func extremes(x *[kern.Rows]float64) (lo, hi float64) {
	lo, hi = x[0], x[0]
	lo1, hi1 := x[1], x[1]
	for i := 2; i < kern.Rows; i += 2 {
		lo, hi = min(lo, x[i]), max(hi, x[i])
		lo1, hi1 = min(lo1, x[i+1]), max(hi1, x[i+1])
	}
	return min(lo, lo1), max(hi, hi1)
}

// Gathered is what one worker has gathered for one FusedKernel since the last Flush, and scratch memory. Its zero value
// is empty.
type Gathered struct {
	sum   []float64
	few   []float64 // partial sums of kern.AccumulateFew
	buf   *buffers
	part  part        // of the components that were chosen last
	done  *completed  // where rows were completed
	parts []*Gathered // of a Mixed family
	tails *tailRows   // of a Student family
}

// buffers is scratch memory, without state from one panel to the next.
type buffers struct {
	features []float64 // a block of features of a panel
	shares   []float64 // responsibilities by rows
	rows     []float64 // a number a row or a column
	centred  []float64 // differences from a mean, then a row of ones
	weighted []float64 // weighted differences by rows
	white    []float64 // whitened rows
	bounds   []float64 // two numbers for a component and box
}

// buffers returns g's scratch memory.
func (g *Gathered) buffers() *buffers {
	if g.buf == nil {
		g.buf = new(buffers)
	}
	return g.buf
}

// Sibling returns an empty Gathered for another kernel whose panels are run in turn with those of g: they share scratch
// memory.
func (g *Gathered) Sibling() *Gathered { return &Gathered{buf: g.buffers()} }

// grow makes s at least n long; what it held is lost if it was not.
func grow(s *[]float64, n int) []float64 {
	if len(*s) < n {
		*s = make([]float64, n)
	}
	return (*s)[:n]
}

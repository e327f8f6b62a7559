package family

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
	// p.N. q has memory for kern.Pad(k) components and may be overwritten; what the surplus ones hold does not matter.
	Gather(s *Stats, p *Panel, q, factor []float64, g *Gathered, ws *Workspace)
	// Flush adds to s what g holds and empties g.
	Flush(s *Stats, g *Gathered)
}

// Gathered is what one worker has gathered for one FusedKernel since the last Flush, and scratch memory. Its zero value
// is empty.
type Gathered struct {
	sum []float64
	few []float64 // partial sums of kern.AccumulateFew
	buf *buffers
}

// buffers is scratch memory, without state from one panel to the next.
type buffers struct {
	features []float64 // a block of features of a panel
	shares   []float64 // responsibilities by rows
	rows     []float64 // a number a row or a column
	centred  []float64 // differences from a mean, then a row of ones
	weighted []float64 // weighted differences by rows
	white    []float64 // whitened rows
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

package nearest

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"unsafe"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// Pages are what a State is for rows that pass by in chunks: labels, and until when they stand, in a file of 8 N bytes, sums and clocks in
// memory. A sweep begins with Begin, adds every chunk by a Pager, and ends with End. After an error or an end of the context in between they
// are of no more use.
type Pages struct {
	of    any // whose rows they are of
	file  File
	k, d  int
	chunk int  // rows of every chunk but the last, a multiple of kern.Rows
	blank bool // nothing is in the file yet
	total sums
	look  look // of all rows

	clocks  clocks
	mode    mode
	direct  bool      // costs are summed row by row
	mu      []float64 // d zeros: rows are held relative to the origin
	theta   []float64
	centres centres
}

// File is where pages are kept. It belongs to the pages.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// PageError is a page that could not be read or written.
type PageError struct{ Err error }

func (e *PageError) Error() string {
	return fmt.Sprintf("the temporary file of labels: %v", e.Err)
}

func (e *PageError) Unwrap() error { return e.Err }

// pagedWork is how many multiplications a row must take for its label to be worth 8 bytes that are read and written. Measured on Zen 5 with
// 200,000 rows of 16 columns in memory: thirty sweeps took half the time with 8 groups, and a fifth to a third from 32 groups on.
const pagedWork = 64

// NewPages returns pages for the rows of of, a pointer, of which t is a tally, in chunks of so many, or nil where they would not pay or float32
// does not hold the squares.
func NewPages(of any, t *Tally, chunk int, create func() (File, error)) (*Pages, error) {
	all := t.look.totals()
	if t.short || t.k < 2 || t.k*t.d < pagedWork || t.d > mostColumns || kern.Current() == kern.Go || !inRange(all.top, &all) {
		return nil, nil
	}
	f, err := create()
	if err != nil {
		return nil, &PageError{err}
	}
	return &Pages{of: of, file: f, k: t.k, d: t.d, chunk: chunk, blank: true, total: newSums(t.k, t.d), look: t.look, mu: make([]float64, t.d)}, nil
}

// inRange reports whether float32 holds the squares of rows of that size, and float64 the sums of all.
func inRange(size float64, all *totals) bool {
	return smallest < size && size < largest && all.weight*size*size < roomy
}

// Fits reports whether the pages are of these rows, with k centres of d columns.
func (g *Pages) Fits(of any, k, d int) bool { return g.of == of && g.k == k && g.d == d }

// Begin makes the pages ready for a sweep with the centres theta. It reports false where their squares are out of range.
func (g *Pages) Begin(theta []float64) bool {
	if !g.centres.set(theta, g.mu, g.k, g.d, width(false)) {
		return false
	}
	g.centres.denseTiles(theta, g.k, g.d)
	g.clocks.advance(theta, g.k, g.d)
	g.theta = theta
	return true
}

// End turns the changes that the sweep has gathered into the sums of all rows: t is then like a tally of Engine.Tallies, with the cost where
// the last sweep needed it row by row. s is memory for statistics.
func (g *Pages) End(t *Tally, s *family.Stats) {
	e := Engine{d: g.d}
	g.mode.decide(t.sums.tested, t.sums.due, e.pays(g.k))
	g.blank = false
	g.total.cost, g.total.costLo = 0, 0
	g.total.merge(&t.sums)
	t.sums.reset()
	t.sums.merge(&g.total)
	t.look, t.short, t.costed = g.look, true, g.direct
	all := g.look.totals()
	t.sums.write(s, g.theta, g.d, &all)
	g.direct = cancelled(s, &all)
}

// Close gives the file back.
func (g *Pages) Close() error { return g.file.Close() }

// Pager is the memory of one goroutine that adds chunks by pages.
type Pager struct {
	e     *Engine
	w     *worker
	table data.Table
	st    State
	job   job
	words []int32 // a page: the labels of a chunk, and their dues
	rows  []int32 // of the chunk, those that are compared
}

// NewPager returns one for d columns.
func NewPager(d int) *Pager {
	p := &Pager{}
	p.e = &Engine{t: &p.table, d: d, mu: make([]float64, d)}
	p.w = newWorker(p.e)
	return p
}

// Add adds to t what the rows of b change: relative to origin, those that leave a cluster are taken off its sums, and those that come to one
// are added. Its error is a *PageError.
func (p *Pager) Add(b *data.Block, origin []float64, g *Pages, t *Tally) error {
	p.table = data.Table{N: b.N, D: b.D, F64: b.F64, F32: b.F32, W: b.W}
	e, w := p.e, p.w
	e.n, e.origin, e.panels = b.N, origin, (b.N+kern.Rows-1)/kern.Rows
	if err := p.load(g, b.First); err != nil {
		return err
	}
	p.job = job{st: &p.st, theta: g.theta, k: g.k, centres: &g.centres}
	w.j, w.s, w.first = &p.job, &t.sums, 0
	changed := w.s.changed
	bound := g.mode != sampling || !g.blank && b.First/int64(g.chunk)%sampled == 0
	p.choose(bound && g.mode != filling, g.mode == bounding)
	p.compare(bound)
	w.flush()
	if g.direct {
		p.costs(g.theta)
	}
	if g.blank || bound && len(p.rows) > 0 || w.s.changed > changed {
		return p.store(g, b.First)
	}
	return nil
}

// costs sums the cost of the chunk, by the plain loop: its digits are those of a plain pass.
func (p *Pager) costs(theta []float64) {
	s, d := p.w.s, p.e.d
	for i := range p.table.N {
		if u := p.e.weightOf(i); u > 0 {
			p.e.row(p.w.y, i)
			s.cost, s.costLo = kern.TwoSum(s.cost, s.costLo, u*plain(p.w.y, theta[int(p.st.label[i])*d:]))
		}
	}
}

// load makes the state that of the chunk whose first row is given.
func (p *Pager) load(g *Pages, first int64) error {
	n := p.e.panels * kern.Rows
	p.words = grown(p.words, 2*n)
	label, due := p.words[:n], dues(p.words[n:])
	p.st.label, p.st.bounds = label, bounds{clocks: g.clocks, mode: g.mode, due: due}
	if g.blank {
		for i := range label {
			label[i], due[i] = -1, -1
		}
		return nil
	}
	if _, err := g.file.ReadAt(raw(p.words), 8*first); err != nil {
		return &PageError{err}
	}
	for _, l := range label {
		if int(l) < -1 || int(l) >= g.k {
			return &PageError{errors.New("it holds something else than was written")}
		}
	}
	return nil
}

func (p *Pager) store(g *Pages, first int64) error {
	if _, err := g.file.WriteAt(raw(p.words), 8*first); err != nil {
		return &PageError{err}
	}
	return nil
}

// dues returns words as the float32 that they are.
func dues(words []int32) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}

func raw(words []int32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 4*len(words))
}

// choose lists the rows that are compared: all, or where only is set those that are due. With test it counts those.
func (p *Pager) choose(test, only bool) {
	e, w := p.e, p.w
	p.rows = p.rows[:0]
	for lo := 0; lo < e.panels; lo += batch {
		hi := min(lo+batch, e.panels)
		if test {
			w.test(lo, hi)
		}
		for i := range hi - lo {
			rows := e.valid(lo + i)
			if only {
				rows = w.late[i]
			}
			for b := rows; b != 0; b &= b - 1 {
				p.rows = append(p.rows, int32((lo+i)*kern.Rows+bits.TrailingZeros32(b)))
			}
		}
	}
}

// compare labels the rows listed, and with bound sets their dues.
func (p *Pager) compare(bound bool) {
	w, g := p.w, &p.w.g
	g.ready(p.e)
	for rows := p.rows; len(rows) > 0; {
		g.n = min(g.room, len(rows))
		for i, row := range rows[:g.n] {
			p.pack(i, int(row))
		}
		w.batch = rowBatch{n: g.n, id: rows[:g.n], bound: bound, due: g.due}
		w.densePanels(g.x, g.norm, g.label, (g.n+kern.Rows-1)/kern.Rows)
		if bound {
			for i, row := range rows[:g.n] {
				p.st.bounds.due[row] = g.due[i]
			}
		}
		rows = rows[g.n:]
	}
	g.n = 0
}

// pack makes a row of the chunk the i-th of those gathered.
func (p *Pager) pack(i, row int) {
	w, g, d := p.w, &p.w.g, p.e.d
	p.e.row(w.y, row)
	x, q := g.x[i/kern.Rows*d*kern.Rows+i%kern.Rows:], 0.0
	for j, v := range w.y {
		x[j*kern.Rows] = float32(v)
		q += v * v
	}
	g.norm[i], g.label[i] = float32(math.Sqrt(q)*up), p.st.label[row]
}

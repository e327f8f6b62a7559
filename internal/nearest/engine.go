// Package nearest finds the nearest of k centres for the rows of a matrix in memory, and the sums of each cluster: one
// Lloyd sweep (MacQueen 1967; Lloyd 1982).
//
// Labels are those of plain float64 arithmetic, sum_j (x_j - origin_j - c_j)^2 one term after the other and the lowest of
// equals, whatever the processor. A fast pass in float32 or in bytes bounds its own error; where that may decide, the
// row is settled in float64, and where the rounding of that may decide, by the plain loop.
//
// A State keeps the labels of one start between sweeps: only rows whose label changed touch the sums. A sum is kept as
// two float64, so that what was added can be taken out again, and neither history nor threads show in its digits. It also keeps
// until when a label stands: rows whose label cannot have changed are not compared, where that pays, and the others are
// gathered into full panels. With many centres it keeps for each panel of rows until when a centre is none of theirs: the others are listed and
// compared.
package nearest

import (
	"context"
	"math"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/par"
)

const (
	largest  = 1e15 // values whose squares leave float32 plenty of room
	smallest = 1e-15
	// roomy bounds the total weight times the largest square: sums over any number of columns have a float64.
	roomy = math.MaxFloat64 / 1e9
	// mostColumns keeps the sum of D products of bytes within an int32.
	mostColumns = 60_000
	// Integers pay from intColumns columns on, and intWork cells of centres: below, the work on each score outweighs the
	// products. Up to wordCentres centres words beat bytes: telling survivors apart would cost more than the products.
	// Measured on Zen 5 at avx512, where with 64 columns a sweep in float32, bytes and words took 2.0, 2.8 and 1.9 ms with 8
	// centres, 6.4, 5.9 and 4.9 with 64, and 17, 9.9 and 10.5 with 256.
	intColumns  = 32
	intWork     = 1024
	wordCentres = 128
)

// Engine holds the rows in the form the kernels want. Beside the rows it keeps, and 4 to 28 N bytes more:
//
//	4 N D bytes of float32 with few columns and centres, and at level avx512 without VNNI, at neon and in portable Go
//	2 N D of words with at most 128 centres, at the levels avx2 and avx2+vnni 64; 4 N D of float32 on arm64
//	  N D of bytes with more
type Engine struct {
	t       *data.Table
	n, d    int
	origin  []float64
	threads int
	panels  int
	refused bool

	mu    []float64 // rows are held relative to this point: anywhere near them will do
	dense *densePanels
	ints  *intPanels
	order *order // of the rows in panels; nil where they stand as they come
	totals
	looked look // of all rows, which totals are made of

	exact bool // rows have weight 1 and cells less the origin are exact: sums are kept by kern.Shift

	// The sweep in hand.
	jobs, spare, group []*job // all, and those whose parts are the same
	job                *job
	share              float64 // tests: in place of pays, where it is not 0
	workers            []*worker
	crew               *par.Crew
	phase              func(w *worker, part int)
	step               func(worker, part int) // phase, for the crew
}

// New returns an engine over the rows of t relative to origin. Rows are first read by the first sweep.
func New(t *data.Table, origin []float64, threads int) *Engine {
	e := &Engine{t: t, n: t.N, d: t.D, origin: origin, threads: max(threads, 1), panels: (t.N + kern.Rows - 1) / kern.Rows}
	for range e.threads {
		e.workers = append(e.workers, newWorker(e))
	}
	e.crew = par.NewCrew(e.threads)
	e.step = func(worker, part int) { e.phase(e.workers[worker], part) }
	return e
}

// run calls f for every part from 0 to parts-1, each once, on all threads. It returns early where ctx ends.
func (e *Engine) run(ctx context.Context, parts int, f func(w *worker, part int)) error {
	e.phase = f
	return e.crew.Do(ctx, parts, e.step)
}

// span returns the panels of a part of so many.
func (e *Engine) span(part, of int) (lo, hi int) {
	return e.panels * part / of, e.panels * (part + 1) / of
}

// rowsOf returns the rows of panels lo to hi.
func (e *Engine) rowsOf(lo, hi int) (first, last int) { return lo * kern.Rows, min(hi*kern.Rows, e.n) }

// row sets y to row i relative to the origin.
func (e *Engine) row(y []float64, i int) {
	if e.t.F64 != nil {
		for j, v := range e.t.F64[i*e.d : i*e.d+e.d] {
			y[j] = v - e.origin[j]
		}
		return
	}
	for j, v := range e.t.F32[i*e.d : i*e.d+e.d] {
		y[j] = float64(v) - e.origin[j]
	}
}

func (e *Engine) weightOf(i int) float64 {
	if e.t.W == nil {
		return 1
	}
	return e.t.W[i]
}

// prepare brings the rows into the form that suits k centres, at the first sweep. It reports false where there are none,
// where values are so large or all so small that float32 could not hold their squares, and where weights might overflow.
func (e *Engine) prepare(k int) bool {
	if e.ints != nil || e.dense != nil || e.refused {
		return !e.refused
	}
	if e.n == 0 || e.d == 0 || e.d > mostColumns {
		e.refused = true
		return false
	}
	e.mean()
	if words, ok := integers(k, e.d); ok {
		e.ints = e.quantise(words)
	} else {
		e.dense = e.pack()
	}
	size := e.top
	for _, m := range e.mu {
		size = max(size, math.Abs(m))
	}
	e.refused = !inRange(size, &e.totals)
	if e.refused {
		e.ints, e.dense = nil, nil
	}
	e.exact = e.t.F32 != nil && e.t.W == nil
	for _, o := range e.origin {
		e.exact = e.exact && float64(float32(o)) == o
	}
	return !e.refused
}

// integers reports whether rows of d columns are compared with k centres in integers, and whether in words. With AVX2 float32 gains less
// from few columns: nanoseconds a row in float32, bytes and words at avx2, and bytes and words at avx2+vnni, measured on Zen 5 with rows in
// the cache:
//
//	d, k      float32  bytes  words  bytes  words
//	16, 128      44.2   44.9   45.1   36.0   40.3
//	24, 128      61.8   55.1   56.2   43.7   50.3
//	32, 64       39.7   40.5   36.8   32.2   32.9
//	64, 64       75.2   61.4   61.3   47.5   55.5
//	64, 128       154    105    117     81    105
//	128, 32      82.0   79.0   59.5   61.9   55.0
//	128, 256      631    387    469    266    383
func integers(k, d int) (words, ok bool) {
	most, columns := wordCentres, intColumns
	switch kern.Current() {
	case kern.AVX2:
		most, columns = wordCentres/2, 24
	case kern.AVX2VNNI:
		most, columns = wordCentres/2, 16
	}
	if words = k <= most; words {
		columns = intColumns
	}
	return words, kern.HasIntegers(words) && d >= columns && k*d >= intWork
}

// grain returns that of kern.Shift for sums over so many rows, or 0 where sums are kept by kern.Scatter.
func (e *Engine) grain(rows int) float64 {
	if !e.exact {
		return 0
	}
	size := e.top
	for _, m := range e.mu {
		size = max(size, e.top+math.Abs(m))
	}
	_, exp := math.Frexp(size * float64(rows))
	return math.Ldexp(1, exp+1)
}

// panelBytes is what a panel of rows takes.
func (e *Engine) panelBytes() int {
	if e.ints != nil {
		return e.ints.groups * 4 * kern.Rows
	}
	return e.d * 4 * kern.Rows
}

// mean sets mu to the mean of some of the rows.
func (e *Engine) mean() {
	e.mu = make([]float64, e.d)
	sample := min(e.n, 1024)
	y := make([]float64, e.d)
	for s := range sample {
		e.row(y, e.n/sample*s)
		for j, v := range y {
			e.mu[j] += v / float64(sample)
		}
	}
}

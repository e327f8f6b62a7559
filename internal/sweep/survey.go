package sweep

import (
	"context"
	"fmt"
	"math"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// Survey is what a first pass finds out about the rows. A row without any cell counts as one of weight 0.
type Survey struct {
	Rows      int64   // all rows
	Used      int64   // rows of positive weight
	W         float64 // sum of row weights
	MaxWeight float64 // the largest row weight
	// Mean, Var, Min and Max hold a value a column, over the cells of rows of positive weight. Var is divided by Seen.
	Mean, Var, Min, Max []float64
	Seen                []float64 // weight of the rows that have a cell in the column

	Missing    int64        // cells without a value in rows of positive weight
	Incomplete int64        // rows of positive weight that lack a cell
	Empty      int64        // rows without any cell, whose weight is positive
	Gaps       *family.Gaps // which cells are missing together; nil where none is
}

// Origin returns the point that sums are taken about: the mean rounded to a grid of 4 to 8 standard deviations. So an
// origin is 0 unless the data are far from it, x - origin stays exact for small integers, and no offset survives
// that could cancel.
func (s *Survey) Origin() []float64 {
	o := make([]float64, len(s.Mean))
	for j, m := range s.Mean {
		sd := math.Sqrt(s.Var[j])
		if sd == 0 { // a constant column: its own value, exactly
			o[j] = s.Min[j]
			continue
		}
		_, e := math.Frexp(sd)
		grid := math.Ldexp(1, e+2)
		o[j] = math.Round(m/grid) * grid
	}
	return o
}

// moments are sums of a run of rows about its own mean, merged pairwise (Chan, Golub, LeVeque 1983).
type moments struct {
	rows, used     int64
	w, heaviest    float64
	mean, m2       []float64
	seen           []float64
	least, largest []float64

	gaps                       *family.Gaps // nil where no cell is missing
	missing, incomplete, empty int64
}

// Look makes the first pass. It refuses values that are not finite, missing ones among them, and weights that are negative or not finite,
// with the row's number. No rows, or none of positive weight, are no error: Used is 0.
func Look(ctx context.Context, src data.Source, threads int) (*Survey, error) {
	return look(ctx, src, threads, false)
}

// LookThrough is Look where cells may be missing, NaN.
func LookThrough(ctx context.Context, src data.Source, threads int) (*Survey, error) {
	return look(ctx, src, threads, true)
}

func look(ctx context.Context, src data.Source, threads int, gaps bool) (*Survey, error) {
	_, d := src.Shape()
	m, ok, err := looking(d, workers(threads), gaps).run(ctx, src)
	if err != nil {
		return nil, err
	}
	if !ok {
		m = newMoments(d)
	}
	s := &Survey{Rows: m.rows, Used: m.used, W: m.w, MaxWeight: m.heaviest, Mean: m.mean, Var: m.m2, Min: m.least, Max: m.largest, Seen: m.seen,
		Missing: m.missing, Incomplete: m.incomplete, Empty: m.empty, Gaps: m.gaps}
	for j := range s.Var {
		s.Var[j] /= s.Seen[j]
		if s.Min[j] == s.Max[j] {
			s.Mean[j], s.Var[j] = s.Min[j], 0
		}
	}
	return s, nil
}

// looking returns what folds a first pass.
func looking(d, threads int, gaps bool) *fold[*moments] {
	return &fold[*moments]{
		threads: threads, chunk: mostChunk, reuse: func(*moments) {}, merge: (*moments).merge, job: &lookJob{gaps},
		fresh: func() *moments { return newMoments(d) },
		work:  func(_ int, b *data.Block, m *moments) error { return m.add(b, gaps) },
	}
}

func newMoments(d int) *moments {
	v := make([]float64, 5*d)
	m := &moments{mean: v[:d], m2: v[d : 2*d], least: v[2*d : 3*d], largest: v[3*d : 4*d], seen: v[4*d:]}
	for j := range d {
		m.least[j], m.largest[j] = math.Inf(1), math.Inf(-1)
	}
	return m
}

// add takes in a chunk.
func (m *moments) add(b *data.Block, gaps bool) error {
	if b.F64 != nil {
		return addRows(m, b, b.F64, gaps)
	}
	return addRows(m, b, b.F32, gaps)
}

// addRows takes in a chunk with the cells x: sums about the chunk's first row give its mean, a second look its squares.
func addRows[F float32 | float64](m *moments, b *data.Block, x []F, gaps bool) error {
	d := b.D
	if b.W == nil && b.N > 0 && addWhole(m, b, x) {
		return nil
	}
	some, err := check(b, x, gaps)
	if err != nil {
		return err
	}
	m.rows = int64(b.N)
	if some {
		m.gaps = family.NewGaps(d)
		addRowsWithGaps(m, b, x)
		return nil
	}
	var first []F
	for i := range b.N {
		w, row := b.Weight(i), x[i*d:i*d+d]
		if w == 0 {
			continue
		}
		if m.used == 0 {
			first = row
		}
		m.use(w)
		mean, least, largest := m.mean[:len(row)], m.least[:len(row)], m.largest[:len(row)]
		for j, v := range row {
			v := float64(v)
			mean[j] += w * (v - float64(first[j]))
			if v < least[j] {
				least[j] = v
			}
			if v > largest[j] {
				largest[j] = v
			}
		}
	}
	for j, v := range first {
		m.mean[j] = float64(v) + m.mean[j]/m.w
		m.seen[j] = m.w
	}
	for i := range b.N {
		w, row := b.Weight(i), x[i*d:i*d+d]
		if w == 0 {
			continue
		}
		mean, m2 := m.mean[:len(row)], m.m2[:len(row)]
		for j, v := range row {
			t := float64(v) - mean[j]
			m2[j] += w * t * t
		}
	}
	return nil
}

// addWhole is addRows where all weights are 1 and all values, and the sums of their distances from the first row, are finite. It reports whether
// they are, and else leaves m as it was.
func addWhole[F float32 | float64](m *moments, b *data.Block, x []F) bool {
	d, n := b.D, float64(b.N)
	first, sums := make([]float64, d), kern.Columns{Sum: make([]float64, d), Least: m.least, Largest: m.largest, At: make([]int64, d), Broken: make([]int64, d)}
	for j, v := range x[:d] {
		first[j] = float64(v)
	}
	kern.ColumnSums(&sums, x[:b.N*d], first)
	for _, v := range sums.Sum {
		if v-v != 0 {
			for j := range d {
				m.least[j], m.largest[j] = math.Inf(1), math.Inf(-1)
			}
			return false
		}
	}
	m.rows, m.used, m.w, m.heaviest = int64(b.N), int64(b.N), n, 1
	for j, v := range first {
		m.mean[j], m.seen[j] = v+sums.Sum[j]/n, n
	}
	kern.ColumnSquares(m.m2, x[:b.N*d], m.mean)
	return true
}

// use counts a row.
func (m *moments) use(w float64) {
	m.used++
	m.w += w
	m.heaviest = max(m.heaviest, w)
}

// addRowsWithGaps is addRows where cells are missing. A column's first cell takes the place of the first row.
func addRowsWithGaps[F float32 | float64](m *moments, b *data.Block, x []F) {
	d := b.D
	first, mask := make([]float64, d), make([]uint64, (d+63)/64)
	for i := range b.N {
		w, row := b.Weight(i), x[i*d:i*d+d]
		if w == 0 || !pattern(m, mask, row) {
			continue
		}
		m.use(w)
		for j, v := range row {
			if v != v {
				continue
			}
			v := float64(v)
			if m.seen[j] == 0 {
				first[j] = v
			}
			m.seen[j] += w
			m.mean[j] += w * (v - first[j])
			m.least[j], m.largest[j] = min(m.least[j], v), max(m.largest[j], v)
		}
	}
	for j, w := range m.seen {
		if w > 0 {
			m.mean[j] = first[j] + m.mean[j]/w
		}
	}
	for i := range b.N {
		w, row := b.Weight(i), x[i*d:i*d+d]
		for j, v := range row {
			if t := float64(v) - m.mean[j]; w > 0 && t == t {
				m.m2[j] += w * t * t
			}
		}
	}
}

// pattern counts what is missing of a row, and reports whether a cell is there. mask is scratch memory.
func pattern[F float32 | float64](m *moments, mask []uint64, row []F) bool {
	clear(mask)
	n := 0
	for j, v := range row {
		if v != v {
			mask[j/64] |= 1 << (j % 64)
			n++
		}
	}
	switch n {
	case 0:
	case len(row):
		m.empty++
		return false
	default:
		m.missing += int64(n)
		m.incomplete++
		m.gaps.Add(mask, 1)
	}
	return true
}

func (m *moments) merge(o *moments) {
	m.rows += o.rows
	m.empty += o.empty
	m.missing += o.missing
	m.incomplete += o.incomplete
	switch {
	case m.gaps == nil:
		m.gaps = o.gaps
	case o.gaps != nil:
		m.gaps.Merge(o.gaps)
	}
	if o.used == 0 {
		return
	}
	m.heaviest = max(m.heaviest, o.heaviest)
	for j, seen := range o.seen {
		if seen == 0 {
			continue
		}
		w := m.seen[j] + seen
		t := o.mean[j] - m.mean[j]
		if m.seen[j] == 0 {
			m.mean[j], t = o.mean[j], 0
		}
		m.m2[j] += o.m2[j] + t*t*(m.seen[j]/w)*seen
		m.mean[j] += t * (seen / w)
		m.least[j], m.largest[j] = min(m.least[j], o.least[j]), max(m.largest[j], o.largest[j])
		m.seen[j] = w
	}
	m.used += o.used
	m.w += o.w
}

// check refuses what no fit can use, and reports whether cells are missing where gaps allows that. Files are checked by their readers; this is
// for matrices from a program.
func check[F float32 | float64](b *data.Block, x []F, gaps bool) (some bool, err error) {
	for i := range b.N {
		if w := b.Weight(i); !(w >= 0) || math.IsInf(w, 1) {
			return false, fmt.Errorf("row %d: the weight is %v; weights must be finite and not negative", b.Number(i), w)
		}
		for j, v := range x[i*b.D : (i+1)*b.D] {
			switch {
			case v-v == 0:
			case v != v && gaps:
				some = true
			default:
				return false, fmt.Errorf("row %d, column %d: the value is %v; values must be finite", b.Number(i), j+1, float64(v))
			}
		}
	}
	return some, nil
}

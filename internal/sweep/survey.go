package sweep

import (
	"context"
	"fmt"
	"math"

	"github.com/latent-go/latent/data"
)

// Survey is what a first pass finds out about the rows.
type Survey struct {
	Rows      int64   // all rows
	Used      int64   // rows of positive weight
	W         float64 // sum of row weights
	MaxWeight float64 // the largest row weight
	// Mean, Var, Min and Max hold a value a column, over the rows of positive weight. Var has divisor W.
	Mean, Var, Min, Max []float64
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
	least, largest []float64
}

// Look makes the first pass. It refuses values that are not finite and weights that are negative or not finite, with
// the row's number. No rows, or none of positive weight, are no error: Used is 0.
func Look(ctx context.Context, src data.Source, threads int) (*Survey, error) {
	rows, d := src.Shape()
	f := &fold[*moments]{
		threads: workers(threads),
		chunk:   chunkRows(max(rows, 1<<20)),
		fresh:   func() *moments { return newMoments(d) },
		reuse:   func(*moments) {},
		work:    func(_ int, b *data.Block, m *moments) error { return m.add(b) },
		merge:   func(into, from *moments) { into.merge(from) },
	}
	m, ok, err := f.run(ctx, src)
	if err != nil {
		return nil, err
	}
	if !ok {
		m = newMoments(d)
	}
	s := &Survey{Rows: m.rows, Used: m.used, W: m.w, MaxWeight: m.heaviest, Mean: m.mean, Var: m.m2, Min: m.least, Max: m.largest}
	for j := range s.Var {
		s.Var[j] /= s.W
		if s.Min[j] == s.Max[j] {
			s.Mean[j], s.Var[j] = s.Min[j], 0
		}
	}
	return s, nil
}

func newMoments(d int) *moments {
	v := make([]float64, 4*d)
	m := &moments{mean: v[:d], m2: v[d : 2*d], least: v[2*d : 3*d], largest: v[3*d:]}
	for j := range d {
		m.least[j], m.largest[j] = math.Inf(1), math.Inf(-1)
	}
	return m
}

// add takes in a chunk.
func (m *moments) add(b *data.Block) error {
	if b.F64 != nil {
		return addRows(m, b, b.F64)
	}
	return addRows(m, b, b.F32)
}

// addRows takes in a chunk with the cells x: sums about the chunk's first row give its mean, a second look its squares.
func addRows[F float32 | float64](m *moments, b *data.Block, x []F) error {
	d := b.D
	if err := check(b, x); err != nil {
		return err
	}
	m.rows = int64(b.N)
	var first []F
	for i := range b.N {
		w, row := b.Weight(i), x[i*d:i*d+d]
		if w == 0 {
			continue
		}
		if m.used == 0 {
			first = row
		}
		m.used++
		m.w += w
		m.heaviest = max(m.heaviest, w)
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

func (m *moments) merge(o *moments) {
	m.rows += o.rows
	if o.used == 0 {
		return
	}
	w := m.w + o.w
	m.heaviest = max(m.heaviest, o.heaviest)
	for j := range m.mean {
		t := o.mean[j] - m.mean[j]
		if m.used == 0 {
			m.mean[j], t = o.mean[j], 0
		}
		m.m2[j] += o.m2[j] + t*t*(m.w/w)*o.w
		m.mean[j] += t * (o.w / w)
		m.least[j], m.largest[j] = min(m.least[j], o.least[j]), max(m.largest[j], o.largest[j])
	}
	m.used += o.used
	m.w = w
}

// check refuses what no fit can use. Files are checked by their readers; this is for matrices from a program.
func check[F float32 | float64](b *data.Block, x []F) error {
	for i := range b.N {
		if w := b.Weight(i); !(w >= 0) || math.IsInf(w, 1) {
			return fmt.Errorf("row %d: the weight is %v; weights must be finite and not negative", b.Number(i), w)
		}
		for j, v := range x[i*b.D : (i+1)*b.D] {
			if v-v != 0 {
				return fmt.Errorf("row %d, column %d: the value is %v; values must be finite", b.Number(i), j+1, float64(v))
			}
		}
	}
	return nil
}

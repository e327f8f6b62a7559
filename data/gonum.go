package data

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// FromRows copies rows of equal length to a table. NaN is a missing cell. An infinite value is an error that names row and
// column, both counted from 1.
func FromRows(rows [][]float64) (*Table, error) {
	if len(rows) == 0 || len(rows[0]) == 0 {
		return nil, errors.New("a table needs a row and a column")
	}
	t := &Table{N: len(rows), D: len(rows[0])}
	for i, r := range rows {
		if len(r) != t.D {
			return nil, fmt.Errorf("row %d has %d values, row 1 has %d", i+1, len(r), t.D)
		}
	}
	t.F64 = make([]float64, 0, t.N*t.D)
	for _, r := range rows {
		t.F64 = append(t.F64, r...)
	}
	return t, t.checkInfinite()
}

// FromMatrix makes a table of a matrix whose rows are observations. A *mat.Dense whose rows stand one after another
// is not copied: the table is a view of it, and the matrix must not change while the table is used. NaN is a
// missing cell. An infinite value is an error that names row and column, both counted from 1.
func FromMatrix(m mat.Matrix) (*Table, error) {
	if m == nil {
		return nil, &ArgumentError{"m", "is nil; it must be a matrix whose rows are observations"}
	}
	n, d := m.Dims()
	if n == 0 || d == 0 {
		return nil, errors.New("a table needs a row and a column")
	}
	t := &Table{N: n, D: d}
	raw, isRaw := m.(mat.RawMatrixer)
	if isRaw {
		g := raw.RawMatrix()
		if g.Stride == d || n == 1 {
			t.F64 = g.Data[: n*d : n*d]
			return t, t.checkInfinite()
		}
		t.F64 = make([]float64, 0, n*d)
		for i := range n {
			t.F64 = append(t.F64, g.Data[i*g.Stride:][:d]...)
		}
		return t, t.checkInfinite()
	}
	t.F64 = make([]float64, 0, n*d)
	for i := range n {
		for j := range d {
			t.F64 = append(t.F64, m.At(i, j))
		}
	}
	return t, t.checkInfinite()
}

// checkInfinite names the first value that is infinite.
func (t *Table) checkInfinite() error {
	if allFinite(t.F64) {
		return nil
	}
	for i, v := range t.F64 {
		if math.IsInf(v, 0) {
			return fmt.Errorf("row %d, column %d: %v is not a finite number; leave the row out, or write NaN for a missing value", i/t.D+1, i%t.D+1, v)
		}
	}
	return nil
}

package data

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestFromRows(t *testing.T) {
	in := [][]float64{{1, 2}, {3, 4}, {5, 6}}
	tab, err := FromRows(in)
	if err != nil || tab.N != 3 || tab.D != 2 || !slices.Equal(tab.F64, []float64{1, 2, 3, 4, 5, 6}) {
		t.Fatalf("%+v, %v", tab, err)
	}
	if gap, err := FromRows([][]float64{{1, math.NaN()}}); err != nil || gap.At(0, 1) == gap.At(0, 1) {
		t.Errorf("a missing cell: %v, %v", gap, err)
	}
	in[0][0] = 9
	if tab.At(0, 0) != 1 {
		t.Error("the rows are not copied")
	}
	for _, c := range []struct {
		in   [][]float64
		want string
	}{
		{nil, "needs a row and a column"},
		{[][]float64{{}}, "needs a row and a column"},
		{[][]float64{{1, 2}, {3}}, "row 2 has 1 values, row 1 has 2"},
		{[][]float64{{1, math.NaN()}, {3, math.Inf(-1)}}, "row 2, column 2: -Inf is not a finite number"},
		{[][]float64{{1}, {2}, {math.Inf(1)}}, "row 3, column 1: +Inf is not a finite number"},
	} {
		if _, err := FromRows(c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.in, err, c.want)
		}
	}
}

func TestFromMatrix(t *testing.T) {
	m := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	tab, err := FromMatrix(m)
	if err != nil || tab.N != 3 || tab.D != 2 || !slices.Equal(tab.F64, []float64{1, 2, 3, 4, 5, 6}) {
		t.Fatalf("%+v, %v", tab, err)
	}
	if &tab.F64[0] != &m.RawMatrix().Data[0] {
		t.Error("a matrix without gaps is copied")
	}
	for name, c := range map[string]struct {
		m    mat.Matrix
		want []float64
	}{
		"part":      {m.Slice(1, 3, 0, 1), []float64{3, 5}},
		"transpose": {m.T(), []float64{1, 3, 5, 2, 4, 6}},
		"symmetric": {mat.NewSymDense(2, []float64{1, 2, 0, 3}), []float64{1, 2, 2, 3}},
		"vector":    {mat.NewVecDense(2, []float64{1, 2}), []float64{1, 2}},
	} {
		tab, err := FromMatrix(c.m)
		if err != nil || !slices.Equal(tab.F64, c.want) {
			t.Errorf("%s: %v, %v", name, tab, err)
		}
	}
	if _, err := FromMatrix(&mat.Dense{}); err == nil {
		t.Error("an empty matrix is taken")
	}
	if _, err := FromMatrix(mat.NewDense(1, 2, []float64{1, math.Inf(-1)})); err == nil || !strings.Contains(err.Error(), "row 1, column 2") {
		t.Error(err)
	}
}

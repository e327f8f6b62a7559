package pca

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/sweep"
)

// Bounds of what counts as collinear.
const (
	// Flat is the share of the columns' own variances below which a direction counts as one in which no row varies.
	Flat = 1e-8
	// involved is the share of the largest coefficient from which on a column takes part in a relation.
	involved = 1e-3
	// MostRelated is the largest number of columns among which relations are looked for: the work grows with the cube.
	MostRelated = 500
)

// Relation says that a column is in every row a constant plus multiples of others, as far as Flat can tell.
type Relation struct {
	Column int
	Of     []int // ascending
}

// Relations finds the columns of src that are collinear, each with those it depends on: one for every direction in which no row
// varies, in units of the columns' own standard deviations, ascending by column. look is what sweep.Look found out about
// src. It makes one pass. Columns that are constant are left out; of more than MostRelated columns it says nothing.
func Relations(ctx context.Context, src data.Source, look *sweep.Survey, threads int) ([]Relation, error) {
	var varied []int
	d := len(look.Mean)
	scale := make([]float64, d)
	for j, v := range look.Var {
		if scale[j] = 1; v > 0 && !math.IsInf(v, 0) {
			scale[j] = math.Sqrt(v)
			varied = append(varied, j)
		}
	}
	if len(varied) < 2 || d > MostRelated {
		return nil, nil
	}
	r := &rows{src: data.Scaled(src, look.Mean, scale), mean: make([]float64, d), look: look, total: 1, threads: threads}
	sum, err := r.covariance(ctx)
	if err != nil {
		return nil, err
	}
	correlation := mat.NewSymDense(len(varied), nil)
	for a, j := range varied {
		for b, l := range varied[:a+1] {
			correlation.SetSym(a, b, sum[j*(j+1)/2+l])
		}
	}
	vectors, values, err := eigen(correlation)
	if err != nil {
		return nil, err
	}
	var flat [][]float64
	for i, v := range values {
		if v < Flat {
			flat = append(flat, vectors[i])
		}
	}
	found := eliminate(flat)
	for i := range found {
		found[i].Column = varied[found[i].Column]
		for l, j := range found[i].Of {
			found[i].Of[l] = varied[j]
		}
	}
	return found, nil
}

// nextPivot returns the last column with a coefficient that is not small beside the largest of the rows, and the row in which
// it is largest there.
func nextPivot(rows [][]float64) (row, column int) {
	const notSmall = 0.1
	largest := 0.0
	for _, v := range rows {
		for _, x := range v {
			largest = max(largest, math.Abs(x))
		}
	}
	column = -1
	for l, v := range rows {
		for j, x := range v {
			if math.Abs(x) >= notSmall*largest && (j > column || j == column && math.Abs(x) > math.Abs(rows[row][j])) {
				row, column = l, j
			}
		}
	}
	return row, column
}

// eliminate solves each of the flat directions for a column that no other has, late ones first, so that a total is told by its
// parts and a copy by what stands before it.
func eliminate(flat [][]float64) (found []Relation) {
	pivot := make([]int, len(flat))
	for i := range flat {
		row, column := nextPivot(flat[i:])
		row += i
		flat[i], flat[row] = flat[row], flat[i]
		pivot[i] = column
		p := flat[i][column]
		for j := range flat[i] {
			flat[i][j] /= p
		}
		for l := range flat {
			if l == i {
				continue
			}
			f := flat[l][column]
			for j, v := range flat[i] {
				flat[l][j] -= f * v
			}
		}
	}
	for i, v := range flat {
		r := Relation{Column: pivot[i]}
		for j, x := range v {
			if math.Abs(x) > involved && !slices.Contains(pivot, j) {
				r.Of = append(r.Of, j)
			}
		}
		found = append(found, r)
	}
	slices.SortFunc(found, func(a, b Relation) int { return cmp.Compare(a.Column, b.Column) })
	return found
}

package search

import (
	"context"
	"slices"

	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/seed"
	"github.com/latent-go/latent/internal/text"
)

// fromCenters returns the start that centers make, rows of the user's columns. Centres of k-means are taken as they are. Components of a
// Gaussian mixture get those means, the variances of the columns, and the weight of the rows nearest to each. Other components are made of
// the rows nearest to each.
func (f *Fit) fromCenters(ctx context.Context, centers [][]float64) ([]float64, error) {
	if len(centers) != f.Plan.K {
		return nil, plan.Wrong("Init", "centers: %s, but -k is %d", text.There(len(centers), "row"), f.Plan.K)
	}
	given := &seed.Points{N: f.Plan.K, D: f.Mix.D}
	for i, row := range centers {
		if len(row) != len(f.UserNames) {
			return nil, plan.Wrong("Init", "centers: row %d has %d numbers, but %d columns are fitted", i+1, len(row), len(f.UserNames))
		}
		for j, x := range row {
			if x-x != 0 {
				return nil, plan.Wrong("Init", "centers: row %d, column %d is %v; it must be finite", i+1, j+1, x)
			}
		}
		x := slices.Clone(row)
		if f.Changes != nil {
			x = make([]float64, len(f.Names))
			if err := f.Changes.Row(x, row); err != nil {
				return nil, plan.Wrong("Init", "centers: row %d, %s", i+1, err)
			}
		}
		for _, t := range f.Transform {
			x = t.Apply(x)
		}
		for j, v := range x {
			given.X = append(given.X, v-f.Origin[j])
		}
	}
	if !f.Plan.Mixture() {
		return given.X, nil
	}
	p, err := f.sample(ctx)
	if err != nil {
		return nil, err
	}
	for i, x := range given.X {
		j := i % f.Mix.D
		if cells := f.Plan.Kind.CellsOf(f.Plan.Types, j); cells.Levels && cells.Wrong(x, len(f.Plan.Levels[j])) {
			return nil, plan.Wrong("Init", "centers: row %d, column %d is %v; it must be the number of a level, from 0 to %d", i/f.Mix.D+1, j+1, x, len(f.Plan.Levels[j])-1)
		}
	}
	labels := seed.Nearest(f.near(p, f.Plan.Init), f.near(given, f.Plan.Init).X, f.Plan.Threads)
	mix, g, gaussian := f.Mix.Start()
	if !gaussian {
		return f.labelled(p, labels, DrawnConfidence, given.X), nil
	}
	w := weights(p, labels, f.Plan.K)
	for c := range w {
		w[c] = max(w[c], f.Survey.W/float64(f.Survey.Used)) // a centre far from all rows keeps the share of one
	}
	return f.restrict(seed.Around(mix, g, given.X, w, g.Var)), nil
}

// fromLabels returns the start that one M-step makes of labels, which holds a number from 0 to K-1 for every row.
func (f *Fit) fromLabels(ctx context.Context, labels []int32) ([]float64, error) {
	if int64(len(labels)) != f.Survey.Rows {
		return nil, plan.Wrong("Init", "labels: there %s %d for %d rows", text.Form(len(labels), "is", "are"), len(labels), f.Survey.Rows)
	}
	p, err := f.all(ctx)
	if err != nil {
		return nil, err
	}
	own := make([]int32, p.N)
	count := make([]int, f.Plan.K)
	for i, row := range p.Row {
		c := labels[row]
		if c < 0 || int(c) >= f.Plan.K {
			return nil, plan.Wrong("Init", "labels: row %d has label %d; labels run from 0 to k-1 = %d", row+1, c, f.Plan.K-1)
		}
		own[i] = c
		count[c]++
	}
	for c, n := range count {
		if n == 0 && f.Mix.Bayes == nil { // there the others begin empty
			return nil, plan.Wrong("Init", "labels: none of the rows has label %d", c)
		}
	}
	if f.Plan.Mixture() {
		return f.labelled(p, own, givenConfidence, nil), nil
	}
	return seed.Means(p, own, f.Plan.K), nil
}

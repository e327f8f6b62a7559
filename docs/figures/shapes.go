package main

import (
	"context"
	"fmt"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/plot"
)

// shapes is k-means and a mixture on groups that are no spheres of one size: two long ones side by side, and a wide one
// beside a narrow one.
type shapes struct {
	rows [][]float64
	from []int // the group each row was drawn from
	fits []labelled
}

// labelled is a fit with the label it gives each row, from 0.
type labelled struct {
	result *latent.Result
	labels []int32
	right  int // rows whose label stands for the group they were drawn from
}

func fourGroups() *model.Model {
	return &model.Model{
		Kind: "gmm", Shape: family.Full, Columns: []string{"x", "y"},
		Weights:    []float64{0.25, 0.25, 0.35, 0.15},
		Means:      [][]float64{{-3, 3.6}, {-3, 2}, {1, -3}, {4.6, -3}},
		Covariance: [][]float64{{3, 0, 0, 0.06}, {3, 0, 0, 0.06}, {1.6, 0, 0, 1.6}, {0.05, 0, 0, 0.05}},
	}
}

func newShapes() shapes {
	rows, from := drawn(fourGroups(), 600, 2)
	s := shapes{rows: rows, from: from}
	for _, spec := range []latent.Spec{{Model: "kmeans", K: 4, NInit: 100}, {K: 4, NInit: 100}} {
		s.fits = append(s.fits, label(rows, from, spec))
	}
	return s
}

func label(rows [][]float64, from []int, spec latent.Spec) labelled {
	ctx, table := context.Background(), must(data.FromRows(rows))
	l := labelled{result: must(latent.Fit(ctx, table, spec))}
	err := l.result.Model.Rows(ctx, table, 1, func(s *model.Scored) error {
		l.labels = append(l.labels, s.Label[:s.N]...)
		return nil
	})
	must(0, err)
	l.right = agreeing(l.labels, from, spec.K)
	return l
}

// agreeing returns how many rows carry the label of their group, for the best way to name the labels.
func agreeing(labels []int32, from []int, k int) int {
	count := make([][]int, k)
	for c := range count {
		count[c] = make([]int, k)
	}
	for i, l := range labels {
		count[l][from[i]]++
	}
	var best func(c int, taken uint) int
	best = func(c int, taken uint) int {
		if c == k {
			return 0
		}
		most := 0
		for g := range k {
			if taken>>g&1 == 0 {
				most = max(most, count[c][g]+best(c+1, taken|1<<g))
			}
		}
		return most
	}
	return best(0, 0)
}

// cost returns what k-means would have to pay for the groups that the rows were drawn from: their inertia.
func (s shapes) cost() float64 {
	size, mean := make([]float64, 4), make([][2]float64, 4)
	for i, x := range s.rows {
		g := s.from[i]
		size[g]++
		for j := range 2 { // a running mean
			mean[g][j] += (x[j] - mean[g][j]) / size[g]
		}
	}
	total := 0.0
	for i, x := range s.rows {
		for j := range 2 {
			d := x[j] - mean[s.from[i]][j]
			total += d * d
		}
	}
	return total
}

func (s shapes) figure() *plot.Figure {
	share := func(l labelled) float64 { return 100 * float64(l.right) / float64(len(s.rows)) }
	panels := plot.Panels{
		Head: plot.Head{
			Title: "K-means cuts long and wide groups, since it knows no shape but the sphere of one size; a mixture learns shapes",
			Width: 960, Height: 500,
			Note: fmt.Sprintf("600 rows of four groups, the best of 100 starts of each. Large marks: centres; ellipses hold 50 %% and 95 %% of a component. "+
				"More starts would not help k-means: its cut costs %.0f, the true groups cost %.0f.", *s.fits[0].result.Inertia, s.cost()),
		},
		Columns: 2,
	}
	for i, name := range []string{"K-means", "Gaussian mixture"} {
		l := s.fits[i]
		scatter := plot.Scatter{
			Head: plot.Head{Title: fmt.Sprintf("%s: %.1f %% of rows with their group", name, share(l))},
			X:    plot.Axis{Label: "x", Min: -8.5, Max: 6.5}, Y: plot.Axis{Label: "y", Min: -7.2, Max: 5},
		}
		model := l.result.Model
		for c := range model.K() {
			g := plot.Group{Normal: &plot.Normal{Mean: [2]float64(model.Means[c])}}
			if model.Covariance != nil {
				g.Normal = plot.Columns(2, 0, 1).Normal(model.Means[c], model.Covariance[c])
			}
			for r, row := range s.rows {
				if l.labels[r] == int32(c) {
					g.X, g.Y = append(g.X, row[0]), append(g.Y, row[1])
				}
			}
			scatter.Groups = append(scatter.Groups, g)
		}
		f := scatter.Figure()
		f.Legend = nil // the groups have no names, and the note tells what ellipses are
		panels.Pictures = append(panels.Pictures, f)
	}
	return panels.Figure()
}

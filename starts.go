package latent

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/family"
	"github.com/latent-go/latent/mixture"
	"github.com/latent-go/latent/seed"
	"github.com/latent-go/latent/sweep"
)

// starts returns the parameter vectors that the climbs begin at.
func (f *fit) starts(ctx context.Context) ([][]float64, error) {
	switch f.spec.Init {
	case "model":
		theta, err := f.fromModel(f.spec.Given)
		return [][]float64{theta}, err
	case "centers":
		theta, err := f.fromCenters(ctx, f.spec.Centers)
		return [][]float64{theta}, err
	case "labels":
		theta, err := f.fromLabels(ctx, f.spec.Labels)
		return [][]float64{theta}, err
	}
	points, err := f.sample(ctx)
	if err != nil {
		return nil, err
	}
	var thetas [][]float64
	for i := range f.spec.starts(f.look.Used) {
		theta, err := f.drawn(ctx, points, seed.RNG(f.spec.seed(), i))
		if err != nil {
			return nil, err
		}
		thetas = append(thetas, theta)
	}
	return thetas, nil
}

// sample returns the rows that starts are drawn from.
func (f *fit) sample(ctx context.Context) (*seed.Points, error) {
	most := max(seed.SampleRows, f.spec.K)
	f.drawnFrom = min(f.look.Used, int64(most))
	return seed.Sample(ctx, f.src, f.look.Used, f.origin, most, seed.SampleRNG(f.spec.seed()))
}

// alike returns the points in units of each column's standard deviation: distances that no column's unit can spoil.
func (f *fit) alike(p *seed.Points) *seed.Points {
	factor := make([]float64, p.D)
	for j, v := range f.look.Var {
		factor[j] = 1 / math.Sqrt(v)
	}
	return p.Scaled(factor)
}

// drawn returns one start drawn from the points.
func (f *fit) drawn(ctx context.Context, p *seed.Points, rng *rand.Rand) ([]float64, error) {
	k, g, mixed := f.spec.K, family.Gaussian{}, false
	near := p // where distances are measured
	if g, mixed = f.mix.Family.(family.Gaussian); mixed {
		near = f.alike(p)
	}
	candidates := seed.Greedy(k)
	if f.spec.Init == "k-means++" {
		candidates = 1
	}
	var rows []int
	if f.spec.Init == "random" {
		rows = seed.Random(p, k, rng)
	} else {
		rows = seed.PlusPlus(near, k, candidates, rng.Float64)
	}
	for i := 0; len(rows) < k; i++ { // a sample may hold fewer distinct rows than the data
		if i = i % p.N; !slices.Contains(rows, i) {
			rows = append(rows, i)
		}
	}
	centres := make([]float64, 0, k*p.D)
	for _, i := range rows {
		centres = append(centres, p.At(i)...)
	}
	switch {
	case !mixed:
		return centres, nil
	case f.spec.Init == "random":
		return seed.Around(f.mix, g, centres, slices.Repeat([]float64{1}, k), g.Var), nil
	case f.spec.Init == "k-means++":
		return seed.Around(f.mix, g, centres, shares(near, rows), g.Var), nil
	}
	labels, err := seed.Lloyd(ctx, near, rows, f.spec.threads())
	if err != nil {
		return nil, err
	}
	return seed.FromLabels(f.mix, g, p, labels), nil
}

// shares returns the weight of the points nearest to each of the given rows.
func shares(p *seed.Points, rows []int) []float64 {
	var centres []float64
	for _, i := range rows {
		centres = append(centres, p.At(i)...)
	}
	return weights(p, seed.Nearest(p, centres), len(rows))
}

func weights(p *seed.Points, labels []int32, k int) []float64 {
	w := make([]float64, k)
	for i, c := range labels {
		w[c] += p.W[i]
	}
	return w
}

// fromModel returns the parameters of a model in this fit's coordinates.
func (f *fit) fromModel(m *Model) ([]float64, error) {
	d := f.mix.D
	if err := m.check(); err != nil {
		return nil, bad("init", "model: %s", err)
	}
	switch {
	case m.K() != f.spec.K:
		return nil, bad("init", "model: it has %d components, but -k is %d", m.K(), f.spec.K)
	case m.D() != d:
		return nil, bad("init", "model: it has %d columns, but %d are fitted", m.D(), d)
	case len(m.Transform) > 0 || len(f.transform) > 0:
		return nil, bad("init", "model: a start from a model works without --scale only")
	}
	g, mixed := f.mix.Family.(family.Gaussian)
	theta := make([]float64, f.mix.Params())
	comp := f.mix.Components(theta)
	for c, mean := range m.Means {
		for j, x := range mean {
			comp[c*d+j] = x - f.origin[j]
		}
	}
	if !mixed {
		return theta, nil
	}
	if m.Kind != "gmm" || m.Shape != g.Shape {
		return nil, bad("init", "model: it is a %s model with %s covariances, but a gmm with %s covariances is fitted", m.Kind, m.Shape, g.Shape)
	}
	if !f.mix.Uniform {
		for c, w := range m.Weights {
			theta[c] = max(math.Log(w), mixture.MinLogWeight)
		}
	}
	for c, cov := range m.Covariance {
		g.ScaleAbove(g.ScaleOf(comp, c, m.K(), d), pack(m.Shape, cov, d), d)
	}
	return theta, nil
}

// fromCenters returns a start with the given means; for a mixture with one big covariance and the shares of the
// nearest rows around them.
func (f *fit) fromCenters(ctx context.Context, centers [][]float64) ([]float64, error) {
	if len(centers) != f.spec.K {
		return nil, bad("init", "centers: there are %d rows, but -k is %d", len(centers), f.spec.K)
	}
	var theta []float64
	for i, row := range centers {
		if len(row) != f.mix.D {
			return nil, bad("init", "centers: row %d has %d numbers, but %d columns are fitted", i+1, len(row), f.mix.D)
		}
		for j, x := range row {
			if x-x != 0 {
				return nil, bad("init", "centers: row %d, column %d is %v; it must be finite", i+1, j+1, x)
			}
			for _, t := range f.transform {
				x = (x - t.Center[j]) / t.Scale[j]
			}
			theta = append(theta, x-f.origin[j])
		}
	}
	g, mixed := f.mix.Family.(family.Gaussian)
	if !mixed {
		return theta, nil
	}
	p, err := f.sample(ctx)
	if err != nil {
		return nil, err
	}
	near := f.alike(p)
	centres := make([]float64, len(theta))
	for i, x := range theta {
		centres[i] = x / math.Sqrt(g.Var[i%f.mix.D])
	}
	w := weights(p, seed.Nearest(near, centres), f.spec.K)
	for c := range w {
		w[c] = max(w[c], f.look.W/float64(f.look.Used)) // a centre far from all rows keeps the share of one
	}
	return seed.Around(f.mix, g, theta, w, g.Var), nil
}

// fromLabels returns the start that one M-step makes of a label for every row.
func (f *fit) fromLabels(ctx context.Context, labels []int32) ([]float64, error) {
	if int64(len(labels)) != f.look.Rows {
		return nil, bad("init", "labels: there are %d for %d rows", len(labels), f.look.Rows)
	}
	p, err := seed.Sample(ctx, f.src, f.look.Used, f.origin, math.MaxInt, seed.SampleRNG(0)) // all rows, in order
	if err != nil {
		return nil, err
	}
	own := make([]int32, p.N)
	count := make([]int, f.spec.K)
	for i, row := range p.Row {
		c := labels[row]
		if c < 0 || int(c) >= f.spec.K {
			return nil, bad("init", "labels: row %d has label %d; labels run from 0 to k-1 = %d", row+1, c, f.spec.K-1)
		}
		own[i] = c
		count[c]++
	}
	for c, n := range count {
		if n == 0 {
			return nil, bad("init", "labels: none of the rows has label %d", c)
		}
	}
	if g, mixed := f.mix.Family.(family.Gaussian); mixed {
		return seed.FromLabels(f.mix, g, p, own), nil
	}
	return seed.Means(p, own, f.spec.K), nil
}

// scale puts the transform the spec asks for before the rows.
func (f *fit) scale(ctx context.Context) error {
	var t Transform
	switch f.spec.Scale {
	case "", "none":
		return nil
	case "standard":
		t = Transform{Kind: "standard", Center: f.look.Mean}
		for _, v := range f.look.Var {
			t.Scale = append(t.Scale, math.Sqrt(v))
		}
	case "robust":
		p, err := seed.Sample(ctx, f.src, f.look.Used, make([]float64, len(f.names)), seed.SampleRows, seed.SampleRNG(f.spec.seed()))
		if err != nil {
			return err
		}
		t = robust(p)
	}
	for j, s := range t.Scale {
		if !(s > 0) {
			return fmt.Errorf("column %q cannot be scaled: its %s is 0; use --exclude %s or --scale none", f.names[j],
				map[string]string{"standard": "standard deviation", "robust": "interquartile range"}[t.Kind], f.names[j])
		}
	}
	f.transform = []Transform{t}
	f.src = data.Scaled(f.user, t.Center, t.Scale)
	look, err := sweep.Look(ctx, f.src, f.spec.threads())
	f.look = look
	return err
}

// robust returns median and interquartile range of each column, weights counting as rows.
func robust(p *seed.Points) Transform {
	t := Transform{Kind: "robust"}
	order := make([]int, p.N)
	for j := range p.D {
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int {
			switch x, y := p.At(a)[j], p.At(b)[j]; {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
		q := func(share float64) float64 { return quantile(p, order, j, share) }
		t.Center = append(t.Center, q(0.5))
		t.Scale = append(t.Scale, q(0.75)-q(0.25))
	}
	return t
}

// quantile returns the weighted quantile of column j: the midpoint where the share falls between two rows.
func quantile(p *seed.Points, order []int, j int, share float64) float64 {
	total := 0.0
	for _, w := range p.W {
		total += w
	}
	sum := 0.0
	for i, at := range order {
		sum += p.W[at]
		switch {
		case sum > share*total:
			return p.At(at)[j]
		case sum == share*total && i+1 < len(order):
			return (p.At(at)[j] + p.At(order[i+1])[j]) / 2
		}
	}
	return p.At(order[len(order)-1])[j]
}

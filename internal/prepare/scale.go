package prepare

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/interrupt"
	"github.com/latent-go/latent/internal/pca"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// scale transforms the rows as the plan asks: bits of numbers, or scales first and then principal components.
func (f *Rows) scale(ctx context.Context) error {
	if f.Plan.Binarize != nil {
		return f.transformed(ctx, model.Transform{Kind: "binarize", Threshold: f.Plan.Binarize})
	}
	if f.Plan.Scaled() {
		t, err := f.scales(ctx)
		if err != nil {
			return err
		}
		if err := f.transformed(ctx, t); err != nil {
			return err
		}
	}
	if f.Plan.PCA == 0 {
		return nil
	}
	t, err := f.principal(ctx)
	if err != nil {
		return err
	}
	return f.transformed(ctx, t)
}

// scales returns the transform that gives all columns one scale.
func (f *Rows) scales(ctx context.Context) (model.Transform, error) {
	t := model.Transform{Kind: "standard", Center: f.Survey.Mean}
	if f.Plan.Scale == plan.Standard {
		for _, v := range f.Survey.Var {
			t.Scale = append(t.Scale, math.Sqrt(v))
		}
	} else {
		p, err := seed.Sample(ctx, f.Source, f.Survey.Used, make([]float64, len(f.Names)), seed.SampleRows, rng.StartSample.New(f.Plan.Seed))
		if err != nil {
			return t, err
		}
		t = robust(p)
	}
	if f.Plan.Kind.Parted {
		t.Center = slices.Clone(t.Center)
	}
	for j, s := range t.Scale {
		if !f.units(j) {
			t.Center[j], t.Scale[j] = 0, 1
			continue
		}
		if !(s > 0) {
			return t, plan.Errorf("column %q cannot be scaled: its %s is 0; use --exclude %s or --scale none", f.Names[j],
				map[string]string{"standard": "standard deviation", "robust": "interquartile range"}[t.Kind], text.ShellWord(f.Names[j]))
		}
	}
	return t, nil
}

// principal returns the transform to the principal components of the rows.
func (f *Rows) principal(ctx context.Context) (model.Transform, error) {
	n, d := f.Plan.PCA, len(f.Survey.Mean)
	if n > d {
		return model.Transform{}, plan.Wrong("PCA", "is %d, but %s", n, text.There(d, "column"))
	}
	if used := f.Survey.Used; used > 1 && int64(n) >= used {
		return model.Transform{}, plan.Wrong("PCA", "is %d, but %d rows vary in %d directions only; use --pca %d", n, used, used-1, used-1)
	}
	if err := f.affordableComponents(n); err != nil {
		return model.Transform{}, err
	}
	c, err := interrupt.Run(ctx, interrupt.Grace, func() (*pca.Components, error) { return pca.Find(ctx, f.Source, f.Survey, n, f.Plan.Threads) })
	if few := (*pca.RankError)(nil); errors.As(err, &few) {
		if few.Rank == 0 {
			return model.Transform{}, plan.Wrong("PCA", "needs rows that differ, but all are equal")
		}
		return model.Transform{}, plan.Wrong("PCA", "is %d, but the rows vary in %d directions only (what is left of the variance is rounding); use --pca %d", n, few.Rank, few.Rank)
	}
	if err != nil {
		return model.Transform{}, err
	}
	if c.Residual > pca.Tolerance {
		return model.Transform{}, plan.Errorf("the principal components have not settled after %d passes: the variances of the last are almost equal; use a smaller --pca", c.Passes)
	}
	return model.Transform{Kind: "pca", Mean: c.Mean, Components: c.Axes, Explained: c.Shares()}, nil
}

// transformed puts one more transform before the rows and makes another first pass.
func (f *Rows) transformed(ctx context.Context, t model.Transform) (err error) {
	f.Transform = append(f.Transform, t)
	f.Source = t.Rows(f.Source)
	if table, ok := f.measured.(*data.Table); ok && t.Kind == "pca" {
		if f.Source, err = f.held(ctx, table); err != nil {
			return err
		}
	}
	f.Survey, err = f.look(ctx)
	return err
}

// held returns the transformed rows of a table in memory: to project them again in every pass would take longer than the rest of the
// pass.
func (f *Rows) held(ctx context.Context, table *data.Table) (*data.Table, error) {
	n := model.Width(f.Transform, table.D)
	t := &data.Table{N: table.N, D: n, F64: make([]float64, table.N*n), W: table.W, Sequence: table.Sequence, Row: table.Row, ID: table.ID, Truth: table.Truth}
	pass := &sweep.Reduction[struct{}]{
		Rows: int64(table.N), Threads: f.Plan.Threads,
		New: func() (none struct{}) { return none }, Clear: func(struct{}) {}, Merge: func(_, _ struct{}) {},
		Add: func(_ int, b *data.Block, _ struct{}) error {
			for i := range b.N {
				x := make([]float64, b.D)
				for j := range x {
					x[j] = b.At(i, j)
				}
				for _, step := range f.UserTransforms() {
					x = step.Apply(x)
				}
				copy(t.F64[(int(b.First)+i)*n:], x)
			}
			return nil
		},
	}
	_, err := pass.Run(ctx, table)
	return t, err
}

// robust returns the transform by median and interquartile range of each column. Weights count rows.
func robust(p *seed.Points) model.Transform {
	t := model.Transform{Kind: "robust"}
	for j := range p.D {
		order := make([]int, 0, p.N)
		for i := range p.N {
			if v := p.At(i)[j]; v == v {
				order = append(order, i)
			}
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

// quantile returns the weighted quantile of column j, of which the points that have a cell are sorted in order. Where the share falls between two rows it is their
// midpoint.
func quantile(p *seed.Points, order []int, j int, share float64) float64 {
	total := 0.0
	for _, at := range order {
		total += p.W[at]
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

// What principal components of more than pca.ExactColumns columns take by the estimate: passes, each with two products of the
// rows and all vectors, and eigenvalues of a basis of three blocks of vectors now and then.
const (
	passesOfPCA  = 20
	perProduct   = 0.3  // nanoseconds of a row, a vector and a column
	perBasisCube = 10.0 // nanoseconds
	basisBlocks  = 3
	solvesOfPCA  = 5
)

// affordableComponents refuses more principal components than memory or time allow.
func (f *Rows) affordableComponents(n int) error {
	d, m := float64(len(f.Survey.Mean)), float64(n+8)
	if len(f.Survey.Mean) <= pca.ExactColumns {
		return nil
	}
	bytes := 8 * 2 * basisBlocks * m * d
	seconds := (passesOfPCA*2*perProduct*float64(f.Survey.Used)*m*d + solvesOfPCA*perBasisCube*math.Pow(basisBlocks*m, 3)) / 1e9
	switch {
	case bytes > plan.AffordedBytes:
		return plan.Wrong("PCA", "is %d: of %s columns that would take about %s of memory, more than the %s allowed; use fewer", n, text.Whole(d), text.Gigabytes(bytes), text.Gigabytes(plan.AffordedBytes))
	case seconds > plan.AffordedSeconds && f.Cells() < plan.PlentyOfCells*m*d && !f.Plan.AllowLong:
		return plan.Wrong("PCA", "is %d: of %s columns that would take about %s on one core; use fewer, or --allow-long to find them all the same", n, text.Whole(d), text.Duration(seconds))
	}
	return nil
}

// Cells returns the number of cells that are fitted: rows of positive weight times columns of Source.
func (f *Rows) Cells() float64 { return float64(f.Survey.Used) * float64(len(f.Survey.Mean)) }

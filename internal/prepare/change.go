package prepare

import (
	"context"
	"math"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/model"
)

// change puts columns of src, whose names are f.UserNames, on the scales that the plan asks for. From then on the new columns are those that
// the fit knows: f.Names.
func (f *Rows) change(ctx context.Context, src data.Source) (data.Source, error) {
	f.Names = f.UserNames
	if f.Plan.Changes == nil {
		return src, nil
	}
	if _, err := data.Bind(f.Plan.Changes, f.UserNames); err != nil {
		return nil, plan.Wrong("Transform", "%s", err)
	}
	look := sweep.Look
	if f.Plan.Gaps {
		look = sweep.LookThrough
	}
	raw, err := look(ctx, src, f.Plan.Threads)
	if err != nil {
		return nil, err
	}
	if err := f.userSpreads(ctx, src, raw); err != nil {
		return nil, err
	}
	list, err := f.origins(raw)
	if err != nil {
		return nil, err
	}
	if f.Changes, err = data.Bind(list, f.UserNames); err != nil {
		return nil, plan.Wrong("Transform", "%s", err)
	}
	f.Names = f.Changes.Names()
	return f.changed(ctx, src)
}

// userSpreads notes the standard deviations of the columns before changes of scale, 0 for categories. Where squares of numbers, which the new scale may well
// take, do not fit a float64, a second pass divides by the largest.
func (f *Rows) userSpreads(ctx context.Context, src data.Source, raw *sweep.Survey) error {
	f.UserSD = make([]float64, len(raw.Var))
	largest, zero, far := make([]float64, len(raw.Var)), make([]float64, len(raw.Var)), false
	for j, v := range raw.Var {
		f.UserSD[j] = math.Sqrt(v)
		differ := raw.Min[j] < raw.Max[j]
		if largest[j] = 1; differ {
			largest[j] = max(math.Abs(raw.Min[j]), math.Abs(raw.Max[j]))
		}
		far = far || differ && !(v > 0 && v <= math.MaxFloat64)
	}
	if far {
		own, err := sweep.LookThrough(ctx, data.Scaled(src, zero, largest), f.Plan.Threads)
		if err != nil {
			return err
		}
		for j, v := range own.Var {
			f.UserSD[j] = math.Sqrt(v) * largest[j]
		}
	}
	for j, t := range f.Plan.Spec.Types {
		if t == data.Category && j < len(f.UserSD) {
			f.UserSD[j] = 0
		}
	}
	return nil
}

// origins returns the changes with the days that dates are counted from: those of the model that the fit starts from, or else the first in
// the rows.
func (f *Rows) origins(raw *sweep.Survey) ([]data.Change, error) {
	var list, given []data.Change
	if f.Plan.Given != nil {
		given, _ = model.ChangesOf(f.Plan.Given.Transform)
	}
	for _, c := range f.Plan.Changes {
		if !c.Dated() {
			list = append(list, c)
			continue
		}
		for _, name := range c.Columns { // each has a first day of its own
			own := data.Change{Kind: c.Kind, Columns: []string{name}}
			if j := slices.Index(f.UserNames, name); raw.Min[j] <= raw.Max[j] {
				own.Origin = math.Floor(raw.Min[j])
			}
			for _, g := range given {
				if g.Kind == c.Kind && slices.Contains(g.Columns, name) {
					own.Origin = g.Origin
				}
			}
			if _, err := data.Bind([]data.Change{own}, f.UserNames); err != nil {
				return nil, plan.Wrong("Transform", "%s: column %q holds a day outside of the years 1 to 9999; dates are days since 1970-01-01", c.Kind, name)
			}
			list = append(list, own)
		}
	}
	return list, nil
}

// changed makes the pass that puts the rows on the new scales, refuses what they do not take, and sums up what that adds to a
// log-likelihood. The rows of a table are held, since a logarithm costs more than the rest of a pass.
func (f *Rows) changed(ctx context.Context, src data.Source) (data.Source, error) {
	out := f.Changes.Rows(src)
	held := &data.Table{D: len(f.Names)}
	table, inMemory := src.(*data.Table)
	if inMemory {
		held.N, held.W, held.Sequence, held.Row, held.ID, held.Truth = table.N, table.W, table.Sequence, table.Row, table.ID, table.Truth
		held.F64 = make([]float64, 0, held.N*held.D)
	}
	if r, ok := src.(data.Remote); ok {
		err := f.slopesElsewhere(ctx, r)
		return out, err
	}
	sums := newSlopes()
	err := data.EachBlock(ctx, out, func(b *data.Block) error {
		sums.add(b)
		if inMemory {
			held.F64 = append(held.F64, b.F64...)
		}
		return nil
	})
	f.slopes = sums.total()
	if inMemory {
		return held, err
	}
	return out, err
}

// LogSlopes returns what is added to a log-likelihood of UserRows, in the user's row weights, to make it one of the columns before the
// changes of scale: the weighted sum of the logarithms of their slopes. It is 0 for centres, and for fewer principal components than
// columns, whose log-likelihood is that of the components.
func (f *Rows) LogSlopes() float64 {
	if !f.Plan.Mixture() || f.Plan.PCA > 0 && f.Plan.PCA < len(f.Names) {
		return 0
	}
	return f.slopes
}

// UserModel returns the model of the user's columns, where m is one of UserRows. It shares the memory of m.
func (f *Rows) UserModel(m *model.Model) *model.Model {
	if f.Changes == nil {
		return m
	}
	return m.Unchanged(f.Changes)
}

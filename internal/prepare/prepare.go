// Package prepare makes rows ready to be fitted. It makes the first pass over them, brings them to the units, scales and principal
// components of the fit, and refuses what no fit can use.
package prepare

import (
	"context"
	"errors"
	"io"
	"math"
	"strconv"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// Rows are rows that are ready to be fitted, and what the first pass found out about them. Fit and user may measure columns and row weights
// in different units: see Units.
type Rows struct {
	Plan      plan.Plan
	UserRows  data.Source       // rows in the user's units, before any transform but changes of scale
	Source    data.Source       // rows after Transform: what is fitted
	measured  data.Source       // rows in the units of the fit, before any other transform
	Units     Units             // of the fit
	Transform []model.Transform // from UserRows to Source, in order; that of the units, if there is one, first
	Survey    *sweep.Survey     // of Source
	Origin    []float64         // of each column of Source: passes subtract it
	Names     []string          // of the columns of UserRows
	UserNames []string          // of the columns before changes of scale
	Changes   *data.Changes     // of scale, from the user's columns to those of UserRows; nil where there are none
	UserSD    []float64         // standard deviations of the columns before changes of scale; nil without
	slopes    float64           // what the changes add to a log-likelihood, in the user's row weights
	SD        []float64         // standard deviations of the columns in the user's units, 0 for categories beside others; nil where all are bits or categories
	Sequences int64             // of positive weight; 0 where rows are not those of sequences
	Discrete  []string          // names of columns with few distinct values

	Noise       *model.Noise // of Source: where noise lies, without a weight; nil where none is fitted
	NoiseWidths []float64    // of the noise, a logarithm a column: see model.Noise
}

// New makes the first pass over the rows of src, transforms them as the plan asks, and refuses rows that cannot be fitted. Of K it uses only
// whether it is too large, so that all candidates of a choice can share the result. Rows stay where they are, except that
// other units or principal components of a table are a new table in memory.
func New(ctx context.Context, src data.Source, p plan.Plan) (*Rows, error) {
	if err := p.CheckOne(); err != nil {
		return nil, err
	}
	if err := data.CheckContext(ctx); err != nil {
		return nil, err
	}
	src, err := data.Checked(src)
	if err != nil {
		return nil, err
	}
	_, d := src.Shape()
	f := &Rows{Plan: p, UserNames: plan.NamesOf(p.Columns, d)}
	if len(f.UserNames) != d {
		return nil, plan.Wrong("Columns", "has %d names for %d columns", len(f.UserNames), d)
	}
	if src, err = f.change(ctx, src); err != nil {
		return nil, err
	}
	f.UserRows, f.Source, f.measured = src, src, src
	if d := len(f.Names); p.Algorithm == plan.Exact && d != 1 && p.PCA != 1 {
		return nil, plan.Wrong("Algorithm", "exact is for one column, but %d are fitted; use lloyd, or choose one with --columns", d)
	}
	if err := f.checkTypes(); err != nil {
		return nil, err
	}
	look, err := f.look(ctx)
	if err != nil {
		return nil, err
	}
	f.Survey = look
	for _, step := range []func(context.Context) error{f.checkSequences, f.checkGaps, f.withoutEmpty, f.rescale, f.spreads, f.check, f.checkRange, f.scale, f.checkCells, f.checkDistinct, f.findDiscrete, f.findNoise, f.resist} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	f.Origin = f.Survey.Origin()
	for j := range f.Origin {
		if !f.units(j) {
			f.Origin[j] = 0
		}
	}
	return f, nil
}

// cells returns what the cells of column j hold.
func (f *Rows) cells(j int) *kind.Cells { return f.Plan.Kind.CellsOf(f.Plan.Types, j) }

// units reports whether column j holds numbers with a unit.
func (f *Rows) units(j int) bool { return f.cells(j).Units }

// spreads notes the standard deviations of the columns.
func (f *Rows) spreads(context.Context) error {
	if f.Plan.Kind.Cells.Numbers() {
		for j, v := range f.Survey.Var {
			if !f.cells(j).Numbers() {
				v = 0
			}
			sd := math.Sqrt(v)
			if f.Units.Scale != nil {
				sd *= f.Units.Scale[j]
			}
			f.SD = append(f.SD, sd)
		}
	}
	return nil
}

// check refuses what no fit can use.
func (f *Rows) check(context.Context) error {
	look, k := f.Survey, f.Plan.K
	switch {
	case look.Rows == 0:
		return errors.New("there are no rows to fit")
	case look.Used == 0 || look.W == 0:
		return errors.New("all row weights are zero: there is nothing to fit")
	case int64(k) > look.Used && !f.Plan.MostK:
		return plan.Wrong("K", "is %d, but the number of rows is %d", k, look.Used)
	}
	if err := checkWeights(f.Weight()); err != nil {
		return err
	}
	for j, v := range look.Var {
		if f.Plan.Kind.Parted && !f.units(j) {
			continue
		}
		if (math.IsInf(v, 1) || v != v) && f.Plan.Binarize == nil {
			return tooLarge(f.Names[j])
		}
		if v == 0 && look.Min[j] < look.Max[j] && f.Plan.Mixture() && f.Plan.Binarize == nil {
			return tooSmall(f.Names[j])
		}
		if v == 0 && f.Plan.Kind.Shaped {
			return &ConstantColumnError{f.Names[j], look.Min[j]}
		}
	}
	return nil
}

// checkTypes wants a type for each column where the kind of model has several, and levels for each column of categories.
func (f *Rows) checkTypes() error {
	p := &f.Plan
	if !p.Kind.Parted {
		return nil
	}
	if len(p.Types) != len(f.Names) {
		return plan.Wrong("Types", "are of %d columns, but there %s %d", len(p.Types), text.Form(len(f.Names), "is", "are"), len(f.Names))
	}
	for j, t := range p.Types {
		if t == data.Category && (p.Levels == nil || len(p.Levels[j]) == 0) {
			return plan.Wrong("Levels", "has none of column %q, which holds categories", f.Names[j])
		}
	}
	return nil
}

// checkDistinct refuses more components than there are distinct rows, after any transform.
func (f *Rows) checkDistinct(ctx context.Context) error {
	k := f.Plan.K
	if k <= 1 {
		return nil
	}
	distinct, err := DistinctRows(ctx, f.Source, k)
	if err == nil && distinct < k && f.Plan.MostK {
		f.Plan.Lower(distinct)
		return nil
	}
	if err == nil && distinct < k {
		err = plan.Wrong("K", "is %d, but the number of distinct rows is %d", k, distinct)
	}
	return err
}

// checkCells refuses cells that the kind of model cannot take, such as 2 in a model of bits.
func (f *Rows) checkCells(ctx context.Context) error {
	if p := &f.Plan; f.Plan.Kind.Cells.Levels && len(p.Levels) != len(f.Names) {
		return plan.Wrong("Levels", "names the levels of %d columns, but there %s %d", len(p.Levels), text.Form(len(f.Names), "is", "are"), len(f.Names))
	}
	if r, ok := f.Source.(data.Remote); ok {
		return f.checkElsewhere(ctx, r)
	}
	return f.Plan.Kind.Check(ctx, f.Source, f.Plan.Types, f.Plan.Levels, f.Names, true)
}

// DistinctRows returns the number of distinct rows of positive weight, or most if there are more. It keeps that many in memory.
func DistinctRows(ctx context.Context, src data.Source, most int) (int, error) {
	r, err := src.Open(ctx)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	seen := map[string]struct{}{}
	var b data.Block
	var key []byte
	for len(seen) < most && ctx.Err() == nil {
		if err := r.Read(&b, 256); err == io.EOF {
			break
		} else if err != nil {
			return 0, err
		}
		for i := 0; i < b.N && len(seen) < most; i++ {
			if b.Weight(i) == 0 {
				continue
			}
			key = key[:0]
			for j := range b.D {
				key = strconv.AppendUint(key, math.Float64bits(b.At(i, j)+0), 36) // +0 turns -0 into 0
				key = append(key, ' ')
			}
			seen[string(key)] = struct{}{}
		}
	}
	return len(seen), ctx.Err()
}

// LogJacobian returns what is added to a log-likelihood of Source, in the fit's row weights, to make it one of the user's columns: the
// density of a row is that of the transformed row over the product of the scales, times the slopes of changes of scale. It is 0 for centres.
func (f *Rows) LogJacobian() float64 {
	if !f.Plan.Mixture() {
		return 0
	}
	slopes := math.Ldexp(f.LogSlopes(), f.Units.WeightPower)
	if f.Survey.Missing > 0 {
		sum := 0.0
		for j, v := range model.LogScales(f.Transform, len(f.Names)) {
			sum -= f.Survey.Seen[j] * v
		}
		return sum + slopes
	}
	return slopes - f.Survey.W*model.LogVolume(f.Transform, len(f.Names))
}

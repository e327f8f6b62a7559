// Package updating goes on with a fit when rows come later. It gathers the sums that a model keeps of its rows, and climbs with those and with
// new rows, without the old ones.
package updating

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/prepare"
	"github.com/latent-go/latent/internal/search"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/model"
)

// pass is what passes over rows by a model need. Rows are read after the model's transforms and relative to an origin, and any cell
// may be missing: so sums are laid out alike whatever the rows lack.
type pass struct {
	fit   *search.Fit
	theta []float64 // of the model
}

// newPass makes a first look at the rows of src, whose columns are the model's in its units. origin is nil where the model decides on it. weight is
// that of rows beside those of src.
func newPass(ctx context.Context, src data.Source, m *model.Model, origin []float64, weight float64, threads int) (*pass, error) {
	p, err := planOf(m, threads)
	if err != nil {
		return nil, err
	}
	rows, err := look(ctx, src, m, p)
	if err != nil {
		return nil, err
	}
	in, natural, survey := m.Changed(), search.NaturalOf(m.Changed()), rows.Survey
	if rows.Origin = origin; origin == nil {
		rows.Origin = make([]float64, natural.D)
	}
	if natural.Kind.Centred() {
		survey.Mean, survey.Var = natural.Centre(), natural.Spread() // as if the rows were those of the model
		survey.Min = make([]float64, natural.D)
		if origin == nil {
			rows.Origin = survey.Origin()
		}
	}
	gaps := survey.Gaps
	if gaps == nil || p.Kind.Parted { // of no patterns any may come
		gaps = family.NewGaps(natural.D)
	}
	survey.W += math.Ldexp(weight, rows.Units.WeightPower)
	f := search.Unsized(rows)
	f.Mix = &mixture.Mixture{K: m.K(), D: natural.D, Uniform: p.Uniform, Family: p.Kind.Family(kind.Variables{Shape: p.Shape, Types: p.Types, Levels: kind.Counts(p.Levels),
		Weight: survey.W, Var: survey.Var, RegCovar: p.RegCovar, Gaps: gaps})}
	f.Local = sweep.NewLocal(rows.Source, survey.Rows, rows.Origin, p.Threads)
	theta, err := f.Theta(in, true)
	if err != nil {
		return nil, err
	}
	if err := f.SetPrior(); err != nil {
		return nil, fmt.Errorf("prior: %w", err)
	}
	f.Mix.Project(theta)
	return &pass{f, theta}, nil
}

// look returns the rows of src after the transforms of m, with their weights in units in which they count rows, and refuses what has no sums.
func look(ctx context.Context, src data.Source, m *model.Model, p plan.Plan) (*prepare.Rows, error) {
	changes, in := m.Changes(), m.Changed()
	if changes != nil {
		src = changes.Rows(src)
	}
	for i := range in.Transform {
		src = in.Transform[i].Rows(src)
	}
	if err := p.Kind.Check(ctx, src, in.Types, in.Levels, in.Columns, false); err != nil {
		return nil, err
	}
	src = prepare.Emptied(src)
	s, err := sweep.LookThrough(ctx, src, p.Threads)
	switch {
	case err != nil:
		return nil, err
	case s.Rows == 0:
		return nil, errors.New("there are no rows")
	case s.Used == 0 || s.W == 0:
		return nil, errors.New("no row has a value and a weight above 0")
	case m.PCA() != nil && s.Missing > 0:
		return nil, errors.New("a row lacks a cell, and principal components need whole rows; use --missing drop")
	}
	rows := &prepare.Rows{Plan: p, Source: src, UserRows: src, Survey: s, Names: in.Columns, Transform: in.Transform, Changes: changes}
	if power := rows.WeightPower(); power != 0 {
		rows.Units.WeightPower, rows.Source = power, prepare.Reweighted(src, power)
		s.W = math.Ldexp(s.W, power)
		for j, w := range s.Seen {
			s.Seen[j] = math.Ldexp(w, power)
		}
	}
	return rows, nil
}

// planOf returns the plan of what a model was fitted by, as far as an update follows it: the same estimator, from where it has ended.
func planOf(m *model.Model, threads int) (p plan.Plan, err error) {
	var asked plan.Spec
	if m.Spec != nil {
		if err := json.Unmarshal(m.Spec, &asked); err != nil {
			return p, fmt.Errorf("spec: %w", err)
		}
	}
	in := m.Changed()
	s := plan.Spec{Model: m.Kind, K: m.K(), Weights: asked.Weights, RegCovar: asked.RegCovar, Types: in.Types, Levels: in.Levels, Threads: threads}
	kd := kind.Of(m.ComponentKind())
	if kd.HasShape(in.Types) {
		s.Covariance = m.Shape.String()
	}
	if m.Provenance != nil {
		s.Prior = m.Provenance.Prior // with its numbers: that of all rows, not of the new ones
	}
	switch {
	case !kd.Mixture:
		s.Algorithm = string(plan.Lloyd)
	case asked.Algorithm == string(plan.HardEM):
		s.Algorithm = asked.Algorithm
	}
	if p, err = plan.NewOne(s); err != nil {
		return p, fmt.Errorf("spec: %w", err)
	}
	return p, refuse(m, asked)
}

// refuse says of a model why there are no sums that it could keep.
func refuse(m *model.Model, asked plan.Spec) error {
	switch kd := kind.Of(m.ComponentKind()); {
	case !kd.Mixture && !kd.Squared:
		return fmt.Errorf("a %s model has no sums: they give no medians; use --model %s", m.Kind, kind.KMeans.Name)
	case asked.Penalty != nil:
		return errors.New("the model was fitted with --penalty, by which later rows could open groups; fit it with -k")
	}
	if c := slices.Index(m.Weights, 0); c >= 0 {
		return fmt.Errorf("group %d has the weight 0, so that no row can become its own; fit fewer groups", c+1)
	}
	return nil
}

// beta returns the inverse temperature of the E-step.
func (p *pass) beta() float64 {
	if p.fit.Plan.Hard() {
		return math.Inf(1)
	}
	return 1
}

// sums makes a pass and returns the sums at theta.
func (p *pass) sums(ctx context.Context, by sweep.Sweeper, theta []float64) (*family.Stats, error) {
	s, err := by.Sweep(ctx, []sweep.Task{{Mixture: p.fit.Mix, Theta: theta, Beta: p.beta()}})
	if err != nil {
		return nil, err
	}
	return s[0], nil
}

// kept returns sums as a model keeps them, in the user's row weights, and an error where float64 does not hold them. seen is the weight of the rows
// that have a cell of each variable.
func (p *pass) kept(s *family.Stats, rows int64, seen []float64, told model.Spread) (*model.Sums, error) {
	all := [][]float64{s.N, s.Sum, seen, {s.W, s.Entropy, s.F}}
	for i, list := range all {
		all[i] = slices.Clone(list)
		for l, v := range list {
			all[i][l] = p.fit.UserWeight(v)
		}
	}
	if slices.ContainsFunc(slices.Concat(append(all, []float64{told.Mean, told.Variance})...), func(v float64) bool { return v-v != 0 }) {
		return nil, errors.New("the sums of the rows are more than a float64 can hold; divide the columns, or the row weights, by a constant")
	}
	own := &model.Sums{Rows: rows, Weight: all[3][0], LogDensity: told, Seen: all[2], Origin: p.fit.Origin, Groups: all[0], Values: all[1]}
	if p.fit.Plan.Mixture() {
		own.Entropy = &all[3][1]
	} else {
		own.Cost = new(0 - all[3][2])
	}
	return own, nil
}

// stats is the inverse of kept, with all weights times share.
func (p *pass) stats(s *model.Sums, share float64) *family.Stats {
	scaled := func(v ...float64) []float64 {
		own := slices.Clone(v)
		for i := range own {
			own[i] = math.Ldexp(share*own[i], p.fit.Units.WeightPower)
		}
		return own
	}
	own := &family.Stats{K: p.fit.Mix.K, D: p.fit.Mix.D, Rows: s.Rows, W: scaled(s.Weight)[0], N: scaled(s.Groups...), Sum: scaled(s.Values...)}
	if p.fit.Plan.Mixture() {
		own.Entropy = scaled(*s.Entropy)[0]
	} else {
		own.F = -scaled(*s.Cost)[0]
	}
	return own
}

// Gather makes a few passes over the rows of a model, in the model's columns and the user's units, and returns the sums that an update needs
// of them. Its error says why there are none.
func Gather(ctx context.Context, src data.Source, m *model.Model, threads int) (*model.Sums, error) {
	p, err := newPass(ctx, src, m, nil, 0, threads)
	if err != nil {
		return nil, err
	}
	t, err := score(ctx, src, m, threads)
	if err != nil {
		return nil, err
	}
	s, err := p.sums(ctx, p.fit.Local, p.theta)
	if err != nil {
		return nil, err
	}
	return p.kept(s, p.fit.Survey.Used, p.fit.Survey.Seen, t.Spread)
}

// scored is what a model says of rows.
type scored struct {
	model.Spread
	weight float64
	rows   []int64 // of each component
	labels []int64 // with each label: of a cluster where components are merged
}

// score makes a pass over the rows of src.
func score(ctx context.Context, src data.Source, m *model.Model, threads int) (*scored, error) {
	t := &scored{rows: make([]int64, m.K()), labels: make([]int64, m.NumLabels())}
	squares := 0.0
	err := m.Rows(ctx, src, threads, func(s *model.Scored) error {
		for i, v := range s.LogDensity {
			w := s.Weight(i)
			if w == 0 || s.Empty(i) {
				continue
			}
			t.rows[s.Component[i]]++
			t.labels[s.Label[i]]++
			t.weight += w // West 1979
			off := v - t.Mean
			t.Mean += off * w / t.weight
			squares += w * off * (v - t.Mean)
		}
		return nil
	})
	if t.weight > 0 {
		t.Variance = max(squares/t.weight, 0)
	}
	return t, err
}

package latent

import (
	"encoding/json"
	"slices"

	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/score"
)

// Told returns what a model tells of its fit: the result again, without times. Of a model written by hand it tells the
// components, and of one whose parts do not fit each other what is wrong.
func Told(m *model.Model) *Result {
	if err := m.Validate(); err != nil {
		return &Result{Model: m, Warnings: []string{err.Error()}, Certificate: model.Certificate{OnEdge: []string{}}}
	}
	k, d := m.K(), m.D()
	r := &Result{Kind: m.Kind, K: k, D: d, Columns: m.Columns, Levels: m.Levels, StandardErrors: m.StandardErrors, LogLik: m.LogLik, PCA: m.PCA(), Warnings: []string{}, Model: m}
	kd := kind.Of(m.Kind)
	mix := &mixture.Mixture{Family: kd.Family(kind.Variables{Shape: m.Shape, Levels: kind.Counts(m.Levels)}), K: k, D: len(m.Variables())}
	if kd.Shaped {
		r.Covariance, r.Mclust = m.Shape.String(), m.Shape.Mclust()
	}
	r.Free = mix.Free()
	json.Unmarshal(m.Certificate, &r.Certificate) // a model that was read has one that can be; else it stays empty
	if r.Certificate.OnEdge == nil {
		r.Certificate.OnEdge = []string{}
	}
	p := m.Provenance
	if r.ByHand = p == nil; r.ByHand {
		p = &model.Provenance{}
	}
	r.Data = p.Data
	r.N, r.Weight, r.Dropped, r.Converged, r.Interrupted = p.Rows, p.Weight, p.Dropped, p.Converged, p.Interrupted
	if p.Free > 0 { // mixing weights that were not learned are not in the parameters
		r.Free = p.Free
	}
	r.Algorithm, r.Why, r.Init, r.Seed, r.Version = p.Algorithm, p.Why, p.Init, p.Seed, p.Version
	r.Iterations, r.Sweeps, r.SweepsTotal, r.Moves, r.Starts = p.Iterations, p.Sweeps, p.SweepsTotal, p.Moves, p.Starts
	r.ICL, r.Inertia, r.Penalty, r.Objective, r.Truth = p.ICL, p.Inertia, p.Penalty, p.Objective, p.Truth
	r.LRT = p.LRT
	if len(p.ColumnSD) == d {
		r.ColumnSD = p.ColumnSD
	}
	if hasChoice(p) {
		r.Choice, r.Candidates = p.Choice, p.Candidates
	}
	if s := p.Stability; s != nil && (len(s.Groups) == 0 || len(s.Groups) == k) {
		r.Stability = s
	}
	r.Warnings = append(r.Warnings, p.Warnings...)
	if m.LogLik != nil && p.Weight > 0 {
		r.MeanLogLik = new(*m.LogLik / p.Weight)
		r.BIC, r.AIC = new(score.BIC(r.Free, p.Weight, *m.LogLik)), new(score.AIC(r.Free, *m.LogLik))
	}
	tellComponents(r, m, p)
	return r
}

// tellComponents adds the components to r.
func tellComponents(r *Result, m *model.Model, p *model.Provenance) {
	total := 0.0
	for _, s := range m.Sizes {
		total += s
	}
	for c := range m.K() {
		x := m.Component(c)
		if !m.HasDensity() && total > 0 {
			x.Weight = m.Sizes[c] / total
		}
		if len(p.GroupRows) == m.K() && len(p.AtFloor) == m.K() {
			x.Rows, x.AtFloor = p.GroupRows[c], p.AtFloor[c]
		}
		r.Components = append(r.Components, x)
	}
}

// hasChoice reports whether there is a choice that can be told: every shape with every number of components of a range, as one
// was written. A file may have been edited.
func hasChoice(p *model.Provenance) bool {
	c, all := p.Choice, p.Candidates
	if c == nil || len(all) == 0 || all[0].K < 1 || c.Margin == nil && c.Verdict != "" || !slices.Contains(plan.Criteria(), plan.Criterion(c.Criterion)) {
		return false
	}
	shapes := 0
	for shapes < len(all) && all[shapes].K == all[0].K {
		shapes++
	}
	for i, x := range all {
		if x.K != all[0].K+i/shapes || x.Mclust != all[i%shapes].Mclust || (x.Gap == nil) != (x.GapSE == nil) {
			return false
		}
	}
	return len(all)%shapes == 0
}

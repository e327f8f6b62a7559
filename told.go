package latent

import (
	"encoding/json"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/score"
)

// Told returns the result of the fit that made m, as far as the model remembers it: without times. Of a model written by hand it tells the
// components, and of an invalid one what is wrong, as a warning. The result shares memory with m.
func Told(m *model.Model) *Result {
	if err := m.Validate(); err != nil {
		return &Result{Model: m, Findings: model.Findings{Warnings: []model.Warning{{Text: err.Error()}}}, Certificate: model.Certificate{OnEdge: []string{}}}
	}
	k, d := m.K(), m.D()
	r := &Result{Kind: m.Kind, K: k, D: d, Columns: m.Columns, Levels: m.LevelLists(), StandardErrors: m.StandardErrors, LogLik: m.LogLik, PCA: m.PCA(), Model: m}
	for _, t := range m.ColumnTypes() {
		r.Types = append(r.Types, t.String())
	}
	r.Emission, r.Initial, r.Transitions = m.Emission, m.Initial, m.Transitions
	kd := kind.Of(m.ComponentKind())
	if m.Changes() != nil {
		r.Variables = variablesOf(m)
	}
	if kd.HasShape(m.Types) {
		r.Covariance, r.Mclust = m.Shape.String(), m.Shape.Mclust()
	}
	json.Unmarshal(m.Certificate, &r.Certificate) // a model that was read has one that can be; else it stays empty
	if r.Certificate.OnEdge == nil {
		r.Certificate.OnEdge = []string{}
	}
	p := m.Provenance
	if r.ByHand = p == nil; r.ByHand {
		p = &model.Provenance{}
	}
	if r.LeftOut = p.LeftOut; r.LeftOut == nil {
		r.LeftOut = []model.LeftOut{}
	}
	if p.Missing != nil {
		r.Missing = *p.Missing
	} else if !r.ByHand {
		r.Missing.Patterns = 1
	}
	r.Data, r.Rows, r.Sequences, r.Course, r.ICL, r.Inertia, r.Findings = p.Data, p.Rows, p.Sequences, p.Course, p.ICL, p.Inertia, p.Findings
	r.Warnings = slices.Clone(p.Warnings)
	if r.Warnings == nil {
		r.Warnings = []model.Warning{}
	}
	if r.FreeParameters == 0 { // the file does not say: as many as the parameters have
		of := kind.Variables{Shape: m.Shape, Types: m.Changed().Types}
		if m.Levels != nil {
			of.Levels = kind.Counts(m.Changed().Levels)
		}
		mix := &mixture.Mixture{Family: kd.Family(of), K: k, D: len(m.Variables())}
		if m.Noise != nil {
			mix.Noise = &mixture.Noise{}
		}
		r.FreeParameters = mix.Free()
	}
	if len(r.ColumnSD) != d {
		r.ColumnSD = nil
	}
	if !hasChoice(p) {
		r.Choice, r.Candidates = nil, nil
	}
	r.Clusters = clustersOf(m)
	if s := r.Stability; s != nil && len(s.Groups) > 0 && len(s.Groups) != m.NumLabels() {
		r.Stability = nil
	}
	r.Posterior = m.Posterior
	if m.LogLik != nil && p.TotalWeight > 0 {
		r.MeanLogLik = new(*m.LogLik / p.TotalWeight)
	}
	if m.LogLik != nil && p.TotalWeight > 0 && m.Posterior == nil {
		r.BIC, r.AIC = new(score.BIC(r.FreeParameters, p.TotalWeight, *m.LogLik)), new(score.AIC(r.FreeParameters, *m.LogLik))
	}
	tellComponents(r, m, p)
	if r.Noise = m.ToldNoise(); r.Noise != nil {
		r.Noise.Rows = p.NoiseRows
	}
	return r
}

// clustersOf returns what m tells of its clusters: how they were found, where it knows that and nobody has changed them since. It is nil where no components
// are merged.
func clustersOf(m *model.Model) *model.Clusters {
	if m.Clusters == nil {
		return nil
	}
	if p := m.Provenance; p != nil && p.Clusters != nil && slices.Equal(p.Clusters.Of, m.Clusters) {
		return p.Clusters
	}
	c := &model.Clusters{N: m.NumLabels(), Of: m.Clusters, Weights: make([]float64, m.NumLabels())}
	for i, w := range m.Weights {
		c.Weights[m.LabelOf(i)] += w
	}
	return c
}

// tellComponents adds the components to r.
func tellComponents(r *Result, m *model.Model, p *model.Provenance) {
	total := p.TotalWeight
	if total == 0 { // the file does not say
		for _, s := range m.Sizes {
			total += s
		}
	}
	for c := range m.K() {
		x := m.Component(c)
		if !m.HasDensity() && m.Sizes != nil && total > 0 {
			x.Weight = m.Sizes[c] / total
		}
		if len(p.GroupRows) == m.K() && len(p.AtFloor) == m.K() {
			x.Rows, x.AtFloor = p.GroupRows[c], p.AtFloor[c]
		}
		r.Components = append(r.Components, x)
	}
}

// hasChoice reports whether p has a valid choice: a file may have been edited.
func hasChoice(p *model.Provenance) bool {
	c := p.Choice
	if c == nil || len(p.Candidates) == 0 || c.Margin == nil && c.Verdict != "" || !slices.Contains(plan.Criteria(), plan.Criterion(c.Criterion)) {
		return false
	}
	type candidate struct {
		k     int
		shape string
	}
	seen := map[candidate]bool{}
	for _, x := range p.Candidates {
		key := candidate{x.K, x.Mclust}
		if x.K < 1 || seen[key] || (x.Gap == nil) != (x.GapSE == nil) {
			return false
		}
		seen[key] = true
	}
	return true
}

// variablesOf returns the names of the variables that are numbers.
func variablesOf(m *model.Model) []string {
	for _, p := range m.Parts() {
		if kind.Of(p.Kind).Type() == data.Number {
			return p.Variables()
		}
	}
	return nil
}

package latent

import (
	"encoding/json"
	"slices"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/score"
)

// Provenance is what a model file remembers of its fit.
type Provenance struct {
	Data        string      `json:"data,omitempty"` // the name of the data, as given
	Rows        int64       `json:"rows"`           // rows of positive weight
	Weight      float64     `json:"weight_total"`
	Dropped     int64       `json:"dropped_rows"`
	Converged   bool        `json:"converged"`
	Interrupted bool        `json:"interrupted,omitempty"`
	Algorithm   string      `json:"algorithm"`
	Why         string      `json:"algorithm_why,omitempty"`
	Free        int         `json:"free_parameters,omitempty"`
	Init        string      `json:"init"`
	Seed        uint64      `json:"seed"`
	Iterations  int         `json:"iterations"`
	Sweeps      int         `json:"sweeps"`
	SweepsTotal int         `json:"sweeps_total"`
	Moves       int         `json:"moves_kept,omitempty"`
	Starts      Starts      `json:"starts"`
	GroupRows   []int64     `json:"component_rows"` // rows that carry each label
	AtFloor     []bool      `json:"at_floor"`
	ICL         *float64    `json:"icl,omitempty"`
	Inertia     *float64    `json:"inertia,omitempty"`
	Penalty     *float64    `json:"penalty,omitempty"`
	Objective   *float64    `json:"objective,omitempty"`
	ColumnSD    []float64   `json:"column_sd,omitempty"`
	Truth       *Truth      `json:"truth,omitempty"`
	Choice      *Choice     `json:"choice,omitempty"` // how K and the shape were chosen, where they were, and from what
	Candidates  []Candidate `json:"candidates,omitempty"`
	Stability   *Stability  `json:"stability,omitempty"`
	LRT         *LRT        `json:"lrt,omitempty"`
	Warnings    []string    `json:"warnings"`
	Version     string      `json:"version"`
}

// Result returns what the model file tells of its fit: the result again, without times. Of a model written by hand it
// tells the components.
func (m *Model) Result() *Result {
	if err := m.whole(); err != nil {
		return &Result{Fitted: m, Warnings: []string{err.Error()}, Certificate: Certificate{OnEdge: []string{}}}
	}
	k, d := m.K(), m.D()
	r := &Result{Model: m.Kind, K: k, D: d, Columns: m.Columns, Levels: m.Levels, StandardErrors: m.StandardErrors, LogLik: m.LogLik, PCA: m.PCA(), Warnings: []string{}, Fitted: m}
	mix := &mixture.Mixture{Family: m.family(nil), K: k, D: m.dims()}
	if m.kind().Shaped {
		r.Covariance, r.Mclust = m.Shape.String(), m.Shape.Mclust()
		if m.Shape.Decomposed() {
			mix.Family = family.Decomposed{Shape: m.Shape}
		}
	}
	r.Free = mix.Free()
	json.Unmarshal(m.Certificate, &r.Certificate) // a model that was read has one that can be; else it stays empty
	if r.Certificate.OnEdge == nil {
		r.Certificate.OnEdge = []string{}
	}
	p := m.Provenance
	if r.ByHand = p == nil; r.ByHand {
		p = &Provenance{}
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
	if p.choice() {
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
	m.tell(r, p)
	return r
}

// tell adds the components to r.
func (m *Model) tell(r *Result, p *Provenance) {
	total := 0.0
	for _, s := range m.Sizes {
		total += s
	}
	for c := range m.K() {
		x := m.component(c)
		if !m.HasDensity() && total > 0 {
			x.Weight = m.Sizes[c] / total
		}
		if len(p.GroupRows) == m.K() && len(p.AtFloor) == m.K() {
			x.Rows, x.AtFloor = p.GroupRows[c], p.AtFloor[c]
		}
		r.Components = append(r.Components, x)
	}
}

// choice reports whether there is a choice that can be told: every shape with every number of components of a range, as one
// was written. A file may have been edited.
func (p *Provenance) choice() bool {
	c, all := p.Choice, p.Candidates
	if c == nil || len(all) == 0 || all[0].K < 1 || c.Margin == nil && c.Verdict != "" || !slices.Contains(criteria, c.Criterion) {
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

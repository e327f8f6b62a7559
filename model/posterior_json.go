package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// What a posterior calls the distribution of its weights.
const (
	dirichlet = "dirichlet"
	process   = "process"
)

// MarshalJSON writes the posterior as a model file holds it.
func (p *Posterior) MarshalJSON() ([]byte, error) {
	if p.K() == 0 || len(p.Means) == 0 {
		return nil, errors.New("posterior: there must be at least one component")
	}
	d := len(p.Means[0])
	if err := p.whole(d); err != nil {
		return nil, fmt.Errorf("posterior: %w", err)
	}
	w := struct {
		Weights       string      `json:"weights"`
		Concentration any         `json:"concentration"`
		MeanPrecision []float64   `json:"mean_precision"`
		Means         [][]float64 `json:"means"`
		Dof           any         `json:"dof"`
		Scale         any         `json:"scale"`
	}{dirichlet, p.Concentration, p.MeanPrecision, p.Means, p.Dof, nil}
	if p.Sticks != nil {
		two := make([][]float64, 2)
		for _, s := range p.Sticks {
			two[0], two[1] = append(two[0], s[0]), append(two[1], s[1])
		}
		w.Weights, w.Concentration = process, two
	}
	scales := make([]*Covariance, len(p.Scale))
	for c, s := range p.Scale {
		scales[c] = newCovariance(p.Shape, s, d)
	}
	if w.Scale = scales; p.Shape.Shared() {
		w.Dof, w.Scale = p.Dof[0], scales[0]
	}
	return json.Marshal(w)
}

// posterior reads the posterior of a model whose shape is known.
func (r *modelReader) posterior(m *Model) {
	raw := r.object("posterior")
	if raw == nil || r.err != nil {
		return
	}
	own := &modelReader{}
	if err := json.Unmarshal(raw, &own.keys); err != nil {
		r.err = fmt.Errorf("posterior: %w", plainJSON(err))
		return
	}
	p := &Posterior{Shape: m.Shape}
	switch weights := own.word("weights"); {
	case own.err != nil:
	case weights == dirichlet:
		p.Concentration = own.numbers("concentration")
	case weights == process:
		p.Sticks = own.sticks()
	default:
		own.err = fmt.Errorf("weights: %q is not known; it must be %s or %s", weights, dirichlet, process)
	}
	p.MeanPrecision, p.Means = own.numbers("mean_precision"), own.rows("means")
	if m.Shape.Shared() {
		var one number
		own.decode("dof", &one)
		p.Dof = []float64{float64(one)}
	} else {
		p.Dof = own.numbers("dof")
	}
	p.Scale = own.matrices("scale", m)
	for _, key := range slices.Sorted(maps.Keys(own.keys)) {
		if own.err == nil {
			own.err = fmt.Errorf("the key %q is not known", key)
		}
	}
	if m.Posterior = p; own.err != nil {
		r.err = fmt.Errorf("posterior: %w", own.err)
	}
}

// sticks reads two lists: what components take, and what they leave.
func (r *modelReader) sticks() (sticks [][2]float64) {
	two := r.rows("concentration")
	if len(two) != 2 || len(two[0]) != len(two[1]) {
		if r.err == nil {
			r.err = errors.New("concentration: of a process there are two lists of the same length")
		}
		return nil
	}
	for c, v := range two[0] {
		sticks = append(sticks, [2]float64{v, two[1][c]})
	}
	return sticks
}

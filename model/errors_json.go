package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/text"
)

// MarshalJSON lays the standard errors out like the parameters of Result.Components: a covariance for each component, as a
// matrix, a list of variances or a number, and the probabilities of levels by column.
func (e *StandardErrors) MarshalJSON() ([]byte, error) { return e.marshal(false) }

// marshal lays covariances out one a component, or as the model file holds them: once where components share one.
func (e *StandardErrors) marshal(file bool) ([]byte, error) {
	out := struct {
		Weights       Errors     `json:"weights,omitempty"`
		Initial       Errors     `json:"initial,omitempty"`
		Transitions   []Errors   `json:"transitions,omitempty"`
		Noise         *float64   `json:"noise,omitempty"`
		Means         []Errors   `json:"means,omitempty"`
		Covariance    any        `json:"covariance,omitempty"`
		Scale         any        `json:"scale,omitempty"`
		Loadings      [][]Errors `json:"loadings,omitempty"`
		Uniquenesses  []Errors   `json:"uniquenesses,omitempty"`
		Dof           Errors     `json:"dof,omitempty"`
		Probabilities any        `json:"probabilities,omitempty"`
		Rates         []Errors   `json:"rates,omitempty"`
		Rows          int64      `json:"rows"`
		Method        string     `json:"method,omitempty"`
		Why           string     `json:"why,omitempty"`
	}{Weights: e.Weights, Initial: e.Initial, Transitions: e.Transitions, Means: e.Means, Dof: e.Dof, Uniquenesses: e.Uniquenesses, Rates: e.Rates, Rows: e.Rows, Method: e.Method, Why: e.Why}
	for _, flat := range e.Loadings {
		q := 1
		if e.of != nil {
			q = e.of.Shape.Factors()
		}
		out.Loadings = append(out.Loadings, slices.Collect(slices.Chunk(flat, q)))
	}
	if len(e.Noise) == 1 && e.Noise[0]-e.Noise[0] == 0 {
		out.Noise = &e.Noise[0]
	}
	switch {
	case e.Covariance == nil:
	case e.of != nil && e.of.kind().Tails:
		out.Scale = e.covariances(file)
	default:
		out.Covariance = e.covariances(file)
	}
	if e.Probabilities != nil {
		out.Probabilities = e.probabilities()
	}
	return json.Marshal(out)
}

// covariances returns those of the covariances as JSON shows them.
func (e *StandardErrors) covariances(file bool) any {
	m := e.of
	if m == nil {
		return e.Covariance
	}
	if p := m.part(data.Number); p != nil {
		m = p.Model
	}
	all := make([]any, len(e.Covariance))
	for c, cov := range e.Covariance {
		all[c] = m.errorsValue(cov)
	}
	if m.Shape.Shared() && len(all) == 1 {
		if file {
			return all[0]
		}
		all = slices.Repeat(all, m.K())
	}
	return all
}

// probabilities returns those of the probabilities as JSON shows them.
func (e *StandardErrors) probabilities() any {
	if e.of == nil || e.of.LevelLists() == nil {
		return e.Probabilities
	}
	all := make([][]Errors, len(e.Probabilities))
	for c, row := range e.Probabilities {
		for _, names := range e.of.LevelLists() {
			all[c] = append(all[c], row[:len(names)])
			row = row[len(names):]
		}
	}
	return all
}

// errorsShape returns the shape that a covariance has in the user's units, and the number of its variables.
func (m *Model) errorsShape() (family.Shape, int) {
	m = m.Changed()
	d := m.dims()
	if m.PCA() == nil && len(m.Transform) > 0 && m.Shape.Size(d) == 1 && !m.Shape.Matrix() {
		return family.Diag, d
	}
	return m.Shape, d
}

// errorsValue returns the standard errors of a covariance nested as the covariance of a Component.
func (m *Model) errorsValue(e Errors) any {
	shape, d := m.errorsShape()
	switch {
	case shape.Matrix():
		return slices.Collect(slices.Chunk(e, d))
	case shape == family.Spherical || shape == family.TiedSpherical:
		if v := e[0]; v-v != 0 {
			return nil
		}
		return e[0]
	}
	return e
}

// readStandardErrors reads those of a model whose parameters are read, of the layout above or of that of earlier versions, which
// had one list of numbers for each covariance, and for the probabilities of each component.
func (m *Model) readStandardErrors(b []byte) error {
	var in struct {
		Weights       Errors          `json:"weights"`
		Initial       Errors          `json:"initial"`
		Transitions   []Errors        `json:"transitions"`
		Noise         *float64        `json:"noise"`
		Means         []Errors        `json:"means"`
		Covariance    json.RawMessage `json:"covariance"`
		Scale         json.RawMessage `json:"scale"`
		Loadings      [][]Errors      `json:"loadings"`
		Uniquenesses  []Errors        `json:"uniquenesses"`
		Dof           Errors          `json:"dof"`
		Probabilities json.RawMessage `json:"probabilities"`
		Rates         []Errors        `json:"rates"`
		Rows          int64           `json:"rows"`
		Method        string          `json:"method"`
		Why           string          `json:"why"`
	}
	if err := strictly(b, &in); err != nil {
		return err
	}
	if m.kind().Tails {
		in.Covariance, in.Scale = in.Scale, in.Covariance
	}
	if in.Scale != nil {
		return fmt.Errorf("%s: %s has none", map[bool]string{true: "covariance", false: "scale"}[m.kind().Tails], m.called())
	}
	e := &StandardErrors{Weights: in.Weights, Initial: in.Initial, Transitions: in.Transitions, Means: in.Means, Dof: in.Dof, Rates: in.Rates, Rows: in.Rows, Method: in.Method, Why: in.Why, of: m}
	if in.Noise != nil {
		e.Noise = Errors{*in.Noise}
	}
	k := m.K()
	count, size, width := 0, 0, 0 // covariances, numbers of one, and probabilities of a component
	kd := m.kind()
	numbers := m.part(data.Number)
	if m.Shape.Factors() > 0 {
		for _, rows := range in.Loadings {
			e.Loadings = append(e.Loadings, slices.Concat(rows...))
		}
		e.Uniquenesses = in.Uniquenesses
	} else if kd.HasShape(m.Types) {
		shape, d := numbers.errorsShape()
		if count, size = m.Shape.Count(k), shape.Size(d); shape.Matrix() {
			size = d * d
		}
	}
	if m.Probabilities != nil {
		width = len(m.Probabilities[0])
	}
	var err error
	if e.Covariance, err = flatErrors(in.Covariance, count, size); err != nil {
		return fmt.Errorf("covariance: %w", err)
	}
	if e.Probabilities, err = flatErrors(in.Probabilities, map[bool]int{true: k}[width > 0], width); err != nil {
		return fmt.Errorf("probabilities: %w", err)
	}
	switch whole := kd.Parted || e.Probabilities != nil || e.Means != nil && (e.Covariance != nil || e.Loadings != nil || !kd.Shaped); {
	case !whole && e.Why == "" && !slices.ContainsFunc(e.lists(), func(list Errors) bool { return len(list) > 0 }):
		return nil // there are none
	case !whole && e.Why == "" && m.Shape.Factors() > 0:
		return errors.New("means, loadings and uniquenesses are needed")
	case !whole && e.Why == "" && kd.Shaped:
		return errors.New("means and covariance are needed")
	case !whole && e.Why == "":
		return fmt.Errorf("%s are needed", map[bool]string{true: "probabilities", false: "means"}[width > 0])
	}
	if err := e.check(m); err != nil {
		return err
	}
	if e.Covariance != nil && !sameNesting(in.Covariance, e.covariances(true), e.Covariance) {
		return errors.New("covariance: the lists are not nested as covariances are")
	}
	if e.Probabilities != nil && !sameNesting(in.Probabilities, e.probabilities(), e.Probabilities) {
		return errors.New("probabilities: the lists are not nested as probabilities are")
	}
	m.StandardErrors = e
	return nil
}

// check wants those of the parameters of m.
func (e *StandardErrors) check(m *Model) error {
	k := m.K()
	switch {
	case !m.HasDensity():
		return fmt.Errorf("%s has none", m.called())
	case e.Rows < 0:
		return fmt.Errorf("rows: it is %d; a number of rows is not negative", e.Rows)
	case e.Weights != nil && len(e.Weights) != k:
		return fmt.Errorf("weights: there %s %d for %d components", text.Form(len(e.Weights), "is", "are"), len(e.Weights), k)
	case (e.Initial != nil || e.Transitions != nil) && (len(e.Initial) != len(m.Initial) || len(e.Transitions) != len(m.Transitions)):
		return errors.New("initial and transitions: they are not as many as those of the model")
	case slices.ContainsFunc(e.Transitions, func(row Errors) bool { return len(row) != k }):
		return fmt.Errorf("transitions: a row does not have %s", text.Count(k, "number"))
	case e.Noise != nil && m.Noise == nil:
		return errors.New("noise: the model has none")
	case e.Dof != nil && len(e.Dof) != m.tails(k):
		return fmt.Errorf("dof: there %s %d for %s", text.Form(len(e.Dof), "is", "are"), len(e.Dof), text.Count(m.tails(k), "component"))
	case e.Means != nil && (m.Means == nil || len(e.Means) != k):
		return fmt.Errorf("means: there %s %d for %d means", text.Form(len(e.Means), "is", "are"), len(e.Means), len(m.Means))
	}
	if err := e.checkFactors(m); err != nil {
		return err
	}
	for _, row := range e.Means {
		if d := len(m.UserMean(0)); len(row) != d && (len(row) != len(m.Means[0]) || m.Changes() != nil) {
			return fmt.Errorf("means: one has %d numbers for %d columns", len(row), d)
		}
	}
	if e.Rates != nil && (len(e.Rates) != len(m.Rates) || slices.ContainsFunc(e.Rates, func(row Errors) bool { return len(row) != len(m.Rates[0]) })) {
		return errors.New("rates: they are not as many as the rates")
	}
	for _, list := range e.lists() {
		for _, v := range list {
			if v < 0 {
				return fmt.Errorf("one is %v; a standard error is not negative", v)
			}
		}
	}
	return nil
}

// lists returns the lists of all parameters.
func (e *StandardErrors) lists() []Errors {
	return slices.Concat([]Errors{e.Weights, e.Noise, e.Dof, e.Initial}, e.Transitions, e.Means, e.Covariance, e.Loadings, e.Uniquenesses, e.Probabilities, e.Rates)
}

// flatErrors reads count lists of size numbers, however nested; nil where there are none.
func flatErrors(b json.RawMessage, count, size int) ([]Errors, error) {
	var nested any
	if b == nil || json.Unmarshal(b, &nested) != nil || nested == nil {
		return nil, nil
	}
	var flat Errors
	var take func(v any) error
	take = func(v any) error {
		switch v := v.(type) {
		case nil:
			flat = append(flat, math.NaN())
		case float64:
			flat = append(flat, v)
		case []any:
			for _, x := range v {
				if err := take(x); err != nil {
					return err
				}
			}
		default:
			return fmt.Errorf("%q stands where a number belongs", fmt.Sprint(v))
		}
		return nil
	}
	if err := take(nested); err != nil {
		return nil, err
	}
	if len(flat) != count*size || count == 0 {
		return nil, fmt.Errorf("%s for %d parameters", text.There(len(flat), "number"), count*size)
	}
	return slices.Collect(slices.Chunk(flat, size)), nil
}

// sameNesting reports whether JSON is nested like one of the values.
func sameNesting(b json.RawMessage, values ...any) bool {
	for _, v := range values {
		own, err := json.Marshal(v)
		if err == nil && nesting(own) == nesting(b) {
			return true
		}
	}
	return false
}

// nesting returns JSON with a dot for each number.
func nesting(b []byte) string {
	var s strings.Builder
	inside := false
	for _, c := range b {
		switch c {
		case '[', ']', ',':
			s.WriteByte(c)
			inside = false
		case ' ', '\t', '\n', '\r':
		default:
			if !inside {
				s.WriteByte('.')
			}
			inside = true
		}
	}
	return s.String()
}

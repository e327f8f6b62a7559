package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/latent-go/latent/internal/text"
)

// Prior is a conjugate prior of a mixture: what is wanted of one, where fields that are left out have their defaults, or the one that a fit
// used, with all of its numbers. What a fit used can be given again. The zero value is the default prior, "auto" in JSON.
//
// Means and covariances have a normal-inverse-Wishart prior, or normal-inverse-gamma where covariances are diagonal or spherical (Fraley and
// Raftery 2007), probabilities of bits and levels a Dirichlet prior, and so have the mixing weights. Mean and Scale are in the units that
// are fitted: those of the columns, or of what Spec.Transform, Spec.Scale and Spec.PCA make of them. d is the number of columns of numbers.
type Prior struct {
	// Shrinkage is the number of pseudo-rows at Mean that the mean of each component is drawn to it by; 0.01 by default.
	Shrinkage *float64 `json:"shrinkage,omitempty"`
	// Mean holds d numbers; by default the means of the columns.
	Mean []float64 `json:"mean,omitempty"`
	// Dof are the degrees of freedom of the covariances, above d - 1; d + 2 by default.
	Dof *float64 `json:"dof,omitempty"`
	// Scale is the scale of the covariances: d rows of d numbers where they are matrices, one row of d where they are diagonal, one
	// number where they are spherical. By default it is ScaleFactor times the covariance of all rows, its variances or the mean of these.
	Scale PriorScale `json:"scale,omitempty"`
	// ScaleFactor makes the default of Scale; k^(-2/d) by default.
	ScaleFactor *float64 `json:"scale_factor,omitempty"`
	// Weights is the parameter of a symmetric Dirichlet prior of the mixing weights, 1 or more; 1, which is flat, by default.
	// Of a hidden Markov model it is that of the probabilities of first states.
	Weights *float64 `json:"weights,omitempty"`
	// Transitions, of a hidden Markov model, is the parameter of a symmetric Dirichlet prior of the transition probabilities from each state, 1 or
	// more; 1, which is flat, by default.
	Transitions *float64 `json:"transitions,omitempty"`
	// Levels is the number of pseudo-rows, shared by all components, in which columns of bits and levels have the shares Shares; 1 by default.
	Levels *float64 `json:"levels,omitempty"`
	// Shares holds for each column of bits or levels the share of each level, of bits that of 0 and of 1; by default those of all rows.
	Shares [][]float64 `json:"shares,omitempty"`
}

// PriorScale is the scale of a prior of covariances, in rows: in JSON one row is a list, and one number a number.
type PriorScale [][]float64

// MarshalJSON writes rows, a list or a number.
func (s PriorScale) MarshalJSON() ([]byte, error) {
	switch {
	case len(s) == 1 && len(s[0]) == 1:
		return json.Marshal(s[0][0])
	case len(s) == 1:
		return json.Marshal(s[0])
	}
	return json.Marshal([][]float64(s))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *PriorScale) UnmarshalJSON(b []byte) error {
	var rows [][]float64
	var row []float64
	var one float64
	switch {
	case json.Unmarshal(b, &one) == nil && string(b) != "null":
		*s = PriorScale{{one}}
	case json.Unmarshal(b, &row) == nil && len(row) > 0:
		*s = PriorScale{row}
	case json.Unmarshal(b, &rows) == nil && len(rows) > 0:
		*s = rows
	default:
		return errors.New("it must be a number, a list of numbers or a matrix as a list of its rows")
	}
	return nil
}

// priorKeys are the keys of ParsePrior.
var priorKeys = []string{"shrinkage", "dof", "scale-factor", "weights", "levels", "transitions"}

// ParsePrior reads "auto", "KEY=VALUE,..." with the keys shrinkage, dof, scale-factor, weights, levels and transitions, or a JSON object, which may hold
// lists and matrices too. Its error says what is wrong and what would do.
func ParsePrior(s string) (*Prior, error) {
	p := new(Prior)
	switch s = strings.TrimSpace(s); {
	case s == "auto":
		return p, nil
	case strings.HasPrefix(s, "{"):
		return p, p.UnmarshalJSON([]byte(s))
	case s == "":
		return nil, errors.New("is empty; say auto, or KEY=VALUE with the keys " + text.List(priorKeys, "and"))
	}
	into := map[string]**float64{"shrinkage": &p.Shrinkage, "dof": &p.Dof, "scale-factor": &p.ScaleFactor, "weights": &p.Weights, "levels": &p.Levels, "transitions": &p.Transitions}
	for _, word := range strings.Split(s, ",") {
		key, value, found := strings.Cut(strings.TrimSpace(word), "=")
		key = strings.ReplaceAll(strings.TrimSpace(key), "_", "-")
		to := into[key]
		switch {
		case !found && key == "auto":
			return nil, errors.New("auto stands alone: keys that are not given have their defaults")
		case !found:
			return nil, fmt.Errorf("%q is neither auto nor KEY=VALUE; the keys are %s", word, text.List(priorKeys, "and"))
		case key == "mean" || key == "scale":
			return nil, fmt.Errorf("%s is a list, which is for a --config file: {\"prior\": {\"%s\": ...}}", key, key)
		case to == nil:
			return nil, fmt.Errorf("key %q is not known; the keys are %s", key, text.List(priorKeys, "and"))
		case *to != nil:
			return nil, fmt.Errorf("%s is there twice; give it once", key)
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be %q; it must be a number", key, value)
		}
		*to = &v
	}
	return p, nil
}

// isDefault reports whether nothing is said.
func (p *Prior) isDefault() bool {
	return p.Shrinkage == nil && p.Mean == nil && p.Dof == nil && p.Scale == nil && p.ScaleFactor == nil && p.Weights == nil && p.Levels == nil && p.Shares == nil && p.Transitions == nil
}

// plainPrior is Prior without its methods.
type plainPrior Prior

// MarshalJSON writes "auto" or an object.
func (p *Prior) MarshalJSON() ([]byte, error) {
	if p.isDefault() {
		return []byte(`"auto"`), nil
	}
	return json.Marshal((*plainPrior)(p))
}

// UnmarshalJSON reads "auto", "KEY=VALUE,..." or an object. Keys may have - in place of _.
func (p *Prior) UnmarshalJSON(b []byte) error {
	var word string
	if json.Unmarshal(b, &word) == nil {
		own, err := ParsePrior(word)
		if err == nil {
			*p = *own
		}
		return err
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(b, &keys); err != nil {
		return errors.New("it must be \"auto\" or an object")
	}
	plain := map[string]json.RawMessage{}
	for key, v := range keys {
		plain[strings.ReplaceAll(key, "-", "_")] = v
	}
	b, _ = json.Marshal(plain) // of what was read
	var own plainPrior
	if err := strictly(b, &own); err != nil {
		if strings.Contains(err.Error(), "is not known") {
			err = fmt.Errorf("%w; the keys are %s", err, text.List(append(slices.Clone(priorKeys), "mean", "scale", "shares"), "and"))
		}
		return err
	}
	*p = Prior(own)
	return nil
}

// check wants numbers that a prior can have.
func (p *Prior) check() error {
	for _, v := range []struct {
		key   string
		value *float64
		least float64
	}{{"shrinkage", p.Shrinkage, 0}, {"dof", p.Dof, 0}, {"scale_factor", p.ScaleFactor, 0}, {"weights", p.Weights, 1}, {"levels", p.Levels, 0}, {"transitions", p.Transitions, 1}} {
		if v.value != nil && !(*v.value >= v.least && !math.IsInf(*v.value, 1)) {
			return fmt.Errorf("%s: it is %v; it must be at least %v", v.key, *v.value, v.least)
		}
	}
	return nil
}

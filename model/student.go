package model

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/text"
)

// tails returns how many degrees of freedom k components have.
func (m *Model) tails(k int) int {
	if m.kind().Tails {
		return k
	}
	return 0
}

// checkDof wants degrees of freedom that a density can have: one number a component where components have tails, else none.
func (m *Model) checkDof() error {
	if want := m.tails(m.K()); len(m.Dof) != want {
		return fmt.Errorf("dof: there %s %d for %s", text.Form(len(m.Dof), "is", "are"), len(m.Dof), text.Count(want, "component"))
	}
	for c, v := range m.Dof {
		if !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("dof: number %d is %v; degrees of freedom are finite and above 0", c+1, v)
		}
	}
	return nil
}

// setTails sets what a component c of a kind with tails has beside its location: its scale is what m holds as covariance. The covariance
// is scale v/(v-2) for v degrees of freedom, and does not exist for 2 and fewer.
func (x *Component) setTails(m *Model, c int) {
	shape, scale := m.userVariances(c)
	v := m.Dof[c]
	x.Dof, x.Gaussian = &v, v >= family.MostDof
	x.Scale, x.Covariance = newCovariance(shape, scale, m.dims()), nil
	if v > 2 {
		all := make([]float64, len(scale))
		for i, s := range scale {
			all[i] = s * (v / (v - 2))
		}
		x.Covariance = newCovariance(shape, all, m.dims())
	}
}

// Spread returns what a picture of the component is drawn by: its covariance, or the scale of a t distribution, which always exists; nil
// where the component has neither.
func (x *Component) Spread() *Covariance {
	if x.Scale != nil {
		return x.Scale
	}
	return x.Covariance
}

// MarshalJSON writes null for a covariance that does not exist, beside a scale, and none beside loadings: it would be d x d numbers.
func (x Component) MarshalJSON() ([]byte, error) {
	type plain Component
	if x.Loadings != nil {
		x.Covariance = nil
	}
	if x.Scale == nil || x.Covariance != nil {
		return json.Marshal(plain(x))
	}
	return json.Marshal(struct {
		plain
		Covariance *Covariance `json:"covariance"`
	}{plain: plain(x)})
}

// stretchOf returns what a normal row is multiplied by, about its location, to be one of a t distribution with dof degrees of freedom: one over
// the root of a gamma variable of mean 1.
func stretchOf(dof float64, rng *rand.Rand) float64 {
	return math.Sqrt(dof / max(distuv.ChiSquared{K: dof, Src: rng}.Rand(), math.SmallestNonzeroFloat64))
}

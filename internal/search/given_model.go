package search

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// given is the model that a fit starts from, with its columns and levels in the order of those of the fit.
type given struct {
	model  *model.Model
	theta  []float64 // where the climb begins: the parameters of its components of positive weight
	at     []int     // for each of its components the index among those of theta; -1 for one of weight 0
	raised bool      // its covariances lay below the floor of variances and were raised to it, or its degrees of freedom were changed
}

// fromModel returns the parameters of a model in this fit's coordinates. Its columns and levels are matched by name. A component of weight 0
// takes no part in the climb, since EM gives it no row: until the fit has ended it has fewer components.
func (f *Fit) fromModel(m *model.Model) ([]float64, error) {
	if err := m.Validate(); err != nil {
		return nil, plan.Wrong("Init", "model: %s", err)
	}
	switch {
	case m.Kind != f.Plan.ModelName():
		return nil, plan.Wrong("Init", "model: its kind is %s, but %s is fitted", m.Kind, f.Plan.ModelName())
	case m.ComponentKind() != f.Plan.Kind.Name:
		return nil, plan.Wrong("Init", "model: its emission is %s, but %s is fitted", m.ComponentKind(), f.Plan.Kind.Name)
	case m.K() != f.Plan.K:
		return nil, plan.Wrong("Init", "model: it has %d components, but -k is %d", m.K(), f.Plan.K)
	case f.Plan.Shaped() && m.Shape != f.Plan.Shape:
		return nil, plan.Wrong("Init", "model: it has %s covariances, but %s ones are fitted", m.Shape, f.Plan.Shape)
	}
	if m.Noise != nil && f.Mix.Noise == nil {
		return nil, plan.Wrong("Init", "model: it has noise, but none is fitted; give --noise auto")
	}
	m, err := m.Arranged(f.UserNames, f.Plan.Spec.Levels)
	if err != nil {
		return nil, plan.Wrong("Init", "model: %s", err)
	}
	if !sameChanges(m.Changes(), f.Changes) {
		return nil, plan.Wrong("Init", "model: it puts columns on other scales than this fit; give --transform as that of the model was")
	}
	m = m.Changed()
	for j, t := range m.Types {
		if t != f.Plan.Types[j] {
			return nil, plan.Wrong("Init", "model: its column %q holds a %s, but a %s is fitted", f.Names[j], t, f.Plan.Types[j])
		}
	}
	plain := m.Transform
	m = f.FromUserUnits(m)
	if !slices.EqualFunc(m.Transform, f.Transform, sameTransform) {
		return nil, plan.Wrong("Init", "model: %s", otherTransform(plain, f.UserTransforms()))
	}
	f.given = &given{model: m, at: make([]int, m.K())}
	some := m
	if !f.Mix.Uniform && !f.Mix.Chain {
		some, _ = m.Present()
	}
	f.Mix.K = some.K()
	for c, next := 0, 0; c < m.K(); c++ {
		if f.given.at[c] = -1; some == m || m.Weights[c] > 0 {
			f.given.at[c] = next
			next++
		}
	}
	theta, err := f.Theta(some, false)
	if err == nil {
		inside := slices.Clone(theta)
		f.Mix.Project(inside)
		f.given.raised = !slices.Equal(inside, theta) || f.otherDof(some, theta)
	}
	if err != nil || f.given.raised {
		if theta, err = f.Theta(some, true); err != nil {
			return nil, plan.Wrong("Init", "model: %s", err)
		}
		f.Mix.Project(theta)
	}
	f.given.theta = theta
	return theta, nil
}

// otherDof reports whether the fit cannot begin at the degrees of freedom of a model: they are beyond its limits, tied or given.
func (f *Fit) otherDof(m *model.Model, theta []float64) bool {
	t, ok := f.Mix.Family.(family.Student)
	return ok && !slices.EqualFunc(t.Dofs(f.Mix.Components(theta), f.Mix.K), m.Dof, func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*b })
}

// Theta returns the parameters of a model of the fit's kind in the fit's coordinates. raise tells to raise covariances below the floor of
// variances to it; else they stay as they are.
func (f *Fit) Theta(m *model.Model, raise bool) ([]float64, error) {
	theta := make([]float64, f.Mix.Params())
	if f.Mix.Chain {
		f.Mix.SetChainProbabilities(theta, m.Initial, slices.Concat(m.Transitions...))
	} else if f.Mix.Family.Density() && !f.Mix.Uniform {
		for c, w := range m.Weights {
			theta[c] = max(math.Log(w), mixture.MinLogWeight)
		}
	}
	if m.Noise != nil {
		f.Mix.SetNoise(theta, m.Noise.Weight)
	} else {
		f.Mix.SetNoise(theta, startNoise)
	}
	return theta, NaturalOf(m).Fill(f.Mix.Family, f.Mix.Components(theta), f.Origin, raise)
}

// unmoved returns the model that the fit started from, in the user's units, and its order of components, if theta is still that start;
// else ok is false. The way into coordinates and back would change the last bits of its numbers. A chain's shares of rows are found by a pass.
func (f *Fit) unmoved(theta []float64) (m *model.Model, order []int, ok bool) {
	if f.given == nil || f.Mix.Chain || f.given.raised || !slices.Equal(theta, f.given.theta) {
		return nil, nil, false
	}
	g := f.given.model
	if (g.Noise == nil) != (f.Noise == nil) {
		return nil, nil, false
	}
	m = &model.Model{Kind: g.Kind, Shape: g.Shape, Columns: g.Columns, Types: g.Types, Levels: g.Levels, Rates: g.Rates, Weights: g.Weights, Means: g.Means,
		Covariance: g.Covariance, Loadings: g.Loadings, Uniquenesses: g.Uniquenesses, Dof: g.Dof, Probabilities: g.Probabilities, Transform: g.Transform}
	if f.Mix.Uniform && slices.Min(m.Weights) < slices.Max(m.Weights) {
		m.Weights = slices.Repeat([]float64{1 / float64(m.K())}, m.K())
	}
	if g.Noise != nil {
		m.Noise = f.noise(g.Noise.Weight)
	}
	f.ToUserUnits(m)
	return m, f.given.at, true
}

// addAbsent adds to a model the components that took no part in the fit, and returns the order with -1 for each. They are as they were
// given, except that they take over what all covariances share.
func (f *Fit) addAbsent(m *model.Model, order []int) []int {
	if f.given == nil {
		return order
	}
	g := f.given.model
	for c, at := range f.given.at {
		if at >= 0 {
			continue
		}
		order, m.Weights = append(order, -1), append(m.Weights, 0)
		if g.Means != nil {
			m.Means = append(m.Means, g.Means[c])
		}
		if g.Probabilities != nil {
			m.Probabilities = append(m.Probabilities, g.Probabilities[c])
		}
		if g.Rates != nil {
			m.Rates = append(m.Rates, g.Rates[c])
		}
		if g.Covariance != nil && !m.Shape.Shared() {
			m.Covariance = append(m.Covariance, f.shaped(m, g.Covariance[c]))
		}
		if g.Loadings != nil {
			m.Loadings = append(m.Loadings, g.Loadings[c])
			if !m.Shape.SharesUniquenesses() {
				m.Uniquenesses = append(m.Uniquenesses, g.Uniquenesses[c])
			}
		}
		if g.Dof != nil {
			m.Dof = append(m.Dof, g.Dof[c])
		}
	}
	return order
}

// Absent returns how many components of the given model have weight 0 and take no part.
func (f *Fit) Absent() (n int) {
	if f.given != nil {
		for _, at := range f.given.at {
			if at < 0 {
				n++
			}
		}
	}
	return n
}

// sameAxes is the difference up to which coordinates of two principal axes are the same: their last digits depend on the vector instructions of
// the processor.
const sameAxes = 1e-9

// sameTransform reports whether a and b do the same to rows, but for rounding of axes.
func sameTransform(a, b model.Transform) bool {
	near := func(x, y []float64) bool {
		return slices.EqualFunc(x, y, func(v, w float64) bool { return math.Abs(v-w) <= sameAxes })
	}
	return a.Kind == b.Kind && slices.Equal(a.Center, b.Center) && slices.Equal(a.Scale, b.Scale) &&
		(a.Threshold == nil) == (b.Threshold == nil) && (a.Threshold == nil || *a.Threshold == *b.Threshold) &&
		slices.Equal(a.Mean, b.Mean) && slices.EqualFunc(a.Components, b.Components, near)
}

// otherTransform says how the transforms of a model differ from those of a fit.
func otherTransform(own, fit []model.Transform) string {
	kinds := func(ts []model.Transform) string {
		if len(ts) == 0 {
			return "takes the rows as they are"
		}
		var words []string
		for _, t := range ts {
			word := t.Kind
			if t.Threshold != nil {
				word += " " + text.Significant(*t.Threshold, 0)
			}
			if t.Components != nil {
				word += " " + strconv.Itoa(len(t.Components))
			}
			words = append(words, word)
		}
		return "transforms them by " + strings.Join(words, ", ")
	}
	if a, b := kinds(own), kinds(fit); a != b {
		return "it scales, projects or binarizes its rows in another way than this fit: it " + a + ", and the fit " + b
	}
	return "it scales, projects or binarizes its rows in another way than this fit: by numbers that were made from other rows"
}

// sameChanges reports whether changes of columns in one order are the same.
func sameChanges(a, b *data.Changes) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.Equal(a.Kinds(), b.Kinds()) && slices.Equal(a.From(), b.From())
}

package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/text"
)

// Posterior is what variational Bayes found: a distribution q of the weights, means and precisions of a Gaussian mixture, whose factors are
// told by the numbers below (Bishop 2006, section 10.2). It has all components that the fit was allowed, the largest first. The first of
// them, those in use, are the components of the model, with the expected weights, over their sum, the means, and the inverse of the expected
// precisions, Scale / Dof, for covariances.
//
// The mean of component c given its precision P is N(Means[c], (MeanPrecision[c] P)^-1). P is Wishart with Dof degrees of freedom and the
// expectation Dof Scale^-1; with diagonal covariances each column has a gamma distribution by itself, of shape Dof/2 and rate
// Scale_j/2, with spherical ones there is one for all columns.
type Posterior struct {
	Shape         family.Shape // that of the model: one of the first six
	Concentration []float64    // of the Dirichlet distribution of the weights; nil where they are sticks
	Sticks        [][2]float64 // of the beta distribution of the share that each component takes of what those before it have left
	MeanPrecision []float64    // rows that each mean counts
	Means         [][]float64  // after the model's transform
	Dof           []float64    // one where all components share a covariance
	Scale         [][]float64  // laid out as Model.Covariance, and as many
}

// K returns the number of components, those that are not in use among them.
func (p *Posterior) K() int { return len(p.MeanPrecision) }

// dof returns the degrees of freedom of component c.
func (p *Posterior) dof(c int) float64 { return p.Dof[min(c, len(p.Dof)-1)] }

// scale returns the scale of component c.
func (p *Posterior) scale(c int) []float64 { return p.Scale[min(c, len(p.Scale)-1)] }

// Shares returns the expected weight of each component, over their sum: of a stick that is broken some is left after the last component.
func (p *Posterior) Shares() []float64 {
	shares, left, sum := slices.Clone(p.Concentration), 1.0, 0.0
	for _, s := range p.Sticks {
		whole := s[0] + s[1]
		shares = append(shares, left*s[0]/whole)
		left *= s[1] / whole
	}
	for _, v := range shares {
		sum += v
	}
	for c := range shares {
		shares[c] /= sum
	}
	return shares
}

// offsets returns for each component what its expected log density, with its weight, is above the log density of a row by the inverse of the
// expected precision.
func (p *Posterior) offsets(d int) []float64 {
	logs := mixture.ExpectedSticks(p.Sticks)
	if p.Sticks == nil {
		logs = mixture.ExpectedDirichlet(p.Concentration)
	}
	f := family.Bayes{Gaussian: family.Gaussian{Shape: p.Shape}}
	for c := range logs {
		logs[c] += f.Offset(p.MeanPrecision[c], p.dof(c), d)
	}
	return logs
}

// whole checks that all parts are there, of components on d variables.
func (p *Posterior) whole(d int) error {
	shape := p.Shape
	k, count := p.K(), shape.Count(p.K())
	size := shape.Size(d)
	if shape.Matrix() {
		size = d * d
	}
	weights := len(p.Concentration) + len(p.Sticks)
	switch {
	case shape.Parsimonious():
		return fmt.Errorf("a model of %s covariances cannot have one", shape)
	case k == 0:
		return errors.New("mean_precision: there must be at least one")
	case p.Concentration != nil && p.Sticks != nil || weights != k:
		return fmt.Errorf("concentration: there %s %d for %d components", text.Form(weights, "is", "are"), weights, k)
	case len(p.Means) != k:
		return fmt.Errorf("means: there %s %d for %d components", text.Form(len(p.Means), "is", "are"), len(p.Means), k)
	case len(p.Dof) != count:
		return fmt.Errorf("dof: there %s %d; there must be %d", text.Form(len(p.Dof), "is", "are"), len(p.Dof), count)
	case len(p.Scale) != count:
		return fmt.Errorf("scale: there %s %d; there must be %d", text.Form(len(p.Scale), "is", "are"), len(p.Scale), count)
	}
	for c, row := range p.Means {
		if len(row) != d {
			return fmt.Errorf("means: row %d has %d numbers; there must be %d", c+1, len(row), d)
		}
	}
	for c, s := range p.Scale {
		if len(s) != size {
			return fmt.Errorf("scale: number %d has %d numbers; there must be %d", c+1, len(s), size)
		}
	}
	return nil
}

// ofPosterior is how far parameters of a model may be from what its posterior says, relative to what they are measured by.
const ofPosterior = 1e-6

// wholePosterior checks that the model can have its posterior, if there is one, and that all parts of that are there.
func (m *Model) wholePosterior() error {
	p := m.Posterior
	switch {
	case p == nil:
		return nil
	case m.kind() != kind.Gaussian:
		return fmt.Errorf("%s cannot have one", m.called())
	case m.Noise != nil:
		return errors.New("a model with noise cannot have one")
	}
	if err := p.whole(m.dims()); err != nil {
		return err
	}
	switch {
	case p.Shape != m.Shape:
		return fmt.Errorf("it is one of %s covariances, but the model has %s ones", p.Shape, m.Shape)
	case m.K() > p.K():
		return fmt.Errorf("it has %d components, but the model has %d", p.K(), m.K())
	}
	return nil
}

// checkPosterior refuses a posterior that is no distribution, or that the parameters of the model do not belong to.
func (m *Model) checkPosterior() error {
	if m.Posterior == nil {
		return nil
	}
	err := m.wholePosterior()
	if err == nil {
		err = m.Posterior.check(m.dims())
	}
	if err == nil {
		err = m.matchesPosterior()
	}
	if err != nil {
		return fmt.Errorf("posterior: %w", err)
	}
	return nil
}

// check refuses numbers that are those of no distribution, on d variables.
func (p *Posterior) check(d int) error {
	least := 0.0
	if p.Shape.Matrix() {
		least = float64(d - 1)
	}
	for c, s := range p.Sticks {
		if !(s[0] > 0 && s[1] > 0 && s[0]+s[1] <= math.MaxFloat64) {
			return fmt.Errorf("concentration: number %d is %v and %v; both must be above 0", c+1, s[0], s[1])
		}
	}
	for _, list := range []struct {
		key   string
		v     []float64
		least float64
	}{{"concentration", p.Concentration, 0}, {"mean_precision", p.MeanPrecision, 0}, {"dof", p.Dof, least}} {
		for c, v := range list.v {
			if !(v > list.least && v <= math.MaxFloat64) {
				return fmt.Errorf("%s: number %d is %v; it must be above %v", list.key, c+1, v, list.least)
			}
		}
	}
	for c, s := range p.Scale {
		if err := checkCovariance(p.Shape, s, d); err != nil {
			return fmt.Errorf("scale: number %d %w", c+1, err)
		}
	}
	return nil
}

// matchesPosterior wants weights, means and covariances to be those of the first components of the posterior.
func (m *Model) matchesPosterior() error {
	p, sum := m.Posterior, 0.0
	shares := p.Shares()[:m.K()]
	for _, v := range shares {
		sum += v
	}
	params := m.parameters()
	for c, w := range m.Weights {
		if !(math.Abs(w-shares[c]/sum) <= ofPosterior) {
			return fmt.Errorf("weight %d is %v, but it expects %v", c+1, w, shares[c]/sum)
		}
		for j, v := range m.Means[c] {
			if !(math.Abs(v-p.Means[c][j]) <= ofPosterior*math.Sqrt(params.Variance(c, j))) {
				return fmt.Errorf("mean %d of the model is another than there", c+1)
			}
		}
	}
	d := m.dims()
	for c, cov := range m.Covariance {
		for i, v := range cov {
			j, l := i, i
			if m.Shape.Matrix() {
				j, l = i/d, i%d
			}
			if unit := math.Sqrt(params.Variance(c, j) * params.Variance(c, l)); !(math.Abs(v-p.scale(c)[i]/p.dof(c)) <= ofPosterior*unit) {
				return fmt.Errorf("covariance %d of the model is not scale over dof", c+1)
			}
		}
	}
	return nil
}

// arranged returns the posterior of columns in the order of the places.
func (p *Posterior) arranged(at []int) *Posterior {
	if p == nil {
		return nil
	}
	own := *p
	own.Means, own.Scale = eachPicked(p.Means, at), make([][]float64, len(p.Scale))
	for c, s := range p.Scale {
		own.Scale[c] = arrangedCovariance(s, at)
	}
	return &own
}

package model

import (
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
)

// Component returns component c of the model in the user's units, without what only a fit knows.
func (m *Model) Component(c int) Component {
	if changes := m.Changes(); changes != nil {
		return m.changedComponent(changes, c)
	}
	x := Component{Label: c + 1}
	if m.HasDensity() {
		x.Weight = m.Weights[c]
	}
	if m.IsChain() {
		x.Stay = m.stay(c)
	}
	kd := m.kind()
	switch {
	case kd.Parted:
		for _, p := range m.Parts() {
			own := p.Component(c)
			if p.kind().Type() == data.Count {
				x.Rate = own.Mean
				continue
			}
			if own.Mean != nil {
				x.Mean, x.Covariance = own.Mean, own.Covariance
			} else {
				x.Probability = own.Probability
			}
		}
		return x
	case kd.Cells.Levels:
		x.Probability = m.byLevel(c)
	case kd.Location.Told == kind.Probability:
		x.Probability = m.Probabilities[c]
	case kd.Location.Told == kind.Median:
		x.Median = m.UserMean(c)
	default:
		x.Mean = m.UserMean(c)
	}
	switch {
	case kd.Tails:
		x.setTails(m, c)
	case m.Shape.Factors() > 0:
		x.setFactors(m, c)
	case kd.Shaped:
		x.Covariance = m.userCovariance(c)
	}
	return x
}

// UserMean returns the mean of component c in the user's units: d numbers, after principal components the point of their
// plane. A mean on another scale is told by the inverse of the scale: that of a logarithm is the median of the component.
func (m *Model) UserMean(c int) []float64 {
	if changes := m.Changes(); changes != nil {
		return m.userNumbers(changes, c)
	}
	mean := slices.Clone(m.Means[c])
	for _, t := range slices.Backward(m.Transform) {
		mean = t.undo(mean)
	}
	return mean
}

// userCovariance returns the covariance of component c in the user's units: a matrix, d variances, or one number
// where the shape has one and no transform gave the columns scales of their own. Of columns on another scale it is that on the scale. After principal components it is that of
// the components: over all columns it would be a singular matrix of another shape.
func (m *Model) userCovariance(c int) *Covariance {
	if m.Shape.Factors() > 0 {
		return factoredCovariance(m.userFactors(c))
	}
	shape, cov := m.userVariances(c)
	return newCovariance(shape, cov, m.dims())
}

// userVariances returns the numbers of userCovariance, and the shape that they have there.
func (m *Model) userVariances(c int) (family.Shape, []float64) {
	m = m.Changed()
	d := m.dims()
	cov := slices.Clone(m.Covariance[min(c, len(m.Covariance)-1)])
	shape := m.Shape
	if m.PCA() != nil {
		return shape, cov
	}
	if len(m.Transform) > 0 && shape.Size(d) == 1 && !shape.Matrix() {
		cov, shape = slices.Repeat(cov, d), family.Diag
	}
	for _, t := range m.Transform {
		for i := range cov {
			if shape.Matrix() {
				cov[i] *= t.Scale[i/d] * t.Scale[i%d]
			} else {
				cov[i] *= t.Scale[i] * t.Scale[i]
			}
		}
	}
	return shape, cov
}

// Component is one group, in the user's units.
type Component struct {
	Label        int         `json:"label"` // from 1, the heaviest first
	Rows         int64       `json:"rows"`  // rows that carry the label
	Weight       float64     `json:"weight"`
	Mean         []float64   `json:"mean,omitempty"`         // of the cells of each column, where components have means
	Covariance   *Covariance `json:"covariance,omitempty"`   // gmm: a matrix, d variances or one number; after --pca that of the components
	Scale        *Covariance `json:"scale,omitempty"`        // t: the scale matrix, laid out like the covariance, which is this times dof/(dof-2) and null where dof is 2 or less
	Dof          *float64    `json:"dof,omitempty"`          // t: degrees of freedom
	Factors      int         `json:"factors,omitempty"`      // gmm with factors: how many; the covariance, of which JSON holds the parts alone, is then the loadings times their transpose plus the uniquenesses
	Loadings     [][]float64 `json:"loadings,omitempty"`     // gmm with factors: of each variable one a factor
	Uniquenesses any         `json:"uniquenesses,omitempty"` // gmm with factors: of each variable, or of ppca the one of all
	Gaussian     bool        `json:"gaussian,omitempty"`     // t: the degrees of freedom are at their upper limit, 1000, where the component counts as Gaussian
	Median       []float64   `json:"median,omitempty"`       // kmedians
	Probability  any         `json:"probability,omitempty"`  // of bits: d numbers; of levels: for each column one a level
	Rate         []float64   `json:"rate,omitempty"`         // mixed: of the columns of counts; mean and covariance are then of the numbers, probability of the categories
	Stay         *float64    `json:"stay,omitempty"`         // hmm: the mean number of rows that a stay in the state lasts, 1/(1 - A_cc); absent for a state that is never left
	AtFloor      bool        `json:"at_floor"`
}

// byLevel returns the probabilities of component c of a model of levels by column and level. It shares memory.
func (m *Model) byLevel(c int) [][]float64 {
	rest, columns := m.Probabilities[c], make([][]float64, len(m.Levels))
	for j, names := range m.Levels {
		columns[j], rest = rest[:len(names)], rest[len(names):]
	}
	return columns
}

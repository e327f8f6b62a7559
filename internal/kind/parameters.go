package kind

import (
	"fmt"
	"slices"

	"github.com/latent-go/latent/internal/family"
)

// Parameters are the natural parameters of the components of a model, as its file holds them.
type Parameters struct {
	Kind          *Kind
	Shape         family.Shape   // of covariances
	Levels        [][]string     // names of the levels of each column
	D             int            // variables, after the model's transform
	Weights       []float64      // k mixing weights; nil without densities
	NoiseWeight   float64        // that of noise, which with the others makes 1
	Means         [][]float64    // k x d
	Covariance    [][]float64    // k covariances, or the one that all share: d x d row-major, d variances or one number; of a kind with tails scales
	Loadings      [][]float64    // of a shape with factors, in place of covariances: k times d x q, row-major
	Uniquenesses  [][]float64    // of such a shape: k times d numbers, or one; where all components share them those once
	Dof           []float64      // of a kind with tails: k degrees of freedom
	Probabilities [][]float64    // k rows of probabilities
	Parts         []ParametersOf // of a kind that is parted, in the order of its parts; the other parameters are then nil but for the weights
}

// ParametersOf are the parameters of some of the columns.
type ParametersOf struct {
	*Parameters
	Columns []int
}

// Locations returns the rows of numbers that say where the components are: means, centres or probabilities.
func (p *Parameters) Locations() *[][]float64 {
	if p.Kind.Location.Told == Probability {
		return &p.Probabilities
	}
	return &p.Means
}

// K returns the number of components.
func (p *Parameters) K() int {
	if p.Kind.Mixture {
		return len(p.Weights)
	}
	return len(*p.Locations())
}

// Family returns the family of the components. Variances, one a variable, are what floors are measured by; 1 where nil. Covariances
// are taken as they stand, whatever they share.
func (p *Parameters) Family(variances []float64) family.Family {
	if variances == nil {
		variances = slices.Repeat([]float64{1}, p.D)
	}
	if p.Kind.Parted {
		m := family.Mixed{}
		for _, own := range p.Parts {
			m.Parts = append(m.Parts, family.Part{Family: own.Family(Picked(variances, own.Columns)), Columns: own.Columns})
		}
		return m
	}
	f := p.Kind.Family(Variables{Shape: p.Shape, Levels: Counts(p.Levels), Var: variances, Dof: family.GivenDof, GivenDof: p.Dof})
	switch f := f.(type) {
	case family.Parsimonious:
		return f.Plain()
	case family.Student:
		return f.Plain()
	}
	return f
}

// Counts returns the number of levels of each column; nil where there are none.
func Counts(levels [][]string) []int {
	if levels == nil {
		return nil
	}
	n := make([]int, len(levels))
	for j, names := range levels {
		n[j] = len(names)
	}
	return n
}

// Fill sets comp to the parameters of the components of a family, relative to origin. raise says that covariances below
// the floor are raised to it; else they are taken as they stand, and one that is not positive definite is an error.
func (p *Parameters) Fill(fam family.Family, comp, origin []float64, raise bool) error {
	k, d := p.K(), p.D
	if m, ok := fam.(family.Mixed); ok {
		i, err := 0, error(nil)
		m.Each(k, func(part *family.Part, from, to int) {
			if e := p.Parts[i].Fill(part.Family, comp[from:to], Picked(origin, part.Columns), raise); err == nil {
				err = e
			}
			i++
		})
		return err
	}
	if fam, ok := fam.(family.Natural); ok {
		fam.FromNatural(comp, slices.Concat(*p.Locations()...), k)
		return nil
	}
	for c, mean := range p.Means {
		for j, v := range mean {
			comp[c*d+j] = v - origin[j]
		}
	}
	if wide, ok := family.WideOf(fam); ok {
		for c, l := range p.Loadings {
			wide.SetFactors(comp, l, p.Unique(c), c, k, d)
		}
		if raise {
			wide.Project(comp, k, d)
		}
		return nil
	}
	if t, ok := fam.(family.Student); ok {
		t.SetDofs(comp, p.Dof, k)
		fam, comp = t.Base(), t.Scales(comp, k)
	}
	switch fam := fam.(type) {
	case family.Gaussian:
		for c, cov := range p.Covariance {
			u, q := fam.ScaleOf(comp, c, k, d), Pack(fam.Shape, cov, d)
			if raise {
				fam.ScaleAbove(u, q, d)
			} else if !fam.Scale(u, q, d) {
				return p.notPositive(c)
			}
		}
	case family.Parsimonious:
		own, err := p.Scales(fam.Plain())
		if err != nil {
			return err
		}
		copy(own, comp[:k*d])
		fam.Restrict(comp, own, p.Weights, k, d)
	}
	return nil
}

func (p *Parameters) notPositive(c int) error {
	return fmt.Errorf("%s: number %d is not positive definite", p.Kind.Scales, c+1)
}

// Scales returns the parameters of a family whose covariances are each by itself: those of p, with means of 0.
func (p *Parameters) Scales(g family.Gaussian) ([]float64, error) {
	k, d := p.K(), p.D
	own := make([]float64, g.Params(k, d))
	for c, cov := range p.Covariance {
		if !g.Scale(g.ScaleOf(own, c, k, d), Pack(g.Shape, cov, d), d) {
			return nil, p.notPositive(c)
		}
	}
	return own, nil
}

// Spread returns a variance a variable: within plus between the components, or 1 where there is none.
func (p *Parameters) Spread() []float64 {
	if p.Kind.Parted {
		return p.byColumn((*Parameters).Spread)
	}
	mean, v := p.Centre(), make([]float64, p.D)
	for c, mu := range p.Means {
		for j, x := range mu {
			v[j] += p.share(c) * (x - mean[j]) * (x - mean[j])
			if p.Kind.Mixture {
				v[j] += p.share(c) * p.Variance(c, j)
			}
		}
	}
	for j := range v {
		if !(v[j] > 0) {
			v[j] = 1
		}
	}
	return v
}

// Centre returns the mean of all components.
func (p *Parameters) Centre() []float64 {
	if p.Kind.Parted {
		return p.byColumn((*Parameters).Centre)
	}
	mean := make([]float64, p.D)
	for c, mu := range p.Means {
		for j, x := range mu {
			mean[j] += p.share(c) * x
		}
	}
	return mean
}

// byColumn returns what of gives for each column of the parts that are read relative to an origin; 0 for the others.
func (p *Parameters) byColumn(of func(*Parameters) []float64) []float64 {
	all := make([]float64, p.D)
	for _, own := range p.Parts {
		if !own.Kind.Centred() {
			continue
		}
		for i, v := range of(own.Parameters) {
			all[own.Columns[i]] = v
		}
	}
	return all
}

func (p *Parameters) share(c int) float64 {
	if p.Kind.Mixture {
		if p.NoiseWeight > 0 && p.NoiseWeight < 1 {
			return p.Weights[c] / (1 - p.NoiseWeight)
		}
		return p.Weights[c]
	}
	return 1 / float64(p.K())
}

// Variance returns the variance of variable j in component c of a kind with covariances.
func (p *Parameters) Variance(c, j int) float64 {
	if q := p.Shape.Factors(); q > 0 {
		u := p.Uniquenesses[min(c, len(p.Uniquenesses)-1)]
		v := u[min(j, len(u)-1)]
		for _, l := range p.Loadings[c][j*q : j*q+q] {
			v += l * l
		}
		return v
	}
	cov := p.Covariance[min(c, len(p.Covariance)-1)]
	switch {
	case len(cov) == 1:
		return cov[0]
	case p.Shape.Matrix():
		return cov[j*p.D+j]
	}
	return cov[j]
}

// Present returns the parameters of the components that have a weight above 0, and their places among all; p itself where that
// is all of them, and for a kind without weights. They share memory with p.
func (p *Parameters) Present() (some *Parameters, at []int) {
	if !slices.Contains(p.Weights, 0) {
		return p, nil
	}
	own := *p
	own.Weights, own.Means, own.Covariance, own.Loadings, own.Dof, own.Probabilities, own.Parts = nil, nil, nil, nil, nil, nil, slices.Clone(p.Parts)
	own.Uniquenesses = nil
	for i, part := range own.Parts {
		own.Parts[i].Parameters, _ = part.Present()
	}
	for c, w := range p.Weights {
		if w == 0 {
			continue
		}
		at = append(at, c)
		own.Weights = append(own.Weights, w)
		if p.Kind.Parted {
			continue
		}
		*own.Locations() = append(*own.Locations(), (*p.Locations())[c])
		switch {
		case p.Loadings != nil:
			own.Loadings, own.Uniquenesses = append(own.Loadings, p.Loadings[c]), append(own.Uniquenesses, p.Uniquenesses[min(c, len(p.Uniquenesses)-1)])
		case p.Kind.Shaped && !p.Shape.Shared():
			own.Covariance = append(own.Covariance, p.Covariance[c])
		}
		if p.Kind.Tails {
			own.Dof = append(own.Dof, p.Dof[c])
		}
	}
	if !p.Kind.Parted && p.Kind.Shaped && p.Shape.Shared() {
		own.Covariance = p.Covariance
	}
	if p.Loadings != nil && p.Shape.SharesUniquenesses() {
		own.Uniquenesses = p.Uniquenesses
	}
	return &own, at
}

// Unique returns the d uniquenesses of component c of a shape with factors.
func (p *Parameters) Unique(c int) []float64 {
	u := p.Uniquenesses[min(c, len(p.Uniquenesses)-1)]
	if len(u) < p.D {
		u = slices.Repeat(u[:1], p.D)
	}
	return u
}

// Pack returns the free half of a covariance: the lower triangle by rows of a d x d matrix, and others as they are.
func Pack(s family.Shape, cov []float64, d int) []float64 {
	if !s.Matrix() {
		return slices.Clone(cov)
	}
	q := make([]float64, 0, d*(d+1)/2)
	for j := range d {
		q = append(q, cov[j*d:j*d+j+1]...)
	}
	return q
}

// Unpack is the inverse of Pack.
func Unpack(s family.Shape, q []float64, d int) []float64 {
	if !s.Matrix() {
		return q
	}
	cov := make([]float64, d*d)
	for j := range d {
		for l := range j + 1 {
			v := q[j*(j+1)/2+l]
			cov[j*d+l], cov[l*d+j] = v, v
		}
	}
	return cov
}

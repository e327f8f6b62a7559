package kind

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/internal/family"
)

// ofShape is how far an entry of a covariance may be from the nearest covariances of its model's shape, in standard
// deviations of both columns.
const ofShape = 1e-6

// roundingOfShape, times the condition number of a correlation matrix, is how far rounding of its entries to float64 can take
// what it shares with others, its determinant above all: a multiple of the distance from 1 to the next number.
const roundingOfShape = 16 * 0x1p-52

// condition returns the condition number of the correlations of component c; 1 where there are none.
func (p *Parameters) condition(c int) float64 {
	d := p.D
	if !p.Shape.Matrix() || p.Loadings != nil {
		return 1
	}
	corr := mat.NewSymDense(d, nil)
	for j := range d {
		for l := range j + 1 {
			corr.SetSym(j, l, p.Covariance[c][j*d+l]/math.Sqrt(p.Variance(c, j))/math.Sqrt(p.Variance(c, l)))
		}
	}
	var factor mat.Cholesky
	if !factor.Factorize(corr) {
		return 1 / roundingOfShape // nothing is left of what it shares
	}
	return factor.Cond()
}

// CheckShape wants covariances that share what the shape says.
func (p *Parameters) CheckShape() error {
	if !p.Shape.Parsimonious() {
		return nil
	}
	k, d := p.K(), p.D
	fam := family.Parsimonious{Shape: p.Shape, Var: make([]float64, d)}
	weight := make([]float64, k)
	for c := range k {
		weight[c] = 1
		for j := range d {
			if v := 1e-4 * p.Variance(c, j); c == 0 || v < fam.Var[j] { // far below any floor that a fit has
				fam.Var[j] = v
			}
		}
	}
	g := fam.Plain()
	own, err := p.Scales(g)
	if err != nil {
		return err
	}
	comp, near := make([]float64, fam.Params(k, d)), make([]float64, len(own))
	fam.Restrict(comp, own, weight, k, d)
	fam.Expand(near, comp, k, d)
	q := make([]float64, g.Shape.Size(d))
	slack := ofShape
	for c := range p.Covariance {
		slack = max(slack, roundingOfShape*p.condition(c))
	}
	for c, cov := range p.Covariance {
		g.Covariance(q, g.ScaleOf(near, c, k, d), d)
		for i, v := range Unpack(g.Shape, q, d) {
			j, l := i, i
			if g.Shape.Matrix() {
				j, l = i/d, i%d
			}
			if unit := math.Sqrt(p.Variance(c, j)) * math.Sqrt(p.Variance(c, l)); !(math.Abs(cov[i]-v) <= slack*unit) {
				return fmt.Errorf("%s: they are not %s (%s): number %d holds %v in row %d, column %d, where the nearest such have %v", p.Kind.Scales, p.Shape, p.Shape.Mclust(), c+1, cov[i], j+1, l+1, v)
			}
		}
	}
	return nil
}

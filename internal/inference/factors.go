package inference

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/model"
)

// holdRotations adds to the information of the parameters keep what makes rotations of factors as sure as other directions. The rows tell nothing of
// them, so that the standard error of what no rotation changes stays as it is, and without this the information has no inverse.
func (f *Fit) holdRotations(info *mat.SymDense, keep []int, theta []float64) {
	fam, ok := family.WideOf(f.Mix.Family)
	if !ok {
		return
	}
	k, d, comp := f.Mix.K, f.Mix.D, f.Mix.Components(theta)
	place := make(map[int]int, len(keep))
	for i, at := range keep {
		place[at-(len(theta)-len(comp))] = i
	}
	weights := f.Mix.LogWeights(nil, theta)
	fam.Rotations(comp, k, d, func(c, from int, move, dual []float64) {
		v := mat.NewVecDense(len(keep), nil)
		for i, x := range dual {
			if at, ok := place[from+i]; ok {
				v.SetVec(at, x)
			}
		}
		if size := floats.Dot(move, dual); size > 0 {
			info.SymRankOne(info, math.Exp(weights[c])*f.Survey.W/size, v)
		}
	})
}

// factors sets the errors of means, and of loadings in their standard position and uniquenesses.
func (n *natural) factors(e *model.StandardErrors, fam family.WideFactors) {
	k, d, q, comp, unit := n.part.K, n.part.D, fam.Shape.Factors(), n.components(), n.f.unitSizes()
	n.means(e, len(n.f.Names))
	for _, c := range n.order {
		loadings, unique := unknown(d*q), unknown(d)
		if fam.Shape.OneUniqueness() && (len(n.f.UserTransforms()) == 0 || model.Principal(n.f.Transform) != nil) {
			unique = unknown(1)
		}
		if c >= 0 {
			u := fam.UniquenessesOf(comp, c, k, d)
			for j := range unique {
				if at := n.at + fam.Unique(c, j, k, d); n.held == nil || !n.held[at] {
					unique[j] = unit[j] * unit[j] * n.u.StandardError(at, []float64{u[j]})
				}
			}
			fam.PositionGrad(comp, c, k, d, func(j, f int, grad []float64) {
				loadings[j*q+f] = unit[j] * n.u.StandardError(n.at, grad)
			})
		}
		e.Loadings, e.Uniquenesses = append(e.Loadings, loadings), append(e.Uniquenesses, unique)
	}
}

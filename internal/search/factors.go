package search

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/seed"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// setFactors gives the model loadings, turned to their standard position, and uniquenesses of the components comp in such an order.
func setFactors(m *model.Model, fam family.WideFactors, comp []float64, order []int, k, d int) {
	m.Shape = fam.Shape
	for _, c := range order {
		l, u := slices.Clone(fam.LoadingsOf(comp, c, k, d)), fam.UniquenessesOf(comp, c, k, d)
		family.StandardPosition(l, u)
		m.Loadings = append(m.Loadings, l)
		switch {
		case m.Shape.OneUniqueness():
			m.Uniquenesses = append(m.Uniquenesses, u[:1:1])
		case !m.Shape.SharesUniquenesses() || m.Uniquenesses == nil:
			m.Uniquenesses = append(m.Uniquenesses, u)
		}
	}
}

// heywood names the uniquenesses at their floor, which the certificate leaves out, and warns of them.
func (f *Fit) heywood(r *Result, p *ascent.Point, order []int) {
	fam, ok := family.WideOf(f.Mix.Family)
	if !ok {
		return
	}
	variables := r.Model.Variables()
	for c, from := range order {
		if from < 0 {
			continue
		}
		var names []string
		for _, j := range fam.Heywood(f.Mix.Components(p.Theta), from, f.Mix.K, f.Mix.D) {
			names = append(names, variables[j])
		}
		if names == nil {
			continue
		}
		list := firstTen(names)
		where := fmt.Sprintf(" in %s %d", f.Plan.Part(), c+1)
		if fam.Shape.SharesUniquenesses() {
			where = ""
		}
		r.Certificate.OnEdge = append(r.Certificate.OnEdge, fmt.Sprintf("uniqueness%s: %s", where, list))
		w := model.Warn(model.Heywood, "the factors determine %s%s: no variance is left for %s own (a Heywood case); with fewer factors some may be", list, where, text.Form(len(names), "its", "their"))
		w.Component = c + 1
		if len(names) == 1 {
			w.Column = names[0]
		}
		r.warn(w)
		if fam.Shape.SharesUniquenesses() {
			return
		}
	}
}

// narrowFactors is narrow for covariances with factors.
func (f *Fit) narrowFactors(fam family.WideFactors, p *ascent.Point, few float64) (c, column int) {
	comp, k, d := f.Mix.Components(p.Theta), f.Mix.K, f.Mix.D
	floor, least := f.atFloor(p), make([]float64, d)
	for j, step := range f.grid {
		least[j] = step * step / 12
	}
	for c := range k {
		if p.Weights[c] >= few || floor[c] || fam.Exceeds(comp, least, c, k, d) {
			continue
		}
		u, q := fam.UniquenessesOf(comp, c, k, d), fam.Shape.Factors()
		for j, l := range slices.Collect(slices.Chunk(fam.LoadingsOf(comp, c, k, d), q)) {
			if floats.Dot(l, l)+u[j] < least[j] {
				return c, j
			}
		}
		return c, oblique
	}
	return -1, oblique
}

// startRows is how many rows of a component at most its loadings begin with.
const startRows = 200

// withFactors returns theta, a start from points with such labels, with loadings of those points where a table is wide; elsewhere they are in it.
func (f *Fit) withFactors(theta []float64, p *seed.Points, labels []int32) []float64 {
	fam, ok := f.Mix.Family.(family.WideFactors)
	if !ok {
		return theta
	}
	of := make([][]int, f.Mix.K)
	for i, c := range labels {
		if p.W[i] > 0 {
			of[c] = append(of[c], i)
		}
	}
	for c, rows := range of {
		n := min(len(rows), startRows)
		x, w := make([]float64, 0, n*p.D), make([]float64, 0, n)
		for i := range n {
			at := rows[i*len(rows)/n]
			x, w = append(x, p.At(at)...), append(w, p.W[at])
		}
		fam.StartFrom(f.Mix.Components(theta), x, w, c, f.Mix.K, p.D)
	}
	return theta
}

package search

import (
	"fmt"
	"slices"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/seed"
)

// Where components have heavy tails, rows far out must not decide where a climb begins: three of them at a distance of a million would take
// all centres of k-means. Methods that measure distances draw from the rows that are not far out; random rows may be any, so that small
// groups far from all others are found. Moments are taken over the rows of a group that are not far out in it.

// central returns the points that k-means may be led by, and the same as near has them: all but those far out, where components have tails.
func (f *Fit) central(p, near *seed.Points) (own, ownNear *seed.Points) {
	if !f.Plan.Kind.Tails {
		return p, near
	}
	keep := near.Central()
	if len(keep) < f.Plan.K {
		return p, near
	}
	return p.Some(keep), near.Some(keep)
}

// centralIn returns the points that are not far out in the group of their label, with their labels, where components have tails.
func (f *Fit) centralIn(p *seed.Points, labels []int32) (*seed.Points, []int32) {
	if !f.Plan.Kind.Tails {
		return p, labels
	}
	groups := make([][]int, f.Mix.K)
	for i, c := range labels {
		groups[c] = append(groups[c], i)
	}
	var keep []int
	for _, rows := range groups {
		if len(rows) == 0 {
			continue
		}
		for _, i := range p.Some(rows).Central() {
			keep = append(keep, rows[i])
		}
	}
	slices.Sort(keep)
	own := make([]int32, len(keep))
	for at, i := range keep {
		own[at] = labels[i]
	}
	return p.Some(keep), own
}

// tailEdges names the degrees of freedom at a limit, which the certificate leaves out: a component at the upper one counts as Gaussian.
func (f *Fit) tailEdges(r *Result, p *ascent.Point, order []int) {
	t, ok := f.Mix.Family.(family.Student)
	if !ok || t.Dof == family.GivenDof {
		return
	}
	dof := t.Dofs(f.Mix.Components(p.Theta), f.Mix.K)
	for c, from := range order {
		if from < 0 {
			continue
		}
		name := ""
		switch dof[from] {
		case family.MostDof:
			name = "degrees of freedom%s: Gaussian"
		case family.LeastDof:
			name = "degrees of freedom%s: at the lower limit"
		default:
			continue
		}
		if t.Dof == family.TiedDof {
			r.Certificate.OnEdge = append(r.Certificate.OnEdge, fmt.Sprintf(name, ""))
			return
		}
		r.Certificate.OnEdge = append(r.Certificate.OnEdge, fmt.Sprintf(name, fmt.Sprintf(" %d", c+1)))
	}
}

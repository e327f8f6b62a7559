package search

import (
	"slices"

	"github.com/latent-go/latent/internal/ascent"
)

// Compact returns a copy of the outcome without what only further steps need, since the outcomes of many candidates are kept. Winner
// keeps what a result is made of; of the other runs the objectives are left.
func (e *Outcome) Compact() *Outcome {
	c := *e
	c.Runs = slices.Clone(e.Runs)
	for i := range c.Runs {
		if p := c.Runs[i].Last.Point; p != nil {
			c.Runs[i].Last.Point = &ascent.Point{Beta: p.Beta, F: p.F, Prior: p.Prior, LogLik: p.LogLik}
			if i == e.best {
				c.Runs[i].Last.Point = essential(p)
			}
		}
	}
	if e.Moved != nil {
		r := *e.Moved
		r.Last.Point = essential(r.Last.Point)
		c.Moved = &r
	}
	return &c
}

// essential returns the part of a point that a result is made of, without what only further steps need.
func essential(p *ascent.Point) *ascent.Point {
	return &ascent.Point{Beta: p.Beta, F: p.F, Prior: p.Prior, LogLik: p.LogLik, Theta: p.Theta, Weights: p.Weights, Held: p.Held, Flat: p.Flat}
}

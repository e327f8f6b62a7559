package search

import (
	"slices"

	"github.com/latent-go/latent/internal/ascent"
)

// Compact returns the outcome without what only further steps need: the outcomes of many candidates are kept.
func (e *Outcome) Compact() *Outcome {
	l := *e
	l.Runs = slices.Clone(e.Runs)
	for i := range l.Runs {
		if p := l.Runs[i].Last.Point; p != nil {
			l.Runs[i].Last.Point = &ascent.Point{Beta: p.Beta, F: p.F, LogLik: p.LogLik}
			if i == e.best {
				l.Runs[i].Last.Point = essential(p)
			}
		}
	}
	if e.Moved != nil {
		r := *e.Moved
		r.Last.Point = essential(r.Last.Point)
		l.Moved = &r
	}
	return &l
}

// essential returns the part of a point that a result is made of, without what only further steps need.
func essential(p *ascent.Point) *ascent.Point {
	return &ascent.Point{Beta: p.Beta, F: p.F, LogLik: p.LogLik, Theta: p.Theta, Weights: p.Weights, Held: p.Held, Flat: p.Flat}
}

package selection

import (
	"context"
	"slices"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/prepare"
)

// How far the range of K grows where none is given.
const (
	mostGrown     = 30 // components
	mostGrownWide = 15 // on more than plan.AffordedCells
)

// grow returns the candidates that are to be fitted next where the range of K is open. There are three cases. Where the best candidate has
// the most components that were tried, those are candidates with more. Where it has not, they are a look beyond the range, by the best
// shape alone, since a criterion may have a second minimum there. At last, where the range has grown, they are of the winner's K in the
// shapes that were not tried with it.
func (c *choice) grow(ctx context.Context) ([]*contender, error) {
	if !c.plan.OpenRange() || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if c.settle(); c.best == nil {
		return nil, nil
	}
	switch {
	case c.best.K > c.hiBeforeLook && c.hiBeforeLook > 0 && c.looked(): // the look has found a better one: the range reaches there
		c.hiBeforeLook = 0
	case c.looked():
		c.forget()
	}
	more := c.hi < min(c.mostGrown(), c.distinct)
	if c.best.K == c.hi && more {
		return c.further(ctx, c.rising())
	}
	if c.hiBeforeLook < c.hi && more {
		c.hiBeforeLook = c.hi
		return c.further(ctx, []family.Shape{c.best.shape})
	}
	return c.fill(), nil
}

// mostGrown returns the highest K that the range may grow to.
func (c *choice) mostGrown() int {
	most := mostGrown
	if look := c.base.Survey; float64(look.Used)*float64(len(look.Mean)) > plan.AffordedCells {
		most = mostGrownWide
	}
	return most
}

// looked reports whether the last candidates are a look beyond the range.
func (c *choice) looked() bool { return c.hiBeforeLook > 0 && c.hi > c.hiBeforeLook }

// forget removes the candidates of a look beyond the range that has found none better.
func (c *choice) forget() {
	c.all = slices.DeleteFunc(c.all, func(x *contender) bool { return x.K > c.hiBeforeLook })
	c.hi = c.hiBeforeLook
}

// further returns candidates of some shapes with more components than were tried, up to half as many again.
func (c *choice) further(ctx context.Context, shapes []family.Shape) ([]*contender, error) {
	hi, err := min(c.hi+(c.hi+1)/2, c.mostGrown()), error(nil)
	if c.distinct, err = prepare.DistinctRows(ctx, c.base.Source, hi+1); err != nil {
		return nil, err
	}
	return c.affordable(c.add(shapes, min(hi, c.distinct))), nil
}

// fill returns candidates of the winner's K in the shapes that have none with it.
func (c *choice) fill() (fresh []*contender) {
	if c.best.K <= plan.MostTried {
		return nil
	}
	var missing []family.Shape
	for _, x := range c.all {
		tried := func(y *contender) bool { return y.shape == x.shape && y.K == c.best.K }
		if x.K == c.lo && !slices.ContainsFunc(c.all, tried) {
			missing = append(missing, x.shape)
		}
	}
	top := c.hi
	c.hi = c.best.K - 1
	fresh = c.add(missing, c.best.K)
	c.hi = top
	return c.affordable(fresh)
}

// affordable marks the candidates that would take more memory or time than is allowed, and returns all.
func (c *choice) affordable(fresh []*contender) []*contender {
	kept := 0.0
	for _, x := range fresh {
		why := c.large(x, &kept)
		if why == nil {
			why = c.tooLong()
		}
		if why != nil {
			x.large, x.Why = true, "not tried: "+plan.FlagText(why)
		}
	}
	return fresh
}

// rising returns the shapes whose own best candidate has the most components that were tried.
func (c *choice) rising() (shapes []family.Shape) {
	best := map[family.Shape]*contender{}
	for _, x := range c.all {
		if x.sameAs != nil || x.outcome == nil || !c.usable(&x.Candidate) {
			continue
		}
		if y := best[x.shape]; y == nil || c.before(x, y) {
			best[x.shape] = x
		}
	}
	for _, x := range c.all {
		if best[x.shape] == x && x.K == c.hi && !slices.Contains(shapes, x.shape) {
			shapes = append(shapes, x.shape)
		}
	}
	return shapes
}

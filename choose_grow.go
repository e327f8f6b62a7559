package latent

import (
	"context"
	"slices"
)

// How far the range of K grows that nobody gave.
const (
	mostGrown     = 30 // components
	mostGrownWide = 15 // on more than affordedCells
)

// open reports whether the range of K was left to the fit, which then lets it grow.
func (s *Spec) open() bool { return s.K == 0 && s.KRange == [2]int{} }

// grow adds candidates of more components where the most that were tried win, and returns them: half as many again, of the shapes
// whose own best has the most. It ends at a limit, and where the rows are not distinct enough.
func (c *choice) grow(ctx context.Context) ([]*contender, error) {
	most := mostGrown
	if look := c.base.look; float64(look.Used)*float64(len(look.Mean)) > affordedCells {
		most = mostGrownWide
	}
	if !c.spec.open() || ctx.Err() != nil || c.hi >= min(most, c.distinct) {
		return nil, ctx.Err()
	}
	if c.settle(); c.best == nil || c.best.K != c.hi {
		return nil, nil
	}
	hi, err := min(c.hi+(c.hi+1)/2, most), error(nil)
	if c.distinct, err = distinctRows(ctx, c.base.src, hi+1); err != nil {
		return nil, err
	}
	fresh, kept := c.add(c.rising(), min(hi, c.distinct)), 0.0
	for _, x := range fresh {
		why := c.large(x, &kept)
		if why == nil {
			why = c.tooLong()
		}
		if why != nil {
			x.large, x.Why = true, "not tried: "+why.Error()
		}
	}
	return fresh, nil
}

// rising returns the shapes whose best candidate has the most components that were tried.
func (c *choice) rising() (shapes []string) {
	best := map[string]*contender{}
	for _, x := range c.all {
		if x.as != nil || x.end == nil || !c.usable(&x.Candidate) {
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

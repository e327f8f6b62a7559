package selection

import (
	"slices"

	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/model"
)

// settle sets best, of the candidates that can win. Where there are none best stays as it is.
func (c *choice) settle() {
	if c.criterion == plan.Elbow {
		c.price()
	}
	var able []*contender
	var plain []*model.Candidate
	for _, x := range c.all {
		if x.outcome != nil && c.usable(&x.Candidate) {
			able, plain = append(able, x), append(plain, &x.Candidate)
		}
	}
	if len(able) == 0 {
		return
	}
	if c.criterion == plan.Gap { // which compares candidates with their neighbours
		c.best = able[byGap(plain)]
		return
	}
	c.best = slices.MinFunc(able, func(x, y *contender) int { return map[bool]int{true: -1, false: 1}[c.before(x, y)] })
}

// price sets the penalty λ of the elbow, and what each candidate then costs: J + λk, J the inertia.
//
// λ is what one more group saves on average over the whole range, (J(lo) - J(hi)) / (hi - lo): a group pays where it saves more than that.
// The cost is then least where the curve of J is farthest below the straight line between its ends, the knee of Satopää et al. 2011
// (Kneedle).
func (c *choice) price() {
	var first, last *contender
	for _, x := range c.all {
		if x.Inertia == nil {
			continue
		}
		if first == nil {
			first = x
		}
		last = x
	}
	switch {
	case first == nil:
		return
	case first == last:
		c.penalty = new(0.0)
	default:
		c.penalty = new(max(0, *first.Inertia-*last.Inertia) / float64(last.K-first.K))
	}
	for _, x := range c.all {
		if x.Inertia != nil {
			x.Objective = new(*x.Inertia + *c.penalty*float64(x.K))
		}
	}
}

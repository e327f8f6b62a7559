package ascent

import (
	"context"
	"iter"
	"math"
	"slices"
)

// EM takes the M-step of every E-step: coordinate ascent on the free energy (Dempster, Laird, Rubin 1977; Neal and
// Hinton 1998). With Beta +Inf it is hard EM, and Lloyd's algorithm for the family of k-means.
type EM struct {
	Beta    float64 // inverse temperature of the E-step; 1 is EM
	MaxIter int     // M-steps allowed; 0 evaluates the start
	// TolShift, where positive, stops after a step in which the sum of squared moves of all parameters was at most this. That
	// step is taken: a large TolShift means one step.
	TolShift float64
	// Ascends says that the M-step maximises F. It is false with a ridge added to variances, when F may fall and no
	// distance can be told.
	Ascends bool
}

// Steps implements Driver.
func (e EM) Steps(ctx context.Context, o Objective, theta []float64) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		var gains gainRatio
		var last *Point
		still := 0 // steps in a row that changed F by no more than rounding
		for t := 0; ; t++ {
			p, err := o.Eval(ctx, theta, e.Beta)
			if err != nil {
				yield(Step{}, err)
				return
			}
			s := Step{Iteration: t, Sweeps: t + 1, Point: p, Halves: true, Distance: unknown, Remaining: unknown}
			if last != nil {
				s.Change = p.F - last.F
				if still++; math.Abs(s.Change) > 1e-13*math.Abs(p.F) {
					still = 0
				}
				if e.Ascends && !math.IsInf(e.Beta, 1) {
					s.Remaining = gains.remaining(s.Change, p.F)
					s.Distance = math.Sqrt(2 * s.Remaining)
				}
			}
			s.Done = e.stop(&s, last)
			if s.Done == Going && !e.Ascends && still >= window { // nothing is climbed: this is all that can be seen
				s.Done = FixedPoint
			}
			if !yield(s, nil) || s.Done != Going {
				return
			}
			last, theta = p, p.Next
		}
	}
}

// stop decides whether the step is the last.
func (e EM) stop(s *Step, last *Point) Reason {
	p := s.Point
	switch {
	case slices.Equal(p.Next, p.Theta), p.Labels != 0 && last != nil && p.Labels == last.Labels:
		// The M-step of the same labels gives the same parameters, up to a rounding that may go on for ever.
		return FixedPoint
	case e.TolShift > 0 && last != nil && sqdist(p.Theta, last.Theta) <= e.TolShift:
		return Shift
	case s.Iteration >= e.MaxIter:
		return Limit
	}
	return Going
}

func sqdist(a, b []float64) float64 {
	s := 0.0
	for i := range a {
		s += (a[i] - b[i]) * (a[i] - b[i])
	}
	return s
}

// gainRatio estimates what EM still has to gain. Near its end EM converges linearly: gains shrink by a constant ratio
// r, so that gain r/(1-r) is left. The ratio creeps up as faster directions die out, so the largest of the last few
// counts, and an estimate needs a few ratios below 1 in a row: a plateau, where gains grow again, is not the end.
type gainRatio struct {
	last   float64
	ratios []float64
}

// window is how many ratios must agree that gains shrink. Measured on overlapping mixtures: with 3 a few runs stopped
// on the slope before a plateau.
const window = 5

// remaining takes the latest gain of F and returns the estimate, NaN while there is none.
func (g *gainRatio) remaining(gain, f float64) float64 {
	noise := 4e-16 * math.Abs(f)
	last := g.last
	g.last = gain
	if gain <= noise && last <= noise { // below the rounding of F: nothing left that could be seen
		g.ratios = append(g.ratios, 0)
	} else if last > 0 {
		g.ratios = append(g.ratios, max(gain, noise)/last)
	}
	if len(g.ratios) < window {
		return unknown
	}
	g.ratios = g.ratios[len(g.ratios)-window:]
	r := slices.Max(g.ratios)
	if r >= 1 {
		return unknown
	}
	return max(gain, noise) * r / (1 - r)
}

package ascent

import "math"

// wolfe is a line search for a step that meets the strong Wolfe conditions: F rises by at least a share of what the
// slope promised, and little of the slope is left (Nocedal and Wright 2006, algorithms 3.5 and 3.6, turned upwards).
//
// Close to an optimum the rise of F drowns in its rounding. There the rise is told by the slopes at both ends, which
// is the approximate Wolfe condition of Hager and Zhang (2005).
type wolfe struct {
	// eval evaluates a step; false means that the climb is over.
	eval func(step float64) (trial, bool)
	// left is the share of the slope that may be left at the end.
	left    float64
	longest float64 // step
	most    int     // evaluations allowed
	from    trial   // step 0
	noise   float64 // differences of F below this are rounding
}

// trial is a step that was evaluated.
type trial struct {
	step, f, slope float64
	place          place
}

// Constants of the line search.
const (
	searches = 20  // evaluations allowed to one line search
	stretch  = 4.0 // longest extension of a step that still climbs, a factor
)

// search tries a step of 1, or the longest, then others, and returns one to accept. found is false if nothing climbs; ok
// is false if the climb is over.
func (w *wolfe) search() (t trial, found, ok bool) {
	last := w.from
	step := min(1, w.longest)
	for n := w.most; n > 0; n-- {
		t, ok = w.eval(step)
		switch {
		case !ok:
			return t, false, false
		case !w.rises(t) || last.step > 0 && w.gain(last, t) <= 0:
			return w.zoom(last, t, n-1)
		case math.Abs(t.slope) <= w.left*w.from.slope:
			return t, true, true
		case t.slope < 0:
			return w.zoom(t, last, n-1)
		case step >= w.longest:
			return t, true, true // the climb goes on from there
		}
		next := w.between(last, t)
		if !(next >= 1.1*step && next <= stretch*step) { // the cubic has its maximum elsewhere, or none
			next = stretch * step
		}
		last, step = t, min(next, w.longest)
	}
	return last, last.step > 0, true
}

// zoom narrows an interval that holds a step to accept. low is its better end: it meets the first condition, and F
// rises from it into the interval.
func (w *wolfe) zoom(low, high trial, n int) (t trial, found, ok bool) {
	for ; n > 0; n-- {
		width := high.step - low.step
		if low.step+width/2 == low.step {
			break
		}
		step := w.between(low, high)
		if margin := 0.1 * width; !(math.Abs(step-low.step) >= math.Abs(margin) && math.Abs(step-high.step) >= math.Abs(margin) && (step-low.step)*(step-high.step) < 0) {
			step = low.step + width*0.5
		}
		t, ok = w.eval(step)
		switch {
		case !ok:
			return t, false, false
		case !w.rises(t) || w.gain(low, t) <= 0:
			high = t
			continue
		case math.Abs(t.slope) <= w.left*w.from.slope:
			return t, true, true
		case t.slope*width < 0:
			high = low
		}
		low = t
	}
	return low, low.step > 0, true
}

// gain returns the rise of F from a to b: the trapezoid of the slopes where F cannot tell.
func (w *wolfe) gain(a, b trial) float64 {
	if d := b.f - a.f; !(math.Abs(d) <= w.noise) {
		return d
	}
	return (b.step - a.step) * (a.slope + b.slope) / 2
}

// rises reports the first Wolfe condition.
func (w *wolfe) rises(t trial) bool {
	return w.gain(w.from, t) >= armijo*t.step*w.from.slope && !math.IsInf(t.f, 1)
}

// between returns the maximum of the cubic through both trials and their slopes; NaN or anything where there is none
// (Nocedal and Wright 2006, eq. 3.59).
func (w *wolfe) between(a, b trial) float64 {
	width := b.step - a.step
	d := 3*w.gain(a, b)/width - a.slope - b.slope
	root := math.Copysign(math.Sqrt(d*d-a.slope*b.slope), width)
	return b.step - width*(root-b.slope-d)/(a.slope-b.slope+2*root)
}

package onedim

import (
	"math"

	"github.com/latent-go/latent/internal/median"
)

// point is a row: its value and its weight.
type point struct{ x, w float64 }

// spans holds the distinct values of positive weight, rising, and sums over them from which the cost of any run of
// neighbours follows. Sums are of y = (x - origin) unit, the unit a power of two that makes every |y| at most 1, and of
// weights times another such unit, so that nothing overflows and little underflows.
type spans struct {
	points       []point
	origin, unit float64
	upto         []moments // of the values before the i-th: one more than there are values
	guide        []int32   // see median
	cells        float64   // cells of the guide per unit of weight
}

// moments are sum w, sum w y and sum w y^2.
type moments struct{ w, s, q twofold }

// merge joins equal values of the sorted points, in place. Sums of weights are in twice the precision, so that no order of
// rows shows.
func merge(sorted []point) []point {
	merged := sorted[:0]
	for i := 0; i < len(sorted); {
		x, w := sorted[i].x, twofold{}
		for ; i < len(sorted) && sorted[i].x == x; i++ {
			w = w.plus(twofold{sorted[i].w, 0})
		}
		merged = append(merged, point{x, w.hi})
	}
	return merged
}

// newSpans keeps the points, which must rise and of which there must be one.
func newSpans(points []point) *spans {
	least, most := points[0].x, points[len(points)-1].x
	weight := towardsOne(total(points))
	var w, mean float64
	for _, p := range points {
		w += p.w * weight
		mean += p.w * weight * (p.x - least)
	}
	v := &spans{points: points, upto: make([]moments, 1, len(points)+1), origin: least + mean/w, unit: towardsOne(most - least)}
	var m moments
	for _, p := range points {
		w, y := twofold{p.w * weight, 0}, v.coordinate(p.x)
		s := w.times(y)
		m.w, m.s, m.q = m.w.plus(w), m.s.plus(s), m.q.plus(s.times(y))
		v.upto = append(v.upto, m)
	}
	return v
}

func total(points []point) float64 {
	var w twofold
	for _, p := range points {
		w = w.plus(twofold{p.w, 0})
	}
	return w.hi
}

// towardsOne returns the power of two that brings a positive number into [1/2, 1), and 1 for 0. Numbers below 2^-1000
// stay that much smaller.
func towardsOne(a float64) float64 {
	_, e := math.Frexp(a)
	return math.Ldexp(1, -max(e, -1000))
}

// coordinate returns y of a value, without error.
func (v *spans) coordinate(x float64) twofold {
	y := sum(x, -v.origin)
	return twofold{y.hi * v.unit, y.lo * v.unit}
}

// squared returns min over c of sum w (y - c)^2 of the values i, ..., j-1.
//
// With m near their mean and r = sum w (y - m), small, it is sum w y^2 - m sum w y - m r - r^2 / sum w. The differences
// that cancel are taken in twice the precision; what they leave is not.
func (v *spans) squared(i, j int) float64 {
	a, b := &v.upto[i], &v.upto[j]
	w, s, q := b.w.minus(a.w), b.s.minus(a.s), b.q.minus(a.q)
	if j-i == 1 || w.hi <= 0 { // 0 where the weight vanishes beside that of all
		return 0
	}
	m := s.hi / w.hi
	mw, ms := product(m, w.hi), product(m, s.hi)
	r := (s.hi - mw.hi) + (s.lo - mw.lo - m*w.lo)
	scatter := (q.hi - ms.hi) + (q.lo - ms.lo - m*s.lo)
	return max(scatter-r*(m+r/w.hi), 0)
}

// absolute returns min over c of sum w |y - c| of the values i, ..., j-1: that at their median.
func (v *spans) absolute(i, j int) float64 {
	if j-i == 1 {
		return 0
	}
	h := v.median(i, j)
	a, m, b := &v.upto[i], &v.upto[h], &v.upto[j]
	y := v.coordinate(v.points[h].x)
	w := b.w.minus(m.w).minus(m.w.minus(a.w)) // weight of those from the median on, less that of those below
	s := b.s.minus(m.s).minus(m.s.minus(a.s))
	wy := product(w.hi, y.hi)
	return max((s.hi-wy.hi)+(s.lo-wy.lo-w.hi*y.lo-w.lo*y.hi), 0)
}

// median returns the first of the values i, ..., j-1 up to which lies half of their weight.
//
// It is a search between two neighbours in a table of as many cells of equal weight as there are values, so in constant
// time unless weights differ so much that many values share a cell.
func (v *spans) median(i, j int) int {
	half := v.upto[i].w.plus(v.upto[j].w)
	half.hi, half.lo = half.hi/2, half.lo/2
	cell := v.cell(half)
	low, high := min(max(int(v.guide[cell]), i), j-1), min(int(v.guide[cell+1]), j-1)
	for low < high {
		if h := (low + high) / 2; v.upto[h+1].w.less(half) {
			low = h + 1
		} else {
			high = h
		}
	}
	return low
}

func (v *spans) cell(w twofold) int { return int(w.hi * v.cells) }

// index fills the guide: guide[c] is the first value whose weight, with that of all before, is in cell c or later.
func (v *spans) index() {
	n := len(v.points)
	v.cells = float64(n) / v.upto[n].w.hi
	v.guide = make([]int32, v.cell(v.upto[n].w)+2)
	at := 0
	for c := range v.guide {
		for at < n && v.cell(v.upto[at+1].w) < c {
			at++
		}
		v.guide[c] = int32(at)
	}
}

// mean returns the weighted mean of sorted points.
func mean(run []point) float64 {
	var w, s twofold
	for _, p := range run {
		w, s = w.plus(twofold{p.w, 0}), s.plus(product(p.w, p.x-run[0].x))
	}
	return min(run[0].x+s.hi/w.hi, run[len(run)-1].x)
}

// midpoint returns the middle of the interval of weighted medians of sorted points.
func midpoint(run []point) float64 {
	all := total(run)
	beyond := func(share float64) float64 { // the first value up to which lies more than that share of the weight
		var w twofold
		for _, p := range run {
			if w = w.plus(twofold{p.w, 0}); w.hi > share*all {
				return p.x
			}
		}
		return run[len(run)-1].x
	}
	lower, upper := beyond(0.5-median.Slack), beyond(0.5+median.Slack)
	return median.Middle(lower, upper)
}

package seed

import (
	"cmp"
	"math"
	"slices"
)

// Robust returns the median of each column, and a standard deviation that rows far out do not change: the median absolute deviation from it,
// or where that is 0 a higher quantile of these deviations, over what it is for a normal distribution of standard deviation 1. The
// deviation is 0 where 99 in 100 rows are equal. Weights are numbers of repeats; missing cells do not count.
func (p *Points) Robust() (centre, deviation []float64) {
	centre, deviation = make([]float64, p.D), make([]float64, p.D)
	order, off := make([]int, 0, p.N), make([]float64, p.N)
	for j := range p.D {
		order = order[:0]
		for i := range off {
			if off[i] = p.X[i*p.D+j]; off[i] == off[i] {
				order = append(order, i)
			}
		}
		if len(order) == 0 {
			continue
		}
		centre[j] = quantiles(off, p.W, order, 0.5)[0]
		for i := range off {
			off[i] = math.Abs(off[i] - centre[j])
		}
		q := quantiles(off, p.W, order, 0.5, 0.75, 0.9, 0.99)
		for l, normal := range []float64{0.6744897501960817, 1.1503493803760083, 1.6448536269514729, 2.5758293035489004} {
			if deviation[j] == 0 {
				deviation[j] = q[l] / normal
			}
		}
	}
	return centre, deviation
}

// quantiles returns the values v, of those at the indexes in order, below which the shares at of the weight w lie. It sorts order.
func quantiles(v, w []float64, order []int, at ...float64) []float64 {
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(v[a], v[b]) })
	total, sum, next := 0.0, 0.0, 0
	for _, i := range order {
		total += w[i]
	}
	q := make([]float64, len(at))
	for _, i := range order {
		for sum += w[i]; next < len(at) && sum >= at[next]*total; next++ {
			q[next] = v[i]
		}
	}
	for ; next < len(at); next++ { // rounding
		q[next] = v[order[len(order)-1]]
	}
	return q
}

// How far from the centre a row may be to count as central: so many times the median distance, or the distance below which nine in ten rows
// are. A normal distribution has no row beyond either; of a t distribution with 3 degrees of freedom one in 300 rows is.
const (
	farOfMedian = 10
	farOfMost   = 3
)

// Central returns the indexes of the rows that are not far out, by their distance from the median in robust standard deviations: nine in ten
// at least.
func (p *Points) Central() []int {
	centre, deviation := p.Robust()
	far, order := make([]float64, p.N), make([]int, p.N)
	for i := range far {
		order[i] = i
		for j, x := range p.At(i) {
			if deviation[j] > 0 && x == x {
				far[i] = math.Hypot(far[i], (x-centre[j])/deviation[j])
			}
		}
	}
	q := quantiles(far, p.W, order, 0.5, 0.9)
	reach := max(farOfMedian*q[0], farOfMost*q[1])
	var keep []int
	for i, v := range far {
		if v <= reach {
			keep = append(keep, i)
		}
	}
	return keep
}

// Moments returns the weighted mean and variance of each column over the cells that are there; 0 where there are none.
func (p *Points) Moments() (mean, variance []float64) {
	mean, variance = p.means(), make([]float64, p.D)
	weight := make([]float64, p.D)
	for i, w := range p.W {
		for j, x := range p.At(i) {
			if x == x {
				weight[j] += w
				variance[j] += (w / weight[j]) * ((x-mean[j])*(x-mean[j]) - variance[j])
			}
		}
	}
	return mean, variance
}

// Every returns each step-th of the points.
func (p *Points) Every(step int) *Points {
	at := make([]int, 0, p.N/step)
	for i := step / 2; i < p.N; i += step {
		at = append(at, i)
	}
	return p.Some(at)
}

// Some returns the points at those indexes, which ascend: p itself where they are all, unless it is narrow, which Some never is.
func (p *Points) Some(at []int) *Points {
	if len(at) == p.N && p.Narrow == nil {
		return p
	}
	q := &Points{N: len(at), D: p.D, X: make([]float64, 0, len(at)*p.D), W: make([]float64, 0, len(at)), Levels: p.Levels}
	for _, i := range at {
		if q.W = append(q.W, p.W[i]); p.Narrow != nil {
			q.X = appendLess(q.X, p.Narrow[i*p.D:(i+1)*p.D], p.Origin)
		} else {
			q.X = append(q.X, p.At(i)...)
		}
		if p.Row != nil {
			q.Row = append(q.Row, p.Row[i])
		}
	}
	return q
}

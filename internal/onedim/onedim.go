// Package onedim finds the best k-means and the best K-medians partition of one column: not a local optimum, the optimum.
//
// Some best partition cuts the sorted values into k runs, so dynamic programming finds it. The matrices of the program are
// totally monotone, and SMAWK fills each in linear time: O(n log n) to sort, then O(k n). See A. Grønlund, K. G. Larsen,
// A. Mathiasen, J. S. Nielsen, S. Schneider, M. Song, Fast Exact k-Means, k-Medians and Bregman Divergence Clustering in
// 1D (2017), arXiv:1701.07204.
package onedim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Cost is what a partition costs: the sum over rows of weight times loss.
type Cost uint8

const (
	Squared  Cost = iota // k-means: sum w (x - c)^2
	Absolute             // K-medians: sum w |x - c|
)

// Result is a best partition.
type Result struct {
	Centers []float64 // k, rising: weighted means, or midpoints of the interval of weighted medians
	Label   []int32   // of each row, in the order given: the index of its centre
	Cost    float64   // summed over the rows given, about Centers
	K       int
}

// tableLimit is how many choices of the dynamic program are kept, 4 bytes each: 256 MB.
const tableLimit = 1 << 26

// Cluster returns a partition of x into k clusters than which none is cheaper. x and w are only read. A nil w means that
// all weights are 1. Rows of weight 0 take the label of the nearest centre, of two the lower, and count for nothing else.
//
// Equal values share a label. Where several partitions are equally good, which of them is returned depends on the values
// and weights alone, not on the order of rows. Costs are compared to about 1e-15 of their size, wherever the values lie and
// whatever the weights, unless one is below 1e-16 of all.
//
// Memory is 20 bytes a row, 90 for each of the m distinct values, and 4 k m. Where k m is above 2^26 it is 8 m and at most
// 256 MB instead of 4 k m, and time up to twice as long.
//
// It fails where a value or weight is not finite, a weight is negative, k is below 1 or above the number of distinct
// values of positive weight, the lengths of x and w differ, or the cost could overflow.
//
// A cancelled ctx ends it between two numbers of clusters, with the error of ctx.
func Cluster(ctx context.Context, x, w []float64, k int, cost Cost) (*Result, error) {
	return cluster(ctx, x, w, k, cost, tableLimit)
}

func cluster(ctx context.Context, x, w []float64, k int, cost Cost, capacity int) (*Result, error) {
	if cost > Absolute {
		return nil, fmt.Errorf("cost %d is neither Squared nor Absolute", cost)
	}
	if k < 1 {
		return nil, fmt.Errorf("k is %d: it must be at least 1", k)
	}
	points, err := gather(x, w)
	if err != nil {
		return nil, err
	}
	if len(points) == 0 {
		return nil, fmt.Errorf("k is %d, but there are 0 distinct values of positive weight", k)
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	points = merge(points)
	if err := bounded(points, cost); err != nil {
		return nil, err
	}
	m := len(points)
	if k > m {
		return nil, fmt.Errorf("k is %d, but there are %d distinct values of positive weight", k, m)
	}
	if m > math.MaxInt32 {
		return nil, fmt.Errorf("%d distinct values, at most %d are possible: round them", m, math.MaxInt32)
	}
	v := newSpans(points)
	span, centre := v.squared, mean
	if cost == Absolute {
		span, centre = v.absolute, midpoint
		v.index()
	}
	p := newProgram(span, capacity, m, k)
	if p.ctx = ctx; !p.cut(0, m, k, p.cuts) {
		return nil, ctx.Err()
	}
	r := &Result{K: k, Centers: make([]float64, k)}
	runs, from := make([]run, k), 0
	for c, to := range append(p.cuts, int32(m)) {
		members := points[from:to]
		r.Centers[c] = centre(members)
		runs[c] = run{members[0].x, members[len(members)-1].x}
		from = int(to)
	}
	r.judge(x, w, runs, cost)
	return r, nil
}

// gather returns the rows of positive weight.
func gather(x, w []float64) ([]point, error) {
	if w != nil && len(w) != len(x) {
		return nil, fmt.Errorf("%d values, but %d weights", len(x), len(w))
	}
	points := make([]point, 0, len(x))
	for i, value := range x {
		weight := 1.0
		if w != nil {
			weight = w[i]
		}
		switch {
		case value-value != 0:
			return nil, fmt.Errorf("value %d is %v: values must be finite", i, value)
		case weight-weight != 0 || weight < 0:
			return nil, fmt.Errorf("weight %d is %v: weights must be finite and not negative", i, weight)
		case weight > 0:
			points = append(points, point{value, weight})
		}
	}
	return points, nil
}

// bounded fails where the cost of the sorted points might not be a float64.
func bounded(sorted []point, cost Cost) error {
	width := sorted[len(sorted)-1].x - sorted[0].x
	most := total(sorted) * width
	if cost == Squared {
		most *= width
	}
	if most-most != 0 {
		return errors.New("values or weights are so large that the cost overflows: scale them down")
	}
	return nil
}

// run is the least and the largest value of positive weight of a cluster.
type run struct{ first, last float64 }

// judge sets labels, and the cost from the rows themselves. A row between two runs, which has no weight, goes to the
// nearer centre.
func (r *Result) judge(x, w []float64, runs []run, cost Cost) {
	r.Label = make([]int32, len(x))
	var total twofold
	for i, value := range x {
		c := max(sort.Search(r.K, func(c int) bool { return runs[c].first > value })-1, 0)
		if c+1 < r.K && value > runs[c].last && r.Centers[c+1]-value < value-r.Centers[c] {
			c++
		}
		r.Label[i] = int32(c)
		weight := 1.0
		if w != nil {
			weight = w[i]
		}
		if weight == 0 {
			continue // far away, its distance may overflow
		}
		away := math.Abs(value - r.Centers[c])
		loss := weight * away
		if cost == Squared {
			loss *= away
		}
		total = total.plus(twofold{loss, 0})
	}
	r.Cost = total.hi
}

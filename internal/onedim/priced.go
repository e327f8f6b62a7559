package onedim

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
)

// Priced returns the centres, rising, of a partition of x than which none has a lower sum of its squared cost and of price for
// each cluster: the number of clusters is part of the answer. x, w and what fails are as in Cluster; price must not be negative.
//
// With F_i the least cost of the first i values, F_i is the least of F_j + cost(j, i) + price over j < i. Costs of runs are
// such that the best j never falls as i grows (the quadrangle inequality), so each j is best in one interval of i, whose end
// a binary search finds: O(m log m) for m distinct values.
func Priced(ctx context.Context, x, w []float64, price float64) ([]float64, error) {
	points, err := gather(x, w)
	switch {
	case err != nil:
		return nil, err
	case !(price >= 0):
		return nil, fmt.Errorf("the price is %v: it must not be negative", price)
	case len(points) == 0:
		return nil, fmt.Errorf("there are 0 distinct values of positive weight")
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	points = merge(points)
	if err := bounded(points, Squared); err != nil {
		return nil, err
	}
	v, m := newSpans(points), len(points)
	price *= v.unit * v.unit * towardsOne(total(points)) // in the units of the spans
	least, from := make([]float64, m+1), make([]int, m+1)
	cost := func(j, i int) float64 { return least[j] + v.squared(j, i) }
	// Candidates j, the best first; the k-th is the best of them up to the value before first[k+1].
	candidates, first := []int{0}, []int{1}
	head := 0
	for i := 1; i <= m; i++ {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for head+1 < len(first) && first[head+1] <= i {
			head++
		}
		from[i] = candidates[head]
		least[i] = cost(from[i], i) + price
		if i == m {
			break
		}
		for len(candidates) > head+1 && cost(i, first[len(first)-1]) <= cost(candidates[len(candidates)-1], first[len(first)-1]) && first[len(first)-1] > i {
			candidates, first = candidates[:len(candidates)-1], first[:len(first)-1]
		}
		last := candidates[len(candidates)-1]
		lo := max(first[len(first)-1], i+1)
		at := lo + sort.Search(m+1-lo, func(t int) bool { return cost(i, lo+t) < cost(last, lo+t) })
		if at <= m {
			candidates, first = append(candidates, i), append(first, at)
		}
	}
	var centers []float64
	for to := m; to > 0; to = from[to] {
		centers = append(centers, mean(points[from[to]:to]))
	}
	slices.Reverse(centers)
	return centers, nil
}

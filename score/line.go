package score

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// lineRows is how many rows lineSilhouettes takes between two looks at its context.
const lineRows = 4096

// lineSilhouettes sets dst[i] to the silhouette of row i of one column. The rows are taken in the order of their numbers:
// what a cluster adds up to on either side of a row then follows from running sums,
//
//	Σ w |x - x'| = (x - c) (L - R) - Σ_left w (x' - c) + Σ_right w (x' - c),
//
// L and R the weight of the cluster's rows to the left and to the right, c one of its rows, so that sums over a compact
// cluster stay exact far from 0. Time grows with N log N + N k, where pairs of rows take N².
func (c *clusters) lineSilhouettes(ctx context.Context, dst []float64) error {
	order := make([]int, 0, c.N)
	for i, l := range c.label {
		if dst[i] = 0; l >= 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.X[a], c.X[b]) })
	base, seen := make([]float64, c.k), make([]bool, c.k)
	weight, sum := make([]float64, c.k), make([]float64, c.k) // of the right less the left
	for _, i := range order {
		l := c.label[i]
		if !seen[l] {
			base[l], seen[l] = c.X[i]*c.scale, true
		}
		weight[l] += c.weight(i)
		sum[l] += c.weight(i) * (c.X[i]*c.scale - base[l])
	}
	off := make([]float64, c.k)
	for at, i := range order {
		if at%lineRows == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		l, x, w := c.label[i], c.X[i]*c.scale, c.weight(i)
		weight[l] -= 2 * w
		sum[l] -= 2 * w * (x - base[l])
		for o := range off {
			off[o] = max(sum[o]-(x-base[o])*weight[o], 0)
		}
		dst[i] = c.silhouette(l, off[l]/(c.size[l]-1), off)
	}
	return nil
}

// silhouette returns the silhouette of a row of cluster l: own is its mean distance to the others there, sums are those of
// its distances to the rows of each cluster.
func (c *clusters) silhouette(l int, own float64, sums []float64) float64 {
	if l < 0 || c.weighs(l) <= 1 {
		return 0
	}
	b := math.Inf(1)
	for o, s := range sums {
		if o != l {
			b = min(b, s/c.size[o])
		}
	}
	if own == b { // 0/0 too
		return 0
	}
	return (b - own) / max(own, b)
}

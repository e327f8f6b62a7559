// Package pca finds the principal components of streamed rows: the directions in which they vary most.
//
// Rows are x_1..x_N of d columns with weights w_i. Their covariance is S = sum_i w_i (x_i - m)(x_i - m)' / W, m their
// weighted mean and W = sum_i w_i; the components are eigenvectors of S, the largest eigenvalue first. Matrices are
// row-major, and an axis is a row.
package pca

import (
	"context"
	"fmt"
	"math"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/sweep"
)

// ExactColumns is the largest number of columns whose covariance is formed and taken apart. On one core of 2024 that takes
// some 15 seconds at most; beyond, the work grows with the cube and the memory with the square of the columns.
const ExactColumns = 2000

// Components are the first n principal components of rows of d columns.
type Components struct {
	Mean     []float64   // d: weighted means of the columns
	Axes     [][]float64 // n x d: orthonormal; the largest entry of each is positive
	Variance []float64   // n: variance along each axis, divisor W, largest first
	Total    float64     // variance of all columns together
	Passes   int         // passes made over the rows
	// Residual is the largest |S a - v a| / v of an axis a with variance v: 0 where S was taken apart, else at most
	// Tolerance unless MaxPasses were not enough.
	Residual float64
}

// RankError says that more components were asked for than there are directions in which the rows vary.
type RankError struct {
	Asked, Rank int
}

// Error says how many there are.
func (e *RankError) Error() string {
	return fmt.Sprintf("%d principal components are asked for, but the rows vary in %d directions only; what is left is rounding", e.Asked, e.Rank)
}

// Find returns the first n components of the rows of src, 1 <= n <= d. look is what sweep.Look found out about them. Up to
// ExactColumns columns it forms the covariance in one pass; with more it makes passes for the product of the covariance
// with a few vectors. The result is the same for any number of threads. A *RankError says that n is more than the rank.
func Find(ctx context.Context, src data.Source, look *sweep.Survey, n, threads int) (*Components, error) {
	d := len(look.Mean)
	if n < 1 || n > d {
		return nil, fmt.Errorf("%d principal components of %d columns are asked for; there can be 1 to %d", n, d, d)
	}
	c := &Components{Mean: append([]float64(nil), look.Mean...)}
	for _, v := range look.Var {
		c.Total += v
	}
	switch scale := 1 / c.Total; {
	case c.Total == 0:
		return nil, &RankError{Asked: n}
	case scale-scale != 0 || scale == 0:
		return nil, fmt.Errorf("the variances of the columns add up to %v, which leaves no room for sums of squares; multiply the columns by a constant", c.Total)
	}
	r := &rows{src: src, mean: c.Mean, look: look, total: c.Total, threads: threads}
	if d <= ExactColumns {
		return c, c.exact(ctx, r, n)
	}
	return c, c.iterate(ctx, r, n, MaxPasses)
}

// rounding returns the share of the variance below which a direction of d columns is rounding: some units in the last
// place of the largest share.
func rounding(d int, largest float64) float64 { return float64(d) * 0x1p-50 * largest }

// take keeps the first n of the given axes, whose shares of the variance fall.
func (c *Components) take(axes [][]float64, share []float64, n int) error {
	d, rank := len(c.Mean), 0
	for rank < len(share) && share[rank] > rounding(d, share[0]) {
		rank++
	}
	if rank < n {
		return &RankError{Asked: n, Rank: rank}
	}
	for j := range n {
		orient(axes[j])
		c.Axes, c.Variance = append(c.Axes, axes[j]), append(c.Variance, share[j]*c.Total)
	}
	return nil
}

// orient turns an axis so that its largest entry is positive: the first of those within a millionth of the largest, so
// that rounding does not choose between equals.
func orient(axis []float64) {
	largest := 0.0
	for _, v := range axis {
		largest = max(largest, math.Abs(v))
	}
	for _, v := range axis {
		if math.Abs(v) < (1-1e-6)*largest {
			continue
		}
		if v < 0 {
			for j := range axis {
				axis[j] = 0 - axis[j]
			}
		}
		return
	}
}

// Explained returns the share of the variance that the components have together.
func (c *Components) Explained() float64 {
	sum := 0.0
	for _, s := range c.Shares() {
		sum += s
	}
	return min(sum, 1)
}

// Shares returns the share of the variance that each component has.
func (c *Components) Shares() []float64 {
	s := make([]float64, len(c.Variance))
	for j, v := range c.Variance {
		s[j] = v / c.Total
	}
	return s
}

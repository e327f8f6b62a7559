package seed

import (
	"context"
	"slices"
)

// OfLevels returns the points as rows of levels, levels[j] of them in column j. It shares their memory.
func (p *Points) OfLevels(levels []int) *Points {
	return &Points{N: p.N, D: p.D, X: p.X, W: p.W, Row: p.Row, Levels: levels}
}

// differing counts the columns in which two rows differ.
func differing(a, b []float64) (n int) {
	for j, y := range b {
		if x := a[j]; x != y && x == x && y == y { // what is missing differs from nothing
			n++
		}
	}
	return n
}

// lowerLevels is lower for rows of levels.
func lowerLevels(dst, near []float64, p *Points, c int) (total float64) {
	centre := p.At(c)
	for i := range p.N {
		s := p.W[i] * float64(differing(p.At(i), centre))
		if near != nil && near[i] < s {
			s = near[i]
		}
		dst[i] = s
		total += s
	}
	return total
}

// nearestLevels is Nearest for rows of levels.
func nearestLevels(p *Points, centres []float64) []int32 {
	labels := make([]int32, p.N)
	for i := range p.N {
		least := p.D + 1
		for c := 0; c*p.D < len(centres); c++ {
			if n := differing(p.At(i), centres[c*p.D:c*p.D+p.D]); n < least {
				least, labels[i] = n, int32(c)
			}
		}
	}
	return labels
}

// lloydLevels is k-means on indicators, one axis a level, without them: a centre is the share of each level among its
// rows, and the squared distance of a row x from it is
//
//	|x - c|^2 = d - 2 (sum of c over the levels of x) + |c|^2.
//
// A missing cell counts as one that is at no level.
//
// A centre that lost its rows stays.
func lloydLevels(ctx context.Context, p *Points, rows []int) ([]int32, error) {
	first, width := make([]int, p.D), 0 // place of each column's levels in a centre
	for j, l := range p.Levels {
		first[j], width = width, width+l
	}
	g := &levelCentres{p: p, first: first, width: width, share: make([]float64, len(rows)*width), half: make([]float64, len(rows))}
	labels := make([]int32, p.N)
	for i := range labels {
		labels[i] = -1
	}
	for c, i := range rows {
		labels[i] = int32(c)
	}
	g.move(labels)
	for range lloydSteps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		before := slices.Clone(labels)
		g.assign(labels)
		if slices.Equal(labels, before) {
			break
		}
		g.move(labels)
	}
	return labels, nil
}

// levelCentres are centres of rows of levels.
type levelCentres struct {
	p     *Points
	first []int
	width int
	share []float64 // k x width
	half  []float64 // |c|^2 / 2 of each
}

// move takes every centre to the mean of the rows that have its label; rows of label -1 have none.
func (g *levelCentres) move(labels []int32) {
	weight, sum := make([]float64, len(g.half)), make([]float64, len(g.share))
	for i, c := range labels {
		if c < 0 {
			continue
		}
		weight[c] += g.p.W[i]
		for j, x := range g.p.At(i) {
			if x == x {
				sum[int(c)*g.width+g.first[j]+int(x)] += g.p.W[i]
			}
		}
	}
	for c, w := range weight {
		if w == 0 {
			continue
		}
		square := 0.0
		for l := c * g.width; l < (c+1)*g.width; l++ {
			g.share[l] = sum[l] / w
			square += g.share[l] * g.share[l]
		}
		g.half[c] = square / 2
	}
}

// assign labels every row by its nearest centre, the lowest of equals.
func (g *levelCentres) assign(labels []int32) {
	at := make([]int, 0, g.p.D)
	for i := range labels {
		at = at[:0]
		for j, x := range g.p.At(i) {
			if x == x {
				at = append(at, g.first[j]+int(x))
			}
		}
		labels[i] = 0
		best := 0.0
		for c, half := range g.half {
			score, share := -half, g.share[c*g.width:(c+1)*g.width]
			for _, l := range at {
				score += share[l]
			}
			if c == 0 || score > best {
				best, labels[i] = score, int32(c)
			}
		}
	}
}

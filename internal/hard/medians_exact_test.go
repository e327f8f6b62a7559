package hard

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/median"
	"github.com/latent-go/latent/internal/seed"
)

// bySorting returns the labels of the nearest centres and the medians of their rows, by the book.
func bySorting(p *seed.Points, theta []float64) (labels []int32, next []float64) {
	k, d := len(theta)/p.D, p.D
	of := make([][]int, k)
	for i := range p.N {
		best, at := math.Inf(1), 0
		for c := range k {
			sum := 0.0
			for j, x := range p.At(i) {
				sum += math.Abs(x - theta[c*d+j])
			}
			if sum < best {
				best, at = sum, c
			}
		}
		labels = append(labels, int32(at))
		of[at] = append(of[at], i)
	}
	for _, rows := range of {
		for j := range d {
			v, total := make([]weighted, 0, len(rows)), 0.0
			for _, i := range rows {
				v, total = append(v, weighted{p.X[i*d+j], p.W[i]}), total+p.W[i]
			}
			slices.SortFunc(v, func(a, b weighted) int { return cmp.Compare(a.x, b.x) })
			sum, t := 0.0, 0
			for ; ; t++ {
				if sum += v[t].w; sum >= total/2 {
					break
				}
			}
			m := v[t].x
			if sum == total/2 {
				m = median.Middle(m, v[t+1].x)
			}
			next = append(next, m)
		}
	}
	return labels, next
}

// Enough rows for brackets, and columns that try them: ties, order, periods, and weights that no sample tells. Weights are
// integers, so that sums are exact in any order.
func TestMediansOfManyRowsAreThoseOfSortedColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	one := func(int) float64 { return 1 }
	for name, c := range map[string]struct{ x, w func(i int) float64 }{
		"normal":           {func(int) float64 { return rng.NormFloat64() }, one},
		"rising":           {func(i int) float64 { return float64(i) / 1000 }, one},
		"two values":       {func(int) float64 { return float64(rng.IntN(2)) }, one},
		"even halves":      {func(i int) float64 { return float64(i & 1) }, one},
		"mostly zeros":     {func(int) float64 { return max(0, rng.NormFloat64()-1) }, one},
		"a constant":       {func(int) float64 { return -3 }, one},
		"few values":       {func(int) float64 { return float64(rng.IntN(7)) }, func(int) float64 { return float64(1 + rng.IntN(9)) }},
		"a period":         {func(i int) float64 { return float64(i % 64) }, one},
		"a few heavy rows": {func(int) float64 { return rng.ExpFloat64() }, func(i int) float64 { return 1 + 1e6*float64((i%2999)/2998) }},
		"two far lumps":    {func(i int) float64 { return float64(i&1)*1e9 + rng.NormFloat64() }, one},
		"huge":             {func(int) float64 { return 1e307 * rng.NormFloat64() }, one},
	} {
		for _, d := range []int{1, 3, 9} {
			p := &seed.Points{N: 12_345, D: d}
			for i := range p.N {
				for range d {
					p.X = append(p.X, c.x(i))
				}
				p.W = append(p.W, c.w(i))
			}
			theta := slices.Clone(p.X[:2*d])
			for theta[0] == theta[d] && name != "a constant" {
				i := d * rng.IntN(p.N)
				copy(theta[d:], p.X[i:i+d])
			}
			if name == "a constant" {
				theta = theta[:d]
			}
			if name == "huge" { // two centres that differ little: distances overflow for no row
				theta = theta[:d]
			}
			m := &Medians{Points: p, Threads: 3}
			got, err := m.Eval(context.Background(), theta, hardBeta)
			if err != nil {
				t.Fatal(err)
			}
			labels, next := bySorting(p, theta)
			if !slices.Equal(got.Next, next) {
				t.Errorf("%s, %d columns: medians %v, want %v", name, d, got.Next, next)
			}
			weights := make([]float64, len(got.Weights))
			for i, c := range labels {
				weights[c] += p.W[i]
			}
			if !slices.Equal(got.Weights, weights) {
				t.Errorf("%s, %d columns: weights %v, want %v", name, d, got.Weights, weights)
			}
		}
	}
}

// The values 0, 1, ... and brackets whose ends are among them. A bracket that does not tell both ends of the interval of
// medians must say so: then all values are looked at.
func TestABracketTellsTheMedianOrThatItDoesNot(t *testing.T) {
	for _, c := range []struct {
		n            int
		lo, hi       float64
		ok           bool
		lower, upper float64
	}{
		{10, 4, 5, true, 4, 5}, {10, 4, 7, true, 4, 5}, {10, 2, 5, true, 4, 5}, {10, 2, 7, true, 4, 5}, {10, 0, 9, true, 4, 5},
		{n: 10, lo: 4, hi: 4}, {n: 10, lo: 2, hi: 4}, {n: 10, lo: 5, hi: 7}, {n: 10, lo: 5, hi: 5}, {n: 10, lo: 0, hi: 3}, {n: 10, lo: 6, hi: 9},
		{9, 4, 4, true, 4, 4}, {9, 2, 4, true, 4, 4}, {9, 4, 6, true, 4, 4}, {9, 3, 5, true, 4, 4}, {9, 0, 8, true, 4, 4},
		{n: 9, lo: 5, hi: 6}, {n: 9, lo: 2, hi: 3}, {n: 9, lo: math.Inf(1), hi: math.Inf(1)},
	} {
		var values []float64
		for i := range c.n {
			values = append(values, float64(i*7%c.n))
		}
		s := newStep(column(values...), 1, 1)
		if err := s.assign(context.Background(), []float64{0}); err != nil {
			t.Fatal(err)
		}
		for i := range s.table {
			s.table[i] = math.Inf(1)
		}
		s.setBracket(0, c.lo, c.hi)
		s.tally(&s.pieces[0], s.workers[0])
		s.merge()
		lower, upper, ok := s.search(0, s.workers[0])
		if ok != c.ok || ok && (lower != c.lower || upper != c.upper) {
			t.Errorf("%+v: [%v, %v] found %v", c, lower, upper, ok)
		}
	}
}

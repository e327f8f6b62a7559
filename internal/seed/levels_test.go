package seed_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/seed"
)

// levelPoints returns n rows of levels drawn around k patterns, with weights.
func levelPoints(s uint64, n, k int, levels []int) *seed.Points {
	rng := rand.New(rand.NewPCG(s, 3))
	p := &seed.Points{N: n, D: len(levels)}
	for i := range n {
		for j, l := range levels {
			x := (i%k + j) % l
			if rng.IntN(3) == 0 {
				x = rng.IntN(l)
			}
			p.X = append(p.X, float64(x))
		}
		p.W, p.Row = append(p.W, 0.5+rng.Float64()), append(p.Row, int64(i))
	}
	return p.OfLevels(levels)
}

// indicators returns the points with an axis for every level of every column.
func indicators(p *seed.Points) *seed.Points {
	q := &seed.Points{N: p.N, W: p.W, Row: p.Row}
	for i := range p.N {
		for j, x := range p.At(i) {
			for l := range p.Levels[j] {
				v := 0.0
				if float64(l) == x {
					v = 1
				}
				q.X = append(q.X, v)
			}
		}
	}
	q.D = len(q.X) / q.N
	return q
}

func TestLevelsAreDrawnAndGroupedAsTheirIndicators(t *testing.T) {
	moved := 0
	for s := range uint64(30) {
		p := levelPoints(s, 120, 4, []int{3, 5, 2, 7, 4})
		q := indicators(p)
		a := seed.PlusPlus(p, 4, 3, 2, rand.New(rand.NewPCG(s, 1)).Float64)
		b := seed.PlusPlus(q, 4, 3, 2, rand.New(rand.NewPCG(s, 1)).Float64)
		if !slices.Equal(a, b) {
			t.Errorf("seed %d: rows %v are drawn, by indicators %v", s, a, b)
		}
		var at, axes []float64
		for _, i := range a {
			at, axes = append(at, p.At(i)...), append(axes, q.At(i)...)
		}
		first := seed.Nearest(p, at, 2)
		if want := seed.Nearest(q, axes, 2); !slices.Equal(first, want) {
			t.Errorf("seed %d: nearest %v, by indicators %v", s, first, want)
		}
		got, err := seed.Lloyd(context.Background(), p, a, 1)
		want, err2 := seed.Lloyd(context.Background(), q, a, 1)
		if err != nil || err2 != nil || !slices.Equal(got, want) {
			t.Errorf("seed %d: labels %v (%v), by indicators %v (%v)", s, got, err, want, err2)
		}
		if !slices.Equal(got, first) {
			moved++
		}
	}
	if moved < 20 {
		t.Errorf("k-means moved labels in %d of 30 sets only: the law was not tried", moved)
	}
}

func TestLloydOfLevelsStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := seed.Lloyd(ctx, levelPoints(1, 20, 2, []int{3, 3}), []int{0, 1}, 1); err != context.Canceled {
		t.Errorf("error %v", err)
	}
}

package hard

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/seed"
)

// cheapest returns the least SSE + penalty k of all partitions, by dynamic programming over subsets.
func cheapest(p *seed.Points, penalty float64) float64 {
	cost := make([]float64, 1<<p.N)
	for set := 1; set < len(cost); set++ {
		mean, w, sum := make([]float64, p.D), 0.0, penalty
		for i := range p.N {
			if set>>i&1 == 1 {
				w += p.W[i]
				for j, x := range p.At(i) {
					mean[j] += p.W[i] * x
				}
			}
		}
		for i := range p.N {
			if set>>i&1 == 1 {
				for j, x := range p.At(i) {
					sum += p.W[i] * (x - mean[j]/w) * (x - mean[j]/w)
				}
			}
		}
		cost[set] = sum
	}
	least := make([]float64, len(cost))
	for set := 1; set < len(cost); set++ {
		least[set] = cost[set]
		first := 1 << bits.TrailingZeros(uint(set))
		for part := (set - 1) & set; part > 0; part = (part - 1) & set {
			if part&first != 0 {
				least[set] = min(least[set], cost[part]+least[set^part])
			}
		}
	}
	return least[len(cost)-1]
}

// smallTable draws up to nine rows, some equal, some weighted, in up to three columns, and a penalty.
func smallTable(s uint64) (p *seed.Points, penalty float64) {
	rng := rand.New(rand.NewPCG(s, 9))
	p = &seed.Points{N: 4 + rng.IntN(6), D: 1 + rng.IntN(3)}
	for i := range p.N {
		for range p.D {
			v := rng.NormFloat64()
			if s%3 == 0 { // on a grid, with equal rows
				v = float64(rng.IntN(4))
			}
			if s%5 == 0 {
				v += 3 * float64(i%3)
			}
			p.X = append(p.X, v)
		}
		w := 1.0
		switch s % 4 {
		case 1:
			w = float64(1 + rng.IntN(3))
		case 2:
			w = 0.2 + rng.Float64()
		}
		p.W = append(p.W, w)
	}
	return p, math.Exp(4*rng.Float64() - 2)
}

func ends(t *testing.T, p *seed.Points, penalty float64, search bool) *ascent.Point {
	t.Helper()
	d := DPMeans{Penalty: penalty, MaxIter: 1000}
	if search {
		d.Points = p
	}
	var last ascent.Step
	var err error
	objective := math.Inf(-1)
	for last, err = range d.Steps(context.Background(), sweeper(p, 1), overallMean(p), p.D) {
		if err != nil {
			t.Fatal(err)
		}
		if last.Point.F < objective-1e-12*math.Abs(objective) {
			t.Errorf("the objective rises from %v to %v", -objective, -last.Point.F)
		}
		objective = last.Point.F
	}
	if last.Done != ascent.FixedPoint {
		t.Errorf("not at rest: %v", last.Done)
	}
	return last.Point
}

// opens reports whether a row is farther from the overall mean than the penalty allows.
func opens(p *seed.Points, penalty float64) bool {
	mean := overallMean(p)
	return slices.ContainsFunc(slices.Collect(slices.Chunk(p.X, p.D)), func(x []float64) bool { return sqdist(x, mean) > penalty })
}

func TestDPMeansFindsTheCheapestPartitionOfSmallTables(t *testing.T) {
	const tables = 2000
	tried, plain, missed := 0, 0, 0
	for s := range uint64(tables) {
		p, penalty := smallTable(s)
		got := -ends(t, p, penalty, true).F
		if !opens(p, penalty) {
			if got != -ends(t, p, penalty, false).F {
				t.Errorf("table %d: no row is too far, but the end is another", s)
			}
			continue
		}
		tried++
		want := cheapest(p, penalty)
		if got < want*(1-1e-12) {
			t.Fatalf("table %d: %v is less than any partition costs, %v", s, got, want)
		}
		if got > want*(1+1e-9) {
			missed++

		}
		if -ends(t, p, penalty, false).F > want*(1+1e-9) {
			plain++
		}
	}
	t.Logf("of %d tables the optimum is missed in %d, without the search in %d", tried, missed, plain)
	if missed > 0 || plain < 100 || tried < 1000 {
		t.Errorf("of %d tables the optimum is missed in %d, without the search in %d", tried, missed, plain)
	}
}

// A table that DP-means alone leaves above its optimum: it opens a cluster for the row that is farthest at first.
func TestDPMeansOnOneColumnIsExact(t *testing.T) {
	better := 0
	for s := range uint64(200) {
		rng := rand.New(rand.NewPCG(s, 3))
		p := &seed.Points{N: 11, D: 1}
		for range p.N {
			p.X, p.W = append(p.X, math.Round(20*rng.NormFloat64())/4), append(p.W, 0.5+rng.Float64())
		}
		penalty := math.Exp(5*rng.Float64() - 2)
		if !opens(p, penalty) {
			continue
		}
		got, want := -ends(t, p, penalty, true).F, cheapest(p, penalty)
		within(t, "objective", got, want, 1e-9*want)
		if -ends(t, p, penalty, false).F > got*(1+1e-9) {
			better++
		}
	}
	if better < 20 {
		t.Errorf("only %d tables tell the search from none", better)
	}
}

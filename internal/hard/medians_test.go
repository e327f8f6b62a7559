package hard

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
	"github.com/latent-go/latent/internal/sweep"
)

// labelsOf returns the labels that a pass over all the rows gives.
func labelsOf(t *testing.T, f family.Family, p *seed.Points, theta []float64) (labels []int32) {
	t.Helper()
	m := &mixture.Mixture{Family: f, K: len(theta) / p.D, D: p.D}
	err := sweeper(p, 2).Rows(context.Background(), m, theta, func(r *sweep.Scored) error {
		labels = append(labels, r.Label...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return labels
}

func TestStoredStepsOfKMedians(t *testing.T) {
	for _, file := range []string{"generated.json", "generated-weighted.json", "iris-mm.json", "iris-mm-weighted.json"} {
		s := load(t, file)
		all, p := points(s.Data.Rows, nil), points(s.Data.Rows, s.RowWeights)
		for _, c := range s.Cases {
			t.Run(file+"/"+c.Name, func(t *testing.T) {
				theta := flat(c.Start)
				for _, after := range c.After { // the bounds of the interval, from the stored labels before the step
					for _, prior := range c.After {
						if prior.Steps == after.Steps-1 {
							boundsAre(t, s, prior.Labels, after.Lower, after.Upper)
						}
					}
				}
				if c.Rule != "midpoint" {
					return
				}
				steps := climb(t, lloyd(100), &Medians{Points: p, Threads: 2}, theta)
				at := func(i int) *ascent.Point { return steps[min(i, len(steps)-1)].Point } // the stored runs repeat their end
				for i, want := range c.CostByStep {
					within(t, "cost", -at(i).F, want, 1e-12*want)
				}
				for _, after := range c.After {
					got := at(after.Steps)
					for i, want := range flat(after.Centres) {
						within(t, "centre", got.Theta[i], want, 1e-12*(1+math.Abs(want)))
					}
					if !slices.Equal(labelsOf(t, family.KMedians{}, all, got.Theta), after.Labels) {
						t.Errorf("labels differ after %d steps", after.Steps)
					}
				}
				if last := steps[len(steps)-1]; last.Done != ascent.FixedPoint || len(steps) < len(c.CostByStep)-1 {
					t.Errorf("%d evaluations end for reason %v; the stored run has %d", len(steps), last.Done, len(c.CostByStep))
				}
			})
		}
	}
}

func boundsAre(t *testing.T, s *stored, labels []int32, lower, upper [][]float64) {
	t.Helper()
	for c := range lower {
		for j := range lower[c] {
			var v []weighted
			for i, row := range s.Data.Rows {
				w := 1.0
				if s.RowWeights != nil {
					w = s.RowWeights[i]
				}
				if labels[i] == int32(c) && w > 0 {
					v = append(v, weighted{row[j], w})
				}
			}
			if l, u := interval(v); l != lower[c][j] || u != upper[c][j] {
				t.Errorf("cluster %d, column %d: [%v, %v], want [%v, %v]", c, j, l, u, lower[c][j], upper[c][j])
			}
		}
	}
}

func TestBestOfManyStartsIsTheOptimumOverAllPartitions(t *testing.T) {
	for _, c := range load(t, "small-exact.json").Cases {
		p := points(c.Rows, c.RowWeights)
		best := math.Inf(1)
		for start := range 60 {
			steps := climb(t, lloyd(100), &Medians{Points: p}, rowsOf(p, seed.Random(p, c.K, rng.Starts.At(1, start))))
			best = min(best, -steps[len(steps)-1].Point.F)
		}
		within(t, c.Name, best, c.OptimalCost, 1e-12*c.OptimalCost)
	}
}

func TestEveryColumnHasAMedianOfItsOwn(t *testing.T) {
	p := points([][]float64{{0, 10}, {1, 0}, {8, 5}, {100, 100}, {101, 102}, {102, 101}, {103, 103}}, nil)
	steps := climb(t, lloyd(100), &Medians{Points: p}, []float64{0, 10, 103, 103})
	last := steps[len(steps)-1].Point
	if !slices.Equal(last.Theta, []float64{1, 5, 101.5, 101.5}) || last.F != -26 {
		t.Errorf("centres %v, cost %v; want (1,5), (101.5,101.5) and 26", last.Theta, -last.F)
	}
	if !slices.Equal(last.Weights, []float64{3, 4}) {
		t.Errorf("weights %v", last.Weights)
	}
}

// F never falls, and Lifted is F of the new centres with the old labels.
func TestNoHalfOfAStepRaisesTheCost(t *testing.T) {
	for s := range uint64(20) {
		p := normal(s, 150, 3, 4)
		for i := range p.W {
			p.W[i] = float64(1+i%5) / 3
		}
		theta := slices.Clone(p.X[:5*3])
		steps := climb(t, lloyd(200), &Medians{Points: p, Threads: 2}, theta)
		for i, step := range steps {
			labels := labelsOf(t, family.KMedians{}, p, step.Point.Theta)
			f := 0.0
			for r, c := range labels {
				for j, x := range p.At(r) {
					f -= p.W[r] * math.Abs(x-step.Point.Next[int(c)*3+j])
				}
			}
			within(t, "lifted", step.Point.Lifted, f, 1e-12*math.Abs(f))
			if tol := 1e-12 * math.Abs(f); step.Point.Lifted < step.Point.F-tol || i > 0 && step.Point.F < steps[i-1].Point.Lifted-tol {
				t.Fatalf("seed %d, step %d: F %v, lifted %v", s, i, step.Point.F, step.Point.Lifted)
			}
		}
		if steps[len(steps)-1].Done != ascent.FixedPoint {
			t.Errorf("seed %d: not at rest", s)
		}
	}
}

func TestEmptyClusterTakesTheFarthestRow(t *testing.T) {
	p := column(10, 20, 30, 31)
	steps := climb(t, lloyd(100), &Medians{Points: p}, []float64{1000, -1000, 25})
	first, last := steps[0].Point, steps[len(steps)-1].Point
	// 10 is farthest from 25, then 31; what is left is 20 and 30.
	if !slices.Equal(first.Next, []float64{10, 31, 25}) || !slices.Equal(first.Weights, []float64{0, 0, 4}) {
		t.Errorf("the first step goes to %v from weights %v", first.Next, first.Weights)
	}
	if first.F != -(15+5+5+6) || first.Lifted != -10 {
		t.Errorf("F %v, lifted %v; want -31 and -10", first.F, first.Lifted)
	}
	if last.F != -1 || slices.Min(last.Weights) == 0 {
		t.Errorf("cost %v, weights %v; want 1", -last.F, last.Weights)
	}
	// 0 is the farthest, but alone; then comes 24.
	lone := climb(t, lloyd(0), &Medians{Points: column(0, 18, 24)}, []float64{5, 1000, 20})[0].Point
	if !slices.Equal(lone.Next, []float64{0, 24, 18}) {
		t.Errorf("the step goes to %v, want 0, 24, 18", lone.Next)
	}
	// Three rows are the farthest, but leave nothing gained: the climb must not end before the fourth has moved.
	p = column(5, 5, 5, 9)
	steps = climb(t, lloyd(100), &Medians{Points: p}, []float64{1000, 2000})
	if last := steps[len(steps)-1]; last.Point.F != 0 || last.Done != ascent.FixedPoint {
		t.Errorf("cost %v, want 0", -last.Point.F)
	}
	// With fewer distinct rows than clusters it ends, with centres that are finite.
	steps = climb(t, lloyd(100), &Medians{Points: column(-3, -3, -3)}, []float64{-3, -3, 4})
	if last := steps[len(steps)-1]; last.Point.F != 0 || last.Done != ascent.FixedPoint || slices.Max(last.Point.Weights) != 3 {
		t.Errorf("ends with %+v", last.Point)
	}
}

func TestRowWeightIsANumberOfRepeats(t *testing.T) {
	p, more := normal(3, 60, 2, 3), &seed.Points{D: 2}
	for i := range p.N {
		p.W[i] = float64(1 + i%3)
		for range 1 + i%3 {
			more.X, more.W, more.N = append(more.X, p.At(i)...), append(more.W, 1), more.N+1
		}
	}
	a := climb(t, lloyd(100), &Medians{Points: p}, p.X[:6])
	b := climb(t, lloyd(100), &Medians{Points: more}, p.X[:6])
	if len(a) != len(b) || len(a) < 3 {
		t.Fatalf("%d and %d steps", len(a), len(b))
	}
	for i := range a {
		if !slices.Equal(a[i].Point.Next, b[i].Point.Next) || !slices.Equal(a[i].Point.Weights, b[i].Point.Weights) {
			t.Errorf("step %d goes to %v and %v", i, a[i].Point.Next, b[i].Point.Next)
		}
	}
}

func TestMediansAreTheSameBitsForAnyNumberOfThreads(t *testing.T) {
	p := normal(5, 20_000, 4, 9)
	for i := range p.W {
		p.W[i] = 0.1 + float64(i%7)/3
	}
	var want []ascent.Step
	for _, threads := range []int{0, 1, 2, 3, 7, 8} {
		got := climb(t, lloyd(6), &Medians{Points: p, Threads: threads}, p.X[:9*4])
		if want == nil {
			want = got
		}
		for i, s := range got {
			if w := want[i].Point; s.Point.F != w.F || s.Point.Lifted != w.Lifted || s.Point.Labels != w.Labels || !slices.Equal(s.Point.Next, w.Next) {
				t.Fatalf("%d threads: step %d differs", threads, i)
			}
		}
	}
}

func TestMediansRefuseSoftLabelsAndStopWithTheirContext(t *testing.T) {
	m := &Medians{Points: column(1, 2, 3)}
	if _, err := m.Eval(context.Background(), []float64{1}, 1); err == nil {
		t.Error("beta 1 is accepted")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.Eval(ctx, []float64{1}, hardBeta); err != context.Canceled {
		t.Errorf("error %v, want that of the context", err)
	}
}

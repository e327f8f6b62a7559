package sweep_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/sweep"
)

// Two starts and a mixture share the sweeps; the starts hand on their states.
func TestSweepsWithAStateAgreeWithPlainOnes(t *testing.T) {
	const d, k = 3, 5
	ctx := context.Background()
	for _, n := range []int{1, 33, 5000} {
		table := blobs(n, d)
		for _, src := range []data.Source{table, &stream{Table: table}} {
			l := sweep.NewLocal(src, int64(n), []float64{4, 8, 0}, 2)
			m := &mixture.Mixture{Family: family.KMeans{}, K: k, D: d}
			a, b := make([]float64, k*d), make([]float64, k*d)
			for i := range a {
				a[i], b[i] = float64(i%7), float64(i*i%11)-3
			}
			states := []*sweep.State{new(sweep.State), new(sweep.State)}
			for range 6 {
				plain := []sweep.Task{{Mixture: m, Theta: a, Beta: math.Inf(1)}, tasks(d)[0], {Mixture: m, Theta: b, Beta: math.Inf(1)}}
				short := slices.Clone(plain)
				short[0].State, short[2].State = states[0], states[1]
				want, err := l.Sweep(ctx, plain)
				got, err2 := l.Sweep(ctx, short)
				if err != nil || err2 != nil {
					t.Fatal(err, err2)
				}
				if text(got[1:2]) != text(want[1:2]) {
					t.Fatal("the mixture's sums differ")
				}
				for _, at := range []int{0, 2} {
					g, w := got[at], want[at]
					if g.Rows != w.Rows || math.Abs(g.W-w.W) > 1e-13*w.W || math.Abs(g.F-w.F) > 1e-11*math.Abs(w.F) || !slices.Equal(g.N, w.N) {
						t.Fatalf("n %d, %T: %d rows, W %v, F %v, N %v, want %d, %v, %v, %v", n, src, g.Rows, g.W, g.F, g.N, w.Rows, w.W, w.F, w.N)
					}
					for i, v := range w.Sum {
						if math.Abs(g.Sum[i]-v) > 1e-13*float64(n)*20 {
							t.Fatalf("n %d, %T: sum %v, want %v", n, src, g.Sum[i], v)
						}
					}
					if slices.Contains(w.N, 0) && len(g.Far) != len(w.Far) {
						t.Fatalf("%d rows far away, want %d", len(g.Far), len(w.Far))
					}
					for i := range g.Far {
						if g.Far[i].Row != w.Far[i].Row || g.Far[i].Score != w.Far[i].Score || g.Far[i].Label != w.Far[i].Label {
							t.Fatalf("far away is %+v, want %+v", g.Far[i], w.Far[i])
						}
					}
				}
				m.MStep(a, a, want[0])
				m.MStep(b, b, want[2])
			}
		}
	}
}

func TestCancelledSweepWithAStateLeavesItGood(t *testing.T) {
	const d, k = 2, 4
	table, task := blobs(20000, d), tasks(d)[1]
	l := sweep.NewLocal(table, 20000, []float64{0, 0}, 2)
	want, err := l.Sweep(context.Background(), []sweep.Task{task})
	if err != nil {
		t.Fatal(err)
	}
	task.State = new(sweep.State)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 3 {
		if _, err := l.Sweep(ctx, []sweep.Task{task}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		got, err := l.Sweep(context.Background(), []sweep.Task{task})
		if err != nil || !slices.Equal(got[0].N, want[0].N) || math.Abs(got[0].F-want[0].F) > 1e-11*math.Abs(want[0].F) {
			t.Fatalf("%v, N %v, F %v, want %v, %v", err, got[0].N, got[0].F, want[0].N, want[0].F)
		}
	}
}

// Where the rows are, how many threads there are and what the processor can do changes no bit.
func TestSweepsWithAStateHaveTheSameBitsEverywhere(t *testing.T) {
	for _, c := range []struct {
		d, k  int
		scale float64 // of the distances between clusters
	}{{1, 3, 1}, {3, 5, 1}, {3, 5, 1e4}, {40, 7, 1}} {
		const n = 3000
		table := blobs(n, c.d)
		for i := range table.F64 {
			table.F64[i] += math.Trunc(table.F64[i]) * (c.scale - 1)
		}
		origin, m, want := slices.Repeat([]float64{2}, c.d), &mixture.Mixture{Family: family.KMeans{}, K: c.k, D: c.d}, ""
		for _, level := range kern.Levels() {
			restore := kern.Use(level)
			for _, threads := range []int{1, 3} {
				for _, src := range []data.Source{table, &stream{Table: table}} {
					l, state, got := sweep.NewLocal(src, n, origin, threads), new(sweep.State), ""
					theta := slices.Clone(table.F64[:c.k*c.d])
					for i := range c.d {
						theta[i] = 1e6 // nobody's: its cluster is empty
					}
					for range 6 {
						s, err := l.Sweep(context.Background(), []sweep.Task{{Mixture: m, Theta: theta, Beta: math.Inf(1), State: state}})
						if err != nil {
							t.Fatal(err)
						}
						got += text(s)
						m.MStep(theta, theta, s[0])
					}
					if want == "" {
						want = got
					}
					if got != want {
						t.Errorf("%+v, %v, %d threads, %T: sums differ", c, level, threads, src)
					}
				}
			}
			restore()
		}
	}
}

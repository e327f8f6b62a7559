package nearest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
)

// Whole fits, with bounds whatever they cost, on rows full of ties and near ties. Centres move to the means of their rows, by
// rounding errors, along the line to another centre, and now and then anywhere.
func TestBoundedSweepsAreThoseOfAPlainLoop(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		left := map[string]int64{}
		for _, kind := range kinds {
			for _, c := range []struct{ n, d, k int }{{700, 1, 5}, {700, 2, 2}, {900, 3, 13}, {300, 33, 7}, {200, 130, 3}} {
				for _, pass := range passes() {
					rng := rand.New(rand.NewPCG(uint64(c.n), uint64(c.d)))
					x, theta := kind.make(rng, c.n, c.d, c.k)
					table, origin := &data.Table{N: c.n, D: c.d, F64: x}, make([]float64, c.d)
					if c.k%2 == 1 {
						table = &data.Table{N: c.n, D: c.d}
						for _, v := range x {
							table.F32 = append(table.F32, float32(v))
						}
					}
					e, st := New(table, origin, 2), new(State)
					if e.force(pass); e.top == 0 {
						continue
					}
					for step := range 24 {
						if e.share = 2; step%8 > 5 { // not at every sweep, so that dues lie still for some
							e.share = 1e-9
						}
						what := fmt.Sprintf("%s, %+v, %s, sweep %d", kind.name, c, pass, step)
						check(t, what, e, st, table, origin, theta, c.k)
						left[pass] += st.tested - st.compared
						a, b := rng.IntN(c.k), rng.IntN(c.k)
						switch {
						case step == 11:
							slices.Reverse(theta)
						case step%3 == 0:
							_, n, sum, _ := loop(table, origin, theta, c.k)
							for i := range theta {
								if n[i/c.d] > 0 {
									theta[i] = sum[i] / n[i/c.d]
								}
							}
						case step%3 == 1:
							for i := range theta {
								theta[i] *= 1 + 0x1p-50*rng.NormFloat64()
							}
						default: // nearer to another: rows between them come close to a tie
							for j := range c.d {
								theta[a*c.d+j] += 0x1p-9 * (theta[b*c.d+j] - theta[a*c.d+j])
							}
						}
					}
				}
			}
		}
		for pass, n := range left {
			if n < 10000 {
				t.Errorf("%s: only %d rows were left out: nothing was tested", pass, n)
			}
		}
	})
}

// Rows that lie between two centres at hairs' breadths from the tie, centres that move a hair at a time: labels change one
// row at a time, and each has to be seen.
func TestBoundsSeeEveryRowThatCrosses(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, d := range []int{1, 3, 40} {
			for _, pass := range passes() {
				const n, k = 800, 3
				rng := rand.New(rand.NewPCG(3, uint64(d)))
				table := &data.Table{N: n, D: d, F64: make([]float64, n*d)}
				for i := range n {
					for j := range d {
						table.F64[i*d+j] = rng.NormFloat64()
					}
					table.F64[i*d] = 1e-3 * float64(i-n/2) / n
					if i%3 == 0 {
						table.F64[i*d] = 4 * rng.NormFloat64()
					}
				}
				theta := make([]float64, k*d)
				theta[0], theta[d], theta[2*d] = -1, 1, 30
				e, st := New(table, make([]float64, d), 1), new(State)
				e.force(pass)
				e.share = 2
				moved := 0
				for range 60 {
					check(t, fmt.Sprintf("d %d, %s", d, pass), e, st, table, e.origin, theta, k)
					if st.Moved() {
						moved++
					}
					theta[0] += 2e-5
				}
				if moved < 30 {
					t.Errorf("d %d, %s: labels changed in %d sweeps only", d, pass, moved)
				}
			}
		}
	})
}

// Several starts in one sweep give what each gives alone, to the bit, with bounds, without and where counts decide.
// Labels change while bounds are kept for samples alone; those of before say nothing when all rows have bounds again.
func TestBoundsThatWereLeftAreSetAnew(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		const n, d, k = 40_000, 3, 6
		rng := rand.New(rand.NewPCG(14, 0))
		table, origin := &data.Table{N: n, D: d}, make([]float64, d)
		for range n * d {
			table.F32 = append(table.F32, float32(rng.NormFloat64()))
		}
		theta := make([]float64, k*d)
		for i := range theta {
			theta[i] = rng.NormFloat64()
		}
		e, st := New(table, origin, 2), new(State)
		var modes []mode
		for sweep := range 12 {
			e.share = 2
			if sweep%6 > 3 {
				e.share = 1e-9
			}
			check(t, fmt.Sprintf("sweep %d", sweep), e, st, table, origin, theta, k)
			modes = append(modes, st.bounds.mode)
			for i := range theta {
				theta[i] += 0.1 * rng.NormFloat64()
			}
		}
		if !slices.Contains(modes[:5], bounding) || !slices.Contains(modes[4:9], sampling) || !slices.Contains(modes[8:], bounding) {
			t.Errorf("modes %v", modes)
		}
	})
}

func TestStartsShareASweep(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, c := range []struct{ n, d int }{{9000, 3}, {2000, 40}} {
			const k, starts = 9, 4
			rng := rand.New(rand.NewPCG(5, uint64(c.d)))
			x, _ := kind("blobs")(rng, c.n, c.d, k)
			table := &data.Table{N: c.n, D: c.d}
			for _, v := range x {
				table.F32 = append(table.F32, float32(v))
			}
			climb := func(threads int, together bool, set func(*Engine)) (text string) {
				e := New(table, make([]float64, c.d), threads)
				set(e)
				tasks := make([]Task, starts)
				for i := range tasks {
					kk := k + i/2 // two sizes
					tasks[i] = Task{State: new(State), K: kk, Theta: slices.Clone(x[i*100*c.d:][:kk*c.d]), Stats: family.NewStats(kk, c.d, kk*c.d, 3)}
				}
				for range 12 {
					for i := range tasks {
						tasks[i].Stats.Reset()
					}
					sets := [][]Task{tasks}
					if !together {
						sets = nil
						for i := range tasks {
							sets = append(sets, tasks[i:i+1])
						}
					}
					for _, s := range sets {
						if err := e.Sweep(context.Background(), s); err != nil {
							t.Fatal(err)
						}
					}
					for i := range tasks {
						s := tasks[i].Stats
						text += fmt.Sprintf("%v %b %b %b %v\n", tasks[i].Done, s.N, s.Sum, s.F, s.Far)
						family.KMeans{}.MStep(tasks[i].Theta, tasks[i].Theta, s)
					}
				}
				return text
			}
			want := climb(1, false, func(e *Engine) { e.share = -1 })
			for _, threads := range []int{1, 3} {
				for _, together := range []bool{false, true} {
					for name, set := range map[string]func(*Engine){"counts decide": func(*Engine) {}, "bounds": func(e *Engine) { e.share = 2 }, "no bounds": func(e *Engine) { e.share = -1 }} {
						if climb(threads, together, set) != want {
							t.Errorf("d %d, %d threads, together %v, %s: sums differ", c.d, threads, together, name)
						}
					}
				}
			}
		}
	})
}

// Well separated rows at rest need no comparison; rows of noise among centres that go anywhere need them all.
func TestBoundsAreUsedWhereTheyPay(t *testing.T) {
	const n, d, k = 40000, 4, 40
	rng := rand.New(rand.NewPCG(7, 7))
	x, theta := kind("blobs")(rng, n, d, k)
	e, st := New(&data.Table{N: n, D: d, F64: x}, make([]float64, d), 2), new(State)
	s := family.NewStats(k, d, k*d, 3)
	for range 60 {
		s.Reset()
		if _, err := sweep1(e, st, theta, k, s); err != nil {
			t.Fatal(err)
		}
		family.KMeans{}.MStep(theta, theta, s)
	}
	if st.bounds.mode != bounding || st.tested != n || st.compared*4 > n {
		t.Errorf("at rest %d of %d rows are compared, mode %d", st.compared, st.tested, st.bounds.mode)
	}
	for range 3 {
		for i := range theta {
			theta[i] += math.Sqrt2 * rng.NormFloat64()
		}
		s.Reset()
		if _, err := sweep1(e, st, theta, k, s); err != nil {
			t.Fatal(err)
		}
	}
	if st.bounds.mode != sampling || st.tested*8 > n {
		t.Errorf("in turmoil %d of %d rows are compared, mode %d", st.compared, st.tested, st.bounds.mode)
	}
}

// A sweep that is cancelled leaves dues that are as good as before.
func TestBoundsOutliveACancelledSweep(t *testing.T) {
	const n, d, k = 5000, 2, 7
	rng := rand.New(rand.NewPCG(9, 9))
	x, theta := kind("blobs")(rng, n, d, k)
	table := &data.Table{N: n, D: d, F64: x}
	e, st := New(table, make([]float64, d), 1), new(State)
	e.share = 2
	for range 10 {
		check(t, "a sweep", e, st, table, e.origin, theta, k)
		ctx, cancel := context.WithCancel(context.Background())
		for i := range theta {
			theta[i] += 0.02 * rng.NormFloat64()
		}
		cancel()
		if err := e.Sweep(ctx, []Task{{State: st, Theta: theta, K: k, Stats: family.NewStats(k, d, k*d, 0)}}); err == nil {
			t.Fatal("not cancelled")
		}
		for i := range theta {
			theta[i] += 0.02 * rng.NormFloat64()
		}
	}
}

// Two centres side by side, rows far away on the other side of the mean, and the nearer centre that backs off: the difference of
// the distances shrinks as fast as it can.
func TestBoundsHoldFarFromTheCentres(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, d := range []int{2, 40} {
			for _, pass := range passes() {
				const n, k = 600, 2
				rng := rand.New(rand.NewPCG(8, uint64(d)))
				table := &data.Table{N: n, D: d, F64: make([]float64, n*d)}
				for i := range n {
					row := table.F64[i*d : i*d+d]
					row[0], row[1] = 30, 3*rng.Float64()
					if i%2 == 0 {
						row[0], row[1] = -30, 10*rng.NormFloat64()
					}
				}
				theta := make([]float64, k*d)
				theta[0], theta[1], theta[d], theta[d+1] = -30, 1, -30, -1
				e, st := New(table, make([]float64, d), 1), new(State)
				e.force(pass)
				e.share = 2
				crossed := int64(0)
				for step := range 50 {
					check(t, fmt.Sprintf("d %d, %s, sweep %d", d, pass, step), e, st, table, e.origin, theta, k)
					if step > 0 {
						for p := range st.part {
							crossed += st.part[p].changed
						}
					}
					theta[0] -= 2e-3
				}
				if crossed < n/3 {
					t.Errorf("d %d, %s: only %d labels changed", d, pass, crossed)
				}
			}
		}
	})
}

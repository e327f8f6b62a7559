package nearest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// Whole fits with lists of centres whatever they cost, on rows full of ties and near ties. Rows are laid out by label on the way. What bounds
// say of the centres that are left out is true of every row.
func TestListedSweepsAreThoseOfAPlainLoop(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		if !kern.HasPicked() {
			return // nothing is listed
		}
		var listed, offered int64
		for _, kind := range kinds {
			for _, c := range []struct{ n, d, k int }{{1100, 2, 40}, {1000, 3, 70}, {900, 37, 50}} {
				rng := rand.New(rand.NewPCG(uint64(c.n), uint64(c.d)))
				x, theta := kind.make(rng, c.n, c.d, c.k)
				table, origin := &data.Table{N: c.n, D: c.d, F64: x}, make([]float64, c.d)
				if c.d%2 == 1 {
					table = &data.Table{N: c.n, D: c.d}
					for _, v := range x {
						table.F32 = append(table.F32, float32(v))
					}
				}
				e, st := New(table, origin, 2), new(State)
				if e.force("bytes"); e.top == 0 {
					continue
				}
				e.share = 1e-9 // bounds of rows are kept, and leave nothing out
				for step := range 21 {
					check(t, fmt.Sprintf("%s, %+v, sweep %d", kind.name, c, step), e, st, table, origin, theta, c.k)
					for p := range st.part {
						listed, offered = listed+st.part[p].listed, offered+st.part[p].offered
					}
					boundsHold(t, fmt.Sprintf("%s, %+v, sweep %d", kind.name, c, step), e, st, theta)
					if e.ints == nil {
						break // so many are near that float32 is faster
					}
					if st.lists.mode = bounding; step == 8 {
						e.sort(st)
					}
					a, b := rng.IntN(c.k), rng.IntN(c.k)
					switch {
					case step == 12: // all at once
						slices.Reverse(theta)
					case step%3 == 0:
						_, n, sum, _ := loop(table, origin, theta, c.k)
						for i := range theta {
							if n[i/c.d] > 0 {
								theta[i] = sum[i] / n[i/c.d]
							}
						}
					case step%3 == 1: // nearer to another: rows between them come close to a tie
						for j := range c.d {
							theta[a*c.d+j] += 0x1p-9 * (theta[b*c.d+j] - theta[a*c.d+j])
						}
					default:
						copy(theta[a*c.d:(a+1)*c.d], theta[b*c.d:(b+1)*c.d])
					}
				}
			}
		}
		if offered-listed < 10_000 {
			t.Errorf("only %d of %d centres were left out: nothing was tested", offered-listed, offered)
		}
	})
}

// boundsHold checks in float64 that no row of a panel is nearer to a centre than its bound says.
func boundsHold(t *testing.T, what string, e *Engine, st *State, theta []float64) {
	t.Helper()
	l, d, k := &st.lists, e.d, st.k
	if l.bound == nil {
		return
	}
	y := make([]float64, d)
	for p := range l.panel {
		if !l.panel[p].set {
			continue
		}
		for j := range k {
			norm := 0.0
			for q, v := range theta[j*d : j*d+d] {
				norm += (v - e.mu[q]) * (v - e.mu[q])
			}
			margin := float64(l.bound[p*l.width+j]) + norm - float64(l.panel[p].z)*st.bounds.path[j] - l.panel[p].rise
			for r := range kern.Rows {
				lane := p*kern.Rows + r
				if lane >= e.n {
					break
				}
				e.row(y, e.rowOf(lane))
				score := norm
				for q, v := range theta[j*d : j*d+d] {
					score -= 2 * (y[q] - e.mu[q]) * (v - e.mu[q])
				}
				if score-float64(l.upper[lane]) < margin {
					t.Fatalf("%s: row %d in lane %d is nearer to centre %d than its panel's bound says: %v, %v", what, e.rowOf(lane), lane, j, score-float64(l.upper[lane]), margin)
				}
			}
		}
	}
}

// On overlapping groups most centres are left out once centres move little, with the same bits for any number of threads, and nothing is
// allocated any more.
func TestListsAreUsedWhereTheyPay(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		if !kern.HasPicked() {
			return
		}
		const n, d, k = 12_000, 32, 180
		table, theta := blobs(n, d, k)
		engines, states := []*Engine{New(table, make([]float64, d), 1), New(table, make([]float64, d), 2)}, []*State{new(State), new(State)}
		stats := []*family.Stats{family.NewStats(k, d, k*d, 3), family.NewStats(k, d, k*d, 3)}
		used := 0
		for step := range 25 {
			for i, e := range engines {
				stats[i].Reset()
				sweep1(e, states[i], theta, k, stats[i])
			}
			if !slices.Equal(stats[0].Sum, stats[1].Sum) || stats[0].F != stats[1].F {
				t.Fatalf("sweep %d: other sums with two threads", step)
			}
			if l := &states[1].lists; l.mode == bounding && l.share < 0.75 {
				used++
			}
			if step%6 == 0 || step == 24 {
				check(t, fmt.Sprintf("sweep %d", step), engines[1], states[1], table, engines[1].origin, theta, k)
			}
			family.KMeans{}.MStep(theta, theta, stats[1])
		}
		if used < 10 || engines[1].order == nil {
			t.Errorf("lists were used in %d of 25 sweeps, rows laid out by label: %v", used, engines[1].order != nil)
		}
		at, other := theta, slices.Clone(theta)
		for i := range other {
			other[i] += 1e-3
		}
		sweep := func() {
			sweep1(engines[1], states[1], at, k, stats[1])
			at, other = other, at
		}
		for range 4 {
			sweep()
		}
		if a := steadyAllocs(4, sweep); a > 0 {
			t.Errorf("%v allocations", a)
		}
	})
}

// With very many centres all panels have bounds as soon as fewer than half of the labels change, and lists come in the sweep after that; with fewer
// some panels have them, however many rows there are.
func TestListsBeginEarlyOrInSamples(t *testing.T) {
	if !kern.HasPicked() {
		return
	}
	for _, c := range []struct{ n, k int }{{15_000, 600}, {5000, 200}, {70_000, 200}, {140_000, 200}} {
		table, theta := blobs(c.n, 32, c.k)
		e, st, stats := New(table, make([]float64, 32), 2), new(State), family.NewStats(c.k, 32, c.k*32, 3)
		var offered, half int64
		for step := range 5 {
			stats.Reset()
			sweep1(e, st, theta, c.k, stats)
			var changed int64
			for p := range st.part {
				offered, changed = offered+st.part[p].offered, changed+st.part[p].changed
			}
			if half == 0 && step > 0 && 2*changed < int64(c.n) {
				half = int64(step)
			}
			if c.k == 600 && half > 0 && (e.order == nil || st.lists.mode != min(filling+mode(step)-mode(half), bounding)) {
				t.Errorf("%+v, sweep %d: fewer than half of the labels changed in sweep %d, and lists are in mode %d", c, step, half, st.lists.mode)
			}
			family.KMeans{}.MStep(theta, theta, stats)
		}
		if offered == 0 || half == 0 {
			t.Errorf("%+v: %d centres offered, fewer than half of the labels changed from sweep %d on", c, offered, half)
		}
	}
}

// Where there are no lists, as with words, rows stay where they are.
func TestRowsStayWhereThereAreNoLists(t *testing.T) {
	const n, d, k = 6000, 30, 500
	table, theta := blobs(n, d, k)
	e, st, stats := New(table, make([]float64, d), 2), new(State), family.NewStats(k, d, k*d, 3)
	e.prepare(k)
	e.force("words")
	for range 4 {
		stats.Reset()
		sweep1(e, st, theta, k, stats)
		family.KMeans{}.MStep(theta, theta, stats)
	}
	if st.lists.mode != sampling || e.order != nil || e.ints == nil {
		t.Errorf("lists are in mode %d, rows laid out by label: %v, in integers: %v", st.lists.mode, e.order != nil, e.ints != nil)
	}
}

// Starts that share a sweep stay what each is alone when rows are laid out by the labels of one: of states with as many parts, with more and
// with fewer, and of one that begins later.
func TestStatesFollowTheOrderOfRows(t *testing.T) {
	const n, d = 9000, 40
	table, theta := blobs(n, d, 90)
	origin := make([]float64, d)
	e := New(table, origin, 2)
	e.prepare(70)
	e.force("words") // of which hardly any are contested, however few centres
	states, ks := []*State{new(State), new(State), new(State), new(State)}, []int{70, 16, 90, 20}
	for step := range 5 {
		for i, st := range states[:min(3+step, 4)] {
			check(t, fmt.Sprintf("sweep %d of start %d", step, i), e, st, table, origin, theta[:ks[i]*d], ks[i])
		}
		if step == 1 {
			e.sort(states[0])
			for i, st := range states[:3] { // until its next sweep a state keeps its own
				want, _, _, _ := loop(table, origin, theta[:ks[i]*d], ks[i])
				for r, c := range want {
					if st.Label(r) != c {
						t.Fatalf("start %d: row %d has label %d, not %d, after rows were laid out anew", i, r, st.Label(r), c)
					}
				}
			}
		}
		for i := range theta {
			theta[i] *= 1 + 0x1p-6*math.Sin(float64(i+step))
		}
	}
	e.dense, e.ints = e.pack(), nil // float32 stands in the same order
	check(t, "in float32", e, states[0], table, origin, theta[:ks[0]*d], ks[0])
}

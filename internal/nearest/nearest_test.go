package nearest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// everyLevel runs a test at every level this machine has.
func everyLevel(t *testing.T, f func(t *testing.T)) {
	levels := kern.Levels()
	if testing.Short() { // the race detector takes ten times as long
		levels = levels[len(levels)-1:]
	}
	for _, l := range levels {
		t.Run(l.String(), func(t *testing.T) {
			defer kern.Use(l)()
			f(t)
		})
	}
}

// sweep1 is a sweep of one start.
func sweep1(e *Engine, st *State, theta []float64, k int, s *family.Stats) (bool, error) {
	one := [1]Task{{State: st, Theta: theta, K: k, Stats: s}}
	err := e.Sweep(context.Background(), one[:])
	return one[0].Done, err
}

// loop is one sweep by the definition.
func loop(t *data.Table, origin, theta []float64, k int) (label []int32, n, sum []float64, cost float64) {
	d := t.D
	n, sum = make([]float64, k), make([]float64, k*d)
	for i := range t.N {
		best, at := math.Inf(1), 0
		for c := range k {
			q := 0.0
			for j := range d {
				e := (t.At(i, j) - origin[j]) - theta[c*d+j]
				q += float64(e * e)
			}
			if q < best {
				best, at = q, c
			}
		}
		w := 1.0
		if t.W != nil {
			w = t.W[i]
		}
		label = append(label, int32(at))
		n[at] += w
		cost += w * best
		for j := range d {
			sum[at*d+j] += w * (t.At(i, j) - origin[j])
		}
	}
	return label, n, sum, cost
}

// check compares a sweep of the engine with the loop.
func check(t *testing.T, what string, e *Engine, st *State, table *data.Table, origin, theta []float64, k int) {
	t.Helper()
	s := family.NewStats(k, table.D, k*table.D, 0)
	if ok, err := sweep1(e, st, theta, k, s); !ok || err != nil {
		t.Fatalf("%s: refused", what)
	}
	label, n, sum, cost := loop(table, origin, theta, k)
	for i, want := range label {
		if got := st.Label(i); got != want {
			t.Fatalf("%s: row %d has label %d, want %d", what, i, got, want)
		}
	}
	top := 0.0
	for i := range table.N {
		for j := range table.D {
			top = max(top, math.Abs(table.At(i, j)-origin[j]))
		}
	}
	for c := range n {
		if math.Abs(s.N[c]-n[c]) > 1e-12*float64(table.N) || n[c] == 0 && s.N[c] != 0 {
			t.Fatalf("%s: N %v, want %v", what, s.N, n)
		}
	}
	for i := range sum {
		if math.Abs(s.Sum[i]-sum[i]) > 1e-13*top*float64(table.N) {
			t.Fatalf("%s: sum %d is %v, want %v", what, i, s.Sum[i], sum[i])
		}
	}
	if math.Abs(s.F+cost) > 1e-10*cost {
		t.Fatalf("%s: F %v, want %v", what, s.F, -cost)
	}
}

func TestLabelsAndSumsAreThoseOfAPlainLoop(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, kind := range kinds {
			for _, c := range []struct{ n, d, k int }{{1, 1, 1}, {5, 2, 3}, {31, 3, 2}, {600, 1, 5}, {333, 4, 13}, {400, 17, 30}, {300, 33, 7}, {300, 64, 40}, {64, 130, 3}} {
				for _, narrow := range []bool{false, true} {
					if testing.Short() && narrow != (c.k%2 == 0) {
						continue
					}
					rng := rand.New(rand.NewPCG(uint64(c.n), uint64(c.d)))
					x, theta := kind.make(rng, c.n, c.d, c.k)
					origin := make([]float64, c.d)
					if rng.IntN(2) == 0 {
						for j := range origin {
							origin[j] = float64(rng.IntN(5) - 2)
						}
					}
					table := &data.Table{N: c.n, D: c.d, F64: x}
					if narrow {
						table = &data.Table{N: c.n, D: c.d}
						for _, v := range x {
							table.F32 = append(table.F32, float32(v))
						}
					}
					if rng.IntN(2) == 0 {
						for range c.n {
							table.W = append(table.W, float64(rng.IntN(4))/2)
						}
						table.W[0] = 1
					}
					for _, pass := range passes() {
						what := fmt.Sprintf("%s, %+v, float32 %v, %s", kind.name, c, narrow, pass)
						threeSweeps(t, what, pass, table, origin, slices.Clone(theta), c.k)
					}
				}
			}
		}
	})
}

// passes are the fast passes of the level in use.
func passes() []string {
	all := []string{"dense"}
	for _, words := range []bool{false, true} {
		if kern.HasIntegers(words) {
			all = append(all, map[bool]string{false: "bytes", true: "words"}[words])
		}
	}
	return all
}

// force makes the engine take a pass whatever pays.
func (e *Engine) force(pass string) {
	e.mean()
	if pass == "dense" {
		e.dense = e.pack()
	} else {
		e.ints = e.quantise(pass == "words")
	}
}

func threeSweeps(t *testing.T, what, pass string, table *data.Table, origin, theta []float64, k int) {
	t.Helper()
	e := New(table, origin, 2)
	if e.force(pass); e.top == 0 {
		return // all rows are equal, perhaps to 0
	}
	st, d := new(State), table.D
	check(t, what+", first", e, st, table, origin, theta, k)
	check(t, what+", again", e, st, table, origin, theta, k)
	if st.Moved() {
		t.Fatalf("%s: the same centres moved labels", what)
	}
	_, n, sum, _ := loop(table, origin, theta, k)
	for i := range theta {
		if n[i/d] > 0 {
			theta[i] = sum[i] / n[i/d]
		}
	}
	check(t, what+", second", e, st, table, origin, theta, k)
	slices.Reverse(theta) // centres that follow from nothing
	check(t, what+", third", e, st, table, origin, theta, k)
}

// All fast passes on the same rows, with offsets and enough of everything for whole tiles and several parts.
func TestAllFastPassesGiveTheSameBits(t *testing.T) {
	n, d, k := 3000, 40, 29
	if testing.Short() {
		n = 1000
	}
	for _, kind := range kinds {
		rng := rand.New(rand.NewPCG(8, 8))
		x, theta := kind.make(rng, n, d, k)
		for i := range x {
			x[i] += 100
		}
		origin := slices.Repeat([]float64{100}, d)
		table := &data.Table{N: n, D: d, F64: x}
		var want string
		for _, l := range kern.Levels() {
			restore := kern.Use(l)
			for _, threads := range []int{1, 2, 5} {
				for _, pass := range []string{"dense", "bytes", "words"} {
					e := New(table, origin, threads)
					e.force(pass)
					st, got := new(State), ""
					at := slices.Clone(theta)
					for range 3 {
						s := family.NewStats(k, d, k*d, 3)
						if ok, err := sweep1(e, st, at, k, s); !ok || err != nil {
							t.Fatal("refused")
						}
						got += fmt.Sprintf("%b %b %b %v", s.N, s.Sum, s.F, s.Far)
						for i := range at {
							if m := s.N[i/d]; m > 0 {
								at[i] = s.Sum[i] / m
							}
						}
					}
					if want == "" {
						want = got
					}
					if got != want {
						t.Errorf("%s: %v, %d threads, %s: sums differ", kind.name, l, threads, pass)
					}
				}
			}
			restore()
		}
	}
}

// The first column varies a hundred times as much as the others, so that bytes keep little of these, and centres differ in
// the others only.
func TestIntegersAreLeftWhereTheyTellNothing(t *testing.T) {
	everyLevel(t, integersAreLeft)
}

func integersAreLeft(t *testing.T) {
	if !kern.HasIntegers(false) {
		return
	}
	const n, d, k = 400, 64, 200
	rng := rand.New(rand.NewPCG(2, 2))
	table := &data.Table{N: n, D: d}
	for range n * d {
		table.F32 = append(table.F32, float32(rng.NormFloat64()))
	}
	for i := range n {
		table.F32[i*d] *= 100
	}
	theta := make([]float64, k*d)
	for i := range theta {
		if i%d > 0 {
			theta[i] = rng.NormFloat64()
		}
	}
	for _, threads := range []int{1, 3} {
		e, st := New(table, make([]float64, d), threads), new(State)
		check(t, "first", e, st, table, make([]float64, d), theta, k)
		if e.dense == nil || e.ints != nil {
			t.Errorf("%d threads: bytes stay", threads)
		}
		check(t, "second", e, st, table, make([]float64, d), theta, k)
	}
}

// What kern.Integers adds up must fit: four products of bytes of a sign in 16 bits where MostByte says so, and all products of words in 32,
// whatever the rows are. The bounds here are sums over the integers themselves.
func TestIntegersFitWhatTheyAreAddedUpIn(t *testing.T) {
	shapes := map[string]func(rng *rand.Rand, i, j int) float64{
		"normal":           func(rng *rand.Rand, _, _ int) float64 { return rng.NormFloat64() },
		"of one size":      func(rng *rand.Rand, i, _ int) float64 { return float64(1 - 2*(i%2)) },
		"signs that vary":  func(rng *rand.Rand, _, _ int) float64 { return float64(1 - 2*rng.IntN(2)) },
		"one large column": func(rng *rand.Rand, i, j int) float64 { return rng.NormFloat64() * []float64{1, 1e6}[min(j, 1)] },
		"halves of a step": func(rng *rand.Rand, _, _ int) float64 { return float64(rng.IntN(255)-127) / 2 },
	}
	everyLevel(t, func(t *testing.T) {
		for name, cell := range shapes {
			for _, d := range []int{1, 3, 8, 13, 40, 784} {
				for _, pass := range passes()[1:] {
					integersFit(t, fmt.Sprintf("%s, %d columns, %s", name, d, pass), pass, d, cell)
				}
			}
		}
	})
}

func integersFit(t *testing.T, what, pass string, d int, cell func(rng *rand.Rand, i, j int) float64) {
	const n, k = 40, 7
	rng := rand.New(rand.NewPCG(9, uint64(d)))
	table, theta := &data.Table{N: n, D: d}, make([]float64, k*d)
	for i := range n * d {
		table.F64 = append(table.F64, cell(rng, i/d, i%d))
	}
	for i := range theta {
		theta[i] = cell(rng, i/d, i%d)
	}
	e, c := New(table, make([]float64, d), 1), new(centres)
	e.force(pass)
	c.set(theta, e.mu, k, d, width(true))
	c.intTiles(e.ints, d)
	// Columns j and j+1 of groups g and g+1 are those whose bytes are added up first.
	groups, size := e.ints.groups, 4*(e.ints.groups+2)*c.w
	most, longestRow, longest := 0, 0.0, 0.0
	for i := range n {
		sum := 0.0
		for g := range groups {
			b := e.ints.q[((i/kern.Rows*groups+g)*kern.Rows+i%kern.Rows)*4:][:4]
			for _, v := range b {
				most = max(most, int(v))
			}
			lo, hi := float64(int16(uint16(b[0])|uint16(b[1])<<8)), float64(int16(uint16(b[2])|uint16(b[3])<<8))
			sum += lo*lo + hi*hi
		}
		longestRow = max(longestRow, math.Sqrt(sum))
	}
	for slot := range c.order {
		tile, q, sum := c.ints[slot/c.w*size:][:size], slot%c.w, 0.0
		for g := range groups {
			b := tile[((g+1)*c.w+q)*4:][:4]
			lo, hi := float64(int16(uint16(uint8(b[0]))|uint16(uint8(b[1]))<<8)), float64(int16(uint16(uint8(b[2]))|uint16(uint8(b[3]))<<8))
			sum += lo*lo + hi*hi
			for j := 0; j < 4 && g%2 == 0; j += 2 {
				four := []int8{b[j], b[j+1]}
				if g+1 < groups {
					next := tile[((g+2)*c.w+q)*4:][:4]
					four = append(four, next[j], next[j+1])
				}
				var plus, minus int
				for _, v := range four {
					plus, minus = plus+max(int(v), 0), minus-min(int(v), 0)
				}
				if limit := kern.MostByte(); pass == "bytes" && limit < 255 && max(plus, minus)*limit > math.MaxInt16 {
					t.Fatalf("%s: %v times %d is more than 16 bits hold", what, four, limit)
				}
			}
		}
		longest = max(longest, math.Sqrt(sum))
	}
	if pass == "bytes" && most > kern.MostByte() {
		t.Errorf("%s: a byte of %d", what, most)
	}
	if pass == "words" && longestRow*longest > math.MaxInt32 {
		t.Errorf("%s: sums of products up to %.0f", what, longestRow*longest)
	}
}

func TestFarthestRowsAreThoseOfASort(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, d := range []int{2, 40} {
			const n, k, most = 2000, 5, 4
			rng := rand.New(rand.NewPCG(4, uint64(d)))
			table := &data.Table{N: n, D: d}
			for i := range n * d {
				table.F64 = append(table.F64, float64(rng.IntN(6)+i/d%2))
			}
			theta := make([]float64, k*d)
			for i := range theta {
				theta[i] = float64(rng.IntN(6))
			}
			for j := range d {
				theta[2*d+j] = 1e4 // nobody's
			}
			origin := make([]float64, d)
			e, s := New(table, origin, 2), family.NewStats(k, d, k*d, most)
			if ok, _ := sweep1(e, new(State), theta, k, s); !ok || s.N[2] != 0 {
				t.Fatal(s.N)
			}
			label, _, _, _ := loop(table, origin, theta, k)
			rows := make([]int, n)
			far := func(i int) (q float64) {
				for j := range d {
					q += (table.At(i, j) - theta[int(label[i])*d+j]) * (table.At(i, j) - theta[int(label[i])*d+j])
				}
				return q
			}
			for i := range rows {
				rows[i] = i
			}
			sort.SliceStable(rows, func(a, b int) bool { return far(rows[a]) > far(rows[b]) })
			for i, f := range s.Far {
				if r := rows[i]; int(f.Row) != r || f.Score != -far(r) || f.Label != label[r] || f.W != 1 || !slices.Equal(f.X, table.F64[r*d:r*d+d]) {
					t.Errorf("d %d, place %d: %+v, want row %d at %v", d, i, f, r, far(r))
				}
			}
			if len(s.Far) != most {
				t.Errorf("%d rows", len(s.Far))
			}
		}
	})
}

func TestValuesBeyondFloat32AreRefused(t *testing.T) {
	refused := func(what string, table *data.Table, theta ...float64) {
		t.Helper()
		k := len(theta) / table.D
		for _, threads := range []int{1, 3} {
			e, st := New(table, make([]float64, table.D), threads), new(State)
			for range 2 {
				if ok, err := sweep1(e, st, theta, k, family.NewStats(k, table.D, len(theta), 0)); ok || err != nil {
					t.Errorf("%s: taken (%v)", what, err)
				}
			}
		}
	}
	for _, v := range []float64{1e20, 1e-20, 1e300, 0} {
		refused("a row", &data.Table{N: 2, D: 1, F64: []float64{0, v}}, 0, 1)
	}
	refused("a weight", &data.Table{N: 2, D: 1, F64: []float64{0, 1e10}, W: []float64{1, 1e290}}, 0, 1)
	refused("a centre", &data.Table{N: 2, D: 1, F64: []float64{0, 1}}, 0, 1e200)
	refused("no rows", &data.Table{D: 3}, 1, 2, 3)
}

// steadyAllocs is how often f takes memory a run once it has what it needs: the least of five measurements. A worker's memory has the size
// of the largest batch it has met, and which batches two workers meet depends on the scheduler.
func steadyAllocs(runs int, f func()) float64 {
	least := math.Inf(1)
	for i := 0; i < 5 && least > 0; i++ {
		least = min(least, testing.AllocsPerRun(runs, f))
	}
	return least
}

func TestSteadySweepAllocatesNothing(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, c := range []struct {
			d    int
			kind string
		}{{3, "blobs"}, {40, "blobs"}, {3, "tight clusters far apart"}} {
			const n, k = 1500, 9
			d, rng := c.d, rand.New(rand.NewPCG(6, uint64(c.d)))
			x, theta := kind(c.kind)(rng, n, d, k)
			e, st, s := New(&data.Table{N: n, D: d, F64: x}, make([]float64, d), 2), new(State), family.NewStats(k, d, k*d, 3)
			other := slices.Clone(theta)
			for i := range other {
				other[i] += 0.1
			}
			both := func() { sweep1(e, st, theta, k, s); sweep1(e, st, other, k, s) }
			for range 4 {
				both()
			}
			if a := steadyAllocs(10, both); a > 0 {
				t.Errorf("%+v: %v allocations", c, a)
			}
		}
	})
}

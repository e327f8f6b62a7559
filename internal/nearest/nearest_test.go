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
	"github.com/latent-go/latent/family"
	"github.com/latent-go/latent/internal/kern"
)

// everyLevel runs a test at every level this machine has.
func everyLevel(t *testing.T, f func(t *testing.T)) {
	for _, l := range kern.Levels() {
		t.Run(l.String(), func(t *testing.T) {
			defer kern.Use(l)()
			f(t)
		})
	}
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
	if ok, err := e.Sweep(context.Background(), st, theta, k, s); !ok || err != nil {
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

// A kind of rows with centres for them, full of what a fast pass could get wrong.
var kinds = []struct {
	name string
	make func(rng *rand.Rand, n, d, k int) (x, theta []float64)
}{
	{"integers, most of them tied", func(rng *rand.Rand, n, d, k int) (x, theta []float64) {
		for range n * d {
			x = append(x, float64(rng.IntN(3)))
		}
		for range k * d {
			theta = append(theta, float64(rng.IntN(3)))
		}
		return x, theta
	}},
	{"rows midway between centres, or nearly", func(rng *rand.Rand, n, d, k int) (x, theta []float64) {
		for range k * d {
			theta = append(theta, rng.NormFloat64())
		}
		for range n {
			a, b := rng.IntN(k), rng.IntN(k)
			nudge := []float64{0, 0x1p-52, 0x1p-40, 0x1p-25, 1e-3}[rng.IntN(5)] * rng.NormFloat64()
			for j := range d {
				x = append(x, (theta[a*d+j]+theta[b*d+j])/2+nudge)
			}
		}
		return x, theta
	}},
	{"rows nearly midway, far from the origin", func(rng *rand.Rand, n, d, k int) (x, theta []float64) {
		for range k * d {
			theta = append(theta, 5000+rng.NormFloat64())
		}
		for range n {
			a, b := rng.IntN(k), rng.IntN(k)
			for j := range d {
				x = append(x, (theta[a*d+j]+theta[b*d+j])/2+1e-4*rng.NormFloat64())
			}
		}
		return x, theta
	}},
	{"equal rows and equal centres", func(rng *rand.Rand, n, d, k int) (x, theta []float64) {
		for i := range n * d {
			x = append(x, float64(i/d%3)+0.1*float64(i%d))
		}
		for c := range k {
			for j := range d {
				theta = append(theta, float64(c/2%3)+0.1*float64(j))
			}
		}
		return x, theta
	}},
	{"blobs", func(rng *rand.Rand, n, d, k int) (x, theta []float64) {
		for range k * d {
			theta = append(theta, 2*rng.NormFloat64())
		}
		for range n {
			c := rng.IntN(k)
			for j := range d {
				x = append(x, theta[c*d+j]+rng.NormFloat64())
			}
		}
		return x, theta
	}},
	{"heavy tails, a centre far away", func(rng *rand.Rand, n, d, k int) (x, theta []float64) {
		for range n * d {
			x = append(x, math.Tan(math.Pi*(rng.Float64()-0.5)))
		}
		for range k * d {
			theta = append(theta, math.Tan(math.Pi*(rng.Float64()-0.5)))
		}
		theta[0] = 1e9
		return x, theta
	}},
	// Scores are equal but for what the integers of a row leave out, and what is left points the other way.
	{"residuals that bytes cannot see", func(rng *rand.Rand, n, d, k int) (x, theta []float64) { return unseen(rng, n, d, k, 127) }},
	{"residuals that words cannot see", func(rng *rand.Rand, n, d, k int) (x, theta []float64) {
		return unseen(rng, n, d, k, math.Sqrt((1<<31-1)/float64(d)))
	}},
	{"rows far from both centres and nearly midway", func(rng *rand.Rand, n, d, k int) (x, theta []float64) { return remote(rng, n, d, k, 1e3) }},
	{"rows so far that float64 cannot tell", func(rng *rand.Rand, n, d, k int) (x, theta []float64) { return remote(rng, n, d, k, 1e12) }},
	{"tight clusters far apart", func(rng *rand.Rand, n, d, k int) (x, theta []float64) {
		for range k * d {
			theta = append(theta, 1e3*rng.NormFloat64())
		}
		for range n {
			c := rng.IntN(k)
			for j := range d {
				x = append(x, theta[c*d+j]+1e-4*rng.NormFloat64())
			}
		}
		return x, theta
	}},
}

func kind(name string) func(rng *rand.Rand, n, d, k int) (x, theta []float64) {
	for _, c := range kinds {
		if c.name == name {
			return c.make
		}
	}
	panic(name)
}

// unseen returns two centres, +-(t, C, ..., C), others as long in pairs +-, and rows (L, -r, ..., -r) with r less than half a
// step of so many to L: in steps a row is (L, 0, ..., 0) and nearest to the first, but for what is left of it to the second.
func unseen(rng *rand.Rand, n, d, k int, steps float64) (x, theta []float64) {
	const c = 4.0
	for i := 0; len(theta) < k*d; i += 2 {
		v := make([]float64, d)
		for j := range v {
			if v[j] = c; i > 0 && rng.IntN(2) == 0 {
				v[j] = -c
			}
		}
		if v[0] = 0; i == 0 {
			v[0] = c / steps
		}
		theta = append(theta, v...)
		for j := range v {
			v[j] = -v[j]
		}
		theta = append(theta, v...)
	}
	for range n {
		l := 1 + rng.Float64()
		if rng.IntN(2) == 0 {
			l = -l
		}
		x = append(x, l)
		for range d - 1 {
			x = append(x, -l/steps*(0.3+0.19*rng.Float64()))
		}
	}
	return x, theta[:k*d]
}

// remote returns two centres and copies of them, and rows at a distance that differ in their distances from the two by about
// the rounding of float32 or of float64.
func remote(rng *rand.Rand, n, d, k int, distance float64) (x, theta []float64) {
	for range min(k, 2) * d {
		theta = append(theta, rng.NormFloat64())
	}
	for len(theta) < k*d {
		theta = append(theta, theta[len(theta)-2*d])
	}
	if k == 1 {
		return slices.Repeat([]float64{distance}, n*d), theta
	}
	far := make([]float64, d)
	for i := range n {
		v, along, length := make([]float64, d), 0.0, 1e-300
		for j := range v {
			if far[j] = -far[j]; i%2 == 0 { // in pairs, so that their mean is near the centres
				far[j] = distance * rng.NormFloat64()
			}
			v[j] = far[j]
			along += v[j] * (theta[j] - theta[d+j])
			length += (theta[j] - theta[d+j]) * (theta[j] - theta[d+j])
		}
		nudge := []float64{0, 0x1p-24 * distance, 0x1p-28 * distance, 0x1p-53 * distance * distance}[rng.IntN(4)] * rng.NormFloat64()
		for j := range v {
			v[j] += (nudge-along/length)*(theta[j]-theta[d+j]) + (theta[j]+theta[d+j])/2
		}
		x = append(x, v...)
	}
	return x, theta
}

func TestLabelsAndSumsAreThoseOfAPlainLoop(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, kind := range kinds {
			for _, c := range []struct{ n, d, k int }{{1, 1, 1}, {5, 2, 3}, {31, 3, 2}, {600, 1, 5}, {333, 4, 13}, {400, 17, 30}, {300, 33, 7}, {300, 64, 40}, {64, 130, 3}} {
				for _, narrow := range []bool{false, true} {
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
	if kern.HasIntegers() {
		return []string{"dense", "bytes", "words"}
	}
	return []string{"dense"}
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
	for _, kind := range kinds {
		const n, d, k = 3000, 40, 29
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
						if ok, err := e.Sweep(context.Background(), st, at, k, s); !ok || err != nil {
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
	if !kern.HasIntegers() {
		t.Skip("integers are not fast here")
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
			if ok, _ := e.Sweep(context.Background(), new(State), theta, k, s); !ok || s.N[2] != 0 {
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
				if ok, err := e.Sweep(context.Background(), st, theta, k, family.NewStats(k, table.D, len(theta), 0)); ok || err != nil {
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
			both := func() { e.Sweep(context.Background(), st, theta, k, s); e.Sweep(context.Background(), st, other, k, s) }
			for range 4 {
				both()
			}
			if a := testing.AllocsPerRun(10, both); a > 0 {
				t.Errorf("%+v: %v allocations", c, a)
			}
		}
	})
}

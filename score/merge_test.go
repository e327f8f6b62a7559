package score

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// shares draws n rows of k responsibilities, some of which are 0.
func shares(r *rand.Rand, n, k int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		sum := 0.0
		for range k {
			v := math.Exp(4 * r.NormFloat64())
			if r.IntN(5) == 0 {
				v = 0
			}
			rows[i], sum = append(rows[i], v), sum+v
		}
		if sum == 0 {
			rows[i][0], sum = 1, 1
		}
		for c := range rows[i] {
			rows[i][c] /= sum
		}
	}
	return rows
}

func entropyOf(rows [][]float64, w []float64) (h float64) {
	for i, r := range rows {
		for _, v := range r {
			if v > 0 {
				h -= w[i] * v * math.Log(v)
			}
		}
	}
	return h
}

// joinedRows returns the rows with columns a and b as one.
func joinedRows(rows [][]float64, a, b int) [][]float64 {
	var all [][]float64
	for _, r := range rows {
		r = slices.Clone(r)
		r[a] += r[b]
		all = append(all, slices.Delete(r, b, b+1))
	}
	return all
}

// The sums are those of plain loops over the rows, of all pairs and of those with one group.
func TestSumsOfPairsAreThoseOfPlainLoops(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	const n, k = 200, 5
	rows := shares(r, n, k)
	w, total := make([]float64, n), 0.0
	for i := range w {
		w[i] = float64(r.IntN(4))
		total += w[i]
	}
	weights := []float64{0.3, 0.25, 0.2, 0.15, 0.1}
	h := entropyOf(rows, w)
	for with := -1; with < k; with++ {
		overlaps, entropies := NewOverlaps(k, with), NewEntropies(k, with)
		for i, row := range rows {
			overlaps.Add(row, w[i])
			entropies.Add(row, w[i])
		}
		for a := range k {
			for b := a + 1; b < k; b++ {
				if with >= 0 && a != with && b != with {
					continue
				}
				want := h - entropyOf(joinedRows(rows, a, b), w)
				if got := entropies.Gain[a*k+b]; math.Abs(got-want) > 1e-11*h {
					t.Errorf("pair %d, %d: merging takes %v from the entropy, want %v", a, b, got, want)
				}
				taken := [2]float64{} // of b for a, of a for b
				for i, row := range rows {
					if row[a] >= row[b] {
						taken[0] += w[i] * row[b] / (total * weights[b])
					}
					if row[b] >= row[a] {
						taken[1] += w[i] * row[a] / (total * weights[a])
					}
				}
				if got, want := overlaps.Of(a, b, weights, total), max(taken[0], taken[1]); math.Abs(got-want) > 1e-13 {
					t.Errorf("pair %d, %d: overlap %v, want %v", a, b, got, want)
				}
			}
		}
	}
}

// Sums of two parts are those of the whole, and a row of weight 2 is the row twice.
func TestSumsOfPairsAdd(t *testing.T) {
	t.Parallel()
	rows := shares(rand.New(rand.NewPCG(3, 4)), 50, 4)
	whole, twice := NewEntropies(4, -1), NewEntropies(4, -1)
	both, parts := NewOverlaps(4, -1), [2]*Overlaps{NewOverlaps(4, -1), NewOverlaps(4, -1)}
	for i, r := range rows {
		whole.Add(r, 2)
		twice.Add(r, 1)
		twice.Add(r, 1)
		both.Add(r, 1)
		parts[i%2].Add(r, 1)
	}
	parts[0].Merge(parts[1])
	for i := range whole.Gain {
		if math.Abs(whole.Gain[i]-twice.Gain[i]) > 1e-12 || math.Abs(both.Taken[i]-parts[0].Taken[i]) > 1e-13 {
			t.Errorf("pair %d: %v and %v, %v and %v", i, whole.Gain[i], twice.Gain[i], both.Taken[i], parts[0].Taken[i])
		}
	}
}

// What merging takes from the entropy keeps its digits where one of the two is tiny, and is nothing where it is 0.
func TestAGainKeepsItsDigits(t *testing.T) {
	t.Parallel()
	gain := func(a, b float64) float64 {
		e := NewEntropies(2, -1)
		e.Add([]float64{a, b}, 1)
		return e.Gain[1]
	}
	// f(1 + q) - f(1) - f(q) is q - q ln q but for q²/2.
	for _, q := range []float64{1e-12, 1e-16, 1e-17, 1e-18, 1e-100, 1e-300, 5e-324} {
		if got, want := gain(1, q), q-q*math.Log(q); math.Abs(got-want) > 1e-11*want {
			t.Errorf("1 and %v: %v, want %v", q, got, want)
		}
	}
	if gain(0.3, 0) != 0 || gain(0, 0.3) != 0 || gain(0, 0) != 0 || gain(0.2, 0.5) != gain(0.5, 0.2) {
		t.Error("with 0, or the other way round")
	}
}

func TestARowOfPairsMakesNoAllocation(t *testing.T) {
	e, o, r := NewEntropies(9, -1), NewOverlaps(9, -1), shares(rand.New(rand.NewPCG(7, 8)), 1, 9)[0]
	if n := testing.AllocsPerRun(100, func() { e.Add(r, 1); o.Add(r, 1) }); n != 0 {
		t.Errorf("a row makes %v allocations", n)
	}
}

// A group without weight overlaps with none.
func TestOverlapWithoutWeight(t *testing.T) {
	t.Parallel()
	o := NewOverlaps(2, -1)
	o.Add([]float64{1, 0}, 3)
	if got := o.Of(0, 1, []float64{1, 0}, 3); got != 0 {
		t.Errorf("overlap %v", got)
	}
}

// The bend is where two lines through the entropies leave least, by the formula for the rest of a line in sums of products.
func TestBend(t *testing.T) {
	t.Parallel()
	if b := Bend([]float64{0, 0.1, 0.2, 0.3, 5, 10, 15}); b != 4 {
		t.Errorf("two lines that meet at 4 bend at %d", b)
	}
	for n, want := range map[int]int{0: 0, 1: 0, 2: 0, 3: 2} {
		if b := Bend(make([]float64, n)); b != want {
			t.Errorf("%d entropies bend at %d, want %d", n, b, want)
		}
	}
	rest := func(y []float64) float64 { // Syy - Sxy² / Sxx
		n, sx, sy, sxx, sxy, syy := float64(len(y)), 0., 0., 0., 0., 0.
		for i, v := range y {
			x := float64(i)
			sx, sy, sxx, sxy, syy = sx+x, sy+v, sxx+x*x, sxy+x*v, syy+v*v
		}
		sxx, sxy, syy = sxx-sx*sx/n, sxy-sx*sy/n, syy-sy*sy/n
		return syy - sxy*sxy/sxx
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		y := make([]float64, 4+r.IntN(6))
		for i := range y {
			y[i] = 10 * r.Float64()
		}
		slices.Sort(y)
		want := 2
		for m := 2; m < len(y); m++ {
			if rest(y[:m])+rest(y[m-1:]) < rest(y[:want])+rest(y[want-1:]) {
				want = m
			}
		}
		if got := Bend(y); got != want {
			t.Errorf("%v bend at %d, want %d", y, got, want)
		}
	}
}

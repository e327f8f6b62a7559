package kern

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// plainColumns are what ColumnSums and ColumnSquares, about the mean, are of a column, in the order of the rows.
func plainColumns(x []float64, j, d int, from float64) (sum, least, largest float64, at int64, mean, square float64) {
	var v []float64
	for i := j; i < len(x); i += d {
		v = append(v, x[i])
	}
	for _, c := range v {
		sum += c - from
	}
	mean = from + sum/float64(len(v))
	for _, c := range v {
		t := c - mean
		square += float64(t * t)
	}
	least, largest = slices.Min(v), slices.Max(v)
	return sum, least, largest, int64(slices.Index(v, least)), mean, square
}

// guardedColumns have room for d columns, of which intact tells whether nothing beside them was written.
func guardedColumns(d int) (c *Columns, intact func(t *testing.T)) {
	sum, intact1 := guarded(d)
	least, intact2 := guarded(d)
	largest, intact3 := guarded(d)
	at := slices.Repeat([]int64{7}, 2*d+2)
	return &Columns{sum, least, largest, at[1 : 1+d : 1+d], at[d+1 : 2*d+1 : 2*d+1]}, func(t *testing.T) {
		t.Helper()
		intact1(t)
		intact2(t)
		intact3(t)
		if at[0] != 7 || at[2*d+1] != 7 {
			t.Errorf("integers beside those of %d columns: %d and %d", d, at[0], at[2*d+1])
		}
	}
}

// Sums of columns are those of a plain loop, to the bit, for every number of columns and both types of cells.
func TestSumsOfColumnsAreThoseOfPlainLoops(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 1))
		for d := 1; d < 40; d++ {
			for _, n := range []int{1, 2, 7, 130} {
				narrow, wide, from := make([]float32, n*d), make([]float64, n*d), make([]float64, d)
				for i := range wide {
					narrow[i] = float32(rng.NormFloat64())
					if rng.IntN(3) == 0 {
						narrow[i] = float32(rng.IntN(5) - 2) // equals
					}
					wide[i] = float64(narrow[i])
				}
				for j := range from {
					from[j] = wide[j]
				}
				check := func(kind string, sums func(c *Columns), squares func(square, mean []float64)) {
					t.Helper()
					got, intact := guardedColumns(d)
					square, whole := guarded(d)
					means := make([]float64, d)
					sums(got)
					for j := range d {
						_, _, _, _, means[j], _ = plainColumns(wide, j, d, from[j])
					}
					squares(square, means)
					for j := range d {
						s, lo, hi, first, _, q := plainColumns(wide, j, d, from[j])
						broken := false
						for i := j; i < len(wide); i += d {
							broken = broken || wide[i] != math.Trunc(wide[i])
						}
						if got.Sum[j] != s || got.Least[j] != lo || got.Largest[j] != hi || got.At[j] != first || square[j] != q || (got.Broken[j] != 0) != broken {
							t.Fatalf("%s, %d rows, column %d of %d: %v, %v in %d, %v, squares %v, %d; want %v, %v in %d, %v, %v, %v", kind, n, j, d,
								got.Sum[j], got.Least[j], got.At[j], got.Largest[j], square[j], got.Broken[j], s, lo, first, hi, q, broken)
						}
					}
					intact(t)
					whole(t)
				}
				check("float64", func(c *Columns) { ColumnSums(c, wide, from) }, func(square, mean []float64) { ColumnSquares(square, wide, mean) })
				check("float32", func(c *Columns) { ColumnSums(c, narrow, from) }, func(square, mean []float64) { ColumnSquares(square, narrow, mean) })
				odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(3)]
				i := rng.IntN(n * d)
				wide[i] = odd
				got, _ := guardedColumns(d)
				from[i%d] = 0 // not that of its own
				if ColumnSums(got, wide, from); got.Sum[i%d]-got.Sum[i%d] == 0 {
					t.Fatalf("%d rows of %d columns with %v: the sum is %v", n, d, odd, got.Sum[i%d])
				}
			}
		}
		c, _ := guardedColumns(9)
		x, square := make([]float64, 90), make([]float64, 9)
		if n := testing.AllocsPerRun(10, func() { ColumnSums(c, x, x[:9]); ColumnSquares(square, x, x) }); n > 0 {
			t.Errorf("%v allocations", n)
		}
		ColumnSums[float64](c, nil, square)
		if c.Sum[8] != 0 || c.Least[8] != math.Inf(1) || c.Largest[8] != math.Inf(-1) {
			t.Errorf("no rows: %+v", c)
		}
	})
}

// A panel in float32 is that of a plain loop, and so are the lengths of its rows, to the bit.
func TestNarrowIsThatOfAPlainLoop(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 2))
		for d := range 70 {
			x, mu, want, square := make([]float64, d*Rows), make([]float64, d), make([]float32, d*Rows), [Rows]float64{}
			for j := range mu {
				mu[j] = rng.NormFloat64()
				for i := range Rows {
					x[j*Rows+i] = float64(100 * rng.NormFloat64()) // never fused with the subtraction
					z := x[j*Rows+i] - mu[j]
					want[j*Rows+i] = float32(z)
					square[i] += float64(z * z)
				}
			}
			got, length := make([]float32, d*Rows+1), [Rows]float64{1, 2, 3}
			got[d*Rows] = 7
			Narrow(got, &length, x, mu)
			if !slices.Equal(got, append(want, 7)) {
				t.Fatalf("%d columns: %v, want %v", d, got, want)
			}
			for i, q := range square {
				if length[i] != math.Sqrt(q) {
					t.Fatalf("%d columns: length %v of row %d, want %v", d, length[i], i, math.Sqrt(q))
				}
			}
		}
	})
}

func FuzzColumns(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64, db, nb uint8, special []byte) {
		r := newDraws(t, seed, special)
		d, n := sizes(db, nb)
		x, from, narrow := r.any(n*d), r.finite(d), r.singles(n*d)
		sums := func(f func(c *Columns)) func() []float64 {
			return func() (told []float64) {
				c, _ := guardedColumns(d)
				f(c)
				for j, v := range c.Sum {
					if v-v != 0 { // nothing else means anything
						told = append(told, math.NaN(), 0, 0, 0, 0)
						continue
					}
					told = append(told, v, c.Least[j], c.Largest[j], float64(c.At[j]), float64(min(c.Broken[j], 0)))
				}
				return told
			}
		}
		same := func(what string) func(l Level, got, want []float64) {
			return func(l Level, got, want []float64) { r.same(l, what, got, want) }
		}
		against(r, sums(func(c *Columns) { ColumnSums(c, x, from) }), same("ColumnSums"))
		against(r, sums(func(c *Columns) { ColumnSums(c, narrow, from) }), same("ColumnSums of float32"))
		square := make([]float64, d)
		against(r, func() []float64 { ColumnSquares(square, x, from); return clone(square) }, same("ColumnSquares"))
		against(r, func() []float64 { ColumnSquares(square, narrow, from); return clone(square) }, same("ColumnSquares of float32"))

		panel, rows := r.any(d*Rows), make([]float32, d*Rows)
		against(r, func() []float64 {
			var length [Rows]float64
			Narrow(rows, &length, panel, from)
			told := clone(length[:])
			for _, v := range rows {
				told = append(told, float64(v))
			}
			return told
		}, same("Narrow"))
	})
}

// Columns in the cache, a chunk of a pass.
func BenchmarkColumns(b *testing.B) {
	const n, d = 2048, 16
	x, square, zero := make([]float64, n*d), make([]float64, d), make([]float64, d)
	c, _ := guardedColumns(d)
	benchLevels(b, "columns", func(b *testing.B) {
		for b.Loop() {
			ColumnSums(c, x, zero)
			ColumnSquares(square, x, zero)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n/d, "ns/cell")
	})
}

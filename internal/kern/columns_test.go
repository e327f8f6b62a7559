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
				check := func(kind string, sums func(sum, least, largest []float64, at []int64), squares func(square, mean []float64)) {
					t.Helper()
					sum, intact1 := guarded(d)
					least, intact2 := guarded(d)
					largest, intact3 := guarded(d)
					square, intact4 := guarded(d)
					at, means := make([]int64, d), make([]float64, d)
					sums(sum, least, largest, at)
					for j := range d {
						_, _, _, _, means[j], _ = plainColumns(wide, j, d, from[j])
					}
					squares(square, means)
					for j := range d {
						s, lo, hi, first, _, q := plainColumns(wide, j, d, from[j])
						if sum[j] != s || least[j] != lo || largest[j] != hi || at[j] != first || square[j] != q {
							t.Fatalf("%s, %d rows, column %d of %d: %v, %v in %d, %v, squares %v; want %v, %v in %d, %v, %v", kind, n, j, d,
								sum[j], least[j], at[j], largest[j], square[j], s, lo, first, hi, q)
						}
					}
					for _, intact := range []func(*testing.T){intact1, intact2, intact3, intact4} {
						intact(t)
					}
				}
				check("float64", func(sum, least, largest []float64, at []int64) { ColumnSums(sum, least, largest, at, wide, from) },
					func(square, mean []float64) { ColumnSquares(square, wide, mean) })
				check("float32", func(sum, least, largest []float64, at []int64) { ColumnSums(sum, least, largest, at, narrow, from) },
					func(square, mean []float64) { ColumnSquares(square, narrow, mean) })
				odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(3)]
				i := rng.IntN(n * d)
				wide[i] = odd
				sum, other := make([]float64, d), make([]float64, d)
				from[i%d] = 0 // not that of its own
				if ColumnSums(sum, other, other, make([]int64, d), wide, from); sum[i%d]-sum[i%d] == 0 {
					t.Fatalf("%d rows of %d columns with %v: the sum is %v", n, d, odd, sum[i%d])
				}
			}
		}
		sum, least, largest := make([]float64, 9), make([]float64, 9), make([]float64, 9)
		x, at := make([]float64, 90), make([]int64, 9)
		if n := testing.AllocsPerRun(10, func() { ColumnSums(sum, least, largest, at, x, x); ColumnSquares(sum, x, least) }); n > 0 {
			t.Errorf("%v allocations", n)
		}
		ColumnSums[float64](sum, least, largest, at, nil, x)
		if sum[8] != 0 || least[8] != math.Inf(1) || largest[8] != math.Inf(-1) {
			t.Errorf("no rows: %v, %v, %v", sum, least, largest)
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
					x[j*Rows+i] = 100 * rng.NormFloat64()
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
		sums := func(f func(sum, least, largest []float64, at []int64)) func() []float64 {
			return func() []float64 {
				v, at := r.ordinary(4*d), make([]int64, d)
				f(v[:d], v[d:2*d], v[2*d:3*d], at)
				for j, s := range v[:d] {
					if v[3*d+j] = float64(at[j]); s-s != 0 { // nothing else means anything
						v[j], v[d+j], v[2*d+j], v[3*d+j] = math.NaN(), 0, 0, 0
					}
				}
				return v
			}
		}
		same := func(what string) func(l Level, got, want []float64) {
			return func(l Level, got, want []float64) { r.same(l, what, got, want) }
		}
		against(r, sums(func(sum, least, largest []float64, at []int64) { ColumnSums(sum, least, largest, at, x, from) }), same("ColumnSums"))
		against(r, sums(func(sum, least, largest []float64, at []int64) { ColumnSums(sum, least, largest, at, narrow, from) }), same("ColumnSums of float32"))
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
	x, s, at := make([]float64, n*d), make([]float64, 5*d), make([]int64, d)
	benchLevels(b, "columns", func(b *testing.B) {
		for b.Loop() {
			ColumnSums(s[:d], s[d:2*d], s[2*d:3*d], at, x, s[3*d:4*d])
			ColumnSquares(s[4*d:], x, s[3*d:4*d])
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n/d, "ns/cell")
	})
}

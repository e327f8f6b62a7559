package data

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// statsOfColumn are the statistics of a batch of one column that begins with row first.
func statsOfColumn(x []float64, first int) columnStats {
	out := statsOf(&batchStats{cols: make([]columnStats, 1)}, &batch{First: int64(first), N: len(x), F64: x}, newPlan([]want{number}), func(i int64) int64 { return i })
	return out.cols[0]
}

// Every statistic of a batch is that of a plain loop over its column, with and without missing numbers, for every number of columns.
func TestStatisticsOfABatchAreThoseOfPlainLoops(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	out := &batchStats{}
	for _, n := range []int{1, 2, 3, 40, 333} {
		for d := 1; d < 20; d++ {
			const first = 70
			b, wants := &batch{First: first, N: n, F64: make([]float64, n*d)}, make([]want, d)
			for j := range d {
				wants[j] = number
				for i := range n {
					b.F64[i*d+j] = []float64{rng.NormFloat64(), float64(rng.IntN(5) - 2), float64(rng.IntN(2)), first + float64(i), first + 1 + float64(i), 0.5 + float64(i)}[(j+d)%6]
					if j%4 == 3 && rng.IntN(3) == 0 {
						b.F64[i*d+j] = math.NaN()
					}
				}
			}
			out.cols = make([]columnStats, d)
			statsOf(out, b, newPlan(wants), func(i int64) int64 { return i })
			for j, got := range out.cols {
				want := plainStats(b.F64[j:], d, n, first)
				for _, m := range []struct{ got, want float64 }{{got.mean, want.mean}, {got.m2.plain, want.m2.plain}} {
					if math.Abs(m.got-m.want) > 1e-12*(1+math.Abs(m.want)) {
						t.Fatalf("%d rows, column %d of %d: %v, want %v", n, j+1, d, m.got, m.want)
					}
				}
				got.mean, got.m2 = want.mean, want.m2
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("%d rows, column %d of %d: %+v, want %+v", n, j+1, d, got, want)
				}
			}
		}
	}
}

// plainStats are the statistics of a column, NaN where a number is missing, by the meaning of each.
func plainStats(x []float64, stride, n, first int) columnStats {
	var v []float64
	var rows []int
	for i := range n {
		if c := x[i*stride]; !math.IsNaN(c) {
			v, rows = append(v, c), append(rows, first+i)
		}
	}
	all := func(holds func(i int) bool) bool {
		for i := range v {
			if !holds(i) {
				return false
			}
		}
		return true
	}
	s := columnStats{n: int64(len(v)), min: math.Inf(1), max: math.Inf(-1)}
	s.integers = all(func(i int) bool { return v[i] == math.Trunc(v[i]) })
	s.bits = all(func(i int) bool { return v[i] == 0 || v[i] == 1 })
	s.rising = all(func(i int) bool { return i == 0 || v[i] > v[i-1] })
	s.from0 = all(func(i int) bool { return v[i] == float64(rows[i]) })
	s.from1 = all(func(i int) bool { return v[i] == float64(rows[i]+1) })
	if len(v) == 0 {
		return s
	}
	s.min, s.max, s.first, s.last = slices.Min(v), slices.Max(v), v[0], v[len(v)-1]
	s.minRow = int64(rows[slices.Index(v, s.min)])
	for _, c := range v {
		s.mean += c / float64(len(v))
	}
	for _, c := range v {
		s.m2.plain += (c - s.mean) * (c - s.mean)
	}
	return s
}

// Values times a power of two have that times the standard deviation and mean, wherever the rows are cut into batches.
func TestSpreadNearTheEndsOfFloat64(t *testing.T) {
	base := []float64{-3, 1, 4, -1, 5, -9, 2, 6}
	mean, square := 5.0/8, 0.0
	for _, v := range base {
		square += (v - mean) * (v - mean)
	}
	sd := math.Sqrt(square / 7)
	for _, power := range []int{-1070, -1000, -600, -450, 0, 450, 520, 1000, 1020} {
		x := make([]float64, len(base))
		for i, v := range base {
			x[i] = math.Ldexp(v, power)
		}
		for _, cut := range []int{8, 4, 3} {
			total := noStats()
			for lo := 0; lo < len(x); lo += cut {
				hi := min(lo+cut, len(x))
				s := statsOfColumn(x[lo:hi], lo)
				total.merge(&s)
			}
			tol := 1e-12
			if power < -1000 { // few digits are left
				tol = 0.05
			}
			if got := total.sd(); !(math.Abs(math.Ldexp(got, -power)-sd) <= tol*sd) || !(math.Abs(math.Ldexp(total.mean, -power)-mean) <= tol) {
				t.Errorf("2^%d in batches of %d: mean %v and standard deviation %v, want %v and %v times that", power, cut, total.mean, got, mean, sd)
			}
		}
	}
	// The difference of the ends is no float64.
	s := statsOfColumn([]float64{-math.MaxFloat64, math.MaxFloat64}, 0)
	if s.mean != 0 || !math.IsInf(s.sd(), 1) { // its standard deviation is MaxFloat64 times the root of 2
		t.Errorf("the largest numbers: mean %v and standard deviation %v", s.mean, s.sd())
	}
}

package data

import (
	"math"
	"testing"
)

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
				s := numberStats(x[lo:hi], 1, hi-lo, func(i int) int64 { return int64(lo + i) })
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
	s := numberStats([]float64{-math.MaxFloat64, math.MaxFloat64}, 1, 2, func(i int) int64 { return int64(i) })
	if s.mean != 0 || !math.IsInf(s.sd(), 1) { // its standard deviation is MaxFloat64 times the root of 2
		t.Errorf("the largest numbers: mean %v and standard deviation %v", s.mean, s.sd())
	}
}

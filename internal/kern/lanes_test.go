package kern

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// unaligned is random from an offset on that differs from call to call, so that vectors straddle cache lines.
func unaligned(rng *rand.Rand, n int) ([]float64, func(t *testing.T)) {
	skip := rng.IntN(4)
	s, intact := random(rng, skip+n)
	kept := clone(s[:skip])
	return s[skip:], func(t *testing.T) {
		t.Helper()
		intact(t)
		for i, v := range kept {
			if s[i] != v {
				t.Fatalf("element %d of %d was written", i-skip, n)
			}
		}
	}
}

// everyLane runs f with up to 20 variables and the padded numbers of up to 32 components.
func everyLane(t *testing.T, seed uint64, f func(t *testing.T, rng *rand.Rand, d, kp int)) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(seed, 0))
		for d := 1; d <= 20; d++ {
			for kp := Lanes; kp <= 32; kp += Lanes {
				f(t, rng, d, kp)
			}
		}
	})
}

// someRows are numbers of rows: all where there is one vector of components, else one of each remainder of four.
func someRows(d, kp int) []int {
	if kp == Lanes {
		return upTo40[:Rows]
	}
	return []int{1 + d%3, 4 + d%4, 8 + 5*d%23, Rows}
}

// terms is how many roundings a sum may be off by, of terms of the sizes that add up.
const terms = 40

func TestLaneDeviations(t *testing.T) {
	everyLane(t, 50, func(t *testing.T, rng *rand.Rand, d, kp int) {
		x, _ := unaligned(rng, d)
		mean, _ := unaligned(rng, d*kp)
		y, intact := unaligned(rng, d*kp)
		for j := range x {
			if rng.IntN(3) == 0 {
				x[j] = math.NaN()
				mean[j*kp+rng.IntN(kp)] = math.Inf(1)
			}
		}
		LaneDeviations(y, x, mean, d, kp)
		intact(t)
		for i, v := range y {
			want := 0.0
			if u := x[i/kp]; !math.IsNaN(u) {
				want = u - mean[i]
			}
			if math.Float64bits(v) != math.Float64bits(want) {
				t.Fatalf("d %d, kp %d: deviation %d of component %d is %v, want %v", d, kp, i/kp, i%kp, v, want)
			}
		}
	})
}

func TestLaneProduct(t *testing.T) {
	everyLane(t, 51, func(t *testing.T, rng *rand.Rand, d, kp int) {
		height := 1 + rng.IntN(8)
		m, _ := unaligned(rng, height*d*kp)
		y, _ := unaligned(rng, d*kp)
		for n := range 11 {
			rows := make([]int32, n)
			for a := range rows {
				rows[a] = int32(rng.IntN(height))
			}
			dst, intact := unaligned(rng, n*kp)
			LaneProduct(dst, m, y, rows, d, kp)
			intact(t)
			for a, r := range rows {
				for c := range kp {
					want, size := 0.0, 0.0
					for l := range d {
						v := m[(int(r)*d+l)*kp+c] * y[l*kp+c]
						want += v
						size += math.Abs(v)
					}
					if got := dst[a*kp+c]; !within(got, want, size, terms) {
						t.Fatalf("n %d, d %d, kp %d: product %d of component %d is %v, want %v", n, d, kp, a, c, got, want)
					}
				}
			}
		}
	})
}

func TestLaneNorms(t *testing.T) {
	everyLane(t, 52, func(t *testing.T, rng *rand.Rand, d, kp int) {
		w, _ := unaligned(rng, d*(d+1)/2*kp)
		for _, n := range someRows(d, kp) {
			y, _ := unaligned(rng, n*d*kp)
			dst, intact := unaligned(rng, n*kp)
			LaneNorms(dst, y, w, n, d, kp)
			intact(t)
			for r := range n {
				for c := range kp {
					want, size := 0.0, 0.0
					for j := range d {
						v, abs := 0.0, 0.0
						for l := range j + 1 {
							p := w[(j*(j+1)/2+l)*kp+c] * y[(r*d+l)*kp+c]
							v += p
							abs += math.Abs(p)
						}
						want += v * v
						size += abs * abs
					}
					if got := dst[r*kp+c]; !within(got, want, size, terms) {
						t.Fatalf("n %d, d %d, kp %d: norm of row %d, component %d is %v, want %v", n, d, kp, r, c, got, want)
					}
				}
			}
		}
	})
}

func TestLaneMoments(t *testing.T) {
	everyLane(t, 53, func(t *testing.T, rng *rand.Rand, d, kp int) {
		for _, n := range someRows(d, kp) {
			y, _ := unaligned(rng, n*d*kp)
			q, _ := unaligned(rng, n*kp)
			sum, intact := unaligned(rng, (1+d+d*(d+1)/2)*kp)
			want, size := clone(sum), clone(sum)
			for i, v := range size {
				size[i] = math.Abs(v)
			}
			for r := range n {
				for c := range kp {
					at := c
					count := func(v float64) {
						want[at] += v
						size[at] += math.Abs(v)
						at += kp
					}
					u := q[r*kp+c]
					count(u)
					for j := range d {
						count(u * y[(r*d+j)*kp+c])
					}
					for j := range d {
						for l := range j + 1 {
							count(u * y[(r*d+j)*kp+c] * y[(r*d+l)*kp+c])
						}
					}
				}
			}
			LaneMoments(sum, y, q, n, d, kp)
			intact(t)
			for i, v := range sum {
				if !within(v, want[i], size[i], terms) {
					t.Fatalf("n %d, d %d, kp %d: sum %d of component %d is %v, want %v", n, d, kp, i/kp, i%kp, v, want[i])
				}
			}
		}
	})
}

func TestLaneScatter(t *testing.T) {
	everyLane(t, 54, func(t *testing.T, rng *rand.Rand, d, kp int) {
		v, _ := unaligned(rng, d*kp)
		q, _ := unaligned(rng, kp)
		sum, intact := unaligned(rng, 7*kp)
		at := make([]int32, d)
		want, size := clone(sum), clone(sum)
		for i, s := range size {
			size[i] = math.Abs(s)
		}
		for i := range at {
			at[i] = int32(rng.IntN(7))
			for c := range kp {
				p := int(at[i])*kp + c
				want[p] += q[c] * v[i*kp+c]
				size[p] += math.Abs(q[c] * v[i*kp+c])
			}
		}
		LaneScatter(sum, v, q, at, kp)
		intact(t)
		for i, s := range sum {
			if !within(s, want[i], size[i], terms) {
				t.Fatalf("n %d, kp %d: sum %d of component %d is %v, want %v", d, kp, i/kp, i%kp, s, want[i])
			}
		}
	})
}

// Sizes beyond the typical ones: many columns, and none.
func TestLaneKernelsOfManyColumnsAndOfNone(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(55, 0))
		for _, d := range []int{60, 131} {
			const n, kp = 7, Lanes
			y, _ := unaligned(rng, n*d*kp)
			w, _ := unaligned(rng, d*(d+1)/2*kp)
			q, _ := unaligned(rng, n*kp)
			dst, intactDst := unaligned(rng, n*kp)
			sum, intactSum := unaligned(rng, (1+d+d*(d+1)/2)*kp)
			clear(sum)
			LaneNorms(dst, y, w, n, d, kp)
			LaneMoments(sum, y, q, n, d, kp)
			intactDst(t)
			intactSum(t)
			// The quadratic form of the moments is the weighted sum of the norms: both are sums over w_jl w_jm y_l y_m.
			for c := range kp {
				got, want, size := 0.0, 0.0, 0.0
				for r := range n {
					want += q[r*kp+c] * dst[r*kp+c]
				}
				second := func(a, b int) float64 { return sum[(1+d+max(a, b)*(max(a, b)+1)/2+min(a, b))*kp+c] }
				for j := range d {
					row := func(l int) float64 { return w[(j*(j+1)/2+l)*kp+c] }
					for l := range j + 1 {
						for m := range j + 1 {
							v := row(l) * row(m) * second(l, m)
							got += v
							size += math.Abs(v)
						}
					}
				}
				near(t, fmt.Sprintf("d %d: form of component %d", d, c), got, want, 10*size)
			}
		}
		for _, kp := range []int{0, 8, 16} {
			sum, intact := unaligned(rng, kp)
			want := clone(sum)
			q, _ := unaligned(rng, 3*kp)
			for i, v := range q {
				want[i%kp] += v
			}
			LaneMoments(sum, nil, q, 3, 0, kp)
			intact(t)
			dst, intactDst := unaligned(rng, 2*kp)
			LaneNorms(dst, nil, nil, 2, 0, kp)
			for i, v := range dst {
				if v != 0 {
					t.Errorf("a norm without columns is %v", v)
				}
				near(t, "sum of weights", sum[i%kp], want[i%kp], 1+math.Abs(want[i%kp]))
			}
			LaneProduct(dst, nil, nil, []int32{0, 3}, 0, kp)
			intactDst(t)
			for _, v := range dst {
				if v != 0 {
					t.Errorf("a product without columns is %v", v)
				}
			}
			LaneDeviations(nil, nil, nil, 0, kp)
			LaneNorms(nil, nil, make([]float64, 3*kp), 0, 2, kp)
			LaneMoments(make([]float64, 6*kp), nil, nil, 0, 2, kp)
			LaneScatter(nil, nil, make([]float64, kp), nil, kp)
			LaneInverse(nil, nil, 0, kp, 1)
		}
	})
}

func TestLaneKernelsPanicAtWrongLengths(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		const n, d, kp = 3, 2, Lanes
		s := func(n int) []float64 { return make([]float64, n) }
		for what, f := range map[string]func(){
			"few deviations":     func() { LaneDeviations(s(d*kp-1), s(d), s(d*kp), d, kp) },
			"few means":          func() { LaneDeviations(s(d*kp), s(d), s(d*kp-1), d, kp) },
			"few cells":          func() { LaneDeviations(s(d*kp), s(d-1), s(d*kp), d, kp) },
			"few products":       func() { LaneProduct(s(kp-1), s(d*kp), s(d*kp), []int32{0}, d, kp) },
			"a row beyond":       func() { LaneProduct(s(kp), s(3*d*kp-1), s(d*kp), []int32{2}, d, kp) },
			"a row before":       func() { LaneProduct(s(kp), s(3*d*kp), s(d*kp), []int32{-1}, d, kp) },
			"a short vector":     func() { LaneProduct(s(kp), s(3*d*kp), s(d*kp-1), []int32{2}, d, kp) },
			"few norms":          func() { LaneNorms(s(n*kp-1), s(n*d*kp), s(3*kp), n, d, kp) },
			"few rows of norms":  func() { LaneNorms(s(n*kp), s(n*d*kp-1), s(3*kp), n, d, kp) },
			"a short triangle":   func() { LaneNorms(s(n*kp), s(n*d*kp), s(3*kp-1), n, d, kp) },
			"few sums":           func() { LaneMoments(s(6*kp-1), s(n*d*kp), s(n*kp), n, d, kp) },
			"few rows of sums":   func() { LaneMoments(s(6*kp), s(n*d*kp-1), s(n*kp), n, d, kp) },
			"few weights":        func() { LaneMoments(s(6*kp), s(n*d*kp), s(n*kp-1), n, d, kp) },
			"a place beyond":     func() { LaneScatter(s(3*kp-1), s(kp), s(kp), []int32{2}, kp) },
			"a place before":     func() { LaneScatter(s(3*kp), s(kp), s(kp), []int32{-1}, kp) },
			"few values":         func() { LaneScatter(s(3*kp), s(kp-1), s(kp), []int32{2}, kp) },
			"half a vector":      func() { LaneDeviations(s(d*12), s(d), s(d*12), d, 12) },
			"half of a product":  func() { LaneProduct(s(12), s(d*12), s(d*12), []int32{0}, d, 12) },
			"half of norms":      func() { LaneNorms(s(n*12), s(n*d*12), s(3*12), n, d, 12) },
			"half of moments":    func() { LaneMoments(s(6*12), s(n*d*12), s(n*12), n, d, 12) },
			"half of a scatter":  func() { LaneScatter(s(3*12), s(12), s(12), []int32{2}, 12) },
			"few weights of one": func() { LaneScatter(s(3*kp), s(kp), s(kp-1), []int32{2}, kp) },
			"a small matrix":     func() { LaneInverse(s(9*kp-1), s(3*kp), 3, kp, 1) },
			"few pivots":         func() { LaneInverse(s(9*kp), s(3*kp-1), 3, kp, 1) },
			"half an inverse":    func() { LaneInverse(s(9*12), s(3*12), 3, 12, 1) },
			"a negative size":    func() { LaneInverse(s(9*kp), s(3*kp), -1, kp, 1) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", what)
					}
				}()
				f()
			}()
		}
	})
}

func TestLaneKernelsAllocateNothing(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		const n, d, kp = 5, 3, 2 * Lanes
		rng := rand.New(rand.NewPCG(56, 0))
		x, _ := random(rng, d)
		y, _ := random(rng, n*d*kp)
		w, _ := random(rng, d*d*kp)
		q, _ := random(rng, n*kp)
		sum, rows := make([]float64, (1+d+d*(d+1)/2)*kp), []int32{2, 0}
		if n := testing.AllocsPerRun(20, func() {
			LaneDeviations(sum, x, y, d, kp)
			LaneProduct(sum, w, y, rows, d, kp)
			LaneNorms(sum, y, w, n, d, kp)
			LaneMoments(sum, y, q, n, d, kp)
			LaneScatter(sum, y, q, rows, kp)
			LaneInverse(w, sum, d, kp, 1)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

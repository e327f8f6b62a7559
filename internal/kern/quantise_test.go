package kern

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// A row at a time by three plain loops, for every length and both types of cells; sums may differ by the order of their terms.
func TestDeviationsAreThoseOfPlainLoops(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 1))
		for n := range 130 {
			x, wide, origin, mu := make([]float32, n), make([]float64, n), make([]float64, n), make([]float64, n)
			for j := range x {
				x[j], origin[j], mu[j] = float32(rng.NormFloat64()), float64(rng.IntN(3)), rng.NormFloat64()
				wide[j] = float64(x[j])
			}
			before, after, top := 0.0, 0.0, 0.0
			want := make([]float64, n)
			for j, v := range wide {
				y := v - origin[j]
				want[j] = y - mu[j]
				before += y * y
				after += want[j] * want[j]
				top = max(top, math.Abs(want[j]))
			}
			check := func(what string, z []float64, b, a, m float64) {
				t.Helper()
				if math.Abs(b-before) > 1e-14*before || math.Abs(a-after) > 1e-14*after || m != top {
					t.Errorf("%s, %d columns: %v, %v, %v, want %v, %v, %v", what, n, b, a, m, before, after, top)
				}
				for j, v := range want {
					if z[j] != v {
						t.Fatalf("%s, %d columns: column %d is %v, want %v", what, n, j, z[j], v)
					}
				}
			}
			z, intact := guarded(n)
			b, a, m := Deviations(z, x, origin, mu)
			check("float32", z, b, a, m)
			b, a, m = Deviations(z, wide, origin, mu)
			check("float64", z, b, a, m)
			copy(z, wide)
			b, a, m = Deviations(z, z, origin, mu)
			check("in place", z, b, a, m)
			intact(t)
			if n > 0 {
				j := rng.IntN(n)
				wide[j] = math.NaN()
				if _, _, m := Deviations(z, wide, origin, mu); m == m {
					t.Errorf("%d columns, NaN in column %d: the largest is %v", n, j, m)
				}
			}
		}
	})
}

// Integers times the step miss a number by half a step at most; what is missed and what is kept adds up to it.
func TestQuantiseRoundsToTheNearestStep(t *testing.T) {
	for _, words := range []bool{false, true} {
		t.Run(fmt.Sprintf("words=%v", words), func(t *testing.T) {
			everyLevel(t, func(t *testing.T) { quantises(t, words) })
		})
	}
}

func quantises(t *testing.T, words bool) {
	rng := rand.New(rand.NewPCG(6, 1))
	per, most, zero := 4, 92.0, 92
	if words {
		per, most, zero = 2, 1<<15-1, 0
	}
	for n := range 130 {
		z, s := make([]float64, n), 0.25+rng.Float64()
		for j := range z {
			z[j] = s * most * (2*rng.Float64() - 1)
			if rng.IntN(5) == 0 {
				z[j] = []float64{0, s / 2, -s / 2, s * most, -s * most}[rng.IntN(5)]
			}
		}
		lane := 4 * rng.IntN(Rows)
		groups := (n + per - 1) / per
		q := make([]uint8, groups*4*Rows)
		miss, kept := Quantise(q[min(lane, len(q)):], z, s, words, zero)
		wantMiss, wantKept := 0.0, 0.0
		for j, v := range z {
			at := j/per*4*Rows + lane + j%per*4/per
			u := int(q[at]) - zero
			if words {
				u = int(int16(uint16(q[at]) | uint16(q[at+1])<<8))
				q[at+1] = 0
			}
			q[at] = 0
			r := v - s*float64(u)
			if math.Abs(r) > s/2*(1+1e-12) {
				t.Fatalf("%d columns: %v is %d steps of %v", n, v, u, s)
			}
			wantMiss += r * r
			wantKept += float64(u) * float64(u)
		}
		if math.Abs(miss-wantMiss) > 1e-9*(wantMiss+s*s) || math.Abs(kept-wantKept) > 1e-13*wantKept {
			t.Errorf("%d columns: squares of %v and %v, want %v and %v", n, miss, kept, wantMiss, wantKept)
		}
		for i, b := range q {
			if b != 0 {
				t.Fatalf("%d columns: byte %d was written", n, i)
			}
		}
	}
}

func FuzzQuantise(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64, db, _ uint8, special []byte) {
		r := newDraws(t, seed, special)
		d, _ := sizes(db, 0)
		z, x, origin, mu := r.ordinary(d), r.any(d), r.finite(d), r.finite(d)
		sums := func(a, b, c float64) []float64 { return append(clone(z), a, b, c) }
		against(r, func() []float64 { return sums(Deviations(z, x, origin, mu)) }, func(l Level, got, want []float64) { r.same(l, "Deviations", got, want) })
		narrow := make([]float32, d)
		for j, v := range x {
			narrow[j] = float32(v)
		}
		against(r, func() []float64 { return sums(Deviations(z, narrow, origin, mu)) }, func(l Level, got, want []float64) { r.same(l, "Deviations", got, want) })
		for j := range z {
			z[j] = 120 * (2*r.rng.Float64() - 1)
		}
		for _, words := range []bool{false, true} {
			against(r, func() []float64 {
				q := make([]uint8, (d+1)/2*4*Rows)
				miss, kept := Quantise(q, z, 1+1/float64(d), words, 128)
				out := []float64{miss, kept}
				for _, b := range q {
					out = append(out, float64(b))
				}
				return out
			}, func(l Level, got, want []float64) { r.same(l, "Quantise", got, want) })
		}
	})
}

func TestQuantiseAllocatesNothing(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		x, z, q := make([]float32, 77), make([]float64, 77), make([]uint8, 39*4*Rows)
		if n := testing.AllocsPerRun(10, func() { Deviations(z, x, z, z); Quantise(q, z, 1, true, 0) }); n > 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func BenchmarkQuantise(b *testing.B) {
	const d = 784
	rng := rand.New(rand.NewPCG(1, 1))
	x, z, zero, q := make([]float32, d), make([]float64, d), make([]float64, d), make([]uint8, d/2*4*Rows)
	for j := range x {
		x[j] = float32(rng.NormFloat64())
	}
	for b.Loop() {
		_, _, top := Deviations(z, x, zero, zero)
		Quantise(q, z, top/(1<<15-1), true, 0)
	}
}

package kern

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The fuzz targets hold every level of this machine against portable Go, the definition. An input is a seed, two sizes
// and a choice of values that are out of the ordinary; the seed draws all else.

// odd are values out of the ordinary. The finite ones come first.
var odd = []float64{
	0, math.Copysign(0, -1), 1, -1, 5e-324, -5e-324, 0x1p-1030, -0x1.8p-1023, 0x1p-1022, 0x1p-600, 1e-160, -1e16, 1e150, -1e200, math.MaxFloat64, -math.MaxFloat64,
	math.Inf(1), math.Inf(-1), math.NaN(),
}

const finite = 16 // of odd

// draws are numbers for a kernel, always with the same guard around them.
type draws struct {
	t       *testing.T
	rng     *rand.Rand
	special []byte
	checks  []func(*testing.T)
}

func newDraws(t *testing.T, seed uint64, special []byte) *draws {
	return &draws{t: t, rng: rand.New(rand.NewPCG(seed, 0)), special: special}
}

// number draws an ordinary number, or one in eight times one of the first n of odd that special names.
func (r *draws) number(n int) float64 {
	v := r.rng.NormFloat64() * math.Exp(r.rng.NormFloat64())
	if len(r.special) > 0 && n > 0 && r.rng.IntN(8) == 0 {
		return odd[int(r.special[r.rng.IntN(len(r.special))])%n]
	}
	return v
}

func (r *draws) fill(n, of int) []float64 {
	s, intact := guarded(n)
	for i := range s {
		s[i] = r.number(of)
	}
	r.checks = append(r.checks, intact)
	return s
}

// any draws n numbers of all sorts, finite n that are finite, and ordinary n of moderate size.
func (r *draws) any(n int) []float64      { return r.fill(n, len(odd)) }
func (r *draws) finite(n int) []float64   { return r.fill(n, finite) }
func (r *draws) ordinary(n int) []float64 { return r.fill(n, 0) }

// singles draws n float32 of all sorts.
func (r *draws) singles(n int) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = float32(r.number(len(odd)))
	}
	return s
}

// labels draws n labels below k.
func (r *draws) labels(n, k int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = int32(r.rng.IntN(k))
	}
	return s
}

// sizes turns two bytes into numbers of columns and components: mostly odd ones, and some of more than one tile.
func sizes(d, k uint8) (int, int) { return 1 + int(d)%70, 1 + int(k)%41 }

// at runs f at a level and checks that nothing beyond the slices was written.
func (r *draws) at(l Level, f func()) {
	r.t.Helper()
	restore := Use(l)
	f()
	restore()
	for _, intact := range r.checks {
		intact(r.t)
	}
}

// against runs f in portable Go and at every level above, and gives both results to the comparison: slices that f made.
func against[T any](r *draws, f func() T, compare func(l Level, got, want T)) {
	var want T
	r.at(Go, func() { want = f() })
	for _, l := range Levels()[1:] {
		var got T
		r.at(l, func() { got = f() })
		compare(l, got, want)
	}
}

// same fails unless all bits are the same; one NaN is as good as another.
func (r *draws) same(l Level, what string, got, want []float64) {
	r.t.Helper()
	for i, v := range want {
		if math.Float64bits(got[i]) != math.Float64bits(v) && (got[i] == got[i] || v == v) {
			r.t.Fatalf("%v: %s: element %d of %d is %v, want %v", l, what, i, len(want), got[i], v)
		}
	}
}

// huge is the size from which on the order of a sum may decide whether it overflows.
const huge = 1e300

// close fails unless got is want within tolerance, a share of size: the sum of the sizes of the terms. What is not finite
// is so at every level, unless it has come about by overflow.
func (r *draws) close(l Level, what string, got, want, size []float64, tolerance float64) {
	r.t.Helper()
	for i, v := range want {
		switch {
		case size[i]-size[i] != 0:
			if got[i]-got[i] == 0 || v-v == 0 {
				r.t.Fatalf("%v: %s: element %d of %d is %v, want %v as a term is not finite", l, what, i, len(want), got[i], v)
			}
		case size[i] < huge && !(math.Abs(got[i]-v) <= tolerance*(size[i]+0x1p-1022)):
			r.t.Fatalf("%v: %s: element %d of %d is %v, want %v (sizes add to %v)", l, what, i, len(want), got[i], v, size[i])
		}
	}
}

// most is what a size is at most, unless a term is not finite.
const most = 1e306

// product returns the size of a b.
func product(a, b float64) float64 {
	if a-a != 0 || b-b != 0 {
		return math.NaN()
	}
	return min(math.Abs(a*b), most)
}

// weighted returns the size of a b w, where b w comes first and may be rounded to a multiple of the least number.
func weighted(a, b, w float64) float64 {
	if p := product(b, w); p < huge {
		return product(a, max(p, 0x1p-1022))
	}
	return most + 0*a
}

// add returns a sum of sizes.
func add(a, b float64) float64 {
	if a-a != 0 || b-b != 0 {
		return math.NaN()
	}
	return min(a+b, most)
}

// seeds adds to a fuzz target inputs that reach all tails, with and without odd values.
func seeds(f *testing.F) {
	every := make([]byte, len(odd))
	for i := range every {
		every[i] = byte(i)
	}
	for i, d := range []uint8{0, 1, 2, 3, 4, 6, 7, 8, 12, 15, 16, 30, 32, 33, 64, 68} {
		k := uint8(7*i) % 41
		f.Add(uint64(i), d, k, []byte{})
		f.Add(uint64(i), d, k, every)
		f.Add(uint64(i), d, k, every[:finite])
		f.Add(uint64(i), d, k, every[4:10])
	}
}

func FuzzPanels(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64, db, nb uint8, special []byte) {
		r, d := newDraws(t, seed, special), 1+int(db)%70
		n := Rows
		if nb%4 == 0 {
			n = 1 + int(nb)%Rows
		}
		src, narrow, origin, x := r.any(n*d), r.singles(n*d), r.finite(d), r.any(d*Rows)
		for _, kernel := range []struct {
			name string
			n    int
			run  func(out []float64)
		}{
			{"Pack of float64", d * Rows, func(out []float64) { Pack(out, src, origin, n, d) }},
			{"Pack of float32", d * Rows, func(out []float64) { Pack(out, narrow, origin, n, d) }},
			{"Centre", d * Rows, func(out []float64) { Centre(out, x, origin) }},
			{"SquareRows", d * Rows, func(out []float64) { SquareRows(out, x, d) }},
			{"Products", (d*(d+1) - d/2*(d/2+1)) / 2 * Rows, func(out []float64) { Products(out, x, d/2, d) }},
		} {
			out := r.ordinary(kernel.n)
			against(r, func() []float64 { kernel.run(out); return clone(out) }, func(l Level, got, want []float64) { r.same(l, kernel.name, got, want) })
		}
		filled := r.ordinary(d * Rows)
		there := r.ordinary(d * Rows)
		against(r, func() []float64 {
			missing := 0.0
			if Present(there, filled, x, d) {
				missing = 1
			}
			return slices.Concat(there, filled, []float64{missing})
		}, func(l Level, got, want []float64) { r.same(l, "Present", got, want) })
		size := make([]float64, Rows)
		for i, v := range x {
			size[i%Rows] = add(size[i%Rows], product(v, v))
		}
		out := r.ordinary(Rows)
		against(r, func() []float64 { Norms(out, x, d); return clone(out) }, func(l Level, got, want []float64) { r.close(l, "Norms", got, want, size, 1e-14) })
		for i, v := range x {
			if v != v {
				x[i] = 0 // Largest is for panels without NaN
			}
		}
		against(r, func() []float64 { return []float64{Largest(x, d)} }, func(l Level, got, want []float64) { r.same(l, "Largest", got, want) })
	})
}

func FuzzBits(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64, db, kb uint8, special []byte) {
		r := newDraws(t, seed, special)
		d, k := sizes(db, kb)
		x := r.ordinary(d * Rows)
		for i := range x {
			x[i] = []float64{0, 1, math.Copysign(0, -1)}[r.rng.IntN(3)]
		}
		words := make([]uint32, BitWords(d))
		type packed struct {
			words []uint32
			bits  bool
		}
		pack := func() packed { ok := PackBits(words, x, d); return packed{slices.Clone(words), ok} }
		against(r, pack, func(l Level, got, want packed) {
			if !got.bits || !want.bits || !slices.Equal(got.words, want.words) {
				t.Fatalf("%v: PackBits: %v %x, want %v %x", l, got.bits, got.words, want.bits, want.words)
			}
		})
		at, keep := r.rng.IntN(len(x)), clone(x)
		if x[at] = r.number(len(odd)); x[at] != 0 && x[at] != 1 {
			against(r, pack, func(l Level, got, want packed) {
				if got.bits || want.bits {
					t.Fatalf("%v: PackBits took %v for a bit", l, x[at])
				}
			})
		}
		copy(x, keep)
		PackBits(words, x, d)

		weight, base := r.finite(k*d), r.finite(k)
		for i := range weight {
			if r.rng.IntN(16) == 0 {
				weight[i] = math.Inf(-1)
			}
		}
		q, factor, size := r.finite(Pad(k)*Rows), r.finite(Rows), make([]float64, k*Rows)
		nSize, sSize := make([]float64, k), make([]float64, k*d)
		for c := range k {
			for i := range Rows {
				size[c*Rows+i] = math.Abs(base[c])
				u := product(q[c*Rows+i], factor[i])
				nSize[c] = add(nSize[c], u)
				for j := range d {
					if x[j*Rows+i] == 1 {
						size[c*Rows+i] = add(size[c*Rows+i], product(weight[c*d+j], 1))
					}
					sSize[c*d+j] = add(sSize[c*d+j], u) // a table adds up what other rows share with those of the bit
				}
			}
		}
		type results struct{ score, n, s []float64 }
		score := r.ordinary(k * Rows)
		against(r, func() results {
			b := NewBits(weight, base, k, d)
			tmp, sum, n, s := make([]float64, b.Scratch()), make([]float64, b.Size()), make([]float64, k), make([]float64, k*d)
			b.Score(score, words, tmp)
			b.Add(sum, words, q, factor, tmp)
			b.Flush(n, s, sum)
			return results{clone(score), n, s}
		}, func(l Level, got, want results) {
			r.close(l, "Bits.Score", got.score, want.score, size, 1e-14)
			r.close(l, "Bits.Add: weights", got.n, want.n, nSize, 1e-14)
			r.close(l, "Bits.Add: sums", got.s, want.s, sSize, 1e-14)
		})
	})
}

package kern

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// guard is how many NaN stand before and after every slice a kernel writes to.
const guard = 8

var canary = math.Float64frombits(0x7ff8_0000_dead_beef)

// guarded returns n numbers between canaries, and a check that the canaries are alive.
func guarded(n int) (s []float64, intact func(t *testing.T)) {
	all := make([]float64, n+2*guard)
	for i := range all {
		all[i] = canary
	}
	return all[guard : guard+n : guard+n], func(t *testing.T) {
		t.Helper()
		for i, v := range all {
			if (i < guard || i >= guard+n) && math.Float64bits(v) != math.Float64bits(canary) {
				t.Fatalf("element %d of %d was written", i-guard, n)
			}
		}
	}
}

// random fills a guarded slice of n numbers with values of mixed size and sign.
func random(rng *rand.Rand, n int) ([]float64, func(t *testing.T)) {
	s, intact := guarded(n)
	for i := range s {
		s[i] = rng.NormFloat64() * math.Exp(rng.NormFloat64())
	}
	return s, intact
}

// near fails unless got is want within a few roundings of the sum of the sizes of its terms.
func near(t *testing.T, what string, got, want, size float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-14*size) {
		t.Fatalf("%s = %v, want %v (sizes add to %v)", what, got, want, size)
	}
}

var columns = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 31, 64}

func everyD(t *testing.T, f func(t *testing.T, rng *rand.Rand, d int)) {
	for _, d := range columns {
		t.Run(fmt.Sprintf("d=%d", d), func(t *testing.T) { f(t, rand.New(rand.NewPCG(1, uint64(d))), d) })
	}
}

func everyK(t *testing.T, f func(t *testing.T, rng *rand.Rand, k int)) {
	for k := 1; k <= 13; k++ {
		t.Run(fmt.Sprintf("k=%d", k), func(t *testing.T) { f(t, rand.New(rand.NewPCG(2, uint64(k))), k) })
	}
}

func TestPackTransposesAndSubtracts(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		everyD(t, func(t *testing.T, rng *rand.Rand, d int) {
			for n := 1; n <= Rows; n++ {
				src, _ := random(rng, n*d)
				f32 := make([]float32, n*d)
				for i, v := range src {
					f32[i] = float32(v)
				}
				origin, _ := random(rng, d)
				x, intact := guarded(d * Rows)
				x32, intact32 := guarded(d * Rows)
				Pack(x, src, origin, n, d)
				Pack(x32, f32, origin, n, d)
				intact(t)
				intact32(t)
				for j := range d {
					for i := range Rows {
						want, want32 := 0.0, 0.0
						if i < n {
							want, want32 = src[i*d+j]-origin[j], float64(f32[i*d+j])-origin[j]
						}
						if x[j*Rows+i] != want || x32[j*Rows+i] != want32 {
							t.Fatalf("n %d, row %d, column %d: %v and %v, want %v and %v", n, i, j, x[j*Rows+i], x32[j*Rows+i], want, want32)
						}
					}
				}
			}
		})
	})
}

func TestSquaredDistances(t *testing.T) {
	everyD(t, func(t *testing.T, rng *rand.Rand, d int) {
		x, _ := random(rng, d*Rows)
		c, _ := random(rng, d)
		s, _ := random(rng, d)
		plain, intactPlain := guarded(Rows)
		scaled, intactScaled := guarded(Rows)
		sqdist(plain, x, c)
		SqdistScaled(scaled, x, c, s)
		intactPlain(t)
		intactScaled(t)
		for i := range Rows {
			var a, b float64
			for j := range d {
				e := x[j*Rows+i] - c[j]
				a += e * e
				b += e * s[j] * e * s[j]
			}
			near(t, "distance", plain[i], a, a)
			near(t, "scaled distance", scaled[i], b, b)
		}
	})
}

func TestCentreWhitenNorms(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		everyD(t, func(t *testing.T, rng *rand.Rand, d int) {
			x, _ := random(rng, d*Rows)
			m, _ := random(rng, d)
			w, _ := random(rng, d*(d+1)/2)
			y, intactY := guarded(d * Rows)
			v, intactV := guarded(d * Rows)
			q, intactQ := guarded(Rows)
			Centre(y, x, m)
			Whiten(v, y, w, d)
			Norms(q, v, d)
			intactY(t)
			intactV(t)
			intactQ(t)
			for i := range Rows {
				norm := 0.0
				for j := range d {
					if got, want := y[j*Rows+i], x[j*Rows+i]-m[j]; got != want {
						t.Fatalf("centred = %v, want %v", got, want)
					}
					sum, size := 0.0, 0.0
					for l := 0; l <= j; l++ {
						sum += w[j*(j+1)/2+l] * y[l*Rows+i]
						size += math.Abs(w[j*(j+1)/2+l] * y[l*Rows+i])
					}
					near(t, "whitened", v[j*Rows+i], sum, size)
					norm += v[j*Rows+i] * v[j*Rows+i]
				}
				near(t, "norm", q[i], norm, norm)
			}
		})
	})
}

// The sums add to what is there already, so the test starts them at numbers of their own.
func TestMoments(t *testing.T) {
	everyD(t, func(t *testing.T, rng *rand.Rand, d int) {
		x, _ := random(rng, d*Rows)
		r, _ := guarded(Rows)
		total := 0.0
		for i := range r {
			r[i] = rng.Float64()
			total += r[i]
		}
		first, intactFirst := random(rng, d)
		second, intactSecond := random(rng, d*(d+1)/2)
		squares, intactSquares := random(rng, d)
		tmp, intactTmp := guarded(Rows)
		first0, second0, squares0 := clone(first), clone(second), clone(squares)
		near(t, "weight", First(first, x, r), total, total)
		Second(second, x, r, tmp, d)
		Squares(squares, x, r)
		intactFirst(t)
		intactSecond(t)
		intactSquares(t)
		intactTmp(t)
		for j := range d {
			sum, size := first0[j], math.Abs(first0[j])
			for i := range Rows {
				sum += r[i] * x[j*Rows+i]
				size += math.Abs(r[i] * x[j*Rows+i])
			}
			near(t, "first moment", first[j], sum, size)
			for l := 0; l <= j; l++ {
				at := j*(j+1)/2 + l
				sum, size := second0[at], math.Abs(second0[at])
				for i := range Rows {
					sum += r[i] * x[j*Rows+i] * x[l*Rows+i]
					size += math.Abs(r[i] * x[j*Rows+i] * x[l*Rows+i])
				}
				near(t, "second moment", second[at], sum, size)
				if l == j {
					near(t, "square", squares[j], squares0[j]+sum-second0[at], size+math.Abs(squares0[j]))
				}
			}
		}
	})
}

// A row of weight 0 adds nothing, even where its square has no float64.
func TestMomentsOfWeightlessOverflow(t *testing.T) {
	const d = 2
	x, r, tmp := make([]float64, d*Rows), make([]float64, Rows), make([]float64, Rows)
	x[0], x[Rows] = 1e200, -1e200
	x[1], x[Rows+1], r[1] = 3, 4, 1
	first, second, squares := make([]float64, d), make([]float64, 3), make([]float64, d)
	First(first, x, r)
	Second(second, x, r, tmp, d)
	Squares(squares, x, r)
	for _, c := range []struct{ got, want float64 }{
		{first[0], 3}, {first[1], 4}, {second[0], 9}, {second[1], 12}, {second[2], 16}, {squares[0], 9}, {squares[1], 16},
	} {
		if c.got != c.want {
			t.Errorf("moments %v, %v, %v, want 3 4, 9 12 16, 9 16", first, second, squares)
		}
	}
}

func TestArgmaxTakesTheLowestOfEquals(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		everyK(t, func(t *testing.T, rng *rand.Rand, k int) {
			s, _ := guarded(k * Rows)
			for i := range s {
				s[i] = float64(rng.IntN(5)) // many ties
			}
			best, intact := guarded(Rows)
			label := make([]int32, Rows+2)
			label[0], label[Rows+1] = -7, -7
			Argmax(best, label[1:Rows+1], s, k)
			intact(t)
			if label[0] != -7 || label[Rows+1] != -7 {
				t.Fatal("a label outside the panel was written")
			}
			for i := range Rows {
				at := 0
				for c := range k {
					if s[c*Rows+i] > s[at*Rows+i] {
						at = c
					}
				}
				if best[i] != s[at*Rows+i] || int(label[i+1]) != at {
					t.Fatalf("row %d: component %d at %v, want %d at %v", i, label[i+1], best[i], at, s[at*Rows+i])
				}
			}
		})
	})
}

// Scores of moderate size: the definitions themselves can be evaluated without a shift.
func TestSoftmaxAgreesWithItsDefinition(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, beta := range []float64{0.2, 0.5, 1, 1.2, 3} {
			everyK(t, func(t *testing.T, rng *rand.Rand, k int) {
				s, intactS := random(rng, k*Rows)
				s0 := clone(s)
				lse, intactL := guarded(Rows)
				ent, intactE := guarded(Rows)
				tmp, intactT := guarded(Rows)
				plain, intactP := guarded(Rows)
				LogSumExp(plain, s, k)
				Softmax(s, lse, ent, tmp, k, beta)
				intactS(t)
				intactL(t)
				intactE(t)
				intactT(t)
				intactP(t)
				for i := range Rows {
					z, z1, size := 0.0, 0.0, 1.0
					for c := range k {
						z += math.Exp(beta * s0[c*Rows+i])
						z1 += math.Exp(s0[c*Rows+i])
						size += math.Abs(beta * s0[c*Rows+i])
					}
					entropy, sum := 0.0, 0.0
					for c := range k {
						q := math.Exp(beta*s0[c*Rows+i]) / z
						near(t, "responsibility", s[c*Rows+i], q, size)
						sum += s[c*Rows+i]
						if q > 0 {
							entropy -= q * math.Log(q)
						}
					}
					near(t, "sum of responsibilities", sum, 1, float64(k))
					near(t, "log-sum-exp", lse[i], math.Log(z)/beta, size/beta)
					near(t, "log-sum-exp at 1", plain[i], math.Log(z1), size/beta)
					near(t, "entropy", ent[i], entropy, size*4)
				}
			})
		}
	})
}

func TestSoftmaxAtTheEdges(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		const k = 3
		for _, c := range []struct {
			name         string
			score, q     [k]float64
			lse, entropy float64
		}{
			{"far below the range of exp", [k]float64{-1e12, -1e12 - 800, -2e12}, [k]float64{1, 0, 0}, -1e12, 0},
			{"far above it", [k]float64{900, 800, -800}, [k]float64{1, math.Exp(-100), 0}, 900, 101 * math.Exp(-100)},
			{"equal", [k]float64{-5e8, -5e8, -5e8}, [k]float64{1. / 3, 1. / 3, 1. / 3}, -5e8 + math.Log(3), math.Log(3)},
			{"as low as float64 goes", [k]float64{-math.MaxFloat64 / 2, -math.MaxFloat64 / 2, -math.MaxFloat64}, [k]float64{0.5, 0.5, 0}, -math.MaxFloat64 / 2, math.Log(2)},
		} {
			s, lse, ent, tmp, plain := make([]float64, k*Rows), make([]float64, Rows), make([]float64, Rows), make([]float64, Rows), make([]float64, Rows)
			for i := range s {
				s[i] = c.score[i/Rows]
			}
			LogSumExp(plain, s, k)
			Softmax(s, lse, ent, tmp, k, 1)
			for i := range Rows {
				if lse[i] != c.lse || plain[i] != c.lse || math.Abs(ent[i]-c.entropy) > 1e-15 {
					t.Errorf("%s: log-sum-exp %v and %v, entropy %v, want %v and %v", c.name, lse[i], plain[i], ent[i], c.lse, c.entropy)
				}
				for j, want := range c.q {
					if got := s[j*Rows+i]; math.Abs(got-want) > 1e-15*want {
						t.Errorf("%s: responsibility %d is %v, want %v", c.name, j, got, want)
					}
				}
			}
		}
	})
}

func TestKernelsAllocateNothing(t *testing.T) {
	const k, d = 5, 7
	rng := rand.New(rand.NewPCG(3, 3))
	x, _ := random(rng, d*Rows)
	w, _ := random(rng, d*(d+1)/2)
	s, _ := random(rng, k*Rows)
	src := clone(x)
	y, v, a, b, e, f := clone(x), clone(x), make([]float64, Rows), make([]float64, Rows), make([]float64, Rows), make([]float64, d*(d+1)/2)
	label := make([]int32, Rows)
	if n := testing.AllocsPerRun(20, func() {
		Pack(x, src, w[:d], Rows, d)
		sqdist(a, x, w[:d])
		SqdistScaled(a, x, w[:d], w[:d])
		Centre(y, x, w[:d])
		Whiten(v, y, w, d)
		Norms(a, v, d)
		First(f[:d], x, a)
		Second(f, x, a, b, d)
		Squares(f[:d], x, a)
		Argmax(a, label, s, k)
		LogSumExp(a, s, k)
		Softmax(s, a, b, e, k, 1.2)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func clone(s []float64) []float64 { return append([]float64(nil), s...) }

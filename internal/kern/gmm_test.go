package kern

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// everyLevel runs f at each level of this machine.
func everyLevel(t *testing.T, f func(t *testing.T)) {
	for _, l := range Levels() {
		t.Run(l.String(), func(t *testing.T) {
			defer Use(l)()
			f(t)
		})
	}
}

var upTo40 = func() (n []int) {
	for i := 1; i <= 40; i++ {
		n = append(n, i)
	}
	return n
}()

func TestFeaturesOfAPanel(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(32, 0))
		for _, d := range upTo40 {
			x, _ := random(rng, d*Rows)
			square, intactSquare := guarded(d * Rows)
			norm, intactNorm := guarded(Rows)
			SquareRows(square, x, d)
			Norms(norm, x, d)
			intactSquare(t)
			intactNorm(t)
			for i := range Rows {
				sum := 0.0
				for j := range d {
					v := x[j*Rows+i]
					if square[j*Rows+i] != v*v {
						t.Fatalf("the square of %v is %v", v, square[j*Rows+i])
					}
					sum += v * v
				}
				near(t, "norm", norm[i], sum, sum)
			}
			for _, from := range []int{0, d / 2, d - 1} {
				p, intact := guarded((d*(d+1) - from*(from+1)) / 2 * Rows)
				Products(p, x, from, d)
				intact(t)
				at := 0
				for j := from; j < d; j++ {
					for l := range j + 1 {
						for i := range Rows {
							if want := x[j*Rows+i] * x[l*Rows+i]; p[at] != want {
								t.Fatalf("d %d: product %d, %d is %v, want %v", d, j, l, p[at], want)
							}
							at++
						}
					}
				}
			}
		}
	})
}

func TestShareAndAccumulate(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(34, 0))
		for _, k := range append(upTo40, 64, 65) {
			kp := Pad(k)
			s, _ := guarded(kp * Rows)
			clear(s)
			for i := range k * Rows {
				s[i] = rng.Float64()
			}
			scale, _ := random(rng, Rows)
			r, intact := guarded(kp * Rows)
			clear(r)
			Share(r, s, scale, k)
			intact(t)
			for i := range Rows {
				for c := range kp {
					if want := s[c*Rows+i] * scale[i]; r[i*kp+c] != want {
						t.Fatalf("k %d: share %d of row %d is %v, want %v", k, c, i, r[i*kp+c], want)
					}
				}
			}
			for _, f := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 33, 40} {
				x, _ := random(rng, f*Rows)
				sum, intact := random(rng, f*kp)
				old := clone(sum)
				Accumulate(sum, x, r, f, k)
				intact(t)
				for j := range f {
					for c := range k {
						want, size := old[j*kp+c], math.Abs(old[j*kp+c])
						for i := range Rows {
							want += x[j*Rows+i] * r[i*kp+c]
							size += math.Abs(x[j*Rows+i] * r[i*kp+c])
						}
						near(t, fmt.Sprintf("k %d, f %d: sum %d of component %d", k, f, j, c), sum[j*kp+c], want, size)
					}
				}
			}
		}
	})
}

// ulps is how many units in the last place of want got is off.
func ulps(got, want float64) float64 {
	if got == want {
		return 0
	}
	return math.Abs(got-want) / (math.Nextafter(math.Abs(want), math.Inf(1)) - math.Abs(want))
}

// units is how many units in the last place exp(t) may be off: the exponent is rounded.
func units(t float64) float64 { return 2 - 3*t }

// Two scores, 0 and t <= 0, leave exp(t) in place of the second, and log(1+exp(t)) as their log-sum-exp.
func TestExpAndLogWithinUnits(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(35, 0))
		const k = 41
		s, arg := make([]float64, k*Rows), make([]float64, k*Rows)
		lse, ent, inv, sums := make([]float64, Rows), make([]float64, Rows), make([]float64, Rows), make([]float64, Rows)
		edges := []float64{0, -0x1p-1074, -1e-300, -1e-16, -math.Ln2 / 2, -math.Ln2, math.Nextafter(-708, 0), -708, -709, -744, -745,
			-746, -1e9, -1e300, -math.MaxFloat64, math.Inf(-1)}
		worst, worstLog := 0.0, 0.0
		rounds := 1000
		if testing.Short() {
			rounds = 100
		}
		for round := range rounds {
			for i := range s {
				switch {
				case i < Rows:
					s[i] = 0
				case round == 0:
					s[i] = edges[i%len(edges)]
				case round%3 == 0:
					s[i] = -750 * rng.Float64()
				case round%3 == 1:
					s[i] = -math.Exp(14*rng.Float64() - 8)
				default:
					s[i] = -2 * rng.Float64()
				}
			}
			copy(arg, s)
			LogSumExp(sums, s, k)
			Soften(s, lse, ent, inv, k, 1)
			for i, v := range arg {
				want := math.Exp(v)
				if got := s[i]; v <= -708 {
					if !(got == 0 || ulps(got, want) <= units(v)) {
						t.Fatalf("exp(%v) = %v, want %v or 0", v, got, want)
					}
				} else if u := ulps(got, want); !(u <= units(v)) {
					t.Fatalf("exp(%v) = %v, want %v: %v units off", v, got, want, u)
				} else {
					worst = max(worst, u)
				}
			}
			for i := range Rows {
				z := 0.0
				for c := range k {
					z += s[c*Rows+i]
				}
				u := ulps(lse[i], math.Log(z))
				if !(u <= 2) || !(ulps(sums[i], lse[i]) <= 2) {
					t.Fatalf("log %v = %v and %v, want %v", z, lse[i], sums[i], math.Log(z))
				}
				worstLog = max(worstLog, u)
			}
		}
		t.Logf("exp within %.2f units of math.Exp, log within %.2f", worst, worstLog)
	})
}

func TestSoftenAgreesWithItsDefinition(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, beta := range []float64{0.2, 1, 1.2, 3} {
			everyK(t, func(t *testing.T, rng *rand.Rand, k int) {
				s, intactS := random(rng, k*Rows)
				s0 := clone(s)
				lse, intactL := guarded(Rows)
				ent, intactE := guarded(Rows)
				inv, intactI := guarded(Rows)
				plain, intactP := guarded(Rows)
				LogSumExp(plain, s, k)
				Soften(s, lse, ent, inv, k, beta)
				for _, intact := range []func(*testing.T){intactS, intactL, intactE, intactI, intactP} {
					intact(t)
				}
				for i := range Rows {
					z, z1, size := 0.0, 0.0, 1.0
					for c := range k {
						z += math.Exp(beta * s0[c*Rows+i])
						z1 += math.Exp(s0[c*Rows+i])
						size += math.Abs(beta * s0[c*Rows+i])
					}
					entropy := 0.0
					for c := range k {
						q := math.Exp(beta*s0[c*Rows+i]) / z
						near(t, "responsibility", s[c*Rows+i]*inv[i], q, size)
						if q > 0 {
							entropy -= q * math.Log(q)
						}
					}
					near(t, "log-sum-exp", lse[i], math.Log(z)/beta, size/beta)
					near(t, "log-sum-exp at 1", plain[i], math.Log(z1), size/beta)
					near(t, "entropy", ent[i], entropy, size*4)
				}
			})
		}
	})
}

// Whatever is not a number shows in lse, so that its row can be looked at another way; nothing else is lost by it.
func TestSoftenShowsWhatIsNoNumber(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		nan, inf := math.NaN(), math.Inf(1)
		for _, c := range []struct {
			score [3]float64
			bad   bool
			lse   float64
		}{
			{[3]float64{nan, 0, 1}, true, 0}, {[3]float64{0, nan, 1}, true, 0}, {[3]float64{0, 1, nan}, true, 0},
			{[3]float64{inf, 0, 1}, true, 0}, {[3]float64{-inf, -inf, -inf}, true, 0}, {[3]float64{nan, nan, nan}, true, 0},
			{[3]float64{-inf, 7, -inf}, false, 7}, {[3]float64{-1e300, -inf, -1e308}, false, -1e300},
			{[3]float64{5, 5 - 800, -1e9}, false, 5},
		} {
			s, lse, ent := make([]float64, 3*Rows), make([]float64, Rows), make([]float64, Rows)
			inv, plain := make([]float64, Rows), make([]float64, Rows)
			s[5], s[Rows+5], s[2*Rows+5] = c.score[0], c.score[1], c.score[2]
			LogSumExp(plain, s, 3)
			Soften(s, lse, ent, inv, 3, 1)
			for i, v := range lse {
				switch {
				case i == 5 && c.bad:
					if v-v == 0 || plain[i]-plain[i] == 0 {
						t.Errorf("%v: log-sum-exp %v and %v", c.score, v, plain[i])
					}
				case i == 5:
					if v != c.lse || plain[i] != c.lse || ent[i] != 0 {
						t.Errorf("%v: log-sum-exp %v and %v, entropy %v", c.score, v, plain[i], ent[i])
					}
				case v != math.Log(3) || math.Abs(ent[i]-math.Log(3)) > 1e-15:
					t.Errorf("%v: another row has %v, entropy %v", c.score, v, ent[i])
				}
			}
		}
	})
}

func TestMixtureKernelsAllocateNothing(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		const k, d = 5, 7
		rng := rand.New(rand.NewPCG(36, 0))
		x, _ := random(rng, d*Rows)
		src := clone(x)
		s, r, p, row := make([]float64, 8*Rows), make([]float64, 8*Rows), make([]float64, d*(d+1)/2*Rows), make([]float64, 4*Rows)
		w, sum, low, label := make([]float64, LowerTiles(d)), make([]float64, d*8), make([]float64, (d+1)*8), make([]int32, Rows)
		if n := testing.AllocsPerRun(20, func() {
			Pack(x, src, src[:d], Rows, d)
			Products(p, x, 0, d)
			SquareRows(p, x, d)
			Norms(row, x, d)
			WhitenTiles(p, x, w, d)
			Multiply(p, x, w, d, 1)
			Whitened(s, x, x, w, x, d, 1)
			Ellipses(s, x, x, x, x, d, k)
			MaskedEllipses(s, x, x, x, x, x, x, d, k)
			Spheres(s, x, x, x, x, d, k)
			Argmax(row, label, s, k)
			Centre(p, x, src[:d])
			Present(p, s, x, d)
			Lower(low, p, r, d)
			LogSumExp(row, s, k)
			Soften(s, row, row[Rows:], row[2*Rows:], k, 1.2)
			Share(r, s, row[2*Rows:], k)
			Accumulate(sum, x, r, d, k)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func TestCentreAndWhitenByTiles(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(38, 0))
		for _, d := range append(upTo40, 65) {
			x, _ := random(rng, d*Rows)
			m, _ := random(rng, d)
			w, _ := random(rng, d*(d+1)/2)
			tiles, intactW := guarded(LowerTiles(d))
			y, intactY := guarded(d * Rows)
			v, intactV := guarded(d * Rows)
			TileLower(tiles, w, d)
			Centre(y, x, m)
			WhitenTiles(v, y, tiles, d)
			intactW(t)
			intactY(t)
			intactV(t)
			for j := range d {
				for i := range Rows {
					if want := x[j*Rows+i] - m[j]; y[j*Rows+i] != want {
						t.Fatalf("d %d: centred %v, want %v", d, y[j*Rows+i], want)
					}
					sum, size := 0.0, 0.0
					for l := range j + 1 {
						sum += w[j*(j+1)/2+l] * y[l*Rows+i]
						size += math.Abs(w[j*(j+1)/2+l] * y[l*Rows+i])
					}
					near(t, fmt.Sprintf("d %d: variable %d", d, j), v[j*Rows+i], sum, size)
				}
			}
		}
	})
}

func TestMultiply(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(40, 0))
		for _, f := range []int{0, 1, 2, 7, 33} {
			for _, k := range append(upTo40, 65) {
				x, _ := random(rng, f*Rows)
				w, _ := random(rng, f*k)
				tiles, intactW := guarded(f * k)
				y, intactY := guarded(k * Rows)
				TileColumns(tiles, w, f, k)
				Multiply(y, x, tiles, f, k)
				intactW(t)
				intactY(t)
				for c := range k {
					for i := range Rows {
						sum, size := 0.0, 0.0
						for j := range f {
							sum += w[c*f+j] * x[j*Rows+i]
							size += math.Abs(w[c*f+j] * x[j*Rows+i])
						}
						near(t, fmt.Sprintf("f %d, k %d: column %d", f, k, c), y[c*Rows+i], sum, size)
					}
				}
			}
		}
	})
}

func TestLowerMoments(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(39, 0))
		for _, d := range append(upTo40, 65) {
			dp := Pad(d)
			x, _ := random(rng, (dp+1)*Rows)
			for i := range Rows {
				x[d*Rows+i] = 1
			}
			w, _ := random(rng, Rows)
			r, intactR := guarded(Rows * dp)
			clear(r)
			Share(r, x, w, d)
			sum, intact := random(rng, (d+1)*dp)
			old := clone(sum)
			Lower(sum, x, r, d)
			intactR(t)
			intact(t)
			for j := range d + 1 {
				for l := range min(j+1, d) {
					want, size := old[j*dp+l], math.Abs(old[j*dp+l])
					for i := range Rows {
						want += w[i] * x[j*Rows+i] * x[l*Rows+i]
						size += math.Abs(w[i] * x[j*Rows+i] * x[l*Rows+i])
					}
					near(t, fmt.Sprintf("d %d: moment %d, %d", d, j, l), sum[j*dp+l], want, size)
				}
			}
		}
	})
}

// Every tenth row is so far away that its square overflows.
func TestScoresOfComponents(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(40, 0))
		for _, d := range append(upTo40, 65) {
			for _, k := range []int{1, 2, 3, 4, 5, 7, 40} {
				x, _ := random(rng, d*Rows)
				for i := 3; i < Rows; i += 10 {
					x[i] = 1e200
					x[(d-1)*Rows+i] = -1e200
				}
				mean, _ := random(rng, k*d)
				scale, _ := random(rng, k*d)
				f, _ := random(rng, k)
				shift, _ := random(rng, k)
				lower, _ := random(rng, k*d*(d+1)/2)
				tiles := make([]float64, k*LowerTiles(d))
				for c := range k {
					f[c] = math.Abs(f[c])
					TileLower(tiles[c*LowerTiles(d):], lower[c*d*(d+1)/2:], d)
				}
				full, intactFull := guarded(k * Rows)
				diag, intactDiag := guarded(k * Rows)
				round, intactRound := guarded(k * Rows)
				Whitened(full, x, mean, tiles, shift, d, k)
				Ellipses(diag, x, mean, scale, shift, d, k)
				Spheres(round, x, mean, f, shift, d, k)
				intactFull(t)
				intactDiag(t)
				intactRound(t)
				for c := range k {
					for i := range Rows {
						at := c*Rows + i
						var vf, vd, vr, size float64
						w := lower[c*d*(d+1)/2:]
						for j := range d {
							e := x[j*Rows+i] - mean[c*d+j]
							vd += e * scale[c*d+j] * (e * scale[c*d+j])
							vr += e * e
							sum, abs := 0.0, 0.0
							for l := range j + 1 {
								sum += w[l] * (x[l*Rows+i] - mean[c*d+l])
								abs += math.Abs(w[l] * (x[l*Rows+i] - mean[c*d+l]))
							}
							w = w[j+1:]
							vf += sum * sum
							size += abs * abs
						}
						what := fmt.Sprintf("d %d, k %d, component %d, row %d", d, k, c, i)
						if i%10 == 3 {
							if want := shift[c] - math.MaxFloat64/2; full[at] != want || diag[at] != want || round[at] != want {
								t.Fatalf("%s: scores %v, %v, %v of a row without a square, want %v", what, full[at], diag[at], round[at], want)
							}
							continue
						}
						near(t, what, full[at], shift[c]-vf/2, math.Abs(shift[c])+size)
						near(t, what, diag[at], shift[c]-vd/2, math.Abs(shift[c])+vd)
						near(t, what, round[at], shift[c]-f[c]*vr/2, math.Abs(shift[c])+f[c]*vr)
					}
				}
			}
		}
	})
}

func TestSecondMomentsAreSecond(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(43, 0))
		for _, d := range append(upTo40, 100) {
			x, _ := random(rng, Pad(d)*Rows)
			w, _ := guarded(Rows)
			for i := range w {
				w[i] = rng.Float64()
			}
			got, intact := random(rng, d*(d+1)/2)
			tmp, intactTmp := guarded(SecondScratch(d))
			want, size := clone(got), clone(got)
			for i := range size {
				size[i] = math.Abs(size[i])
			}
			SecondMoments(got, x, w, tmp, d)
			intact(t)
			intactTmp(t)
			Second(want, x, w, make([]float64, Rows), d)
			for i := range x {
				x[i] = math.Abs(x[i])
			}
			Second(size, x, w, make([]float64, Rows), d)
			for i, v := range want {
				near(t, fmt.Sprintf("d %d: moment %d", d, i), got[i], v, size[i])
			}
		}
	})
}

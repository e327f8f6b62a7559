package kern

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestTailsAreThoseOfTheDefinition(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		everyK(t, func(t *testing.T, rng *rand.Rand, k int) {
			s, okS := random(rng, k*Rows)
			u, okU := guarded(k * Rows)
			log, okLog := guarded(k * Rows)
			p := make([][]float64, 4)
			for i := range p {
				p[i], _ = random(rng, k)
				for c := range p[i] {
					p[i][c] = math.Abs(p[i][c])
				}
			}
			shift, half, inverse, ratio := p[0], p[1], p[2], p[3]
			for i := range s {
				s[i] = -math.Abs(s[i]) * math.Exp(20*rng.NormFloat64())
			}
			s[0], s[1], s[2] = 0, -math.MaxFloat64/2, -1e-300
			before := append([]float64(nil), s...)
			Tails(s, u, log, shift, half, inverse, ratio, k)
			okS(t)
			okU(t)
			okLog(t)
			for i, v := range before {
				c := i / Rows
				e := min(1-2*inverse[c]*v, math.MaxFloat64)
				l := math.Log1p(min(-2*inverse[c]*v, math.MaxFloat64))
				near(t, "log", log[i], l, 1+l)
				near(t, "u", u[i], ratio[c]/e, ratio[c]/e)
				near(t, "score", s[i], shift[c]-half[c]*l, math.Abs(shift[c])+half[c]*(1+l))
			}
		})
	})
}

func TestWeighAddsUpAndMultiplies(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		everyK(t, func(t *testing.T, rng *rand.Rand, k int) {
			sum, okSum := guarded(2 * k * Lanes)
			q, okQ := random(rng, k*Rows)
			w, _ := random(rng, Rows)
			u, _ := random(rng, k*Rows)
			log, _ := random(rng, k*Rows)
			row, okRow := guarded(Rows)
			clear(row)
			for i := range sum {
				sum[i] = float64(i)
			}
			before := append([]float64(nil), q...)
			Weigh(sum, row, q, w, u, log, k)
			okSum(t)
			okQ(t)
			okRow(t)
			for i, got := range row {
				want, size := 0.0, 0.0
				for c := range k {
					v := before[c*Rows+i] * u[c*Rows+i] * w[i]
					want, size = want+v, size+math.Abs(v)
				}
				near(t, "row", got, want, size)
			}
			for c := range k {
				for l := range Lanes {
					n, t2 := float64(2*c*Lanes+l), float64((2*c+1)*Lanes+l)
					sizeN, sizeT := n, t2
					for i := l; i < Rows; i += Lanes {
						v := before[c*Rows+i] * w[i]
						n, sizeN = n+v, sizeN+math.Abs(v)
						t2, sizeT = t2+v*log[c*Rows+i], sizeT+math.Abs(v*log[c*Rows+i])
					}
					near(t, "weight", sum[2*c*Lanes+l], n, sizeN)
					near(t, "weight times log", sum[(2*c+1)*Lanes+l], t2, sizeT)
				}
			}
			for i, v := range before {
				near(t, "product", q[i], v*u[i], math.Abs(v*u[i]))
			}
		})
	})
}

// Scores are those of finite distances, as a Gaussian kernel leaves them; parameters are positive.
func FuzzTails(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64, _, kb uint8, special []byte) {
		r := newDraws(t, seed, special)
		k := 1 + int(kb)%41
		from := r.finite(k * Rows)
		for i, v := range from {
			from[i] = -math.Abs(v) / 2
		}
		shift, half, inverse, ratio := r.ordinary(k), r.ordinary(k), r.ordinary(k), r.ordinary(k)
		for c := range k {
			half[c], inverse[c], ratio[c] = math.Abs(half[c]), math.Abs(inverse[c]), math.Abs(ratio[c])
		}
		s, u, log := r.ordinary(k*Rows), r.ordinary(k*Rows), r.ordinary(k*Rows)
		type tailed struct{ s, u, log []float64 }
		against(r, func() tailed {
			copy(s, from)
			Tails(s, u, log, shift, half, inverse, ratio, k)
			return tailed{clone(s), clone(u), clone(log)}
		}, func(l Level, got, want tailed) {
			for i := range from {
				c := i / Rows
				if !(math.Abs(got.log[i]-want.log[i]) <= 1e-15*(1+want.log[i])) || !(math.Abs(got.u[i]-want.u[i]) <= 1e-15*want.u[i]+0x1p-1022) ||
					!(math.Abs(got.s[i]-want.s[i]) <= 1e-14*(math.Abs(shift[c])+half[c]*(1+want.log[i]))) {
					t.Fatalf("%v: row %d of %v: %v, %v and %v, want %v, %v and %v", l, i, from[i], got.s[i], got.u[i], got.log[i], want.s[i], want.u[i], want.log[i])
				}
			}
		})
		q, w, first := r.finite(k*Rows), r.finite(Rows), r.finite(2*k*Lanes)
		sum, own, size := r.ordinary(2*k*Lanes), r.ordinary(k*Rows), make([]float64, 2*k*Lanes)
		for i := range size {
			size[i] = math.Abs(first[i])
			for at := i % Lanes; at < Rows; at += Lanes {
				c := i / (2 * Lanes)
				v := product(q[c*Rows+at], w[at])
				if i/Lanes%2 == 1 {
					v = weighted(log[c*Rows+at], q[c*Rows+at], w[at])
				}
				size[i] = add(size[i], v)
			}
		}
		row, rowSize := r.ordinary(Rows), make([]float64, Rows)
		for i := range row {
			for c := range k {
				rowSize[i] = add(rowSize[i], weighted(w[i], q[c*Rows+i], u[c*Rows+i]))
			}
		}
		type weighed struct{ sum, row, q []float64 }
		against(r, func() weighed {
			copy(sum, first)
			copy(own, q)
			clear(row)
			Weigh(sum, row, own, w, u, log, k)
			return weighed{clone(sum), clone(row), clone(own)}
		}, func(l Level, got, want weighed) {
			r.close(l, "Weigh", got.sum, want.sum, size, 1e-14)
			r.close(l, "Weigh: rows", got.row, want.row, rowSize, 1e-14)
			r.same(l, "Weigh: products", got.q, want.q)
		})
	})
}

package kern

import (
	"math"
	"slices"
	"testing"
)

// Rows may be of any sort, components are finite.
func FuzzScores(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64, db, kb uint8, special []byte) {
		r := newDraws(t, seed, special)
		d, k := sizes(db, kb)
		x, mean, scale, shift := r.any(d*Rows), r.finite(k*d), r.finite(k*d), r.ordinary(k)
		round, lower := r.finite(k), r.finite(k*d*(d+1)/2)
		z, n := d*(d+1)/2, LowerTiles(d)
		tiles := make([]float64, k*n)
		full, diag, sphere := make([]float64, k*Rows), make([]float64, k*Rows), make([]float64, k*Rows)
		for c := range k {
			round[c] = math.Abs(round[c])
			TileLower(tiles[c*n:], lower[c*z:c*z+z], d)
			for i := range Rows {
				w, at := lower[c*z:c*z+z], c*Rows+i
				for j := range d {
					sum := 0.0
					for l := range j + 1 {
						sum = add(sum, product(w[l], x[l*Rows+i]-mean[c*d+l]))
					}
					w = w[j+1:]
					e := x[j*Rows+i] - mean[c*d+j]
					full[at] = add(full[at], product(sum, sum))
					u := product(e, scale[c*d+j])
					diag[at] = add(diag[at], product(u, u))
					sphere[at] = add(sphere[at], add(product(e, e), 0x1p-1022)) // e squared may be below all normal numbers, and round large
				}
				sphere[at] = product(sphere[at], round[c])
			}
		}
		out, none, ones := r.ordinary(k*Rows), make([]float64, k*d), make([]float64, d*Rows)
		for i := range ones {
			ones[i] = 1
		}
		for _, kernel := range []struct {
			name string
			run  func()
			size []float64
		}{
			{"Whitened", func() { Whitened(out, x, mean, tiles, shift, d, k) }, full},
			{"Ellipses", func() { Ellipses(out, x, mean, scale, shift, d, k) }, diag},
			{"Spheres", func() { Spheres(out, x, mean, round, shift, d, k) }, sphere},
			{"MaskedEllipses", func() { MaskedEllipses(out, x, ones, mean, scale, none, shift, d, k) }, diag},
		} {
			against(r, func() []float64 { kernel.run(); return clone(out) }, func(l Level, got, want []float64) {
				for i, size := range kernel.size {
					least := shift[i/Rows] - math.MaxFloat64/2
					switch {
					case size != size: // a difference is no number
						if got[i] != least || want[i] != least {
							t.Fatalf("%v: %s: score %d is %v and %v, want %v", l, kernel.name, i, got[i], want[i], least)
						}
					case size < huge && !(math.Abs(got[i]-want[i]) <= 1e-14*(size+math.Abs(shift[i/Rows]))):
						t.Fatalf("%v: %s: score %d is %v, want %v (sizes add to %v)", l, kernel.name, i, got[i], want[i], size)
					}
				}
			})
		}
		y, size := r.ordinary(d*Rows), make([]float64, d*Rows)
		for j := range d {
			for i := range Rows {
				for l := range min((j/lowerRows+1)*lowerRows, d) { // what a tile holds above the diagonal is 0
					w := 0.0
					if l <= j {
						w = lower[j*(j+1)/2+l]
					}
					size[j*Rows+i] = add(size[j*Rows+i], product(w, x[l*Rows+i]))
				}
			}
		}
		against(r, func() []float64 { WhitenTiles(y, x, tiles[:n], d); return clone(y) }, func(l Level, got, want []float64) { r.close(l, "WhitenTiles", got, want, size, 1e-14) })
	})
}

func FuzzMultiply(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64, fb, kb uint8, special []byte) {
		r := newDraws(t, seed, special)
		n, k := sizes(fb, kb)
		x, w, tiles, y, size := r.any(n*Rows), r.finite(n*k), make([]float64, n*k), make([]float64, k*Rows), make([]float64, k*Rows)
		TileColumns(tiles, w, n, k)
		for c := range k {
			for i := range Rows {
				for j := range n {
					size[c*Rows+i] = add(size[c*Rows+i], product(w[c*n+j], x[j*Rows+i]))
				}
			}
		}
		against(r, func() []float64 { Multiply(y, x, tiles, n, k); return clone(y) }, func(l Level, got, want []float64) { r.close(l, "Multiply", got, want, size, 1e-14) })
	})
}

func FuzzSoftmax(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64, bb, kb uint8, special []byte) {
		r := newDraws(t, seed, special)
		k, beta := 1+int(kb)%41, []float64{1, 1, 0.2, 0.8, 1.2, 3}[bb%6]
		s := r.any(k * Rows)
		for i := range s {
			switch r.rng.IntN(4) {
			case 0:
				s[i] *= 100
			case 1:
				s[i] = s[r.rng.IntN(i+1)/Rows*Rows+i%Rows] // a tie
			}
		}
		label := make([]int32, Rows)
		best, lse, ent, inv := r.ordinary(Rows), r.ordinary(Rows), r.ordinary(Rows), r.ordinary(Rows)
		type labelled struct {
			best  []float64
			label []int32
		}
		against(r, func() labelled { Argmax(best, label, s, k); return labelled{clone(best), slices.Clone(label)} }, func(l Level, got, want labelled) {
			if r.same(l, "Argmax", got.best, want.best); !slices.Equal(got.label, want.label) {
				t.Fatalf("%v: Argmax: labels %v, want %v", l, got.label, want.label)
			}
		})
		q := r.ordinary(k * Rows)
		type softened struct{ q, lse, ent, inv, plain []float64 }
		against(r, func() softened {
			LogSumExp(best, s, k)
			copy(q, s)
			Soften(q, lse, ent, inv, k, beta)
			return softened{clone(q), clone(lse), clone(ent), clone(inv), clone(best)}
		}, func(l Level, got, want softened) {
			for i := range Rows {
				top, none := math.Inf(-1), false
				for c := range k {
					v := s[c*Rows+i]
					none = none || v != v || v > math.MaxFloat64
					top = max(top, v)
				}
				if none || top < -math.MaxFloat64 {
					for _, v := range []float64{got.lse[i], want.lse[i], got.plain[i], want.plain[i]} {
						if v == v {
							t.Fatalf("%v: log-sum-exp of a row with what is no number: %v, not NaN", l, v)
						}
					}
					continue
				}
				size := math.Abs(top) + 1/beta + math.Log(float64(k))
				for what, v := range map[string][2]float64{"Soften: lse": {got.lse[i], want.lse[i]}, "LogSumExp": {got.plain[i], want.plain[i]}} {
					if !(math.Abs(v[0]-v[1]) <= 1e-14*size) {
						t.Fatalf("%v: %s of row %d is %v, want %v", l, what, i, v[0], v[1])
					}
				}
				if !(math.Abs(got.ent[i]-want.ent[i]) <= 1e-13) || !(ulps(got.inv[i], want.inv[i]) <= 8) {
					t.Fatalf("%v: Soften: row %d has entropy %v and factor %v, want %v and %v", l, i, got.ent[i], got.inv[i], want.ent[i], want.inv[i])
				}
				for c := range k {
					g, w := got.q[c*Rows+i], want.q[c*Rows+i]
					if !(ulps(g, w) <= units(max(math.Log(w), -745)) || w < 3.4e-308 && g == 0) { // exp(-708) is 3.3e-308
						t.Fatalf("%v: Soften: exponential %d of row %d is %v, want %v", l, c, i, g, w)
					}
				}
			}
		})
	})
}

func FuzzMoments(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64, db, kb uint8, special []byte) {
		r := newDraws(t, seed, special)
		d, k := sizes(db, kb)
		kp, dp := Pad(k), Pad(d)
		// Share: scores below k, zeros beyond.
		s, w := r.any(kp*Rows), r.finite(Rows)
		clear(s[k*Rows:])
		shares := r.ordinary(Rows * kp)
		against(r, func() []float64 {
			clear(shares)
			Share(shares, s, w, k)
			return clone(shares)
		}, func(l Level, got, want []float64) {
			for i := range Rows {
				r.same(l, "Share", got[i*kp:i*kp+k], want[i*kp:i*kp+k])
			}
		})

		x, q, first := r.finite((dp+1)*Rows), r.finite(Rows*kp), r.finite(d*kp)
		sum, size := r.ordinary(d*kp), clone(first)
		for j := range d {
			for c := range k {
				at := j*kp + c
				size[at] = math.Abs(size[at])
				for i := range Rows {
					size[at] = add(size[at], product(x[j*Rows+i], q[i*kp+c]))
				}
			}
			for c := k; c < kp; c++ {
				size[j*kp+c] = math.MaxFloat64 // not defined
			}
		}
		against(r, func() []float64 { copy(sum, first); Accumulate(sum, x, q, d, k); return clone(sum) }, func(l Level, got, want []float64) {
			r.close(l, "Accumulate", got, want, size, 1e-14)
		})

		few := 1 + k%Few
		lanes, begin := r.ordinary(few*d*Lanes), r.finite(few*d*Lanes)
		size = clone(begin)
		for at := range size {
			c, j := at/Lanes/d, at/Lanes%d
			size[at] = math.Abs(size[at])
			for i := at % Lanes; i < Rows; i += Lanes {
				size[at] = add(size[at], weighted(x[j*Rows+i], q[c*Rows+i], w[i]))
			}
		}
		against(r, func() []float64 {
			copy(lanes, begin)
			AccumulateFew(lanes, x, q[:few*Rows], w, d, few)
			return clone(lanes)
		}, func(l Level, got, want []float64) {
			r.close(l, "AccumulateFew", got, want, size, 1e-14)
		})

		// Second moments, of which Share makes the weighted rows.
		for i := range Rows {
			x[d*Rows+i] = 1
		}
		shared := r.ordinary(Rows * dp)
		clear(shared)
		r.at(Go, func() { Share(shared, x, w, d) })
		moments, begin := r.ordinary((d+1)*dp), r.finite((d+1)*dp)
		size = slices.Repeat([]float64{math.MaxFloat64}, len(begin))
		for j := range d + 1 {
			for l := range min(j+1, d) {
				at := j*dp + l
				size[at] = math.Abs(begin[at])
				for i := range Rows {
					size[at] = add(size[at], product(x[j*Rows+i], shared[i*dp+l]))
				}
			}
		}
		against(r, func() []float64 { copy(moments, begin); Lower(moments, x, shared, d); return clone(moments) }, func(l Level, got, want []float64) {
			r.close(l, "Lower", got, want, size, 1e-14)
		})
		packed, tmp, begin := r.ordinary(d*(d+1)/2), r.ordinary(SecondScratch(d)), r.finite(d*(d+1)/2)
		size = clone(begin)
		at := 0
		for j := range d {
			for l := range j + 1 {
				size[at] = math.Abs(size[at])
				for i := range Rows {
					xj, xl := x[j*Rows+i], x[l*Rows+i]
					size[at] = add(size[at], max(weighted(xj, xl, w[i]), weighted(xl, xj, w[i])))
				}
				at++
			}
		}
		against(r, func() []float64 { copy(packed, begin); SecondMoments(packed, x, w, tmp, d); return clone(packed) }, func(l Level, got, want []float64) {
			r.close(l, "SecondMoments", got, want, size, 1e-14)
		})

		factor, lse, ent := r.finite(Rows), r.any(Rows), r.any(Rows)
		for i := range w {
			w[i] = math.Abs(w[i])
		}
		var tally [4 * Lanes]float64
		size = make([]float64, 4*Lanes)
		for i, v := range w {
			for j, u := range []float64{1, lse[i], ent[i], 1 / max(v, 0x1p-1000)} {
				size[j*Lanes+i%Lanes] = add(size[j*Lanes+i%Lanes], product(v, u))
			}
		}
		times := r.ordinary(Rows)
		type tallied struct{ sum, factor []float64 }
		against(r, func() tallied {
			clear(tally[:])
			copy(times, factor)
			Tally(&tally, times, w, lse, ent)
			return tallied{clone(tally[:]), clone(times)}
		}, func(l Level, got, want tallied) {
			r.same(l, "Tally: factor", got.factor, want.factor)
			r.same(l, "Tally: rows", got.sum[3*Lanes:], want.sum[3*Lanes:])
			r.close(l, "Tally", got.sum[:3*Lanes], want.sum[:3*Lanes], size[:3*Lanes], 1e-14)
		})
	})
}

package kern

import (
	"math"
	"slices"
	"testing"
)

// What the kernels of K-medians promise is bits, whatever the cells. Brackets are for cells that are numbers.
func FuzzL1(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64, db, kb uint8, special []byte) {
		r := newDraws(t, seed, special)
		d, k := sizes(db, kb)
		x, c, w := r.any(d*Rows), r.any(k*d), r.any(Rows)
		out, least, label := r.ordinary(k*Rows), r.ordinary(Rows), make([]int64, Rows)
		against(r, func() []float64 { L1All(out, x, c, k, d); return clone(out) }, func(l Level, got, want []float64) { r.same(l, "L1All", got, want) })
		type nearest struct {
			least []float64
			label []int64
		}
		against(r, func() nearest { L1Nearest(least, label, x, c, k, d); return nearest{clone(least), slices.Clone(label)} }, func(l Level, got, want nearest) {
			if r.same(l, "L1Nearest", got.least, want.least); !slices.Equal(got.label, want.label) {
				t.Fatalf("%v: L1Nearest: labels %v, want %v", l, got.label, want.label)
			}
		})
		n := 1 + int(seed%77)
		rows, own := r.any(n*d), r.labels(n, k)
		dist := r.ordinary(n)
		against(r, func() []float64 { L1Rows(dist, rows, c, own, d); return clone(dist) }, func(l Level, got, want []float64) { r.same(l, "L1Rows", got, want) })
		sums, begin := r.ordinary(k), r.finite(k)
		against(r, func() []float64 { copy(sums, begin); DistanceSums(sums, x, w, c, k, d); return clone(sums) }, func(l Level, got, want []float64) {
			r.same(l, "DistanceSums", got, want)
		})

		p, weights := Pad(d), r.finite(n)
		for i, v := range rows {
			if v != v {
				rows[i] = 0
			}
		}
		table, first := r.ordinary(k*Planes*p), make([]float64, k*Planes*p)
		for i := range first {
			switch plane, j := i/p%Planes, i%p; {
			case plane < 2 && j >= d:
				first[i] = math.Inf(1)
			case plane == 0 && r.rng.IntN(3) == 0:
				first[i] = rows[r.rng.IntN(n)*d+j] // a value at the end
			case plane == 0:
				first[i] = r.rng.NormFloat64() - 1
			case plane == 1 && r.rng.IntN(3) == 0:
				first[i] = rows[r.rng.IntN(n)*d+j]
			case plane == 1:
				first[i] = r.rng.NormFloat64() + 1
			}
		}
		for i := range first {
			if i/p%Planes == 0 && first[i] > first[i+p] {
				first[i], first[i+p] = first[i+p], first[i]
			}
		}
		hit, weight, slot := r.ordinary(n*d+BracketRoom), r.ordinary(n*d+BracketRoom), make([]int32, n*d+BracketRoom)
		type bracket struct {
			table, hit, weight []float64
			slot               []int32
		}
		against(r, func() bracket {
			copy(table, first)
			m := Bracket(hit, weight, slot, table, rows, weights, own, d)
			return bracket{clone(table), clone(hit[:m]), clone(weight[:m]), slices.Clone(slot[:m])}
		}, func(l Level, got, want bracket) {
			if !slices.Equal(got.slot, want.slot) {
				t.Fatalf("%v: Bracket: %d values inside, want %d", l, len(got.slot), len(want.slot))
			}
			r.same(l, "Bracket: values", got.hit, want.hit)
			r.same(l, "Bracket: weights", got.weight, want.weight)
			for i := 0; i < len(first); i += p {
				r.same(l, "Bracket: table", got.table[i:i+d], want.table[i:i+d])
			}
		})
	})
}

func FuzzDistances(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64, db, kb uint8, special []byte) {
		r := newDraws(t, seed, special)
		d, k := sizes(db, kb)
		x, c := r.any(d*Rows), r.any(k*d)
		out := r.ordinary(k * Rows)
		against(r, func() []float64 { SqdistAll(out, x, c, k, d); return clone(out) }, func(l Level, got, want []float64) { r.same(l, "SqdistAll", got, want) })
		against(r, func() []float64 { SqdistFused(out, x, c, k, d); return clone(out) }, func(l Level, got, want []float64) { r.same(l, "SqdistFused", got, want) })
		wide := 32 * (1 + k%3)
		y, by, row := r.any(d), r.any(wide*d), r.ordinary(wide)
		against(r, func() []float64 { SqdistRow(row, y, by, wide); return clone(row) }, func(l Level, got, want []float64) { r.same(l, "SqdistRow", got, want) })

		// Distances with ties: nothing is negative or NaN.
		dist := r.any(k * Rows)
		for i, v := range dist {
			if dist[i] = math.Abs(v); v != v {
				dist[i] = math.Inf(1)
			}
			if r.rng.IntN(3) == 0 {
				dist[i] = dist[r.rng.IntN(i+1)/Rows*Rows+i%Rows]
			}
		}
		least, second, label := r.ordinary(Rows), r.ordinary(Rows), make([]int64, Rows)
		type nearest struct {
			least, second []float64
			label         []int64
		}
		compare := func(what string) func(l Level, got, want nearest) {
			return func(l Level, got, want nearest) {
				r.same(l, what+": least", got.least, want.least)
				r.same(l, what+": second", got.second, want.second)
				if !slices.Equal(got.label, want.label) {
					t.Fatalf("%v: %s: labels %v, want %v", l, what, got.label, want.label)
				}
			}
		}
		against(r, func() nearest { Argmin(least, label, dist, k); return nearest{clone(least), nil, slices.Clone(label)} }, compare("Argmin"))
		against(r, func() nearest {
			TwoLeast(least, second, label, dist, k)
			return nearest{clone(least), clone(second), slices.Clone(label)}
		}, compare("TwoLeast"))
	})
}

func FuzzRows(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64, db, kb uint8, special []byte) {
		r := newDraws(t, seed, special)
		d, k := sizes(db, kb)
		n := 1 + int(seed%9)
		wide, narrow, origin, c := r.any(n*d), r.singles(n*d), r.finite(d), r.any(k*d)
		pairs, moves, changes := make([]Pair, 1+k%11), make([]Move, 1+k%11), make([]Change, 1+k%11)
		for p := range pairs {
			row, from, to := uint32(r.rng.IntN(n)), uint32(r.rng.IntN(k)), uint32(r.rng.IntN(k))
			pairs[p], moves[p], changes[p] = Pair{row, to}, Move{row, to, r.number(finite)}, Change{row, from, to}
		}
		fuzzRows(r, "float64", wide, origin, c, pairs, moves, d)
		fuzzRows(r, "float32", narrow, origin, c, pairs, moves, d)

		short := r.singles(k * d)
		few := make([]float32, len(pairs))
		size := make([]float64, len(pairs))
		for p, at := range pairs {
			for j := range d {
				size[p] = add(size[p], product(float64(narrow[int(at.Row)*d+j]), float64(short[int(at.Centre)*d+j])))
			}
			if size[p] > 1e30 {
				size[p] = most // float32 may overflow
			}
			size[p] = add(size[p], float64(d)*0x1p-126)
		}
		against(r, func() []float64 { Dots(few, narrow, short, pairs, d); return widened(few) }, func(l Level, got, want []float64) {
			r.close(l, "Dots", got, want, size, float64(d)*0x1p-23)
		})

		hi, lo, hi0, lo0 := r.ordinary(k*d), r.ordinary(k*d), r.finite(k*d), r.finite(k*d)
		against(r, func() []float64 {
			copy(hi, hi0)
			copy(lo, lo0)
			Shift(hi, lo, narrow, origin, 0x1p20, changes, d)
			return slices.Concat(hi, lo)
		}, func(l Level, got, want []float64) { r.same(l, "Shift", got, want) })

		columns, draw := 1+int(db)%9, r.rng.Uint64()
		rows := uint32(draw) & uint32(draw>>32) // a quarter of them
		src := r.singles(columns * Rows)
		against(r, func() []float64 {
			dst := make([]float32, columns*Rows)
			Compress(dst, src, rows, columns)
			return widened(dst)
		}, func(l Level, got, want []float64) { r.same(l, "Compress", got, want) })
	})
}

func fuzzRows[F float32 | float64](r *draws, what string, x []F, origin, c []float64, pairs []Pair, moves []Move, d int) {
	dst, size := r.ordinary(len(pairs)), make([]float64, len(pairs))
	for p, at := range pairs {
		for j := range d {
			e := float64(x[int(at.Row)*d+j]) - origin[j] - c[int(at.Centre)*d+j]
			size[p] = add(size[p], product(e, e))
		}
	}
	against(r, func() []float64 { Pairs(dst, x, origin, c, pairs, d); return clone(dst) }, func(l Level, got, want []float64) {
		r.close(l, "Pairs of "+what, got, want, size, 1e-14)
	})
	hi, lo, hi0, lo0 := r.ordinary(len(c)), r.ordinary(len(c)), r.finite(len(c)), r.finite(len(c))
	against(r, func() []float64 {
		copy(hi, hi0)
		copy(lo, lo0)
		Scatter(hi, lo, x, origin, moves, d)
		return slices.Concat(hi, lo)
	}, func(l Level, got, want []float64) { r.same(l, "Scatter of "+what, got, want) })
}

// widened keeps every float32 apart, as float64.
func widened(s []float32) []float64 {
	out := make([]float64, len(s))
	for i, v := range s {
		out[i] = float64(v)
	}
	return out
}

func FuzzDense(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64, db, kb uint8, special []byte) {
		r := newDraws(t, seed, special)
		d, k := sizes(db, kb)
		for w := 1; w <= 12; w++ {
			fuzzDense(r, d, k, w)
		}
	})
}

// fuzzDense draws cells that are small integers times a power of two: float32 is exact in any order, and ties are many.
func fuzzDense(r *draws, d, k, w int) {
	panels := 1 + r.rng.IntN(3)
	scale := math.Ldexp(1, r.rng.IntN(80)-40)
	cells := func(n, below int) []float32 {
		s := make([]float32, n)
		for i := range s {
			s[i] = float32(scale * float64(r.rng.IntN(below)-below/2))
		}
		return s
	}
	x, norm := cells(panels*d*Rows, 9), make([]float32, panels*Rows)
	centres, height := make([][]float32, k), make([]float32, k)
	for c := range centres {
		centres[c], height[c] = cells(d, 9), float32(scale*scale*float64(r.rng.IntN(50)))
	}
	for i := range norm {
		norm[i] = float32(scale * float64(r.rng.IntN(4)))
	}
	coef := [3]float32{1, float32(scale), float32(scale * scale)}
	label := r.labels(panels*Rows, k)
	c, tiles := denseTiles(centres, height, w)
	type dense struct {
		got   []int32
		flags []uint32
		state []DenseState
	}
	against(r, func() dense {
		o := dense{make([]int32, panels*Rows), make([]uint32, 2*panels), make([]DenseState, panels)}
		Dense(x, c, norm, &coef, o.state, label, o.got, o.flags, d, w, tiles, panels, false)
		return o
	}, func(l Level, got, want dense) {
		for p := range panels {
			if got.flags[2*p] != want.flags[2*p] || !slices.Equal(got.state[p][:2*Rows], want.state[p][:2*Rows]) {
				r.t.Fatalf("%v: Dense: near ties %x with scores %v, want %x with %v", l, got.flags[2*p], got.state[p][:2*Rows], want.flags[2*p], want.state[p][:2*Rows])
			}
			for i := range Rows {
				at := p*Rows + i
				tie := want.state[p][i] == want.state[p][Rows+i]
				if got.got[at] != want.got[at] && !tie || got.flags[2*p+1]>>i&1 == 1 != (got.got[at] != label[at]) {
					r.t.Fatalf("%v: Dense: row %d is nearest to %d (changed %x), want %d", l, at, got.got[at], got.flags[2*p+1], want.got[at])
				}
			}
		}
	})
}

func FuzzBounds(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64, pb, kb uint8, special []byte) {
		r := newDraws(t, seed, special)
		panels, k := sizes(pb, kb)
		label, norm := r.labels(panels*Rows, k), make([]float32, panels*Rows)
		due, at := r.singles(panels*Rows), r.singles(k+1)
		against(r, func() []uint32 { o := make([]uint32, panels); Due(o, due, label, at, panels); return o }, func(l Level, got, want []uint32) {
			if !slices.Equal(got, want) {
				t.Fatalf("%v: Due: %x, want %x", l, got, want)
			}
		})

		// The bound of Slack is good to a few roundings of its scores.
		state, low := make([]DenseState, panels), make([]float32, k+1)
		for i := range low {
			low[i] = float32(r.rng.Float64())
		}
		bound, size := [7]float32{1e-6, 1e-6, 1e-6, 2, 1, 1e-3, 0.999}, make([]float64, panels*Rows)
		for i := range size {
			n := 3 * r.rng.Float64()
			norm[i] = float32(n)
			b := (n + 2) * (n + 2)
			near, far := b*r.rng.Float64(), b*(1+3*r.rng.Float64())
			state[i/Rows][i%Rows], state[i/Rows][Rows+i%Rows] = float32(near-b), float32(far-b)
			size[i] = 1 + (near+far+2*b)/max(math.Sqrt(near)+math.Sqrt(far), 1e-3)
		}
		against(r, func() []float64 { Slack(due, state, norm, label, low, &bound, panels); return widened(due) }, func(l Level, got, want []float64) {
			r.close(l, "Slack", got, want, size, 0x1p-20)
		})
	})
}

func FuzzIntegers(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64, gb, tb uint8, special []byte) {
		r := newDraws(t, seed, special)
		for w := 1; w <= 12; w++ {
			for _, most := range []int{184, 255} {
				fuzzIntegers(r, 1+int(gb)%20, w, 1+int(tb)%3, most, false)
			}
			fuzzIntegers(r, 1+int(gb)%20, w, 1+int(tb)%3, 255, true)
		}
	})
}

// fuzzIntegers draws integers below 2^24, so that float32 is exact, for levels whose MostByte is at least most.
func fuzzIntegers(r *draws, groups, w, tiles, most int, words bool) {
	x, c := make([]uint8, groups*4*Rows), make([]int8, tiles*w*4*(groups+2))
	for i := range x {
		x[i] = uint8(min(r.rng.IntN(300), most))
		if words && i%2 == 1 {
			x[i] = uint8(r.rng.IntN(3) - 1) // words of up to 9 bits
		}
	}
	for tile := range tiles {
		part := c[tile*w*4*(groups+2) : (tile+1)*w*4*(groups+2)]
		for q := range w {
			put := func(g int, v uint32) {
				for b := range 4 {
					part[(g*w+q)*4+b] = int8(v >> (8 * b))
				}
			}
			put(0, uint32(r.rng.IntN(2000)-1000))
			for g, b := range centreBytes(r.rng, groups, most) {
				v := uint32(uint8(b[0])) | uint32(uint8(b[1]))<<8 | uint32(uint8(b[2]))<<16 | uint32(uint8(b[3]))<<24
				if words {
					v = uint32(uint16(r.rng.IntN(256)-128))<<16 | uint32(uint16(r.rng.IntN(256)-128))
				}
				put(g+1, v)
			}
			put(groups+1, math.Float32bits(float32(r.rng.IntN(1000)-500)))
		}
	}
	row, meta := make([]float32, 4*Rows), make([]float32, 4*tiles)
	for i := range row {
		row[i] = float32(1 + r.rng.IntN(2))
	}
	for i := range meta {
		meta[i] = float32(1 + r.rng.IntN(2))
	}
	type results struct {
		scores        []float32
		upper, second [Rows]float32
		list          []Survivor
		multi         uint32
		skip          bool
	}
	against(r, func() (o results) {
		o.scores = make([]float32, tiles*w*Rows)
		for i := range o.upper {
			o.upper[i] = math.MaxFloat32
		}
		Integers(x, row, c, meta, o.scores, &o.upper, words, groups, w, tiles)
		RunnerUp(&o.second, row, meta, o.scores, w, tiles)
		o.skip = !words && MostByte() < most
		list := make([]Survivor, tiles*w+1)
		n, multi := Survivors(list, row, meta, o.scores, &o.upper, w, tiles)
		o.list, o.multi = list[:n], multi
		return o
	}, func(l Level, got, want results) {
		if got.skip {
			return
		}
		if !slices.Equal(got.scores, want.scores) || got.upper != want.upper {
			r.t.Fatalf("%v: Integers: scores %v up to %v, want %v up to %v", l, got.scores, got.upper, want.scores, want.upper)
		}
		if got.second != want.second {
			r.t.Fatalf("%v: RunnerUp: %v, want %v", l, got.second, want.second)
		}
		if !slices.Equal(got.list, want.list) || got.multi != want.multi {
			r.t.Fatalf("%v: Survivors: %v (%x), want %v (%x)", l, got.list, got.multi, want.list, want.multi)
		}
	})
}

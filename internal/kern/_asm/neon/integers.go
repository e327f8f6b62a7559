package main

import (
	"fmt"

	"github.com/latent-go/latent/internal/kern/_asm/arm64"
)

// integersVectors is how many vectors of four rows bytes takes at a time: their sums for w centres, they themselves, the values of the
// centres and one constant must fit.
func integersVectors(w int) int {
	for _, n := range []int{8, 4} {
		if n*w+n+(w+3)/4+1 <= 32 {
			return n
		}
	}
	return 2
}

// bytes writes the prefilter in bytes for tiles of w centres. SDOT multiplies numbers with signs alone: those of a row are x - 128,
// and 128 times the sum of those of a centre is added to its initial value.
func (a *asm) bytes(w int) {
	a.Begin(fmt.Sprintf("bytesNEONx%d", w), "x *uint8, row *float32, c *int8, meta, scores, upper *float32, groups, tiles int", "",
		"is Integers in bytes for tiles of this width; groups, tiles > 0.")
	p := a.Args("x", "row", "c", "meta", "scores", "upper", "groups", "tiles")
	x, row, c, meta, scores, upper, groups, tiles := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
	vectors := integersVectors(w)
	sign := a.Word(0x8080808080808080)
	start := make([]reg, 2*((w+3)/4)) // the initial values of the tile
	for i := range start {
		start[i] = a.Reg()
	}
	a.Loop(tiles, func() {
		a.initialValues(w, c, groups, sign, start)
		a.Add(4*w, c)
		norms := a.Reg()
		a.Times(arm64.Rows/4/vectors, func() {
			acc := a.Vecs(w * vectors)
			a.bytesColumns(w, vectors, acc, start, x, c, norms, groups, sign)
			a.bytesScores(w, vectors, acc, row, norms, meta, scores, upper)
			for _, r := range []reg{x, row, scores, upper} {
				a.Add(16*vectors, r)
			}
		})
		for _, r := range []reg{x, row, upper} {
			a.Add(-panelLine, r)
		}
		a.Add((w-1)*panelLine, scores)
		a.Add(16, meta)
		a.Go("MOVD %v, %v", norms, c)
		a.Add(4*w, c)
	})
	a.End()
}

// bytesColumns sets acc to the initial values and the products of all groups, and at to where the groups end.
func (a *asm) bytesColumns(w, vectors int, acc []vec, start []reg, x, c, at, groups reg, sign vec) {
	defer a.Scope()()
	values := a.Vecs((w + 3) / 4)
	for i, r := range start {
		a.Go("VMOV %v, V%d.D[%d]", r, int(values[i/2]), i%2)
	}
	each(acc, func(i int) { q := i / vectors; a.Do("dup %v.4s, %v.s[%d]", acc[i], values[q/4], q%4) })
	rows, xp, j := a.Vecs(vectors), a.Copy(x), a.Copy(groups)
	a.Go("MOVD %v, %v", c, at)
	a.Loop(j, func() {
		a.LoadNext(xp, panelLine, rows...)
		a.nextSingles(at, w, values)
		each(rows, func(v int) { a.Do("eor %v.16b, %v.16b, %v.16b", rows[v], rows[v], sign) })
		for q := range w {
			each(rows, func(v int) { a.Do("sdot %v.4s, %v.16b, %v.4b[%d]", acc[q*vectors+v], rows[v], values[q/4], q%4) })
		}
	})
}

// initialValues sets start to the initial values of a tile and 128 times the sums over their centres, two to a register.
func (a *asm) initialValues(w int, c, groups reg, sign vec, start []reg) {
	defer a.Scope()()
	n := (w + 3) / 4
	first, sum, values := a.Vecs(n), a.Vecs(n), a.Vecs(n)
	at, j := a.Copy(c), a.Copy(groups)
	a.loadSingles(at, w, first)
	a.Zero(sum...)
	a.Loop(j, func() {
		a.Add(4*w, at)
		a.loadSingles(at, w, values)
		each(sum, func(i int) { a.Do("sdot %v.4s, %v.16b, %v.16b", sum[i], values[i], sign) }) // -128 times
	})
	each(sum, func(i int) { a.Do("sub %v.4s, %v.4s, %v.4s", first[i], first[i], sum[i]) })
	for i, r := range start {
		a.Go("VMOV V%d.D[%d], %v", int(first[i/2]), i%2, r)
	}
}

// bytesScores stores norm - scale sum for the sums in hand, and brings the bounds of their rows up to date.
func (a *asm) bytesScores(w, vectors int, acc []vec, row, norms, meta, scores, upper reg) {
	for first := 0; first < vectors; first += 2 {
		restore := a.Scope()
		np := a.Copy(norms)
		scale, least, n, t := a.Vecs(2), a.Vecs(2), a.Vec(), a.Vec()
		mp := a.Copy(meta)
		a.LoadAll(mp, 4, n)
		a.Load(row, first*16, scale...)
		each(scale, func(v int) { a.Do("fmul %v.4s, %v.4s, %v.4s", scale[v], scale[v], n) })
		for q := range w {
			a.LoadAll(np, 4, n)
			score := acc[q*vectors+first : q*vectors+first+2]
			for v, s := range score {
				a.Do("scvtf %v.4s, %v.4s", s, s)
				a.Do("fmul %v.4s, %v.4s, %v.4s", s, s, scale[v])
				a.Do("fsub %v.4s, %v.4s, %v.4s", s, n, s)
				if q == 0 {
					a.Move(least[v], s)
				} else {
					a.Do("fminnm %v.4s, %v.4s, %v.4s", least[v], least[v], s)
				}
			}
			a.Store(scores, q*panelLine+first*16, score...)
		}
		for v := range 2 {
			a.radius(scale[v], row, meta, (first+v)*16, n, t)
			a.Do("fadd %v.4s, %v.4s, %v.4s", least[v], least[v], scale[v])
			a.Load(upper, (first+v)*16, t)
			a.Do("fminnm %v.4s, %v.4s, %v.4s", least[v], least[v], t)
			a.Store(upper, (first+v)*16, least[v])
		}
		restore()
	}
}

// radius sets r to what the scores of four rows and the centres of a tile may be wrong by; f and g are free.
func (a *asm) radius(r vec, row, meta reg, off int, f, g vec) {
	defer a.Scope()()
	mp := a.Copy(meta)
	a.Add(12, mp)
	a.Load(row, panelLine+off, r)
	a.LoadAll(mp, 4, f)
	a.Do("fadd %v.4s, %v.4s, %v.4s", r, r, f)
	for i := 1; i <= 2; i++ {
		a.Go("MOVD %v, %v", meta, mp)
		a.Add(4*i, mp)
		a.LoadAll(mp, 4, f)
		a.Load(row, (1+i)*panelLine+off, g)
		a.Do("fmla %v.4s, %v.4s, %v.4s", r, f, g)
	}
}

// survivors lists the centres that may be the nearest of some row, each with a bit for every such row.
func (a *asm) survivors() {
	a.Begin("survivorsNEON", "row, meta, scores, upper *float32, list, out *uint32, w, tiles int", "", "is Survivors; w, tiles > 0.")
	p := a.Args("row", "meta", "scores", "upper", "list", "out", "w", "tiles")
	row, meta, scores, upper, list, out, w, tiles := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
	seen, multi, slot, zero := a.Set(0), a.Set(0), a.Set(0), a.Set(0)
	bit := a.Table("bits", 0x00000002_00000001, 0x00000008_00000004)[:1]
	for v := 1; v < 8; v++ {
		bit = append(bit, a.Vec())
		a.Do("shl %v.4s, %v.4s, #4", bit[v], bit[v-1])
	}
	a.Loop(tiles, func() {
		limit, f, g := a.Vecs(8), a.Vec(), a.Vec()
		for v, l := range limit {
			a.radius(l, row, meta, v*16, f, g)
			a.Load(upper, v*16, f)
			a.Do("fadd %v.4s, %v.4s, %v.4s", l, l, f)
		}
		a.Loop(a.Copy(w), func() {
			s, all := a.Vecs(4), a.Vec()
			a.Zero(all)
			for v := 0; v < 8; v += len(s) {
				a.Load(scores, v*16, s...)
				each(s, func(i int) { a.Do("fcmge %v.4s, %v.4s, %v.4s", s[i], limit[v+i], s[i]) })
				each(s, func(i int) { a.Do("and %v.16b, %v.16b, %v.16b", s[i], s[i], bit[v+i]) })
				each(s, func(i int) { a.Do("orr %v.16b, %v.16b, %v.16b", all, all, s[i]) })
			}
			mask, both := a.Copy(zero), a.Reg()
			a.gatherBits(all, mask, zero)
			a.Go("MOVW %v, (%v)", slot, list)
			a.Go("MOVW %v, 4(%v)", mask, list)
			a.Go("AND %v, %v, %v", mask, seen, both)
			a.Go("ORR %v, %v, %v", both, multi, multi)
			a.Go("ORR %v, %v, %v", mask, seen, seen)
			a.Go("CMPW $0, %v", mask)
			a.Go("ADD $8, %v, %v", list, both)
			a.Go("CSEL NE, %v, %v, %v", both, list, list)
			a.Add(1, slot)
			a.Add(panelLine, scores)
		})
		a.Add(16, meta)
	})
	first := a.Arg("list")
	a.Go("SUB %v, %v, %v", first, list, list)
	a.Go("LSR $3, %v, %v", list, list)
	a.Go("MOVW %v, (%v)", list, out)
	a.Go("MOVW %v, 4(%v)", multi, out)
	a.End()
}

// runnerUp finds the second smallest of score less radius.
func (a *asm) runnerUp() {
	a.Begin("runnerUpNEON", "row, meta, scores, second *float32, w, tiles int", "", "is RunnerUp; w, tiles > 0.")
	p := a.Args("row", "meta", "scores", "second", "w", "tiles")
	row, meta, scores, w := p[0], p[1], p[2], p[4]
	least, next, huge := a.Vecs(8), a.Vecs(8), a.Word(0x7f7fffff_7f7fffff)
	for v := range 8 {
		a.Move(least[v], huge)
		a.Move(next[v], huge)
	}
	a.Loop(p[5], func() {
		r, f, g := a.Vecs(8), a.Vec(), a.Vec()
		for v := range r {
			a.radius(r[v], row, meta, v*16, f, g)
		}
		a.Loop(a.Copy(w), func() {
			for v := range r {
				a.Load(scores, v*16, f)
				a.Do("fsub %v.4s, %v.4s, %v.4s", f, f, r[v])
				a.Do("fmaxnm %v.4s, %v.4s, %v.4s", g, f, least[v])
				a.Do("fminnm %v.4s, %v.4s, %v.4s", least[v], least[v], f)
				a.Do("fminnm %v.4s, %v.4s, %v.4s", next[v], next[v], g)
			}
			a.Add(panelLine, scores)
		})
		a.Add(16, meta)
	})
	a.Store(p[3], 0, next...)
	a.End()
}

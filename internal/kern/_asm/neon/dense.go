package main

import (
	"fmt"

	"github.com/latent-go/latent/internal/kern/_asm/arm64"
)

// denseWidth is the widest tile whose sums for two vectors of rows fit the registers.
const denseWidth = 12

// denseVectors is how many vectors of four rows dense takes at a time: their sums for w centres, they themselves and the values of
// the centres must fit.
func denseVectors(w int) int {
	for _, n := range []int{8, 4} {
		if n*w+n+(w+3)/4 <= 32 {
			return n
		}
	}
	return 2
}

const panelLine = arm64.Rows * 4 // the bytes of a variable of a panel in float32

// dense writes the panel product in float32 for tiles of w centres, with the two smallest scores of each row.
func (a *asm) dense(w int) {
	a.Begin(fmt.Sprintf("denseNEONx%d", w), "x, c, norm, coef, state *float32, label, got *int32, flags *uint32, d, tiles, panels, resume, next int", "",
		"is Dense for tiles of this width; d, tiles, panels > 0.")
	p := a.Args("x", "c", "norm", "coef", "state", "label", "got", "flags", "d", "panels")
	x, c, norm, coef, state, label, got, flags, d, panels := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9]
	vectors := denseVectors(w)
	step := vectors * 16
	a.Loop(panels, func() {
		near, same, place := a.Set(0), a.Set(0), a.Set(0)
		a.Times(arm64.Rows/4/vectors, func() {
			ready := a.Label("ready")
			a.denseStart(state, vectors, ready)
			a.At(ready)
			tiles, cp := a.Arg("tiles"), a.Copy(c)
			a.Loop(tiles, func() { a.denseTile(w, vectors, x, cp, d, state) })
			a.denseEnd(vectors, norm, coef, state, label, got, near, same, place)
			for _, r := range []reg{x, norm, state, label, got} {
				a.Add(step, r)
			}
			a.Add(4*vectors, place)
		})
		a.Go("MVNW %v, %v", same, same)
		a.Go("MOVW %v, (%v)", near, flags)
		a.Go("MOVW %v, 4(%v)", same, flags)
		a.Add(8, flags)
		a.Add(-panelLine, x)
		a.Go("ADD %v<<7, %v", d, x)
		a.Add(-panelLine, state)
		next := a.Arg("next")
		a.Go("ADD %v, %v", next, state)
	})
	a.End()
}

// denseStart fills the state of the rows in hand unless it goes on from an earlier call.
func (a *asm) denseStart(state reg, vectors int, ready string) {
	defer a.Scope()()
	resume := a.Arg("resume")
	a.Go("CBNZ %v, %s", resume, ready)
	huge := a.Word(0x7f7fffff_7f7fffff)
	zero := a.Vec()
	a.Zero(zero)
	for v := range vectors {
		a.Store(state, v*16, huge)
		a.Store(state, panelLine+v*16, huge)
		a.Store(state, 2*panelLine+v*16, zero)
	}
}

func (a *asm) denseTile(w, vectors int, x, cp, d, state reg) {
	acc := a.Vecs(w * vectors)
	a.Zero(acc...)
	a.denseColumns(w, vectors, acc, x, cp, d)
	ids := a.Copy(cp) // the norms come first, and are added last: small sums stay precise
	a.Add(4*w, ids)
	for first := 0; first < vectors; first += 2 { // as many states as fit beside the sums
		a.denseLeast(acc, w, vectors, first, cp, ids, state)
	}
	a.Add(8*w, cp)
}

// denseLeast makes scores of the sums of two vectors of rows, and brings their state up to date.
func (a *asm) denseLeast(acc []vec, w, vectors, first int, norms, ids, state reg) {
	defer a.Scope()()
	np, ip := a.Copy(norms), a.Copy(ids)
	best, second, index, f, t := a.Vecs(2), a.Vecs(2), a.Vecs(2), a.Vec(), a.Vec()
	a.Load(state, first*16, best...)
	a.Load(state, panelLine+first*16, second...)
	a.Load(state, 2*panelLine+first*16, index...)
	for q := range w {
		score := acc[q*vectors+first : q*vectors+first+2]
		a.LoadAll(np, 4, f)
		for _, s := range score {
			a.Do("fadd %v.4s, %v.4s, %v.4s", s, s, f)
		}
		a.LoadAll(ip, 4, f)
		for v, s := range score {
			a.Do("fcmgt %v.4s, %v.4s, %v.4s", t, best[v], s)
			a.Do("bit %v.16b, %v.16b, %v.16b", index[v], f, t)
			a.Do("fmaxnm %v.4s, %v.4s, %v.4s", t, best[v], s)
			a.Do("fminnm %v.4s, %v.4s, %v.4s", best[v], best[v], s)
			a.Do("fminnm %v.4s, %v.4s, %v.4s", second[v], second[v], t)
		}
	}
	a.Store(state, first*16, best...)
	a.Store(state, panelLine+first*16, second...)
	a.Store(state, 2*panelLine+first*16, index...)
}

// denseColumns adds the products of the columns to acc and moves cp past them.
func (a *asm) denseColumns(w, vectors int, acc []vec, x, cp, d reg) {
	defer a.Scope()()
	rows, values := a.Vecs(vectors), a.Vecs((w+3)/4)
	xp, j := a.Copy(x), a.Copy(d)
	a.Loop(j, func() {
		a.LoadNext(xp, panelLine, rows...)
		a.nextSingles(cp, w, values)
		for q := range w {
			for v, r := range rows {
				a.Do("fmla %v.4s, %v.4s, %v.s[%d]", acc[q*vectors+v], r, values[q/4], q%4)
			}
		}
	})
}

// nextSingles is loadSingles that moves the pointer on.
func (a *asm) nextSingles(at reg, w int, v []vec) {
	if w%4 == 0 && w > 4 {
		a.LoadNext(at, 4*w, v...)
		return
	}
	a.loadSingles(at, w, v)
	a.Add(4*w, at)
}

// loadSingles loads w float32, four to a vector. It may read up to four bytes beyond them: in a tile norms and indices follow.
func (a *asm) loadSingles(at reg, w int, v []vec) {
	whole := (w + 1) / 4 // three take all of a vector
	a.Load(at, 0, v[:whole]...)
	switch w % 4 {
	case 1:
		a.Go("FMOVS %d(%v), %s", whole*16, at, v[whole].F())
	case 2:
		a.Go("FMOVD %d(%v), %s", whole*16, at, v[whole].F())
	}
}

// denseEnd compares the gap between the two best scores with the rounding they may hold, and labels with the old ones. Bits go to near
// and same from place on.
func (a *asm) denseEnd(vectors int, norm, coef, state, label, got, near, same, place reg) {
	defer a.Scope()()
	cp := a.Copy(coef)
	e, f, g := a.Vec(), a.Vec(), a.Vec()
	for _, v := range []vec{e, f, g} {
		a.LoadAll(cp, 4, v)
	}
	bit := a.Table("bits", 0x00000002_00000001, 0x00000008_00000004)[0]
	nears, sames := a.Vec(), a.Vec()
	a.Zero(nears, sames)
	n, limit, limit2, gap, best, index, old := a.Vec(), a.Vec(), a.Vec(), a.Vec(), a.Vec(), a.Vec(), a.Vec()
	for v := range vectors {
		a.Load(norm, v*16, n)
		a.Load(state, v*16, best)
		a.Load(state, panelLine+v*16, gap)
		a.Load(state, 2*panelLine+v*16, index)
		a.Load(label, v*16, old)
		a.Store(got, v*16, index)
		a.Move(limit, f)
		a.Do("fmla %v.4s, %v.4s, %v.4s", limit, e, n)
		a.Move(limit2, g)
		a.Do("fmla %v.4s, %v.4s, %v.4s", limit2, limit, n)
		a.Do("fsub %v.4s, %v.4s, %v.4s", gap, gap, best)
		a.Do("fcmge %v.4s, %v.4s, %v.4s", gap, limit2, gap)
		a.Do("and %v.16b, %v.16b, %v.16b", gap, gap, bit)
		a.Do("orr %v.16b, %v.16b, %v.16b", nears, nears, gap)
		a.Do("cmeq %v.4s, %v.4s, %v.4s", old, old, index)
		a.Do("and %v.16b, %v.16b, %v.16b", old, old, bit)
		a.Do("orr %v.16b, %v.16b, %v.16b", sames, sames, old)
		a.Do("shl %v.4s, %v.4s, #4", bit, bit)
	}
	a.gatherBits(nears, near, place)
	a.gatherBits(sames, same, place)
}

// gatherBits adds the four lanes of v, which have no bit in common, to word from bit place on.
func (a *asm) gatherBits(v vec, word, place reg) {
	defer a.Scope()()
	r := a.Reg()
	a.Do("addv s%d, %v.4s", int(v), v)
	a.Go("VMOV V%d.S[0], %v", int(v), r)
	a.Go("LSL %v, %v, %v", place, r, r)
	a.Go("ORR %v, %v, %v", r, word, word)
}

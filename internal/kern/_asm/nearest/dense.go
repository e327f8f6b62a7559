package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dense writes the panel product in float32 for tiles of w centres, with the two smallest scores of each row. Two vectors
// of rows are in hand at a time: a whole panel of AVX-512, half a panel of AVX2.
func (s simd) dense(w int) {
	begin(name("dense%sx%d", s.name, w), "x, c, norm, coef, state *float32, label, got *int32, flags *uint32, d, tiles, panels, resume, next int",
		"Dense for tiles of this width.")
	x, c, norm, coef := load("x"), load("c"), load("norm"), load("coef")
	state, label, got, flags := load("state"), load("label"), load("got"), load("flags")
	d, panels := load("d"), load("panels")
	const panel = 128 // bytes of one variable of a panel
	halves := panel / (2 * s.bytes)
	step := GP64()
	MOVQ(d, step)
	SHLQ(Imm(7), step)

	loop("panel", panels, func() {
		for h := range halves {
			// Best, second and index of the best, for both vectors.
			slot := func(i int) Mem { return at(state, i/2*panel+(2*h+i%2)*s.bytes) }
			resume, top := load("resume"), s.vec()
			TESTQ(resume, resume)
			JNZ(LabelRef(name("ready%d", h)))
			huge := GP32()
			MOVL(U32(0x7f7fffff), huge)
			spread(s, huge, top)
			for i := range 4 {
				VMOVUPS(top, slot(i))
			}
			Label(name("ready%d", h))
			cp, t := GP64(), GP64()
			MOVQ(c, cp)
			Load(Param("tiles"), t)
			loop(name("tile%d", h), t, func() { s.denseTile(w, h, x, cp, d, slot) })
			s.denseEnd(h, norm, coef, label, got, flags, slot)
		}
		ADDQ(step, x)
		next := load("next")
		ADDQ(next, state)
		add(panel, norm)
		add(panel, label)
		add(panel, got)
		add(8, flags)
	})
	end()
}

// spread fills a vector with a 32-bit number.
func spread(s simd, r reg.Register, v reg.VecVirtual) {
	lo := XMM()
	MOVD(r, lo)
	VBROADCASTSS(lo, v)
}

func (s simd) denseTile(w, h int, x, cp, d reg.Register, slot func(int) Mem) {
	acc := make([]reg.VecVirtual, 2*w)
	for i := range acc {
		acc[i] = s.vec()
		if s.bytes == 64 {
			VPXORD(acc[i], acc[i], acc[i])
		} else {
			VXORPS(acc[i], acc[i], acc[i])
		}
	}
	xp, j := GP64(), GP64()
	MOVQ(x, xp)
	MOVQ(d, j)
	loop(name("column%d", h), j, func() {
		x0, x1, f := s.vec(), s.vec(), s.vec()
		VMOVUPS(at(xp, h*2*s.bytes), x0)
		VMOVUPS(at(xp, h*2*s.bytes+s.bytes), x1)
		for q := range w {
			VBROADCASTSS(at(cp, 4*q), f)
			VFMADD231PS(x0, f, acc[2*q])
			VFMADD231PS(x1, f, acc[2*q+1])
		}
		add(128, xp)
		add(4*w, cp)
	})
	for v := range 2 { // the norm comes last: small sums stay precise
		best, second, index := s.vec(), s.vec(), s.vec()
		VMOVUPS(slot(v), best)
		VMOVUPS(slot(2+v), second)
		VMOVUPS(slot(4+v), index)
		for q := range w {
			a, worse := acc[2*q+v], s.vec()
			if s.bytes == 64 {
				k := K()
				VADDPS_BCST(at(cp, 4*q), a, a)
				VCMPPS(Imm(0x11), best, a, k)
				VMAXPS(best, a, worse)
				VMINPS(best, a, best)
				VMINPS(worse, second, second)
				VPBROADCASTD(at(cp, 4*(w+q)), k, index)
				continue
			}
			f, less, id := s.vec(), s.vec(), s.vec()
			VBROADCASTSS(at(cp, 4*q), f)
			VADDPS(f, a, a)
			VMAXPS(best, a, worse)
			VMINPS(worse, second, second)
			VCMPPS(Imm(0x11), best, a, less)
			VMINPS(best, a, best)
			VBROADCASTSS(at(cp, 4*(w+q)), id)
			VBLENDVPS(less, id, index, index)
		}
		VMOVUPS(best, slot(v))
		VMOVUPS(second, slot(2+v))
		VMOVUPS(index, slot(4+v))
	}
	add(8*w, cp)
}

// denseEnd compares the gap between the two best scores with the rounding they may hold, and labels with the old ones.
func (s simd) denseEnd(h int, norm, coef, label, got, flags reg.Register, slot func(int) Mem) {
	e, a, b := float32s(s, at(coef, 0)), float32s(s, at(coef, 4)), float32s(s, at(coef, 8))
	near, moved := GP32(), GP32()
	for v := range 2 {
		off := (2*h + v) * s.bytes
		n, gap, limit, index := s.vec(), s.vec(), s.vec(), s.vec()
		VMOVUPS(at(norm, off), n)
		VMOVUPS(e, limit)
		VFMADD213PS(a, n, limit) // e*n + a
		VFMADD213PS(b, n, limit)
		VMOVUPS(slot(2+v), gap)
		VSUBPS(slot(v), gap, gap)
		VMOVUPS(slot(4+v), index)
		VMOVUPS(index, at(got, off))
		nr, mv := near, moved
		if v == 1 {
			nr, mv = GP32(), GP32()
		}
		if s.bytes == 64 {
			k, m := K(), K()
			VCMPPS(Imm(0x12), limit, gap, k)
			VPCMPD(Imm(4), at(label, off), index, m)
			KMOVW(k, nr)
			KMOVW(m, mv)
		} else {
			close, same := s.vec(), s.vec()
			VCMPPS(Imm(0x12), limit, gap, close)
			VPCMPEQD(at(label, off), index, same)
			VMOVMSKPS(close, nr)
			VMOVMSKPS(same, mv)
			XORL(Imm(0xff), mv)
		}
		if v == 1 {
			SHLL(Imm(uint64(s.bytes/4)), nr)
			SHLL(Imm(uint64(s.bytes/4)), mv)
			ORL(nr, near)
			ORL(mv, moved)
		}
	}
	if s.bytes == 64 {
		MOVL(near, at(flags, 0))
		MOVL(moved, at(flags, 4))
		return
	}
	MOVW(near.As16(), at(flags, 2*h))
	MOVW(moved.As16(), at(flags, 4+2*h))
}

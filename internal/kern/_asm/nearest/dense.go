package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// dense writes the panel product in float32 for tiles of w centres, with the two smallest scores of each row. Two vectors
// of rows are in hand at a time: a whole panel of AVX-512, half a panel of AVX2.
func (s isa) dense(w int) {
	Begin(name("dense%sx%d", s.Name, w), "func(x, c, norm, coef, state *float32, label, got *int32, flags *uint32, d, tiles, panels, resume, next int)",
		"is Dense for tiles of this width.")
	x, c, norm, coef := Arg("x"), Arg("c"), Arg("norm"), Arg("coef")
	state, label, got, flags := Arg("state"), Arg("label"), Arg("got"), Arg("flags")
	d, panels := Arg("d"), Arg("panels")
	const panel = 128 // bytes of one variable of a panel
	halves := panel / (2 * s.Bytes)
	step := GP64()
	MOVQ(d, step)
	SHLQ(Imm(7), step)

	Loop("panel", panels, func() {
		for line := 0; line < panel; line += 64 {
			PREFETCHT0(At(norm, Ahead+line))
			PREFETCHT0(At(label, Ahead+line))
		}
		for h := range halves {
			// Best, second and index of the best, for both vectors.
			slot := func(i int) Mem { return At(state, i/2*panel+(2*h+i%2)*s.Bytes) }
			cp, resume := Copy(c), Arg("resume")
			TESTQ(resume, resume)
			JNZ(LabelRef(name("ready%d", h)))
			if s.Wide() {
				s.nothing(slot)
			} else { // no state to store and load again: a third of the time of few columns and centres
				s.denseTile(w, h, x, cp, d, slot, true)
			}
			Label(name("ready%d", h))
			t := Arg("tiles")
			if !s.Wide() {
				resume := Arg("resume")
				ADDQ(resume, t)
				DECQ(t)
				JZ(LabelRef(name("scored%d", h)))
			}
			Loop(name("tile%d", h), t, func() { s.denseTile(w, h, x, cp, d, slot, false) })
			if !s.Wide() {
				Label(name("scored%d", h))
			}
			s.denseEnd(h, norm, coef, label, got, flags, slot)
		}
		ADDQ(step, x)
		next := Arg("next")
		ADDQ(next, state)
		Add(panel, norm)
		Add(panel, label)
		Add(panel, got)
		Add(8, flags)
	})
	End()
}

// nothing sets the state to that before any score: infinity, nearly.
func (s isa) nothing(slot func(int) Mem) {
	top := s.Vec()
	s.Huge(top)
	for i := range 4 {
		VMOVUPS(top, slot(i))
	}
}

// denseTile takes in the scores of a tile. The first of all has no others to be compared with.
func (s isa) denseTile(w, h int, x, cp, d reg.Register, slot func(int) Mem, first bool) {
	acc := make([]reg.VecVirtual, 2*w)
	for i := range acc {
		acc[i] = s.Vec()
		if s.Wide() {
			VPXORD(acc[i], acc[i], acc[i])
		} else {
			VXORPS(acc[i], acc[i], acc[i])
		}
	}
	xp, j := GP64(), GP64()
	MOVQ(x, xp)
	MOVQ(d, j)
	Loop(name("column%d%v", h, first), j, func() {
		x0, x1, f := s.Vec(), s.Vec(), s.Vec()
		VMOVUPS(At(xp, h*2*s.Bytes), x0)
		VMOVUPS(At(xp, h*2*s.Bytes+s.Bytes), x1)
		for line := 0; line < 2*s.Bytes; line += 64 {
			PREFETCHT0(At(xp, Ahead+h*2*s.Bytes+line))
		}
		for q := range w {
			VBROADCASTSS(At(cp, 4*q), f)
			VFMADD231PS(x0, f, acc[2*q])
			VFMADD231PS(x1, f, acc[2*q+1])
		}
		Add(128, xp)
		Add(4*w, cp)
	})
	for v := range 2 { // the norm comes last: small sums stay precise
		best, second, index := s.Vec(), s.Vec(), s.Vec()
		if first {
			VBROADCASTSS(At(cp, 0), best)
			VADDPS(acc[v], best, best)
			VBROADCASTSS(At(cp, 4*w), index)
			s.Huge(second)
		} else {
			VMOVUPS(slot(v), best)
			VMOVUPS(slot(2+v), second)
			VMOVUPS(slot(4+v), index)
		}
		for q := range w {
			if first && q == 0 {
				continue
			}
			a, worse := acc[2*q+v], s.Vec()
			if s.Wide() {
				k := K()
				VADDPS_BCST(At(cp, 4*q), a, a)
				VCMPPS(Imm(0x11), best, a, k)
				VMAXPS(best, a, worse)
				VMINPS(best, a, best)
				VMINPS(worse, second, second)
				VPBROADCASTD(At(cp, 4*(w+q)), k, index)
				continue
			}
			f, less, id := s.Vec(), s.Vec(), s.Vec()
			VBROADCASTSS(At(cp, 4*q), f)
			VADDPS(f, a, a)
			VMAXPS(best, a, worse)
			VMINPS(worse, second, second)
			VCMPPS(Imm(0x11), best, a, less)
			VMINPS(best, a, best)
			VBROADCASTSS(At(cp, 4*(w+q)), id)
			VBLENDVPS(less, id, index, index)
		}
		VMOVUPS(best, slot(v))
		VMOVUPS(second, slot(2+v))
		VMOVUPS(index, slot(4+v))
	}
	Add(8*w, cp)
}

// denseEnd compares the gap between the two best scores with the rounding they may hold, and labels with the old ones.
func (s isa) denseEnd(h int, norm, coef, label, got, flags reg.Register, slot func(int) Mem) {
	e, a, b := s.Float32s(At(coef, 0)), s.Float32s(At(coef, 4)), s.Float32s(At(coef, 8))
	near, moved := GP32(), GP32()
	for v := range 2 {
		off := (2*h + v) * s.Bytes
		n, gap, limit, index := s.Vec(), s.Vec(), s.Vec(), s.Vec()
		VMOVUPS(At(norm, off), n)
		VMOVUPS(e, limit)
		VFMADD213PS(a, n, limit) // e*n + a
		VFMADD213PS(b, n, limit)
		VMOVUPS(slot(2+v), gap)
		VSUBPS(slot(v), gap, gap)
		VMOVUPS(slot(4+v), index)
		VMOVUPS(index, At(got, off))
		nr, mv := near, moved
		if v == 1 {
			nr, mv = GP32(), GP32()
		}
		if s.Wide() {
			k, m := K(), K()
			VCMPPS(Imm(0x12), limit, gap, k)
			VPCMPD(Imm(4), At(label, off), index, m)
			KMOVW(k, nr)
			KMOVW(m, mv)
		} else {
			close, same := s.Vec(), s.Vec()
			VCMPPS(Imm(0x12), limit, gap, close)
			VPCMPEQD(At(label, off), index, same)
			VMOVMSKPS(close, nr)
			VMOVMSKPS(same, mv)
			XORL(Imm(0xff), mv)
		}
		if v == 1 {
			SHLL(Imm(uint64(s.Bytes/4)), nr)
			SHLL(Imm(uint64(s.Bytes/4)), mv)
			ORL(nr, near)
			ORL(mv, moved)
		}
	}
	if s.Wide() {
		MOVL(near, At(flags, 0))
		MOVL(moved, At(flags, 4))
		return
	}
	MOVW(near.As16(), At(flags, 2*h))
	MOVW(moved.As16(), At(flags, 4+2*h))
}

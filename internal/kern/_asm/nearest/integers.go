package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// ahead is how many bytes before their use rows are fetched.
const ahead = 2048

// integers writes the prefilter in integers for tiles of w centres: VPDPBUSD multiplies 64 pairs of bytes at once, VPDPWSSD
// 32 pairs of words.
func integers(w int, words bool) {
	kind := "bytes"
	if words {
		kind = "words"
	}
	Begin(name("%s512x%d", kind, w), "func(x *uint8, row *float32, c *int8, meta, a, upper *float32, groups, tiles int)",
		"is Integers for tiles of this width.")
	x, row, c, meta, a := Arg("x"), Arg("row"), Arg("c"), Arg("meta"), Arg("a")
	groups, t := Arg("groups"), Arg("tiles")
	up, upper := Arg("upper"), [2]reg.VecVirtual{ZMM(), ZMM()}
	VMOVUPS(At(up, 0), upper[0])
	VMOVUPS(At(up, 64), upper[1])

	Loop("tile", t, func() {
		acc := make([]reg.VecVirtual, 2*w)
		for q := range w {
			acc[2*q], acc[2*q+1] = ZMM(), ZMM()
			VPBROADCASTD(At(c, 4*q), acc[2*q])
			VMOVDQA32(acc[2*q], acc[2*q+1])
		}
		add(4*w, c)
		xp, j := GP64(), GP64()
		MOVQ(x, xp)
		MOVQ(groups, j)
		Loop("column", j, func() {
			x0, x1, f := ZMM(), ZMM(), ZMM()
			VMOVDQU32(At(xp, 0), x0)
			VMOVDQU32(At(xp, 64), x1)
			PREFETCHT0(At(xp, ahead)) // wide rows come at the speed of memory
			PREFETCHT0(At(xp, ahead+64))
			for q := range w {
				VPBROADCASTD(At(c, 4*q), f)
				if words {
					VPDPWSSD(f, x0, acc[2*q])
					VPDPWSSD(f, x1, acc[2*q+1])
					continue
				}
				VPDPBUSD(f, x0, acc[2*q])
				VPDPBUSD(f, x1, acc[2*q+1])
			}
			add(128, xp)
			add(4*w, c)
		})
		for v := range 2 {
			scale, least := ZMM(), ZMM()
			VMOVUPS(At(row, 64*v), scale)
			VMULPS_BCST(At(meta, 0), scale, scale)
			for q := range w {
				s := acc[2*q+v]
				VCVTDQ2PS(s, s)
				VFNMADD213PS_BCST(At(c, 4*q), scale, s) // norm - scale * s
				VMOVUPS(s, At(a, 128*q+64*v))
				if q == 0 {
					VMOVUPS(s, least)
				} else {
					VMINPS(s, least, least)
				}
			}
			VADDPS(radius(row, meta, v), least, least)
			VMINPS(least, upper[v], upper[v])
		}
		add(4*w, c)
		add(16, meta)
		add(128*w, a)
	})
	VMOVUPS(upper[0], At(up, 0))
	VMOVUPS(upper[1], At(up, 64))
	End()
}

// radius returns what the score of a row and a centre of the tile may be wrong by.
func radius(row, meta reg.Register, v int) reg.VecVirtual {
	r, f := ZMM(), ZMM()
	VMOVUPS(At(row, 128+64*v), r)
	VADDPS_BCST(At(meta, 12), r, r)
	VMOVUPS(At(row, 256+64*v), f)
	VFMADD231PS_BCST(At(meta, 4), f, r)
	VMOVUPS(At(row, 384+64*v), f)
	VFMADD231PS_BCST(At(meta, 8), f, r)
	return r
}

// survivors lists the centres that may be the nearest of some row, each with a bit for every such row.
func survivors() {
	Begin("survivors512", "func(row, meta, a, upper *float32, list, out *uint32, w, tiles int)", "is Survivors.")
	row, meta, a, list := Arg("row"), Arg("meta"), Arg("a"), Arg("list")
	w, t, up, out := Arg("w"), Arg("tiles"), Arg("upper"), Arg("out")
	upper := [2]reg.VecVirtual{ZMM(), ZMM()}
	VMOVUPS(At(up, 0), upper[0])
	VMOVUPS(At(up, 64), upper[1])
	seen, multi, slot := GP32(), GP32(), GP32()
	XORL(seen, seen)
	XORL(multi, multi)
	XORL(slot, slot)
	Loop("scan", t, func() {
		var limit [2]reg.VecVirtual
		for v := range 2 {
			limit[v] = radius(row, meta, v)
			VADDPS(upper[v], limit[v], limit[v])
		}
		q := GP64()
		MOVQ(w, q)
		Loop("centre", q, func() {
			k0, k1 := K(), K()
			VCMPPS(Imm(0x1d), At(a, 0), limit[0], k0)
			VCMPPS(Imm(0x1d), At(a, 64), limit[1], k1)
			KUNPCKWD(k0, k1, k0)
			mask, both, next := GP32(), GP32(), GP64()
			KMOVD(k0, mask)
			MOVL(slot, At(list, 0))
			MOVL(mask, At(list, 4))
			MOVL(seen, both)
			ANDL(mask, both)
			ORL(both, multi)
			ORL(mask, seen)
			LEAQ(At(list, 8), next)
			TESTL(mask, mask)
			CMOVQNE(next, list)
			INCL(slot)
			add(128, a)
		})
		add(16, meta)
	})
	first := Arg("list")
	SUBQ(first, list)
	SHRQ(Imm(3), list)
	MOVL(list.(reg.GPVirtual).As32(), At(out, 0))
	MOVL(multi, At(out, 4))
	End()
}

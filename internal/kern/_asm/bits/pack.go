package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// packed turns a panel into words by columns. Of numbers only 0 and 1 are their own squares; a NaN stays one.
func (s isa) packed() {
	Begin("packed"+s.Name, "func(words *uint32, x *float64, d int) (bits bool)", "is packColumns; d > 0.")
	words, x, d := Arg("words"), Arg("x"), Arg("d")
	nothing, wrong := s.Vec(), s.Vec()
	Zero(nothing, wrong)
	Loop("column", d, func() {
		word := GP64()
		for v := Rows/s.Lanes() - 1; v >= 0; v-- {
			t, bits := s.Vec(), GP64()
			VMOVUPD(At(x, v*s.Bytes), t)
			if s.Wide() {
				k := K()
				VCMPPD(Imm(4), nothing, t, k) // t != 0
				KMOVB(k, bits.As32())
			} else {
				u := s.Vec()
				VCMPPD(Imm(4), nothing, t, u)
				VMOVMSKPD(u, bits.As32())
			}
			if v == Rows/s.Lanes()-1 {
				word = bits
			} else {
				SHLL(Imm(uint64(s.Lanes())), word.As32())
				ORL(bits.As32(), word.As32())
			}
			VFMSUB213PD(t, t, t) // t*t - t
			VORPD(t, wrong, wrong)
		}
		MOVL(word.As32(), At(words, 0))
		ADDQ(Imm(4), words)
		ADDQ(Step(Line), x)
	})
	ok := GP8()
	if s.Wide() {
		k, g := K(), GP32()
		VPTESTMQ(wrong, wrong, k)
		KMOVB(k, g)
		TESTL(g, g)
	} else {
		VPTEST(wrong, wrong)
	}
	SETEQ(ok)
	Store(ok, ReturnIndex(0))
	End()
}

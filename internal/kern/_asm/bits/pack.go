package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// packed turns a panel into words by columns. Of numbers only 0 and 1 are their own squares; a NaN stays one.
func (s isa) packed() {
	s.text("packed", "func(words *uint32, x *float64, d int) (bits bool)", "is packColumns; d > 0.")
	words, x, d := load("words"), load("x"), load("d")
	nothing, wrong := s.vec(), s.vec()
	zero(nothing, wrong)
	loop("column", d, func() {
		word := GP64()
		for v := rows/s.w - 1; v >= 0; v-- {
			t, bits := s.vec(), GP64()
			VMOVUPD(at(x, v*s.bytes()), t)
			if s.w == 8 {
				k := K()
				VCMPPD(Imm(4), nothing, t, k) // t != 0
				KMOVB(k, bits.As32())
			} else {
				u := s.vec()
				VCMPPD(Imm(4), nothing, t, u)
				VMOVMSKPD(u, bits.As32())
			}
			if v == rows/s.w-1 {
				word = bits
			} else {
				SHLL(Imm(uint64(s.w)), word.As32())
				ORL(bits.As32(), word.As32())
			}
			VFMSUB213PD(t, t, t) // t*t - t
			VORPD(t, wrong, wrong)
		}
		MOVL(word.As32(), at(words, 0))
		ADDQ(Imm(4), words)
		ADDQ(step(line), x)
	})
	ok := GP8()
	if s.w == 8 {
		k, g := K(), GP32()
		VPTESTMQ(wrong, wrong, k)
		KMOVB(k, g)
		TESTL(g, g)
	} else {
		VPTEST(wrong, wrong)
	}
	SETEQ(ok)
	Store(ok, ReturnIndex(0))
	done()
}

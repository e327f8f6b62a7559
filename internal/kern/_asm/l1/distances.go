package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// column adds the absolute differences of one variable, rows in lanes, to the sums acc.
func (s isa) column(acc []reg.VecVirtual, x, c Mem, abs reg.VecVirtual) {
	f := s.vec()
	VBROADCASTSD(c, f)
	for i, a := range acc {
		t := s.vec()
		VSUBPD(x.Offset(i*s.bytes), f, t)
		VANDPD(abs, t, t)
		VADDPD(t, a, a)
	}
}

// all: lanes are rows.
func (s isa) all() {
	begin("l1All"+s.name, "dst, x, c *float64, k, d int", "is L1All; k, d > 0.")
	dst, x, c, k, d := load("dst"), load("x"), load("c"), load("k"), load("d")
	abs, acc := s.magnitude(), s.vecs(panel/s.bytes)
	loop("centre", k, func() {
		clear(acc...)
		xp, j := move(x), move(d)
		loop("column", j, func() {
			s.column(acc, at(xp, 0), at(c, 0), abs)
			ADDQ(U32(panel), xp)
			ADDQ(Imm(8), c)
		})
		for i, a := range acc {
			VMOVUPD(a, at(dst, i*s.bytes))
		}
		ADDQ(U32(panel), dst)
	})
	end()
}

// nearest: lanes are rows, four vectors of them with their least distances and labels in registers: a whole panel of
// AVX-512, half a panel of AVX2.
func (s isa) nearest() {
	begin("l1Nearest"+s.name, "least *float64, label *int64, x, c *float64, first, k, d int",
		"is L1Nearest for k more centres, the first of them number first; k, d > 0.")
	least, label, x, d := load("least"), load("label"), load("x"), load("d")
	abs := s.magnitude()
	acc, best, index := s.vecs(4), s.vecs(4), s.vecs(4)
	for lo := 0; lo < panel; lo += 4 * s.bytes {
		c, k, id := load("c"), load("k"), load("first")
		for i := range best {
			VMOVUPD(at(least, lo+i*s.bytes), best[i])
			s.integers(at(label, lo+i*s.bytes), index[i])
		}
		loop(fmt.Sprint("centre", lo), k, func() {
			clear(acc...)
			xp, j := move(x), move(d)
			loop(fmt.Sprint("column", lo), j, func() {
				s.column(acc, at(xp, lo), at(c, 0), abs)
				ADDQ(U32(panel), xp)
				ADDQ(Imm(8), c)
			})
			now, low := s.vec(), XMM()
			MOVQ(id, low)
			VPBROADCASTQ(low, now)
			for i, a := range acc {
				if s.wide() {
					less := K()
					VCMPPD(Imm(0x11), best[i], a, less)
					VMOVDQA64(now, less, index[i])
					VMINPD(best[i], a, best[i])
					continue
				}
				least := s.vec()
				VMINPD(best[i], a, least)
				VCMPPD(Imm(0x11), best[i], a, best[i])
				VBLENDVPD(best[i], now, index[i], index[i])
				VMOVAPD(least, best[i])
			}
			INCQ(id)
		})
		for i := range best {
			VMOVUPD(best[i], at(least, lo+i*s.bytes))
			s.integers(index[i], at(label, lo+i*s.bytes))
		}
	}
	end()
}

// integers moves a vector of integers.
func (s isa) integers(from, to Op) {
	if s.wide() {
		VMOVDQU64(from, to)
	} else {
		VMOVDQU(from, to)
	}
}

// rows: lanes are variables, eight sums a row.
func (s isa) rows() {
	begin("l1Rows"+s.name, "dst, x, c *float64, label *int32, n, d int", "is L1Rows; n, d > 0.")
	dst, x, label, n, d := load("dst"), load("x"), load("label"), load("n"), load("d")
	abs, acc := s.magnitude(), s.vecs(64/s.bytes)
	loop("row", n, func() {
		cp, j := GP64(), move(d)
		c := load("c")
		MOVLQSX(at(label, 0), cp)
		IMULQ(d, cp)
		LEAQ(Mem{Base: c, Index: cp, Scale: 8}, cp)
		clear(acc...)
		SUBQ(Imm(8), j)
		JL(LabelRef("short"))
		Label("long")
		for i, a := range acc {
			t := s.vec()
			VMOVUPD(at(x, i*s.bytes), t)
			VSUBPD(at(cp, i*s.bytes), t, t)
			VANDPD(abs, t, t)
			VADDPD(t, a, a)
		}
		ADDQ(Imm(64), x)
		ADDQ(Imm(64), cp)
		SUBQ(Imm(8), j)
		JGE(LabelRef("long"))
		Label("short")
		ADDQ(Imm(8), j)
		JZ(LabelRef("whole"))
		if s.wide() {
			mask, t, u := ones(j), s.vec(), s.vec()
			VMOVUPD_Z(at(x, 0), mask, t)
			VMOVUPD_Z(at(cp, 0), mask, u)
			VSUBPD(u, t, t)
			VANDPD(abs, t, t)
			VADDPD(t, acc[0], acc[0])
		} else {
			for i, a := range acc {
				mask, t, u := partial(j, 4*i), s.vec(), s.vec()
				VMASKMOVPD(at(x, i*s.bytes), mask, t)
				VMASKMOVPD(at(cp, i*s.bytes), mask, u)
				VSUBPD(u, t, t)
				VANDPD(abs, t, t)
				VADDPD(t, a, a)
			}
		}
		LEAQ(Mem{Base: x, Index: j, Scale: 8}, x)
		Label("whole")
		VMOVSD(s.sum(acc), at(dst, 0))
		ADDQ(Imm(8), dst)
		ADDQ(Imm(4), label)
	})
	end()
}

// ones returns a mask of the first n lanes, n < 64.
func ones(n reg.GPVirtual) reg.OpmaskVirtual {
	one, k := GP64(), K()
	MOVQ(I32(-1), one)
	BZHIQ(n, one, one)
	KMOVW(one.As32(), k)
	return k
}

var maskTable Mem

// partial returns a mask of those lanes of four that are below n when they count from first; 0 < n < 8.
func partial(n reg.GPVirtual, first int) reg.VecVirtual {
	if maskTable.Symbol.Name == "" {
		maskTable = GLOBL("l1_lanes", RODATA|NOPTR)
		for i := range 16 {
			v := ^uint64(0)
			if i >= 8 {
				v = 0
			}
			DATA(8*i, U64(v))
		}
	}
	// Lane l holds entry 8 - n + first + l, which is ones where first + l < n.
	v, p, m := YMM(), GP64(), GP64()
	LEAQ(maskTable.Offset(8*(8+first)), p)
	MOVQ(n, m)
	NEGQ(m)
	VMOVUPD(Mem{Base: p, Index: m, Scale: 8}, v)
	return v
}

// distanceSums: lanes are rows. Products and sums are not fused: bits are those of the Go loop.
func (s isa) distanceSums() {
	begin("distanceSums"+s.name, "dst, x, w, c *float64, k, d int", "is DistanceSums; k, d > 0.")
	dst, x, w, c, k, d := load("dst"), load("x"), load("w"), load("c"), load("k"), load("d")
	acc := s.vecs(panel / s.bytes)
	loop("centre", k, func() {
		clear(acc...)
		xp, j := move(x), move(d)
		loop("column", j, func() {
			f := s.vec()
			VBROADCASTSD(at(c, 0), f)
			for i, a := range acc {
				t := s.vec()
				VSUBPD(at(xp, i*s.bytes), f, t)
				VMULPD(t, t, t)
				VADDPD(t, a, a)
			}
			ADDQ(U32(panel), xp)
			ADDQ(Imm(8), c)
		})
		for i, a := range acc {
			VSQRTPD(a, a)
			VMULPD(at(w, i*s.bytes), a, a)
		}
		eight := 64 / s.bytes
		for i := eight; i < len(acc); i++ {
			VADDPD(acc[i], acc[i%eight], acc[i%eight])
		}
		total := s.sum(acc[:eight])
		VADDSD(at(dst, 0), total, total)
		VMOVSD(total, at(dst, 0))
		ADDQ(Imm(8), dst)
	})
	end()
}

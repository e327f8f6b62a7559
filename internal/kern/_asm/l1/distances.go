package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// column adds the absolute differences of one variable, rows in lanes, to the sums acc.
func (s isa) column(acc []reg.VecVirtual, x, c Mem, abs reg.VecVirtual) {
	f := s.Vec()
	VBROADCASTSD(c, f)
	for i, a := range acc {
		t := s.Vec()
		VSUBPD(x.Offset(i*s.Bytes), f, t)
		VANDPD(abs, t, t)
		VADDPD(t, a, a)
	}
}

// all: lanes are rows.
func (s isa) all() {
	Begin("l1All"+s.Name, "func(dst, x, c *float64, k, d int)", "is L1All; k, d > 0.")
	dst, x, c, k, d := Arg("dst"), Arg("x"), Arg("c"), Arg("k"), Arg("d")
	abs, acc := s.magnitude(), s.Vecs(Line/s.Bytes)
	Loop("centre", k, func() {
		Zero(acc...)
		xp, j := Copy(x), Copy(d)
		Loop("column", j, func() {
			s.column(acc, At(xp, 0), At(c, 0), abs)
			ADDQ(U32(Line), xp)
			ADDQ(Imm(8), c)
		})
		for i, a := range acc {
			VMOVUPD(a, At(dst, i*s.Bytes))
		}
		ADDQ(U32(Line), dst)
	})
	End()
}

// nearest: lanes are rows, four vectors of them with their least distances and labels in registers: a whole Line of
// AVX-512, half a Line of AVX2.
func (s isa) nearest() {
	Begin("l1Nearest"+s.Name, "func(least *float64, label *int64, x, c *float64, first, k, d int)",
		"is L1Nearest for k more centres, the first of them number first; k, d > 0.")
	least, label, x, d := Arg("least"), Arg("label"), Arg("x"), Arg("d")
	abs := s.magnitude()
	acc, best, index := s.Vecs(4), s.Vecs(4), s.Vecs(4)
	for lo := 0; lo < Line; lo += 4 * s.Bytes {
		c, k, id := Arg("c"), Arg("k"), Arg("first")
		for i := range best {
			VMOVUPD(At(least, lo+i*s.Bytes), best[i])
			s.integers(At(label, lo+i*s.Bytes), index[i])
		}
		Loop(fmt.Sprint("centre", lo), k, func() {
			Zero(acc...)
			xp, j := Copy(x), Copy(d)
			Loop(fmt.Sprint("column", lo), j, func() {
				s.column(acc, At(xp, lo), At(c, 0), abs)
				ADDQ(U32(Line), xp)
				ADDQ(Imm(8), c)
			})
			now, low := s.Vec(), XMM()
			MOVQ(id, low)
			VPBROADCASTQ(low, now)
			for i, a := range acc {
				if s.Wide() {
					less := K()
					VCMPPD(Imm(0x11), best[i], a, less)
					VMOVDQA64(now, less, index[i])
					VMINPD(best[i], a, best[i])
					continue
				}
				least := s.Vec()
				VMINPD(best[i], a, least)
				VCMPPD(Imm(0x11), best[i], a, best[i])
				VBLENDVPD(best[i], now, index[i], index[i])
				VMOVAPD(least, best[i])
			}
			INCQ(id)
		})
		for i := range best {
			VMOVUPD(best[i], At(least, lo+i*s.Bytes))
			s.integers(index[i], At(label, lo+i*s.Bytes))
		}
	}
	End()
}

// integers moves a vector of integers.
func (s isa) integers(from, to Op) {
	if s.Wide() {
		VMOVDQU64(from, to)
	} else {
		VMOVDQU(from, to)
	}
}

// rows: lanes are variables, eight sums a row.
func (s isa) rows() {
	Begin("l1Rows"+s.Name, "func(dst, x, c *float64, label *int32, n, d int)", "is L1Rows; n, d > 0.")
	dst, x, label, n, d := Arg("dst"), Arg("x"), Arg("label"), Arg("n"), Arg("d")
	abs, acc := s.magnitude(), s.Vecs(64/s.Bytes)
	Loop("row", n, func() {
		cp, j := GP64(), Copy(d)
		c := Arg("c")
		MOVLQSX(At(label, 0), cp)
		IMULQ(d, cp)
		LEAQ(Mem{Base: c, Index: cp, Scale: 8}, cp)
		Zero(acc...)
		Whole("", j, Imm(8), func() {
			for i, a := range acc {
				t := s.Vec()
				VMOVUPD(At(x, i*s.Bytes), t)
				VSUBPD(At(cp, i*s.Bytes), t, t)
				VANDPD(abs, t, t)
				VADDPD(t, a, a)
			}
			ADDQ(Imm(64), x)
			ADDQ(Imm(64), cp)
		})
		JZ(LabelRef("whole"))
		if s.Wide() {
			mask, t, u := ones(j), s.Vec(), s.Vec()
			VMOVUPD_Z(At(x, 0), mask, t)
			VMOVUPD_Z(At(cp, 0), mask, u)
			VSUBPD(u, t, t)
			VANDPD(abs, t, t)
			VADDPD(t, acc[0], acc[0])
		} else {
			for i, a := range acc {
				mask, t, u := partial(j, 4*i), s.Vec(), s.Vec()
				VMASKMOVPD(At(x, i*s.Bytes), mask, t)
				VMASKMOVPD(At(cp, i*s.Bytes), mask, u)
				VSUBPD(u, t, t)
				VANDPD(abs, t, t)
				VADDPD(t, a, a)
			}
		}
		LEAQ(Mem{Base: x, Index: j, Scale: 8}, x)
		Label("whole")
		VMOVSD(s.sum(acc), At(dst, 0))
		ADDQ(Imm(8), dst)
		ADDQ(Imm(4), label)
	})
	End()
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
	Begin("distanceSums"+s.Name, "func(dst, x, w, c *float64, k, d int)", "is DistanceSums; k, d > 0.")
	dst, x, w, c, k, d := Arg("dst"), Arg("x"), Arg("w"), Arg("c"), Arg("k"), Arg("d")
	acc := s.Vecs(Line / s.Bytes)
	Loop("centre", k, func() {
		Zero(acc...)
		xp, j := Copy(x), Copy(d)
		Loop("column", j, func() {
			f := s.Vec()
			VBROADCASTSD(At(c, 0), f)
			for i, a := range acc {
				t := s.Vec()
				VSUBPD(At(xp, i*s.Bytes), f, t)
				VMULPD(t, t, t)
				VADDPD(t, a, a)
			}
			ADDQ(U32(Line), xp)
			ADDQ(Imm(8), c)
		})
		for i, a := range acc {
			VSQRTPD(a, a)
			VMULPD(At(w, i*s.Bytes), a, a)
		}
		eight := 64 / s.Bytes
		for i := eight; i < len(acc); i++ {
			VADDPD(acc[i], acc[i%eight], acc[i%eight])
		}
		total := s.sum(acc[:eight])
		VADDSD(At(dst, 0), total, total)
		VMOVSD(total, At(dst, 0))
		ADDQ(Imm(8), dst)
	})
	End()
}

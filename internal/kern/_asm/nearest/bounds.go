package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// gather32 loads the entries of a table of 32-bit numbers at the places of index.
func (s isa) gather32(table Mem, index, into Op) {
	if s.Wide() {
		k := K()
		KXNORW(k, k, k)
		VGATHERDPS(table, k, into)
		return
	}
	all := s.Vec()
	VPCMPEQD(all, all, all)
	VGATHERDPS(all, table, into)
}

// due: lanes are rows. With few the table fits two registers.
func (s isa) due(few bool) {
	suffix := ""
	if few {
		suffix = "Few"
	}
	Begin("due"+suffix+s.Name, "func(flags *uint32, due *float32, label *int32, at *float32, panels int)", "is Due.")
	flags, due, label, at, panels := Arg("flags"), Arg("due"), Arg("label"), Arg("at"), Arg("panels")
	look := func(label Mem, into reg.VecVirtual) {
		index := s.Vec()
		VMOVUPS(label, index)
		s.gather32(Mem{Base: at, Index: index, Scale: 4, Disp: 4}, index, into)
	}
	if few {
		look = s.tableOf(at)
	}
	Loop("panel", panels, func() {
		mask := GP32()
		for v := range s.Float32Vectors() {
			limit := s.Vec()
			look(At(label, v*s.Bytes), limit)
			part := GP32()
			if v == 0 {
				part = mask
			}
			if s.Wide() {
				k := K()
				VCMPPS(Imm(0x11), At(due, v*s.Bytes), limit, k) // limit < due
				KMOVW(k, part)
			} else {
				VCMPPS(Imm(0x11), At(due, v*s.Bytes), limit, limit)
				VMOVMSKPS(limit, part)
			}
			if v > 0 {
				SHLL(Imm(uint64(v*s.Bytes/4)), part)
				ORL(part, mask)
			}
		}
		NOTL(mask)
		MOVL(mask, At(flags, 0))
		Add(128, due)
		Add(128, label)
		Add(4, flags)
	})
	End()
}

// tableOf loads the two vectors of a table, and returns what sets a vector to the entries after those of labels in memory.
func (s isa) tableOf(at reg.Register) func(label Mem, into reg.VecVirtual) {
	low, high, ones := s.Vec(), s.Vec(), s.Vec()
	VMOVUPS(At(at, 0), low)
	VMOVUPS(At(at, s.Bytes), high)
	minus := GP32()
	MOVL(I32(-1), minus)
	Spread(minus, ones)
	return func(label Mem, into reg.VecVirtual) {
		if s.Wide() {
			VMOVUPS(label, into)
			VPSUBD(ones, into, into)
			VPERMI2PS(high, low, into)
			return
		}
		index, above := s.Vec(), s.Vec()
		VMOVUPS(label, index)
		VPSUBD(ones, index, index)
		VPERMPS(low, index, into)
		VPERMPS(high, index, above)
		VPSLLD(Imm(28), index, index) // bit 3 to the sign
		VBLENDVPS(index, above, into, into)
	}
}

// slack: lanes are rows.
func (s isa) slack() {
	Begin("slack"+s.Name, "func(due, state, norm *float32, label *int32, low, coef *float32, panels int)", "is Slack.")
	due, state, norm, label := Arg("due"), Arg("state"), Arg("norm"), Arg("label")
	low, coef, panels := Arg("low"), Arg("coef"), Arg("panels")
	var c [6]Op
	for i := range c {
		c[i] = s.Float32s(At(coef, 4*i))
	}
	zero := s.Vec()
	if s.Wide() {
		VPXORD(zero, zero, zero)
	} else {
		VXORPS(zero, zero, zero)
	}
	Loop("panel", panels, func() {
		for v := range 128 / s.Bytes {
			off := v * s.Bytes
			n, limit, base, best, second := s.Vec(), s.Vec(), s.Vec(), s.Vec(), s.Vec()
			VMOVUPS(At(norm, off), n)
			VMOVUPS(At(state, off), best)
			VMOVUPS(At(state, 128+off), second)
			VMOVAPS(n, limit)
			VFMADD132PS(c[0], c[1], limit) // limit*c0 + c1
			VFMADD213PS(c[2], n, limit)    // n*limit + c2
			VADDPS(c[3], n, base)
			VMULPS(base, base, base)
			VFMADD213PS(limit, c[4], base) // c4*base + limit
			gap := s.Vec()
			VSUBPS(best, second, gap)
			VSUBPS(limit, gap, gap)
			VMAXPS(zero, gap, gap)
			for _, d := range []Op{best, second} {
				VADDPS(base, d, d)
				VMAXPS(zero, d, d)
				VSQRTPS(d, d)
			}
			VADDPS(best, second, second)
			VMAXPS(c[5], second, second)
			VDIVPS(second, gap, gap)
			index, from := s.Vec(), s.Vec()
			if s.Wide() {
				VMOVDQU32(At(label, off), index)
			} else {
				VMOVDQU(At(label, off), index)
			}
			s.gather32(Mem{Base: low, Index: index, Scale: 4, Disp: 4}, index, from)
			f := s.Vec()
			VBROADCASTSS(At(coef, 24), f)
			VFMADD213PS(from, f, gap)
			VMOVUPS(gap, At(due, off))
		}
		Add(384, state)
		Add(128, norm)
		Add(128, label)
		Add(128, due)
	})
	End()
}

// rowsAhead is how many changes before its use a row is fetched.
const rowsAhead = 4

// shift: lanes are variables.
func (s isa) shift() {
	Begin("shift"+s.Name, "func(hi, lo *float64, x *float32, origin *float64, grain float64, change *uint32, n, d, stride int)", "is Shift for d of the columns.")
	hi, lo, x, origin := Arg("hi"), Arg("lo"), Arg("x"), Arg("origin")
	change, n := Arg("change"), Arg("n")
	low, grain := XMM(), s.Vec()
	Load(Param("grain"), low)
	VBROADCASTSD(low, grain)
	lanes := s.Bytes / 8
	Loop("change", n, func() {
		xp, ahead, stride := GP64(), GP64(), Arg("stride")
		var sum [4]reg.GPVirtual // hi and lo of one cluster, then of the other
		MOVL(At(change, 0), xp.As32())
		IMULQ(stride, xp)
		LEAQ(Mem{Base: x, Index: xp, Scale: 4}, xp)
		// A later row is fetched meanwhile; the last fetch themselves.
		next := GP64()
		LEAQ(At(change, 12*rowsAhead), next)
		MOVQ(change, ahead)
		CMPQ(n, Imm(rowsAhead))
		CMOVQGT(next, ahead)
		MOVL(At(ahead, 0), ahead.As32())
		IMULQ(stride, ahead)
		LEAQ(Mem{Base: x, Index: ahead, Scale: 4}, ahead)
		for i := range sum {
			sum[i] = GP64()
			MOVL(At(change, 4+i/2*4), sum[i].As32())
			IMULQ(stride, sum[i])
			LEAQ(Mem{Base: []reg.Register{hi, lo}[i%2], Index: sum[i], Scale: 8}, sum[i])
		}
		cell := func(base reg.Register, j reg.Register, size int) Mem {
			return Mem{Base: base, Index: j, Scale: uint8(size)}
		}
		j, left := GP64(), Arg("d")
		XORQ(j, j)
		Whole("", left, U32(lanes), func() {
			PREFETCHT0(cell(ahead, j, 4))
			y, a := s.Vec(), s.Vec()
			VCVTPS2PD(cell(xp, j, 4), y)
			VSUBPD(cell(origin, j, 8), y, y)
			VADDPD(grain, y, a)
			VSUBPD(grain, a, a)
			VSUBPD(a, y, y)
			for i, p := range sum {
				v, part := s.Vec(), []Op{a, y}[i%2]
				VMOVUPD(cell(p, j, 8), v)
				if i < 2 {
					VSUBPD(part, v, v)
				} else {
					VADDPD(part, v, v)
				}
				VMOVUPD(v, cell(p, j, 8))
			}
			ADDQ(U32(lanes), j)
		})
		JZ(LabelRef("next"))
		Loop("one", left, func() {
			y1, a1 := last(false, cell(xp, j, 4)), XMM()
			VSUBSD(cell(origin, j, 8), y1, y1)
			VADDSD(grain.AsX(), y1, a1)
			VSUBSD(grain.AsX(), a1, a1)
			VSUBSD(a1, y1, y1)
			for i, p := range sum {
				v, part := XMM(), []Op{a1, y1}[i%2]
				VMOVSD(cell(p, j, 8), v)
				if i < 2 {
					VSUBSD(part, v, v)
				} else {
					VADDSD(part, v, v)
				}
				VMOVSD(v, cell(p, j, 8))
			}
			INCQ(j)
		})
		Label("next")
		Add(12, change)
	})
	End()
}

// compress: lanes are rows. Registers are compressed and stored under a mask: compressing to memory is slow on Zen 4.
func compress() {
	Begin("compress512", "func(dst, src *float32, rows uint32, columns int)", "is Compress.")
	dst, src, columns := Arg("dst"), Arg("src"), Arg("columns")
	rows, count, bits, half := GP32(), GP32(), GP32(), GP64()
	Load(Param("rows"), rows)
	k := [2]reg.OpmaskVirtual{K(), K()}
	front := [2]reg.OpmaskVirtual{K(), K()}
	for v := range 2 {
		KMOVW(rows, k[v])
		MOVWLZX(rows.As16(), count)
		POPCNTL(count, count)
		if v == 0 {
			MOVL(count, half.As32())
		}
		MOVL(U32(0xffff), bits)
		BZHIL(count, bits, bits)
		KMOVW(bits, front[v])
		SHRL(Imm(16), rows)
	}
	Loop("column", columns, func() {
		a, b := ZMM(), ZMM()
		VMOVUPS(At(src, 0), a)
		VMOVUPS(At(src, 64), b)
		VCOMPRESSPS(a, k[0], a)
		VCOMPRESSPS(b, k[1], b)
		VMOVUPS(a, front[0], At(dst, 0))
		VMOVUPS(b, front[1], Mem{Base: dst, Index: half, Scale: 4})
		Add(128, src)
		Add(128, dst)
	})
	End()
}

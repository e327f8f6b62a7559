package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// picked is the prefilter for centres that lie anywhere, a block of them at a time and two vectors of rows: a whole panel of AVX-512, half a
// panel of AVX2.
func (p integers) picked() {
	Begin("picked"+p.name()[len("bytes"):], "func(x *uint8, row *float32, c *int8, list *uint32, a *float32, stride, groups, blocks int)",
		"is Picked, for the rows of two vectors.")
	list, a, groups, blocks := Arg("list"), Arg("a"), Arg("groups"), Arg("blocks")
	n := min(p.block, 6)
	Loop("block", blocks, func() {
		at, acc := make([]reg.GPVirtual, n), p.Vecs(2*n)
		first, stride := Arg("c"), Arg("stride")
		for q := range at {
			at[q] = GP64()
			MOVL(At(list, 4*q), at[q].As32())
			IMULQ(stride, at[q])
			ADDQ(first, at[q])
			VPBROADCASTD(At(at[q], 0), acc[2*q])
			if p.Wide() {
				VMOVDQA32(acc[2*q], acc[2*q+1])
			} else {
				VMOVDQA(acc[2*q], acc[2*q+1])
			}
		}
		x, j := Arg("x"), GP64()
		XORQ(j, j)
		factor := func(g, q int) Mem { return Mem{Base: at[q], Index: j, Scale: 4, Disp: 16 + 4*g} }
		p.pickedProducts(acc, x, j, groups, factor)
		row := Arg("row")
		scale := p.Vecs(2)
		for q := range at {
			t := p.Float32s(At(at[q], 4))
			norm := p.Float32s(At(at[q], 8))
			for v := range scale {
				s := acc[2*q+v]
				VMULPS(At(row, v*p.Bytes), t, scale[v])
				VCVTDQ2PS(s, s)
				VFNMADD213PS(norm, scale[v], s)
				VMOVUPS(s, At(a, 128*q+v*p.Bytes))
			}
		}
		Add(4*n, list)
		Add(128*n, a)
	})
	End()
}

// pickedProducts adds up the products of all groups; j counts them.
func (p integers) pickedProducts(acc []reg.VecVirtual, x, j, groups reg.Register, factor func(g, q int) Mem) {
	if p.vnni {
		Label("group")
		p.group(acc, x, factor)
		Add(128, x)
		INCQ(j)
		CMPQ(j, groups)
		JL(LabelRef("group"))
		return
	}
	ones := p.Vec()
	VPCMPEQW(ones, ones, ones)
	VPSRLW(Imm(15), ones, ones)
	JMP(LabelRef("two"))
	Label("groups")
	p.groups(acc, ones, x, factor, 2)
	Add(256, x)
	ADDQ(Imm(2), j)
	Label("two")
	left := Copy(groups)
	SUBQ(j, left)
	CMPQ(left, Imm(2))
	JGE(LabelRef("groups"))
	TESTQ(left, left)
	JZ(LabelRef("summed"))
	p.groups(acc, ones, x, factor, 1)
	Label("summed")
}

// uppers: the least of score plus radius.
func (s isa) uppers() {
	Begin("uppers"+s.Name, "func(row, meta, a, upper *float32, n int)", "is Uppers.")
	row, meta, a, upper, n := Arg("row"), Arg("meta"), Arg("a"), Arg("upper"), Arg("n")
	least := s.Vecs(s.Float32Vectors())
	for v := range least {
		VMOVUPS(At(upper, s.Bytes*v), least[v])
	}
	Loop("centre", n, func() {
		for v := range least {
			r := s.radius(row, meta, v)
			VADDPS(At(a, s.Bytes*v), r, r)
			VMINPS(r, least[v], least[v])
		}
		Add(16, meta)
		Add(128, a)
	})
	for v := range least {
		VMOVUPS(least[v], At(upper, s.Bytes*v))
	}
	End()
}

// margins: the lanes of one vector for each of as many centres come down to one lane each.
func (s isa) margins() {
	Begin("margins"+s.Name, "func(t *float32, near *uint16, a, upper, lift, radius *float32, blocks int)", "is Margins for blocks of as many centres as a vector has lanes.")
	t, near, a, upper := Arg("t"), Arg("near"), Arg("a"), Arg("upper")
	lift, radius, blocks := Arg("lift"), Arg("radius"), Arg("blocks")
	limit := make([]Op, s.Float32Vectors())
	for v := range limit {
		limit[v] = At(upper, s.Bytes*v)
		if s.Wide() {
			u := s.Vec()
			VMOVUPS(limit[v], u)
			limit[v] = u
		}
	}
	centre := func(c int) reg.VecVirtual {
		var least reg.VecVirtual
		for v := range s.Float32Vectors() {
			m := s.Vec()
			VMOVUPS(At(a, 128*c+s.Bytes*v), m)
			VSUBPS(limit[v], m, m)
			if v == 0 {
				least = m
			} else {
				VMINPS(m, least, least)
			}
		}
		return least
	}
	fold := func(a, b reg.VecVirtual, shuffle func(i int, into reg.VecVirtual)) reg.VecVirtual {
		lo, hi := s.Vec(), s.Vec()
		shuffle(0, lo)
		shuffle(1, hi)
		VMINPS(hi, lo, lo)
		return lo
	}
	quarters := func(a, b reg.VecVirtual) reg.VecVirtual {
		return fold(a, b, func(i int, into reg.VecVirtual) { VSHUFPS(Imm([]uint64{0x88, 0xdd}[i]), b, a, into) })
	}
	halves := func(a, b reg.VecVirtual, imm [2]uint64) reg.VecVirtual {
		return fold(a, b, func(i int, into reg.VecVirtual) {
			if s.Wide() {
				VSHUFF32X4(Imm(imm[i]), b, a, into)
			} else {
				VPERM2F128(Imm(imm[i]), b, a, into)
			}
		})
	}
	// lanes returns a vector whose 128 bits l are of centre 4 l + e.
	lanes := func(e int) reg.VecVirtual {
		if !s.Wide() {
			return halves(centre(e), centre(4+e), [2]uint64{0x20, 0x31})
		}
		ab := halves(centre(e), centre(4+e), [2]uint64{0x44, 0xee})
		return halves(ab, halves(centre(8+e), centre(12+e), [2]uint64{0x44, 0xee}), [2]uint64{0x88, 0xdd})
	}
	n := s.Bytes / 4
	Loop("block", blocks, func() {
		low := quarters(lanes(0), lanes(1))
		m := quarters(low, quarters(lanes(2), lanes(3)))
		mask := GP32()
		r := s.Vec()
		VMOVUPS(At(radius, 0), r)
		s.notLess(m, r, mask)
		if s.Wide() {
			MOVW(mask.As16(), At(near, 0))
		} else {
			MOVB(mask.As8(), At(near, 0))
		}
		VADDPS(At(lift, 0), m, m)
		VMOVUPS(m, At(t, 0))
		for _, p := range []reg.Register{t, lift, radius} {
			Add(s.Bytes, p)
		}
		Add(n/8, near)
		Add(128*n, a)
	})
	End()
}

// notLess sets the bits of mask of the lanes where limit is not less than v.
func (s isa) notLess(v Op, limit reg.VecVirtual, mask reg.Register) {
	const notLess = 0x15
	if s.Wide() {
		k := K()
		VCMPPS(Imm(notLess), v, limit, k)
		KMOVW(k, mask)
		return
	}
	in := s.Vec()
	VCMPPS(Imm(notLess), v, limit, in)
	VMOVMSKPS(in, mask)
}

// candidates: lanes are centres, sixteen of them in a block of the table.
func (s isa) candidates() {
	Begin("candidates"+s.Name, "func(list *uint32, lift, radius, t, c, coef *float32, order *uint64, blocks int) int", "is Candidates.")
	list, lift, radius := Arg("list"), Arg("lift"), Arg("radius")
	t, c, coef, blocks := Arg("t"), Arg("c"), Arg("coef"), Arg("blocks")
	var order reg.GPVirtual
	if !s.Wide() {
		order = Arg("order")
	}
	var f [5]reg.VecVirtual
	for i := range f {
		f[i] = s.Float32s(At(coef, 4*i))
	}
	z, wide, g, level, rise := f[0], f[1], f[2], f[3], f[4]
	n, lanes := GP64(), s.Bytes/4
	XORQ(n, n)
	id, step := s.Vec(), s.Vec()
	first, low := GP64(), XMM()
	MOVQ(U64(0x07_06_05_04_03_02_01_00), first)
	MOVQ(first, low)
	if s.Wide() {
		high := XMM()
		MOVQ(U64(0x0f_0e_0d_0c_0b_0a_09_08), first)
		MOVQ(first, high)
		VPUNPCKLQDQ(high, low, low)
	}
	VPMOVZXBD(low, id)
	many := GP32()
	MOVL(U32(uint32(lanes)), many)
	Spread(many, step)
	ahead := Copy(blocks)
	SHLQ(Imm(6), ahead)
	Loop("block", blocks, func() {
		PREFETCHT0(Mem{Base: t, Index: ahead, Scale: 1}) // what stands for the next panel
		for v := range 64 / s.Bytes {
			from := func(array int) Mem { return At(c, 64*array+s.Bytes*v) }
			l, limit, r, mask := s.Vec(), s.Vec(), s.Vec(), GP32()
			VMOVUPS(from(0), l)
			VFMSUB213PS(from(1), z, l)
			VADDPS(level, l, limit)
			s.notLess(At(t, s.Bytes*v), limit, mask)
			TESTL(mask, mask)
			JZ(LabelRef(name("none%d", v)))
			VADDPS(from(4), g, r)
			VFMADD231PS(from(2), wide, r)
			VFMADD231PS(from(3), z, r)
			VSUBPS(r, l, l)
			VADDPS(rise, l, l)
			s.pack(mask, order, n, []packed{{id, list}, {l, lift}, {r, radius}})
			Label(name("none%d", v))
			VPADDD(step, id, id)
		}
		Add(320, c)
		Add(64, t)
	})
	Store(n, ReturnIndex(0))
	End()
}

// packed is a vector and the memory that takes its lanes.
type packed struct {
	v  reg.VecVirtual
	to reg.Register
}

// pack stores the lanes of the bits of mask side by side, from place n on, and moves n on. What follows in memory is written over.
func (s isa) pack(mask, order, n reg.Register, list []packed) {
	var k reg.Register
	perm := s.Vec()
	if s.Wide() {
		o := K()
		KMOVW(mask, o)
		k = o
	} else {
		VPMOVZXBD(Mem{Base: order, Index: mask.(reg.GPVirtual).As64(), Scale: 8}, perm)
	}
	for _, p := range list {
		v := s.Vec()
		if s.Wide() {
			VCOMPRESSPS(p.v, k, v)
		} else {
			VPERMPS(p.v, perm, v)
		}
		VMOVUPS(v, Mem{Base: p.to, Index: n, Scale: 4})
	}
	count := GP64()
	POPCNTL(mask, count.As32())
	ADDQ(count, n)
}

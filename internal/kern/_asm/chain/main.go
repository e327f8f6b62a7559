// Command chain writes the assembly of the recursions of Markov chains, whose vectors are of states.
package main

import (
	"sync"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// isa is an instruction set: everything below is written once for both.
type isa struct{ ISA }

// group is how many states a pass takes: kern.Lanes. They fill a line of the cache.
const group = 8

// vectors is how many vectors a group has.
func (s isa) vectors() int { return group / s.Lanes() }

func main() {
	ConstraintExpr("!purego")
	for _, s := range []isa{{AVX512}, {AVX2}} {
		s.forward()
		s.backward()
		s.moves()
	}
	Generate()
}

// product adds x'm for one group of states to fresh vectors, which it returns: x and m point to k numbers and to the group's columns of k rows, stride
// bytes apart. xp, mp and left are scratch registers. Even and odd rows have sums of their own, so that additions do not wait for one another.
func (s isa) product(tag string, x, m, k, stride reg.Register, xp, mp, left reg.GPVirtual) []reg.VecVirtual {
	n := s.vectors()
	sum := s.Vecs(2 * n)
	Zero(sum...)
	f := s.Vec()
	step := func(of []reg.VecVirtual) {
		VBROADCASTSD(At(xp, 0), f)
		for i, r := range of {
			VFMADD231PD(At(mp, i*s.Bytes), f, r)
		}
		ADDQ(Step(8), xp)
		ADDQ(stride, mp)
	}
	MOVQ(x, xp)
	MOVQ(m, mp)
	MOVQ(k, left)
	Whole(tag, left, Imm(2), func() {
		step(sum[:n])
		step(sum[n:])
	})
	JZ(LabelRef(tag + "even"))
	step(sum[:n])
	Label(tag + "even")
	for i := range n {
		VADDPD(sum[n+i], sum[i], sum[i])
	}
	return sum[:n]
}

// inverse sets every lane of r to 1/x, x in the lowest lane of an XMM register.
func (s isa) inverse(x reg.VecVirtual, r reg.VecVirtual) {
	y := XMM()
	VMOVSD(one(), y)
	VDIVSD(x, y, y)
	VBROADCASTSD(y, r)
}

// one is the place of a 1.
var one = sync.OnceValue(func() Mem {
	place := GLOBL("chainOne", RODATA|NOPTR)
	DATA(0, F64(1))
	return place
})

// total returns the sum of the lanes of sum, which it overwrites, in an XMM register.
func (s isa) total(sum reg.VecVirtual) reg.VecVirtual {
	y := sum.AsY()
	if s.Wide() {
		high := YMM()
		VEXTRACTF64X4(Imm(1), sum, high)
		VADDPD(high, y, y)
	}
	x, high := XMM(), XMM()
	VEXTRACTF128(Imm(1), y, high)
	VADDPD(high, sum.AsX(), x)
	VUNPCKHPD(x, x, high)
	VADDSD(high, x, x)
	return x
}

// forward scales a row by what the row before added up to after the product with it, so that the next row does not wait for that sum.
func (s isa) forward() {
	Begin("chainForward"+s.Name, "func(alpha, c, b, v, w, m *float64, n, k, kp int)",
		"is ChainForward from v, alpha of the row before, which it overwrites; so it does w, of the same length. n, k > 0.")
	alpha, c, b, v, w, m, n, k, stride := Arg("alpha"), Arg("c"), Arg("b"), Arg("v"), Arg("w"), Arg("m"), Arg("n"), Arg("k"), Arg("kp")
	SHLQ(Imm(3), stride)
	xp, mp, left, off := GP64(), GP64(), GP64(), GP64()
	scale, sum := s.Vec(), s.Vec()
	VBROADCASTSD(one(), scale)
	Loop("row", n, func() {
		Zero(sum)
		XORQ(off, off)
		column := GP64()
		MOVQ(m, column)
		Label("group")
		acc := s.product("state", v, column, k, stride, xp, mp, left)
		for i, r := range acc {
			at := i * s.Bytes
			VMULPD(Mem{Base: b, Index: off, Scale: 1, Disp: at}, r, r)
			VMULPD(scale, r, r)
			VADDPD(r, sum, sum)
			VMOVUPD(r, Mem{Base: w, Index: off, Scale: 1, Disp: at})
		}
		ADDQ(Step(8*group), off)
		ADDQ(Step(8*group), column)
		CMPQ(off, stride)
		JLT(LabelRef("group"))
		x := s.total(sum)
		VMOVSD(x, At(c, 0))
		s.inverse(x, scale)
		XORQ(off, off)
		Label("scaled")
		for i := range s.vectors() {
			at, r := i*s.Bytes, s.Vec()
			VMULPD(Mem{Base: w, Index: off, Scale: 1, Disp: at}, scale, r)
			VMOVUPD(r, Mem{Base: alpha, Index: off, Scale: 1, Disp: at})
		}
		ADDQ(Step(8*group), off)
		CMPQ(off, stride)
		JLT(LabelRef("scaled"))
		XCHGQ(v, w)
		ADDQ(stride, alpha)
		ADDQ(stride, b)
		ADDQ(Step(8), c)
	})
	End()
}

func (s isa) backward() {
	Begin("chainBackward"+s.Name, "func(gamma, beta, alpha, c, b, m *float64, n, k, kp int)", "is ChainBackward, whose pointers but beta and m are those of the last row; n, k > 0.")
	gamma, beta, alpha, c, b, m, n, k, stride := Arg("gamma"), Arg("beta"), Arg("alpha"), Arg("c"), Arg("b"), Arg("m"), Arg("n"), Arg("k"), Arg("kp")
	SHLQ(Imm(3), stride)
	xp, mp, left, off := GP64(), GP64(), GP64(), GP64()
	scale := s.Vec()
	Loop("row", n, func() {
		x := XMM()
		VMOVSD(At(c, 0), x)
		s.inverse(x, scale)
		XORQ(off, off)
		Label("weighed")
		for i := range s.vectors() {
			at := func(base reg.Register) Mem { return Mem{Base: base, Index: off, Scale: 1, Disp: i * s.Bytes} }
			next, u, g := s.Vec(), s.Vec(), s.Vec()
			VMULPD(at(b), scale, u)
			VMOVUPD(at(beta), next)
			VMULPD(next, u, u)
			VMOVUPD(u, at(b))
			VMULPD(at(alpha), next, g)
			VMOVUPD(g, at(gamma))
		}
		ADDQ(Step(8*group), off)
		CMPQ(off, stride)
		JLT(LabelRef("weighed"))
		XORQ(off, off)
		column := GP64()
		MOVQ(m, column)
		Label("group")
		for i, r := range s.product("state", b, column, k, stride, xp, mp, left) {
			VMOVUPD(r, Mem{Base: beta, Index: off, Scale: 1, Disp: i * s.Bytes})
		}
		ADDQ(Step(8*group), off)
		ADDQ(Step(8*group), column)
		CMPQ(off, stride)
		JLT(LabelRef("group"))
		SUBQ(stride, alpha)
		SUBQ(stride, b)
		SUBQ(stride, gamma)
		SUBQ(Step(8), c)
	})
	End()
}

// moves keeps the sums of several states before, and of one group of states after, in registers.
func (s isa) moves() {
	most := 8 / s.vectors()
	Begin("chainMoves"+s.Name, "func(moves, alpha, u *float64, n, kp int)", "is ChainMoves from as many states as fill its registers, to the first 8; n > 0.")
	moves, alpha, u, n, stride := Arg("moves"), Arg("alpha"), Arg("u"), Arg("n"), Arg("kp")
	SHLQ(Imm(3), stride)
	sum := make([][]reg.VecVirtual, most)
	to := Copy(moves)
	for a := range sum {
		sum[a] = s.Vecs(s.vectors())
		for i, r := range sum[a] {
			VMOVUPD(At(to, i*s.Bytes), r)
		}
		ADDQ(stride, to)
	}
	v, f := s.Vecs(s.vectors()), s.Vec()
	Loop("row", n, func() {
		for i, r := range v {
			VMOVUPD(At(u, i*s.Bytes), r)
		}
		for a := range sum {
			VBROADCASTSD(At(alpha, 8*a), f)
			for i, r := range sum[a] {
				VFMADD231PD(v[i], f, r)
			}
		}
		ADDQ(stride, alpha)
		ADDQ(stride, u)
	})
	for a := range sum {
		for i, r := range sum[a] {
			VMOVUPD(r, At(moves, i*s.Bytes))
		}
		ADDQ(stride, moves)
	}
	End()
}

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// bytesOf returns a constant of 32 bytes.
func bytesOf(name string, at func(i int) uint8) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 32 {
		DATA(i, U8(at(i)))
	}
	return m
}

// weights returns a constant of 32 bytes: pairs of words, first and 1.
func weights(name string, first uint16) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 16 {
		v := first
		if i%2 == 1 {
			v = 1
		}
		DATA(2*i, U16(v))
	}
	return m
}

// broadcast fills a vector with the low byte of v.
func broadcast(v reg.GPVirtual) reg.VecVirtual {
	x, y := XMM(), YMM()
	MOVD(v.As32(), x)
	VPBROADCASTB(x, y)
	return y
}

// decimals: a vector of 32 bytes from the beginning of a cell tells where it ends and its mark stands. Two that end with it, one of
// them a byte earlier, have the digits after the mark and those before it at their places for sums of pairs, of fours and of eights.
func decimals() {
	const quotient = 5 // log2 of the bytes of a kern.quotient
	TEXT("decimalsAVX2", NOSPLIT, "func(dst *float64, left int, b *byte, i, last int, delim, dec byte, down *uint64) (n, end int)")
	Pragma("noescape")
	Doc("decimalsAVX2 is Decimals; left > 0. A cell starts at last or before.")
	zero := bytesOf("text_zero", func(int) uint8 { return '0' })
	nine := bytesOf("text_nine", func(int) uint8 { return 0x80 + 9 }) // as signed bytes
	toSigned := bytesOf("text_signed", func(int) uint8 { return 0x80 - '0' })
	place := bytesOf("text_place", func(i int) uint8 { return uint8(i) })
	pairs := bytesOf("text_pairs", func(i int) uint8 { return uint8(10 - 9*(i%2)) })
	fours, eights := weights("text_fours", 100), weights("text_eights", 10000)

	dst, left, b, i, end := Arg("dst"), Arg("left"), Arg("b"), Arg("i"), GP64()
	down := Arg("down")
	XORL(end.As32(), end.As32())
	zeros, nines, iota, mark := YMM(), YMM(), YMM(), GP64()
	VMOVDQU(zero, zeros)
	VMOVDQU(nine, nines)
	VMOVDQU(place, iota)
	Load(Param("dec"), mark.As8())
	marks := broadcast(mark)

	Label("cell")
	last := GP64()
	Load(Param("last"), last)
	CMPQ(i, last)
	JG(LabelRef("stop"))

	// The bytes that are neither digits nor marks, nor the minus in front. From cell to cell all waits for this.
	x, dots, others := YMM(), YMM(), YMM()
	VMOVDQU(Mem{Base: b, Index: i, Scale: 1}, x)
	VPCMPEQB(x, marks, dots)
	VPADDB(toSigned, x, others)
	VPCMPGTB(nines, others, others)
	VPANDN(others, dots, others)
	rest, dot, minus, sign := GP64(), GP64(), GP64(), GP64()
	VPMOVMSKB(dots, dot.As32())
	VPMOVMSKB(others, rest.As32())
	MOVBLZX(Mem{Base: b, Index: i, Scale: 1}, minus.As32())
	XORL(Imm('-'), minus.As32())
	CMPL(minus.As32(), Imm(1))
	SBBQ(minus, minus) // -1 or 0
	MOVL(minus.As32(), sign.As32())
	ADDL(sign.As32(), sign.As32())
	NOTL(sign.As32())               // 1, or all bits
	XORL(minus.As32(), sign.As32()) // all bits but the first, or all
	ANDL(sign.As32(), rest.As32())
	JZ(LabelRef("stop"))
	length := GP64()
	// A processor without TZCNT takes it for BSF, which is the same where a bit is set.
	TZCNTL(rest.As32(), length.As32())

	// What ends the cell.
	end2, c := GP64(), GP64()
	LEAQ(Mem{Base: i, Index: length, Scale: 1}, end2)
	MOVBLZX(Mem{Base: b, Index: end2, Scale: 1}, c.As32())
	delim := GP64()
	Load(Param("delim"), delim.As8())
	CMPB(c.As8(), delim.As8())
	JE(LabelRef("ended"))
	CMPL(c.As32(), Imm('\n'))
	JE(LabelRef("line"))
	CMPL(c.As32(), Imm('\r'))
	JNE(LabelRef("stop"))
	CMPB(Mem{Base: b, Index: end2, Scale: 1, Disp: 1}, Imm('\n'))
	JNE(LabelRef("stop"))
	Label("line")
	MOVQ(I32(1), left)
	Label("ended")

	// The mark: dot gets a bit at the end of the cell, so that it has one.
	one, has, fraction := GP64(), GP64(), GP64()
	MOVL(rest.As32(), one.As32())
	NEGL(one.As32())
	ANDL(rest.As32(), one.As32())
	LEAL(Mem{Base: one, Disp: -1}, rest.As32())
	ANDL(rest.As32(), dot.As32())
	LEAL(Mem{Base: dot, Disp: -1}, rest.As32())
	TESTL(dot.As32(), rest.As32())
	JNZ(LabelRef("stop")) // two
	ORL(dot.As32(), one.As32())
	NEGL(dot.As32())
	SBBQ(has, has) // -1 or 0
	TZCNTL(one.As32(), one.As32())
	MOVQ(length, fraction)
	SUBQ(one, fraction)
	ADDQ(has, fraction)
	number := length // of digits
	ADDQ(minus, number)
	ADDQ(has, number)
	JLE(LabelRef("stop"))

	// Digits to the right, zeros before them.
	at := GP64()
	MOVQ(I32(32), at)
	SUBQ(fraction, at)
	ANDQ(has, at)
	DECQ(at)
	after := broadcast(at)
	VPCMPGTB(after, iota, after)
	MOVQ(I32(31), at)
	SUBQ(number, at)
	from := broadcast(at)
	VPCMPGTB(from, iota, from)
	y := YMM()
	VMOVDQU(Mem{Base: b, Index: end2, Scale: 1, Disp: -33}, y)
	VPBLENDVB(after, Mem{Base: b, Index: end2, Scale: 1, Disp: -32}, y, y)
	VPSUBB(zeros, y, y)
	VPAND(from, y, y)
	VPMADDUBSW(pairs, y, y)
	VPMADDWD(fours, y, y)
	VPACKUSDW(y, y, y)
	VPMADDWD(eights, y, y)
	man, low, e := GP64(), GP64(), GP64()
	hi := XMM()
	VMOVQ(y.AsX(), man)
	VEXTRACTI128(Imm(1), y, hi)
	VMOVQ(hi, low)
	ROLQ(Imm(32), man)
	CMPQ(man, I32(1000)) // 10^19 or more
	JAE(LabelRef("stop"))
	hundred := I32(100_000_000)
	IMUL3Q(hundred, man, man)
	MOVL(low.As32(), e.As32())
	ADDQ(e, man)
	IMUL3Q(hundred, man, man)
	SHRQ(Imm(32), low)
	ADDQ(low, man)

	q := Copy(fraction)
	SHLQ(Imm(quotient), q)
	ADDQ(down, q)
	bits := GP64()
	MOVQ(man, bits)
	SHRQ(Imm(50), bits)
	JNZ(LabelRef("product"))
	CMPQ(fraction, Imm(22))
	JG(LabelRef("stop"))
	v := XMM()
	VXORPD(v, v, v)
	VCVTSI2SDQ(man, v, v)
	VDIVSD(At(q, 16), v, v)
	VMOVQ(v, bits)
	JMP(LabelRef("store"))

	Label("product")
	MOVQ(At(q, 8), bits)
	BSRQ(man, reg.RCX)
	XORL(Imm(63), reg.ECX)
	SUBQ(reg.RCX, bits)
	SHLQ(reg.CL, man)
	MOVQ(man, reg.RAX)
	MULQ(At(q, 0))
	LEAL(Mem{Base: reg.RDX, Disp: 1}, reg.EAX)
	ANDL(I32(0x1FF), reg.EAX)
	CMPL(reg.EAX, Imm(1))
	JBE(LabelRef("stop")) // what was cut off could matter, or it may be half-way
	MOVQ(reg.RDX, reg.RCX)
	SHRQ(Imm(63), reg.RCX)
	LEAQ(Mem{Base: bits, Index: reg.RCX, Scale: 1, Disp: -2}, bits)
	ADDQ(Imm(9), reg.RCX)
	SHRQ(reg.CL, reg.RDX)
	MOVQ(reg.RDX, reg.RAX)
	ANDQ(Imm(1), reg.RAX)
	ADDQ(reg.RAX, reg.RDX)
	SHRQ(Imm(1), reg.RDX)
	SHLQ(Imm(52), bits)
	ADDQ(reg.RDX, bits)
	MOVQ(U64((1023+53)<<52), reg.RAX)
	CMPQ(bits, reg.RAX)
	JAE(LabelRef("stop"))

	Label("store")
	SHLQ(Imm(63), minus)
	ORQ(minus, bits)
	MOVQ(bits, At(dst, 0))
	ADDQ(Imm(8), dst)
	MOVQ(end2, end)
	LEAQ(At(end2, 1), i)
	DECQ(left)
	JNZ(LabelRef("cell"))

	Label("stop")
	first := Arg("dst")
	SUBQ(first, dst)
	SHRQ(Imm(3), dst)
	Store(dst, Return("n"))
	Store(end, Return("end"))
	End()
}

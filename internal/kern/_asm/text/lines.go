package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// lines: a byte is compared with the one after it by a second load.
func lines() {
	Begin("linesAVX2", "func(b *byte, words int) (feeds, odd int)", "is Lines of whole words of 64 bytes, after which there is one more; words > 0. odd is 0 where they are plain.")
	b, words := Arg("b"), Arg("words")
	zero, count, odd := YMM(), YMM(), YMM()
	Zero(zero, count, odd)
	char := func(c uint64) Op {
		r := GP64()
		MOVL(U32(c), r.As32())
		return broadcast(r)
	}
	feed, carriage, quote := char('\n'), char('\r'), char('"')
	Loop("word", words, func() {
		found := YMM()
		Zero(found)
		for at := 0; at < 64; at += 32 {
			v, next, is, other := YMM(), YMM(), YMM(), YMM()
			VMOVDQU(At(b, at), v)
			VMOVDQU(At(b, at+1), next)
			VPCMPEQB(v, feed, is)
			VPSUBB(is, found, found)
			VPCMPEQB(next, feed, other)
			VPCMPEQB(next, carriage, next)
			VPOR(next, other, other)
			VPAND(is, other, other)
			VPOR(other, odd, odd)
			VPCMPEQB(v, quote, other)
			VPOR(other, odd, odd)
			VPCMPEQB(v, zero, other)
			VPOR(other, odd, odd)
		}
		VPSADBW(zero, found, found)
		VPADDQ(found, count, count)
		ADDQ(Imm(64), b)
	})
	high, feeds, bits := XMM(), GP64(), GP64()
	VEXTRACTI128(Imm(1), count, high)
	VPADDQ(count.AsX(), high, high)
	VPEXTRQ(Imm(1), high, bits)
	VMOVQ(high, feeds)
	ADDQ(bits, feeds)
	VPMOVMSKB(odd, bits.As32())
	Store(feeds, Return("feeds"))
	Store(bits, Return("odd"))
	End()
}

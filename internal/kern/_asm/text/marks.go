package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// marks: 64 bytes are two vectors.
func marks() {
	Begin("marksAVX2", "func(dst *uint64, b *byte, words int, c byte)", "is Marks of whole words; words > 0.")
	dst, b, words, c := Arg("dst"), Arg("b"), Arg("words"), GP64()
	Load(Param("c"), c.As8())
	like := broadcast(c)
	Loop("word", words, func() {
		low, high := YMM(), YMM()
		VPCMPEQB(At(b, 0), like, low)
		VPCMPEQB(At(b, 32), like, high)
		first, second := GP64(), GP64()
		VPMOVMSKB(low, first.As32())
		VPMOVMSKB(high, second.As32())
		SHLQ(Imm(32), second)
		ORQ(first, second)
		MOVQ(second, At(dst, 0))
		ADDQ(Imm(64), b)
		ADDQ(Imm(8), dst)
	})
	End()
}

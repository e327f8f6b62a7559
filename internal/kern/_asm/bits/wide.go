package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// AVX-512 scores with rows in its lanes. The sums of the 16 subsets of a group of columns are two vectors, and one
// permutation looks up those of eight rows: four columns for a permutation and an addition. In memory is the half without
// the last of the four, since tables of many columns come from the second-level cache; the other half is that plus the last.

// lookup adds to acc, q components by four vectors of rows, the sums of one group, whose bits are the low ones of idx.
// Every other addition is a multiplication by one, since permutations and additions share ports that multiplications
// leave idle: 1.2 times as fast on Zen 5.
func lookup(sums, last reg.Register, q int, idx, acc []reg.VecVirtual, one reg.VecVirtual) {
	nv := len(idx)
	for c := range q {
		low, high := ZMM(), ZMM()
		VMOVUPD(At(sums, 64*c), low)
		VADDPD_BCST(At(last, 8*c), low, high)
		for v, i := range idx {
			t := ZMM()
			VMOVDQA64(i, t)
			VPERMI2PD(high, low, t)
			if v%2 == 0 {
				VADDPD(t, acc[c*nv+v], acc[c*nv+v])
			} else {
				VFMADD231PD(t, one, acc[c*nv+v])
			}
		}
	}
	for _, i := range idx {
		VPSRLQ(Imm(4), i, i)
	}
	ADDQ(Step(64*q), sums)
	ADDQ(Step(8*q), last)
}

// permuted runs through the groups of columns.
func permuted() {
	Begin("permuted"+avx512.Name, "func(dst, base *float64, words *uint32, sums, last *float64, groups, q int)",
		"sets q rows of dst to base plus the sums of the groups that words, by rows, tell; groups > 0.")
	dst, base, words, sums, last, groups, q := Arg("dst"), Arg("base"), Arg("words"), Arg("sums"), Arg("last"), Arg("groups"), Arg("q")
	n := GP64()
	one := unit()
	Choose(q, Down(4), func(q int) {
		tag := fmt.Sprintf("q%d", q)
		acc, idx := avx512.Vecs(4*q), avx512.Vecs(4)
		Zero(acc...)
		Label(tag + "block")
		for v, i := range idx {
			VPMOVZXDQ(At(words, 32*v), i)
		}
		ADDQ(Step(4*Rows), words)
		MOVQ(U64(8), n)
		CMPQ(groups, n)
		CMOVQLT(groups, n)
		SUBQ(n, groups)
		Loop(tag+"group", n, func() { lookup(sums, last, q, idx, acc, one) })
		TESTQ(groups, groups)
		JNZ(LabelRef(tag + "block"))
		for c := range q {
			b := ZMM()
			VBROADCASTSD(At(base, 8*c), b)
			for v := range 4 {
				VADDPD(b, acc[4*c+v], acc[4*c+v])
				VMOVUPD(acc[4*c+v], At(dst, c*Line+64*v))
			}
		}
	})
}

// unit returns a vector of ones.
func unit() reg.VecVirtual {
	g, x, one := GP64(), XMM(), ZMM()
	MOVQ(U64(0x3ff0000000000000), g)
	MOVQ(g, x)
	VBROADCASTSD(x, one)
	return one
}

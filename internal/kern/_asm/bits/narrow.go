package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// Here components are in lanes: the sums of a subset of a group of four, for 8 or 16 components, are a Line of a table, and
// four bits of a word are its number. The table of the 32 bits of a word holds eight groups of 16 lines, 16 KB at most, which
// fit the first-level cache: four bits for an addition from memory.

// lookups adds eight lines for every word.
func lookups(s isa) {
	Begin("lookups"+s.Name, "func(sum *float64, words *uint32, table *float64, n, stride, width int)",
		"adds to n rows of sum, stride apart and width components wide, the eight lines of table that each of n words tells; n > 0, width is 8 or 16.")
	sum, words, table, n, stride, width := Arg("sum"), Arg("words"), Arg("table"), Arg("n"), Arg("stride"), Arg("width")
	SHLQ(Imm(3), stride)
	Choose(width, []int{16, 8}, func(width int) {
		tag := fmt.Sprintf("w%d", width)
		Label(tag + "pairs")
		CMPQ(n, Imm(2))
		JLT(LabelRef(tag + "one"))
		s.look(sum, words, table, stride, width, 2)
		SUBQ(Imm(2), n)
		JMP(LabelRef(tag + "pairs"))
		Label(tag + "one")
		TESTQ(n, n)
		JZ(LabelRef(tag + "end"))
		s.look(sum, words, table, stride, width, 1)
		Label(tag + "end")
	})
}

// look adds the lines of n words, side by side since every addition waits for the one before.
func (s isa) look(sum, words, table, stride reg.Register, width, n int) {
	nv := width / s.Lanes()
	size := 8 * width // of a Line
	shift := map[int]int{16: 7, 8: 6}[width]
	word, acc := make([]reg.GPVirtual, n), s.Vecs(n*nv)
	to := func(i, v int) Mem {
		m := At(sum, v*s.Bytes)
		if i > 0 {
			m.Index, m.Scale = stride, uint8(i)
		}
		return m
	}
	for i := range word {
		word[i] = GP64()
		MOVL(At(words, 4*i), word[i].As32())
		for v := range nv {
			VMOVUPD(to(i, v), acc[i*nv+v])
		}
	}
	for g := range 8 {
		for i, w := range word {
			line := GP64()
			MOVL(w.As32(), line.As32())
			if by := shift - 4*g; by > 0 {
				SHLL(Imm(uint64(by)), line.As32())
			} else if by < 0 {
				SHRL(Imm(uint64(-by)), line.As32())
			}
			ANDL(I32(15<<shift), line.As32())
			for v := range nv {
				a := acc[i*nv+v]
				VADDPD(Mem{Base: table, Index: line, Scale: 1, Disp: g*16*size + v*s.Bytes}, a, a)
			}
		}
	}
	for i := range word {
		for v := range nv {
			VMOVUPD(acc[i*nv+v], to(i, v))
		}
	}
	ADDQ(Imm(uint64(4*n)), words)
	for range n {
		ADDQ(stride, sum)
	}
}

// subsets prepares a table from four numbers for each component and group.
func subsets(s isa) {
	Begin("subsets"+s.Name, "func(table, r *float64, stride, width int)",
		"sets table to the sums of all subsets of every four of 32 rows of r, stride apart and width components wide; width is 8 or 16.")
	table, r, stride, width := Arg("table"), Arg("r"), Arg("stride"), Arg("width")
	SHLQ(Imm(3), stride)
	n, third := GP64(), GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, third)
	Choose(width, []int{16, 8}, func(width int) {
		size := 8 * width
		MOVQ(U64(8), n)
		Loop(fmt.Sprintf("w%d", width), n, func() {
			for v := range width / s.Lanes() {
				off := v * s.Bytes
				x := []reg.VecVirtual{s.Vec(), s.Vec(), s.Vec(), s.Vec()}
				VMOVUPD(At(r, off), x[0])
				VMOVUPD(Mem{Base: r, Index: stride, Scale: 1, Disp: off}, x[1])
				VMOVUPD(Mem{Base: r, Index: stride, Scale: 2, Disp: off}, x[2])
				VMOVUPD(Mem{Base: r, Index: third, Scale: 1, Disp: off}, x[3])
				sum := make([]reg.VecVirtual, 16)
				for m := range sum {
					top := 3
					for top > 0 && m>>top&1 == 0 {
						top--
					}
					rest := m &^ (1 << top)
					switch {
					case m == 0:
						sum[m] = s.Vec()
						Zero(sum[m])
					case rest == 0:
						sum[m] = x[top]
					default:
						sum[m] = s.Vec()
						VADDPD(x[top], sum[rest], sum[m])
					}
					VMOVUPD(sum[m], At(table, m*size+off))
				}
			}
			ADDQ(Step(16*size), table)
			LEAQ(Mem{Base: r, Index: stride, Scale: 4}, r)
		})
	})
}

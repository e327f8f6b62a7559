// Command gmm writes the assembly of the mixture kernels.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// isa is an instruction set: everything below is written once for both.
type isa struct {
	ISA
	nv   int // vectors of rows in a tile of multiply
	regs int
}

var sets = []isa{{AVX512, 4, 32}, {AVX2, 2, 16}}

func main() {
	ConstraintExpr("!purego")
	for _, s := range sets {
		s.peak(64)
		s.peak(32)
		s.products()
		s.squares()
		s.present()
		s.centre()
		s.norms()
		s.multiply()
		s.whitened()
		s.distances(true, false)
		s.distances(false, false)
		s.distances(true, true)
		s.accumulate()
		s.few()
		s.tally()
		s.largest()
		s.soften()
		s.logSumExp()
		s.argmax()
		s.share()
		s.tails()
		s.weigh()
		s.pack(8)
		s.pack(4)
	}
	Generate()
}

func (s isa) peak(bits int) {
	Begin(fmt.Sprint("peak", bits)+s.Name, "func(n int)", fmt.Sprintf("runs n times 12 independent fused multiply-adds of full vectors of float%d; n > 0.", bits))
	n := Arg("n")
	acc := s.Vecs(12)
	x := s.Vec()
	Zero(acc...)
	Zero(x)
	Loop("loop", n, func() {
		for _, a := range acc {
			if bits == 64 {
				VFMADD231PD(x, x, a)
			} else {
				VFMADD231PS(x, x, a)
			}
		}
	})
	End()
}

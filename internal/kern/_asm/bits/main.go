// Command bits writes the assembly of the kernels on bits.
package main

import (
	. "github.com/mmcloughlin/avo/build"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// isa is an instruction set.
type isa struct{ ISA }

var avx512, avx2 = isa{AVX512}, isa{AVX2}

func main() {
	ConstraintExpr("!purego")
	avx512.packed()
	avx2.packed()
	permuted()
	lookups(avx512)
	lookups(avx2)
	subsets(avx512)
	subsets(avx2)
	Generate()
}

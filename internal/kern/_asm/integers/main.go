// Command integers writes the assembly of the kernels that compare rows and centres in integers, and list what they leave.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// isa is an instruction set.
type isa struct{ ISA }

var (
	avx512 = isa{ISA{Name: "512", Bytes: 64}}
	avx2   = isa{ISA{Name: "256", Bytes: 32}}
)

func main() {
	ConstraintExpr("!purego")
	for _, s := range []isa{avx512, avx2} {
		s.survivors()
		s.runnerUp()
		s.uppers()
		s.margins()
		s.candidates()
	}
	for _, p := range prefilters {
		for w := 1; w <= 12; w++ {
			p.write(w)
		}
		if !p.words {
			p.picked()
		}
	}
	pass.Compile = pass.Concat(pass.Compile, pass.FunctionPass(encodeVNNI))
	Generate()
}

func name(format string, a ...any) string { return fmt.Sprintf(format, a...) }

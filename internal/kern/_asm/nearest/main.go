// Command nearest writes the assembly of the kernels of nearest centres.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// isa is an instruction set, and the widest tile whose sums fit its registers.
type isa struct {
	ISA
	width int
}

var (
	avx512 = isa{ISA{Name: "512", Bytes: 64}, 12}
	avx2   = isa{ISA{Name: "256", Bytes: 32}, 6}
)

func main() {
	ConstraintExpr("!purego")
	for _, s := range []isa{avx512, avx2} {
		for w := 1; w <= s.width; w++ {
			s.dense(w)
		}
		s.due(false)
		s.due(true)
		s.slack()
		s.shift()
		s.sqdist(false)
		s.sqdist(true)
		s.least(false)
		s.least(true)
		s.sqdistRow()
		s.dots()
		for _, wide := range []bool{false, true} {
			s.pairs(wide)
			s.scatter(wide)
		}
	}
	compress()
	Generate()
}

// cell returns what a kernel for float64 cells (wide) or float32 ones calls itself, the bytes of a cell and the type of a
// pointer to it.
func cell(wide bool) (suffix string, size int, kind string) {
	if wide {
		return "f64", 8, "*float64"
	}
	return "f32", 4, "*float32"
}

func name(format string, a ...any) string { return fmt.Sprintf(format, a...) }

// Command nearest writes the assembly of the kernels of nearest centres.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// simd is an instruction set: the size of its vectors in bytes, and the widest tile whose sums fit its registers.
type simd struct {
	name  string
	bytes int
	width int
	vec   func() reg.VecVirtual
}

var (
	avx512 = simd{"512", 64, 12, ZMM}
	avx2   = simd{"256", 32, 6, YMM}
)

func main() {
	ConstraintExpr("!purego")
	for _, s := range []simd{avx512, avx2} {
		for w := 1; w <= s.width; w++ {
			s.dense(w)
		}
		s.due()
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
	for w := 1; w <= avx512.width; w++ {
		integers(w, false)
		integers(w, true)
	}
	survivors()
	runnerUp()
	compress()
	Generate()
}

func load(name string) reg.Register { return Load(Param(name), GP64()) }

func at(base reg.Register, disp int) Mem { return Mem{Base: base, Disp: disp} }

// begin opens a function. Every one is a leaf that neither grows the stack nor keeps its pointers.
func begin(name, args, doc string) {
	TEXT(name, NOSPLIT, "func("+args+")")
	Pragma("noescape")
	Doc(doc)
}

func end() {
	VZEROUPPER()
	RET()
}

// loop runs body until n, which must be positive, has counted down to 0.
func loop(label string, n reg.Register, body func()) {
	Label(label)
	body()
	DECQ(n)
	JNZ(LabelRef(label))
}

func float32s(s simd, m Mem) reg.VecVirtual { v := s.vec(); VBROADCASTSS(m, v); return v }

// rows is what the AVX code of both instruction sets calls a row of float32 or float64 cells.
func cell(wide bool) (suffix string, size int, kind string) {
	if wide {
		return "f64", 8, "*float64"
	}
	return "f32", 4, "*float32"
}

func name(format string, a ...any) string { return fmt.Sprintf(format, a...) }

// add moves a pointer or a counter on by n.
func add(n int, r reg.Register) { ADDQ(U32(n), r) }

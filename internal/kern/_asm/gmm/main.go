// Command gmm writes the assembly of the mixture kernels.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rows is kern.Rows; a row of a panel takes line bytes.
const (
	rows = 32
	line = rows * 8
)

// isa is an instruction set: everything below is written once for both.
type isa struct {
	name string
	w    int // float64 lanes of a vector
	nv   int // vectors of rows in a tile of multiply
	regs int
}

var sets = []isa{{"AVX512", 8, 4, 32}, {"AVX2", 4, 2, 16}}

func main() {
	ConstraintExpr("!purego")
	for _, s := range sets {
		s.peak(64)
		s.peak(32)
		s.products()
		s.squares()
		s.centre()
		s.norms()
		s.multiply()
		s.whitened()
		s.distances(true)
		s.distances(false)
		s.accumulate()
		s.few()
		s.tally()
		s.largest()
		s.soften()
		s.logSumExp()
		s.argmax()
		s.share()
		s.pack(8)
		s.pack(4)
	}
	Generate()
}

func (s isa) text(name, signature, doc string) {
	TEXT(name+s.name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(name + s.name + " " + doc)
}

// vec returns a vector register.
func (s isa) vec() reg.VecVirtual {
	if s.w == 8 {
		return ZMM()
	}
	return YMM()
}

func (s isa) vecs(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = s.vec()
	}
	return v
}

// bytes is the size of a vector.
func (s isa) bytes() int { return 8 * s.w }

func zero(v ...reg.VecVirtual) {
	for _, r := range v {
		VXORPD(r, r, r)
	}
}

// step is an immediate operand of an addition.
func step(n int) Op { return I32(n) }

func load(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

func at(base reg.Register, disp int) Mem { return Mem{Base: base, Disp: disp} }

// loop runs body n times, n a register that counts down to 0 and must not be 0 at first.
func loop(label string, n reg.Register, body func()) {
	Label(label)
	body()
	DECQ(n)
	JNZ(LabelRef(label))
}

// choose emits one path for each value of q from most down to 1 and jumps to the one that fits.
func choose(q reg.Register, most int, path func(q int)) {
	for v := most; v >= 1; v-- {
		if v > 1 {
			CMPQ(q, Imm(uint64(v)))
			JNE(LabelRef(fmt.Sprintf("not%d", v)))
		}
		path(v)
		JMP(LabelRef("done"))
		if v > 1 {
			Label(fmt.Sprintf("not%d", v))
		}
	}
	Label("done")
	VZEROUPPER()
	RET()
}

func done() {
	VZEROUPPER()
	RET()
}

func (s isa) peak(bits int) {
	s.text(fmt.Sprint("peak", bits), "func(n int)", fmt.Sprintf("runs n times 12 independent fused multiply-adds of full vectors of float%d; n > 0.", bits))
	n := load("n")
	acc := s.vecs(12)
	x := s.vec()
	zero(acc...)
	zero(x)
	loop("loop", n, func() {
		for _, a := range acc {
			if bits == 64 {
				VFMADD231PD(x, x, a)
			} else {
				VFMADD231PS(x, x, a)
			}
		}
	})
	done()
}

// Command bits writes the assembly of the kernels on bits.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rows is kern.Rows, which is also the number of columns in a block; a row of a panel takes line bytes. Four bits make a
// group.
const (
	rows = 32
	line = rows * 8
)

// isa is an instruction set; w is how many float64 a vector has.
type isa struct {
	name string
	w    int
}

var (
	avx512 = isa{"AVX512", 8}
	avx2   = isa{"AVX2", 4}
)

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

func (s isa) text(name, signature, doc string) {
	TEXT(name+s.name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(name + s.name + " " + doc)
}

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

// choose emits one path for each value of q in values and jumps to the one that fits; the last needs no test.
func choose(q reg.Register, values []int, path func(q int)) {
	for i, v := range values {
		last := i == len(values)-1
		if !last {
			CMPQ(q, Imm(uint64(v)))
			JNE(LabelRef(fmt.Sprintf("not%d", v)))
		}
		path(v)
		if !last {
			JMP(LabelRef("done"))
			Label(fmt.Sprintf("not%d", v))
		}
	}
	Label("done")
	done()
}

func done() {
	VZEROUPPER()
	RET()
}

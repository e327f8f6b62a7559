// Package simd is what the generators of the kernels share: how a function begins and ends, loads its arguments, runs
// through a panel and comes to the tail of a row.
package simd

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Rows is kern.Rows. A row of a panel, which is one variable of them all, takes Line bytes in float64.
const (
	Rows = 32
	Line = Rows * 8
)

// Ahead is how many bytes before their use rows are fetched.
const Ahead = 2048

// ISA is an instruction set: what names of its functions end in, and the bytes of its vectors.
type ISA struct {
	Name  string
	Bytes int
}

// The instruction sets: AVX-512 with F, DQ, BW and VL, and AVX2 with FMA.
var (
	AVX512 = ISA{"AVX512", 64}
	AVX2   = ISA{"AVX2", 32}
)

// Wide reports whether s has vectors of 64 bytes, and masks.
func (s ISA) Wide() bool { return s.Bytes == 64 }

// Lanes is how many float64 a vector has.
func (s ISA) Lanes() int { return s.Bytes / 8 }

// Float32Vectors is how many vectors hold a float32 of every row of a panel.
func (s ISA) Float32Vectors() int { return 4 * Rows / s.Bytes }

// Vec returns a vector register.
func (s ISA) Vec() reg.VecVirtual {
	if s.Wide() {
		return ZMM()
	}
	return YMM()
}

// Vecs returns n vector registers.
func (s ISA) Vecs(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = s.Vec()
	}
	return v
}

// Begin opens a function. Every one is a leaf that neither grows the stack nor keeps its pointers.
func Begin(name, signature, doc string) {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(name + " " + doc)
}

// End returns from the function.
func End() {
	VZEROUPPER()
	RET()
}

// Arg loads an argument of 64 bits.
func Arg(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

// At is the memory disp bytes after base.
func At(base reg.Register, disp int) Mem { return Mem{Base: base, Disp: disp} }

// Copy sets a register to a copy of another.
func Copy(from reg.Register) reg.GPVirtual {
	to := GP64()
	MOVQ(from, to)
	return to
}

// Zero sets vectors to zeros.
func Zero(v ...reg.VecVirtual) {
	for _, r := range v {
		VXORPD(r, r, r)
	}
}

// Step is n as what is added to a pointer.
func Step(n int) Op { return I32(n) }

// Loop runs body until n, which must be positive, has counted down to 0.
func Loop(label string, n reg.Register, body func()) {
	Label(label)
	body()
	DECQ(n)
	JNZ(LabelRef(label))
}

// Whole runs body for every n elements that left counts, a vector or several. What remains in left is the tail; the zero
// flag tells whether there is none. Its labels are long and short and what tag adds to them.
func Whole(tag string, left reg.Register, n Op, body func()) {
	long, short := "long"+tag, "short"+tag
	SUBQ(n, left)
	JL(LabelRef(short))
	Label(long)
	body()
	SUBQ(n, left)
	JGE(LabelRef(long))
	Label(short)
	ADDQ(n, left)
}

// Choose emits one path for each value of q, ends the function and jumps to the path that fits; the last needs no test.
func Choose(q reg.Register, values []int, path func(q int)) {
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
	End()
}

// Down returns the numbers from n to 1.
func Down(n int) []int {
	down := make([]int, n)
	for i := range down {
		down[i] = n - i
	}
	return down
}

// Add moves a pointer or a counter on by n.
func Add(n int, r reg.Register) { ADDQ(U32(n), r) }

// Float32s returns a vector filled with the float32 at m.
func (s ISA) Float32s(m Mem) reg.VecVirtual {
	v := s.Vec()
	VBROADCASTSS(m, v)
	return v
}

// Huge fills a vector with the largest float32.
func (s ISA) Huge(v reg.VecVirtual) {
	bits := GP32()
	MOVL(U32(0x7f7fffff), bits)
	Spread(bits, v)
}

// Spread fills a vector with a 32-bit number.
func Spread(r reg.Register, v reg.VecVirtual) {
	lo := XMM()
	MOVD(r, lo)
	VBROADCASTSS(lo, v)
}

// Command l1 writes the assembly of the kernels of K-medians and of the silhouette.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// panel is the bytes that one variable of a panel takes: kern.Rows numbers.
const panel = 32 * 8

// isa is an instruction set: its name and the bytes of its vectors.
type isa struct {
	name  string
	bytes int
}

func (s isa) wide() bool { return s.bytes == 64 }

func (s isa) vec() reg.VecVirtual {
	if s.wide() {
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

func main() {
	ConstraintExpr("!purego")
	for _, s := range []isa{{"AVX512", 64}, {"AVX2", 32}} {
		s.all()
		s.nearest()
		s.rows()
		s.distanceSums()
	}
	bracketAVX512()
	bracketAVX2()
	Generate()
}

// begin opens a function. Every one is a leaf that neither grows the stack nor keeps its pointers.
func begin(name, args, doc string) {
	TEXT(name, NOSPLIT, "func("+args+")")
	Pragma("noescape")
	Doc(name + " " + doc)
}

func end() {
	VZEROUPPER()
	RET()
}

func load(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

func at(base reg.Register, disp int) Mem { return Mem{Base: base, Disp: disp} }

func clear(v ...reg.VecVirtual) {
	for _, r := range v {
		VXORPD(r, r, r)
	}
}

// move sets a register to a copy of another.
func move(from reg.Register) reg.GPVirtual {
	to := GP64()
	MOVQ(from, to)
	return to
}

func number(n uint64) reg.GPVirtual {
	r := GP64()
	MOVQ(U64(n), r)
	return r
}

// spread fills a vector with a 64 bit pattern.
func (s isa) spread(pattern uint64) reg.VecVirtual {
	v, low := s.vec(), XMM()
	MOVQ(number(pattern), low)
	VPBROADCASTQ(low, v)
	return v
}

// magnitude is all bits but the sign.
func (s isa) magnitude() reg.VecVirtual { return s.spread(1<<63 - 1) }

// loop runs body until n, which must be positive, has counted down to 0.
func loop(label string, n reg.Register, body func()) {
	Label(label)
	body()
	DECQ(n)
	JNZ(LabelRef(label))
}

// sum adds the lanes of eight sums, one vector of AVX-512 or two of AVX2: ((0+4)+(2+6)) + ((1+5)+(3+7)).
func (s isa) sum(v []reg.VecVirtual) reg.VecVirtual {
	half, hi := YMM(), XMM()
	if s.wide() {
		VEXTRACTF64X4(Imm(1), v[0], half)
		VADDPD(half, v[0].AsY(), half)
	} else {
		VADDPD(v[1], v[0], half)
	}
	VEXTRACTF128(Imm(1), half, hi)
	VADDPD(hi, half.AsX(), hi)
	odd := XMM()
	VUNPCKHPD(hi, hi, odd)
	VADDSD(odd, hi, hi)
	return hi
}

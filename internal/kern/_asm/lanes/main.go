// Command lanes writes the assembly of the kernels whose vectors are of components.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// isa is an instruction set: everything below is written once for both.
type isa struct{ ISA }

// group is how many components a pass takes: kern.Lanes. They fill a line of the cache.
const group = 8

// vectors is how many vectors a group has.
func (s isa) vectors() int { return group / s.Lanes() }

func main() {
	ConstraintExpr("!purego")
	for _, s := range []isa{{AVX512}, {AVX2}} {
		s.deviations()
		s.product()
		s.norms()
		s.moments()
		s.scatter()
		s.inverseFew()
		s.inverse()
	}
	Generate()
}

// bytes turns a number of float64 into bytes.
func bytes(n reg.Register) { SHLQ(Imm(3), n) }

// argGroups loads kp, as the bytes from one value to the next and as groups of components.
func argGroups() (stride, groups reg.GPVirtual) {
	stride = Arg("kp")
	groups = Copy(stride)
	SHRQ(Imm(3), groups)
	bytes(stride)
	return stride, groups
}

// indexed is the memory disp bytes after base and scale times index.
func indexed(base, index reg.Register, scale, disp int) Mem {
	if scale == 0 {
		return At(base, disp)
	}
	return Mem{Base: base, Index: index, Scale: uint8(scale), Disp: disp}
}

// times returns a register that holds n times r.
func times(n int, r reg.Register) reg.GPVirtual {
	p := GP64()
	IMUL3Q(Imm(uint64(n)), r, p)
	return p
}

// blocks runs body for left rows, four at a time and then for what remains.
func blocks(left reg.Register, body func(rows int)) {
	const most = 4
	CMPQ(left, Imm(most))
	JLT(LabelRef("rest"))
	Label("four")
	body(most)
	SUBQ(Imm(most), left)
	CMPQ(left, Imm(most))
	JGE(LabelRef("four"))
	Label("rest")
	for q := most - 1; q >= 1; q-- {
		not := fmt.Sprintf("not%d", q)
		CMPQ(left, Imm(uint64(q)))
		JNE(LabelRef(not))
		body(q)
		if q > 1 {
			JMP(LabelRef("done"))
		}
		Label(not)
	}
	Label("done")
}

// resolve returns where a parameter is.
func resolve(name string) Mem {
	c, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return c.Addr
}

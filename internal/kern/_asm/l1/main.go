// Command l1 writes the assembly of the kernels of K-medians and of the silhouette.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// isa is an instruction set.
type isa struct{ ISA }

func main() {
	ConstraintExpr("!purego")
	for _, s := range []isa{{AVX512}, {AVX2}} {
		s.all()
		s.nearest()
		s.rows()
		s.distanceSums()
	}
	bracketAVX512()
	bracketAVX2()
	Generate()
}

func number(n uint64) reg.GPVirtual {
	r := GP64()
	MOVQ(U64(n), r)
	return r
}

// spread fills a vector with a 64 bit pattern.
func (s isa) spread(pattern uint64) reg.VecVirtual {
	v, low := s.Vec(), XMM()
	MOVQ(number(pattern), low)
	VPBROADCASTQ(low, v)
	return v
}

// magnitude is all bits but the sign.
func (s isa) magnitude() reg.VecVirtual { return s.spread(1<<63 - 1) }

// sum adds the lanes of eight sums, one vector of AVX-512 or two of AVX2: ((0+4)+(2+6)) + ((1+5)+(3+7)).
func (s isa) sum(v []reg.VecVirtual) reg.VecVirtual {
	half, hi := YMM(), XMM()
	if s.Wide() {
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

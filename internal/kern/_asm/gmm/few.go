package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// eight is how many partial sums, by row modulo eight, few and tally keep.
const eight = 8

// few keeps the shares of a component in registers while it goes through the features. Vectors are of rows: with few
// components those of accumulate, which are of components, would be mostly empty.
func (s isa) few() {
	Begin("few"+s.Name, "func(sum, t, q, w *float64, f, k int)", "is AccumulateFew; f, k > 0.")
	sum, t, q, w, f, k := Arg("sum"), Arg("t"), Arg("q"), Arg("w"), Arg("f"), Arg("k")
	share, acc := s.Vecs(Rows/s.Lanes()), s.Vecs(eight/s.Lanes())
	tp, n := GP64(), GP64()
	Loop("component", k, func() {
		for i, r := range share {
			VMOVUPD(At(q, i*s.Bytes), r)
			VMULPD(At(w, i*s.Bytes), r, r)
		}
		MOVQ(t, tp)
		MOVQ(f, n)
		Loop("feature", n, func() {
			for i, a := range acc {
				VMOVUPD(At(sum, i*s.Bytes), a)
			}
			for i, r := range share {
				VFMADD231PD(At(tp, i*s.Bytes), r, acc[i%len(acc)])
			}
			for i, a := range acc {
				VMOVUPD(a, At(sum, i*s.Bytes))
			}
			ADDQ(Step(Line), tp)
			ADDQ(Step(8*eight), sum)
		})
		ADDQ(Step(Line), q)
	})
	End()
}

// tally adds up what a panel says of the free energy.
func (s isa) tally() {
	Begin("tally"+s.Name, "func(sum, factor, w, lse, ent *float64)", "is Tally.")
	sum, factor, w, lse, ent := Arg("sum"), Arg("factor"), Arg("w"), Arg("lse"), Arg("ent")
	none, one := s.Vec(), s.Vec()
	Zero(none)
	VMOVUPD(number(1), one)
	for i := range eight / s.Lanes() {
		a := s.Vecs(4)
		for j, r := range a {
			VMOVUPD(At(sum, 8*eight*j+i*s.Bytes), r)
		}
		for at0 := i; at0 < Rows/s.Lanes(); at0 += eight / s.Lanes() {
			u, v := s.Vec(), s.Vec()
			VMOVUPD(At(w, at0*s.Bytes), u)
			VADDPD(u, a[0], a[0])
			if s.Wide() {
				used := K()
				VCMPPD(Imm(30), none, u, used) // u > 0
				VADDPD(one, a[3], used, a[3])
			} else {
				used := s.Vec()
				VCMPPD(Imm(30), none, u, used)
				VANDPD(one, used, used)
				VADDPD(used, a[3], a[3])
			}
			VMOVUPD(At(lse, at0*s.Bytes), v)
			VFMADD231PD(u, v, a[1])
			VMOVUPD(At(ent, at0*s.Bytes), v)
			VFMADD231PD(u, v, a[2])
			VMULPD(At(factor, at0*s.Bytes), u, u)
			VMOVUPD(u, At(factor, at0*s.Bytes))
		}
		for j, r := range a {
			VMOVUPD(r, At(sum, 8*eight*j+i*s.Bytes))
		}
	}
	End()
}

// largest finds the largest absolute value.
func (s isa) largest() {
	Begin("largest"+s.Name, "func(x *float64, n int) float64", "returns the largest absolute value of n rows of a panel without NaN; n > 0.")
	x, n := Arg("x"), Arg("n")
	top, mask := s.Vecs(Rows/s.Lanes()), s.Vec()
	Zero(top...)
	VMOVUPD(bits(math.MaxInt64), mask)
	Loop("loop", n, func() {
		for i, r := range top {
			v := s.Vec()
			if s.Wide() {
				VPANDQ(At(x, i*s.Bytes), mask, v)
			} else {
				VANDPD(At(x, i*s.Bytes), mask, v)
			}
			VMAXPD(v, r, r)
		}
		ADDQ(Step(Line), x)
	})
	for h := len(top) / 2; h > 0; h /= 2 {
		for i := range h {
			VMAXPD(top[i+h], top[i], top[i])
		}
	}
	y, z := YMM(), YMM()
	if s.Wide() {
		VEXTRACTF64X4(Imm(1), top[0], y)
		VMAXPD(top[0].AsY(), y, y)
	} else {
		VMOVAPD(top[0], y)
	}
	VPERM2F128(Imm(1), y, y, z)
	VMAXPD(y, z, y)
	VSHUFPD(Imm(5), y, y, z)
	VMAXPD(y, z, y)
	Store(y.AsX(), ReturnIndex(0))
	End()
}

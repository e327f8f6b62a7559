package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// eight is how many partial sums, by row modulo eight, few and tally keep.
const eight = 8

// few keeps the shares of a component in registers while it goes through the features. Vectors are of rows: with few
// components those of accumulate, which are of components, would be mostly empty.
func (s isa) few() {
	s.text("few", "func(sum, t, q, w *float64, f, k int)", "is AccumulateFew; f, k > 0.")
	sum, t, q, w, f, k := load("sum"), load("t"), load("q"), load("w"), load("f"), load("k")
	share, acc := s.vecs(rows/s.w), s.vecs(eight/s.w)
	tp, n := GP64(), GP64()
	loop("component", k, func() {
		for i, r := range share {
			VMOVUPD(at(q, i*s.bytes()), r)
			VMULPD(at(w, i*s.bytes()), r, r)
		}
		MOVQ(t, tp)
		MOVQ(f, n)
		loop("feature", n, func() {
			for i, a := range acc {
				VMOVUPD(at(sum, i*s.bytes()), a)
			}
			for i, r := range share {
				VFMADD231PD(at(tp, i*s.bytes()), r, acc[i%len(acc)])
			}
			for i, a := range acc {
				VMOVUPD(a, at(sum, i*s.bytes()))
			}
			ADDQ(step(line), tp)
			ADDQ(step(8*eight), sum)
		})
		ADDQ(step(line), q)
	})
	done()
}

// tally adds up what a panel says of the free energy.
func (s isa) tally() {
	s.text("tally", "func(sum, factor, w, lse, ent *float64)", "is Tally.")
	sum, factor, w, lse, ent := load("sum"), load("factor"), load("w"), load("lse"), load("ent")
	none, one := s.vec(), s.vec()
	zero(none)
	VMOVUPD(number(1), one)
	for i := range eight / s.w {
		a := s.vecs(4)
		for j, r := range a {
			VMOVUPD(at(sum, 8*eight*j+i*s.bytes()), r)
		}
		for at0 := i; at0 < rows/s.w; at0 += eight / s.w {
			u, v := s.vec(), s.vec()
			VMOVUPD(at(w, at0*s.bytes()), u)
			VADDPD(u, a[0], a[0])
			if s.w == 8 {
				used := K()
				VCMPPD(Imm(30), none, u, used) // u > 0
				VADDPD(one, a[3], used, a[3])
			} else {
				used := s.vec()
				VCMPPD(Imm(30), none, u, used)
				VANDPD(one, used, used)
				VADDPD(used, a[3], a[3])
			}
			VMOVUPD(at(lse, at0*s.bytes()), v)
			VFMADD231PD(u, v, a[1])
			VMOVUPD(at(ent, at0*s.bytes()), v)
			VFMADD231PD(u, v, a[2])
			VMULPD(at(factor, at0*s.bytes()), u, u)
			VMOVUPD(u, at(factor, at0*s.bytes()))
		}
		for j, r := range a {
			VMOVUPD(r, at(sum, 8*eight*j+i*s.bytes()))
		}
	}
	done()
}

// largest finds the largest absolute value.
func (s isa) largest() {
	s.text("largest", "func(x *float64, n int) float64", "returns the largest absolute value of n rows of a panel without NaN; n > 0.")
	x, n := load("x"), load("n")
	top, mask := s.vecs(rows/s.w), s.vec()
	zero(top...)
	VMOVUPD(bits(math.MaxInt64), mask)
	loop("loop", n, func() {
		for i, r := range top {
			v := s.vec()
			if s.w == 8 {
				VPANDQ(at(x, i*s.bytes()), mask, v)
			} else {
				VANDPD(at(x, i*s.bytes()), mask, v)
			}
			VMAXPD(v, r, r)
		}
		ADDQ(step(line), x)
	})
	for h := len(top) / 2; h > 0; h /= 2 {
		for i := range h {
			VMAXPD(top[i+h], top[i], top[i])
		}
	}
	y, z := YMM(), YMM()
	if s.w == 8 {
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
	done()
}

package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// tails turns the scores of a component into those of a t distribution, a vector of rows at a time.
func (s isa) tails() {
	Begin("tails"+s.Name, "func(s, u, log, shift, half, inverse, ratio *float64, k int)", "is Tails; k > 0.")
	src, u, log := Arg("s"), Arg("u"), Arg("log")
	shift, half, inverse, ratio, k := Arg("shift"), Arg("half"), Arg("inverse"), Arg("ratio"), Arg("k")
	a, h, f, r := s.Vec(), s.Vec(), s.Vec(), s.Vec()
	Loop("component", k, func() {
		VBROADCASTSD(At(shift, 0), a)
		VBROADCASTSD(At(half, 0), h)
		VBROADCASTSD(At(inverse, 0), f)
		VMULPD(number(-2), f, f)
		VBROADCASTSD(At(ratio, 0), r)
		for i := range Rows / s.Lanes() {
			e, w := s.Vec(), s.Vec()
			VMOVUPD(At(src, i*s.Bytes), e)
			VFMADD213PD(number(1), f, e)
			VMINPD(number(math.MaxFloat64), e, e)
			VDIVPD(e, r, w)
			VMOVUPD(w, At(u, i*s.Bytes))
			l := s.log(e)
			VMOVUPD(l, At(log, i*s.Bytes))
			VFNMADD213PD(a, h, l)
			VMOVUPD(l, At(src, i*s.Bytes))
		}
		ADDQ(Step(Line), src)
		ADDQ(Step(Line), u)
		ADDQ(Step(Line), log)
		ADDQ(Step(8), shift)
		ADDQ(Step(8), half)
		ADDQ(Step(8), inverse)
		ADDQ(Step(8), ratio)
	})
	End()
}

// weigh adds up the weights of a component and their products with the logarithms, and multiplies them by u, for which it adds up the rows too.
func (s isa) weigh() {
	Begin("weigh"+s.Name, "func(sum, row, q, w, u, log *float64, k int)", "is Weigh; k > 0.")
	sum, row, q, w, u, log, k := Arg("sum"), Arg("row"), Arg("q"), Arg("w"), Arg("u"), Arg("log"), Arg("k")
	n, t := s.Vecs(eight/s.Lanes()), s.Vecs(eight/s.Lanes())
	Loop("component", k, func() {
		for i := range n {
			VMOVUPD(At(sum, i*s.Bytes), n[i])
			VMOVUPD(At(sum, 8*eight+i*s.Bytes), t[i])
		}
		for i := range Rows / s.Lanes() {
			r, x := s.Vec(), s.Vec()
			VMOVUPD(At(q, i*s.Bytes), x)
			VMULPD(At(w, i*s.Bytes), x, r)
			VADDPD(r, n[i%len(n)], n[i%len(n)])
			VFMADD231PD(At(log, i*s.Bytes), r, t[i%len(t)])
			VMULPD(At(u, i*s.Bytes), x, x)
			VMOVUPD(x, At(q, i*s.Bytes))
			y := s.Vec()
			VMOVUPD(At(row, i*s.Bytes), y)
			VFMADD231PD(At(w, i*s.Bytes), x, y)
			VMOVUPD(y, At(row, i*s.Bytes))
		}
		for i := range n {
			VMOVUPD(n[i], At(sum, i*s.Bytes))
			VMOVUPD(t[i], At(sum, 8*eight+i*s.Bytes))
		}
		ADDQ(Step(2*8*eight), sum)
		ADDQ(Step(Line), q)
		ADDQ(Step(Line), u)
		ADDQ(Step(Line), log)
	})
	End()
}

package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// lowerRows is kern.lowerRows.
const lowerRows = 5

// finish stores shift - min(v, MaxFloat64)/2; a NaN counts as MaxFloat64.
func (s isa) finish(v []reg.VecVirtual, shift Mem, b reg.VecVirtual, to func(i int) Mem) {
	VBROADCASTSD(shift, b)
	for _, r := range v {
		VMINPD(number(math.MaxFloat64), r, r)
		VMULPD(number(0.5), r, r)
		VSUBPD(r, b, r)
	}
	for i, r := range v {
		VMOVUPD(r, to(i))
	}
}

// whitened scores all components, rows of the factor five at a time with all their products in registers.
func (s isa) whitened() {
	Begin("whitened"+s.Name, "func(dst, x, mean, w, shift *float64, d, k int)", "is Whitened; d, k > 0.")
	parts := Rows / (s.nv * s.Lanes())
	dst, x := Arg("dst"), Arg("x")
	part := GP64()
	MOVQ(U64(uint64(parts)), part)
	d := Arg("d")
	Label("part")
	mean, w, shift, k := Arg("mean"), Arg("w"), Arg("shift"), Arg("k")
	acc, y, norm, b := s.Vecs(lowerRows*s.nv), s.Vecs(s.nv), s.Vecs(s.nv), s.Vec()
	xp, mp, n, depth, left := GP64(), GP64(), GP64(), GP64(), GP64()
	out := GP64()
	MOVQ(dst, out)
	Loop("component", k, func() {
		Zero(norm...)
		MOVQ(d, left)
		XORQ(depth, depth)
		group := func(q int) {
			a := acc[:q*s.nv]
			tag := fmt.Sprintf("rows%d", q)
			Zero(a...)
			MOVQ(x, xp)
			MOVQ(mean, mp)
			column := func(at, from int) { // adds a column to the rows from of the group, at columns further
				VBROADCASTSD(At(mp, 8*at), b)
				for v := range y {
					VSUBPD(At(xp, Line*at+v*s.Bytes), b, y[v]) // m - x: the sign is lost in the square
				}
				for j := from; j < q; j++ {
					VBROADCASTSD(At(w, 8*(q*at+j)), b)
					for v := range y {
						VFMADD231PD(y[v], b, a[j*s.nv+v])
					}
				}
			}
			MOVQ(depth, n)
			TESTQ(n, n)
			JZ(LabelRef(tag + "triangle"))
			Loop(tag, n, func() {
				column(0, 0)
				ADDQ(Step(Line), xp)
				ADDQ(Step(8), mp)
				ADDQ(Step(8*q), w)
			})
			Label(tag + "triangle")
			for j := range q { // beyond, the factor has zeros
				column(j, j)
			}
			ADDQ(Step(8*q*q), w)
			ADDQ(Step(q), depth)
			for j := range q {
				for v := range y {
					VFMADD231PD(a[j*s.nv+v], a[j*s.nv+v], norm[v])
				}
			}
		}
		CMPQ(left, Imm(lowerRows))
		JLT(LabelRef("rest"))
		Label("five")
		group(lowerRows)
		SUBQ(Imm(lowerRows), left)
		CMPQ(left, Imm(lowerRows))
		JGE(LabelRef("five"))
		Label("rest")
		for q := lowerRows - 1; q >= 1; q-- {
			CMPQ(left, Imm(uint64(q)))
			JNE(LabelRef(fmt.Sprintf("not%d", q)))
			group(q)
			JMP(LabelRef("scored"))
			Label(fmt.Sprintf("not%d", q))
		}
		Label("scored")
		s.finish(norm, At(shift, 0), b, func(i int) Mem { return At(out, i*s.Bytes) })
		ADDQ(Step(Line), out)
		ADDQ(Step(8), shift)
		LEAQ(Mem{Base: mean, Index: d, Scale: 8}, mean)
	})
	if parts > 1 {
		ADDQ(Step(s.nv*s.Bytes), dst)
		ADDQ(Step(s.nv*s.Bytes), x)
		DECQ(part)
		JNZ(LabelRef("part"))
	}
	End()
}

// distances scores q components at a time, so that rows are loaded once for them.
func (s isa) distances(scaled, masked bool) {
	name, doc := "spheres", "is Spheres for groups of q components, f their inverse variances; d, groups > 0."
	if scaled {
		name, doc = "ellipses", "is Ellipses for groups of q components, f their inverse standard deviations; d, groups > 0."
	}
	signature := "func(dst, x, mean, f, shift *float64, d, groups, q int)"
	if masked {
		name, doc = "masked", "is MaskedEllipses for groups of q components, f their inverse standard deviations; d, groups > 0."
		signature = "func(dst, x, mask, mean, f, add, shift *float64, d, groups, q int)"
	}
	Begin(name+s.Name, signature, doc)
	parts := Rows / (s.nv * s.Lanes())
	dst, x, mean, f, shift, d, groups, q := Arg("dst"), Arg("x"), Arg("mean"), Arg("f"), Arg("shift"), Arg("d"), Arg("groups"), Arg("q")
	stride, xp, n, part := GP64(), GP64(), GP64(), GP64()
	columns := []reg.Register{mean} // of a component, a number a column
	if scaled {
		columns = append(columns, f)
	}
	var mask, add reg.GPVirtual
	if masked {
		mask, add = Arg("mask"), Arg("add")
		SUBQ(x, mask)
		columns = append(columns, add)
	}
	MOVQ(d, stride)
	SHLQ(Imm(3), stride)
	Choose(q, Down(3), func(q int) {
		acc, y, b, c, a := s.Vecs(q*s.nv), s.Vec(), s.Vec(), s.Vec(), s.Vec()
		tag := fmt.Sprintf("q%d", q)
		Loop(tag+"group", groups, func() {
			MOVQ(U64(uint64(parts)), part)
			Loop(tag+"part", part, func() {
				Zero(acc...)
				MOVQ(x, xp)
				MOVQ(d, n)
				Loop(tag+"depth", n, func() {
					for e := range q {
						of := func(p reg.Register) Mem {
							if e == 0 {
								return At(p, 0)
							}
							return Mem{Base: p, Index: stride, Scale: uint8(e)}
						}
						VBROADCASTSD(of(mean), b)
						if scaled {
							VBROADCASTSD(of(f), c)
						}
						if masked {
							VBROADCASTSD(of(add), a)
						}
						for v := range s.nv {
							VSUBPD(At(xp, v*s.Bytes), b, y)
							if scaled {
								VMULPD(c, y, y)
							}
							if !masked {
								VFMADD231PD(y, y, acc[e*s.nv+v])
								continue
							}
							VFMADD213PD(a, y, y)
							VFMADD231PD(Mem{Base: xp, Index: mask, Scale: 1, Disp: v * s.Bytes}, y, acc[e*s.nv+v])
						}
					}
					ADDQ(Step(Line), xp)
					for _, p := range columns {
						ADDQ(Step(8), p)
					}
				})
				for _, p := range columns {
					SUBQ(stride, p)
				}
				for e := range q {
					a := acc[e*s.nv : e*s.nv+s.nv]
					if !scaled {
						VBROADCASTSD(At(f, 8*e), b)
						for _, r := range a {
							VMULPD(b, r, r)
						}
					}
					s.finish(a, At(shift, 8*e), b, func(i int) Mem { return At(dst, e*Line+i*s.Bytes) })
				}
				if parts > 1 {
					ADDQ(Step(s.nv*s.Bytes), dst)
					ADDQ(Step(s.nv*s.Bytes), x)
				}
			})
			if parts > 1 {
				SUBQ(Step(Line), dst)
				SUBQ(Step(Line), x)
			}
			ADDQ(Step(q*Line), dst)
			ADDQ(Step(8*q), shift)
			for _, p := range columns {
				for range q {
					ADDQ(stride, p)
				}
			}
			if !scaled {
				ADDQ(Step(8*q), f)
			}
		})
	})
}

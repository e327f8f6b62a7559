package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
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
	s.text("whitened", "func(dst, x, mean, w, shift *float64, d, k int)", "is Whitened; d, k > 0.")
	parts := rows / (s.nv * s.w)
	dst, x := load("dst"), load("x")
	part := GP64()
	MOVQ(U64(uint64(parts)), part)
	d := load("d")
	Label("part")
	mean, w, shift, k := load("mean"), load("w"), load("shift"), load("k")
	acc, y, norm, b := s.vecs(lowerRows*s.nv), s.vecs(s.nv), s.vecs(s.nv), s.vec()
	xp, mp, n, depth, left := GP64(), GP64(), GP64(), GP64(), GP64()
	out := GP64()
	MOVQ(dst, out)
	loop("component", k, func() {
		zero(norm...)
		MOVQ(d, left)
		XORQ(depth, depth)
		group := func(q int) {
			a := acc[:q*s.nv]
			tag := fmt.Sprintf("rows%d", q)
			ADDQ(step(q), depth)
			zero(a...)
			MOVQ(x, xp)
			MOVQ(mean, mp)
			MOVQ(depth, n)
			loop(tag, n, func() {
				VBROADCASTSD(at(mp, 0), b)
				for v := range y {
					VSUBPD(at(xp, v*s.bytes()), b, y[v]) // m - x: the sign is lost in the square
				}
				for j := range q {
					VBROADCASTSD(at(w, 8*j), b)
					for v := range y {
						VFMADD231PD(y[v], b, a[j*s.nv+v])
					}
				}
				ADDQ(step(line), xp)
				ADDQ(step(8), mp)
				ADDQ(step(8*q), w)
			})
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
		s.finish(norm, at(shift, 0), b, func(i int) Mem { return at(out, i*s.bytes()) })
		ADDQ(step(line), out)
		ADDQ(step(8), shift)
		LEAQ(Mem{Base: mean, Index: d, Scale: 8}, mean)
	})
	if parts > 1 {
		ADDQ(step(s.nv*s.bytes()), dst)
		ADDQ(step(s.nv*s.bytes()), x)
		DECQ(part)
		JNZ(LabelRef("part"))
	}
	done()
}

// distances scores q components at a time, so that rows are loaded once for them.
func (s isa) distances(scaled bool) {
	name, doc := "spheres", "is Spheres for groups of q components, f their inverse variances; d, groups > 0."
	if scaled {
		name, doc = "ellipses", "is Ellipses for groups of q components, f their inverse standard deviations; d, groups > 0."
	}
	s.text(name, "func(dst, x, mean, f, shift *float64, d, groups, q int)", doc)
	parts := rows / (s.nv * s.w)
	dst, x, mean, f, shift, d, groups, q := load("dst"), load("x"), load("mean"), load("f"), load("shift"), load("d"), load("groups"), load("q")
	stride, xp, n, part := GP64(), GP64(), GP64(), GP64()
	MOVQ(d, stride)
	SHLQ(Imm(3), stride)
	choose(q, 3, func(q int) {
		acc, y, b, c := s.vecs(q*s.nv), s.vec(), s.vec(), s.vec()
		tag := fmt.Sprintf("q%d", q)
		loop(tag+"group", groups, func() {
			MOVQ(U64(uint64(parts)), part)
			loop(tag+"part", part, func() {
				zero(acc...)
				MOVQ(x, xp)
				MOVQ(d, n)
				loop(tag+"depth", n, func() {
					for e := range q {
						of := func(p reg.Register) Mem {
							if e == 0 {
								return at(p, 0)
							}
							return Mem{Base: p, Index: stride, Scale: uint8(e)}
						}
						VBROADCASTSD(of(mean), b)
						if scaled {
							VBROADCASTSD(of(f), c)
						}
						for v := range s.nv {
							VSUBPD(at(xp, v*s.bytes()), b, y)
							if scaled {
								VMULPD(c, y, y)
							}
							VFMADD231PD(y, y, acc[e*s.nv+v])
						}
					}
					ADDQ(step(line), xp)
					ADDQ(step(8), mean)
					if scaled {
						ADDQ(step(8), f)
					}
				})
				SUBQ(stride, mean)
				if scaled {
					SUBQ(stride, f)
				}
				for e := range q {
					a := acc[e*s.nv : e*s.nv+s.nv]
					if !scaled {
						VBROADCASTSD(at(f, 8*e), b)
						for _, r := range a {
							VMULPD(b, r, r)
						}
					}
					s.finish(a, at(shift, 8*e), b, func(i int) Mem { return at(dst, e*line+i*s.bytes()) })
				}
				if parts > 1 {
					ADDQ(step(s.nv*s.bytes()), dst)
					ADDQ(step(s.nv*s.bytes()), x)
				}
			})
			if parts > 1 {
				SUBQ(step(line), dst)
				SUBQ(step(line), x)
			}
			ADDQ(step(q*line), dst)
			ADDQ(step(8*q), shift)
			for range q {
				ADDQ(stride, mean)
				if scaled {
					ADDQ(stride, f)
				}
			}
			if !scaled {
				ADDQ(step(8*q), f)
			}
		})
	})
}

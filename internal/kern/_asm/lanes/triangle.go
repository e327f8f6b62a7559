package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// rows returns the memory disp bytes after p in up to four rows that are size bytes apart, size3 being thrice that.
func rows(p, size, size3 reg.Register) func(r, disp int) Mem {
	return func(r, disp int) Mem {
		if r == 3 {
			return indexed(p, size3, 1, disp)
		}
		return indexed(p, size, r, disp)
	}
}

// triangle is what norms and moments have in common: they run through a lower triangle, packed by rows, two of its rows at
// a time, and for up to four rows of data, so that most of what they load is used more than once; fused multiply-adds are
// the bound then. Both vectors of AVX2 are done with two rows before the next two are taken: passes of one vector through
// the whole triangle took a third longer for 32 components of 16 variables, which the first-level cache does not hold
// (Zen 4).
type triangle struct {
	isa
	left            reg.GPVirtual // rows of data
	stride, stride3 reg.GPVirtual // bytes from one value to the next, and thrice that
	size, size3     reg.GPVirtual // bytes of a row of data, and thrice that
	y, yp, end      reg.GPVirtual // the data, the variable in turn, and the last variable of the pair
	at, length      reg.GPVirtual // a place in the first row of the triangle of the pair; the second row is length bytes further
}

// newTriangle loads the arguments y, n, d and kp.
func (s isa) newTriangle() *triangle {
	t := &triangle{isa: s, y: Arg("y"), left: Arg("n"), stride: Arg("kp"), size: Arg("d"), at: GP64(), length: GP64(), yp: GP64(), end: GP64()}
	bytes(t.stride)
	IMULQ(t.stride, t.size)
	t.size3, t.stride3 = times(3, t.size), times(3, t.stride)
	return t
}

// run runs corner for a first row that has no second, where d is odd, and pair for all others. Before it, at must be the
// triangle.
func (t *triangle) run(tag string, corner, pair func()) {
	MOVQ(t.stride, t.length)
	TESTQ(I32(1), resolve("d"))
	JZ(LabelRef(tag + "even"))
	corner()
	ADDQ(t.stride, t.at)
	ADDQ(t.stride, t.length)
	Label(tag + "even")
	CMPQ(t.length, t.size)
	JGE(LabelRef(tag + "finished"))
	Label(tag + "pair")
	LEAQ(indexed(t.y, t.length, 1, 0), t.end)
	pair()
	LEAQ(indexed(t.at, t.length, 2, 0), t.at)
	ADDQ(t.stride, t.at)
	LEAQ(indexed(t.length, t.stride, 2, 0), t.length)
	CMPQ(t.length, t.size)
	JLT(LabelRef(tag + "pair"))
	Label(tag + "finished")
}

// columns runs body for the columns that both rows of a pair have, with yp at the variable, and then last for the one that
// only the second row has.
func (t *triangle) columns(tag string, body, last func()) {
	MOVQ(t.y, t.yp)
	Label(tag)
	body()
	ADDQ(t.stride, t.at)
	ADDQ(t.stride, t.yp)
	CMPQ(t.yp, t.end)
	JNE(LabelRef(tag))
	last()
	SUBQ(t.length, t.at)
}

// second is the memory disp bytes after at in the second row.
func (t *triangle) second(disp int) Mem { return indexed(t.at, t.length, 1, disp) }

func (s isa) norms() {
	Begin("laneNorms"+s.Name, "func(dst, y, w *float64, n, d, kp int)", "is LaneNorms for the first 8 components; n, d, kp > 0.")
	t, dst := s.newTriangle(), Arg("dst")
	blocks(t.left, func(q int) {
		tag := fmt.Sprintf("rows%d", q)
		y, out := rows(t.yp, t.size, t.size3), rows(dst, t.stride, t.stride3)
		a, b := s.Vecs(q), s.Vecs(q)
		Load(Param("w"), t.at)
		zero := s.Vec()
		Zero(zero)
		for r := range q {
			for i := range s.vectors() {
				VMOVUPD(zero, out(r, i*s.Bytes))
			}
		}
		t.run(tag, func() {
			MOVQ(t.y, t.yp)
			for i := range s.vectors() {
				f := s.Vec()
				VMOVUPD(At(t.at, i*s.Bytes), f)
				for r := range q {
					VMULPD(y(r, i*s.Bytes), f, a[r])
					VMULPD(a[r], a[r], a[r])
					VMOVUPD(a[r], out(r, i*s.Bytes))
				}
			}
		}, func() {
			for i := range s.vectors() {
				Zero(a...)
				Zero(b...)
				t.columns(fmt.Sprintf("%scolumn%d", tag, i), func() {
					f, g := s.Vec(), s.Vec()
					VMOVUPD(At(t.at, i*s.Bytes), f)
					VMOVUPD(t.second(i*s.Bytes), g)
					for r := range q {
						v := s.Vec()
						VMOVUPD(y(r, i*s.Bytes), v)
						VFMADD231PD(v, f, a[r])
						VFMADD231PD(v, g, b[r])
					}
				}, func() {
					g := s.Vec()
					VMOVUPD(t.second(i*s.Bytes), g)
					for r := range q {
						VFMADD231PD(y(r, i*s.Bytes), g, b[r])
					}
				})
				for r := range q {
					g := s.Vec()
					VMOVUPD(out(r, i*s.Bytes), g)
					VFMADD231PD(a[r], a[r], g)
					VFMADD231PD(b[r], b[r], g)
					VMOVUPD(g, out(r, i*s.Bytes))
				}
			}
		})
		for range q {
			ADDQ(t.stride, dst)
			ADDQ(t.size, t.y)
		}
	})
	End()
}

func (s isa) moments() {
	Begin("laneMoments"+s.Name, "func(sum, y, q *float64, n, d, kp int)", "is LaneMoments for the first 8 components; n, d, kp > 0.")
	t, weights, first := s.newTriangle(), Arg("q"), GP64()
	blocks(t.left, func(q int) {
		tag := fmt.Sprintf("rows%d", q)
		y, weight := rows(t.yp, t.size, t.size3), rows(weights, t.stride, t.stride3)
		a, b, kept := s.Vecs(q), s.Vecs(q), s.Vecs(q)
		if s.vectors() == 1 { // there are registers for the weights
			for r, v := range kept {
				VMOVUPD(weight(r, 0), v)
			}
		}
		// take adds to a sum in memory what body adds to a vector.
		take := func(m Mem, body func(sum reg.VecVirtual)) {
			v := s.Vec()
			VMOVUPD(m, v)
			body(v)
			VMOVUPD(v, m)
		}
		// share sets u to the variable at yp times the weights, and adds it to its first moment.
		share := func(u []reg.VecVirtual, i int, first Mem) {
			for r := range q {
				if s.vectors() > 1 {
					VMOVUPD(weight(r, i*s.Bytes), kept[r])
				}
				VMULPD(y(r, i*s.Bytes), kept[r], u[r])
			}
			take(first, func(sum reg.VecVirtual) {
				for _, v := range u {
					VADDPD(v, sum, sum)
				}
			})
		}
		// last adds u times the variable at yp to a moment.
		last := func(u []reg.VecVirtual, i int, m Mem) {
			take(m, func(sum reg.VecVirtual) {
				for r := range q {
					VFMADD231PD(y(r, i*s.Bytes), u[r], sum)
				}
			})
		}
		Load(Param("sum"), first)
		for i := range s.vectors() {
			take(At(first, i*s.Bytes), func(sum reg.VecVirtual) {
				for r := range q {
					VADDPD(weight(r, i*s.Bytes), sum, sum)
				}
			})
		}
		ADDQ(t.stride, first)
		LEAQ(indexed(first, t.size, 1, 0), t.at)
		t.run(tag, func() {
			MOVQ(t.y, t.yp)
			for i := range s.vectors() {
				share(a, i, At(first, i*s.Bytes))
				last(a, i, At(t.at, i*s.Bytes))
			}
			ADDQ(t.stride, first)
		}, func() {
			for i := range s.vectors() {
				MOVQ(t.end, t.yp)
				share(b, i, indexed(first, t.stride, 1, i*s.Bytes))
				SUBQ(t.stride, t.yp)
				share(a, i, At(first, i*s.Bytes))
				t.columns(fmt.Sprintf("%scolumn%d", tag, i), func() {
					f, g := s.Vec(), s.Vec()
					VMOVUPD(At(t.at, i*s.Bytes), f)
					VMOVUPD(t.second(i*s.Bytes), g)
					for r := range q {
						v := s.Vec()
						VMOVUPD(y(r, i*s.Bytes), v)
						VFMADD231PD(v, a[r], f)
						VFMADD231PD(v, b[r], g)
					}
					VMOVUPD(f, At(t.at, i*s.Bytes))
					VMOVUPD(g, t.second(i*s.Bytes))
				}, func() { last(b, i, t.second(i*s.Bytes)) })
			}
			LEAQ(indexed(first, t.stride, 2, 0), first)
		})
		for range q {
			ADDQ(t.stride, weights)
			ADDQ(t.size, t.y)
		}
	})
	End()
}

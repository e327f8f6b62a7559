package main

import (
	"fmt"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// See kern.laneInverse for what stands where in a matrix that is about to be inverted.

// few is the size of the largest matrix whose triangle the registers hold beside four other vectors.
func (s isa) few() int {
	if s.Wide() {
		return 7
	}
	return 4
}

// number is 1.
var number = ConstData("lanes_one", F64(1))

// broadcast returns a vector of a number in memory.
func (s isa) broadcast(m Mem) reg.VecVirtual {
	v := s.Vec()
	VBROADCASTSD(m, v)
	return v
}

// floor sets p to the pivot, which is at least least. A NaN stays one.
func floor(least, p reg.VecVirtual) { VMAXPD(p, least, p) }

// inverseFew keeps the triangle of a vector of components in registers.
func (s isa) inverseFew() {
	Begin("laneInverseFew"+s.Name, "func(v, pivot *float64, n, kp int, least float64)",
		fmt.Sprintf("is LaneInverse for n from 1 to %d; kp > 0.", s.few()))
	v, pivot, n, stride := Arg("v"), Arg("pivot"), Arg("n"), Arg("kp")
	vectors := Copy(stride)
	SHRQ(Imm(uint64(bits.Len(uint(s.Lanes()))-1)), vectors)
	bytes(stride)
	stride3, stride5 := times(3, stride), times(5, stride)
	one, least := s.broadcast(number), s.broadcast(resolve("least"))
	column := func(p reg.Register, b int) Mem { // of the row at p
		switch b {
		case 3:
			return indexed(p, stride3, 1, 0)
		case 5:
			return indexed(p, stride5, 1, 0)
		case 6:
			return indexed(p, stride3, 2, 0)
		}
		return indexed(p, stride, b, 0)
	}
	row, to, size := GP64(), GP64(), GP64()
	Choose(n, Down(s.few()), func(n int) {
		IMUL3Q(Imm(uint64(n)), stride, size)
		// rows runs body for every row, with row at it.
		rows := func(body func(a int)) {
			MOVQ(v, row)
			for a := range n {
				if a > 0 {
					ADDQ(size, row)
				}
				body(a)
			}
		}
		t := make([][]reg.VecVirtual, n)
		at := func(a, b int) reg.VecVirtual { return t[max(a, b)][min(a, b)] }
		Loop(fmt.Sprintf("vector%d", n), vectors, func() {
			rows(func(a int) {
				t[a] = s.Vecs(a + 1)
				for b, r := range t[a] {
					VMOVUPD(column(row, b), r)
				}
			})
			MOVQ(pivot, to)
			rows(func(a int) {
				f, inv := s.Vec(), s.Vec()
				VMULPD(column(row, a), least, f)
				floor(f, t[a][a])
				VMOVUPD(t[a][a], At(to, 0))
				ADDQ(stride, to)
				VDIVPD(t[a][a], one, inv)
				for i := n - 1; i >= 0; i-- { // later rows first: they take what earlier ones change
					switch {
					case i > a:
						VMULPD(t[i][a], inv, f)
						for b := range i + 1 {
							if b != a {
								VFNMADD231PD(at(a, b), f, t[i][b])
							}
						}
						Zero(t[i][a])
						VSUBPD(f, t[i][a], t[i][a])
					case i == a:
						VMOVAPD(inv, t[a][a])
					default:
						VMULPD(t[a][i], inv, f)
						for b := range i + 1 {
							VFMADD231PD(t[a][b], f, t[i][b])
						}
						VMOVAPD(f, t[a][i])
					}
				}
			})
			rows(func(a int) {
				for b := range n {
					VMOVUPD(at(a, b), column(row, b))
				}
			})
			ADDQ(Step(s.Bytes), v)
			ADDQ(Step(s.Bytes), pivot)
		})
	})
}

// inverse takes two pivots at a time off two rows at a time, so that fused multiply-adds are the bound and not what is loaded and stored.
// An odd number of rows begins with one that is a pivot of its own.
type inverse struct {
	isa
	v, stride, size reg.GPVirtual // the matrix, and the bytes from one value to the next and of a row
	// Pivots k and k+1: the rows, their columns in bytes, and the column where the call ends.
	k0, k1, column0, column1, end reg.GPVirtual
	// Rows i and i+1, i in bytes, and a column in turn.
	a0, a1, i, j reg.GPVirtual
	// The inverse pivots, and what row k+1 has of row k.
	inv0, inv1, low []reg.VecVirtual
}

func (s isa) inverse() {
	Begin("laneInverse"+s.Name, "func(v, pivot *float64, n, kp, from, to int, least float64)",
		"takes pivots from to to of LaneInverse for the first 8 components. From 0 on it sets the floors of all first, up to n it copies the lower triangle last. n > 1; from is 0 or leaves an even number of pivots, as to does.")
	t := &inverse{isa: s, v: Arg("v"), stride: Arg("kp"), size: Arg("n"), k0: GP64(), k1: GP64(), column0: Arg("from"), column1: GP64(), end: Arg("to"),
		a0: GP64(), a1: GP64(), i: GP64(), j: GP64(), inv0: s.Vecs(s.vectors()), inv1: s.Vecs(s.vectors()), low: s.Vecs(s.vectors())}
	bytes(t.stride)
	IMULQ(t.stride, t.size)
	IMULQ(t.stride, t.end)
	MOVQ(t.column0, t.k0)
	IMULQ(t.size, t.k0)
	ADDQ(t.v, t.k0)
	IMULQ(t.stride, t.column0)
	TESTQ(t.column0, t.column0)
	JNZ(LabelRef("pivot"))
	t.floors()
	t.even("pivot")
	t.alone()
	Label("pivot")
	CMPQ(t.column0, t.end)
	JGE(LabelRef("finished"))
	t.pivots()
	t.above()
	t.below()
	t.own()
	t.double(t.column0, t.stride)
	t.double(t.k0, t.size)
	JMP(LabelRef("pivot"))
	Label("finished")
	CMPQ(t.end, t.size)
	JNE(LabelRef("end"))
	t.mirror()
	Label("end")
	End()
}

// double adds twice a register to another.
func (t *inverse) double(to, r reg.Register) { LEAQ(indexed(to, r, 2, 0), to) }

// even jumps to a label if there is an even number of rows.
func (t *inverse) even(label string) {
	TESTQ(I32(1), resolve("n"))
	JZ(LabelRef(label))
}

// both runs body for each vector, disp bytes into a value.
func (t *inverse) both(body func(h, disp int)) {
	for h := range t.vectors() {
		body(h, h*t.Bytes)
	}
}

// floors sets the pivots to the least that they may be.
func (t *inverse) floors() {
	n, p, diagonal, least := Arg("n"), Arg("pivot"), Copy(t.v), t.broadcast(resolve("least"))
	Loop("floor", n, func() {
		t.both(func(h, disp int) {
			f := t.Vec()
			VMULPD(At(diagonal, disp), least, f)
			VMOVUPD(f, At(p, disp))
		})
		ADDQ(t.stride, p)
		ADDQ(t.size, diagonal)
		ADDQ(t.stride, diagonal)
	})
}

// alone takes the first pivot off all rows.
func (t *inverse) alone() {
	p, one := Arg("pivot"), t.broadcast(number)
	t.both(func(h, disp int) {
		f := t.Vec()
		VMOVUPD(At(p, disp), f)
		VMOVUPD(At(t.v, disp), t.inv0[h])
		floor(f, t.inv0[h])
		VMOVUPD(t.inv0[h], At(p, disp))
		VDIVPD(t.inv0[h], one, t.inv0[h])
		VMOVUPD(t.inv0[h], At(t.v, disp))
	})
	LEAQ(indexed(t.v, t.size, 1, 0), t.a0)
	MOVQ(t.stride, t.i)
	Label("alone")
	LEAQ(indexed(t.a0, t.size, 1, 0), t.a1)
	t.both(func(h, disp int) {
		LEAQ(indexed(t.i, t.stride, 1, 0), t.j)
		f, to := t.Vecs(2), t.Vecs(2)
		for r, a := range []reg.Register{t.a0, t.a1} {
			VMOVUPD(At(a, disp), f[r])
			VMOVUPD(f[r], indexed(t.v, []reg.Register{t.i, t.j}[r], 1, disp))
			VMULPD(f[r], t.inv0[h], f[r])
			Zero(to[r])
			VSUBPD(f[r], to[r], to[r])
			VMOVUPD(to[r], At(a, disp))
		}
		label := fmt.Sprintf("alone%d", h)
		Label(label)
		u := t.Vec()
		VMOVUPD(indexed(t.v, t.j, 1, disp), u)
		for r, a := range []reg.Register{t.a0, t.a1} {
			VMOVUPD(indexed(a, t.j, 1, disp), to[r])
			VFNMADD231PD(u, f[r], to[r])
			VMOVUPD(to[r], indexed(a, t.j, 1, disp))
		}
		SUBQ(t.stride, t.j)
		JNZ(LabelRef(label))
	})
	t.double(t.a0, t.size)
	t.double(t.i, t.stride)
	CMPQ(t.i, t.size)
	JNE(LabelRef("alone"))
	ADDQ(t.stride, t.column0)
	ADDQ(t.size, t.k0)
}

// pivots makes the next two, and leaves in their columns what rows below find there.
func (t *inverse) pivots() {
	LEAQ(indexed(t.column0, t.stride, 1, 0), t.column1)
	LEAQ(indexed(t.k0, t.size, 1, 0), t.k1)
	p, one := Arg("pivot"), t.broadcast(number)
	t.both(func(h, disp int) {
		inv0, inv1, low := t.inv0[h], t.inv1[h], t.low[h]
		f, x, y := t.Vec(), t.Vec(), t.Vec()
		VMOVUPD(indexed(p, t.column0, 1, disp), f)
		VMOVUPD(indexed(t.k0, t.column0, 1, disp), x)
		floor(f, x)
		VMOVUPD(x, indexed(p, t.column0, 1, disp))
		VDIVPD(x, one, inv0)
		VMOVUPD(indexed(t.k1, t.column0, 1, disp), y)
		VMULPD(y, inv0, low)
		VMOVUPD(indexed(p, t.column1, 1, disp), f)
		VMOVUPD(indexed(t.k1, t.column1, 1, disp), x)
		VFNMADD231PD(y, low, x)
		floor(f, x)
		VMOVUPD(x, indexed(p, t.column1, 1, disp))
		VDIVPD(x, one, inv1)
		Zero(y)
		VMOVUPD(one, indexed(t.k0, t.column0, 1, disp))
		VMOVUPD(y, indexed(t.k0, t.column1, 1, disp))
		VSUBPD(low, y, y)
		VMOVUPD(y, indexed(t.k1, t.column0, 1, disp))
		VMOVUPD(one, indexed(t.k1, t.column1, 1, disp))
	})
}

// pair adds the rows of the pivots times f to rows i and i+1, or takes them off, as fma does, up to column j, which is i+1.
func (t *inverse) pair(label string, disp int, fma func(ops ...Op), f [2][2]reg.VecVirtual) {
	last := Copy(t.j)
	XORQ(t.j, t.j)
	Label(label)
	u, to := t.Vecs(2), t.Vecs(2)
	rows, pivots := []reg.Register{t.a0, t.a1}, []reg.Register{t.k0, t.k1}
	for p, k := range pivots {
		VMOVUPD(indexed(k, t.j, 1, disp), u[p])
	}
	for r, a := range rows {
		VMOVUPD(indexed(a, t.j, 1, disp), to[r])
	}
	for p := range pivots {
		for r := range rows {
			fma(u[p], f[r][p], to[r])
		}
	}
	for r, a := range rows {
		VMOVUPD(to[r], indexed(a, t.j, 1, disp))
	}
	ADDQ(t.stride, t.j)
	CMPQ(t.j, last)
	JLE(LabelRef(label))
}

// next goes on to the next pair of rows.
func (t *inverse) next() {
	t.double(t.a0, t.size)
	t.double(t.i, t.stride)
}

// above adds to the rows before the pivots. Row k+1 loses what it has of row k on the way.
func (t *inverse) above() {
	MOVQ(t.v, t.a0)
	XORQ(t.i, t.i)
	t.even("above")
	t.both(func(h, disp int) { // the first of an odd number has one column
		x, y, f := t.Vec(), t.Vec(), t.Vec()
		VMOVUPD(At(t.k0, disp), x)
		VMOVUPD(At(t.k1, disp), y)
		VFNMADD231PD(x, t.low[h], y)
		VMOVUPD(y, At(t.k1, disp))
		VMULPD(x, t.inv0[h], f)
		VMULPD(f, x, x)
		VMULPD(y, t.inv1[h], f)
		VFMADD231PD(f, y, x)
		VADDPD(At(t.v, disp), x, x)
		VMOVUPD(x, At(t.v, disp))
	})
	ADDQ(t.size, t.a0)
	ADDQ(t.stride, t.i)
	Label("above")
	CMPQ(t.i, t.column0)
	JE(LabelRef("between"))
	LEAQ(indexed(t.a0, t.size, 1, 0), t.a1)
	t.both(func(h, disp int) {
		LEAQ(indexed(t.i, t.stride, 1, 0), t.j)
		var f [2][2]reg.VecVirtual
		for r, column := range []reg.Register{t.i, t.j} {
			x, y := t.Vec(), t.Vec()
			VMOVUPD(indexed(t.k0, column, 1, disp), x)
			VMOVUPD(indexed(t.k1, column, 1, disp), y)
			VFNMADD231PD(x, t.low[h], y)
			VMOVUPD(y, indexed(t.k1, column, 1, disp))
			VMULPD(x, t.inv0[h], x)
			VMULPD(y, t.inv1[h], y)
			f[r] = [2]reg.VecVirtual{x, y}
		}
		t.pair(fmt.Sprintf("above%d", h), disp, VFMADD231PD, f)
	})
	t.next()
	JMP(LabelRef("above"))
	Label("between")
	t.next()
}

// below takes the pivots off the rows after them, whose columns of the pivots are copied to their rows first.
func (t *inverse) below() {
	CMPQ(t.i, t.size)
	JGE(LabelRef("last"))
	Label("below")
	LEAQ(indexed(t.a0, t.size, 1, 0), t.a1)
	t.both(func(h, disp int) {
		LEAQ(indexed(t.i, t.stride, 1, 0), t.j)
		var f [2][2]reg.VecVirtual
		zero := t.Vec()
		Zero(zero)
		for r, a := range []reg.Register{t.a0, t.a1} {
			x, y, column := t.Vec(), t.Vec(), []reg.Register{t.i, t.j}[r]
			VMOVUPD(indexed(a, t.column0, 1, disp), x)
			VMOVUPD(indexed(a, t.column1, 1, disp), y)
			VFNMADD231PD(x, t.low[h], y)
			VMOVUPD(x, indexed(t.k0, column, 1, disp))
			VMOVUPD(y, indexed(t.k1, column, 1, disp))
			VMOVUPD(zero, indexed(a, t.column0, 1, disp))
			VMOVUPD(zero, indexed(a, t.column1, 1, disp))
			VMULPD(x, t.inv0[h], x)
			VMULPD(y, t.inv1[h], y)
			f[r] = [2]reg.VecVirtual{x, y}
		}
		t.pair(fmt.Sprintf("below%d", h), disp, VFNMADD231PD, f)
	})
	t.next()
	CMPQ(t.i, t.size)
	JL(LabelRef("below"))
	Label("last")
}

// own makes rows of the inverse of the rows of the pivots.
func (t *inverse) own() {
	MOVQ(t.column1, t.j)
	Label("own")
	t.both(func(h, disp int) {
		x, y := t.Vec(), t.Vec()
		VMULPD(indexed(t.k0, t.j, 1, disp), t.inv0[h], x)
		VMULPD(indexed(t.k1, t.j, 1, disp), t.inv1[h], y)
		VFNMADD231PD(y, t.low[h], x)
		VMOVUPD(x, indexed(t.k0, t.j, 1, disp))
		VMOVUPD(y, indexed(t.k1, t.j, 1, disp))
	})
	SUBQ(t.stride, t.j)
	JGE(LabelRef("own"))
}

// mirror copies the lower triangle to the upper one.
func (t *inverse) mirror() {
	MOVQ(t.stride, t.i)
	LEAQ(indexed(t.v, t.size, 1, 0), t.a0)
	Label("mirror")
	LEAQ(indexed(t.v, t.i, 1, 0), t.a1)
	XORQ(t.j, t.j)
	Label("entry")
	t.both(func(h, disp int) {
		x := t.Vec()
		VMOVUPD(indexed(t.a0, t.j, 1, disp), x)
		VMOVUPD(x, At(t.a1, disp))
	})
	ADDQ(t.size, t.a1)
	ADDQ(t.stride, t.j)
	CMPQ(t.j, t.i)
	JNE(LabelRef("entry"))
	ADDQ(t.size, t.a0)
	ADDQ(t.stride, t.i)
	CMPQ(t.i, t.size)
	JNE(LabelRef("mirror"))
}

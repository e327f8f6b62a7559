package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// deviations: y = x - mean, 0 where x is NaN.
func (s isa) deviations() {
	Begin("laneDeviations"+s.Name, "func(y, x, mean *float64, d, kp int)", "is LaneDeviations; d, kp > 0.")
	y, x, mean, d := Arg("y"), Arg("x"), Arg("mean"), Arg("d")
	stride, groups := argGroups()
	xp, yp, mp, n := GP64(), GP64(), GP64(), GP64()
	step := func(at int) {
		v := s.Vec()
		VBROADCASTSD(At(xp, 8*at), v)
		if s.Wide() {
			there := K()
			VCMPPD(Imm(7), v, v, there) // ordered
			VSUBPD_Z(indexed(mp, stride, at, 0), v, there, v)
			VMOVUPD(v, indexed(yp, stride, at, 0))
			return
		}
		there := s.Vec()
		VCMPPD(Imm(7), v, v, there)
		for i := range s.vectors() {
			u := s.Vec()
			VSUBPD(indexed(mp, stride, at, i*s.Bytes), v, u)
			VANDPD(there, u, u)
			VMOVUPD(u, indexed(yp, stride, at, i*s.Bytes))
		}
	}
	next := func(n int) {
		ADDQ(Step(8*n), xp)
		LEAQ(indexed(mp, stride, n, 0), mp)
		LEAQ(indexed(yp, stride, n, 0), yp)
	}
	Loop("group", groups, func() {
		MOVQ(x, xp)
		MOVQ(y, yp)
		MOVQ(mean, mp)
		MOVQ(d, n)
		Whole("two", n, Imm(2), func() {
			step(0)
			step(1)
			next(2)
		})
		JZ(LabelRef("even"))
		step(0)
		Label("even")
		ADDQ(Step(8*group), y)
		ADDQ(Step(8*group), mean)
	})
	End()
}

// product keeps sums of up to four rows in registers, as many a row as it takes for additions not to wait for one another.
func (s isa) product() {
	Begin("laneProduct"+s.Name, "func(dst, m, y *float64, rows *int32, n, d, kp int)", "is LaneProduct for n rows; n, d, kp > 0.")
	dst, m, y, rows, left, size := Arg("dst"), Arg("m"), Arg("y"), Arg("rows"), Arg("n"), Arg("d")
	stride, groups := argGroups()
	IMULQ(stride, size)
	ADDQ(size, m)
	ADDQ(size, y)
	n, off := GP64(), GP64() // offsets from the ends count up to 0
	Label("group")
	blocks(left, func(q int) {
		tag := fmt.Sprintf("rows%d", q)
		row := make([]reg.GPVirtual, q)
		for a := range row {
			row[a] = GP64()
			MOVLQSX(At(rows, 4*a), row[a])
			IMULQ(size, row[a])
			ADDQ(m, row[a])
		}
		ways := 2 / s.vectors()
		if q <= 2 {
			ways = 4 / s.vectors()
		}
		sums := make([][]reg.VecVirtual, ways) // of one l modulo ways: q rows of vectors
		for i := range sums {
			sums[i] = s.Vecs(q * s.vectors())
			Zero(sums[i]...)
		}
		step := func(sum []reg.VecVirtual) {
			for i := range s.vectors() {
				v := s.Vec()
				VMOVUPD(indexed(y, off, 1, i*s.Bytes), v)
				for a, r := range row {
					VFMADD231PD(indexed(r, off, 1, i*s.Bytes), v, sum[a*s.vectors()+i])
				}
			}
			ADDQ(stride, off)
		}
		MOVQ(size, off)
		NEGQ(off)
		Load(Param("d"), n)
		Whole(tag, n, Imm(uint64(ways)), func() {
			for _, sum := range sums {
				step(sum)
			}
		})
		if ways > 1 {
			JZ(LabelRef(tag + "whole"))
			Loop(tag+"single", n, func() { step(sums[0]) })
			Label(tag + "whole")
		}
		for h := ways / 2; h > 0; h /= 2 {
			for i := range h {
				for a, r := range sums[i] {
					VADDPD(sums[i+h][a], r, r)
				}
			}
		}
		for a := range q {
			for i := range s.vectors() {
				VMOVUPD(sums[0][a*s.vectors()+i], At(dst, i*s.Bytes))
			}
			ADDQ(stride, dst)
		}
		ADDQ(Step(4*q), rows)
	})
	DECQ(groups)
	JZ(LabelRef("end"))
	for _, p := range []reg.GPVirtual{dst, m, y} {
		ADDQ(Step(8*group), p)
	}
	Load(Param("n"), left) // back to the first row
	MOVQ(left, n)
	SHLQ(Imm(2), n)
	SUBQ(n, rows)
	MOVQ(left, n)
	IMULQ(stride, n)
	SUBQ(n, dst)
	JMP(LabelRef("group"))
	Label("end")
	End()
}

func (s isa) scatter() {
	Begin("laneScatter"+s.Name, "func(sum, v, q *float64, at *int32, n, kp int)", "is LaneScatter for n places; n, kp > 0.")
	sum, v, q, at, n := Arg("sum"), Arg("v"), Arg("q"), Arg("at"), Arg("n")
	stride, groups := argGroups()
	vp, ap, left, place := GP64(), GP64(), GP64(), GP64()
	f := s.Vecs(s.vectors())
	Loop("group", groups, func() {
		for i, r := range f {
			VMOVUPD(At(q, i*s.Bytes), r)
		}
		MOVQ(v, vp)
		MOVQ(at, ap)
		MOVQ(n, left)
		Loop("place", left, func() {
			MOVLQSX(At(ap, 0), place)
			IMULQ(stride, place)
			for i, r := range f {
				x := s.Vec()
				VMOVUPD(At(vp, i*s.Bytes), x)
				VFMADD213PD(indexed(sum, place, 1, i*s.Bytes), r, x)
				VMOVUPD(x, indexed(sum, place, 1, i*s.Bytes))
			}
			ADDQ(stride, vp)
			ADDQ(Step(4), ap)
		})
		for _, p := range []reg.GPVirtual{sum, v, q} {
			ADDQ(Step(8*group), p)
		}
	})
	End()
}

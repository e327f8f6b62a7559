package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// zero returns n vectors of zeros.
func (s isa) zero(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = s.Vec()
		if s.Wide() {
			VPXORQ(v[i], v[i], v[i])
		} else {
			VXORPD(v[i], v[i], v[i])
		}
	}
	return v
}

// sqdist: lanes are rows. A product and a sum, or one fused: bits are those of the Go loop.
func (s isa) sqdist(fused bool) {
	title, doc := "sqdist", "SqdistAll."
	if fused {
		title, doc = "sqdistFused", "SqdistFused."
	}
	Begin(title+s.Name, "func(dst, x, c *float64, k, d int)", "is "+doc)
	dst, x, c, k, d := Arg("dst"), Arg("x"), Arg("c"), Arg("k"), Arg("d")
	n := 256 / s.Bytes
	Loop("centre", k, func() {
		acc := s.zero(n)
		xp, j := GP64(), GP64()
		MOVQ(x, xp)
		MOVQ(d, j)
		Loop("column", j, func() {
			f := s.Vec()
			VBROADCASTSD(At(c, 0), f)
			for i := range acc {
				t := s.Vec()
				VSUBPD(At(xp, i*s.Bytes), f, t)
				if fused {
					VFMADD231PD(t, t, acc[i])
					continue
				}
				VMULPD(t, t, t)
				VADDPD(t, acc[i], acc[i])
			}
			Add(256, xp)
			Add(8, c)
		})
		for i := range acc {
			VMOVUPD(acc[i], At(dst, i*s.Bytes))
		}
		Add(256, dst)
	})
	End()
}

// least: lanes are rows. Labels come as int64, the width of the lanes.
func (s isa) least(two bool) {
	title, args, doc := "argmin", "least *float64, label *int64, dist *float64, k int", "Argmin."
	if two {
		title, args, doc = "twoLeast", "least, second *float64, label *int64, dist *float64, k int", "TwoLeast."
	}
	Begin(title+s.Name, "func("+args+")", "is "+doc)
	least, label, dist := Arg("least"), Arg("label"), Arg("dist")
	var second reg.Register
	if two {
		second = Arg("second")
	}
	bits := GP64()
	unit, inf := s.Vec(), s.Vec()
	for _, c := range []struct {
		bits uint64
		to   reg.VecVirtual
	}{{1, unit}, {math.Float64bits(math.Inf(1)), inf}} {
		low := XMM()
		MOVQ(U64(c.bits), bits)
		MOVQ(bits, low)
		VPBROADCASTQ(low, c.to)
	}
	for lo := 0; lo < 256; lo += s.Bytes {
		dp, k := GP64(), Arg("k")
		LEAQ(At(dist, lo), dp)
		best, next := s.Vec(), s.Vec()
		VMOVUPD(inf, best)
		VMOVUPD(inf, next)
		zero := s.zero(2)
		index, id := zero[0], zero[1]
		Loop(name("centre%d", lo), k, func() {
			v := s.Vec()
			VMOVUPD(At(dp, 0), v)
			if s.Wide() {
				less := K()
				VCMPPD(Imm(0x11), best, v, less)
				VMOVDQA64(id, less, index)
			} else {
				less := s.Vec()
				VCMPPD(Imm(0x11), best, v, less)
				VBLENDVPD(less, id, index, index)
			}
			if two {
				more := s.Vec()
				VMAXPD(best, v, more)
				VMINPD(next, more, next)
			}
			VMINPD(best, v, best)
			VPADDQ(unit, id, id)
			Add(256, dp)
		})
		VMOVUPD(best, At(least, lo))
		VMOVUPD(index, At(label, lo))
		if two {
			VMOVUPD(next, At(second, lo))
		}
	}
	End()
}

// sqdistRow: lanes are centres, 32 at a time, variable by variable.
func (s isa) sqdistRow() {
	Begin("sqdistRow"+s.Name, "func(dst, y, c *float64, k, stride, d int)", "is SqdistRow for k of the centres.")
	dst, y, c, k, d := Arg("dst"), Arg("y"), Arg("c"), Arg("k"), Arg("d")
	stride := Arg("stride")
	SHLQ(Imm(3), stride)
	SHRQ(Imm(5), k)
	Loop("block", k, func() {
		acc := s.zero(256 / s.Bytes)
		yp, cp, j := GP64(), GP64(), GP64()
		MOVQ(y, yp)
		MOVQ(c, cp)
		MOVQ(d, j)
		Loop("column", j, func() {
			f := s.Vec()
			VBROADCASTSD(At(yp, 0), f)
			for i := range acc {
				t := s.Vec()
				VSUBPD(At(cp, i*s.Bytes), f, t)
				VMULPD(t, t, t)
				VADDPD(t, acc[i], acc[i])
			}
			Add(8, yp)
			ADDQ(stride, cp)
		})
		for i := range acc {
			VMOVUPD(acc[i], At(dst, i*s.Bytes))
		}
		Add(256, dst)
		Add(256, c)
	})
	End()
}

// cells loads a vector of cells as float64.
func (s isa) cells(wide bool, m Mem) reg.VecVirtual {
	v := s.Vec()
	if wide {
		VMOVUPD(m, v)
	} else {
		VCVTPS2PD(m, v)
	}
	return v
}

// last loads one cell as float64.
func last(wide bool, m Mem) reg.VecVirtual {
	v := XMM()
	if wide {
		VMOVSD(m, v)
		return v
	}
	VXORPS(v, v, v)
	VCVTSS2SD(m, v, v)
	return v
}

// pairs: lanes are variables.
func (s isa) pairs(wide bool) {
	suffix, size, kind := cell(wide)
	Begin("pairs"+s.Name+suffix, "func(dst *float64, x "+kind+", origin, c *float64, pair *uint32, n, d int)", "is Pairs.")
	dst, x, origin, c := Arg("dst"), Arg("x"), Arg("origin"), Arg("c")
	pair, n, d := Arg("pair"), Arg("n"), Arg("d")
	lanes := s.Bytes / 8
	Loop("pair", n, func() {
		xp, cp, op, j := GP64(), GP64(), GP64(), GP64()
		MOVQ(origin, op)
		MOVL(At(pair, 0), xp.As32())
		MOVL(At(pair, 4), cp.As32())
		IMULQ(d, xp)
		IMULQ(d, cp)
		LEAQ(Mem{Base: x, Index: xp, Scale: uint8(size)}, xp)
		LEAQ(Mem{Base: c, Index: cp, Scale: 8}, cp)
		MOVQ(d, j)
		acc := s.zero(2)
		sum := XMM()
		VXORPD(sum, sum, sum)
		Whole("", j, U32(2*lanes), func() {
			for i := range acc {
				t := s.cells(wide, At(xp, i*lanes*size))
				VSUBPD(At(op, i*s.Bytes), t, t)
				VSUBPD(At(cp, i*s.Bytes), t, t)
				VFMADD231PD(t, t, acc[i])
			}
			Add(2*lanes*size, xp)
			Add(2*s.Bytes, cp)
			Add(2*s.Bytes, op)
		})
		JZ(LabelRef("sum"))
		Loop("one", j, func() {
			t := last(wide, At(xp, 0))
			VSUBSD(At(op, 0), t, t)
			VSUBSD(At(cp, 0), t, t)
			VFMADD231SD(t, t, sum)
			Add(size, xp)
			Add(8, cp)
			Add(8, op)
		})
		Label("sum")
		VADDPD(acc[1], acc[0], acc[0])
		half := YMM()
		if s.Wide() {
			VEXTRACTF64X4(Imm(1), acc[0], half)
			VADDPD(acc[0].AsY(), half, half)
		} else {
			VMOVAPD(acc[0], half)
		}
		hi := XMM()
		VEXTRACTF128(Imm(1), half, hi)
		VADDPD(half.AsX(), hi, hi)
		VADDSD(hi, sum, sum)
		VUNPCKHPD(hi, hi, hi)
		VADDSD(hi, sum, sum)
		VMOVSD(sum, At(dst, 0))
		Add(8, dst)
		Add(8, pair)
	})
	End()
}

// pairsAhead is how many pairs before its use a row is fetched.
const pairsAhead = 8

// dots: lanes are variables, in float32.
func (s isa) dots() {
	Begin("dots"+s.Name, "func(dst, x, c *float32, pair *uint32, n, d int)", "is Dots.")
	dst, x, c := Arg("dst"), Arg("x"), Arg("c")
	pair, n, d := Arg("pair"), Arg("n"), Arg("d")
	const unroll = 4
	lanes := s.Bytes / 4
	Loop("pair", n, func() {
		xp, cp, j := GP64(), GP64(), GP64()
		// Rows come in no order that the processor could foresee: fetch that of a later pair.
		ahead, far := GP64(), GP64()
		LEAQ(At(pair, 8*pairsAhead), far)
		MOVQ(pair, ahead)
		CMPQ(n, Imm(pairsAhead))
		CMOVQGT(far, ahead)
		MOVL(At(ahead, 0), ahead.As32())
		IMULQ(d, ahead)
		LEAQ(Mem{Base: x, Index: ahead, Scale: 4}, ahead)
		MOVL(At(pair, 0), xp.As32())
		MOVL(At(pair, 4), cp.As32())
		IMULQ(d, xp)
		IMULQ(d, cp)
		LEAQ(Mem{Base: x, Index: xp, Scale: 4}, xp)
		LEAQ(Mem{Base: c, Index: cp, Scale: 4}, cp)
		MOVQ(d, j)
		acc := s.zero(unroll)
		sum := XMM()
		VXORPS(sum, sum, sum)
		for _, step := range []int{unroll, 1} {
			Whole(name("%d", step), j, U32(step*lanes), func() {
				for i := range step {
					if i*s.Bytes%64 == 0 {
						PREFETCHT0(At(ahead, i*s.Bytes))
					}
					t := s.Vec()
					VMOVUPS(At(xp, i*s.Bytes), t)
					VFMADD231PS(At(cp, i*s.Bytes), t, acc[i])
				}
				Add(step*s.Bytes, xp)
				Add(step*s.Bytes, ahead)
				Add(step*s.Bytes, cp)
			})
		}
		JZ(LabelRef("sum"))
		Loop("one", j, func() {
			t := XMM()
			VMOVSS(At(xp, 0), t)
			VFMADD231SS(At(cp, 0), t, sum)
			Add(4, xp)
			Add(4, cp)
		})
		Label("sum")
		VADDPS(acc[1], acc[0], acc[0])
		VADDPS(acc[3], acc[2], acc[2])
		VADDPS(acc[2], acc[0], acc[0])
		half := YMM()
		if s.Wide() {
			VEXTRACTF64X4(Imm(1), acc[0], half)
			VADDPS(acc[0].AsY(), half, half)
		} else {
			VMOVAPS(acc[0], half)
		}
		hi := XMM()
		VEXTRACTF128(Imm(1), half, hi)
		VADDPS(half.AsX(), hi, hi)
		lo := XMM()
		VMOVHLPS(hi, hi, lo)
		VADDPS(lo, hi, hi)
		VMOVSHDUP(hi, lo)
		VADDSS(lo, hi, hi)
		VADDSS(hi, sum, sum)
		VMOVSS(sum, At(dst, 0))
		Add(4, dst)
		Add(8, pair)
	})
	End()
}

// scatter: lanes are variables; each sum is a pair of numbers (Knuth's two-sum).
func (s isa) scatter(wide bool) {
	suffix, size, kind := cell(wide)
	Begin("scatter"+s.Name+suffix, "func(hi, lo *float64, x "+kind+", origin *float64, move *uint64, n, d int)", "is Scatter.")
	hi, lo, x, origin := Arg("hi"), Arg("lo"), Arg("x"), Arg("origin")
	move, n, d := Arg("move"), Arg("n"), Arg("d")
	lanes := s.Bytes / 8
	Loop("move", n, func() {
		xp, hp, lp, op, j := GP64(), GP64(), GP64(), GP64(), GP64()
		// A row comes out of one cluster and goes into another: the next row is two moves on. The last fetches itself.
		ahead, far := GP64(), GP64()
		LEAQ(At(move, 32), far)
		MOVQ(move, ahead)
		CMPQ(n, Imm(2))
		CMOVQGT(far, ahead)
		MOVL(At(ahead, 0), ahead.As32())
		IMULQ(d, ahead)
		LEAQ(Mem{Base: x, Index: ahead, Scale: uint8(size)}, ahead)
		MOVL(At(move, 0), xp.As32())
		MOVL(At(move, 4), hp.As32())
		w := s.Vec()
		VBROADCASTSD(At(move, 8), w)
		IMULQ(d, xp)
		IMULQ(d, hp)
		LEAQ(Mem{Base: x, Index: xp, Scale: uint8(size)}, xp)
		LEAQ(Mem{Base: lo, Index: hp, Scale: 8}, lp)
		LEAQ(Mem{Base: hi, Index: hp, Scale: 8}, hp)
		MOVQ(origin, op)
		MOVQ(d, j)
		Whole("", j, U32(lanes), func() {
			PREFETCHT0(At(ahead, 0))
			p := s.cells(wide, At(xp, 0))
			VSUBPD(At(op, 0), p, p)
			VMULPD(w, p, p)
			a, sum, b := s.Vec(), s.Vec(), s.Vec()
			VMOVUPD(At(hp, 0), a)
			VADDPD(p, a, sum)
			VMOVUPD(sum, At(hp, 0))
			VSUBPD(a, sum, b) // what p became
			VSUBPD(b, p, p)   // what of p is lost
			VSUBPD(b, sum, b) // what a became
			VSUBPD(b, a, a)   // what of a is lost
			VADDPD(p, a, a)
			VADDPD(At(lp, 0), a, a)
			VMOVUPD(a, At(lp, 0))
			Add(lanes*size, xp)
			Add(lanes*size, ahead)
			for _, r := range []reg.GPVirtual{hp, lp, op} {
				Add(s.Bytes, r)
			}
		})
		JZ(LabelRef("next"))
		Loop("one", j, func() {
			p1 := last(wide, At(xp, 0))
			VSUBSD(At(op, 0), p1, p1)
			VMULSD(w.AsX(), p1, p1)
			a1, sum1, b1 := XMM(), XMM(), XMM()
			VMOVSD(At(hp, 0), a1)
			VADDSD(p1, a1, sum1)
			VMOVSD(sum1, At(hp, 0))
			VSUBSD(a1, sum1, b1)
			VSUBSD(b1, p1, p1)
			VSUBSD(b1, sum1, b1)
			VSUBSD(b1, a1, a1)
			VADDSD(p1, a1, a1)
			VADDSD(At(lp, 0), a1, a1)
			VMOVSD(a1, At(lp, 0))
			Add(size, xp)
			for _, r := range []reg.GPVirtual{hp, lp, op} {
				Add(8, r)
			}
		})
		Label("next")
		Add(16, move)
	})
	End()
}

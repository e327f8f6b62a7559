package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// zero returns n vectors of zeros.
func (s simd) zero(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = s.vec()
		if s.bytes == 64 {
			VPXORQ(v[i], v[i], v[i])
		} else {
			VXORPD(v[i], v[i], v[i])
		}
	}
	return v
}

// sqdist: lanes are rows. A product and a sum, or one fused: bits are those of the Go loop.
func (s simd) sqdist(fused bool) {
	title, doc := "sqdist", "SqdistAll."
	if fused {
		title, doc = "sqdistFused", "SqdistFused."
	}
	begin(title+s.name, "dst, x, c *float64, k, d int", doc)
	dst, x, c, k, d := load("dst"), load("x"), load("c"), load("k"), load("d")
	n := 256 / s.bytes
	loop("centre", k, func() {
		acc := s.zero(n)
		xp, j := GP64(), GP64()
		MOVQ(x, xp)
		MOVQ(d, j)
		loop("column", j, func() {
			f := s.vec()
			VBROADCASTSD(at(c, 0), f)
			for i := range acc {
				t := s.vec()
				VSUBPD(at(xp, i*s.bytes), f, t)
				if fused {
					VFMADD231PD(t, t, acc[i])
					continue
				}
				VMULPD(t, t, t)
				VADDPD(t, acc[i], acc[i])
			}
			add(256, xp)
			add(8, c)
		})
		for i := range acc {
			VMOVUPD(acc[i], at(dst, i*s.bytes))
		}
		add(256, dst)
	})
	end()
}

// least: lanes are rows. Labels come as int64, the width of the lanes.
func (s simd) least(two bool) {
	title, args, doc := "argmin", "least *float64, label *int64, dist *float64, k int", "Argmin."
	if two {
		title, args, doc = "twoLeast", "least, second *float64, label *int64, dist *float64, k int", "TwoLeast."
	}
	begin(title+s.name, args, doc)
	least, label, dist := load("least"), load("label"), load("dist")
	var second reg.Register
	if two {
		second = load("second")
	}
	bits := GP64()
	unit, inf := s.vec(), s.vec()
	for _, c := range []struct {
		bits uint64
		to   reg.VecVirtual
	}{{1, unit}, {math.Float64bits(math.Inf(1)), inf}} {
		low := XMM()
		MOVQ(U64(c.bits), bits)
		MOVQ(bits, low)
		VPBROADCASTQ(low, c.to)
	}
	for lo := 0; lo < 256; lo += s.bytes {
		dp, k := GP64(), load("k")
		LEAQ(at(dist, lo), dp)
		best, next := s.vec(), s.vec()
		VMOVUPD(inf, best)
		VMOVUPD(inf, next)
		zero := s.zero(2)
		index, id := zero[0], zero[1]
		loop(name("centre%d", lo), k, func() {
			v := s.vec()
			VMOVUPD(at(dp, 0), v)
			if s.bytes == 64 {
				less := K()
				VCMPPD(Imm(0x11), best, v, less)
				VMOVDQA64(id, less, index)
			} else {
				less := s.vec()
				VCMPPD(Imm(0x11), best, v, less)
				VBLENDVPD(less, id, index, index)
			}
			if two {
				more := s.vec()
				VMAXPD(best, v, more)
				VMINPD(next, more, next)
			}
			VMINPD(best, v, best)
			VPADDQ(unit, id, id)
			add(256, dp)
		})
		VMOVUPD(best, at(least, lo))
		VMOVUPD(index, at(label, lo))
		if two {
			VMOVUPD(next, at(second, lo))
		}
	}
	end()
}

// sqdistRow: lanes are centres, 32 at a time, variable by variable.
func (s simd) sqdistRow() {
	begin("sqdistRow"+s.name, "dst, y, c *float64, k, stride, d int", "SqdistRow for k of the centres.")
	dst, y, c, k, d := load("dst"), load("y"), load("c"), load("k"), load("d")
	stride := load("stride")
	SHLQ(Imm(3), stride)
	SHRQ(Imm(5), k)
	loop("block", k, func() {
		acc := s.zero(256 / s.bytes)
		yp, cp, j := GP64(), GP64(), GP64()
		MOVQ(y, yp)
		MOVQ(c, cp)
		MOVQ(d, j)
		loop("column", j, func() {
			f := s.vec()
			VBROADCASTSD(at(yp, 0), f)
			for i := range acc {
				t := s.vec()
				VSUBPD(at(cp, i*s.bytes), f, t)
				VMULPD(t, t, t)
				VADDPD(t, acc[i], acc[i])
			}
			add(8, yp)
			ADDQ(stride, cp)
		})
		for i := range acc {
			VMOVUPD(acc[i], at(dst, i*s.bytes))
		}
		add(256, dst)
		add(256, c)
	})
	end()
}

// cells loads a vector of cells as float64.
func (s simd) cells(wide bool, m Mem) reg.VecVirtual {
	v := s.vec()
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
func (s simd) pairs(wide bool) {
	suffix, size, kind := cell(wide)
	begin("pairs"+s.name+suffix, "dst *float64, x "+kind+", origin, c *float64, pair *uint32, n, d int", "Pairs.")
	dst, x, origin, c := load("dst"), load("x"), load("origin"), load("c")
	pair, n, d := load("pair"), load("n"), load("d")
	lanes := s.bytes / 8
	loop("pair", n, func() {
		xp, cp, op, j := GP64(), GP64(), GP64(), GP64()
		MOVQ(origin, op)
		MOVL(at(pair, 0), xp.As32())
		MOVL(at(pair, 4), cp.As32())
		IMULQ(d, xp)
		IMULQ(d, cp)
		LEAQ(Mem{Base: x, Index: xp, Scale: uint8(size)}, xp)
		LEAQ(Mem{Base: c, Index: cp, Scale: 8}, cp)
		MOVQ(d, j)
		acc := s.zero(2)
		sum := XMM()
		VXORPD(sum, sum, sum)
		SUBQ(U32(2*lanes), j)
		JL(LabelRef("short"))
		Label("long")
		for i := range acc {
			t := s.cells(wide, at(xp, i*lanes*size))
			VSUBPD(at(op, i*s.bytes), t, t)
			VSUBPD(at(cp, i*s.bytes), t, t)
			VFMADD231PD(t, t, acc[i])
		}
		add(2*lanes*size, xp)
		add(2*s.bytes, cp)
		add(2*s.bytes, op)
		SUBQ(U32(2*lanes), j)
		JGE(LabelRef("long"))
		Label("short")
		add(2*lanes, j)
		JZ(LabelRef("sum"))
		Label("one")
		t := last(wide, at(xp, 0))
		VSUBSD(at(op, 0), t, t)
		VSUBSD(at(cp, 0), t, t)
		VFMADD231SD(t, t, sum)
		add(size, xp)
		add(8, cp)
		add(8, op)
		DECQ(j)
		JNZ(LabelRef("one"))
		Label("sum")
		VADDPD(acc[1], acc[0], acc[0])
		half := YMM()
		if s.bytes == 64 {
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
		VMOVSD(sum, at(dst, 0))
		add(8, dst)
		add(8, pair)
	})
	end()
}

// pairsAhead is how many pairs before its use a row is fetched.
const pairsAhead = 8

// dots: lanes are variables, in float32.
func (s simd) dots() {
	begin("dots"+s.name, "dst, x, c *float32, pair *uint32, n, d int", "Dots.")
	dst, x, c := load("dst"), load("x"), load("c")
	pair, n, d := load("pair"), load("n"), load("d")
	const unroll = 4
	lanes := s.bytes / 4
	loop("pair", n, func() {
		xp, cp, j := GP64(), GP64(), GP64()
		// Rows come in no order that the processor could foresee: fetch that of a later pair.
		ahead, far := GP64(), GP64()
		LEAQ(at(pair, 8*pairsAhead), far)
		MOVQ(pair, ahead)
		CMPQ(n, Imm(pairsAhead))
		CMOVQGT(far, ahead)
		MOVL(at(ahead, 0), ahead.As32())
		IMULQ(d, ahead)
		LEAQ(Mem{Base: x, Index: ahead, Scale: 4}, ahead)
		MOVL(at(pair, 0), xp.As32())
		MOVL(at(pair, 4), cp.As32())
		IMULQ(d, xp)
		IMULQ(d, cp)
		LEAQ(Mem{Base: x, Index: xp, Scale: 4}, xp)
		LEAQ(Mem{Base: c, Index: cp, Scale: 4}, cp)
		MOVQ(d, j)
		acc := s.zero(unroll)
		sum := XMM()
		VXORPS(sum, sum, sum)
		for _, step := range []int{unroll, 1} {
			long, short := name("long%d", step), name("short%d", step)
			SUBQ(U32(step*lanes), j)
			JL(LabelRef(short))
			Label(long)
			for i := range step {
				if i*s.bytes%64 == 0 {
					PREFETCHT0(at(ahead, i*s.bytes))
				}
				t := s.vec()
				VMOVUPS(at(xp, i*s.bytes), t)
				VFMADD231PS(at(cp, i*s.bytes), t, acc[i])
			}
			add(step*s.bytes, xp)
			add(step*s.bytes, ahead)
			add(step*s.bytes, cp)
			SUBQ(U32(step*lanes), j)
			JGE(LabelRef(long))
			Label(short)
			ADDQ(U32(step*lanes), j)
		}
		JZ(LabelRef("sum"))
		Label("one")
		t := XMM()
		VMOVSS(at(xp, 0), t)
		VFMADD231SS(at(cp, 0), t, sum)
		add(4, xp)
		add(4, cp)
		DECQ(j)
		JNZ(LabelRef("one"))
		Label("sum")
		VADDPS(acc[1], acc[0], acc[0])
		VADDPS(acc[3], acc[2], acc[2])
		VADDPS(acc[2], acc[0], acc[0])
		half := YMM()
		if s.bytes == 64 {
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
		VMOVSS(sum, at(dst, 0))
		add(4, dst)
		add(8, pair)
	})
	end()
}

// scatter: lanes are variables; each sum is a pair of numbers (Knuth's two-sum).
func (s simd) scatter(wide bool) {
	suffix, size, kind := cell(wide)
	begin("scatter"+s.name+suffix, "hi, lo *float64, x "+kind+", origin *float64, move *uint64, n, d int", "Scatter.")
	hi, lo, x, origin := load("hi"), load("lo"), load("x"), load("origin")
	move, n, d := load("move"), load("n"), load("d")
	lanes := s.bytes / 8
	loop("move", n, func() {
		xp, hp, lp, op, j := GP64(), GP64(), GP64(), GP64(), GP64()
		// A row comes out of one cluster and goes into another: the next row is two moves on. The last fetches itself.
		ahead, far := GP64(), GP64()
		LEAQ(at(move, 32), far)
		MOVQ(move, ahead)
		CMPQ(n, Imm(2))
		CMOVQGT(far, ahead)
		MOVL(at(ahead, 0), ahead.As32())
		IMULQ(d, ahead)
		LEAQ(Mem{Base: x, Index: ahead, Scale: uint8(size)}, ahead)
		MOVL(at(move, 0), xp.As32())
		MOVL(at(move, 4), hp.As32())
		w := s.vec()
		VBROADCASTSD(at(move, 8), w)
		IMULQ(d, xp)
		IMULQ(d, hp)
		LEAQ(Mem{Base: x, Index: xp, Scale: uint8(size)}, xp)
		LEAQ(Mem{Base: lo, Index: hp, Scale: 8}, lp)
		LEAQ(Mem{Base: hi, Index: hp, Scale: 8}, hp)
		MOVQ(origin, op)
		MOVQ(d, j)
		SUBQ(U32(lanes), j)
		JL(LabelRef("short"))
		Label("long")
		PREFETCHT0(at(ahead, 0))
		p := s.cells(wide, at(xp, 0))
		VSUBPD(at(op, 0), p, p)
		VMULPD(w, p, p)
		a, sum, b := s.vec(), s.vec(), s.vec()
		VMOVUPD(at(hp, 0), a)
		VADDPD(p, a, sum)
		VMOVUPD(sum, at(hp, 0))
		VSUBPD(a, sum, b) // what p became
		VSUBPD(b, p, p)   // what of p is lost
		VSUBPD(b, sum, b) // what a became
		VSUBPD(b, a, a)   // what of a is lost
		VADDPD(p, a, a)
		VADDPD(at(lp, 0), a, a)
		VMOVUPD(a, at(lp, 0))
		add(lanes*size, xp)
		add(lanes*size, ahead)
		for _, r := range []reg.GPVirtual{hp, lp, op} {
			add(s.bytes, r)
		}
		SUBQ(U32(lanes), j)
		JGE(LabelRef("long"))
		Label("short")
		add(lanes, j)
		JZ(LabelRef("next"))
		Label("one")
		p1 := last(wide, at(xp, 0))
		VSUBSD(at(op, 0), p1, p1)
		VMULSD(w.AsX(), p1, p1)
		a1, sum1, b1 := XMM(), XMM(), XMM()
		VMOVSD(at(hp, 0), a1)
		VADDSD(p1, a1, sum1)
		VMOVSD(sum1, at(hp, 0))
		VSUBSD(a1, sum1, b1)
		VSUBSD(b1, p1, p1)
		VSUBSD(b1, sum1, b1)
		VSUBSD(b1, a1, a1)
		VADDSD(p1, a1, a1)
		VADDSD(at(lp, 0), a1, a1)
		VMOVSD(a1, at(lp, 0))
		add(size, xp)
		for _, r := range []reg.GPVirtual{hp, lp, op} {
			add(8, r)
		}
		DECQ(j)
		JNZ(LabelRef("one"))
		Label("next")
		add(16, move)
	})
	end()
}

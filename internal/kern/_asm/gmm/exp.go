package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

var constants = map[string]Mem{}

// bits returns eight copies of a 64 bit pattern in memory.
func bits(v uint64) Mem { return words(fmt.Sprintf("c%016x", v), v, v, v, v, v, v, v, v) }

func words(name string, v ...uint64) Mem {
	if m, ok := constants[name]; ok {
		return m
	}
	m := GLOBL("gmm_"+name, RODATA|NOPTR)
	for i, w := range v {
		DATA(8*i, U64(w))
	}
	constants[name] = m
	return m
}

func number(v float64) Mem { return bits(math.Float64bits(v)) }

// lanes returns four words of ones and then four of zeros, of size bytes each: n ones begin 4-n words in.
func lanes(size int) Mem {
	const one = ^uint64(0)
	if size == 4 {
		return words("lanes32", one, one, 0, 0)
	}
	return words("lanes64", one, one, one, one, 0, 0, 0, 0)
}

// expTable holds 2^(j/16).
var expTable = []uint64{
	0x3ff0000000000000, 0x3ff0b5586cf9890f, 0x3ff172b83c7d517b, 0x3ff2387a6e756238, 0x3ff306fe0a31b715, 0x3ff3dea64c123422,
	0x3ff4bfdad5362a27, 0x3ff5ab07dd485429, 0x3ff6a09e667f3bcd, 0x3ff7a11473eb0187, 0x3ff8ace5422aa0db, 0x3ff9c49182a3f090,
	0x3ffae89f995ad3ad, 0x3ffc199bdd85529c, 0x3ffd5818dcfba487, 0x3ffea4afa2a490da,
}

// Polynomials for (2^r - 1) / r, interpolated at the Chebyshev nodes of |r| <= 1/32 and 1/2.
var (
	expShort = []float64{0.6931471805599457, 0.24022650695910075, 0.0555041086566393, 0.009618129106919537, 0.0013333781576784268, 0.00015403723980749256}
	expLong  = []float64{0.6931471805599453, 0.24022650695910097, 0.0555041086648216, 0.009618129107606888, 0.0013333558146416936, 0.0001540353044173605, 1.525273382983612e-05, 1.321544258792169e-06, 1.0178062445845774e-07, 7.072585949269223e-09, 4.4549605981865186e-10}
)

const (
	ln2hi = 6.93147180369123816490e-01
	ln2lo = 1.90821492927058770002e-10
	least = -708 / math.Ln2 // of AVX-512: here and below, 2^y is 0
)

// exp is the code for 2^y, y <= 0. Constants stay in registers with AVX-512: as memory operands of 64 bytes they took a
// quarter longer. With AVX2 there are too few.
type exp struct {
	isa
	magic, least Op
	poly         []Op
	table        [2]reg.VecVirtual
}

func (s isa) newExp() *exp {
	e := &exp{isa: s}
	magic, poly, least := 3.0*(1<<47), expShort, float64(least) // 1.5 * 2^48, 2^52: adding it rounds to 1/16, 1, and leaves their number in the low bits
	if !s.Wide() {
		magic, poly, least = 3<<51, expLong, -1023 // whose power of 2 is written as 0
	}
	keep := func(v float64) Op {
		if !s.Wide() {
			return number(v)
		}
		r := s.Vec()
		VMOVUPD(number(v), r)
		return r
	}
	e.magic, e.least = keep(magic), keep(least)
	for _, c := range poly {
		e.poly = append(e.poly, keep(c))
	}
	if s.Wide() {
		e.table = [2]reg.VecVirtual{s.Vec(), s.Vec()}
		VMOVUPD(words("exp0", expTable[:8]...), e.table[0])
		VMOVUPD(words("exp1", expTable[8:]...), e.table[1])
	}
	return e
}

// of returns 2^y for each vector of y, and NaN for NaN. With AVX-512 what is at or below least is 0, so that nothing is left that is no
// normal number, which would be slow; above has the masks of the rest. AVX2 raises y to -1023, so that 0 times -Inf cannot happen.
// The vectors go step by step side by side: one after the other, instructions that wait would fill the schedulers.
//
// Powers of e, within a unit however far y is below 0, take a quarter more operations. Here y = t log2(e) is rounded, so that e^t is
// within some 2|t| units; t is a difference of scores, and their rounding is no less.
func (e *exp) of(y ...reg.VecVirtual) (q []reg.VecVirtual, above []reg.OpmaskVirtual) {
	z, r := e.Vecs(len(y)), e.Vecs(len(y))
	q = e.Vecs(len(y))
	each := func(do func(i int)) {
		for i := range y {
			do(i)
		}
	}
	if e.Wide() {
		above = make([]reg.OpmaskVirtual, len(y))
		each(func(i int) {
			above[i] = K()
			VCMPPD(Imm(6), e.least, y[i], above[i]) // not less or equal
		})
	} else {
		each(func(i int) { VMOVUPD(e.least, r[i]) })
		each(func(i int) { VMAXPD(y[i], r[i], y[i]) }) // a NaN stays
	}
	each(func(i int) { VADDPD(e.magic, y[i], z[i]) })
	if e.Wide() {
		n := e.Vecs(len(y))
		each(func(i int) { VSUBPD(e.magic, z[i], n[i]) })
		each(func(i int) { VSUBPD(n[i], y[i], r[i]) })
		each(func(i int) { VPERMI2PD(e.table[1], e.table[0], z[i]) })
		each(func(i int) { VMOVUPD(e.poly[5], q[i]) })
		for c := 4; c >= 0; c-- {
			each(func(i int) { VFMADD213PD(e.poly[c], r[i], q[i]) })
		}
		each(func(i int) { VMULPD(z[i], r[i], r[i]) })
		each(func(i int) { VFMADD213PD(z[i], r[i], q[i]) })
		each(func(i int) { VSCALEFPD_Z(n[i], q[i], above[i], q[i]) })
		return q, above
	}
	each(func(i int) { VSUBPD(e.magic, z[i], r[i]) })
	each(func(i int) { VSUBPD(r[i], y[i], r[i]) })
	u, o := e.Vecs(len(y)), e.Vecs(len(y)) // even and odd powers side by side, a shorter chain
	each(func(i int) { VMULPD(r[i], r[i], u[i]) })
	last := len(e.poly) - 1
	each(func(i int) { VMOVUPD(e.poly[last], q[i]) })
	each(func(i int) { VMOVUPD(e.poly[last-1], o[i]) })
	for c := last - 2; c >= 0; c -= 2 {
		each(func(i int) { VFMADD213PD(e.poly[c], u[i], q[i]) })
		if c > 0 {
			each(func(i int) { VFMADD213PD(e.poly[c-1], u[i], o[i]) })
		}
	}
	each(func(i int) { VFMADD231PD(o[i], r[i], q[i]) })
	each(func(i int) { VPSLLQ(Imm(52), z[i], z[i]) })
	each(func(i int) { VPADDQ(number(1), z[i], z[i]) })
	each(func(i int) { VMULPD(z[i], r[i], r[i]) })
	each(func(i int) { VFMADD213PD(z[i], r[i], q[i]) })
	return q, nil
}

// Coefficients of log(1+f) = f - f^2/2 + s (f^2/2 + R(s^2)), s = f/(2+f) (FreeBSD's e_log.c, as package math).
var logPoly = []float64{6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
	1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01}

// log returns log z for z >= 1, NaN where z is not finite. z stays as it is.
func (s isa) log(z reg.VecVirtual) reg.VecVirtual {
	k, f, a, q := s.Vec(), s.Vec(), s.Vec(), s.Vec()
	VMOVUPD(bits(0x3fe6a09e667f3bcd), a) // sqrt(1/2)
	VPSUBQ(a, z, k)
	VPSRLQ(Imm(52), k, k)
	VPSLLQ(Imm(52), k, f)
	VPSUBQ(f, z, f)
	VPADDQ(number(1<<52), k, k)
	VSUBPD(number(1<<52), k, k)
	VSUBPD(number(1), f, f)
	VADDPD(number(2), f, a)
	VDIVPD(a, f, a) // s
	s2 := s.Vec()
	VMULPD(a, a, s2)
	VMOVUPD(number(logPoly[6]), q)
	for i := 5; i >= 0; i-- {
		VFMADD213PD(number(logPoly[i]), s2, q)
	}
	VMULPD(s2, q, q) // R
	h := s.Vec()
	VMULPD(f, f, h)
	VMULPD(number(0.5), h, h)
	VADDPD(h, q, q)
	VMULPD(a, q, q)
	VFMADD231PD(number(ln2lo), k, q)
	VSUBPD(q, h, h)
	VSUBPD(f, h, h)
	VMULPD(number(ln2hi), k, k)
	VSUBPD(h, k, k)
	VSUBPD(z, z, a) // NaN where z is not finite
	VADDPD(a, k, k)
	return k
}

// ways is how many vectors of rows soften takes side by side, as registers allow.
const ways = 2

// top stores the largest of the k scores of each row in dst.
func (s isa) top(src, dst, k reg.GPVirtual) {
	sp, n := GP64(), GP64()
	m := s.Vecs(Rows / s.Lanes())
	MOVQ(src, sp)
	MOVQ(k, n)
	for v, r := range m {
		VMOVUPD(At(sp, v*s.Bytes), r)
	}
	Loop("top", n, func() {
		for v, r := range m {
			VMAXPD(At(sp, v*s.Bytes), r, r)
		}
		ADDQ(Step(Line), sp)
	})
	for v, r := range m {
		VMOVUPD(r, At(dst, v*s.Bytes))
	}
}

// resolve returns where a parameter is.
func resolve(name string) Mem {
	c, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return c.Addr
}

func (s isa) soften() {
	Begin("soften"+s.Name, "func(s, lse, ent, inv *float64, k int, beta, inverse float64)", "is Soften, inverse being 1/beta; k > 0.")
	src, lse, ent, inv, k := Arg("s"), Arg("lse"), Arg("ent"), Arg("inv"), Arg("k")
	beta, inverse := resolve("beta"), resolve("inverse")
	s.top(src, lse, k)
	e := s.newExp()
	part, n, sp := GP64(), GP64(), GP64()
	MOVQ(U64(uint64(Rows/(ways*s.Lanes()))), part)
	Loop("part", part, func() {
		sum, h := s.Vecs(ways), s.Vecs(ways)
		m := make([]Op, ways) // AVX2 has too few registers to keep the largest scores there
		for v := range m {
			m[v] = At(lse, v*s.Bytes)
			if s.Wide() {
				r := s.Vec()
				VMOVUPD(m[v], r)
				m[v] = r
			}
		}
		Zero(sum...)
		Zero(h...)
		MOVQ(src, sp)
		MOVQ(k, n)
		b := s.Vec()
		if s.Wide() {
			VBROADCASTSD(beta, b)
		}
		Loop("exp", n, func() {
			t := s.Vecs(ways)
			for v, r := range t {
				VMOVUPD(At(sp, v*s.Bytes), r)
			}
			if !s.Wide() {
				VBROADCASTSD(beta, b)
			}
			for v, r := range t {
				VSUBPD(m[v], r, r)
			}
			for _, r := range t {
				VMULPD(b, r, r)
			}
			x, above := e.of(t...)
			for v, r := range x {
				VMOVUPD(r, At(sp, v*s.Bytes))
				VADDPD(r, sum[v], sum[v])
				if s.Wide() {
					VFMADD231PD(r, t[v], above[v], h[v])
				} else {
					VFMADD231PD(r, t[v], h[v])
				}
			}
			ADDQ(Step(Line), sp)
		})
		VBROADCASTSD(inverse, b)
		for v := range ways {
			i, l, z := s.Vec(), s.log(sum[v]), s.Vec()
			VMOVUPD(number(1), i)
			VDIVPD(sum[v], i, i)
			VMOVUPD(i, At(inv, v*s.Bytes))
			VMULPD(number(math.Ln2), h[v], h[v])
			VFNMADD213PD(l, i, h[v])
			Zero(z)
			VMAXPD(z, h[v], h[v])
			VMOVUPD(h[v], At(ent, v*s.Bytes))
			VFMADD213PD(m[v], b, l)
			VMOVUPD(l, At(lse, v*s.Bytes))
		}
		for _, p := range []reg.GPVirtual{src, lse, ent, inv} {
			ADDQ(Step(ways*s.Bytes), p)
		}
	})
	End()
}

func (s isa) logSumExp() {
	Begin("logSumExp"+s.Name, "func(dst, s *float64, k int)", "is LogSumExp; k > 0.")
	dst, src, k := Arg("dst"), Arg("s"), Arg("k")
	s.top(src, dst, k)
	e := s.newExp()
	part, n, sp := GP64(), GP64(), GP64()
	MOVQ(U64(uint64(Rows/(ways*s.Lanes()))), part)
	Loop("part", part, func() {
		m, sum := s.Vecs(ways), s.Vecs(ways)
		for v, r := range m {
			VMOVUPD(At(dst, v*s.Bytes), r)
		}
		Zero(sum...)
		MOVQ(src, sp)
		MOVQ(k, n)
		Loop("exp", n, func() {
			t := s.Vecs(ways)
			for v, r := range t {
				VMOVUPD(At(sp, v*s.Bytes), r)
			}
			for v, r := range t {
				VSUBPD(m[v], r, r)
			}
			for _, r := range t {
				VMULPD(number(math.Log2E), r, r)
			}
			x, _ := e.of(t...)
			for v, r := range x {
				VADDPD(r, sum[v], sum[v])
			}
			ADDQ(Step(Line), sp)
		})
		for v := range ways {
			l := s.log(sum[v])
			VADDPD(m[v], l, l)
			VMOVUPD(l, At(dst, v*s.Bytes))
		}
		ADDQ(Step(ways*s.Bytes), src)
		ADDQ(Step(ways*s.Bytes), dst)
	})
	End()
}

// argmax compares four vectors of rows at a time; labels are counted in float64.
func (s isa) argmax() {
	Begin("argmax"+s.Name, "func(best *float64, label *int32, s *float64, k int)", "is Argmax; k > 0.")
	best, label, src, k := Arg("best"), Arg("label"), Arg("s"), Arg("k")
	one, c := s.Vec(), s.Vec()
	VMOVUPD(number(1), one)
	part, n, sp := GP64(), GP64(), GP64()
	const ways = 4
	MOVQ(U64(uint64(Rows/(ways*s.Lanes()))), part)
	Loop("part", part, func() {
		top, at0 := s.Vecs(ways), s.Vecs(ways)
		MOVQ(src, sp)
		MOVQ(k, n)
		for v, r := range top {
			VMOVUPD(At(sp, v*s.Bytes), r)
		}
		Zero(at0...)
		Zero(c)
		Loop("component", n, func() {
			for v, r := range top {
				x := s.Vec()
				VMOVUPD(At(sp, v*s.Bytes), x)
				if s.Wide() {
					above := K()
					VCMPPD(Imm(30), r, x, above) // x > r
					VMOVAPD(x, above, r)
					VMOVAPD(c, above, at0[v])
				} else {
					above := s.Vec()
					VCMPPD(Imm(30), r, x, above)
					VBLENDVPD(above, x, r, r)
					VBLENDVPD(above, c, at0[v], at0[v])
				}
			}
			VADDPD(one, c, c)
			ADDQ(Step(Line), sp)
		})
		for v, r := range top {
			VMOVUPD(r, At(best, v*s.Bytes))
			if s.Wide() {
				i := YMM()
				VCVTPD2DQ(at0[v], i)
				VMOVDQU(i, At(label, v*s.Bytes/2))
			} else {
				i := XMM()
				VCVTPD2DQY(at0[v], i)
				VMOVDQU(i, At(label, v*s.Bytes/2))
			}
		}
		ADDQ(Step(ways*s.Bytes), src)
		ADDQ(Step(ways*s.Bytes), best)
		ADDQ(Step(ways*s.Bytes/2), label)
	})
	End()
}

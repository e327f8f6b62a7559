// Command quantise writes the kernels that turn rows into integers. Four numbers at a time, whatever the level: sums are then those of the
// plain loops, and memory is what binds.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

func main() {
	ConstraintExpr("!purego")
	deviations(false)
	deviations(true)
	quantise(true)
	quantise(false)
	Generate()
}

// filled returns a vector of a 64-bit number.
func filled(bits uint64) reg.VecVirtual {
	r, lo, v := GP64(), XMM(), YMM()
	MOVQ(Imm(bits), r)
	MOVQ(r, lo)
	VBROADCASTSD(lo, v)
	return v
}

// square adds the square of v to sum.
func square(v, sum reg.VecVirtual) {
	q := YMM()
	VMULPD(v, v, q)
	VADDPD(q, sum, sum)
}

// deviations: n is a positive multiple of 4.
func deviations(wide bool) {
	name, size, kind := "deviations256f32", 4, "*float32"
	if wide {
		name, size, kind = "deviations256f64", 8, "*float64"
	}
	Begin(name, "func(sums, z *float64, x "+kind+", origin, mu *float64, n int)", "is Deviations of groups of four.")
	sums, z, x, origin, mu, n := Arg("sums"), Arg("z"), Arg("x"), Arg("origin"), Arg("mu"), Arg("n")
	before, after, top, sizes := YMM(), YMM(), YMM(), filled(1<<63-1)
	Zero(before, after, top)
	SHRQ(Imm(2), n)
	Loop("four", n, func() {
		y, most, above := YMM(), YMM(), YMM()
		if wide {
			VMOVUPD(At(x, 0), y)
		} else {
			VCVTPS2PD(At(x, 0), y)
		}
		VSUBPD(At(origin, 0), y, y)
		square(y, before)
		VSUBPD(At(mu, 0), y, y)
		VMOVUPD(y, At(z, 0))
		square(y, after)
		VANDPD(sizes, y, most)
		VPCMPGTQ(top, most, above) // most > top
		VBLENDVPD(above, most, top, top)
		Add(4*size, x)
		Add(32, z)
		Add(32, origin)
		Add(32, mu)
	})
	for i, v := range []reg.VecVirtual{before, after, top} {
		VMOVUPD(v, At(sums, 32*i))
	}
	End()
}

// quantise: n is a positive multiple of 4.
func quantise(words bool) {
	name, signature := "quantiseBytes256", "func(sums *float64, q *uint8, z *float64, s, inv float64, n, zero int)"
	if words {
		name, signature = "quantiseWords256", "func(sums *float64, q *uint8, z *float64, s, inv float64, n int)"
	}
	Begin(name, signature, "is Quantise of groups of four.")
	sums, q, z, n := Arg("sums"), Arg("q"), Arg("z"), Arg("n")
	s, inv, magic, miss, kept, offset := YMM(), YMM(), filled(0x4338000000000000), YMM(), YMM(), XMM()
	spread("s", s)
	spread("inv", inv)
	if !words {
		zero := Arg("zero")
		MOVQ(zero, offset)
		VPBROADCASTD(offset, offset)
	}
	Zero(miss, kept)
	SHRQ(Imm(2), n)
	Loop("four", n, func() {
		v, u, t, i := YMM(), YMM(), YMM(), XMM()
		VMOVUPD(At(z, 0), v)
		VMULPD(inv, v, u)
		VADDPD(magic, u, u)
		VSUBPD(magic, u, u)
		square(u, kept)
		VMULPD(s, u, t)
		VSUBPD(t, v, t)
		square(t, miss)
		VCVTPD2DQY(u, i)
		if words {
			VPACKSSDW(i, i, i)
			VMOVD(i, At(q, 0))
			VPEXTRD(Imm(1), i, At(q, 4*Rows))
			Add(8*Rows, q)
		} else {
			VPADDD(offset, i, i)
			VPACKUSDW(i, i, i)
			VPACKUSWB(i, i, i)
			VMOVD(i, At(q, 0))
			Add(4*Rows, q)
		}
		Add(32, z)
	})
	VMOVUPD(miss, At(sums, 0))
	VMOVUPD(kept, At(sums, 32))
	End()
}

// spread fills a vector with an argument.
func spread(arg string, v reg.VecVirtual) {
	lo := XMM()
	Load(Param(arg), lo)
	VBROADCASTSD(lo, v)
}

package main

import (
	. "github.com/mmcloughlin/avo/build"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// narrow: lanes are rows.
func narrow() {
	Begin("narrow256", "func(dst *float32, length, x, mu *float64, d int)", "is Narrow.")
	dst, x, mu, d := Arg("dst"), Arg("x"), Arg("mu"), Arg("d")
	square := vectors(Line/32, 0)
	Loop("column", d, func() {
		m := YMM()
		VBROADCASTSD(At(mu, 0), m)
		for i, q := range square {
			v, half := YMM(), XMM()
			VMOVUPD(At(x, 32*i), v)
			VSUBPD(m, v, v)
			VCVTPD2PSY(v, half)
			VMOVUPS(half, At(dst, 16*i))
			VMULPD(v, v, v)
			VADDPD(v, q, q)
		}
		Add(Line, x)
		Add(Line/2, dst)
		Add(8, mu)
	})
	for _, q := range square {
		VSQRTPD(q, q)
	}
	store("length", square)
	End()
}

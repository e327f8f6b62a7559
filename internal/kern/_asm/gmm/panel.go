package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	. "github.com/latent-go/latent/internal/kern/_asm/simd"
)

// products: t[p] = x_j x_l for l <= j, j in [from, to).
func (s isa) products() {
	Begin("products"+s.Name, "func(t, x *float64, from, to int)", "is Products; from < to.")
	t, x, j, to := Arg("t"), Arg("x"), Arg("from"), Arg("to")
	xj, n, xl := GP64(), GP64(), GP64()
	MOVQ(j, xj)
	SHLQ(Imm(8), xj)
	ADDQ(x, xj)
	v, tmp := s.Vecs(Rows/s.Lanes()), s.Vec()
	Label("rows")
	for i, r := range v {
		VMOVUPD(At(xj, i*s.Bytes), r)
	}
	MOVQ(x, xl)
	LEAQ(At(j, 1), n)
	Loop("columns", n, func() {
		for i, r := range v {
			VMULPD(At(xl, i*s.Bytes), r, tmp)
			VMOVUPD(tmp, At(t, i*s.Bytes))
		}
		ADDQ(Step(Line), xl)
		ADDQ(Step(Line), t)
	})
	ADDQ(Step(Line), xj)
	INCQ(j)
	CMPQ(j, to)
	JLT(LabelRef("rows"))
	End()
}

func (s isa) squares() {
	Begin("squares"+s.Name, "func(t, x *float64, n int)", "sets t to the squares of n rows of a panel; n > 0.")
	t, x, n := Arg("t"), Arg("x"), Arg("n")
	v := s.Vec()
	Loop("loop", n, func() {
		for i := range Rows / s.Lanes() {
			VMOVUPD(At(x, i*s.Bytes), v)
			VMULPD(v, v, v)
			VMOVUPD(v, At(t, i*s.Bytes))
		}
		ADDQ(Step(Line), x)
		ADDQ(Step(Line), t)
	})
	End()
}

func (s isa) present() {
	Begin("present"+s.Name, "func(there, filled, x *float64, n int) bool", "is Present; n > 0.")
	there, filled, x, n := Arg("there"), Arg("filled"), Arg("x"), Arg("n")
	one, v, t, all := s.Vec(), s.Vec(), s.Vec(), s.Vec()
	const ordered = 7 // of VCMPPD: neither is NaN
	VMOVUPD(number(1), one)
	var every reg.OpmaskVirtual
	if s.Wide() {
		every = K()
		KXNORW(every, every, every)
	} else {
		VCMPPD(Imm(ordered), one, one, all)
	}
	Loop("loop", n, func() {
		for i := range Rows / s.Lanes() {
			VMOVUPD(At(x, i*s.Bytes), v)
			if s.Wide() {
				k := K()
				VCMPPD(Imm(ordered), v, v, k)
				KANDW(every, k, every)
				VMOVAPD_Z(one, k, t)
				VMOVAPD_Z(v, k, v)
			} else {
				VCMPPD(Imm(ordered), v, v, t)
				VANDPD(t, all, all)
				VANDPD(t, v, v)
				VANDPD(t, one, t)
			}
			VMOVUPD(t, At(there, i*s.Bytes))
			VMOVUPD(v, At(filled, i*s.Bytes))
		}
		for _, p := range []reg.Register{x, there, filled} {
			ADDQ(Step(Line), p)
		}
	})
	some, whole := GP32(), uint64(1)<<s.Lanes()-1
	if s.Wide() {
		KMOVW(every, some)
		ANDL(U32(whole), some)
	} else {
		VMOVMSKPD(all, some)
	}
	CMPL(some, Imm(whole))
	missing := GP8()
	SETNE(missing)
	Store(missing, ReturnIndex(0))
	End()
}

func (s isa) centre() {
	Begin("centre"+s.Name, "func(y, x, m *float64, d int)", "is Centre; d > 0.")
	y, x, m, d := Arg("y"), Arg("x"), Arg("m"), Arg("d")
	v, c := s.Vec(), s.Vec()
	Loop("loop", d, func() {
		VBROADCASTSD(At(m, 0), c)
		for i := range Rows / s.Lanes() {
			VMOVUPD(At(x, i*s.Bytes), v)
			VSUBPD(c, v, v)
			VMOVUPD(v, At(y, i*s.Bytes))
		}
		ADDQ(Step(Line), x)
		ADDQ(Step(Line), y)
		ADDQ(Step(8), m)
	})
	End()
}

func (s isa) norms() {
	Begin("norms"+s.Name, "func(dst, x *float64, n int)", "is Norms; n > 0.")
	dst, x, n := Arg("dst"), Arg("x"), Arg("n")
	acc, v := s.Vecs(Rows/s.Lanes()), s.Vec()
	Zero(acc...)
	Loop("loop", n, func() {
		for i, a := range acc {
			VMOVUPD(At(x, i*s.Bytes), v)
			VFMADD231PD(v, v, a)
		}
		ADDQ(Step(Line), x)
	})
	for i, a := range acc {
		VMOVUPD(a, At(dst, i*s.Bytes))
	}
	End()
}

// multiply keeps a tile of nv vectors of rows by q variables in registers.
func (s isa) multiply() {
	Begin("multiply"+s.Name, "func(y, x, w *float64, f, q int)", "sets q rows of y to the f rows of x times w, packed f by q; f > 0.")
	y, x, w, f, q := Arg("y"), Arg("x"), Arg("w"), Arg("f"), Arg("q")
	xp, wp, n, part := GP64(), GP64(), GP64(), GP64()
	MOVQ(U64(uint64(Rows/(s.nv*s.Lanes()))), part)
	Choose(q, Down(lowerRows), func(q int) {
		acc, v, b := s.Vecs(q*s.nv), s.Vecs(s.nv), s.Vec()
		tag := fmt.Sprintf("q%d", q)
		Loop(tag+"part", part, func() {
			Zero(acc...)
			MOVQ(x, xp)
			MOVQ(w, wp)
			MOVQ(f, n)
			Loop(tag+"depth", n, func() {
				for i, r := range v {
					VMOVUPD(At(xp, i*s.Bytes), r)
				}
				for j := range q {
					VBROADCASTSD(At(wp, 8*j), b)
					for i, r := range v {
						VFMADD231PD(r, b, acc[j*s.nv+i])
					}
				}
				ADDQ(Step(Line), xp)
				ADDQ(Step(8*q), wp)
			})
			for j := range q {
				for i := range v {
					VMOVUPD(acc[j*s.nv+i], At(y, j*Line+i*s.Bytes))
				}
			}
			ADDQ(Step(s.nv*s.Bytes), y)
			ADDQ(Step(s.nv*s.Bytes), x)
		})
	})
}

// accumulate keeps a tile of q features by nv vectors of components in registers over the rows of the panel.
func (s isa) accumulate() {
	for nv := 1; nv <= 4; nv++ {
		if !s.Wide() && nv != 2 {
			continue
		}
		most := min((s.regs-nv-1)/nv, 24/nv)
		if !s.Wide() {
			most = 6
		}
		if nv == 1 {
			most = 16
		}
		Begin(fmt.Sprintf("accumulate%d", nv)+s.Name, "func(sum, t, r *float64, groups, q, kp int)",
			fmt.Sprintf("adds to groups of q rows of sum, each kp wide, the first %d columns of t times r. groups > 0.", nv*s.Lanes()))
		sum, t, r, groups, q, kp := Arg("sum"), Arg("t"), Arg("r"), Arg("groups"), Arg("q"), Arg("kp")
		SHLQ(Imm(3), kp)
		rp, n := GP64(), GP64()
		Choose(q, Down(most), func(q int) {
			acc, x, b := s.Vecs(q*nv), s.Vecs(nv), s.Vec()
			tag := fmt.Sprintf("q%d", q)
			Loop(tag+"group", groups, func() {
				Zero(acc...)
				MOVQ(r, rp)
				MOVQ(U64(Rows), n)
				Loop(tag+"depth", n, func() {
					for v := range x {
						VMOVUPD(At(rp, v*s.Bytes), x[v])
					}
					for f := range q {
						VBROADCASTSD(At(t, Line*f), b)
						for v := range x {
							VFMADD231PD(x[v], b, acc[f*nv+v])
						}
					}
					ADDQ(kp, rp)
					ADDQ(Step(8), t)
				})
				if q > 1 {
					ADDQ(Step(Line*(q-1)), t)
				}
				for f := range q {
					for v := range x {
						VADDPD(At(sum, v*s.Bytes), acc[f*nv+v], acc[f*nv+v])
						VMOVUPD(acc[f*nv+v], At(sum, v*s.Bytes))
					}
					ADDQ(kp, sum)
				}
			})
		})
	}
}

// transpose turns as many vectors as they have lanes, the rows of a square, into its columns.
func (s isa) transpose(a []reg.VecVirtual) []reg.VecVirtual {
	b := s.Vecs(s.Lanes())
	for i := 0; i < s.Lanes(); i += 2 {
		VUNPCKLPD(a[i+1], a[i], b[i])
		VUNPCKHPD(a[i+1], a[i], b[i+1])
	}
	if !s.Wide() {
		for i := range 2 {
			VPERM2F128(Imm(0x20), b[i+2], b[i], a[i])
			VPERM2F128(Imm(0x31), b[i+2], b[i], a[i+2])
		}
		return a
	}
	for i := range 2 {
		for h := 0; h < 8; h += 4 {
			VSHUFF64X2(Imm(0x88), b[h+i+2], b[h+i], a[h+i])
			VSHUFF64X2(Imm(0xdd), b[h+i+2], b[h+i], a[h+i+2])
		}
	}
	for i := range 4 {
		VSHUFF64X2(Imm(0x88), a[i+4], a[i], b[i])
		VSHUFF64X2(Imm(0xdd), a[i+4], a[i], b[i+4])
	}
	return b
}

// share: r[i*kp+c] = s[c*Rows+i] f[i] for kp components, a multiple of 8.
func (s isa) share() {
	Begin("share"+s.Name, "func(r, s, f *float64, kp int)", "is Share; kp is a positive multiple of 8.")
	r, src, f, kp := Arg("r"), Arg("s"), Arg("f"), Arg("kp")
	stride, blocks, part, rp := GP64(), GP64(), GP64(), GP64()
	MOVQ(kp, stride)
	SHLQ(Imm(3), stride)
	MOVQ(kp, blocks)
	SHRQ(Imm(uint64(2+s.Lanes()/8)), blocks)
	fp, sp := GP64(), GP64()
	Loop("block", blocks, func() {
		MOVQ(U64(uint64(Rows/s.Lanes())), part)
		MOVQ(r, rp)
		MOVQ(f, fp)
		MOVQ(src, sp)
		a, m := s.Vecs(s.Lanes()), s.Vec()
		Loop("part", part, func() {
			VMOVUPD(At(fp, 0), m)
			for c, v := range a {
				VMULPD(At(sp, c*Line), m, v)
			}
			for _, v := range s.transpose(a) {
				VMOVUPD(v, At(rp, 0))
				ADDQ(stride, rp)
			}
			ADDQ(Step(s.Bytes), fp)
			ADDQ(Step(s.Bytes), sp)
		})
		ADDQ(Step(Line*s.Lanes()), src)
		ADDQ(Step(s.Bytes), r)
	})
	End()
}

// pack: x[j*Rows+i] = src[i*d+j] - origin[j] for a full panel, size the bytes of a value.
func (s isa) pack(size int) {
	kind := fmt.Sprintf("float%d", 8*size)
	Begin(fmt.Sprintf("pack%d", 8*size)+s.Name, "func(x *float64, src *"+kind+", origin *float64, d int)",
		"is Pack for kern.Rows rows; d > 0.")
	x, src, origin, d := Arg("x"), Arg("src"), Arg("origin"), Arg("d")
	stride, left, part, sp, xp := GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(d, stride)
	SHLQ(Imm(uint64(1+size/4)), stride)
	MOVQ(d, left)
	ahead := GP64()
	MOVQ(stride, ahead)
	SHLQ(Imm(5), ahead)
	a, o := s.Vecs(s.Lanes()), s.Vec()
	block := func(tail bool, read func(v reg.VecVirtual)) {
		tag := "full"
		if tail {
			tag = "tail"
		}
		MOVQ(src, sp)
		MOVQ(x, xp)
		MOVQ(U64(uint64(Rows/s.Lanes())), part)
		Loop(tag+"part", part, func() {
			for _, v := range a {
				read(v)
				PREFETCHT0(Mem{Base: sp, Index: ahead, Scale: 1}) // the next panel
				ADDQ(stride, sp)
			}
			for j, v := range s.transpose(a) {
				VBROADCASTSD(At(origin, 0), o)
				if j > 0 {
					if tail {
						CMPQ(left, Imm(uint64(j)))
						JLE(LabelRef("tailnext"))
					}
					VBROADCASTSD(At(origin, 8*j), o)
				}
				VSUBPD(o, v, v)
				VMOVUPD(v, At(xp, j*Line))
			}
			if tail {
				Label("tailnext")
			}
			ADDQ(Step(s.Bytes), xp)
		})
	}
	CMPQ(left, Imm(uint64(s.Lanes())))
	JLT(LabelRef("tail"))
	Label("full")
	block(false, func(v reg.VecVirtual) {
		if size == 8 {
			VMOVUPD(At(sp, 0), v)
		} else {
			VCVTPS2PD(At(sp, 0), v)
		}
	})
	ADDQ(Step(size*s.Lanes()), src)
	ADDQ(Step(8*s.Lanes()), origin)
	ADDQ(Step(Line*s.Lanes()), x)
	SUBQ(Step(s.Lanes()), left)
	CMPQ(left, Imm(uint64(s.Lanes())))
	JGE(LabelRef("full"))
	Label("tail")
	TESTQ(left, left)
	JZ(LabelRef("end"))
	read := s.masked(left, size, func() Mem { return At(sp, 0) })
	block(true, read)
	Label("end")
	End()
}

// masked returns a load of the first n values, fewer than a vector has, 0 beyond.
func (s isa) masked(n reg.Register, size int, from func() Mem) func(v reg.VecVirtual) {
	if s.Wide() {
		bits, k := GP64(), K()
		MOVQ(n.(reg.GPVirtual), reg.RCX)
		MOVQ(U64(1), bits)
		SHLQ(reg.CL, bits)
		DECQ(bits)
		KMOVW(bits.As32(), k)
		return func(v reg.VecVirtual) {
			if size == 8 {
				VMOVUPD_Z(from(), k, v)
			} else {
				VCVTPS2PD_Z(from(), k, v)
			}
		}
	}
	mask, base, off := s.Vec(), GP64(), GP64()
	LEAQ(lanes(size), base)
	MOVQ(n.(reg.GPVirtual), off)
	NEGQ(off)
	at := Mem{Base: base, Index: off, Scale: uint8(size), Disp: 4 * size}
	if size == 8 {
		VMOVUPD(at, mask)
		return func(v reg.VecVirtual) { VMASKMOVPD(from(), mask, v) }
	}
	VMOVUPS(at, mask.AsX())
	return func(v reg.VecVirtual) {
		VMASKMOVPS(from(), mask.AsX(), v.AsX())
		VCVTPS2PD(v.AsX(), v)
	}
}

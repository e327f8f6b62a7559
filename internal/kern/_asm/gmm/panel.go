package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// products: t[p] = x_j x_l for l <= j, j in [from, to).
func (s isa) products() {
	s.text("products", "func(t, x *float64, from, to int)", "is Products; from < to.")
	t, x, j, to := load("t"), load("x"), load("from"), load("to")
	xj, n, xl := GP64(), GP64(), GP64()
	MOVQ(j, xj)
	SHLQ(Imm(8), xj)
	ADDQ(x, xj)
	v, tmp := s.vecs(rows/s.w), s.vec()
	Label("rows")
	for i, r := range v {
		VMOVUPD(at(xj, i*s.bytes()), r)
	}
	MOVQ(x, xl)
	LEAQ(at(j, 1), n)
	loop("columns", n, func() {
		for i, r := range v {
			VMULPD(at(xl, i*s.bytes()), r, tmp)
			VMOVUPD(tmp, at(t, i*s.bytes()))
		}
		ADDQ(step(line), xl)
		ADDQ(step(line), t)
	})
	ADDQ(step(line), xj)
	INCQ(j)
	CMPQ(j, to)
	JLT(LabelRef("rows"))
	done()
}

func (s isa) squares() {
	s.text("squares", "func(t, x *float64, n int)", "sets t to the squares of n rows of a panel; n > 0.")
	t, x, n := load("t"), load("x"), load("n")
	v := s.vec()
	loop("loop", n, func() {
		for i := range rows / s.w {
			VMOVUPD(at(x, i*s.bytes()), v)
			VMULPD(v, v, v)
			VMOVUPD(v, at(t, i*s.bytes()))
		}
		ADDQ(step(line), x)
		ADDQ(step(line), t)
	})
	done()
}

func (s isa) centre() {
	s.text("centre", "func(y, x, m *float64, d int)", "is Centre; d > 0.")
	y, x, m, d := load("y"), load("x"), load("m"), load("d")
	v, c := s.vec(), s.vec()
	loop("loop", d, func() {
		VBROADCASTSD(at(m, 0), c)
		for i := range rows / s.w {
			VMOVUPD(at(x, i*s.bytes()), v)
			VSUBPD(c, v, v)
			VMOVUPD(v, at(y, i*s.bytes()))
		}
		ADDQ(step(line), x)
		ADDQ(step(line), y)
		ADDQ(step(8), m)
	})
	done()
}

func (s isa) norms() {
	s.text("norms", "func(dst, x *float64, n int)", "is Norms; n > 0.")
	dst, x, n := load("dst"), load("x"), load("n")
	acc, v := s.vecs(rows/s.w), s.vec()
	zero(acc...)
	loop("loop", n, func() {
		for i, a := range acc {
			VMOVUPD(at(x, i*s.bytes()), v)
			VFMADD231PD(v, v, a)
		}
		ADDQ(step(line), x)
	})
	for i, a := range acc {
		VMOVUPD(a, at(dst, i*s.bytes()))
	}
	done()
}

// multiply keeps a tile of nv vectors of rows by q variables in registers.
func (s isa) multiply() {
	s.text("multiply", "func(y, x, w *float64, f, q int)", "sets q rows of y to the f rows of x times w, packed f by q; f > 0.")
	y, x, w, f, q := load("y"), load("x"), load("w"), load("f"), load("q")
	xp, wp, n, part := GP64(), GP64(), GP64(), GP64()
	MOVQ(U64(uint64(rows/(s.nv*s.w))), part)
	choose(q, lowerRows, func(q int) {
		acc, v, b := s.vecs(q*s.nv), s.vecs(s.nv), s.vec()
		tag := fmt.Sprintf("q%d", q)
		loop(tag+"part", part, func() {
			zero(acc...)
			MOVQ(x, xp)
			MOVQ(w, wp)
			MOVQ(f, n)
			loop(tag+"depth", n, func() {
				for i, r := range v {
					VMOVUPD(at(xp, i*s.bytes()), r)
				}
				for j := range q {
					VBROADCASTSD(at(wp, 8*j), b)
					for i, r := range v {
						VFMADD231PD(r, b, acc[j*s.nv+i])
					}
				}
				ADDQ(step(line), xp)
				ADDQ(step(8*q), wp)
			})
			for j := range q {
				for i := range v {
					VMOVUPD(acc[j*s.nv+i], at(y, j*line+i*s.bytes()))
				}
			}
			ADDQ(step(s.nv*s.bytes()), y)
			ADDQ(step(s.nv*s.bytes()), x)
		})
	})
}

// accumulate keeps a tile of q features by nv vectors of components in registers over the rows of the panel.
func (s isa) accumulate() {
	for nv := 1; nv <= 4; nv++ {
		if s.w == 4 && nv != 2 {
			continue
		}
		most := min((s.regs-nv-1)/nv, 24/nv)
		if s.w == 4 {
			most = 6
		}
		if nv == 1 {
			most = 16
		}
		s.text(fmt.Sprintf("accumulate%d", nv), "func(sum, t, r *float64, groups, q, kp int)",
			fmt.Sprintf("adds to groups of q rows of sum, each kp wide, the first %d columns of t times r. groups > 0.", nv*s.w))
		sum, t, r, groups, q, kp := load("sum"), load("t"), load("r"), load("groups"), load("q"), load("kp")
		SHLQ(Imm(3), kp)
		rp, n := GP64(), GP64()
		choose(q, most, func(q int) {
			acc, x, b := s.vecs(q*nv), s.vecs(nv), s.vec()
			tag := fmt.Sprintf("q%d", q)
			loop(tag+"group", groups, func() {
				zero(acc...)
				MOVQ(r, rp)
				MOVQ(U64(rows), n)
				loop(tag+"depth", n, func() {
					for v := range x {
						VMOVUPD(at(rp, v*s.bytes()), x[v])
					}
					for f := range q {
						VBROADCASTSD(at(t, line*f), b)
						for v := range x {
							VFMADD231PD(x[v], b, acc[f*nv+v])
						}
					}
					ADDQ(kp, rp)
					ADDQ(step(8), t)
				})
				if q > 1 {
					ADDQ(step(line*(q-1)), t)
				}
				for f := range q {
					for v := range x {
						VADDPD(at(sum, v*s.bytes()), acc[f*nv+v], acc[f*nv+v])
						VMOVUPD(acc[f*nv+v], at(sum, v*s.bytes()))
					}
					ADDQ(kp, sum)
				}
			})
		})
	}
}

// transpose turns s.w vectors, the rows of a square, into its columns.
func (s isa) transpose(a []reg.VecVirtual) []reg.VecVirtual {
	b := s.vecs(s.w)
	for i := 0; i < s.w; i += 2 {
		VUNPCKLPD(a[i+1], a[i], b[i])
		VUNPCKHPD(a[i+1], a[i], b[i+1])
	}
	if s.w == 4 {
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

// share: r[i*kp+c] = s[c*rows+i] f[i] for kp components, a multiple of 8.
func (s isa) share() {
	s.text("share", "func(r, s, f *float64, kp int)", "is Share; kp is a positive multiple of 8.")
	r, src, f, kp := load("r"), load("s"), load("f"), load("kp")
	stride, blocks, part, rp := GP64(), GP64(), GP64(), GP64()
	MOVQ(kp, stride)
	SHLQ(Imm(3), stride)
	MOVQ(kp, blocks)
	SHRQ(Imm(uint64(2+s.w/8)), blocks)
	fp, sp := GP64(), GP64()
	loop("block", blocks, func() {
		MOVQ(U64(uint64(rows/s.w)), part)
		MOVQ(r, rp)
		MOVQ(f, fp)
		MOVQ(src, sp)
		a, m := s.vecs(s.w), s.vec()
		loop("part", part, func() {
			VMOVUPD(at(fp, 0), m)
			for c, v := range a {
				VMULPD(at(sp, c*line), m, v)
			}
			for _, v := range s.transpose(a) {
				VMOVUPD(v, at(rp, 0))
				ADDQ(stride, rp)
			}
			ADDQ(step(s.bytes()), fp)
			ADDQ(step(s.bytes()), sp)
		})
		ADDQ(step(line*s.w), src)
		ADDQ(step(s.bytes()), r)
	})
	done()
}

// pack: x[j*rows+i] = src[i*d+j] - origin[j] for a full panel, size the bytes of a value.
func (s isa) pack(size int) {
	kind := fmt.Sprintf("float%d", 8*size)
	s.text(fmt.Sprintf("pack%d", 8*size), "func(x *float64, src *"+kind+", origin *float64, d int)",
		"is Pack for kern.Rows rows; d > 0.")
	x, src, origin, d := load("x"), load("src"), load("origin"), load("d")
	stride, left, part, sp, xp := GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(d, stride)
	SHLQ(Imm(uint64(1+size/4)), stride)
	MOVQ(d, left)
	ahead := GP64()
	MOVQ(stride, ahead)
	SHLQ(Imm(5), ahead)
	a, o := s.vecs(s.w), s.vec()
	block := func(tail bool, read func(v reg.VecVirtual)) {
		tag := "full"
		if tail {
			tag = "tail"
		}
		MOVQ(src, sp)
		MOVQ(x, xp)
		MOVQ(U64(uint64(rows/s.w)), part)
		loop(tag+"part", part, func() {
			for _, v := range a {
				read(v)
				PREFETCHT0(Mem{Base: sp, Index: ahead, Scale: 1}) // the next panel
				ADDQ(stride, sp)
			}
			for j, v := range s.transpose(a) {
				VBROADCASTSD(at(origin, 0), o)
				if j > 0 {
					if tail {
						CMPQ(left, Imm(uint64(j)))
						JLE(LabelRef("tailnext"))
					}
					VBROADCASTSD(at(origin, 8*j), o)
				}
				VSUBPD(o, v, v)
				VMOVUPD(v, at(xp, j*line))
			}
			if tail {
				Label("tailnext")
			}
			ADDQ(step(s.bytes()), xp)
		})
	}
	CMPQ(left, Imm(uint64(s.w)))
	JLT(LabelRef("tail"))
	Label("full")
	block(false, func(v reg.VecVirtual) {
		if size == 8 {
			VMOVUPD(at(sp, 0), v)
		} else {
			VCVTPS2PD(at(sp, 0), v)
		}
	})
	ADDQ(step(size*s.w), src)
	ADDQ(step(8*s.w), origin)
	ADDQ(step(line*s.w), x)
	SUBQ(step(s.w), left)
	CMPQ(left, Imm(uint64(s.w)))
	JGE(LabelRef("full"))
	Label("tail")
	TESTQ(left, left)
	JZ(LabelRef("end"))
	read := s.masked(left, size, func() Mem { return at(sp, 0) })
	block(true, read)
	Label("end")
	done()
}

// masked returns a load of the first n < s.w values, 0 beyond.
func (s isa) masked(n reg.Register, size int, from func() Mem) func(v reg.VecVirtual) {
	if s.w == 8 {
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
	mask, base, off := s.vec(), GP64(), GP64()
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

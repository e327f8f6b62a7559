package main

import (
	"fmt"

	"github.com/latent-go/latent/internal/kern/_asm/arm64"
)

// halves runs body for both halves of a line, the second 128 bytes on.
func halves(body func(off int)) {
	body(0)
	body(arm64.Line / 2)
}

func (a *asm) peak(bits int) {
	a.Begin(fmt.Sprintf("peak%dNEON", bits), "n int", "", fmt.Sprintf("runs n times 12 independent fused multiply-adds of full vectors of float%d; n > 0.", bits))
	n, acc, x := a.Arg("n"), a.Vecs(12), a.Vec()
	a.Zero(append(acc, x)...)
	form := map[int]string{32: "fmla %v.4s, %[2]v.4s, %[2]v.4s", 64: "fmla %v.2d, %[2]v.2d, %[2]v.2d"}[bits]
	a.Loop(n, func() { each(acc, func(i int) { a.Do(form, acc[i], x) }) })
	a.End()
}

// products keeps the variable that the others are multiplied with in registers.
func (a *asm) products() {
	a.Begin("productsNEON", "t, x *float64, from, to int", "", "is Products; from < to.")
	p := a.Args("t", "x", "from", "to")
	t, x, from, to := p[0], p[1], p[2], p[3]
	a.Go("SUB %v, %v, %v", from, to, to)
	left := to
	a.Loop(left, func() {
		y, z, at, n := a.Vecs(16), a.Vecs(8), a.Copy(x), a.Reg()
		own := a.Reg()
		a.Go("ADD %v<<8, %v, %v", from, x, own)
		a.Load(own, 0, y...)
		a.Add(1, from)
		a.Go("MOVD %v, %v", from, n)
		a.Loop(n, func() {
			halves(func(off int) {
				a.Load(at, off, z...)
				each(z, func(v int) { a.Do("fmul %v.2d, %v.2d, %v.2d", z[v], z[v], y[off/16+v]) })
				a.Store(t, off, z...)
			})
			a.Add(arm64.Line, at)
			a.Add(arm64.Line, t)
		})
	})
	a.End()
}

func (a *asm) squares() {
	a.Begin("squaresNEON", "t, x *float64, d int", "", "is SquareRows; d > 0.")
	p := a.Args("t", "x", "d")
	a.Loop(p[2], func() {
		v := a.Vecs(16)
		a.Load(p[1], 0, v...)
		each(v, func(i int) { a.Do("fmul %v.2d, %[1]v.2d, %[1]v.2d", v[i]) })
		a.Store(p[0], 0, v...)
		a.Add(arm64.Line, p[0])
		a.Add(arm64.Line, p[1])
	})
	a.End()
}

func (a *asm) centre() {
	a.Begin("centreNEON", "y, x, m *float64, d int", "", "is Centre; d > 0.")
	p := a.Args("y", "x", "m", "d")
	a.Loop(p[3], func() {
		v, m := a.Vecs(16), a.Vec()
		a.LoadAll(p[2], 8, m)
		a.Load(p[1], 0, v...)
		each(v, func(i int) { a.Do("fsub %v.2d, %[1]v.2d, %v.2d", v[i], m) })
		a.Store(p[0], 0, v...)
		a.Add(arm64.Line, p[0])
		a.Add(arm64.Line, p[1])
	})
	a.End()
}

func (a *asm) norms() {
	a.Begin("normsNEON", "dst, y *float64, d int", "", "is Norms; d > 0.")
	p := a.Args("dst", "y", "d")
	acc := a.Vecs(16)
	a.Zero(acc...)
	a.Loop(p[2], func() {
		v := a.Vecs(16)
		a.Load(p[1], 0, v...)
		each(v, func(i int) { a.Do("fmla %v.2d, %v.2d, %[2]v.2d", acc[i], v[i]) })
		a.Add(arm64.Line, p[1])
	})
	a.Store(p[0], 0, acc...)
	a.End()
}

func (a *asm) largest() {
	a.Begin("largestNEON", "x *float64, n int", "top float64", "is Largest; n > 0.")
	p := a.Args("x", "n")
	acc := a.Vecs(16)
	a.Zero(acc...)
	a.Loop(p[1], func() {
		v := a.Vecs(16)
		a.Load(p[0], 0, v...)
		each(v, func(i int) { a.Do("fabs %v.2d, %[1]v.2d", v[i]) })
		each(v, func(i int) { a.Do("fmax %v.2d, %[1]v.2d, %v.2d", acc[i], v[i]) })
		a.Add(arm64.Line, p[0])
	})
	for n := 8; n > 0; n /= 2 {
		each(acc[:n], func(i int) { a.Do("fmax %v.2d, %[1]v.2d, %v.2d", acc[i], acc[n+i]) })
	}
	a.Do("dup %v.2d, %v.d[1]", acc[1], acc[0])
	a.Do("fmax %v.2d, %[1]v.2d, %v.2d", acc[0], acc[1])
	a.Go("FMOVD %s, %s", acc[0].F(), a.Param("top"))
	a.End()
}

func (a *asm) present() {
	a.Begin("presentNEON", "there, filled, x *float64, d int", "missing bool", "is Present; d > 0.")
	p := a.Args("there", "filled", "x", "d")
	one, all := a.Number(1), a.Word(^uint64(0))
	a.Loop(p[3], func() {
		v, there := a.Vecs(8), a.Vecs(8)
		halves(func(off int) {
			a.Load(p[2], off, v...)
			each(v, func(i int) { a.Do("fcmeq %v.2d, %v.2d, %[2]v.2d", there[i], v[i]) })
			each(v, func(i int) { a.Do("and %v.16b, %[1]v.16b, %v.16b", v[i], there[i]) })
			each(v, func(i int) { a.Do("and %v.16b, %[1]v.16b, %v.16b", all, there[i]) })
			each(v, func(i int) { a.Do("and %v.16b, %[1]v.16b, %v.16b", there[i], one) })
			a.Store(p[0], off, there...)
			a.Store(p[1], off, v...)
		})
		for _, r := range p[:3] {
			a.Add(arm64.Line, r)
		}
	})
	lo, hi := a.Reg(), a.Reg()
	a.Go("VMOV V%d.D[0], %v", int(all), lo)
	a.Go("VMOV V%d.D[1], %v", int(all), hi)
	a.Go("AND %v, %v, %v", hi, lo, lo)
	a.Go("CMP $-1, %v", lo)
	a.Go("CSET NE, %v", lo)
	a.Go("MOVB %v, %s", lo, a.Param("missing"))
	a.End()
}

// loadRow loads q float64, two to a vector.
func (a *asm) loadRow(at reg, q int, v []vec) {
	a.Load(at, 0, v[:q/2]...)
	if q%2 == 1 {
		a.Go("FMOVD %d(%v), %s", q/2*16, at, v[q/2].F())
	}
}

const (
	lowerRows = 5 // kern.lowerRows
	tileRows  = 4 // vectors of rows beside them
)

// multiplyInto adds to acc, q columns of tileRows vectors, the products of n variables of x with q numbers each of w, which it moves on.
// With mean x is taken off it first: the sign is lost in the square.
func (a *asm) multiplyInto(acc []vec, q int, x, mean, w, n reg) {
	defer a.Scope()()
	xp, y, f := a.Copy(x), a.Vecs(tileRows), a.Vecs(3)
	var mp reg
	if mean >= 0 {
		mp = a.Copy(mean)
	}
	a.Loop(n, func() {
		if mean >= 0 {
			m := f[0] // free until the numbers of w come
			a.LoadAll(mp, 8, m)
			a.LoadNext(xp, arm64.Line, y...)
			each(y, func(v int) { a.Do("fsub %v.2d, %v.2d, %[1]v.2d", y[v], m) })
		} else {
			a.LoadNext(xp, arm64.Line, y...)
		}
		a.loadRow(w, q, f)
		for j := range q {
			each(y, func(v int) { a.Do("fmla %v.2d, %v.2d, %v.d[%d]", acc[j*tileRows+v], y[v], f[j/2], j%2) })
		}
		a.Add(8*q, w)
	})
}

func (a *asm) multiply() {
	a.Begin("multiplyNEON", "y, x, w *float64, f, q int", "", "is Multiply for one tile of q columns; f > 0, 0 < q <= 5.")
	p := a.Args("y", "x", "w", "f", "q")
	y, x, w, f := p[0], p[1], p[2], p[3]
	a.Choose(p[4], down(lowerRows), func(q int) {
		a.Times(arm64.Rows/2/tileRows, func() {
			acc, wp, n := a.Vecs(q*tileRows), a.Copy(w), a.Copy(f)
			a.Zero(acc...)
			a.multiplyInto(acc, q, x, -1, wp, n)
			for j := range q {
				a.Store(y, j*arm64.Line, acc[j*tileRows:(j+1)*tileRows]...)
			}
			a.Add(16*tileRows, x)
			a.Add(16*tileRows, y)
		})
	})
	a.End()
}

// down returns the numbers from n to 1.
func down(n int) []int {
	d := make([]int, n)
	for i := range d {
		d[i] = n - i
	}
	return d
}

// whitened takes rows of the factor five at a time with all their products in registers.
func (a *asm) whitened() {
	a.Begin("whitenedNEON", "dst, x, mean, w, shift *float64, d, k int", "", "is Whitened; d, k > 0.")
	p := a.Args("dst", "x", "d")
	dst, x, d := p[0], p[1], p[2]
	a.Times(arm64.Rows/2/tileRows, func() {
		q := a.Args("mean", "w", "shift", "k")
		mean, w, shift, k := q[0], q[1], q[2], q[3]
		out := a.Copy(dst)
		a.Loop(k, func() {
			norm := a.Vecs(tileRows)
			a.Zero(norm...)
			depth, left := a.Set(0), a.Copy(d)
			a.Steps(left, down(lowerRows), func(q int) {
				a.Add(q, depth)
				acc, n := a.Vecs(q*tileRows), a.Copy(depth)
				a.Zero(acc...)
				a.multiplyInto(acc, q, x, mean, w, n)
				each(acc, func(i int) { a.Do("fmla %v.2d, %v.2d, %[2]v.2d", norm[i%tileRows], acc[i]) })
			})
			a.Go("ADD %v<<3, %v", d, mean)
			a.score(norm, shift)
			a.Store(out, 0, norm...)
			a.Add(arm64.Line, out)
		})
		a.Add(16*tileRows, x)
		a.Add(16*tileRows, dst)
	})
	a.End()
}

// score sets v to shift - min(v, MaxFloat64)/2, shift being at a pointer that it moves on; a NaN counts as MaxFloat64.
func (a *asm) score(v []vec, shift reg) {
	defer a.Scope()()
	s, half, most := a.Vec(), a.Number(0.5), a.Word(0x7fefffffffffffff)
	a.LoadAll(shift, 8, s)
	each(v, func(i int) { a.Do("fminnm %v.2d, %[1]v.2d, %v.2d", v[i], most) })
	each(v, func(i int) { a.Do("fmul %v.2d, %[1]v.2d, %v.2d", v[i], half) })
	each(v, func(i int) { a.Do("fsub %v.2d, %v.2d, %[1]v.2d", v[i], s) })
}

// scored writes a score that is a sum over the variables: params are those of each centre, k x d, after dst and x.
func (a *asm) scored(name, doc, params string, centre []string, s *distances, scale string) {
	a.Begin(name+"NEON", "dst, x, "+params+", shift *float64, d, k int", "", "is "+doc+"; d, k > 0.")
	dst, shift := a.Arg("dst"), a.Arg("shift")
	s.x, s.d, s.k, s.perRow, s.centre = a.Arg("x"), a.Arg("d"), a.Arg("k"), []reg{dst}, a.Args(centre...)
	if s.mask != nil {
		s.mask[0] = a.Arg("mask")
	}
	var f reg
	if scale != "" {
		f = a.Arg(scale)
	}
	s.finish = func(_ int, acc [][]vec) {
		sp := a.Copy(shift)
		fp := sp
		if scale != "" {
			fp = a.Copy(f)
		}
		for _, v := range acc {
			if scale != "" {
				m := a.Vec()
				a.LoadAll(fp, 8, m)
				each(v, func(i int) { a.Do("fmul %v.2d, %[1]v.2d, %v.2d", v[i], m) })
			}
			a.score(v, sp)
		}
		a.store(dst, acc)
	}
	s.end = func(q int) {
		a.Add(8*q, shift)
		if scale != "" {
			a.Add(8*q, f)
		}
	}
	a.distances(s)
}

// scaled is the term ((x - m) w)^2.
func (a *asm) scaled(acc, x, _ vec, n []vec, t vec) {
	a.Do("fsub %v.2d, %v.2d, %v.2d", t, x, n[0])
	a.Do("fmul %v.2d, %[1]v.2d, %v.2d", t, n[1])
	a.Do("fmla %v.2d, %v.2d, %[2]v.2d", acc, t)
}

// counted is the term mask (((x - m) w)^2 + add).
func (a *asm) counted(acc, x, mask vec, n []vec, t vec) {
	a.Do("fsub %v.2d, %v.2d, %v.2d", t, x, n[0])
	a.Do("fmul %v.2d, %[1]v.2d, %v.2d", t, n[1])
	a.Do("fmul %v.2d, %[1]v.2d, %[1]v.2d", t)
	a.Do("fadd %v.2d, %[1]v.2d, %v.2d", t, n[2])
	a.Do("fmla %v.2d, %v.2d, %v.2d", acc, mask, t)
}

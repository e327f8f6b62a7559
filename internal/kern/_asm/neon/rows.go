package main

// The kernels of this file go through the cells of a row.

// cell returns what a kernel for float64 cells (wide) or float32 ones calls itself, the bytes of a cell and its type.
func cell(wide bool) (suffix string, size int, kind string) {
	if wide {
		return "f64", 8, "float64"
	}
	return "f32", 4, "float32"
}

// cells loads q float64, 4, 2 or 1, into the first of two vectors, or both. What one cell leaves of a vector is zeros.
func (a *asm) cells(at reg, q int, v []vec) {
	if q == 1 {
		a.Go("FMOVD (%v), %s", at, v[0].F())
		return
	}
	a.Load(at, 0, v[:q/2]...)
}

// keep stores what cells loads.
func (a *asm) keep(at reg, q int, v []vec) {
	if q == 1 {
		a.Go("FMOVD %s, (%v)", v[0].F(), at)
		return
	}
	a.Store(at, 0, v[:q/2]...)
}

// widened is cells for cells of size bytes, which become float64.
func (a *asm) widened(at reg, q, size int, v []vec) {
	switch {
	case size == 8:
		a.cells(at, q, v)
		return
	case q == 4:
		a.Load(at, 0, v[0])
		a.Do("fcvtl2 %v.2d, %v.4s", v[1], v[0])
	case q == 2:
		a.Go("FMOVD (%v), %s", at, v[0].F())
	default:
		a.Go("FMOVS (%v), %s", at, v[0].F())
	}
	a.Do("fcvtl %v.2d, %v.2s", v[0], v[0])
}

var cellSteps = []int{4, 2, 1}

// place sets to to base + 8 n d, or to base + size n d.
func (a *asm) place(base, n, d reg, size int) reg {
	to := a.Reg()
	a.Go("MUL %v, %v, %v", n, d, to)
	a.Go("ADD %v<<%d, %v, %v", to, map[int]int{4: 2, 8: 3}[size], base, to)
	return to
}

// each does the same to all vectors.
func each(v []vec, do func(i int)) {
	for i := range v {
		do(i)
	}
}

func (a *asm) pairs(wide bool) {
	suffix, size, kind := cell(wide)
	a.Begin("pairsNEON"+suffix, "dst *float64, x *"+kind+", origin, c *float64, pair *uint32, n, d int", "", "is Pairs for "+kind+" cells; n, d > 0.")
	p := a.Args("dst", "x", "origin", "c", "pair", "n", "d")
	dst, x, origin, c, pair, n, d := p[0], p[1], p[2], p[3], p[4], p[5], p[6]
	a.Loop(n, func() {
		row, centre := a.Reg(), a.Reg()
		a.Go("MOVWU (%v), %v", pair, row)
		a.Go("MOVWU 4(%v), %v", pair, centre)
		xp, cp, op, left := a.place(x, row, d, size), a.place(c, centre, d, 8), a.Copy(origin), a.Copy(d)
		acc, t, o, m := a.Vecs(2), a.Vecs(2), a.Vecs(2), a.Vecs(2)
		a.Zero(acc...)
		a.Steps(left, cellSteps, func(q int) {
			a.widened(xp, q, size, t)
			a.cells(op, q, o)
			a.cells(cp, q, m)
			each(t[:(q+1)/2], func(i int) {
				a.Do("fsub %v.2d, %v.2d, %v.2d", t[i], t[i], o[i])
				a.Do("fsub %v.2d, %v.2d, %v.2d", t[i], t[i], m[i])
				a.Do("fmla %v.2d, %v.2d, %v.2d", acc[i], t[i], t[i])
			})
			a.Add(size*q, xp)
			a.Add(8*q, op)
			a.Add(8*q, cp)
		})
		a.Do("fadd %v.2d, %v.2d, %v.2d", acc[0], acc[0], acc[1])
		a.Do("faddp %v.2d, %v.2d, %v.2d", acc[0], acc[0], acc[0])
		a.Go("FMOVD.P %s, 8(%v)", acc[0].F(), dst)
		a.Add(8, pair)
	})
	a.End()
}

func (a *asm) dots() {
	a.Begin("dotsNEON", "dst, x, c *float32, pair *uint32, n, d int", "", "is Dots; n, d > 0.")
	p := a.Args("dst", "x", "c", "pair", "n", "d")
	dst, x, c, pair, n, d := p[0], p[1], p[2], p[3], p[4], p[5]
	a.Loop(n, func() {
		row, centre := a.Reg(), a.Reg()
		a.Go("MOVWU (%v), %v", pair, row)
		a.Go("MOVWU 4(%v), %v", pair, centre)
		xp, cp, left := a.place(x, row, d, 4), a.place(c, centre, d, 4), a.Copy(d)
		acc, t, m := a.Vecs(4), a.Vecs(4), a.Vecs(4)
		a.Zero(acc...)
		a.Steps(left, []int{16, 4, 1}, func(q int) {
			if q == 1 {
				a.Go("FMOVS (%v), %s", xp, t[0].F())
				a.Go("FMOVS (%v), %s", cp, m[0].F())
			} else {
				a.Load(xp, 0, t[:q/4]...)
				a.Load(cp, 0, m[:q/4]...)
			}
			each(t[:(q+3)/4], func(i int) { a.Do("fmla %v.4s, %v.4s, %v.4s", acc[i], t[i], m[i]) })
			a.Add(4*q, xp)
			a.Add(4*q, cp)
		})
		a.Do("fadd %v.4s, %v.4s, %v.4s", acc[0], acc[0], acc[2])
		a.Do("fadd %v.4s, %v.4s, %v.4s", acc[1], acc[1], acc[3])
		a.Do("fadd %v.4s, %v.4s, %v.4s", acc[0], acc[0], acc[1])
		a.Do("faddp %v.4s, %v.4s, %v.4s", acc[0], acc[0], acc[0])
		a.Do("faddp %v.4s, %v.4s, %v.4s", acc[0], acc[0], acc[0])
		a.Go("FMOVS.P %s, 4(%v)", acc[0].F(), dst)
		a.Add(8, pair)
	})
	a.End()
}

func (a *asm) scatter(wide bool) {
	suffix, size, kind := cell(wide)
	a.Begin("scatterNEON"+suffix, "hi, lo *float64, x *"+kind+", origin *float64, move *uint64, n, d int", "", "is Scatter for "+kind+" cells; n, d > 0.")
	p := a.Args("hi", "lo", "x", "origin", "move", "n", "d")
	hi, lo, x, origin, move, n, d := p[0], p[1], p[2], p[3], p[4], p[5], p[6]
	a.Loop(n, func() {
		row, cluster := a.Reg(), a.Reg()
		a.Go("MOVWU (%v), %v", move, row)
		a.Go("MOVWU 4(%v), %v", move, cluster)
		a.Add(8, move)
		w := a.Vec()
		a.LoadAll(move, 8, w)
		xp, hp, lp, op, left := a.place(x, row, d, size), a.place(hi, cluster, d, 8), a.place(lo, cluster, d, 8), a.Copy(origin), a.Copy(d)
		v, o, h, l, s, b := a.Vecs(2), a.Vecs(2), a.Vecs(2), a.Vecs(2), a.Vecs(2), a.Vecs(2)
		a.Steps(left, cellSteps, func(q int) {
			a.widened(xp, q, size, v)
			a.cells(op, q, o)
			a.cells(hp, q, h)
			a.cells(lp, q, l)
			each(v[:(q+1)/2], func(i int) {
				a.Do("fsub %v.2d, %v.2d, %v.2d", v[i], v[i], o[i])
				a.Do("fmul %v.2d, %v.2d, %v.2d", v[i], v[i], w)
				a.Do("fadd %v.2d, %v.2d, %v.2d", s[i], h[i], v[i])
				a.Do("fsub %v.2d, %v.2d, %v.2d", b[i], s[i], h[i])
				a.Do("fsub %v.2d, %v.2d, %v.2d", v[i], v[i], b[i])
				a.Do("fsub %v.2d, %v.2d, %v.2d", b[i], s[i], b[i])
				a.Do("fsub %v.2d, %v.2d, %v.2d", b[i], h[i], b[i])
				a.Do("fadd %v.2d, %v.2d, %v.2d", b[i], b[i], v[i])
				a.Do("fadd %v.2d, %v.2d, %v.2d", l[i], l[i], b[i])
			})
			a.keep(hp, q, s)
			a.keep(lp, q, l)
			a.Add(size*q, xp)
			for _, r := range []reg{op, hp, lp} {
				a.Add(8*q, r)
			}
		})
	})
	a.End()
}

// shift stores what it takes from one cluster before it loads the other: they may be the same.
func (a *asm) shift() {
	a.Begin("shiftNEON", "hi, lo *float64, x *float32, origin *float64, grain float64, change *uint32, n, columns, d int", "",
		"is Shift for the first columns of d; n, columns > 0.")
	p := a.Args("hi", "lo", "x", "origin", "change", "n", "columns", "d")
	hi, lo, x, origin, change, n, columns, d := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
	grain := a.Spread("grain")
	a.Loop(n, func() {
		at := make([]reg, 3) // row, from, to
		for i := range at {
			at[i] = a.Reg()
			a.Go("MOVWU.P 4(%v), %v", change, at[i])
		}
		xp, op, left := a.place(x, at[0], d, 4), a.Copy(origin), a.Copy(columns)
		fh, fl, th, tl := a.place(hi, at[1], d, 8), a.place(lo, at[1], d, 8), a.place(hi, at[2], d, 8), a.place(lo, at[2], d, 8)
		y, o, high, t := a.Vecs(2), a.Vecs(2), a.Vecs(2), a.Vecs(2)
		a.Steps(left, cellSteps, func(q int) {
			a.widened(xp, q, 4, y)
			a.cells(op, q, o)
			each(y[:(q+1)/2], func(i int) {
				a.Do("fsub %v.2d, %v.2d, %v.2d", y[i], y[i], o[i])
				a.Do("fadd %v.2d, %v.2d, %v.2d", high[i], y[i], grain)
				a.Do("fsub %v.2d, %v.2d, %v.2d", high[i], high[i], grain)
				a.Do("fsub %v.2d, %v.2d, %v.2d", y[i], y[i], high[i])
			})
			for _, sum := range []struct {
				at   reg
				op   string
				part []vec
			}{{fh, "fsub", high}, {fl, "fsub", y}, {th, "fadd", high}, {tl, "fadd", y}} {
				a.cells(sum.at, q, t)
				each(t[:(q+1)/2], func(i int) { a.Do(sum.op+" %v.2d, %v.2d, %v.2d", t[i], t[i], sum.part[i]) })
				a.keep(sum.at, q, t)
				a.Add(8*q, sum.at)
			}
			a.Add(4*q, xp)
			a.Add(8*q, op)
		})
	})
	a.End()
}

package main

// The kernels of lanes.go: vectors are of components, eight of them (four vectors) at a time; value v of component c is at [v*kp+c].

const laneBytes = 64 // of eight components

// lanes writes the kernels of lanes.go.
func lanes(a *asm) {
	a.laneDeviations()
	a.laneProduct()
	a.laneNorms()
	a.laneMoments()
	a.laneScatter()
	a.laneInverse()
}

// strided takes a register for the bytes of kp numbers.
func (a *asm) strided(kp reg) reg {
	stride := a.Reg()
	a.Go("LSL $3, %v, %v", kp, stride)
	return stride
}

// advance adds a register to others.
func (a *asm) advance(by reg, r ...reg) {
	for _, r := range r {
		a.Go("ADD %v, %v", by, r)
	}
}

func (a *asm) laneDeviations() {
	a.Begin("laneDeviationsNEON", "y, x, mean *float64, d, kp int", "", "is LaneDeviations; d, kp > 0.")
	p := a.Args("y", "x", "mean", "d", "kp")
	a.Loop(p[3], func() {
		v, there, m, left := a.Vec(), a.Vec(), a.Vecs(4), a.Copy(p[4])
		a.LoadAll(p[1], 8, v)
		a.Do("fcmeq %v.2d, %v.2d, %[2]v.2d", there, v)
		a.Steps(left, []int{8}, func(int) {
			a.Load(p[2], 0, m...)
			each(m, func(i int) { a.Do("fsub %v.2d, %v.2d, %[1]v.2d", m[i], v) })
			each(m, func(i int) { a.Do("and %v.16b, %[1]v.16b, %v.16b", m[i], there) })
			a.Store(p[0], 0, m...)
			a.Add(laneBytes, p[0])
			a.Add(laneBytes, p[2])
		})
	})
	a.End()
}

func (a *asm) laneProduct() {
	a.Begin("laneProductNEON", "dst, m, y *float64, rows *int32, n, d, kp int", "", "is LaneProduct for n rows; n, d, kp > 0.")
	p := a.Args("dst", "m", "y", "rows", "n", "d", "kp")
	dst, m, y, rows, d, kp := p[0], p[1], p[2], p[3], p[5], p[6]
	stride := a.strided(kp)
	a.Loop(p[4], func() {
		row, size, left, off := a.Reg(), a.Reg(), a.Copy(kp), a.Set(0)
		a.Go("MOVWU.P 4(%v), %v", rows, row)
		a.Go("MUL %v, %v, %v", d, stride, size)
		a.Go("MADD %v, %v, %v, %v", row, m, size, row)
		a.Steps(left, []int{8}, func(int) {
			acc, u, v, at, by, l := a.Vecs(4), a.Vecs(4), a.Vecs(4), a.Reg(), a.Reg(), a.Copy(d)
			a.Zero(acc...)
			a.Go("ADD %v, %v, %v", off, row, at)
			a.Go("ADD %v, %v, %v", off, y, by)
			a.Loop(l, func() {
				a.Load(at, 0, u...)
				a.Load(by, 0, v...)
				each(acc, func(i int) { a.Do("fmla %v.2d, %v.2d, %v.2d", acc[i], u[i], v[i]) })
				a.advance(stride, at, by)
			})
			a.Store(dst, 0, acc...)
			a.Add(laneBytes, dst)
			a.Add(laneBytes, off)
		})
	})
	a.End()
}

// laneNorms takes two rows at a time: a load of the factor serves both.
func (a *asm) laneNorms() {
	a.Begin("laneNormsNEON", "dst, y, w *float64, n, d, kp int", "", "is LaneNorms for 8 of the kp components; n, d > 0.")
	p := a.Args("dst", "y", "w", "n", "d", "kp")
	dst, y, w, left, d := p[0], p[1], p[2], p[3], p[4]
	stride, size := a.strided(p[5]), a.Reg()
	a.Go("MUL %v, %v, %v", d, stride, size)
	a.Steps(left, []int{2, 1}, func(q int) {
		norm, acc, f, x := a.Vecs(4*q), a.Vecs(4*q), a.Vecs(4), a.Vecs(4)
		a.Zero(norm...)
		wp, depth, j := a.Copy(w), a.Set(0), a.Copy(d)
		a.Loop(j, func() {
			a.Add(1, depth)
			a.Zero(acc...)
			at := make([]reg, q)
			for r := range at {
				at[r] = a.Copy(y)
				if r > 0 {
					a.advance(size, at[r])
				}
			}
			a.Loop(a.Copy(depth), func() {
				a.Load(wp, 0, f...)
				for r, from := range at {
					a.Load(from, 0, x...)
					each(x, func(i int) { a.Do("fmla %v.2d, %v.2d, %v.2d", acc[4*r+i], f[i], x[i]) })
				}
				a.advance(stride, append(at, wp)...)
			})
			each(acc, func(i int) { a.Do("fmla %v.2d, %v.2d, %[2]v.2d", norm[i], acc[i]) })
		})
		for r := range q {
			a.Store(dst, 0, norm[4*r:4*r+4]...)
			a.advance(stride, dst)
			a.advance(size, y)
		}
	})
	a.End()
}

// laneMoments takes four rows at a time: a sum comes from memory and goes there once for them.
func (a *asm) laneMoments() {
	a.Begin("laneMomentsNEON", "sum, y, q *float64, n, d, kp int", "", "is LaneMoments for 8 of the kp components; n, d > 0.")
	p := a.Args("sum", "y", "q", "n", "d", "kp")
	sum, y, weight, left, d := p[0], p[1], p[2], p[3], p[4]
	stride, size := a.strided(p[5]), a.Reg()
	a.Go("MUL %v, %v, %v", d, stride, size)
	a.Steps(left, []int{4, 2, 1}, func(q int) {
		s, x, u := a.Vecs(4), a.Vecs(4), a.Vecs(4*q)
		first, second, own, qp := a.Copy(sum), a.Copy(sum), a.Copy(y), a.Copy(weight)
		a.advance(stride, first, second)
		a.advance(size, second)
		a.Load(sum, 0, s...)
		for range q {
			a.Load(qp, 0, x...)
			each(s, func(i int) { a.Do("fadd %v.2d, %[1]v.2d, %v.2d", s[i], x[i]) })
			a.advance(stride, qp)
		}
		a.Store(sum, 0, s...)
		depth := a.Set(0)
		a.Loop(a.Copy(d), func() {
			a.Add(1, depth)
			from, qp := a.Copy(own), a.Copy(weight)
			a.Load(first, 0, s...)
			for r := range q {
				v := u[4*r : 4*r+4]
				a.Load(qp, 0, v...)
				a.Load(from, 0, x...)
				each(v, func(i int) { a.Do("fmul %v.2d, %[1]v.2d, %v.2d", v[i], x[i]) })
				each(v, func(i int) { a.Do("fadd %v.2d, %[1]v.2d, %v.2d", s[i], v[i]) })
				a.advance(stride, qp)
				a.advance(size, from)
			}
			a.Store(first, 0, s...)
			a.advance(stride, first, own)
			at := a.Copy(y)
			a.Loop(a.Copy(depth), func() {
				from := a.Copy(at)
				a.Load(second, 0, s...)
				for r := range q {
					a.Load(from, 0, x...)
					each(x, func(i int) { a.Do("fmla %v.2d, %v.2d, %v.2d", s[i], u[4*r+i], x[i]) })
					if r < q-1 {
						a.advance(size, from)
					}
				}
				a.Store(second, 0, s...)
				a.advance(stride, second, at)
			})
		})
		for range q {
			a.advance(stride, weight)
			a.advance(size, y)
		}
	})
	a.End()
}

func (a *asm) laneScatter() {
	a.Begin("laneScatterNEON", "sum, v, q *float64, at *int32, n, kp int", "", "is LaneScatter for n places; n, kp > 0.")
	p := a.Args("sum", "v", "q", "at", "n", "kp")
	stride := a.strided(p[5])
	a.Loop(p[4], func() {
		to, q, left := a.Reg(), a.Copy(p[2]), a.Copy(p[5])
		a.Go("MOVWU.P 4(%v), %v", p[3], to)
		a.Go("MADD %v, %v, %v, %v", to, p[0], stride, to)
		s, v, f := a.Vecs(4), a.Vecs(4), a.Vecs(4)
		a.Steps(left, []int{8}, func(int) {
			a.Load(to, 0, s...)
			a.Load(p[1], 0, v...)
			a.Load(q, 0, f...)
			each(s, func(i int) { a.Do("fmla %v.2d, %v.2d, %v.2d", s[i], v[i], f[i]) })
			a.Store(to, 0, s...)
			for _, r := range []reg{to, q, p[1]} {
				a.Add(laneBytes, r)
			}
		})
	})
	a.End()
}

// laneInverse takes pivots one after the other, as laneInverse in Go does.
func (a *asm) laneInverse() {
	a.Begin("laneInverseNEON", "v, pivot *float64, n, kp, from, to int, least float64", "",
		"is laneInverse for 8 of the kp components: pivots from to to, then, after the last, what is above the diagonal; from < to <= n.")
	p := a.Args("v", "pivot", "n", "kp", "from", "to")
	v, pivot, n, pivotAt, to := p[0], p[1], p[2], p[4], p[5]
	stride, size := a.strided(p[3]), a.Reg()
	a.Go("MUL %v, %v, %v", n, stride, size)
	least, one := a.Spread("least"), a.Number(1)

	// offset takes a register for base + i size + j stride.
	offset := func(base, i, j reg) reg {
		r := a.Reg()
		a.Go("MADD %v, %v, %v, %v", i, base, size, r)
		a.Go("MADD %v, %v, %v, %v", j, r, stride, r)
		return r
	}
	zero := a.Set(0)
	every := func(from, to reg, body func(i reg)) { // for i := from; i < to; i++
		again, done, i := a.Label("next"), a.Label("done"), a.Copy(from)
		a.At(again)
		a.Go("CMP %v, %v", to, i)
		a.Go("BGE %s", done)
		restore := a.Scope()
		body(i)
		restore()
		a.Add(1, i)
		a.Go("B %s", again)
		a.At(done)
	}
	started := a.Label("started")
	a.Go("CBNZ %v, %s", pivotAt, started)
	every(zero, n, func(i reg) { // the least that a pivot may be
		x := a.Vecs(4)
		a.Load(offset(v, i, i), 0, x...)
		each(x, func(c int) { a.Do("fmul %v.2d, %[1]v.2d, %v.2d", x[c], least) })
		a.Store(offset(pivot, zero, i), 0, x...)
	})
	a.At(started)
	every(pivotAt, to, func(at reg) {
		row, diagonal, next := offset(v, at, zero), offset(v, at, at), a.Copy(at)
		a.Add(1, next)
		inv, x := a.Vecs(4), a.Vecs(4)
		func() {
			defer a.Scope()()
			p, t, ones := offset(pivot, zero, at), a.Vec(), a.Vec()
			a.Move(ones, one)
			a.Load(p, 0, inv...)
			a.Load(diagonal, 0, x...)
			each(x, func(c int) { // a NaN of the diagonal stays
				a.Do("fcmgt %v.2d, %v.2d, %v.2d", t, inv[c], x[c])
				a.Do("bit %v.16b, %v.16b, %v.16b", x[c], inv[c], t)
			})
			a.Store(p, 0, x...)
			each(x, func(c int) { a.Do("fdiv %v.2d, %v.2d, %v.2d", inv[c], one, x[c]) })
			a.Store(diagonal, 0, ones, ones, ones, ones)
		}()
		// add adds f times the first count + 1 elements of row to those at a pointer.
		f, s := a.Vecs(4), a.Vecs(4)
		add := func(to, count reg) {
			from, left := a.Copy(row), a.Copy(count)
			a.Add(1, left)
			a.Loop(left, func() {
				a.Load(to, 0, s...)
				a.Load(from, 0, x...)
				each(s, func(c int) { a.Do("fmla %v.2d, %v.2d, %v.2d", s[c], x[c], f[c]) })
				a.Store(to, 0, s...)
				a.advance(stride, to, from)
			})
		}
		every(zero, at, func(i reg) {
			a.Load(offset(row, zero, i), 0, f...)
			each(f, func(c int) { a.Do("fmul %v.2d, %[1]v.2d, %v.2d", f[c], inv[c]) })
			add(offset(v, i, zero), i)
		})
		every(next, n, func(i reg) {
			upper, left := offset(row, zero, i), offset(v, i, at)
			a.Load(left, 0, f...)
			a.Store(upper, 0, f...) // the upper triangle is free: all of row a is in a row
			a.Zero(s...)
			a.Store(left, 0, s...)
			each(f, func(c int) { a.Do("fmul %v.2d, %[1]v.2d, %v.2d", f[c], inv[c]) })
			each(f, func(c int) { a.Do("fneg %v.2d, %[1]v.2d", f[c]) })
			add(offset(v, i, zero), i)
		})
		every(zero, next, func(i reg) {
			to := offset(row, zero, i)
			a.Load(to, 0, s...)
			each(s, func(c int) { a.Do("fmul %v.2d, %[1]v.2d, %v.2d", s[c], inv[c]) })
			a.Store(to, 0, s...)
		})
	})
	end := a.Label("end")
	a.Go("CMP %v, %v", n, to)
	a.Go("BNE %s", end)
	every(zero, n, func(i reg) {
		every(zero, i, func(j reg) {
			x := a.Vecs(4)
			a.Load(offset(v, i, j), 0, x...)
			a.Store(offset(v, j, i), 0, x...)
		})
	})
	a.At(end)
	a.End()
}

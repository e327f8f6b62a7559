package main

import "github.com/latent-go/latent/internal/kern/_asm/arm64"

// most is how many features a tile of accumulate holds.
const most = 5

// accumulate takes eight components and two rows at a time: a load brings the features of both.
func (a *asm) accumulate() {
	a.Begin("accumulateNEON", "sum, t, r *float64, groups, q, kp int", "", "is Accumulate for 8 components and groups of q <= 5 features; groups > 0.")
	p := a.Args("sum", "t", "r", "groups", "q", "kp")
	sum, t, r, groups, kp := p[0], p[1], p[2], p[3], p[5]
	a.Go("LSL $3, %v, %v", kp, kp)
	a.Choose(p[4], down(most), func(q int) {
		a.Loop(groups, func() {
			acc, rp, tp := a.Vecs(4*q), a.Copy(r), a.Copy(t)
			a.Zero(acc...)
			a.Times(arm64.Rows/2, func() {
				first, second, x := a.Vecs(4), a.Vecs(4), a.Vecs(min(q, 4))
				a.Load(rp, 0, first...)
				a.Go("ADD %v, %v", kp, rp)
				a.Load(rp, 0, second...)
				a.Go("ADD %v, %v", kp, rp)
				for j := range q {
					f := x[j%len(x)]
					a.Load(tp, j*arm64.Line, f)
					each(first, func(i int) { a.Do("fmla %v.2d, %v.2d, %v.d[0]", acc[4*j+i], first[i], f) })
					each(first, func(i int) { a.Do("fmla %v.2d, %v.2d, %v.d[1]", acc[4*j+i], second[i], f) })
				}
				a.Add(16, tp)
			})
			old := a.Vecs(4)
			for j := range q {
				a.Load(sum, 0, old...)
				each(old, func(i int) { a.Do("fadd %v.2d, %[1]v.2d, %v.2d", old[i], acc[4*j+i]) })
				a.Store(sum, 0, old...)
				a.Go("ADD %v, %v", kp, sum)
			}
			a.Add(q*arm64.Line, t)
		})
	})
	a.End()
}

// few keeps the weights of a component in registers.
func (a *asm) few() {
	a.Begin("fewNEON", "sum, t, q, w *float64, f, k int", "", "is AccumulateFew; f, k > 0.")
	p := a.Args("sum", "t", "q", "w", "f", "k")
	sum, t, q, w, f, k := p[0], p[1], p[2], p[3], p[4], p[5]
	a.Loop(k, func() {
		u, x, acc := a.Vecs(16), a.Vecs(8), a.Vecs(4)
		a.Load(q, 0, u...)
		halves(func(off int) {
			a.Load(w, off, x...)
			each(x, func(v int) { a.Do("fmul %v.2d, %[1]v.2d, %v.2d", u[off/16+v], x[v]) })
		})
		a.Add(arm64.Line, q)
		tp, n := a.Copy(t), a.Copy(f)
		a.Loop(n, func() {
			a.Load(sum, 0, acc...)
			halves(func(off int) {
				a.Load(tp, off, x...)
				each(x, func(v int) { a.Do("fmla %v.2d, %v.2d, %v.2d", acc[v%4], x[v], u[off/16+v]) })
			})
			a.Store(sum, 0, acc...)
			a.Add(64, sum)
			a.Add(arm64.Line, tp)
		})
	})
	a.End()
}

func (a *asm) tally() {
	a.Begin("tallyNEON", "sum, factor, w, lse, ent *float64", "", "is Tally.")
	p := a.Args("sum", "factor", "w", "lse", "ent")
	acc, one, zero := a.Vecs(16), a.Number(1), a.Vec()
	a.Zero(zero)
	a.Load(p[0], 0, acc...)
	a.Times(arm64.Rows/8, func() {
		v, w := a.Vecs(4), a.Vecs(4)
		a.Load(p[2], 0, w...)
		each(w, func(i int) { a.Do("fadd %v.2d, %[1]v.2d, %v.2d", acc[i], w[i]) })
		for j := 1; j <= 2; j++ {
			a.Load(p[2+j], 0, v...)
			each(w, func(i int) { a.Do("fmla %v.2d, %v.2d, %v.2d", acc[4*j+i], v[i], w[i]) })
		}
		each(w, func(i int) { a.Do("fcmgt %v.2d, %v.2d, %v.2d", v[i], w[i], zero) })
		each(w, func(i int) { a.Do("and %v.16b, %[1]v.16b, %v.16b", v[i], one) })
		each(w, func(i int) { a.Do("fadd %v.2d, %[1]v.2d, %v.2d", acc[12+i], v[i]) })
		a.Load(p[1], 0, v...)
		each(w, func(i int) { a.Do("fmul %v.2d, %[1]v.2d, %v.2d", v[i], w[i]) })
		a.Store(p[1], 0, v...)
		for _, r := range p[1:] {
			a.Add(64, r)
		}
	})
	a.Store(p[0], 0, acc...)
	a.End()
}

// share turns squares of two components and two rows over.
func (a *asm) share() {
	a.Begin("shareNEON", "r, s, f *float64, kp int", "", "is Share for kp = Pad(k) components; kp > 0.")
	p := a.Args("r", "s", "f", "kp")
	r, s, f, kp := p[0], p[1], p[2], p[3]
	left, stride := a.Copy(kp), a.Copy(kp)
	a.Go("LSR $1, %v, %v", left, left)
	a.Go("LSL $3, %v, %v", stride, stride)
	a.Loop(left, func() {
		to := a.Copy(r)
		halves(func(off int) {
			defer a.Scope()()
			u, v, w, z := a.Vecs(8), a.Vecs(8), a.Vecs(8), a.Vecs(2)
			a.Load(s, off, u...)
			a.Load(s, arm64.Line+off, v...)
			a.Load(f, off, w...)
			each(w, func(i int) { a.Do("fmul %v.2d, %[1]v.2d, %v.2d", u[i], w[i]) })
			each(w, func(i int) { a.Do("fmul %v.2d, %[1]v.2d, %v.2d", v[i], w[i]) })
			each(w, func(i int) {
				a.Do("zip1 %v.2d, %v.2d, %v.2d", z[0], u[i], v[i])
				a.Do("zip2 %v.2d, %v.2d, %v.2d", z[1], u[i], v[i])
				for _, x := range z {
					a.Store(to, 0, x)
					a.Go("ADD %v, %v", stride, to)
				}
			})
		})
		a.Add(2*arm64.Line, s)
		a.Add(16, r)
	})
	a.End()
}

// pack turns squares of two rows and two columns over, four rows at a time.
func (a *asm) pack(size int) {
	suffix, kind := map[int]string{4: "32", 8: "64"}[size], map[int]string{4: "float32", 8: "float64"}[size]
	a.Begin("pack"+suffix+"NEON", "x *float64, src *"+kind+", origin *float64, d int", "", "is Pack of "+kind+" for a full panel; d > 0.")
	p := a.Args("x", "src", "origin", "d")
	x, src, origin, d := p[0], p[1], p[2], p[3]
	left, stride := a.Copy(d), a.Copy(d)
	a.Go("LSL $%d, %v, %v", map[int]int{4: 2, 8: 3}[size], stride, stride)
	a.Steps(left, []int{2, 1}, func(q int) {
		o := a.Vecs(q)
		each(o, func(j int) { a.LoadAll(origin, 8, o[j]) })
		at := a.Copy(src)
		a.Times(arm64.Rows/4, func() {
			rows, out := a.Vecs(4), a.Vecs(2)
			for i := range rows {
				a.widened(at, q, size, rows[i:i+1])
				a.Go("ADD %v, %v", stride, at)
			}
			for j := range q {
				each(out, func(i int) { a.Do("zip%d %v.2d, %v.2d, %v.2d", j+1, out[i], rows[2*i], rows[2*i+1]) })
				each(out, func(i int) { a.Do("fsub %v.2d, %[1]v.2d, %v.2d", out[i], o[j]) })
				a.Store(x, j*arm64.Line, out...)
			}
			a.Add(32, x)
		})
		a.Add((q-1)*arm64.Line, x)
		a.Add(q*size, src)
	})
	a.End()
}

func (a *asm) tails() {
	a.Begin("tailsNEON", "s, u, log, shift, half, inverse, ratio *float64, k int", "", "is Tails; k > 0.")
	p := a.Args("s", "u", "log", "shift", "half", "inverse", "ratio", "k")
	s, u, out := p[0], p[1], p[2]
	log, most, two := a.newLog(), a.Word(0x7fefffffffffffff), a.Number(-2)
	a.Loop(p[7], func() {
		n := a.Vecs(4) // shift, half, inverse, ratio
		each(n, func(i int) { a.LoadAll(p[3+i], 8, n[i]) })
		a.Do("fmul %v.2d, %[1]v.2d, %v.2d", n[2], two)
		a.Times(arm64.Rows/2, func() {
			v, e := a.Vec(), a.Vec()
			a.Load(s, 0, v)
			a.Do("fmul %v.2d, %v.2d, %v.2d", e, v, n[2])
			a.Do("fadd %v.2d, %[1]v.2d, %v.2d", e, log.one)
			a.Do("fmin %v.2d, %[1]v.2d, %v.2d", e, most)
			l := log.of(e)
			a.Do("fdiv %v.2d, %v.2d, %v.2d", e, n[3], e)
			a.Move(v, n[0])
			a.Do("fmls %v.2d, %v.2d, %v.2d", v, n[1], l)
			for i, r := range []vec{v, e, l} {
				a.Store(p[i], 0, r)
				a.Add(16, []reg{s, u, out}[i])
			}
		})
	})
	a.End()
}

func (a *asm) weigh() {
	a.Begin("weighNEON", "sum, row, q, w, u, log *float64, k int", "", "is Weigh; k > 0.")
	p := a.Args("sum", "row", "q", "w", "u", "log", "k")
	sum, row, q, w, u, log := p[0], p[1], p[2], p[3], p[4], p[5]
	a.Loop(p[6], func() {
		acc := a.Vecs(8)
		a.Load(sum, 0, acc...)
		a.Times(arm64.Rows/8, func() {
			x, y, f, l, t := a.Vecs(4), a.Vecs(4), a.Vecs(4), a.Vecs(4), a.Vecs(4)
			a.Load(q, 0, x...)
			a.Load(w, 0, y...)
			a.Load(u, 0, f...)
			a.Load(log, 0, l...)
			each(x, func(i int) { a.Do("fmul %v.2d, %v.2d, %v.2d", t[i], x[i], y[i]) })
			each(x, func(i int) { a.Do("fadd %v.2d, %[1]v.2d, %v.2d", acc[i], t[i]) })
			each(x, func(i int) { a.Do("fmla %v.2d, %v.2d, %v.2d", acc[4+i], t[i], l[i]) })
			each(x, func(i int) { a.Do("fmul %v.2d, %[1]v.2d, %v.2d", x[i], f[i]) })
			a.Store(q, 0, x...)
			a.Load(row, 0, t...)
			each(x, func(i int) { a.Do("fmla %v.2d, %v.2d, %v.2d", t[i], x[i], y[i]) })
			a.Store(row, 0, t...)
			for _, r := range []reg{row, q, w, u, log} {
				a.Add(64, r)
			}
		})
		a.Add(-arm64.Line, row)
		a.Add(-arm64.Line, w)
		a.Store(sum, 0, acc...)
		a.Add(128, sum)
	})
	a.End()
}

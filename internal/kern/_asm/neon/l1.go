package main

// l1 writes the kernels of l1.go.
func l1(a *asm) {
	a.all("l1All", "L1All", a.absolute)
	a.l1Nearest()
	a.l1Rows()
	a.distanceSums()
}

func (a *asm) l1Nearest() {
	a.Begin("l1NearestNEON", "least *float64, label *int64, x, centres *float64, first, k, d int", "",
		"is L1Nearest for k more centres, the first of them number first; k, d > 0.")
	p := a.Args("least", "label", "x", "centres", "k", "d")
	least, label := p[0], p[1]
	number, one := a.Spread("first"), a.Word(1)
	a.distances(&distances{vectors: 8, x: p[2], centre: p[3:4], k: p[4], d: p[5], rows: p[:2], term: a.absolute,
		finish: func(q int, acc [][]vec) {
			next := a.Vec()
			a.Do("add %v.2d, %v.2d, %v.2d", next, number, one)
			for v := 0; v < 8; v += 2 {
				restore := a.Scope()
				best, index, t := a.Vecs(2), a.Vecs(2), a.Vec()
				a.Load(least, 16*v, best...)
				a.Load(label, 16*v, index...)
				for c := range q {
					each(best, func(i int) {
						a.Do("fcmgt %v.2d, %v.2d, %v.2d", t, best[i], acc[c][v+i])
						a.Do("bit %v.16b, %v.16b, %v.16b", best[i], acc[c][v+i], t)
						a.Do("bit %v.16b, %v.16b, %v.16b", index[i], []vec{number, next}[c], t)
					})
				}
				a.Store(least, 16*v, best...)
				a.Store(label, 16*v, index...)
				restore()
			}
		},
		end: func(q int) {
			for range q {
				a.Do("add %v.2d, %v.2d, %v.2d", number, number, one)
			}
		}})
}

// eightfold sets the first lane of the first of four vectors to the sum of the eight numbers, as kern.eightfold adds them.
func (a *asm) eightfold(v []vec) {
	a.Do("fadd %v.2d, %v.2d, %v.2d", v[0], v[0], v[2])
	a.Do("fadd %v.2d, %v.2d, %v.2d", v[1], v[1], v[3])
	a.Do("fadd %v.2d, %v.2d, %v.2d", v[0], v[0], v[1])
	a.Do("faddp %v.2d, %v.2d, %v.2d", v[0], v[0], v[0])
}

func (a *asm) l1Rows() {
	a.Begin("l1RowsNEON", "dst, x, centres *float64, label *int32, n, d int", "", "is L1Rows; n, d > 0.")
	p := a.Args("dst", "x", "centres", "label", "n", "d")
	dst, x, centres, label, n, d := p[0], p[1], p[2], p[3], p[4], p[5]
	a.Loop(n, func() {
		l := a.Reg()
		a.Go("MOVWU.P 4(%v), %v", label, l)
		c, left := a.place(centres, l, d, 8), a.Copy(d)
		acc, v, m := a.Vecs(4), a.Vecs(4), a.Vecs(4)
		a.Zero(acc...)
		add := func(to, v, m []vec) {
			each(v, func(i int) { a.Do("fabd %v.2d, %v.2d, %v.2d", v[i], v[i], m[i]) })
			each(v, func(i int) { a.Do("fadd %v.2d, %v.2d, %v.2d", to[i], to[i], v[i]) })
		}
		a.Steps(left, []int{8}, func(int) {
			a.Load(x, 0, v...)
			a.Load(c, 0, m...)
			add(acc, v, m)
			a.Add(64, x)
			a.Add(64, c)
		})
		done := a.Label("done")
		for i := range 4 { // the columns that are left, at most seven: two at a time, then one
			one, next := a.Label("one"), a.Label("next")
			tail := func(q int) {
				a.cells(x, q, v)
				a.cells(c, q, m)
				add(acc[i:i+1], v[:1], m[:1])
				a.Add(8*q, x)
			}
			a.Go("CBZ %v, %s", left, done)
			a.Go("CMP $1, %v", left)
			a.Go("BEQ %s", one)
			tail(2)
			a.Add(16, c)
			a.Add(-2, left)
			a.Go("B %s", next)
			a.At(one)
			tail(1)
			a.Go("B %s", done)
			a.At(next)
		}
		a.At(done)
		a.eightfold(acc)
		a.Go("FMOVD.P %s, 8(%v)", acc[0].F(), dst)
	})
	a.End()
}

// distanceSums takes four vectors of rows at a time: their sums, and eight for each of two centres, fit the registers.
func (a *asm) distanceSums() {
	a.Begin("distanceSumsNEON", "dst, x, w, centres *float64, k, d int", "", "is DistanceSums; k, d > 0.")
	p := a.Args("dst", "x", "w", "centres", "k", "d")
	dst, w := p[0], p[2]
	var sum [2][]vec
	a.distances(&distances{vectors: 4, x: p[1], rows: []reg{w}, centre: p[3:4], k: p[4], d: p[5], term: a.squared,
		begin: func(q int) {
			for c := range q {
				sum[c] = a.Vecs(4)
				a.Zero(sum[c]...)
			}
		},
		finish: func(q int, acc [][]vec) {
			f := a.Vecs(4)
			a.Load(w, 0, f...)
			for c, v := range acc {
				each(v, func(i int) { a.Do("fsqrt %v.2d, %v.2d", v[i], v[i]) })
				each(v, func(i int) { a.Do("fmul %v.2d, %v.2d, %v.2d", v[i], v[i], f[i]) })
				each(v, func(i int) { a.Do("fadd %v.2d, %v.2d, %v.2d", sum[c][i], sum[c][i], v[i]) })
			}
		},
		end: func(q int) {
			t := a.Vec()
			for c := range q {
				a.eightfold(sum[c])
				a.Go("FMOVD (%v), %s", dst, t.F())
				a.Do("fadd %v.2d, %v.2d, %v.2d", t, t, sum[c][0])
				a.Go("FMOVD.P %s, 8(%v)", t.F(), dst)
			}
		}})
}

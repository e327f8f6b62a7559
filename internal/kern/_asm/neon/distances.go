package main

import (
	"fmt"

	"github.com/latent-go/latent/internal/kern/_asm/arm64"
)

type (
	vec = arm64.V
	reg = arm64.R
)

// distances is a loop over centres, two at a time, then over the rows of a panel, some vectors of them at a time, then over the
// variables, that sums a term of each.
type distances struct {
	vectors int   // of rows at a time
	x       reg   // the panel
	mask    []reg // another panel, if any
	d, k    reg
	centre  []reg // d numbers for each centre: its coordinates first
	rows    []reg // pointers to a number a row, moved with the rows and back
	perRow  []reg // and those moved on to the next centre instead of back

	// term adds to acc that of x, numbers being those of the centre and t a vector that is free.
	term func(acc, x, mask vec, numbers []vec, t vec)
	// begin comes before the rows of q centres, finish after the sums of some rows, vectors for each centre, are made, and end after
	// all rows.
	begin  func(q int)
	finish func(q int, acc [][]vec)
	end    func(q int)
}

func (a *asm) distances(s *distances) {
	a.Steps(s.k, []int{2, 1}, func(q int) {
		if s.begin != nil {
			s.begin(q)
		}
		step := s.vectors * 16
		moving := append(append(append([]reg{s.x}, s.mask...), s.rows...), s.perRow...)
		a.Times(arm64.Rows/2/s.vectors, func() {
			acc := make([][]vec, q)
			for c := range acc {
				acc[c] = a.Vecs(s.vectors)
				a.Zero(acc[c]...)
			}
			a.columns(s, q, acc)
			s.finish(q, acc)
			for _, r := range moving {
				a.Add(step, r)
			}
		})
		for _, r := range moving[:len(moving)-len(s.perRow)] {
			a.Add(-arm64.Line, r)
		}
		for _, r := range s.perRow {
			a.Add((q-1)*arm64.Line, r)
		}
		if s.end != nil {
			s.end(q)
		}
		for _, r := range s.centre {
			for range q {
				a.Go("ADD %v<<3, %v", s.d, r)
			}
		}
	})
	a.End()
}

// columns adds up the terms of some vectors of rows and q centres.
func (a *asm) columns(s *distances, q int, acc [][]vec) {
	defer a.Scope()()
	x, mask, numbers, t := a.Vecs(s.vectors), a.Vecs(s.vectors*len(s.mask)), a.Vecs(len(s.centre)), a.Vecs(2)
	j, xp := a.Copy(s.d), a.Copy(s.x)
	var mp reg
	if s.mask != nil {
		mp = a.Copy(s.mask[0])
	}
	at := make([]reg, 0, q*len(s.centre))
	for c := range q {
		for _, from := range s.centre {
			r := a.Copy(from)
			if c > 0 {
				a.Go("ADD %v<<3, %v", s.d, r)
			}
			at = append(at, r)
		}
	}
	a.Loop(j, func() {
		a.LoadNext(xp, arm64.Line, x...)
		if s.mask != nil {
			a.LoadNext(mp, arm64.Line, mask...)
		}
		for c := range q {
			for i, n := range numbers {
				a.LoadAll(at[c*len(numbers)+i], 8, n)
			}
			for v := range x {
				m := vec(0)
				if s.mask != nil {
					m = mask[v]
				}
				s.term(acc[c][v], x[v], m, numbers, t[v%2])
			}
		}
	})
}

// store stores the sums in hand at out, those of the second centre a line after those of the first.
func (a *asm) store(out reg, acc [][]vec) {
	for c, v := range acc {
		a.Store(out, c*arm64.Line, v...)
	}
}

// squared is the term (x - m)^2, rounded twice.
func (a *asm) squared(acc, x, _ vec, m []vec, t vec) {
	a.Do("fsub %v.2d, %v.2d, %v.2d", t, x, m[0])
	a.Do("fmul %v.2d, %v.2d, %v.2d", t, t, t)
	a.Do("fadd %v.2d, %v.2d, %v.2d", acc, acc, t)
}

// fused is the term (x - m)^2, rounded once.
func (a *asm) fused(acc, x, _ vec, m []vec, t vec) {
	a.Do("fsub %v.2d, %v.2d, %v.2d", t, x, m[0])
	a.Do("fmla %v.2d, %v.2d, %v.2d", acc, t, t)
}

// absolute is the term |x - m|.
func (a *asm) absolute(acc, x, _ vec, m []vec, t vec) {
	a.Do("fabd %v.2d, %v.2d, %v.2d", t, x, m[0])
	a.Do("fadd %v.2d, %v.2d, %v.2d", acc, acc, t)
}

// all writes a kernel that stores the sums of a term.
func (a *asm) all(name, doc string, term func(acc, x, mask vec, numbers []vec, t vec)) {
	a.Begin(name+"NEON", "dst, x, centres *float64, k, d int", "", "is "+doc+"; k, d > 0.")
	p := a.Args("dst", "x", "centres", "k", "d")
	a.distances(&distances{vectors: 8, x: p[1], centre: p[2:3], k: p[3], d: p[4], perRow: p[:1], term: term,
		finish: func(_ int, acc [][]vec) { a.store(p[0], acc) }})
}

// sqdistRow takes 32 centres at a time, all in registers.
func (a *asm) sqdistRow() {
	a.Begin("sqdistRowNEON", "dst, y, centres *float64, n, k, d int", "", "is SqdistRow for n of the k centres, a multiple of 32; n, d > 0.")
	p := a.Args("dst", "y", "centres", "n", "k", "d")
	dst, y, centres, n, k, d := p[0], p[1], p[2], p[3], p[4], p[5]
	a.Go("LSR $5, %v, %v", n, n)
	a.Loop(n, func() {
		acc, t, v := a.Vecs(16), a.Vecs(8), a.Vec()
		a.Zero(acc...)
		at, yp, j := a.Copy(centres), a.Copy(y), a.Copy(d)
		a.Loop(j, func() {
			a.LoadAll(yp, 8, v)
			for h := range 2 {
				a.Load(at, h*128, t...)
				for i, c := range t {
					a.squared(acc[h*8+i], v, 0, []vec{c}, c)
				}
			}
			a.Go("ADD %v<<3, %v", k, at)
		})
		a.Store(dst, 0, acc...)
		a.Add(arm64.Line, dst)
		a.Add(arm64.Line, centres)
	})
	a.End()
}

// least writes the search for the least of k distances, and with second for the next.
func (a *asm) least(second bool) {
	name, params := "argmin", "least *float64, label *int64, dist *float64, k int"
	if second {
		name, params = "twoLeast", "least, second *float64, label *int64, dist *float64, k int"
	}
	a.Begin(name+"NEON", params, "", fmt.Sprintf("is %s; k > 0.", map[bool]string{false: "Argmin", true: "TwoLeast"}[second]))
	out := []reg{a.Arg("least"), a.Arg("label")}
	if second {
		out = append(out, a.Arg("second"))
	}
	dist, k := a.Arg("dist"), a.Arg("k")
	const vectors = 4
	one := a.Word(1)
	a.Times(arm64.Rows/2/vectors, func() {
		at, c := a.Copy(dist), a.Copy(k)
		least, next, label, x, t, n := a.Vecs(vectors), a.Vecs(vectors), a.Vecs(vectors), a.Vecs(vectors), a.Vec(), a.Vec()
		infinite := a.Word(0x7ff << 52)
		for v := range vectors {
			a.Move(least[v], infinite)
			a.Move(next[v], infinite)
		}
		if !second {
			a.Load(at, 0, least...)
		}
		a.Zero(append([]vec{n}, label...)...)
		a.Loop(c, func() {
			a.LoadNext(at, arm64.Line, x...)
			for v := range vectors {
				a.Do("fcmgt %v.2d, %v.2d, %v.2d", t, least[v], x[v])
				a.Do("bit %v.16b, %v.16b, %v.16b", label[v], n, t)
				if second {
					a.Do("fmax %v.2d, %v.2d, %v.2d", t, least[v], x[v])
					a.Do("fmin %v.2d, %v.2d, %v.2d", next[v], next[v], t)
					a.Do("fmin %v.2d, %v.2d, %v.2d", least[v], least[v], x[v])
				} else {
					a.Do("bit %v.16b, %v.16b, %v.16b", least[v], x[v], t)
				}
			}
			a.Do("add %v.2d, %v.2d, %v.2d", n, n, one)
		})
		for i, v := range [][]vec{least, label, next}[:len(out)] {
			a.Store(out[i], 0, v...)
			a.Add(16*vectors, out[i])
		}
		a.Add(16*vectors, dist)
	})
	a.End()
}

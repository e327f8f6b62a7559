package main

import "github.com/latent-go/latent/internal/kern/_asm/arm64"

// gather sets v to the float32 of a table at the places of four labels, which may be negative, and moves the labels on.
func (a *asm) gather(v vec, table, label reg) {
	defer a.Scope()()
	for i := range 4 {
		l := a.Reg()
		a.Go("MOVW.P 4(%v), %v", label, l)
		a.Go("ADD %v<<2, %v, %v", l, table, l)
		a.Go("VLD1 (%v), V%d.S[%d]", l, int(v), i)
	}
}

func (a *asm) due() {
	a.Begin("dueNEON", "flags *uint32, due *float32, label *int32, at *float32, panels int", "", "is Due; panels > 0.")
	p := a.Args("flags", "due", "label", "at", "panels")
	flags, due, label, at := p[0], p[1], p[2], p[3]
	a.Add(4, at)
	zero := a.Set(0)
	first := a.Table("bits", 0x00000002_00000001, 0x00000008_00000004)[0]
	a.Loop(p[4], func() {
		bit, all, d, limit := a.Vec(), a.Vec(), a.Vec(), a.Vec()
		a.Move(bit, first)
		a.Zero(all)
		for v := range arm64.Rows / 4 {
			a.gather(limit, at, label)
			a.Load(due, v*16, d)
			a.Do("fcmgt %v.4s, %v.4s, %v.4s", d, d, limit)
			a.Do("bic %v.16b, %v.16b, %v.16b", d, bit, d)
			a.Do("orr %v.16b, %v.16b, %v.16b", all, all, d)
			a.Do("shl %v.4s, %v.4s, #4", bit, bit)
		}
		word := a.Copy(zero)
		a.gatherBits(all, word, zero)
		a.Go("MOVW.P %v, 4(%v)", word, flags)
		a.Add(panelLine, due)
	})
	a.End()
}

func (a *asm) slack() {
	a.Begin("slackNEON", "due, state, norm *float32, label *int32, low, coef *float32, panels int", "", "is Slack; panels > 0.")
	p := a.Args("due", "state", "norm", "label", "low", "coef", "panels")
	due, state, norm, label, low, coef := p[0], p[1], p[2], p[3], p[4], p[5]
	a.Add(4, low)
	c, zero := a.Vecs(7), a.Vec()
	each(c, func(i int) { a.LoadAll(coef, 4, c[i]) })
	a.Zero(zero)
	a.Loop(p[6], func() {
		a.Times(arm64.Rows/4, func() {
			n, g, t, base, from := a.Vec(), a.Vec(), a.Vec(), a.Vec(), a.Vec()
			score := a.Vecs(2)
			a.Load(norm, 0, n)
			a.Load(state, 0, score[0])
			a.Load(state, panelLine, score[1])
			a.Move(t, c[1])
			a.Do("fmla %v.4s, %v.4s, %v.4s", t, c[0], n)
			a.Move(g, c[2])
			a.Do("fmla %v.4s, %v.4s, %v.4s", g, t, n)
			a.Do("fadd %v.4s, %v.4s, %v.4s", n, n, c[3])
			a.Do("fmul %v.4s, %v.4s, %v.4s", n, n, n)
			a.Move(base, g)
			a.Do("fmla %v.4s, %v.4s, %v.4s", base, c[4], n)
			gap := n
			a.Do("fsub %v.4s, %v.4s, %v.4s", gap, score[1], score[0])
			a.Do("fsub %v.4s, %v.4s, %v.4s", gap, gap, g)
			a.Do("fmaxnm %v.4s, %v.4s, %v.4s", gap, gap, zero)
			for _, s := range score {
				a.Do("fadd %v.4s, %v.4s, %v.4s", s, s, base)
				a.Do("fmaxnm %v.4s, %v.4s, %v.4s", s, s, zero)
				a.Do("fsqrt %v.4s, %v.4s", s, s)
			}
			a.Do("fadd %v.4s, %v.4s, %v.4s", t, score[0], score[1])
			a.Do("fmaxnm %v.4s, %v.4s, %v.4s", t, t, c[5])
			a.Do("fdiv %v.4s, %v.4s, %v.4s", gap, gap, t)
			a.gather(from, low, label)
			a.Do("fmla %v.4s, %v.4s, %v.4s", from, gap, c[6])
			a.Store(due, 0, from)
			for _, r := range []reg{due, state, norm} {
				a.Add(16, r)
			}
		})
		a.Add(2*panelLine, state) // the rest of it
	})
	a.End()
}

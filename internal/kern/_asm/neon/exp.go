package main

import (
	"math"

	"github.com/latent-go/latent/internal/kern/_asm/arm64"
)

// expPoly is (e^r - 1 - r) / r^2, interpolated at the Chebyshev nodes of |r| <= log 2 / 2.
var expPoly = []float64{0.5000000000000001, 0.16666666666666669, 0.041666666666623824, 0.008333333333330039, 0.0013888888917367081,
	0.00019841269863171557, 2.4801521057868204e-05, 2.7557268276905696e-06, 2.7620201591031547e-07, 2.5100472505694996e-08}

// logPoly holds the coefficients of log(1+f) = f - f^2/2 + s (f^2/2 + R(s^2)), s = f/(2+f) (FreeBSD's e_log.c, as package math).
var logPoly = []float64{6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
	1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01}

const (
	magic = 3 << 51 // 1.5 * 2^52: adding it leaves the nearest integer in the low bits
	ln2hi = 6.93147180369123816490e-01
	ln2lo = 1.90821492927058770002e-10
	least = -708 // here and below, exp is flushed to 0
)

// numbers takes vectors of two float64 each.
func (a *asm) numbers(name string, v ...float64) []vec {
	w := make([]uint64, len(v))
	for i, x := range v {
		w[i] = math.Float64bits(x)
	}
	return a.Table(name, w...)
}

// exp is the code for e^t, t <= 0, with its constants in registers: those of which a multiplication takes one lane two by two.
type exp struct {
	*asm
	poly              []vec // two coefficients each
	inverse, ln2      vec   // 1/log 2; log 2 in two parts
	magic, least, one vec
}

func (a *asm) newExp() *exp {
	t := a.numbers("exp", append(expPoly[:len(expPoly):len(expPoly)], 1/math.Ln2, 0, ln2hi, ln2lo)...)
	return &exp{a, t[:5], t[5], t[6], a.Number(magic), a.Number(least), a.Number(1)}
}

// of returns e^t for each vector of t, 0 for t <= -708 and NaN for NaN. It raises t to -708: 0 times -Inf must not happen. The vectors
// go step by step side by side, so that no instruction waits for the one before it.
func (e *exp) of(t []vec) []vec {
	n := len(t)
	z, q, u, r, square := e.Vecs(n), e.Vecs(n), e.Vecs(n), e.Vecs(n), e.Vecs(n)
	step := func(do func(i int)) { each(t, do) }
	step(func(i int) { e.Do("fmax %v.2d, %v.2d, %v.2d", t[i], t[i], e.least) }) // a NaN stays
	step(func(i int) { e.Move(z[i], e.magic) })
	step(func(i int) { e.Do("fmla %v.2d, %v.2d, %v.d[0]", z[i], t[i], e.inverse) })
	step(func(i int) { e.Do("fsub %v.2d, %v.2d, %v.2d", q[i], z[i], e.magic) })
	step(func(i int) { e.Move(r[i], t[i]) })
	step(func(i int) { e.Do("fmls %v.2d, %v.2d, %v.d[0]", r[i], q[i], e.ln2) })
	step(func(i int) { e.Do("fmls %v.2d, %v.2d, %v.d[1]", r[i], q[i], e.ln2) })
	step(func(i int) { e.Do("fmul %v.2d, %v.2d, %v.2d", square[i], r[i], r[i]) })
	// p0 + r^2 (p1 + r^2 (p2 + ...)), p a polynomial of two coefficients in r.
	for c := len(e.poly) - 1; c >= 0; c-- {
		step(func(i int) { e.Do("dup %v.2d, %v.d[0]", u[i], e.poly[c]) })
		step(func(i int) { e.Do("fmla %v.2d, %v.2d, %v.d[1]", u[i], r[i], e.poly[c]) })
		if c < len(e.poly)-1 {
			step(func(i int) { e.Do("fmla %v.2d, %v.2d, %v.2d", u[i], q[i], square[i]) })
		}
		q, u = u, q
	}
	step(func(i int) { e.Do("fmla %v.2d, %v.2d, %v.2d", r[i], square[i], q[i]) }) // e^r - 1
	step(func(i int) { e.Do("shl %v.2d, %v.2d, #52", z[i], z[i]) })
	step(func(i int) { e.Do("add %v.2d, %v.2d, %v.2d", z[i], z[i], e.one) })
	step(func(i int) { e.Do("fmla %v.2d, %v.2d, %v.2d", z[i], z[i], r[i]) })
	step(func(i int) { e.Do("fcmge %v.2d, %v.2d, %v.2d", q[i], e.least, t[i]) })
	step(func(i int) { e.Do("bic %v.16b, %v.16b, %v.16b", z[i], z[i], q[i]) })
	return z
}

// logarithm is the code for log z, z >= 1, with its constants in registers.
type logarithm struct {
	*asm
	poly           []vec // two coefficients each, 1/2 the last
	ln2            vec
	root, one, two vec
}

func (a *asm) newLog() *logarithm {
	t := a.numbers("log", append(logPoly[:len(logPoly):len(logPoly)], 0.5, ln2hi, ln2lo)...)
	return &logarithm{a, t[:4], t[4], a.Word(0x3fe6a09e667f3bcd), a.Number(1), a.Number(2)} // sqrt(1/2)
}

// of returns log z, NaN where z is not finite. z stays as it is.
func (l *logarithm) of(z vec) vec {
	k, f, s, square, q, u := l.Vec(), l.Vec(), l.Vec(), l.Vec(), l.Vec(), l.Vec()
	l.Do("sub %v.2d, %v.2d, %v.2d", k, z, l.root)
	l.Do("ushr %v.2d, %v.2d, #52", k, k)
	l.Do("shl %v.2d, %v.2d, #52", f, k)
	l.Do("sub %v.2d, %v.2d, %v.2d", f, z, f)
	l.Do("scvtf %v.2d, %v.2d", k, k)
	l.Do("fsub %v.2d, %v.2d, %v.2d", f, f, l.one)
	l.Do("fadd %v.2d, %v.2d, %v.2d", s, f, l.two)
	l.Do("fdiv %v.2d, %v.2d, %v.2d", s, f, s)
	l.Do("fmul %v.2d, %v.2d, %v.2d", square, s, s)
	l.Do("dup %v.2d, %v.d[%d]", q, l.poly[3], 0)
	for c := 5; c >= 0; c-- {
		l.Do("dup %v.2d, %v.d[%d]", u, l.poly[c/2], c%2)
		l.Do("fmla %v.2d, %v.2d, %v.2d", u, q, square)
		q, u = u, q
	}
	l.Do("fmul %v.2d, %v.2d, %v.2d", u, f, f)
	l.Do("fmul %v.2d, %v.2d, %v.d[1]", u, u, l.poly[3])
	l.Do("fmul %v.2d, %v.2d, %v.2d", q, q, square) // R
	l.Do("fadd %v.2d, %v.2d, %v.2d", q, q, u)
	l.Do("fmul %v.2d, %v.2d, %v.2d", q, q, s)
	l.Do("fmla %v.2d, %v.2d, %v.d[1]", q, k, l.ln2)
	l.Do("fsub %v.2d, %v.2d, %v.2d", u, u, q)
	l.Do("fsub %v.2d, %v.2d, %v.2d", u, u, f)
	l.Do("fmul %v.2d, %v.2d, %v.d[0]", k, k, l.ln2)
	l.Do("fsub %v.2d, %v.2d, %v.2d", k, k, u)
	l.Do("fsub %v.2d, %v.2d, %v.2d", s, z, z) // NaN where z is not finite
	l.Do("fadd %v.2d, %v.2d, %v.2d", k, k, s)
	return k
}

// ways is how many vectors of rows soften and logSumExp take side by side, as registers allow.
const ways = 2

// top stores the largest of the k scores of each row in dst.
func (a *asm) top(src, dst, k reg) {
	defer a.Scope()()
	sp, n, m, x := a.Copy(src), a.Copy(k), a.Vecs(16), a.Vecs(8)
	a.Load(sp, 0, m...)
	a.Loop(n, func() {
		for h := range 2 {
			a.Load(sp, h*128, x...)
			each(x, func(v int) { a.Do("fmax %v.2d, %v.2d, %v.2d", m[8*h+v], m[8*h+v], x[v]) })
		}
		a.Add(arm64.Line, sp)
	})
	a.Store(dst, 0, m...)
}

func (a *asm) soften() {
	a.Begin("softenNEON", "s, lse, ent, inv *float64, k int, beta, inverse float64", "", "is Soften, inverse being 1/beta; k > 0.")
	p := a.Args("s", "lse", "ent", "inv", "k")
	src, lse, ent, inv, k := p[0], p[1], p[2], p[3], p[4]
	a.top(src, lse, k)
	a.Times(arm64.Rows/2/ways, func() {
		m, sum, h := a.Vecs(ways), a.Vecs(ways), a.Vecs(ways)
		a.Load(lse, 0, m...)
		a.Zero(append(sum, h...)...)
		restore := a.Scope()
		sp, n, beta, e := a.Copy(src), a.Copy(k), a.Spread("beta"), a.newExp()
		a.Loop(n, func() {
			t := a.Vecs(ways)
			a.Load(sp, 0, t...)
			each(t, func(v int) { a.Do("fsub %v.2d, %v.2d, %v.2d", t[v], t[v], m[v]) })
			each(t, func(v int) { a.Do("fmul %v.2d, %v.2d, %v.2d", t[v], t[v], beta) })
			x := e.of(t)
			each(x, func(v int) { a.Do("fadd %v.2d, %v.2d, %v.2d", sum[v], sum[v], x[v]) })
			each(x, func(v int) { a.Do("fmla %v.2d, %v.2d, %v.2d", h[v], x[v], t[v]) })
			a.Store(sp, 0, x...)
			a.Add(arm64.Line, sp)
		})
		restore()
		inverse, log, zero, i := a.Spread("inverse"), a.newLog(), a.Vec(), a.Vecs(ways)
		a.Zero(zero)
		for v := range ways {
			restore := a.Scope()
			l := log.of(sum[v])
			a.Do("fdiv %v.2d, %v.2d, %v.2d", i[v], log.one, sum[v])
			a.Do("fmla %v.2d, %v.2d, %v.2d", m[v], l, inverse)
			a.Do("fmls %v.2d, %v.2d, %v.2d", l, h[v], i[v])
			a.Do("fmax %v.2d, %v.2d, %v.2d", h[v], l, zero) // rounding may leave -1e-17
			restore()
		}
		for i, v := range [][]vec{m, h, i} {
			to := []reg{lse, ent, inv}[i]
			a.Store(to, 0, v...)
			a.Add(16*ways, to)
		}
		a.Add(16*ways, src)
	})
	a.End()
}

func (a *asm) logSumExp() {
	a.Begin("logSumExpNEON", "dst, s *float64, k int", "", "is LogSumExp; k > 0.")
	p := a.Args("dst", "s", "k")
	dst, src, k := p[0], p[1], p[2]
	a.top(src, dst, k)
	a.Times(arm64.Rows/2/ways, func() {
		m, sum := a.Vecs(ways), a.Vecs(ways)
		a.Load(dst, 0, m...)
		a.Zero(sum...)
		restore := a.Scope()
		sp, n, e := a.Copy(src), a.Copy(k), a.newExp()
		a.Loop(n, func() {
			t := a.Vecs(ways)
			a.LoadNext(sp, arm64.Line, t...)
			each(t, func(v int) { a.Do("fsub %v.2d, %v.2d, %v.2d", t[v], t[v], m[v]) })
			x := e.of(t)
			each(x, func(v int) { a.Do("fadd %v.2d, %v.2d, %v.2d", sum[v], sum[v], x[v]) })
		})
		restore()
		log := a.newLog()
		each(m, func(v int) {
			defer a.Scope()()
			a.Do("fadd %v.2d, %v.2d, %v.2d", m[v], m[v], log.of(sum[v]))
		})
		a.Store(dst, 0, m...)
		a.Add(16*ways, dst)
		a.Add(16*ways, src)
	})
	a.End()
}

// argmax compares four vectors of rows at a time.
func (a *asm) argmax() {
	a.Begin("argmaxNEON", "best *float64, label *int32, s *float64, k int", "", "is Argmax; k > 0.")
	p := a.Args("best", "label", "s", "k")
	best, label, src, k := p[0], p[1], p[2], p[3]
	const vectors = 4
	one := a.Word(1)
	a.Times(arm64.Rows/2/vectors, func() {
		at, n := a.Copy(src), a.Copy(k)
		top, index, x, t, c := a.Vecs(vectors), a.Vecs(vectors), a.Vecs(vectors), a.Vec(), a.Vec()
		a.Load(at, 0, top...)
		a.Zero(append([]vec{c}, index...)...)
		a.Loop(n, func() {
			a.LoadNext(at, arm64.Line, x...)
			for v := range vectors {
				a.Do("fcmgt %v.2d, %v.2d, %v.2d", t, x[v], top[v])
				a.Do("bit %v.16b, %v.16b, %v.16b", top[v], x[v], t)
				a.Do("bit %v.16b, %v.16b, %v.16b", index[v], c, t)
			}
			a.Do("add %v.2d, %v.2d, %v.2d", c, c, one)
		})
		a.Store(best, 0, top...)
		for v := 0; v < vectors; v += 2 {
			a.Do("uzp1 %v.4s, %v.4s, %v.4s", index[v/2], index[v], index[v+1]) // the low halves
		}
		a.Store(label, 0, index[:vectors/2]...)
		a.Add(16*vectors, best)
		a.Add(8*vectors, label)
		a.Add(16*vectors, src)
	})
	a.End()
}

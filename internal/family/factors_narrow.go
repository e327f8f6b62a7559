package family

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/internal/kern"
)

// Factors is WideFactors for tables of few columns. Its sums are those of Gaussian for Full, and so are its kernels; its M-step goes to the maximum,
// and its metric is the information that rows carry of loadings and uniquenesses if their components alone were known, not the factors too.
type Factors struct {
	WideFactors
	// Gaps says what cells are missing; nil is for complete rows. With gaps every row is completed, as Gaussian does for Full.
	Gaps *Gaps
	// Beyond is how many columns more there are in which all rows and means are 0, of RoundFactors: directions beside the span of few rows. They
	// add to the density and to the uniqueness, which EM's step counts, and to no metric: EM alone climbs with them.
	Beyond int
}

// FactorsOf returns the family of a shape with factors for columns of variances v: Factors of up to NarrowColumns, WideFactors of more.
func FactorsOf(shape Shape, v []float64, gaps *Gaps) Family {
	g := WideFactors{Shape: shape, Var: v}
	if len(v) > NarrowColumns {
		return g
	}
	return Factors{WideFactors: g, Gaps: gaps}
}

// WideOf returns a family with factors as WideFactors, which has the parameters alike; ok is false for another family.
func WideOf(f Family) (g WideFactors, ok bool) {
	switch f := f.(type) {
	case Factors:
		return f.WideFactors, true
	case WideFactors:
		return f, true
	}
	return g, false
}

// WithGaps implements Incomplete.
func (g Factors) WithGaps(gaps *Gaps) Family {
	g.Gaps = gaps
	return g
}

// Patterns implements Incomplete.
func (g Factors) Patterns() *Gaps { return g.Gaps }

// Plain returns the Gaussian family of the same covariances, each a whole matrix, whose kernel gathers the sums.
func (g Factors) Plain() Gaussian { return Gaussian{Shape: Full, Var: g.Var, Gaps: g.Gaps} }

// Sums returns the length of Stats.Sum.
func (g Factors) Sums(k, d int) int { return g.Plain().Sums(k, d) }

// Move implements Moving.
func (g Factors) Move(s *Stats, to, from []float64) { g.Plain().Move(s, to, from) }

// Expand implements Constrained.
func (g Factors) Expand(plain, theta []float64, k, d int) {
	copy(plain, theta[:k*d])
	p, cov := g.Plain(), make([]float64, d*(d+1)/2)
	for c := range k {
		f := g.factor(theta, c, k, d)
		f.covariance(cov)
		u := p.ScaleOf(plain, c, k, d)
		if !p.Scale(u, cov, d) { // rounding of an all but singular one
			f.covariance(cov)
			p.ScaleAbove(u, cov, d)
		}
	}
}

// Restrict implements Constrained. The nearest parameters are those of the M-step for rows with the moments of plain, from uniquenesses that are half
// of what each column does not share with the others.
func (g Factors) Restrict(theta, plain, weight []float64, k, d int) {
	p := g.Plain()
	p.Gaps = nil
	moments := make([][]float64, k)
	copy(theta, plain[:k*d])
	w := make([]float64, k)
	for c := range k {
		moments[c] = make([]float64, p.Shape.Size(d))
		p.Covariance(moments[c], p.ScaleOf(plain, c, k, d), d)
		w[c] = max(weight[c], 1e-9)
		u := p.ScaleOf(plain, c, k, d)
		inverse := make([]float64, len(u))
		p.inverse(inverse, u, d)
		left := make([]float64, d) // 1 over the diagonal of the inverse: what the other columns do not tell
		for j := range d {
			for m := j; m < d; m++ {
				left[j] += inverse[tri(m, j)] * inverse[tri(m, j)]
			}
			left[j] = max(0.5/left[j], 0.005*moments[c][tri(j, j)])
		}
		clear(g.LoadingsOf(theta, c, k, d))
		g.SetFactors(theta, nil, left, c, k, d)
	}
	g.maximise(theta, theta, moments, w, k, d)
}

// Bind factorises the covariances.
func (g Factors) Bind(theta []float64, k, d int) Kernel {
	plain := expanded(g, theta, k, d)
	b := &narrowKernel{Kernel: g.Plain().Bind(plain, k, d), family: g, theta: slices.Clone(theta), rows: g.rowScores(theta, k, d)}
	if g.Beyond > 0 {
		b.beyond = g.beyond(theta, k, d)
	}
	return b
}

// beyond returns what the columns in which all rows are 0 add to the log density of each component.
func (g Factors) beyond(theta []float64, k, d int) []float64 {
	v := make([]float64, k)
	for c := range v {
		v[c] = -0.5 * float64(g.Beyond) * (log2Pi + theta[g.Unique(c, 0, k, d)])
	}
	return v
}

// narrowKernel is the kernel of Plain, with gradients of rows in loadings and uniquenesses.
type narrowKernel struct {
	Kernel
	family Factors
	theta  []float64 // with gaps: the parameters
	rows   *factorKernel
	beyond []float64 // what is added to each component's log density; nil where nothing is
}

// Fuse implements Fusable.
func (b *narrowKernel) Fuse(logw []float64) FusedKernel {
	if b.beyond != nil {
		logw = slices.Clone(logw)
		floats.Add(logw, b.beyond)
	}
	return b.Kernel.(Fusable).Fuse(logw)
}

// Score implements Kernel.
func (b *narrowKernel) Score(dst []float64, p *Panel, ws *Workspace) {
	b.Kernel.Score(dst, p, ws)
	for c, v := range b.beyond {
		floats.AddConst(v, dst[c*kern.Rows:(c+1)*kern.Rows])
	}
}

// RowGrad implements GradKernel.
func (b *narrowKernel) RowGrad(g []float64, p *Panel, r []float64, ws *Workspace) {
	if p.Holes {
		rowGradsByPass(g, b.family, b.Kernel, b.theta, b.rows.k, p, r, ws)
		return
	}
	b.rows.RowGrad(g, p, r, ws)
}

// sums returns the sums of component c with the factors that theta expects.
func (g Factors) sums(s *Stats, theta []float64, c int) (factorSums, *factored) {
	k, d, p := s.K, s.D, g.Plain()
	f := g.factor(theta, c, k, d)
	return f.sumsOf(s.N[c], s.Sum[c*d:c*d+d], p.scale(p.second(s), c, d)), f
}

// Expected returns sum_i w_i sum_c r_ic log N(x_i | next_c) in nats.
func (g Factors) Expected(next, theta []float64, s *Stats) float64 {
	sum := g.Plain().Expected(expanded(g, next, s.K, s.D), theta[:s.K*s.D], s)
	if g.Beyond > 0 {
		sum += floats.Dot(s.N, g.beyond(next, s.K, s.D))
	}
	return sum
}

// MStep sets means to those of the rows, and loadings and uniquenesses to a maximum of the expected log-likelihood: that of RoundFactors in closed
// form (Tipping and Bishop 1999, section 3.2), the others by Newton's method in the uniquenesses, from those of theta.
func (g Factors) MStep(next, theta []float64, s *Stats) {
	k, d, p := s.K, s.D, g.Plain()
	moments := make([][]float64, k)
	from := slices.Clone(theta)
	for c := range k {
		n, t := s.N[c], s.Sum[c*d:c*d+d]
		if !(n > minWeight) {
			continue
		}
		moments[c] = slices.Clone(p.scale(p.second(s), c, d))
		p.recentre(moments[c], t, n)
		floats.Scale(1/n, moments[c])
		floats.AddScaled(from[c*d:c*d+d], 1/n, t)
	}
	copy(next, from)
	g.maximise(next, theta, moments, s.N, k, d)
}

// maximise sets the loadings and uniquenesses of next to a maximum for rows with the covariances moments, packed lower triangles, each counted by its
// weight, from the uniquenesses of theta; those of a component without moments stay.
func (g Factors) maximise(next, theta []float64, moments [][]float64, weight []float64, k, d int) {
	from := slices.Clone(theta[g.loads(k, d):]) // next and theta may be the same
	old := func(c int) []float64 { return from[c*d*g.q() : (c+1)*d*g.q()] }
	var all []*profile
	var of []int
	solve := func() {
		if len(all) == 0 {
			return
		}
		uniques := newtonUniquenesses(all, g.approach(all, old, of, g.startUniquenesses(next, of[0], k, d)), g.lowest())
		for i, c := range of {
			g.place(next, all[i].loadings(), old(c), uniques, c, k, d)
		}
		all, of = nil, nil
	}
	for c, q := range moments {
		switch {
		case q == nil:
		case g.Shape.base() == RoundFactors:
			l, u := roundFactors(symmetricOf(q, d), g.q(), g.Beyond, math.Exp(g.lowest()[0]))
			g.place(next, l, old(c), slices.Repeat([]float64{math.Log(u)}, d), c, k, d)
		default:
			all, of = append(all, newProfile(q, d, weight[c], g.q())), append(of, c)
			if g.Shape.base() == OwnFactors {
				solve()
			}
		}
	}
	solve()
}

// Steps of EM lead to Newton's method and keep to the maximum that is near: the cost of uniquenesses alone has others.
const (
	approachSteps = 50
	approachEnd   = 1e-3 // largest step of a logarithm of a uniqueness at which they end
)

// approach returns the logarithms of the uniquenesses after some steps that count the factors as missing, from loadings of the components of that the
// function old returns and from uniquenesses whose logarithms are log. Where there are no loadings it stays, since EM finds none.
func (g Factors) approach(all []*profile, old func(c int) []float64, of []int, log []float64) []float64 {
	d := len(log)
	u, loads := make([]float64, d), make([][]float64, len(of))
	for j, v := range log {
		u[j] = math.Exp(v)
	}
	for i, c := range of {
		if loads[i] = slices.Clone(old(c)); floats.Norm(loads[i], 1) == 0 {
			return log
		}
	}
	low, zero, total := g.lowest(), make([]float64, d), 0.0
	for _, p := range all {
		total += p.n
	}
	for range approachSteps {
		mean, left := make([]float64, d), make([]float64, d)
		for i, p := range all {
			f := newFactored(loads[i], u)
			t := f.sumsOf(1, zero, p.packed)
			next := make([]float64, len(loads[i]))
			t.step(next, left, f)
			loads[i] = next
			floats.AddScaled(mean, p.n/total, left)
		}
		far := 0.0
		for j := range mean {
			mean[j] = max(mean[j], math.Exp(low[j]))
			far = max(far, math.Abs(math.Log(mean[j]/u[j])))
		}
		switch u = mean; {
		case far != far:
			return log
		case far < approachEnd:
			return logs(u, low)
		}
	}
	return logs(u, low)
}

// logs returns logarithms, none below low.
func logs(u, low []float64) []float64 {
	v := make([]float64, len(u))
	for j := range v {
		v[j] = max(math.Log(u[j]), low[j])
	}
	return v
}

// place sets loadings, turned to be as near to old as can be, and logarithms of uniquenesses of component c.
func (g Factors) place(theta, l, old, uniques []float64, c, k, d int) {
	u := make([]float64, d)
	for j, v := range uniques {
		u[j] = math.Exp(v)
		theta[g.Unique(c, j, k, d)] = v
	}
	turnTowards(l, old, u)
	copy(g.LoadingsOf(theta, c, k, d), l)
}

// startUniquenesses returns the logarithms of the uniquenesses of component c, inside the floor.
func (g Factors) startUniquenesses(theta []float64, c, k, d int) []float64 {
	v := g.lowest()
	for j, low := range v {
		v[j] = max(theta[g.Unique(c, j, k, d)], low)
	}
	return v
}

// roundFactors returns the loadings and the uniqueness that maximise the likelihood of rows with the covariance c: its q largest eigenvalues less the mean
// of the others, which is the uniqueness and at least the floor. beyond is how many more eigenvalues of 0 there are.
func roundFactors(c *mat.SymDense, q, beyond int, floor float64) (l []float64, u float64) {
	values, vectors := eigenSym(c)
	d := len(values)
	for _, v := range values[:d-q] {
		u += max(v, 0) / float64(d-q+beyond)
	}
	u = max(u, floor)
	l = make([]float64, d*q)
	for f := range q {
		size := math.Sqrt(max(values[d-1-f]-u, 0))
		for j := range d {
			l[j*q+f] = size * vectors.At(j, d-1-f)
		}
	}
	return l, u
}

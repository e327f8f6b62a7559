package family_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/family/familytest"
	"github.com/latent-go/latent/internal/mixture"
)

// manyColumns draws n rows of d columns and q factors.
func manyColumns(rng *rand.Rand, n, d, q int) (x, v []float64) {
	l := make([]float64, d*q)
	for i := range l {
		l[i] = rng.NormFloat64()
	}
	v = make([]float64, d)
	for range n {
		f := make([]float64, q)
		for i := range f {
			f[i] = rng.NormFloat64()
		}
		for j := range d {
			cell := rng.NormFloat64() * (0.5 + float64(j%5)/5)
			for i, w := range f {
				cell += w * l[j*q+i]
			}
			x = append(x, cell)
			v[j] += cell * cell / float64(n)
		}
	}
	return x, v
}

// Both families have one density, so that their log-likelihoods and gradients are the same, and those of differences. Rows are fewer than columns.
func TestWideFactorsAgreeWithNarrowOnes(t *testing.T) {
	const k, d, q, n = 2, 20, 3, 15
	rng := rand.New(rand.NewPCG(41, 0))
	x, v := manyColumns(rng, n, d, q)
	for _, shape := range factorShapes {
		s := shape.WithFactors(q)
		wide := &mixture.Mixture{Family: family.WideFactors{Shape: s, Var: v}, K: k, D: d}
		narrow := &mixture.Mixture{Family: family.FactorsOf(s, v, nil), K: k, D: d}
		theta := append([]float64{0.2, -0.2}, factorTheta(family.WideFactors{Shape: s, Var: v}, k, d, rng)...)
		a, b := familytest.Sweep(wide, theta, 1, x, nil), familytest.Sweep(narrow, theta, 1, x, nil)
		ga, gb := make([]float64, len(theta)), make([]float64, len(theta))
		wide.Grad(ga, theta, a)
		narrow.Grad(gb, theta, b)
		closeTo(t, s.String()+": log-likelihood", a.LogLik, b.LogLik, 1e-11)
		closeTo(t, s.String()+": free energy at the parameters of the sweep", wide.FreeEnergy(theta, theta, 1, a), a.LogLik, 1e-11)
		for i := range theta {
			closeTo(t, s.String()+": gradient", ga[i], gb[i], 1e-9)
			const h = 1e-5
			up, down := slices.Clone(theta), slices.Clone(theta)
			up[i] += h
			down[i] -= h
			slope := (familytest.Sweep(wide, up, 1, x, nil).LogLik - familytest.Sweep(wide, down, 1, x, nil).LogLik) / (2 * h)
			if !(math.Abs(ga[i]-slope) <= 1e-5*(1+math.Abs(slope))) {
				t.Errorf("%s: entry %d of the gradient is %v, by differences %v", s, i, ga[i], slope)
			}
		}
	}
}

// EM with the factors missing never lowers the log-likelihood, nor its bound; also with fewer rows than columns.
func TestWideStepsAscend(t *testing.T) {
	const k, d, q, n = 3, 30, 2, 24
	rng := rand.New(rand.NewPCG(42, 0))
	x, v := manyColumns(rng, n, d, q)
	for _, shape := range factorShapes {
		m := &mixture.Mixture{Family: family.WideFactors{Shape: shape.WithFactors(q), Var: v}, K: k, D: d}
		theta := make([]float64, m.Params())
		g, comp := m.Family.(family.WideFactors), m.Components(theta)
		for c := range k {
			copy(comp[c*d:c*d+d], x[c*d:c*d+d])
			l := make([]float64, d*q)
			for i := range l {
				l[i] = rng.NormFloat64() / 2
			}
			g.SetFactors(comp, l, v, c, k, d)
		}
		st := familytest.Sweep(m, theta, 1, x, nil)
		for step := range 40 {
			next := slices.Clone(theta)
			m.MStep(next, theta, st)
			lifted, after := m.FreeEnergy(next, theta, 1, st), familytest.Sweep(m, next, 1, x, nil)
			if slack := 1e-10 * math.Abs(st.F); !(lifted >= st.F-slack && after.F >= lifted-slack) {
				t.Fatalf("%s, step %d: log-likelihood %v, after the M-step %v, after the E-step %v", shape.WithFactors(q), step, st.F, lifted, after.F)
			}
			theta, st = next, after
		}
	}
}

func closeTo(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*(1+math.Abs(want))) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// withTurn returns theta with the first two factors of each component turned.
func withTurn(g family.WideFactors, theta []float64, k, d int, angle float64) []float64 {
	to, q := slices.Clone(theta), g.Shape.Factors()
	sin, cos := math.Sincos(angle)
	for c := range k {
		l := g.LoadingsOf(to, c, k, d)
		for j := range d {
			a, b := l[j*q], l[j*q+1]
			l[j*q], l[j*q+1] = cos*a+sin*b, cos*b-sin*a
		}
	}
	return to
}

// A rotation of loadings changes no density, has no length and is in no move that the metric makes of a gradient; the gradient has no part along it.
func TestRotationsOfLoadingsChangeNothing(t *testing.T) {
	const k, d, q, n = 2, 9, 3, 60
	rng := rand.New(rand.NewPCG(43, 0))
	x, v := manyColumns(rng, n, d, q)
	factorFamilies(t, q, func(t *testing.T, newFamily familytest.Maker) {
		m := &mixture.Mixture{Family: newFamily(v), K: k, D: d}
		g, _ := family.WideOf(m.Family)
		theta := append([]float64{0.1, -0.1}, factorTheta(g, k, d, rng)...)
		st := familytest.Sweep(m, theta, 1, x, nil)
		other := append(slices.Clone(theta[:2]), withTurn(g, theta[2:], k, d, 0.7)...)
		closeTo(t, "log-likelihood of turned factors", familytest.Sweep(m, other, 1, x, nil).LogLik, st.LogLik, 1e-12)

		smooth, comp := m.Family.(family.Smooth), m.Components(theta)
		grad, z := make([]float64, len(comp)), make([]float64, len(comp))
		smooth.Grad(grad, comp, st)
		for i := range z {
			z[i] = rng.NormFloat64()
		}
		smooth.Precondition(z, z, comp, st)
		turns := 0
		g.Rotations(comp, k, d, func(c, from int, move, dual []float64) {
			turns++
			along, size, inZ, whole := 0.0, 0.0, 0.0, make([]float64, len(comp))
			copy(whole[from:], move)
			for i, w := range move {
				along += w * grad[from+i]
				size += math.Abs(w * grad[from+i])
				inZ += dual[i] * z[from+i]
			}
			if math.Abs(along) > 1e-10*size || math.Abs(inZ) > 1e-9 {
				t.Errorf("the gradient has %v along a rotation, and a move of the metric %v", along, inZ)
			}
			if length := smooth.SquaredLength(whole, comp, st); !(length < 1e-9) {
				t.Errorf("a rotation has the squared length %v", length)
			}
		})
		if turns != k*q*(q-1)/2 {
			t.Errorf("%d rotations, want %d", turns, k*q*(q-1)/2)
		}
	})
}

// Products with the metric are what lengths say also where a uniqueness is next to 0, and S^-1 e the small difference of large numbers.
func TestFactorMetricMultipliesWithoutUniqueness(t *testing.T) {
	const k, d = 1, 7
	rng := rand.New(rand.NewPCG(45, 0))
	v := slices.Repeat([]float64{1}, d)
	for _, shape := range factorShapes {
		for _, fam := range []family.Family{family.FactorsOf(shape.WithFactors(2), v, nil), family.FactorsOf(shape.WithFactors(2), v, nil).(family.Factors).WideFactors} {
			g, smooth := family.FactorsOf(shape.WithFactors(2), v, nil).(family.Factors).WideFactors, fam.(family.Smooth)
			theta := factorTheta(g, k, d, rng)
			theta[g.Unique(0, 2, k, d)] = math.Log(1e-6)
			st := family.NewStats(k, d, fam.Sums(k, d), 0)
			st.N[0], st.W = 100, 100
			e, length := make([]float64, len(theta)), make([]float64, len(theta))
			for i := range e {
				e[i] = 1
				length[i] = math.Sqrt(smooth.SquaredLength(e, theta, st))
				e[i] = 0
			}
			a := make([]float64, len(theta))
			for i := range a {
				a[i] = rng.NormFloat64() / length[i]
			}
			q, whole := make([]float64, len(theta)), math.Sqrt(smooth.SquaredLength(a, theta, st))
			smooth.Multiply(q, a, theta, st)
			for i, v := range q {
				h := whole / length[i]
				up, down := slices.Clone(a), slices.Clone(a)
				up[i] += h
				down[i] -= h
				want := (smooth.SquaredLength(up, theta, st) - smooth.SquaredLength(down, theta, st)) / (4 * h)
				if !(math.Abs(v-want) <= 1e-9*whole*length[i]) {
					t.Errorf("%s: entry %d is %v, by lengths %v", fam.Name(), i, v, want)
				}
			}
		}
	}
}

// With S of the model the information of a row about dS is half the trace of S^-1 dS S^-1 dS: the metric of Factors but for its ridge, which is a thousandth of
// a regression on known factors.
func TestFactorMetricIsTheExpectedInformation(t *testing.T) {
	const d, q = 7, 2
	rng := rand.New(rand.NewPCG(44, 0))
	v := slices.Repeat([]float64{1}, d)
	for _, shape := range factorShapes {
		fam := family.FactorsOf(shape.WithFactors(q), v, nil).(family.Factors)
		theta := factorTheta(fam.WideFactors, 1, d, rng)
		z := make([]float64, len(theta))
		for i := d; i < len(z); i++ { // means are not part of it
			z[i] = rng.NormFloat64()
		}
		st := family.NewStats(1, d, fam.Sums(1, d), 0)
		st.N[0], st.W = 1, 1
		got := fam.SquaredLength(z, theta, st)

		const h = 1e-5
		up, down := slices.Clone(theta), slices.Clone(theta)
		for i, w := range z {
			up[i] += h * w
			down[i] -= h * w
		}
		var ds, inverse, a, b mat.Dense
		ds.Sub(factorMatrix(fam.WideFactors, up, 0, 1, d), factorMatrix(fam.WideFactors, down, 0, 1, d))
		ds.Scale(1/(2*h), &ds)
		if err := inverse.Inverse(factorMatrix(fam.WideFactors, theta, 0, 1, d)); err != nil {
			t.Fatal(err)
		}
		a.Mul(&inverse, &ds)
		b.Mul(&a, &a)
		want := mat.Trace(&b) / 2
		ridge := fam.WideFactors.SquaredLength(z, theta, st) / 1000
		if !(math.Abs(got-want-ridge) <= 1e-6*want) {
			t.Errorf("%s: squared length %v, want %v and a ridge of %v", fam.Name(), got, want, ridge)
		}
	}
}

// In its standard position L' diag(1/u) L is diagonal and falls, the largest loading of each factor is positive, and L L' is as before.
func TestStandardPosition(t *testing.T) {
	const d, q = 8, 3
	rng := rand.New(rand.NewPCG(45, 0))
	l, u := make([]float64, d*q), make([]float64, d)
	for i := range l {
		l[i] = rng.NormFloat64()
	}
	for j := range u {
		u[j] = 0.2 + rng.Float64()
	}
	before := slices.Clone(l)
	family.StandardPosition(l, u)
	at := func(f, h int) (sum float64) {
		for j, v := range u {
			sum += l[j*q+f] * l[j*q+h] / v
		}
		return sum
	}
	for f := range q {
		for h := range f {
			if math.Abs(at(f, h)) > 1e-12*at(0, 0) || at(f, f) > at(h, h) {
				t.Errorf("entry %d, %d is %v, and the diagonal %v and %v", f, h, at(f, h), at(h, h), at(f, f))
			}
		}
		top := 0.0
		for j := range d {
			if math.Abs(l[j*q+f]) > math.Abs(top) {
				top = l[j*q+f]
			}
		}
		if top < 0 {
			t.Errorf("the largest loading of factor %d is %v", f, top)
		}
	}
	sameProducts(t, l, before, q)
}

// sameProducts wants l l' to be the same as before.
func sameProducts(t *testing.T, l, before []float64, q int) {
	t.Helper()
	d := len(l) / q
	for i := range d {
		for j := range d {
			got, want := 0.0, 0.0
			for f := range q {
				got, want = got+l[i*q+f]*l[j*q+f], want+before[i*q+f]*before[j*q+f]
			}
			closeTo(t, "covariance", got, want, 1e-12)
		}
	}
}

// The gradients of loadings in their standard position, by differences.
func TestGradientOfTheStandardPosition(t *testing.T) {
	const k, d, q, h = 2, 5, 2, 1e-6
	rng := rand.New(rand.NewPCG(46, 0))
	g := family.WideFactors{Shape: family.OwnFactors.WithFactors(q), Var: slices.Repeat([]float64{1}, d)}
	theta := factorTheta(g, k, d, rng)
	position := func(theta []float64) []float64 {
		l := slices.Clone(g.LoadingsOf(theta, 1, k, d))
		family.StandardPosition(l, g.UniquenessesOf(theta, 1, k, d))
		return l
	}
	g.PositionGrad(theta, 1, k, d, func(j, f int, grad []float64) {
		for i := range theta {
			up, down := slices.Clone(theta), slices.Clone(theta)
			up[i] += h
			down[i] -= h
			want := (position(up)[j*q+f] - position(down)[j*q+f]) / (2 * h)
			if math.Abs(grad[i]-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("loading %d, %d in parameter %d: %v, by differences %v", j, f, i, grad[i], want)
			}
		}
	})
}

// Of two factors varimax is the best of all angles.
func TestVarimaxIsTheBestAngle(t *testing.T) {
	const d, q = 10, 2
	rng := rand.New(rand.NewPCG(47, 0))
	l := make([]float64, d*q)
	for i := range l {
		l[i] = rng.NormFloat64()
	}
	criterion := func(l []float64) (sum float64) { // of rows of length 1: the variances of the squared loadings
		for f := range q {
			a, b := 0.0, 0.0
			for j := range d {
				v := l[j*q+f] * l[j*q+f] / (l[j*q]*l[j*q] + l[j*q+1]*l[j*q+1])
				a, b = a+v, b+v*v
			}
			sum += b/d - a*a/(d*d)
		}
		return sum
	}
	got := family.Varimax(l, q)
	sameProducts(t, got, l, q)
	best := 0.0
	for i := range 100_000 {
		sin, cos := math.Sincos(math.Pi * float64(i) / 100_000)
		to := make([]float64, len(l))
		for j := range d {
			to[j*q], to[j*q+1] = cos*l[j*q]+sin*l[j*q+1], cos*l[j*q+1]-sin*l[j*q]
		}
		best = max(best, criterion(to))
	}
	if v := criterion(got); v < best-1e-8 {
		t.Errorf("the criterion is %v, and %v at the best of all angles", v, best)
	}
}

// Whether a covariance exceeds a diagonal one is what gonum's Cholesky factor of the difference says.
func TestExceedsIsPositiveDefinite(t *testing.T) {
	const d, q = 6, 2
	rng := rand.New(rand.NewPCG(48, 0))
	g := family.WideFactors{Shape: family.OwnFactors.WithFactors(q), Var: slices.Repeat([]float64{1}, d)}
	counts := [2]int{}
	for range 500 {
		theta, least := factorTheta(g, 1, d, rng), make([]float64, d)
		for j := range least {
			least[j] = 1.5 * rng.Float64() * rng.Float64()
		}
		s := factorMatrix(g, theta, 0, 1, d)
		for j, v := range least {
			s.SetSym(j, j, s.At(j, j)-v)
		}
		var chol mat.Cholesky
		want := chol.Factorize(s)
		if got := g.Exceeds(theta, least, 0, 1, d); got != want {
			t.Fatalf("exceeds: %v, gonum says %v", got, want)
		}
		counts[map[bool]int{true: 1}[want]]++
	}
	if min(counts[0], counts[1]) < 50 {
		t.Errorf("%v of both answers: the samples tell little", counts)
	}
}

// A Heywood case is no degenerate component; one more column without variance than factors is.
func TestHeywoodCasesAreNotDegenerate(t *testing.T) {
	const d = 4
	g := family.WideFactors{Shape: family.OwnFactors.WithFactors(1), Var: []float64{1, 1, 1, 1}}
	theta := make([]float64, g.Params(1, d))
	floor := family.MinUniqueness
	g.SetFactors(theta, []float64{1, 0.8, 0.5, 0.2}, []float64{floor, 0.3, 0.5, 0.9}, 0, 1, d)
	if at := g.AtFloor(theta, 1, d); at[0] || !slices.Equal(g.Heywood(theta, 0, 1, d), []int{0}) {
		t.Errorf("a Heywood case of column 0: degenerate %v, named %v", at[0], g.Heywood(theta, 0, 1, d))
	}
	g.SetFactors(theta, []float64{1, 0.8, 0.5, 0.2}, []float64{floor, floor, 0.5, 0.9}, 0, 1, d)
	if !g.AtFloor(theta, 1, d)[0] {
		t.Error("two columns that one factor determines: not degenerate")
	}
	g.SetFactors(theta, []float64{0, 0.8, 0.5, 0.2}, []float64{floor, 0.3, 0.5, 0.9}, 0, 1, d)
	if !g.AtFloor(theta, 1, d)[0] {
		t.Error("a column without variance and without a factor: not degenerate")
	}
}

// Of rows with one uniqueness the start is the maximum in closed form: the largest eigenvalues of the covariance, by gonum.
func TestStartOfFewRowsIsTheClosedForm(t *testing.T) {
	const d, q, n = 12, 2, 7
	rng := rand.New(rand.NewPCG(49, 0))
	x, v := manyColumns(rng, n, d, q)
	g := family.WideFactors{Shape: family.RoundFactors.WithFactors(q), Var: v}
	theta, w := make([]float64, g.Params(1, d)), slices.Repeat([]float64{1}, n)
	cov := mat.NewSymDense(d, nil)
	for i := range n {
		for j := range d {
			theta[j] += x[i*d+j] / n
		}
	}
	for i := range n {
		e := mat.NewVecDense(d, nil)
		for j := range d {
			e.SetVec(j, x[i*d+j]-theta[j])
		}
		cov.SymRankOne(cov, 1.0/n, e)
	}
	g.StartFrom(theta, x, w, 0, 1, d)
	var eigen mat.EigenSym
	if !eigen.Factorize(cov, true) {
		t.Fatal("no eigenvalues")
	}
	values, rest := eigen.Values(nil), 0.0
	for _, s := range values[:d-q] {
		rest += s / (d - q)
	}
	closeTo(t, "uniqueness", g.UniquenessesOf(theta, 0, 1, d)[0], rest, 1e-10)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	want := make([]float64, d*q)
	for f := range q {
		for j := range d {
			want[j*q+f] = vectors.At(j, d-1-f) * math.Sqrt(values[d-1-f]-rest)
		}
	}
	sameProducts(t, slices.Clone(g.LoadingsOf(theta, 0, 1, d)), want, q)
}

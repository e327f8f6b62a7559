package ascent_test

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
)

// bowl is F = -(x - top)' info (x - top) / 2 in the given metric: all that a certificate says of it is algebra.
type bowl struct {
	info, metric *mat.SymDense
	top          []float64
	evals        int
}

func (b *bowl) Eval(_ context.Context, theta []float64, beta float64) (*ascent.Point, error) {
	b.evals++
	n := len(theta)
	x := mat.NewVecDense(n, slices.Clone(theta))
	x.SubVec(x, mat.NewVecDense(n, b.top))
	var g mat.VecDense
	g.MulVec(b.info, x)
	g.ScaleVec(-1, &g)
	f := mat.Dot(x, &g) / 2
	p := &ascent.Point{Theta: slices.Clone(theta), Beta: beta, F: f, LogLik: f, Grad: g.RawVector().Data, Whole: g.RawVector().Data, Held: make([]bool, n), Near: b}
	p.Next = make([]float64, n)
	b.Precondition(p.Next, p.Grad)
	for i, v := range theta {
		p.Next[i] += v
	}
	return p, nil
}

func (b *bowl) Precondition(z, q []float64) {
	var c mat.Cholesky
	if !c.Factorize(b.metric) {
		panic("the metric of the test is not positive")
	}
	var x mat.VecDense
	if err := c.SolveVecTo(&x, mat.NewVecDense(len(q), slices.Clone(q))); err != nil {
		panic(err)
	}
	copy(z, x.RawVector().Data)
}

func (b *bowl) Multiply(q, z []float64) {
	mat.NewVecDense(len(q), q).MulVec(b.metric, mat.NewVecDense(len(z), z))
}

func (b *bowl) Length(z []float64) float64 {
	v := mat.NewVecDense(len(z), slices.Clone(z))
	return math.Sqrt(mat.Inner(v, b.metric, v))
}

func (b *bowl) Reach(z []float64) float64 { return b.Length(z) }

func (b *bowl) Part([]float64, func() float64) bool { return false }

func (b *bowl) Nudge(theta []float64, normal func() float64) {
	for i := range theta {
		theta[i] += 0.05 * normal()
	}
}

// newBowl returns a bowl whose information has the given eigenvalues in units of a random metric, and the directions
// that belong to them, of length 1 in the metric.
func newBowl(t *testing.T, seed uint64, eigenvalues []float64) (b *bowl, directions *mat.Dense) {
	t.Helper()
	n := len(eigenvalues)
	random := mat.NewDense(n, n, normals(seed, n*n))
	var qr mat.QR
	qr.Factorize(random)
	var q mat.Dense
	qr.QTo(&q)
	for i := range n {
		random.Set(i, i, random.At(i, i)+3)
	}
	b = &bowl{info: mat.NewSymDense(n, nil), metric: mat.NewSymDense(n, nil), top: normals(seed+1, n)}
	b.metric.SymOuterK(1, random) // R R'
	var v, scaled mat.Dense       // the information is R Q diag Q' R'
	v.Mul(random, &q)
	scaled.Mul(&v, mat.NewDiagDense(n, eigenvalues))
	scaled.Mul(&scaled, v.T())
	for i := range n {
		for j := range i + 1 {
			b.info.SetSym(i, j, (scaled.At(i, j)+scaled.At(j, i))/2)
		}
	}
	directions = new(mat.Dense)
	if err := directions.Solve(random.T(), &q); err != nil {
		t.Fatal(err)
	}
	return b, directions
}

// rests is a driver that takes its start for a fixed point.
type rests struct{}

func (rests) Steps(ctx context.Context, o ascent.Objective, theta []float64) iter.Seq2[ascent.Step, error] {
	return func(yield func(ascent.Step, error) bool) {
		p, err := o.Eval(ctx, theta, 1)
		yield(ascent.Step{Sweeps: 1, Point: p, Distance: math.NaN(), Remaining: math.NaN(), Done: ascent.FixedPoint}, err)
	}
}

// certificateAt returns the certificate of theta.
func certificateAt(t *testing.T, o ascent.Objective, theta []float64) (*ascent.Certificate, *ascent.Point) {
	t.Helper()
	for s, err := range (ascent.Finish{Driver: rests{}, MaxIter: 1, Tol: 1e-9}).Steps(context.Background(), o, theta) {
		if err != nil || s.Certificate == nil {
			t.Fatalf("no certificate: %+v, error %v", s, err)
		}
		return s.Certificate, s.Point
	}
	t.Fatal("no step")
	return nil, nil
}

// The sum of the directions, each with its own size, on top of the optimum.
func away(b *bowl, directions *mat.Dense, size []float64) []float64 {
	var x mat.VecDense
	x.MulVec(directions, mat.NewVecDense(len(size), size))
	theta := slices.Clone(b.top)
	for i := range theta {
		theta[i] += x.AtVec(i)
	}
	return theta
}

func TestCertificateOfAQuadraticIsItsAlgebra(t *testing.T) {
	for seed, eigenvalues := range [][]float64{
		{1}, {0.3}, {1, 0.1}, {1, 0.9, 0.5}, {1, 0.6, 0.05, 0.01}, {1, 1, 1, 0.2, 0.2, 0.02, 0.02, 0.02},
		{0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01},
	} {
		for _, far := range []float64{1e-3, 0.1, 3} {
			b, directions := newBowl(t, uint64(10*seed+1), eigenvalues)
			// Each direction adds the same to the squared distance lambda size^2: all of them count.
			size, truth := make([]float64, len(eigenvalues)), 0.0
			for i, lambda := range eigenvalues {
				size[i] = far / math.Sqrt(lambda)
				truth += lambda * size[i] * size[i]
			}
			truth = math.Sqrt(truth)
			c, p := certificateAt(t, b, away(b, directions, size))
			if c.Distance > truth*(1+1e-5) || c.Distance < truth*0.95 { // a twentieth may be left out
				t.Errorf("eigenvalues %v: distance %v, want %v", eigenvalues, c.Distance, truth)
			}
			if c.Remaining != c.Distance*c.Distance/2 || math.Abs(c.Remaining+p.F) > -0.1*p.F { // the top is 0
				t.Errorf("eigenvalues %v: %v left, want %v", eigenvalues, c.Remaining, -p.F)
			}
			if low := slices.Min(eigenvalues); c.Curvature < low*(1-1e-5) || c.Curvature > low*1.5 {
				t.Errorf("eigenvalues %v: curvature %v", eigenvalues, c.Curvature)
			}
			if c.Why != "" || c.Method != ascent.Information {
				t.Errorf("eigenvalues %v: %+v", eigenvalues, c)
			}
		}
	}
}

// Where the distance lies along one direction, one product tells it.
func TestOneDirectionTakesOneProduct(t *testing.T) {
	b, directions := newBowl(t, 5, []float64{1, 0.7, 0.4, 0.1, 0.02})
	c, _ := certificateAt(t, b, away(b, directions, []float64{0, 0, 0, 2, 0}))
	if want := 2 * math.Sqrt(0.1); math.Abs(c.Distance-want) > 1e-7*want {
		t.Errorf("distance %v, want %v", c.Distance, want)
	}
	if b.evals > 12 { // the start, one product, and ten to look for saddles
		t.Errorf("%d evaluations", b.evals)
	}
}

func TestNegativeCurvatureIsNeverCertified(t *testing.T) {
	for seed, eigenvalues := range [][]float64{{-0.5}, {1, -1}, {1, 0.5, -0.01}, {1, 0.8, 0.6, 0.4, 0.2, 0.1, -0.001}, {-1, -2, -3}} {
		for _, far := range []float64{0.01, 1} {
			b, directions := newBowl(t, uint64(100+seed), eigenvalues)
			size := make([]float64, len(eigenvalues))
			for i, lambda := range eigenvalues {
				size[i] = far / math.Sqrt(math.Abs(lambda)) * float64(1+i)
			}
			c, _ := certificateAt(t, b, away(b, directions, size))
			if c.Distance == c.Distance || c.Remaining == c.Remaining || c.Why == "" {
				t.Errorf("eigenvalues %v: certified %+v", eigenvalues, c)
			}
			if low := slices.Min(eigenvalues); !(c.Curvature < 0 && c.Curvature >= low*(1+1e-5)) {
				t.Errorf("eigenvalues %v: curvature %v", eigenvalues, c.Curvature)
			}
		}
	}
}

// At the very saddle the gradient is 0 and shows nothing: a random move has to.
func TestSaddleWithoutGradientIsSeen(t *testing.T) {
	b, _ := newBowl(t, 200, []float64{1, 0.9, 0.7, 0.5, -0.1})
	c, _ := certificateAt(t, b, b.top)
	if c.Distance == c.Distance || !(c.Curvature < 0) || c.Why == "" {
		t.Errorf("certified %+v", c)
	}
}

// The same with a gradient that lies in a part of the space which the way up does not touch.
func TestSaddleBesideTheGradientIsSeen(t *testing.T) {
	eigenvalues := []float64{1, 0.9, 0.7, 0.5, 0.3, 0.1, -0.1}
	b, directions := newBowl(t, 210, eigenvalues)
	size := make([]float64, len(eigenvalues))
	for i, lambda := range eigenvalues[:len(eigenvalues)-1] {
		size[i] = 0.001 / math.Sqrt(lambda)
	}
	c, _ := certificateAt(t, b, away(b, directions, size))
	if c.Distance == c.Distance || !(c.Curvature < 0) || c.Why == "" {
		t.Errorf("certified %+v", c)
	}
}

// With so many directions of so unequal curvature the products allowed do not settle the distance: what is told is a
// lower bound, says so, and ends no climb as close.
func TestUnsettledDistanceIsALowerBound(t *testing.T) {
	eigenvalues, size, truth := make([]float64, 80), make([]float64, 80), 0.0
	for i := range eigenvalues {
		eigenvalues[i] = math.Pow(10, -float64(i)/20)
		size[i] = 1e-5 / eigenvalues[i] // the gradient is the same in all
		truth += eigenvalues[i] * size[i] * size[i]
	}
	truth = math.Sqrt(truth)
	b, directions := newBowl(t, 350, eigenvalues)
	theta := away(b, directions, size)
	c, _ := certificateAt(t, b, theta)
	if !c.AtLeast || !(c.Distance > 0 && c.Distance < truth) {
		t.Errorf("distance %v, want less than %v; a lower bound: %v", c.Distance, truth, c.AtLeast)
	}
	d := &reports{distance: []float64{0.001, 0.001}}
	for i, s := range steps(t, ascent.Finish{Driver: d, MaxIter: 10, Tol: truth}, b, theta) {
		if (s.Certificate != nil) != (i == 0) || s.Done != ascent.Going {
			t.Errorf("step %d: %v, certificate %+v", i, s.Done, s.Certificate)
		}
	}
}

// On a ridge nothing is left to gain and the curvature along it is 0, up to the differences of gradients.
func TestRidgeHasNoCurvature(t *testing.T) {
	b, directions := newBowl(t, 300, []float64{1, 0.5, 0})
	c, _ := certificateAt(t, b, away(b, directions, []float64{0, 0, 1}))
	if math.Abs(c.Curvature) > 1e-6 {
		t.Errorf("curvature %v", c.Curvature)
	}
}

// The climb goes off a saddle along a direction in which F curves upwards.
func TestTheWayOffASaddleCurvesUpwards(t *testing.T) {
	b, _ := newBowl(t, 400, []float64{1, 0.8, 0.4, 0.2, -0.05})
	var saddle *ascent.Point
	for s, err := range (ascent.Finish{Driver: ascent.EM{Beta: 1, MaxIter: 100}, MaxIter: 100, Tol: 0.01}).Steps(context.Background(), b, b.top) {
		if err != nil {
			t.Fatal(err)
		}
		if saddle == nil {
			saddle = s.Point
			continue
		}
		n := len(b.top)
		v := mat.NewVecDense(n, slices.Clone(s.Point.Theta))
		v.SubVec(v, mat.NewVecDense(n, saddle.Theta))
		if up := mat.Inner(v, b.info, v); up >= 0 || s.Change != s.Point.F-saddle.F || s.Change <= 0 {
			t.Errorf("left along v with v'Iv = %v, F rose by %v", up, s.Change)
		}
		return
	}
	t.Error("the saddle was not left")
}

// overlap is two Gaussians on d columns that overlap, n rows.
func overlap(seed uint64, n, d int) (rows [][]float64) {
	z := normals(seed, n*d)
	for i := range n {
		x := slices.Clone(z[i*d : i*d+d])
		if i%3 == 0 {
			for j := range x {
				x[j] = 2.5 + 0.6*x[j]
			}
		}
		rows = append(rows, x)
	}
	return rows
}

// overlapStart is equal weights, unit variances, and means on either side.
func overlapStart(m *mixture.Mixture) []float64 {
	theta := make([]float64, m.Params())
	for c := range m.K {
		for j := range m.D {
			m.Components(theta)[c*m.D+j] = 3 * float64(c) / float64(m.K-1)
		}
	}
	return theta
}

// dense returns sqrt(g' I^-1 g), I from central differences of the gradient with the last logit held still, and
// whether I is positive.
func dense(t *testing.T, o *objective, p *ascent.Point) (distance float64, positive bool) {
	t.Helper()
	n := len(p.Theta)
	keep := slices.DeleteFunc(sequence(n), func(i int) bool { return i == o.m.K-1 })
	info := mat.NewSymDense(len(keep), nil)
	g := mat.NewVecDense(len(keep), nil)
	for a, i := range keep {
		g.SetVec(a, p.Grad[i])
		const h = 1e-5
		side := func(h float64) []float64 {
			theta := slices.Clone(p.Theta)
			theta[i] += h
			q, err := o.Eval(context.Background(), theta, 1)
			if err != nil {
				t.Fatal(err)
			}
			return q.Grad
		}
		up, down := side(h), side(-h)
		for b, j := range keep {
			v := (down[j] - up[j]) / (2 * h)
			if b < a {
				v = (v + info.At(a, b)) / 2
			}
			info.SetSym(a, b, v)
		}
	}
	var c mat.Cholesky
	if !c.Factorize(info) {
		return 0, false
	}
	var x mat.VecDense
	if err := c.SolveVecTo(&x, g); err != nil {
		t.Fatal(err)
	}
	return math.Sqrt(mat.Dot(g, &x)), true
}

func sequence(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func TestCertificateAgreesWithTheDenseHessianAndTheTruth(t *testing.T) {
	for _, c := range []struct {
		shape family.Shape
		d     int
	}{{family.Full, 1}, {family.Full, 2}, {family.Diag, 2}, {family.Tied, 2}} {
		t.Run(fmt.Sprint(c.shape, c.d), func(t *testing.T) {
			rows := overlap(11, 600, c.d)
			m := gaussians(t, c.shape, 2, rows)
			o := newObjective(t, m, rows)
			path := climbEM(t, o, overlapStart(m), 3000)
			end := path[len(path)-1].F
			seen := 0
			for i := 5; i < len(path); i = i*5/4 + 1 {
				p := path[i]
				truth := math.Sqrt(2 * (end - p.F))
				if !(truth >= 1e-3 && truth <= 2) { // NaN where F is above the end by its rounding
					continue
				}
				exact, positive := dense(t, o, p)
				got, _ := certificateAt(t, o, p.Theta)
				if !positive {
					if got.Distance == got.Distance && truth < 0.3 {
						t.Errorf("step %d: certified where the Hessian is not positive: %+v", i, got)
					}
					continue
				}
				seen++
				if math.Abs(got.Distance-exact) > 0.05*exact {
					t.Errorf("step %d: distance %v, by the dense Hessian %v", i, got.Distance, exact)
				}
				if truth < 0.3 && math.Abs(got.Remaining-(end-p.F)) > 0.2*(end-p.F) {
					t.Errorf("step %d: %v left, in truth %v", i, got.Remaining, end-p.F)
				}
			}
			if seen < 3 {
				t.Errorf("only %d points looked at", seen)
			}
		})
	}
}

func TestCertificateDoesNotKnowUnits(t *testing.T) {
	rows := overlap(12, 500, 2)
	m := gaussians(t, family.Full, 2, rows)
	o := newObjective(t, m, rows)
	path := climbEM(t, o, overlapStart(m), 15)
	scale := []float64{1024, 1.0 / 512}
	scaled := make([][]float64, len(rows))
	for i, x := range rows {
		scaled[i] = []float64{x[0] * scale[0], x[1] * scale[1]}
	}
	ms := gaussians(t, family.Full, 2, scaled)
	os := newObjective(t, ms, scaled)
	for _, i := range []int{5, 10, 15} {
		theta := slices.Clone(path[i].Theta)
		comp := m.Components(theta)
		for c := range 2 {
			comp[2*c] *= scale[0]
			comp[2*c+1] *= scale[1]
			u := comp[4+3*c : 4+3*c+3] // log L11, L21, log L22
			u[0] += math.Log(scale[0])
			u[1] *= scale[1]
			u[2] += math.Log(scale[1])
		}
		a, _ := certificateAt(t, o, path[i].Theta)
		b, _ := certificateAt(t, os, theta)
		if !(a.Distance > 0) || math.Abs(a.Distance-b.Distance) > 1e-6*a.Distance || math.Abs(a.Curvature-b.Curvature) > 1e-6 {
			t.Errorf("step %d: distance %v, curvature %v; in other units %v, %v", i, a.Distance, a.Curvature, b.Distance, b.Curvature)
		}
	}
}

// climbEM takes n plain EM steps and returns all points.
func climbEM(t *testing.T, o ascent.Objective, theta []float64, n int) (path []*ascent.Point) {
	t.Helper()
	for range n + 1 {
		p, err := o.Eval(context.Background(), theta, 1)
		if err != nil {
			t.Fatal(err)
		}
		path = append(path, p)
		if slices.Equal(p.Theta, p.Next) {
			break
		}
		theta = p.Next
	}
	return path
}

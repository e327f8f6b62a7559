package ascent_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
)

// confirmed returns the steps of a closer look at theta, where a climb to tol has ended for the reason done.
func confirmed(t testing.TB, o ascent.Objective, theta []float64, tol float64, done ascent.Reason) []ascent.Step {
	t.Helper()
	return steps(t, ascent.Confirm{Climb: ascent.Finish{Driver: quasi, MaxIter: 1000, Tol: tol}, Done: done}, o, theta)
}

// times is a bowl's information times a move, and counts.
func (b *bowl) times(count *int) func(v []float64) ([]float64, error) {
	return func(v []float64) ([]float64, error) {
		*count++
		var y mat.VecDense
		y.MulVec(b.info, mat.NewVecDense(len(v), slices.Clone(v)))
		return y.RawVector().Data, nil
	}
}

// The least curvature of a quadratic is the smallest eigenvalue that it was made with, however many there are and however
// far apart, and its direction is the one it was made with.
func TestLeastCurvatureIsTheSmallestEigenvalue(t *testing.T) {
	many, far, twice := make([]float64, 60), make([]float64, 30), slices.Repeat([]float64{1, 0.3}, 10)
	for i := range many {
		many[i] = 0.2 + 0.8*float64(i)/59
	}
	for i := range far {
		far[i] = math.Pow(10, -float64(i)/10)
	}
	many[7], twice[0] = 0, 1e-3
	for seed, eigenvalues := range [][]float64{{1}, {0}, {1, 0.5, 0}, {1, 1, 1, 0}, {0.9, 0.4, -0.02}, many, far, twice} {
		b, directions := newBowl(t, uint64(600+seed), eigenvalues)
		count := 0
		got, v, err := ascent.LeastCurvature(b, len(eigenvalues), nil, b.times(&count), rand.New(rand.NewPCG(1, 2)).NormFloat64)
		if err != nil {
			t.Fatal(err)
		}
		want := slices.Min(eigenvalues)
		if math.Abs(got-want) > 1e-5 || count > len(eigenvalues) {
			t.Errorf("eigenvalues %v: %v in %d products, want %v", eigenvalues, got, count, want)
		}
		made := mat.Col(nil, slices.Index(eigenvalues, want), directions)
		if apart := math.Abs(math.Abs(metricDot(b.metric, v, made)) - 1); apart > 1e-3 {
			t.Errorf("eigenvalues %v: the direction is another: %v", eigenvalues, apart)
		}
	}
	b, _ := newBowl(t, 650, []float64{1, 0.5, 0.2})
	if got, v, err := ascent.LeastCurvature(b, 3, []bool{true, true, true}, b.times(new(int)), rand.New(rand.NewPCG(1, 2)).NormFloat64); got == got || v != nil || err != nil {
		t.Errorf("where everything is held: %v, %v, %v", got, v, err)
	}
}

// The least curvature of any symmetric matrix, in a metric that changes nothing, is what a dense method says, and the direction its eigenvector.
func TestLeastCurvatureAgreesWithADenseMethod(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 630))
		n := 1 + int(seed)*2
		a := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				a.SetSym(i, j, rng.NormFloat64()*math.Pow(10, float64(seed%5)-2))
			}
		}
		times := func(v []float64) ([]float64, error) {
			y := make([]float64, n)
			mat.NewVecDense(n, y).MulVec(a, mat.NewVecDense(n, v))
			return y, nil
		}
		got, v, err := ascent.LeastCurvature(flat{}, n, nil, times, rng.NormFloat64)
		if err != nil {
			t.Fatal(err)
		}
		var e mat.EigenSym
		if !e.Factorize(a, true) {
			t.Fatal("the dense method failed")
		}
		values, size := e.Values(nil), mat.Norm(a, 2)
		if math.Abs(got-values[0]) > 1e-12*size {
			t.Errorf("n %d: %v, want %v", n, got, values[0])
		}
		y, _ := times(v)
		for i := range y {
			y[i] -= got * v[i]
		}
		if off := norm(y); off > 1e-9*size || math.Abs(norm(v)-1) > 1e-9 {
			t.Errorf("n %d: the direction is %v off an eigenvector", n, off)
		}
	}
}

// BenchmarkLeastCurvature is the search among the parameters of four components in ten columns, by a matrix that is at hand.
func BenchmarkLeastCurvature(b *testing.B) {
	const k, d, n = 4, 10, 2000
	z := normals(11, n*d)
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = z[i*d : i*d+d]
		rows[i][0] += float64(4 * (i % k))
	}
	m := gaussians(b, family.Full, k, rows)
	theta := make([]float64, m.Params())
	for c := range k {
		theta[k+c*d] = float64(4 * c)
	}
	p, err := newObjective(b, m, rows).Eval(b.Context(), theta, 1)
	if err != nil {
		b.Fatal(err)
	}
	params := len(theta)
	random, info := mat.NewDense(params, params, normals(12, params*params)), mat.NewSymDense(params, nil)
	info.SymOuterK(1, random)
	times := func(v []float64) ([]float64, error) {
		y := make([]float64, params)
		mat.NewVecDense(params, y).MulVec(info, mat.NewVecDense(params, v))
		return y, nil
	}
	for b.Loop() {
		if _, _, err := ascent.LeastCurvature(p.Near, params, nil, times, rand.New(rand.NewPCG(1, 2)).NormFloat64); err != nil {
			b.Fatal(err)
		}
	}
}

func metricDot(m mat.Matrix, x, y []float64) float64 {
	return mat.Inner(mat.NewVecDense(len(x), x), m, mat.NewVecDense(len(y), y))
}

// What is told of a quadratic bounds its distance, and is within the half of it. Equal eigenvalues, which one move hides, count.
func TestAConfirmedDistanceIsABound(t *testing.T) {
	for seed, eigenvalues := range [][]float64{
		{1}, {0.3, 0.3, 0.3}, {1, 1, 1, 0.2, 0.2, 0.02, 0.02}, {1, 0.6, 0.05, 0.01}, {0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01},
	} {
		for _, far := range []float64{1e-5, 1e-3, 0.05} {
			b, directions := newBowl(t, uint64(700+seed), eigenvalues)
			size := make([]float64, len(eigenvalues))
			for i, lambda := range eigenvalues {
				size[i] = far / math.Sqrt(lambda*float64(len(eigenvalues)))
			}
			end := last(confirmed(t, b, away(b, directions, size), 0.1, ascent.Close))
			truth := math.Sqrt(-2 * end.Point.F) // the top is 0
			c := end.Certificate
			if end.Done != ascent.Close || !c.Whole || c.Distance < truth || c.Distance > 1.51*truth+1e-9 {
				t.Errorf("eigenvalues %v, %v away: told %v, true %v (%v)", eigenvalues, far, c.Distance, truth, end.Done)
			}
			if math.Abs(c.Curvature-slices.Min(eigenvalues)) > 1e-5 {
				t.Errorf("eigenvalues %v: curvature %v", eigenvalues, c.Curvature)
			}
		}
	}
}

// A direction of curvature 0 is flat, the end stays one, and its distance counts what is not flat.
func TestAFlatDirectionIsAnEnd(t *testing.T) {
	for seed, eigenvalues := range [][]float64{{0}, {1, 0.5, 0}, {1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0, 0}} {
		b, directions := newBowl(t, uint64(800+seed), eigenvalues)
		size := make([]float64, len(eigenvalues))
		for i, lambda := range eigenvalues {
			if size[i] = 1; lambda > 0 {
				size[i] = 1e-6
			}
		}
		end := last(confirmed(t, b, away(b, directions, size), 0.01, ascent.Flat))
		if c := end.Certificate; end.Done != ascent.Close || math.Abs(c.Curvature) > 1e-5 || !(c.Distance < 1e-4) || c.Why != "" {
			t.Errorf("eigenvalues %v: %v, %+v", eigenvalues, end.Done, c)
		}
	}
}

// cut is four cells of two bits, counts 31, 4, 12 and 13: five parameters of two classes reach every table of three free cells.
func cut() (rows [][]float64, saturated float64) {
	for cell, n := range []int{31, 4, 12, 13} {
		for range n {
			rows = append(rows, []float64{float64(cell / 2), float64(cell % 2)})
		}
		saturated += float64(n) * math.Log(float64(n)/60)
	}
	return rows, saturated
}

// More parameters than cells: wherever the climb begins, its end is flat and no saddle.
func TestMoreParametersThanCellsAreFlat(t *testing.T) {
	rows, saturated := cut()
	m := &mixture.Mixture{Family: family.Bernoulli{}, K: 2, D: 2}
	for seed := range 20 {
		theta := make([]float64, m.Params())
		for i, z := range normals(uint64(seed), len(theta)) {
			theta[i] = z
		}
		o := newObjective(t, m, rows)
		climbed := last(steps(t, ascent.Finish{Driver: quasi, MaxIter: 1000, Tol: 0.01}, o, theta))
		end := last(confirmed(t, o, climbed.Point.Theta, 0.01, climbed.Done))
		if c := end.Certificate; !end.Done.Converged() || math.Abs(end.Point.F-saturated) > 1e-9 || math.Abs(c.Curvature) > 1e-5 || !(c.Distance <= 0.01) || c.Saddles != 0 {
			t.Errorf("seed %d: %v at %v (saturated %v), %+v", seed, end.Done, end.Point.F, saturated, c)
		}
	}
}

// From the saddle of two equal components a closer look leads to where EM leads from parted ones.
func TestAConfirmedSaddleIsLeft(t *testing.T) {
	rows, _ := twoHumps()
	m := gaussians(t, family.Full, 2, rows)
	o := newObjective(t, m, rows)
	var mean, square float64
	for _, x := range rows {
		mean += x[0] / float64(len(rows))
	}
	for _, x := range rows {
		square += (x[0] - mean) * (x[0] - mean) / float64(len(rows))
	}
	saddle := []float64{0, 0, mean, mean, math.Log(square) / 2, math.Log(square) / 2}
	all := confirmed(t, o, saddle, 0.01, ascent.Close)
	end := last(all)
	if math.Abs(end.Point.F-twoHumpsTop) > 1e-6 || end.Done != ascent.Close || end.Certificate.Saddles < 1 || end.Iteration < 2 || end.Sweeps != o.evals {
		t.Errorf("%+v, certificate %+v, %d evaluations", end, end.Certificate, o.evals)
	}
	for i, s := range all {
		if (s.Done == ascent.Going) != (i < len(all)-1) || i > 0 && s.Iteration <= all[i-1].Iteration {
			t.Errorf("step %d: iteration %d, %v", i, s.Iteration, s.Done)
		}
	}
	if cut := last(steps(t, ascent.Confirm{Climb: ascent.Finish{Driver: quasi, Tol: 0.01}, Done: ascent.Close}, o, saddle)); cut.Done.Converged() && cut.Certificate.Curvature < -1e-4 {
		t.Errorf("without steps: %+v", cut)
	}
}

// A bit that is certain in a component, though its other value explains rows, is an edge that EM leaves by a factor a step. It is
// no optimum: the climb leaves it, and what is told of where it ends is true.
func TestAnEdgeThatEMLeavesIsNoOptimum(t *testing.T) {
	rows, _ := cut()
	for i := range 40 { // a third bit that goes with the first
		rows = append(rows, []float64{float64(i % 2), float64(i / 20)})
	}
	for i, x := range rows {
		rows[i] = append(x, math.Abs(x[0]-float64(i%5/4)), float64(i%3/2))
	}
	m := &mixture.Mixture{Family: family.Bernoulli{}, K: 2, D: 4}
	// One component takes every row whose second bit is 1, the other those where it is 0.
	start := make([]float64, m.Params())
	comp := m.Components(start)
	sure := math.Log(1e12)
	comp[1], comp[4+1] = sure, -sure
	o := newObjective(t, m, rows)
	path := climbEM(t, o, start, 60)
	edge := path[len(path)-1]
	if math.Abs(m.Components(edge.Theta)[1]) < 13 && math.Abs(m.Components(edge.Theta)[5]) < 13 {
		t.Fatalf("EM has left the edge already: %v", edge.Theta)
	}
	end := last(steps(t, ascent.Finish{Driver: quasi, MaxIter: 5000, Tol: 0.01}, o, edge.Theta))
	end = last(confirmed(t, o, end.Point.Theta, 0.01, end.Done))
	if end.Point.F < edge.F+1 {
		t.Errorf("rests at %v, where EM stands at %v: %v, %+v", end.Point.F, edge.F, end.Done, end.Certificate)
	}
}

func TestConfirmPassesErrorsOn(t *testing.T) {
	rows, _ := twoHumps()
	m := gaussians(t, family.Full, 2, rows)
	o := newObjective(t, m, rows)
	start := []float64{0, 0, 0, 0, 1, 1}
	d := ascent.Confirm{Climb: ascent.Finish{Driver: quasi, MaxIter: 1000, Tol: 0.01}, Done: ascent.Close}
	steps(t, d, o, start)
	for at := range o.evals {
		heard := 0
		for _, err := range d.Steps(context.Background(), &broken{newObjective(t, m, rows), at}, start) {
			if err != nil {
				heard++
			}
		}
		if heard != 1 {
			t.Errorf("evaluation %d: %d errors", at, heard)
		}
	}
	for leave := range 6 {
		n := 0
		for range d.Steps(context.Background(), newObjective(t, m, rows), start) {
			if n++; n > leave {
				break
			}
		}
	}
}

// shelf is F of one parameter with a shelf before its top: between them the curvature changes, so that Newton's step from the
// shelf believes in a top that is not there. The slope is slope(x); the top is at 3.
type shelf struct{ evals int }

func slope(x float64) float64 { return (3 - x) * (0.001 + x*x/4) }

func (s *shelf) Eval(_ context.Context, theta []float64, beta float64) (*ascent.Point, error) {
	s.evals++
	x := theta[0]
	// the integral of slope from 3
	f := func(x float64) float64 { return 0.003*x - 0.0005*x*x + x*x*x/4 - x*x*x*x/16 }
	g := []float64{slope(x)}
	value := f(x) - f(3)
	return &ascent.Point{Theta: []float64{x}, Beta: beta, F: value, LogLik: value, Next: []float64{x + g[0]/10}, Grad: g, Whole: slices.Clone(g), Held: []bool{false}, Near: line{}}, nil
}

// line is a geometry of one parameter whose complete-data information is 10.
type line struct{}

func (line) Precondition(z, q []float64)                 { z[0] = q[0] / 10 }
func (line) Multiply(q, z []float64)                     { q[0] = z[0] * 10 }
func (line) Length(z []float64) float64                  { return math.Abs(z[0]) * math.Sqrt(10) }
func (line) Reach(z []float64) float64                   { return math.Abs(z[0]) }
func (line) Nudge(theta []float64, n func() float64)     { theta[0] += 0.05 * n() }
func (line) Part(theta []float64, n func() float64) bool { return false }

// On a shelf every estimate says that the top is near.
func TestALooseToleranceIsCheckedByNewtonsStep(t *testing.T) {
	for _, tol := range []float64{0.05, 0.1, 0.3} {
		for i := range 20 {
			from := -0.4 + 0.02*float64(i)
			s := &shelf{}
			end := last(steps(t, ascent.Finish{Driver: slow, MaxIter: 100_000, Tol: tol}, s, []float64{from}))
			truth := math.Sqrt(-2 * end.Point.F)
			if end.Done != ascent.Close || end.Certificate.Distance < truth*0.999 || truth > tol {
				t.Errorf("tol %v from %v: ended at %v, told %v, true %v", tol, from, end.Point.Theta, end.Certificate.Distance, truth)
			}
		}
	}
}

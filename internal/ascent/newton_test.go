package ascent_test

import (
	"math"
	"testing"

	"github.com/latent-go/latent/internal/ascent"
)

// slowBowl returns a bowl of 40 directions whose curvatures fall from 1 to 0.02 by equal factors, and a start off its top along all of them.
func slowBowl(t *testing.T) (b *bowl, start []float64, least float64) {
	t.Helper()
	const n = 40
	curvatures, size := make([]float64, n), make([]float64, n)
	for i := range n {
		curvatures[i] = math.Pow(0.02, float64(i)/(n-1))
		size[i] = 0.01
	}
	b, directions := newBowl(t, 5, curvatures)
	return b, away(b, directions, size), curvatures[n-1]
}

// On the way a look's solution is a step. What is told of its end is known from algebra: F is 0 at the top.
func TestNewtonsStepsEndAtTheTop(t *testing.T) {
	for _, tol := range []float64{1e-3, 1e-4} {
		b, start, least := slowBowl(t)
		all := steps(t, ascent.Finish{Driver: ascent.EMLBFGS{Warm: 10, Memory: 5, MaxIter: 1000}, MaxIter: 1000, Tol: tol}, b, start)
		end := last(all)
		left := math.Sqrt(-2 * end.Point.F)
		if end.Done != ascent.Close || !(left <= tol) || !(left <= 1.2*end.Distance) || end.Sweeps != b.evals {
			t.Errorf("%v: %v, %v left, %v told, %d sweeps of %d", tol, end.Done, left, end.Distance, end.Sweeps, b.evals)
		}
		if c := end.Certificate; !(c.Curvature >= 0.99*least && c.Curvature <= 1.5*least) {
			t.Errorf("%v: curvature %v, in truth %v", tol, c.Curvature, least)
		}
		long := 0
		for i, s := range all {
			if s.Iteration != i {
				t.Errorf("%v: step %d is told as %d", tol, i, s.Iteration)
			}
			if i > 0 && s.Sweeps-all[i-1].Sweeps > 3 && s.Point.F > all[i-1].Point.F {
				long++
			}
		}
		if long == 0 {
			t.Errorf("%v: no step was Newton's", tol)
		}
	}
}

// A step of Newton's that begins at a saddle is none: the way off is the driver's.
func TestNewtonsStepsLeaveNoSaddleBehind(t *testing.T) {
	curvatures, size := []float64{1, 0.5, 0.2, -0.05}, []float64{0.02, 0.02, 0.02, 1e-7}
	b, directions := newBowl(t, 9, curvatures)
	for _, s := range steps(t, ascent.Finish{Driver: ascent.EMLBFGS{Warm: 2, Memory: 5, MaxIter: 60}, MaxIter: 60, Tol: 0.01}, b, away(b, directions, size)) {
		if s.Done == ascent.Close {
			t.Errorf("certified at F %v: %+v", s.Point.F, s.Certificate)
		}
	}
}

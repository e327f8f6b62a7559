package ascent_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/ascent"
)

// surface is an objective given by its value and gradient. It is no mixture: its EM step is a short one along the gradient.
type surface struct {
	value func(x []float64) (f float64, g []float64)
	far   float64 // the longest move a driver may try; 0 means any
	tried [][]float64
}

func (s *surface) Eval(_ context.Context, theta []float64, beta float64) (*ascent.Point, error) {
	theta = slices.Clone(theta)
	s.tried = append(s.tried, theta)
	f, g := s.value(theta)
	p := &ascent.Point{Theta: theta, Beta: beta, F: f, LogLik: f, Grad: g, Whole: g, Held: make([]bool, len(theta)), Near: flat{s.far}}
	p.Next = slices.Clone(theta)
	for i, v := range g {
		p.Next[i] += 1e-4 * v
	}
	return p, nil
}

// flat is a metric of unit length in every direction.
type flat struct{ far float64 }

func (flat) Precondition(z, q []float64) { copy(z, q) }
func (flat) Multiply(q, z []float64)     { copy(q, z) }
func (flat) Length(z []float64) float64  { return norm(z) }
func (f flat) Reach(z []float64) float64 {
	if f.far == 0 {
		return 0
	}
	return norm(z) / f.far
}
func (flat) Nudge([]float64, func() float64) {}

func (flat) Part([]float64, func() float64) bool { return false }

func norm(z []float64) float64 { return math.Sqrt(inner(z, z)) }

func inner(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// banana is Rosenbrock's valley upside down; its top is 0 at (1, 1).
func banana(x []float64) (float64, []float64) {
	a, b := 1-x[0], x[1]-x[0]*x[0]
	return -a*a - 100*b*b, []float64{2*a + 400*x[0]*b, -200 * b}
}

// searchers are the drivers with a line search, and the share of the slope it may leave.
var searchers = []struct {
	name   string
	left   float64
	driver func(most int) ascent.Driver
}{
	{"bfgs", 0.9, func(most int) ascent.Driver { return ascent.BFGS{MaxIter: most} }},
	{"lbfgs", 0.9, func(most int) ascent.Driver { return ascent.LBFGS{MaxIter: most} }},
	{"ecg", 0.3, func(most int) ascent.Driver { return ascent.ECG{MaxIter: most} }},
}

func TestBananaIsClimbedByStrongWolfeSteps(t *testing.T) {
	for _, d := range searchers {
		for _, start := range [][]float64{{-1.2, 1}, {5, -3}, {0, 0}, {-40, 40}} {
			s := &surface{value: banana}
			var last *ascent.Point
			end := 0
			for step, err := range d.driver(1000).Steps(context.Background(), s, start) {
				if err != nil {
					t.Fatal(err)
				}
				p := step.Point
				if last != nil && p.F < -1e-9 {
					move := make([]float64, 2)
					for i := range move {
						move[i] = p.Theta[i] - last.Theta[i]
					}
					before, after := inner(last.Grad, move), inner(p.Grad, move)
					if p.F < last.F+1e-4*before-1e-15 || math.Abs(after) > d.left*before*(1+1e-9) {
						t.Errorf("%s from %v: step %d rises %v with slopes %v and %v", d.name, start, step.Iteration, p.F-last.F, before, after)
					}
				}
				last = p
				if end = step.Sweeps; p.F > -1e-12 {
					break
				}
			}
			if last.F < -1e-12 || end != len(s.tried) || end > 400 {
				t.Errorf("%s from %v: ended at %v after %d evaluations, counted %d", d.name, start, last.F, len(s.tried), end)
			}
			t.Logf("%s from %v: %d evaluations", d.name, start, end)
		}
	}
}

// Beyond 0 there is nothing: a trial there is taken back, whatever F is said to be.
func TestTrialsWithoutAValueAreTakenBack(t *testing.T) {
	for _, d := range searchers {
		for _, beyond := range []float64{math.NaN(), math.Inf(-1), math.Inf(1)} {
			s := &surface{value: func(x []float64) (float64, []float64) {
				if !(min(x[0], x[1]) > 0) {
					return beyond, []float64{beyond, beyond}
				}
				return math.Log(x[0]) - x[0] + 3*math.Log(x[1]) - x[1], []float64{1/x[0] - 1, 3/x[1] - 1}
			}}
			var last ascent.Step
			for step, err := range d.driver(200).Steps(context.Background(), s, []float64{1e-3, 50}) {
				if f := step.Point.F; err != nil || f != f || math.IsInf(f, 0) {
					t.Fatalf("%s: step %d to %v (%v)", d.name, step.Iteration, f, err)
				}
				last = step
			}
			if x := last.Point.Theta; math.Abs(x[0]-1) > 1e-6 || math.Abs(x[1]-3) > 1e-6 {
				t.Errorf("%s: ended at %v after %d evaluations", d.name, x, len(s.tried))
			}
			if !slices.ContainsFunc(s.tried, func(x []float64) bool { return !(min(x[0], x[1]) > 0) }) {
				t.Errorf("%s: no trial was out of bounds; the test shows nothing", d.name)
			}
		}
	}
}

func TestNoTrialIsBeyondReach(t *testing.T) {
	const far = 0.25
	for _, d := range searchers {
		s := &surface{value: banana, far: far}
		var from []float64
		for step, err := range d.driver(300).Steps(context.Background(), s, []float64{-4, 4}) {
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range s.tried {
				if from != nil && math.Hypot(x[0]-from[0], x[1]-from[1]) > far*(1+1e-6) {
					t.Errorf("%s: a trial at %v from %v", d.name, x, from)
				}
			}
			from, s.tried = step.Point.Theta, nil
			if step.Point.F > -1e-10 {
				break
			}
		}
		if f, _ := banana(from); f < -1e-10 {
			t.Errorf("%s: ended at %v", d.name, from)
		}
	}
}

// F is so large that its rounding hides the top within 0.01; the slopes still tell.
func TestSlopesTellWhereValuesDoNot(t *testing.T) {
	for _, d := range searchers {
		s := &surface{value: func(x []float64) (float64, []float64) {
			f := -x[0]*x[0]/2 - 2*x[1]*x[1] - x[0]*x[1]
			return -1e9 + f, []float64{-x[0] - x[1], -4*x[1] - x[0]}
		}}
		var last ascent.Step
		for step, err := range d.driver(100).Steps(context.Background(), s, []float64{3, -2}) {
			if err != nil {
				t.Fatal(err)
			}
			last = step
		}
		if g := norm(last.Point.Grad); last.Done != ascent.FixedPoint || g > 1e-8 || len(s.tried) > 40 {
			t.Errorf("%s: a gradient of %v after %d evaluations (reason %v)", d.name, g, len(s.tried), last.Done)
		}
	}
}

// The first trial from a start is a step along the gradient, so long that it would end at the maximum if the curvature were that of the
// metric: here it is.
func TestFirstTrialTrustsTheMetric(t *testing.T) {
	for _, d := range searchers {
		s := &surface{value: func(x []float64) (float64, []float64) {
			return -inner(x, x) / 2, []float64{-x[0], -x[1], -x[2]}
		}}
		for step, err := range d.driver(5).Steps(context.Background(), s, []float64{3, -400, 1e-3}) {
			if err != nil {
				t.Fatal(err)
			}
			if step.Iteration == 1 && (step.Sweeps != 2 || norm(step.Point.Theta) > 1e-12) {
				t.Errorf("%s: at %v after %d evaluations", d.name, step.Point.Theta, step.Sweeps)
			}
		}
	}
}

// Where the gradient is wrong and the EM step falls as well, nothing rises: the climb ends where it stands.
func TestNothingRisesEndsWhereItStands(t *testing.T) {
	for _, d := range searchers {
		s := &surface{value: func(x []float64) (float64, []float64) {
			return -inner(x, x), []float64{x[0], x[1]} // the slope of a valley
		}}
		n := 0
		for step, err := range d.driver(100).Steps(context.Background(), s, []float64{1, 2}) {
			if err != nil || step.Point.F != -5 || (step.Done == ascent.FixedPoint) != (n == 1) {
				t.Errorf("%s: step %d to %v for reason %v (%v)", d.name, step.Iteration, step.Point.F, step.Done, err)
			}
			n++
		}
		if n != 2 {
			t.Errorf("%s: %d steps", d.name, n)
		}
	}
}

package ascent_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/latent-go/latent/internal/ascent"
)

// known is an objective of known values: theta is the number of steps taken, and value(t) is F after t of them.
type known struct {
	value func(t int) float64
	evals int
	fail  error
	at    int // fail at this evaluation
}

func (h *known) Eval(_ context.Context, theta []float64, beta float64) (*ascent.Point, error) {
	h.evals++
	if h.fail != nil && h.evals == h.at {
		return nil, h.fail
	}
	f := h.value(int(theta[0]))
	return &ascent.Point{Theta: theta, Beta: beta, F: f, LogLik: f, Next: []float64{theta[0] + 1}}, nil
}

// run climbs to the end, or until the estimated distance is within tol.
func run(t *testing.T, e ascent.EM, tol float64, o ascent.Objective) (steps []ascent.Step) {
	t.Helper()
	for s, err := range e.Steps(context.Background(), o, []float64{0}) {
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, s)
		if s.Distance <= tol {
			break
		}
	}
	return steps
}

// Linear convergence in three directions: F* - F(t) is a sum of powers, and so known.
func TestEstimateOfWhatIsLeft(t *testing.T) {
	for _, slow := range []float64{0.5, 0.9, 0.99, 0.999} {
		left := func(t int) float64 {
			return 3*math.Pow(slow, float64(t)) + 40*math.Pow(slow*slow, float64(t)) + 100*math.Pow(0.3, float64(t))
		}
		e := ascent.EM{Beta: 1, MaxIter: 100_000, Ascends: true}
		steps := run(t, e, 0.01, &known{value: func(t int) float64 { return -200 - left(t) }})
		last := steps[len(steps)-1]
		truth := left(last.Iteration)
		if last.Remaining < truth/1.5 || last.Remaining > truth*1.5 {
			t.Errorf("ratio %v: %v left by the estimate, %v in truth", slow, last.Remaining, truth)
		}
		if math.Abs(last.Distance-math.Sqrt(2*last.Remaining)) > 1e-15 || last.Distance > 0.01 {
			t.Errorf("ratio %v: distance %v for %v left", slow, last.Distance, last.Remaining)
		}
		if early := math.Sqrt(2 * left(last.Iteration-1)); early < 0.01/1.5 {
			t.Errorf("ratio %v: went on at a true distance of %v", slow, early)
		}
	}
}

// Where gains shrink by turns fast and slowly, the estimate may be too large but not too small.
func TestEstimateKeepsToTheSlowestOfLateRatios(t *testing.T) {
	const n = 40
	gain := make([]float64, n)
	for i := range gain {
		gain[i] = 1
		if i > 0 {
			gain[i] = gain[i-1] * []float64{0.9, 0.2}[i%2]
		}
	}
	left := func(t int) (sum float64) {
		for _, g := range gain[min(t, n):] {
			sum += g
		}
		return sum
	}
	told := 0
	for _, s := range run(t, ascent.EM{Beta: 1, MaxIter: n / 2, Ascends: true}, 0, &known{value: func(t int) float64 { return -left(t) }}) {
		if s.Remaining == s.Remaining {
			told++
			if s.Remaining < left(s.Iteration) {
				t.Errorf("step %d: %v left by the estimate, %v in truth", s.Iteration, s.Remaining, left(s.Iteration))
			}
		}
	}
	if told < n/4 {
		t.Errorf("only %d estimates", told)
	}
}

// Gains that grow, as on the way off a saddle, are not an end, however small they are.
func TestPlateauIsNotTheEnd(t *testing.T) {
	for _, c := range []struct {
		name  string
		value func(t int) float64
	}{
		{"slow from the start", func(t int) float64 { return 100 / (1 + math.Exp(-float64(t-80)/5)) }},
		{"a fast start first", func(t int) float64 {
			return 50*(1-math.Pow(0.1, float64(t))) + 100/(1+math.Exp(-float64(t-40)/4))
		}},
	} {
		e := ascent.EM{Beta: 1, MaxIter: 1000, Ascends: true}
		steps := run(t, e, 0.01, &known{value: c.value})
		last := steps[len(steps)-1]
		if left := c.value(100_000) - last.Point.F; !(last.Distance <= 0.01) || left > 1e-3 {
			t.Errorf("%s: ended after %d steps with %v left", c.name, last.Iteration, left)
		}
	}
}

// Where F is so large that its rounding hides the gains, the climb still ends.
func TestGainsBelowRoundingEnd(t *testing.T) {
	for _, size := range []float64{1e6, 1e9, 1e12} {
		e := ascent.EM{Beta: 1, MaxIter: 10_000, Ascends: true}
		left := func(t int) float64 { return 5 * math.Pow(0.8, float64(t)) }
		steps := run(t, e, 0.01, &known{value: func(t int) float64 { return -size - left(t) }})
		last := steps[len(steps)-1]
		if !(last.Distance <= 0.01) || left(last.Iteration) > 1e-4+size*1e-14 {
			t.Errorf("at -%v: ended after %d steps with %v left", size, last.Iteration, left(last.Iteration))
		}
	}
}

func TestNoStepsAllowedEvaluatesTheStart(t *testing.T) {
	for _, beta := range []float64{1, math.Inf(1)} {
		h := &known{value: func(t int) float64 { return float64(t) }}
		steps := run(t, ascent.EM{Beta: beta, Ascends: true}, 0, h)
		if len(steps) != 1 || h.evals != 1 || steps[0].Done != ascent.Limit || steps[0].Done.Converged() || steps[0].Iteration != 0 || steps[0].Sweeps != 1 {
			t.Errorf("beta %v: %d evaluations, steps %+v", beta, h.evals, steps)
		}
	}
}

func TestStepsAreCounted(t *testing.T) {
	h := &known{value: func(t int) float64 { return -math.Pow(0.9, float64(t)) }}
	steps := run(t, ascent.EM{Beta: 1, MaxIter: 7, Ascends: true}, 0, h)
	if len(steps) != 8 || h.evals != 8 {
		t.Fatalf("%d steps, %d evaluations, want 8", len(steps), h.evals)
	}
	for i, s := range steps {
		if s.Iteration != i || s.Sweeps != i+1 || (s.Done == ascent.Limit) != (i == 7) {
			t.Errorf("step %d: %+v", i, s)
		}
		if i > 0 && s.Change != s.Point.F-steps[i-1].Point.F {
			t.Errorf("step %d: change %v", i, s.Change)
		}
	}
}

// slide moves theta towards 0 by a factor.
type slide float64

func (s slide) Eval(_ context.Context, theta []float64, beta float64) (*ascent.Point, error) {
	p := &ascent.Point{Theta: theta, Beta: beta, Next: make([]float64, len(theta))}
	for i, v := range theta {
		p.Next[i] = float64(s) * v
		p.F -= v * v
	}
	return p, nil
}

func TestStopOnShift(t *testing.T) {
	for _, tol := range []float64{1e-3, 1, 1e9} { // the last is larger than the first move, which is made all the same
		n, x, y := 1, 3.0, 4.0 // the end is after the first move of at most tol
		for (x/2)*(x/2)+(y/2)*(y/2) > tol {
			x, y, n = x/2, y/2, n+1
		}
		for s, err := range (ascent.EM{Beta: math.Inf(1), MaxIter: 100, TolShift: tol}).Steps(context.Background(), slide(0.5), []float64{3, 4}) {
			if err != nil {
				t.Fatal(err)
			}
			if (s.Done == ascent.Shift) != (s.Iteration == n) || s.Iteration > n {
				t.Fatalf("tolerance %v, step %d: %v, want the end at %d", tol, s.Iteration, s.Done, n)
			}
		}
	}
}

func TestRestingParametersAreTheEnd(t *testing.T) {
	for _, beta := range []float64{1, math.Inf(1)} {
		n := 0
		for s, err := range (ascent.EM{Beta: beta, Ascends: true}).Steps(context.Background(), slide(1), []float64{3, 4}) {
			if n++; err != nil || s.Done != ascent.FixedPoint || !s.Done.Converged() || s.Iteration != 0 {
				t.Errorf("beta %v: %+v (%v)", beta, s, err)
			}
		}
		if n != 1 {
			t.Errorf("beta %v: %d steps", beta, n)
		}
	}
}

func TestNoDistanceWhereNothingIsClimbed(t *testing.T) {
	left := func(t int) float64 { return -math.Pow(0.5, float64(t)) }
	for _, e := range []ascent.EM{{Beta: 1, MaxIter: 30}, {Beta: math.Inf(1), MaxIter: 30, Ascends: true}} {
		steps := run(t, e, 0.01, &known{value: left})
		if len(steps) != 31 {
			t.Errorf("%+v: ended after %d steps", e, len(steps)-1)
		}
		for _, s := range steps {
			if s.Distance == s.Distance || s.Remaining == s.Remaining {
				t.Errorf("%+v: distance %v, %v left", e, s.Distance, s.Remaining)
			}
		}
	}
}

func TestErrorEndsTheClimb(t *testing.T) {
	broken := errors.New("broken")
	h := &known{value: func(t int) float64 { return float64(t) }, fail: broken, at: 3}
	n := 0
	var last error
	for _, err := range (ascent.EM{Beta: 1, MaxIter: 10}).Steps(context.Background(), h, []float64{0}) {
		n++
		last = err
	}
	if n != 3 || !errors.Is(last, broken) || h.evals != 3 {
		t.Errorf("%d steps, error %v, %d evaluations", n, last, h.evals)
	}
}

func TestLeavingTheLoopEndsTheClimb(t *testing.T) {
	h := &known{value: func(t int) float64 { return float64(t) }}
	for s := range (ascent.EM{Beta: 1, MaxIter: 10}).Steps(context.Background(), h, []float64{0}) {
		if s.Iteration == 2 {
			break
		}
	}
	if h.evals != 3 {
		t.Errorf("%d evaluations, want 3", h.evals)
	}
}

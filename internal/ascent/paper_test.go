package ascent_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
)

// drivers are those of this package that take a Chart, and SQUAREM.
func drivers(chart ascent.Chart, most int) map[string]ascent.Driver {
	return map[string]ascent.Driver{
		"squarem": ascent.SQUAREM{MaxIter: most},
		"bfgs":    ascent.BFGS{Chart: chart, MaxIter: most},
		"lbfgs":   ascent.LBFGS{Chart: chart, MaxIter: most},
		"ecg":     ascent.ECG{Chart: chart, MaxIter: most},
	}
}

// follow climbs to the end and fails if a step breaks the contract of a driver.
func follow(t *testing.T, name string, d ascent.Driver, o *objective, start []float64) (steps []ascent.Step) {
	t.Helper()
	for s, err := range d.Steps(context.Background(), o, start) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s.Iteration != len(steps) || s.Sweeps != o.evals {
			t.Errorf("%s: step %d after %d sweeps, are %d and %d", name, s.Iteration, s.Sweeps, len(steps), o.evals)
		}
		if n := len(steps); n > 0 {
			last := steps[n-1]
			if s.Change != s.Point.F-last.Point.F || s.Change < -1e-12*math.Abs(s.Point.F) {
				t.Errorf("%s: step %d changes F by %v, says %v", name, s.Iteration, s.Point.F-last.Point.F, s.Change)
			}
			if last.Done != ascent.Going {
				t.Errorf("%s: step %d after the end", name, s.Iteration)
			}
		}
		if d := s.Distance; d < 0 || d*d/2 != s.Remaining && d == d {
			t.Errorf("%s: distance %v, %v left", name, d, s.Remaining)
		}
		steps = append(steps, s)
	}
	if end := steps[len(steps)-1].Done; end != ascent.FixedPoint && end != ascent.Limit {
		t.Errorf("%s: ended for reason %v", name, end)
	}
	return steps
}

// far is sqrt(g' I_c^-1 g), a lower bound of the distance in standard errors.
func far(p *ascent.Point) float64 {
	z := make([]float64, len(p.Grad))
	p.Near.Precondition(z, p.Grad)
	sum := 0.0
	for i, v := range z {
		sum += v * p.Grad[i]
	}
	return math.Sqrt(max(sum, 0))
}

func TestDriversReachTheOptimumOfTwoHumps(t *testing.T) {
	rows, start := twoHumps()
	for _, shape := range []family.Shape{family.Full, family.Diag, family.Spherical} {
		m := gaussians(t, shape, 2, rows)
		for name, d := range drivers(m.Chart(), 200) {
			steps := follow(t, name, d, newObjective(t, m, rows), start)
			last := steps[len(steps)-1]
			p := last.Point
			if last.Done != ascent.FixedPoint || math.Abs(p.F-twoHumpsTop) > 1e-9 {
				t.Errorf("%s, %s: ended at %v for reason %v", shape, name, p.F, last.Done)
			}
			for i, want := range []float64{-3, 3, math.Log(11./30) / 2, math.Log(11./30) / 2} {
				if v := p.Theta[2+i]; math.Abs(v-want) > 1e-5 {
					t.Errorf("%s, %s: parameter %d is %v, want %v", shape, name, i, v, want)
				}
			}
			if last.Sweeps > 80 {
				t.Errorf("%s, %s: %d sweeps", shape, name, last.Sweeps)
			}
		}
	}
}

// Where no F can show a rise any more the gradient is as good as 0.
func TestFixedPointIsStationary(t *testing.T) {
	rows, start := rare()
	for _, shape := range []family.Shape{family.Full, family.Tied} {
		m := gaussians(t, shape, 2, rows)
		for name, d := range drivers(m.Chart(), 3000) {
			steps := follow(t, name, d, newObjective(t, m, rows), start[:m.Params()])
			last := steps[len(steps)-1]
			if last.Done != ascent.FixedPoint || far(last.Point) > 1e-4 {
				t.Errorf("%s, %s: %v standard errors to go after %d sweeps (reason %v)", shape, name, far(last.Point), last.Sweeps, last.Done)
			}
			t.Logf("%s, %s: %d sweeps to the fixed point %v", shape, name, last.Sweeps, last.Point.F)
		}
	}
}

// A component collapses onto a value that is repeated: its standard deviation ends at the floor, and the rest is fitted.
func TestCollapseEndsAtTheFloor(t *testing.T) {
	var rows [][]float64
	for _, v := range normals(3, 90) {
		rows = append(rows, []float64{v})
	}
	for range 15 {
		rows = append(rows, []float64{7.5})
	}
	want := []float64{math.Log(6.), -0.0951180560711436, 7.5, math.Log(0.830360816) / 2}
	for _, shape := range []family.Shape{family.Full, family.Diag, family.Spherical} {
		m := gaussians(t, shape, 2, rows)
		for name, d := range drivers(m.Chart(), 2000) {
			steps := follow(t, name, d, newObjective(t, m, rows), []float64{0, 0, 0, 6, 0, 0})
			last := steps[len(steps)-1]
			p := last.Point.Theta
			if last.Done != ascent.FixedPoint || math.IsInf(last.Point.F, 0) || last.Point.F != last.Point.F || last.Sweeps > 200 {
				t.Errorf("%s, %s: ended at %v for reason %v after %d sweeps", shape, name, last.Point.F, last.Done, last.Sweeps)
			}
			for i, v := range []float64{p[0] - p[1], p[2], p[3], p[4]} {
				if math.Abs(v-want[i]) > 1e-6 {
					t.Errorf("%s, %s: parameter %d is %v, want %v", shape, name, i, v, want[i])
				}
			}
			if at := m.Family.AtFloor(m.Components(p), 2, 1); at[0] || !at[1] {
				t.Errorf("%s, %s: at the floor: %v", shape, name, at)
			}
			t.Logf("%s, %s: %d sweeps", shape, name, last.Sweeps)
		}
	}
}

// The units of the columns change nothing but the constant that they add to F.
func TestUnitsDoNotMatter(t *testing.T) {
	rows, start := rare()
	scaled := make([][]float64, len(rows))
	for i, x := range rows {
		scaled[i] = []float64{1024 * x[0], x[1] / 512} // powers of two: no rounding differs
	}
	other := append([]float64(nil), start...)
	for c := range 2 {
		other[2+2*c] *= 1024
		other[3+2*c] /= 512
		other[6+3*c] += math.Log(1024)
		other[8+3*c] -= math.Log(512)
	}
	m, n := gaussians(t, family.Full, 2, rows), gaussians(t, family.Full, 2, scaled)
	shift := float64(len(rows)) * math.Log(2)
	there := drivers(n.Chart(), 15)
	for name, d := range drivers(m.Chart(), 15) {
		a := follow(t, name, d, newObjective(t, m, rows), start)
		b := follow(t, name, there[name], newObjective(t, n, scaled), other)
		if f, g := a[len(a)-1].Point.F, b[len(b)-1].Point.F+shift; len(a) != len(b) || math.Abs(f-g) > 1e-6 {
			t.Errorf("%s: %d steps to %v in one unit, %d to %v in another", name, len(a), f, len(b), g)
		}
	}
}

func TestLeavingTheLoopMakesNoFurtherEvaluation(t *testing.T) {
	rows, start := rare()
	m := gaussians(t, family.Full, 2, rows)
	for name, d := range drivers(m.Chart(), 100) {
		for _, leave := range []int{0, 1, 4} {
			o := newObjective(t, m, rows)
			for s, err := range d.Steps(context.Background(), o, start) {
				if err != nil {
					t.Fatal(err)
				}
				if s.Iteration == leave {
					if s.Sweeps != o.evals {
						t.Errorf("%s: %d sweeps, %d evaluations", name, s.Sweeps, o.evals)
					}
					o.evals = 0
					break
				}
			}
			if o.evals != 0 {
				t.Errorf("%s: %d evaluations after leaving at step %d", name, o.evals, leave)
			}
		}
	}
}

func TestDriversKeepToTheLimit(t *testing.T) {
	rows, start := rare()
	m := gaussians(t, family.Full, 2, rows)
	for _, most := range []int{0, 1, 2, 7} {
		for name, d := range drivers(m.Chart(), most) {
			o := newObjective(t, m, rows)
			steps := follow(t, name, d, o, start)
			if len(steps) != most+1 || steps[most].Done != ascent.Limit || most == 0 && o.evals != 1 {
				t.Errorf("%s: %d steps of %d, %d evaluations", name, len(steps)-1, most, o.evals)
			}
		}
	}
}

// failing fails at an evaluation.
type failing struct {
	*objective
	at int
}

var errBroken = errors.New("broken")

func (f failing) Eval(ctx context.Context, theta []float64, beta float64) (*ascent.Point, error) {
	if f.evals+1 == f.at {
		f.evals++
		return nil, errBroken
	}
	return f.objective.Eval(ctx, theta, beta)
}

func TestErrorsEndDrivers(t *testing.T) {
	rows, start := rare()
	m := gaussians(t, family.Full, 2, rows)
	for name, d := range drivers(m.Chart(), 100) {
		for at := 1; at < 9; at++ {
			o := newObjective(t, m, rows)
			var last error
			for _, err := range d.Steps(context.Background(), failing{o, at}, start) {
				last = err
			}
			if !errors.Is(last, errBroken) || o.evals != at {
				t.Errorf("%s: error %v after %d evaluations, want one at %d", name, last, o.evals, at)
			}
		}
	}
}

// A mixture of one component has its optimum in closed form, and no logits to speak of.
func TestOneComponent(t *testing.T) {
	rows, _ := twoHumps()
	m := gaussians(t, family.Full, 1, rows)
	variance := 0.0
	for _, x := range rows {
		variance += x[0] * x[0] / float64(len(rows))
	}
	want := -float64(len(rows)) / 2 * (math.Log(2*math.Pi*variance) + 1)
	for name, d := range drivers(m.Chart(), 200) {
		steps := follow(t, name, d, newObjective(t, m, rows), []float64{0, 1, 0})
		if last := steps[len(steps)-1]; last.Done != ascent.FixedPoint || math.Abs(last.Point.F-want) > 1e-9 {
			t.Errorf("%s: ended at %v, want %v", name, last.Point.F, want)
		}
	}
}

// recorded keeps all trials.
type recorded struct {
	*objective
	tried [][]float64
}

func (r *recorded) Eval(ctx context.Context, theta []float64, beta float64) (*ascent.Point, error) {
	r.tried = append(r.tried, slices.Clone(theta))
	return r.objective.Eval(ctx, theta, beta)
}

// From a start so poor that first directions are long, no trial is farther from the point it starts at than a driver may
// go, EM's own step excepted, and none has a standard deviation that passed through 0.
func TestTrialsAreWithinReach(t *testing.T) {
	rows, start := rare()
	start[6], start[8], start[9], start[11] = 2, 2, -3, -3
	m := gaussians(t, family.Full, 2, rows)
	for name, d := range drivers(m.Chart(), 40) {
		o := &recorded{objective: newObjective(t, m, rows)}
		var at *ascent.Point
		top := 0.0
		for s, err := range d.Steps(context.Background(), o, start) {
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range o.tried {
				if at == nil || slices.Equal(x, at.Next) {
					continue
				}
				for i := range x {
					x[i] -= at.Theta[i]
				}
				top = max(top, at.Near.Reach(x))
			}
			at, o.tried = s.Point, nil
		}
		if top > 1+1e-6 || top < 0.5 {
			t.Errorf("%s: the longest trial reaches %v", name, top)
		}
	}
}

// In coordinates whose units are far apart a search raises F by nothing that shows long before the top. EM's step does.
func TestPoorUnitsAreNoFixedPoint(t *testing.T) {
	rows, start := rare()
	rows = rows[:300]
	for _, x := range rows {
		x[0] *= 1e4
	}
	for c := range 2 {
		start[2+2*c] *= 1e4
		start[6+3*c] += math.Log(1e4)
	}
	m := &mixture.Mixture{Family: family.Gaussian{Shape: family.Full, Var: []float64{1, 1}}, K: 2, D: 2}
	for name, d := range drivers(m.Chart(), 2000) {
		steps := follow(t, name, d, newObjective(t, m, rows), start)
		if last := steps[len(steps)-1]; last.Done == ascent.FixedPoint && far(last.Point) > 1e-2 {
			t.Errorf("%s: %v standard errors to go at a fixed point, after %d sweeps", name, far(last.Point), last.Sweeps)
		}
		t.Logf("%s: %v to go after %d sweeps", name, far(steps[len(steps)-1].Point), steps[len(steps)-1].Sweeps)
	}
}

var _ ascent.Chart = mixture.Chart{}

package latent

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
)

// shoulder is 600 rows of a small cluster on the shoulder of a large one, from a plain generator of its own.
func shoulder() *data.Table {
	state := uint64(12345)
	uniform := func() float64 {
		state = state*6364136223846793005 + 1442695040888963407
		return (float64(state>>11) + 0.5) / (1 << 53)
	}
	t := &data.Table{N: 600, D: 2}
	for i := range t.N {
		r, a := math.Sqrt(-2*math.Log(uniform())), 2*math.Pi*uniform()
		x, y := r*math.Cos(a), r*math.Sin(a)
		if i%15 == 0 {
			x, y = 2+x/2, 1+y/2
		}
		t.F64 = append(t.F64, x, y)
	}
	return t
}

func TestTrialsStartTogetherAndKeepToTheirPasses(t *testing.T) {
	t.Parallel()
	algorithms := Climbers()
	const sweeps = 40
	first := map[int]float64{}
	steps := map[string]TrialStep{}
	spec := Spec{K: 2, Init: "random", NInit: 3, BetaSteps: 5}
	trials, err := Trials(t.Context(), shoulder(), spec, algorithms, sweeps, func(s *TrialStep) {
		if s.Iteration == 0 {
			if before, seen := first[s.Start]; seen && math.Abs(before-s.Point.LogLik) > 1e-12*math.Abs(before) { // summed at another temperature, so rounded otherwise
				t.Errorf("%s starts at %v, others at %v", s.Algorithm, s.Point.LogLik, before)
			}
			first[s.Start] = s.Point.LogLik
		}
		if s.Sweeps > sweeps {
			t.Errorf("%s: a step after %d sweeps", s.Algorithm, s.Sweeps)
		}
		steps[s.Algorithm] = *s
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(trials) != 3*len(algorithms) {
		t.Fatalf("%d trials", len(trials))
	}
	for i, r := range trials {
		switch {
		case r.Algorithm != algorithms[i%len(algorithms)] || r.Start != i/len(algorithms)+1:
			t.Errorf("trial %d is %s from start %d", i, r.Algorithm, r.Start)
		case r.Sweeps > sweeps || !r.Converged && r.Sweeps != sweeps:
			t.Errorf("%s from start %d: %d sweeps, converged %v", r.Algorithm, r.Start, r.Sweeps, r.Converged)
		case r.Start == 3 && r.LogLik != steps[r.Algorithm].Point.LogLik:
			t.Errorf("%s ends at %v, its last step is at %v", r.Algorithm, r.LogLik, steps[r.Algorithm].Point.LogLik)
		}
	}
}

// EM's trial of 25 passes is the fit of 24 steps from the same start.
func TestTrialOfEMIsTheFitOfSoManySteps(t *testing.T) {
	t.Parallel()
	rows := shoulder()
	trials, err := Trials(t.Context(), rows, Spec{K: 2, Init: "random", NInit: 2, Seed: new(uint64(5))}, []string{"em"}, 25, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Fit(context.Background(), rows, Spec{K: 2, Init: "random", NInit: 1, Seed: new(uint64(5)), Algorithm: "em", MaxIter: new(24), Tol: new(0.0)})
	if err != nil {
		t.Fatal(err)
	}
	if got := trials[0]; math.Abs(got.LogLik-*r.LogLik) > 1e-9*math.Abs(*r.LogLik) || got.Sweeps != 25 || got.Steps != 24 {
		t.Errorf("trial: %v after %d sweeps, %d steps; fit: %v", got.LogLik, got.Sweeps, got.Steps, *r.LogLik)
	}
}

func TestTrialsRefuseWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sweeps     int
		algorithms []string
		says       string
	}{{0, []string{"em"}, "Sweeps"}, {5, nil, "Algorithms"}, {5, []string{"em", "em"}, "twice"}, {5, []string{"lloyd"}, "lloyd"}} {
		if _, err := Trials(t.Context(), shoulder(), Spec{K: 2}, c.algorithms, c.sweeps, nil); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%d sweeps of %v: %v", c.sweeps, c.algorithms, err)
		}
	}
}

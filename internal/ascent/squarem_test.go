package ascent_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
)

// Where every direction shrinks by the same factor an extrapolation arrives at once: the start, the EM step, the end.
func TestOneRateIsExtrapolatedToTheEnd(t *testing.T) {
	for _, rate := range []float64{0.5, 0.9, 0.999} {
		for s, err := range (ascent.SQUAREM{MaxIter: 10}).Steps(context.Background(), slide(rate), []float64{3, -4}) {
			if err != nil {
				t.Fatal(err)
			}
			if s.Iteration == 2 {
				if s.Sweeps != 3 || norm(s.Point.Theta) > 1e-9 {
					t.Errorf("rate %v: at %v after %d sweeps", rate, s.Point.Theta, s.Sweeps)
				}
				break
			}
		}
	}
}

// wall is a slope to the right with a steep fall at 10: EM steps in ever so slightly shorter steps up to it, so that an
// extrapolation always falls over.
type wall struct{ evals [][]float64 }

func (w *wall) Eval(_ context.Context, theta []float64, beta float64) (*ascent.Point, error) {
	theta = slices.Clone(theta)
	w.evals = append(w.evals, theta)
	x := theta[0]
	f := x
	if x > 10 {
		f = 10 - 1000*(x-10)
	}
	return &ascent.Point{Theta: theta, Beta: beta, F: f, Next: []float64{x + 0.01*(100-x)}}, nil
}

func TestExtrapolationBelowTheEMStepIsTakenBack(t *testing.T) {
	w := &wall{}
	last, taken := math.Inf(-1), 0
	for s, err := range (ascent.SQUAREM{MaxIter: 4}).Steps(context.Background(), w, []float64{7.5}) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Point.F < last {
			t.Errorf("step %d falls from %v to %v", s.Iteration, last, s.Point.F)
		}
		if s.Iteration == 2 { // three extrapolations, then the EM step
			x := 7.5
			for range 2 {
				x += 0.01 * (100 - x)
			}
			if s.Sweeps != 6 || math.Abs(s.Point.Theta[0]-x) > 1e-12 {
				t.Errorf("at %v after %d sweeps, want %v after 6", s.Point.Theta, s.Sweeps, x)
			}
			taken++
			break
		}
		last = s.Point.F
	}
	if taken != 1 || len(w.evals) != 6 {
		t.Errorf("%d evaluations", len(w.evals))
	}
	for i := 3; i < 5; i++ { // each trial is nearer than the one before
		if w.evals[i][0] >= w.evals[i-1][0] {
			t.Errorf("trials at %v", w.evals[2:])
		}
	}
}

// Distances are those that the gradient has in the metric: they are known from step 1 on.
func TestSQUAREMTellsTheLengthOfTheGradient(t *testing.T) {
	rows, start := rare()
	m := gaussians(t, family.Full, 2, rows)
	for _, s := range follow(t, "squarem", ascent.SQUAREM{MaxIter: 10}, newObjective(t, m, rows), start)[1:] {
		if want := far(s.Point); math.Abs(s.Distance-want) > 1e-9*want {
			t.Errorf("step %d: distance %v, want %v", s.Iteration, s.Distance, want)
		}
	}
}

func TestSQUAREMNeedsFewerSweepsThanEM(t *testing.T) {
	rows, start := rare()
	m := gaussians(t, family.Full, 2, rows)
	sweeps := func(d ascent.Driver) int {
		for s, err := range d.Steps(context.Background(), newObjective(t, m, rows), start) {
			if err != nil {
				t.Fatal(err)
			}
			if far(s.Point) < 1e-4 {
				return s.Sweeps
			}
		}
		t.Fatal("the climb ended too early")
		return 0
	}
	em, q := sweeps(ascent.EM{Beta: 1, MaxIter: 5000, Ascends: true}), sweeps(ascent.SQUAREM{MaxIter: 5000})
	if q*3 > em {
		t.Errorf("SQUAREM takes %d sweeps, EM %d", q, em)
	}
	t.Logf("SQUAREM takes %d sweeps, EM %d", q, em)
}

package search

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/inference"
	"github.com/latent-go/latent/internal/plan"
)

// Where rows are too many to look in every direction, a direction in which no row's density changes is found by the rows'
// scores, which standard errors need anyway.
func TestScoresFindAFlatDirection(t *testing.T) {
	t.Parallel()
	counts := []float64{11, 23, 19, 7}
	for i := range counts {
		counts[i] *= 100
	}
	src := fixtures.Cells(true, 2, counts...)
	f, err := New(context.Background(), src, fixtures.Plan(plan.Spec{Model: "bernoulli", K: 2}))
	if err != nil {
		t.Fatal(err)
	}
	e, err := f.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	last := e.Winner().Last
	c := *last.Certificate
	c.Curvature, c.Whole = 0.4, false // as if the climb had met nothing flatter
	last.Certificate = &c
	_, order := f.Model(last.Point)
	errors, err := f.inference().StandardErrors(context.Background(), &last, order)
	if err != nil || math.Abs(last.Certificate.Curvature) > inference.FlatBelow || errors.Why != inference.Undetermined {
		t.Errorf("%+v, errors %+v (%v)", last.Certificate, errors, err)
	}
	if c.Curvature != 0.4 {
		t.Error("the certificate of the climb was changed")
	}
}

// Whatever the algorithm and the tolerance, the end is no farther from where the climb goes on to than is told: the distance is
// measured by the log-likelihood that is gained by going on to rounding.
func TestToldDistanceBoundsTheTrueOne(t *testing.T) {
	t.Parallel()
	shapes := []string{"full", "diag", "tied-volume-shape", "tied", "tied-shape", "spherical"}
	seen := 0
	for i := range 36 {
		spec := plan.Spec{K: 2 + i%2, NInit: 1, Threads: 1, MaxIter: new(5000), Tol: new([]float64{0.1, 0.05, 0.01}[i%3]), Seed: new(uint64(i)), Algorithm: string(plan.Climbers()[i%7]), Covariance: shapes[i%6]}
		bits := i%4 == 3
		if bits {
			spec.Model, spec.Covariance = "bernoulli", ""
		}
		src, err := data.FromRows(fixtures.Nearby(uint64(900+i), 60+20*(i%5), 2+i%2+2*map[bool]int{true: 1}[bits], spec.K, bits))
		if err != nil {
			t.Fatal(err)
		}
		f, err := New(context.Background(), src, fixtures.Plan(spec))
		if err != nil {
			t.Fatal(err)
		}
		e, err := f.Run(context.Background())
		if err == nil {
			err = f.Confirm(context.Background(), e, confirmWork)
		}
		if err != nil {
			t.Fatal(err)
		}
		last := e.Winner().Last
		if !last.Done.Converged() {
			continue
		}
		seen++
		on := *f
		on.Plan = f.Plan.With(plan.EMLBFGS)
		on.Plan.Tol, on.Plan.MaxIter = 0, 20_000
		runs, err := on.Climb(context.Background(), [][]float64{last.Point.Theta}, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		truth := math.Sqrt(2 * max(runs[0].Last.Point.F-last.Point.F, 0))
		if told := last.Certificate.Distance; !(told <= *spec.Tol) || truth > told*1.001+3e-5 { // what float64 tells of F
			t.Errorf("%d, %s %s, tol %v: told %v, true %v, %+v", i, spec.Algorithm, fmt.Sprint(spec.Model, spec.Covariance), *spec.Tol, told, truth, last.Certificate)
		}
	}
	if seen < 30 {
		t.Errorf("only %d fits have finished", seen)
	}
}

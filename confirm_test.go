package latent

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/inference"
	"github.com/latent-go/latent/internal/rng"
)

// remarked reports whether a result says that the rows do not determine the parameters, wherever it says it.
func remarked(r *Result) (warning, errors bool) {
	says := func(s string) bool { return strings.Contains(s, "do not determine all parameters") }
	return slices.ContainsFunc(texts(r.Warnings), says), r.StandardErrors != nil && says(r.StandardErrors.Why) && r.StandardErrors.Means == nil && r.StandardErrors.Probabilities == nil
}

// Two bits have three free cells, and two classes five parameters: every fit reaches the saturated likelihood, none determines
// its parameters, and all say so. One class has two parameters, which are determined.
func TestMoreParametersThanCellsAreSaidToBe(t *testing.T) {
	t.Parallel()
	counts := []float64{27, 5, 8, 20}
	saturated := 0.0
	for _, n := range counts {
		saturated += n * math.Log(n/60)
	}
	for _, out := range []bool{false, true} {
		src := fixtures.Cells(out, 2, counts...)
		for _, model := range []string{"bernoulli", "categorical"} {
			for seed := range uint64(8) {
				spec := Spec{Model: model, K: 2, Seed: &seed}
				if model == "categorical" {
					spec.Levels = [][]string{{"no", "yes"}, {"no", "yes"}}
				}
				if seed%2 == 1 {
					spec.K, spec.KRange = 0, [2]int{1, 3}
				}
				r := mustFit(t, src, spec)
				c := r.Certificate
				warning, errors := remarked(r)
				if r.K != 2 || !r.Converged || math.Abs(*r.LogLik-saturated) > 1e-9 || c.Curvature == nil || math.Abs(*c.Curvature) > inference.FlatBelow || !c.Whole || !warning || !errors {
					t.Errorf("written out %v, %s, seed %d: k %d at %v, %+v, warnings %q, errors %+v", out, model, seed, r.K, *r.LogLik, c, r.Warnings, r.StandardErrors)
				}
				for _, x := range r.Candidates {
					if x.Undetermined != (x.K == 2) && x.K < 3 {
						t.Errorf("%s, seed %d: the candidate of %d is undetermined: %v", model, seed, x.K, x.Undetermined)
					}
				}
				if r.Choice == nil {
					continue
				}
				again := Told(r.Model)
				if warning, errors := remarked(again); !warning || !errors || !again.Certificate.Whole || *again.Certificate.Curvature != *c.Curvature {
					t.Errorf("the file of %s, seed %d: %+v", model, seed, again.Certificate)
				}
			}
		}
	}
}

// One column of bits has one free cell: two classes are at the maximum where they begin, and flat.
func TestOneColumnOfBitsIsAtItsMaximum(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		for _, algorithm := range Climbers() {
			r := mustFit(t, fixtures.Cells(true, 1, 9, 15), Spec{Model: "bernoulli", K: 2, Algorithm: algorithm, Seed: &seed})
			want := 9*math.Log(9./24) + 15*math.Log(15./24)
			if warning, errors := remarked(r); !r.Converged || math.Abs(*r.LogLik-want) > 1e-9 || !warning || !errors || r.Certificate.Why != "" {
				t.Errorf("%s, seed %d: converged %v at %v, %+v, warnings %q", algorithm, seed, r.Converged, *r.LogLik, r.Certificate, r.Warnings)
			}
		}
	}
}

// Three bits have seven free cells, and two classes seven parameters. Where the classes differ in all bits they are determined,
// to the errors that the outer products of all cells tell.
func TestAsManyParametersAsCellsAreDetermined(t *testing.T) {
	t.Parallel()
	yes, share := [][]float64{{0.9, 0.8, 0.7}, {0.2, 0.3, 0.1}}, []float64{0.6, 0.4}
	counts := make([]float64, 8)
	for cell := range counts {
		for c, w := range share {
			for j, p := range yes[c] {
				if cell>>(2-j)&1 == 0 {
					p = 1 - p
				}
				w *= p
			}
			counts[cell] += 10_000 * w
		}
	}
	for _, tol := range []float64{0.01, 0.1} {
		r := mustFit(t, fixtures.Cells(false, 3, counts...), Spec{Model: "bernoulli", K: 2, Tol: &tol})
		warning, errors := remarked(r)
		if c := r.Certificate; !r.Converged || warning || errors || *c.Curvature < 0.01 || !c.Whole || *c.DistanceSE > tol {
			t.Errorf("tol %v: %+v, warnings %q", tol, c, r.Warnings)
		}
		for c, p := range yes { // the counts are those of the model: its parameters come back
			for j, v := range p {
				if got := r.Model.Probabilities[c][j]; math.Abs(got-v) > tol {
					t.Errorf("tol %v: probability %v, want %v", tol, got, v)
				}
			}
		}
	}
}

// Three classes of four bits have 14 parameters, of which the cells tell at most 13 (Goodman 1974): the maximum is a ridge. It
// ends where a probability comes to 0, and a fit that climbs to that end says of it what is true all along the ridge.
func TestARidgeThatEndsAtAnEdgeIsFlat(t *testing.T) {
	t.Parallel()
	src := fixtures.Cells(false, 4, 42, 23, 6, 25, 6, 24, 7, 38, 1, 4, 1, 6, 2, 9, 2, 20)
	yes := []string{"no", "yes"}
	for _, spec := range []Spec{
		{Model: "bernoulli", K: 3},
		{Model: "categorical", K: 3, Levels: [][]string{yes, yes, yes, yes}},
		{Model: "bernoulli", K: 3, Tol: new(0.1)},
		{Model: "bernoulli", K: 3, Algorithm: "squarem"},
	} {
		for seed := range uint64(6) {
			spec.Seed = &seed
			r := mustFit(t, src, spec)
			warning, errors := remarked(r)
			if c := r.Certificate; !r.Converged || math.Abs(*r.LogLik+503.3011372848) > 1e-6 || math.Abs(*c.Curvature) > inference.FlatBelow || !warning || !errors {
				t.Errorf("%s %s, seed %d: converged %v at %v, %+v, warnings %q", spec.Model, spec.Algorithm, seed, r.Converged, *r.LogLik, c, r.Warnings)
			}
		}
	}
}

// A component of two rows turns about the line through them, and nothing changes. Turns are parameters of their own where the
// axes are free and the shape or the volume is tied.
func TestATurnThatNoRowSeesIsFlat(t *testing.T) {
	t.Parallel()
	z := rng.Normals(41, 3*80)
	var x []float64
	for i := range 80 {
		x = append(x, 2*z[3*i], z[3*i+1], z[3*i+2]/2)
	}
	labels := make([]int32, 82)
	labels[80], labels[81] = 1, 1
	src := fixtures.Table(3, append(x, 60, 0, -1.5, 60.5, 0.25, 1.5)...)
	for _, shape := range []string{"tied-volume-shape", "tied-shape"} {
		r := mustFit(t, src, Spec{K: 2, Covariance: shape, Init: "labels", Labels: labels})
		warning, errors := remarked(r)
		if c := r.Certificate; !r.Converged || r.Components[1].Rows != 2 || !c.Whole || math.Abs(*c.Curvature) > inference.FlatBelow || !warning || !errors {
			t.Errorf("%s: %+v, warnings %q, errors %+v", shape, c, r.Warnings, r.StandardErrors)
		}
	}
}

// Comparing algorithms says of each whether its best end is flat.
func TestComparisonSaysThatRowsDoNotDetermine(t *testing.T) {
	t.Parallel()
	for _, want := range []bool{true, false} {
		src, spec := fixtures.Cells(true, 2, 11, 23, 19, 7), Spec{Model: "bernoulli", K: 1, NInit: 2}
		if want {
			spec.K = 2
		}
		table, err := Compare(context.Background(), src, spec, []string{"em", "em-lbfgs", "bfgs"})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range table {
			if c.Undetermined != want || c.Distance == nil {
				t.Errorf("k = %d, %s: %+v", spec.K, c.Algorithm, c)
			}
		}
	}
}

// Four overlapping groups of 80 rows: on the way up the slope falls to almost nothing at a place that is no maximum, since the
// curvature falls off too. With a loose tolerance BFGS, EM and SQUAREM stopped there, 0.29 nats below the maximum, and called
// it a hundredth of a standard error away.
func TestALooseToleranceIsNotFooledWhereTheCurvatureFallsOff(t *testing.T) {
	t.Parallel()
	src := fallingOff()
	for _, algorithm := range []string{"bfgs", "em", "squarem", "em-lbfgs"} {
		for _, tol := range []float64{0.05, 0.1} {
			spec := Spec{K: 4, NInit: 1, Algorithm: algorithm, Tol: &tol, Seed: new(uint64(546))}
			loose := mustFit(t, src, spec)
			on := mustFit(t, src, Spec{K: 4, Init: "model", Given: loose.Model, Tol: new(1e-4)})
			if c := loose.Certificate; !loose.Converged || c.DistanceSE == nil || math.Sqrt(2*max(*on.LogLik-*loose.LogLik, 0)) > *c.DistanceSE+1e-3 {
				t.Errorf("%s, tol %v: converged %v, %+v, and %v nats to gain", algorithm, tol, loose.Converged, c, *on.LogLik-*loose.LogLik)
			}
		}
	}
}

// fallingOff returns those rows.
func fallingOff() *data.Table {
	r := rand.New(rand.NewPCG(546, 77))
	r.IntN(5) // draws that choose nothing here keep the rows as they were found
	d, k := 1+r.IntN(4), 2+r.IntN(3)
	n := []int{40, 80, 150, 300, 600}[r.IntN(5)]
	apart := []float64{0.5, 1, 1.5, 2.5, 4}[r.IntN(5)]
	r.IntN(14)
	weight, sd, mean, total := make([]float64, k), make([]float64, k), make([]float64, k*d), 0.0
	for c := range weight {
		weight[c] = 0.1 + r.ExpFloat64()
		total += weight[c]
	}
	for c := range sd {
		sd[c] = 0.5 + r.Float64()
		for j := range d {
			mean[c*d+j] = apart * r.NormFloat64()
		}
	}
	t := &data.Table{N: n, D: d}
	for range n {
		u, c := r.Float64()*total, 0
		for u > weight[c] && c < k-1 {
			u -= weight[c]
			c++
		}
		for j := range d {
			t.F64 = append(t.F64, mean[c*d+j]+sd[c]*r.NormFloat64())
		}
	}
	return t
}

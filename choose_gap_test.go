package latent

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/rng"
)

func TestGapKnowsOneGroupAndThree(t *testing.T) {
	t.Parallel()
	spec := Spec{Model: "kmeans", KRange: [2]int{1, 5}, Criterion: "gap"}
	if r := quickFit(t, fixtures.Table(2, rng.Uniforms(4, 400)...), spec); r.K != 1 {
		t.Errorf("a square without groups has %d", r.K)
	}
	three := fixtures.Clusters(30, 5, [2]float64{0, 0}, [2]float64{9, 0}, [2]float64{0, 9})
	for _, scale := range []string{"", "standard"} {
		spec.Scale = scale
		if r := quickFit(t, three, spec); r.K != 3 {
			t.Errorf("scale %q: three groups have %d", scale, r.K)
		}
	}
	double := *three // each row twice
	double.W = slices.Repeat([]float64{2}, 90)
	spec.Scale = ""
	if r := quickFit(t, &double, spec); r.K != 3 {
		t.Errorf("three groups of weight 2 have %d", r.K)
	}
	spec.Threads = 1
	rows := 3000         // of each group
	if testing.Short() { // the race detector takes ten times as long
		rows = 1400
	}
	large := fixtures.Clusters(rows, 5, [2]float64{0, 0}, [2]float64{9, 0}, [2]float64{0, 9})
	r := quickFit(t, large, spec)
	spec.Threads = 3
	again := quickFit(t, fixtures.Passed(large), spec)
	if r.K != 3 || r.Choice.GapRows != 4000 {
		t.Errorf("%d rows: k = %d of %d rows", 3*rows, r.K, r.Choice.GapRows)
	}
	for i, c := range r.Candidates {
		if *c.Gap != *again.Candidates[i].Gap || *c.GapSE != *again.Candidates[i].GapSE {
			t.Errorf("k = %d: the gap depends on threads or on the source", c.K)
		}
	}
}

// The candidate of least J + λk lies farthest below the line between the ends of the curve of J.
func TestElbowIsTheKneeOfTheCurve(t *testing.T) {
	t.Parallel()
	iris, _ := builtIn(t, "@iris")
	for _, src := range []data.Source{iris, fixtures.Clusters(30, 5, [2]float64{0, 0}, [2]float64{9, 0}, [2]float64{0, 9}, [2]float64{9, 9})} {
		r := quickFit(t, src, Spec{Model: "kmeans", KRange: [2]int{1, 8}, Criterion: "elbow"})
		j := make([]float64, 9)
		for _, c := range r.Candidates {
			j[c.K] = *c.Inertia
		}
		knee, far := 0, math.Inf(-1)
		for k := 1; k <= 8; k++ {
			if below := j[1] + (j[8]-j[1])*float64(k-1)/7 - j[k]; below > far {
				knee, far = k, below
			}
		}
		if r.K != knee || r.Ranked()[0].K != knee {
			t.Errorf("k = %d, the knee is at %d", r.K, knee)
		}
		for _, c := range r.Candidates {
			fixtures.Within(t, "J + λk", *c.Objective, j[c.K]+(j[1]-j[8])/7*float64(c.K), 1e-9*j[1])
		}
		fixtures.Within(t, "λ", *r.Choice.Penalty, (j[1]-j[8])/7, 1e-9*j[1])
		if r.Choice.Verdict != "" || r.Choice.Highest || r.Penalty != nil {
			t.Errorf("%+v", r.Choice)
		}
	}
	if r := quickFit(t, fixtures.Table(1, 0, 0, 5, 5, 9), Spec{Model: "kmeans", KRange: [2]int{1, 4}, Criterion: "elbow"}); r.K != 2 || r.Candidates[3].Objective != nil {
		t.Errorf("of three distinct rows: k = %d", r.K)
	}
	if _, err := Fit(context.Background(), iris, Spec{Model: "kmeans", KRange: [2]int{2, 3}, Criterion: "elbow"}); err == nil || !strings.Contains(err.Error(), "at least three") {
		t.Errorf("an elbow of two points: %v", err)
	}
}

func TestGapAndElbowAreForKMeans(t *testing.T) {
	t.Parallel()
	src := fixtures.Clusters(20, 5, [2]float64{0, 0}, [2]float64{9, 0})
	for _, c := range []string{"gap", "elbow"} {
		for _, model := range []string{"gmm", "kmedians", "bernoulli"} {
			_, err := Fit(context.Background(), src, Spec{Model: model, KRange: [2]int{1, 3}, Criterion: c})
			if err == nil || !strings.Contains(err.Error(), "Criterion "+c+" compares inertias") {
				t.Errorf("%s of %s: %v", c, model, err)
			}
		}
	}
	r, err := Fit(context.Background(), fixtures.Table(1, 0, 0, 5, 5, 5), Spec{Model: "kmeans", KRange: [2]int{1, 4}, Criterion: "gap"})
	if err != nil || r.K != 1 || r.Candidates[1].Gap != nil || !strings.Contains(r.Candidates[1].Why, "inertia is 0") {
		t.Errorf("two distinct rows: %+v, %v", r, err)
	}
}

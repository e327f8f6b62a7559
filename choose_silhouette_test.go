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
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/score"
)

// crowdAndFew returns n rows between 0 and 1 in d columns and, last, three rows that lie that far off along the first.
func crowdAndFew(n, d int, far float64) (*data.Table, []int) {
	x := rng.Uniforms(31, (n+3)*d)
	for i := n * d; i < len(x); i += d {
		x[i] += far
	}
	labels := make([]int, n+3)
	for i := n; i < n+3; i++ {
		labels[i] = 1
	}
	return fixtures.Table(d, x...), labels
}

// Three rows among tens of thousands are a group, and the silhouette of that split is taken with them: whichever rows are drawn,
// the choice is that of all rows. The whole table's value is that of a plain loop over sums on the line, and of all pairs.
func TestSilhouettesSeeAGroupOfThreeRows(t *testing.T) {
	t.Parallel()
	columns, seeds := []int{1, 2}, uint64(3)
	if testing.Short() { // the race detector takes ten times as long
		columns, seeds = columns[1:], 1
	}
	for _, d := range columns {
		src, labels := crowdAndFew(20_000, d, 5000)
		exact, err := (&score.Partition{N: src.N, D: d, X: src.F64, Labels: labels}).SilhouetteOf(context.Background(), nil, every(40, src.N))
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range []Spec{{Model: "kmeans", KRange: [2]int{2, 3}}, {Model: "kmedians", KRange: [2]int{2, 3}}, {KRange: [2]int{2, 3}, Covariance: "spherical", Criterion: "silhouette", NInit: 2}} {
			for seed := range seeds {
				spec.Seed = new(seed + 1)
				r := quickFit(t, src, spec)
				if r.K != 2 || r.Components[1].Rows != 3 {
					t.Fatalf("%d columns, %s, seed %d: k = %d, groups of %d rows", d, spec.Model, seed+1, r.K, r.Components[1].Rows)
				}
				fixtures.Within(t, "silhouette of k = 2", *r.Candidates[0].Silhouette, exact, 0.002)
				rows, least := src.N, 0
				if d > 1 {
					rows, least = 12_909, 12_909/4
				}
				if r.Choice.Rows != rows || r.Choice.Least != least {
					t.Errorf("%d columns: the sample is of %d rows, %d of a group; want %d and %d", d, r.Choice.Rows, r.Choice.Least, rows, least)
				}
			}
		}
	}
}

// every returns the numbers of each step-th of n rows, and of the last three.
func every(step, n int) (rows []int) {
	for i := 0; i < n-3; i += step {
		rows = append(rows, i)
	}
	return append(rows, n-3, n-2, n-1)
}

// The estimate is the same for any number of threads, and for rows that are passed by.
func TestSampledSilhouettesAreTheSameForAnyThreads(t *testing.T) {
	t.Parallel()
	src, _ := crowdAndFew(14_000, 2, 60)
	spec := Spec{Model: "kmeans", KRange: [2]int{2, 4}, Threads: 1}
	a := quickFit(t, src, spec)
	spec.Threads = 3
	b := quickFit(t, fixtures.Passed(src), spec)
	for i := range a.Candidates {
		if *a.Candidates[i].Silhouette != *b.Candidates[i].Silhouette {
			t.Errorf("k = %d: %v and %v", a.Candidates[i].K, *a.Candidates[i].Silhouette, *b.Candidates[i].Silhouette)
		}
	}
}

// The inertia that a gap is of, and the box of the sets beside it, are those of all rows: three far ones are never left out.
func TestGapsAreOfAllRows(t *testing.T) {
	t.Parallel()
	src, _ := crowdAndFew(20_000, 2, 60)
	for seed := range uint64(3) {
		r := quickFit(t, src, Spec{Model: "kmeans", KRange: [2]int{1, 3}, Criterion: "gap", Seed: new(seed + 1)})
		if r.Choice.GapRows != 4000 {
			t.Errorf("sets of %d rows", r.Choice.GapRows)
		}
		// A box of 61 by 1: its rows lie 61²/12 + 1/12 from their centre in the mean, and (61/k)²/12 + 1/12 from those of k.
		for _, c := range r.Candidates {
			long := 61 / float64(c.K)
			fixtures.Within(t, "gap", *c.Gap, math.Log((long*long+1)/12)-math.Log(*c.Inertia/float64(src.N)), 0.05)
		}
		if !slices.ContainsFunc(r.Components, func(x model.Component) bool { return x.Rows == 3 }) && r.K > 1 {
			t.Errorf("seed %d: %d groups, none of three rows", seed+1, r.K)
		}
	}
	_, err := Fit(context.Background(), fixtures.Table(1, 4, 4, 4, 4), Spec{Model: "kmeans", KRange: [2]int{1, 2}, Criterion: "gap"})
	if err == nil || !strings.Contains(err.Error(), "inertia is 0") {
		t.Errorf("equal rows: %v", err)
	}
}

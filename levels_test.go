package latent

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/model"
)

func TestCellsThatAreNoLevelAreNamed(t *testing.T) {
	t.Parallel()
	levels := [][]string{fixtures.LevelNames(2), fixtures.LevelNames(3)}
	for _, c := range []struct {
		cell float64
		want string
	}{{0.5, `row 3, column "2": 0.5 is not the number of a level`}, {3, "the 3 levels"}, {-1, "-1 is not"}, {2, ""}} {
		_, err := Fit(context.Background(), fixtures.Table(2, 0, 0, 1, 2, 0, c.cell, 1, 1), Spec{Model: "categorical", K: 2, Levels: levels})
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("cell %v: %v, want %q", c.cell, err, c.want)
		}
	}
}

func TestWidthOfAModelOfLevelsIsThatOfItsLevels(t *testing.T) {
	t.Parallel()
	m := &model.Model{Kind: "categorical", Columns: []string{"x", "y"}, Levels: [][]string{{"a", "b"}, {"c"}}, Weights: []float64{1}, Probabilities: [][]float64{{0.5, 0.5}}}
	if err := m.Validate(); err == nil || err.Error() != "the model cannot be used: probabilities: row 1 has 2 numbers; there must be 3" {
		t.Error(err)
	}
	m.Probabilities[0] = []float64{0.5, 0.5, 1}
	if err := m.Validate(); err != nil {
		t.Error(err)
	}
}

func TestPenaltyForMoreClustersThanDistinctRowsIsRefused(t *testing.T) {
	t.Parallel()
	src := fixtures.Table(1, 0, 0, 1, 1, 7, 7, 7)
	for _, c := range []struct {
		src  data.Source
		k    int
		want string
	}{{src, 4, "distinct rows, 3"}, {src, 7, "distinct rows, 3"}, {src, 8, "number of rows, 7"}, {src, 0, "K is 0"}} {
		if v, err := SuggestPenalty(context.Background(), c.src, Spec{Model: "kmeans"}, c.k); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("k %d: %v, %v; want %s", c.k, v, err, c.want)
		}
	}
	for k := 1; k <= 3; k++ {
		if v, err := SuggestPenalty(context.Background(), src, Spec{Model: "kmeans"}, k); err != nil || !(v > 0) {
			t.Errorf("k %d: %v, %v", k, v, err)
		}
	}
	// The mean is a row, so the third row taken is one of the set already. Three clusters are what penalty 0 gives.
	if v, err := SuggestPenalty(context.Background(), fixtures.Table(1, -1, 0, 1), Spec{Model: "kmeans"}, 3); v != 0 || err != nil {
		t.Errorf("three rows: %v, %v", v, err)
	}
	// Two rows in 150,000 are all that tells four values from two: a sample may miss them.
	many := make([]float64, 150_000)
	for i := range many {
		many[i] = float64(i % 2)
	}
	many[77], many[78] = 0.25, 0.75
	missed := 0
	for s := range uint64(8) {
		v, err := SuggestPenalty(context.Background(), fixtures.Table(1, many...), Spec{Model: "kmeans", Seed: &s}, 3)
		if err == nil && !(v > 0) || err != nil && !strings.Contains(err.Error(), "too few distinct ones") {
			t.Errorf("seed %d: %v, %v", s, v, err)
		}
		if err != nil {
			missed++
		}
	}
	if missed == 0 || missed == 8 {
		t.Errorf("%d of 8 samples missed them", missed)
	}
}

func TestPenaltyThatOpensTooManyClustersIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	const n = 10_500
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Sqrt(float64(i)) * 1000 // no two closer than 4
	}
	penalties := []float64{0, 1, 3.9}
	if testing.Short() {
		penalties = penalties[2:]
	}
	for _, penalty := range penalties {
		_, err := Fit(context.Background(), fixtures.Table(1, x...), Spec{Model: "kmeans", Penalty: &penalty})
		if err == nil || !strings.Contains(err.Error(), "Penalty") || !strings.Contains(err.Error(), "more than 10000 clusters: raise it") {
			t.Errorf("penalty %v: %v", penalty, err)
		}
	}
	if !testing.Short() {
		if _, err := PenaltyPath(context.Background(), fixtures.Table(1, x...), Spec{Model: "kmeans"}, []float64{1e12, 1}); err == nil || !strings.Contains(err.Error(), "raise it") {
			t.Errorf("a path down to 1: %v", err)
		}
	}
	few, penalty := 3, 1.0
	if r, err := Fit(context.Background(), fixtures.Table(1, x...), Spec{Model: "kmeans", Penalty: &penalty, MaxIter: &few}); err != nil || r.K != 4 {
		t.Errorf("three steps: %v", err)
	}
}

package latent

import (
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/model"
)

// squares returns rows of k round clusters, 9 apart on a square grid, of so many rows each.
func squares(k, each int) []float64 {
	x := rng.Normals(19, 2*k*each)
	for i := range k * each {
		x[2*i] += 9 * float64(i%k%4)
		x[2*i+1] += 9 * float64(i%k/4)
	}
	return x
}

// A range that nobody gave grows while its upper edge wins; one that was given does not, and the result says where its best lies.
func TestRangeGrowsWhileItsEdgeWins(t *testing.T) {
	t.Parallel()
	src := fixtures.Table(2, squares(11, 60)...)
	shapes := "EII,VVV"
	if testing.Short() { // the race detector takes ten times as long
		shapes = "EII"
	}
	r := mustFit(t, src, Spec{Covariance: shapes})
	if r.K != 11 || r.Mclust != "EII" || r.Choice.Largest || r.Choice.Doubts != nil || r.Choice.Verdict == "flat" {
		t.Errorf("%s %d of 11 clusters, choice %+v", r.Mclust, r.K, r.Choice)
	}
	for _, c := range []struct {
		lo, hi int
		says   string
	}{{2, 7, "-k 2:14"}, {12, 13, "-k 1:13"}} {
		r := mustFit(t, src, Spec{KRange: [2]int{c.lo, c.hi}, Covariance: "EII"})
		if r.K != c.lo && r.K != c.hi || r.Choice.Verdict == "clear" || !slices.ContainsFunc(r.Choice.Doubts, func(s string) bool { return strings.Contains(s, c.says) }) {
			t.Errorf("%d:%d: k = %d, choice %+v", c.lo, c.hi, r.K, r.Choice)
		}
	}
}

// Sixteen clusters on a grid of six columns have a minimum of the criterion at six groups, whose range does not touch the edge, and
// a far lower one beyond it. There every shape is tried.
func TestRangeGrowsBeyondASecondMinimum(t *testing.T) {
	t.Parallel()
	rows, shapes := 16*50, []string{"VII", "EII", "VVI"}
	if testing.Short() { // the race detector takes ten times as long
		shapes = shapes[:2]
	}
	x := rng.Normals(23, 2*rows)
	for i := range rows {
		x[2*i] += 8 * float64(i%16%6)
		x[2*i+1] += 8 * float64(i%16/6)
	}
	r := mustFit(t, fixtures.Table(2, x...), Spec{Covariance: strings.Join(shapes, ",")})
	if r.K != 16 || r.Mclust != "EII" {
		t.Errorf("%s %d of 16 clusters of one size; choice %+v", r.Mclust, r.K, r.Choice)
	}
	for _, shape := range shapes {
		if !slices.ContainsFunc(r.Candidates, func(c model.Candidate) bool { return c.K == r.K && c.Mclust == shape }) {
			t.Errorf("%s was not tried with %d components", shape, r.K)
		}
	}
}

// With four distinct rows the range can end at 4 at most, and that is no edge.
func TestRangeEndsAtTheDistinctRows(t *testing.T) {
	t.Parallel()
	var x []float64
	for i := range 80 {
		x = append(x, float64(i%4/2), float64(i%2))
	}
	r := mustFit(t, fixtures.Table(2, x...), Spec{Model: "bernoulli"})
	for _, c := range r.Candidates {
		if c.K > 4 && c.LogLik != nil {
			t.Errorf("%d components of 4 distinct rows were fitted", c.K)
		}
	}
	if r.Choice.Largest {
		t.Errorf("choice %+v", r.Choice)
	}
}

// A wide margin alone is no clear choice: the fit has to be finished.
func TestUnfinishedChoiceIsNotClear(t *testing.T) {
	t.Parallel()
	src := fixtures.FiveClusters(400)
	r := mustFit(t, src, Spec{KRange: [2]int{1, 7}, MaxIter: new(1), Tol: new(1e-12)})
	if r.Converged || *r.Choice.Margin < 10 || r.Choice.Verdict != "fair" || len(r.Choice.Doubts) == 0 || !strings.Contains(r.Choice.Doubts[0], "not finished") {
		t.Errorf("converged %v, margin %v, choice %+v", r.Converged, *r.Choice.Margin, r.Choice)
	}
}

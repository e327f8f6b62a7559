package latent

import (
	"strings"
	"testing"

	"github.com/latent-go/latent/internal/fixtures"
)

// Waiting times of faithful are whole minutes. Nine components of one shape can settle seven of them on a single minute, which
// lowers BIC below that of any honest candidate; a choice must not fall for it, and a fit of that many says it did.
func TestRoundedRowsDoNotMakeClusters(t *testing.T) {
	t.Parallel()
	src := fixtures.Table(2, dataset(t, "faithful.csv", []string{"eruptions", "waiting"})...)
	seeds := []uint64{1, 2, 3}
	if testing.Short() {
		seeds = seeds[:1]
	}
	for _, s := range seeds {
		r := mustFit(t, src, Spec{KRange: [2]int{1, 9}, Covariance: "EEE,VEV", Seed: &s, Columns: []string{"eruptions", "waiting"}})
		if r.Mclust != "EEE" || r.K != 3 {
			t.Errorf("seed %d: %s with %d components", s, r.Mclust, r.K)
		}
		for _, c := range r.Candidates {
			if c.Narrow && (c.Why == "" || !strings.Contains(c.Why, "narrower than the steps of column")) {
				t.Errorf("seed %d, k %d: %q", s, c.K, c.Why)
			}
		}
	}
}

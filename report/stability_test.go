package report

import (
	"strings"
	"testing"

	"github.com/latent-go/latent"
)

func TestPageTellsStabilityWhereItWasAskedFor(t *testing.T) {
	src := two(300)
	for _, spec := range []latent.Spec{{K: 2, Covariance: "tied"}, {KRange: [2]int{1, 3}, Covariance: "tied", Bootstrap: 5, LRT: 4}} {
		page := pageOf(t, src, spec)
		for _, words := range []string{`id="stability"`, "5 bootstrap samples", "Fits to 5 bootstrap samples of the rows agree with these groups", "very stable", "what the samples chose", "2 groups against 3", "of 4 samples drawn"} {
			if strings.Contains(page, words) != (spec.Bootstrap > 0) {
				t.Errorf("bootstrap %d: %q", spec.Bootstrap, words)
			}
		}
	}
}

package report

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/latent-go/latent"
)

func TestPageTellsStabilityWhereItWasAskedFor(t *testing.T) {
	src := two(300)
	for _, spec := range []latent.Spec{{K: 2, Covariance: "tied"}, {KRange: [2]int{1, 3}, Covariance: "tied", Bootstrap: 5, LRT: 4}} {
		spec.Columns = []string{"x", "y"}
		r := fit(t, src, spec)
		rows, err := Gather(context.Background(), r.Fitted, src, 1)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := Write(&b, Page{Result: r, Rows: rows}); err != nil {
			t.Fatal(err)
		}
		for _, words := range []string{`id="stability"`, "5 bootstrap samples", "very stable", "what the samples chose", "2 groups against 3", "of 4 samples drawn"} {
			if strings.Contains(b.String(), words) != (spec.Bootstrap > 0) {
				t.Errorf("bootstrap %d: %q", spec.Bootstrap, words)
			}
		}
	}
}

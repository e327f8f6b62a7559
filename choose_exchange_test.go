package latent

import (
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/model"
)

// Four components of equal volume on diabetes are found higher from three of them with one split than from starts of
// their own. The winner is the same with and without somebody who watches, for any number of threads, and says where it began.
func TestCandidatesStartFromOneAnother(t *testing.T) {
	t.Parallel()
	src, _ := builtIn(t, "@diabetes")
	spec := Spec{KRange: [2]int{3, 4}, Covariance: "EVV,EEI", Threads: 1}
	r := mustFit(t, src, spec)
	if r.K != 4 || r.Choice.From != "the 3-group EVV fit with one group split" || r.Ranked()[0].From != r.Choice.From {
		t.Fatalf("%s %d began at %q", r.Mclust, r.K, r.Choice.From)
	}
	alone := mustFit(t, src, Spec{K: 4, Covariance: "EVV"})
	if *r.LogLik < *alone.LogLik+0.1 {
		t.Errorf("log-likelihood %v, alone %v", *r.LogLik, *alone.LogLik)
	}
	steps := 0
	spec.Threads = 3
	watched := mustFit(t, src, spec, Observer{Step: func(Progress) { steps++ }})
	if steps == 0 || *watched.LogLik != *r.LogLik || watched.Choice.From != r.Choice.From || !slices.Equal(watched.Components[3].Mean, r.Components[3].Mean) {
		t.Errorf("watched: log-likelihood %v from %q, %d steps; want %v", *watched.LogLik, watched.Choice.From, steps, *r.LogLik)
	}
}

// No candidate that can win is lower than one whose shape is a special case of its own: with the same responsibilities the wider shape explains
// the rows at least as well.
func TestWiderShapesAreNotLower(t *testing.T) {
	t.Parallel()
	names := []string{"@faithful", "@iris"}
	if testing.Short() { // the race detector takes ten times as long
		names = names[:1]
	}
	for _, name := range names {
		src, _ := builtIn(t, name)
		r := mustFit(t, src, Spec{KRange: [2]int{2, 4}, Covariance: "all"})
		of := func(x model.Candidate) family.Shape {
			shape, err := family.ParseShape(x.Covariance)
			if err != nil {
				t.Fatal(err)
			}
			return shape
		}
		able, pairs := r.Ranked(), 0
		for _, wide := range able {
			for _, narrow := range able {
				if wide.K != narrow.K || !family.Nested(of(wide), of(narrow)) {
					continue
				}
				if pairs++; *wide.LogLik < *narrow.LogLik-0.1 {
					t.Errorf("%s, k %d: %s has %v, %s %v (from %q)", name, wide.K, wide.Mclust, *wide.LogLik, narrow.Mclust, *narrow.LogLik, wide.From)
				}
			}
		}
		if pairs < 100 {
			t.Errorf("%s: only %d pairs", name, pairs)
		}
	}
}

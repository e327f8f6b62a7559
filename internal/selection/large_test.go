package selection

import (
	"testing"

	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/model"
)

// A shape that is affordable for few groups stays, and is named with the number from which on it is not.
func TestLargeCandidatesAreNamedByShapeAndNumber(t *testing.T) {
	t.Parallel()
	c := &choice{}
	for _, x := range []contender{
		{Candidate: model.Candidate{K: 1, Mclust: "EII"}}, {Candidate: model.Candidate{K: 1, Mclust: "VVV"}}, {Candidate: model.Candidate{K: 1, Mclust: "VVE"}, large: true},
		{Candidate: model.Candidate{K: 2, Mclust: "EII"}}, {Candidate: model.Candidate{K: 2, Mclust: "VVV"}, large: true}, {Candidate: model.Candidate{K: 2, Mclust: "VVE"}, large: true},
	} {
		c.all = append(c.all, &x)
	}
	for shape, want := range map[string]string{"EII": "", "VVV": "VVV from k = 2 on", "VVE": "VVE"} {
		if got := c.tooLargeOf(shape); got != want {
			t.Errorf("%s: %q, wanted %q", shape, got, want)
		}
	}
}

// Long choices go on where that was allowed, and those of exactly the time afforded.
func TestLongChoicesGoOnWhereAllowed(t *testing.T) {
	t.Parallel()
	for _, c := range []*choice{{seconds: 2 * plan.AffordedSeconds, plan: plan.Plan{Spec: plan.Spec{AllowLong: true}}}, {seconds: plan.AffordedSeconds}} {
		if err := c.tooLong(); err != nil {
			t.Error(err)
		}
	}
}

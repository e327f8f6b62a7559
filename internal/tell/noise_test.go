package tell_test

import (
	"strings"
	"testing"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/tell"
	"github.com/latent-go/latent/model"
)

func TestTheFindingTellsOfNoise(t *testing.T) {
	for want, r := range map[string]*latent.Result{
		"2 groups in 180 rows. 28 rows are noise: they lie anywhere, in no group (weight 18.3 %).":    {Kind: "gmm", K: 2, Rows: 180, Noise: &model.ToldNoise{Weight: 0.1826, Rows: 28}},
		"2 groups in 180 rows. 1 row is noise: it lies anywhere, in no group (weight 1.0 %).":         {Kind: "gmm", K: 2, Rows: 180, Noise: &model.ToldNoise{Weight: 0.01, Rows: 1}},
		"2 groups in 180 rows. No row is noise: its weight is under 0.1 %.":                           {Kind: "gmm", K: 2, Rows: 180, Noise: &model.ToldNoise{Weight: 1e-9}},
		"2 groups, in a model written by hand. 10.0 % is noise: rows that lie anywhere, in no group.": {Kind: "gmm", K: 2, ByHand: true, Noise: &model.ToldNoise{Weight: 0.1}},
	} {
		if got := tell.Finding(r); got != want || strings.Contains(got, "  ") {
			t.Errorf("%s\nnot %s", got, want)
		}
	}
}

package score_test

import (
	"math"
	"testing"

	"github.com/latent-go/latent/score"
)

// near reports whether got is within tol of want, absolutely or relative to want, whichever is wider.
func near(got, want, tol float64) bool {
	return math.Abs(got-want) <= tol*max(1, math.Abs(want))
}

func TestCriteria(t *testing.T) {
	// Three components of full covariance in four columns: 44 parameters. The log-likelihood is the optimum on the iris
	// data found by mclust, run to its end; mclust prints the BIC.
	const p, n, logL = 44, 150, -180.185477
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"BIC", score.BIC(p, n, logL), 580.838907},
		{"AIC", score.AIC(p, logL), 448.370954},
		{"ICL", score.ICL(p, n, logL, 1.25), 583.338907},
		{"BIC without parameters", score.BIC(0, n, logL), 360.370954},
		{"BIC of weight e", score.BIC(3, math.E, 0), 3},
	} {
		if !near(c.got, c.want, 5e-9) { // mclust's numbers have six decimals
			t.Errorf("%s = %.9f, want %.6f", c.name, c.got, c.want)
		}
	}
}

package latent

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/model"
)

var parsimoniousCodes = []string{"VEI", "EVI", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV"}

// mclust starts from its own hierarchy and ends at a good local maximum, not always the best. With ten starts none of ours may be lower, and
// at the same maximum log-likelihood, BIC and the count of parameters are the same.
func TestParsimoniousShapesReachMclust(t *testing.T) {
	t.Parallel()
	same, names := 0, []string{"iris", "diabetes"}
	if testing.Short() { // the race detector takes ten times as long
		names = names[:1]
	}
	for _, name := range names {
		src, _ := builtIn(t, "@"+name)
		tried := 0
		for _, fit := range mclust(t, name) {
			if !slices.Contains(parsimoniousCodes, fit.Model) || fit.K > 3 {
				continue
			}
			tried++
			spec := Spec{K: fit.K, Covariance: fit.Model, Tol: new(1e-5)}
			r := mustFit(t, src, spec)
			if r.FreeParameters != fit.Free || r.Mclust != fit.Model {
				t.Errorf("%s, %s, k %d: %d free parameters, want %d", name, fit.Model, fit.K, r.FreeParameters, fit.Free)
			}
			if !r.Converged || *r.Certificate.Method != "information" {
				t.Errorf("%s, %s, k %d: not finished: %+v", name, fit.Model, fit.K, r.Certificate)
			}
			switch gain := *r.LogLik - *fit.LogLik; {
			case gain < -1e-6:
				t.Errorf("%s, %s, k %d: log-likelihood %v, mclust's %v", name, fit.Model, fit.K, *r.LogLik, *fit.LogLik)
			case gain < 1e-6:
				same++
				if math.Abs(*r.BIC-fit.BIC) > 2e-6 {
					t.Errorf("%s, %s, k %d: BIC %v, mclust's %v", name, fit.Model, fit.K, *r.BIC, fit.BIC)
				}
			}
		}
		if tried != 24 {
			t.Errorf("%s: %d fits, want 24", name, tried)
		}
	}
	if most := 24 * len(names); same < most*35/48 {
		t.Errorf("only %d of %d fits end at mclust's maximum", same, most)
	}
}

// On its way this start turns two axes that are all but alike by more than half a turn, which is at infinity in the
// coordinates that it begins with.
func TestDirectionsThatTurnFarArrive(t *testing.T) {
	t.Parallel()
	r := mustFit(t, iris(t), Spec{K: 4, Covariance: "VEV", NInit: 1, Seed: new(uint64(4))})
	if !r.Converged || r.Iterations > 100 {
		t.Errorf("after %d iterations at %v: %+v", r.Iterations, *r.LogLik, r.Certificate)
	}
}

// Every driver ends at an optimum of its own. Where two end at the same local maximum, log-likelihoods are the same.
func TestParsimoniousShapesUnderEveryDriver(t *testing.T) {
	t.Parallel()
	src := iris(t)
	for _, code := range parsimoniousCodes {
		best := mustFit(t, src, Spec{K: 2, Covariance: code, NInit: 1, Tol: new(1e-4)})
		for _, a := range []string{"em", "squarem", "bfgs", "lbfgs", "ecg"} {
			r := mustFit(t, src, Spec{K: 2, Covariance: code, NInit: 1, Algorithm: a, Tol: new(1e-4), MaxIter: new(5000)})
			if !r.Converged || math.Abs(*r.LogLik-*best.LogLik) > 1e-6 {
				t.Errorf("%s, %s: %v (finished: %v), em-lbfgs ends at %v", code, a, *r.LogLik, r.Converged, *best.LogLik)
			}
		}
	}
}

func TestParsimoniousModelsSurviveTheFile(t *testing.T) {
	t.Parallel()
	src := iris(t)
	for i, code := range parsimoniousCodes {
		for _, scale := range []string{"none", "standard"} {
			spec := Spec{K: 3, Covariance: code, NInit: 1, Scale: scale, Tol: new(1e-6)}
			r := mustFit(t, src, spec)
			text := saved(t, r.Model)
			m := new(model.Model)
			if err := m.UnmarshalJSON([]byte(text)); err != nil {
				t.Fatalf("%s: %v", code, err)
			}
			if saved(t, m) != text {
				t.Errorf("%s: the file is written in another way the second time", code)
			}
			again := Told(m)
			if again.FreeParameters != r.FreeParameters || *again.BIC != *r.BIC || again.Mclust != code || m.Shape != family.TiedShapeDiag+family.Shape(i) {
				t.Errorf("%s: the file tells of %s with %d parameters and BIC %v, want %d and %v", code, again.Covariance, again.FreeParameters, *again.BIC, r.FreeParameters, *r.BIC)
			}
			if want := len(m.Covariance[0]); len(m.Covariance) != 3 || want != 16 && (code[2] != 'I' || want != 4) {
				t.Errorf("%s: %d covariances of %d numbers", code, len(m.Covariance), want)
			}
			spec.Init, spec.Given = "model", m
			if from := mustFit(t, src, spec); from.Iterations > 3 || math.Abs(*from.LogLik-*r.LogLik) > 1e-8 {
				t.Errorf("%s: from its own model the fit takes %d steps, from %v to %v", code, from.Iterations, *r.LogLik, *from.LogLik)
			}
			if e := r.StandardErrors; e.Method == "" || len(e.Covariance) != 3 || len(e.Covariance[2]) != len(m.Covariance[2]) {
				t.Errorf("%s: standard errors %+v", code, e)
			}
		}
	}
}

// A file whose covariances do not share what it says is refused in one line; within 1e-6 it is not.
func TestModelsThatAreNotOfTheirShapeAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ code, good, bad string }{
		{"VEI", `[1, 4], [3, 12]`, `[1, 4], [3, 12.001]`},
		{"EVI", `[1, 4], [2, 2]`, `[1, 4], [2, 2.001]`},
		{"VEE", `[[2, 1], [1, 3]], [[4, 2], [2, 6]]`, `[[2, 1], [1, 3]], [[4, 2], [2, 6.001]]`},
		{"EVE", `[[2, 1], [1, 2]], [[2, -1], [-1, 2]]`, `[[2, 1], [1, 2]], [[2, -1.001], [-1.001, 2]]`},
		{"VVE", `[[2, 1], [1, 2]], [[9, -3], [-3, 9]]`, `[[2, 1], [1, 2]], [[9, -3], [-3, 9.001]]`},
		{"EEV", `[[1, 0], [0, 4]], [[2.5, 1.5], [1.5, 2.5]]`, `[[1, 0], [0, 4]], [[2.5, 1.5], [1.5, 2.501]]`},
		{"VEV", `[[1, 0], [0, 4]], [[5, 3], [3, 5]]`, `[[1, 0], [0, 4]], [[5, 3], [3, 5.001]]`},
		{"EVV", `[[1, 0], [0, 4]], [[2, 0.5], [0.5, 2.125]]`, `[[1, 0], [0, 4]], [[2, 0.5], [0.5, 2.126]]`},
	} {
		file := func(covariances string) string {
			return fmt.Sprintf(`{"format": "latent-model", "version": 1, "model": "gmm", "covariance": %q, "columns": ["x", "y"],
				"weights": [0.5, 0.5], "means": [[0, 0], [3, 1]], "covariances": [%s]}`, c.code, covariances)
		}
		m := new(model.Model)
		if err := m.UnmarshalJSON([]byte(file(c.good))); err != nil {
			t.Errorf("%s: %v", c.code, err)
		}
		err := m.UnmarshalJSON([]byte(file(c.bad)))
		if err == nil || !strings.HasPrefix(err.Error(), "covariances: they are not tied-") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c.code, err)
		}
	}
}

// Rows drawn from a model have its covariances, and a fit of them finds these again.
func TestParsimoniousModelsAreDrawnFrom(t *testing.T) {
	t.Parallel()
	m := new(model.Model)
	if err := m.UnmarshalJSON([]byte(`{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "EEV", "columns": ["x", "y"],
		"weights": [0.5, 0.5], "means": [[0, 0], [30, 1]], "covariances": [[[1, 0], [0, 4]], [[2.5, 1.5], [1.5, 2.5]]]}`)); err != nil {
		t.Fatal(err)
	}
	s, err := m.Sampler(1)
	if err != nil {
		t.Fatal(err)
	}
	const n = 20000
	x := make([]float64, 2*n)
	for i := range n {
		s.Draw(x[2*i : 2*i+2])
	}
	r := mustFit(t, &data.Table{N: n, D: 2, F64: x}, Spec{K: 2, Covariance: "EEV", NInit: 1})
	for c, cov := range r.Model.Covariance {
		want := []float64{1, 0, 0, 4}
		if r.Model.Means[c][0] > 15 {
			want = []float64{2.5, 1.5, 1.5, 2.5}
		}
		for i, v := range want {
			if math.Abs(cov[i]-v) > 0.15 {
				t.Errorf("covariance %v, drawn from %v", cov, want)
				break
			}
		}
	}
}

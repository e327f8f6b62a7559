package latent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/model"
)

func iris(t *testing.T) *data.Table {
	t.Helper()
	return fixtures.Table(4, dataset(t, "iris.csv", []string{"sepal_length", "sepal_width", "petal_length", "petal_width"})...)
}

// numpys returns numpy's principal components of iris.
func numpys(t *testing.T) (mean []float64, axes [][]float64, variance []float64) {
	t.Helper()
	b, err := os.ReadFile("testdata/oracle/pca/pca.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name           string
			Mean, Variance []float64
			Axes           [][]float64
		}
	}
	if err := json.Unmarshal(b, &file); err != nil || file.Cases[0].Name != "iris" {
		t.Fatal(err)
	}
	return file.Cases[0].Mean, file.Cases[0].Axes, file.Cases[0].Variance
}

// project returns the coordinates of rows in the plane of axes, by a plain loop.
func project(src *data.Table, mean []float64, axes [][]float64) *data.Table {
	out := &data.Table{N: src.N, D: len(axes)}
	for i := range src.N {
		for _, a := range axes {
			s := 0.0
			for j, v := range a {
				s += v * (src.At(i, j) - mean[j])
			}
			out.F64 = append(out.F64, s)
		}
	}
	return out
}

// A fit of two components is the fit of rows that numpy's axes project, with the means taken back to the columns.
func TestPCAFitsTheProjectedRows(t *testing.T) {
	t.Parallel()
	src := iris(t)
	mean, axes, variance := numpys(t)
	for _, spec := range []Spec{{K: 3}, {K: 3, Covariance: "diag"}, {K: 2, Covariance: "tied-spherical"}, {K: 3, Model: "kmeans"}, {K: 3, Model: "kmedians"}} {
		spec.Tol = new(1e-4)
		want, err := Fit(context.Background(), project(src, mean, axes[:2]), spec)
		if err != nil {
			t.Fatal(err)
		}
		spec.PCA = 2
		got, err := Fit(context.Background(), src, spec)
		if err != nil {
			t.Fatal(err)
		}
		if want.LogLik != nil {
			consistent(t, src, got)
			fixtures.Within(t, "log-likelihood", *got.LogLik, *want.LogLik, 1e-6)
			fixtures.Within(t, "BIC", *got.BIC, *want.BIC, 1e-6)
		} else {
			fixtures.Within(t, "inertia", *got.Inertia, *want.Inertia, 1e-9)
		}
		if got.D != 4 || got.FreeParameters != want.FreeParameters || got.PCA == nil || got.PCA.N != 2 {
			t.Errorf("d = %d, %d parameters, not %d; %+v", got.D, got.FreeParameters, want.FreeParameters, got.PCA)
		}
		total := variance[0] + variance[1] + variance[2] + variance[3]
		fixtures.Within(t, "explained", *got.PCA.Explained, (variance[0]+variance[1])/total, 1e-12)
		fixtures.Within(t, "share", got.PCA.Shares[1], variance[1]/total, 1e-12)
		for c, x := range want.Components {
			place, back := x.Mean, got.Components[c].Mean
			if spec.Model == "kmedians" {
				place, back = x.Median, got.Components[c].Median
			}
			for j := range 4 {
				fixtures.Within(t, "mean", back[j], mean[j]+axes[0][j]*place[0]+axes[1][j]*place[1], 1e-4)
			}
			if cov := x.Covariance; cov != nil && cov.IsMatrix() {
				fixtures.Within(t, "covariance of the components", got.Components[c].Covariance.At(0, 1), cov.At(0, 1), 1e-3)
			}
			if got.Components[c].Rows != x.Rows {
				t.Errorf("component %d has %d rows, not %d", c+1, got.Components[c].Rows, x.Rows)
			}
		}
	}
}

// As many components as columns only turn space: full covariances have the same log-likelihood, in the user's units with
// --scale too, the same labels, means and standard errors of means.
func TestAllComponentsChangeNothing(t *testing.T) {
	t.Parallel()
	src := iris(t)
	plain := mustFit(t, src, Spec{K: 2, Tol: new(1e-5)})
	for _, scale := range []string{"none", "standard", "robust"} {
		r := mustFit(t, src, Spec{K: 2, Scale: scale, PCA: 4, Tol: new(1e-5)})
		fixtures.Within(t, scale+": log-likelihood", *r.LogLik, *plain.LogLik, 1e-7)
		fixtures.Within(t, scale+": start", r.Starts.Objectives[0], plain.Starts.Objectives[0], 1e-6)
		fixtures.Within(t, scale+": explained", *r.PCA.Explained, 1, 1e-12)
		for c, x := range plain.Components {
			for j, v := range x.Mean {
				fixtures.Within(t, scale+": mean", r.Components[c].Mean[j], v, 1e-6)
				fixtures.Within(t, scale+": standard error", r.StandardErrors.Means[c][j], plain.StandardErrors.Means[c][j], 1e-5)
			}
		}
		for i, l := range labelsOf(t, src, r.Model) {
			if want := labelsOf(t, src, plain.Model)[i]; l != want {
				t.Errorf("%s: row %d has label %d, not %d", scale, i+1, l, want)
			}
		}
	}
}

// streamed hides that rows are in memory.
type streamed struct{ data.Source }

func TestPCAOfAStreamHasTheSameBits(t *testing.T) {
	t.Parallel()
	for _, spec := range []Spec{{K: 3, PCA: 2}, {K: 3, PCA: 3, Scale: "standard", Covariance: "tied"}, {K: 3, PCA: 2, Model: "kmeans"}, {K: 4, PCA: 1, Model: "kmeans"}} {
		spec.Threads = 1
		want := saved(t, mustFit(t, iris(t), spec).Model)
		for _, threads := range []int{1, 3} {
			spec.Threads = threads
			if got := saved(t, mustFit(t, streamed{iris(t)}, spec).Model); got != want {
				t.Errorf("%+v: a stream read by %d threads gives\n%s\nnot\n%s", spec, threads, got, want)
			}
		}
	}
}

func TestPCAModelsSurviveTheFile(t *testing.T) {
	t.Parallel()
	src := iris(t)
	for _, spec := range []Spec{{K: 3, PCA: 2, Scale: "standard"}, {K: 2, PCA: 3, Covariance: "tied"}, {K: 3, PCA: 2, Model: "kmedians"}} {
		r, err := Fit(context.Background(), src, spec)
		if err != nil {
			t.Fatal(err)
		}
		text, m := saved(t, r.Model), new(model.Model)
		if err := m.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if again := saved(t, m); again != text {
			t.Errorf("the second writing differs:\n%s\nfrom\n%s", again, text)
		}
		a, _ := json.Marshal(labelsOf(t, src, m))
		b, _ := json.Marshal(labelsOf(t, src, r.Model))
		if !bytes.Equal(a, b) {
			t.Error("the labels differ")
		}
		told := Told(m)
		if told.PCA == nil || *told.PCA.Explained != *r.PCA.Explained || told.D != 4 || told.FreeParameters != r.FreeParameters {
			t.Errorf("the file tells %+v, d = %d, %d parameters", told.PCA, told.D, told.FreeParameters)
		}
		if names := strings.Join(m.Variables(), " "); names != []string{"pc1 pc2", "pc1 pc2 pc3"}[spec.PCA-2] {
			t.Errorf("the parameters are of %s", names)
		}
	}
}

// Rows drawn from the model lie in the plane, with the mean of the mixture.
func TestDrawnRowsLieInThePlane(t *testing.T) {
	t.Parallel()
	r := mustFit(t, iris(t), Spec{K: 3, PCA: 2})
	s, err := r.Model.Sampler(1)
	if err != nil {
		t.Fatal(err)
	}
	mean, axes, variance := numpys(t)
	const n = 4000
	x, centre := make([]float64, 4), make([]float64, 4)
	for range n {
		s.Draw(x)
		for _, a := range axes[2:] { // at right angles to the plane
			off := 0.0
			for j, v := range a {
				off += v * (x[j] - mean[j])
			}
			fixtures.Within(t, "distance from the plane", off, 0, 1e-9)
		}
		for j, v := range x {
			centre[j] += v / n
		}
	}
	for j, v := range mean {
		fixtures.Within(t, "mean", centre[j], v, 4*math.Sqrt(variance[0]/n))
	}
}

func TestGivenStartsOfPCA(t *testing.T) {
	t.Parallel()
	src := iris(t)
	best := mustFit(t, src, Spec{K: 3, PCA: 2, NInit: 1, Tol: new(1e-4)}) // a local maximum that only its own centres lead to
	var centers [][]float64
	for _, c := range best.Components {
		centers = append(centers, c.Mean)
	}
	for name, spec := range map[string]Spec{
		"model":   {Given: best.Model},
		"labels":  {Labels: labelsOf(t, src, best.Model)},
		"centers": {Centers: centers},
	} {
		spec.K, spec.PCA, spec.Init, spec.Tol = 3, 2, name, new(1e-4)
		r := mustFit(t, src, spec)
		fixtures.Within(t, name, *r.LogLik, *best.LogLik, 1e-6)
		if name == "model" && r.Iterations > 1 {
			t.Errorf("%d iterations from the optimum", r.Iterations)
		}
	}
	for _, spec := range []Spec{{K: 3}, {K: 3, PCA: 3}, {K: 3, PCA: 2, Scale: "standard"}} {
		spec.Init, spec.Given = "model", best.Model
		if _, err := Fit(context.Background(), src, spec); err == nil || !strings.Contains(err.Error(), "scales, projects or binarizes") {
			t.Errorf("%+v: %v", spec, err)
		}
	}
}

func TestPCAThatCannotBe(t *testing.T) {
	t.Parallel()
	line := fixtures.Table(3, 0, 0, 1, 1, 2, 1, 2, 4, 2, 3, 6, 2, 4, 8, 3)
	for _, c := range []struct {
		spec Spec
		src  data.Source
		want string
	}{
		{Spec{K: 2, PCA: -1}, line, "PCA is -1"},
		{Spec{K: 2, PCA: 4}, line, "PCA is 4, but there are 3 columns"},
		{Spec{K: 2, PCA: 3, Model: "kmeans"}, line, "PCA is 3, but the rows vary in 2 directions only"},
		{Spec{K: 1, PCA: 1, Model: "kmeans"}, fixtures.Table(2, 1, 2, 1, 2), "all are equal"},
		{Spec{K: 2, PCA: 1, Model: "bernoulli"}, line, "PCA does not apply to bernoulli"},
		{Spec{K: 2, PCA: 1}, fixtures.Table(2, 0, 1, math.NaN(), 2, 1, 1, 3, 5), "PCA needs whole rows, but 1 cell is missing"},
		{Spec{K: 2, PCA: 1, Model: "kmeans"}, fixtures.Table(1, 0, 1, math.NaN(), 2), "row 3"},
	} {
		_, err := Fit(context.Background(), c.src, c.spec)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.spec, err, c.want)
		}
		if wrong := (*SpecError)(nil); strings.HasPrefix(c.want, "PCA") != errors.As(err, &wrong) && c.want != "all are equal" {
			t.Errorf("%+v: %v is of another kind", c.spec, err)
		}
	}
}

func TestPCATransformsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ transform, want string }{
		{`{"kind": "pca", "mean": [0], "components": [[1, 0]]}`, "mean of 1 numbers"},
		{`{"kind": "pca", "mean": [0, 0], "components": []}`, "0 components"},
		{`{"kind": "pca", "mean": [0, 0], "components": [[1, 0], [0, 1], [1, 0]]}`, "3 components"},
		{`{"kind": "pca", "mean": [0, 0], "components": [[1]]}`, "1 numbers in component 1"},
		{`{"kind": "pca", "mean": [0, 0], "components": [[1, 1]]}`, "not orthonormal"},
		{`{"kind": "pca", "mean": [0, 0], "components": [[0.6, 0.8], [0.8, 0.6]]}`, "not orthonormal"},
		{`{"kind": "pca", "mean": [0, 0], "components": [[1, 0]], "scale": [1, 1]}`, "cannot have"},
		{`{"kind": "pca", "mean": [0, 0], "components": [[1, null]]}`, "missing"},
		{`{"kind": "pca", "mean": [0, 0], "components": [[1, 0]], "explained": [1.5]}`, "a share of 1.5"},
		{`{"kind": "pca", "mean": [0, 0], "components": [[1, 0], [0, 1]]}`, "there are 2 components"},
		{`{"kind": "standard", "center": [0, 0], "scale": [1, 1], "mean": [1]}`, "only pca can have"},
	} {
		file := `{"format": "latent-model", "version": 1, "model": "kmeans", "columns": ["x", "y"], "centers": [[3]], "transform": [` + c.transform + `]}`
		if err := new(model.Model).UnmarshalJSON([]byte(file)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.transform, err, c.want)
		}
	}
	good := `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "full", "columns": ["x", "y"], "weights": [1], "means": [[2]],
		"covariances": [[[4]]], "transform": [{"kind": "standard", "center": [1, 1], "scale": [2, 2]}, {"kind": "pca", "mean": [1, 1], "components": [[0.6, 0.8]]}]}`
	m := new(model.Model)
	if err := m.UnmarshalJSON([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for j, want := range []float64{(1+0.6*2)*2 + 1, (1+0.8*2)*2 + 1} {
		fixtures.Within(t, "mean", m.UserMean(0)[j], want, 1e-14)
	}
	if p := m.PCA(); p.N != 1 || p.Explained != nil {
		t.Errorf("%+v", p)
	}
	err := m.Rows(context.Background(), fixtures.Table(2, 5, 5), 1, func(s *model.Scored) error {
		z := (0.6*(2-1) + 0.8*(2-1) - 2) / 2
		fixtures.Within(t, "log density", s.LogDensity[0], -z*z/2-math.Log(2*math.Sqrt(2*math.Pi)), 1e-14)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

package latent

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/model"
)

// csvColumns returns some columns of a file of numbers.
func csvColumns(t *testing.T, path string, columns []string) *data.Table {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	src := &data.Table{N: len(rows) - 1, D: len(columns)}
	for _, row := range rows[1:] {
		for _, name := range columns {
			v, err := strconv.ParseFloat(row[slices.Index(rows[0], name)], 64)
			if err != nil {
				t.Fatal(err)
			}
			src.F64 = append(src.F64, v)
		}
	}
	return src
}

// All optima of the reference: fits reach the best log-likelihood known, and where their degrees of freedom are told by the rows their
// parameters. Beyond 200 the likelihood is flat, and the reference has no limit at 1000.
func TestOptimaOfStudentMixtures(t *testing.T) {
	t.Parallel()
	var ref struct {
		Data map[string]struct {
			File    string
			Columns []string
			Rows    [][]float64
		}
		Fits []struct {
			Data                 string
			K                    int
			Mode                 any
			LogLik               float64 `json:"log_likelihood"`
			Free                 int     `json:"free_parameters"`
			BIC                  float64
			Weights, Scales, Dof []float64
			Locations            [][]float64
		}
	}
	readReference(t, "student/optimum.json", &ref)
	reached, compared := 0, 0
	for _, want := range ref.Fits {
		table := ref.Data[want.Data]
		src := fixtures.Table(len(table.Columns), slices.Concat(table.Rows...)...)
		switch {
		case want.Data == "galaxies":
			src = csvColumns(t, "internal/onedim/testdata/galaxies.csv", table.Columns)
		case table.File != "":
			src = csvColumns(t, strings.Replace(table.File, "data/", "data/datasets/", 1), table.Columns)
		}
		spec, what := Spec{Model: "t", K: want.K, Tol: new(1e-4)}, fmt.Sprint(want.Data, " ", want.K, " ", want.Mode)
		switch mode := want.Mode.(type) {
		case float64:
			spec.Dof = fmt.Sprint(mode)
		case string:
			spec.Dof = map[string]string{"own": "auto", "tied": "tied"}[mode]
		}
		r := mustFit(t, src, spec)
		slack := 1e-4
		flat := slices.Max(want.Dof) > 200
		if flat {
			slack = 0.05
		}
		if !(*r.LogLik >= want.LogLik-slack) || !r.Converged {
			t.Errorf("%s: log-likelihood %v, converged %v; the best known is %v", what, *r.LogLik, r.Converged, want.LogLik)
			continue
		}
		reached++
		if r.FreeParameters != want.Free {
			t.Errorf("%s: %d free parameters, want %d", what, r.FreeParameters, want.Free)
		}
		fixtures.Within(t, what+": BIC", *r.BIC, want.BIC, 2*slack)
		if flat || *r.LogLik > want.LogLik+1e-3 {
			continue
		}
		compared++
		d := len(table.Columns)
		for c, x := range r.Components {
			fixtures.Within(t, what+": weight", x.Weight, want.Weights[c], 1e-3)
			fixtures.Within(t, what+": log dof", math.Log(*x.Dof), math.Log(want.Dof[c]), 0.01)
			for j := range d {
				sd := math.Sqrt(want.Scales[c*d*d+j*d+j])
				fixtures.Within(t, what+": location", x.Mean[j], want.Locations[c][j], 2e-3*sd)
				for l := range d {
					fixtures.Within(t, what+": scale", x.Scale.At(j, l), want.Scales[c*d*d+j*d+l], 5e-3*sd*math.Sqrt(want.Scales[c*d*d+l*d+l]))
				}
			}
		}
	}
	if len(ref.Fits) != 10 || reached != 10 || compared != 8 {
		t.Errorf("%d of %d optima were reached and the parameters of %d compared; want 10 of 10, and 8", reached, len(ref.Fits), compared)
	}
}

// tails draws n rows of d columns from k groups of t distributions with v degrees of freedom, 9 scales apart.
func tails(seed uint64, n, d, k int, v float64) *data.Table {
	rng, src := rand.New(rand.NewPCG(seed, 0)), &data.Table{N: n, D: d}
	for i := range n {
		chi := 0.0
		for range int(v) {
			z := rng.NormFloat64()
			chi += z * z
		}
		for j := range d {
			src.F64 = append(src.F64, float64(9*(i%k))*float64(1-j%2)+rng.NormFloat64()*(1+float64(j)/4)/math.Sqrt(chi/v))
		}
	}
	return src
}

// Every driver ends at the same place, and in every shape.
func TestDriversOfStudentMixtures(t *testing.T) {
	t.Parallel()
	src := tails(1, 240, 2, 2, 4)
	for _, dof := range []string{"auto", "tied", "5"} {
		var best float64
		for i, algorithm := range kind.Student.Drivers {
			spec := Spec{Model: "t", K: 2, Dof: dof, Algorithm: algorithm, Init: "kmeans", NInit: 2, Tol: new(1e-3), MaxIter: new(20_000)}
			if algorithm == "anti-annealing" { // the default schedule begins so hot that the start is forgotten
				spec.Beta = []float64{0.8, 1, 1.2, 1}
			}
			r := mustFit(t, src, spec)
			if i == 0 {
				best = *r.LogLik
			}
			if math.Abs(*r.LogLik-best) > 1e-4 || !r.Converged {
				t.Errorf("%s, dof %s: log-likelihood %v, want %v; converged %v", algorithm, dof, *r.LogLik, best, r.Converged)
			}
		}
	}
	plain := map[string]float64{}
	for _, shape := range []string{"VVV", "EEE", "VVI", "VII", "EEI", "EII", "VEI", "EVI", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV"} {
		r := mustFit(t, src, Spec{Model: "t", K: 2, Dof: "4", Covariance: shape})
		g := mustFit(t, src, Spec{K: 2, Covariance: shape})
		plain[shape] = *r.LogLik
		if !r.Converged || r.FreeParameters != g.FreeParameters || !(*r.LogLik > *g.LogLik+20) {
			t.Errorf("%s: converged %v with %d parameters and log-likelihood %v; Gaussians have %d and %v", shape, r.Converged, r.FreeParameters, *r.LogLik, g.FreeParameters, *g.LogLik)
		}
		for _, other := range []string{"VVV"} { // that holds all the others
			if plain[shape] > plain[other]+1e-3 {
				t.Errorf("%s is likelier than %s, which holds it: %v and %v", shape, other, plain[shape], plain[other])
			}
		}
	}
}

// A weight is a number of repeats, the number of threads changes no bit, a stream is a table, and units change the density alone.
func TestStudentFitsFollowTheRows(t *testing.T) {
	t.Parallel()
	src := tails(2, 200, 2, 2, 3)
	weighted, more := &data.Table{N: src.N, D: 2, F64: src.F64}, &data.Table{D: 2}
	for i := range src.N {
		weighted.W = append(weighted.W, float64(1+i%3/2))
		for range 1 + i%3/2 {
			more.N++
			more.F64 = append(more.F64, src.F64[2*i:2*i+2]...)
		}
	}
	spec := Spec{Model: "t", K: 2, Tol: new(1e-5)}
	a, b := mustFit(t, weighted, spec), mustFit(t, more, spec)
	fixtures.Within(t, "log-likelihood of rows that repeat", *b.LogLik, *a.LogLik, 1e-7*math.Abs(*a.LogLik))
	for c := range 2 {
		fixtures.Within(t, "degrees of freedom of rows that repeat", *b.Components[c].Dof, *a.Components[c].Dof, 1e-3**a.Components[c].Dof)
	}
	for _, shape := range []string{"full", "tied", "VEI"} {
		one := mustFit(t, src, Spec{Model: "t", K: 2, Covariance: shape, Threads: 1})
		three := mustFit(t, fixtures.Passed(src), Spec{Model: "t", K: 2, Covariance: shape, Threads: 3})
		p, q := new(bytes.Buffer), new(bytes.Buffer)
		one.Model.WriteTo(p)
		three.Model.WriteTo(q)
		if p.String() != q.String() {
			t.Errorf("%s: a stream and three threads give\n%s\na table and one thread\n%s", shape, q, p)
		}
	}
	moved := &data.Table{N: src.N, D: 2}
	for i, v := range src.F64 {
		moved.F64 = append(moved.F64, []float64{8, 0.25}[i%2]*v+[]float64{-3, 100}[i%2])
	}
	u, v := mustFit(t, src, spec), mustFit(t, moved, spec)
	fixtures.Within(t, "log-likelihood in other units", *v.LogLik, *u.LogLik-float64(src.N)*math.Log(2), 1e-6)
	for c := range 2 {
		fixtures.Within(t, "location in other units", v.Components[c].Mean[0], 8*u.Components[c].Mean[0]-3, 1e-3)
		fixtures.Within(t, "scale in other units", v.Components[c].Scale.At(0, 1), 2*u.Components[c].Scale.At(0, 1), 1e-3)
	}
}

// Three rows at a million take no group, and hardly move the others; a small group far from all others is found.
func TestRowsFarOutDoNotSpoilStudentFits(t *testing.T) {
	t.Parallel()
	for _, shape := range []string{"full", "tied", "spherical", "VVE"} {
		src := tails(3, 200, 2, 2, 30)
		clean := mustFit(t, src, Spec{Model: "t", K: 2, Covariance: shape})
		far := &data.Table{N: src.N + 3, D: 2, F64: append(slices.Clone(src.F64), 1e4, 1e4, -1e6, 3e4, 0, 1e6)}
		r := mustFit(t, far, Spec{Model: "t", K: 2, Covariance: shape})
		for _, x := range r.Components {
			nearest := math.Inf(1)
			for _, y := range clean.Components {
				nearest = min(nearest, math.Hypot(x.Mean[0]-y.Mean[0], x.Mean[1]-y.Mean[1]))
			}
			if nearest > 0.5 {
				t.Errorf("%s: a location moved by %v, to %v", shape, nearest, x.Mean)
			}
		}
	}
	rng, small := rand.New(rand.NewPCG(4, 0)), &data.Table{N: 400, D: 2}
	for i := range small.N {
		at := float64(i / 380 * 100)
		small.F64 = append(small.F64, at+rng.NormFloat64(), at+rng.NormFloat64())
	}
	if r := mustFit(t, small, Spec{Model: "t", K: 2}); r.Components[1].Rows != 20 {
		t.Errorf("a small group far out: %d and %d rows", r.Components[0].Rows, r.Components[1].Rows)
	}
}

// With a thousand degrees of freedom a fit is that of Gaussians to three digits; at the upper limit a group is named a Gaussian, and its
// degrees of freedom have neither a standard error nor a place in the certificate.
func TestStudentMixturesOfGaussians(t *testing.T) {
	t.Parallel()
	src := csvColumns(t, "data/datasets/faithful.csv", []string{"eruptions", "waiting"})
	g := mustFit(t, src, Spec{K: 2})
	r := mustFit(t, src, Spec{Model: "t", K: 2, Dof: "1000"})
	fixtures.Within(t, "log-likelihood", *r.LogLik, *g.LogLik, 0.1)
	for c := range 2 {
		for j := range 2 {
			sd := math.Sqrt(g.Components[c].Covariance.At(j, j))
			fixtures.Within(t, "location", r.Components[c].Mean[j], g.Components[c].Mean[j], 0.01*sd)
			fixtures.Within(t, "covariance", r.Components[c].Covariance.At(j, j), g.Components[c].Covariance.At(j, j), 0.01*sd*sd)
		}
	}
	own := mustFit(t, src, Spec{Model: "t", K: 2})
	x := own.Components[0]
	if !x.Gaussian || *x.Dof != 1000 || own.Components[1].Gaussian || !slices.Equal(own.Certificate.OnEdge, []string{"degrees of freedom 1: Gaussian"}) ||
		!math.IsNaN(own.StandardErrors.Dof[0]) || !(own.StandardErrors.Dof[1] > 0) {
		t.Errorf("%+v, certificate %+v, standard errors %v", x, own.Certificate, own.StandardErrors.Dof)
	}
}

// The information is the sum of the outer products of numerical gradients, in location, scale and degrees of freedom.
func TestStandardErrorsOfStudentMixtures(t *testing.T) {
	t.Parallel()
	const h = 1e-4
	src := tails(5, 400, 1, 1, 4)
	r := mustFit(t, src, Spec{Model: "t", K: 1, Tol: new(1e-6)})
	p := []float64{r.Components[0].Mean[0], r.Components[0].Scale.At(0, 0), *r.Components[0].Dof}
	density := func(x float64, q []float64) float64 {
		up, _ := math.Lgamma((q[2] + 1) / 2)
		down, _ := math.Lgamma(q[2] / 2)
		return up - down - math.Log(q[2]*math.Pi*q[1])/2 - (q[2]+1)/2*math.Log1p((x-q[0])*(x-q[0])/(q[1]*q[2]))
	}
	info, g := mat.NewSymDense(3, nil), make([]float64, 3)
	for _, x := range src.F64 {
		for j := range p {
			up, down := slices.Clone(p), slices.Clone(p)
			up[j], down[j] = up[j]+h, down[j]-h
			g[j] = (density(x, up) - density(x, down)) / (2 * h)
		}
		info.SymRankOne(info, 1, mat.NewVecDense(3, g))
	}
	var chol mat.Cholesky
	var cov mat.SymDense
	if !chol.Factorize(info) || chol.InverseTo(&cov) != nil {
		t.Fatal("the information has no inverse")
	}
	e := r.StandardErrors
	for j, got := range []float64{e.Means[0][0], e.Covariance[0][0], e.Dof[0]} {
		if want := math.Sqrt(cov.At(j, j)); !(math.Abs(got-want) <= 1e-4*want) {
			t.Errorf("standard error %d is %v, want %v", j, got, want)
		}
	}
}

// A model is written, read and drawn from; its components tell a covariance only where there is one.
func TestStudentModelFiles(t *testing.T) {
	t.Parallel()
	const text = `{"format": "latent-model", "version": 1, "model": "t", "covariance": "full", "columns": ["x"], "weights": [0.5, 0.5], "means": [[0], [20]], "scales": [[[1]], [[4]]], "dof": [1.5, 5]}`
	m := new(model.Model)
	if err := json.Unmarshal([]byte(text), m); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(m.Component(0))
	if err != nil || !strings.Contains(string(b), `"covariance":null`) || !strings.Contains(string(b), `"scale":[[1]]`) || !strings.Contains(string(b), `"dof":1.5`) {
		t.Errorf("%s, %v", b, err)
	}
	if x := m.Component(1); x.Covariance.At(0, 0) != 4*5./3 || x.Gaussian {
		t.Errorf("component 2 is %+v", x)
	}
	var out strings.Builder
	again := new(model.Model)
	if _, err := m.WriteTo(&out); err != nil || json.Unmarshal([]byte(out.String()), again) != nil || !slices.Equal(again.Dof, m.Dof) || again.Covariance[1][0] != 4 {
		t.Errorf("%v\n%s", err, out.String())
	}
	for _, c := range [][2]string{
		{strings.Replace(text, `[1.5, 5]`, `[1.5]`, 1), "dof: there is 1 for 2 components"},
		{strings.Replace(text, `[1.5, 5]`, `[0, 5]`, 1), "dof: number 1 is 0; degrees of freedom are finite and above 0"},
		{strings.Replace(text, `"scales"`, `"covariances"`, 1), "scales: this key is missing"},
		{strings.Replace(text, `, "dof": [1.5, 5]`, ``, 1), "dof: this key is missing"},
		{strings.Replace(text, `[[4]]`, `[[-4]]`, 1), "scales: number 2 is not positive definite"},
		{strings.Replace(text, `"t"`, `"gmm"`, 1), "covariances: this key is missing"},
	} {
		if err := json.Unmarshal([]byte(c[0]), new(model.Model)); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%v, want %s", err, c[1])
		}
	}
	// The quartiles of a t distribution with 1.5 degrees of freedom are at 0.8726 scales, of one with 5 at 0.7267 (by scipy 1.17).
	src, labels, err := m.Sample(40_000, 7)
	if err != nil {
		t.Fatal(err)
	}
	inside, count := [2]float64{}, [2]float64{}
	for i, c := range labels {
		count[c]++
		if math.Abs(src.F64[i]-[]float64{0, 20}[c]) < []float64{0.8725947, 2 * 0.7266868}[c] {
			inside[c]++
		}
	}
	for c := range inside {
		if p := inside[c] / count[c]; math.Abs(p-0.5) > 0.018 { // five standard errors
			t.Errorf("%.3f of the rows drawn from group %d lie between its quartiles", p, c+1)
		}
	}
}

// Degrees of freedom that are none, or that nothing has, are refused in one line.
func TestWrongDegreesOfFreedom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{Model: "t", Dof: "0"}, "--dof is 0; degrees of freedom must be above 0"},
		{Spec{Model: "t", Dof: "-2"}, "--dof is -2; degrees of freedom must be above 0"},
		{Spec{Model: "t", Dof: "NaN"}, `--dof "NaN" is not known`},
		{Spec{Model: "t", Dof: "many"}, `--dof "many" is not known; choose auto (each group its own), tied (one for all), or a number above 0`},
		{Spec{Model: "t", Dof: "2e6"}, "at most 1000000"},
		{Spec{Model: "t", Dof: "inf"}, "at most 1000000"},
		{Spec{Dof: "4"}, "--dof applies to --model t only"},
		{Spec{Model: "kmeans", K: 2, Dof: "auto"}, "--dof applies to --model t only"},
		{Spec{Model: "t", Algorithm: "hard-em"}, "--algorithm hard-em does not apply to t"},
		{Spec{Model: "t", KeepSums: true}, "--keep-sums does not apply to t"},
	} {
		err := c.spec.Validate()
		var wrong *SpecError
		if !errors.As(err, &wrong) || !strings.Contains(wrong.Flags(), c.want) || strings.Contains(wrong.Flags(), "\n") {
			t.Errorf("%+v: %v, want %s", c.spec, err, c.want)
		}
	}
}

// Missing cells: labels, fits and a choice by repeats.
func TestStudentMixturesWithGaps(t *testing.T) {
	t.Parallel()
	src := tails(6, 240, 3, 2, 5)
	whole := mustFit(t, src, Spec{Model: "t", K: 2, Dof: "tied"})
	rng, gapped := rand.New(rand.NewPCG(8, 0)), &data.Table{N: src.N, D: 3, F64: slices.Clone(src.F64)}
	for i := range gapped.F64 {
		if i%3 > 0 && rng.IntN(5) == 0 {
			gapped.F64[i] = math.NaN()
		}
	}
	for _, shape := range []string{"full", "diag", "VEE"} {
		r := mustFit(t, gapped, Spec{Model: "t", K: 2, Dof: "tied", Covariance: shape, Bootstrap: 2})
		if !r.Converged || r.Missing.Cells == 0 || r.Stability.Done != 2 {
			t.Errorf("%s: converged %v, %+v", shape, r.Converged, r.Missing)
		}
		for _, x := range r.Components {
			want := whole.Components[0].Mean[0]
			if math.Abs(x.Mean[0]-want) > 4 {
				want = whole.Components[1].Mean[0]
			}
			fixtures.Within(t, shape+": location", x.Mean[0], want, 0.2)
		}
	}
	labels, err := whole.Model.Predict(context.Background(), gapped)
	if err != nil {
		t.Fatal(err)
	}
	plain := labelsOf(t, src, whole.Model)
	same := 0
	for i, c := range labels {
		if int32(c) == plain[i] {
			same++
		}
	}
	if same < 225 {
		t.Errorf("%d of 240 rows have the label that they have without gaps", same)
	}
}

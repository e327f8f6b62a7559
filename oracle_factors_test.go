package latent

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// factorOptimum is the best maximum known of a mixture of factor analysers.
type factorOptimum struct {
	Data, Kind string
	K, Factors int
	LogLik     float64 `json:"log_likelihood"`
	Free       int     `json:"free_parameters"`
	BIC        float64
	OnFloor    bool `json:"uniqueness_on_floor"`
}

// All fits of the oracle: one component as R's factanal, scikit-learn and the closed form have it, mixtures at least as high as the best known.
func TestFactorOptimaAreThoseOfTheOracle(t *testing.T) {
	t.Parallel()
	var ref struct {
		Data map[string]struct {
			File    string
			Columns []string
			Rows    [][]float64
		}
		Fits []factorOptimum
	}
	text, err := os.ReadFile("testdata/oracle/factors/optimum.json")
	if err == nil {
		err = json.Unmarshal(text, &ref)
	}
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"UUU": "factors", "UCU": "factors-tied", "UUC": "ppca"}
	reached, heywood := 0, 0
	for _, want := range ref.Fits {
		if testing.Short() && want.Data == "wine" && want.K > 1 {
			continue
		}
		of := ref.Data[want.Data]
		src := &data.Table{N: len(of.Rows), D: len(of.Columns), F64: slices.Concat(of.Rows...)}
		if of.File != "" {
			name := filepath.Base(of.File)
			if want.Data == "banknote" {
				name = "../../testdata/oracle/factors/banknote.csv"
			}
			src.F64 = dataset(t, name, of.Columns)
			src.N = len(src.F64) / src.D
		}
		spec := Spec{K: want.K, Covariance: fmt.Sprintf("%s:%d", names[want.Kind], want.Factors), Tol: new(1e-4)}
		name := fmt.Sprintf("%s %d %s", want.Data, want.K, spec.Covariance)
		if name == "banknote 2 factors:1" { // the groups of a maximum that is 8 nats lower, with other loadings: few starts reach the higher
			spec.Init, spec.NInit, spec.Algorithm, spec.Seed = "random", 100, "em", new(uint64(3))
		}
		r := mustFit(t, src, spec)
		gain, slack := *r.LogLik-want.LogLik, 1e-3
		if want.K == 1 {
			slack = 1e-5
		}
		switch {
		case r.FreeParameters != want.Free:
			t.Errorf("%s: %d free parameters, want %d", name, r.FreeParameters, want.Free)
		case gain < -slack || want.K == 1 && gain > slack:
			t.Errorf("%s: log-likelihood %v, want %v", name, *r.LogLik, want.LogLik)
		default:
			reached++
		}
		if math.Abs(gain) <= slack && math.Abs(*r.BIC-want.BIC) > 2*slack+1e-6 {
			t.Errorf("%s: BIC %v, want %v", name, *r.BIC, want.BIC)
		}
		if slices.ContainsFunc(r.Components, func(c model.Component) bool { return c.AtFloor }) {
			t.Errorf("%s: a component is degenerate", name)
		}
		if want.K == 1 && want.OnFloor {
			heywood++
			if len(r.Certificate.OnEdge) == 0 || !slices.ContainsFunc(r.Warnings, func(w model.Warning) bool { return w.Code == model.Heywood }) {
				t.Errorf("%s: a Heywood case is not named: %v, %v", name, r.Certificate.OnEdge, r.Warnings)
			}
		}
	}
	t.Logf("%d of %d reached or better, %d Heywood cases of one component", reached, len(ref.Fits), heywood)
	if len(ref.Fits) != 22 || !testing.Short() && reached != 22 || heywood != 3 {
		t.Errorf("%d of %d fits reached, with %d Heywood cases; want 22 of 22 and 3", reached, len(ref.Fits), heywood)
	}
}

// wideTable draws n rows of d columns with two factors.
func wideTable(n, d int) *data.Table {
	rng := rand.New(rand.NewPCG(51, 0))
	l := make([]float64, 2*d)
	for i := range l {
		l[i] = rng.NormFloat64()
	}
	x := make([]float64, 0, n*d)
	for range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		for j := range d {
			x = append(x, a*l[2*j]+b*l[2*j+1]+rng.NormFloat64())
		}
	}
	return &data.Table{N: n, D: d, F64: x}
}

// Of more columns than rows probabilistic PCA is its closed form (Tipping and Bishop 1999): the eigenvalues are those of the products of rows.
func TestWidePPCAIsTheClosedForm(t *testing.T) {
	const n, d, q = 25, 120, 2
	src := wideTable(n, d)
	centred := mat.NewDense(n, d, slices.Clone(src.F64))
	for j := range d {
		mean := 0.0
		for i := range n {
			mean += centred.At(i, j) / n
		}
		for i := range n {
			centred.Set(i, j, centred.At(i, j)-mean)
		}
	}
	var products mat.SymDense
	products.SymOuterK(1.0/n, centred)
	var e mat.EigenSym
	if !e.Factorize(&products, false) {
		t.Fatal("no eigenvalues")
	}
	values, logDet, rest := e.Values(nil), 0.0, 0.0
	for i, v := range values {
		if i >= n-q {
			logDet += math.Log(v)
		} else {
			rest += max(v, 0) / (d - q)
		}
	}
	want := -0.5 * n * (d*math.Log(2*math.Pi) + logDet + (d-q)*math.Log(rest) + d)
	r := mustFit(t, src, Spec{K: 1, Covariance: "ppca:2"})
	if math.Abs(*r.LogLik-want) > 1e-6 || math.Abs(r.Components[0].Uniquenesses.(float64)-rest) > 1e-6*rest || !r.Converged {
		t.Errorf("log-likelihood %v, uniqueness %v, want %v and %v", *r.LogLik, r.Components[0].Uniquenesses, want, rest)
	}
	// Own uniquenesses fit no worse, and two threads make the same bits as one.
	one := mustFit(t, src, Spec{K: 1, Covariance: "factors:2", Threads: 1})
	two := mustFit(t, src, Spec{K: 1, Covariance: "factors:2", Threads: 2})
	if *one.LogLik < want || *one.LogLik != *two.LogLik || !slices.Equal(one.Model.Loadings[0], two.Model.Loadings[0]) {
		t.Errorf("own uniquenesses: %v and %v, with one %v", *one.LogLik, *two.LogLik, want)
	}
}

// Every driver ends at the same maximum, with the same bits for any number of threads.
func TestDriversOfFactorsEndAtOneMaximum(t *testing.T) {
	t.Parallel()
	columns := []string{"sepal_length", "sepal_width", "petal_length", "petal_width"}
	src := &data.Table{N: 150, D: 4, F64: dataset(t, "iris.csv", columns)}
	const want = -195.60039617616573 // oracle/factors/optimum.json
	for _, algorithm := range []string{"em", "em-lbfgs", "squarem", "bfgs", "lbfgs", "ecg", "anti-annealing"} {
		spec := Spec{K: 3, Covariance: "factors:1", Algorithm: algorithm, Init: "kmeans", NInit: 3, MaxIter: new(4000), Threads: 1}
		r := mustFit(t, src, spec)
		// Annealing goes where it likes: its maximum is one, but not this.
		if math.Abs(*r.LogLik-want) > 1e-3 && algorithm != "anti-annealing" || !r.Converged {
			t.Errorf("%s: log-likelihood %v, want %v", algorithm, *r.LogLik, want)
		}
		spec.Threads = 3
		if again := mustFit(t, src, spec); *again.LogLik != *r.LogLik {
			t.Errorf("%s: %v by one thread, %v by three", algorithm, *r.LogLik, *again.LogLik)
		}
	}
}

// The factors of rows are L' S^-1 (x - m), and rows that are drawn have the model's covariance.
func TestFactorsOfRowsAndDraws(t *testing.T) {
	const n, d, q = 400, 6, 2
	src := wideTable(n, d)
	r := mustFit(t, src, Spec{K: 1, Covariance: "factors:2"})
	m := r.Model
	cov := mat.NewSymDense(d, nil)
	for i := range d {
		for j := range i + 1 {
			cov.SetSym(i, j, r.Components[0].Covariance.At(i, j))
		}
	}
	var inverse, expect mat.Dense
	if err := inverse.Inverse(cov); err != nil {
		t.Fatal(err)
	}
	expect.Mul(mat.NewDense(d, q, slices.Clone(m.Loadings[0])).T(), &inverse)
	factors, count, err := m.Factors()
	if err != nil || count != q {
		t.Fatal(count, err)
	}
	scores := make([]float64, n*q)
	at := 0
	if err := m.Rows(context.Background(), src, 2, func(s *model.Scored) error {
		factors(scores[at*q:(at+s.N)*q], s)
		at += s.N
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		e := mat.NewVecDense(d, nil)
		for j := range d {
			e.SetVec(j, src.F64[i*d+j]-m.Means[0][j])
		}
		var want mat.VecDense
		want.MulVec(&expect, e)
		for f := range q {
			if math.Abs(scores[i*q+f]-want.AtVec(f)) > 1e-9 {
				t.Fatalf("row %d: factor %d is %v, want %v", i, f, scores[i*q+f], want.AtVec(f))
			}
		}
	}
	s, err := m.Sampler(7)
	if err != nil {
		t.Fatal(err)
	}
	const draws = 40_000
	sum, x := make([]float64, d*d), make([]float64, d)
	for range draws {
		s.Draw(x)
		for i := range d {
			for j := range d {
				sum[i*d+j] += (x[i] - m.Means[0][i]) * (x[j] - m.Means[0][j]) / draws
			}
		}
	}
	for i := range d {
		for j := range d { // some four standard errors
			if off := 4 * math.Sqrt(2*cov.At(i, i)*cov.At(j, j)/draws); math.Abs(sum[i*d+j]-cov.At(i, j)) > off {
				t.Errorf("draws have the covariance %v of %d and %d, the model %v", sum[i*d+j], i, j, cov.At(i, j))
			}
		}
	}
}

// Standard errors of loadings and uniquenesses are those of repeated samples.
func TestStandardErrorsOfFactorsAreThoseOfSamples(t *testing.T) {
	const n, d = 300, 5
	r := mustFit(t, wideTable(n, d), Spec{K: 1, Covariance: "factors:1"})
	if r.StandardErrors.Why != "" {
		t.Fatal(r.StandardErrors.Why)
	}
	const repeats = 200
	sum, square := make([]float64, 2*d), make([]float64, 2*d)
	s, err := r.Model.Sampler(3)
	if err != nil {
		t.Fatal(err)
	}
	for range repeats {
		x := make([]float64, n*d)
		for i := range n {
			s.Draw(x[i*d : i*d+d])
		}
		again := mustFit(t, &data.Table{N: n, D: d, F64: x}, Spec{K: 1, Covariance: "factors:1"})
		for j := range d {
			for at, v := range map[int]float64{j: again.Model.Loadings[0][j] - r.Model.Loadings[0][j], d + j: again.Model.Uniquenesses[0][j] - r.Model.Uniquenesses[0][j]} {
				sum[at] += v / repeats
				square[at] += v * v / repeats
			}
		}
	}
	for j := range 2 * d {
		told := append(slices.Clone(r.StandardErrors.Loadings[0]), r.StandardErrors.Uniquenesses[0]...)[j]
		if spread := math.Sqrt(square[j] - sum[j]*sum[j]); !(told > 0.75*spread && told < 1.33*spread) {
			t.Errorf("number %d: standard error %v, spread of %d samples %v", j, told, repeats, spread)
		}
	}
}

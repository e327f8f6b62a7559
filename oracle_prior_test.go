package latent

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/model"
)

// priorFile reads a file of testdata/oracle/prior.
func priorFile(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/oracle/prior", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// priorRows reads the columns of a table that the oracle names: one that is built in, or one that lies beside the oracle.
func priorRows(t *testing.T, file string, columns []string) *data.Table {
	t.Helper()
	name := filepath.Base(file)
	if beside := filepath.Join("../../testdata/oracle/prior", name); name == "galaxies.csv" || name == "carcinoma.csv" {
		name = beside
	}
	x := dataset(t, name, columns)
	return &data.Table{N: len(x) / len(columns), D: len(columns), F64: x}
}

// priorPoint is parameters at a step, in natural units.
type priorPoint struct {
	Steps         int
	Weights       []float64
	Means         [][]float64
	Covariances   []float64
	Probabilities [][]float64
}

// priorCase is EM steps under a prior.
type priorCase struct {
	Name, Covariance string
	K                int
	Free             int `json:"free_parameters"`
	Prior            *Prior
	Bits             float64
	RowWeights       []float64 `json:"row_weights"`
	Start            priorPoint
	LogLik           []float64 `json:"log_likelihood"`
	LogPrior         []float64 `json:"log_prior"`
	After            []priorPoint
	Optimum          struct {
		LogPosterior float64 `json:"log_posterior"`
		LogPrior     float64 `json:"log_prior"`
		LogLik       float64 `json:"log_likelihood"`
	}
}

// steps fits by EM from the start of the case, as many steps as the oracle has, and compares everything on the way. Numbers agree to 1e-9
// in natural units: covariances and means in those of the oracle's own size.
func (c *priorCase) steps(t *testing.T, src *data.Table, m *model.Model, spec Spec) {
	t.Helper()
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-9*max(1, math.Abs(want))) {
			t.Errorf("%s: %s is %v, want %v", c.Name, what, got, want)
		}
	}
	spec.K, spec.Algorithm, spec.Init, spec.Given, spec.Tol, spec.MaxIter = c.K, "em", "model", m, new(0.0), new(len(c.LogLik)-1)
	seen := 0
	check := func(step int, p *Progress, m *model.Model) {
		near(fmt.Sprintf("log-likelihood after %d steps", step), p.Point.LogLik, c.LogLik[step])
		near(fmt.Sprintf("log prior after %d steps", step), p.Point.Prior, c.LogPrior[step])
		for _, want := range c.After {
			if want.Steps == step {
				c.compare(t, m, want, near)
			}
		}
	}
	var last Progress
	var end *model.Model
	r, err := Fit(context.Background(), src, spec, Observer{Step: func(p Progress) {
		if p.Iteration >= len(c.LogLik) || p.Iteration != seen { // a look in every direction may begin another climb
			return
		}
		last, end = p, p.Model()
		check(p.Iteration, &p, end)
		seen++
	}})
	if err != nil {
		t.Fatal(err)
	}
	for ; seen < len(c.LogLik) && r.Converged; seen++ { // a climb ends where a step moves nothing any more
		check(seen, &last, end)
	}
	if seen != len(c.LogLik) {
		t.Errorf("%s: %d steps seen, want %d", c.Name, seen, len(c.LogLik))
	}
	if c.Free > 0 && r.FreeParameters != c.Free {
		t.Errorf("%s: %d free parameters, want %d", c.Name, r.FreeParameters, c.Free)
	}
}

// compare compares a model in the climb's own order with a point of the oracle.
func (c *priorCase) compare(t *testing.T, m *model.Model, want priorPoint, near func(string, float64, float64)) {
	t.Helper()
	at := fmt.Sprintf(" after %d steps", want.Steps)
	for i, w := range want.Weights {
		near(fmt.Sprint("weight ", i, at), m.Weights[i], w)
	}
	for i, row := range want.Means {
		for j, v := range row {
			near(fmt.Sprint("mean ", i, j, at), m.Means[i][j], v)
		}
	}
	for i, row := range want.Probabilities {
		for j, v := range row {
			near(fmt.Sprint("probability ", i, j, at), m.Probabilities[i][j], v)
		}
	}
	if got := slices.Concat(m.Covariance...); len(got) != len(want.Covariances) {
		t.Errorf("%s: %d numbers of covariances, want %d", c.Name, len(got), len(want.Covariances))
	} else {
		for i, v := range want.Covariances {
			near(fmt.Sprint("covariance number ", i, at), got[i], v)
		}
	}
}

// EM steps of six shapes in 50-digit arithmetic.
func TestPriorStepsAreThoseOfTheOracle(t *testing.T) {
	t.Parallel()
	var ref struct {
		Data struct {
			File    string
			Columns []string
		}
		Cases []priorCase
	}
	priorFile(t, "steps.json", &ref)
	for i := range ref.Cases {
		c := &ref.Cases[i]
		src := priorRows(t, ref.Data.File, ref.Data.Columns)
		src.W = c.RowWeights
		shape, err := family.ParseShape(c.Covariance)
		if err != nil {
			t.Fatal(err)
		}
		m := &model.Model{Kind: "gmm", Shape: shape, Columns: []string{"1", "2"}, Weights: c.Start.Weights, Means: c.Start.Means}
		for chunk := range slices.Chunk(c.Start.Covariances, len(c.Start.Covariances)/shape.Count(c.K)) {
			m.Covariance = append(m.Covariance, chunk)
		}
		c.steps(t, src, m, Spec{Covariance: c.Covariance, Prior: c.Prior})
	}
	t.Logf("%d of %d cases", len(ref.Cases), 8)
	if len(ref.Cases) != 8 {
		t.Errorf("%d cases, want 8", len(ref.Cases))
	}
}

// EM steps of bits in 50-digit arithmetic, and their optima.
func TestPriorOfBitsIsThatOfTheOracle(t *testing.T) {
	t.Parallel()
	var ref struct {
		Data struct {
			File    string
			Columns []string
		}
		Cases []priorCase
	}
	priorFile(t, "bits.json", &ref)
	src := priorRows(t, ref.Data.File, ref.Data.Columns)
	for i := range ref.Cases {
		c := &ref.Cases[i]
		names := make([]string, src.D)
		for j := range names {
			names[j] = fmt.Sprint(j + 1)
		}
		m := &model.Model{Kind: "bernoulli", Columns: names, Weights: c.Start.Weights, Probabilities: c.Start.Probabilities}
		prior := &Prior{Levels: &c.Bits}
		c.steps(t, src, m, Spec{Model: "bernoulli", Prior: prior})

		r := mustFit(t, src, Spec{Model: "bernoulli", K: c.K, Prior: prior, Tol: new(1e-6)})
		if math.Abs(*r.LogPosterior-c.Optimum.LogPosterior) > 1e-6 || math.Abs(*r.LogLik-c.Optimum.LogLik) > 1e-5 || math.Abs(*r.LogPrior-c.Optimum.LogPrior) > 1e-5 {
			t.Errorf("%s: log posterior %v, log-likelihood %v, want %v and %v", c.Name, *r.LogPosterior, *r.LogLik, c.Optimum.LogPosterior, c.Optimum.LogLik)
		}
		if len(r.Certificate.OnEdge) > 0 {
			t.Errorf("%s: on an edge: %v", c.Name, r.Certificate.OnEdge)
		}
	}
	if t.Logf("%d of %d cases", len(ref.Cases), 4); len(ref.Cases) != 4 {
		t.Errorf("%d cases, want 4", len(ref.Cases))
	}
}

// priorOptimum is the best maximum known of a log posterior: that of the highest log-likelihood.
type priorOptimum struct {
	Data, Covariance, Prior string
	K                       int
	LogLik                  float64 `json:"log_likelihood"`
	LogPosterior            float64 `json:"log_posterior"`
	Free                    int     `json:"free_parameters"`
	BIC                     float64
	Share                   float64 `json:"share_of_starts"`
}

// rare are fits whose best maximum known few starts of the oracle reach, one in twenty. They have 100 starts here, drawn in this way.
var rare = map[string]string{"faithful full 4": "", "faithful full 5": "", "iris full 5": "", "diabetes full 4": "random", "diabetes full 5": ""}

// All fits of mclust under its prior, and of shapes for which the default is ours. mclust's ends are fixed points of these steps; the best
// maximum known is that of some thirty starts.
func TestPriorOptimaAreThoseOfTheOracle(t *testing.T) {
	t.Parallel()
	var ref, more struct {
		Data map[string]struct {
			File    string
			Columns []string
		}
		Fits []priorOptimum
	}
	priorFile(t, "optimum.json", &ref)
	priorFile(t, "default.json", &more)
	all := append(ref.Fits, more.Fits...)
	reached, higher := 0, 0
	for _, want := range all {
		if testing.Short() && want.K > 3 {
			continue
		}
		src := priorRows(t, ref.Data[want.Data].File, ref.Data[want.Data].Columns)
		spec := Spec{K: want.K, Covariance: want.Covariance, Prior: &Prior{}, Tol: new(1e-5)}
		if want.Prior == "mclust" { // one scale, the mean variance, for all columns
			spec.Prior.Scale = [][]float64{slices.Repeat([]float64{meanVariance(src) * math.Pow(float64(want.K), -2/float64(src.D))}, src.D)}
		}
		name := fmt.Sprintf("%s %s %d", want.Data, want.Covariance, want.K)
		if init, ok := rare[name]; ok {
			spec.NInit, spec.Init = 100, init
		}
		r := mustFit(t, src, spec)
		switch gain := *r.LogLik - want.LogLik; {
		case gain > 1e-3:
			reached++
			higher++
		case gain > -1e-3:
			reached++
			if math.Abs(*r.LogPosterior-want.LogPosterior) > 1e-5 || r.FreeParameters != want.Free {
				t.Errorf("%s: log posterior %v with %d parameters, want %v with %d", name, *r.LogPosterior, r.FreeParameters, want.LogPosterior, want.Free)
			}
			if want.BIC != 0 && math.Abs(*r.BIC-want.BIC) > 2e-3 {
				t.Errorf("%s: BIC %v, want %v", name, *r.BIC, want.BIC)
			}
		default:
			t.Errorf("%s: log-likelihood %v, best known %v", name, *r.LogLik, want.LogLik)
		}
		if slices.ContainsFunc(r.Components, func(c model.Component) bool { return c.AtFloor }) || !r.Converged {
			t.Errorf("%s: converged %v, components %v", name, r.Converged, r.Components)
		}
	}
	t.Logf("%d of %d reached or better, %d better", reached, len(all), higher)
	if len(all) != 66 || reached < 66 && !testing.Short() {
		t.Errorf("%d of %d fits reached the best maximum known, want 66 of 66", reached, len(all))
	}
}

// meanVariance returns the mean of the columns' variances, with the divisor n - 1.
func meanVariance(src *data.Table) (mean float64) {
	for j := range src.D {
		var sum, square float64
		for i := range src.N {
			sum += src.F64[i*src.D+j] / float64(src.N)
		}
		for i := range src.N {
			v := src.F64[i*src.D+j] - sum
			square += v * v
		}
		mean += square / float64(src.N-1) / float64(src.D)
	}
	return mean
}

// Galaxies by BIC, one column. Without a prior every k above 2 is excluded, since a component has too few rows for a variance of its own, and
// BIC takes 2. With it a component of few rows is as good as its pseudo-rows: BIC takes 3, and nothing is at a floor.
func TestPriorChoosesGalaxies(t *testing.T) {
	t.Parallel()
	src := priorRows(t, "galaxies.csv", []string{"velocity"})
	spec := Spec{KRange: [2]int{1, 7}, Covariance: "full"}
	plain := mustFit(t, src, spec)
	spec.Prior = &Prior{}
	held := mustFit(t, src, spec)
	var b strings.Builder
	collapsed := 0
	for i, x := range held.Candidates {
		y := plain.Candidates[i]
		if x.AtFloor || x.Narrow || x.FewRows || x.Why != "" {
			t.Errorf("k = %d with a prior: %+v", x.K, x)
		}
		if y.AtFloor || y.Narrow || y.FewRows {
			collapsed++
		}
		fmt.Fprintf(&b, "k %d: BIC %.1f, without %.1f (%s)\n", x.K, *x.BIC, *y.BIC, y.Why)
	}
	t.Log(b.String())
	if held.K != 3 || plain.K != 2 || len(held.Candidates) != 7 || collapsed != 5 {
		t.Errorf("k = %d of %d candidates; without a prior %d, and %d collapse", held.K, len(held.Candidates), plain.K, collapsed)
	}
}

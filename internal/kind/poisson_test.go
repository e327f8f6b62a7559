package kind_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/model"
)

// rateGroups are groups of counts.
type rateGroups struct {
	weights []float64
	rates   [][]float64
}

var twoRates = rateGroups{[]float64{0.65, 0.35}, [][]float64{{2, 9, 0.5}, {7, 3, 4}}}

// draw returns n rows of them.
func (g rateGroups) draw(seed uint64, n int) *data.Table {
	rng := rand.New(rand.NewPCG(seed, 91))
	t := &data.Table{N: n, D: len(g.rates[0])}
	for range n {
		for _, rate := range g.rates[kind.Pick(g.weights, rng)] {
			x := 0.0
			if rate > 0 {
				x = distuv.Poisson{Lambda: rate, Src: rng}.Rand()
			}
			t.F64 = append(t.F64, x)
		}
	}
	return t
}

func logFactorial(x float64) float64 {
	f, _ := math.Lgamma(x + 1)
	return f
}

// parts returns the logarithms of each group's share of the density of a row.
func (g rateGroups) parts(x []float64) []float64 {
	p := make([]float64, len(g.weights))
	for c, w := range g.weights {
		p[c] = math.Log(w)
		for j, v := range x {
			p[c] -= g.rates[c][j] + logFactorial(v)
			if v > 0 {
				p[c] += v * math.Log(g.rates[c][j])
			}
		}
	}
	return p
}

// logDensity returns that of a row and the groups' responsibilities.
func (g rateGroups) logDensity(x []float64) (float64, []float64) {
	p := g.parts(x)
	top, sum := slices.Max(p), 0.0
	for c := range p {
		p[c] = math.Exp(p[c] - top)
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
	return top + math.Log(sum), p
}

func at(t *data.Table, i int) []float64 { return t.F64[i*t.D : (i+1)*t.D] }

// em runs so many steps of EM as the books have it, and returns the log-likelihood.
func (g rateGroups) em(t *data.Table, steps int) (rateGroups, float64) {
	logLik := 0.0
	for range steps {
		logLik = 0
		next := rateGroups{make([]float64, len(g.weights)), make([][]float64, len(g.weights))}
		for c := range next.rates {
			next.rates[c] = make([]float64, t.D)
		}
		for i := range t.N {
			l, p := g.logDensity(at(t, i))
			logLik += l
			for c, r := range p {
				next.weights[c] += r
				for j, v := range at(t, i) {
					next.rates[c][j] += r * v
				}
			}
		}
		for c, n := range next.weights {
			next.weights[c] /= float64(t.N)
			for j := range next.rates[c] {
				next.rates[c][j] /= n
			}
		}
		g = next
	}
	return g, logLik
}

func fitCounts(t *testing.T, src data.Source, spec latent.Spec) *latent.Result {
	t.Helper()
	spec.Model = "poisson"
	r, err := latent.Fit(context.Background(), src, spec)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func near(a, b, tol float64) bool { return math.Abs(a-b) <= tol*(1+math.Abs(b)) }

func TestPoissonMixturesEndWhereEMDoes(t *testing.T) {
	src := twoRates.draw(1, 600)
	want, logLik := twoRates.em(src, 400)
	for _, algorithm := range kind.Poisson.Drivers {
		r := fitCounts(t, src, latent.Spec{K: 2, Algorithm: algorithm})
		if !r.Converged || r.FreeParameters != 7 {
			t.Errorf("%s: converged %v with %d free parameters", algorithm, r.Converged, r.FreeParameters)
		}
		tol, ll := 1e-4, 1e-9
		if algorithm == "hard-em" { // another function, near by
			tol, ll = 0.2, 0.01
		} else if d := r.Certificate.DistanceSE; d == nil || !(*d < 0.01) || len(r.Certificate.OnEdge) > 0 {
			t.Errorf("%s: certificate %+v", algorithm, r.Certificate)
		}
		if !near(*r.LogLik, logLik, ll) || !near(*r.BIC, 7*math.Log(600)-2*logLik, ll) {
			t.Errorf("%s: log-likelihood %v and BIC %v, want %v", algorithm, *r.LogLik, *r.BIC, logLik)
		}
		for c, x := range r.Components {
			if !near(x.Weight, want.weights[c], tol) {
				t.Errorf("%s: weight %v, want %v", algorithm, x.Weight, want.weights[c])
			}
			for j, rate := range x.Mean {
				if !near(rate, want.rates[c][j], tol) {
					t.Errorf("%s: rate %v, want %v", algorithm, rate, want.rates[c][j])
				}
			}
		}
	}
	if r := fitCounts(t, src, latent.Spec{KRange: [2]int{1, 4}}); r.K != 2 {
		t.Errorf("%d groups were chosen", r.K)
	}
	uniform := fitCounts(t, src, latent.Spec{K: 2, Weights: "uniform", Bootstrap: 3, LRT: 3})
	if uniform.FreeParameters != 6 || uniform.Components[0].Weight != 0.5 || uniform.Stability.Done != 3 || uniform.LRT.Done != 3 {
		t.Errorf("equal weights: %+v", uniform)
	}
}

// The information is the sum of the outer products of numerical gradients, in the weight of the first group and the rates.
func TestStandardErrorsOfRates(t *testing.T) {
	const h = 1e-4
	src := twoRates.draw(2, 800)
	r := fitCounts(t, src, latent.Spec{K: 2, Tol: new(1e-6)})
	p := []float64{r.Model.Weights[0]}
	p = append(append(p, r.Model.Means[0]...), r.Model.Means[1]...)
	density := func(i, along int, by float64) float64 {
		q := slices.Clone(p)
		q[along] += by
		l, _ := rateGroups{[]float64{q[0], 1 - q[0]}, [][]float64{q[1:4], q[4:7]}}.logDensity(at(src, i))
		return l
	}
	info, g := mat.NewSymDense(len(p), nil), make([]float64, len(p))
	for i := range src.N {
		for j := range p {
			g[j] = (density(i, j, h) - density(i, j, -h)) / (2 * h)
		}
		info.SymRankOne(info, 1, mat.NewVecDense(len(p), g))
	}
	var chol mat.Cholesky
	var cov mat.SymDense
	if !chol.Factorize(info) || chol.InverseTo(&cov) != nil {
		t.Fatal("the information has no inverse")
	}
	e := r.StandardErrors
	got := slices.Concat(e.Weights[:1], e.Means[0], e.Means[1])
	for j, v := range got {
		if want := math.Sqrt(cov.At(j, j)); !near(v, want, 1e-5) {
			t.Errorf("standard error %d is %v, want %v", j, v, want)
		}
	}
}

// A group without an event in a column: its rate is on the edge, and has no standard error; the rest is as it would be.
func TestRatesOfEventsThatNeverHappen(t *testing.T) {
	src := rateGroups{[]float64{0.6, 0.4}, [][]float64{{12, 0.7}, {0, 3}}}.draw(3, 400)
	r := fitCounts(t, src, latent.Spec{K: 2})
	if !r.Converged || !slices.Equal(r.Certificate.OnEdge, []string{"rate 2: 1"}) || !math.IsNaN(r.StandardErrors.Means[1][0]) || !(r.StandardErrors.Means[1][1] > 0) {
		t.Errorf("converged %v, certificate %+v, standard errors %+v", r.Converged, r.Certificate, r.StandardErrors)
	}
	if rate := r.Model.Means[1][0]; !(rate > 0 && rate < 1e-4) || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Text, "1 rate is") {
		t.Errorf("rate %v, warnings %q", rate, r.Warnings)
	}
	empty := &data.Table{N: 40, D: 2}
	for i := range 40 {
		empty.F64 = append(empty.F64, 0, float64(i%5*i%7))
	}
	if r := fitCounts(t, empty, latent.Spec{K: 2}); math.IsInf(*r.LogLik, 0) || len(r.Certificate.OnEdge) < 2 {
		t.Errorf("a column without events: log-likelihood %v, %+v", *r.LogLik, r.Certificate)
	}
}

func TestHugeCounts(t *testing.T) {
	for _, size := range []float64{1e6, 1e9, 1e15} {
		rng := rand.New(rand.NewPCG(4, 0))
		src, mean := &data.Table{N: 300, D: 1}, [2]float64{}
		for i := range src.N {
			rate := size * (1 + 0.2*float64(i%3/2))
			v := math.Round(rate + math.Sqrt(rate)*rng.NormFloat64())
			src.F64 = append(src.F64, v)
			mean[i%3/2] += v / []float64{200, 100}[i%3/2]
		}
		r := fitCounts(t, src, latent.Spec{K: 2})
		if !r.Converged || !near(r.Model.Means[0][0], mean[0], 1e-14) || !near(r.Model.Means[1][0], mean[1], 1e-14) {
			t.Errorf("size %v: converged %v, rates %v, want %v", size, r.Converged, r.Model.Means, mean)
		}
		if e := r.StandardErrors.Means[0][0]; !near(e, math.Sqrt(mean[0]/200), 0.3) {
			t.Errorf("size %v: standard error %v", size, e)
		}
	}
}

// A weight is a number of repeats, and a source that is no table gives the same bits.
func TestWeightsAndStreamsOfCounts(t *testing.T) {
	src := twoRates.draw(5, 300)
	weighted, more := &data.Table{N: src.N, D: 3, F64: src.F64}, &data.Table{D: 3}
	for i := range src.N {
		weighted.W = append(weighted.W, float64(i%3))
		for range i % 3 {
			more.N++
			more.F64 = append(more.F64, at(src, i)...)
		}
	}
	a, b := fitCounts(t, weighted, latent.Spec{K: 2, Tol: new(1e-6)}), fitCounts(t, more, latent.Spec{K: 2, Tol: new(1e-6)})
	if !near(*a.LogLik, *b.LogLik, 1e-9) || !near(a.Model.Means[0][0], b.Model.Means[0][0], 1e-6) {
		t.Errorf("log-likelihoods %v and %v, rates %v and %v", *a.LogLik, *b.LogLik, a.Model.Means, b.Model.Means)
	}
	c := fitCounts(t, src, latent.Spec{K: 2, Threads: 1})
	d := fitCounts(t, struct{ data.Source }{src}, latent.Spec{K: 2, Threads: 3})
	if *c.LogLik != *d.LogLik || !slices.EqualFunc(c.Model.Means, d.Model.Means, slices.Equal) {
		t.Errorf("a stream gives %v, a table %v", *d.LogLik, *c.LogLik)
	}
}

// Labels, responsibilities and log densities are those of the definition, of a source and of single rows.
func TestLabelsOfCounts(t *testing.T) {
	src := twoRates.draw(6, 200)
	src.F64[0] = 200_000 // of which three terms would cancel
	m := fitCounts(t, src, latent.Spec{K: 2, Init: "labels", Labels: func() (l []int32) {
		for i := range src.N {
			l = append(l, int32(i%2))
		}
		return l
	}()}).Model
	g, ctx := rateGroups{m.Weights, m.Means}, context.Background()
	labels, err := m.Predict(ctx, src)
	if err != nil {
		t.Fatal(err)
	}
	shares, _ := m.PredictProba(ctx, src)
	scores, _ := m.LogDensity(ctx, src)
	single, err := m.Scorer()
	if err != nil {
		t.Fatal(err)
	}
	for i := range src.N {
		want, p := g.logDensity(at(src, i))
		s, err := single.Score(at(src, i))
		if err != nil {
			t.Fatal(err)
		}
		if !near(scores[i], want, 1e-9) || !near(shares[i][0], p[0], 1e-9) || (p[0] > p[1]) != (labels[i] == 0) || s.LogDensity[0] != scores[i] || s.Label[0] != labels[i] {
			t.Errorf("row %d: label %d of log density %v and shares %v, alone %v; want %v and %v", i, labels[i], scores[i], shares[i], s.LogDensity[0], want, p)
		}
	}
	if _, err := single.Score([]float64{1, 0.5, 0}); err == nil || !strings.Contains(err.Error(), `column "2": 0.5 is not a count`) {
		t.Error(err)
	}
}

func TestModelFileOfRates(t *testing.T) {
	const text = `{"format": "latent-model", "version": 1, "model": "poisson", "columns": ["calls", "visits"], "weights": [0.5, 0.5], "rates": [[0, 2.5], [3, 1]]`
	m := new(model.Model)
	if err := json.Unmarshal([]byte(text+"}"), m); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if _, err := m.WriteTo(&out); err != nil || !strings.Contains(out.String(), ` "rates": [
  [0,2.5],
  [3,1]
 ]`) {
		t.Errorf("%v\n%s", err, out.String())
	}
	all, err := m.Arrays()
	if err != nil || !slices.ContainsFunc(all, func(a model.Array) bool {
		return a.Name == "rates" && slices.Equal(a.Shape, []int{2, 2}) && slices.Equal(a.F64, []float64{0, 2.5, 3, 1})
	}) {
		t.Errorf("%v, %+v", err, all)
	}
	for _, c := range [][2]string{
		{strings.Replace(text, "rates", "means", 1) + "}", "rates: this key is missing"},
		{text + `, "means": [[1, 2], [3, 4]]}`, "means: this key is not known in a poisson model"},
		{strings.Replace(text, "[3, 1]", "[3, -1]", 1) + "}", "rates: row 2, column 2 is -1; it must be from 0 to 2^53"},
		{strings.Replace(text, "[3, 1]", "[3, 1e16]", 1) + "}", "it must be from 0 to 2^53"},
		{text + `, "transform": [{"kind": "standard", "center": [0, 0], "scale": [1, 1]}]}`, "none that a poisson model can have"},
	} {
		if err := json.Unmarshal([]byte(c[0]), new(model.Model)); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%v, want %s", err, c[1])
		}
	}
	src := &data.Table{N: 6, D: 2, F64: []float64{0, 1, 4, 1, 0, 3, 2, 0, 0, 2, 3, 2}}
	r := fitCounts(t, src, latent.Spec{K: 2, Init: "model", Given: m, Columns: m.Columns})
	again := fitCounts(t, src, latent.Spec{K: 2, Init: "model", Given: r.Model, Columns: m.Columns})
	if !r.Converged || !(*again.LogLik >= *r.LogLik-1e-12 && *again.LogLik <= *r.LogLik+1e-4) {
		t.Errorf("from its own end a fit leads to a log-likelihood of %v from %v", *again.LogLik, *r.LogLik)
	}
}

// Counts drawn have the mean and the variance of their rate, within 5 standard errors.
func TestDrawnCounts(t *testing.T) {
	const n = 20_000
	rates := []float64{0, 1e-12, 0.3, 7, 50, 1e6, 1e9, 1 << 40, 1 << 52}
	rng := rand.New(rand.NewPCG(7, 0))
	mean, square, x := make([]float64, len(rates)), make([]float64, len(rates)), make([]float64, len(rates))
	for range n {
		kind.Poisson.Location.Draw(x, rates, nil, rng)
		for j, v := range x {
			if kind.Poisson.Cells.Wrong(v, 0) {
				t.Fatalf("rate %v: drawn %v", rates[j], v)
			}
			if rates[j] > 0 {
				z := (v - rates[j]) / math.Sqrt(rates[j])
				mean[j] += z / n
				square[j] += z * z / n
			} else if v != 0 {
				t.Fatalf("rate 0: drawn %v", v)
			}
		}
	}
	for j, rate := range rates {
		if rate < 0.1 {
			continue
		}
		if !(math.Abs(mean[j]) < 5/math.Sqrt(n)) || !(math.Abs(square[j]-1) < 5*math.Sqrt((2+1/rate)/n)) {
			t.Errorf("rate %v: means are %v standard deviations off, the variance is %v times the rate", rate, mean[j], square[j])
		}
	}
}

// flagged returns what an error says in terms of flags; empty where it has no such words.
func flagged(err error) string {
	var f interface{ Flags() string }
	if errors.As(err, &f) {
		return f.Flags()
	}
	return ""
}

func TestWrongCounts(t *testing.T) {
	for x, wrong := range map[float64]bool{0: false, 3: false, 1 << 53: false, -1: true, 0.5: true, 1.5: true, 1<<53 + 2: true, 1e300: true, math.Inf(1): true, math.Inf(-1): true} {
		if got := kind.Poisson.Cells.Wrong(x, 0); got != wrong {
			t.Errorf("%v is wrong: %v", x, got)
		}
	}
	if !kind.Poisson.Cells.Wrong(math.NaN(), 0) || kind.Poisson.Cells.Wrong(math.Copysign(0, -1), 0) {
		t.Error("NaN is a count, or -0 is none")
	}
	for _, x := range []float64{1.5, -1} {
		_, err := latent.Fit(context.Background(), &data.Table{N: 3, D: 2, F64: []float64{1, 2, 3, x, 0, 0}}, latent.Spec{Model: "poisson", K: 1, Columns: []string{"a", "b"}})
		if err == nil || !strings.HasPrefix(err.Error(), `row 2, column "b": `) || !strings.Contains(flagged(err), "is not a count (a whole number from 0 to 2^53); use --exclude b") {
			t.Errorf("%v: %v", x, err)
		}
	}
	for flag, spec := range map[string]latent.Spec{"binarize": {Binarize: new(0.5)}, "scale": {Scale: "standard"}, "pca": {PCA: 1}, "covariance": {Covariance: "diag"}} {
		spec.Model, spec.K = "poisson", 1
		if _, err := latent.Fit(context.Background(), twoRates.draw(8, 20), spec); err == nil || !strings.Contains(flagged(err), flag) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

// A default fit ends as high as the best of fifty runs of EM from random rows, or higher, in nine of ten tables at least.
func TestDefaultFitsOfCountsAreAsGoodAsFiftyRunsOfEM(t *testing.T) {
	tables, reached := 20, 0
	if testing.Short() {
		tables = 4
	}
	rng := rand.New(rand.NewPCG(9, 0))
	for i := range tables {
		k, d := 2+i%4, 2+i%3
		g := rateGroups{weights: slices.Repeat([]float64{1}, k)}
		for range k {
			var row []float64
			for range d {
				row = append(row, math.Exp(1.5*rng.NormFloat64()))
			}
			g.rates = append(g.rates, row)
		}
		src := g.draw(uint64(100+i), 250)
		best := fitCounts(t, src, latent.Spec{K: k, Algorithm: "em", Init: "random", NInit: 50})
		if r := fitCounts(t, src, latent.Spec{K: k}); *r.LogLik > *best.LogLik-0.1 {
			reached++
		}
	}
	if reached < tables*9/10 {
		t.Errorf("%d of %d", reached, tables)
	}
}

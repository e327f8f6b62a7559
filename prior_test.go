package latent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/model"
)

// naivePosterior is the log posterior of a mixture of one column, each row of weight rowWeight, by two loops, for theta = (weight of the
// first, means, variances) of two components.
func naivePosterior(x, theta []float64, p *Prior, rowWeight float64) float64 {
	w, m, v := []float64{theta[0], 1 - theta[0]}, theta[1:3], theta[3:5]
	sum := 0.0
	for _, x := range x {
		density := 0.0
		for c := range w {
			density += w[c] / math.Sqrt(2*math.Pi*v[c]) * math.Exp(-(x-m[c])*(x-m[c])/(2*v[c]))
		}
		sum += rowWeight * math.Log(density)
	}
	for c := range w {
		sum += (*p.Weights-1)*math.Log(w[c]) - *p.Shrinkage/2*(m[c]-p.Mean[0])*(m[c]-p.Mean[0])/v[c] - math.Log(v[c])/2
		sum -= (*p.Dof+2)/2*math.Log(v[c]) + p.Scale[0][0]/(2*v[c])
	}
	return sum
}

// Standard errors and the certificate are those of the log posterior: second derivatives by differences of a naive loop, inverted. Rows of
// very small and of very large weight are fitted in other units of weight, which the prior follows.
func TestStandardErrorsHoldThePrior(t *testing.T) {
	t.Parallel()
	for _, weight := range []float64{1, 1.0 / 64, 1 << 21} {
		src := priorRows(t, "faithful.csv", []string{"waiting"})
		src.W = slices.Repeat([]float64{weight}, src.N)
		r := mustFit(t, src, Spec{K: 2, Covariance: "full", Prior: &Prior{Shrinkage: new(3 * weight), Dof: new(30.0), Weights: new(4.0)}, Tol: new(1e-6)})
		p, n := r.Prior, weight*float64(src.N)
		theta := []float64{r.Components[0].Weight, r.Components[0].Mean[0], r.Components[1].Mean[0], r.Components[0].Covariance.At(0, 0), r.Components[1].Covariance.At(0, 0)}
		if got := naivePosterior(src.F64, theta, p, weight); math.Abs(got-*r.LogPosterior) > 1e-11*math.Max(n, 1e3) || math.Abs(*r.LogLik+*r.LogPrior-got) > 1e-11*math.Max(n, 1e3) {
			t.Errorf("weight %v: log posterior %v, by a loop %v", weight, *r.LogPosterior, got)
		}
		h := []float64{1e-4, 1e-3, 1e-3, 1e-2, 1e-2}
		f := func(i, j int, a, b float64) float64 {
			at := slices.Clone(theta)
			at[i] += a * h[i]
			at[j] += b * h[j]
			return naivePosterior(src.F64, at, p, weight)
		}
		info := mat.NewSymDense(5, nil)
		for i := range 5 {
			for j := range i + 1 {
				info.SetSym(i, j, -(f(i, j, 1, 1)-f(i, j, 1, -1)-f(i, j, -1, 1)+f(i, j, -1, -1))/(4*h[i]*h[j]))
			}
		}
		var inverse mat.Dense
		if err := inverse.Inverse(info); err != nil {
			t.Fatal(err)
		}
		for i := range 5 { // as a move, in standard errors
			if slope := (f(i, i, 1, 0) - f(i, i, -1, 0)) / (2 * h[i]); math.Abs(slope)*math.Sqrt(inverse.At(i, i)) > 1e-3*math.Max(1, math.Sqrt(weight)) {
				t.Errorf("weight %v, parameter %d: the log posterior has slope %v, and the standard error is %v", weight, i, slope, math.Sqrt(inverse.At(i, i)))
			}
		}
		e := r.StandardErrors
		if e.Method != "observed information" {
			t.Fatalf("weight %v: %+v", weight, e)
		}
		for i, got := range []float64{e.Weights[0], e.Means[0][0], e.Means[1][0], e.Covariance[0][0], e.Covariance[1][0]} {
			if want := math.Sqrt(inverse.At(i, i)); math.Abs(got-want) > 2e-3*want {
				t.Errorf("weight %v: standard error %d is %v, by differences %v", weight, i, got, want)
			}
		}
		if c := r.Certificate; *c.Method != "information" || *c.DistanceSE > 1e-4 {
			t.Errorf("weight %v: %+v", weight, c)
		}
	}
}

// "auto" by the formulas, for iris in three components.
func TestDefaultPriorIsThatOfTheFormulas(t *testing.T) {
	t.Parallel()
	src := iris(t)
	n, d, k := float64(src.N), src.D, 3
	mean, cov := make([]float64, d), make([][]float64, d)
	for i := range src.F64 {
		mean[i%d] += src.F64[i] / n
	}
	for i := range cov {
		cov[i] = make([]float64, d)
		for j := range cov[i] {
			for row := range slices.Chunk(src.F64, d) {
				cov[i][j] += (row[i] - mean[i]) * (row[j] - mean[j]) / (n - 1) * math.Pow(float64(k), -2/float64(d))
			}
		}
	}
	diag, round := []float64{cov[0][0], cov[1][1], cov[2][2], cov[3][3]}, 0.0
	for _, v := range diag {
		round += v / 4
	}
	for code, want := range map[string][][]float64{"VVV": cov, "VEV": cov, "EEE": cov, "VVI": {diag}, "EVI": {diag}, "EEI": {diag}, "VII": {{round}}, "EII": {{round}}} {
		r := mustFit(t, src, Spec{K: k, Covariance: code, NInit: 1, Prior: &Prior{}})
		p := r.Prior
		if *p.Shrinkage != 0.01 || *p.Dof != float64(d+2) || *p.Weights != 1 || p.Levels != nil || len(p.Scale) != len(want) {
			t.Errorf("%s: %+v", code, p)
		}
		for j, v := range mean {
			if math.Abs(p.Mean[j]-v) > 1e-12 {
				t.Errorf("%s: mean %v, want %v", code, p.Mean, mean)
			}
		}
		for i, row := range want {
			for j, v := range row {
				if math.Abs(p.Scale[i][j]-v) > 1e-12 {
					t.Errorf("%s: scale %v, want %v", code, p.Scale, want)
				}
			}
		}
	}
}

// A prior is what its numbers say: those that a fit tells give the same fit, through a file too.
func TestThePriorThatIsToldCanBeGiven(t *testing.T) {
	t.Parallel()
	src := iris(t)
	for _, spec := range []Spec{
		{K: 3, Covariance: "VEV", NInit: 2},
		{K: 2, Covariance: "diag", NInit: 2, Scale: "standard"},
		{K: 2, Covariance: "spherical", NInit: 2, PCA: 2},
		{K: 2, Model: "bernoulli", Binarize: new(3.0), NInit: 2},
	} {
		spec.Prior = &Prior{}
		auto := mustFit(t, src, spec)
		m := new(model.Model)
		if err := m.UnmarshalJSON([]byte(saved(t, auto.Model))); err != nil {
			t.Fatal(err)
		}
		told := Told(m)
		if text := saved(t, m); text != saved(t, auto.Model) || told.LogPrior == nil || *told.LogPosterior != *auto.LogPosterior {
			t.Errorf("%+v: the file tells another prior", spec)
		}
		spec.Prior = told.Prior
		again := mustFit(t, src, spec)
		if math.Abs(*again.LogLik-*auto.LogLik) > 1e-9 || math.Abs(*again.LogPrior-*auto.LogPrior) > 1e-9 {
			t.Errorf("%+v: log-likelihood %v and log prior %v, were %v and %v", spec, *again.LogLik, *again.LogPrior, *auto.LogLik, *auto.LogPrior)
		}
		b, err := json.Marshal(told.Prior)
		var back Prior
		if err == nil {
			err = json.Unmarshal(b, &back)
		}
		if again, _ := json.Marshal(&back); err != nil || string(again) != string(b) {
			t.Errorf("%s is read as %s (%v)", b, again, err)
		}
	}
	if b, _ := json.Marshal(Spec{Prior: &Prior{}}); string(b) != `{"prior":"auto"}` {
		t.Errorf("the default prior in JSON: %s", b)
	}
}

// The same bits for any number of threads, and for a row of weight 2 as for the row twice.
func TestPriorsAndThreadsAndWeights(t *testing.T) {
	t.Parallel()
	src := iris(t)
	for _, code := range []string{"VVV", "EEI", "VVE"} {
		spec := Spec{K: 3, Covariance: code, Prior: &Prior{Weights: new(2.0)}, Threads: 1, Tol: new(1e-6), NInit: 2}
		one := mustFit(t, src, spec)
		spec.Threads = 3
		if three := mustFit(t, src, spec); saved(t, one.Model) != saved(t, three.Model) {
			t.Errorf("%s: other bits with three threads", code)
		}
		weighted, twice := *src, *src
		weighted.W = slices.Repeat([]float64{1}, src.N)
		twice.F64 = slices.Clone(src.F64)
		for i := range src.N {
			if i%3 == 0 {
				weighted.W[i] = 2
				twice.F64 = append(twice.F64, src.F64[i*src.D:(i+1)*src.D]...)
				twice.N++
			}
		}
		spec.NInit, spec.Init, spec.Given = 0, "model", one.Model
		a, b := mustFit(t, &weighted, spec), mustFit(t, &twice, spec)
		if math.Abs(*a.LogPosterior-*b.LogPosterior) > 1e-7 || math.Abs(*a.LogLik-*b.LogLik) > 1e-7 || math.Abs(a.Prior.Scale[0][0]-b.Prior.Scale[0][0]) > 1e-12 {
			t.Errorf("%s: rows of weight 2 give %v, rows that are there twice %v", code, *a.LogPosterior, *b.LogPosterior)
		}
	}
}

// Row weights and columns far out of the ordinary, which the fit measures in units of its own, change nothing but units.
func TestPriorsInOtherUnits(t *testing.T) {
	t.Parallel()
	src := iris(t)
	for _, code := range []string{"VVV", "VVI", "VEE", "EVI", "VII", "VVE"} {
		spec := Spec{K: 3, Covariance: code, Prior: &Prior{}, NInit: 2, Tol: new(1e-6)}
		plain := mustFit(t, src, spec)
		free := plain.Model.Shape.Rescales()
		for _, unit := range []float64{1000, 0x1p-200} {
			scaled, log := *src, 0.0
			scaled.F64 = slices.Clone(src.F64)
			for i := range scaled.F64 {
				if !free || i%src.D == 0 {
					scaled.F64[i] *= unit
				}
			}
			if log = math.Log(unit); !free {
				log *= float64(src.D)
			}
			r := mustFit(t, &scaled, spec)
			if math.Abs(*r.LogLik+float64(src.N)*log-*plain.LogLik) > 1e-5 {
				t.Errorf("%s in units of %v: log-likelihood %v, want %v", code, unit, *r.LogLik+float64(src.N)*log, *plain.LogLik)
			}
			count := 3 * (1 + *plain.Prior.Dof + float64(src.D) + 1) // of three distinct covariances, and of means
			switch code {
			case "VVI", "EVI":
				count = 3 * (1 + *plain.Prior.Dof + 2)
			case "VII":
				count = 3 * (1 + (*plain.Prior.Dof+2)/float64(src.D))
			}
			if got := *r.LogPrior + count*log; math.Abs(got-*plain.LogPrior) > 1e-4 {
				t.Errorf("%s in units of %v: log prior %v, want %v", code, unit, got, *plain.LogPrior)
			}
			given := spec
			given.Prior = r.Prior
			if again := mustFit(t, &scaled, given); math.Abs(*again.LogPosterior-*r.LogPosterior) > 1e-6 {
				t.Errorf("%s in units of %v: the prior that is told gives %v, not %v", code, unit, *again.LogPosterior, *r.LogPosterior)
			}
		}
	}
}

// All passes that a fit makes under a prior are counted: of one component from one start those of the rows that are not are the same as without
// one. A prior that says all of its numbers takes no pass to find them.
func TestPassesUnderAPriorAreCounted(t *testing.T) {
	t.Parallel()
	uncounted := func(p *Prior) (passes int, r *Result) {
		src := &rowsThat{Table: fixtures.Table(2, rng.Normals(6, 80)...)}
		r, err := Fit(context.Background(), src, Spec{K: 1, Covariance: "full", NInit: 1, Threads: 1, Prior: p})
		if err != nil {
			t.Fatal(err)
		}
		return src.passes - r.SweepsTotal, r
	}
	want, _ := uncounted(nil)
	auto, first := uncounted(&Prior{})
	given, again := uncounted(first.Prior)
	if auto != want || given != want {
		t.Errorf("%d passes are not counted without a prior, %d with the default and %d with its numbers", want, auto, given)
	}
	if again.SweepsTotal != first.SweepsTotal-1 {
		t.Errorf("%d passes with the numbers of a prior, %d with the default", again.SweepsTotal, first.SweepsTotal)
	}
}

// Every driver ends at the same maximum of the log posterior from the same start.
func TestEveryDriverClimbsTheLogPosterior(t *testing.T) {
	t.Parallel()
	src := iris(t)
	for _, code := range []string{"VVV", "EII", "VEV", "EVE"} {
		first := mustFit(t, src, Spec{K: 3, Covariance: code, Prior: &Prior{}, Tol: new(1e-5)})
		for _, a := range []string{"em", "em-lbfgs", "squarem", "bfgs", "lbfgs", "ecg"} {
			r := mustFit(t, src, Spec{K: 3, Covariance: code, Prior: &Prior{}, Algorithm: a, Tol: new(1e-5), MaxIter: new(20_000), Init: "model", Given: first.Model})
			if !r.Converged || math.Abs(*r.LogPosterior-*first.LogPosterior) > 1e-6 {
				t.Errorf("%s, %s: log posterior %v (converged %v), want %v", code, a, *r.LogPosterior, r.Converged, *first.LogPosterior)
			}
		}
		r := mustFit(t, src, Spec{K: 3, Covariance: code, Prior: &Prior{}, Algorithm: "anti-annealing", NInit: 2, Tol: new(1e-5), MaxIter: new(5000)})
		if !r.Converged || *r.Certificate.DistanceSE > 1e-5 {
			t.Errorf("%s, anti-annealing: converged %v, %+v", code, r.Converged, r.Certificate)
		}
		hard := Spec{K: 3, Covariance: code, Prior: &Prior{}, Algorithm: "hard-em", NInit: 2}
		r = mustFit(t, src, hard)
		hard.NInit, hard.Init, hard.Given = 0, "model", r.Model
		if again := mustFit(t, src, hard); !r.Converged || math.Abs(*again.LogPosterior-*r.LogPosterior) > 1e-7 {
			t.Errorf("%s, hard-em: log posterior %v (converged %v), and from there %v", code, *r.LogPosterior, r.Converged, *again.LogPosterior)
		}
	}
}

// The log posterior prefers rows 94, 50 and 6 of iris by 13 nats, the log-likelihood 53, 50 and 47.
func TestFitsAreComparedByLogLikelihood(t *testing.T) {
	t.Parallel()
	r := mustFit(t, iris(t), Spec{K: 3, Covariance: "full", Prior: &Prior{}, NInit: 20})
	if math.Abs(r.Components[0].Weight*150-52.93) > 0.1 || math.Abs(*r.LogPosterior+30.899) > 0.01 {
		t.Errorf("weights %v, log posterior %v", r.Model.Weights, *r.LogPosterior)
	}
	for _, v := range r.Starts.Objectives {
		if v > *r.LogLik+1e-3 {
			t.Errorf("a start reached %v, more than %v", v, *r.LogLik)
		}
	}
}

// Rows that came later lead to where all rows together do, under the prior of the first fit.
func TestUpdatesKeepThePrior(t *testing.T) {
	t.Parallel()
	src := iris(t)
	half := func(from int) *data.Table {
		t := &data.Table{D: src.D}
		for i := from; i < src.N; i += 2 {
			t.F64 = append(t.F64, src.F64[i*src.D:(i+1)*src.D]...)
			t.N++
		}
		return t
	}
	first := mustFit(t, half(0), Spec{K: 2, Covariance: "tied", Prior: &Prior{Dof: new(40.0), Weights: new(5.0)}, KeepSums: true, Tol: new(1e-6)})
	u, err := Update(context.Background(), half(1), first.Model, UpdateSpec{})
	if err != nil {
		t.Fatal(err)
	}
	all := mustFit(t, src, Spec{K: 2, Covariance: "tied", Prior: first.Prior, Init: "model", Given: first.Model, Tol: new(1e-6)})
	loose := mustFit(t, src, Spec{K: 2, Covariance: "tied", Init: "model", Given: first.Model, Tol: new(1e-6)})
	off, without := 0.0, 0.0
	for i, v := range all.Model.Covariance[0] {
		off, without = max(off, math.Abs(u.Model.Covariance[0][i]-v)), max(without, math.Abs(loose.Model.Covariance[0][i]-v))
	}
	if off > 1e-3 || without < 20*off {
		t.Errorf("the update ends %v off a fit of all rows; one without a prior is %v off", off, without)
	}
	if p := u.Model.Provenance; p.Prior == nil || p.LogPrior == nil || *p.Prior.Dof != 40 {
		t.Errorf("the updated model remembers %+v", p.Prior)
	}
}

// With gaps the default prior is that of one component, and what is climbed has slope 0: a fit that is given its own end stays.
func TestPriorsWithGaps(t *testing.T) {
	t.Parallel()
	src := iris(t)
	src.F64 = slices.Clone(src.F64)
	for i := 0; i < len(src.F64); i += 7 {
		src.F64[i] = math.NaN()
	}
	for _, code := range []string{"VVV", "EEI", "VEI", "VEE"} {
		spec := Spec{K: 2, Covariance: code, Prior: &Prior{}, Tol: new(1e-5)}
		r := mustFit(t, src, spec)
		if !r.Converged || *r.Certificate.DistanceSE > 1e-4 {
			t.Errorf("%s: %+v", code, r.Certificate)
		}
		spec.K, spec.Prior = 1, nil
		if one := mustFit(t, src, spec); math.Abs(one.Components[0].Mean[1]-r.Prior.Mean[1]) > 1e-4 {
			t.Errorf("%s: the prior's mean is %v, that of all rows %v", code, r.Prior.Mean, one.Components[0].Mean)
		}
	}
}

func TestMixedColumnsHavePriors(t *testing.T) {
	t.Parallel()
	src := &data.Table{D: 3}
	for i := range 120 {
		g := float64(i % 2)
		src.F64 = append(src.F64, 4*g+math.Sin(float64(i)), math.Mod(g+float64(i%5/4), 2), 2+5*g+float64(i%3))
		src.N++
	}
	spec := Spec{Model: "mixed", K: 2, Types: []data.Type{data.Number, data.Category, data.Count}, Levels: [][]string{nil, {"a", "b"}, nil}, Prior: &Prior{Levels: new(2.0)}, Tol: new(1e-5)}
	r := mustFit(t, src, spec)
	if p := r.Prior; !r.Converged || *p.Levels != 2 || *p.Dof != 3 || len(p.Mean) != 1 || len(p.Shares) != 1 || len(p.Shares[0]) != 2 {
		t.Errorf("%+v, converged %v", p, r.Converged)
	}
	if r.StandardErrors.Method != "observed information" || *r.Certificate.DistanceSE > 1e-4 {
		t.Errorf("%+v, %+v", r.StandardErrors, r.Certificate)
	}
}

// A choice, a bootstrap and a test repeat the fit under its prior.
func TestPriorsAreRepeated(t *testing.T) {
	t.Parallel()
	src := priorRows(t, "faithful.csv", []string{"eruptions", "waiting"})
	r := mustFit(t, src, Spec{KRange: [2]int{1, 3}, Covariance: "EEE,VVV", Prior: &Prior{}, Bootstrap: 3, LRT: 3, NInit: 2})
	if s, l := r.Stability, r.LRT; s == nil || s.Done != 3 || l == nil || l.Done != 3 || l.Failed > 0 {
		t.Errorf("%+v, %+v", s, l)
	}
	for _, x := range r.Candidates {
		if x.AtFloor || x.BIC == nil {
			t.Errorf("%+v", x)
		}
	}
}

func TestPriorsThatAreRefused(t *testing.T) {
	t.Parallel()
	src := iris(t)
	collinear := *src
	collinear.F64 = slices.Clone(src.F64)
	constant := collinear
	constant.F64 = slices.Clone(src.F64)
	for i := 0; i < len(src.F64); i += 4 {
		collinear.F64[i] = 2*collinear.F64[i+1] - collinear.F64[i+2]
		constant.F64[i] = 1
	}
	for _, x := range []struct {
		src  data.Source
		spec Spec
		says string
	}{
		{src, Spec{K: 2, Prior: &Prior{Dof: new(3.0)}}, "dof=3 must be above d - 1 = 3"},
		{src, Spec{K: 2, Prior: &Prior{Dof: new(-1.0)}}, "dof=-1"},
		{src, Spec{K: 2, Prior: &Prior{Shrinkage: new(-1.0)}}, "shrinkage=-1"},
		{src, Spec{K: 2, Prior: &Prior{Weights: new(0.5)}}, "vb"},
		{src, Spec{K: 2, Prior: &Prior{Weights: new(2.0)}, Weights: "uniform"}, "uniform"},
		{src, Spec{K: 2, Prior: &Prior{ScaleFactor: new(0.0)}}, "scale-factor=0"},
		{src, Spec{K: 2, Prior: &Prior{ScaleFactor: new(1.0), Scale: [][]float64{{1}}}}, "one of the two"},
		{src, Spec{K: 2, Prior: &Prior{Levels: new(1.0)}}, "levels"},
		{src, Spec{K: 2, Prior: &Prior{Mean: []float64{1, 2}}}, "mean has 2 numbers for 4 columns"},
		{src, Spec{K: 2, Prior: &Prior{Scale: [][]float64{{1, 2, 3, 4}}}}, "4 lists of 4 numbers for full"},
		{src, Spec{K: 2, Covariance: "diag", Prior: &Prior{Scale: [][]float64{{1}}}}, "a list of 4 numbers for diag"},
		{src, Spec{K: 2, Covariance: "spherical", Prior: &Prior{Scale: [][]float64{{0}}}}, "above 0"},
		{src, Spec{K: 2, Covariance: "diag", Prior: &Prior{Scale: [][]float64{{1, 1, 1, -1}}}}, "above 0"},
		{src, Spec{K: 2, Prior: &Prior{}, RegCovar: 1e-6}, "RegCovar"},
		{src, Spec{K: 2, Prior: &Prior{}, Model: "kmeans"}, "kmeans"},
		{src, Spec{K: 2, Prior: &Prior{}, Model: "kmedians"}, "kmedians"},
		{src, Spec{K: 2, Prior: &Prior{}, Model: "poisson"}, "rates"},
		{src, Spec{K: 2, Prior: &Prior{Dof: new(9.0)}, Model: "bernoulli", Binarize: new(3.0)}, "levels and weights"},
		{src, Spec{K: 2, Prior: &Prior{Shares: [][]float64{{0.5, 0.5}}}, Model: "bernoulli", Binarize: new(3.0)}, "1 column"},
		{&collinear, Spec{K: 2, Prior: &Prior{}}, "collinear"},
		{&constant, Spec{K: 2, Prior: &Prior{}}, "constant"},
	} {
		_, err := Fit(context.Background(), x.src, x.spec)
		var spec *SpecError
		var column *ConstantColumnError
		if err == nil || !strings.Contains(err.Error(), x.says) || strings.Contains(err.Error(), "\n") || !errors.As(err, &spec) && !errors.As(err, &column) {
			t.Errorf("%+v: %v, which should say %q", x.spec.Prior, err, x.says)
		}
	}
	if r := mustFit(t, &collinear, Spec{K: 2, Covariance: "diag", Prior: &Prior{}}); !r.Converged {
		t.Error("collinear columns have variances too")
	}
	if p, err := Fit(context.Background(), src, Spec{K: 2, Model: "poisson", Prior: &Prior{Weights: new(3.0)}}); err == nil {
		t.Errorf("numbers are counts: %v", p)
	}
}

func TestPriorsAreRead(t *testing.T) {
	t.Parallel()
	p, err := ParsePrior("shrinkage=0.5, dof=7,scale_factor=0.1,weights=2")
	if err != nil || *p.Shrinkage != 0.5 || *p.Dof != 7 || *p.ScaleFactor != 0.1 || *p.Weights != 2 || p.Levels != nil {
		t.Errorf("%+v (%v)", p, err)
	}
	p, err = ParsePrior(`{"mean": [1, 2], "scale": [[2, 1], [1, 2]], "scale-factor": 3}`)
	if err != nil || fmt.Sprint(p.Mean, p.Scale, *p.ScaleFactor) != "[1 2] [[2 1] [1 2]] 3" {
		t.Errorf("%+v (%v)", p, err)
	}
	for text, says := range map[string]string{
		"": "empty", "nonsense=1": "shrinkage, dof, scale-factor, weights, levels and transitions", "dof": "KEY=VALUE", "dof=x": "number", "dof=1,dof=2": "twice",
		"scale=1": "config", "auto,dof=5": "auto stands alone", `{"x": 1}`: "the keys are", `{"scale": "big"}`: "matrix",
	} {
		if _, err := ParsePrior(text); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, which should say %q", text, err, says)
		}
	}
	if family.Positive([]float64{1, 2, 1}, family.Full, 2) || !family.Positive([]float64{1, 0.5, 1}, family.Full, 2) {
		t.Error("a matrix is positive definite where its determinants are positive")
	}
	for _, scale := range []model.PriorScale{{{1, 0}, {0, math.Inf(1)}}, {{math.NaN(), 0}, {0, 1}}} {
		var wrong *SpecError
		_, err := Fit(context.Background(), fixtures.Table(2, rng.Normals(6, 80)...), Spec{K: 1, Covariance: "full", Prior: &Prior{Scale: scale}})
		if !errors.As(err, &wrong) || wrong.Field != "Prior" {
			t.Errorf("a prior with the scale %v: %v", scale, err)
		}
	}
}

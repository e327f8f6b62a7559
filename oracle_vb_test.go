package latent

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/sweep"
)

// bayesPrior is a prior as the files of testdata/oracle/vb hold it.
type bayesPrior struct {
	Weights       string
	Concentration float64
	MeanPrecision float64 `json:"mean_precision"`
	Mean          []float64
	Dof           float64
	Scale         json.RawMessage
}

// scale returns the numbers of the prior's scale, matrices as their lower triangles.
func (p *bayesPrior) scale(t *testing.T) []float64 {
	t.Helper()
	var number float64
	var list []float64
	var rows [][]float64
	switch {
	case json.Unmarshal(p.Scale, &number) == nil:
		return []float64{number}
	case json.Unmarshal(p.Scale, &list) == nil:
		return list
	}
	if err := json.Unmarshal(p.Scale, &rows); err != nil {
		t.Fatal(err)
	}
	var triangle []float64
	for j, row := range rows {
		triangle = append(triangle, row[:j+1]...)
	}
	return triangle
}

// bayesSteps is testdata/oracle/vb/steps.json.
type bayesSteps struct {
	reference
	OneComponent []struct {
		Data, Covariance string
		Prior            bayesPrior
		ELBO             float64
	} `json:"one_component"`
	Cases []struct {
		Name, Covariance string
		K                int
		Prior            bayesPrior
		ELBO             []float64
		After            []struct {
			Steps            int
			WeightParameters json.RawMessage `json:"weight_parameters"`
			ExpectedWeights  []float64       `json:"expected_weights"`
			MeanPrecision    []float64       `json:"mean_precision"`
			Means            [][]float64
			Dof              json.RawMessage
			Scale            []float64
		}
	}
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// bayesMixture returns the mixture of variational Bayes on rows whose mean is the origin.
func bayesMixture(t *testing.T, p *bayesPrior, covariance string, k int, s *sweep.Survey, origin []float64) *mixture.Mixture {
	t.Helper()
	shape, err := family.ParseShape(covariance)
	if err != nil {
		t.Fatal(err)
	}
	mean := slices.Clone(p.Mean)
	for j := range mean {
		mean[j] -= origin[j]
	}
	f := family.Bayes{
		Gaussian: family.Gaussian{Shape: shape, Var: s.Var},
		Prior:    family.BayesPrior{MeanPrecision: p.MeanPrecision, Mean: mean, Dof: p.Dof, Scale: p.scale(t)},
	}
	return &mixture.Mixture{Family: f, K: k, D: len(mean), Bayes: &mixture.Bayes{Concentration: p.Concentration, Process: p.Weights == "process", Rows: s.W}}
}

// fromShares returns the parameters of one M-step from responsibilities, n x k, whose sums about the origin are added up in a loop.
func fromShares(mix *mixture.Mixture, src *data.Table, origin, r []float64) []float64 {
	k, d := mix.K, mix.D
	s := mix.NewStats(0)
	f := mix.Family.(family.Bayes)
	second := func(c int) []float64 {
		if f.Shape.Shared() {
			c = 0
		}
		z := f.Shape.Size(d)
		return s.Sum[k*d+c*z : k*d+c*z+z]
	}
	x := make([]float64, d)
	for i := range src.N {
		for j := range x {
			x[j] = src.F64[i*d+j] - origin[j]
		}
		for c := range k {
			w := r[i*k+c]
			s.N[c] += w
			s.W += w
			q := second(c)
			at := 0
			for j := range d {
				s.Sum[c*d+j] += w * x[j]
				switch f.Shape.Alone() {
				case family.Full:
					for l := range j + 1 {
						q[at] += w * x[j] * x[l]
						at++
					}
				case family.Diag:
					q[j] += w * x[j] * x[j]
				default:
					q[0] += w * x[j] * x[j]
				}
			}
		}
	}
	next := make([]float64, mix.Params())
	mix.MStep(next, make([]float64, mix.Params()), s)
	return next
}

// softStart returns the responsibilities that the file begins with, n x k: spheres of the columns' own variances around rows spread through
// the file, with weights 1:2:..:k.
func softStart(src *data.Table, k int) []float64 {
	n, d := src.N, src.D
	mean, v := make([]float64, d), make([]float64, d)
	for i, x := range src.F64 {
		mean[i%d] += x / float64(n)
	}
	for i, x := range src.F64 {
		v[i%d] += (x - mean[i%d]) * (x - mean[i%d]) / float64(n)
	}
	r := make([]float64, n*k)
	for i := range n {
		sum := 0.0
		for c := range k {
			at := (2*c + 1) * n / (2 * k)
			e := math.Log(float64(c + 1))
			for j := range d {
				off := src.F64[i*d+j] - src.F64[at*d+j]
				e -= off * off / v[j] / 2
			}
			r[i*k+c] = math.Exp(e)
			sum += r[i*k+c]
		}
		for c := range k {
			r[i*k+c] /= sum
		}
	}
	return r
}

// sums makes a pass at theta.
func sums(t *testing.T, local *sweep.Local, mix *mixture.Mixture, theta []float64) *family.Stats {
	t.Helper()
	all, err := local.Sweep(context.Background(), []sweep.Task{{Mixture: mix, Theta: theta, Beta: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

func TestStepsOfVariationalBayesAgreeWithExactArithmetic(t *testing.T) {
	t.Parallel()
	var ref bayesSteps
	readJSON(t, "testdata/oracle/vb/steps.json", &ref)
	src := ref.table(t)
	s := look(t, src)
	origin, bounds, compared := s.Origin(), 0, 0
	worst := 0.0
	// Relative to the larger of the number and a thousandth of the largest of its list: an entry near 0 has no relative error.
	near := func(what string, got, want []float64) {
		t.Helper()
		largest := 0.0
		for _, v := range want {
			largest = max(largest, math.Abs(v))
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
		}
		for i, v := range want {
			off := math.Abs(got[i]-v) / max(math.Abs(v), 1e-3*largest)
			if worst = max(worst, off); !(off <= 1e-9) {
				t.Errorf("%s: number %d is %v, want %v", what, i, got[i], v)
			}
			compared++
		}
	}
	for _, c := range ref.Cases {
		mix := bayesMixture(t, &c.Prior, c.Covariance, c.K, s, origin)
		local := sweep.NewLocal(src, s.Rows, origin, 2)
		theta := fromShares(mix, src, origin, softStart(src, c.K))
		at := 0
		for step, want := range c.ELBO {
			stats := sums(t, local, mix, theta)
			near(c.Name+" elbo", []float64{mix.Objective(theta, stats)}, []float64{want})
			bounds++
			if at < len(c.After) && c.After[at].Steps == step+1 {
				a := c.After[at]
				at++
				n := mix.Counts(theta)
				concentration, precision := []float64{}, []float64{}
				for _, v := range n {
					precision = append(precision, c.Prior.MeanPrecision+v)
				}
				var weights []float64
				if json.Unmarshal(a.WeightParameters, &weights) == nil {
					for _, v := range n {
						concentration = append(concentration, c.Prior.Concentration+v)
					}
				} else {
					var two [][]float64
					if err := json.Unmarshal(a.WeightParameters, &two); err != nil {
						t.Fatal(err)
					}
					weights = slices.Concat(two...)
					for side := range 2 {
						for _, stick := range mix.Bayes.Sticks(n) {
							concentration = append(concentration, stick[side])
						}
					}
				}
				near(c.Name+" weights", concentration, weights)
				near(c.Name+" mean precision", precision, a.MeanPrecision)
				comp, f := mix.Components(theta), mix.Family.(family.Bayes)
				for i, mean := range a.Means {
					got := slices.Clone(comp[i*mix.D : (i+1)*mix.D])
					for j := range got {
						got[j] += origin[j]
					}
					near(c.Name+" mean", got, mean)
				}
				for i := range f.Shape.Count(c.K) {
					rows := n[i]
					if f.Shape.Shared() {
						rows = s.W
					}
					if f.Shape.Alone() == family.Spherical {
						rows *= float64(mix.D)
					}
					q := make([]float64, f.Shape.Size(mix.D))
					f.Covariance(q, f.ScaleOf(comp, i, c.K, mix.D), mix.D)
					for j := range q {
						q[j] *= c.Prior.Dof + rows
					}
					near(c.Name+" scale", q, flat(f.Shape, a.Scale, i, mix.D))
				}
			}
			mix.MStep(theta, theta, stats)
		}
		if at != len(c.After) {
			t.Errorf("%s: %d of %d steps compared", c.Name, at, len(c.After))
		}
	}
	t.Logf("%d cases, %d bounds and %d numbers in all, the worst off by %.1e", len(ref.Cases), bounds, compared, worst)
	if len(ref.Cases) != 6 || bounds != 150 {
		t.Errorf("%d cases with %d bounds, want 6 with 150", len(ref.Cases), bounds)
	}
}

func TestBoundOfOneComponentIsTheEvidenceOfTheOracle(t *testing.T) {
	t.Parallel()
	var ref bayesSteps
	readJSON(t, "testdata/oracle/vb/steps.json", &ref)
	columns := map[string][]string{"faithful": {"eruptions", "waiting"}, "iris": {"sepal_length", "sepal_width", "petal_length", "petal_width"}}
	for _, c := range ref.OneComponent {
		src := &data.Table{D: len(columns[c.Data]), F64: dataset(t, c.Data+".csv", columns[c.Data])}
		src.N = len(src.F64) / src.D
		r := mustFit(t, src, Spec{K: 1, Algorithm: "vb", Covariance: c.Covariance})
		if !(math.Abs(*r.ELBO-c.ELBO) <= 1e-12*math.Abs(c.ELBO)) {
			t.Errorf("%s %s: the bound is %v, the log evidence %v", c.Data, c.Covariance, *r.ELBO, c.ELBO)
		}
	}
	if t.Logf("%d evidences", len(ref.OneComponent)); len(ref.OneComponent) != 8 {
		t.Errorf("%d evidences, want 8", len(ref.OneComponent))
	}
}

// bayesOptimum is testdata/oracle/vb/optimum.json.
type bayesOptimum struct {
	Data map[string]struct {
		File    string
		Columns []string
		Rows    [][]float64
	}
	Fits []struct {
		Data, Covariance string
		K, Used          int
		Prior            bayesPrior
		ELBO             float64
		Means            [][]float64 `json:"means_of_used"`
	}
}

// table returns the rows of a data set.
func (o *bayesOptimum) table(t *testing.T, name string) *data.Table {
	t.Helper()
	of := o.Data[name]
	src := &data.Table{D: len(of.Columns), F64: slices.Concat(of.Rows...)}
	if of.File != "" {
		src.F64 = dataset(t, name+".csv", of.Columns)
	}
	src.N = len(src.F64) / src.D
	return src
}

// The best bounds known, which 5 to 90 % of random starts reach. With the seeds 1 to 20 each was reached by all 20 fits; two seeds are tried
// here.
func TestVariationalBayesReachesTheBestBoundsKnown(t *testing.T) {
	t.Parallel()
	var ref bayesOptimum
	readJSON(t, "testdata/oracle/vb/optimum.json", &ref)
	reached, tried := 0, 0
	for _, c := range ref.Fits {
		src := ref.table(t, c.Data)
		for seed := range uint64(2) {
			weights := "learned"
			if c.Prior.Weights == "process" {
				weights = "process"
			}
			r := mustFit(t, src, Spec{K: c.K, Algorithm: "vb", Covariance: c.Covariance, Weights: weights, Concentration: &c.Prior.Concentration, Seed: new(seed + 1), Tol: new(1e-4)})
			tried++
			if !r.Converged {
				t.Errorf("%s %s %s: not finished", c.Data, c.Covariance, weights)
			}
			if *r.ELBO >= c.ELBO-1e-4 {
				reached++
			}
			if *r.ELBO > c.ELBO+1e-3 { // a better one than the file knows
				continue
			}
			if r.K != c.Used || r.KMax != c.K {
				t.Errorf("%s %s %s: %d of %d components in use, want %d of %d", c.Data, c.Covariance, weights, r.K, r.KMax, c.Used, c.K)
				continue
			}
			for i, want := range c.Means {
				for j, v := range want {
					if got := r.Components[i].Mean[j]; !(math.Abs(got-v) <= 1e-4*r.ColumnSD[j]) {
						t.Errorf("%s %s %s: mean %d is %v, want %v", c.Data, c.Covariance, weights, i+1, r.Components[i].Mean, want)
					}
				}
			}
		}
	}
	if t.Logf("%d of %d fits reach the best bound known", reached, tried); reached != tried || tried != 14 {
		t.Errorf("%d of %d fits reach the best bound known, want 14 of 14", reached, tried)
	}
}

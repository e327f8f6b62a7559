package latent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/model"
)

func builtIn(t *testing.T, name string) (*data.Table, []string) {
	t.Helper()
	src, info, err := data.Load(context.Background(), name, data.Options{Header: "auto", Missing: "error"})
	if err != nil {
		t.Fatal(err)
	}
	return src.(*data.Table), info.Features
}

func TestChoiceIsAtLeastAsGoodAsThatOfMclust(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, shapes string
		hi           int
	}{{"faithful", "all", 4}, {"iris", "VVV,EEE,VEV", 3}, {"diabetes", "VVV,EVE", 4}} {
		src, _ := builtIn(t, "@"+c.name)
		r := mustFit(t, src, Spec{KRange: [2]int{1, c.hi}, Covariance: c.shapes, NInit: 5})
		theirs, low := math.Inf(1), 0
		for _, o := range mclust(t, c.name) {
			at := slices.IndexFunc(r.Candidates, func(x model.Candidate) bool { return x.K == o.K && x.Mclust == o.Model })
			if at < 0 {
				continue
			}
			theirs = min(theirs, o.BIC)
			x := r.Candidates[at]
			if *x.FreeParameters != o.Free {
				t.Errorf("%s: %s %d has %d parameters, mclust counts %d", c.name, o.Model, o.K, *x.FreeParameters, o.Free)
			}
			if *x.BIC > o.BIC+0.01 {
				low++
			}
		}
		if *r.BIC > theirs+1e-3 {
			t.Errorf("%s: BIC %v of %s %d, mclust has %v", c.name, *r.BIC, r.Mclust, r.K, theirs)
		}
		if low > len(r.Candidates)/20 {
			t.Errorf("%s: %d of %d candidates are worse than mclust's", c.name, low, len(r.Candidates))
		}
	}
}

func written(t *testing.T, r *Result) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := r.Model.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// quickFit is mustFit without its checks, which are for models that it knows.
func quickFit(t *testing.T, src data.Source, spec Spec) *Result {
	t.Helper()
	r, err := Fit(context.Background(), src, spec)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What was stopped on the way does not win either when it is carried to its end.
func TestStoppedCandidatesWouldNotHaveWon(t *testing.T) {
	t.Parallel()
	src := fixtures.FiveClusters(20_000 + 1)
	about := [2]int{4, 7}
	if testing.Short() { // the race detector takes ten times as long
		about = [2]int{5, 6}
	}
	r := quickFit(t, src, Spec{KRange: about, Covariance: "VVI,EII"})
	if r.K != 5 || r.Mclust != "EII" {
		t.Errorf("%s %d was chosen", r.Mclust, r.K)
	}
	for _, x := range r.Candidates {
		if !x.Pruned {
			continue
		}
		if x.Converged {
			t.Errorf("%s %d was stopped, and is said to have converged", x.Mclust, x.K)
		}
		if alone := quickFit(t, src, Spec{K: x.K, Covariance: x.Covariance}); *alone.BIC < *r.BIC || *alone.BIC > *x.BIC+1e-6*math.Abs(*x.BIC) {
			t.Errorf("%s %d: BIC %v where it was stopped, %v alone; the best has %v", x.Mclust, x.K, *x.BIC, *alone.BIC, *r.BIC)
		}
	}
	if r.Pruned() == 0 {
		t.Error("nobody was stopped")
	}
}

func TestWinnerIsTheFitOfItsKAndShapeForAnyThreads(t *testing.T) {
	t.Parallel()
	faithful, _ := builtIn(t, "@faithful")
	bits := make([]float64, 0, 600)
	for i, u := range rng.Uniforms(3, 600) {
		bits = append(bits, map[bool]float64{true: 1}[(u < 0.85) == (i/3%2 == 0)])
	}
	for name, c := range map[string]struct {
		src  *data.Table
		spec Spec
	}{
		"shapes":             {faithful, Spec{KRange: [2]int{2, 3}, Covariance: "VVV,EEE,VEV"}},
		"k alone":            {faithful, Spec{KRange: [2]int{1, 3}, Scale: "standard", Criterion: "icl"}},
		"small EM":           {faithful, Spec{KRange: [2]int{2, 3}, Init: "small-em", NInit: 2}},
		"k-means":            {faithful, Spec{KRange: [2]int{2, 4}, Model: "kmeans"}},
		"K-medians":          {faithful, Spec{KRange: [2]int{2, 3}, Model: "kmedians"}},
		"bits":               {fixtures.Table(3, bits...), Spec{KRange: [2]int{1, 3}, Model: "bernoulli"}},
		"many rows":          {fixtures.TwoOnALine(20_000 + 1), Spec{KRange: [2]int{1, 3}, Covariance: "full,tied"}},
		"a race":             {fixtures.FiveClusters(20_000 + 1), Spec{KRange: [2]int{4, 8}, Covariance: "VVI,EII"}},
		"many rows, k-means": {fixtures.Table(2, fixtures.TwoOnALine(2*20_000+2).F64...), Spec{KRange: [2]int{2, 3}, Model: "kmeans"}},
	} {
		if testing.Short() && !slices.Contains([]string{"shapes", "k-means", "bits", "a race"}, name) {
			continue // the race detector takes ten times as long
		}
		c.spec.Threads = 1
		r := quickFit(t, c.src, c.spec)
		alone := quickFit(t, c.src, Spec{K: r.K, Covariance: r.Covariance, Model: c.spec.Model, Scale: c.spec.Scale, Init: c.spec.Init, NInit: c.spec.NInit})
		alone.Model.Spec, r.Model.Spec = nil, nil // "full" was not said there
		alone.Model.Provenance.Choice, alone.Model.Provenance.Candidates = r.Choice, r.Candidates
		if written(t, r) != written(t, alone) {
			t.Errorf("%s: the winner is another model than the fit of k = %d, %s", name, r.K, r.Covariance)
		}
		if name == "a race" && r.Pruned() == 0 {
			t.Error("a race: nobody was stopped")
		}
		won := r.Ranked()[0]
		if won.K != r.K || won.Covariance != r.Covariance || r.BIC != nil && *won.BIC != *r.BIC || r.Inertia != nil && *won.Inertia != *r.Inertia {
			t.Errorf("%s: the first of the candidates is %+v", name, won)
		}
		c.spec.Threads = 3
		more := quickFit(t, c.src, c.spec)
		a, _ := json.Marshal(r.Candidates)
		b, _ := json.Marshal(more.Candidates)
		if more.Model.Spec = nil; written(t, more) != written(t, r) || !bytes.Equal(a, b) {
			t.Errorf("%s: three threads choose another model, or have other candidates", name)
		}
	}
}

func TestCandidatesThatShareAPassAreThoseThatDoNot(t *testing.T) {
	t.Parallel()
	src := fixtures.Table(2, fixtures.TwoOnALine(2*20_000+2).F64...)
	most := 3
	if testing.Short() { // the race detector takes ten times as long
		most = 2
	}
	r := mustFit(t, src, Spec{KRange: [2]int{2, most}, Covariance: "full,diag,tied-spherical", Criterion: "icl"}) // by ICL nobody races
	for _, x := range r.Candidates {
		alone := mustFit(t, src, Spec{K: x.K, Covariance: x.Covariance})
		if x.From != "" { // it began at another, and is higher, or alone it has a component of a few rows of 40,000 and cannot win
			few := slices.ContainsFunc(alone.Components, func(c model.Component) bool { return c.Weight*float64(src.N) < 4 })
			if *x.LogLik < *alone.LogLik+0.01 && !few {
				t.Errorf("%s %d began at %s: log-likelihood %v, alone %v", x.Covariance, x.K, x.From, *x.LogLik, *alone.LogLik)
			}
			continue
		}
		gain, closer := *alone.LogLik-*x.LogLik, 0.0
		if alone.Certificate.Whole { // a fit alone was looked at in every direction, and may have come closer: within 0.01 standard errors
			closer = 0.01 * 0.01 / 2
		}
		if gain < 0 || gain > closer || gain == 0 && *alone.ICL != *x.ICL {
			t.Errorf("%s %d: log-likelihood %v, alone %v", x.Covariance, x.K, *x.LogLik, *alone.LogLik)
		}
	}
}

// Rows 0, 0, 1, 1, 5, 5. With one component variance 14/3; two of equal variance: means 0.5 and 5, variance 1/6.
func TestSixRowsOfThreeValues(t *testing.T) {
	t.Parallel()
	src := fixtures.Table(1, 0, 0, 1, 1, 5, 5)
	r := mustFit(t, src, Spec{KRange: [2]int{1, 8}, Covariance: "tied"})
	one := 2*math.Log(6) + 6*(math.Log(2*math.Pi*14/3)+1)
	two := 4*math.Log(6) + 6*(math.Log(2*math.Pi/6)+1) - 2*(4*math.Log(2./3)+2*math.Log(1./3))
	fixtures.Within(t, "BIC of one", *r.Candidates[0].BIC, one, 1e-9)
	fixtures.Within(t, "BIC of two", *r.Candidates[1].BIC, two, 1e-4)
	fixtures.Within(t, "margin", *r.Choice.Margin, 2*math.Log(6), 1e-4) // off the floor three have two alike: the same likelihood with two more parameters
	if r.K != 2 || r.Choice.Verdict != "fair" {
		t.Errorf("k = %d, a %s choice", r.K, r.Choice.Verdict)
	}
	for _, x := range r.Candidates {
		if x.K > 3 && (x.BIC != nil || !strings.Contains(x.Why, "3 distinct rows")) {
			t.Errorf("k = %d: %v, %q", x.K, x.BIC, x.Why)
		}
	}
	if r := mustFit(t, src, Spec{KRange: [2]int{1, 8}}); r.K != 1 || !r.Candidates[1].AtFloor || r.Candidates[1].Why == "" {
		t.Errorf("a component on equal rows won, or was not marked: %+v", r.Candidates)
	}
}

func TestDegenerateCandidatesNeverWin(t *testing.T) {
	t.Parallel()
	x := rng.Normals(5, 60)
	for i := range 20 {
		x[i] = 3 // equal rows: a component on them owes its likelihood to the floor of variances
	}
	r := mustFit(t, fixtures.Table(1, x...), Spec{KRange: [2]int{1, 4}, Covariance: "full,tied"})
	degenerate := 0
	for _, c := range r.Candidates {
		if c.AtFloor && *c.BIC < *r.BIC {
			degenerate++
		}
	}
	if degenerate == 0 {
		t.Error("no candidate with a degenerate component has a better BIC: the test tests nothing")
	}
	for _, c := range r.Components {
		if c.AtFloor {
			t.Errorf("a component of the winner, k = %d, is at the floor", r.K)
		}
	}
	flat := make([]float64, 0, 40)
	for _, v := range rng.Normals(6, 20) {
		flat = append(flat, v, 2*v)
	}
	_, err := Fit(context.Background(), fixtures.Table(2, flat...), Spec{KRange: [2]int{1, 2}, Covariance: "full,tied"})
	if err == nil || !strings.Contains(err.Error(), "variance floor") {
		t.Errorf("rows on a line: %v", err)
	}
}

// Five rows in six columns are flat. With one volume for all the others lend such a component the volume that it lacks, and it
// stands above the floor: it is one on a few rows in a plane all the same.
func TestComponentsInAPlaneNeverWinByTheVolumeOfOthers(t *testing.T) {
	t.Parallel()
	const k, d, rows = 6, 6, 5
	x := rng.Normals(8, k*rows*d)
	for i := range x {
		x[i] += 100 * float64(i/d%k) * float64(1+i%d%2)
	}
	src := fixtures.Table(d, x...)
	for _, shape := range []string{"EVV", "EVE", "EVI"} {
		r := mustFit(t, src, Spec{K: k, Covariance: shape})
		for _, c := range r.Components {
			// Along given columns, or axes that are those of all, five rows have a variance.
			if want := shape == "EVV"; c.AtFloor != want {
				t.Errorf("%s: component %d of %d rows: at the floor %v", shape, c.Label, c.Rows, c.AtFloor)
			}
		}
	}
	about := [2]int{1, 8}
	if testing.Short() { // the race detector takes ten times as long
		about = [2]int{k, k}
	}
	r := mustFit(t, src, Spec{KRange: about, Covariance: "EII,EVV"})
	if best := r.Candidates[slices.IndexFunc(r.Candidates, func(c model.Candidate) bool { return c.Mclust == "EVV" && c.K == k })]; !best.AtFloor || best.Why == "" || *best.BIC > *r.BIC {
		t.Errorf("EVV 6 is %+v, the winner %s %d has BIC %v", best, r.Mclust, r.K, *r.BIC)
	}
	for _, c := range r.Components {
		if c.AtFloor {
			t.Errorf("%s %d won with component %d at the floor", r.Mclust, r.K, c.Label)
		}
	}
}

func TestKnownNumberOfClustersIsFound(t *testing.T) {
	t.Parallel()
	for k := 1; k <= 5; k++ {
		z := rng.Normals(uint64(100+k), 2*80*k)
		for i := range 80 * k {
			z[2*i] += 9 * float64(i%k)
			z[2*i+1] += 7 * float64(i%k*(i%k)%5)
		}
		src := fixtures.Table(2, z...)
		if r := mustFit(t, src, Spec{KRange: [2]int{1, 6}, NInit: 5}); r.K != k || k > 1 && r.Choice.Verdict != "clear" {
			t.Errorf("%d clusters: BIC finds %d, a %s choice", k, r.K, r.Choice.Verdict)
		}
		if k == 1 {
			continue
		}
		if r := mustFit(t, src, Spec{KRange: [2]int{1, 6}, Model: "kmeans"}); r.K != k {
			t.Errorf("%d clusters: silhouettes find %d", k, r.K)
		}
	}
}

// scikit-learn 1.7: silhouette_score of KMeans on iris.
func TestSilhouettesOfIris(t *testing.T) {
	t.Parallel()
	src, _ := builtIn(t, "@iris")
	r := mustFit(t, src, Spec{KRange: [2]int{1, 3}, Model: "kmeans"})
	if r.K != 2 || r.Choice.Verdict != "" || r.Choice.Rows != 150 {
		t.Errorf("k = %d, verdict %q, %d rows", r.K, r.Choice.Verdict, r.Choice.Rows)
	}
	if c := r.Candidates[0]; c.Silhouette != nil || !strings.Contains(c.Why, "undefined") {
		t.Errorf("one cluster: %v, %q", c.Silhouette, c.Why)
	}
	fixtures.Within(t, "k = 2", *r.Candidates[1].Silhouette, 0.681046169211746, 1e-9)
	fixtures.Within(t, "k = 3", *r.Candidates[2].Silhouette, 0.5528190123564095, 1e-9)
}

// By mclust the best two are 0.822 apart in BIC.
func TestFlatChoiceIsCalledFlat(t *testing.T) {
	t.Parallel()
	src, _ := builtIn(t, "@iris")
	r := mustFit(t, src, Spec{KRange: [2]int{2, 3}, Covariance: "VEV,VVV"})
	fixtures.Within(t, "margin", *r.Choice.Margin, 562.550707983332-561.728462114338, 1e-3)
	if r.Choice.Verdict != "flat" || !r.Ranked()[0].Converged {
		t.Errorf("verdict %q", r.Choice.Verdict)
	}
}

func TestShapesThatAreOneModelAreFittedOnce(t *testing.T) {
	t.Parallel()
	src, _ := builtIn(t, "@faithful")
	tried := 0
	r := mustFit(t, src, Spec{K: 1, Covariance: "all"}, Observer{Candidate: func(int, int, model.Candidate) { tried++ }})
	if tried != 3 || len(r.Ranked()) != 3 || len(r.Candidates) != len(family.Shapes()) {
		t.Errorf("%d fits, %d ranked, %d candidates", tried, len(r.Ranked()), len(r.Candidates))
	}
	for _, c := range r.Candidates {
		alone := mustFit(t, src, Spec{K: 1, Covariance: c.Mclust})
		if fixtures.Within(t, c.Mclust, *c.BIC, *alone.BIC, 1e-6); *c.FreeParameters != alone.FreeParameters {
			t.Errorf("%s: %d parameters, alone %d", c.Mclust, *c.FreeParameters, alone.FreeParameters)
		}
	}
}

func TestWatchSeesTheWinnerAlone(t *testing.T) {
	t.Parallel()
	src, _ := builtIn(t, "@faithful")
	var chosen, alone []float64
	spec, see := Spec{KRange: [2]int{1, 3}, NInit: 1}, Observer{Step: func(p Progress) { chosen = append(chosen, p.Point.F) }}
	r := mustFit(t, src, spec, see)
	mustFit(t, src, Spec{K: r.K, NInit: 1}, Observer{Step: func(p Progress) { alone = append(alone, p.Point.F) }})
	if len(alone) < 3 || !slices.Equal(chosen, alone) {
		t.Errorf("%v, alone %v", chosen, alone)
	}
}

func TestInterruptedChoiceIsTheBestSoFar(t *testing.T) {
	t.Parallel()
	for _, src := range []*data.Table{fixtures.TwoOnALine(500), fixtures.TwoOnALine(20_000 + 1)} {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		r, err := Fit(ctx, src, Spec{KRange: [2]int{1, 12}, Threads: 1, NInit: 4}, Observer{Candidate: func(done, _ int, _ model.Candidate) {
			if done == 2 {
				cancel()
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Converged || !r.Interrupted {
			t.Error("it does not say that it was interrupted")
		}
		if !slices.ContainsFunc(r.Candidates, func(c model.Candidate) bool { return strings.HasPrefix(c.Why, "interrupted") }) {
			t.Error("no candidate says that it was interrupted")
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Fit(ctx, fixtures.TwoOnALine(100), Spec{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before it began: %v", err)
	}
}

func TestChoicesThatMakeNoSenseNameTheFlag(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field string
		spec  Spec
	}{
		{"K", Spec{Model: "kmeans"}}, {"K", Spec{K: 2, KRange: [2]int{1, 3}}}, {"K", Spec{KRange: [2]int{3, 2}}}, {"K", Spec{KRange: [2]int{0, 2}}},
		{"K", Spec{Model: "kmeans", Penalty: new(1.), KRange: [2]int{1, 2}}},
		{"Covariance", Spec{K: 2, Covariance: "full,round"}}, {"Covariance", Spec{K: 2, Covariance: "full,"}}, {"Covariance", Spec{KRange: [2]int{1, 2}, Model: "bernoulli", Covariance: "all"}},
		{"Criterion", Spec{Criterion: "best"}}, {"Criterion", Spec{K: 2, Criterion: "bic"}},
		{"Criterion", Spec{Model: "kmeans", KRange: [2]int{1, 2}, Criterion: "bic"}}, {"Criterion", Spec{Model: "bernoulli", KRange: [2]int{1, 2}, Criterion: "silhouette"}},
		{"Init", Spec{Init: "labels", Labels: []int32{0}, KRange: [2]int{1, 2}}},
	} {
		var wrong *SpecError
		if err := c.spec.Validate(); !errors.As(err, &wrong) || wrong.Field != c.field {
			t.Errorf("%+v: %v, want %s named", c.spec, err, c.field)
		}
	}
	for _, s := range []Spec{{}, {KRange: [2]int{2, 3}}, {K: 2, Covariance: "all"}} {
		if s.ValidateOne() == nil || s.Validate() != nil {
			t.Errorf("%+v is a choice", s)
		}
		if _, err := Compare(context.Background(), fixtures.TwoOnALine(50), s, []string{"em"}); err == nil {
			t.Errorf("compare takes %+v", s)
		}
	}
}

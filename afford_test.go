package latent

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/model"
)

// noise returns n rows of d standard normal columns.
func noise(n, d int, seed uint64) *data.Table {
	rng := rand.New(rand.NewPCG(seed, 7))
	t := &data.Table{N: n, D: d, F64: make([]float64, n*d)}
	for i := range t.F64 {
		t.F64[i] = rng.NormFloat64()
	}
	return t
}

// A fit whose vectors cannot be held is refused before anything is climbed, by the field that is to blame, with what would
// do. 30 rows of 4,000 columns have 8,006,000 numbers in a covariance and its mean, 64 MB; fifty tries hold six each.
func TestAFitThatMemoryCannotHoldIsRefusedAtOnce(t *testing.T) {
	began := time.Now()
	_, err := Fit(context.Background(), noise(30, 4000, 1), Spec{K: 3})
	var wrong *SpecError
	if !errors.As(err, &wrong) || wrong.Field != "Covariance" {
		t.Fatalf("error %v", err)
	}
	for _, word := range []string{"full with K 3 on 4,000 columns", "24,018,002 parameters for 120,000 cells", "PCA", "Covariance diag", "GB of memory"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q is not in %q", word, err)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %q", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v to refuse", took)
	}
}

// What would take long is refused where parameters are many for the table, unless that is allowed; with rows in plenty, or
// steps that are few, it is not.
func TestLongFitsOfManyParametersAreRefusedUnlessAllowed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	wide := noise(60, 90, 2)
	for _, c := range []struct {
		name string
		src  data.Source
		spec Spec
		word string // of the error; "" for none
	}{
		{"common axes", wide, Spec{K: 2, Covariance: "VVE"}, "AllowLong"},
		{"common axes, allowed", wide, Spec{K: 2, Covariance: "VVE", AllowLong: true}, ""},
		{"common axes, one start of few steps", wide, Spec{K: 2, Covariance: "VVE", NInit: 1, MaxIter: new(5)}, ""},
		{"matrices of their own", wide, Spec{K: 2}, ""},
		{"thousands of components", noise(20000, 10, 3), Spec{K: 9000, Covariance: "full"}, "fewer groups"},
		{"thousands of bits", &data.Table{N: 3, D: 1, F64: []float64{0, 1, 1}}, Spec{K: 2, Model: "bernoulli"}, ""},
		{"a few hundred columns and few more rows", noise(400, 300, 4), Spec{K: 2}, ""},
	} {
		_, err := prepare(ctx, c.src, planOf(c.spec))
		if c.word == "" && err != nil || c.word != "" && (err == nil || !strings.Contains(err.Error(), c.word)) {
			t.Errorf("%s: %v, wanted %q", c.name, err, c.word)
		}
	}
}

// The estimate counts what the formulas of the families count: numbers of a vector, and cells.
func TestEstimatesCountParametersAndGrowWithTheWork(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	of := func(n, d int, spec Spec) estimate {
		f, err := prepare(ctx, noise(n, d, 5), planOf(spec))
		if err != nil {
			t.Fatal(err)
		}
		return f.estimate()
	}
	e := of(200, 10, Spec{K: 3})
	if want := float64(3 + 3*10 + 3*55); e.parameters != want || e.cells != 2000 {
		t.Errorf("%v parameters and %v cells, wanted %v and 2000", e.parameters, e.cells, want)
	}
	if one, ten := of(200, 10, Spec{K: 3, NInit: 1}), of(200, 10, Spec{K: 3, NInit: 10, Init: "kmeans"}); !(ten.seconds > 5*one.seconds && ten.bytes > 5*one.bytes) {
		t.Errorf("one start %+v, ten %+v", one, ten)
	}
	for _, s := range family.Shapes() {
		few, many := of(40, 8, Spec{K: 2, Covariance: s.Mclust()}), of(40, 16, Spec{K: 2, Covariance: s.Mclust()})
		if !(many.seconds > few.seconds && many.bytes > few.bytes) {
			t.Errorf("%s: %+v for 8 columns, %+v for 16", s.Mclust(), few, many)
		}
	}
}

// A choice leaves out the candidates that are not affordable, names them, and is the choice among the others.
func TestAChoiceLeavesOutWhatIsNotAffordable(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	src := noise(30, 40, 6)
	for i := range src.N / 2 { // two groups far apart
		for j := range src.D {
			src.F64[i*src.D+j] += 8
		}
	}
	r, err := Fit(ctx, src, Spec{KRange: [2]int{2, 3}, Covariance: "VVE,EII,EVE"})
	if err != nil {
		t.Fatal(err)
	}
	if r.K != 2 || r.Mclust != "EII" {
		t.Errorf("k = %d, %s", r.K, r.Mclust)
	}
	if want := []string{"VVE", "EVE"}; !slices.Equal(r.Choice.TooLarge, want) {
		t.Errorf("too large: %q, wanted %q", r.Choice.TooLarge, want)
	}
	if len(r.Candidates) != 2 {
		t.Errorf("%d candidates, wanted EII with 2 and with 3", len(r.Candidates))
	}
	if _, err := Fit(ctx, src, Spec{KRange: [2]int{2, 3}, Covariance: "VVE,EVE"}); err == nil || !strings.Contains(err.Error(), "PCA") {
		t.Errorf("nothing is affordable: %v", err)
	}
}

// A shape that is affordable for few groups stays, and is named with the number from which on it is not.
func TestLargeCandidatesAreNamedByShapeAndNumber(t *testing.T) {
	t.Parallel()
	c := &choice{}
	for _, x := range []contender{
		{Candidate: model.Candidate{K: 1, Mclust: "EII"}}, {Candidate: model.Candidate{K: 1, Mclust: "VVV"}}, {Candidate: model.Candidate{K: 1, Mclust: "VVE"}, large: true},
		{Candidate: model.Candidate{K: 2, Mclust: "EII"}}, {Candidate: model.Candidate{K: 2, Mclust: "VVV"}, large: true}, {Candidate: model.Candidate{K: 2, Mclust: "VVE"}, large: true},
	} {
		c.all = append(c.all, &x)
	}
	for shape, want := range map[string]string{"EII": "", "VVV": "VVV from k = 2 on", "VVE": "VVE"} {
		if got := c.taken(shape); got != want {
			t.Errorf("%s: %q, wanted %q", shape, got, want)
		}
	}
}

// Numbers that nobody has a use for are refused before anything is read; ranges beyond the rows before anything is tried.
func TestHugeNumbersAreRefused(t *testing.T) {
	const huge = 1_000_000_000
	ctx, src := context.Background(), noise(50, 2, 8)
	for _, c := range []struct {
		spec  Spec
		field string
	}{
		{Spec{K: 2, NInit: huge}, "NInit"},
		{Spec{K: 2, NInit: MaxStarts + 1}, "NInit"},
		{Spec{K: 2, Bootstrap: huge}, "Bootstrap"},
		{Spec{K: 2, LRT: huge}, "LRT"},
		{Spec{K: 2, Threads: huge}, "Threads"},
		{Spec{K: huge}, "K"},
		{Spec{K: huge, Model: "kmeans"}, "K"},
		{Spec{KRange: [2]int{1, huge}}, "K"},
		{Spec{KRange: [2]int{1, 151}, Model: "kmeans"}, "K"},
		{Spec{KRange: [2]int{huge, 2 * huge}}, "K"},
		{Spec{K: 2, PCA: huge}, "PCA"},
	} {
		began := time.Now()
		_, err := Fit(ctx, src, c.spec)
		var wrong *SpecError
		if !errors.As(err, &wrong) || wrong.Field != c.field {
			t.Errorf("%+v: %v", c.spec, err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: it took %v to refuse", c.field, took)
		}
	}
	few := noise(20_000, 1, 9)
	if _, err := Fit(ctx, few, Spec{KRange: [2]int{1, 20_000}, Model: "kmeans"}); err == nil || !strings.Contains(err.Error(), "10000 candidates") {
		t.Errorf("a range of 20,000: %v", err)
	}
	for _, spec := range []Spec{ // large, and of no consequence
		{K: 2, MaxIter: new(huge)},
		{K: 2, Algorithm: "anti-annealing", BetaSteps: huge, MaxIter: new(30)},
		{K: 2, Model: "kmeans", Algorithm: "minibatch", BatchSize: huge, MaxIter: new(3)},
	} {
		if _, err := Fit(ctx, src, spec); err != nil {
			t.Errorf("%+v: %v", spec, err)
		}
	}
}

// Candidates each of which is affordable may be too many together: the choice is refused at once, with what would take less,
// unless that is allowed. Where the table has cells in plenty for each parameter, time is no reason.
func TestAChoiceThatTakesTooLongTogetherIsRefused(t *testing.T) {
	ctx, wide := context.Background(), noise(40, 40_000, 11)
	for _, c := range []struct {
		spec  Spec
		field string
		words []string
	}{
		{Spec{}, "K", []string{"34 candidates on 40,000 columns", "KRange 1:3", "PCA N", "AllowLong"}},
	} {
		began := time.Now()
		_, err := Fit(ctx, wide, c.spec)
		var wrong *SpecError
		if !errors.As(err, &wrong) || wrong.Field != c.field {
			t.Fatalf("%+v: %v", c.spec, err)
		}
		for _, word := range append(c.words, "on one core") {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%q is not in %q", word, err)
			}
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%+v: it took %v to refuse", c.spec, took)
		}
	}
	for _, c := range []*choice{{seconds: 2 * affordedSeconds, plan: plan.Plan{Spec: plan.Spec{AllowLong: true}}}, {seconds: affordedSeconds}} {
		if err := c.tooLong(); err != nil {
			t.Error(err)
		}
	}
}

// Seeds of many centres take as long as many steps, and moves of breathing k-means as long as further starts.
func TestEstimatesOfKMeansCountSeedsAndMoves(t *testing.T) {
	t.Parallel()
	ctx, src := context.Background(), noise(1000, 8, 12)
	of := func(spec Spec) float64 {
		spec.Model, spec.K, spec.NInit = "kmeans", 400, 1
		f, err := prepare(ctx, src, planOf(spec))
		if err != nil {
			t.Fatal(err)
		}
		return f.estimate().seconds
	}
	// Seven candidates a centre (2 + ln 400), 1000 rows, 400 centres, 8 columns.
	random, drawn := of(Spec{Algorithm: "lloyd", Init: "random"}), of(Spec{Algorithm: "lloyd", Init: "k-means++"})
	if want := perSeeded * 7 * 1000 * 400 * 8 / 1e9; math.Abs(drawn-random-want) > 1e-9*want {
		t.Errorf("seeds take %v s, wanted %v", drawn-random, want)
	}
	// All rows are points: as many rows again as a climb, and as two more.
	if got := of(Spec{Algorithm: "breathing", Init: "random"}); math.Abs(got-4*random) > 1e-9*got {
		t.Errorf("breathing takes %v s, Lloyd's algorithm alone %v", got, random)
	}
}

package plan

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/model"
)

func TestSpecsThatMakeSenseAreAccepted(t *testing.T) {
	t.Parallel()
	for _, s := range []Spec{
		{K: 1},
		{K: 3, Model: "hmm", Covariance: "vve", Algorithm: "anti-annealing", NInit: 4, Prior: &model.Prior{Transitions: new(2.0)}},
		{Model: "hmm", Emission: "t", Bootstrap: 5},
		{K: 3, Model: "gmm", Covariance: "vvv", Algorithm: "hard-em", Weights: "uniform", Init: "random", NInit: 3},
		{K: 3, Covariance: "tied-diag", RegCovar: 1e-6, TolLogLik: 1e-3, MaxIter: new(0), Seed: new(uint64(0))},
		{K: 2, Model: "kmeans", Algorithm: "lloyd", TolShift: 1e-4, Scale: "robust"},
		{K: 2, Model: "kmeans", Init: "centers", Centers: [][]float64{{1}, {2}}, NInit: 1},
	} {
		if _, err := New(s); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

func TestSpecsThatMakeNoSenseNameTheField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field string
		spec  Spec
	}{
		{"K", Spec{Model: "kmeans"}},
		{"K", Spec{K: -1}},
		{"Model", Spec{K: 2, Model: "lda"}},
		{"Emission", Spec{K: 2, Emission: "gmm"}},
		{"Emission", Spec{K: 2, Model: "hmm", Emission: "kmeans"}},
		{"Algorithm", Spec{K: 2, Model: "hmm", Algorithm: "hard-em"}},
		{"Algorithm", Spec{K: 2, Model: "hmm", Algorithm: "vb"}},
		{"Noise", Spec{K: 2, Model: "hmm", Noise: "auto"}},
		{"Weights", Spec{K: 2, Model: "hmm", Weights: "learned"}},
		{"Merge", Spec{K: 2, Model: "hmm", Merge: "overlap"}},
		{"KeepSums", Spec{K: 2, Model: "hmm", KeepSums: true}},
		{"LRT", Spec{K: 2, Model: "hmm", LRT: 99}},
		{"Criterion", Spec{KRange: [2]int{1, 3}, Model: "hmm", Criterion: "silhouette"}},
		{"Prior", Spec{K: 2, Prior: &model.Prior{Transitions: new(2.0)}}},
		{"Prior", Spec{K: 2, Model: "hmm", Prior: &model.Prior{Transitions: new(0.5)}}},
		{"Covariance", Spec{K: 2, Covariance: "round"}},
		{"Covariance", Spec{K: 2, Model: "kmeans", Covariance: "full"}},
		{"Algorithm", Spec{K: 2, Algorithm: "lloyd"}},
		{"Algorithm", Spec{K: 2, Model: "kmeans", Algorithm: "em"}},
		{"Weights", Spec{K: 2, Weights: "equal"}},
		{"Weights", Spec{K: 2, Model: "kmeans", Weights: "learned"}},
		{"Init", Spec{K: 2, Init: "best"}},
		{"Init", Spec{K: 2, Model: "kmeans", Init: "kmeans"}},
		{"Init", Spec{K: 2, Init: "labels"}},
		{"Init", Spec{K: 2, Init: "model"}},
		{"Init", Spec{K: 2, Init: "centers"}},
		{"Init", Spec{K: 2, Labels: []int32{0, 1}}},
		{"Init", Spec{K: 2, Init: "labels", Labels: []int32{0, 1}, Centers: [][]float64{{1}, {2}}}},
		{"NInit", Spec{K: 2, NInit: -1}},
		{"NInit", Spec{K: 2, Init: "labels", Labels: []int32{0, 1}, NInit: 2}},
		{"MaxIter", Spec{K: 2, MaxIter: new(-1)}},
		{"Tol", Spec{K: 2, Tol: new(-0.1)}},
		{"Tol", Spec{K: 2, Tol: new(math.NaN())}},
		{"TolLogLik", Spec{K: 2, TolLogLik: math.Inf(1)}},
		{"TolLogLik", Spec{K: 2, Model: "kmeans", TolLogLik: 1e-3}},
		{"TolShift", Spec{K: 2, TolShift: 1e-3}},
		{"TolShift", Spec{K: 2, Model: "kmeans", TolShift: -1}},
		{"RegCovar", Spec{K: 2, RegCovar: -1}},
		{"RegCovar", Spec{K: 2, Model: "kmeans", RegCovar: 1e-6}},
		{"Scale", Spec{K: 2, Scale: "unit"}},
		{"Threads", Spec{K: 2, Threads: -2}},
	} {
		var wrong *Error
		if _, err := New(c.spec); !errors.As(err, &wrong) || wrong.Field != c.field {
			t.Errorf("%+v: %v, want the field %s named", c.spec, err, c.field)
		}
	}
}

func TestNumberOfStarts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec Spec
		n    int64
		want int
	}{
		{Spec{K: 2}, 10_000, 5}, {Spec{K: 2}, 10_001, 3}, {Spec{K: 2, Algorithm: "em"}, 10_000, 10}, {Spec{K: 2, Init: "kmeans"}, 10_001, 3}, {Spec{K: 1}, 100, 1}, {Spec{K: 2, NInit: 7}, 100, 7}, {Spec{K: 2, Init: "labels"}, 100, 1},
		{Spec{Model: "kmeans", K: 4}, 1000, 2}, {Spec{Model: "kmeans", K: 3}, 1000, 1}, {Spec{Model: "kmeans", K: 4}, 1001, 1}, {Spec{Model: "kmeans", K: 1}, 100, 1},
		{Spec{Model: "kmeans", K: 2, Algorithm: "lloyd"}, 10_000, 10}, {Spec{Model: "kmeans", K: 2, MaxIter: new(5)}, 10_001, 3},
		{Spec{Model: "kmeans", K: 2, Algorithm: "minibatch"}, 10_001, 3}, {Spec{Model: "kmeans", K: 2, Init: "random", NInit: 7}, 100, 7}, {Spec{Model: "kmedians", K: 2}, 100, 10},
	} {
		p := c.spec.parse()
		if got := p.Starts(c.n); got != c.want {
			t.Errorf("%+v on %d rows: %d starts, want %d", c.spec, c.n, got, c.want)
		}
	}
}

// An error speaks of fields to who calls the library, and of flags to who types the command; what users have named is never changed.
func TestErrorsSpeakOfFieldsAndOfFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec          Spec
		fields, flags string
	}{
		{Spec{Model: "kmeans"}, "K is needed: the number of groups, such as K 3, or a range to choose from, such as KRange 2:9", "-k is needed: the number of groups, such as -k 3, or a range to choose from, such as -k 2:9"},
		{Spec{K: 2, NInit: -1}, "NInit is -1; it must be at least 1", "--n-init is -1; it must be at least 1"},
		{Spec{K: 2, Algorithm: "exact", Model: "kmeans", NInit: 1}, "Algorithm exact has neither starts nor steps: NInit and MaxIter do not apply", "--algorithm exact has neither starts nor steps: --n-init and --max-iter do not apply"},
		{Spec{K: 2, Init: "--model"}, `Init "--model" is not known; choose one of auto, k-means++, random, kmeans, whitened, small-em, mixed, labels, model, centers`, `--init "--model" is not known; choose one of auto, k-means++, random, kmeans, whitened, small-em, mixed, labels, model, centers`},
		{Spec{K: 2, Model: "kmedians", LRT: 9}, "LRT compares log-likelihoods, which kmedians does not have; use Criterion gap with KRange LO:HI, or Bootstrap", "--lrt compares log-likelihoods, which kmedians does not have; use --criterion gap with -k LO:HI, or --bootstrap"},
	} {
		var wrong *Error
		if _, err := New(c.spec); !errors.As(err, &wrong) || err.Error() != c.fields || wrong.Flags() != c.flags {
			t.Errorf("%+v: %v, want %s", c.spec, err, c.fields)
			if wrong != nil {
				t.Errorf("flags: %s, want %s", wrong.Flags(), c.flags)
			}
		}
	}
}

// Fields of a spec and what a Plan has in their place.
func TestDefaults(t *testing.T) {
	t.Parallel()
	p, err := New(Spec{K: 3})
	if err != nil || p.Kind.Name != "gmm" || p.Shape.String() != "full" || p.Seed != 1 || p.Tol != 0.01 || p.MaxIter != 1000 || p.Threads < 1 || p.Criterion != BIC || p.Scaled() || p.Uniform {
		t.Errorf("%+v, %v", p, err)
	}
	p, err = New(Spec{Model: "kmeans", Penalty: new(2.0), Seed: new(uint64(0)), Threads: 3})
	if err != nil || p.Seed != 0 || p.MaxIter != penaltySteps || p.Threads != 3 || p.Driver(2) != DPMeans || p.Start(2) != OverallMean {
		t.Errorf("%+v, %v", p, err)
	}
}

// A derived plan changes what it names, and nothing else.
func TestDerivedPlans(t *testing.T) {
	t.Parallel()
	p, err := New(Spec{KRange: [2]int{2, 4}, Covariance: "EEE, spherical", Criterion: "icl", Bootstrap: 5, Seed: new(uint64(7)), Tol: new(0.1), Columns: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	c := p.Candidate(3, family.Spherical)
	if c.K != 3 || c.Chooses() || c.Covariance != "spherical" || c.Shape != family.Spherical || c.Spec.Criterion != "" || c.Seed != 7 || c.Tol != 0.1 || !c.OneUnit {
		t.Errorf("%+v", c)
	}
	r := p.Replicate(2)
	if !r.Replica || r.Bootstrap != 0 || r.Threads != 2 || !r.Chooses() || r.Criterion != ICL {
		t.Errorf("%+v", r)
	}
	if b, err := c.JSON(); err != nil || string(b) != `{"k":3,"covariance":"spherical","tol":0.1,"seed":7,"bootstrap":5}` {
		t.Errorf("%s, %v", b, err)
	}
}

// What is tried unasked depends on rows and columns.
func TestShapesThatAreTried(t *testing.T) {
	t.Parallel()
	p := (Spec{}).parse()
	if names, left := p.Shapes(100, 1); !slices.Equal(names, []family.Shape{family.Full, family.Tied}) || left != nil {
		t.Errorf("one column: %v, left out %v", names, left)
	}
	mixed := (Spec{Model: "mixed", Types: []data.Type{data.Category, data.Number, data.Count}, Levels: [][]string{{"a", "b"}, nil, nil}}).parse()
	if names, left := mixed.Shapes(100, 3); !slices.Equal(names, []family.Shape{family.Full, family.Tied}) || left != nil {
		t.Errorf("one column of numbers beside others: %v, left out %v", names, left)
	}
	if _, left := p.Shapes(100, 9); !slices.Equal(left, []family.Shape{family.TiedVolumeAxes, family.TiedAxes}) {
		t.Errorf("nine columns: left out %v", left)
	}
	shapes, left := p.Shapes(2e6, 40)
	for _, shape := range shapes {
		if shape.Matrix() || shape.Parsimonious() {
			t.Errorf("%s is tried on 2,000,000 rows of 40 columns", shape)
		}
	}
	if len(shapes)+len(left) != len(family.Shapes()) {
		t.Errorf("%v, left out %v", shapes, left)
	}
	if p = (Spec{Covariance: "all"}).parse(); len(first(p.Shapes(2e6, 40))) != len(family.Shapes()) {
		t.Error("all are not all")
	}
}

func first[A, B any](a A, _ B) A { return a }

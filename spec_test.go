package latent

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"
)

func TestSpecsThatMakeSenseAreAccepted(t *testing.T) {
	t.Parallel()
	for _, s := range []Spec{
		{K: 1},
		{K: 3, Model: "gmm", Covariance: "vvv", Algorithm: "hard-em", Weights: "uniform", Init: "random", NInit: 3},
		{K: 3, Covariance: "tied-diag", RegCovar: 1e-6, TolLogLik: 1e-3, MaxIter: new(0), Seed: new(uint64(0))},
		{K: 2, Model: "kmeans", Algorithm: "lloyd", TolShift: 1e-4, Scale: "robust"},
		{K: 2, Model: "kmeans", Init: "centers", Centers: [][]float64{{1}, {2}}, NInit: 1},
	} {
		if err := s.Validate(); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

func TestSpecsThatMakeNoSenseNameTheFlag(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field string
		spec  Spec
	}{
		{"k", Spec{Model: "kmeans"}},
		{"k", Spec{K: -1}},
		{"model", Spec{K: 2, Model: "hmm"}},
		{"covariance", Spec{K: 2, Covariance: "round"}},
		{"covariance", Spec{K: 2, Model: "kmeans", Covariance: "full"}},
		{"algorithm", Spec{K: 2, Algorithm: "lloyd"}},
		{"algorithm", Spec{K: 2, Model: "kmeans", Algorithm: "em"}},
		{"weights", Spec{K: 2, Weights: "equal"}},
		{"weights", Spec{K: 2, Model: "kmeans", Weights: "learned"}},
		{"init", Spec{K: 2, Init: "best"}},
		{"init", Spec{K: 2, Model: "kmeans", Init: "kmeans"}},
		{"init", Spec{K: 2, Init: "labels"}},
		{"init", Spec{K: 2, Init: "model"}},
		{"init", Spec{K: 2, Init: "centers"}},
		{"init", Spec{K: 2, Labels: []int32{0, 1}}},
		{"init", Spec{K: 2, Init: "labels", Labels: []int32{0, 1}, Centers: [][]float64{{1}, {2}}}},
		{"n-init", Spec{K: 2, NInit: -1}},
		{"n-init", Spec{K: 2, Init: "labels", Labels: []int32{0, 1}, NInit: 2}},
		{"max-iter", Spec{K: 2, MaxIter: new(-1)}},
		{"tol", Spec{K: 2, Tol: new(-0.1)}},
		{"tol", Spec{K: 2, Tol: new(math.NaN())}},
		{"tol-loglik", Spec{K: 2, TolLogLik: math.Inf(1)}},
		{"tol-loglik", Spec{K: 2, Model: "kmeans", TolLogLik: 1e-3}},
		{"tol-shift", Spec{K: 2, TolShift: 1e-3}},
		{"tol-shift", Spec{K: 2, Model: "kmeans", TolShift: -1}},
		{"reg-covar", Spec{K: 2, RegCovar: -1}},
		{"reg-covar", Spec{K: 2, Model: "kmeans", RegCovar: 1e-6}},
		{"scale", Spec{K: 2, Scale: "unit"}},
		{"threads", Spec{K: 2, Threads: -2}},
	} {
		var bad *SpecError
		if err := c.spec.Validate(); !errors.As(err, &bad) || bad.Field != c.field {
			t.Errorf("%+v: %v, want the flag --%s named", c.spec, err, c.field)
		}
	}
}

func TestSpecTravelsAsJSON(t *testing.T) {
	t.Parallel()
	want := Spec{K: 3, Covariance: "diag", Algorithm: "em", Weights: "uniform", Init: "random", NInit: 4, MaxIter: new(0), Tol: new(0.0),
		TolLogLik: 0.5, Seed: new(uint64(0)), RegCovar: 1e-6, Scale: "standard", Threads: 2, Columns: []string{"a"}}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Spec
	if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s came back as %+v (%v)", b, got, err)
	}
	if b, err := json.Marshal(Spec{K: 3}); err != nil || string(b) != `{"k":3}` {
		t.Errorf("defaults are written: %s (%v)", b, err)
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
		if got := c.spec.starts(c.n); got != c.want {
			t.Errorf("%+v on %d rows: %d starts, want %d", c.spec, c.n, got, c.want)
		}
	}
}

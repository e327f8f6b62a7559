package latent

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/latent-go/latent/internal/plan"
)

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

// The two have the same fields, so that one converts to the other; their JSON is the same too.
func TestSpecIsThatOfThePlan(t *testing.T) {
	t.Parallel()
	a, b := reflect.TypeFor[Spec](), reflect.TypeFor[plan.Spec]()
	for i := range a.NumField() {
		if x, y := a.Field(i), b.Field(i); x.Name != y.Name || x.Tag != y.Tag {
			t.Errorf("%s %s and %s %s", x.Name, x.Tag, y.Name, y.Tag)
		}
	}
}

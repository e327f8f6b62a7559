package latent

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/model"
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

// A model file holds every field of a spec that has a key: one that is new must be known to the reader of files.
func TestAModelFileTakesEveryFieldOfASpec(t *testing.T) {
	t.Parallel()
	var spec Spec
	v := reflect.ValueOf(&spec).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString("a")
		case reflect.Int:
			f.SetInt(3)
		case reflect.Float64:
			f.SetFloat(0.5)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Pointer:
			if f.Type() != reflect.TypeFor[*model.Model]() {
				f.Set(reflect.New(f.Type().Elem()))
			}
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Array:
			f.Index(1).SetInt(4)
		default:
			t.Fatalf("%s: no value for a %s", v.Type().Field(i).Name, f.Type())
		}
	}
	b, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	m := &model.Model{Kind: "kmeans", Columns: []string{"x"}, Means: [][]float64{{1}}, Sizes: []float64{1}, Spec: b}
	file, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(file, new(model.Model)); err != nil {
		t.Errorf("%s is refused: %v", b, err)
	}
	var keys map[string]any
	if err := json.Unmarshal(b, &keys); err != nil || len(keys) < 27 {
		t.Errorf("only %d keys are tried: %v", len(keys), err)
	}
}

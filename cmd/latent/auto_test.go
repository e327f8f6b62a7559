package main

import (
	"errors"
	"reflect"
	"testing"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
)

func TestTypesAreParsed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		list []string
		want []data.TypeOf
	}{
		{[]string{"a=number"}, []data.TypeOf{{Column: "a", Type: data.Number}}},
		{[]string{"a=number, b = count", "c=category"}, []data.TypeOf{{Column: "a", Type: data.Number}, {Column: "b", Type: data.Count}, {Column: "c", Type: data.Category}}},
		{[]string{"a=b=count"}, []data.TypeOf{{Column: "a=b", Type: data.Count}}},
		{[]string{`"a, b=count",c=number`}, []data.TypeOf{{Column: "a, b", Type: data.Count}, {Column: "c", Type: data.Number}}},
		{[]string{`5" disk=count`}, []data.TypeOf{{Column: `5" disk`, Type: data.Count}}},
	} {
		got, err := parseTypes(c.list)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %v, %v, want %v", c.list, got, err, c.want)
		}
	}
	for _, bad := range []string{"", ",", "a", "a=", "=count", "a=Number", "a=count,b", "a=count,"} {
		_, err := parseTypes([]string{bad})
		var usage usageError
		if !errors.As(err, &usage) {
			t.Errorf("%q: %v, want a usage error", bad, err)
		}
	}
}

// The kind of model for what columns hold. Where they are alike it is the one for all of them.
func TestColumnsDecideTheKind(t *testing.T) {
	t.Parallel()
	bit, text := []string{"0", "1"}, []string{"no", "yes"}
	for _, c := range []struct {
		types  []data.Type
		levels [][]string
		want   *kind.Kind
	}{
		{[]data.Type{data.Number, data.Number}, [][]string{nil, nil}, kind.Gaussian},
		{[]data.Type{data.Category, data.Category}, [][]string{bit, bit}, kind.Bernoulli},
		{[]data.Type{data.Category, data.Category}, [][]string{bit, text}, kind.Categorical},
		{[]data.Type{data.Category}, [][]string{{"0"}}, kind.Categorical}, // one value: its index is no bit
		{[]data.Type{data.Category}, [][]string{{"1"}}, kind.Categorical},
		{[]data.Type{data.Category, data.Number}, [][]string{bit, nil}, kind.Mixed},
		{[]data.Type{data.Number, data.Count}, [][]string{nil, nil}, kind.Mixed},
		{[]data.Type{data.Count}, [][]string{nil}, kind.Mixed},
	} {
		info := &data.Info{Types: c.types, Levels: c.levels, Features: make([]string, len(c.types))}
		if got := (&reading{}).kindFor(info); got != c.want {
			t.Errorf("%v %q: %s, want %s", c.types, c.levels, got.Name, c.want.Name)
		}
		if got := (&reading{kind: kind.KMeans}).kindFor(info); got != kind.KMeans {
			t.Errorf("%v: %s where kmeans was asked for", c.types, got.Name)
		}
	}
}

// The spec holds types and levels of the kinds that have such, and nothing else.
func TestSpecsHoldWhatTheirKindTakes(t *testing.T) {
	t.Parallel()
	numbers := &data.Info{Features: []string{"x"}, Types: []data.Type{data.Number}, Levels: [][]string{nil}}
	bits := &data.Info{Features: []string{"x"}, Types: []data.Type{data.Category}, Levels: [][]string{{"0", "1"}}}
	levels := &data.Info{Features: []string{"x"}, Types: []data.Type{data.Category}, Levels: [][]string{{"a", "b"}}}
	for _, c := range []struct {
		how           reading
		info          *data.Info
		model         string
		types, levels bool
	}{
		{reading{}, numbers, "gmm", false, false},
		{reading{}, bits, "bernoulli", false, false},
		{reading{}, levels, "categorical", false, true},
		{reading{kind: kind.Mixed}, numbers, "mixed", true, true},
	} {
		var spec latent.Spec
		if err := c.how.settle(&spec, c.info); err != nil {
			t.Fatal(err)
		}
		if spec.Model != c.model || (spec.Types != nil) != c.types || (spec.Levels != nil) != c.levels || !reflect.DeepEqual(spec.Columns, c.info.Features) {
			t.Errorf("%+v: model %s, types %v, levels %v, columns %v", c, spec.Model, spec.Types, spec.Levels, spec.Columns)
		}
		if err := (&spec).Validate(); err != nil {
			t.Errorf("%s: %v", c.model, err)
		}
	}
}

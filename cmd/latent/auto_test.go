package main

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

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
		{reading{}, numbers, "", false, false}, // as where nobody names a model
		{reading{}, bits, "bernoulli", false, false},
		{reading{}, levels, "categorical", false, true},
		{reading{kind: kind.Mixed}, numbers, "mixed", true, true},
	} {
		in := &input{info: c.info}
		if err := c.how.settle(in); err != nil {
			t.Fatal(err)
		}
		spec := in.spec
		if spec.Model != c.model || (spec.Types != nil) != c.types || (spec.Levels != nil) != c.levels || !reflect.DeepEqual(spec.Columns, c.info.Features) {
			t.Errorf("%+v: model %s, types %v, levels %v, columns %v", c, spec.Model, spec.Types, spec.Levels, spec.Columns)
		}
		if err := (&spec).Validate(); err != nil {
			t.Errorf("%s: %v", c.model, err)
		}
	}
}

// Rows whose levels are told as numbers: a table, and the same rows read in every pass, in small parts and by two readers at once.
func TestLevelsAreToldAsNumbers(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	levels, want := []float64{1, 7, 0, 8, nan, 9, 2, nan}, []float64{20, 7, 10, 8, nan, 9, 30, nan}
	values := [][]float64{{10, 20, 30}, nil}
	same := func(a, b float64) bool { return a == b || a != a && b != b }
	table := &data.Table{N: 4, D: 2, F64: slices.Clone(levels)}
	stream := numbered(struct{ data.Source }{&data.Table{N: 4, D: 2, F64: levels}}, values)
	if got := numbered(table, values).(*data.Table); !slices.EqualFunc(got.F64, want, same) {
		t.Errorf("a table: %v, want %v", got.F64, want)
	}
	var readers [2]data.Reader
	for i := range readers {
		var err error
		if readers[i], err = stream.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range readers {
		var got []float64
		var b data.Block
		for r.Read(&b, 3) == nil {
			got = append(got, b.F64...)
		}
		if !slices.EqualFunc(got, want, same) {
			t.Errorf("a stream: %v, want %v", got, want)
		}
	}
	if !slices.EqualFunc(levels, []float64{1, 7, 0, 8, nan, 9, 2, nan}, same) {
		t.Errorf("the rows of a stream were changed: %v", levels)
	}
	for _, c := range []struct {
		levels []string
		want   []float64
	}{{[]string{"-1", "2.5"}, []float64{-1, 2.5}}, {[]string{"1", "x"}, nil}, {[]string{"inf"}, nil}} {
		if got := numbersOf(c.levels); !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.levels, got, c.want)
		}
	}
}

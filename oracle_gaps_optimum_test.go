package latent

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
)

// One Gaussian with gaps: closed forms where patterns are monotone, EM in R elsewhere.
func TestOneGaussianWithGaps(t *testing.T) {
	t.Parallel()
	var ref struct {
		Fits []struct {
			Name       string
			Data       typedTable
			N          int
			Cells      int64 `json:"missing_cells"`
			Patterns   int64
			Free       int     `json:"free_parameters"`
			LogLik     float64 `json:"log_likelihood"`
			BIC        float64
			Mean       []float64
			Covariance [][]float64
		}
	}
	readReference(t, "missing/one-gaussian.json", &ref)
	if len(ref.Fits) != 3 {
		t.Fatalf("%d fits, want 3", len(ref.Fits))
	}
	for _, want := range ref.Fits {
		spec := want.Data.spec(1, "full")
		spec.Tol = new(1e-4)
		r := mustFit(t, want.Data.table(t, nil), spec)
		fixtures.Within(t, want.Name+": log-likelihood", *r.LogLik, want.LogLik, 1e-9*math.Abs(want.LogLik))
		fixtures.Within(t, want.Name+": BIC", *r.BIC, want.BIC, 1e-8*math.Abs(want.BIC))
		if r.FreeParameters != want.Free || r.Missing.Cells != want.Cells || r.Missing.Patterns != want.Patterns || r.Rows != int64(want.N) {
			t.Errorf("%s: %d parameters, %+v, %d rows; want %d, %d cells in %d patterns, %d", want.Name, r.FreeParameters, r.Missing, r.Rows, want.Free, want.Cells, want.Patterns, want.N)
		}
		d := len(want.Mean)
		cov := r.Model.Covariance[0]
		for j := range d {
			sd := math.Sqrt(want.Covariance[j][j])
			fixtures.Within(t, want.Name+": mean", r.Model.Means[0][j], want.Mean[j], 1e-4*sd)
			for l := range d {
				fixtures.Within(t, want.Name+": covariance", cov[j*d+l], want.Covariance[j][l], 1e-3*sd*math.Sqrt(want.Covariance[l][l]))
			}
		}
	}
}

// best is a fit of the files of best optima known.
type best struct {
	Table, Covariance string
	K                 int
	LogLik            float64  `json:"log_likelihood"`
	Free              int      `json:"free_parameters"`
	Smallest          *float64 `json:"smallest_eigenvalue"`
}

// reaches fits a table and holds the result against the best optimum known.
func (b *best) reaches(t *testing.T, src data.Source, spec Spec) {
	t.Helper()
	r, err := Fit(context.Background(), src, spec)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Converged || !(*r.LogLik >= b.LogLik-1e-6*math.Abs(b.LogLik)) || r.FreeParameters != b.Free {
		t.Errorf("converged %v, log-likelihood %v with %d parameters; the best known is %v with %d", r.Converged, *r.LogLik, r.FreeParameters, b.LogLik, b.Free)
	}
}

func TestBestOptimaWithGaps(t *testing.T) {
	t.Parallel()
	var ref struct {
		Tables map[string]json.RawMessage
		Fits   []best
	}
	readReference(t, "missing/optimum.json", &ref)
	tried := 0
	for _, want := range ref.Fits {
		if *want.Smallest < 2.5e-3 { // the likelihood of almost degenerate components is an accident of few rows
			continue
		}
		var of typedTable
		if err := json.Unmarshal(ref.Tables[want.Table], &of); err != nil {
			t.Fatal(err)
		}
		tried++
		t.Run(fmt.Sprintf("%s/%s/%d", want.Table, want.Covariance, want.K), func(t *testing.T) {
			want.reaches(t, of.table(t, nil), of.spec(want.K, want.Covariance))
		})
	}
	if tried != 40 {
		t.Errorf("%d optima, want 40", tried)
	}
}

func TestBestOptimaOfMixedColumns(t *testing.T) {
	t.Parallel()
	var ref struct {
		Tables map[string]json.RawMessage
		Fits   []best
	}
	readReference(t, "mixed/optimum.json", &ref)
	tried := 0
	for _, want := range ref.Fits {
		src, spec := mixedTable(t, ref.Tables[want.Table])
		if src == nil {
			continue // titanic and churn, whose files are not here
		}
		spec.K, spec.Covariance = want.K, want.Covariance
		tried++
		t.Run(fmt.Sprintf("%s/%s/%d", want.Table, want.Covariance, want.K), func(t *testing.T) {
			want.reaches(t, src, spec)
		})
	}
	if tried != 31 {
		t.Errorf("%d optima, want 31", tried)
	}
}

// mixedTable reads a table of the file of mixed optima: of the file of steps that it names, or of a built-in set, by the types of the columns; it
// is nil where the set is not built in.
func mixedTable(t *testing.T, description []byte) (data.Source, Spec) {
	t.Helper()
	var file string
	if json.Unmarshal(description, &file) == nil {
		var of steps
		readReference(t, "mixed/"+file, &of)
		return of.Data.table(t, nil), of.Data.spec(1, "")
	}
	var columns struct {
		File             string
		Number, Category []string
	}
	if err := json.Unmarshal(description, &columns); err != nil {
		t.Fatal(err)
	}
	if columns.File != "data/penguins.csv" {
		return nil, Spec{}
	}
	o := data.Options{Mixed: true, Missing: "model", Columns: slices.Concat(columns.Number, columns.Category)}
	for _, name := range columns.Number {
		o.Types = append(o.Types, data.TypeOf{Column: name, Type: data.Number})
	}
	for _, name := range columns.Category {
		o.Types = append(o.Types, data.TypeOf{Column: name, Type: data.Category})
	}
	table, info, err := data.Load(context.Background(), "data/datasets/penguins.csv", o)
	if err != nil {
		t.Fatal(err)
	}
	return table, Spec{Model: "mixed", Columns: info.Features, Types: info.Types, Levels: info.Levels}
}

// Standard errors by outer products of the rows' gradients, and where they come from: natural parameters in the order of the file.
func TestStandardErrorsWithGaps(t *testing.T) {
	t.Parallel()
	var ref struct {
		Data   typedTable
		LogLik float64 `json:"log_likelihood"`
		Errors struct {
			Outer []float64 `json:"outer_products"`
		} `json:"standard_errors"`
	}
	readReference(t, "missing/standard-errors.json", &ref)
	spec := ref.Data.spec(2, "full")
	spec.Tol = new(1e-5)
	r := mustFit(t, ref.Data.table(t, nil), spec)
	fixtures.Within(t, "log-likelihood", *r.LogLik, ref.LogLik, 1e-10*math.Abs(ref.LogLik))
	e := r.StandardErrors
	got := []float64{e.Weights[0]}
	got = append(got, slices.Concat([]float64(e.Means[0]), []float64(e.Means[1]))...)
	for _, c := range e.Covariance {
		got = append(got, c[0], c[2], c[3])
	}
	if len(got) != len(ref.Errors.Outer) {
		t.Fatalf("%d errors, want %d", len(got), len(ref.Errors.Outer))
	}
	for i, want := range ref.Errors.Outer {
		fixtures.Within(t, fmt.Sprintf("standard error %d", i), got[i], want, 1e-3*want)
	}
}

// K-means over the cells that are there: the best of all partitions of a few rows, and where Lloyd's algorithm ends from a given start.
func TestKMeansWithGaps(t *testing.T) {
	t.Parallel()
	type fit struct {
		K       int
		Inertia float64
		Centres [][]float64
	}
	var ref struct {
		Small struct {
			Data typedTable
			Fits []fit
		}
		Fits  []fit
		Start struct {
			Start   [][]float64
			Inertia float64
		} `json:"from_a_start"`
	}
	readReference(t, "missing/kmeans.json", &ref)
	var tables struct{ Tables map[string]json.RawMessage }
	readReference(t, "missing/optimum.json", &tables)
	var iris typedTable
	if err := json.Unmarshal(tables.Tables["iris-holes"], &iris); err != nil {
		t.Fatal(err)
	}
	kmeans := func(of *typedTable, spec Spec) float64 {
		spec.Model, spec.Missing, spec.Columns = "kmeans", "model", of.Columns
		return *mustFit(t, of.table(t, nil), spec).Inertia
	}
	for _, want := range ref.Small.Fits {
		fixtures.Within(t, fmt.Sprintf("inertia of %d centres", want.K), kmeans(&ref.Small.Data, Spec{K: want.K}), want.Inertia, 1e-9*want.Inertia)
	}
	for _, want := range ref.Fits {
		if got := kmeans(&iris, Spec{K: want.K}); !(got <= want.Inertia*(1+1e-9)) {
			t.Errorf("iris, k = %d: inertia %v, the best known is %v", want.K, got, want.Inertia)
		}
	}
	got := kmeans(&iris, Spec{K: len(ref.Start.Start), Algorithm: "lloyd", Init: "centers", Centers: ref.Start.Start})
	fixtures.Within(t, "inertia from a start", got, ref.Start.Inertia, 1e-12*ref.Start.Inertia)
}

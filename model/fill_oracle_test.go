package model

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
)

// oracleFile reads a file of testdata/oracle.
func oracleFile(t *testing.T, name string, into any) {
	t.Helper()
	b, err := os.ReadFile("../testdata/oracle/" + name)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func parsed(t *testing.T, file []byte) *Model {
	t.Helper()
	m := new(Model)
	if err := m.UnmarshalJSON(file); err != nil {
		t.Fatal(err)
	}
	return m
}

// cellsOf returns a row of JSON as the model takes it: null is NaN, a level its index.
func cellsOf(t *testing.T, m *Model, row []any) []float64 {
	t.Helper()
	x := make([]float64, len(row))
	for j, v := range row {
		switch v := v.(type) {
		case nil:
			x[j] = math.NaN()
		case float64:
			x[j] = v
		case string:
			l := slices.Index(m.Levels[j], v)
			if l < 0 {
				t.Fatalf("level %q", v)
			}
			x[j] = float64(l)
		}
	}
	return x
}

func close(got, want, relative, absolute float64) bool {
	return math.Abs(got-want) <= relative*math.Abs(want)+absolute
}

// Labels, responsibilities, log densities and filled cells of a model of numbers, categories and counts are those of 50 digits.
func TestFillingMatchesTheOracleOfMixedColumns(t *testing.T) {
	var o struct {
		Model json.RawMessage
		Rows  []struct {
			Row, Filled      []any
			LogDensity       float64 `json:"log_density"`
			Label            int32
			Responsibilities []float64
		}
	}
	oracleFile(t, "mixed/labels.json", &o)
	m := parsed(t, o.Model)
	scorer, err := m.Scorer()
	if err != nil {
		t.Fatal(err)
	}
	filler, err := m.Filler()
	if err != nil {
		t.Fatal(err)
	}
	filled := 0
	for i, e := range o.Rows {
		row := cellsOf(t, m, e.Row)
		s, err := scorer.Score(row)
		if err != nil {
			t.Fatal(err)
		}
		if s.Label[0] != e.Label-1 || !close(s.LogDensity[0], e.LogDensity, 1e-11, 1e-11) {
			t.Errorf("row %d: label %d, log density %v; want %d, %v", i+1, s.Label[0], s.LogDensity[0], e.Label-1, e.LogDensity)
		}
		for c, r := range e.Responsibilities {
			if !close(s.Responsibilities[c], r, 1e-10, 1e-12) {
				t.Errorf("row %d: responsibilities %v, want %v", i+1, s.Responsibilities, e.Responsibilities)
			}
		}
		got := slices.Clone(row)
		if err := filler.FillRow(got); err != nil {
			t.Fatal(err)
		}
		for j, want := range cellsOf(t, m, e.Filled) {
			if row[j] == row[j] && got[j] != row[j] {
				t.Errorf("row %d: a cell that was there, %v, became %v", i+1, row[j], got[j])
			}
			if !close(got[j], want, 1e-10, 1e-12) {
				t.Errorf("row %d, column %d: %v, want %v", i+1, j+1, got[j], want)
			}
			if row[j] != row[j] {
				filled++
			}
		}
	}
	if len(o.Rows) != 10 || filled != 25 {
		t.Errorf("%d rows, %d cells filled", len(o.Rows), filled)
	}
}

// densityOracle is missing/density.json.
type densityOracle struct {
	Cases []struct {
		Name, Covariance string
		Model            struct {
			Weights     []float64     `json:"weights"`
			Means       [][]float64   `json:"means"`
			Covariances [][][]float64 `json:"covariances"`
		}
		Rows []struct {
			Row              []any
			LogDensity       float64 `json:"log_density"`
			Responsibilities []float64
			Filled           []float64
			SD               []any `json:"standard_deviation"`
		}
	}
}

// The mean and the standard deviation of missing numbers are those of 80 digits: with every pattern, with columns of correlation
// 1 - 1e-9, where all densities underflow, and far from 0.
func TestFillingMatchesTheOracleOfNumbers(t *testing.T) {
	var o densityOracle
	oracleFile(t, "missing/density.json", &o)
	cells := 0
	for _, c := range o.Cases {
		file, err := json.Marshal(map[string]any{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "full", "columns": []string{"a", "b", "d"},
			"weights": c.Model.Weights, "means": c.Model.Means, "covariances": c.Model.Covariances})
		if err != nil {
			t.Fatal(err)
		}
		m := parsed(t, file)
		filler, err := m.Filler()
		if err != nil {
			t.Fatal(err)
		}
		tol := map[string]float64{"nearly-equal-columns": 1e-8}[c.Name]
		tol = max(tol, 1e-10)
		for i, e := range c.Rows {
			row := cellsOf(t, m, e.Row)
			got := slices.Clone(row)
			if err := filler.FillRow(got); err != nil {
				t.Fatal(err)
			}
			s, err := filler.scored(row)
			if err != nil {
				t.Fatal(err)
			}
			for j, want := range e.Filled {
				if !close(got[j], want, tol, tol) {
					t.Errorf("%s, row %d, column %d: %v, want %v", c.Name, i+1, j+1, got[j], want)
				}
				if sd, missing := e.SD[j].(float64); missing {
					cells++
					if v := spread(t, filler, row, s.Responsibilities, j, got[j]); !close(v, sd, max(tol, 1e-8), 0) {
						t.Errorf("%s, row %d, column %d: standard deviation %v, want %v", c.Name, i+1, j+1, v, sd)
					}
				}
			}
		}
	}
	if len(o.Cases) != 4 || cells != 29 {
		t.Errorf("%d cases, %d cells", len(o.Cases), cells)
	}
}

// spread returns the standard deviation of what is drawn for column j of a row, whose mean is mean: between the components, and within by
// the roots that draws are made of.
func spread(t *testing.T, f *Filler, row, r []float64, j int, mean float64) float64 {
	t.Helper()
	n := f.parts[0].(*normals)
	p, err := n.of(row)
	if err != nil {
		t.Fatal(err)
	}
	a, sum := slices.Index(p.missing, j), 0.0
	for c, rc := range r {
		own := p.regressionOf(c)
		n.deviate(p, row, c)
		off := n.mean(p, own, a, c) - mean
		sum += rc * off * off
		for _, v := range own.root[a*len(p.missing) : (a+1)*len(p.missing)] {
			sum += rc * v * v
		}
	}
	return math.Sqrt(sum)
}

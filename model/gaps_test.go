package model

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// without returns the model of all columns but j: its margin.
func (m *Model) without(j int) *Model {
	var at []int
	for i := range m.D() {
		if i != j {
			at = append(at, i)
		}
	}
	own := *m
	own.Columns = nil
	for _, i := range at {
		own.Columns = append(own.Columns, m.Columns[i])
	}
	own.Transform = slices.Clone(m.Transform)
	for i := range own.Transform {
		own.Transform[i].arrange(at)
	}
	own.Means, own.Covariance = eachPicked(m.Means, at), nil
	for _, cov := range m.Covariance {
		switch d := m.D(); len(cov) {
		case 1:
		case d:
			cov = picked(cov, at)
		default:
			var some []float64
			for _, i := range at {
				some = append(some, picked(cov[i*d:i*d+d], at)...)
			}
			cov = some
		}
		own.Covariance = append(own.Covariance, cov)
	}
	return &own
}

// By model files of any age, the log density and the responsibilities of a row with a gap are those of the model without the column.
func TestARowWithAGapIsThatOfTheMargin(t *testing.T) {
	files, _ := filepath.Glob("../testdata/model/gmm-*.json")
	tried := 0
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m := parsed(t, b)
		if m.PCA() != nil || m.D() < 2 {
			continue
		}
		whole, err := m.Scorer()
		if err != nil {
			t.Fatal(err)
		}
		rows, _, err := m.Sample(20, 3)
		if err != nil {
			t.Fatal(err)
		}
		for j := range m.D() {
			margin, err := m.without(j).Scorer()
			if err != nil {
				t.Fatal(name, err)
			}
			for i := range rows.N {
				row := slices.Clone(rows.F64[i*rows.D : (i+1)*rows.D])
				row[j] = nan
				got, err := whole.Score(row)
				if err != nil {
					t.Fatal(err)
				}
				want, err := margin.Score(slices.Delete(row, j, j+1))
				if err != nil {
					t.Fatal(err)
				}
				tried++
				if !close(got.LogDensity[0], want.LogDensity[0], 1e-10, 1e-10) || math.Abs(got.Responsibilities[0]-want.Responsibilities[0]) > 1e-10 {
					t.Errorf("%s, column %d, row %d: log density %v, responsibilities %v; want %v, %v", filepath.Base(name), j+1, i+1, got.LogDensity[0], got.Responsibilities, want.LogDensity[0], want.Responsibilities)
				}
			}
		}
	}
	if tried < 200 {
		t.Errorf("%d rows", tried)
	}
}

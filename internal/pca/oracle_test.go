package pca

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/sweep"
)

// stored is one case of numpy's, made by make_pca.py.
type stored struct {
	Name, Set      string
	Rows           [][]float64
	Weights        []float64
	N              int
	Mean, Variance []float64
	Total          float64
	Axes           [][]float64
}

func (s *stored) source(t *testing.T) data.Source {
	t.Helper()
	if s.Set == "" {
		table := &data.Table{N: len(s.Rows), D: len(s.Mean), W: s.Weights}
		for _, row := range s.Rows {
			table.F64 = append(table.F64, row...)
		}
		return table
	}
	src, _, err := data.Load(context.Background(), s.Set, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func oracle(t *testing.T) []stored {
	t.Helper()
	b, err := os.ReadFile("../../testdata/oracle/pca/pca.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []stored }
	if err := json.Unmarshal(b, &file); err != nil || len(file.Cases) != 3 {
		t.Fatalf("%d cases, %v", len(file.Cases), err)
	}
	return file.Cases
}

// Exact components are numpy's singular vectors, near the origin and far from it, rows weighted or not. An axis is
// compared to 1e-10 over its relative gap to the next, below which no method can tell it.
func TestExactComponentsAreNumpys(t *testing.T) {
	for _, s := range oracle(t) {
		c := find(t, s.source(t), s.N, 2)
		s.compare(t, c, 1e-12, 1e-10)
		if c.Passes != 1 || c.Residual != 0 {
			t.Errorf("%s: %d passes, residual %v", s.Name, c.Passes, c.Residual)
		}
	}
}

// The iteration ends at the same components: variances within its tolerance, and axes by their gaps.
func TestIteratedComponentsAreNumpys(t *testing.T) {
	for _, s := range oracle(t) {
		c := iterated(t, s.source(t), s.N, MaxPasses)
		s.compare(t, c, Tolerance, Tolerance)
		if c.Residual > Tolerance || c.Passes > 30 {
			t.Errorf("%s: residual %v after %d passes", s.Name, c.Residual, c.Passes)
		}
	}
}

// compare wants variances within a share of the largest, axes within angle over their relative gap.
func (s *stored) compare(t *testing.T, c *Components, share, angle float64) {
	t.Helper()
	if len(c.Axes) != s.N {
		t.Fatalf("%s: %d axes", s.Name, len(c.Axes))
	}
	for j, m := range s.Mean {
		if math.Abs(c.Mean[j]-m) > 4e-16*math.Abs(m)+1e-14 {
			t.Errorf("%s: mean %d is %v, numpy has %v", s.Name, j, c.Mean[j], m)
		}
	}
	if math.Abs(c.Total-s.Total) > 1e-13*s.Total {
		t.Errorf("%s: the total is %v, numpy has %v", s.Name, c.Total, s.Total)
	}
	compared := 0
	for j, v := range s.Variance {
		if math.Abs(c.Variance[j]-v) > share*s.Variance[0] {
			t.Errorf("%s: variance %d is %v, numpy has %v", s.Name, j, c.Variance[j], v)
		}
		gap := math.Inf(1)
		if j > 0 {
			gap = s.Variance[j-1] - v
		}
		if j+1 < s.N {
			gap = min(gap, v-s.Variance[j+1])
		} else if s.N < len(s.Mean) {
			continue // the next is not stored
		}
		compared++
		for i, a := range s.Axes[j] {
			if math.Abs(c.Axes[j][i]-a) > angle*v/gap+angle/100 {
				t.Errorf("%s: axis %d has %v at %d, numpy has %v", s.Name, j, c.Axes[j][i], i, a)
			}
		}
	}
	if compared < 3 {
		t.Errorf("%s: %d axes were compared", s.Name, compared)
	}
}

func look(t *testing.T, src data.Source) *sweep.Survey {
	t.Helper()
	s, err := sweep.Look(context.Background(), src, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func find(t *testing.T, src data.Source, n, threads int) *Components {
	t.Helper()
	c, err := Find(context.Background(), src, look(t, src), n, threads)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// iterated finds components by the iteration, however few the columns.
func iterated(t *testing.T, src data.Source, n, passes int) *Components {
	t.Helper()
	s := look(t, src)
	c := &Components{Mean: s.Mean}
	for _, v := range s.Var {
		c.Total += v
	}
	if err := c.iterate(context.Background(), &rows{src: src, mean: s.Mean, look: s, total: c.Total, threads: 2}, n, passes); err != nil {
		t.Fatal(err)
	}
	return c
}

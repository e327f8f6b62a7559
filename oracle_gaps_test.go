package latent

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/model"
)

// typedTable is a table of the folders missing and mixed: a missing cell is null, a category its text.
type typedTable struct {
	Columns []string
	Types   []data.Type
	Levels  [][]string // of the categories
	Rows    [][]any
}

// steps is a file of steps of EM there.
type steps struct {
	Data       typedTable
	RowWeights []float64 `json:"row_weights"`
	Cases      []struct {
		Name       string
		Covariance string
		K          int
		Free       int `json:"free_parameters"`
		Start      stepParameters
		LogLik     []float64 `json:"log_likelihood"`
		After      []struct {
			stepParameters
			Steps int
		}
	}
}

type stepParameters struct {
	parameters
	Probabilities [][][]float64
	Rates         [][]float64
}

func readReference(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/oracle", name))
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// isMixed reports whether the table has columns of several types.
func (d *typedTable) isMixed() bool { return d.Types != nil }

// columnLevels returns the levels by column, nil where there are none.
func (d *typedTable) columnLevels() [][]string {
	if !d.isMixed() {
		return nil
	}
	all, next := make([][]string, len(d.Columns)), 0
	for j, t := range d.Types {
		if t == data.Category {
			all[j] = d.Levels[next]
			next++
		}
	}
	return all
}

// table returns the rows, with the numbers of levels for their names.
func (d *typedTable) table(t *testing.T, w []float64) *data.Table {
	t.Helper()
	src, levels := &data.Table{N: len(d.Rows), D: len(d.Columns), W: w}, d.columnLevels()
	for _, row := range d.Rows {
		for j, v := range row {
			switch v := v.(type) {
			case nil:
				src.F64 = append(src.F64, math.NaN())
			case float64:
				src.F64 = append(src.F64, v)
			case string:
				src.F64 = append(src.F64, float64(slices.Index(levels[j], v)))
			}
		}
	}
	return src
}

// spec returns a spec of the kind of model that the table takes.
func (d *typedTable) spec(k int, covariance string) Spec {
	s := Spec{Model: "gmm", K: k, Covariance: covariance, Columns: d.Columns}
	if d.isMixed() {
		s.Model, s.Types, s.Levels = "mixed", d.Types, d.columnLevels()
	}
	return s
}

// model returns the model with the parameters p.
func (d *typedTable) model(t *testing.T, p *stepParameters, covariance string) *model.Model {
	t.Helper()
	shape, err := family.ParseShape(covariance)
	if err != nil {
		t.Fatal(err)
	}
	m := &model.Model{Kind: "gmm", Shape: shape, Columns: d.Columns, Weights: p.Weights, Means: p.Means, Rates: p.Rates}
	if d.isMixed() {
		m.Kind, m.Types, m.Levels = "mixed", d.Types, d.columnLevels()
	}
	for i := range shape.Count(len(p.Weights)) {
		n := len(p.Means[0])
		m.Covariance = append(m.Covariance, kind.Unpack(shape, flat(shape, p.Covariances, i, n), n))
	}
	for _, columns := range p.Probabilities {
		m.Probabilities = append(m.Probabilities, slices.Concat(columns...))
	}
	return m
}

// apart returns the largest difference of the parameters of two models in natural units. sd are the standard deviations of the numbers.
func apart(a, b *model.Model, sd []float64) float64 {
	worst := 0.0
	far := func(x, y, unit float64) { worst = max(worst, math.Abs(x-y)/unit) }
	d := len(sd)
	for c, w := range b.Weights {
		far(a.Weights[c], w, 1)
		variance := func(j int) float64 {
			switch cov := b.Covariance[min(c, len(b.Covariance)-1)]; len(cov) {
			case 1:
				return cov[0]
			case d:
				return cov[j]
			default:
				return cov[j*d+j]
			}
		}
		for j := range d {
			far(a.Means[c][j], b.Means[c][j], sd[j])
		}
		for i, v := range b.Covariance[min(c, len(b.Covariance)-1)] {
			j, l := i%d, i/d
			if len(b.Covariance[0]) <= d {
				l = j
			}
			far(a.Covariance[min(c, len(a.Covariance)-1)][i], v, math.Sqrt(variance(j)*variance(l)))
		}
		if b.Probabilities != nil {
			for l, p := range b.Probabilities[c] {
				far(a.Probabilities[c][l], p, 1)
			}
		}
		if b.Rates != nil {
			for j, r := range b.Rates[c] {
				far(a.Rates[c][j], r, math.Sqrt(r))
			}
		}
	}
	return worst
}

// byWeight returns m with its components in the order that a fit gives them: by weight, the heaviest first.
func byWeight(m *model.Model) *model.Model {
	order := make([]int, len(m.Weights))
	for c := range order {
		order[c] = c
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case m.Weights[a] > m.Weights[b]:
			return -1
		case m.Weights[a] < m.Weights[b]:
			return 1
		}
		return 0
	})
	own := *m
	own.Weights, own.Means, own.Probabilities, own.Rates = kind.Picked(m.Weights, order), kind.Picked(m.Means, order), kind.Picked(m.Probabilities, order), kind.Picked(m.Rates, order)
	if len(m.Covariance) > 1 {
		own.Covariance = kind.Picked(m.Covariance, order)
	}
	return &own
}

func TestStepsOfEMWithGapsAgreeWithExactArithmetic(t *testing.T) {
	t.Parallel()
	compared := 0
	for name, cases := range map[string]int{"mixed/em-steps-complete": 1, "mixed/em-steps-holes": 6, "mixed/em-steps-weights": 1, "missing/em-steps": 9, "missing/em-steps-weights": 3} {
		var ref steps
		readReference(t, name+".json", &ref)
		if len(ref.Cases) != cases {
			t.Errorf("%s: %d cases, want %d", name, len(ref.Cases), cases)
		}
		src := ref.Data.table(t, ref.RowWeights)
		for i := range ref.Cases {
			c := &ref.Cases[i]
			t.Run(name+"/"+c.Name, func(t *testing.T) {
				spec := ref.Data.spec(c.K, c.Covariance)
				spec.Algorithm, spec.Init, spec.Given, spec.Tol = "em", "model", ref.Data.model(t, &c.Start, c.Covariance), new(0.0)
				fit := func(steps int) *Result {
					spec.MaxIter = new(steps)
					r, err := Fit(context.Background(), src, spec)
					if err != nil {
						t.Fatal(err)
					}
					return r
				}
				for step, want := range c.LogLik {
					if step > 5 && step < len(c.LogLik)-1 {
						continue
					}
					if got := *fit(step).LogLik; !(math.Abs(got-want) <= 1e-10*math.Abs(want)) {
						t.Errorf("log-likelihood after %d steps is %v, want %v", step, got, want)
					}
				}
				for _, after := range c.After {
					r := fit(after.Steps)
					if r.FreeParameters != c.Free {
						t.Errorf("%d free parameters, want %d", r.FreeParameters, c.Free)
					}
					sd := r.ColumnSD[:len(c.Start.Means[0])] // numbers come first
					if off := apart(r.Model, byWeight(ref.Data.model(t, &after.stepParameters, c.Covariance)), sd); !(off < 1e-9) {
						t.Errorf("after %d steps the parameters are %v off in natural units", after.Steps, off)
					}
					compared++
				}
			})
		}
	}
	if compared != 80 {
		t.Errorf("%d sets of parameters compared, want 80", compared)
	}
}

package model

import (
	"context"
	"fmt"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
)

// chainOracle is a file of testdata/oracle/hmm, as far as models and what they say of rows go.
type chainOracle struct {
	Data    struct{ Rows [][]float64 }
	Lengths []int
	Levels  []int
	Cases   []struct {
		Name, Emission string
		Covariance     string
		K              int
		Columns        []string
		After          []chainParameters
		AtLastStep     struct {
			Sequences []float64 `json:"sequence_log_likelihood"`
			Smoothed  [][]float64
			Viterbi   []int32
			Forecast  []struct {
				States, Mean, SD []float64
				Levels           [][]float64
			} `json:"forecast_of_first_sequence"`
		} `json:"at_last_step"`

		// Of awkward.json.
		Rows     [][]float64
		Lengths  []int
		Model    chainParameters
		LogLik   any `json:"log_likelihood"`
		Smoothed [][]float64
		Viterbi  []int32
	}
}

type chainParameters struct {
	Initial       []float64
	Transitions   [][]float64
	Means         [][]float64
	Covariances   []float64
	Probabilities [][][]float64 // by column, state and level
}

// model returns the model of the parameters.
func (p *chainParameters) model(emission string, shape family.Shape, levels []int) *Model {
	m := &Model{Kind: ChainKind, Emission: emission, Shape: shape, Initial: p.Initial, Transitions: p.Transitions, Means: p.Means}
	for c := range p.Initial {
		m.Weights = append(m.Weights, 1/float64(len(p.Initial)))
		var row []float64
		for _, column := range p.Probabilities {
			row = append(row, column[c]...)
		}
		if row != nil {
			m.Probabilities = append(m.Probabilities, row)
		}
	}
	d := len(p.Probabilities)
	if p.Means != nil {
		d = len(p.Means[0])
		size := len(p.Covariances) / shape.Count(len(p.Initial))
		for c := range shape.Count(len(p.Initial)) {
			m.Covariance = append(m.Covariance, p.Covariances[c*size:(c+1)*size])
		}
	}
	for j := range d {
		m.Columns = append(m.Columns, fmt.Sprintf("x%d", j+1))
		if p.Probabilities != nil {
			var names []string
			for l := range levels[j] {
				names = append(names, fmt.Sprint(l))
			}
			m.Levels = append(m.Levels, names)
		}
	}
	return m
}

// sequencesOf returns the first d columns of rows as a table of sequences with so many rows each.
func sequencesOf(rows [][]float64, d int, lengths []int) *data.Table {
	t := &data.Table{N: len(rows), D: d}
	for _, row := range rows {
		t.F64 = append(t.F64, row[:d]...)
	}
	for s, n := range lengths {
		for range n {
			t.Sequence = append(t.Sequence, int32(s))
		}
	}
	return t
}

// decoded is what a way to decode says of all rows.
type decoded struct {
	labels     []int32
	densities  []float64
	p          [][]float64
	best, sums []float64 // of the label; of each sequence
}

func decode(t *testing.T, m *Model, src data.Source, how Decoding, threads int) decoded {
	t.Helper()
	var out decoded
	err := m.Decode(context.Background(), src, how, threads, func(s *Scored) error {
		for i := range s.N {
			out.labels, out.densities, out.best = append(out.labels, s.Label[i]), append(out.densities, s.LogDensity[i]), append(out.best, s.Best[i])
			out.p = append(out.p, append([]float64{}, s.Responsibilities[i*s.K:(i+1)*s.K]...))
			of := 0
			if s.Sequence != nil {
				of = int(s.Sequence[i])
			}
			for len(out.sums) <= of {
				out.sums = append(out.sums, 0)
			}
			out.sums[of] += s.LogDensity[i]
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Paths, smoothed probabilities, log-likelihoods of sequences and forecasts are those of 50 digits without logarithms or scaling, in every case of
// every file.
func TestDecodingMatchesTheOracle(t *testing.T) {
	cases := 0
	for _, file := range []string{"generated", "letters", "nile"} {
		var o chainOracle
		oracleFile(t, "hmm/"+file+".json", &o)
		for _, x := range o.Cases {
			cases++
			shape, _ := family.ParseShape(x.Covariance)
			m := x.After[len(x.After)-1].model(x.Emission, shape, o.Levels)
			src := sequencesOf(o.Data.Rows, m.D(), o.Lengths)
			path, smooth := decode(t, m, src, Viterbi, 2), decode(t, m, src, Smooth, 1)
			for i, want := range x.AtLastStep.Viterbi {
				if path.labels[i] != want {
					t.Errorf("%s %s: row %d is in state %d on the path, not %d", file, x.Name, i+1, path.labels[i], want)
				}
				for c, want := range x.AtLastStep.Smoothed[i] {
					if !close(smooth.p[i][c], want, 1e-9, 1e-12) || path.p[i][c] != smooth.p[i][c] {
						t.Errorf("%s %s: row %d, state %d: %v, want %v", file, x.Name, i+1, c, smooth.p[i][c], want)
					}
				}
			}
			for s, want := range x.AtLastStep.Sequences {
				if !close(smooth.sums[s], want, 1e-10, 0) || !close(path.sums[s], want, 1e-10, 0) {
					t.Errorf("%s %s: sequence %d: %v, want %v", file, x.Name, s, smooth.sums[s], want)
				}
			}
			told := 0
			err := m.Forecast(context.Background(), src, len(x.AtLastStep.Forecast), 1, func(f *Forecast) error {
				if f.Sequence > 0 {
					return nil
				}
				want := x.AtLastStep.Forecast[told]
				if told++; f.Step != told {
					t.Errorf("step %d, want %d", f.Step, told)
				}
				for c, p := range want.States {
					if !close(f.States[c], p, 1e-9, 1e-12) {
						t.Errorf("%s %s, step %d: states %v, want %v", file, x.Name, f.Step, f.States, want.States)
					}
				}
				for j := range f.Variables {
					v := &f.Variables[j]
					if v.Levels == nil && (!close(v.Mean, want.Mean[j], 1e-9, 1e-12) || !close(v.SD, want.SD[j], 1e-9, 0)) {
						t.Errorf("%s %s, step %d: mean %v and sd %v, want %v and %v", file, x.Name, f.Step, v.Mean, v.SD, want.Mean[j], want.SD[j])
					}
					for l, p := range v.Levels {
						if !close(p, want.Levels[j][l], 1e-9, 1e-12) {
							t.Errorf("%s %s, step %d: level %d: %v, want %v", file, x.Name, f.Step, l, p, want.Levels[j][l])
						}
					}
				}
				return nil
			})
			if err != nil || told != len(x.AtLastStep.Forecast) {
				t.Errorf("%s %s: %d steps, %v", file, x.Name, told, err)
			}
		}
	}
	if cases != 7 {
		t.Errorf("%d cases, want 7", cases)
	}
}

// Models on which scaled recursions divide by zero.
func TestDecodingMatchesTheOracleOfAwkwardModels(t *testing.T) {
	var o chainOracle
	oracleFile(t, "hmm/awkward.json", &o)
	if len(o.Cases) != 4 {
		t.Errorf("%d cases, want 4", len(o.Cases))
	}
	for _, x := range o.Cases {
		m := x.Model.model("gmm", family.Spherical, nil)
		src := sequencesOf(x.Rows, m.D(), x.Lengths)
		path, smooth, filter := decode(t, m, src, Viterbi, 2), decode(t, m, src, Smooth, 1), decode(t, m, src, Filter, 1)
		for name, d := range map[string]decoded{"viterbi": path, "smooth": smooth, "filter": filter} {
			sum := 0.0
			for _, v := range d.sums {
				sum += v
			}
			if !close(sum, x.LogLik.(float64), 1e-10, 0) {
				t.Errorf("%s, %s: log-likelihood %v, want %v", x.Name, name, sum, x.LogLik)
			}
		}
		for i, want := range x.Viterbi {
			if path.labels[i] != want {
				t.Errorf("%s: row %d is in state %d on the path, not %d", x.Name, i+1, path.labels[i], want)
			}
			for c, p := range x.Smoothed[i] {
				if !close(smooth.p[i][c], p, 1e-10, 1e-14) {
					t.Errorf("%s: row %d, state %d: %v, want %v", x.Name, i+1, c, smooth.p[i][c], p)
				}
			}
		}
	}
}

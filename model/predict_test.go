package model_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// everyModel returns the models of all files, and one with a component of weight 0.
func everyModel(t *testing.T) map[string]*model.Model {
	t.Helper()
	files, _ := filepath.Glob("../testdata/model/*.json")
	if len(files) < 5 {
		t.Fatalf("%d models", len(files))
	}
	weightless := strings.Replace(strings.Replace(coins, "[0.75, 0.25]", "[0.75, 0, 0.25]", 1), "[[5], [8]]", "[[5], [6], [8]]", 1)
	weightless = strings.Replace(weightless, "[0.04, 0.09]", "[0.04, 1, 0.09]", 1)
	models := map[string][]byte{"weightless": []byte(weightless)}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		models[filepath.Base(name)] = b
	}
	read := map[string]*model.Model{}
	for name, b := range models {
		read[name] = new(model.Model)
		if err := read[name].UnmarshalJSON(b); err != nil {
			t.Fatal(name, err)
		}
	}
	return read
}

// Labels alone are those of a pass that tells everything, and so is the error of a row that no float64 can tell of.
func TestLabelsAreThoseOfRows(t *testing.T) {
	for name, m := range everyModel(t) {
		src := rowsFor(m)
		for _, odd := range []float64{src.F64[0], math.NaN(), 1e300} {
			src.F64[0] = odd
			var want, got []int32
			wantErr := m.Rows(context.Background(), src, 2, func(s *model.Scored) error {
				want = append(want, s.Label...)
				return nil
			})
			err := m.Labels(context.Background(), src, 2, func(b *data.Block, label []int32) error {
				if b.N != len(label) || b.First != int64(len(got)) {
					t.Errorf("%s: %d labels of %d rows from %d", name, len(label), b.N, b.First)
				}
				got = append(got, label...)
				return nil
			})
			if !slices.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Errorf("%s, first cell %v: labels %v, %v; of a pass %v, %v", name, odd, got, err, want, wantErr)
			}
		}
	}
}

// Scores are those of a pass that tells everything, to the bit, and so is the error of a row that no float64 can tell of.
func TestScoresAreThoseOfRows(t *testing.T) {
	models := everyModel(t)
	many := &model.Model{Kind: "kmeans", Columns: []string{"x", "y", "z"}}
	for c := range 50 {
		at := float64(c)
		many.Means = append(many.Means, []float64{math.Sin(at), math.Cos(3 * at), at / 50})
	}
	models["many centres"] = many
	for name, m := range models {
		src := rowsFor(m)
		for _, odd := range []float64{src.F64[0], math.NaN(), 1e300} {
			src.F64[0] = odd
			pass := func(rows func(context.Context, data.Source, int, func(*model.Scored) error) error) (told string) {
				err := rows(context.Background(), src, 2, func(s *model.Scored) error {
					told += fmt.Sprintf("%d %v %b %b %b %b\n", s.First, s.Label, s.LogDensity, s.Entropy, s.Best, s.Noise)
					return nil
				})
				return told + fmt.Sprint(err)
			}
			if got, want := pass(m.Scores), pass(m.Rows); got != want {
				t.Errorf("%s, first cell %v: %s\nof a pass %s", name, odd, got, want)
			}
		}
	}
}

// A scorer says of single rows what a pass says of all, for models of every kind, with transforms and components of weight 0.
func TestScorerAgreesWithRows(t *testing.T) {
	for name, m := range everyModel(t) {
		src := rowsFor(m)
		one, err := m.Scorer()
		if err != nil {
			t.Fatal(name, err)
		}
		seen := 0
		err = m.Rows(context.Background(), src, 2, func(s *model.Scored) error {
			for i, label := range s.Label {
				got, err := one.Score(src.F64[seen*src.D : (seen+1)*src.D])
				if err != nil {
					t.Fatal(name, err)
				}
				if got.Label[0] != label || !near(got.LogDensity[0], s.LogDensity[i]) || got.K != s.K {
					t.Errorf("%s, row %d: label %d, log density %v; a pass says %d, %v", name, seen+1, got.Label[0], got.LogDensity[0], label, s.LogDensity[i])
				}
				for c, r := range got.Responsibilities {
					if !near(r, s.Responsibilities[i*s.K+c]) {
						t.Errorf("%s, row %d: responsibilities %v", name, seen+1, got.Responsibilities)
					}
				}
				seen++
			}
			return nil
		})
		if err != nil || seen != src.N {
			t.Errorf("%s: %d rows, %v", name, seen, err)
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(b)) }

// rowsFor returns rows that a model takes: drawn from it, or around its centres.
func rowsFor(m *model.Model) *data.Table {
	if m.HasDensity() {
		t, _, err := m.Sample(40, 3)
		if err == nil {
			return t
		}
	}
	t := &data.Table{D: m.D()}
	for c := range m.Means {
		for _, shift := range []float64{0, 0.3, -0.2} {
			for _, v := range m.UserMean(c) {
				t.F64 = append(t.F64, v+shift)
			}
			t.N++
		}
	}
	return t
}

// Labels, responsibilities and log densities by the formula of two Gaussians in one column.
func TestPredictionsFollowTheFormula(t *testing.T) {
	m := loaded()
	x := []float64{4.6, 5.9, 6.3, 6.4, 8.8}
	src := &data.Table{N: len(x), D: 1, F64: x}
	ctx := context.Background()
	labels, err := m.Predict(ctx, src)
	if err != nil {
		t.Fatal(err)
	}
	probabilities, err := m.PredictProba(ctx, src)
	if err != nil {
		t.Fatal(err)
	}
	scores, err := m.LogDensity(ctx, src)
	if err != nil {
		t.Fatal(err)
	}
	normal := func(x, mean, variance float64) float64 {
		return math.Exp(-(x-mean)*(x-mean)/(2*variance)) / math.Sqrt(2*math.Pi*variance)
	}
	for i, v := range x {
		a, b := 0.75*normal(v, 5, 0.04), 0.25*normal(v, 8, 0.09)
		want := int32(0)
		if b > a {
			want = 1
		}
		if labels[i] != want || !near(probabilities[i][0], a/(a+b)) || !near(probabilities[i][1], b/(a+b)) || !near(scores[i], math.Log(a+b)) {
			t.Errorf("%v: label %d, responsibilities %v, log density %v; want %d, %v, %v", v, labels[i], probabilities[i], scores[i], want, a/(a+b), math.Log(a+b))
		}
	}
}

func TestWhatAScorerRefuses(t *testing.T) {
	s, err := loaded().Scorer()
	if err != nil {
		t.Fatal(err)
	}
	for want, row := range map[string][]float64{
		"the row has 2 numbers":                {1, 2},
		`column "grams": +Inf is not a finite`: {math.Inf(1)},
		"is so far from all groups":            {1e300},
	} {
		if _, err := s.Score(row); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v", row, err)
		}
	}
	bits := new(model.Model)
	if err := bits.UnmarshalJSON([]byte(`{"format": "latent-model", "version": 1, "model": "bernoulli", "columns": ["a"], "weights": [1], "probabilities": [[0.5]], "transform": []}`)); err != nil {
		t.Fatal(err)
	}
	if s, err = bits.Scorer(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Score([]float64{0.5}); err == nil || err.Error() != `column "a": 0.5 is not a bit (0 or 1)` {
		t.Errorf("half a bit: %v", err)
	}
	centres := &model.Model{Kind: "kmeans", Columns: []string{"a"}, Means: [][]float64{{1}}}
	if _, err := centres.LogDensity(context.Background(), &data.Table{N: 1, D: 1, F64: []float64{1}}); err == nil {
		t.Error("a density of centres")
	}
	if _, _, err := centres.Sample(1, 1); err == nil {
		t.Error("a sample of centres")
	}
	if _, _, err := loaded().Sample(-1, 1); err == nil {
		t.Error("a sample of -1 rows")
	}
}

// A program that only labels rows links no driver and no search.
func TestModelsLinkNoDrivers(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "/internal/ascent", "/internal/hard", "/internal/seed", "/internal/onedim"} {
		if bytes.Contains(out, []byte("github.com/latent-go/latent"+name+"\n")) {
			t.Errorf("package model imports latent%s", name)
		}
	}
}

package model

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-go/latent/data"
)

// models are hand-written ones of the kinds that files in testdata do not have.
var tailModels = map[string]string{
	"bernoulli": `{"format": "latent-model", "version": 1, "model": "bernoulli", "columns": ["a", "b", "c"],
		"weights": [0.6, 0.4], "probabilities": [[0.9, 0.2, 0.5], [0.1, 0.7, 0.95]]}`,
	"categorical": `{"format": "latent-model", "version": 1, "model": "categorical", "columns": ["a", "b"], "levels": [["x", "y", "z"], ["u", "v"]],
		"weights": [0.5, 0.5], "probabilities": [[[0.7, 0.2, 0.1], [0.9, 0.1]], [[0.1, 0.1, 0.8], [0.3, 0.7]]]}`,
	"poisson": `{"format": "latent-model", "version": 1, "model": "poisson", "columns": ["a", "b"],
		"weights": [0.5, 0.5], "rates": [[2, 10], [7, 0.5]]}`,
	"mixed": `{"format": "latent-model", "version": 1, "model": "mixed", "covariance": "full", "columns": ["h", "c", "n", "w"], "types": ["number", "category", "count", "number"],
		"levels": [["u", "v"]], "weights": [0.5, 0.5], "means": [[0, 0], [3, 1]], "covariances": [[[1, 0.5], [0.5, 1]], [[2, 0], [0, 1]]],
		"probabilities": [[[0.9, 0.1]], [[0.2, 0.8]]], "rates": [[1], [9]]}`,
}

// pvalues returns the p-values of rows.
func pvalues(t *testing.T, m *Model, tail *Tail, rows *data.Table) (ps []float64) {
	t.Helper()
	err := m.Rows(t.Context(), rows, 2, func(s *Scored) error {
		for i := range s.N {
			p, err := tail.P(t.Context(), s, i)
			if err != nil {
				return err
			}
			ps = append(ps, p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ps
}

// gapped returns rows drawn from a model, with cells missing in turns: none, the first, the last.
func gapped(t *testing.T, m *Model, n int, seed uint64) *data.Table {
	t.Helper()
	rows, _, err := m.Sample(n, seed)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		switch at := i % 3; {
		case m.PCA() != nil || m.D() < 2 || at == 0:
		case at == 1:
			rows.F64[i*rows.D] = nan
		default:
			rows.F64[(i+1)*rows.D-1] = nan
		}
	}
	return rows
}

// A p-value is what a naive loop counts over rows that Sample draws and Scorer scores, of every kind of model, with gaps.
func TestPValuesAreCountsOfDraws(t *testing.T) {
	const draws, seed = 300, 5
	models := map[string]*Model{}
	for name, text := range tailModels {
		models[name] = parsed(t, []byte(text))
	}
	files, _ := filepath.Glob("../testdata/model/gmm-*.json")
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		models[filepath.Base(name)] = parsed(t, b)
	}
	if len(models) < 11 {
		t.Fatalf("%d models", len(models))
	}
	for name, m := range models {
		tail, err := m.Tail(draws, seed, 2)
		if err != nil {
			t.Fatal(name, err)
		}
		drawn, _, err := m.Sample(draws, seed)
		if err != nil {
			t.Fatal(err)
		}
		one, err := m.Scorer()
		if err != nil {
			t.Fatal(err)
		}
		score := func(row []float64) float64 {
			s, err := one.Score(row)
			if err != nil {
				t.Fatal(name, err)
			}
			return s.LogDensity[0]
		}
		rows := gapped(t, m, 30, 6)
		for i, got := range pvalues(t, m, tail, rows) {
			row := rows.F64[i*rows.D : (i+1)*rows.D]
			own, n := score(row), 0
			count := func(of int) float64 {
				n = 0
				for r := range of {
					other := slices.Clone(drawn.F64[r*rows.D : (r+1)*rows.D])
					for j, v := range row {
						if v != v {
							other[j] = nan
						}
					}
					if score(other) <= own+1e-9*max(1, math.Abs(own)) {
						n++
					}
				}
				return float64(1+n) / float64(1+of)
			}
			want := count(draws)
			if slices.ContainsFunc(row, math.IsNaN) {
				if part := count(draws / 10); part >= 0.1 {
					want = part
				}
			}
			if got != want {
				t.Errorf("%s, row %d %v: p-value %v, want %v", name, i+1, row, got, want)
			}
		}
	}
}

// Of one Gaussian of d columns p-values are those of chi-squared with d degrees of freedom, of rows with gaps with as many as cells are there.
func TestPValuesOfOneGaussianAreThoseOfChiSquared(t *testing.T) {
	m := parsed(t, []byte(`{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "full", "columns": ["a", "b"],
		"weights": [1], "means": [[3, -1]], "covariances": [[[4, 2], [2, 2]]], "transform": [{"kind": "standard", "center": [10, 20], "scale": [5, 0.1]}]}`))
	tail, err := m.Tail(TailDraws, TailSeed, 0)
	if err != nil {
		t.Fatal(err)
	}
	rows := gapped(t, m, 300, 1)
	for i, p := range pvalues(t, m, tail, rows) {
		a, b := (rows.F64[2*i]-10)/5-3, (rows.F64[2*i+1]-20)/0.1+1
		square, cells := (2*a*a-4*a*b+4*b*b)/4, 2.0 // the inverse is [[2, -2], [-2, 4]] / 4
		if a != a {
			square, cells = b*b/2, 1
		} else if b != b {
			square, cells = a*a/4, 1
		}
		want := distuv.ChiSquared{K: cells}.Survival(square)
		draws := float64(TailDraws)
		if cells == 1 && want > 0.08 {
			draws /= 10
		}
		if se := math.Sqrt(want * (1 - want) / draws); math.Abs(p-want) > 5*se+1/draws {
			t.Errorf("row %d: p-value %v, chi-squared has %v (standard error %v)", i+1, p, want, se)
		}
	}
}

// Of bits the p-value of a row is the sum of the probabilities of all rows that are no likelier, those as likely among them.
func TestPValuesOfBitsAreSumsOfProbabilities(t *testing.T) {
	m := parsed(t, []byte(`{"format": "latent-model", "version": 1, "model": "bernoulli", "columns": ["a", "b", "c"],
		"weights": [0.5, 0.5], "probabilities": [[0.9, 0.2, 0.5], [0.1, 0.8, 0.5]]}`)) // c tells nothing: rows tie in pairs
	tail, err := m.Tail(TailDraws, TailSeed, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := &data.Table{N: 8, D: 3}
	var probability []float64
	for i := range 8 {
		a, b, c := float64(i>>2&1), float64(i>>1&1), float64(i&1)
		all.F64 = append(all.F64, a, b, c)
		p := 0.0
		for _, q := range [][3]float64{{0.9, 0.2, 0.5}, {0.1, 0.8, 0.5}} {
			own := 0.5
			for j, v := range []float64{a, b, c} {
				own *= v*q[j] + (1-v)*(1-q[j])
			}
			p += own
		}
		probability = append(probability, p)
	}
	for i, got := range pvalues(t, m, tail, all) {
		want := 0.0
		for _, p := range probability {
			if p <= probability[i]*(1+1e-9) {
				want += p
			}
		}
		if math.Abs(got-want) > 5*tail.StandardError(want)+1e-5 {
			t.Errorf("row %d: p-value %v, want %v", i, got, want)
		}
	}
}

// Of rows drawn from the model the share below P is P, whatever the kind of columns that are numbers.
func TestPValuesOfRowsOfTheModelAreUniform(t *testing.T) {
	for _, name := range []string{"../testdata/model/gmm-full-v1.json", "../testdata/model/gmm-pca-v1.json"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m := parsed(t, b)
		tail, err := m.Tail(TailDraws, TailSeed, 0)
		if err != nil {
			t.Fatal(err)
		}
		const n = 20_000
		rows, _, err := m.Sample(n, 3)
		if err != nil {
			t.Fatal(err)
		}
		ps := pvalues(t, m, tail, rows)
		for _, below := range []float64{0.001, 0.01, 0.1, 0.5} {
			found := 0
			for _, p := range ps {
				if p < below {
					found++
				}
			}
			want, sd := n*below, math.Sqrt(n*below*(1-below)*(1+n/float64(TailDraws)))
			if math.Abs(float64(found)-want) > 4.5*sd {
				t.Errorf("%s: %d p-values below %v, want about %v", name, found, below, want)
			}
		}
	}
}

// Among rows a p-value is the share of those that are at least as far from their nearest centre over the cells that the row has.
func TestPValuesAmongRowsAreShares(t *testing.T) {
	for kind, far := range map[string]func(v float64) float64{"kmeans": func(v float64) float64 { return v * v }, "kmedians": math.Abs} {
		m := parsed(t, []byte(`{"format": "latent-model", "version": 1, "model": "`+kind+`", "columns": ["a", "b"], "centers": [[0, 0], [5, 2]],
			"transform": [{"kind": "standard", "center": [1, 1], "scale": [2, 0.5]}]}`))
		rows := &data.Table{N: 7, D: 2, F64: []float64{1, 1, 11, nan, nan, 3, 10, 2, -4, 0, nan, nan, 30, 1}}
		if kind == "kmedians" { // which takes whole rows
			rows = &data.Table{N: 4, D: 2, F64: []float64{1, 1, 10, 2, -4, 0, 30, 1}}
		}
		tail, err := m.TailAmong(t.Context(), rows, 2)
		if err != nil {
			t.Fatal(err)
		}
		cost := func(i int, like int) (sum float64) { // over the cells that row like has; NaN where row i lacks one
			best := math.Inf(1)
			for _, centre := range [][2]float64{{0, 0}, {5, 2}} {
				sum := 0.0
				for j, scale := range []float64{2, 0.5} {
					if rows.F64[2*like+j] == rows.F64[2*like+j] {
						sum += far((rows.F64[2*i+j]-1)/scale - centre[j])
					}
				}
				if best > sum || sum != sum {
					best = sum
				}
			}
			return best
		}
		for i, got := range pvalues(t, m, tail, rows) {
			n, least := 0, 0
			for r := range rows.N {
				if v := cost(r, i); v == v && !rowEmpty(rows, r) {
					n++
					if v >= cost(i, i)-1e-12 {
						least++
					}
				}
			}
			want := float64(least) / float64(n)
			if rowEmpty(rows, i) {
				want = nan
			}
			if got != want && !(got != got && want != want) {
				t.Errorf("%s, row %d: p-value %v, want %v", kind, i+1, got, want)
			}
		}
		if tail.Draws() != 0 || tail.StandardError(0.5) != 0 {
			t.Errorf("%s: %d draws, standard error %v; nothing is estimated", kind, tail.Draws(), tail.StandardError(0.5))
		}
	}
}

func rowEmpty(t *data.Table, i int) bool {
	return !slices.ContainsFunc(t.F64[i*t.D:(i+1)*t.D], func(v float64) bool { return v == v })
}

// Beyond 100,000 rows p-values are estimates from so many of them.
func TestPValuesAmongManyRowsAreEstimates(t *testing.T) {
	m := parsed(t, []byte(`{"format": "latent-model", "version": 1, "model": "kmeans", "columns": ["a"], "centers": [[0]]}`))
	const n = 250_000
	rows := &data.Table{N: n, D: 1}
	for i := range n {
		rows.F64 = append(rows.F64, float64(i*7919%n)+1)
	}
	tail, err := m.TailAmong(t.Context(), rows, 2)
	if err != nil {
		t.Fatal(err)
	}
	if tail.Draws() != TailDraws {
		t.Fatalf("%d draws", tail.Draws())
	}
	some := &data.Table{N: 100, D: 1, F64: rows.F64[:100]}
	for i, p := range pvalues(t, m, tail, some) {
		if want := (n - some.F64[i] + 1) / n; math.Abs(p-want) > 5*tail.StandardError(want)+1e-5 {
			t.Errorf("row %d: p-value %v, want %v", i+1, p, want)
		}
	}
}

// P-values have the same bits for any number of threads, and when what was kept for a pattern had to give way.
func TestPValuesDependOnTheRowAlone(t *testing.T) {
	m := parsed(t, []byte(`{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "diag", "columns": ["a", "b", "c"],
		"weights": [0.5, 0.5], "means": [[0, 0, 0], [3, 1, 1]], "covariances": [[1, 1, 2], [2, 1, 1]]}`))
	const d, draws = 3, 1000
	rows, _, err := m.Sample(14, 4)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows.N {
		for j := range d {
			rows.F64[i*d+j] += 2.5 // mostly so unlikely that all draws are needed
			if i%7>>j&1 == 1 {
				rows.F64[i*d+j] = nan
			}
		}
	}
	var first []float64
	for _, x := range []struct{ threads, most int }{{1, mostKept}, {3, mostKept}, {1, 2500}, {2, 2500}} { // 2,500 numbers are not even the rows drawn
		tail, err := m.tail(x.threads)
		if err != nil {
			t.Fatal(err)
		}
		tail.most = x.most
		if err := tail.draw(draws, 1); err != nil {
			t.Fatal(err)
		}
		got := pvalues(t, m, tail, rows)
		if first == nil {
			first = got
		}
		if !slices.Equal(got, first) {
			t.Errorf("%d threads, %d numbers kept: %v, want %v", x.threads, x.most, got, first)
		}
		if tail.size > x.most || x.most < mostKept && len(tail.kept) >= 7 {
			t.Errorf("%d log densities of %d patterns are kept", tail.size, len(tail.kept))
		}
	}
	if distinct := slices.Compact(slices.Sorted(slices.Values(first))); len(distinct) < 7 {
		t.Errorf("p-values %v", first)
	}
}

// What cannot be told is an error.
func TestTailRefuses(t *testing.T) {
	m := parsed(t, []byte(tailModels["bernoulli"]))
	centres := parsed(t, []byte(`{"format": "latent-model", "version": 1, "model": "kmeans", "columns": ["a"], "centers": [[0]]}`))
	rows := &data.Table{N: 1, D: 2, F64: []float64{1, 2}}
	for says, call := range map[string]func() error{
		"no density":     func() error { _, err := centres.Tail(10, 1, 1); return err },
		"at least 1":     func() error { _, err := m.Tail(0, 1, 1); return err },
		"has a density":  func() error { _, err := m.TailAmong(t.Context(), rows, 1); return err },
		"have 2 columns": func() error { _, err := centres.TailAmong(t.Context(), rows, 1); return err },
		"src is nil":     func() error { _, err := centres.TailAmong(t.Context(), nil, 1); return err },
		"context canceled": func() error {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := centres.TailAmong(ctx, &data.Table{N: 1, D: 1, F64: []float64{1}}, 1)
			return err
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v; want %q", err, says)
		}
	}
}

package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
)

var nan = math.NaN()

// shaped returns a model of three columns and two components with covariances of a shape, which mclust's code spells: volume times
// directions times a diagonal, each the same for both components or not.
func shaped(t *testing.T, s family.Shape, ts []Transform) *Model {
	t.Helper()
	m := &Model{Kind: "gmm", Shape: s, Columns: []string{"a", "b", "c"}, Weights: []float64{0.35, 0.65}, Means: [][]float64{{0, 1, -1}, {1.5, -0.5, 0.5}}, Transform: ts}
	code := s.Mclust()
	pick := func(letter byte, c int) int { return map[byte]int{'V': c}[letter] }
	for c := range s.Count(2) {
		volume := []float64{0.8, 1.7}[pick(code[0], c)]
		diagonal := [][]float64{{2, 1, 0.5}, {0.5, 4, 0.5}}[pick(code[1], c)]
		if code[1] == 'I' {
			diagonal = []float64{1, 1, 1}
		}
		axes := mat.NewDense(3, 3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})
		if code[2] != 'I' {
			sin, cos := math.Sincos([]float64{0.7, -0.4}[pick(code[2], c)])
			turn := mat.NewDense(3, 3, []float64{cos, -sin, 0, sin, cos, 0, 0, 0, 1})
			axes.Mul(mat.NewDense(3, 3, []float64{1, 0, 0, 0, cos, -sin, 0, sin, cos}), turn)
		}
		var cov mat.Dense
		cov.Product(axes, mat.NewDiagDense(3, []float64{volume * diagonal[0], volume * diagonal[1], volume * diagonal[2]}), axes.T())
		switch flat := cov.RawMatrix().Data; {
		case s.Matrix():
			m.Covariance = append(m.Covariance, flat)
		case s.Alone() == family.Diag:
			m.Covariance = append(m.Covariance, []float64{flat[0], flat[4], flat[8]})
		default:
			m.Covariance = append(m.Covariance, []float64{flat[0]})
		}
	}
	if err := m.Validate(); err != nil {
		t.Fatal(s, err)
	}
	return m
}

// conditional is the mean and the covariance of the missing numbers of a row in component c by the formula, in the user's units.
func conditional(m *Model, row []float64, c int) (mean []float64, cov *mat.Dense) {
	var there, missing []int
	for j, v := range row {
		if v == v {
			there = append(there, j)
		} else {
			missing = append(missing, j)
		}
	}
	own := newCovariance(m.Shape, m.covariance(c), len(row))
	scale := make([]float64, len(row))
	for j := range scale {
		scale[j] = 1
		for _, t := range m.Transform {
			scale[j] *= t.Scale[j]
		}
	}
	part := func(a, b []int) *mat.Dense {
		if len(a) == 0 || len(b) == 0 {
			return nil
		}
		s := mat.NewDense(len(a), len(b), nil)
		for i, j := range a {
			for k, l := range b {
				s.Set(i, k, own.At(j, l)*scale[j]*scale[l])
			}
		}
		return s
	}
	mu, rest := m.UserMean(c), part(missing, missing)
	for _, j := range missing {
		mean = append(mean, mu[j])
	}
	if len(there) == 0 {
		return mean, rest
	}
	var inverse, slope, off, less mat.Dense
	if err := inverse.Inverse(part(there, there)); err != nil {
		panic(err)
	}
	slope.Mul(part(missing, there), &inverse)
	dev := mat.NewDense(len(there), 1, nil)
	for i, j := range there {
		dev.Set(i, 0, row[j]-mu[j])
	}
	off.Mul(&slope, dev)
	for i := range mean {
		mean[i] += off.At(i, 0)
	}
	less.Mul(&slope, part(there, missing))
	rest.Sub(rest, &less)
	return mean, rest
}

var scalings = map[string][]Transform{
	"none":     nil,
	"standard": {{Kind: "standard", Center: []float64{10, -3, 1e6}, Scale: []float64{2, 0.01, 500}}},
	"both":     {{Kind: "robust", Center: []float64{1, 2, 3}, Scale: []float64{2, 3, 4}}, {Kind: "standard", Center: []float64{-1, 0, 1}, Scale: []float64{0.5, 5, 50}}},
}

// eachPattern calls do with a row of m for every set of missing cells but none.
func eachPattern(m *Model, do func(row []float64)) {
	t, _, _ := m.Sample(1, 5)
	for set := 1; set < 1<<m.D(); set++ {
		row := slices.Clone(t.F64)
		for j := range row {
			if set>>j&1 == 1 {
				row[j] = nan
			}
		}
		do(row)
	}
}

// With every shape, transform and pattern, missing numbers are filled with the mean of their normal distributions, as the formula has it.
func TestEveryShapeFillsByTheFormula(t *testing.T) {
	for _, s := range family.Shapes() {
		for name, ts := range scalings {
			m := shaped(t, s, ts)
			f, err := m.Filler()
			if err != nil {
				t.Fatal(s, err)
			}
			eachPattern(m, func(row []float64) {
				got := slices.Clone(row)
				if err := f.FillRow(got); err != nil {
					t.Fatal(s, name, err)
				}
				scored, err := f.scored(row)
				if err != nil {
					t.Fatal(err)
				}
				want := make([]float64, 0, 3)
				for c, r := range scored.Responsibilities {
					mean, _ := conditional(m, row, c)
					for i, v := range mean {
						if c == 0 {
							want = append(want, 0)
						}
						want[i] += r * v
					}
				}
				for j, v := range row {
					if v == v {
						if got[j] != v {
							t.Errorf("%s, %s: %v became %v", s, name, row, got)
						}
						continue
					}
					if math.Abs(got[j]-want[0]) > 1e-9*(1+math.Abs(want[0])) {
						t.Errorf("%s, %s: column %d of %v is %v, want %v", s, name, j+1, row, got[j], want[0])
					}
					want = want[1:]
				}
			})
		}
	}
}

// Draws have the mean and the covariance of the mixture given the cells that are there, within 5 standard errors.
func TestDrawsHaveTheirMoments(t *testing.T) {
	n := 40_000
	if testing.Short() {
		n = 2000
	}
	random := rand.New(rand.NewPCG(4, 4))
	for _, s := range []family.Shape{family.Full, family.Tied, family.Diag, family.TiedSpherical, family.TiedAxes} {
		m := shaped(t, s, scalings["both"])
		f, err := m.Filler()
		if err != nil {
			t.Fatal(err)
		}
		eachPattern(m, func(row []float64) {
			var missing []int
			for j, v := range row {
				if v != v {
					missing = append(missing, j)
				}
			}
			scored, err := f.scored(row)
			if err != nil {
				t.Fatal(err)
			}
			q := len(missing)
			mean, second := make([]float64, q), mat.NewDense(q, q, nil)
			for c, r := range slices.Clone(scored.Responsibilities) {
				mu, cov := conditional(m, row, c)
				for a := range q {
					mean[a] += r * mu[a]
					for b := range q {
						second.Set(a, b, second.At(a, b)+r*(cov.At(a, b)+mu[a]*mu[b]))
					}
				}
			}
			sums, products, squares := make([]float64, q), mat.NewDense(q, q, nil), mat.NewDense(q, q, nil)
			for range n {
				x := slices.Clone(row)
				if err := f.DrawRow(x, random); err != nil {
					t.Fatal(err)
				}
				for a, j := range missing {
					sums[a] += (x[j] - mean[a]) / float64(n)
					for b, l := range missing {
						p := (x[j] - mean[a]) * (x[l] - mean[b])
						products.Set(a, b, products.At(a, b)+p/float64(n))
						squares.Set(a, b, squares.At(a, b)+p*p/float64(n))
					}
				}
			}
			for a := range q {
				variance := second.At(a, a) - mean[a]*mean[a]
				if math.Abs(sums[a]) > 5*math.Sqrt(variance/float64(n)) {
					t.Errorf("%s, %v: the mean of %d is %v off; the standard deviation is %v", s, row, a, sums[a], math.Sqrt(variance))
				}
				for b := range q {
					want, got := second.At(a, b)-mean[a]*mean[b], products.At(a, b)
					if se := math.Sqrt((squares.At(a, b) - got*got) / float64(n)); math.Abs(got-want) > 5*se {
						t.Errorf("%s, %v: covariance %d, %d is %v, want %v within %v", s, row, a, b, got, want, se)
					}
				}
			}
		})
	}
}

// questions is a model of each kind of columns that are no numbers alone, and one of all of them.
var questions = map[string]string{
	"bernoulli":   `"model": "bernoulli", "columns": ["a", "b", "c"], "weights": [0.3, 0.7], "probabilities": [[0.9, 0.2, 0.5], [0.1, 0.6, 0.4]]`,
	"categorical": `"model": "categorical", "columns": ["a", "b"], "levels": [["x", "y", "z"], ["no", "yes"]], "weights": [0.3, 0.7], "probabilities": [[[0.1, 0.2, 0.7], [0.5, 0.5]], [[0.45, 0.45, 0.1], [0.9, 0.1]]]`,
	"poisson":     `"model": "poisson", "columns": ["a", "b"], "weights": [0.3, 0.7], "rates": [[2, 50], [8, 0.5]]`,
	"mixed": `"model": "mixed", "columns": ["n", "b", "x", "c"], "types": ["count", "category", "number", "category"], "levels": [["no", "yes"], ["x", "y", "z"]], "covariance": "spherical",
		"weights": [0.3, 0.7], "means": [[1], [5]], "covariances": [0.5, 1], "rates": [[2], [6]], "probabilities": [[[0.3, 0.7], [0.1, 0.2, 0.7]], [[0.9, 0.1], [0.45, 0.45, 0.1]]],
		"transform": [{"kind": "standard", "center": [0, 0, 100, 0], "scale": [1, 1, 20, 1]}]`,
}

func question(t *testing.T, name string) *Model {
	t.Helper()
	return parsed(t, []byte(`{"format": "latent-model", "version": 1, `+questions[name]+`}`))
}

// Cells of columns that are independent given the component are filled by counting: expected counts, likeliest levels. In draws every value
// has its share, within 5 standard errors, in each component and together: no column hangs on another but by the component.
func TestIndependentColumnsFillByCounting(t *testing.T) {
	const n = 60_000
	random := rand.New(rand.NewPCG(6, 6))
	for name, first := range map[string]float64{"bernoulli": 1, "categorical": 2, "poisson": 3, "mixed": 4} {
		m := question(t, name)
		f, err := m.Filler()
		if err != nil {
			t.Fatal(err)
		}
		row := slices.Repeat([]float64{nan}, m.D())
		row[0] = first
		scored, err := f.scored(row)
		if err != nil {
			t.Fatal(err)
		}
		r := slices.Clone(scored.Responsibilities)
		got := slices.Clone(row)
		if err := f.FillRow(got); err != nil {
			t.Fatal(err)
		}
		share := map[string]float64{} // of each pair of values in the last two columns
		for range n {
			x := slices.Clone(row)
			if err := f.DrawRow(x, random); err != nil {
				t.Fatal(err)
			}
			if x[0] != first {
				t.Fatalf("%s: a cell that was there became %v", name, x)
			}
			share[fmt.Sprint(x[1], math.Round(x[m.D()-1]))] += 1.0 / n
		}
		for pair, p := range map[string]func(c int) float64{
			"bernoulli 1 0":   func(c int) float64 { return []float64{0.2 * 0.5, 0.6 * 0.6}[c] },
			"categorical 1 1": func(c int) float64 { return []float64{0.5, 0.1}[c] },
			"poisson 1 1":     func(c int) float64 { return []float64{50 * math.Exp(-50), 0.5 * math.Exp(-0.5)}[c] },
			"mixed 1 2":       func(c int) float64 { return []float64{0.7 * 0.7, 0.1 * 0.1}[c] },
		} {
			kind, values, _ := strings.Cut(pair, " ")
			if want := r[0]*p(0) + r[1]*p(1); kind == name && math.Abs(share[values]-want) > 5*math.Sqrt(want*(1-want)/n) {
				t.Errorf("%s: %s comes with share %v, want %v", name, values, share[values], want)
			}
		}
		want := map[string][]float64{"bernoulli": {1, 0, 0}, "categorical": {2, 0}, "poisson": {3, r[0]*50 + r[1]*0.5}, "mixed": {4, 0, 100 + 20*(r[0]*1+r[1]*5), 1}}[name]
		for j, v := range want {
			if math.Abs(got[j]-v) > 1e-9 {
				t.Errorf("%s: filled %v, want %v", name, got, want)
			}
		}
	}
}

// A row without any cell gets what is expected of all rows.
func TestARowOfNothingGetsWhatIsExpectedOfAll(t *testing.T) {
	for name, want := range map[string][]float64{"bernoulli": {0, 0, 0}, "categorical": {1, 0}, "poisson": {6.2, 15.35}, "mixed": {4.8, 0, 176, 1}} {
		f, err := question(t, name).Filler()
		if err != nil {
			t.Fatal(err)
		}
		row := slices.Repeat([]float64{nan}, len(want))
		if err := f.FillRow(row); err != nil {
			t.Fatal(err)
		}
		for j, v := range want {
			if math.Abs(row[j]-v) > 1e-12*v {
				t.Errorf("%s: %v, want %v", name, row, want)
			}
		}
	}
	for _, tie := range []string{
		`"model": "bernoulli", "columns": ["a"], "weights": [1], "probabilities": [[0.5]]`,
		`"model": "categorical", "columns": ["a"], "levels": [["x", "y", "z"]], "weights": [1], "probabilities": [[[0.4, 0.4, 0.2]]]`,
	} {
		row := []float64{nan}
		f, err := parsed(t, []byte(`{"format": "latent-model", "version": 1, `+tie+`}`)).Filler()
		if err != nil || f.FillRow(row) != nil || row[0] != 0 {
			t.Errorf("of equals the first is not taken: %v, %v", row, err)
		}
	}
}

func TestWhatCannotBeFilled(t *testing.T) {
	binarized := parsed(t, []byte(`{"format": "latent-model", "version": 1, "model": "bernoulli", "columns": ["a"], "weights": [1], "probabilities": [[0.5]], "transform": [{"kind": "binarize", "threshold": 3}]}`))
	principal := &Model{Kind: "gmm", Shape: family.Spherical, Columns: []string{"a", "b"}, Weights: []float64{1}, Means: [][]float64{{0}}, Covariance: [][]float64{{1}},
		Transform: []Transform{{Kind: "pca", Mean: []float64{0, 0}, Components: [][]float64{{1, 0}}}}}
	for want, m := range map[string]*Model{
		"a kmeans model has no density to fill in missing cells by; fit a mixture": {Kind: "kmeans", Columns: []string{"a"}, Means: [][]float64{{1}}},
		"bits that were made of numbers":                                           binarized,
		"of principal components":                                                  principal,
		"the model is nil":                                                         nil,
	} {
		if _, err := m.Filler(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
		if _, err := m.Impute(context.Background(), &data.Table{N: 1, D: 1, F64: []float64{1}}); err == nil {
			t.Errorf("%s: filled all the same", want)
		}
	}
	far := shaped(t, family.Tied, []Transform{{Kind: "standard", Center: []float64{0, 0, 1.7e308}, Scale: []float64{1, 1, 1e154}}})
	far.Covariance[0] = []float64{1, 0, 0.99, 0, 1, 0, 0.99, 0, 1}
	f, err := far.Filler()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.FillRow([]float64{5e153, 0, nan}); err == nil || !strings.Contains(err.Error(), `row 1, column "c": what is missing lies beyond`) {
		t.Errorf("error %v", err)
	}
	if err := f.FillRow([]float64{1, 2}); err == nil {
		t.Error("a row that is too short was filled")
	}
	var argument *data.ArgumentError
	src := &data.Table{N: 1, D: 3, F64: []float64{1, nan, 2}}
	if err := f.Fill(context.Background(), src, 1, nil); !errors.As(err, &argument) {
		t.Errorf("nobody to tell: %v", err)
	}
	if err := f.Draw(context.Background(), src, 1, 1, -1, func(*Filled) error { return nil }); !errors.As(err, &argument) {
		t.Errorf("draw -1: %v", err)
	}
	if err := f.DrawRow([]float64{1, nan, 2}, nil); !errors.As(err, &argument) {
		t.Errorf("no random numbers: %v", err)
	}
	if _, err := far.ImputeDraws(context.Background(), src, 0, 1); !errors.As(err, &argument) {
		t.Errorf("no draws: %v", err)
	}
}

// holed returns rows of m with a fifth of the cells missing, and some rows without any.
func holed(m *Model, n int, seed uint64) *data.Table {
	t, _, err := m.Sample(n, seed)
	if err != nil {
		panic(err)
	}
	random := rand.New(rand.NewPCG(seed, 1))
	for i := range t.F64 {
		if random.Float64() < 0.2 || i/t.D%1000 == 7 {
			t.F64[i] = nan
		}
	}
	return t
}

// Tables come back whole: cells that were there to the bit, what was missing as single rows have it. Neither threads, nor float32 rows, nor a
// second time, nor how much is remembered changes anything.
func TestTablesAreFilledAsTheirRows(t *testing.T) {
	ctx := context.Background()
	models := map[string]*Model{"full": shaped(t, family.Full, scalings["both"]), "tied": shaped(t, family.Tied, nil)}
	for name := range questions {
		models[name] = question(t, name)
	}
	for name, m := range models {
		src := holed(m, 5000, 3)
		src.W = slices.Repeat([]float64{2}, src.N)
		got, err := m.Impute(ctx, src)
		if err != nil {
			t.Fatal(name, err)
		}
		f, err := m.Filler()
		if err != nil {
			t.Fatal(err)
		}
		if got.N != src.N || got.D != src.D || !slices.Equal(got.W, src.W) {
			t.Fatalf("%s: %d rows of %d", name, got.N, got.D)
		}
		for i := range src.N {
			row := slices.Clone(src.F64[i*src.D : (i+1)*src.D])
			if err := f.FillRow(row); err != nil {
				t.Fatal(err)
			}
			for j, v := range row {
				g := got.F64[i*src.D+j]
				if was := src.F64[i*src.D+j]; was == was && g != was || math.Abs(g-v) > 1e-9*(1+math.Abs(v)) {
					t.Fatalf("%s, row %d: %v, want %v", name, i+1, got.F64[i*src.D:(i+1)*src.D], row)
				}
			}
		}
		draws, err := m.ImputeDraws(ctx, src, 3, 9)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := m.ImputeDraws(ctx, src, 2, 9)
		if !reflect.DeepEqual(draws[:2], again) || reflect.DeepEqual(draws[0], draws[1]) {
			t.Errorf("%s: draws do not depend on their number alone", name)
		}
		for threads := 1; threads <= 3; threads++ {
			var gaps []Gap
			err := f.Draw(ctx, src, threads, 9, 1, func(b *Filled) error {
				for _, g := range b.Gaps {
					gaps = append(gaps, Gap{g.Row + int(b.First), g.Column, g.Value})
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range gaps {
				if draws[1].F64[g.Row*src.D+g.Column] != g.Value {
					t.Fatalf("%s, %d threads: another draw", name, threads)
				}
			}
		}
	}
}

// More patterns than are kept change nothing but the time.
func TestPatternsThatAreForgottenComeAgain(t *testing.T) {
	m := shaped(t, family.Full, nil)
	f, err := m.Filler()
	if err != nil {
		t.Fatal(err)
	}
	n, filled := f.parts[0].(*normals), [2][][]float64{}
	for round, held := range []int{0, mostHeld - 3} {
		eachPattern(m, func(row []float64) {
			n.held = max(n.held, held)
			if err := f.FillRow(row); err != nil {
				t.Fatal(err)
			}
			filled[round] = append(filled[round], row)
		})
		clear(n.patterns)
	}
	if !reflect.DeepEqual(filled[0], filled[1]) || n.held > 100 {
		t.Errorf("%v, then %v; %d numbers are held", filled[0], filled[1], n.held)
	}
}

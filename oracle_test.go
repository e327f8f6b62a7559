package latent

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/search"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/model"
)

// reference is a file of testdata/oracle, as far as these tests read it; its README says what the keys mean.
type reference struct {
	Data struct {
		File      string
		Columns   []string
		Transform string
		Rows      [][]float64
	}
	N          int
	RowWeights []float64 `json:"row_weights"`
	Cases      []referenceCase
}

type referenceCase struct {
	Name       string
	Covariance string
	K, D, N    int
	RegCovar   float64         `json:"reg_covar"`
	Free       int             `json:"free_parameters"`
	LogLik     []float64       `json:"log_likelihood"`
	Start      json.RawMessage // parameters, or the centres of k-means
	After      []struct {
		parameters
		Steps          int
		UntilConverged bool `json:"until_converged"`
		Centres        [][]float64
		Labels         []int32
		Inertia        float64
		Sizes          []int
	}

	Model            parameters
	Rows             [][]float64
	LogDensity       []float64   `json:"log_density"`
	Responsibilities [][]float64 `json:"responsibilities"`
	LogResp          [][]float64 `json:"log_responsibilities"`
}

type parameters struct {
	Weights     []float64
	Means       [][]float64
	Covariances []float64
}

// eachReference runs f on every case of every file in a folder of testdata/oracle, and fails where a file's text names
// more cases than f passed.
func eachReference(t *testing.T, folder string, files int, f func(t *testing.T, ref *reference, src *data.Table, c *referenceCase)) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata/oracle", folder, "*.json"))
	if err != nil || len(names) != files {
		t.Fatalf("%d files in %s (%v), want %d", len(names), folder, err, files)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".json"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			ref := new(reference)
			if err := json.Unmarshal(text, ref); err != nil {
				t.Fatal(err)
			}
			src := ref.table(t)
			passed := 0
			for i := range ref.Cases {
				c := &ref.Cases[i]
				if t.Run(c.Name, func(t *testing.T) { f(t, ref, src, c) }) {
					passed++
				}
			}
			stated := strings.Count(string(text), `"name":`)
			t.Logf("%d of %d cases", passed, stated)
			if passed != stated || stated == 0 {
				t.Errorf("%d of %d cases passed", passed, stated)
			}
		})
	}
}

// table returns the rows that the file is about; nil where each case has its own.
func (r *reference) table(t *testing.T) *data.Table {
	if r.Data.Columns == nil {
		return nil
	}
	src := &data.Table{D: len(r.Data.Columns), W: r.RowWeights}
	for _, row := range r.Data.Rows {
		src.F64 = append(src.F64, row...)
	}
	if r.Data.File != "" {
		src.F64 = dataset(t, filepath.Base(r.Data.File), r.Data.Columns)
	}
	src.N = len(src.F64) / src.D
	if src.N != r.N {
		t.Fatalf("%d rows, want %d", src.N, r.N)
	}
	switch r.Data.Transform {
	case "none":
	case "standard":
		standardise(src)
	default:
		t.Fatalf("transform %q is not known", r.Data.Transform)
	}
	return src
}

// dataset reads columns of a bundled data set with the standard library alone.
func dataset(t *testing.T, name string, columns []string) (x []float64) {
	t.Helper()
	file, err := os.Open(filepath.Join("data/datasets", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var r io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	lines, err := csv.NewReader(r).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		for _, c := range columns {
			v, err := strconv.ParseFloat(line[slices.Index(lines[0], c)], 64)
			if err != nil {
				t.Fatal(err)
			}
			x = append(x, v)
		}
	}
	return x
}

// standardise gives every column mean 0 and standard deviation (divisor n) 1, in two passes.
func standardise(src *data.Table) {
	n, d := float64(src.N), src.D
	for j := range d {
		mean, square := 0.0, 0.0
		for i := j; i < len(src.F64); i += d {
			mean += src.F64[i] / n
		}
		for i := j; i < len(src.F64); i += d {
			src.F64[i] -= mean
			square += src.F64[i] * src.F64[i] / n
		}
		for i := j; i < len(src.F64); i += d {
			src.F64[i] /= math.Sqrt(square)
		}
	}
}

// climb runs EM at beta from theta through the machinery of a fit and returns every step.
func climb(t *testing.T, local *sweep.Local, mix *mixture.Mixture, theta []float64, driver ascent.EM) (steps []ascent.Step) {
	t.Helper()
	if _, err := search.Climb(context.Background(), local, mix, driver, theta, func(s ascent.Step) { steps = append(steps, s) }); err != nil {
		t.Fatal(err)
	}
	return steps
}

func look(t *testing.T, src data.Source) *sweep.Survey {
	t.Helper()
	s, err := sweep.Look(context.Background(), src, 2)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// flat returns one covariance, or all if they are shared, out of the file's flat list: whole matrices as triangles.
func flat(shape family.Shape, v []float64, c, d int) []float64 {
	size := d * d
	if shape == family.Diag || shape == family.TiedDiag {
		size = d
	} else if shape == family.Spherical || shape == family.TiedSpherical {
		size = 1
	}
	v = v[c*size : (c+1)*size]
	if size < d*d || d == 1 {
		return slices.Clone(v)
	}
	var q []float64
	for j := range d {
		q = append(q, v[j*d:j*d+j+1]...)
	}
	return q
}

func TestStepsOfEMAgreeWithExactArithmetic(t *testing.T) {
	t.Parallel()
	const tol = 1e-9
	eachReference(t, "em_steps", 7, func(t *testing.T, ref *reference, src *data.Table, c *referenceCase) {
		k, d, s := c.K, src.D, look(t, src)
		shape, err := family.ParseShape(c.Covariance)
		if err != nil {
			t.Fatal(err)
		}
		origin := s.Origin()
		g := family.Gaussian{Shape: shape, Var: s.Var, RegCovar: c.RegCovar}
		mix := &mixture.Mixture{Family: g, K: k, D: d}
		if mix.Free() != c.Free {
			t.Errorf("%d free parameters, want %d", mix.Free(), c.Free)
		}
		var start parameters
		if err := json.Unmarshal(c.Start, &start); err != nil {
			t.Fatal(err)
		}
		theta := make([]float64, mix.Params())
		comp := mix.Components(theta)
		for i := range k {
			theta[i] = math.Log(start.Weights[i])
			for j := range d {
				comp[i*d+j] = start.Means[i][j] - origin[j]
			}
		}
		for i := range shape.Count(k) {
			if !g.Scale(g.ScaleOf(comp, i, k, d), flat(shape, start.Covariances, i, d), d) {
				t.Fatal("the start is not positive definite")
			}
		}
		last := len(c.LogLik) - 1
		driver := ascent.EM{Beta: 1, MaxIter: last, Ascends: c.RegCovar == 0}
		steps := climb(t, sweep.NewLocal(src, s.Rows, origin, 2), mix, theta, driver)
		if n := len(steps); n <= last && steps[n-1].Done != ascent.FixedPoint {
			t.Fatalf("%d steps, want %d", n-1, last)
		}
		at := func(step int) *ascent.Point { return steps[min(step, len(steps)-1)].Point }
		for step, want := range c.LogLik {
			if got := at(step).LogLik; !(math.Abs(got-want) <= tol*math.Abs(want)) {
				t.Errorf("log-likelihood after %d steps is %v, want %v", step, got, want)
			}
		}
		compared := 0
		for _, want := range c.After {
			theta := at(want.Steps).Theta
			comp := mix.Components(theta)
			near := func(what string, got, want, unit float64) {
				if !(math.Abs(got-want) <= tol*unit) {
					t.Errorf("%s is %v, want %v", what, got, want)
				}
			}
			for i, lw := range mix.LogWeights(nil, theta) {
				near("weight", math.Exp(lw), want.Weights[i], 1)
				for j := range d {
					near("mean", origin[j]+comp[i*d+j], want.Means[i][j], math.Sqrt(s.Var[j]))
				}
			}
			for i := range shape.Count(k) {
				got, w := make([]float64, shape.Size(d)), flat(shape, want.Covariances, i, d)
				g.Covariance(got, g.ScaleOf(comp, i, k, d), d)
				for at, unit := range units(shape, w, d) {
					near("covariance", got[at], w[at], unit)
				}
			}
			compared++
		}
		if compared != 4 || last != 25 {
			t.Errorf("parameters compared after %d steps and log-likelihoods after %d, want 4 and 25", compared, last)
		}
	})
}

// units returns, for every entry of a packed covariance, the product of its two standard deviations.
func units(shape family.Shape, cov []float64, d int) []float64 {
	if shape != family.Full && shape != family.Tied {
		return cov // variances
	}
	var u []float64
	for j := range d {
		for l := range j + 1 {
			u = append(u, math.Sqrt(cov[j*(j+1)/2+j]*cov[l*(l+1)/2+l]))
		}
	}
	return u
}

func TestStepsOfLloydAgreeWithExactArithmetic(t *testing.T) {
	t.Parallel()
	eachReference(t, "kmeans", 8, func(t *testing.T, ref *reference, src *data.Table, c *referenceCase) {
		k, d, s := c.K, src.D, look(t, src)
		origin := s.Origin()
		offset := math.Abs(s.Mean[0]) > 1e5
		var start [][]float64
		if err := json.Unmarshal(c.Start, &start); err != nil {
			t.Fatal(err)
		}
		mix := &mixture.Mixture{Family: family.KMeans{}, K: k, D: d}
		var theta []float64
		for _, row := range start {
			for j, x := range row {
				theta = append(theta, x-origin[j])
			}
		}
		local := sweep.NewLocal(src, s.Rows, origin, 2)
		for _, want := range c.After {
			driver := ascent.EM{Beta: math.Inf(1), MaxIter: want.Steps}
			steps := climb(t, local, mix, theta, driver)
			end := steps[len(steps)-1]
			if want.UntilConverged && end.Done != ascent.FixedPoint {
				t.Errorf("not finished after %d steps", want.Steps)
			}
			centres := end.Point.Theta
			for i, v := range centres {
				w := want.Centres[i/d][i%d]
				tol := 1e-12 * max(math.Abs(w), math.Sqrt(s.Var[i%d]))
				if offset {
					tol = 1e-9 * math.Sqrt(s.Var[i%d])
				}
				if got := origin[i%d] + v; !(math.Abs(got-w) <= tol) {
					t.Errorf("after %d steps centre %d is %v in column %d, want %v", want.Steps, i/d, got, i%d, w)
				}
			}
			var labels []int32
			inertia, rows := 0.0, make([]int, k)
			if err := local.Rows(context.Background(), mix, centres, func(b *sweep.Scored) error {
				for i, label := range b.Label {
					w := 1.0
					if b.W != nil {
						w = b.W[i]
					}
					labels = append(labels, label)
					inertia -= w * b.LogDensity[i]
					rows[label]++
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(labels, want.Labels) {
				t.Errorf("after %d steps the labels differ", want.Steps)
			}
			tol := 1e-12
			if offset {
				tol = 1e-9
			}
			for _, got := range []float64{inertia, -end.Point.F} {
				if !(math.Abs(got-want.Inertia) <= tol*want.Inertia) {
					t.Errorf("after %d steps the inertia is %v, want %v", want.Steps, got, want.Inertia)
				}
			}
			if !slices.Equal(rows, want.Sizes) {
				t.Errorf("after %d steps the clusters hold %v rows, want %v", want.Steps, rows, want.Sizes)
			}
		}
	})
}

func TestDensitiesAgreeWithExactArithmetic(t *testing.T) {
	t.Parallel()
	eachReference(t, "density", 1, func(t *testing.T, _ *reference, _ *data.Table, c *referenceCase) {
		if c.Name == "d-1000" {
			c.fromFormula()
		}
		m := new(model.Model)
		if err := json.Unmarshal(c.modelFile(t), m); err != nil {
			t.Fatal(err)
		}
		tol := 1e-12
		if c.Name == "condition-1e12" {
			tol = 1e-9
		}
		src := &data.Table{N: len(c.Rows), D: c.D, F64: slices.Concat(c.Rows...)}
		seen := 0
		err := m.Rows(context.Background(), src, 1, func(s *model.Scored) error {
			for i, got := range s.LogDensity {
				want := c.LogDensity[i]
				if !(math.Abs(got-want) <= tol*math.Abs(want)) {
					t.Errorf("row %d: log density %v, want %v", i, got, want)
				}
				sum := 0.0
				for _, v := range c.Responsibilities[i] {
					sum += v
				}
				if sum > 1.5 { // so far out that 80 digits do not hold the difference of the two squares
					continue
				}
				// The logarithm of a responsibility is a difference of log densities, and as sure as they are.
				top := slices.Max(c.LogResp[i])
				if !(math.Abs(s.Best[i]-s.LogDensity[i]-top) <= tol*(1+math.Abs(want))) {
					t.Errorf("row %d: log responsibility %v, want %v", i, s.Best[i]-s.LogDensity[i], top)
				}
				if label := slices.Index(c.LogResp[i], top); int(s.Label[i]) != label {
					t.Errorf("row %d: label %d, want %d", i, s.Label[i], label)
				}
				for j, want := range c.Responsibilities[i] {
					got := s.Responsibilities[i*c.K+j]
					if !(math.Abs(got-want) <= tol*want) {
						t.Errorf("row %d: responsibility %v, want %v", i, got, want)
					}
				}
			}
			seen += s.N
			return nil
		})
		if err != nil || seen != c.N || seen == 0 {
			t.Errorf("%d rows seen (%v), want %d", seen, err, c.N)
		}
	})
}

// fromFormula fills in the model of 1000 columns that the file states in words.
func (c *referenceCase) fromFormula() {
	const d = 1000
	c.Model = parameters{Weights: []float64{0.5, 0.5}, Means: make([][]float64, 2), Covariances: []float64{1, 1}}
	c.Rows = make([][]float64, 4)
	for j := 1; j <= d; j++ {
		c.Model.Means[0], c.Model.Means[1] = append(c.Model.Means[0], 0), append(c.Model.Means[1], 1)
		sign := float64(1 - 2*(j%2))
		for i, x := range []float64{0.5, float64(j) / 1000, 0.5 + sign*0.25, 3} {
			c.Rows[i] = append(c.Rows[i], x)
		}
	}
}

// modelFile writes the model as a user would.
func (c *referenceCase) modelFile(t *testing.T) []byte {
	t.Helper()
	columns := make([]string, c.D)
	for j := range columns {
		columns[j] = "x" + strconv.Itoa(j+1)
	}
	var covariances []any
	for i := range c.K {
		switch v := c.Model.Covariances; c.Covariance {
		case "full":
			var m [][]float64
			for j := range c.D {
				m = append(m, v[(i*c.D+j)*c.D:(i*c.D+j+1)*c.D])
			}
			covariances = append(covariances, m)
		case "diag":
			covariances = append(covariances, v[i*c.D:(i+1)*c.D])
		case "spherical":
			covariances = append(covariances, v[i])
		default:
			t.Fatalf("covariance %q", c.Covariance)
		}
	}
	b, err := json.Marshal(map[string]any{"format": "latent-model", "version": 1, "model": "gmm", "covariance": c.Covariance,
		"columns": columns, "weights": c.Model.Weights, "means": c.Model.Means, "covariances": covariances})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

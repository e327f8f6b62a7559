package latent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// lumps returns n rows of d columns in three groups, sep standard deviations apart in the first column and of different widths.
func lumps(rng *rand.Rand, n, d int, sep float64) *data.Table {
	t := &data.Table{N: n, D: d}
	for range n {
		c := rng.IntN(3)
		t.F64 = append(t.F64, sep*float64(c)+rng.NormFloat64()*(1+0.3*float64(c)))
		for range d - 1 {
			t.F64 = append(t.F64, rng.NormFloat64())
		}
	}
	return t
}

// between returns the rows lo to hi of t.
func between(t *data.Table, lo, hi int) *data.Table {
	own := *t
	own.N, own.F64 = hi-lo, t.F64[lo*t.D:hi*t.D]
	if t.W != nil {
		own.W = t.W[lo:hi]
	}
	return &own
}

// inTenths fits the first tenth of the rows and updates the model by the others.
func inTenths(t *testing.T, rows *data.Table, spec Spec) *model.Model {
	t.Helper()
	spec.KeepSums = true
	n := rows.N / 10
	r, err := Fit(context.Background(), between(rows, 0, n), spec)
	if err != nil {
		t.Fatal(err)
	}
	m := r.Model
	for i := 1; i < 10; i++ {
		u, err := Update(context.Background(), between(rows, i*n, (i+1)*n), m, UpdateSpec{})
		if err != nil {
			t.Fatal(err)
		}
		if !u.Converged {
			t.Errorf("tenth %d: not converged", i+1)
		}
		m = u.Model
	}
	return m
}

// standardErrorsApart returns the largest difference between parameters of m and those of a fit, in its standard errors, when components are
// matched by their means or probabilities.
func standardErrorsApart(r *Result, m *model.Model) (worst float64) {
	e, used := r.StandardErrors, map[int]bool{}
	apart := func(a, b, se []float64) (far float64) {
		for j, s := range se {
			if s == s && s > 0 {
				far = max(far, math.Abs(a[j]-b[j])/s)
			}
		}
		return far
	}
	of := func(m *model.Model, c int) [][]float64 {
		all := [][]float64{{m.Weights[c]}}
		for _, rows := range [][][]float64{m.Means, m.Probabilities, m.Rates, m.Covariance} {
			if rows != nil {
				all = append(all, rows[min(c, len(rows)-1)])
			}
		}
		return all
	}
	errs := func(c int) [][]float64 {
		all := [][]float64{{e.Weights[c]}}
		for _, rows := range [][]model.Errors{e.Means, e.Probabilities, e.Rates, e.Covariance} {
			if rows != nil {
				all = append(all, rows[min(c, len(rows)-1)])
			}
		}
		return all
	}
	for c := range m.K() {
		best, at := math.Inf(1), -1
		for b := range m.K() {
			far := 0.0
			for i, se := range errs(c) {
				far = max(far, apart(of(r.Model, c)[i], of(m, b)[i], se))
			}
			if far < best && !used[b] {
				best, at = far, b
			}
		}
		used[at], worst = true, max(worst, best)
	}
	return worst
}

// Ten tenths one after another end within two standard errors of one fit of all rows, in every parameter.
func TestTenTenthsEndNearOneFit(t *testing.T) {
	bits := func(rng *rand.Rand) *data.Table {
		rows := &data.Table{N: 10_000, D: 8}
		for range rows.N {
			c := rng.IntN(2)
			for j := range rows.D {
				rows.F64 = append(rows.F64, math.Floor(rng.Float64()+[]float64{0.2, 0.75}[(c+j/6)%2]))
			}
		}
		return rows
	}
	holes := func(rng *rand.Rand) *data.Table {
		rows := lumps(rng, 10_000, 3, 6)
		for i := range rows.F64 {
			if rng.Float64() < 0.2 && i%3 > 0 {
				rows.F64[i] = math.NaN()
			}
		}
		return rows
	}
	for name, try := range map[string]struct {
		rows func(*rand.Rand) *data.Table
		spec Spec
	}{
		"apart":       {func(rng *rand.Rand) *data.Table { return lumps(rng, 10_000, 3, 7) }, Spec{K: 3}},
		"overlapping": {func(rng *rand.Rand) *data.Table { return lumps(rng, 10_000, 2, 5) }, Spec{K: 3, Covariance: "diag"}},
		"one volume":  {func(rng *rand.Rand) *data.Table { return lumps(rng, 10_000, 2, 5) }, Spec{K: 3, Covariance: "EVV"}},
		"scaled":      {func(rng *rand.Rand) *data.Table { return lumps(rng, 10_000, 2, 6) }, Spec{K: 3, Scale: "standard"}},
		"bits":        {bits, Spec{K: 2, Model: "bernoulli"}},
		"gaps":        {holes, Spec{K: 3}},
	} {
		for seed := range uint64(2) {
			rows := try.rows(rand.New(rand.NewPCG(seed, 7)))
			r, err := Fit(context.Background(), rows, try.spec)
			if err != nil {
				t.Fatal(err)
			}
			m := inTenths(t, rows, try.spec)
			if worst := standardErrorsApart(r, m); worst > 2 && try.spec.Scale == "" { // scaled by their first tenth, parameters are in other units: densities tell
				t.Errorf("%s, seed %d: %.2f standard errors apart", name, seed, worst)
			}
			mean := 0.0
			if err := m.Rows(context.Background(), rows, 0, func(s *model.Scored) error {
				for _, v := range s.LogDensity {
					mean += v / float64(rows.N)
				}
				return nil
			}); err != nil || math.Abs(mean-*r.MeanLogLik) > 2e-4 {
				t.Errorf("%s, seed %d: a mean log density of %v, of one fit %v (%v)", name, seed, mean, *r.MeanLogLik, err)
			}
			if m.Sums.Rows != int64(rows.N) || math.Abs(m.Sums.Weight-float64(rows.N)) > 1e-6 || *m.N != m.Sums.Rows || m.Provenance.Update.Count != 9 {
				t.Errorf("%s: the model tells of %d rows of weight %v, and of %d updates", name, m.Sums.Rows, m.Sums.Weight, m.Provenance.Update.Count)
			}
		}
	}
}

// One group has no labels to guess: updates give its weighted moments exactly, with old rows discounted.
func TestUpdatesOfOneGroupAreWeightedMoments(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	rows := &data.Table{N: 300, D: 2}
	for range rows.N {
		x := 1e4 + rng.NormFloat64()
		rows.F64, rows.W = append(rows.F64, x, 0.5*x+rng.NormFloat64()), append(rows.W, float64(1+rng.IntN(3)))
	}
	const forget = 0.6
	r, err := Fit(context.Background(), between(rows, 0, 100), Spec{K: 1, KeepSums: true})
	if err != nil {
		t.Fatal(err)
	}
	m := r.Model
	for i := 100; i < 300; i += 100 {
		u, err := Update(context.Background(), between(rows, i, i+100), m, UpdateSpec{Forget: forget})
		if err != nil {
			t.Fatal(err)
		}
		m = u.Model
	}
	total, mean, cov := 0.0, [2]float64{}, [4]float64{}
	weight := func(i int) float64 { return rows.W[i] * math.Pow(forget, float64(2-i/100)) }
	for i := range rows.N {
		total += weight(i)
		for j := range mean {
			mean[j] += weight(i) * (rows.F64[2*i+j] - 1e4)
		}
	}
	for j := range mean {
		mean[j] = 1e4 + mean[j]/total
	}
	for i := range rows.N {
		for j := range cov {
			cov[j] += weight(i) / total * (rows.F64[2*i+j/2] - mean[j/2]) * (rows.F64[2*i+j%2] - mean[j%2])
		}
	}
	for j, v := range mean {
		if math.Abs(m.Means[0][j]-v) > 1e-8 {
			t.Errorf("mean %v, want %v", m.Means[0], mean)
		}
	}
	for j, v := range cov {
		if math.Abs(m.Covariance[0][j]-v) > 1e-9 {
			t.Errorf("covariance %v, want %v", m.Covariance[0], cov)
		}
	}
	if math.Abs(m.Sums.Weight-total) > 1e-9*total || m.Sums.Rows != 300 {
		t.Errorf("%d rows of weight %v, want 300 of %v", m.Sums.Rows, m.Sums.Weight, total)
	}
}

// Centres of clusters that nobody mistakes are the means of all their rows.
func TestUpdatedCentresAreMeansOfAllRows(t *testing.T) {
	rows := lumps(rand.New(rand.NewPCG(5, 5)), 2000, 2, 40)
	m := inTenths(t, rows, Spec{Model: "kmeans", K: 3})
	sums, sizes := [3][2]float64{}, [3]float64{}
	for i := range rows.N {
		c := int(math.Round(rows.F64[2*i] / 40))
		sizes[c]++
		for j := range 2 {
			sums[c][j] += rows.F64[2*i+j]
		}
	}
	for c := range 3 {
		at := int(math.Round(m.Means[c][0] / 40))
		for j := range 2 {
			if want := sums[at][j] / sizes[at]; math.Abs(m.Means[c][j]-want) > 1e-9 || m.Sizes[c] != sizes[at] {
				t.Errorf("centre %d is %v of weight %v, want %v of %v", c+1, m.Means[c][j], m.Sizes[c], want, sizes[at])
			}
		}
	}
	if u := m.Provenance.Update; u.LogDensity != nil || u.Distance == nil || u.Distance.Old <= 0 {
		t.Errorf("what the update tells: %+v", u)
	}
}

// Threads and what holds the rows change no bit.
func TestUpdatesAreTheSameForAnyNumberOfThreads(t *testing.T) {
	rows := lumps(rand.New(rand.NewPCG(6, 6)), 3000, 3, 5)
	r, err := Fit(context.Background(), between(rows, 0, 1500), Spec{K: 3, KeepSums: true})
	if err != nil {
		t.Fatal(err)
	}
	var first []byte
	for _, threads := range []int{1, 2, 5} {
		u, err := Update(context.Background(), between(rows, 1500, 3000), r.Model, UpdateSpec{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		b, err := u.Model.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b
		}
		if !bytes.Equal(first, b) {
			t.Errorf("another model by %d threads", threads)
		}
		if again := new(model.Model); again.UnmarshalJSON(b) != nil || again.Sums == nil {
			t.Errorf("the model cannot be read again")
		}
	}
}

// New rows that are like the old ones are not warned of: by a normal law once in 16,000 updates, and in few rows more often.
func TestUpdatesOfEqualRowsDoNotWarn(t *testing.T) {
	warned, far := map[int]int{}, 0
	sizes, draws := []int{5, 50, 1000}, 100
	for i := range draws {
		rng := rand.New(rand.NewPCG(uint64(i), 9))
		r, err := Fit(context.Background(), lumps(rng, 400, 2, 6), Spec{K: 3, KeepSums: true, NInit: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range sizes {
			u, err := Update(context.Background(), lumps(rng, n, 2, 6), r.Model, UpdateSpec{})
			if err != nil {
				t.Fatal(err)
			}
			if len(u.Warnings) > 0 {
				warned[n]++
			}
			if math.Abs(u.LogDensity.Apart) > 2 {
				far++
			}
		}
	}
	for n, times := range warned {
		if times > 3 {
			t.Errorf("%d of %d updates by %d rows were warned of", times, draws, n)
		}
	}
	if share := float64(far) / float64(draws*len(sizes)); share > 0.12 { // 0.046 by a normal law
		t.Errorf("%.3f of the updates were more than two standard errors off", share)
	}
}

// A group that appears and a column that drifts are told, by better and worse than before.
func TestUpdatesWarnOfOtherRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	r, err := Fit(context.Background(), lumps(rng, 2000, 2, 6), Spec{K: 3, KeepSums: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(x []float64, i int){
		"a group of one in 50":  func(x []float64, i int) { x[1] += 15 * float64(1-min(i%50, 1)) },
		"a drift of one sd":     func(x []float64, _ int) { x[1]++ },
		"a column of zeros":     func(x []float64, _ int) { x[1] = 0 },
		"units of a thousandth": func(x []float64, _ int) { x[1] *= 1000 },
	} {
		rows := lumps(rng, 1000, 2, 6)
		for i := range rows.N {
			change(rows.F64[2*i:2*i+2], i)
		}
		u, err := Update(context.Background(), rows, r.Model, UpdateSpec{})
		if err != nil {
			t.Fatal(err)
		}
		if len(u.Warnings) != 1 || u.Warnings[0].Code != model.OtherRows || strings.Contains(u.Warnings[0].Text, "better") != (u.LogDensity.Apart > 0) {
			t.Errorf("%s: %v, %+v", name, u.Warnings, u.LogDensity)
		}
	}
	rows := lumps(rng, 1000, 2, 6)
	for i := range rows.N {
		if i%2 == 0 {
			rows.F64[2*i+1] = math.NaN()
		}
	}
	u, err := Update(context.Background(), rows, r.Model, UpdateSpec{})
	if err != nil {
		t.Fatal(err)
	}
	if want := "25.0 % of their cells are missing, where it was 0.0 %"; len(u.Warnings) != 1 || !strings.Contains(u.Warnings[0].Text, want) {
		t.Errorf("gaps: %v", u.Warnings)
	}
}

// What cannot be updated is an error that says why, and the model given stays as it was.
func TestUpdatesThatAreRefused(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	rows := lumps(rng, 200, 2, 6)
	fit := func(spec Spec) *model.Model {
		r, err := Fit(context.Background(), rows, spec)
		if err != nil {
			t.Fatal(err)
		}
		return r.Model
	}
	kept := fit(Spec{K: 2, KeepSums: true})
	before, _ := kept.MarshalJSON()
	nan := between(rows, 0, 1)
	nan.F64 = []float64{math.NaN(), math.NaN()}
	for name, try := range map[string]struct {
		m    *model.Model
		rows *data.Table
		spec UpdateSpec
		says string
	}{
		"no sums":      {fit(Spec{K: 2}), rows, UpdateSpec{}, "KeepSums was not set"},
		"forget":       {kept, rows, UpdateSpec{Forget: 1.5}, "Forget is 1.5"},
		"threads":      {kept, rows, UpdateSpec{Threads: -1}, "Threads"},
		"columns":      {kept, lumps(rng, 10, 3, 1), UpdateSpec{}, "another number of columns"},
		"no rows":      {kept, between(rows, 0, 0), UpdateSpec{}, "there are no rows"},
		"no cells":     {kept, nan, UpdateSpec{}, "no row has a value"},
		"sums altered": {altered(kept), rows, UpdateSpec{}, "sums: values"},
	} {
		_, err := Update(context.Background(), try.rows, try.m, try.spec)
		if err == nil || !strings.Contains(err.Error(), try.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Update(context.Background(), rows, kept, UpdateSpec{}); err != nil {
		t.Fatal(err)
	}
	if after, _ := kept.MarshalJSON(); !bytes.Equal(before, after) {
		t.Error("the model given has changed")
	}
	over, end := context.WithCancel(context.Background())
	end()
	if _, err := Update(over, rows, kept, UpdateSpec{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, spec := range []Spec{{K: 2, Model: "kmedians", KeepSums: true}, {Model: "kmeans", Penalty: new(3.0), KeepSums: true}} {
		if err := spec.Validate(); err == nil || !strings.HasPrefix(err.Error(), "KeepSums does not apply to ") {
			t.Error(err)
		}
	}
	if _, err := Compare(context.Background(), rows, Spec{K: 2, KeepSums: true}, []string{"em"}); err == nil || !strings.HasPrefix(err.Error(), "KeepSums ") {
		t.Error(err)
	}
	if m := kept.Reordered([]int{1, 0}); m.Sums != nil {
		t.Error("sums of components in another order")
	}
}

func altered(m *model.Model) *model.Model {
	own, sums := *m, *m.Sums
	sums.Values = sums.Values[1:]
	own.Sums = &sums
	return &own
}

// A little of everything: small batches, one row, far rows and groups that vanish leave a model that can be used.
func TestUpdatesOfNastyRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 8))
	base := lumps(rng, 500, 2, 4)
	for _, spec := range []Spec{{K: 3}, {K: 3, Covariance: "VEI"}, {K: 3, Model: "kmeans"}, {K: 3, Algorithm: "hard-em"}, {K: 3, RegCovar: 0.1}, {K: 3, Weights: "uniform"}, {K: 3, PCA: 1}, {K: 2, Transform: "sqrt:a"}} {
		spec.KeepSums, spec.Columns = true, []string{"a", "b"}
		if spec.Transform != "" {
			base = &data.Table{N: base.N, D: 2, F64: append([]float64(nil), base.F64...)}
			for i := range base.F64 {
				base.F64[i] = math.Abs(base.F64[i])
			}
		}
		r, err := Fit(context.Background(), base, spec)
		if err != nil {
			t.Fatal(err)
		}
		for name, x := range map[string][]float64{"one row": {1, 1}, "far": {1e6, 1}, "equal": {2, 2, 2, 2, 2, 2, 2, 2}, "few": {0, 1, 3, 2, 8, 1}} {
			m := r.Model
			for i := range 3 {
				u, err := Update(context.Background(), &data.Table{N: len(x) / 2, D: 2, F64: x}, m, UpdateSpec{Forget: 0.5})
				if err != nil {
					t.Fatalf("%s, %s, %d: %v", fmt.Sprint(spec), name, i, err)
				}
				if m = u.Model; m.Sums.Rows != int64(500+(i+1)*len(x)/2) {
					t.Errorf("%d rows", m.Sums.Rows)
				}
				if err := m.Validate(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

package score_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/latent-go/latent/score"
)

// line is a partition of points on a line.
func line(x []float64, labels ...int) *score.Partition {
	return &score.Partition{N: len(x), D: 1, X: x, Labels: labels}
}

func TestValidityByHand(t *testing.T) {
	for _, c := range []struct {
		name   string
		p      *score.Partition
		rows   []float64
		ch, db float64 // NaN: undefined
	}{
		// Centres 0.5 and 10, mean 11/3: between 2·(19/6)² + (19/3)² = 361/6, within 1/2, n-k = 1.
		{"a singleton", line([]float64{0, 1, 10}, 0, 0, 1), []float64{0.9, 8.0 / 9, 0}, 361.0 / 3, 0.5 / 9.5},
		{"duplicates", line([]float64{0, 0, 5, 5}, 0, 0, 1, 1), []float64{1, 1, 1, 1}, math.NaN(), 0},
		{"duplicates that do not add exactly", line([]float64{.1, .1, .1, .7, .7, .7}, 3, 3, 3, -8, -8, -8),
			[]float64{1, 1, 1, 1, 1, 1}, math.NaN(), 0},
		{"all rows equal", line([]float64{2, 2, 2}, 0, 0, 1), []float64{0, 0, 0}, math.NaN(), math.NaN()},
		// Both centres at 1: no variance between.
		{"one centre", line([]float64{0, 2, 1, 1}, 0, 0, 1, 1), []float64{-0.5, -0.5, 1, 1}, 0, math.NaN()},
		{"wide", line([]float64{0, 1e300, 1e301}, 0, 0, 1), []float64{0.9, 8.0 / 9, 0}, 361.0 / 3, 0.5 / 9.5},
		{"narrow", line([]float64{0, 1e-300, 1e-299}, 0, 0, 1), []float64{0.9, 8.0 / 9, 0}, 361.0 / 3, 0.5 / 9.5},
		{"the whole range", line([]float64{-math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64}, 0, 1, 0), []float64{1, 0, 1}, math.NaN(), 0},
		{"offset", line([]float64{1 << 40, 1<<40 + 1, 1<<40 + 10}, 0, 0, 1), []float64{0.9, 8.0 / 9, 0}, 361.0 / 3, 0.5 / 9.5},
	} {
		got := make([]float64, c.p.N)
		mean, err := c.p.Silhouette(context.Background(), got)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var want float64
		for i, v := range c.rows {
			want += v / float64(len(c.rows))
			if !near(got[i], v, 1e-14) {
				t.Errorf("%s: silhouette of row %d = %v, want %v", c.name, i, got[i], v)
			}
		}
		if !near(mean, want, 1e-14) {
			t.Errorf("%s: mean silhouette = %v, want %v", c.name, mean, want)
		}
		ch, err := c.p.CalinskiHarabasz()
		defined(t, c.name+": Calinski-Harabasz", ch, err, c.ch)
		db, err := c.p.DaviesBouldin()
		defined(t, c.name+": Davies-Bouldin", db, err, c.db)
		if c.name == "the whole range" { // differences overflow
			continue
		}
		s := streamed(t, c.p)
		ch, err = s.CalinskiHarabasz()
		defined(t, c.name+": Calinski-Harabasz of a stream", ch, err, c.ch)
		db, err = s.DaviesBouldin()
		defined(t, c.name+": Davies-Bouldin of a stream", db, err, c.db)
	}
}

// defined checks a value, or that it is undefined where want is NaN.
func defined(t *testing.T, what string, got float64, err error, want float64) {
	t.Helper()
	if u := (*score.UndefinedError)(nil); math.IsNaN(want) {
		if !errors.As(err, &u) || got != 0 || !strings.Contains(err.Error(), "undefined") {
			t.Errorf("%s = %v (%v), want it undefined", what, got, err)
		}
	} else if err != nil || !near(got, want, 1e-12) {
		t.Errorf("%s = %v (%v), want %v", what, got, err, want)
	}
}

// all returns the three indices and the errors.
func all(p *score.Partition) (v [3]float64, err [3]error) {
	v[0], err[0] = p.Silhouette(context.Background(), nil)
	v[1], err[1] = p.CalinskiHarabasz()
	v[2], err[2] = p.DaviesBouldin()
	return v, err
}

func TestUndefined(t *testing.T) {
	none := &score.Partition{N: 2, D: 1, X: []float64{1, 2}, Labels: []int{0, 1}, W: []float64{0, 0}}
	light := &score.Partition{N: 4, D: 1, X: []float64{1, 2, 3, 4}, Labels: []int{0, 0, 1, 1}, W: []float64{.5, .5, .5, .5}}
	for name, p := range map[string]*score.Partition{
		"the zero value":          {},
		"one row":                 line([]float64{3}, 0),
		"one cluster":             line([]float64{1, 2, 3}, 4, 4, 4),
		"every row alone":         line([]float64{1, 2, 3}, 2, 0, 1),
		"no weight":               none,
		"a weight of one each":    light,
		"one cluster of weight 0": {N: 3, D: 1, X: []float64{1, 2, 9}, Labels: []int{0, 0, 1}, W: []float64{1, 1, 0}},
	} {
		v, err := all(p)
		for i := range v {
			defined(t, name, v[i], err[i], math.NaN())
		}
	}
	p := line([]float64{0, 1, 10, 3}, 0, 0, 1, 1)
	p.W = []float64{1, 1, 2, 0}
	if v, err := p.SilhouetteOf(context.Background(), nil, []int{3}); err == nil {
		t.Errorf("mean over a row of weight 0 = %v", v)
	}
}

func TestRefused(t *testing.T) {
	x := []float64{0, 1, 10}
	for name, c := range map[string]struct {
		p   *score.Partition
		say string
	}{
		"rows":     {&score.Partition{N: 4, D: 1, X: x, Labels: []int{0, 0, 1, 1}}, "3 numbers for 4 rows of 1 columns"},
		"labels":   {line(x, 0, 0), "2 labels for 3 rows"},
		"weights":  {&score.Partition{N: 3, D: 1, X: x, Labels: []int{0, 0, 1}, W: []float64{1}}, "1 weights for 3 rows"},
		"negative": {&score.Partition{N: 3, D: 1, X: x, Labels: []int{0, 0, 1}, W: []float64{1, -2, 1}}, "weight -2 of row 1"},
		"NaN":      {line([]float64{0, 1, math.NaN()}, 0, 0, 1), "row 2, column 0"},
		"infinite": {line([]float64{0, math.Inf(-1), 1}, 0, 0, 1), "row 1, column 0"},
		"shape":    {&score.Partition{N: -1, D: -3, X: x, Labels: []int{0, 0, 1}}, "rows"},
	} {
		_, errs := all(c.p)
		for _, err := range errs {
			if u := (*score.UndefinedError)(nil); err == nil || errors.As(err, &u) || !strings.Contains(err.Error(), c.say) {
				t.Errorf("%s: error %v, want one that says %q", name, err, c.say)
			}
		}
	}
	p := line(x, 0, 0, 1)
	if _, err := p.Silhouette(context.Background(), make([]float64, 2)); err == nil {
		t.Error("room for 2 of 3 rows was enough")
	}
	for _, i := range []int{-1, 3} {
		if _, err := p.SilhouetteOf(context.Background(), nil, []int{i}); err == nil {
			t.Errorf("row %d of 3 has a silhouette", i)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Silhouette(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, it returned %v", err)
	}
}

// drawPartition draws a small partition of whole numbers with whole weights; every index may be undefined on it.
func drawPartition(t *rapid.T) *score.Partition {
	n, d := rapid.IntRange(1, 30).Draw(t, "n"), rapid.IntRange(1, 3).Draw(t, "d")
	p := &score.Partition{N: n, D: d, Labels: labelling(t, "labels", n, 4)}
	for range n * d {
		p.X = append(p.X, float64(rapid.IntRange(-20, 20).Draw(t, "x")))
	}
	for range n {
		p.W = append(p.W, float64(rapid.IntRange(0, 3).Draw(t, "w")))
	}
	return p
}

// naive is the silhouette by the book: rows repeated, every distance when it is needed.
func naive(x [][]float64, labels []int, i int) float64 {
	sum, n := map[int]float64{}, map[int]float64{}
	for j := range x {
		if j == i {
			continue
		}
		var d2 float64
		for c := range x[i] {
			d2 += math.Pow(x[i][c]-x[j][c], 2)
		}
		sum[labels[j]] += math.Sqrt(d2)
		n[labels[j]]++
	}
	if n[labels[i]] == 0 {
		return 0
	}
	a, b := sum[labels[i]]/n[labels[i]], math.Inf(1)
	for l := range n {
		if l != labels[i] {
			b = math.Min(b, sum[l]/n[l])
		}
	}
	if a == 0 && b == 0 {
		return 0
	}
	return (b - a) / math.Max(a, b)
}

func TestValidityLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPartition(t)
		v, errs := all(p)
		same := func(law string, q *score.Partition) {
			t.Helper()
			u, other := all(q)
			for i := range v {
				if (errs[i] == nil) != (other[i] == nil) || !near(u[i], v[i], 1e-12) {
					t.Errorf("%s: index %d is %v (%v) and %v (%v)", law, i, v[i], errs[i], u[i], other[i])
				}
			}
		}

		r := &score.Partition{D: p.D, Threads: 1}
		var rows [][]float64
		for i, w := range p.W {
			for range int(w) {
				rows = append(rows, p.X[i*p.D:(i+1)*p.D])
				r.N, r.X, r.Labels = r.N+1, append(r.X, rows[len(rows)-1]...), append(r.Labels, p.Labels[i])
			}
		}
		same("weights are repeats", r)

		q := *p
		q.Labels = make([]int, p.N)
		for i, l := range p.Labels {
			q.Labels[i] = []int{7, -1, 1 << 30, 0}[l]
		}
		same("names do not matter", &q)

		q = *p
		q.X = make([]float64, len(p.X))
		for i, x := range p.X {
			q.X[i] = 1<<30 - x/4
		}
		same("a shift, a scale and a mirror do not matter", &q)

		q = *p
		q.X, q.Labels, q.W = nil, nil, nil
		for i := p.N - 1; i >= 0; i-- {
			q.X, q.Labels, q.W = append(q.X, p.X[i*p.D:(i+1)*p.D]...), append(q.Labels, p.Labels[i]), append(q.W, p.W[i])
		}
		same("the order of rows does not matter", &q)

		if errs[0] != nil {
			return
		}
		got := make([]float64, r.N)
		if _, err := r.Silhouette(context.Background(), got); err != nil {
			t.Fatal(err)
		}
		for i, s := range got {
			if want := naive(rows, r.Labels, i); !near(s, want, 1e-12) {
				t.Errorf("silhouette of row %d = %v, by the book %v", i, s, want)
			}
		}
		whole := make([]float64, p.N)
		if _, err := p.Silhouette(context.Background(), whole); err != nil {
			t.Fatal(err)
		}
		chosen := rapid.SliceOf(rapid.IntRange(0, p.N-1)).Draw(t, "chosen")
		some := make([]float64, len(chosen))
		_, err := p.SilhouetteOf(context.Background(), some, chosen)
		if u := (*score.UndefinedError)(nil); err != nil && !errors.As(err, &u) {
			t.Fatal(err)
		}
		for j, i := range chosen {
			if some[j] != whole[i] {
				t.Errorf("row %d: %v among the chosen, %v among all", i, some[j], whole[i])
			}
		}
	})
}

// The same bits for any number of threads, and no memory that grows with N squared.
func TestSilhouetteThreadsAndMemory(t *testing.T) {
	n := 6000
	if testing.Short() {
		n = 1500
	}
	p := &score.Partition{N: n, D: 2}
	s := uint64(1)
	for i := range n {
		for range 2 {
			s = s*6364136223846793005 + 1442695040888963407
			p.X = append(p.X, float64(s>>11)/(1<<53)+float64(i%5))
		}
		p.Labels = append(p.Labels, i%5)
	}
	var want float64
	for _, threads := range []int{1, 2, 3, 8} {
		p.Threads = threads
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := p.Silhouette(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		// A copy of the data, a label, a value and an index a row; a matrix of distances would be 8 n a row.
		if used := after.TotalAlloc - before.TotalAlloc; used > uint64(100*n+1<<18) {
			t.Errorf("%d rows took %d bytes", n, used)
		}
		if threads == 1 {
			want = got
		}
		if got != want {
			t.Errorf("%d threads give %v, one gives %v", threads, got, want)
		}
	}
}

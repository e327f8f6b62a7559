package score_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-go/latent/score"
)

// sampled shows the rows of p to a sample and returns what it finds.
func sampled(t *testing.T, p *score.Partition, most int, seed uint64) *score.SampledSilhouette {
	t.Helper()
	s := score.NewSilhouetteSample(p.D, most, rand.New(rand.NewPCG(seed, 9)))
	for i, l := range p.Labels {
		w := 1.0
		if p.W != nil {
			w = p.W[i]
		}
		if err := s.Add(l, p.X[i*p.D:(i+1)*p.D], w); err != nil {
			t.Fatal(err)
		}
	}
	e, err := s.Silhouette(context.Background(), 2)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// lump appends n rows around a place of two columns, uniform within width, to p.
func lump(p *score.Partition, rng *rand.Rand, label, n int, x, y, width float64) {
	for range n {
		p.N++
		p.D, p.Labels = 2, append(p.Labels, label)
		p.X = append(p.X, x+width*(rng.Float64()-0.5), y+width*(rng.Float64()-0.5))
	}
}

// A group of a few rows in thousands is in every sample, and the estimate is near the exact value, with the long group whole and cut.
func TestSampleNeverMissesASmallCluster(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	p := &score.Partition{}
	lump(p, rng, 7, 5000, 0, 0, 1)
	lump(p, rng, 3, 5000, 1, 0, 1)
	lump(p, rng, 5, 40, 3, 0, 0.2)
	lump(p, rng, 9, 2, 0, 30, 1)
	cut := *p
	whole := *p
	whole.Labels = slices.Clone(p.Labels)
	for i, l := range whole.Labels {
		if l == 3 {
			whole.Labels[i] = 7
		}
	}
	for name, q := range map[string]*score.Partition{"cut": &cut, "whole": &whole} {
		exact, err := q.Silhouette(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		rows := map[int]int{}
		for _, l := range q.Labels {
			rows[l]++
		}
		for seed := range uint64(20) {
			e := sampled(t, q, 5000, seed)
			if len(e.Values) != 5000 || e.Least != 5000/(2*len(rows)) {
				t.Errorf("%s: %d rows, at least %d of each", name, len(e.Values), e.Least)
			}
			have, weight, mean := map[int]int{}, map[int]float64{}, 0.0
			for i, l := range e.Labels {
				have[l]++
				weight[l] += e.Weight[i]
				mean += e.Weight[i] * e.Values[i] / float64(q.N)
			}
			for l, n := range rows {
				if have[l] < min(n, e.Least) || math.Abs(weight[l]-float64(n)) > 1e-9*float64(n) {
					t.Errorf("%s: %d of the %d rows of cluster %d, which stand for %v", name, have[l], n, l, weight[l])
				}
			}
			if math.Abs(e.Mean-exact) > 0.012 || // such estimates stray by 0.003
				math.Abs(mean-e.Mean) > 1e-12 {
				t.Errorf("%s, seed %d: %v, exactly %v; the values have mean %v", name, seed, e.Mean, exact, mean)
			}
		}
	}
}

// Up to its size a sample is all rows, and so is one column: no estimate, whatever the seed.
func TestSampleOfFewRowsIsAllOfThem(t *testing.T) {
	p := cloud(500, 3, 5)
	p.W = make([]float64, p.N)
	for i := range p.W {
		p.W[i] = float64(i % 4)
	}
	line := cloud(3000, 1, 6)
	for _, c := range []struct {
		p    *score.Partition
		most int
	}{{p, 500}, {line, 100}} {
		want := make([]float64, c.p.N)
		exact, err := c.p.Silhouette(context.Background(), want)
		if err != nil {
			t.Fatal(err)
		}
		a, b := sampled(t, c.p, c.most, 1), sampled(t, c.p, c.most, 2)
		if a.Least != 0 || a.Mean != b.Mean || math.Abs(a.Mean-exact) > 1e-12 {
			t.Errorf("%d rows: %v and %v, want %v (least %d)", c.p.N, a.Mean, b.Mean, exact, a.Least)
		}
		at := 0
		for i, v := range want {
			if c.p.W != nil && c.p.W[i] == 0 {
				continue
			}
			if a.Values[at] != v || a.Labels[at] != c.p.Labels[i] {
				t.Fatalf("row %d: %v of %d, want %v of %d", i, a.Values[at], a.Labels[at], v, c.p.Labels[i])
			}
			at++
		}
	}
}

// Over many samples the mean of the estimates is the exact value, with weights and without: a group counts as it does among all
// rows, not by how many of its rows are in the sample.
func TestSampleHasNoBias(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	p := &score.Partition{}
	lump(p, rng, 0, 500, 0, 0, 2)
	lump(p, rng, 1, 60, 1.5, 0, 2)
	lump(p, rng, 2, 12, 0, 4, 1)
	weighted := *p
	weighted.W = make([]float64, p.N)
	for i := range weighted.W {
		weighted.W[i] = math.Ceil(3*rng.Float64()) + 20*math.Floor(1.02*rng.Float64())
	}
	for _, q := range []*score.Partition{p, &weighted} {
		exact, err := q.Silhouette(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		const runs = 400
		sum, square := 0.0, 0.0
		for seed := range uint64(runs) {
			v := sampled(t, q, 150, seed).Mean
			sum += v / runs
			square += v * v / runs
		}
		sd := math.Sqrt(square - sum*sum)
		t.Logf("exact %v, mean of estimates %v, each within %v", exact, sum, sd)
		if math.Abs(sum-exact) > 4*sd/math.Sqrt(runs)+0.003 { // a ratio of means keeps a bias of the order of 1 / 150
			t.Errorf("mean of the estimates %v, exactly %v", sum, exact)
		}
	}
}

// The rows of a sample stand for all the same whether rows of weight 0 lie between, and for any number of threads.
func TestSampleDependsOnRowsAlone(t *testing.T) {
	p := cloud(5000, 2, 4)
	want := sampled(t, p, 300, 1)
	gaps := score.NewSilhouetteSample(2, 300, rand.New(rand.NewPCG(1, 9)))
	for i, l := range p.Labels {
		for _, w := range []float64{0, 1, 0} {
			if err := gaps.Add(l, p.X[2*i:2*i+2], w); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := gaps.Silhouette(context.Background(), 1)
	if err != nil || got.Mean != want.Mean || !slices.Equal(got.Values, want.Values) {
		t.Errorf("%v (%v), want %v", got.Mean, err, want.Mean)
	}
}

// Many clusters: at least two rows of each, and beyond the limit an index that is undefined, not one that is wrong.
func TestSampleOfManyClusters(t *testing.T) {
	p := cloud(30_000, 2, 2000)
	e := sampled(t, p, 1000, 3)
	rows, have := map[int]int{}, map[int]int{}
	for _, l := range p.Labels {
		rows[l]++
	}
	for _, l := range e.Labels {
		have[l]++
	}
	for l, n := range rows {
		if have[l] < min(n, 2) {
			t.Errorf("%d of %d rows of cluster %d", have[l], n, l)
		}
	}
	if e.Least != 2 || e.Mean != e.Mean {
		t.Errorf("%v, at least %d of each", e.Mean, e.Least)
	}
	s := score.NewSilhouetteSample(2, 100, rand.New(rand.NewPCG(1, 1)))
	for i := range 2 * (score.MostSampledClusters + 1) {
		if err := s.Add(i/2, []float64{float64(i), 0}, 1); err != nil {
			t.Fatal(err)
		}
	}
	var undefined *score.UndefinedError
	if _, err := s.Silhouette(context.Background(), 1); !errors.As(err, &undefined) {
		t.Errorf("too many clusters: %v", err)
	}
}

func TestSampleSaysWhatIsUndefined(t *testing.T) {
	for n, why := range map[int]string{0: "there are no rows", 1000: "there is one cluster"} {
		s := score.NewSilhouetteSample(2, 10, rand.New(rand.NewPCG(1, 1)))
		for i := range n {
			if err := s.Add(4, []float64{float64(i), 0}, 1); err != nil {
				t.Fatal(err)
			}
		}
		var undefined *score.UndefinedError
		if _, err := s.Silhouette(context.Background(), 1); !errors.As(err, &undefined) || undefined.Why != why {
			t.Errorf("%d rows: %v, want %q", n, err, why)
		}
	}
	s := score.NewSilhouetteSample(2, 10, rand.New(rand.NewPCG(1, 1)))
	for _, w := range []float64{-1, math.NaN(), math.Inf(1)} {
		if s.Add(1, []float64{0, 0}, w) == nil {
			t.Errorf("weight %v is taken", w)
		}
	}
	if s.Add(1, []float64{0}, 1) == nil {
		t.Error("a row of one number is taken for two columns")
	}
}

// One column is sorted; the same numbers beside a constant go pair by pair. Weights, equal numbers, singles, a far offset.
func TestSilhouettesOfOneColumnAreThoseOfPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for trial := range 60 {
		n, k := 3+rng.IntN(120), 2+rng.IntN(6)
		line := &score.Partition{N: n, D: 1}
		pairs := &score.Partition{N: n, D: 2}
		offset := []float64{0, 1e9, -1e-3}[trial%3]
		for range n {
			l := rng.IntN(k)
			x := offset + float64(l) + math.Round(20*rng.NormFloat64())/16
			line.X, pairs.X = append(line.X, x), append(pairs.X, x, 5)
			line.Labels = append(line.Labels, l)
			if trial%2 == 1 {
				line.W = append(line.W, float64(rng.IntN(4))/2)
			}
		}
		pairs.Labels, pairs.W = line.Labels, line.W
		got, want := make([]float64, n), make([]float64, n)
		a, err := line.Silhouette(context.Background(), got)
		b, err2 := pairs.Silhouette(context.Background(), want)
		if (err == nil) != (err2 == nil) || math.Abs(a-b) > 1e-12 {
			t.Fatalf("trial %d: %v (%v), by pairs %v (%v)", trial, a, err, b, err2)
		}
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-11 {
				t.Errorf("trial %d, row %d: %v, by pairs %v", trial, i, got[i], want[i])
			}
		}
	}
}

package sweep_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/sweep"
)

// A first pass over rows with gaps agrees with loops over the cells that are there.
func TestLookThroughGaps(t *testing.T) {
	const n, d = 5000, 5
	src := holed(n, d, "random")
	src.W = make([]float64, n)
	for i := range n {
		src.W[i] = float64(i % 4)
		if i%50 == 7 { // a row without any cell
			for j := range d {
				src.F64[i*d+j] = math.NaN()
			}
		}
	}
	got, err := sweep.LookThrough(context.Background(), src, 2)
	if err != nil {
		t.Fatal(err)
	}
	var used, empty, missing, incomplete int64
	weight, patterns := 0.0, map[string]bool{}
	for i := range n {
		row := src.F64[i*d : (i+1)*d]
		gone, key := 0, ""
		for _, v := range row {
			if v != v {
				gone++
			}
			key += fmt.Sprint(v != v)
		}
		switch {
		case src.W[i] == 0:
		case gone == d:
			empty++
		default:
			used++
			weight += src.W[i]
			missing += int64(gone)
			if gone > 0 {
				incomplete++
				patterns[key] = true
			}
		}
	}
	if got.Rows != n || got.Used != used || got.W != weight || got.Empty != empty || got.Missing != missing || got.Incomplete != incomplete || got.Gaps.Len() != len(patterns) {
		t.Errorf("rows %d used %d weight %v empty %d missing %d incomplete %d patterns %d; want %d %d %v %d %d %d %d",
			got.Rows, got.Used, got.W, got.Empty, got.Missing, got.Incomplete, got.Gaps.Len(), n, used, weight, empty, missing, incomplete, len(patterns))
	}
	for j := range d {
		seen, mean, square, lo, hi := 0.0, 0.0, 0.0, math.Inf(1), math.Inf(-1)
		for i := range n {
			if v := src.F64[i*d+j]; v == v && src.W[i] > 0 {
				seen += src.W[i]
				mean += src.W[i] * v
				lo, hi = min(lo, v), max(hi, v)
			}
		}
		mean /= seen
		for i := range n {
			if v := src.F64[i*d+j] - mean; v == v {
				square += src.W[i] * v * v
			}
		}
		if got.Seen[j] != seen || math.Abs(got.Mean[j]-mean) > 1e-12 || math.Abs(got.Var[j]-square/seen) > 1e-12 || got.Min[j] != lo || got.Max[j] != hi {
			t.Errorf("column %d: seen %v mean %v variance %v from %v to %v; want %v %v %v %v %v", j, got.Seen[j], got.Mean[j], got.Var[j], got.Min[j], got.Max[j], seen, mean, square/seen, lo, hi)
		}
	}
	if _, err := sweep.Look(context.Background(), src, 2); err == nil {
		t.Error("a first pass over complete rows takes missing cells")
	}
}

// streamed is a source that is no table.
type streamed struct{ *data.Table }

// Sums and scores of rows with gaps are the same, to the bit, for any number of threads, in memory and streamed.
func TestGapsGiveTheSameBits(t *testing.T) {
	const n, d, k = 3000, 6, 3
	src := holed(n, d, "random")
	for i := range n { // levels and counts beside the numbers
		for _, j := range []int{1, 4} {
			if v := src.F64[i*d+j]; v == v {
				src.F64[i*d+j] = math.Trunc(min(math.Abs(2*v), 2))
			}
		}
	}
	look, err := sweep.LookThrough(context.Background(), src, 2)
	if err != nil {
		t.Fatal(err)
	}
	numbers := []int{0, 2, 3, 5}
	v := make([]float64, 0, 4)
	for _, j := range numbers {
		v = append(v, look.Var[j])
	}
	for _, shape := range []family.Shape{family.Full, family.Tied, family.Diag, family.TiedVolumeShape} {
		var number family.Family = family.Gaussian{Shape: shape, Var: v}
		if shape.Parsimonious() {
			number = family.Parsimonious{Shape: shape, Var: v}
		}
		fam := family.Mixed{Parts: []family.Part{{Family: number, Columns: numbers}, {Family: family.Categorical{Levels: []int{3}}, Columns: []int{1}},
			{Family: family.Poisson{}, Columns: []int{4}}}}.WithGaps(look.Gaps)
		m := &mixture.Mixture{Family: fam, K: k, D: d}
		theta := make([]float64, m.Params())
		for i := range theta {
			theta[i] = 0.3 * math.Sin(float64(i))
		}
		var first *family.Stats
		var scores []float64
		for _, from := range []data.Source{src, streamed{src}} {
			for _, threads := range []int{1, 2, 3, 7} {
				local := sweep.NewLocal(from, n, make([]float64, d), threads)
				for range 2 { // the second pass takes what those before have kept
					other := slices.Clone(theta)
					slices.Reverse(other)
					if _, err := local.Sweep(context.Background(), []sweep.Task{{Mixture: m, Theta: other, Beta: 1}}); err != nil {
						t.Fatal(err)
					}
					s, err := local.Sweep(context.Background(), []sweep.Task{{Mixture: m, Theta: theta, Beta: 1}})
					if err != nil {
						t.Fatal(err)
					}
					if first == nil {
						first = s[0]
					}
					if !slices.Equal(s[0].Sum, first.Sum) || s[0].LogLik != first.LogLik || s[0].W != n {
						t.Fatalf("%s, %d threads, %T: other sums", shape, threads, from)
					}
				}
				var own []float64
				if err := local.Rows(context.Background(), m, theta, func(r *sweep.Scored) error {
					own = append(append(own, r.LogDensity...), r.Responsibilities...)
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				if scores == nil {
					scores = own
				}
				if !slices.Equal(own, scores) {
					t.Fatalf("%s, %d threads, %T: other scores", shape, threads, from)
				}
			}
		}
		first, scores = nil, nil
	}
}

// Rows of which none lacks a cell give a family for rows with gaps the log-likelihood of complete rows, and one for complete rows the bits of
// before.
func TestNoGapsChangeNothing(t *testing.T) {
	const n, d, k = 2000, 4, 3
	src := holed(n, d, "complete")
	sums := func(gaps *family.Gaps) *family.Stats {
		m := &mixture.Mixture{Family: family.Gaussian{Shape: family.Full, Var: []float64{1, 1, 1, 1}, Gaps: gaps}, K: k, D: d}
		theta := make([]float64, m.Params())
		for i := range theta {
			theta[i] = 0.3 * math.Sin(float64(i))
		}
		s, err := sweep.NewLocal(src, n, make([]float64, d), 2).Sweep(context.Background(), []sweep.Task{{Mixture: m, Theta: theta, Beta: 1}})
		if err != nil {
			t.Fatal(err)
		}
		return s[0]
	}
	plain, with := sums(nil), sums(family.NewGaps(d))
	if plain.LogLik != with.LogLik || !slices.Equal(plain.Sum, with.Sum[:len(plain.Sum)]) || with.Sum[len(plain.Sum)] != 0 {
		t.Errorf("log-likelihood %v with gaps that no row has, want %v", with.LogLik, plain.LogLik)
	}
}

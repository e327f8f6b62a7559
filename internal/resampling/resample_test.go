package resampling

import (
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/rng"
)

// weightsOf returns all row weights of a source, read in blocks of so many rows.
func weightsOf(t *testing.T, src data.Source, block int) (w []float64) {
	t.Helper()
	r, err := src.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b data.Block
	for {
		if err := r.Read(&b, block); errors.Is(err, io.EOF) {
			return w
		} else if err != nil {
			t.Fatal(err)
		}
		for i := range b.N {
			w = append(w, b.Weight(i))
		}
	}
}

// binomialP returns the probabilities of 0 to n of a binomial distribution by Pascal's recursion.
func binomialP(n int, p float64) []float64 {
	probs := []float64{1}
	for range n {
		next := make([]float64, len(probs)+1)
		for x, v := range probs {
			next[x] += v * (1 - p)
			next[x+1] += v * p
		}
		probs = next
	}
	return probs
}

// fits fails unless counts could be so many draws with the probabilities: Pearson's chi-square, cells below 5 expected put
// together, beyond five standard deviations of its distribution.
func fits(t *testing.T, what string, counts []int, probs []float64) {
	t.Helper()
	n := 0
	for _, c := range counts {
		n += c
	}
	chi, cells, o, e := 0.0, 0, 0.0, 0.0
	for x, p := range probs {
		o, e = o+float64(counts[x]), e+p*float64(n)
		if e >= 5 {
			chi += (o - e) * (o - e) / e
			cells, o, e = cells+1, 0, 0
		}
	}
	df := float64(cells - 1)
	if cells < 3 || chi > df+5*math.Sqrt(2*df) {
		t.Errorf("%s: chi-square is %v with %v degrees of freedom", what, chi, df)
	}
}

func TestResampledWeightsAreMultinomialCounts(t *testing.T) {
	t.Parallel()
	own := []float64{1, 3, 0, 2, 1, 5}
	src := &data.Table{N: 6, D: 1, F64: make([]float64, 6), W: own}
	const total, times = 12, 20_000
	sums := make([]int, len(own))
	third, pair := make([]int, total+1), make([]int, total+1) // of the row of weight 2; of those of weights 3 and 5 together
	for b := range times {
		s := &resample{seed: 7, replicate: b, used: 5, total: total}
		sum := 0.0
		w := weightsOf(t, s.of(src), 100)
		for i, v := range w {
			if v != math.Trunc(v) || v < 0 || own[i] == 0 && v != 0 {
				t.Fatalf("row %d of weight %v is drawn %v times", i, own[i], v)
			}
			sum += v
			sums[i] += int(v)
		}
		if sum != total {
			t.Fatalf("%v rows are drawn, want %d", sum, total)
		}
		third[int(w[3])]++
		pair[int(w[1]+w[5])]++
		s.halved = true
		for i, v := range weightsOf(t, s.of(src), 100) {
			if v != w[i]/2 {
				t.Fatalf("half of %v is %v", w[i], v)
			}
		}
	}
	probs := make([]float64, len(own))
	for i, w := range own {
		probs[i] = w / total
	}
	fits(t, "which rows", sums, probs)
	fits(t, "a row of weight 2", third, binomialP(total, 2.0/total))
	fits(t, "two rows together", pair, binomialP(total, 8.0/total))
}

func TestARowOfWeightTwoIsDrawnLikeTheRowTwice(t *testing.T) {
	t.Parallel()
	once := &data.Table{N: 3, D: 1, F64: []float64{1, 2, 3}, W: []float64{1, 2, 1}}
	twice := &data.Table{N: 4, D: 1, F64: []float64{1, 2, 2, 3}}
	weighted, repeated := make([]int, 5), make([]int, 5)
	for b := range 20_000 {
		w := weightsOf(t, (&resample{seed: 1, replicate: b, used: 3, total: 4}).of(once), 100)
		v := weightsOf(t, (&resample{seed: 2, replicate: b, used: 4, total: 4}).of(twice), 100)
		weighted[int(w[1])]++
		repeated[int(v[1]+v[2])]++
	}
	half := binomialP(4, 0.5)
	fits(t, "weight 2", weighted, half)
	fits(t, "the row twice", repeated, half)
}

func TestBinomialNumbersFollowTheirDistribution(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n int
		p float64
	}{{1, 0.3}, {12, 0.9}, {300, 0.01}, {300, 0.03}, {300, 0.2}, {300, 0.7}, {300, 0.99}} {
		rng := rand.New(rand.NewPCG(3, uint64(c.n)))
		counts := make([]int, c.n+1)
		for range 40_000 {
			counts[binomial(rng, int64(c.n), c.p)]++
		}
		if c.n > 1 {
			fits(t, "binomial", counts, binomialP(c.n, c.p))
		} else if share := float64(counts[1]) / 40_000; math.Abs(share-c.p) > 0.012 { // five standard deviations
			t.Errorf("of one trial with probability %v, a share of %v succeeds", c.p, share)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	if binomial(rng, 9, 1) != 9 || binomial(rng, 9, 0) != 0 || binomial(rng, 0, 0.5) != 0 || binomial(rng, 9, math.NaN()) != 0 {
		t.Error("certain numbers are not what is certain")
	}
}

// A sequence is drawn like a row of its weight, and all its rows with it.
func TestSequencesAreDrawnLikeRows(t *testing.T) {
	t.Parallel()
	own, lengths := []float64{1, 2, 3, 1, 4}, []int{3, 1, 1, 4, 2}
	rows := &data.Table{N: len(own), D: 1, F64: make([]float64, len(own)), W: own}
	src := &data.Table{D: 1}
	for s, n := range lengths {
		for range n {
			src.N, src.F64, src.W, src.Sequence = src.N+1, append(src.F64, 0), append(src.W, own[s]), append(src.Sequence, int32(s))
		}
	}
	for b := range 20 {
		s, err := ofSequences(context.Background(), src)
		if err != nil || s.used != 5 || s.total != 11 {
			t.Fatalf("%+v: %v", s, err)
		}
		s.seed, s.replicate = 6, b
		want := weightsOf(t, (&resample{seed: 6, replicate: b, used: 5, total: 11}).of(rows), 100)
		for _, from := range []data.Source{src, fixtures.Passed(src)} {
			for _, block := range []int{1, 2, 3, 100} {
				for i, w := range weightsOf(t, s.of(from), block) {
					if w != want[src.Sequence[i]] {
						t.Fatalf("blocks of %d: row %d of sequence %d has weight %v, want %v", block, i, src.Sequence[i], w, want[src.Sequence[i]])
					}
				}
			}
		}
	}
}

func TestResampledWeightsDoNotDependOnHowRowsAreRead(t *testing.T) {
	t.Parallel()
	n := 5000
	src := &data.Table{N: n, D: 1, F64: rng.Normals(1, n), W: rng.Uniforms(2, n)}
	total := 0.0
	for _, w := range src.W {
		total += w
	}
	s := &resample{seed: 5, replicate: 3, used: int64(n), total: total}
	want := weightsOf(t, s.of(src), n)
	sum := 0.0
	for _, w := range want {
		sum += w
	}
	fixtures.Within(t, "total weight", sum, total, 1e-9)
	for _, block := range []int{1, 7, 4096} {
		for i, w := range weightsOf(t, s.of(fixtures.Passed(src)), block) {
			if w != want[i] {
				t.Fatalf("blocks of %d: row %d has weight %v, in a table %v", block, i, w, want[i])
			}
		}
	}
	own := slices.Clone(src.W)
	r, err := s.of(fixtures.Passed(src)).Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	blocks := make([]data.Block, 3) // several are in use at once
	for at := 0; at+300 <= n; at += 300 {
		for i := range blocks {
			if err := r.Read(&blocks[i], 100); err != nil {
				t.Fatal(err)
			}
		}
		for i := range blocks {
			for j, w := range blocks[i].W {
				if w != want[at+100*i+j] {
					t.Fatalf("block %d of three: row %d has weight %v, want %v", i, at+100*i+j, w, want[at+100*i+j])
				}
			}
		}
	}
	if !slices.Equal(own, src.W) {
		t.Error("the rows' own weights have changed")
	}
	other := *s
	other.replicate++
	same := 0
	for i, w := range weightsOf(t, other.of(src), n) {
		if w == want[i] {
			same++
		}
	}
	if same > 3*n/4 {
		t.Errorf("%d of %d weights of another replicate are the same", same, n)
	}
	if &src.W[0] == &s.of(src).(*data.Table).W[0] || &s.of(src).(*data.Table).F64[0] != &src.F64[0] {
		t.Error("a table's weights must be new, and its rows not copied")
	}
}

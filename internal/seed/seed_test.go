package seed_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
)

// column returns points in one column, of weight 1.
func column(x ...float64) *seed.Points {
	p := &seed.Points{N: len(x), D: 1, X: x}
	for i := range x {
		p.W, p.Row = append(p.W, 1), append(p.Row, int64(i))
	}
	return p
}

func TestMappedCells(t *testing.T) {
	p := column(0, 1, 4)
	q := p.Mapped(math.Sqrt)
	if !slices.Equal(q.X, []float64{0, 1, 2}) || !slices.Equal(p.X, []float64{0, 1, 4}) || q.N != 3 || q.D != 1 || !slices.Equal(q.W, p.W) || !slices.Equal(q.Row, p.Row) {
		t.Errorf("%+v", q)
	}
}

func TestRowsAreDrawnBySquaredDistance(t *testing.T) {
	const seeds = 20_000
	x := []float64{0, 1, 3}
	// A pair comes about in two orders: the first row with probability 1/3, the second in proportion to its squared
	// distance from the first.
	want := map[[2]int]float64{}
	for i := range x {
		total := 0.0
		for j := range x {
			total += (x[i] - x[j]) * (x[i] - x[j])
		}
		for j := range x {
			if i != j {
				want[[2]int{min(i, j), max(i, j)}] += (x[i] - x[j]) * (x[i] - x[j]) / total / 3
			}
		}
	}
	count := map[[2]int]int{}
	for s := range seeds {
		rows := seed.PlusPlus(column(x...), 2, 1, 2, rng.Starts.At(uint64(s), 0).Float64)
		slices.Sort(rows)
		if len(rows) != 2 || rows[0] == rows[1] {
			t.Fatalf("rows %v", rows)
		}
		count[[2]int{rows[0], rows[1]}]++
	}
	for pair, p := range want {
		if got := float64(count[pair]) / seeds; math.Abs(got-p) > 0.015 {
			t.Errorf("rows %v drawn with frequency %.4f, want %.4f", pair, got, p)
		}
	}
}

func TestWeightsCountAsRepeats(t *testing.T) {
	const seeds = 20_000
	p := column(0, 1, 3)
	p.W = []float64{1, 0, 3}
	first := 0
	for s := range seeds {
		rows := seed.PlusPlus(p, 2, 1, 2, rng.Starts.At(uint64(s), 0).Float64)
		if slices.Contains(rows, 1) || len(rows) != 2 {
			t.Fatalf("rows %v, though row 1 has no weight", rows)
		}
		if rows[0] == 2 {
			first++
		}
	}
	if got := float64(first) / seeds; math.Abs(got-0.75) > 0.015 {
		t.Errorf("the row of weight 3 in 4 is drawn first with frequency %v", got)
	}
}

func TestNoRowIsDrawnTwice(t *testing.T) {
	x := []float64{0, 0.1, 0.2, 5, 5.5, 9, -3, 1e6}
	for s := range uint64(300) {
		for _, candidates := range []int{1, 4} {
			rows := seed.PlusPlus(column(x...), len(x), candidates, 2, rng.Starts.At(s, 0).Float64)
			random := seed.Random(column(x...), len(x), rng.Starts.At(s, 0))
			for _, r := range [][]int{rows, random} {
				slices.Sort(r)
				if len(slices.Compact(slices.Clone(r))) != len(x) {
					t.Fatalf("rows %v", r)
				}
			}
		}
	}
}

func TestFewerDistinctRowsGiveFewerCentres(t *testing.T) {
	rows := seed.PlusPlus(column(0, 0, 0, 0, 1, 1, 1), 3, 3, 2, rng.Starts.At(1, 0).Float64)
	if len(rows) != 2 {
		t.Errorf("rows %v of two distinct values", rows)
	}
}

func TestLargestRandomNumberTakesTheLastRowWithWeight(t *testing.T) {
	largest := func() float64 { return math.Nextafter(1, 0) }
	x := []float64{0.1, 0.2, 0.3, 0.7, 0.1}
	for _, c := range []struct {
		w    []float64
		want []int
	}{
		{[]float64{1, 1, 1, 1, 1}, []int{4, 3}}, // row 4 has no distance left
		{[]float64{1, 1, 1, 0.1, 0}, []int{3, 2}},
		{[]float64{1, 1e-300, 0, 0, 0}, []int{0, 1}}, // 1e-300 is lost in the total, so the draw stays within row 0
	} {
		p := column(x...)
		p.W = c.w
		if got := seed.PlusPlus(p, 2, 1, 2, largest); !slices.Equal(got, c.want) {
			t.Errorf("weights %v: rows %v, want %v", c.w, got, c.want)
		}
	}
	smallest := func() float64 { return 0 }
	p := column(x...)
	p.W = []float64{0, 0, 1, 1, 1}
	if got := seed.PlusPlus(p, 2, 1, 2, smallest); !slices.Equal(got, []int{2, 3}) {
		t.Errorf("rows %v at u = 0, want the first of weight", got)
	}
}

// cost is the sum of squared distances to the nearest of the rows drawn.
func cost(p *seed.Points, rows []int) (sum float64) {
	for i := range p.N {
		least := math.Inf(1)
		for _, r := range rows {
			q := 0.0
			for j, x := range p.At(i) {
				q += (x - p.At(r)[j]) * (x - p.At(r)[j])
			}
			least = min(least, q)
		}
		sum += p.W[i] * least
	}
	return sum
}

// optimum tries every labelling.
func optimum(p *seed.Points, k int) float64 {
	best, labels := math.Inf(1), make([]int, p.N)
	for {
		n, sum, total := make([]float64, k), make([]float64, k), 0.0
		for i, c := range labels {
			n[c]++
			sum[c] += p.X[i]
		}
		for i, c := range labels {
			total += (p.X[i] - sum[c]/n[c]) * (p.X[i] - sum[c]/n[c])
		}
		best = min(best, total)
		at := 0
		for ; at < p.N; at++ {
			if labels[at]++; labels[at] < k {
				break
			}
			labels[at] = 0
		}
		if at == p.N {
			return best
		}
	}
}

// Arthur and Vassilvitskii 2007, theorem 3.1. Rows drawn without regard to distance break the bound on such data.
func TestExpectedCostIsWithinTheBound(t *testing.T) {
	const k, seeds = 3, 2000
	p := column(0, 1, 2, 3, 4, 5, 1000, 1001, 5000)
	best := optimum(p, k)
	bound := 8 * (math.Log(k) + 2) * best
	var plain, greedy, random float64
	for s := range uint64(seeds) {
		plain += cost(p, seed.PlusPlus(p, k, 1, 2, rng.Starts.At(s, 0).Float64)) / seeds
		greedy += cost(p, seed.PlusPlus(p, k, seed.Greedy(k), 2, rng.Starts.At(s, 0).Float64)) / seeds
		random += cost(p, seed.Random(p, k, rng.Starts.At(s, 0))) / seeds
	}
	if plain > bound || plain < best {
		t.Errorf("mean cost %v, optimum %v, bound %v", plain, best, bound)
	}
	if greedy > plain {
		t.Errorf("several candidates cost %v, one %v", greedy, plain)
	}
	if random <= bound {
		t.Errorf("random rows cost %v, within the bound %v: the data prove nothing", random, bound)
	}
}

func TestNumberOfCandidates(t *testing.T) {
	for k, want := range map[int]int{1: 2, 2: 2, 3: 3, 7: 3, 8: 4, 20: 4, 21: 5, 54: 5, 55: 6} { // e, e^2, e^3, e^4
		if got := seed.Greedy(k); got != want {
			t.Errorf("k %d: %d candidates, want %d", k, got, want)
		}
	}
}

func TestRandomRowsFollowTheirWeights(t *testing.T) {
	const seeds = 20_000
	p := column(0, 1, 2)
	p.W = []float64{1, 2, 5}
	var first [3]float64
	for s := range uint64(seeds) {
		first[seed.Random(p, 2, rng.Starts.At(s, 0))[0]] += 1. / seeds
	}
	for i, w := range p.W {
		if math.Abs(first[i]-w/8) > 0.015 {
			t.Errorf("row %d is first with frequency %v, want %v", i, first[i], w/8)
		}
	}
}

func TestSampleIsUniform(t *testing.T) {
	const seeds, n = 30_000, 6
	src := &data.Table{N: n + 2, D: 1, F64: []float64{0, 1, 2, -9, 3, 4, 5, -9}, W: []float64{1, 2, 1, 0, 1, 1, 3, 0}}
	count := map[string]int{}
	for s := range uint64(seeds) {
		p, err := seed.Sample(context.Background(), src, n, []float64{0}, 2, rand.New(rand.NewPCG(s, 1)))
		if err != nil || p.N != 2 {
			t.Fatalf("%d rows (%v)", p.N, err)
		}
		for i, row := range p.Row {
			if p.X[i] != src.F64[row] || p.W[i] != src.W[row] || p.W[i] == 0 {
				t.Fatalf("row %d is %v of weight %v", row, p.X[i], p.W[i])
			}
		}
		count[fmt.Sprint(p.Row)]++
	}
	if len(count) != 15 {
		t.Errorf("%d pairs of 6 rows, want 15", len(count))
	}
	for pair, c := range count {
		// Five standard deviations of a binomial count.
		if mean := seeds / 15.; math.Abs(float64(c)-mean) > 5*math.Sqrt(mean) {
			t.Errorf("%s was drawn %d times, want about %.0f", pair, c, mean)
		}
	}
}

func TestSampleOfAllRowsKeepsTheirOrder(t *testing.T) {
	src := &data.Table{N: 10_000, D: 1}
	for i := range src.N {
		src.F64 = append(src.F64, float64(i))
	}
	p, err := seed.Sample(context.Background(), src, 10_000, []float64{5}, 20_000, rng.StartSample.New(1))
	if err != nil || p.N != src.N {
		t.Fatalf("%d rows (%v)", p.N, err)
	}
	for i, x := range p.X {
		if x != float64(i)-5 || p.Row[i] != int64(i) {
			t.Fatalf("row %d is row %d of value %v", i, p.Row[i], x)
		}
	}
}

func TestNearestTakesTheLowestOfEquals(t *testing.T) {
	if got := seed.Nearest(column(0, 1, 2, 3, 4), []float64{1, 3, 1}, 2); !slices.Equal(got, []int32{0, 0, 0, 1, 1}) {
		t.Errorf("labels %v", got)
	}
}

func TestLloydLabelsTheSplit(t *testing.T) {
	got, err := seed.Lloyd(context.Background(), column(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), []int{0, 1}, 2)
	if want := []int32{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}; err != nil || !slices.Equal(got, want) {
		t.Errorf("labels %v (%v), want %v", got, err, want)
	}
}

// Means, weights and covariances of labelled rows by their definitions; a group too small for a covariance of its own
// takes the mean of all, each counted by its weight.
func TestLabelsBecomeAMixture(t *testing.T) {
	const k, d = 3, 2
	rng := rand.New(rand.NewPCG(9, 0))
	p := &seed.Points{D: d}
	var labels []int32
	for i := range 60 {
		c := int32(i % 2)
		if i > 57 {
			c = 2 // two rows: fewer than d + 2
		}
		labels = append(labels, c)
		p.X = append(p.X, 10*float64(c)+rng.NormFloat64(), rng.NormFloat64())
		p.W = append(p.W, 1)
		p.N++
	}
	g := family.Gaussian{Shape: family.Full, Var: []float64{30, 1}}
	m := &mixture.Mixture{Family: g, K: k, D: d}
	theta := seed.FromLabels(m, g, p, labels)
	comp, logw := m.Components(theta), m.LogWeights(nil, theta)
	var n [k]float64
	var mean [k][d]float64
	var cov [k][3]float64
	for i, c := range labels {
		n[c]++
		for j := range d {
			mean[c][j] += p.At(i)[j]
		}
	}
	for c := range k {
		for j := range d {
			mean[c][j] /= n[c]
		}
	}
	for i, c := range labels {
		a, b := p.At(i)[0]-mean[c][0], p.At(i)[1]-mean[c][1]
		for at, v := range [3]float64{a * a, a * b, b * b} {
			cov[c][at] += v / n[c]
		}
	}
	// The third group alone has one direction without variance, which the floor raises by next to nothing.
	for at := range 3 {
		cov[2][at] = (n[0]*cov[0][at] + n[1]*cov[1][at] + n[2]*cov[2][at]) / 60
	}
	for c := range k {
		if math.Abs(math.Exp(logw[c])-n[c]/60) > 1e-12 {
			t.Errorf("weight %d is %v, want %v", c, math.Exp(logw[c]), n[c]/60)
		}
		q := make([]float64, 3)
		g.Covariance(q, g.ScaleOf(comp, c, k, d), d)
		for j := range d {
			if math.Abs(comp[c*d+j]-mean[c][j]) > 1e-12 {
				t.Errorf("mean %d is %v, want %v", c, comp[c*d:c*d+d], mean[c])
			}
		}
		for at, v := range q {
			if math.Abs(v-cov[c][at]) > 1e-8 {
				t.Errorf("covariance %d is %v, want %v", c, q, cov[c])
			}
		}
	}
}

func TestOneBigCovarianceAround(t *testing.T) {
	for _, shape := range []family.Shape{family.Full, family.Tied, family.Diag, family.TiedDiag, family.Spherical, family.TiedSpherical} {
		g := family.Gaussian{Shape: shape, Var: []float64{4, 16}}
		m := &mixture.Mixture{Family: g, K: 2, D: 2}
		theta := seed.Around(m, g, []float64{1, 2, 3, 4}, []float64{1, 3}, g.Var)
		if w := math.Exp(m.LogWeights(nil, theta)[1]); math.Abs(w-0.75) > 1e-15 {
			t.Errorf("%s: weight %v, want 0.75", shape, w)
		}
		if comp := m.Components(theta); !slices.Equal(comp[:4], []float64{1, 2, 3, 4}) {
			t.Errorf("%s: means %v", shape, comp[:4])
		}
		want := map[int][]float64{3: {4, 0, 16}, 2: {4, 16}, 1: {10}}[shape.Size(2)]
		for c := range 2 {
			q := make([]float64, shape.Size(2))
			g.Covariance(q, g.ScaleOf(m.Components(theta), c, 2, 2), 2)
			for at, v := range q {
				if math.Abs(v-want[at]) > 1e-13 {
					t.Errorf("%s: covariance %v, want %v", shape, q, want)
				}
			}
		}
	}
}

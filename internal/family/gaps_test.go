package family_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/family/familytest"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
)

// The gradient of the log-likelihood of the cells that are there, from central differences in 60 digits.
func TestGradientWithGapsAgreesWithExactArithmetic(t *testing.T) {
	var ref struct {
		K, D, N    int
		Data       struct{ Rows [][]*float64 }
		RowWeights []float64 `json:"row_weights"`
		Theta      []float64
		LogLik     float64 `json:"log_likelihood"`
		Gradient   []float64
	}
	load(t, "../../testdata/oracle/missing/gradient.json", &ref)
	var x []float64
	for _, row := range ref.Data.Rows {
		for _, v := range row {
			if v == nil {
				x = append(x, math.NaN())
			} else {
				x = append(x, *v)
			}
		}
	}
	if len(x) != ref.N*ref.D {
		t.Fatalf("%d cells, want %d", len(x), ref.N*ref.D)
	}
	g := family.Gaussian{Shape: family.Full, Var: []float64{1, 1, 1}, Gaps: family.NewGaps(ref.D)}
	m := &mixture.Mixture{Family: g, K: ref.K, D: ref.D}
	theta, want := slices.Clone(ref.Theta), slices.Clone(ref.Gradient)
	for c := range ref.K { // of the diagonal of L we have the logarithm
		at := ref.K + ref.K*ref.D + c*6
		for j := range ref.D {
			i := at + j*(j+3)/2
			want[i] *= theta[i]
			theta[i] = math.Log(theta[i])
		}
	}
	s := familytest.Sweep(m, theta, 1, x, ref.RowWeights)
	if !(math.Abs(s.LogLik-ref.LogLik) <= 1e-12*math.Abs(ref.LogLik)) {
		t.Errorf("log-likelihood %v, want %v", s.LogLik, ref.LogLik)
	}
	got, largest := make([]float64, m.Params()), 0.0
	m.Grad(got, theta, s)
	for _, v := range want {
		largest = max(largest, math.Abs(v))
	}
	for i, v := range want {
		if !(math.Abs(got[i]-v) <= 1e-10*largest) {
			t.Errorf("entry %d of the gradient is %v, want %v", i, got[i], v)
		}
	}
}

// gapped draws n rows of d columns with cells missing, some rows with hardly any cell.
func gapped(rng *rand.Rand, n, d int) []float64 {
	x := make([]float64, n*d)
	for i := range n {
		gone, keep := rng.Float64(), rng.IntN(d)
		for j := range d {
			x[i*d+j] = rng.NormFloat64() + float64(j)
			if j != keep && rng.Float64() < gone*gone {
				x[i*d+j] = math.NaN()
			}
		}
	}
	return x
}

// patterns are those of rows x.
func patternsOf(x []float64, d int) *family.Gaps {
	g, mask := family.NewGaps(d), make([]uint64, (d+63)/64)
	for i := 0; i < len(x); i += d {
		clear(mask)
		some := false
		for j, v := range x[i : i+d] {
			if v != v {
				mask[j/64] |= 1 << (j % 64)
				some = true
			}
		}
		if some {
			g.Add(mask, 1)
		}
	}
	return g
}

// What a table's patterns keep changes no bit, and sums of rows with few cells are those of completed rows.
func TestKnownPatternsChangeNothing(t *testing.T) {
	const n, k = 200, 3
	for _, d := range []int{1, 2, 7, 17, 70} {
		rng := rand.New(rand.NewPCG(uint64(d), 1))
		x := gapped(rng, n, d)
		variance := slices.Repeat([]float64{1}, d)
		plain := &mixture.Mixture{Family: family.Gaussian{Shape: family.Full, Var: variance, Gaps: family.NewGaps(d)}, K: k, D: d}
		known := &mixture.Mixture{Family: family.Gaussian{Shape: family.Full, Var: variance, Gaps: patternsOf(x, d)}, K: k, D: d}
		theta := make([]float64, plain.Params())
		for i := range theta {
			theta[i] = 0.1 * rng.NormFloat64()
		}
		a, b := familytest.Sweep(plain, theta, 1, x, nil), familytest.Sweep(known, theta, 1, x, nil)
		if !slices.Equal(a.Sum, b.Sum) || !slices.Equal(a.N, b.N) || a.LogLik != b.LogLik {
			t.Errorf("%d columns: sums with known patterns differ", d)
		}
		naive := naiveSums(plain, theta, x)
		for i, want := range naive.Sum {
			if size := 1 + math.Abs(want); !(math.Abs(a.Sum[i]-want) <= 1e-9*size) {
				t.Fatalf("%d columns: sum %d is %v, completed rows give %v", d, i, a.Sum[i], want)
			}
		}
		if !(math.Abs(a.LogLik-naive.LogLik) <= 1e-10*math.Abs(naive.LogLik)) {
			t.Errorf("%d columns: log-likelihood %v, want %v", d, a.LogLik, naive.LogLik)
		}
	}
}

// naiveSums completes row by row by the formulas of conditional normal distributions.
func naiveSums(m *mixture.Mixture, theta, x []float64) *family.Stats {
	g, k, d := m.Family.(family.Gaussian), m.K, m.D
	comp, logw := m.Components(theta), m.LogWeights(nil, theta)
	s := family.NewStats(k, d, g.Params(k, d)+1, 0)
	at := func(j, l int) int { return max(j, l)*(max(j, l)+1)/2 + min(j, l) }
	for i := 0; i < len(x); i += d {
		row := x[i : i+d]
		full, v, hidden, score := make([][]float64, k), make([][]float64, k), make([]float64, k), make([]float64, k)
		top := math.Inf(-1)
		for c := range k {
			q := make([]float64, d*(d+1)/2)
			g.Covariance(q, g.ScaleOf(comp, c, k, d), d)
			full[c], v[c], hidden[c], score[c] = complete(row, comp[c*d:c*d+d], q, at)
			score[c] += logw[c]
			top = max(top, score[c])
		}
		sum := 0.0
		for _, t := range score {
			sum += math.Exp(t - top)
		}
		s.LogLik += top + math.Log(sum)
		for c := range k {
			r := math.Exp(score[c]-top) / sum
			s.N[c] += r
			for j := range d {
				s.Sum[c*d+j] += r * full[c][j]
				for l := range j + 1 {
					s.Sum[k*d+c*d*(d+1)/2+at(j, l)] += r * (full[c][j]*full[c][l] + v[c][at(j, l)])
				}
			}
			s.Sum[g.Params(k, d)] += r * hidden[c]
		}
	}
	return s
}

// complete sweeps the covariance q about the cells of the row that are there, one after another: what is left of it is the conditional
// covariance, and what the differences have become the conditional mean. at finds an entry of q.
func complete(row, mean, q []float64, at func(j, l int) int) (full, v []float64, hidden, score float64) {
	d := len(row)
	full, v = make([]float64, d), slices.Clone(q)
	gone := 0
	for j, x := range row {
		if x != x {
			gone++
			continue
		}
		pivot, off := v[at(j, j)], x-mean[j]-full[j]
		score -= 0.5 * (math.Log(2*math.Pi*pivot) + off*off/pivot)
		column := make([]float64, d)
		for l := range d {
			column[l] = v[at(j, l)]
		}
		for l := range d {
			full[l] += column[l] / pivot * off
			for m := range l + 1 {
				v[at(l, m)] -= column[l] * column[m] / pivot
			}
		}
		full[j] = x - mean[j]
		for l := range d {
			v[at(j, l)] = 0
		}
	}
	work := slices.Clone(v)
	hidden = 0.5 * float64(gone) * (1 + math.Log(2*math.Pi))
	for j, x := range row {
		if x == x {
			continue
		}
		pivot := work[at(j, j)]
		hidden += 0.5 * math.Log(pivot)
		for l := j + 1; l < d; l++ {
			for m := j + 1; m <= l; m++ {
				work[at(l, m)] -= work[at(j, l)] * work[at(j, m)] / pivot
			}
		}
	}
	return full, v, hidden, score
}

func TestPatternsOfSomeColumns(t *testing.T) {
	g := family.NewGaps(70)
	mask := func(columns ...int) []uint64 {
		m := make([]uint64, 2)
		for _, j := range columns {
			m[j/64] |= 1 << (j % 64)
		}
		return m
	}
	g.Add(mask(1, 69), 3)
	g.Add(mask(5), 2)
	g.Add(mask(1, 69), 4)
	if g.Len() != 2 || g.Rows(0) != 7 || g.Find(mask(5)) != 1 || g.Find(mask(6)) != -1 {
		t.Errorf("%d patterns, %d rows of the first", g.Len(), g.Rows(0))
	}
	some := g.Of([]int{69, 3})
	if some.Len() != 1 || some.Rows(0) != 7 || some.Find([]uint64{1}) != 0 {
		t.Errorf("of two columns %d patterns", some.Len())
	}
	if g.Of([]int{2, 3}) != nil {
		t.Error("columns that are never missing have patterns")
	}
	if pairs := g.Apart([]int{1, 7, 69}); len(pairs) != 0 {
		t.Errorf("pairs %v", pairs)
	}
	h := family.NewGaps(3)
	h.Add([]uint64{1}, 1)
	h.Add([]uint64{2}, 1)
	if pairs := h.Apart([]int{0, 1, 2}); !slices.Equal(pairs, [][2]int{{0, 1}}) {
		t.Errorf("pairs %v, want 0 and 1", pairs)
	}
	p := &family.Panel{N: 2, D: 3, X: make([]float64, 3*kern.Rows), Pattern: make([]int32, kern.Rows)}
	p.X[kern.Rows] = math.NaN()
	p.Mark()
	if h.Number(p, nil); p.Pattern[0] != 1 || p.Pattern[1] != family.Complete || !p.Holes {
		t.Errorf("patterns %v", p.Pattern[:2])
	}
}

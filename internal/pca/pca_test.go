package pca

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/data"
)

// cloud returns n rows of d columns whose column j has standard deviation sd(j), turned at random so that no column is an
// axis, and row weights from 0 to 2.
func cloud(n, d int, seed uint64, sd func(j int) float64) *data.Table {
	rng := rand.New(rand.NewPCG(seed, 2))
	t := &data.Table{N: n, D: d, F64: make([]float64, n*d), W: make([]float64, n)}
	mirror := make([]float64, d) // x - 2 (x.u) u turns
	norm := 0.0
	for j := range mirror {
		mirror[j] = rng.NormFloat64()
		norm += mirror[j] * mirror[j]
	}
	for i := range n {
		t.W[i] = float64(rng.IntN(5)) / 2
		row, dot := t.F64[i*d:i*d+d], 0.0
		for j := range row {
			row[j] = sd(j) * rng.NormFloat64()
			dot += row[j] * mirror[j]
		}
		for j := range row {
			row[j] += 3 - 2*dot/norm*mirror[j]
		}
	}
	return t
}

func falling(j int) float64 { return math.Pow(0.7, float64(j)) }

// once hides that rows are in memory, and gives no more than a few of them at a time.
type once struct{ data.Source }

func TestSameBitsForAnyThreadsAndAnySource(t *testing.T) {
	for name, d := range map[string]int{"exact": 9, "iterated": ExactColumns + 1} {
		src := cloud(700, d, 1, falling)
		want := find(t, src, 4, 1)
		if name == "iterated" && want.Passes < 2 {
			t.Fatalf("%d columns were taken apart in %d pass", d, want.Passes)
		}
		for _, threads := range []int{2, 7} {
			for _, s := range []data.Source{src, once{src}} {
				if got := find(t, s, 4, threads); !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %d threads and one differ", name, threads)
				}
			}
		}
	}
}

// Both ways give eigenvectors: S a = v a with S from a plain loop, and axes of length 1 at right angles.
func TestAxesAreEigenvectors(t *testing.T) {
	src := cloud(80, 30, 2, falling)
	mean, w := make([]float64, 30), 0.0
	for i := range src.N {
		w += src.W[i]
		for j := range mean {
			mean[j] += src.W[i] * src.At(i, j)
		}
	}
	s := mat.NewDense(30, 30, nil)
	for i := range src.N {
		x := make([]float64, 30)
		for j := range x {
			x[j] = src.At(i, j) - mean[j]/w
		}
		s.RankOne(s, src.W[i]/w, mat.NewVecDense(30, x), mat.NewVecDense(30, x))
	}
	for name, c := range map[string]*Components{"exact": find(t, src, 6, 1), "iterated": iterated(t, src, 6, MaxPasses)} {
		for a := range c.Axes {
			var y mat.VecDense
			y.MulVec(s, mat.NewVecDense(30, c.Axes[a]))
			y.AddScaledVec(&y, -c.Variance[a], mat.NewVecDense(30, c.Axes[a]))
			if left := mat.Norm(&y, 2); left > 1e-5*c.Variance[a] || name == "exact" && left > 1e-13*c.Variance[0] {
				t.Errorf("%s: axis %d is out by %v of %v", name, a, left, c.Variance[a])
			}
			for b := range a + 1 {
				dot := mat.Dot(mat.NewVecDense(30, c.Axes[a]), mat.NewVecDense(30, c.Axes[b]))
				if want := map[bool]float64{true: 1}[a == b]; math.Abs(dot-want) > 1e-13 {
					t.Errorf("%s: axes %d and %d have product %v", name, a, b, dot)
				}
			}
		}
		if math.Abs(mat.Trace(s)-c.Total) > 1e-13*c.Total {
			t.Errorf("%s: the total is %v, a loop says %v", name, c.Total, mat.Trace(s))
		}
	}
}

// EM for principal components as Roweis writes it, from the same plane: after as many passes the plane found explains no
// less. In the end both explain the same.
func TestIterationIsNeverBehindEM(t *testing.T) {
	const n, d, m = 60, 25, 3 + spare
	src := cloud(n, d, 3, func(j int) float64 { return math.Pow(0.93, float64(j)) })
	src.W = nil
	mean := find(t, src, 1, 1).Mean
	y := mat.NewDense(d, n, nil) // Roweis keeps a row a column
	for i := range n {
		for j := range d {
			y.Set(j, i, src.At(i, j)-mean[j])
		}
	}
	var c mat.Dense
	c.CloneFrom(mat.NewDense(m, d, random(m, d).Data).T())
	explained := func() float64 { // by the best 3 directions of the plane
		var q mat.QR
		q.Factorize(&c)
		var full, p mat.Dense
		q.QTo(&full)
		p.Mul(full.Slice(0, d, 0, m).T(), y)
		var svd mat.SVD
		svd.Factorize(&p, mat.SVDNone)
		v := svd.Values(nil)
		return (v[0]*v[0] + v[1]*v[1] + v[2]*v[2]) / n
	}
	ahead := 0
	for passes := 1; passes <= 12; passes++ {
		em := explained()
		found := iterated(t, src, 3, passes)
		got := found.Variance[0] + found.Variance[1] + found.Variance[2]
		if got < em*(1-1e-12) {
			t.Errorf("after %d passes the plane explains %v, EM's %v", passes, got, em)
		}
		if got > em*(1+1e-6) {
			ahead++
		}
		var cc, x, xx, next mat.Dense
		cc.Mul(c.T(), &c)
		x.Mul(c.T(), y)
		if err := x.Solve(&cc, mat.DenseCopyOf(&x)); err != nil { // X = (C'C)^-1 C'Y
			t.Fatal(err)
		}
		xx.Mul(&x, x.T())
		next.Mul(y, x.T())
		var inverse mat.Dense
		if err := inverse.Inverse(&xx); err != nil { // C = Y X' (X X')^-1
			t.Fatal(err)
		}
		c.Mul(&next, &inverse)
	}
	if ahead < 2 {
		t.Errorf("the plane was ahead of EM's after %d passes only", ahead)
	}
	exact := find(t, src, 3, 1)
	if em := explained(); em < 0.98*(exact.Variance[0]+exact.Variance[1]+exact.Variance[2]) {
		t.Errorf("EM explains %v: it is not what Roweis wrote", em)
	}
}

// Rows without any direction are the hardest: variances are all but equal. A basis that restarts still ends within the
// tolerance, at the eigenvalues of the exact way.
func TestIterationEndsWhereNothingStandsOut(t *testing.T) {
	src := cloud(900, 600, 4, func(int) float64 { return 1 })
	exact, c := find(t, src, 20, 2), iterated(t, src, 20, MaxPasses)
	if c.Residual > Tolerance || c.Passes*28 <= mostBasis {
		t.Errorf("residual %v after %d passes", c.Residual, c.Passes)
	}
	for j := range c.Variance {
		if math.Abs(c.Variance[j]-exact.Variance[j]) > Tolerance*exact.Variance[j] {
			t.Errorf("variance %d is %v, exactly %v", j, c.Variance[j], exact.Variance[j])
		}
	}
}

// Fewer rows than columns span fewer directions: they are counted, and no more are given, in both ways.
func TestMoreComponentsThanDirectionsIsRefused(t *testing.T) {
	for _, d := range []int{40, ExactColumns + 5} {
		src := cloud(7, d, 5, func(int) float64 { return 1 })
		src.W = nil
		c := find(t, src, 6, 2)
		if got := c.Explained(); math.Abs(got-1) > 1e-12 {
			t.Errorf("%d columns: six directions of seven rows explain %v", d, got)
		}
		_, err := Find(context.Background(), src, look(t, src), 7, 2)
		if e := (*RankError)(nil); !errors.As(err, &e) || e.Rank != 6 || e.Asked != 7 {
			t.Errorf("%d columns: %v", d, err)
		}
	}
	equal := &data.Table{N: 3, D: 2, F64: []float64{1, 2, 1, 2, 1, 2}}
	_, err := Find(context.Background(), equal, look(t, equal), 1, 1)
	if e := (*RankError)(nil); !errors.As(err, &e) || e.Rank != 0 {
		t.Errorf("equal rows: %v", err)
	}
	for _, n := range []int{0, 3} {
		if _, err := Find(context.Background(), equal, look(t, equal), n, 1); err == nil || !strings.Contains(err.Error(), "1 to 2") {
			t.Errorf("%d components of 2 columns: %v", n, err)
		}
	}
}

func TestAWeightOfTwoIsTheRowTwice(t *testing.T) {
	src := cloud(50, 5, 6, falling)
	twice := &data.Table{D: 5}
	for i := range src.N {
		for range int(2 * src.W[i]) {
			twice.F64 = append(twice.F64, src.F64[i*5:i*5+5]...)
			twice.N++
		}
	}
	a, b := find(t, src, 5, 1), find(t, twice, 5, 1)
	for j := range a.Axes {
		if math.Abs(a.Variance[j]-b.Variance[j]) > 1e-13*a.Variance[0] {
			t.Errorf("variance %d: %v by weights, %v by rows", j, a.Variance[j], b.Variance[j])
		}
		for i, v := range a.Axes[j] {
			if math.Abs(v-b.Axes[j][i]) > 1e-9 {
				t.Errorf("axis %d at %d: %v by weights, %v by rows", j, i, v, b.Axes[j][i])
			}
		}
	}
}

// No unit matters: the variances of rows times 2^200 are those times 2^400, to the bit. What no float64 holds is an error.
func TestAnyUnit(t *testing.T) {
	src := cloud(50, 5, 7, falling)
	want := find(t, src, 5, 1)
	for _, e := range []int{-400, 400} {
		other := &data.Table{N: src.N, D: src.D, W: src.W}
		for _, v := range src.F64 {
			other.F64 = append(other.F64, math.Ldexp(v, e))
		}
		got := find(t, other, 5, 1)
		for j, v := range want.Variance {
			if got.Variance[j] != math.Ldexp(v, 2*e) || !reflect.DeepEqual(got.Axes[j], want.Axes[j]) {
				t.Errorf("times 2^%d: variance %d is %v, not %v", e, j, got.Variance[j], math.Ldexp(v, 2*e))
			}
		}
	}
	huge := &data.Table{N: 2, D: 9, F64: make([]float64, 18)}
	for j := range 9 {
		huge.F64[j] = 1e154
	}
	if _, err := Find(context.Background(), huge, look(t, huge), 1, 1); err == nil || !strings.Contains(err.Error(), "add up to +Inf") {
		t.Errorf("huge values: %v", err)
	}
}

func TestTheLargestEntryIsPositive(t *testing.T) {
	for _, c := range []struct{ axis, want []float64 }{
		{[]float64{0.6, -0.8}, []float64{-0.6, 0.8}},
		{[]float64{0.8, -0.6}, []float64{0.8, -0.6}},
		{[]float64{-math.Sqrt(0.5), math.Sqrt(0.5) + 1e-12}, []float64{math.Sqrt(0.5), -math.Sqrt(0.5) - 1e-12}},
		{[]float64{0, -1}, []float64{0, 1}},
	} {
		if orient(c.axis); !reflect.DeepEqual(c.axis, c.want) {
			t.Errorf("got %v, want %v", c.axis, c.want)
		}
	}
}

// Where the passes run out the residual says so.
func TestTooFewPassesShow(t *testing.T) {
	c := iterated(t, cloud(400, 300, 8, func(int) float64 { return 1 }), 5, 2)
	if !(c.Residual > 1e-3) || c.Passes != 2 {
		t.Errorf("residual %v after %d passes", c.Residual, c.Passes)
	}
}

func TestRowsThatLackACellAreRefused(t *testing.T) {
	src := cloud(300, 3, 9, falling)
	s := look(t, src)
	src.F64[3*270+1], src.W[270] = math.NaN(), 1
	if _, err := Find(context.Background(), src, s, 1, 2); err == nil || !strings.Contains(err.Error(), "row 271, column 2") {
		t.Error(err)
	}
}

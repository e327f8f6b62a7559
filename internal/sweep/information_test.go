package sweep_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/sweep"
)

// overlapping returns a mixture of two full Gaussians in d columns, its parameters and n rows near it.
func overlapping(n, d int, seed uint64) (*mixture.Mixture, []float64, *data.Table) {
	rng := rand.New(rand.NewPCG(seed, 5))
	m := &mixture.Mixture{Family: family.Gaussian{Shape: family.Full, Var: slices.Repeat([]float64{1}, d)}, K: 2, D: d}
	theta := make([]float64, m.Params())
	theta[0] = 0.5
	for j := range d {
		theta[2+d+j] = 2
	}
	t := &data.Table{N: n, D: d}
	for range n {
		c := float64(2 * min(1, rng.IntN(3)))
		for range d {
			t.F64 = append(t.F64, c+rng.NormFloat64())
		}
	}
	return m, theta, t
}

func information(t *testing.T, src data.Source, threads int, m *mixture.Mixture, theta []float64, keep []int, share float64) *sweep.Information {
	t.Helper()
	_, d := src.Shape()
	info, err := sweep.NewLocal(src, 5000, make([]float64, d), threads).Information(context.Background(), m, theta, keep, share, 1)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// nearMatrix fails unless every entry of got is that of want, up to tol in units of the roots of want's diagonal.
func nearMatrix(t *testing.T, got, want *mat.SymDense, tol float64) {
	t.Helper()
	if got.SymmetricDim() != want.SymmetricDim() {
		t.Fatalf("%d parameters, want %d", got.SymmetricDim(), want.SymmetricDim())
	}
	for j := range want.SymmetricDim() {
		for l := range j + 1 {
			if g, w := got.At(j, l), want.At(j, l); !(math.Abs(g-w) <= tol*math.Sqrt(want.At(j, j)*want.At(l, l))) {
				t.Fatalf("entry (%d, %d) is %v, want %v", j, l, g, w)
			}
		}
	}
}

func TestInformationIsTheSumOfOuterProducts(t *testing.T) {
	m, theta, src := overlapping(700, 3, 1)
	for i := range src.N {
		src.W = append(src.W, float64(i%4)/2)
	}
	keep := m.Identified(theta, []bool{4: true, 19: true})
	want := mat.NewSymDense(len(keep), nil)
	bound, sc := m.Bind(theta, 1), mixture.NewScratch(m.K, m.D)
	g := make([]float64, len(theta)*kern.Rows)
	used := int64(0)
	for i := range src.N { // one row at a time
		p := &family.Panel{N: 1, D: 3, X: make([]float64, 3*kern.Rows), W: make([]float64, kern.Rows)}
		for j := range 3 {
			p.X[j*kern.Rows] = src.At(i, j)
		}
		m.RowGrad(g, bound, p, sc)
		for a, ja := range keep {
			for b, jb := range keep[:a+1] {
				want.SetSym(a, b, want.At(a, b)+src.W[i]*g[ja*kern.Rows]*g[jb*kern.Rows])
			}
		}
		if src.W[i] > 0 {
			used++
		}
	}
	got := information(t, src, 1, m, theta, keep, 1)
	nearMatrix(t, got.Matrix, want, 1e-12)
	if got.Rows != used {
		t.Errorf("%d rows used, want %d", got.Rows, used)
	}
}

func TestInformationIsTheSameBitsForAnyThreadsAndSource(t *testing.T) {
	m, theta, src := overlapping(5000, 2, 2)
	keep := m.Identified(theta, nil)
	for _, share := range []float64{1, 0.3} {
		want := information(t, src, 1, m, theta, keep, share)
		for _, threads := range []int{2, 3, 7} {
			for _, other := range []data.Source{src, &stream{Table: src}} {
				if got := information(t, other, threads, m, theta, keep, share); !mat.Equal(got.Matrix, want.Matrix) || got.Rows != want.Rows {
					t.Errorf("share %v, %T: %d threads change the information", share, other, threads)
				}
			}
		}
	}
}

func TestWeightOfARowIsANumberOfRepeatsInTheInformation(t *testing.T) {
	m, theta, src := overlapping(300, 2, 3)
	more := &data.Table{D: 2}
	for i := range src.N {
		src.W = append(src.W, float64(i%3))
		for range i % 3 {
			more.N++
			more.F64 = append(more.F64, src.F64[2*i:2*i+2]...)
		}
	}
	keep := m.Identified(theta, nil)
	nearMatrix(t, information(t, src, 2, m, theta, keep, 1).Matrix, information(t, more, 2, m, theta, keep, 1).Matrix, 1e-12)
}

// The sample stands for all rows, also where they come in an order with a period and in single precision.
func TestInformationOfASampleIsThatOfAllRows(t *testing.T) {
	m, theta, src := overlapping(40_000, 2, 4)
	for i := range src.N { // every 8th row is from elsewhere, and heavier
		src.W = append(src.W, 1)
		if i%8 == 0 {
			src.F64[2*i], src.W[i] = src.F64[2*i]+3, 2
		}
	}
	single := &data.Table{N: src.N, D: 2, W: src.W}
	for _, v := range src.F64 {
		single.F32 = append(single.F32, float32(v))
	}
	keep := m.Identified(theta, nil)
	all := information(t, src, 2, m, theta, keep, 1)
	for _, share := range []float64{0.5, 0.125} {
		part := information(t, single, 2, m, theta, keep, share)
		want := share * float64(src.N)
		if math.Abs(float64(part.Rows)-want) > 5*math.Sqrt(want) {
			t.Errorf("a share of %v is %d rows of %d", share, part.Rows, src.N)
		}
		nearMatrix(t, part.Matrix, all.Matrix, 0.15)
		u, err := mixture.Invert(part.Matrix, keep)
		if err != nil {
			t.Fatal(err)
		}
		v, err := mixture.Invert(all.Matrix, keep)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range keep {
			if got, want := u.StandardError(at, []float64{1}), v.StandardError(at, []float64{1}); math.Abs(got-want) > 0.15*want {
				t.Errorf("share %v: standard error of parameter %d is %v, of all rows %v", share, at, got, want)
			}
		}
	}
}

func TestInformationOfNothing(t *testing.T) {
	m, theta, src := overlapping(50, 2, 5)
	if got := information(t, src, 1, m, theta, nil, 1); got.Matrix != nil || got.Rows != 0 {
		t.Errorf("no parameters have information %v", got)
	}
	src.W = make([]float64, src.N)
	if got := information(t, src, 1, m, theta, []int{1, 2}, 1); got.Rows != 0 || mat.Norm(got.Matrix, 1) != 0 {
		t.Errorf("rows without weight have information %v", got)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := sweep.NewLocal(src, 50, make([]float64, 2), 2).Information(ctx, m, theta, []int{1}, 1, 1); err == nil {
		t.Error("a pass that was cancelled returns no error")
	}
}

func TestWorkForTheInformationIsBounded(t *testing.T) {
	for _, c := range []struct {
		p    int
		rows int64
		want float64
	}{
		{10, 1_000_000, 1},
		{1, 0, 1},
		{400, 1_000_000, 0.0125}, // 2e9 / 400^2 = 12,500 rows
		{600, 1_000_000, 0.012},  // 20 rows a parameter, though 2e9 / 600^2 is 5,556
		{600, 10_000, 1},         // fewer than that are all looked at
		{100, 20_000_000, 0.01},  // 200,000 rows
		{2, 50_000_000_000, 0.01},
	} {
		if got := sweep.InformationShare(c.p, c.rows); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%d parameters, %d rows: share %v, want %v", c.p, c.rows, got, c.want)
		}
	}
}

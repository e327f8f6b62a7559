package seed

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
)

// Means of a start made of labels are those of the cells that are there where columns are independent, and its weights the labels' shares.
func TestStartsFromLabelsTakeGaps(t *testing.T) {
	const n, d, k = 150, 3, 2
	rng := rand.New(rand.NewPCG(1, 1))
	p, labels := &Points{N: n, D: d}, make([]int32, n)
	for i := range n {
		labels[i] = int32(i % 3 / 2)
		p.W = append(p.W, 1)
		for j := range d {
			x := rng.NormFloat64() + 10*float64(labels[i])
			if (i+j)%4 == 0 {
				x = math.NaN()
			}
			p.X = append(p.X, x)
		}
	}
	for _, shape := range []family.Shape{family.Full, family.Diag} {
		g := family.Gaussian{Shape: shape, Var: []float64{1, 1, 1}, Gaps: family.NewGaps(d)}
		m := &mixture.Mixture{Family: g, K: k, D: d}
		theta := FromLabels(m, g, p, labels)
		for c, lw := range m.LogWeights(nil, theta) {
			if want := []float64{2. / 3, 1. / 3}[c]; math.Abs(math.Exp(lw)-want) > 1e-12 {
				t.Errorf("%s: weight %v, want %v", shape, math.Exp(lw), want)
			}
			for j := range d {
				sum, rows := 0.0, 0.0
				for i := range n {
					if x := p.X[i*d+j]; x == x && labels[i] == int32(c) {
						sum += x
						rows++
					}
				}
				tol := 1e-12 // where columns are independent; the first step of others completes by no covariance either
				if got := m.Components(theta)[c*d+j]; math.Abs(got-sum/rows) > tol {
					t.Errorf("%s: mean %v, want %v", shape, got, sum/rows)
				}
			}
		}
	}
}

func TestFilledTakesMeans(t *testing.T) {
	nan := math.NaN()
	p := &Points{N: 3, D: 2, X: []float64{1, nan, 3, 4, nan, 8}, W: []float64{1, 3, 1}}
	q := p.Filled()
	for i, want := range []float64{1, 5, 3, 4, 2.5, 8} {
		if q.X[i] != want {
			t.Errorf("cell %d is %v, want %v", i, q.X[i], want)
		}
	}
	whole := &Points{N: 1, D: 1, X: []float64{1}, W: []float64{1}}
	if whole.Filled() != whole {
		t.Error("complete points are copied")
	}
	if of := p.Of([]int{1}); of.D != 1 || of.X[1] != 4 {
		t.Errorf("column 1 is %v", of.X)
	}
}

func TestLevelsWithGaps(t *testing.T) {
	nan := math.NaN()
	p := (&Points{N: 4, D: 2, X: []float64{0, 0, 0, nan, 1, 1, nan, 1}, W: []float64{1, 1, 1, 1}}).OfLevels([]int{2, 2})
	labels, err := lloydLevels(t.Context(), p, []int{0, 2})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int32{0, 0, 1, 1} {
		if labels[i] != want {
			t.Errorf("labels %v", labels)
		}
	}
}

package experiment

import (
	"math"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/model"
)

// modelOf returns the truth as a model, its components in the given order.
func modelOf(t *Truth, order ...int) *model.Model {
	m := &model.Model{Kind: "gmm", Shape: family.Full, Columns: []string{"x", "y"}}
	for _, c := range order {
		m.Weights = append(m.Weights, t.Weights[c])
		m.Means = append(m.Means, append([]float64(nil), t.Means[c]...))
		m.Covariance = append(m.Covariance, append([]float64(nil), t.Covariances[c]...))
	}
	return m
}

func TestParameterErrorIsZeroAtTheTruthInAnyOrder(t *testing.T) {
	tr := truth(fourGaussians)
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}} {
		got, match := tr.Error(modelOf(tr, order...))
		if got > 1e-12 {
			t.Errorf("order %v: error %v", order, got)
		}
		for c, e := range match {
			if order[e] != c {
				t.Errorf("order %v: true component %d is matched with %d", order, c, e)
			}
		}
	}
}

// One component with twice its weight, a mean 3 standard deviations away and twice its covariance: (1 + 3 + 1) / (3 k).
func TestParameterErrorFollowsItsFormula(t *testing.T) {
	tr := newTruth([]float64{0.8, 0.2}, [][]float64{{0, 0}, {50, 0}}, [][]float64{{1, 0, 0, 1}, {4, 1, 1, 2}})
	m := modelOf(tr, 1, 0)
	m.Weights[0] = 0.4
	for i := range m.Covariance[0] {
		m.Covariance[0][i] *= 2
	}
	// (x - m)' S^-1 (x - m) = 9 along the first axis: x = 3 / sqrt(S^-1_11) = 3 sqrt(det / S_22) = 3 sqrt(7/2)
	m.Means[0][0] += 3 * math.Sqrt(3.5)
	if got, _ := tr.Error(m); math.Abs(got-5.0/6) > 1e-12 {
		t.Errorf("error %v, want %v", got, 5.0/6)
	}
}

// The matching is the best of all: it is compared with every permutation.
func TestMatchingIsTheBestOfAllPermutations(t *testing.T) {
	tr := truth(fourGaussians)
	m := modelOf(tr, 0, 1, 2, 3)
	m.Means = [][]float64{{2, 1.5}, {-1, 1}, {0.5, -2}, {0, 0.3}}
	m.Weights = []float64{0.2, 0.3, 0.1, 0.4}
	best := math.Inf(1)
	var visit func(used []int, sum float64)
	visit = func(used []int, sum float64) {
		if len(used) == 4 {
			best = math.Min(best, sum/4)
			return
		}
	next:
		for e := range 4 {
			for _, u := range used {
				if u == e {
					continue next
				}
			}
			visit(append(append([]int(nil), used...), e), sum+tr.apart(len(used), m, e))
		}
	}
	visit(nil, 0)
	if got, _ := tr.Error(m); math.Abs(got-best) > 1e-12 {
		t.Errorf("error %v, best of all permutations %v", got, best)
	}
}

func TestSmallClusterIsFoundNearItsMeanAndShare(t *testing.T) {
	tr := truth(twoGaussians) // the small one: 205 of 8,200 rows at (2.2, 1), standard deviation sqrt(.3)
	sd := math.Sqrt(0.3)
	for _, c := range []struct {
		name   string
		weight float64
		away   float64 // in standard deviations
		found  bool
	}{
		{"the truth", 0.025, 0, true}, {"near", 0.03, 0.9, true}, {"too far", 0.025, 1.1, false},
		{"too heavy", 0.051, 0, false}, {"heavy", 0.049, 0, true}, {"too light", 0.012, 0, false},
	} {
		m := modelOf(tr, 0, 1)
		m.Weights = []float64{1 - c.weight, c.weight}
		m.Means[1][0] += c.away * sd
		if got := tr.Found(m); got != c.found {
			t.Errorf("%s: found is %v", c.name, got)
		}
	}
}

func TestMomentsOfLabelledRows(t *testing.T) {
	rows := &data.Table{N: 5, D: 2, F64: []float64{0, 0, 10, 1, 2, 0, 1, 3, 14, 5}}
	tr := moments(rows, []int{0, 1, 0, 0, 1}, 2)
	if math.Abs(tr.Weights[0]-0.6) > 1e-15 || math.Abs(tr.Means[0][0]-1) > 1e-15 || math.Abs(tr.Means[0][1]-1) > 1e-15 || math.Abs(tr.Means[1][0]-12) > 1e-15 {
		t.Errorf("weights %v, means %v", tr.Weights, tr.Means)
	}
	for i, want := range []float64{2.0 / 3, 0, 0, 2} {
		if math.Abs(tr.Covariances[0][i]-want) > 1e-15 {
			t.Errorf("covariance %v", tr.Covariances[0])
		}
	}
}

func TestCentresHaveASegmentOfTheirOwn(t *testing.T) {
	centre := make([]bool, 100)
	for i := range 10 {
		centre[i] = true
	}
	px := newPixels(10, 10, make([]uint8, 300), centre)
	for _, c := range []struct {
		name          string
		inside, other int // pixels of segment 1 that are centres, and that are not
		own           bool
	}{{"exactly", 10, 0, true}, {"half of them", 5, 0, true}, {"fewer", 4, 0, false}, {"half others", 6, 6, true}, {"most others", 6, 7, false}} {
		label := make([]int32, 100)
		for i := range c.inside {
			label[i] = 1
		}
		for i := range c.other {
			label[50+i] = 1
		}
		if got := px.segment(label, 3).own(px) == 1; got != c.own {
			t.Errorf("%s: own is %v", c.name, got)
		}
	}
}

func TestErrorOfAPictureIsTheRootOfSummedSquares(t *testing.T) {
	px := newPixels(2, 2, []uint8{0, 0, 0, 10, 20, 30, 100, 100, 100, 100, 100, 106}, nil)
	s := px.segment([]int32{0, 0, 1, 1}, 3)
	if want := math.Sqrt(2*(25+100+225) + 2*9); math.Abs(s.mse-want) > 1e-12 { // segment means (5, 10, 15) and (100, 100, 103)
		t.Errorf("error %v, want %v", s.mse, want)
	}
	if got := s.repainted(); got[0] != 5 || got[4] != 10 || got[11] != 103 {
		t.Errorf("repainted %v", got)
	}
}

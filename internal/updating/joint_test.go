package updating

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/model"
)

// twoLines is a model of one column, and table some rows of it.
func twoLines() *model.Model {
	return &model.Model{Kind: "gmm", Shape: family.Full, Columns: []string{"x"}, Weights: []float64{0.4, 0.6}, Means: [][]float64{{0}, {2}}, Covariance: [][]float64{{1}, {0.8}}}
}

func table(rng *rand.Rand, n int) *data.Table {
	t := &data.Table{N: n, D: 1}
	for range n {
		t.F64 = append(t.F64, 2*float64(min(rng.IntN(5), 2)/2)+rng.NormFloat64())
	}
	return t
}

// logDensities returns log(pi_c p_c(x)) of both components by the formula.
func logDensities(m *model.Model, x float64) (l [2]float64) {
	for c := range l {
		v := m.Covariance[c][0]
		l[c] = math.Log(m.Weights[c]) - 0.5*math.Log(2*math.Pi*v) - (x-m.Means[c][0])*(x-m.Means[c][0])/(2*v)
	}
	return l
}

func logSum(l [2]float64) float64 {
	return max(l[0], l[1]) + math.Log1p(math.Exp(-math.Abs(l[0]-l[1])))
}

// What is climbed is what its comment says, by a loop over old rows, rows drawn and new rows.
func TestWhatIsClimbedIsWhatALoopGives(t *testing.T) {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(1, 1))
	m, old, rows := twoLines(), table(rng, 300), table(rng, 100)
	sums, err := Gather(ctx, old, m, 1)
	if err != nil {
		t.Fatal(err)
	}
	m.Sums = sums
	const forget = 0.7
	p, err := newPass(ctx, rows, m, sums.Origin, forget*sums.Weight, 1)
	if err != nil {
		t.Fatal(err)
	}
	all, err := p.joined(ctx, m, forget)
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := draw(m, forget*sums.Weight, p.fit.Plan.Seed)
	if err != nil {
		t.Fatal(err)
	}
	other := twoLines()
	other.Weights, other.Means, other.Covariance = []float64{0.5, 0.5}, [][]float64{{-0.1}, {2.3}}, [][]float64{{1.2}, {0.7}}
	theta, err := p.fit.Theta(other, false)
	if err != nil {
		t.Fatal(err)
	}
	bound := func(x float64) (f float64) { // with the responsibilities of m
		was, is := logDensities(m, x), logDensities(other, x)
		for c := range was {
			r := math.Exp(was[c] - logSum(was))
			f += r * (is[c] - math.Log(r))
		}
		return f
	}
	want, divergence := 0.0, 0.0
	for _, x := range rows.F64 {
		want += logSum(logDensities(other, x))
	}
	for _, x := range old.F64 {
		want += forget * bound(x)
	}
	for i, x := range drawn.F64 {
		divergence += drawn.W[i] * (logSum(logDensities(other, x)) - bound(x))
	}
	reach := reachEach * 5.0
	for _, loose := range []bool{false, true} {
		own := *all
		total := want + reach*(1-math.Exp(-divergence/reach))
		if !loose {
			own.drawn, total = nil, want
		}
		s, err := p.sums(ctx, &own, theta)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(s.F-total) > 1e-9*math.Abs(total) {
			t.Errorf("loose %v: %v, by a loop %v", loose, s.F, total)
		}
		if w := 100 + forget*300; math.Abs(s.W-w) > 1e-9*w || math.Abs(s.N[0]+s.N[1]-w) > 1e-9*w {
			t.Errorf("loose %v: weight %v and %v, want %v", loose, s.W, s.N, w)
		}
	}
	gradient(t, p, all, theta)
}

// gradient checks that the sums at theta give the gradient of what is climbed.
func gradient(t *testing.T, p *pass, all *joint, theta []float64) {
	eval := func(theta []float64) *family.Stats {
		s, err := p.sums(context.Background(), all, theta)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	g := make([]float64, len(theta))
	p.fit.Mix.Grad(g, theta, eval(theta))
	for i := range theta {
		const h = 1e-5
		at := append([]float64(nil), theta...)
		at[i] += h
		up := eval(at).F
		at[i] -= 2 * h
		if slope := (up - eval(at).F) / (2 * h); math.Abs(slope-g[i]) > 1e-5*(1+math.Abs(slope)) {
			t.Errorf("parameter %d: slope %v, by differences %v", i, g[i], slope)
		}
	}
}

// Without letting go every M-step ascends, as that of any EM.
func TestEveryStepAscends(t *testing.T) {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(2, 1))
	m, old, rows := twoLines(), table(rng, 200), table(rng, 150)
	var err error
	if m.Sums, err = Gather(ctx, old, m, 1); err != nil {
		t.Fatal(err)
	}
	p, err := newPass(ctx, rows, m, m.Sums.Origin, 200, 1)
	if err != nil {
		t.Fatal(err)
	}
	all := &joint{rows: p.fit.Local, mix: p.fit.Mix, about: p.theta, old: p.stats(m.Sums, 1)}
	theta, last := append([]float64(nil), p.theta...), math.Inf(-1)
	for i := range 50 {
		s, err := all.Sweep(ctx, []sweep.Task{{Mixture: p.fit.Mix, Theta: theta, Beta: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if s[0].F < last-1e-12*math.Abs(last) {
			t.Fatalf("step %d: %v after %v", i, s[0].F, last)
		}
		last = s[0].F
		p.fit.Mix.MStep(theta, theta, s[0])
	}
}

// Rows drawn lack as many cells as the old rows did, and keep one.
func TestDrawnRowsLackCells(t *testing.T) {
	m := &model.Model{Kind: "gmm", Shape: family.Diag, Columns: []string{"x", "y"}, Weights: []float64{1}, Means: [][]float64{{0, 0}}, Covariance: [][]float64{{1, 1}}}
	m.Sums = &model.Sums{Rows: 10, Weight: 10, Seen: []float64{10, 4}}
	rows, err := draw(m, 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	missing := [2]int{}
	for i, v := range rows.F64 {
		if v != v {
			missing[i%2]++
		}
	}
	if share := float64(missing[1]) / float64(rows.N); missing[0] > 0 || math.Abs(share-0.6) > 0.02 {
		t.Errorf("%v of %d cells are missing, want none and 0.6 of them", missing, rows.N)
	}
	m.Sums.Seen = []float64{0, 0}
	if rows, err = draw(m, 10, 1); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(rows.F64); i += 2 {
		if rows.F64[i] != rows.F64[i] && rows.F64[i+1] != rows.F64[i+1] {
			t.Fatalf("row %d has no cell", i/2)
		}
	}
}

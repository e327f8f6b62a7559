package selection

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/prepare"
	"github.com/latent-go/latent/internal/search"
	"github.com/latent-go/latent/model"
)

// leastInertia returns the least inertia of k groups on a line, by trying all cuts of the sorted rows.
func leastInertia(x []float64, k int) float64 {
	x = slices.Sorted(slices.Values(x))
	var rest func(from, k int) float64
	rest = func(from, k int) float64 {
		cost := func(part []float64) (sum float64) {
			mean := 0.0
			for _, v := range part {
				mean += v / float64(len(part))
			}
			for _, v := range part {
				sum += (v - mean) * (v - mean)
			}
			return sum
		}
		if k == 1 {
			return cost(x[from:])
		}
		best := math.Inf(1)
		for to := from + 1; to <= len(x)-k+1; to++ {
			best = min(best, cost(x[from:to])+rest(to, k-1))
		}
		return best
	}
	return rest(0, k)
}

func TestGapIsThatOfTheFormula(t *testing.T) {
	t.Parallel()
	x := []float64{0, 0.2, 0.3, 4, 4.1, 4.5, 9, 9.2, 9.9}
	spec := plan.Spec{Model: "kmeans", KRange: [2]int{1, 4}, Criterion: "gap"}
	all := fixtures.Plan(spec)
	r, err := Fit(context.Background(), fixtures.Table(1, x...), all, search.Observer{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := prepare.New(context.Background(), fixtures.Table(1, x...), all.Candidate(1, family.Full))
	if err != nil {
		t.Fatal(err)
	}
	refs, err := newReferences(context.Background(), search.Unsized(f))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Model.Provenance.Candidates {
		mean, square := 0.0, 0.0
		for b := range 20 {
			set := refs.set(b)
			if slices.Min(set.F64) < refs.lo[0] || slices.Max(set.F64) > refs.hi[0] || set.N != len(x) {
				t.Fatalf("set %d: %v", b, set.F64)
			}
			v := math.Log(leastInertia(set.F64, c.K))
			mean += v / 20
			square += v * v / 20
		}
		fixtures.Within(t, "gap", *c.Gap, mean-math.Log(leastInertia(x, c.K)), 1e-9)
		fixtures.Within(t, "its standard error", *c.GapSE, math.Sqrt((square-mean*mean)*(1+1.0/20)), 1e-6)
	}
	k, found := r.Model.K(), r.Model.Provenance.Findings
	first, choice := found.Candidates[:3], found.Choice
	best := slices.IndexFunc(first, func(c model.Candidate) bool { next := found.Candidates[c.K]; return *c.Gap >= *next.Gap-*next.GapSE })
	if k != best+1 && (best >= 0 || k != 4) || choice.GapRows != 9 || choice.GapSets != 20 || choice.Margin != nil || Ranked(plan.Gap, found.Candidates, k)[0].K != k {
		t.Errorf("k = %d, %+v", k, choice)
	}
}

func TestReferenceBoxLiesAlongThePrincipalAxes(t *testing.T) {
	t.Parallel()
	// A rectangle of 20 by 2, turned by atan(3/4), each edge and the inside with rows in plenty.
	var x []float64
	for i := range 21 {
		for j := range 5 {
			u, v := float64(i)-10, float64(j)/2-1
			x = append(x, 0.8*u-0.6*v+100, 0.6*u+0.8*v-50)
		}
	}
	f, err := prepare.New(context.Background(), fixtures.Table(2, x...), fixtures.Plan(plan.Spec{Model: "kmeans", K: 1}))
	if err != nil {
		t.Fatal(err)
	}
	refs, err := newReferences(context.Background(), search.Unsized(f))
	if err != nil {
		t.Fatal(err)
	}
	sides := []float64{refs.hi[0] - refs.lo[0], refs.hi[1] - refs.lo[1]}
	slices.Sort(sides)
	fixtures.Within(t, "short side", sides[0], 2, 1e-9)
	fixtures.Within(t, "long side", sides[1], 20, 1e-9)
	set := refs.set(0)
	for j := range 2 { // about half way between the ends
		sum := 0.0
		for i := range set.N {
			sum += (set.At(i, j) - refs.lo[j]) / (refs.hi[j] - refs.lo[j])
		}
		fixtures.Within(t, "mean place in the box", sum/float64(set.N), 0.5, 0.15)
	}
}

func TestGapRuleTakesTheSmallestKThatTheNextDoesNotBeat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		gap, se []float64
		want    int
	}{
		{[]float64{0.5, 0.4, 0.9}, []float64{0.1, 0.1, 0.1}, 1},   // 0.5 >= 0.4 - 0.1, whatever comes later
		{[]float64{0.1, 0.6, 0.65}, []float64{0.1, 0.1, 0.1}, 2},  // 0.6 >= 0.55
		{[]float64{0.1, 0.6, 0.75}, []float64{0.1, 0.1, 0.1}, 3},  // none does, so the last
		{[]float64{0.1, 0.6, 0.70}, []float64{0.1, 0.01, 0.2}, 2}, // the error is that of the next
		{[]float64{0.3}, []float64{0.1}, 1},
	} {
		var all []*model.Candidate
		for i := range c.gap {
			all = append(all, &model.Candidate{K: i + 1, Gap: &c.gap[i], GapSE: &c.se[i]})
		}
		if got := all[byGap(all)].K; got != c.want {
			t.Errorf("gaps %v, errors %v: k = %d, want %d", c.gap, c.se, got, c.want)
		}
	}
}

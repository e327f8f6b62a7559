package latent

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
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
	spec := Spec{Model: "kmeans", KRange: [2]int{1, 4}, Criterion: "gap"}
	r, all := quickFit(t, matrixOf(1, x...), spec), planOf(spec)
	f, err := survey(context.Background(), matrixOf(1, x...), all.Candidate(1, family.Full))
	if err != nil {
		t.Fatal(err)
	}
	refs, err := f.references(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Candidates {
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
		within(t, "gap", *c.Gap, mean-math.Log(leastInertia(x, c.K)), 1e-9)
		within(t, "its standard error", *c.GapSE, math.Sqrt((square-mean*mean)*(1+1.0/20)), 1e-6)
	}
	best := slices.IndexFunc(r.Candidates[:3], func(c model.Candidate) bool { next := r.Candidates[c.K]; return *c.Gap >= *next.Gap-*next.GapSE })
	if r.K != best+1 && (best >= 0 || r.K != 4) || r.Choice.GapRows != 9 || r.Choice.GapSets != 20 || r.Choice.Margin != nil || r.Ranked()[0].K != r.K {
		t.Errorf("k = %d, %+v", r.K, r.Choice)
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
	f, err := survey(context.Background(), matrixOf(2, x...), planOf(Spec{Model: "kmeans", K: 1}))
	if err != nil {
		t.Fatal(err)
	}
	refs, err := f.references(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	sides := []float64{refs.hi[0] - refs.lo[0], refs.hi[1] - refs.lo[1]}
	slices.Sort(sides)
	within(t, "short side", sides[0], 2, 1e-9)
	within(t, "long side", sides[1], 20, 1e-9)
	set := refs.set(0)
	for j := range 2 { // about half way between the ends
		sum := 0.0
		for i := range set.N {
			sum += (set.At(i, j) - refs.lo[j]) / (refs.hi[j] - refs.lo[j])
		}
		within(t, "mean place in the box", sum/float64(set.N), 0.5, 0.15)
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

func TestGapKnowsOneGroupAndThree(t *testing.T) {
	t.Parallel()
	spec := Spec{Model: "kmeans", KRange: [2]int{1, 5}, Criterion: "gap"}
	if r := quickFit(t, matrixOf(2, uniforms(4, 400)...), spec); r.K != 1 {
		t.Errorf("a square without groups has %d", r.K)
	}
	three := clusters(30, 5, [2]float64{0, 0}, [2]float64{9, 0}, [2]float64{0, 9})
	for _, scale := range []string{"", "standard"} {
		spec.Scale = scale
		if r := quickFit(t, three, spec); r.K != 3 {
			t.Errorf("scale %q: three groups have %d", scale, r.K)
		}
	}
	double := *three // each row twice
	double.W = slices.Repeat([]float64{2}, 90)
	spec.Scale = ""
	if r := quickFit(t, &double, spec); r.K != 3 {
		t.Errorf("three groups of weight 2 have %d", r.K)
	}
	spec.Threads = 1
	large := clusters(3000, 5, [2]float64{0, 0}, [2]float64{9, 0}, [2]float64{0, 9})
	r := quickFit(t, large, spec)
	spec.Threads = 3
	again := quickFit(t, passed{large}, spec)
	if r.K != 3 || r.Choice.GapRows != 4000 {
		t.Errorf("9,000 rows: k = %d of %d rows", r.K, r.Choice.GapRows)
	}
	for i, c := range r.Candidates {
		if *c.Gap != *again.Candidates[i].Gap || *c.GapSE != *again.Candidates[i].GapSE {
			t.Errorf("k = %d: the gap depends on threads or on the source", c.K)
		}
	}
}

// The candidate of least J + λk lies farthest below the line between the ends of the curve of J.
func TestElbowIsTheKneeOfTheCurve(t *testing.T) {
	t.Parallel()
	iris, _ := builtIn(t, "@iris")
	for _, src := range []data.Source{iris, clusters(30, 5, [2]float64{0, 0}, [2]float64{9, 0}, [2]float64{0, 9}, [2]float64{9, 9})} {
		r := quickFit(t, src, Spec{Model: "kmeans", KRange: [2]int{1, 8}, Criterion: "elbow"})
		j := make([]float64, 9)
		for _, c := range r.Candidates {
			j[c.K] = *c.Inertia
		}
		knee, far := 0, math.Inf(-1)
		for k := 1; k <= 8; k++ {
			if below := j[1] + (j[8]-j[1])*float64(k-1)/7 - j[k]; below > far {
				knee, far = k, below
			}
		}
		if r.K != knee || r.Ranked()[0].K != knee {
			t.Errorf("k = %d, the knee is at %d", r.K, knee)
		}
		for _, c := range r.Candidates {
			within(t, "J + λk", *c.Objective, j[c.K]+(j[1]-j[8])/7*float64(c.K), 1e-9*j[1])
		}
		within(t, "λ", *r.Choice.Penalty, (j[1]-j[8])/7, 1e-9*j[1])
		if r.Choice.Verdict != "" || r.Choice.Highest || r.Penalty != nil {
			t.Errorf("%+v", r.Choice)
		}
	}
	if r := quickFit(t, matrixOf(1, 0, 0, 5, 5, 9), Spec{Model: "kmeans", KRange: [2]int{1, 4}, Criterion: "elbow"}); r.K != 2 || r.Candidates[3].Objective != nil {
		t.Errorf("of three distinct rows: k = %d", r.K)
	}
	if _, err := Fit(context.Background(), iris, Spec{Model: "kmeans", KRange: [2]int{2, 3}, Criterion: "elbow"}); err == nil || !strings.Contains(err.Error(), "at least three") {
		t.Errorf("an elbow of two points: %v", err)
	}
}

func TestGapAndElbowAreForKMeans(t *testing.T) {
	t.Parallel()
	src := clusters(20, 5, [2]float64{0, 0}, [2]float64{9, 0})
	for _, c := range []string{"gap", "elbow"} {
		for _, model := range []string{"gmm", "kmedians", "bernoulli"} {
			_, err := Fit(context.Background(), src, Spec{Model: model, KRange: [2]int{1, 3}, Criterion: c})
			if err == nil || !strings.Contains(err.Error(), "Criterion "+c+" compares inertias") {
				t.Errorf("%s of %s: %v", c, model, err)
			}
		}
	}
	r, err := Fit(context.Background(), matrixOf(1, 0, 0, 5, 5, 5), Spec{Model: "kmeans", KRange: [2]int{1, 4}, Criterion: "gap"})
	if err != nil || r.K != 1 || r.Candidates[1].Gap != nil || !strings.Contains(r.Candidates[1].Why, "inertia is 0") {
		t.Errorf("two distinct rows: %+v, %v", r, err)
	}
}

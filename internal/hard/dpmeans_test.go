package hard

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/seed"
)

// grow runs DP-means from the overall mean to its end.
func grow(t *testing.T, p *seed.Points, penalty float64) (steps []ascent.Step) {
	t.Helper()
	for s, err := range (DPMeans{Penalty: penalty, MaxIter: 1000}).Steps(context.Background(), sweeper(p, 2), overallMean(p), p.D) {
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, s)
	}
	return steps
}

func TestPenaltyIsASquaredDistance(t *testing.T) {
	p := column(0, 0, 5, 5)
	for _, c := range []struct {
		penalty   float64
		k         int
		objective float64
	}{{4, 2, 8}, {6.25, 1, 31.25}, {math.Nextafter(6.25, 0), 2, 12.5}, {16, 1, 41}, {0, 2, 0}, {1e9, 1, 1e9 + 25}} {
		steps := grow(t, p, c.penalty)
		last := steps[len(steps)-1]
		if len(last.Point.Theta) != c.k || math.Abs(-last.Point.F-c.objective) > 1e-14*c.objective || last.Done != ascent.FixedPoint {
			t.Errorf("penalty %v: k %d, objective %v, want %d and %v", c.penalty, len(last.Point.Theta), -last.Point.F, c.k, c.objective)
		}
	}
	for _, penalty := range []float64{-1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, err := range (DPMeans{Penalty: penalty}).Steps(context.Background(), sweeper(p, 1), []float64{2.5}, 1) {
			if err == nil || !strings.Contains(err.Error(), "penalty") {
				t.Errorf("penalty %v: error %v", penalty, err)
			}
		}
	}
}

func TestDPMeansNeverRaisesItsObjective(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	grew, tried := 0, 0
	for s := range uint64(60) {
		p := normal(s, 120, 1+int(s%3), 5)
		light := s%2 == 1
		for i := range p.W {
			if p.W[i] = float64(1 + rng.IntN(3)); light {
				p.W[i] = rng.Float64() + 0.01
			}
		}
		penalty := math.Exp(5 * rng.Float64())
		steps := grow(t, p, penalty)
		for i, step := range steps {
			k := float64(len(step.Point.Theta) / p.D)
			want := inertia(p, step.Point.Theta) + penalty*k
			within(t, "objective", -step.Point.F, want, 1e-12*want)
			tol := 1e-12 * want
			if i > 0 && (step.Point.F < steps[i-1].Point.Lifted-tol || step.Iteration != i || step.Sweeps < i+1) || step.Point.Lifted < step.Point.F-tol {
				t.Errorf("seed %d, step %d: F %v, lifted %v", s, i, step.Point.F, step.Point.Lifted)
			}
			if step.Halves {
				within(t, "lifted", step.Point.Lifted, carried(t, p, step.Point, penalty), 1e-10*want)
			} else {
				tried++
			}
			if slices.Min(step.Point.Weights) <= 0 || len(step.Point.Weights) != int(k) {
				t.Errorf("seed %d, step %d: weights %v", s, i, step.Point.Weights)
			}
		}
		last := steps[len(steps)-1]
		if last.Done != ascent.FixedPoint {
			t.Errorf("seed %d: not at rest", s)
		}
		grew += len(last.Point.Theta)/p.D - 1
		for i := range p.N {
			alone := &seed.Points{N: 1, D: p.D, X: p.At(i), W: []float64{1}}
			if q := inertia(alone, last.Point.Theta); q > penalty*(1+1e-12) && p.W[i] >= 1 {
				t.Errorf("seed %d: row %d of weight %v is %v from its centre, penalty %v", s, i, p.W[i], q, penalty)
			}
		}
	}
	if grew < 60 || tried < 10 {
		t.Errorf("%d clusters opened in all, %d of them by trial: too few for a test", grew, tried)
	}
}

// carried returns -(SSE + lambda k) of the next centres with the labels of the present ones, but for the row that opens a
// cluster.
func carried(t *testing.T, p *seed.Points, at *ascent.Point, penalty float64) float64 {
	t.Helper()
	f := -penalty * float64(len(at.Next)/p.D)
	opened := len(at.Next) == len(at.Theta) // nothing left to open
	for i, c := range labelsOf(t, family.KMeans{}, p, at.Theta) {
		if !opened && slices.Equal(p.At(i), at.Next[len(at.Theta):]) {
			opened = true
			continue
		}
		for j, x := range p.At(i) {
			e := x - at.Next[int(c)*p.D+j]
			f -= p.W[i] * e * e
		}
	}
	if !opened || len(at.Next) > len(at.Theta)+p.D {
		t.Errorf("from %v to %v, which is more than a row's cluster", at.Theta, at.Next)
	}
	return f
}

func TestRowOfWeightTwoIsTwoRows(t *testing.T) {
	for s := range uint64(100) {
		p, more := normal(s, 50, 2, 4), &seed.Points{D: 2}
		for i := range p.N {
			p.W[i] = float64(1 + i%3)
			for range 1 + i%3 {
				more.X, more.W, more.N = append(more.X, p.At(i)...), append(more.W, 1), more.N+1
			}
		}
		a, b := grow(t, p, 9), grow(t, more, 9)
		x, y := a[len(a)-1].Point, b[len(b)-1].Point
		if len(x.Theta) != len(y.Theta) {
			t.Errorf("seed %d: %d and %d clusters", s, len(x.Theta)/2, len(y.Theta)/2)
			continue
		}
		within(t, "objective", x.F, y.F, 1e-9*math.Abs(y.F))
	}
}

func TestLightRowOpensAClusterOnlyWhereThatPays(t *testing.T) {
	for _, c := range []struct {
		w, penalty float64
		k          int
	}{
		{0.5, 4, 2},    // 12.5 + 4 in one cluster, 0 + 8 in two
		{0.5, 6.25, 1}, // not above the penalty
		{0.1, 4, 1},    // 2.5 + 4 against 8
		{0.25, 6, 2},   // 6.25 + 6 against 12
		{0.2, 6, 1},    // 5 + 6 against 12
	} {
		p := column(0, 0, 5, 5)
		for i := range p.W {
			p.W[i] = c.w
		}
		steps := grow(t, p, c.penalty)
		last := steps[len(steps)-1]
		if len(last.Point.Theta) != c.k || last.Done != ascent.FixedPoint {
			t.Errorf("weight %v, penalty %v: centres %v", c.w, c.penalty, last.Point.Theta)
		}
	}
	// Each of four rows is tried, in one pass: five evaluations with that of the start.
	p := column(0, 0, 5, 5)
	p.W = []float64{0.1, 0.1, 0.1, 0.1}
	if steps := grow(t, p, 4); len(steps) != 1 || steps[0].Sweeps != 5 {
		t.Errorf("%d steps, %d sweeps, want 1 and 5", len(steps), steps[0].Sweeps)
	}
	// A light row that is farther must not hide a heavy one.
	p = column(0, 0, 0, 0, 0, 0, 0, 0, -3, 2.5)
	p.W[8] = 0.1
	steps := grow(t, p, 4.5)
	if last := steps[len(steps)-1].Point; !slices.Contains(last.Theta, 2.5) || len(last.Theta) != 2 {
		t.Errorf("centres %v", last.Theta)
	}
}

func TestPenaltyZeroGivesEveryDistinctRowItsCluster(t *testing.T) {
	for s := range uint64(10) {
		rng := rand.New(rand.NewPCG(s, 0))
		var rows [][]float64
		distinct := map[[2]float64]bool{}
		for range 60 {
			r := [2]float64{float64(rng.IntN(5)) / 10, float64(rng.IntN(5)) / 10} // no tenth is exact, so neither are means of equals
			rows = append(rows, r[:])
			distinct[r] = true
		}
		p := points(rows, nil)
		steps := grow(t, p, 0)
		last := steps[len(steps)-1]
		if k := len(last.Point.Theta) / 2; k != len(distinct) || last.Done != ascent.FixedPoint || last.Point.F < -1e-28 {
			t.Errorf("seed %d: %d clusters of %d distinct rows, SSE %v", s, k, len(distinct), -last.Point.F)
		}
	}
}

func TestClustersWithoutRowsAreRemoved(t *testing.T) {
	p := column(0, 1, 9, 10)
	var steps []ascent.Step
	for s, err := range (DPMeans{Penalty: 5, MaxIter: 100}).Steps(context.Background(), sweeper(p, 1), []float64{1000, 0, -50, 9.5, 9.5}, 1) {
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, s)
	}
	last := steps[len(steps)-1].Point
	if !slices.Equal(last.Theta, []float64{0.5, 9.5}) || last.F != -11 || !slices.Equal(steps[0].Point.Theta, []float64{0, 9.5}) {
		t.Errorf("first %v, last %v, objective %v", steps[0].Point.Theta, last.Theta, -last.F)
	}
}

func TestDPMeansStopsAtItsLimits(t *testing.T) {
	p := normal(1, 100, 2, 5)
	run := func(ctx context.Context, d DPMeans, start []float64) (last ascent.Step, err error) {
		for last, err = range d.Steps(ctx, sweeper(p, 1), start, 2) {
		}
		return last, err
	}
	for _, limit := range []int{0, 3} {
		last, err := run(context.Background(), DPMeans{Penalty: 0.01, MaxIter: limit}, overallMean(p))
		if err != nil || last.Done != ascent.Limit || last.Iteration != limit || len(last.Point.Theta) != 2*(1+limit) {
			t.Errorf("limit %d: %+v, %v", limit, last, err)
		}
	}
	whole, err := run(context.Background(), DPMeans{Penalty: 20, MaxIter: 1000}, overallMean(p))
	if err != nil || whole.Iteration < 3 {
		t.Fatalf("ends with %+v, %v", whole, err)
	}
	for limit, want := range map[int]ascent.Reason{whole.Iteration: ascent.FixedPoint, whole.Iteration - 1: ascent.Limit} {
		if last, _ := run(context.Background(), DPMeans{Penalty: 20, MaxIter: limit}, overallMean(p)); last.Done != want {
			t.Errorf("limit %d ends for reason %v", limit, last.Done)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := run(ctx, DPMeans{Penalty: 1}, overallMean(p)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	for _, start := range [][]float64{nil, {1, 2, 3}} {
		if _, err := run(context.Background(), DPMeans{Penalty: 1}, start); err == nil {
			t.Errorf("start %v is accepted in two columns", start)
		}
	}
	if _, err := run(context.Background(), DPMeans{Penalty: 1}, make([]float64, 2*(MostClusters+1))); err == nil || !strings.Contains(err.Error(), "raise it") {
		t.Errorf("too many clusters: %v", err)
	}
	p = &seed.Points{D: 2}
	if _, err := run(context.Background(), DPMeans{Penalty: 1}, []float64{0, 0}); err == nil {
		t.Error("no rows are no error")
	}
}

func TestSuggestedPenaltyIsTheDistanceOfTheLastRowTaken(t *testing.T) {
	for k, want := range []float64{0, 6.25, 6.25, 0} {
		if got := Suggest(column(0, 0, 5, 5), k); got != want {
			t.Errorf("k %d: %v, want %v", k, got, want)
		}
	}
	// Mean 12, so 30 is taken at 18, then 0 at 12, then 6 at 6: from 12 and from 0 alike.
	for k, want := range []float64{0, 18 * 18, 12 * 12, 36, 0} {
		if got := Suggest(column(0, 6, 12, 30, 12), k); k < 4 && got != want {
			t.Errorf("k %d: %v, want %v", k, got, want)
		}
	}
	for s := range uint64(10) { // compact groups far apart are found
		p := normal(s, 300, 2, 1)
		for i := range p.N {
			p.X[2*i] += 100 * float64(i%5)
			p.X[2*i+1] += 100 * float64(i%5*i%3)
		}
		groups := map[[2]float64]bool{}
		for i := range p.N {
			groups[[2]float64{math.Round(p.X[2*i] / 100), math.Round(p.X[2*i+1] / 100)}] = true
		}
		steps := grow(t, p, Suggest(p, len(groups)))
		if k := len(steps[len(steps)-1].Point.Theta) / 2; k != len(groups) {
			t.Errorf("seed %d: %d clusters of %d groups", s, k, len(groups))
		}
	}
}

func TestPathGoesFromTheLargestPenaltyDown(t *testing.T) {
	p := column(0, 0, 5, 5)
	path, err := DPMeans{MaxIter: 100}.Path(context.Background(), sweeper(p, 1), []float64{2.5}, 1, []float64{4, 16, 6.25})
	if err != nil || len(path) != 3 {
		t.Fatalf("%v, %v", path, err)
	}
	for i, want := range []PathPoint{{Penalty: 16, K: 1, Objective: 41}, {Penalty: 6.25, K: 1, Objective: 31.25}, {Penalty: 4, K: 2, Objective: 8}} {
		got := path[i]
		if got.Penalty != want.Penalty || got.K != want.K || got.Objective != want.Objective || len(got.Theta) != want.K || got.Done != ascent.FixedPoint {
			t.Errorf("point %d: %+v, want %+v", i, got, want)
		}
	}
	if _, err := (DPMeans{}).Path(context.Background(), sweeper(p, 1), []float64{2.5}, 1, []float64{4, -1}); err == nil {
		t.Error("a negative penalty is accepted")
	}
}

// No bound may pass the number of clusters that any climb ends with. On a line the bound is met.
func TestLeastClustersIsALowerBound(t *testing.T) {
	tight := 0
	for s := range uint64(60) {
		p := normal(s, 40, 1+int(s%6), 3)
		for i := range p.W {
			p.W[i] = []float64{1, 1, 2.5, 0.4}[(uint64(i)+s)%4]
		}
		for _, penalty := range []float64{0, 0.01, 0.3, 1, 3, 10, 40} {
			least, err := LeastClusters(context.Background(), p, penalty, 1000)
			if err != nil {
				t.Fatal(err)
			}
			for from := range 3 {
				start := overallMean(p)
				if from > 0 {
					start = p.At(from)
				}
				var last ascent.Step
				for last, err = range (DPMeans{Penalty: penalty, MaxIter: 1000}).Steps(context.Background(), sweeper(p, 1), start, p.D) {
					if err != nil {
						t.Fatal(err)
					}
				}
				k := len(last.Point.Theta) / p.D
				if k < least {
					t.Errorf("seed %d, penalty %v: %d clusters, the bound is %d", s, penalty, k, least)
				}
				if least > 5 && 3*least > 2*k {
					tight++
				}
			}
		}
	}
	if tight < 100 {
		t.Errorf("the bound is within a third in %d climbs only", tight)
	}
}

func TestLeastClustersOfKnownSets(t *testing.T) {
	line := make([]float64, 50)
	for i := range line {
		line[i] = 10 * float64(i)
	}
	corners := make([][]float64, 30) // all 2 apart, squared
	for i := range corners {
		corners[i] = make([]float64, len(corners))
		corners[i][i] = 1
	}
	light := column(line...)
	for i := range light.W {
		light.W[i] = 0.999
	}
	for _, c := range []struct {
		p       *seed.Points
		penalty float64
		want    int
	}{
		{column(line...), 0, 50},
		{column(line...), 24, 50},     // two rows 10 apart are 25 from their mean
		{column(1e9, 1e9+1e-6), 0, 1}, // equal but for rounding
		{column(3, 3, 3), 0, 1},
		{column(0, 0, 7), 0, 2},
		{points(corners, nil), 0.49, 30},   // two corners are 1/2 from their mean
		{points(corners, nil), 0.5001, 15}, // three are 2/3
		{points(corners, nil), 0.67, 10},   // four 3/4
		{points(corners, nil), 1, 1},
		{light, 1, 1},
	} {
		if got, err := LeastClusters(context.Background(), c.p, c.penalty, 1000); got != c.want || err != nil {
			t.Errorf("%d rows, penalty %v: %d clusters at least (%v), want %d", c.p.N, c.penalty, got, err, c.want)
		}
	}
	if got, _ := LeastClusters(context.Background(), column(line...), 1, 7); got != 8 {
		t.Errorf("counts to %d, beyond 7", got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := LeastClusters(ctx, column(line...), 1, 100); err != context.Canceled {
		t.Errorf("error %v", err)
	}
}

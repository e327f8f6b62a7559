package ascent_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
)

// quasi is the driver that a fit uses by default.
var quasi = ascent.EMLBFGS{Warm: 10, Memory: 15, MaxIter: 1000}

// slow is plain EM.
var slow = ascent.EM{Beta: 1, MaxIter: 100_000, Ascends: true}

// steps climbs to the end and returns all steps.
func steps(t testing.TB, d ascent.Driver, o ascent.Objective, theta []float64) (all []ascent.Step) {
	t.Helper()
	for s, err := range d.Steps(context.Background(), o, theta) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

func last(all []ascent.Step) ascent.Step { return all[len(all)-1] }

// Drivers by the distance they must come within.
func TestFinishStopsWithinTheDistanceAsked(t *testing.T) {
	rows := overlap(21, 400, 2)
	m := gaussians(t, family.Full, 2, rows)
	start := overlapStart(m)
	path := climbEM(t, newObjective(t, m, rows), start, 5000)
	top := path[len(path)-1].F
	for name, d := range map[string]ascent.Driver{"EM": slow, "EM-L-BFGS": quasi} {
		before := 0
		for _, tol := range []float64{0.3, 0.03, 0.003} {
			o := newObjective(t, m, rows)
			all := steps(t, ascent.Finish{Driver: d, MaxIter: 5000, Tol: tol}, o, start)
			end := last(all)
			if end.Done != ascent.Close || end.Certificate == nil || !(end.Distance <= tol) || end.Distance != end.Certificate.Distance || end.Certificate.Saddles != 0 {
				t.Errorf("%s, %v: %+v, certificate %+v", name, tol, end, end.Certificate)
			}
			if left := top - end.Point.F; left > tol*tol/2*1.3 || left < -1e-9 {
				t.Errorf("%s, %v: %v left", name, tol, left)
			}
			if end.Sweeps != o.evals || end.Sweeps < before {
				t.Errorf("%s, %v: %d sweeps, %d evaluations, %d for the looser demand", name, tol, end.Sweeps, o.evals, before)
			}
			before = end.Sweeps
			for i, s := range all {
				if s.Iteration != i || (s.Done == ascent.Going) != (i < len(all)-1) {
					t.Errorf("%s, %v: step %d: %+v", name, tol, i, s)
				}
			}
		}
	}
}

// Two equal components on two humps rest on a saddle: no EM step parts them.
func TestSaddleOfEqualComponentsIsLeft(t *testing.T) {
	rows, _ := twoHumps()
	m := gaussians(t, family.Full, 2, rows)
	for _, start := range [][]float64{
		{0, 0, 0, 0, 1, 1}, // weights, means, log scales
		{0, 0, 0, 0, 1.1268, 1.1268},
		{0, 0, 1, 1, 0, 0},
		{1, 0, -0.5, -0.5, 0.5, 0.5},
	} {
		for name, d := range map[string]ascent.Driver{"EM": slow, "EM-L-BFGS": quasi} {
			o := newObjective(t, m, rows)
			all := steps(t, ascent.Finish{Driver: d, MaxIter: 5000, Tol: 0.01}, o, start)
			end := last(all)
			if !end.Done.Converged() || math.Abs(end.Point.F-twoHumpsTop) > 1e-4 || end.Certificate == nil || end.Certificate.Saddles < 1 {
				t.Errorf("%s from %v: %v at %v, certificate %+v", name, start, end.Done, end.Point.F, end.Certificate)
			}
			if end.Sweeps != o.evals {
				t.Errorf("%s from %v: %d sweeps, %d evaluations", name, start, end.Sweeps, o.evals)
			}
			for i, s := range all[1:] {
				if s.Iteration != i+1 || s.Change != s.Point.F-all[i].Point.F || s.Change < -1e-12*math.Abs(s.Point.F) {
					t.Errorf("%s from %v: step %d: %+v", name, start, i+1, s)
				}
			}
		}
	}
}

// Three components that overlap, two of them equal: the gradient moves the pair as one and says nothing of its split.
func TestSaddleOfAnEqualPairIsLeft(t *testing.T) {
	for _, seed := range []uint64{901, 905, 909} {
		z := normals(seed, 600)
		var rows [][]float64
		for i := range 300 {
			rows = append(rows, []float64{z[2*i] + float64(i%3)*2.2, z[2*i+1] + float64(i%3/2)*2.5})
		}
		m := gaussians(t, family.Diag, 3, rows)
		pair, apart := make([]float64, m.Params()), make([]float64, m.Params())
		copy(m.Components(pair), []float64{1, 0, 1, 0, 4, 2})
		copy(m.Components(apart), []float64{0, 0, 2, 0, 4, 2})
		top, _ := topByEM(t, newObjective(t, m, rows), apart)
		saddle, _ := topByEM(t, newObjective(t, m, rows), pair)
		if top < saddle+5 {
			t.Fatalf("seed %d: top %v, saddle %v", seed, top, saddle)
		}
		for name, d := range map[string]ascent.Driver{"EM": slow, "EM-L-BFGS": quasi} {
			end := last(steps(t, ascent.Finish{Driver: d, MaxIter: 5000, Tol: 0.01}, newObjective(t, m, rows), pair))
			// Off the saddle there may be a better maximum than the one EM finds from parted components; an optimum it must be.
			on, _ := topByEM(t, newObjective(t, m, rows), end.Point.Theta)
			if !end.Done.Converged() || end.Point.F < top-1e-3 || math.Abs(end.Point.F-on) > 1e-3 || end.Certificate.Saddles < 1 {
				t.Errorf("%s, seed %d: %v at %v, top %v, saddle %v, certificate %+v", name, seed, end.Done, end.Point.F, top, saddle, end.Certificate)
			}
		}
	}
}

func TestLimitCarriesACertificateAndCountsOverSaddles(t *testing.T) {
	rows, _ := twoHumps()
	m := gaussians(t, family.Full, 2, rows)
	start := []float64{0, 0, 0, 0, 1, 1}
	whole := steps(t, ascent.Finish{Driver: quasi, MaxIter: 1000, Tol: 0.01}, newObjective(t, m, rows), start)
	for most := range len(whole) - 1 {
		o := newObjective(t, m, rows)
		all := steps(t, ascent.Finish{Driver: quasi, MaxIter: most, Tol: 0.01}, o, start)
		end := last(all)
		if len(all) != most+1 || end.Iteration != most || end.Done != ascent.Limit || end.Done.Converged() || most >= 6 && end.Certificate == nil || end.Sweeps != o.evals {
			t.Errorf("%d allowed: %d steps, %d evaluations, %+v", most, len(all), o.evals, end)
		}
		for i, s := range all {
			if s.Point.F != whole[i].Point.F {
				t.Errorf("%d allowed: step %d is another climb", most, i)
			}
		}
	}
}

func TestSmallChangeOfLogLikelihoodStops(t *testing.T) {
	rows := overlap(22, 400, 2)
	m := gaussians(t, family.Full, 2, rows)
	o := newObjective(t, m, rows)
	start := overlapStart(m)
	const tol = 1e-3
	path := climbEM(t, o, start, 2000)
	n := 1
	for path[n].F-path[n-1].F >= tol*float64(len(rows)) {
		n++
	}
	o = newObjective(t, m, rows)
	all := steps(t, ascent.Finish{Driver: slow, MaxIter: 2000, Tol: 0.01, TolLogLik: tol, Weight: float64(len(rows))}, o, start)
	end := last(all)
	if end.Done != ascent.LogLik || !end.Done.Converged() || end.Iteration != n || end.Certificate == nil || end.Sweeps != o.evals {
		t.Errorf("%+v, want the end at %d, certificate %+v", end, n, end.Certificate)
	}
	if left := path[len(path)-1].F - end.Point.F; left < 0.1 { // it looked flat, and was not
		t.Errorf("only %v left: the certificate has nothing to tell", left)
	}
	if !(end.Distance > 0.1) {
		t.Errorf("distance %v", end.Distance)
	}
}

// reports is a driver that stays where it starts and tells distances that are too small by a factor.
type reports struct {
	distance []float64
	began    int
}

func (r *reports) Steps(ctx context.Context, o ascent.Objective, theta []float64) iter.Seq2[ascent.Step, error] {
	r.began++
	return func(yield func(ascent.Step, error) bool) {
		for i, d := range r.distance {
			p, err := o.Eval(ctx, theta, 1)
			if !yield(ascent.Step{Iteration: i, Sweeps: i + 1, Point: p, Distance: d, Remaining: d * d / 2}, err) {
				return
			}
		}
	}
}

// A driver that takes itself to be 10 times closer than it is must not be asked again at once.
func TestALookTeachesHowFarTheDriverErrs(t *testing.T) {
	b, directions := newBowl(t, 500, []float64{1})
	theta := away(b, directions, []float64{0.1})
	d := &reports{distance: []float64{0.01, 0.009, 0.008, 0.005, 0.002}}
	all := steps(t, ascent.Finish{Driver: d, MaxIter: 10, Tol: 0.01}, b, theta)
	if len(all) != len(d.distance) {
		t.Fatalf("%d steps", len(all))
	}
	for i, s := range all {
		if (s.Certificate != nil) != (i == 0) {
			t.Errorf("step %d: certificate %+v", i, s.Certificate)
		}
		if want := 10 * d.distance[i]; math.Abs(s.Distance-want) > 1e-6*want {
			t.Errorf("step %d: distance %v, want %v", i, s.Distance, want)
		}
	}
}

// On a quadratic Newton's step leads to the top, up to the twentieth that the solution may leave out. It is an accepted step
// like any other, and is taken neither from far nor beyond the steps allowed.
func TestTheLastStepIsNewtons(t *testing.T) {
	for seed, eigenvalues := range [][]float64{{0.2}, {1, 0.1}, {1, 0.6, 0.3, 0.05}, {0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1}} {
		size := make([]float64, len(eigenvalues))
		for i := range size {
			size[i] = 1
		}
		b, directions := newBowl(t, uint64(510+seed), eigenvalues)
		f := ascent.Finish{Driver: slow, MaxIter: 1000, Tol: 0.01}
		all := steps(t, f, b, away(b, directions, size))
		if len(all) < 2 {
			t.Fatalf("eigenvalues %v: %d steps", eigenvalues, len(all))
		}
		before, end := all[len(all)-2], last(all)
		if before.Done != ascent.Going || before.Certificate == nil || !(before.Distance <= f.Tol) || before.Halves {
			t.Errorf("eigenvalues %v: before the last step %+v, certificate %+v", eigenvalues, before, before.Certificate)
		}
		if left := -end.Point.F; left > -0.05*before.Point.F || left > end.Remaining*(1+1e-6) || !(end.Remaining < before.Remaining) { // the top is 0
			t.Errorf("eigenvalues %v: %v left of %v, certified %v", eigenvalues, left, -before.Point.F, end.Remaining)
		}
		if end.Done != ascent.Close || end.Iteration != before.Iteration+1 || end.Sweeps != b.evals || end.Change != end.Point.F-before.Point.F || end.Certificate.Distance != end.Distance {
			t.Errorf("eigenvalues %v: the last step %+v, certificate %+v", eigenvalues, end, end.Certificate)
		}
		far := ascent.Finish{Driver: slow, MaxIter: 1000, Tol: 0.1}
		if s := last(steps(t, far, b, away(b, directions, size))); s.Done != ascent.Close || s.Distance < 0.01 || s.Sweeps >= before.Sweeps || -s.Point.F > s.Remaining*(1+1e-6) {
			t.Errorf("eigenvalues %v: stopped early at %+v, %v left", eigenvalues, s, -s.Point.F)
		}
		f.MaxIter = before.Iteration
		if cut := last(steps(t, f, b, away(b, directions, size))); cut.Iteration != f.MaxIter || cut.Point.F != before.Point.F {
			t.Errorf("eigenvalues %v: of %d steps allowed the last is %+v", eigenvalues, f.MaxIter, cut)
		}
	}
}

func TestNoToleranceGoesToTheFixedPoint(t *testing.T) {
	rows, _ := twoHumps()
	m := gaussians(t, family.Full, 2, rows)
	o := newObjective(t, m, rows)
	end := last(steps(t, ascent.Finish{Driver: quasi, MaxIter: 1000}, o, []float64{0, 0, -1, 1, 0, 0}))
	if end.Done != ascent.FixedPoint || math.Abs(end.Point.F-twoHumpsTop) > 1e-9 || end.Certificate == nil || end.Certificate.Distance > 1e-4 {
		t.Errorf("%+v, certificate %+v", end, end.Certificate)
	}
}

// broken fails at one evaluation.
type broken struct {
	ascent.Objective
	left int
}

var errEvaluation = errors.New("broken")

func (b *broken) Eval(ctx context.Context, theta []float64, beta float64) (*ascent.Point, error) {
	if b.left--; b.left < 0 {
		return nil, errEvaluation
	}
	return b.Objective.Eval(ctx, theta, beta)
}

// Wherever an evaluation fails, in the climb, at a look or off a saddle, the error is the last thing heard.
func TestAnErrorEndsEveryClimb(t *testing.T) {
	rows, _ := twoHumps()
	m := gaussians(t, family.Full, 2, rows)
	for name, d := range map[string]ascent.Driver{
		"finish": ascent.Finish{Driver: quasi, MaxIter: 1000, Tol: 0.01},
		"anneal": ascent.Anneal{Betas: []float64{0.8, 1.2, 1}, Sweeps: 2, MaxIter: 12, Last: quasi},
		"quasi":  ascent.EMLBFGS{Warm: 2, Memory: 3, MaxIter: 12},
	} {
		start := []float64{0, 0, 0, 0, 1, 1}
		o := newObjective(t, m, rows)
		steps(t, d, o, start)
		for at := range o.evals {
			b := &broken{newObjective(t, m, rows), at}
			heard := 0
			for s, err := range d.Steps(context.Background(), b, start) {
				if heard > 0 {
					t.Fatalf("%s, evaluation %d: heard %+v, %v after the error", name, at, s, err)
				}
				if err != nil {
					heard++
					if !errors.Is(err, errEvaluation) {
						t.Errorf("%s: %v", name, err)
					}
				}
			}
			if heard != 1 || b.left != -1 {
				t.Errorf("%s, evaluation %d: %d errors, %d evaluations after it", name, at, heard, -1-b.left)
			}
		}
	}
}

func TestLeavingTheLoopEndsEveryClimb(t *testing.T) {
	rows := overlap(23, 100, 1)
	m := gaussians(t, family.Full, 2, rows)
	for name, d := range map[string]ascent.Driver{
		"finish": ascent.Finish{Driver: quasi, MaxIter: 1000, Tol: 1e-4},
		"anneal": ascent.Anneal{Betas: []float64{0.8, 1.2, 1}, Sweeps: 2, MaxIter: 1000, Last: quasi},
		"quasi":  ascent.EMLBFGS{Warm: 2, Memory: 3, MaxIter: 1000},
	} {
		for leave := range 12 {
			o := newObjective(t, m, rows)
			told := 0
			for s, err := range d.Steps(context.Background(), o, overlapStart(m)) {
				if err != nil {
					t.Fatal(err)
				}
				told = s.Sweeps
				if s.Iteration == leave {
					break
				}
			}
			if o.evals != told || told < leave {
				t.Errorf("%s, left at step %d: %d evaluations, %d told", name, leave, o.evals, told)
			}
		}
	}
}

// trap is testdata/oracle/tolerance/trap.json: where plain EM ends from explicit starts, by another program.
type trap struct {
	Runs []struct {
		Seed      uint64
		RowSum    []float64 `json:"row_sum"`
		Start     natural
		Converged struct {
			natural
			LogLik float64 `json:"log_likelihood"`
		}
	}
}

// trapRows are the data of a seed, which the stored results describe in words.
func trapRows(seed uint64) (rows [][]float64) {
	z := normals(seed, 800)
	for i := range 400 {
		a, b := z[2*i], z[2*i+1]
		if i < 300 {
			rows = append(rows, []float64{2 + math.Sqrt(5)*a, 4 + 2/math.Sqrt(5)*a + math.Sqrt(5.2)*b})
		} else {
			rows = append(rows, []float64{2 * a, a + math.Sqrt2*b})
		}
	}
	return rows
}

// Mixtures on which EM looks finished long before it is: a mean log-likelihood that gains less than 1e-3 leaves the
// weight a median of 0.18 off.
func TestToleranceTrap(t *testing.T) {
	text, err := os.ReadFile("../../testdata/oracle/tolerance/trap.json")
	if err != nil {
		t.Fatal(err)
	}
	var file trap
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Runs) != 40 {
		t.Fatalf("%d runs", len(file.Runs))
	}
	var errs, sweeps, ratios []float64
	good, higher, lower := 0, 0, 0
	for _, run := range file.Runs {
		rows := trapRows(run.Seed)
		x, y := 0.0, 0.0
		for _, r := range rows {
			x, y = x+r[0], y+r[1]
		}
		if math.Abs(x-run.RowSum[0]) > 1e-9 || math.Abs(y-run.RowSum[1]) > 1e-9 {
			t.Fatalf("seed %d: the rows add to %v, %v, want %v", run.Seed, x, y, run.RowSum)
		}
		m := gaussians(t, family.Full, 2, rows)
		path := steps(t, ascent.Finish{Driver: quasi, MaxIter: 1000, Tol: 0.01}, newObjective(t, m, rows), run.Start.theta(m))
		end := last(path)
		looked := end
		if before := path[len(path)-2]; before.Certificate != nil { // the last step is Newton's from there
			looked = before
		}
		off := math.Abs(naturalOf(m, end.Point.Theta).Weights[0] - run.Converged.Weights[0])
		left := run.Converged.LogLik - end.Point.LogLik
		if end.Done != ascent.Close {
			t.Errorf("seed %d: %v, certificate %+v", run.Seed, end.Done, end.Certificate)
		}
		sweeps = append(sweeps, float64(end.Sweeps))
		if left < -1e-6 { // another local maximum, which is better: no error of tolerance
			higher++
			continue
		}
		if left > 1e-3 { // a lower one: plain EM must not get off it
			lower++
			path := climbEM(t, newObjective(t, m, rows), end.Point.Theta, 5000)
			if more := path[len(path)-1].F - end.Point.F; more > 1e-4 {
				t.Errorf("seed %d: %v nats below, and EM goes on by %v; certificate %+v", run.Seed, left, more, end.Certificate)
			}
			continue
		}
		errs = append(errs, off)
		if off > 0.05 {
			t.Errorf("seed %d: weight %v off, %v nats left, certificate %+v", run.Seed, off, left, end.Certificate)
		}
		if before := math.Sqrt(2 * max(run.Converged.LogLik-looked.Point.LogLik, 0)); looked.Distance < 2*before+1e-5 && looked.Distance > before/2-1e-5 {
			good++
		}
		if truth := math.Sqrt(2 * max(left, 0)); truth > 2*end.Distance+1e-5 {
			t.Errorf("seed %d: %v standard errors off, certified to be within %v", run.Seed, truth, end.Distance)
		}
		ratios = append(ratios, left/end.Remaining)
	}
	slices.Sort(errs)
	slices.Sort(sweeps)
	slices.Sort(ratios)
	t.Logf("weight: median error %.2g, largest %.2g; sweeps: median %v, most %v; %d ended higher, %d lower; true/certified nats %.2g .. %.2g .. %.2g",
		errs[len(errs)/2], errs[len(errs)-1], sweeps[len(sweeps)/2], sweeps[len(sweeps)-1], higher, lower, ratios[0], ratios[len(ratios)/2], ratios[len(ratios)-1])
	if errs[len(errs)/2] > 0.0005 {
		t.Errorf("the median error of the weight is %v", errs[len(errs)/2])
	}
	if 10*good < 9*len(errs) {
		t.Errorf("only %d of %d certificates are right within a factor of 2", good, len(errs))
	}
	if higher+lower > 4 || lower > 1 { // one of the 40 optima has a degenerate component of four rows, which a longer step leaves
		t.Errorf("%d runs ended at a higher maximum, %d at a lower", higher, lower)
	}
}

// Anti-annealing passes through beta 1 on its way; a small change there ends nothing.
func TestTolLogLikWaitsForTheSearch(t *testing.T) {
	rows := overlap(11, 600, 2)
	m := gaussians(t, family.Full, 2, rows)
	schedule := ascent.Anneal{Betas: []float64{0.5, 1, 1.2, 1}, Sweeps: 3, MaxIter: 1000, Last: quasi}
	all := steps(t, ascent.Finish{Driver: schedule, MaxIter: 1000, TolLogLik: 1e6, Weight: 1}, newObjective(t, m, rows), overlapStart(m))
	end := last(all)
	// Any change is small enough, but the first one that counts is the first after the nine steps of the schedule.
	if end.Done != ascent.LogLik || end.Iteration != 10 || end.Searching {
		t.Errorf("%v after %d steps, searching %v", end.Done, end.Iteration, end.Searching)
	}
	for i, s := range all[1:] {
		if s.Point.Beta != all[i].Point.Beta && s.Change == s.Change {
			t.Errorf("step %d: change %v from beta %v to %v", s.Iteration, s.Change, all[i].Point.Beta, s.Point.Beta)
		}
	}
}

// Two equal components among many are a saddle that no gradient shows: they are found and parted.
func TestEqualPairAmongManyIsParted(t *testing.T) {
	const k = 24
	z := normals(77, 2*40*k)
	var rows [][]float64
	for i := range 40 * k {
		rows = append(rows, []float64{6*float64(i%k%5) + z[2*i], 6*float64(i%k/5) + z[2*i+1]})
	}
	m := gaussians(t, family.Spherical, k, rows)
	pair := make([]float64, m.Params())
	comp := m.Components(pair)
	for c := range k {
		at := max(c, 1) // the first two are the same, and nobody is where the first should be
		comp[2*c], comp[2*c+1] = 6*float64(at%5), 6*float64(at/5)
	}
	for name, d := range map[string]ascent.Driver{"EM": slow, "EM-L-BFGS": quasi} {
		end := last(steps(t, ascent.Finish{Driver: d, MaxIter: 5000, Tol: 0.01}, newObjective(t, m, rows), pair))
		apart := math.Hypot(end.Point.Theta[k]-end.Point.Theta[k+2], end.Point.Theta[k+1]-end.Point.Theta[k+3])
		if !end.Done.Converged() || apart < 0.5 || end.Certificate.Saddles < 1 {
			t.Errorf("%s: %v, the pair is %v apart, %d saddles escaped", name, end.Done, apart, end.Certificate.Saddles)
		}
	}
}

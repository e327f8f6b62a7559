package ascent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
)

// natural is a mixture in the terms of the stored results.
type natural struct {
	Weights     []float64
	Means       [][]float64
	Covariances []float64 // in the shape of the family, row-major
}

// theta returns the parameters of m: logits, means, log-Cholesky factors or log standard deviations.
func (v natural) theta(m *mixture.Mixture) []float64 {
	theta := make([]float64, m.Params())
	for c, w := range v.Weights {
		theta[c] = math.Log(w)
	}
	d, u := m.D, theta[m.K:]
	for _, mean := range v.Means {
		u = u[copy(u, mean):]
	}
	if s := m.Family.(family.Gaussian).Shape; s != family.Full && s != family.Tied {
		for i, x := range v.Covariances {
			u[i] = math.Log(x) / 2
		}
		return theta
	}
	for s := v.Covariances; len(s) > 0; s = s[d*d:] { // Cholesky of one covariance, by rows
		l := make([]float64, d*d)
		for i := range d {
			for j := range i + 1 {
				x := s[i*d+j]
				for n := range j {
					x -= l[i*d+n] * l[j*d+n]
				}
				if l[i*d+j] = x / max(l[j*d+j], 1e-300); i == j {
					l[i*d+i] = math.Sqrt(x)
					u[0] = math.Log(x) / 2
				} else {
					u[0] = l[i*d+j]
				}
				u = u[1:]
			}
		}
	}
	return theta
}

// naturalOf is the inverse of theta.
func naturalOf(m *mixture.Mixture, theta []float64) (v natural) {
	sum := 0.0
	for _, x := range theta[:m.K] {
		sum += math.Exp(x)
	}
	d, u := m.D, theta[m.K:]
	for c := range m.K {
		v.Weights = append(v.Weights, math.Exp(theta[c])/sum)
		v.Means = append(v.Means, u[:d])
		u = u[d:]
	}
	if s := m.Family.(family.Gaussian).Shape; s != family.Full && s != family.Tied {
		for _, x := range u {
			v.Covariances = append(v.Covariances, math.Exp(2*x))
		}
		return v
	}
	for size := d * (d + 1) / 2; len(u) > 0; u = u[size:] {
		at := func(i, j int) float64 {
			if i == j {
				return math.Exp(u[i*(i+1)/2+i])
			}
			return u[i*(i+1)/2+j]
		}
		for i := range d {
			for j := range d {
				x := 0.0
				for n := range min(i, j) + 1 {
					x += at(i, n) * at(j, n)
				}
				v.Covariances = append(v.Covariances, x)
			}
		}
	}
	return v
}

// annealed is a file of testdata/oracle/annealing: EM steps over a schedule in 50-digit arithmetic.
type annealed struct {
	Sweeps int `json:"steps_at_each_beta"`
	Data   struct{ Rows [][]float64 }
	Cases  []struct {
		Name       string
		Covariance string
		K          int
		Schedule   []float64
		Start      natural
		Stages     []struct {
			natural
			Beta       float64
			FreeEnergy []float64 `json:"free_energy"`
			LogLik     []float64 `json:"log_likelihood"`
		}
	}
}

// withoutNudge is an objective whose components are never nudged apart.
type withoutNudge struct{ *objective }

type still struct{ ascent.Geometry }

func (still) Nudge([]float64, func() float64) {}

func (o withoutNudge) Eval(ctx context.Context, theta []float64, beta float64) (*ascent.Point, error) {
	p, err := o.objective.Eval(ctx, theta, beta)
	if err == nil {
		p.Near = still{p.Near}
	}
	return p, err
}

// off is the largest difference in natural units: weights as they are, means in units of the column's standard
// deviation, covariances in units of the component's own.
func off(a, b natural, sd []float64) (worst float64) {
	d := len(sd)
	for c := range b.Weights {
		worst = max(worst, math.Abs(a.Weights[c]-b.Weights[c]))
		for j := range d {
			worst = max(worst, math.Abs(a.Means[c][j]-b.Means[c][j])/sd[j])
		}
	}
	for i, want := range b.Covariances {
		unit := want // a variance
		if n := len(b.Covariances); n == d*d || n == len(b.Weights)*d*d && n > len(b.Weights)*d {
			at := i - i%(d*d)
			unit = math.Sqrt(b.Covariances[at+i%(d*d)/d*(d+1)] * b.Covariances[at+i%d*(d+1)])
		}
		worst = max(worst, math.Abs(a.Covariances[i]-want)/unit)
	}
	return worst
}

func TestAnnealedStepsAgreeWithLongArithmetic(t *testing.T) {
	names, err := filepath.Glob("../../testdata/oracle/annealing/*.json")
	if err != nil || len(names) != 2 {
		t.Fatalf("files %v, error %v", names, err)
	}
	worst, cases := 0.0, 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var file annealed
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		rows := file.Data.Rows
		for _, c := range file.Cases {
			cases++
			shape, err := family.ParseShape(c.Covariance)
			if err != nil {
				t.Fatal(err)
			}
			m := gaussians(t, shape, c.K, rows)
			var sd []float64
			for _, v := range m.Family.(family.Gaussian).Var {
				sd = append(sd, math.Sqrt(v))
			}
			o := withoutNudge{newObjective(t, m, rows)}
			most := file.Sweeps * len(c.Schedule)
			a := ascent.Anneal{Betas: c.Schedule, Sweeps: file.Sweeps, MaxIter: most, Last: ascent.EM{Beta: 1, MaxIter: file.Sweeps}}
			all := steps(t, a, o, c.Start.theta(m))
			// The last stage may come to rest, to the bit, before its steps are used up: then the rest is what the steps that
			// were not taken are held against.
			made := len(all)
			rests := last(all).Done == ascent.FixedPoint && made > most-file.Sweeps && slices.Equal(last(all).Point.Theta, last(all).Point.Next)
			if o.evals != made || !rests && (made != most+1 || last(all).Done != ascent.Limit) {
				t.Fatalf("%s %s: %d steps, %d evaluations, want %d", name, c.Name, made, o.evals, most+1)
			}
			for len(all) <= most {
				s := last(all)
				s.Iteration, s.Sweeps, s.Change = s.Iteration+1, s.Sweeps+1, 0
				all = append(all, s)
			}
			for i, s := range all {
				stage := min(i/file.Sweeps, len(c.Stages)-1)
				want, n := c.Stages[stage], i-stage*file.Sweeps
				if s.Iteration != i || s.Sweeps != i+1 || s.Point.Beta != want.Beta || (s.Done == ascent.Going) != (i < made-1) {
					t.Fatalf("%s %s: step %d: %+v at beta %v, want %v", name, c.Name, i, s, s.Point.Beta, want.Beta)
				}
				diff := math.Abs(s.Point.F-want.FreeEnergy[n]) / math.Abs(want.FreeEnergy[n])
				diff = max(diff, math.Abs(s.Point.LogLik-want.LogLik[n])/math.Abs(want.LogLik[n]))
				if n > 0 {
					diff = max(diff, math.Abs(s.Change-(want.FreeEnergy[n]-want.FreeEnergy[n-1]))/math.Abs(want.FreeEnergy[n]))
				}
				if n == file.Sweeps-1 && stage < len(c.Stages)-1 {
					diff = max(diff, off(naturalOf(m, s.Point.Next), want.natural, sd))
				}
				if n == file.Sweeps {
					diff = max(diff, off(naturalOf(m, s.Point.Theta), want.natural, sd))
				}
				if worst = max(worst, diff); !(diff < 1e-9) {
					t.Errorf("%s %s: step %d is %v off", name, c.Name, i, diff)
				}
			}
			// The free energy after the last step at each temperature, where Anneal evaluates the next one.
			theta := c.Start.theta(m)
			for _, stage := range c.Stages {
				end := last(steps(t, ascent.EM{Beta: stage.Beta, MaxIter: file.Sweeps}, o, theta))
				theta = end.Point.Theta
				if want := stage.FreeEnergy[file.Sweeps]; math.Abs(end.Point.F-want) > 1e-9*math.Abs(want) {
					t.Errorf("%s %s: at beta %v free energy %v, want %v", name, c.Name, stage.Beta, end.Point.F, want)
				}
			}
		}
	}
	if cases != 11 {
		t.Errorf("%d cases", cases)
	}
	t.Logf("largest difference %.1e", worst)
}

// At small beta the components of twoHumps merge. Once equal no EM step parts them, so all ends at one Gaussian.
func TestNudgePartsWhatMerged(t *testing.T) {
	rows, _ := twoHumps()
	m := gaussians(t, family.Full, 2, rows)
	start := []float64{0, 0, -1, 1, 0, 0}
	betas := []float64{0.2, 0.4, 0.6, 0.8, 1, 1.2, 1}
	mean := 0.0
	for _, x := range rows {
		mean += x[0] * x[0] / float64(len(rows))
	}
	merged := -float64(len(rows)) / 2 * (math.Log(2*math.Pi*mean) + 1)
	for _, d := range []ascent.Driver{slow, quasi} {
		for seed := range uint64(10) {
			a := ascent.Anneal{Betas: betas, MaxIter: 5000, Seed: seed, Last: d}
			o := newObjective(t, m, rows)
			all := steps(t, a, o, start)
			if end := last(all); math.Abs(end.Point.F-twoHumpsTop) > 1e-6 || end.Point.Beta != 1 || end.Sweeps != o.evals || !end.Done.Converged() {
				t.Errorf("seed %d: %v at %v, %d sweeps, %d evaluations", seed, end.Done, end.Point.F, end.Sweeps, o.evals)
			}
			if all[0].Point.Beta != betas[0] || !slices.Equal(all[0].Point.Theta, start) {
				t.Errorf("seed %d: the climb begins at %v with beta %v", seed, all[0].Point.Theta, all[0].Point.Beta)
			}
		}
		a := ascent.Anneal{Betas: betas, MaxIter: 5000, Last: d}
		if end := last(steps(t, a, withoutNudge{newObjective(t, m, rows)}, start)); math.Abs(end.Point.F-merged) > 1e-4 {
			t.Errorf("without nudges: %v, want %v", end.Point.F, merged)
		}
	}
}

// Above 1 and back nothing merges and nothing is nudged: seeds do not matter.
func TestAntiAnnealingNeedsNoNudge(t *testing.T) {
	rows, _ := twoHumps()
	m := gaussians(t, family.Full, 2, rows)
	var ends [][]float64
	for seed := range uint64(2) {
		a := ascent.Anneal{Betas: []float64{1, 1.2, 1.1, 1}, Sweeps: 3, MaxIter: 1000, Seed: seed, Last: quasi}
		end := last(steps(t, a, newObjective(t, m, rows), []float64{0, 0, -1, 1, 0, 0}))
		if math.Abs(end.Point.F-twoHumpsTop) > 1e-6 {
			t.Errorf("seed %d: %v", seed, end.Point.F)
		}
		ends = append(ends, end.Point.Theta)
	}
	if !slices.Equal(ends[0], ends[1]) {
		t.Errorf("ends %v and %v", ends[0], ends[1])
	}
}

// What was yielded is the caller's: the nudge must not move the M-step that a trace has kept.
func TestNudgeLeavesTheYieldedPointAlone(t *testing.T) {
	rows, _ := twoHumps()
	m := gaussians(t, family.Full, 2, rows)
	a := ascent.Anneal{Betas: []float64{0.5, 0.8, 1}, Sweeps: 2, MaxIter: 10, Seed: 1, Last: slow}
	var kept, copies [][]float64
	var theta [][]float64
	for s, err := range a.Steps(context.Background(), newObjective(t, m, rows), []float64{0, 0, -1, 1, 0, 0}) {
		if err != nil {
			t.Fatal(err)
		}
		kept, copies, theta = append(kept, s.Point.Next), append(copies, slices.Clone(s.Point.Next)), append(theta, s.Point.Theta)
	}
	moved := 0
	for i := range kept {
		if !slices.Equal(kept[i], copies[i]) {
			t.Errorf("step %d: the M-step was changed from %v to %v", i, copies[i], kept[i])
		}
		if i > 0 && !slices.Equal(theta[i], copies[i-1]) {
			moved++
			for c := range 2 { // 0.05 of a standard deviation is small
				if z := math.Abs(theta[i][2+c]-copies[i-1][2+c]) / math.Exp(copies[i-1][4+c]); z > 0.05*5 || z == 0 {
					t.Errorf("step %d: mean %d was nudged by %v standard deviations", i, c, z)
				}
			}
		}
	}
	if moved != 2 { // before 0.8 and before 1
		t.Errorf("%d nudges, want 2", moved)
	}
}

func TestAnnealCountsItsSteps(t *testing.T) {
	rows := overlap(31, 300, 1)
	m := gaussians(t, family.Full, 2, rows)
	start := overlapStart(m)
	betas := []float64{0.7, 1.3, 1}
	a := ascent.Anneal{Betas: betas, Sweeps: 4, MaxIter: 1000, Seed: 1, Last: slow}
	whole := steps(t, ascent.Anneal{Betas: betas, Sweeps: 4, MaxIter: 40, Seed: 1, Last: slow}, newObjective(t, m, rows), start)
	for most := range 20 {
		a.MaxIter = most
		o := newObjective(t, m, rows)
		all := steps(t, a, o, start)
		end := last(all)
		if len(all) != most+1 || o.evals != most+1 || end.Iteration != most || end.Sweeps != most+1 || end.Done != ascent.Limit {
			t.Errorf("%d allowed: %d steps, %d evaluations, end %+v", most, len(all), o.evals, end)
		}
		for i, s := range all {
			if want := betas[min(i/4, 2)]; s.Point.Beta != want || s.Point.F != whole[i].Point.F {
				t.Errorf("%d allowed: step %d at beta %v, want %v", most, i, s.Point.Beta, want)
			}
		}
	}
}

// Without a number of sweeps each temperature is held until EM has settled there: what is left is small.
func TestAnnealWaitsUntilSettled(t *testing.T) {
	rows := overlap(32, 300, 1)
	m := gaussians(t, family.Full, 2, rows)
	all := steps(t, ascent.Anneal{Betas: []float64{0.9, 1.2, 1}, MaxIter: 2000, Seed: 1, Last: slow}, newObjective(t, m, rows), overlapStart(m))
	for i := range len(all) - 1 {
		p, next := all[i].Point, all[i+1].Point
		if next.Beta == p.Beta {
			continue
		}
		t.Run(fmt.Sprint(p.Beta), func(t *testing.T) {
			top := last(steps(t, ascent.EM{Beta: p.Beta, MaxIter: 5000, Ascends: true}, newObjective(t, m, rows), p.Theta)).Point.F
			n := 0
			for _, s := range all {
				if s.Point.Beta == p.Beta {
					n++
				}
			}
			if n != ascent.MaxSettle && top-p.F > 0.01 || n > ascent.MaxSettle {
				t.Errorf("left after %d steps with %v nats to go", n, top-p.F)
			}
		})
	}
	for i, s := range all[1:] {
		if p := all[i].Point; p.Beta == s.Point.Beta && s.Point.F < p.F-1e-12*math.Abs(p.F) {
			t.Errorf("step %d: free energy fell by %v at beta %v", i+1, p.F-s.Point.F, p.Beta)
		}
	}
}

// A search that ends on a saddle is carried on by its last driver: to anneal again would merge again.
func TestASaddleIsLeftWithoutAnnealingAgain(t *testing.T) {
	rows, _ := twoHumps()
	m := gaussians(t, family.Full, 2, rows)
	f := ascent.Finish{Driver: ascent.Anneal{Betas: []float64{1.1, 0.2, 1}, Sweeps: 30, MaxIter: 5000, Last: quasi}, MaxIter: 5000, Tol: 0.01}
	// The components begin equal, and the nudge that comes before 1 is left out: only the look at the end parts them.
	o := &nudgeLater{objective: newObjective(t, m, rows)}
	all := steps(t, f, o, []float64{0, 0, 0, 0, 1, 1})
	end, cold := last(all), 0
	for _, s := range all {
		if s.Point.Beta < 1 {
			cold++
		}
	}
	if !end.Done.Converged() || math.Abs(end.Point.F-twoHumpsTop) > 1e-4 || end.Certificate.Saddles < 1 {
		t.Errorf("%v at %v, certificate %+v", end.Done, end.Point.F, end.Certificate)
	}
	if cold != 30 {
		t.Errorf("%d steps at beta 0.2, want 30", cold)
	}
}

// nudgeLater nudges only at beta = 1.
type nudgeLater struct{ *objective }

func (o *nudgeLater) Eval(ctx context.Context, theta []float64, beta float64) (*ascent.Point, error) {
	if beta == 1 {
		return o.objective.Eval(ctx, theta, beta)
	}
	return withoutNudge{o.objective}.Eval(ctx, theta, beta)
}

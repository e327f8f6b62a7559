package ascent_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
)

// climbing is a mixture that EM climbs slowly, and a start.
type climbing struct {
	name  string
	m     *mixture.Mixture
	rows  [][]float64
	start []float64
}

func slowMixtures(t *testing.T) (all []climbing) {
	add := func(name string, shape family.Shape, k int, rows [][]float64, means ...float64) {
		m := gaussians(t, shape, k, rows)
		theta := make([]float64, m.Params())
		copy(m.Components(theta), means)
		all = append(all, climbing{name, m, rows, theta})
	}
	add("trap", family.Full, 2, trapRows(2), 3, 6, 0, 0)
	var equal [][]float64
	for i, v := range normals(41, 400) {
		equal = append(equal, []float64{v + 2.5*float64(i%2)})
	}
	add("equal", family.Full, 2, equal, 0, 2.5)
	few, _ := rare()
	add("rare", family.Full, 2, few[:600], 0, 0, 3, 0)
	var three [][]float64
	z := normals(43, 600)
	for i := range 300 {
		three = append(three, []float64{z[2*i] + float64(i%3)*1.8, z[2*i+1] + float64(i%3/2)*2})
	}
	add("three", family.TiedDiag, 3, three, 0, 0, 2, 0, 4, 2)
	return all
}

// topByEM carries EM on until 500 steps together gain less than 1e-10 nats, and returns where it ends and after how
// many sweeps a distance of 0.01 was left.
func topByEM(t *testing.T, o ascent.Objective, theta []float64) (top float64, sweeps int) {
	t.Helper()
	var f []float64
	for n := 0; n <= 20_000; n++ {
		p, err := o.Eval(context.Background(), theta, 1)
		if err != nil {
			t.Fatal(err)
		}
		f, theta = append(f, p.F), p.Next
		if n > 500 && f[n]-f[n-500] < 1e-10 {
			break
		}
	}
	top = f[len(f)-1]
	return top, slices.IndexFunc(f, func(v float64) bool { return top-v < 0.01*0.01/2 }) + 1
}

func TestQuasiNewtonEndsWhereEMEndsInAThirdOfTheSweeps(t *testing.T) {
	for _, c := range slowMixtures(t) {
		top, want := topByEM(t, newObjective(t, c.m, c.rows), c.start)
		o := newObjective(t, c.m, c.rows)
		all := steps(t, quasi, o, c.start)
		end, got := last(all), 0
		for i, s := range all {
			if i > 0 && s.Point.F < all[i-1].Point.F-1e-12*math.Abs(s.Point.F) {
				t.Errorf("%s: F fell by %v in step %d", c.name, all[i-1].Point.F-s.Point.F, i)
			}
			if got == 0 && top-s.Point.F < 0.01*0.01/2 {
				got = s.Sweeps
			}
			if s.Iteration != i || i > 0 && s.Change != s.Point.F-all[i-1].Point.F {
				t.Errorf("%s: step %d: %+v", c.name, i, s)
			}
		}
		if math.Abs(end.Point.F-top) > 1e-6 || end.Done != ascent.FixedPoint || end.Sweeps != o.evals {
			t.Errorf("%s: %v at %v after %d sweeps, EM ends at %v", c.name, end.Done, end.Point.F, end.Sweeps, top)
		}
		if 3*got > want || got == 0 {
			t.Errorf("%s: %d sweeps to a distance of 0.01, EM takes %d", c.name, got, want)
		}
		t.Logf("%s: %d sweeps to a distance of 0.01, EM %d; %d to the fixed point", c.name, got, want, end.Sweeps)
	}
}

// The first steps are EM's.
func TestWarmStepsAreEM(t *testing.T) {
	rows := overlap(44, 200, 2)
	m := gaussians(t, family.Full, 2, rows)
	all := steps(t, ascent.EMLBFGS{Warm: 7, Memory: 5, MaxIter: 9}, newObjective(t, m, rows), overlapStart(m))
	path := climbEM(t, newObjective(t, m, rows), overlapStart(m), 9)
	if len(all) != 10 || last(all).Done != ascent.Limit {
		t.Fatalf("%d steps, %v", len(all), last(all).Done)
	}
	for i, s := range all {
		if same := slices.Equal(s.Point.Theta, path[i].Theta); same != (i <= 7) {
			t.Errorf("step %d: the same as EM's: %v", i, same)
		}
	}
}

// A component on a repeated value shrinks without end; on the floor it is held there, and the other one is right.
func TestQuasiNewtonEndsAtTheFloor(t *testing.T) {
	var rows [][]float64
	for _, v := range normals(3, 90) {
		rows = append(rows, []float64{v})
	}
	for range 15 {
		rows = append(rows, []float64{7.5})
	}
	for _, c := range []struct {
		shape family.Shape
		first float64
	}{{family.Full, 0.830360816}, {family.Spherical, 0.830360816}, {family.Tied, 0.711738}} {
		m := gaussians(t, c.shape, 2, rows)
		start := make([]float64, m.Params())
		start[3] = 5
		for name, d := range map[string]ascent.Driver{
			"alone": quasi, "finish": ascent.Finish{Driver: quasi, MaxIter: 1000, Tol: 1e-6},
			"anneal": ascent.Anneal{Betas: []float64{0.8, 1.2, 1}, MaxIter: 1000, Last: quasi},
		} {
			all := steps(t, d, newObjective(t, m, rows), start)
			end := last(all)
			v := naturalOf(m, end.Point.Theta)
			if !end.Done.Converged() || math.Abs(v.Weights[0]-6.0/7) > 1e-6 || math.Abs(v.Means[0][0]+0.0951180560711436) > 1e-6 || math.Abs(v.Means[1][0]-7.5) > 1e-6 || math.Abs(v.Covariances[0]-c.first) > 2e-6 {
				t.Errorf("%v %s: %v at %+v", c.shape, name, end.Done, v)
			}
			if end.Point.F < all[0].Point.F || math.IsNaN(end.Point.F) || math.IsInf(end.Point.F, 0) {
				t.Errorf("%v %s: F %v", c.shape, name, end.Point.F)
			}
			held := make([]bool, m.Params())
			if c.shape != family.Tied {
				held[5] = true
				floor := family.MinEigenvalue * m.Family.(family.Gaussian).Var[0]
				if math.Abs(v.Covariances[1]-floor) > 0.01*floor {
					t.Errorf("%v %s: second variance %v, floor %v", c.shape, name, v.Covariances[1], floor)
				}
			}
			if !slices.Equal(end.Point.Held, held) {
				t.Errorf("%v %s: held %v, want %v", c.shape, name, end.Point.Held, held)
			}
		}
	}
}

func TestTwoBlocksAreFound(t *testing.T) {
	rows, _ := twoHumps()
	m := gaussians(t, family.Full, 2, rows)
	for warm := range 4 {
		end := last(steps(t, ascent.EMLBFGS{Warm: warm, Memory: 15, MaxIter: 1000}, newObjective(t, m, rows), []float64{0, 0, -1, 1, 0, 0}))
		v := naturalOf(m, end.Point.Theta)
		if math.Abs(end.Point.F-twoHumpsTop) > 1e-6 || math.Abs(v.Means[0][0]+3) > 1e-4 || math.Abs(v.Covariances[1]-11.0/30) > 1e-4 {
			t.Errorf("%d warm steps: %v at %v, %+v", warm, end.Done, end.Point.F, v)
		}
	}
}

func TestAStartAtTheTopEndsSoon(t *testing.T) {
	c := slowMixtures(t)[1]
	top := last(steps(t, quasi, newObjective(t, c.m, c.rows), c.start)).Point
	for name, d := range map[string]ascent.Driver{"alone": quasi, "finish": ascent.Finish{Driver: quasi, MaxIter: 1000, Tol: 0.01}} {
		o := newObjective(t, c.m, c.rows)
		end := last(steps(t, d, o, top.Theta))
		if !end.Done.Converged() || o.evals > 30 || math.Abs(end.Point.F-top.F) > 1e-9 {
			t.Errorf("%s: %v after %d sweeps, F moved by %v", name, end.Done, o.evals, end.Point.F-top.F)
		}
	}
}

func TestOneComponentTakesOneStep(t *testing.T) {
	rows := overlap(45, 100, 1)
	m := gaussians(t, family.Full, 1, rows)
	n, mean, square := float64(len(rows)), 0.0, 0.0
	for _, x := range rows {
		mean += x[0] / n
	}
	for _, x := range rows {
		square += (x[0] - mean) * (x[0] - mean) / n
	}
	want := -n / 2 * (math.Log(2*math.Pi*square) + 1)
	for name, d := range map[string]ascent.Driver{"warm": quasi, "cold": ascent.EMLBFGS{Memory: 5, MaxIter: 100}, "finish": ascent.Finish{Driver: quasi, MaxIter: 100, Tol: 0.01}} {
		o := newObjective(t, m, rows)
		end := last(steps(t, d, o, []float64{0, 1, 0.3}))
		if !end.Done.Converged() || math.Abs(end.Point.F-want) > 1e-9 || o.evals > 30 {
			t.Errorf("%s: %v at %v after %d sweeps, want %v", name, end.Done, end.Point.F, o.evals, want)
		}
	}
}

// bound is a bowl of which the first parameter comes to be held, from one evaluation on.
type bound struct {
	*bowl
	from int // evaluations before
	seen []*ascent.Point
}

func (b *bound) Eval(ctx context.Context, theta []float64, beta float64) (*ascent.Point, error) {
	p, err := b.bowl.Eval(ctx, theta, beta)
	if b.evals > b.from {
		p.Held[0], p.Grad[0] = true, 0
	}
	b.seen = append(b.seen, p)
	return p, err
}

// What was learned of F with other parameters held is of no use: the next step is that of the metric alone.
func TestMemoryIsDroppedWhenTheHeldChange(t *testing.T) {
	eigenvalues := []float64{1, 0.5, 0.2, 0.1}
	for _, from := range []int{3, 1000} {
		b, directions := newBowl(t, 600, eigenvalues)
		o := &bound{bowl: b, from: from}
		all := steps(t, ascent.EMLBFGS{Memory: 5, MaxIter: 4}, o, away(b, directions, []float64{0.1, 0.1, 0.1, 0.1}))
		if len(all) != 5 || o.evals != 5 {
			t.Fatalf("%d steps, %d evaluations: not every first trial was taken", len(all), o.evals)
		}
		p, next := o.seen[3], o.seen[4] // the first with other parameters held, and the trial after it
		z := slices.Clone(p.Grad)
		b.Precondition(z, z)
		diff := 0.0
		for i := range z {
			if p.Held[i] {
				z[i] = p.Next[i] - p.Theta[i]
			}
			diff = max(diff, math.Abs(p.Theta[i]+z[i]-next.Theta[i]))
		}
		if alone := diff < 1e-12; alone != (from == 3) {
			t.Errorf("held from evaluation %d: %v from the metric's own step", from, diff)
		}
	}
}

// On a quadratic the memory learns the information: n steps more or less, where EM takes thousands.
func TestQuasiNewtonOnAQuadratic(t *testing.T) {
	eigenvalues := []float64{1, 0.5, 0.1, 0.01, 0.001}
	b, directions := newBowl(t, 700, eigenvalues)
	size := make([]float64, len(eigenvalues))
	for i, lambda := range eigenvalues {
		size[i] = 1 / math.Sqrt(lambda)
	}
	all := steps(t, ascent.EMLBFGS{Memory: 15, MaxIter: 200}, b, away(b, directions, size))
	end := last(all)
	x := mat.NewVecDense(len(size), slices.Clone(end.Point.Theta))
	x.SubVec(x, mat.NewVecDense(len(size), b.top))
	if far := b.Length(x.RawVector().Data); far > 1e-3 || end.Done != ascent.FixedPoint || b.evals > 100 {
		t.Errorf("%v, %v from the top after %d evaluations", end.Done, far, b.evals)
	}
	for i, s := range all[1:] {
		if s.Point.F < all[i].Point.F-1e-13 {
			t.Errorf("step %d: F fell by %v", i+1, all[i].Point.F-s.Point.F)
		}
	}
}

// What one climb has learned of a quadratic takes another to the top in a few steps, where it begins with the first and where the
// function is four times the one that was learned. It stays as it is.
func TestWhatAClimbHasLearnedServesAnother(t *testing.T) {
	eigenvalues := []float64{1, 0.5, 0.1, 0.01, 0.001}
	b, directions := newBowl(t, 700, eigenvalues)
	first := last(steps(t, ascent.EMLBFGS{Memory: 15, MaxIter: 200}, b, away(b, directions, []float64{1, 2, 3, 10, 30})))
	for _, factor := range []float64{1, 4} {
		own := *b
		own.info, own.metric = mat.NewSymDense(len(b.top), nil), mat.NewSymDense(len(b.top), nil)
		own.info.ScaleSym(factor, b.info)
		own.metric.ScaleSym(factor, b.metric)
		for range 2 { // the first climb must not change what the second begins with
			start := away(b, directions, []float64{-0.06, 0.15, 0.03, 0.06, 0.18})
			end := last(steps(t, ascent.EMLBFGS{Memory: 15, MaxIter: 5, Known: first.Memory.Scaled(factor)}, &own, start))
			alone := last(steps(t, ascent.EMLBFGS{Memory: 15, MaxIter: 5}, &own, start))
			if left, without := end.Point.F, alone.Point.F; left < without/1000 { // both below 0, the top
				t.Errorf("times %v: F is %v after five steps, %v without what was learned", factor, left, without)
			}
		}
	}
}

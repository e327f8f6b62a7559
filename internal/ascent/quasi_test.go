package ascent_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/optimize"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
)

// naive is minus the log-likelihood of a Gaussian mixture and its gradient in softmax weights, means and L, row by row:
// l holds k logits, k x d means and k packed factors.
type naive struct {
	rows  [][]float64
	k     int
	evals int
	best  []float64 // the lowest value after each evaluation
}

func (n *naive) Func(l []float64) float64 {
	f := n.both(nil, l)
	low := f
	if n.evals > 0 {
		low = min(low, n.best[n.evals-1])
	}
	n.evals++
	n.best = append(n.best, low)
	return f
}

func (n *naive) Grad(g, l []float64) { n.both(g, l) }

func (n *naive) both(g, l []float64) (f float64) {
	k, d := n.k, len(n.rows[0])
	size := d * (d + 1) / 2
	clear(g)
	total := 0.0
	for _, v := range l[:k] {
		total += math.Exp(v)
	}
	logp, y, z := make([]float64, k), make([][]float64, k), make([]float64, d)
	for _, x := range n.rows {
		p := 0.0
		for c := range k {
			mean, low := l[k+c*d:], l[k+k*d+c*size:]
			y[c] = make([]float64, d) // L^-1 (x - mean)
			logp[c] = l[c] - math.Log(total)
			for i := range d {
				t := x[i] - mean[i]
				for j := range i {
					t -= low[i*(i+1)/2+j] * y[c][j]
				}
				y[c][i] = t / low[i*(i+1)/2+i]
				logp[c] -= y[c][i]*y[c][i]/2 + math.Log(math.Abs(low[i*(i+1)/2+i])) + math.Log(2*math.Pi)/2
			}
			p += math.Exp(logp[c])
		}
		f -= math.Log(p)
		if g == nil {
			continue
		}
		for c := range k {
			r := math.Exp(logp[c]) / p
			g[c] -= r - math.Exp(l[c])/total
			low := l[k+k*d+c*size:]
			for i := d - 1; i >= 0; i-- { // z = L^-T y
				t := y[c][i]
				for j := i + 1; j < d; j++ {
					t -= low[j*(j+1)/2+i] * z[j]
				}
				z[i] = t / low[i*(i+1)/2+i]
			}
			for i := range d {
				g[k+c*d+i] -= r * z[i]
				for j := range i + 1 {
					g[k+k*d+c*size+i*(i+1)/2+j] -= r * z[i] * y[c][j]
				}
				g[k+k*d+c*size+i*(i+1)/2+i] += r / low[i*(i+1)/2+i]
			}
		}
	}
	return f
}

// humps are three overlapping Gaussians on two columns, 60, 30 and 10 in 100, with a start that is not far.
func humps() (rows [][]float64, start []float64) {
	const n = 400
	z := normals(9, 2*n)
	for i := range n {
		x := []float64{z[2*i], z[2*i+1]}
		switch {
		case i%10 == 0:
			x[0], x[1] = 0.5*x[0]-2, x[1]-2.5
		case i%10 < 4:
			x[0] += 2.5
		}
		rows = append(rows, x)
	}
	return rows, []float64{0, 0, 0, 0, 0.5, 2, 0, -1.5, -2, 1, 0, 1, 1, 0, 1, 1, 0, 1}
}

// compare fails unless our driver and gonum's method climb to the same place, from the same start in the same
// coordinates, and ours within ratio times as many evaluations.
func compare(t *testing.T, name string, d func(ascent.Chart) ascent.Driver, theirs optimize.Method, ratio float64) {
	t.Helper()
	rows, l := humps()
	n := &naive{rows: rows, k: 3}
	r, err := optimize.Minimize(optimize.Problem{Func: n.Func, Grad: n.Grad}, l, &optimize.Settings{GradientThreshold: 1e-4, MajorIterations: 5000}, theirs)
	if err != nil {
		t.Fatal(err)
	}
	const near = 1e-6 // nats
	there := 0
	for n.best[there] > r.F+near {
		there++
	}

	m := &mixture.Mixture{Family: family.Gaussian{Shape: family.Full, Var: []float64{1, 1}}, K: 3, D: 2}
	theta := make([]float64, len(l))
	m.Chart().From(theta, l)
	here, top := 0, 0.0
	for s, err := range d(m.Chart()).Steps(context.Background(), newObjective(t, m, rows), theta) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Iteration == 0 {
			if want := -n.best[0]; math.Abs(s.Point.F-want) > 1e-9 {
				t.Fatalf("%s starts at %v, gonum at %v", name, s.Point.F, want)
			}
		}
		if top = s.Point.F; here == 0 && top >= -r.F-near {
			here = s.Sweeps
		}
	}
	if math.Abs(top+r.F) > near {
		t.Errorf("%s: the optimum is %v, gonum's %v", name, top, -r.F)
	}
	if here == 0 || float64(here) > ratio*float64(there+1) {
		t.Errorf("%s: %d evaluations, gonum %d", name, here, there+1)
	}
	t.Logf("%s: %d evaluations, gonum %d", name, here, there+1)
}

func TestBFGSClimbsAsGonumDoes(t *testing.T) {
	compare(t, "bfgs", func(c ascent.Chart) ascent.Driver { return ascent.BFGS{Chart: c, MaxIter: 500} }, &optimize.BFGS{}, 1.3)
}

func TestLBFGSClimbsAsGonumDoes(t *testing.T) {
	compare(t, "lbfgs", func(c ascent.Chart) ascent.Driver { return ascent.LBFGS{Chart: c, Memory: 10, MaxIter: 500} }, &optimize.LBFGS{Store: 10}, 1.3)
}

// On a quadratic of few directions both have the whole curvature in memory, and arrive.
func TestQuadraticNeedsFewSteps(t *testing.T) {
	curve := []float64{0.05, 0.3, 1, 0.7}
	for _, d := range searchers {
		s := &surface{value: func(x []float64) (f float64, g []float64) {
			g = make([]float64, len(x))
			for i, v := range x {
				f -= curve[i] * v * v / 2
				g[i] = -curve[i] * v
			}
			return f, g
		}}
		for step, err := range d.driver(40).Steps(context.Background(), s, []float64{1, 2, -3, 4}) {
			if err != nil {
				t.Fatal(err)
			}
			if step.Point.F > -1e-12 {
				t.Logf("%s: %d steps", d.name, step.Iteration)
				break
			}
			if step.Iteration == 25 {
				t.Errorf("%s: %v left after %d steps", d.name, -step.Point.F, step.Iteration)
				break
			}
		}
	}
}

// The distance is told in the matrix learned, which near the top of a quadratic is the true one: sqrt(2 remaining).
func TestQuasiNewtonDistanceIsTheDecrement(t *testing.T) {
	curve := []float64{0.05, 0.3, 1}
	for _, d := range searchers[:2] {
		s := &surface{value: func(x []float64) (f float64, g []float64) {
			g = make([]float64, len(x))
			for i, v := range x {
				f -= curve[i] * v * v / 2
				g[i] = -curve[i] * v
			}
			return f, g
		}}
		told := 0
		for step, err := range d.driver(40).Steps(context.Background(), s, []float64{1, 2, -3}) {
			if err != nil {
				t.Fatal(err)
			}
			if truth := math.Sqrt(-2 * step.Point.F); step.Iteration > 5 && truth > 1e-6 {
				if told++; step.Distance < truth/1.5 || step.Distance > 1.5*truth {
					t.Errorf("%s, step %d: distance %v, truth %v", d.name, step.Iteration, step.Distance, truth)
				}
			}
		}
		if told == 0 {
			t.Errorf("%s: arrived too early to tell", d.name)
		}
	}
}

func TestBFGSRefusesMatricesTooLarge(t *testing.T) {
	s := &surface{value: func(x []float64) (float64, []float64) { return 0, make([]float64, len(x)) }}
	n := 0
	for _, err := range (ascent.BFGS{MaxIter: 1}).Steps(context.Background(), s, make([]float64, ascent.MaxBFGS+1)) {
		if n++; err == nil || !strings.Contains(err.Error(), "3001") || !strings.Contains(err.Error(), "lbfgs") {
			t.Errorf("error %v", err)
		}
	}
	if n != 1 || len(s.tried) != 0 {
		t.Errorf("%d steps, %d evaluations", n, len(s.tried))
	}
}

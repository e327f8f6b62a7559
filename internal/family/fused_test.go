package family_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// everyLevel runs f at each level of this machine.
func everyLevel(t *testing.T, f func(t *testing.T)) {
	for _, l := range kern.Levels() {
		t.Run(l.String(), func(t *testing.T) {
			defer kern.Use(l)()
			f(t)
		})
	}
}

// panels draws n panels of rows near the means of theta, the last not full; some rows have no weight, and of these some
// are too far away to have a square.
func panels(rng *rand.Rand, theta []float64, n, k, d int, spread []float64) (all []*family.Panel) {
	for i := range n {
		p := &family.Panel{N: kern.Rows, D: d, X: make([]float64, d*kern.Rows), W: make([]float64, kern.Rows)}
		if i == n-1 {
			p.N = 1 + rng.IntN(kern.Rows)
		}
		for r := range p.N {
			c := rng.IntN(k)
			p.W[r] = float64(rng.IntN(4)) / 2
			for j := range d {
				p.X[j*kern.Rows+r] = theta[c*d+j] + spread[c]*rng.NormFloat64()
				if i == 1 && r == 5 {
					p.X[j*kern.Rows+r], p.W[r] = 1e200, 0
				}
			}
		}
		all = append(all, p)
	}
	return all
}

// The kernel itself is the definition: log densities by whitened differences and moments about the means, by plain loops.
// Components are wide or tight, down to 1e-7 of their distance from the origin, which no sum of raw squares survives.
func TestFusedKernelsGiveTheKernelsSums(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(51, 0))
		for _, shape := range shapes {
			for _, size := range [][2]int{{1, 1}, {1, 5}, {2, 2}, {3, 9}, {4, 8}, {5, 3}, {8, 1}, {9, 17}, {17, 4}, {33, 2}} {
				for _, tight := range []string{"none", "near", "some", "all"} {
					d, k := size[0], size[1]
					t.Run(fmt.Sprintf("%v,d=%d,k=%d,%s", shape, d, k, tight), func(t *testing.T) {
						fusedLikePlain(t, rng, shape, d, k, tight, nil)
					})
					if shape != family.Full && shape != family.Tied {
						t.Run(fmt.Sprintf("%v,d=%d,k=%d,%s,gaps", shape, d, k, tight), func(t *testing.T) {
							fusedLikePlain(t, rng, shape, d, k, tight, family.NewGaps(d))
						})
					}
				}
			}
		}
	})
}

// puncture makes holes in panels but the first, and marks all.
func puncture(rng *rand.Rand, all []*family.Panel) {
	for i, p := range all {
		for at := range p.X {
			if i > 0 && at%kern.Rows < p.N && rng.IntN(5) == 0 {
				p.X[at] = math.NaN()
			}
		}
		p.Mark()
	}
}

func fusedLikePlain(t *testing.T, rng *rand.Rand, shape family.Shape, d, k int, tight string, gaps *family.Gaps) {
	g := family.Gaussian{Shape: shape, Var: make([]float64, d), Gaps: gaps}
	theta, logw, spread := make([]float64, g.Params(k, d)), make([]float64, k), make([]float64, k)
	for i := range k * d {
		theta[i] = 3 * rng.NormFloat64()
	}
	for c := range k {
		logw[c] = -3 * rng.Float64()
		spread[c] = math.Exp(rng.NormFloat64() / 2)
		if tight == "all" || tight == "some" && (c%2 == 0 || shape.Shared()) {
			spread[c] = 1e-7
		}
		if tight == "near" { // at the limit of cancellation or so
			spread[c] = 6e-3 / math.Sqrt(float64(d))
		}
		if shape.Shared() {
			spread[c] = spread[0]
		}
		u := g.ScaleOf(theta, c, k, d)
		if shape != family.Full && shape != family.Tied {
			for i := range u {
				u[i] = math.Log(spread[c]) + 0.2*rng.NormFloat64()
			}
			continue
		}
		for j := range d {
			for l := range j {
				u[j*(j+1)/2+l] = 0.3 * spread[c] * rng.NormFloat64()
			}
			u[j*(j+1)/2+j] = math.Log(spread[c]) + 0.2*rng.NormFloat64()
		}
	}
	kernel, ws := g.Bind(theta, k, d), family.NewWorkspace(d)
	fused := kernel.(family.Fusable).Fuse(logw)
	want, got := family.NewStats(k, d, g.Sums(k, d), 0), family.NewStats(k, d, g.Sums(k, d), 0)
	gathered := new(family.Gathered)
	score, r := make([]float64, k*kern.Rows), make([]float64, k*kern.Rows)
	logits, factor := make([]float64, kern.Pad(k)*kern.Rows), make([]float64, kern.Rows)
	all := panels(rng, theta, 4, k, d, spread)
	if gaps != nil {
		puncture(rng, all)
	}
	for _, p := range all {
		kernel.Score(score, p, ws)
		fused.Logits(logits, p, gathered, ws)
		for i := range score {
			if v := score[i] + logw[i/kern.Rows]; !(math.Abs(logits[i]-v) <= 1e-10*(1+math.Abs(v))) {
				t.Fatalf("logit %d is %v, want %v", i, logits[i], v)
			}
		}
		for i := range kern.Rows {
			factor[i] = p.W[i] / 2
			at, best := 0, math.Inf(-1)
			for c := range k { // rows belong all but wholly to their best component, as in a fit
				if logits[c*kern.Rows+i] > best {
					at, best = c, logits[c*kern.Rows+i]
				}
			}
			for c := range k {
				logits[c*kern.Rows+i] = 1e-30 * rng.Float64()
				if c == at {
					logits[c*kern.Rows+i] = 2
				}
				r[c*kern.Rows+i] = logits[c*kern.Rows+i] * factor[i]
			}
		}
		kernel.Add(want, p, r, ws)
		fused.Gather(got, p, logits, factor, gathered, ws)
	}
	fused.Flush(got, gathered)
	sums := make([]float64, k)
	for c := range k {
		sums[c] = want.N[c]
		if !(math.Abs(got.N[c]-want.N[c]) <= 1e-12*(1e-20+want.N[c])) {
			t.Fatalf("weight %v, want %v", got.N[c], want.N[c])
		}
	}
	near := func(what string, i int, unit float64) {
		t.Helper()
		if !(math.Abs(got.Sum[i]-want.Sum[i]) <= 1e-9*unit) {
			t.Fatalf("%s: %v, want %v (unit %v)", what, got.Sum[i], want.Sum[i], unit)
		}
	}
	total := 0.0
	for _, n := range sums {
		total += n
	}
	for c := range k {
		for j := range d {
			near("first moment", c*d+j, (1e-20+sums[c])*spread[c])
		}
	}
	z := g.Shape.Size(d)
	for i := g.Params(k, d); i < len(got.Sum); i++ {
		near("weight of a column", i, 1e-3*(1e-20+sums[(i-g.Params(k, d))/d]))
	}
	for i := k * d; i < g.Params(k, d); i++ {
		c, n := (i-k*d)/z, total
		if !shape.Shared() {
			n = sums[c]
		}
		near("second moment", i, (1e-20+n)*spread[c]*spread[c])
	}
	empty := family.NewStats(k, d, g.Sums(k, d), 0)
	fused.Flush(empty, gathered)
	for _, v := range append(empty.Sum, empty.N...) {
		if v != 0 {
			t.Fatal("a second flush adds something")
		}
	}
}

func TestFusedKernelsAllocateNothing(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		const k, d = 5, 7
		rng := rand.New(rand.NewPCG(52, 0))
		for _, shape := range shapes {
			for _, spread := range []float64{1, 1e-7} {
				g := family.Gaussian{Shape: shape, Var: make([]float64, d)}
				theta := make([]float64, g.Params(k, d))
				for i := range theta {
					theta[i] = rng.Float64()
				}
				for c := range k {
					g.FromVariances(g.ScaleOf(theta, c, k, d), []float64{spread, spread, spread, spread, spread, spread, spread})
				}
				fused, ws := g.Bind(theta, k, d).(family.Fusable).Fuse(make([]float64, k)), family.NewWorkspace(d)
				p := panels(rng, theta, 1, k, d, []float64{1, 1, 1, 1, 1})[0]
				s, gathered := family.NewStats(k, d, g.Sums(k, d), 0), new(family.Gathered)
				q, factor := make([]float64, kern.Pad(k)*kern.Rows), make([]float64, kern.Rows)
				for i := range factor {
					factor[i] = p.W[i]
				}
				if n := testing.AllocsPerRun(10, func() {
					fused.Logits(q, p, gathered, ws)
					for i := range q {
						q[i] = 0.2
					}
					fused.Gather(s, p, q, factor, gathered, ws)
					fused.Flush(s, gathered)
				}); n != 0 {
					t.Errorf("%s: %v allocations", shape, n)
				}
			}
		}
	})
}

package family_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/kind"
)

// scored is a family with random parameters and a panel of rows that suit it.
type scored struct {
	name string
	f    family.Smooth
	k, d int
	x    []float64 // kern.Rows x d
}

func scoredFamilies(rng *rand.Rand) (all []scored) {
	for _, shape := range shapes {
		for d := 1; d <= 4; d++ {
			s := scored{shape.String(), family.Gaussian{Shape: shape, Var: []float64{1, 1, 1, 1}[:d]}, 3, d, nil}
			for range kern.Rows * d {
				s.x = append(s.x, 2*rng.NormFloat64())
			}
			all = append(all, s)
		}
	}
	for _, shape := range parsimonious {
		for d := 1; d <= 4; d++ {
			s := scored{shape.String(), family.Parsimonious{Shape: shape, Var: []float64{1, 1, 1, 1}[:d]}, 3, d, nil}
			for range kern.Rows * d {
				s.x = append(s.x, 2*rng.NormFloat64())
			}
			all = append(all, s)
		}
	}
	for _, name := range kind.Names() {
		k := kind.Of(name)
		if !k.Mixture || k.Shaped {
			continue
		}
		s := scored{name, k.Family(kind.Variables{Levels: []int{3, 1, 4}}).(family.Smooth), 3, 3, nil}
		for range kern.Rows {
			x := []float64{float64(rng.IntN(3)), 0, float64(rng.IntN(5))} // 4 is no level of the last column
			for j, v := range x {
				if k.Cells.Bits {
					x[j] = float64(int(v) % 2)
				}
			}
			s.x = append(s.x, x...)
		}
		all = append(all, s)
	}
	return all
}

func (s scored) theta(rng *rand.Rand) []float64 {
	theta := make([]float64, s.f.Params(s.k, s.d))
	for i := range theta {
		theta[i] = rng.NormFloat64() / 2
	}
	return theta
}

// With fixed responsibilities a row's gradient is that of sum_c r_ic log p_c(x_i).
func TestRowGradientsAreDifferencesOfLogDensities(t *testing.T) {
	const h = 1e-3
	rng := rand.New(rand.NewPCG(11, 0))
	for _, s := range scoredFamilies(rng) {
		theta, p, ws := s.theta(rng), panelOf(s.d, s.x), family.NewWorkspace(s.d)
		r := make([]float64, s.k*kern.Rows)
		for i := range r {
			r[i] = rng.Float64()
		}
		got := make([]float64, len(theta)*kern.Rows)
		for i := range got {
			got[i] = math.NaN() // what was there does not matter
		}
		s.f.Bind(theta, s.k, s.d).(family.GradKernel).RowGrad(got, p, r, ws)
		dst := make([]float64, s.k*kern.Rows)
		at := func(j int, h float64) (v [kern.Rows]float64) {
			other := append([]float64(nil), theta...)
			other[j] += h
			s.f.Bind(other, s.k, s.d).Score(dst, p, ws)
			for i, f := range dst {
				v[i%kern.Rows] += r[i] * f
			}
			return v
		}
		for j := range theta {
			near, nearer, far, farther := at(j, h), at(j, -h), at(j, 2*h), at(j, -2*h)
			for i := range kern.Rows {
				want := (8*(near[i]-nearer[i]) - (far[i] - farther[i])) / (12 * h)
				if g := got[j*kern.Rows+i]; !(math.Abs(g-want) <= 1e-7*(1+math.Abs(want))) {
					t.Fatalf("%s, d %d: derivative %d of row %d is %v, differences say %v", s.name, s.d, j, i, g, want)
				}
			}
		}
	}
}

// The rows' gradients add to the gradient that comes from the sums of a sweep.
func TestRowGradientsAddToTheGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 0))
	for _, s := range scoredFamilies(rng) {
		theta, p, ws := s.theta(rng), panelOf(s.d, s.x), family.NewWorkspace(s.d)
		if s.name == "categorical" { // Stats hold the sums of levels only: a cell that is none counts nowhere
			for i, v := range p.X {
				p.X[i] = min(v, 3)
			}
		}
		r := make([]float64, s.k*kern.Rows)
		for i := range r {
			r[i] = rng.Float64()
		}
		kernel := s.f.Bind(theta, s.k, s.d)
		rows, want := make([]float64, len(theta)*kern.Rows), make([]float64, len(theta))
		kernel.(family.GradKernel).RowGrad(rows, p, r, ws)
		sums := family.NewStats(s.k, s.d, s.f.Sums(s.k, s.d), 0)
		kernel.Add(sums, p, r, ws)
		s.f.Grad(want, theta, sums)
		for j := range theta {
			sum, size := 0.0, 0.0
			for _, v := range rows[j*kern.Rows : (j+1)*kern.Rows] {
				sum += v
				size += math.Abs(v)
			}
			if !(math.Abs(sum-want[j]) <= 1e-12*(1+size)) {
				t.Fatalf("%s, d %d: derivative %d adds to %v, want %v", s.name, s.d, j, sum, want[j])
			}
		}
	}
}

// A row that is no part of a component adds exactly 0 there, even if its squares overflow.
func TestRowGradientsOfRowsElsewhereAreZero(t *testing.T) {
	for _, shape := range shapes {
		const k, d = 2, 2
		g := family.Gaussian{Shape: shape, Var: []float64{1, 1}}
		theta := make([]float64, g.Params(k, d))
		p := panelOf(d, []float64{1e200, -1e200, 1, 2})
		r := make([]float64, k*kern.Rows)
		r[1], r[kern.Rows+1] = 0.5, 0.5 // the first row has no share of anything
		got := make([]float64, len(theta)*kern.Rows)
		g.Bind(theta, k, d).(family.GradKernel).RowGrad(got, p, r, family.NewWorkspace(d))
		for j := range theta {
			if got[j*kern.Rows] != 0 {
				t.Errorf("%s: derivative %d of a row without responsibility is %v", shape, j, got[j*kern.Rows])
			}
		}
		if got[1] != 0.5 { // r (x - m) with unit variances
			t.Errorf("%s: derivative of the first mean is %v, want 0.5", shape, got[1])
		}
	}
}

func TestRowGradientsAllocateNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 0))
	for _, s := range scoredFamilies(rng) {
		p, ws := panelOf(s.d, s.x), family.NewWorkspace(s.d)
		kernel := s.f.Bind(s.theta(rng), s.k, s.d).(family.GradKernel)
		g, r := make([]float64, s.f.Params(s.k, s.d)*kern.Rows), make([]float64, s.k*kern.Rows)
		r[0] = 1
		if n := testing.AllocsPerRun(10, func() { kernel.RowGrad(g, p, r, ws) }); n != 0 {
			t.Errorf("%s: %v allocations", s.name, n)
		}
	}
}

func TestCovarianceGradientsAreDifferencesOfCovariances(t *testing.T) {
	const h = 1e-4
	rng := rand.New(rand.NewPCG(14, 0))
	for _, shape := range shapes {
		for d := 1; d <= 4; d++ {
			g := family.Gaussian{Shape: shape, Var: []float64{1, 1, 1, 1}[:d]}
			theta := make([]float64, g.Params(1, d))
			for i := range theta {
				theta[i] = rng.NormFloat64() / 2
			}
			u := g.ScaleOf(theta, 0, 1, d)
			grad := make([]float64, len(u))
			for j := range d {
				for l := range d {
					if j != l && shape != family.Full && shape != family.Tied {
						continue
					}
					g.CovarianceGrad(grad, u, j, l, d)
					for i := range u {
						was := u[i]
						u[i] = was + h
						up := matrix(g, theta, 0, 1, d).At(j, l)
						u[i] = was - h
						down := matrix(g, theta, 0, 1, d).At(j, l)
						u[i] = was
						if want := (up - down) / (2 * h); !(math.Abs(grad[i]-want) <= 1e-6*(1+math.Abs(want))) {
							t.Fatalf("%s, d %d: entry (%d, %d) moves with coordinate %d by %v, differences say %v", shape, d, j, l, i, grad[i], want)
						}
					}
				}
			}
		}
	}
}

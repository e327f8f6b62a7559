package family_test

import (
	"encoding/csv"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/family/familytest"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
)

// students are families of all shapes, with degrees of freedom of their own and, in turn, of the other sorts.
func students(t *testing.T, try func(t *testing.T, newFamily familytest.Maker)) {
	for i, shape := range family.Shapes() {
		for j, dof := range []family.Dof{family.OwnDof, family.TiedDof, family.GivenDof} {
			if j != 0 && j != i%3 && shape != family.Full && shape != family.TiedSpherical {
				continue
			}
			t.Run(shape.String()+[]string{", own", ", tied", ", given"}[j], func(t *testing.T) {
				try(t, func(v []float64) family.Family {
					return family.Student{Shape: shape, Var: v, Dof: dof, Given: []float64{3}}
				})
			})
		}
	}
}

// few runs laws on so many tables, unless the command line says how many.
func few(t *testing.T, tables string, laws func()) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	if before := checks.Value.String(); before == checks.DefValue {
		defer flag.Set("rapid.checks", before)
		if err := flag.Set("rapid.checks", tables); err != nil {
			t.Fatal(err)
		}
	}
	laws()
}

// Each law is tried on few tables of each family.
func TestStudentLaws(t *testing.T) {
	students(t, func(t *testing.T, newFamily familytest.Maker) {
		few(t, "6", func() { familytest.Laws(t, newFamily) })
		few(t, "16", func() { familytest.CurvedLaws(t, newFamily) })
	})
}

// The same with cells missing.
func TestStudentLawsWithGaps(t *testing.T) {
	for i, shape := range family.Shapes() {
		t.Run(shape.String(), func(t *testing.T) {
			newFamily := familytest.Gapped(func(v []float64) family.Family {
				return family.Student{Shape: shape, Var: v, Dof: []family.Dof{family.OwnDof, family.TiedDof, family.GivenDof}[i%3], Given: []float64{3}}
			})
			few(t, "6", func() { familytest.LawsOn(t, newFamily, familytest.Holes(familytest.Blobs)) })
			few(t, "16", func() { familytest.CurvedLawsOn(t, newFamily, familytest.Holes(familytest.Blobs)) })
		})
	}
}

// faithful returns the rows of the table as numbers.
func faithful(t *testing.T) (x []float64) {
	t.Helper()
	f, err := os.Open("../../data/datasets/faithful.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		for _, cell := range row {
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				t.Fatal(err)
			}
			x = append(x, v)
		}
	}
	return x
}

// studentStart is parameters of a file of oracle/student.
type studentStart struct {
	Weights, Scales, Dof []float64
	Locations            [][]float64
}

// theta returns the parameters of a mixture of the family.
func (p *studentStart) theta(m *mixture.Mixture) []float64 {
	g, k, d := m.Family.(family.Student), m.K, m.D
	theta := make([]float64, m.Params())
	for c, w := range p.Weights {
		theta[c] = math.Log(w)
	}
	comp := m.Components(theta)
	copy(comp, flatten(p.Locations))
	base := g.Base().(family.Gaussian)
	for c := range k {
		var q []float64
		for j := range d {
			q = append(q, p.Scales[c*d*d+j*d:c*d*d+j*d+j+1]...)
		}
		base.Scale(base.ScaleOf(comp, c, k, d), q, d)
	}
	g.SetDofs(comp, p.Dof, k)
	return theta
}

// Steps of EM in 50 digits: given, own and tied degrees of freedom, and Kent, Tyler and Vardi's step; and the gradient at the start.
func TestStudentStepsAgreeWithExactArithmetic(t *testing.T) {
	var ref struct {
		N, D  int
		Cases []struct {
			Name     string
			K        int
			Dof      string
			Expanded bool
			Free     int `json:"free_parameters"`
			Start    studentStart
			LogLik   []float64 `json:"log_likelihood"`
			After    []struct {
				studentStart
				Steps int
			}
			Gradient *struct {
				Logits, Dof []float64
				Locations   [][]float64
				Lower       [][][]float64 `json:"scales_lower"`
			}
		}
	}
	load(t, "../../testdata/oracle/student/steps.json", &ref)
	x := faithful(t)
	points, gradients := 0, 0
	for _, c := range ref.Cases {
		g := family.Student{Shape: family.Full, Var: []float64{1.3, 184.8}, Given: c.Start.Dof}
		g.Dof = map[string]family.Dof{"own": family.OwnDof, "tied": family.TiedDof, "given": family.GivenDof}[c.Dof]
		m := &mixture.Mixture{Family: g, K: c.K, D: ref.D}
		if m.Free() != c.Free {
			t.Errorf("%s: %d free parameters, want %d", c.Name, m.Free(), c.Free)
		}
		theta := c.Start.theta(m)
		step := g.EMStep
		if c.Expanded {
			step = g.MStep
		}
		for i, want := range c.LogLik {
			s := familytest.Sweep(m, theta, 1, x, nil)
			if !(math.Abs(s.LogLik-want) <= 1e-12*math.Abs(want)) {
				t.Errorf("%s: after %d steps the log-likelihood is %v, want %v", c.Name, i, s.LogLik, want)
			}
			for _, after := range c.After {
				if after.Steps == i {
					points++
					sameStudent(t, c.Name, m, theta, after.theta(m))
				}
			}
			if i == 0 && c.Gradient != nil {
				gradients++
				v := g
				v.Dof = family.OwnDof
				own := &mixture.Mixture{Family: v, K: c.K, D: ref.D}
				start := c.Start.theta(own)
				got := make([]float64, own.Params())
				own.Grad(got, start, familytest.Sweep(own, start, 1, x, nil))
				want := append(slices.Clone(c.Gradient.Logits), flatten(c.Gradient.Locations)...)
				for e := range c.K {
					want = append(want, byFactor(own, start, e, c.Gradient.Lower[e])...)
				}
				for e, v := range c.Gradient.Dof { // in log v
					want = append(want, v*c.Start.Dof[e])
				}
				for e, v := range want {
					if !(math.Abs(got[e]-v) <= 1e-9*math.Abs(v)) {
						t.Errorf("%s: entry %d of the gradient is %v, want %v", c.Name, e, got[e], v)
					}
				}
			}
			next := slices.Clone(theta)
			step(m.Components(next), m.Components(theta), s)
			for e := range c.K {
				next[e] = math.Log(s.N[e] / s.W)
			}
			theta = next
		}
	}
	if points != 16 || gradients != 1 {
		t.Errorf("%d points and %d gradients were compared, want 16 and 1", points, gradients)
	}
}

// sameStudent compares parameters: weights, locations in standard deviations of faithful, scales in those of the columns, and log v.
func sameStudent(t *testing.T, what string, m *mixture.Mixture, got, want []float64) {
	t.Helper()
	k, d, unit := m.K, m.D, []float64{1.14, 13.6}
	base := m.Family.(family.Student).Base().(family.Gaussian)
	near := func(name string, a, b, unit float64) {
		t.Helper()
		if !(math.Abs(a-b) <= 1e-9*unit) {
			t.Errorf("%s: %s %v, want %v", what, name, a, b)
		}
	}
	lw, want2 := m.LogWeights(nil, got), m.LogWeights(nil, want)
	a, b := m.Components(got), m.Components(want)
	p, q := make([]float64, 3), make([]float64, 3)
	for c := range k {
		near("weight", math.Exp(lw[c]), math.Exp(want2[c]), 1)
		for j := range d {
			near("location", a[c*d+j], b[c*d+j], unit[j])
		}
		base.Covariance(p, base.ScaleOf(a, c, k, d), d)
		base.Covariance(q, base.ScaleOf(b, c, k, d), d)
		for i, u := range []float64{unit[0] * unit[0], unit[0] * unit[1], unit[1] * unit[1]} {
			near("scale", p[i], q[i], u)
		}
	}
	for i := k*d + 3*k; i < len(a); i++ {
		near("log v", a[i], b[i], 1)
	}
}

// byFactor returns the gradient in the factor L of S = L L' from that in the entries of S, of which those off the diagonal move in
// pairs: dS_jl = sum over m of dL_jm L_lm + L_jm dL_lm, with the diagonal of L in logarithms.
func byFactor(m *mixture.Mixture, theta []float64, c int, lower [][]float64) []float64 {
	base := m.Family.(family.Student).Base().(family.Gaussian)
	u := slices.Clone(base.ScaleOf(m.Components(theta), c, m.K, m.D))
	u[0], u[2] = math.Exp(u[0]), math.Exp(u[2])
	g := func(j, l int) float64 { return lower[max(j, l)][min(j, l)] }
	return []float64{(2*g(0, 0)*u[0] + g(1, 0)*u[1]) * u[0], g(1, 0)*u[0] + 2*g(1, 1)*u[1], 2 * g(1, 1) * u[2] * u[2]}
}

// The density of a t distribution integrates to 1 in one column: by the trapezoid rule in y = asinh x, in which tails fall exponentially.
func TestStudentDensityIntegratesToOne(t *testing.T) {
	for _, v := range []float64{0.5, 1, 2.5, 30, 1000, 1e5} {
		g := family.Student{Shape: family.Full, Var: []float64{1}, Dof: family.GivenDof, Given: []float64{v}}
		kernel, ws := g.Bind([]float64{0.3, math.Log(1.7)}, 1, 1), family.NewWorkspace(1)
		sum, h := 0.0, 0.005
		dst := make([]float64, kern.Rows)
		for at := -120.0; at < 120; at += h * kern.Rows {
			var x []float64
			for i := range kern.Rows {
				x = append(x, math.Sinh(at+h*float64(i)))
			}
			kernel.Score(dst, panelOf(1, x), ws)
			for i, s := range dst {
				sum += h * math.Exp(s+math.Log(math.Cosh(at+h*float64(i))))
			}
		}
		if math.Abs(sum-1) > 1e-10 {
			t.Errorf("%v degrees of freedom: the density integrates to %v", v, sum)
		}
	}
}

// Many degrees of freedom are a Gaussian, from which the log density differs by (delta^2 - 2 (d+2) delta + d (d+2)) / (4 v) and less.
func TestStudentTendsToGaussian(t *testing.T) {
	const d, v = 2, 1e6
	rng := rand.New(rand.NewPCG(11, 0))
	for _, shape := range shapes {
		base := family.Gaussian{Shape: shape, Var: []float64{1, 1}}
		theta := make([]float64, base.Params(2, d))
		for i := range theta {
			theta[i] = 0.3 * rng.NormFloat64()
		}
		var x []float64
		for range kern.Rows * d {
			x = append(x, rng.NormFloat64())
		}
		g := family.Student{Shape: shape, Var: base.Var, Dof: family.GivenDof, Given: []float64{v}}
		a, b, ws := make([]float64, 2*kern.Rows), make([]float64, 2*kern.Rows), family.NewWorkspace(d)
		g.Bind(theta, 2, d).Score(a, panelOf(d, x), ws)
		base.Bind(theta, 2, d).Score(b, panelOf(d, x), ws)
		for i := range a {
			if math.Abs(a[i]-b[i]) > 1e-3 {
				t.Errorf("%s: log density %v, of the Gaussian %v", shape, a[i], b[i])
			}
		}
	}
}

// What is fused gives the sums and the log densities of what is not.
func TestFusedStudentGivesTheSameSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 0))
	for _, level := range kern.Levels() {
		restore := kern.Use(level)
		for _, shape := range family.Shapes() {
			for _, k := range []int{1, 3, 9} {
				const d = 3
				g := family.Student{Shape: shape, Var: []float64{1, 1, 1}}
				m := &mixture.Mixture{Family: g, K: k, D: d}
				theta := make([]float64, m.Params())
				for i := range theta {
					theta[i] = 0.4 * rng.NormFloat64()
				}
				g.SetDofs(m.Components(theta), slices.Repeat([]float64{4}, k), k)
				b, got, sc := m.Bind(theta, 1), m.NewStats(0), mixture.NewScratch(k, d)
				want := m.NewStats(0)
				kernel, ws := g.Bind(m.Components(theta), k, d), family.NewWorkspace(d)
				for range 5 {
					var x []float64
					for range (kern.Rows - 2) * d {
						x = append(x, rng.NormFloat64()*math.Exp(2*rng.NormFloat64()))
					}
					p := panelOf(d, x)
					p.W[3], p.W[4] = 2.5, 0
					b.Gather(got, p, sc)
					q := b.Posterior(p, mixture.NewScratch(k, d))
					r := slices.Clone(q.P)
					for i := range r {
						r[i] *= p.W[i%kern.Rows]
					}
					kernel.Add(want, p, r, ws)
				}
				b.Flush(got, sc)
				for i, v := range append(slices.Clone(want.N), want.Sum...) {
					if have := append(slices.Clone(got.N), got.Sum...)[i]; !(math.Abs(have-v) <= 1e-10*(1+math.Abs(v))*100) {
						t.Errorf("%v, %s, k = %d: sum %d is %v, want %v", level, shape, k, i, have, v)
					}
				}
			}
		}
		restore()
	}
}

// The density of the cells that are there is that of whole rows, integrated over the cell that is missing.
func TestStudentDensityOfPartOfARow(t *testing.T) {
	g := family.Student{Shape: family.Full, Var: []float64{1, 1}, Dof: family.GivenDof, Given: []float64{2.5}}
	theta := []float64{0.4, -1, math.Log(1.5), 0.8, math.Log(0.6)}
	whole, ws := g.Bind(theta, 1, 2), family.NewWorkspace(2)
	gapped := g.WithGaps(family.NewGaps(2)).Bind(theta, 1, 2)
	dst := make([]float64, kern.Rows)
	for missing := range 2 {
		for _, at := range []float64{-3, 0.2, 5} {
			sum, h := 0.0, 0.01
			for y := -40.0; y < 40; y += h * kern.Rows {
				x := make([]float64, 0, 2*kern.Rows)
				for i := range kern.Rows {
					row := []float64{at, at}
					row[missing] = math.Sinh(y + h*float64(i))
					x = append(x, row...)
				}
				whole.Score(dst, panelOf(2, x), ws)
				for i, s := range dst {
					sum += h * math.Exp(s+math.Log(math.Cosh(y+h*float64(i))))
				}
			}
			row := []float64{at, at}
			row[missing] = math.NaN()
			p := panelOf(2, row)
			p.Mark()
			gapped.Score(dst, p, ws)
			if math.Abs(math.Exp(dst[0])-sum) > 1e-9*sum {
				t.Errorf("cell %d missing: density %v, the integral is %v", missing, math.Exp(dst[0]), sum)
			}
		}
	}
}

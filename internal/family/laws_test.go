package family_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/family/familytest"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
)

var shapes = []family.Shape{family.Full, family.Tied, family.Diag, family.Spherical, family.TiedDiag, family.TiedSpherical}

func TestGaussianLaws(t *testing.T) {
	for _, shape := range shapes {
		t.Run(shape.String(), func(t *testing.T) {
			newFamily := func(v []float64) family.Family { return family.Gaussian{Shape: shape, Var: v} }
			familytest.Laws(t, newFamily)
			familytest.LocationScale(t, newFamily, shape != family.Spherical && shape != family.TiedSpherical)
		})
	}
}

func TestFixedLaws(t *testing.T) {
	newFamily := func([]float64) family.Family { return family.KMeans{} }
	familytest.Laws(t, newFamily)
	familytest.LocationScale(t, newFamily, false)
}

func TestShapesAreReadByEitherName(t *testing.T) {
	for i, names := range [][2]string{{"full", "VVV"}, {"tied", "EEE"}, {"diag", "VVI"}, {"spherical", "VII"}, {"tied-diag", "EEI"}, {"Tied-Spherical", "eii"}} {
		for _, name := range names {
			if got, err := family.ParseShape(name); err != nil || got != shapes[i] {
				t.Errorf("%s is read as %v (%v)", name, got, err)
			}
		}
	}
	if _, err := family.ParseShape("VEX"); err == nil {
		t.Error("a shape that is not there is accepted")
	}
}

// Counts of free parameters from the formulas of the models: k d means, and d(d+1)/2, d or 1 per covariance.
func TestFreeParameters(t *testing.T) {
	for i, want := range [6]int{4*3 + 4*6, 4*3 + 6, 4*3 + 4*3, 4*3 + 4, 4*3 + 3, 4*3 + 1} {
		if got := (family.Gaussian{Shape: shapes[i]}).Free(4, 3); got != want {
			t.Errorf("%s: %d, want %d", shapes[i], got, want)
		}
	}
	if got := (family.KMeans{}).Free(4, 3); got != 12 {
		t.Errorf("kmeans: %d, want 12", got)
	}
}

// panelOf packs rows of d columns, at most kern.Rows of them, with weight 1.
func panelOf(d int, x []float64) *family.Panel {
	p := &family.Panel{N: len(x) / d, D: d, X: make([]float64, d*kern.Rows), W: make([]float64, kern.Rows)}
	for i := range p.N {
		p.W[i] = 1
		for j := range d {
			p.X[j*kern.Rows+i] = x[i*d+j]
		}
	}
	return p
}

// matrix returns the covariance of component c in theta as a d x d matrix.
func matrix(g family.Gaussian, theta []float64, c, k, d int) *mat.SymDense {
	q := make([]float64, g.Shape.Size(d))
	g.Covariance(q, g.ScaleOf(theta, c, k, d), d)
	s := mat.NewSymDense(d, nil)
	for j := range d {
		for l := range j + 1 {
			switch {
			case len(q) == d*(d+1)/2 && (g.Shape == family.Full || g.Shape == family.Tied):
				s.SetSym(j, l, q[j*(j+1)/2+l])
			case j == l && len(q) == d:
				s.SetSym(j, j, q[j])
			case j == l:
				s.SetSym(j, j, q[0])
			}
		}
	}
	return s
}

func TestScoresAreNormalLogDensities(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 0))
	for _, shape := range shapes {
		for d := 1; d <= 6; d++ {
			const k = 3
			v := slices.Repeat([]float64{1}, d)
			g := family.Gaussian{Shape: shape, Var: v}
			theta := make([]float64, g.Params(k, d))
			for i := range theta {
				theta[i] = rng.NormFloat64()
			}
			x := make([]float64, kern.Rows*d)
			for i := range x {
				x[i] = 3 * rng.NormFloat64()
			}
			dst := make([]float64, k*kern.Rows)
			g.Bind(theta, k, d).Score(dst, panelOf(d, x), family.NewWorkspace(d))
			for c := range k {
				var chol mat.Cholesky
				if !chol.Factorize(matrix(g, theta, c, k, d)) {
					t.Fatalf("%s, d %d: the covariance is not positive definite", shape, d)
				}
				for i := range kern.Rows {
					e, y := mat.NewVecDense(d, nil), mat.NewVecDense(d, nil)
					for j := range d {
						e.SetVec(j, x[i*d+j]-theta[c*d+j])
					}
					if err := chol.SolveVecTo(y, e); err != nil {
						t.Fatal(err)
					}
					want := -0.5 * (float64(d)*math.Log(2*math.Pi) + chol.LogDet() + mat.Dot(e, y))
					if got := dst[c*kern.Rows+i]; math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
						t.Errorf("%s, d %d: log density %v, gonum says %v", shape, d, got, want)
					}
				}
			}
		}
	}
}

// stats adds the rows to component 0 of k, about the means of theta.
func stats(g family.Gaussian, theta []float64, k, d int, x []float64) *family.Stats {
	s := family.NewStats(k, d, g.Sums(k, d), 0)
	kernel, ws := g.Bind(theta, k, d), family.NewWorkspace(d)
	for lo := 0; lo < len(x); lo += kern.Rows * d {
		p := panelOf(d, x[lo:min(len(x), lo+kern.Rows*d)])
		r := make([]float64, k*kern.Rows)
		copy(r, p.W)
		kernel.Add(s, p, r, ws)
		s.W += float64(p.N)
	}
	return s
}

// Whatever collapses, every covariance stays a covariance: finite, and no eigenvalue in units of the columns' own
// variances below the floor. Where only some directions collapse, the others keep their variance.
func TestCovariancesStayAboveTheFloor(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 0))
	const d, k = 3, 2
	line := make([]float64, 0, 20*d)
	for range 20 {
		z := rng.NormFloat64()
		line = append(line, z, math.Ldexp(z, 30), math.Ldexp(-z, -20))
	}
	unit := []float64{1, math.Ldexp(1, 60), math.Ldexp(1, -40)}
	for _, c := range []struct {
		name string
		x    []float64
	}{
		{"equal rows", slices.Repeat([]float64{3, 5, -2}, 15)},
		{"one row", []float64{0.25, 1e9, 1e-7}},
		{"two rows", []float64{0.25, 1e9, 1e-7, 0.5, -1e9, 0}},
		{"rows on a line", line},
	} {
		for _, shape := range shapes {
			g := family.Gaussian{Shape: shape, Var: unit}
			theta := make([]float64, g.Params(k, d))
			for range 3 {
				g.MStep(theta, theta, stats(g, theta, k, d, c.x))
			}
			s := matrix(g, theta, 0, k, d)
			for j := range d {
				for l := range j + 1 {
					s.SetSym(j, l, s.At(j, l)/math.Sqrt(unit[j]*unit[l]))
				}
			}
			var e mat.EigenSym
			if !e.Factorize(s, false) {
				t.Fatalf("%s, %s: no eigenvalues of %v", c.name, shape, s)
			}
			values := e.Values(nil)
			if !(values[0] >= family.MinEigenvalue*(1-1e-6)) || math.IsInf(values[d-1], 1) {
				t.Errorf("%s, %s: eigenvalues %v, want at least %v", c.name, shape, values, family.MinEigenvalue)
			}
			at := g.AtFloor(theta, k, d)
			full := shape == family.Full || shape == family.Tied
			if c.name == "equal rows" && !at[0] || c.name == "rows on a line" && at[0] != full {
				t.Errorf("%s, %s: at the floor: %v, eigenvalues %v", c.name, shape, at[0], values)
			}
			if c.name == "rows on a line" && full { // all the variance is along (1, 1, -1)
				want := 0.0
				mean := 0.0
				for i := 0; i < len(line); i += d {
					mean += line[i] / 20
				}
				for i := 0; i < len(line); i += d {
					want += 3 * (line[i] - mean) * (line[i] - mean) / 20
				}
				if math.Abs(values[d-1]-want) > 1e-9*want {
					t.Errorf("%s: the largest eigenvalue is %v, want %v", shape, values[d-1], want)
				}
			}
		}
	}
}

// A clipped covariance must explain its rows better than any other above the floor.
func TestFloorIsTheConstrainedMaximum(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 0))
	const d, k = 3, 1
	var x []float64
	for range 40 { // a plane, all but flat
		a, b := rng.NormFloat64(), rng.NormFloat64()
		x = append(x, a, b, a-b+1e-7*rng.NormFloat64())
	}
	tried := 0
	for _, shape := range []family.Shape{family.Full, family.Tied} {
		g := family.Gaussian{Shape: shape, Var: []float64{1, 1, 2}}
		theta := make([]float64, g.Params(k, d))
		g.MStep(theta, theta, stats(g, theta, k, d, x))
		s := stats(g, theta, k, d, x)
		next := make([]float64, len(theta))
		g.MStep(next, theta, s)
		if !g.AtFloor(next, k, d)[0] {
			t.Fatalf("%s: a flat component is not at the floor", shape)
		}
		best := g.Expected(next, theta, s)
		for range 4000 {
			// S + M M^T for a random M has no smaller eigenvalue than S; so has a random S far above the floor.
			other := slices.Clone(next)
			q := make([]float64, g.Shape.Size(d))
			g.Covariance(q, g.ScaleOf(next, 0, k, d), d)
			size := math.Pow(10, -8*rng.Float64())
			v := []float64{size * rng.NormFloat64(), size * rng.NormFloat64(), size * rng.NormFloat64()}
			for j := range d {
				for l := range j + 1 {
					q[j*(j+1)/2+l] += v[j] * v[l]
				}
			}
			if !g.Scale(g.ScaleOf(other, 0, k, d), q, d) {
				continue
			}
			tried++
			if f := g.Expected(other, theta, s); f > best+1e-6*(1+math.Abs(best)) {
				t.Fatalf("%s: %v, but a covariance above the floor reaches %v", shape, best, f)
			}
		}
	}
	if tried < 7000 {
		t.Errorf("only %d covariances tried", tried)
	}
}

func TestComponentWithoutRowsKeepsItsParameters(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	const d, k = 2, 2
	var x []float64
	for range 30 * d {
		x = append(x, rng.NormFloat64())
	}
	for _, shape := range shapes {
		g := family.Gaussian{Shape: shape, Var: []float64{1, 1}}
		theta := make([]float64, g.Params(k, d))
		for i := range theta {
			theta[i] = rng.NormFloat64()
		}
		next := make([]float64, len(theta))
		g.MStep(next, theta, stats(g, theta, k, d, x))
		if !slices.Equal(next[d:2*d], theta[d:2*d]) {
			t.Errorf("%s: the mean moved from %v to %v", shape, theta[d:2*d], next[d:2*d])
		}
		if a, b := g.ScaleOf(theta, 1, k, d), g.ScaleOf(next, 1, k, d); !shape.Shared() && !slices.Equal(a, b) {
			t.Errorf("%s: the scale moved from %v to %v", shape, a, b)
		}
		if slices.Equal(next[:d], theta[:d]) {
			t.Errorf("%s: the component with rows did not move", shape)
		}
		none := family.NewStats(k, d, g.Sums(k, d), 0)
		clear(next)
		g.MStep(next, theta, none)
		if !slices.Equal(next, theta) {
			t.Errorf("%s: without any rows %v became %v", shape, theta, next)
		}
	}
}

// A row whose squared distance has no float64 is as unlikely as can be, never NaN, and with weight 0 it adds nothing.
func TestRowsBeyondTheRangeOfSquares(t *testing.T) {
	const d, k = 2, 2
	families := []family.Family{family.KMeans{}}
	for _, shape := range shapes {
		families = append(families, family.Gaussian{Shape: shape, Var: []float64{1, 1}})
	}
	for _, f := range families {
		theta := make([]float64, f.Params(k, d))
		for i := range theta {
			theta[i] = -float64(i % 5)
		}
		p := panelOf(d, []float64{1, 2, 1e200, 1e300, 1e308, -1e308})
		p.W[1], p.W[2] = 0, 0
		dst := make([]float64, k*kern.Rows)
		kernel, ws := f.Bind(theta, k, d), family.NewWorkspace(d)
		kernel.Score(dst, p, ws)
		for c := range k {
			for i := range p.N {
				v := dst[c*kern.Rows+i]
				if v != v || math.IsInf(v, 0) || i > 0 && v > -1e300 {
					t.Errorf("%s: row %d has log density %v", f.Name(), i, v)
				}
			}
		}
		s := family.NewStats(k, d, f.Sums(k, d), 0)
		kernel.Add(s, p, slices.Repeat(p.W, k), ws)
		for _, v := range s.Sum {
			if v != v || math.IsInf(v, 0) {
				t.Fatalf("%s: sums %v", f.Name(), s.Sum)
			}
		}
	}
}

// An empty cluster takes the worst explained row of a cluster that has others, and the cost afterwards is that of the
// rows where they are then.
func TestEmptyClusterTakesTheFarthestRow(t *testing.T) {
	m := &mixture.Mixture{Family: family.KMeans{}, K: 3, D: 1}
	theta := []float64{5, 1000, 20}
	b := m.Bind(theta, math.Inf(1))
	s := m.NewStats(b.FarMax())
	p := panelOf(1, []float64{0, 18, 24}) // 0 is farthest from its centre, but alone there
	p.W[2] = 1.5
	b.Add(s, p, mixture.NewScratch(3, 1))
	if s.F != -(25 + 4 + 1.5*16) {
		t.Fatalf("F is %v", s.F)
	}
	next := make([]float64, 3)
	m.MStep(next, theta, s)
	if !slices.Equal(next, []float64{0, 24, 18}) {
		t.Errorf("centres %v, want 0, 24, 18", next)
	}
	if f := m.FreeEnergy(next, theta, math.Inf(1), s); math.Abs(f) > 1e-6 {
		t.Errorf("F is %v with every row on its centre", f)
	}
}

func TestWorstRowsAreKeptInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 0))
	const most = 5
	var all []family.Far
	parts := []*family.Stats{family.NewStats(1, 1, 0, most), family.NewStats(1, 1, 0, most), family.NewStats(1, 1, 0, most)}
	for i := range 60 {
		f := family.Far{Row: int64(i), Score: -float64(rng.IntN(12)), X: []float64{float64(i)}}
		all = append(all, f)
		if s := parts[i/20]; s.Worse(f.Score) {
			s.Offer(f)
		}
	}
	parts[0].Merge(parts[1])
	parts[0].Merge(parts[2])
	slices.SortStableFunc(all, func(a, b family.Far) int { return int(a.Score - b.Score) })
	for i, f := range parts[0].Far {
		if f.Row != all[i].Row || f.Score != all[i].Score || f.X[0] != all[i].X[0] {
			t.Errorf("number %d is row %d at %v, want row %d at %v", i, f.Row, f.Score, all[i].Row, all[i].Score)
		}
	}
	if len(parts[0].Far) != most {
		t.Errorf("%d rows, want %d", len(parts[0].Far), most)
	}
}

package family_test

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/family/familytest"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
)

var factorShapes = []family.Shape{family.OwnFactors, family.TiedFactors, family.RoundFactors}

// factorFamilies calls try with both families of each shape with q factors.
func factorFamilies(t *testing.T, q int, try func(t *testing.T, newFamily familytest.Maker)) {
	for _, shape := range factorShapes {
		s := shape.WithFactors(q)
		t.Run(s.String(), func(t *testing.T) {
			try(t, func(v []float64) family.Family { return family.FactorsOf(s, v, nil) })
		})
		t.Run(s.String()+", wide", func(t *testing.T) {
			try(t, func(v []float64) family.Family { return family.WideFactors{Shape: s, Var: v} })
		})
	}
}

// factorTheta returns random parameters of k components on d columns.
func factorTheta(g family.WideFactors, k, d int, rng *rand.Rand) []float64 {
	theta := make([]float64, g.Params(k, d))
	for i := range theta {
		theta[i] = 0.7 * rng.NormFloat64()
	}
	return theta
}

// factorMatrix returns L L' + diag(u) of component c, entry by entry.
func factorMatrix(g family.WideFactors, theta []float64, c, k, d int) *mat.SymDense {
	l, u, q := g.LoadingsOf(theta, c, k, d), g.UniquenessesOf(theta, c, k, d), g.Shape.Factors()
	s := mat.NewSymDense(d, nil)
	for j := range d {
		for m := range j + 1 {
			v := 0.0
			for f := range q {
				v += l[j*q+f] * l[m*q+f]
			}
			if j == m {
				v += u[j]
			}
			s.SetSym(j, m, v)
		}
	}
	return s
}

// normalLogDensity is the log density of x by gonum's factor of the whole covariance.
func normalLogDensity(t *testing.T, x, mean []float64, s *mat.SymDense) float64 {
	t.Helper()
	var chol mat.Cholesky
	if !chol.Factorize(s) {
		t.Fatal("the covariance is not positive definite")
	}
	d := len(x)
	e, y := mat.NewVecDense(d, nil), mat.NewVecDense(d, nil)
	for j := range d {
		e.SetVec(j, x[j]-mean[j])
	}
	if err := chol.SolveVecTo(y, e); err != nil {
		t.Fatal(err)
	}
	return -0.5 * (float64(d)*math.Log(2*math.Pi) + chol.LogDet() + mat.Dot(e, y))
}

func TestScoresWithFactorsAreNormalLogDensities(t *testing.T) {
	const k = 3
	rng := rand.New(rand.NewPCG(31, 0))
	for _, q := range []int{1, 2, 5} {
		factorFamilies(t, q, func(t *testing.T, newFamily familytest.Maker) {
			for _, d := range []int{q + 1, 9, 23} {
				fam := newFamily(slices.Repeat([]float64{1}, d))
				g, _ := family.WideOf(fam)
				theta := factorTheta(g, k, d, rng)
				x := make([]float64, kern.Rows*d)
				for i := range x {
					x[i] = 3 * rng.NormFloat64()
				}
				dst := make([]float64, k*kern.Rows)
				fam.Bind(theta, k, d).Score(dst, panelOf(d, x), family.NewWorkspace(d))
				for c := range k {
					s := factorMatrix(g, theta, c, k, d)
					for i := range kern.Rows {
						want := normalLogDensity(t, x[i*d:i*d+d], theta[c*d:c*d+d], s)
						if got := dst[c*kern.Rows+i]; !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
							t.Fatalf("d %d: log density %v, gonum says %v", d, got, want)
						}
					}
				}
			}
		})
	}
}

// factorCase is a case of oracle/factors/steps.json.
type factorCase struct {
	Name, Kind string
	K, Factors int
	Free       int `json:"free_parameters"`
	Start      factorPoint
	LogLikOne  []float64     `json:"log_likelihood_one"`
	LogLikEnd  []float64     `json:"log_likelihood_end"`
	AfterOne   []factorPoint `json:"after_one"`
}

type factorPoint struct {
	Steps        int
	Weights      []float64
	Means        [][]float64
	Loadings     [][][]float64
	Uniquenesses any
	Covariances  []float64
}

// numbers returns all numbers of nested lists.
func numbers(v any) (all []float64) {
	switch v := v.(type) {
	case float64:
		return []float64{v}
	case []any:
		for _, x := range v {
			all = append(all, numbers(x)...)
		}
	}
	return all
}

// theta returns the start as parameters.
func (p *factorPoint) theta(m *mixture.Mixture) []float64 {
	theta := make([]float64, m.Params())
	for c, w := range p.Weights {
		theta[c] = math.Log(w)
	}
	g, _ := family.WideOf(m.Family)
	comp, all := m.Components(theta), numbers(p.Uniquenesses)
	copy(comp, flatten(p.Means))
	for c := range m.K {
		u := all
		if len(all) > m.D {
			u = all[c*m.D : (c+1)*m.D]
		} else if len(all) < m.D {
			u = slices.Repeat(all[c:c+1], m.D)
		}
		g.SetFactors(comp, flatten(p.Loadings[c]), u, c, m.K, m.D)
	}
	return theta
}

// Steps of EM in 50 digits: one that counts the factors as missing, and one that goes to its end.
func TestFactorStepsAgreeWithExactArithmetic(t *testing.T) {
	var ref struct {
		N, D  int
		Cases []factorCase
	}
	load(t, "../../testdata/oracle/factors/steps.json", &ref)
	x, v := table(t, "iris", ref.D)
	points, ends := 0, 0
	for _, c := range ref.Cases {
		shape, err := family.ParseShape(c.Kind + ":" + string(rune('0'+c.Factors)))
		if err != nil {
			t.Fatal(err)
		}
		wide := &mixture.Mixture{Family: family.WideFactors{Shape: shape, Var: v}, K: c.K, D: ref.D}
		if wide.Free() != c.Free {
			t.Errorf("%s: %d free parameters, want %d", c.Name, wide.Free(), c.Free)
		}
		theta := c.Start.theta(wide)
		for i, want := range c.LogLikOne {
			s := familytest.Sweep(wide, theta, 1, x, nil)
			if !(math.Abs(s.LogLik-want) <= 1e-11*math.Abs(want)) {
				t.Errorf("%s: after %d steps the log-likelihood is %v, want %v", c.Name, i, s.LogLik, want)
			}
			for _, after := range c.AfterOne {
				if after.Steps == i {
					points++
					sameFactors(t, c.Name, wide, theta, &after)
				}
			}
			wide.MStep(theta, theta, s)
		}
		tight := slices.Clone(v)
		for j := range tight { // the oracle's floor is 1e-9 of a variance
			tight[j] *= 1e-3
		}
		wide.Family = family.WideFactors{Shape: shape, Var: tight}
		narrow := &mixture.Mixture{Family: family.Factors{WideFactors: family.WideFactors{Shape: shape, Var: tight}}, K: c.K, D: ref.D}
		theta = c.Start.theta(wide)
		for i, want := range c.LogLikEnd {
			ends++
			s := familytest.Sweep(narrow, theta, 1, x, nil)
			if !(math.Abs(s.LogLik-want) <= 1e-9*math.Abs(want)) {
				t.Errorf("%s: after %d steps to their end the log-likelihood is %v, want %v", c.Name, i, s.LogLik, want)
			}
			next := slices.Clone(theta)
			narrow.MStep(next, theta, s)
			end := next
			if c.Kind != "UUC" { // in closed form; else the oracle takes 400 steps at most
				end = repeated(wide, theta, x, 400)
			}
			if got, least := narrow.FreeEnergy(next, theta, 1, s), narrow.FreeEnergy(end, theta, 1, s); !(got >= least-1e-9*math.Abs(least)) {
				t.Errorf("%s: the M-step after %d steps leads to a free energy of %v, 400 small ones to %v", c.Name, i, got, least)
			}
			theta = end
		}
	}
	if len(ref.Cases) != 4 || points != 16 || ends != 24 {
		t.Errorf("%d cases, %d points and %d steps to their end were compared, want 4, 16 and 24", len(ref.Cases), points, ends)
	}
}

// repeated takes so many M-steps, or as many as change anything, with the responsibilities of theta.
func repeated(m *mixture.Mixture, theta, x []float64, steps int) []float64 {
	k, d := m.K, m.D
	r := make([][]float64, 0)
	b, sc := m.Bind(theta, 1), mixture.NewScratch(k, d)
	for lo := 0; lo < len(x); lo += kern.Rows * d {
		p := panelOf(d, x[lo:min(len(x), lo+kern.Rows*d)])
		logits := slices.Clone(b.Logits(p, sc))
		for i := range kern.Rows {
			sum := 0.0
			for c := range k {
				logits[c*kern.Rows+i] = math.Exp(logits[c*kern.Rows+i]) * p.W[i]
				sum += logits[c*kern.Rows+i]
			}
			for c := range k {
				if sum > 0 {
					logits[c*kern.Rows+i] /= sum
				}
			}
		}
		r = append(r, logits)
	}
	at := slices.Clone(theta)
	for range steps {
		s, ws := m.NewStats(0), family.NewWorkspace(d)
		kernel := m.Family.Bind(m.Components(at), k, d)
		for i, lo := 0, 0; lo < len(x); i, lo = i+1, lo+kern.Rows*d {
			p := panelOf(d, x[lo:min(len(x), lo+kern.Rows*d)])
			kernel.Add(s, p, r[i], ws)
			for _, w := range p.W {
				s.W += w
			}
		}
		before := slices.Clone(at)
		m.MStep(at, at, s)
		if slices.EqualFunc(before, at, func(a, b float64) bool { return math.Abs(a-b) <= 1e-13 }) {
			break
		}
	}
	return at
}

// sameFactors compares parameters with those of the oracle, to 1e-9 in natural units.
func sameFactors(t *testing.T, name string, m *mixture.Mixture, theta []float64, want *factorPoint) {
	t.Helper()
	k, d := m.K, m.D
	g, _ := family.WideOf(m.Family)
	comp := m.Components(theta)
	same := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
			t.Errorf("%s: after %s %v, want %v", name, what, got, want)
		}
	}
	unique := numbers(want.Uniquenesses)
	for c := range k {
		same("weight", math.Exp(m.LogWeights(nil, theta)[c]), want.Weights[c])
		s, u := factorMatrix(g, comp, c, k, d), g.UniquenessesOf(comp, c, k, d)
		for j := range d {
			same("mean", comp[c*d+j], want.Means[c][j])
			for l := range d {
				same("covariance", s.At(j, l), want.Covariances[c*d*d+j*d+l])
			}
			switch len(unique) {
			case k * d:
				same("uniqueness", u[j], unique[c*d+j])
			case d:
				same("uniqueness", u[j], unique[j])
			default:
				same("uniqueness", u[j], unique[c])
			}
		}
	}
}

// table returns the first d columns of a built-in table as numbers, and their variances.
func table(t *testing.T, name string, d int) (x, v []float64) {
	t.Helper()
	rows := readTable(t, "../../data/datasets/"+name+".csv")
	mean := make([]float64, d)
	v = make([]float64, d)
	for _, row := range rows {
		for j := range d {
			cell, err := strconv.ParseFloat(row[j], 64)
			if err != nil {
				t.Fatal(err)
			}
			x = append(x, cell)
			mean[j] += cell / float64(len(rows))
		}
	}
	for i, cell := range x {
		v[i%d] += (cell - mean[i%d]) * (cell - mean[i%d]) / float64(len(rows))
	}
	return x, v
}

// readTable returns the rows of a CSV file below its header.
func readTable(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

// factorRows draws k groups of rows of one factor each: all columns have loadings of their own size and uniquenesses of 1.
func factorRows(rng *rand.Rand, n, d, k int) (x []float64) {
	centre := make([]float64, k*d)
	for i := range centre {
		centre[i] = 4 * rng.NormFloat64()
	}
	for range n {
		c, f := rng.IntN(k), rng.NormFloat64()
		for j := range d {
			x = append(x, math.Round(1024*(centre[c*d+j]+(1+float64(j)/4)*f+rng.NormFloat64()))/1024)
		}
	}
	return x
}

// flatUniqueness is how far, relative, the logarithm of a small uniqueness may lie from where the same rows in another order put it: next to a Heywood
// case a maximum is so flat that rounding of the sums, 1e-16, moves it by the square root of that and more. A thousand draws differed by up to 5e-8.
const flatUniqueness = 1e-6

// The laws of Factors. Its metric is the information expected of the model, so that the two laws that hold where covariances are those of the rows do
// not; its M-step is the nearest maximum and not the highest; and rows of several groups have Heywood cases.
func TestFactorLaws(t *testing.T) {
	for _, shape := range factorShapes {
		t.Run(shape.WithFactors(1).String(), func(t *testing.T) {
			c := familytest.Case{New: func(v []float64) family.Family { return family.FactorsOf(shape.WithFactors(1), v, nil) }, Rows: factorRows, Columns: 4, Slack: flatUniqueness}
			c.Except = []string{"no other parameters explain the responsibilities better", "the metric is the curvature of the free energy at an M-step", "a small step of EM is the gradient in its metric", "no floor holds what is well inside"}
			few(t, "5", func() { c.Laws(t) })
			few(t, "12", func() { c.SmoothLaws(t) })
		})
	}
}

// The same with cells missing.
func TestFactorLawsWithGaps(t *testing.T) {
	newFamily := familytest.Gapped(func(v []float64) family.Family { return family.FactorsOf(family.OwnFactors.WithFactors(1), v, nil) })
	c := familytest.Case{New: newFamily, Rows: familytest.Holes(factorRows), Columns: 4, Slack: flatUniqueness}
	c.Except = []string{"no other parameters explain the responsibilities better"}
	few(t, "6", func() { c.Laws(t) })
}

func TestShapesWithFactorsAreRead(t *testing.T) {
	for word, want := range map[string]string{"factors:2": "factors:2 UUU:2", "UCU:1": "factors-tied:1 UCU:1", "ppca:12": "ppca:12 UUC:12", "uuu:3": "factors:3 UUU:3"} {
		s, err := family.ParseShape(word)
		if got := s.String() + " " + s.Mclust(); err != nil || got != want {
			t.Errorf("%s is read as %s (%v)", word, got, err)
		}
	}
	for _, word := range []string{"factors", "factors:", "factors:0", "factors:-1", "factors:1.5", "factors:1001", "full:2", "UUC", "factors:2:3"} {
		if s, err := family.ParseShape(word); err == nil {
			t.Errorf("%s is read as %v", word, s)
		}
	}
	some, err := family.ParseShapes("ppca:2:4")
	if err != nil || len(some) != 3 || some[0].String() != "ppca:2" || some[2].String() != "ppca:4" {
		t.Errorf("a range is read as %v (%v)", some, err)
	}
	for _, word := range []string{"ppca:4:2", "ppca:0:2", "ppca:1:x", "full:1:2"} {
		if some, err := family.ParseShapes(word); err == nil {
			t.Errorf("%s is read as %v", word, some)
		}
	}
	for d := 1; d <= 40; d++ { // the largest q with (d - q)^2 >= d + q, below d
		most := 0
		for q := 1; q < d; q++ {
			if (d-q)*(d-q) >= d+q {
				most = q
			}
		}
		if got := family.OwnFactors.MaxFactors(d); got != most || family.RoundFactors.MaxFactors(d) != d-1 {
			t.Errorf("%d columns: %d factors at most, want %d", d, got, most)
		}
	}
	own, tied, round := family.OwnFactors.WithFactors(2), family.TiedFactors.WithFactors(2), family.RoundFactors.WithFactors(1)
	if !family.Nested(own, tied) || !family.Nested(own, round) || family.Nested(tied, own) || family.Nested(tied, round) || family.Nested(own, own) || !family.Nested(family.Full, own) || family.Nested(family.Tied, tied) ||
		!family.Nested(own, family.TiedVolumeDiag) || family.Nested(own, family.Tied) || !family.Nested(round, family.TiedSpherical) || family.Nested(round, family.Diag) || !family.Nested(tied, family.TiedDiag) || family.Nested(tied, family.Diag) {
		t.Error("special cases of shapes with factors are not told apart from others")
	}
}

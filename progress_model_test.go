package latent

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// plainDensity returns the log density of a normal distribution at x, by Cholesky's recurrence.
func plainDensity(x, mean []float64, cov func(i, j int) float64) float64 {
	d := len(x)
	l, z, sum := make([][]float64, d), make([]float64, d), -0.5*float64(d)*math.Log(2*math.Pi)
	for i := range d {
		l[i] = make([]float64, d)
		for j := range i + 1 {
			v := cov(i, j)
			for m := range j {
				v -= l[i][m] * l[j][m]
			}
			if i == j {
				l[i][i] = math.Sqrt(v)
			} else {
				l[i][j] = v / l[j][j]
			}
		}
		z[i] = x[i] - mean[i]
		for j := range i {
			z[i] -= l[i][j] * z[j]
		}
		z[i] /= l[i][i]
		sum -= math.Log(l[i][i]) + z[i]*z[i]/2
	}
	return sum
}

// joint returns log(weight) + log density of each row in each component of a Gaussian mixture, row by row.
func joint(rows [][]float64, m *model.Model) (all [][]float64) {
	for _, row := range rows {
		own := make([]float64, m.K())
		for c := range own {
			x := m.Component(c)
			mean, at := x.Mean, row
			if p := model.Principal(m.Transform); p != nil {
				mean, at = m.Means[c], slices.Clone(row)
				for _, t := range m.Transform {
					at = t.Apply(at)
				}
			}
			own[c] = math.Log(x.Weight) + plainDensity(at, mean, x.Covariance.At)
		}
		all = append(all, own)
	}
	return all
}

// freeEnergy returns the free energy of responsibilities that from gives at beta, for the mixture whose joint log densities are of.
func freeEnergy(of, from [][]float64, beta float64) (f float64) {
	for i := range from {
		top, sum := slices.Max(from[i]), 0.0
		for _, v := range from[i] {
			sum += math.Exp(beta * (v - top))
		}
		for c, v := range from[i] {
			if q := math.Exp(beta*(v-top)) / sum; q > 0 {
				f += q * (of[i][c] - math.Log(q)/beta)
			}
		}
	}
	return f
}

// The model of every half step, in the user's units, has the free energy of that half step by a plain loop; components keep their places, and
// Order says where they end.
func TestTheModelOfEachHalfStepHasItsFreeEnergy(t *testing.T) {
	t.Parallel()
	src, info, err := data.Load(t.Context(), "@iris", data.Options{Exclude: []string{"species"}})
	if err != nil {
		t.Fatal(err)
	}
	table := src.(*data.Table)
	var rows [][]float64
	for i := range table.N {
		rows = append(rows, []float64{table.At(i, 0), table.At(i, 1), table.At(i, 2), table.At(i, 3)})
	}
	start := Spec{K: 3, Columns: info.Features, Algorithm: "em", Init: "k-means++", NInit: 1, MaxIter: new(12)}
	specs := map[string]Spec{"annealed": start, "scaled": start, "projected": start, "scaled and projected": start, "quasi-Newton": start, "hard": start}
	for name, change := range map[string]func(*Spec){
		"annealed":             func(s *Spec) { s.Algorithm, s.BetaSteps = "anti-annealing", 2 },
		"scaled":               func(s *Spec) { s.Scale = "standard" },
		"projected":            func(s *Spec) { s.PCA = 2 },
		"scaled and projected": func(s *Spec) { s.Scale, s.PCA = "robust", 3 },
		"quasi-Newton":         func(s *Spec) { s.Algorithm, s.MaxIter = "em-lbfgs", new(20) },
		"hard":                 func(s *Spec) { s.Algorithm = "hard-em" },
	} {
		s := specs[name]
		change(&s)
		specs[name] = s
	}
	for _, shape := range strings.Fields("VVV EEE VVI VII EEI EII VEI EVI VEE EVE VVE EEV VEV EVV") {
		s := start
		s.Covariance, s.Scale = shape, "standard"
		specs[shape] = s
	}
	for name, spec := range specs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var last *model.Model
			halves, steps := 0, 0
			r := mustFit(t, src, spec, Observer{Step: func(p Progress) {
				m, beta := p.Model(), p.Point.Beta
				if math.IsInf(beta, 1) {
					beta = 1e6
				}
				from := joint(rows, m)
				sameEnergy(t, fmt.Sprintf("step %d", p.Iteration), freeEnergy(from, from, beta), p.Point.F)
				if next := p.Next(); next != nil {
					sameEnergy(t, fmt.Sprintf("M of step %d", p.Iteration), freeEnergy(joint(rows, next), from, beta), p.Point.Lifted)
					halves++
				}
				last = m
				steps++
			}})
			if steps < 3 || name != "quasi-Newton" && halves < 2 {
				t.Fatalf("%d steps, %d of them with an M-step", steps, halves)
			}
			if r.Start != 1 || len(r.Order) != 3 {
				t.Fatalf("start %d, order %v", r.Start, r.Order)
			}
			for c, label := range r.Order {
				if last.Weights[c] != r.Model.Weights[label] || !slices.Equal(last.Means[c], r.Model.Means[label]) {
					t.Errorf("component %d of the climb is not group %d of the result", c, label+1)
				}
			}
		})
	}
}

// sameEnergy compares with the precision that sums of a few hundred logarithms have.
func sameEnergy(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-8*max(math.Abs(want), 1)) {
		t.Errorf("%s: free energy %v by a plain loop, %v told", what, got, want)
	}
}

// Every kind of model tells its steps: the model of a step gives the rows the objective of that step, and at the end its components are those of
// the result, in the order that Order tells.
func TestEveryKindTellsTheModelOfItsSteps(t *testing.T) {
	t.Parallel()
	counts := &data.Table{N: 60, D: 2}
	bits := &data.Table{N: 60, D: 3}
	levels := &data.Table{N: 60, D: 2}
	for i := range 60 {
		counts.F64 = append(counts.F64, float64(i%3*7+i%5), float64(i%2*9+i%4))
		bits.F64 = append(bits.F64, float64(i%2), float64(i/2%2), float64(i%2*(i%7/6)))
		levels.F64 = append(levels.F64, float64(i%3), float64((i+i/20)%2))
	}
	names := [][]string{{"a", "b", "c"}, {"no", "yes"}}
	given := modelOf(t, `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "diag", "columns": ["1", "2"], "weights": [0.25, 0, 0.75],
		"means": [[3, 3], [200, 1], [12, 9]], "covariances": [[4, 5], [1, 1], [6, 7]]}`)
	for name, c := range map[string]struct {
		src  data.Source
		spec Spec
	}{
		"kmeans":       {counts, Spec{Model: "kmeans", K: 3, Algorithm: "lloyd", NInit: 1}},
		"breathing":    {counts, Spec{Model: "kmeans", K: 5}},
		"minibatch":    {counts, Spec{Model: "kmeans", K: 3, Algorithm: "minibatch", BatchSize: 10, NInit: 1}},
		"penalty":      {counts, Spec{Model: "kmeans", Penalty: new(40.0)}},
		"scaled":       {counts, Spec{Model: "kmeans", K: 3, Algorithm: "lloyd", NInit: 1, Scale: "standard"}},
		"kmedians":     {counts, Spec{Model: "kmedians", K: 3, NInit: 1}},
		"poisson":      {counts, Spec{Model: "poisson", K: 2, NInit: 1}},
		"bernoulli":    {bits, Spec{Model: "bernoulli", K: 2, NInit: 1}},
		"categorical":  {levels, Spec{Model: "categorical", K: 2, NInit: 1, Levels: names}},
		"mixed":        {counts, Spec{Model: "mixed", K: 2, NInit: 1, Types: []data.Type{data.Number, data.Count}}},
		"transformed":  {counts, Spec{K: 2, NInit: 1, Transform: "log1p:1", Columns: []string{"1", "2"}, Covariance: "diag"}},
		"several":      {counts, Spec{K: 2, Covariance: "diag", NInit: 3, Algorithm: "em"}},
		"given":        {counts, Spec{K: 3, Init: "model", Given: given, Covariance: "diag", Columns: []string{"1", "2"}}},
		"split, merge": {counts, Spec{K: 4, Covariance: "spherical"}},
		"tiny units":   {nil, Spec{K: 2, NInit: 1, Algorithm: "em"}},
	} {
		if name == "tiny units" {
			small := *counts
			small.F64 = slices.Clone(counts.F64)
			for i := range small.F64 {
				small.F64[i] *= 0x1p-300
			}
			c.src = &small
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ends := map[int]*model.Model{}
			look := func(p Progress, m *model.Model) float64 {
				if err := m.Validate(); err != nil {
					t.Fatal(err)
				}
				total := 0.0
				if err := m.Rows(t.Context(), c.src, 1, func(s *model.Scored) error {
					for _, v := range s.LogDensity {
						total += v
					}
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				return total
			}
			r := mustTell(t, c.src, c.spec, Observer{Step: func(p Progress) {
				m := p.Model()
				want := p.Point.F
				if m.HasDensity() {
					want = p.Point.LogLik
				}
				if got := look(p, m); name != "minibatch" && name != "penalty" && !(math.Abs(got-want) <= 1e-9*max(1, math.Abs(want))) {
					t.Errorf("step %d of start %d: the rows have %v under its model, the step %v", p.Iteration, p.Start, got, want)
				}
				if next := p.Next(); next != nil {
					look(p, next)
				}
				ends[p.Start] = m
			}})
			end := ends[r.Start]
			if end == nil || len(r.Order) != r.K {
				t.Fatalf("start %d, order %v of %d groups", r.Start, r.Order, r.K)
			}
			for i, label := range r.Order {
				a, _ := json.Marshal(end.Component(i))
				b, _ := json.Marshal(r.Model.Component(label))
				a, b = []byte(strings.Replace(string(a), fmt.Sprintf(`"label":%d`, i+1), "", 1)), []byte(strings.Replace(string(b), fmt.Sprintf(`"label":%d`, label+1), "", 1))
				if string(a) != string(b) {
					t.Errorf("component %d of the climb is %s, group %d of the result %s", i, a, label+1, b)
				}
			}
		})
	}
}

// mustTell fits without the checks of mustFit, which are for some kinds only.
func mustTell(t *testing.T, src data.Source, spec Spec, see Observer) *Result {
	t.Helper()
	r, err := Fit(t.Context(), src, spec, see)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

package latent

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/sweep"
)

// chainReference is a file of testdata/oracle/hmm.
type chainReference struct {
	Data struct {
		Columns []string
		Rows    [][]float64
	}
	Lengths, Levels []int
	Cases           []struct {
		Name, Covariance string
		K                int
		Columns          []string
		Start            chainParameters
		LogLik           []float64 `json:"log_likelihood"`
		After            []struct {
			chainParameters
			Steps int
		}
		Free int `json:"free_parameters"`
	}
	Optimum []struct {
		chainParameters
		Name, Emission, Covariance string
		K                          int
		Columns                    []string
		LogLik                     float64 `json:"log_likelihood"`
		BIC                        float64
		Free                       int `json:"free_parameters"`
		Occupied                   []float64
		Errors                     *struct {
			Transitions [][]*float64
			Means       []float64
			Variances   []float64
		} `json:"standard_errors"`
	}
}

type chainParameters struct {
	parameters
	Initial       []float64
	Transitions   [][]float64
	Probabilities [][][]float64 // of each column, the levels in each state
}

// table returns the first d columns of the rows, in sequences.
func (r *chainReference) table(d int) *data.Table {
	t := &data.Table{N: len(r.Data.Rows), D: d}
	for _, row := range r.Data.Rows {
		t.F64 = append(t.F64, row[:d]...)
	}
	for s, n := range r.Lengths {
		t.Sequence = append(t.Sequence, slices.Repeat([]int32{int32(s)}, n)...)
	}
	return t
}

// natural returns the probabilities of a state's levels, column after column.
func (p *chainParameters) natural(state int) (all []float64) {
	for _, column := range p.Probabilities {
		all = append(all, column[state]...)
	}
	return all
}

// Steps of Baum and Welch are those of 50-digit arithmetic without logarithms or scaling, for Gaussian states of four shapes and for levels.
func TestBaumWelchStepsAgreeWithExactArithmetic(t *testing.T) {
	t.Parallel()
	const tol = 1e-9
	passed, cases := 0, 0
	for _, file := range []string{"nile", "generated", "letters"} {
		var ref chainReference
		readReference(t, "hmm/"+file+".json", &ref)
		for _, c := range ref.Cases {
			cases++
			ok := t.Run(file+" "+c.Name, func(t *testing.T) {
				d := len(ref.Data.Columns)
				if c.Columns != nil {
					d = len(c.Columns)
				}
				src, k := ref.table(d), c.K
				s := look(t, src)
				origin, levels := s.Origin(), ref.Levels != nil
				g := family.Gaussian{Var: s.Var}
				mix := &mixture.Mixture{Family: g, K: k, D: d, Chain: true}
				if levels {
					origin, mix.Family = make([]float64, d), family.Categorical{Levels: ref.Levels[:d]}
				} else {
					shape, err := family.ParseShape(c.Covariance)
					if err != nil {
						t.Fatal(err)
					}
					g.Shape = shape
					mix.Family = g
				}
				if mix.Free() != c.Free {
					t.Errorf("%d free parameters, want %d", mix.Free(), c.Free)
				}
				theta := make([]float64, mix.Params())
				mix.SetChainProbabilities(theta, c.Start.Initial, slices.Concat(c.Start.Transitions...))
				comp := mix.Components(theta)
				if levels {
					var p []float64
					for a := range k {
						p = append(p, c.Start.natural(a)...)
					}
					mix.Family.(family.Natural).FromNatural(comp, p, k)
				} else {
					for a := range k {
						for j := range d {
							comp[a*d+j] = c.Start.Means[a][j] - origin[j]
						}
					}
					for i := range g.Shape.Count(k) {
						g.Scale(g.ScaleOf(comp, i, k, d), flat(g.Shape, c.Start.Covariances, i, d), d)
					}
				}
				last := len(c.LogLik) - 1
				steps := climb(t, sweep.NewLocal(src, s.Rows, origin, 2), mix, theta, ascent.EM{Beta: 1, MaxIter: last, Ascends: true})
				for end := steps[len(steps)-1]; end.Done == ascent.FixedPoint && len(steps) <= last; { // further steps change no bit
					steps = append(steps, end)
				}
				for step, want := range c.LogLik {
					fixtures.Within(t, fmt.Sprintf("log-likelihood after %d steps", step), steps[step].Point.LogLik, want, tol*math.Abs(want))
				}
				for _, want := range c.After {
					theta := steps[want.Steps].Point.Theta
					comp := mix.Components(theta)
					initial, transitions := mix.ChainProbabilities(theta)
					for i, v := range append(initial, transitions...) {
						fixtures.Within(t, "initial or transition probability", v, append(want.Initial, slices.Concat(want.Transitions...)...)[i], tol)
					}
					if levels {
						p := mix.Family.(family.Natural).Natural(nil, comp, k)
						for a := range k {
							for i, v := range want.natural(a) {
								fixtures.Within(t, "probability of a level", p[a*len(p)/k+i], v, tol)
							}
						}
						continue
					}
					for i, v := range slices.Concat(want.Means...) {
						fixtures.Within(t, "mean", origin[i%d]+comp[i], v, tol*math.Sqrt(s.Var[i%d]))
					}
					for i := range g.Shape.Count(k) {
						got, w := make([]float64, g.Shape.Size(d)), flat(g.Shape, want.Covariances, i, d)
						g.Covariance(got, g.ScaleOf(comp, i, k, d), d)
						for at, unit := range units(g.Shape, w, d) {
							fixtures.Within(t, "covariance", got[at], w[at], tol*unit)
						}
					}
				}
				if last != 20 || len(c.After) != 4 {
					t.Errorf("%d steps and %d points, want 20 and 4", last, len(c.After))
				}
			})
			if ok {
				passed++
			}
		}
	}
	t.Logf("%d of %d cases", passed, cases)
	if passed != 7 || cases != 7 {
		t.Errorf("%d of %d cases passed, want 7", passed, cases)
	}
}

// spec returns the fit of an optimum of the reference, and the number of its columns.
func (r *chainReference) spec(at int) (s Spec, d int) {
	o := &r.Optimum[at]
	if d = len(r.Data.Columns); o.Columns != nil {
		d = len(o.Columns)
	}
	s = Spec{Model: "hmm", Emission: o.Emission, Covariance: o.Covariance, K: o.K}
	for j := range min(d, len(r.Levels)) {
		names := make([]string, r.Levels[j])
		for l := range names {
			names[l] = fmt.Sprint(l)
		}
		s.Levels = append(s.Levels, names)
	}
	return s, d
}

// Fits by default reach the best of 60 random starts, or a higher maximum: of levels there are two. The Nile in three states is the hardest, where a
// state of three rows must be found: 15 of 20 seeds find it, one of the two here.
func TestBestOptimaOfHiddenMarkovModels(t *testing.T) {
	t.Parallel()
	reached, fits, higher := 0, 0, 0
	for _, file := range []string{"nile", "generated", "letters"} {
		var ref chainReference
		readReference(t, "hmm/"+file+".json", &ref)
		for i, o := range ref.Optimum {
			s, d := ref.spec(i)
			src, name := ref.table(d), fmt.Sprintf("%s %s", file, o.Name)
			s.Tol = new(1e-5)
			for seed := range uint64(2) {
				s.Seed = new(seed + 1)
				r := mustFit(t, src, s)
				fits++
				if r.FreeParameters != o.Free || r.Sequences != int64(len(ref.Lengths)) {
					t.Errorf("%s: %d parameters, want %d; %d sequences", name, r.FreeParameters, o.Free, r.Sequences)
				}
				switch d := *r.LogLik - o.LogLik; {
				case d < -1e-5 && o.K == 3 && file == "nile":
					continue
				case d < -1e-5:
					t.Errorf("%s, seed %d: log-likelihood %v, the best known is %v", name, seed+1, *r.LogLik, o.LogLik)
					continue
				case d > 1e-5:
					higher++
					reached++
					continue
				}
				reached++
				fixtures.Within(t, name+": BIC", *r.BIC, o.BIC, 1e-4)
				if o.K == 4 { // states of the reference are not in order of their rows
					continue
				}
				for a := range o.K {
					fixtures.Within(t, name+": share of rows", r.Components[a].Weight, o.Occupied[a], 1e-3)
					fixtures.Within(t, name+": initial probability", r.Initial[a], o.Initial[a], 1e-3)
					for b := range o.K {
						fixtures.Within(t, name+": transition probability", r.Transitions[a][b], o.Transitions[a][b], 1e-3)
					}
				}
				if o.Errors != nil {
					chainErrors(t, r, o.Errors.Transitions, o.Errors.Means, o.Errors.Variances)
				}
			}
		}
	}
	t.Logf("%d of %d fits reached, %d higher", reached, fits, higher)
	if fits != 20 || reached < 19 || higher < 4 {
		t.Errorf("%d of %d fits reached, %d higher; want 19 of 20 and 4", reached, fits, higher)
	}
}

// chainErrors compares standard errors with those of the reference, which are those of second derivatives; nil where a probability is 0 or 1.
func chainErrors(t *testing.T, r *Result, transitions [][]*float64, means, variances []float64) {
	t.Helper()
	e := r.StandardErrors
	for a, row := range transitions {
		for b, want := range row {
			got := e.Transitions[a][b]
			if want == nil {
				if got == got {
					t.Errorf("transition %d, %d has the standard error %v", a, b, got)
				}
				continue
			}
			fixtures.Within(t, "standard error of a transition", got, *want, 1e-4**want)
		}
		if !math.IsNaN(e.Initial[a]) {
			t.Errorf("an initial probability of 0 or 1 has the standard error %v", e.Initial[a])
		}
		fixtures.Within(t, "standard error of a mean", e.Means[a][0], means[a], 1e-4*means[a])
		fixtures.Within(t, "standard error of a variance", e.Covariance[a][0], variances[a], 1e-4*variances[a])
	}
	if e.Method != "observed information" {
		t.Errorf("standard errors are those of %s", e.Method)
	}
}

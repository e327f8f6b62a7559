package latent

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
)

// walks returns so many sequences of n rows of d numbers, from two states that are left once in ten rows and whose rows are 4 standard deviations
// apart.
func walks(sequences, n, d int) *data.Table {
	t, rng := &data.Table{D: d, N: sequences * n}, rand.New(rand.NewPCG(17, 19))
	for s := range sequences {
		state := rng.IntN(2)
		for range n {
			if rng.IntN(10) == 0 {
				state = 1 - state
			}
			for range d {
				t.F64 = append(t.F64, 4*float64(state)+rng.NormFloat64())
			}
			t.Sequence = append(t.Sequence, int32(s))
		}
	}
	return t
}

// Every driver that climbs arrives at the same maximum, and says so.
func TestDriversOfHiddenMarkovModelsAgree(t *testing.T) {
	t.Parallel()
	src := walks(6, 40, 2)
	want := mustFit(t, src, Spec{Model: "hmm", K: 2, Algorithm: "em", Tol: new(1e-6)})
	for _, a := range []string{"auto", "em-lbfgs", "squarem", "anti-annealing", "bfgs", "lbfgs", "ecg"} {
		r := mustFit(t, src, Spec{Model: "hmm", K: 2, Algorithm: a, NInit: 2})
		fixtures.Within(t, a+": log-likelihood", *r.LogLik, *want.LogLik, 1e-4)
		if !r.Converged || r.Certificate.DistanceSE == nil || !(*r.Certificate.DistanceSE < 0.01) {
			t.Errorf("%s: converged %v, distance %v", a, r.Converged, r.Certificate.DistanceSE)
		}
	}
}

// A model file is the same for any number of threads, and a fit that goes on from it stands still.
func TestHiddenMarkovModelsAreTheSameForAnyThreads(t *testing.T) {
	t.Parallel()
	src := walks(3, 700, 2)
	var first []byte
	for _, threads := range []int{1, 2, 5} {
		r := mustFit(t, src, Spec{Model: "hmm", K: 2, Threads: threads})
		var file bytes.Buffer
		if _, err := r.Model.WriteTo(&file); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = file.Bytes()
		}
		if !bytes.Equal(file.Bytes(), first) {
			t.Errorf("%d threads: another model file", threads)
		}
		again := mustFit(t, src, Spec{Model: "hmm", K: 2, Init: "model", Given: r.Model})
		if again.Iterations > 1 || math.Abs(*again.LogLik-*r.LogLik) > 1e-6 {
			t.Errorf("%d steps from the model of the same rows, log-likelihood %v, want %v", again.Iterations, *again.LogLik, *r.LogLik)
		}
	}
}

// States can be of every kind of mixture, with cells missing and rows without any.
func TestStatesOfEveryKind(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(23, 29))
	levels := [][]string{{"a", "b", "c"}, {"x", "y", "z"}}
	for _, c := range []struct {
		spec Spec
		cell func(state, j int) float64
	}{
		{Spec{Covariance: "VVE"}, func(state, _ int) float64 { return 3*float64(state) + rng.NormFloat64() }},
		{Spec{Covariance: "tied"}, func(state, _ int) float64 { return 3*float64(state) + rng.NormFloat64() }},
		{Spec{Emission: "t"}, func(state, _ int) float64 {
			return 4*float64(state) + rng.NormFloat64()/math.Sqrt(rng.ExpFloat64()+0.1)
		}},
		{Spec{Emission: "bernoulli"}, func(state, _ int) float64 { return math.Floor(rng.Float64() + 0.2 + 0.6*float64(state)) }},
		{Spec{Emission: "categorical", Levels: levels}, func(state, _ int) float64 { return float64(max(rng.IntN(3), rng.IntN(1+2*state))) }},
		{Spec{Emission: "poisson"}, func(state, _ int) float64 { return math.Floor(rng.ExpFloat64() * float64(1+5*state)) }},
		{Spec{Emission: "mixed", Types: []data.Type{data.Number, data.Category}, Levels: [][]string{nil, levels[1]}}, func(state, j int) float64 {
			if j == 1 {
				return float64(max(rng.IntN(3), rng.IntN(1+2*state)))
			}
			return 3*float64(state) + rng.NormFloat64()
		}},
	} {
		for _, gaps := range []bool{false, true} {
			src, state := &data.Table{D: 2}, 0
			for s := range 8 {
				for range 30 {
					if rng.IntN(8) == 0 {
						state = 1 - state
					}
					empty := gaps && rng.IntN(12) == 0
					for j := range 2 {
						x := c.cell(state, j)
						if empty || gaps && rng.IntN(6) == 0 {
							x = math.NaN()
						}
						src.F64 = append(src.F64, x)
					}
					src.Sequence = append(src.Sequence, int32(s))
					src.N++
				}
			}
			spec := c.spec
			spec.Model, spec.K = "hmm", 2
			name := fmt.Sprintf("%s %s, gaps %v", spec.Emission, spec.Covariance, gaps)
			r := fitted(t, src, spec)
			if !r.Converged || r.Sequences != 8 || r.StandardErrors == nil || r.StandardErrors.Why != "" {
				t.Errorf("%s: converged %v, %d sequences, standard errors %+v", name, r.Converged, r.Sequences, r.StandardErrors)
			}
			plain := spec
			plain.Model, plain.Emission = cmp.Or(spec.Emission, "gmm"), ""
			rows := *src
			rows.Sequence = nil
			if p := fitted(t, &rows, plain); !(*r.LogLik > *p.LogLik+3) {
				t.Errorf("%s: a chain explains the rows by %v nats, the mixture by %v", name, *r.LogLik, *p.LogLik)
			}
		}
	}
}

// fitted is mustFit for rows of which some have no cell, which are labelled all the same.
func fitted(t *testing.T, src data.Source, spec Spec) *Result {
	t.Helper()
	r, err := Fit(context.Background(), src, spec)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A prior of transitions draws their probabilities to each other, and its weight is that of pseudo-moves.
func TestPriorOfTransitions(t *testing.T) {
	t.Parallel()
	src := walks(6, 40, 1)
	plain := mustFit(t, src, Spec{Model: "hmm", K: 2, Tol: new(1e-6)})
	flat := mustFit(t, src, Spec{Model: "hmm", K: 2, Prior: &Prior{}, Tol: new(1e-6)})
	drawn := mustFit(t, src, Spec{Model: "hmm", K: 2, Prior: &Prior{Transitions: new(21.0), Weights: new(3.0)}, Tol: new(1e-6)})
	for a := range 2 {
		if !(drawn.Transitions[a][1-a] > flat.Transitions[a][1-a]+0.02) {
			t.Errorf("state %d is left with probability %v under a prior, %v without", a, drawn.Transitions[a][1-a], plain.Transitions[a][1-a])
		}
	}
	// At the maximum each row of transitions is that of moves and 20 pseudo-moves, so that one plain step from there takes these off again.
	step := mustFit(t, src, Spec{Model: "hmm", K: 2, Init: "model", Given: drawn.Model, Algorithm: "em", MaxIter: new(1)})
	for a := range 2 {
		moves := 234 * drawn.Components[a].Weight // of 240 rows but the last of each sequence, which are like the others here
		fixtures.Within(t, "share of moves", step.Transitions[a][a], (drawn.Transitions[a][a]*(moves+40)-20)/moves, 0.01)
	}
	if drawn.Prior.Transitions == nil || *drawn.Prior.Transitions != 21 || *drawn.LogLik > *plain.LogLik {
		t.Errorf("the prior is told as %+v; log-likelihood %v, without a prior %v", drawn.Prior, *drawn.LogLik, *plain.LogLik)
	}
}

// A bootstrap draws whole sequences, and the number of states can be chosen.
func TestBootstrapAndChoiceOfHiddenMarkovModels(t *testing.T) {
	t.Parallel()
	src := walks(12, 30, 2)
	r := mustFit(t, src, Spec{Model: "hmm", KRange: [2]int{1, 3}, Covariance: "diag,spherical", Bootstrap: 6})
	if r.K != 2 || len(r.Candidates) != 6 {
		t.Errorf("%d states of %d candidates, want 2 of 6", r.K, len(r.Candidates))
	}
	if s := r.Stability; s == nil || s.Done != 6 || !(*s.ARI > 0.9) {
		t.Errorf("stability is %+v", s)
	}
	one := walks(1, 60, 2)
	_, err := Fit(context.Background(), one, Spec{Model: "hmm", K: 2, Bootstrap: 6})
	if err == nil || !strings.Contains(err.Error(), "only one") {
		t.Errorf("a bootstrap of one sequence: %v", err)
	}
}

// A fit that ends early is returned though its bootstrap cannot begin.
func TestAnInterruptionBeforeABootstrapOfSequencesLeavesTheFit(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := Fit(ctx, walks(12, 30, 2), Spec{Model: "hmm", K: 2, Bootstrap: 6}, Observer{Step: func(Progress) { cancel() }})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Interrupted || r.Stability == nil || !r.Stability.Interrupted || r.Stability.Done != 0 {
		t.Errorf("interrupted %v, stability %+v", r.Interrupted, r.Stability)
	}
}

// A stream whose sequences are whole is fitted as the same rows in memory, with the same bits.
func TestHiddenMarkovModelsOfStreams(t *testing.T) {
	t.Parallel()
	src := walks(5, 500, 2)
	want := mustFit(t, src, Spec{Model: "hmm", K: 2})
	r, err := Fit(context.Background(), data.Scaled(src, []float64{0, 0}, []float64{1, 1}), Spec{Model: "hmm", K: 2})
	if err != nil {
		t.Fatal(err)
	}
	if *r.LogLik != *want.LogLik || !slices.EqualFunc(r.Transitions, want.Transitions, slices.Equal[[]float64]) {
		t.Errorf("log-likelihood %v and transitions %v, in memory %v and %v", *r.LogLik, r.Transitions, *want.LogLik, want.Transitions)
	}
}

// What a hidden Markov model has no use for is refused, by the field.
func TestWhatHiddenMarkovModelsRefuse(t *testing.T) {
	t.Parallel()
	src := walks(3, 20, 1)
	uneven := *src
	uneven.W = slices.Repeat([]float64{1}, src.N)
	uneven.W[3] = 2
	apart := *src
	apart.Sequence = slices.Clone(src.Sequence)
	apart.Sequence[5] = 2
	for _, c := range []struct {
		src  *data.Table
		spec Spec
		says string
	}{
		{src, Spec{Emission: "gmm"}, "is the kind of the states"},
		{src, Spec{Model: "hmm", Emission: "kmeans"}, "is not known"},
		{src, Spec{Model: "hmm", Emission: "hmm"}, "is not known"},
		{src, Spec{Model: "hmm", Algorithm: "hard-em"}, "hard-em does not go with"},
		{src, Spec{Model: "hmm", Algorithm: "vb"}, "vb does not go with"},
		{src, Spec{Model: "hmm", Noise: "auto"}, "Noise does not go with"},
		{src, Spec{Model: "hmm", Weights: "uniform"}, "initial and transition probabilities"},
		{src, Spec{Model: "hmm", Merge: "overlap"}, "are not merged"},
		{src, Spec{Model: "hmm", LRT: 9}, "tests mixtures"},
		{src, Spec{Model: "hmm", KeepSums: true}, "sequences of their own"},
		{src, Spec{Model: "hmm", KRange: [2]int{1, 3}, Criterion: "silhouette"}, "hmm has bic, aic and icl"},
		{src, Spec{Prior: &Prior{Transitions: new(2.0)}}, "are of a hidden Markov model"},
		{src, Spec{Model: "hmm", Prior: &Prior{Transitions: new(0.5)}}, "must be 1 or more"},
		{&uneven, Spec{Model: "hmm"}, "row 4: its weight is 2"},
		{&apart, Spec{Model: "hmm"}, "rows of a sequence stand together"},
	} {
		if c.spec.KRange == [2]int{} {
			c.spec.K = 2
		}
		if _, err := Fit(context.Background(), c.src, c.spec); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: the error is %v, want %q in it", c.spec, err, c.says)
		}
	}
}

// Steps are seen as they are made, each with its model, and neither half of one lowers the free energy.
func TestStepsOfHiddenMarkovModelsAreSeen(t *testing.T) {
	t.Parallel()
	src, last, seen := walks(6, 40, 2), math.Inf(-1), 0
	r := mustFit(t, src, Spec{Model: "hmm", K: 2, Algorithm: "em", NInit: 1}, Observer{Step: func(p Progress) {
		seen++
		m := p.Model()
		if !m.IsChain() || len(m.Transitions) != 2 || len(m.Weights) != 2 {
			t.Errorf("a step has the model %+v", m)
		}
		if p.Point.F < last-1e-9*math.Abs(last) {
			t.Errorf("the E-step lowers the free energy from %v to %v", last, p.Point.F)
		}
		if last = p.Point.F; p.InHalves() {
			if p.Point.Lifted < last-1e-9*math.Abs(last) {
				t.Errorf("the M-step lowers the free energy from %v to %v", last, p.Point.Lifted)
			}
			last = p.Point.Lifted
		}
	}})
	if seen < 3 || math.Abs(last-*r.LogLik) > 1e-6 {
		t.Errorf("%d steps to %v, log-likelihood %v", seen, last, *r.LogLik)
	}
}

package chain_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/chain"
	"github.com/latent-go/latent/internal/kern"
)

// paths is what all paths through n rows say, by going through each of them.
type paths struct {
	total, best           float64
	smoothed, moves, path []float64
}

// enumerate goes through all paths of states: the definition, in the slowest way.
func enumerate(initial, transitions, scores []float64, k, n int) (r paths) {
	r = paths{best: math.Inf(-1), smoothed: make([]float64, n*k), moves: make([]float64, k*k)}
	z := make([]int, n)
	for at := 0; at < int(math.Pow(float64(k), float64(n))); at++ {
		l := math.Log(initial[at%k])
		for t, rest := 0, at; t < n; t, rest = t+1, rest/k {
			z[t] = rest % k
			if l += scores[t*k+z[t]]; t > 0 {
				l += math.Log(transitions[z[t-1]*k+z[t]])
			}
		}
		p := math.Exp(l)
		if r.total += p; l > r.best {
			r.best, r.path = l, nil
			for _, c := range z {
				r.path = append(r.path, float64(c))
			}
		}
		for t, c := range z {
			if r.smoothed[t*k+c] += p; t > 0 {
				r.moves[z[t-1]*k+c] += p
			}
		}
	}
	for _, s := range [][]float64{r.smoothed, r.moves} {
		for i := range s {
			s[i] /= r.total
		}
	}
	return r
}

// padded lays rows of k numbers out with a stride.
func padded(rows []float64, k int) (all []float64) {
	for row := range slices.Chunk(rows, k) {
		all = append(append(all, row...), make([]float64, kern.Pad(k)-k)...)
	}
	return all
}

func shares(rng *rand.Rand, k int) (p []float64) {
	sum := 0.0
	for range k {
		p = append(p, rng.Float64())
		sum += p[len(p)-1]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

func within(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// The recursions give what all paths give together, with any number of states, zeros among the probabilities, scores at any height, and a row of
// which nothing is known.
func TestRecursionsAreSumsOverAllPaths(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ k, n int }{{1, 1}, {1, 4}, {2, 1}, {2, 9}, {3, 7}, {4, 5}, {9, 4}, {17, 3}} {
		for _, zero := range []bool{false, true} {
			k, n := c.k, c.n
			initial := shares(rng, k)
			var transitions []float64
			for a := range k {
				row := shares(rng, k)
				if zero && k > 1 {
					row[(a+1)%k], row[a] = 0, row[a]+row[(a+1)%k]
				}
				transitions = append(transitions, row...)
			}
			scores := make([]float64, n*k)
			for i := range scores {
				scores[i] = 3*rng.NormFloat64() - 2
			}
			if n > 2 {
				clear(scores[k : 2*k])
			}
			want := enumerate(initial, transitions, scores, k, n)
			m, s := chain.New(initial, transitions), new(chain.Sequence)
			if err := m.Smooth(s, padded(scores, k)); err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, l := range s.LogDensity {
				sum += l
			}
			within(t, "log-likelihood", sum, math.Log(want.total), 1e-11)
			for i, v := range padded(want.smoothed, k) {
				within(t, "smoothed", s.Smoothed[i], v, 1e-12)
			}
			for i, v := range want.moves {
				within(t, "moves", s.Moves[i], v, 1e-12)
			}
			path := make([]int32, n)
			l, err := m.Viterbi(path, padded(scores, k))
			if err != nil {
				t.Fatal(err)
			}
			within(t, "best path", l, want.best, 1e-11)
			for i, v := range want.path {
				within(t, "state of the best path", float64(path[i]), v, 0)
			}
			for i := range kern.Pad(k) { // nothing follows the last row
				within(t, "filtered at the end", s.Filtered[(n-1)*m.Stride+i], s.Smoothed[(n-1)*m.Stride+i], 1e-14)
			}
			for to := 1; to < n; to++ { // what is filtered is what is smoothed where the rows end
				cut := enumerate(initial, transitions, scores[:to*k], k, to)
				for a := range k {
					within(t, "filtered", s.Filtered[(to-1)*m.Stride+a], cut.smoothed[(to-1)*k+a], 1e-12)
				}
			}
		}
	}
}

// The recursions with logarithms give the same as the scaled ones.
func TestLogarithmsAgreeWithScaledRows(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	const k, n = 5, 400
	initial, transitions, stride := shares(rng, k), []float64(nil), kern.Pad(k)
	for range k {
		transitions = append(transitions, shares(rng, k)...)
	}
	logs, b := make([]float64, n*stride), make([]float64, n*stride)
	for t := range n {
		for a := range k {
			logs[t*stride+a] = -20 * rng.Float64()
			b[t*stride+a] = math.Exp(logs[t*stride+a])
		}
	}
	m := chain.New(initial, transitions)
	alpha, c, beta, moves := make([]float64, n*stride), make([]float64, n), slices.Repeat([]float64{1}, stride), make([]float64, stride*stride)
	if !m.Forward(alpha, c, b, nil) {
		t.Fatal("the scaled recursion gave up")
	}
	gamma := make([]float64, n*stride)
	m.Backward(gamma, beta, alpha, c, b)
	m.AddMoves(moves, alpha, b, nil)
	made := make([]float64, k*k)
	m.Moves(made, moves)
	alphaL, cL, betaL, madeL := make([]float64, n*stride), make([]float64, n), make([]float64, stride), make([]float64, k*k)
	m.LogForward(alphaL, cL, logs, nil)
	m.LogBackward(alphaL, madeL, betaL, alphaL, cL, logs, nil)
	for i, v := range gamma {
		within(t, "gamma", alphaL[i], v, 1e-12)
	}
	for i, v := range c {
		within(t, "c", cL[i], math.Log(v), 1e-12)
	}
	for i, v := range made {
		within(t, "moves", madeL[i], v, 1e-10)
	}
}

// A sequence that is done in two parts is one.
func TestASequenceInParts(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	const k, n, cut = 10, 50, 17
	initial, transitions, stride := shares(rng, k), []float64(nil), kern.Pad(k)
	for range k {
		transitions = append(transitions, shares(rng, k)...)
	}
	b := make([]float64, n*stride)
	for t := range n {
		for a := range k {
			b[t*stride+a] = rng.Float64()
		}
	}
	m := chain.New(initial, transitions)
	run := func(cuts ...int) (gamma, moves []float64) {
		alpha, c, beta := make([]float64, n*stride), make([]float64, n), slices.Repeat([]float64{1}, stride)
		moves = make([]float64, stride*stride)
		gamma, own := make([]float64, n*stride), slices.Clone(b)
		var past [][]float64
		for i, lo := range cuts[:len(cuts)-1] {
			var before []float64
			if lo > 0 {
				before = slices.Clone(alpha[(lo-1)*stride : lo*stride])
			}
			past = append(past, before)
			if hi := cuts[i+1]; !m.Forward(alpha[lo*stride:hi*stride], c[lo:hi], b[lo*stride:hi*stride], before) {
				t.Fatal("the scaled recursion gave up")
			}
		}
		for i := len(past) - 1; i >= 0; i-- {
			lo, hi := cuts[i], cuts[i+1]
			m.Backward(gamma[lo*stride:hi*stride], beta, alpha[lo*stride:hi*stride], c[lo:hi], own[lo*stride:hi*stride])
			m.AddMoves(moves, alpha[lo*stride:hi*stride], own[lo*stride:hi*stride], past[i])
		}
		return gamma, moves
	}
	gamma, moves := run(0, n)
	gammaParts, movesParts := run(0, cut, n)
	for i, v := range gamma {
		within(t, "gamma", gammaParts[i], v, 1e-14)
	}
	for i, v := range moves {
		within(t, "moves", movesParts[i], v, 1e-12)
	}
}

// The models of the reference on which scaled rows of float64 divide by 0 give what 50-digit arithmetic gives.
func TestAwkwardModelsAgreeWithExactArithmetic(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../testdata/oracle/hmm/awkward.json")
	if err != nil {
		t.Fatal(err)
	}
	var ref struct {
		Cases []struct {
			Name    string
			Rows    [][]float64
			Lengths []int
			K       int
			Model   struct {
				Initial     []float64
				Transitions [][]float64
				Means       [][]float64
				Covariances []float64
			}
			LogLik   float64 `json:"log_likelihood"`
			Smoothed [][]float64
			Moves    [][]float64 `json:"expected_transitions"`
			Viterbi  []int32
			Best     float64 `json:"viterbi_log_probability"`
		}
	}
	if err := json.Unmarshal(text, &ref); err != nil {
		t.Fatal(err)
	}
	passed := 0
	for _, c := range ref.Cases {
		ok := t.Run(c.Name, func(t *testing.T) {
			k := c.K
			m, s := chain.New(c.Model.Initial, slices.Concat(c.Model.Transitions...)), new(chain.Sequence)
			logLik, best, moves, at := 0.0, 0.0, make([]float64, k*k), 0
			for _, n := range c.Lengths {
				var scores []float64
				for _, row := range c.Rows[at : at+n] {
					for a := range k {
						v := c.Model.Covariances[a]
						scores = append(scores, -(row[0]-c.Model.Means[a][0])*(row[0]-c.Model.Means[a][0])/(2*v)-math.Log(2*math.Pi*v)/2)
					}
				}
				if err := m.Smooth(s, padded(scores, k)); err != nil {
					t.Fatal(err)
				}
				for i := range n {
					logLik += s.LogDensity[i]
					for a := range k {
						within(t, "smoothed", s.Smoothed[i*m.Stride+a], c.Smoothed[at+i][a], 1e-10)
					}
				}
				for i, v := range s.Moves {
					moves[i] += v
				}
				path := make([]int32, n)
				l, err := m.Viterbi(path, padded(scores, k))
				if best += l; err != nil || !slices.Equal(path, c.Viterbi[at:at+n]) {
					t.Errorf("the likeliest path is %v, want %v (%v)", path, c.Viterbi[at:at+n], err)
				}
				at += n
			}
			within(t, "log-likelihood", logLik, c.LogLik, 1e-10*math.Abs(c.LogLik))
			within(t, "log density of the likeliest path", best, c.Best, 1e-10*math.Abs(c.Best))
			for i, v := range slices.Concat(c.Moves...) {
				within(t, "expected moves", moves[i], v, 1e-10)
			}
		})
		if ok {
			passed++
		}
	}
	if passed != 4 {
		t.Errorf("%d of 4 models passed", passed)
	}
}

// A state that is lost below float64 long before it is needed is found again: no other state leads to it.
func TestAStateThatIsLostIsFoundAgain(t *testing.T) {
	t.Parallel()
	const k, n = 2, 300
	m, s := chain.New([]float64{0.5, 0.5}, []float64{1, 0, 0, 1}), new(chain.Sequence)
	var scores []float64
	for i := range n {
		if i < n/2 { // 10 nats a row against the second state, and then more than that for it
			scores = append(scores, 0, -10)
		} else {
			scores = append(scores, -11, 0)
		}
	}
	if err := m.Smooth(s, padded(scores, k)); err != nil {
		t.Fatal(err)
	}
	within(t, "the second state at the beginning", s.Smoothed[1], 1, 1e-12)
}

// Rows that no path explains are an error that says which.
func TestWhatNoPathExplains(t *testing.T) {
	t.Parallel()
	m, s := chain.New([]float64{1, 0}, []float64{1, 0, 0.5, 0.5}), new(chain.Sequence)
	scores := padded([]float64{0, 0, math.Inf(-1), 0, 0, 0}, 2)
	want := &chain.ImpossibleError{Row: 1}
	for _, err := range []error{m.Filter(s, scores), m.Smooth(s, scores)} {
		if err == nil || err.Error() != want.Error() {
			t.Errorf("the error is %v, want %v", err, want)
		}
	}
	if _, err := m.Viterbi(make([]int32, 3), scores); err == nil || err.Error() != want.Error() {
		t.Errorf("the error is %v, want %v", err, want)
	}
}

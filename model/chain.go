package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/text"
)

// ChainKind is the Kind of a hidden Markov model: the name of --model, and of "model" in a model file.
const ChainKind = "hmm"

// IsChain reports whether the model is a hidden Markov model: rows belong to sequences, and the labels of a sequence are a Markov chain.
func (m *Model) IsChain() bool { return m.Kind == ChainKind }

// ComponentKind returns the name of the kind of the components: the Kind, and of a hidden Markov model the Emission.
func (m *Model) ComponentKind() string {
	if m.IsChain() {
		return m.Emission
	}
	return m.Kind
}

// called says for an error what kind of model m is: "a gmm model", "a hidden Markov model with gmm emissions".
func (m *Model) called() string {
	if m.IsChain() {
		return "a hidden Markov model with " + m.Emission + " emissions"
	}
	return "a " + m.Kind + " model"
}

// states returns the mixture of the densities of a chain's states, with the shares of rows for weights: what rows are if nothing is known of
// their order. It is m itself elsewhere, and shares memory with m.
func (m *Model) states() *Model {
	if !m.IsChain() {
		return m
	}
	own := *m
	own.Kind, own.Emission, own.Initial, own.Transitions, own.Sequence, own.Time = m.Emission, "", nil, nil, "", ""
	own.StandardErrors, own.Provenance = nil, nil
	return &own
}

// emissions returns states with equal weights, by which all of them are scored.
func (m *Model) emissions() *Model {
	own := m.states()
	own.Weights = make([]float64, m.K())
	for c := range own.Weights {
		own.Weights[c] = 1 / float64(m.K())
	}
	return own
}

// alone refuses a chain where a row is looked at by itself, and says what does that instead.
func (m *Model) alone(what, instead string) error {
	if m.IsChain() {
		return fmt.Errorf("a hidden Markov model %s, since each depends on those before it; %s", what, instead)
	}
	return nil
}

// stay returns the mean number of rows that a stay in state c lasts; nil for a state that is never left.
func (m *Model) stay(c int) *float64 {
	leaves := 0.0 // 1 - A_cc, from the others: it may be small
	for b, p := range m.Transitions[c] {
		if b != c {
			leaves += p
		}
	}
	if leaves == 0 {
		return nil
	}
	return new(1 / leaves)
}

// LongRun returns the share of rows that each state of a hidden Markov model has in a sequence without end that begins as Initial says: the mean
// of p A^t over t = 0, 1, 2 and on. They add up to 1, in memory of their own. It is nil for other models.
func (m *Model) LongRun() []float64 {
	if !m.IsChain() {
		return nil
	}
	k := m.K()
	half := make([][]float64, k) // (I + A)/2 has the same mean, and powers that converge to it
	for a, row := range m.Transitions {
		half[a] = make([]float64, k)
		for b, p := range row {
			half[a][b] = p / 2
		}
		half[a][a] += 0.5
	}
	for range 64 { // doubles the time: 2^64 rows
		next := make([][]float64, k)
		for a := range next {
			next[a] = make([]float64, k)
			for b, p := range half[a] {
				for c, q := range half[b] {
					next[a][c] += p * q
				}
			}
			normalise(next[a])
		}
		half = next
	}
	share := make([]float64, k)
	for a, p := range m.Initial {
		for b, q := range half[a] {
			share[b] += p * q
		}
	}
	normalise(share)
	return share
}

// normalise divides numbers by their sum.
func normalise(p []float64) {
	sum := 0.0
	for _, v := range p {
		sum += v
	}
	for i := range p {
		p[i] /= sum
	}
}

// checkChain wants probabilities of states that add up to 1, as many as there are states, and nothing that a chain cannot have.
func (m *Model) checkChain() error {
	wrong := fmt.Errorf
	k := len(m.Initial)
	switch {
	case !m.IsChain() && (m.Emission != "" || m.Initial != nil || m.Transitions != nil || m.Sequence != "" || m.Time != ""):
		return wrong("emission, initial, transitions, sequence and time are of a hidden Markov model (%s), and this is a %s model", ChainKind, m.Kind)
	case !m.IsChain():
		return nil
	case !m.kind().Mixture:
		return wrong("emission: a %s model has no density for the rows of a state; it must be a mixture", m.Emission)
	case k == 0:
		return wrong("initial: there must be at least one")
	case len(m.Transitions) != k:
		return wrong("transitions: %s for %s; there must be one for each", text.There(len(m.Transitions), "row"), text.Count(k, "state"))
	case m.Noise != nil || m.Clusters != nil || m.Posterior != nil || m.Sums != nil:
		return wrong("noise, clusters, posterior and sums: a hidden Markov model can have none")
	}
	for a, row := range m.Transitions {
		if len(row) != k {
			return wrong("transitions: row %d has %d numbers for %s", a+1, len(row), text.Count(k, "state"))
		}
		if err := checkShares(row); err != nil {
			return fmt.Errorf("transitions: row %d: %w", a+1, err)
		}
	}
	if err := checkShares(m.Initial); err != nil {
		return fmt.Errorf("initial: %w", err)
	}
	for _, r := range []struct{ key, name string }{{"sequence", m.Sequence}, {"time", m.Time}} {
		if r.name != "" && slices.Contains(m.Columns, r.name) {
			return wrong("%s: column %q is one of the columns of the model", r.key, r.name)
		}
	}
	if m.Sequence != "" && m.Sequence == m.Time {
		return wrong("time: column %q cannot tell sequences apart and be the time in them", m.Time)
	}
	return nil
}

// checkShares wants probabilities that add up to 1.
func checkShares(p []float64) error {
	sum := 0.0
	for i, v := range p {
		if !(v >= 0) {
			return fmt.Errorf("number %d is %v; probabilities must not be negative", i+1, v)
		}
		sum += v
	}
	if !(math.Abs(sum-1) <= 1e-6) {
		return fmt.Errorf("they sum to %v, not to 1", sum)
	}
	return nil
}

// chain reads what a hidden Markov model has beside the densities of its states.
func (r *modelReader) chain(m *Model) {
	m.Emission = r.word("emission")
	r.optionalWord("sequence", &m.Sequence)
	r.optionalWord("time", &m.Time)
	m.Initial = r.numbers("initial")
	m.Transitions = r.rows("transitions")
	if m.Emission == ChainKind && r.err == nil {
		r.err = fmt.Errorf("emission: it is the kind of the states' densities, such as gmm, and cannot be %s again", ChainKind)
	}
	if r.err == nil && m.kind() == nil {
		r.err = fmt.Errorf("emission: %s", unknownName(m.Emission))
	}
	m.Weights = r.optional("weights")
	if r.err == nil {
		r.err = m.checkChain()
	}
	if r.err == nil && m.Weights == nil {
		m.Weights = m.LongRun()
	}
}

// optionalWord reads a text that may be absent.
func (r *modelReader) optionalWord(key string, into *string) {
	if r.keys[key] == nil || string(r.keys[key]) == "null" {
		delete(r.keys, key)
		return
	}
	if *into = r.word(key); *into == "" && r.err == nil {
		r.err = fmt.Errorf("%s: it is empty; it must be the name of a column", key)
	}
}

// reorderChain gives own, a copy of m, its states in another order.
func (own *Model) reorderChain(m *Model, order []int) {
	own.Initial, own.Transitions = picked(m.Initial, order), nil
	for _, a := range order {
		own.Transitions = append(own.Transitions, picked(m.Transitions[a], order))
	}
}

// chain writes what a hidden Markov model has beside the densities of its states.
func (w *modelWriter) chain(m *Model) {
	if m.Sequence != "" {
		w.key("sequence", m.Sequence)
	}
	if m.Time != "" {
		w.key("time", m.Time)
	}
	w.key("initial", m.Initial)
	w.lines("transitions", m.Transitions)
}

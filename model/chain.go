package model

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

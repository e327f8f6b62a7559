package kind

// PartNoun is what a component of a model is called: a group, of a hidden Markov model, a chain, a state, and where components are merged a component.
func PartNoun(chain, merged bool) string {
	switch {
	case chain:
		return "state"
	case merged:
		return "component"
	}
	return "group"
}

// LabelNoun is what a label stands for: the PartNoun, and where components are merged a cluster.
func LabelNoun(chain, merged bool) string {
	if merged {
		return "cluster"
	}
	return PartNoun(chain, merged)
}

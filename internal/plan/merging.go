package plan

import (
	"fmt"
	"strconv"
	"strings"
)

// MergeMethod is a way to merge components, by its word in a spec.
type MergeMethod string

// The ways to merge components.
const (
	MergeOverlap MergeMethod = "overlap" // Hennig 2010
	MergeEntropy MergeMethod = "entropy" // Baudry and others 2010
)

// mergeCutoff is the overlap from which components are merged unless told otherwise: that of Hennig 2010.
const mergeCutoff = 0.025

// Merging says how the components of a mixture are merged into clusters.
type Merging struct {
	Method MergeMethod
	Cutoff float64 // overlap: pairs that overlap less are not merged
	K      int     // entropy: the number of clusters; 0 leaves it to the bend of the entropies
}

// ParseMerging reads Spec.Merge: a method, and after a colon the cutoff of overlap or the number of clusters of entropy. Its error is a
// sentence that begins after the name of what was read.
func ParseMerging(word string) (*Merging, error) {
	method, value, given := strings.Cut(word, ":")
	switch m := (&Merging{Method: MergeMethod(method)}); m.Method {
	case MergeOverlap:
		if m.Cutoff = mergeCutoff; !given {
			return m, nil
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || !(v > 0 && v <= 1) {
			return nil, fmt.Errorf("%q has no cutoff above 0 and at most 1, such as overlap:%v", word, mergeCutoff)
		}
		m.Cutoff = v
		return m, nil
	case MergeEntropy:
		if !given {
			return m, nil
		}
		v, err := strconv.Atoi(value)
		if err != nil || v < 1 {
			return nil, fmt.Errorf("%q has no number of clusters, at least 1, such as entropy:3", word)
		}
		m.K = v
		return m, nil
	}
	return nil, fmt.Errorf("%q is not known; choose one of overlap, overlap:CUT, entropy, entropy:K", word)
}

// Check refuses more clusters than k components.
func (m *Merging) Check(k int) error {
	if m.K > k {
		return fmt.Errorf("%s:%d asks for more clusters than there are components, %d", m.Method, m.K, k)
	}
	return nil
}

// validateMerging checks how components are merged.
func (p *Plan) validateMerging() error {
	if p.Spec.Merge == "" {
		return nil
	}
	_, err := ParseMerging(p.Spec.Merge)
	switch most := max(p.K, p.KRange[1]); {
	case err != nil:
		return Wrong("Merge", "%s", err)
	case !p.Mixture():
		return Wrong("Merge", "does not apply to %s: it merges the components of a mixture by their probabilities, and centres have none", p.Kind.Name)
	case most > 0:
		if err := p.Merge.Check(most); err != nil {
			return Wrong("Merge", "%s", err)
		}
	}
	return nil
}

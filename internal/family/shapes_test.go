package family_test

import (
	"strings"
	"testing"

	"github.com/latent-go/latent/internal/family"
)

// A shape has fewer parameters than any that it is a special case of, everything is a special case of VVV, EII of everything, and
// being one is transitive. Shapes that free different things are none of each other.
func TestNestedShapes(t *testing.T) {
	const k, d = 4, 3
	v := []float64{1, 1, 1}
	free := func(s family.Shape) int {
		if s.Parsimonious() {
			return family.Parsimonious{Shape: s, Var: v}.Free(k, d)
		}
		return family.Gaussian{Shape: s, Var: v}.Free(k, d)
	}
	all := family.Shapes()
	for _, a := range all {
		if family.Nested(a, a) || a != family.Full && !family.Nested(family.Full, a) || a != family.TiedSpherical && !family.Nested(a, family.TiedSpherical) {
			t.Errorf("%s is not between VVV and EII", a.Mclust())
		}
		for _, b := range all {
			if !family.Nested(a, b) {
				continue
			}
			if free(a) <= free(b) {
				t.Errorf("%s has %d parameters, its special case %s %d", a.Mclust(), free(a), b.Mclust(), free(b))
			}
			for _, c := range all {
				if family.Nested(b, c) && !family.Nested(a, c) {
					t.Errorf("%s holds %s, which holds %s, but it does not", a.Mclust(), b.Mclust(), c.Mclust())
				}
			}
		}
	}
	for _, p := range [][2]family.Shape{{family.TiedVolume, family.TiedShape}, {family.Diag, family.Tied}, {family.TiedAxes, family.TiedVolumeShape}} {
		if family.Nested(p[0], p[1]) || family.Nested(p[1], p[0]) {
			t.Errorf("%s and %s are nested", p[0].Mclust(), p[1].Mclust())
		}
	}
}

// The words for a shape say what its code says, and no two shapes have the same.
func TestWordsOfShapes(t *testing.T) {
	seen := map[string]family.Shape{}
	for _, s := range family.Shapes() {
		words, code := s.Words(), s.Mclust()
		if other, ok := seen[words]; ok {
			t.Errorf("%v and %v are both %q", s, other, words)
		}
		seen[words] = s
		volume, shape, directions := code[0], code[1], code[2]
		if one := strings.HasPrefix(words, "one "); one != s.Shared() {
			t.Errorf("%s: %q, shared %v", code, words, s.Shared())
		}
		if diagonal := strings.Contains(words, "diagonal"); diagonal != (directions == 'I' && shape != 'I') {
			t.Errorf("%s: %q", code, words)
		}
		if spherical := strings.Contains(words, "spherical"); spherical != (shape == 'I') {
			t.Errorf("%s: %q", code, words)
		}
		for what, letter := range map[string]byte{"volume": volume, "shape": shape, "directions": directions} {
			if equal := strings.Contains(words, what); equal != (letter == 'E' && !s.Shared()) {
				t.Errorf("%s: %q does not say of the %s what the code says", code, words, what)
			}
		}
	}
}

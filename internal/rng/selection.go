package rng

import "math/rand/v2"

// A Selection draws some of the things that pass by, in order, every set of so many with the same probability (Knuth, vol. 2,
// algorithm 3.4.2 S).
type Selection struct {
	rng        *rand.Rand
	want, left int64
}

// Select returns a selection of want of the next of things, at most of.
func Select(rng *rand.Rand, want, of int64) *Selection { return &Selection{rng, want, of} }

// Take reports whether the next thing is drawn. It is not once all that are wanted are.
func (s *Selection) Take() bool {
	take := s.want > 0 && (s.want == s.left || s.rng.Int64N(s.left) < s.want)
	s.left--
	if take {
		s.want--
	}
	return take
}

// Done reports whether all that are wanted are drawn.
func (s *Selection) Done() bool { return s.want == 0 }

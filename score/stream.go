package score

import (
	"fmt"
	"math"
)

// A Stream computes the Calinski-Harabasz and Davies-Bouldin indices of rows that are shown to it one by one and need not
// fit into memory: all rows with Gather and then, in any order, all of them again with Measure. It holds numbers for k
// centres. Make one with NewStream. Its values are those of a Partition of the same rows but for rounding, and undefined
// where differences of numbers overflow.
type Stream struct {
	d        int
	number   map[int]int // labels by order of appearance
	size     []float64   // k, summed weights
	total    float64
	measured float64  // weight that Measure has seen
	m        *centres // in the units of the rows, and from the first call of Measure on times scale
	lo, hi   []float64
	scale    float64   // 0 until Measure is called
	within   []float64 // k, Σ w |x - c|², times scale²
	distance []float64 // k, Σ w |x - c|, times scale
	left     []float64 // k x d, Σ w (x - c), times scale: what rounding kept from the centres
}

// NewStream returns an empty Stream of rows of d columns.
func NewStream(d int) *Stream {
	d = max(d, 0)
	s := &Stream{d: d, number: make(map[int]int), m: &centres{d: d}, lo: make([]float64, d), hi: make([]float64, d)}
	for j := range d {
		s.lo[j], s.hi[j] = math.Inf(1), math.Inf(-1)
	}
	return s
}

// Gather shows a row of weight w and its label, any integer, for the first time. len(x) must be d; x is only read. A row
// of weight 0 leaves no trace. A number or a weight that is not finite, or a negative weight, is refused.
func (s *Stream) Gather(label int, x []float64, w float64) error {
	if s.scale != 0 {
		return fmt.Errorf("a row is gathered after rows were measured")
	}
	if err := s.check(x, w); err != nil || w == 0 {
		return err
	}
	l, seen := s.number[label]
	if !seen {
		l = s.m.k
		s.number[label] = l
		s.m.k++
		s.size = append(s.size, 0)
		s.m.base, s.m.shift = append(s.m.base, x...), append(s.m.shift, make([]float64, s.d)...)
	}
	s.size[l] += w
	s.total += w
	at, share := l*s.d, w/s.size[l]
	for j, v := range x {
		s.m.shift[at+j] += share * (v - s.m.base[at+j] - s.m.shift[at+j])
		s.lo[j], s.hi[j] = min(s.lo[j], v), max(s.hi[j], v)
	}
	return nil
}

func (s *Stream) check(x []float64, w float64) error {
	if len(x) != s.d {
		return fmt.Errorf("a row of %d numbers in a stream of %d columns", len(x), s.d)
	}
	if !(w >= 0) || math.IsInf(w, 1) {
		return fmt.Errorf("weight %v of a row is not a finite number of at least 0", w)
	}
	for j, v := range x {
		if w > 0 && (math.IsNaN(v) || math.IsInf(v, 0)) {
			return fmt.Errorf("column %d (from 0) of a row is %v, not a finite number", j, v)
		}
	}
	return nil
}

// Measure shows a row that was gathered for the second time.
func (s *Stream) Measure(label int, x []float64, w float64) error {
	if err := s.check(x, w); err != nil || w == 0 {
		return err
	}
	l, seen := s.number[label]
	if !seen {
		return fmt.Errorf("a row labelled %d is measured that was not gathered", label)
	}
	if s.scale == 0 {
		s.scale = scaleOf(s.lo, s.hi)
		for i := range s.m.base {
			s.m.base[i] *= s.scale
			s.m.shift[i] *= s.scale
		}
		s.within, s.distance, s.left = make([]float64, s.m.k), make([]float64, s.m.k), make([]float64, s.m.k*s.d)
	}
	s.measured += w
	var sq float64
	for j, v := range x {
		at := l*s.d + j
		u := v*s.scale - s.m.base[at] - s.m.shift[at]
		sq += u * u
		s.left[at] += w * u
	}
	s.within[l] += w * sq
	s.distance[l] += w * math.Sqrt(sq)
	return nil
}

// defined returns an error unless 2 <= k < n and every row was measured.
func (s *Stream) defined(index string) error {
	if err := defined(index, s.m.k, s.total); err != nil {
		return err
	}
	if off := math.Abs(s.measured - s.total); off > 1e-9*s.total { // sums in another order round otherwise
		return fmt.Errorf("%s: rows of weight %v were gathered, but %v measured", index, s.total, s.measured)
	}
	return nil
}

// CalinskiHarabasz is that of a Partition.
func (s *Stream) CalinskiHarabasz() (float64, error) {
	if err := s.defined(calinskiHarabasz); err != nil {
		return 0, err
	}
	var within float64
	for _, v := range s.within {
		within += v
	}
	return s.centres().calinskiHarabasz(s.size, s.total, within)
}

// DaviesBouldin is that of a Partition.
func (s *Stream) DaviesBouldin() (float64, error) {
	if err := s.defined(daviesBouldin); err != nil {
		return 0, err
	}
	width := make([]float64, s.m.k)
	for l, v := range s.distance {
		width[l] = v / s.size[l]
	}
	return s.centres().daviesBouldin(width)
}

// centres returns the centres with what rounding kept from them, so that equal ones are seen to be equal. Sums about the
// first ones are too large by the square of that: nothing.
func (s *Stream) centres() *centres {
	m := &centres{k: s.m.k, d: s.d, base: s.m.base, shift: make([]float64, len(s.left))}
	for at, v := range s.left {
		m.shift[at] = s.m.shift[at] + v/s.size[at/s.d]
	}
	return m
}

package onedim

import "math"

// twofold is the unevaluated sum of two float64, hi the sum rounded: about 106 bits (Dekker 1971). Prefix sums need them.
// The cost of a tight cluster far from the origin is the small difference of two large ones, and there is no one origin
// that is near to all clusters.
type twofold struct{ hi, lo float64 }

// sum returns a + b without error (Knuth, TAOCP 2, 4.2.2).
func sum(a, b float64) twofold {
	s := a + b
	t := s - a
	return twofold{s, (a - (s - t)) + (b - t)}
}

// product returns a b without error.
func product(a, b float64) twofold {
	p := float64(a * b) // rounded: where a processor fuses, what is taken off p later would not be what lo belongs to
	return twofold{p, math.FMA(a, b, -p)}
}

func (a twofold) plus(b twofold) twofold {
	s, t := sum(a.hi, b.hi), sum(a.lo, b.lo)
	s = renormalised(s.hi, s.lo+t.hi)
	return renormalised(s.hi, s.lo+t.lo)
}

// minus returns a - b with an error of about 1e-32 of the larger, and does not renormalise: lo is small, but may
// overlap hi.
func (a twofold) minus(b twofold) twofold {
	s := sum(a.hi, -b.hi)
	s.lo += a.lo - b.lo
	return s
}

func (a twofold) times(b twofold) twofold {
	p := product(a.hi, b.hi)
	return renormalised(p.hi, p.lo+(a.hi*b.lo+a.lo*b.hi))
}

func (a twofold) less(b twofold) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

// renormalised returns hi + lo, where lo is not larger than hi.
func renormalised(hi, lo float64) twofold {
	s := hi + lo
	return twofold{s, lo - (s - hi)}
}

package family

import "strings"

// Shapes returns the fourteen shapes without factors, the six of Gaussian first.
func Shapes() []Shape {
	all := make([]Shape, OwnFactors)
	for i := range all {
		all[i] = Shape(i)
	}
	return all
}

// Nested reports whether every mixture with covariances of the shape narrow is one with those of wide too, so that it
// cannot be the likelier one at its best: volume, shape and directions are each the same, or equal where those of wide vary, or the simplest.
//
// With factors it is so where wide has as many or more of them, and uniquenesses of its own where those of narrow are equal; of whole matrices with
// any factors; and of any factors with variances alone that their uniquenesses can be.
func Nested(wide, narrow Shape) bool {
	switch {
	case wide.Factors() > 0 && narrow.Factors() > 0:
		return wide != narrow && wide.Factors() >= narrow.Factors() && (wide.base() == narrow.base() || wide.base() == OwnFactors)
	case narrow.Factors() > 0:
		return wide == Full
	case wide.Factors() > 0:
		switch wide.base() {
		case OwnFactors:
			return !narrow.Matrix()
		case TiedFactors:
			return narrow == TiedDiag || narrow == TiedSpherical
		}
		return narrow.kind() == Spherical
	}
	const freedom = "IEV"
	w, n := wide.Mclust(), narrow.Mclust()
	for i := range w {
		if strings.IndexByte(freedom, n[i]) > strings.IndexByte(freedom, w[i]) {
			return false
		}
	}
	return wide != narrow
}

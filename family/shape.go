package family

import (
	"fmt"
	"strings"
)

// Shape is what the covariance matrices of a Gaussian family share.
type Shape uint8

// The six shapes and mclust's codes for them (Celeux and Govaert 1995; Fraley and Raftery 2002).
const (
	Full          Shape = iota // VVV: each component its own matrix
	Tied                       // EEE: one matrix for all
	Diag                       // VVI: each component its own variances, no covariances
	Spherical                  // VII: each component one variance
	TiedDiag                   // EEI: one set of variances for all
	TiedSpherical              // EII: one variance for all
)

var shapes = [...]struct{ name, mclust string }{
	{"full", "VVV"}, {"tied", "EEE"}, {"diag", "VVI"}, {"spherical", "VII"}, {"tied-diag", "EEI"}, {"tied-spherical", "EII"},
}

// ParseShape reads a shape by its name or mclust's code, in any case.
func ParseShape(s string) (Shape, error) {
	names := make([]string, 0, 2*len(shapes))
	for i, n := range shapes {
		if strings.EqualFold(s, n.name) || strings.EqualFold(s, n.mclust) {
			return Shape(i), nil
		}
		names = append(names, n.name+" ("+n.mclust+")")
	}
	return 0, fmt.Errorf("covariance %q is not known; choose one of %s", s, strings.Join(names, ", "))
}

// String returns the name used by the command, such as "tied-diag".
func (s Shape) String() string { return shapes[s].name }

// Mclust returns mclust's code, such as "EEI".
func (s Shape) Mclust() string { return shapes[s].mclust }

// Shared reports whether all components have the same covariance.
func (s Shape) Shared() bool { return s == Tied || s == TiedDiag || s == TiedSpherical }

// kind returns the shape of one covariance: Full, Diag or Spherical.
func (s Shape) kind() Shape {
	switch s {
	case Full, Tied:
		return Full
	case Diag, TiedDiag:
		return Diag
	}
	return Spherical
}

// Size is the number of free parameters of one covariance on d columns: d(d+1)/2, d or 1.
func (s Shape) Size(d int) int {
	switch s.kind() {
	case Full:
		return d * (d + 1) / 2
	case Diag:
		return d
	}
	return 1
}

// Count is how many covariances k components have: k, or 1 where they share.
func (s Shape) Count(k int) int {
	if s.Shared() {
		return 1
	}
	return k
}

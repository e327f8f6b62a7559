package family

import (
	"fmt"
	"strings"
)

// Shape is what the covariance matrices of a Gaussian family share.
//
// A covariance is S_c = v_c D_c A_c D_c': a volume, the directions of its axes and a shape of determinant 1. mclust's
// codes say of volume, shape and directions, in this order, whether they are equal in all components (E), vary (V), or
// the axes are the columns' own (I). Celeux and Govaert 1995; Fraley and Raftery 2002.
type Shape uint8

// The fourteen shapes. Gaussian has the first six, Parsimonious the others.
const (
	Full            Shape = iota // VVV: each component its own matrix
	Tied                         // EEE: one matrix for all
	Diag                         // VVI: each component its own variances, no covariances
	Spherical                    // VII: each component one variance
	TiedDiag                     // EEI: one set of variances for all
	TiedSpherical                // EII: one variance for all
	TiedShapeDiag                // VEI: no covariances; variances proportional to each other
	TiedVolumeDiag               // EVI: no covariances; the product of the variances is the same for all
	TiedShapeAxes                // VEE: matrices proportional to each other
	TiedVolumeAxes               // EVE: the same axes and the same determinant
	TiedAxes                     // VVE: the same axes (common principal components)
	TiedVolumeShape              // EEV: the same ellipsoid, turned
	TiedShape                    // VEV: the same ellipsoid, turned and of another size
	TiedVolume                   // EVV: the same determinant
)

var shapes = [...]struct{ name, mclust, words string }{
	{"full", "VVV", "full covariances"},
	{"tied", "EEE", "one full covariance for all groups"},
	{"diag", "VVI", "diagonal covariances"},
	{"spherical", "VII", "spherical covariances"},
	{"tied-diag", "EEI", "one diagonal covariance for all groups"},
	{"tied-spherical", "EII", "one spherical covariance for all groups"},
	{"tied-shape-diag", "VEI", "diagonal covariances of equal shape"},
	{"tied-volume-diag", "EVI", "diagonal covariances of equal volume"},
	{"tied-shape-axes", "VEE", "covariances of equal shape and directions"},
	{"tied-volume-axes", "EVE", "covariances of equal volume and directions"},
	{"tied-axes", "VVE", "covariances of equal directions"},
	{"tied-volume-shape", "EEV", "covariances of equal volume and shape"},
	{"tied-shape", "VEV", "covariances of equal shape"},
	{"tied-volume", "EVV", "covariances of equal volume"},
}

// ParseShape reads a shape by its name or mclust's code, in any case.
func ParseShape(s string) (Shape, error) {
	names := make([]string, 0, len(shapes))
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

// Words says what has the shape, such as "diagonal covariances" or "one spherical covariance for all groups".
func (s Shape) Words() string { return shapes[s].words }

// Mclust returns mclust's code, such as "EEI".
func (s Shape) Mclust() string { return shapes[s].mclust }

// Shared reports whether all components have the same covariance.
func (s Shape) Shared() bool { return s == Tied || s == TiedDiag || s == TiedSpherical }

// Parsimonious reports whether components share a part of their covariances only, as in a Parsimonious family.
func (s Shape) Parsimonious() bool { return s > TiedSpherical }

// Rescales reports whether a change of the columns' units, each by a factor of its own, maps the covariances of the shape to
// one another.
func (s Shape) Rescales() bool {
	switch s {
	case Spherical, TiedSpherical, TiedVolumeAxes, TiedAxes, TiedVolumeShape, TiedShape:
		return false
	}
	return true
}

// Alone is the shape of one covariance by itself: Full, Diag or Spherical.
func (s Shape) Alone() Shape { return s.kind() }

// Matrix reports whether one covariance is a whole matrix.
func (s Shape) Matrix() bool { return s.kind() == Full }

// kind returns the shape of one covariance: Full, Diag or Spherical.
func (s Shape) kind() Shape {
	switch s {
	case Diag, TiedDiag, TiedShapeDiag, TiedVolumeDiag:
		return Diag
	case Spherical, TiedSpherical:
		return Spherical
	}
	return Full
}

// Size is the number of free parameters of one covariance by itself on d columns: d(d+1)/2, d or 1.
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

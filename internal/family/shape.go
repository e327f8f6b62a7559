package family

import (
	"fmt"
	"strconv"
	"strings"
)

// Shape is what the covariance matrices of a Gaussian family share.
//
// A covariance is S_c = v_c D_c A_c D_c': a volume, the directions of its axes and a shape of determinant 1. mclust's
// codes say of volume, shape and directions, in this order, whether they are equal in all components (E), vary (V), or
// the axes are the columns' own (I). Celeux and Govaert 1995; Fraley and Raftery 2002.
//
// A covariance may also have few factors instead: S_c = L_c L_c' + diag(u_c), with loadings L_c of as many columns. Those shapes are told by
// the codes of McNicholas and Murphy 2008, and Factors is their number.
type Shape uint32

// factorBits is where the number of factors begins in a Shape.
const factorBits = 8

// The fourteen shapes, and those with factors. Gaussian has the first six, Parsimonious the next eight, Factors and WideFactors the last three,
// which are shapes only with a number of factors: see WithFactors.
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

	OwnFactors   // UUU: each component its own loadings and uniquenesses
	TiedFactors  // UCU: one set of uniquenesses for all
	RoundFactors // UUC: each component one uniqueness for all columns
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
	{"factors", "UUU", "covariances of few factors"},
	{"factors-tied", "UCU", "covariances of few factors and equal uniquenesses"},
	{"ppca", "UUC", "covariances of few factors and one uniqueness each"},
}

// ParseShape reads a shape by its name or its code, in any case; with factors that is a name, a colon and their number: "factors:2".
func ParseShape(s string) (Shape, error) {
	word, number, factors := strings.Cut(s, ":")
	var names []string
	for i, n := range shapes {
		shape := Shape(i)
		if strings.EqualFold(word, n.name) || strings.EqualFold(word, n.mclust) {
			switch q, err := strconv.Atoi(number); {
			case shape < OwnFactors && factors:
				return 0, fmt.Errorf("covariance %q: %s has no number of factors", s, n.name)
			case shape < OwnFactors:
				return shape, nil
			case !factors:
				return 0, fmt.Errorf("covariance %q lacks the number of factors, such as %s:2", s, n.name)
			case err != nil || q < 1 || q > MostFactors:
				return 0, fmt.Errorf("covariance %q: the number of %s is a whole number from 1 to %d, or a range of it such as %s:1:3", s, n.name, MostFactors, n.name)
			default:
				return shape.WithFactors(q), nil
			}
		}
		if name := n.name; shape >= OwnFactors {
			names = append(names, name+":Q ("+n.mclust+":Q)")
		} else {
			names = append(names, name+" ("+n.mclust+")")
		}
	}
	return 0, fmt.Errorf("covariance %q is not known; choose one of %s", s, strings.Join(names, ", "))
}

// ParseShapes reads what ParseShape reads, and a range of numbers of factors, such as "factors:1:3", as one shape for each.
func ParseShapes(s string) ([]Shape, error) {
	word, numbers, _ := strings.Cut(s, ":")
	low, high, ranged := strings.Cut(numbers, ":")
	if !ranged {
		shape, err := ParseShape(s)
		return []Shape{shape}, err
	}
	lo, err := ParseShape(word + ":" + low)
	if err != nil {
		return nil, err
	}
	hi, err := ParseShape(word + ":" + high)
	if err != nil {
		return nil, err
	}
	if hi.Factors() < lo.Factors() {
		return nil, fmt.Errorf("covariance %q goes from %d down to %d; a range begins with the fewest factors", s, lo.Factors(), hi.Factors())
	}
	var all []Shape
	for q := lo.Factors(); q <= hi.Factors(); q++ {
		all = append(all, lo.WithFactors(q))
	}
	return all, nil
}

// ParseStem reads the name or the code of a shape with factors without their number, as a model file has it beside the loadings.
func ParseStem(s string) (shape Shape, ok bool) {
	for base := OwnFactors; base <= RoundFactors; base++ {
		if n := shapes[base]; strings.EqualFold(s, n.name) || strings.EqualFold(s, n.mclust) {
			return base, true
		}
	}
	return 0, false
}

// MostFactors is the largest number of factors.
const MostFactors = 1000

// WithFactors returns OwnFactors, TiedFactors or RoundFactors with a number of factors, from 1 to MostFactors.
func (s Shape) WithFactors(q int) Shape { return s.base() | Shape(q)<<factorBits }

// Factors returns the number of factors; 0 for a shape without.
func (s Shape) Factors() int { return int(s >> factorBits) }

// base returns the shape without the number of factors.
func (s Shape) base() Shape { return s & (1<<factorBits - 1) }

// SharesUniquenesses reports whether components have their uniquenesses in common.
func (s Shape) SharesUniquenesses() bool { return s.base() == TiedFactors }

// OneUniqueness reports whether all columns of a component have one uniqueness.
func (s Shape) OneUniqueness() bool { return s.base() == RoundFactors }

// MaxFactors returns how many factors covariances of d columns can have at most, 0 where they can have none: with more, loadings and
// uniquenesses would have at least as many parameters as a whole matrix, (d - q)^2 < d + q. With one uniqueness for all columns it is d - 1.
func (s Shape) MaxFactors(d int) int {
	if s.base() == RoundFactors {
		return d - 1
	}
	q := 0
	for q+1 < d && (d-q-1)*(d-q-1) >= d+q+1 {
		q++
	}
	return q
}

// String returns the name used by the command, such as "tied-diag" or "factors:2".
func (s Shape) String() string { return s.numbered(shapes[s.base()].name) }

// numbered returns a name with the number of factors, where there is one.
func (s Shape) numbered(name string) string {
	if q := s.Factors(); q > 0 {
		return name + ":" + strconv.Itoa(q)
	}
	return name
}

// Stem returns the name without the number of factors.
func (s Shape) Stem() string { return shapes[s.base()].name }

// Words says what has the shape, such as "diagonal covariances" or "one spherical covariance for all groups".
func (s Shape) Words() string {
	words := shapes[s.base()].words
	switch q := s.Factors(); q {
	case 0:
		return words
	case 1:
		return strings.Replace(words, "few factors", "one factor", 1)
	default:
		return strings.Replace(words, "few", strconv.Itoa(q), 1)
	}
}

// Mclust returns mclust's code, such as "EEI", or with factors that of McNicholas and Murphy, such as "UUU:2".
func (s Shape) Mclust() string { return s.numbered(shapes[s.base()].mclust) }

// Shared reports whether all components have the same covariance.
func (s Shape) Shared() bool { return s == Tied || s == TiedDiag || s == TiedSpherical }

// Parsimonious reports whether components share a part of their covariances only, as in a Parsimonious family.
func (s Shape) Parsimonious() bool { return s > TiedSpherical && s < OwnFactors }

// Rescales reports whether a change of the columns' units, each by a factor of its own, maps the covariances of the shape to
// one another.
func (s Shape) Rescales() bool {
	switch s.base() {
	case Spherical, TiedSpherical, TiedVolumeAxes, TiedAxes, TiedVolumeShape, TiedShape, RoundFactors:
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

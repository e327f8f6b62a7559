package family

import "strings"

// Shapes returns every shape that the covariances of a Gaussian mixture can have, the six of Gaussian first.
func Shapes() []Shape {
	all := make([]Shape, len(shapes))
	for i := range all {
		all[i] = Shape(i)
	}
	return all
}

// Nested reports whether every mixture with covariances of the shape narrow is one with those of wide too, so that it
// cannot be the likelier one at its best: volume, shape and directions are each the same, or equal where those of wide vary, or the simplest.
func Nested(wide, narrow Shape) bool {
	const freedom = "IEV"
	w, n := wide.Mclust(), narrow.Mclust()
	for i := range w {
		if strings.IndexByte(freedom, n[i]) > strings.IndexByte(freedom, w[i]) {
			return false
		}
	}
	return wide != narrow
}

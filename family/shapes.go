package family

// Shapes returns every shape that the covariances of a Gaussian mixture can have, the six of Gaussian first.
func Shapes() []Shape {
	all := make([]Shape, len(shapes))
	for i := range all {
		all[i] = Shape(i)
	}
	return all
}

package plot

import (
	"fmt"
	"math"
)

// Ellipse is where a normal density of two columns is constant.
type Ellipse struct {
	Center [2]float64
	A, B   float64 // half axes, A >= B >= 0
	Angle  float64 // of A to the x axis, in radians, in -π/2..π/2
}

// NewEllipse returns the ellipse that holds the share level (0 <= level < 1) of a normal distribution. Its points have the squared Mahalanobis
// distance -2 ln(1 - level), the quantile of chi-square with two degrees of freedom; its axes are the eigenvectors of cov. A singular
// covariance gives a line or a point. It fails if a value is not finite, cov has a negative eigenvalue, or level is out of range.
func NewEllipse(mean [2]float64, cov [2][2]float64, level float64) (Ellipse, error) {
	if !(level >= 0 && level < 1) {
		return Ellipse{}, fmt.Errorf("an ellipse of level %v: levels are shares in [0, 1)", level)
	}
	a, b, c := cov[0][0], (cov[0][1]+cov[1][0])/2, cov[1][1]
	for _, v := range []float64{mean[0], mean[1], a, b, c} {
		if !usable(v) {
			return Ellipse{}, fmt.Errorf("an ellipse needs finite numbers, not mean %v, covariance %v", mean, cov)
		}
	}
	// Eigenvalues of a symmetric 2 x 2 matrix: half the trace ± the radius of Mohr's circle.
	centre, radius := a/2+c/2, math.Hypot(a/2-c/2, b)
	large, small := centre+radius, centre-radius
	if large < 0 || small < -1e-9*large {
		return Ellipse{}, fmt.Errorf("covariance %v has the eigenvalue %v; it must be at least 0", cov, small)
	}
	r := math.Sqrt(-2 * math.Log1p(-level))
	return Ellipse{
		Center: mean,
		A:      r * math.Sqrt(large),
		B:      r * math.Sqrt(max(small, 0)),
		Angle:  math.Atan2(b, a/2-c/2) / 2,
	}, nil
}

// Points returns n >= 2 points once around, the first repeated at the end.
func (e Ellipse) Points(n int) [][2]float64 {
	out := make([][2]float64, max(n, 2)+1)
	sin, cos := math.Sincos(e.Angle)
	for i := range out {
		s, c := math.Sincos(2 * math.Pi * float64(i) / float64(len(out)-1))
		u, v := e.A*c, e.B*s
		out[i] = [2]float64{e.Center[0] + u*cos - v*sin, e.Center[1] + u*sin + v*cos}
	}
	out[len(out)-1] = out[0]
	return out
}

// Plane shows rows of d columns in two: x to P(x - origin), P being 2 x d.
type Plane struct {
	P      [2][]float64
	Origin []float64 // nil is 0
}

// Columns returns the plane of columns i and j of d. It panics unless both are in 0..d-1.
func Columns(d, i, j int) Plane {
	p := Plane{P: [2][]float64{make([]float64, d), make([]float64, d)}}
	p.P[0][i], p.P[1][j] = 1, 1
	return p
}

// Point returns where x, a row of d numbers, is in the plane. A column with a factor of 0 does not count, even if it is NaN there.
func (p Plane) Point(x []float64) [2]float64 {
	var out [2]float64
	for r := range out {
		for j, f := range p.P[r] {
			if f == 0 {
				continue
			}
			v := x[j]
			if p.Origin != nil {
				v -= p.Origin[j]
			}
			out[r] += f * v
		}
	}
	return out
}

// Points returns the coordinates of the n rows of x, n x d by rows.
func (p Plane) Points(x []float64) (xs, ys []float64) {
	d := len(p.P[0])
	for i := 0; d > 0 && i+d <= len(x); i += d {
		q := p.Point(x[i : i+d])
		xs, ys = append(xs, q[0]), append(ys, q[1])
	}
	return xs, ys
}

// Normal returns the marginal of a normal distribution in the plane: P(mean - origin) and P cov Pᵀ. cov is d x d by rows.
func (p Plane) Normal(mean, cov []float64) *Normal {
	n := Normal{Mean: p.Point(mean)}
	d := len(p.P[0])
	for r := range 2 {
		for s := range 2 {
			for i, f := range p.P[r] {
				for j, g := range p.P[s] {
					if f != 0 && g != 0 {
						n.Cov[r][s] += f * cov[i*d+j] * g
					}
				}
			}
		}
	}
	return &n
}

// Normal is a component in the plane of a scatter. A covariance of zeros, as of k-means, gives no ellipse.
type Normal struct {
	Mean [2]float64
	Cov  [2][2]float64
	// Dof, where it is above 0, says that the component is a t distribution with so many degrees of freedom and the scale matrix Cov.
	Dof float64
}

// inflated returns Cov times what makes the ellipse of a normal distribution that holds the probability level hold as much of the
// component: of a t distribution in the plane the squared distance that holds it is v ((1-level)^(-2/v) - 1).
func (n *Normal) inflated(level float64) [2][2]float64 {
	cov := n.Cov
	if n.Dof > 0 {
		up := -math.Log1p(-level) * 2
		f := n.Dof * math.Expm1(up/n.Dof) / up
		for i := range cov {
			for j := range cov[i] {
				cov[i][j] *= f
			}
		}
	}
	return cov
}

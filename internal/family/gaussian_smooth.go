package family

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Grad sets g to the gradient of the free energy in the means and scales: Sigma^-1 t for the first moments t, and
// tril(L^-T (L^-1 Q L^-T - N I)) for the factor L and the second moments Q, with the diagonal in logarithms.
func (g Gaussian) Grad(grad, theta []float64, s *Stats) {
	if g.cellwise() {
		g.gradCells(grad, theta, s)
		return
	}
	k, d := s.K, s.D
	b := g.Bind(theta, k, d).(*gaussianKernel)
	first, second := s.Sum[:k*d], g.second(s)
	tmp := make([]float64, d)
	for c := range k {
		w := g.scale(b.whiten, c, d)
		for j := range d {
			tmp[j] = g.row(w, first[c*d:c*d+d], j)
		}
		g.column(grad[c*d:c*d+d], w, tmp)
	}
	z := g.Shape.Size(d)
	for c := range g.Shape.Count(k) {
		g.scaleGrad(grad[k*d+c*z:k*d+c*z+z], b.whiten[c*z:c*z+z], theta[k*d+c*z:k*d+c*z+z], second[c*z:c*z+z], g.weight(s, c), d)
	}
}

// weight returns the weight of the rows that scale c describes.
func (g Gaussian) weight(s *Stats, c int) float64 {
	if !g.Shape.Shared() {
		return s.N[c]
	}
	n := 0.0
	for _, v := range s.N {
		n += v
	}
	return n
}

// column sets y = W^T x, W an inverse scale. y and x must not overlap.
func (g Gaussian) column(y, w, x []float64) {
	for j := range y {
		switch g.Shape.kind() {
		case Full:
			y[j] = 0
			for m := j; m < len(y); m++ {
				y[j] += w[tri(m, j)] * x[m]
			}
		case Diag:
			y[j] = w[j] * x[j]
		default:
			y[j] = w[0] * x[j]
		}
	}
}

// scaleGrad sets grad to the gradient in the free coordinates u of a scale with inverse w, q the second moments.
func (g Gaussian) scaleGrad(grad, w, u, q []float64, n float64, d int) {
	switch g.Shape.kind() {
	case Full:
		fullScaleGrad(grad, w, u, q, n, d)
	case Diag:
		for j, f := range w {
			grad[j] = f*f*q[j] - n
		}
	default:
		grad[0] = w[0]*w[0]*q[0] - n*float64(d)
	}
}

// fullScaleGrad is scaleGrad of a full covariance. Only the lower triangles of W Q and of W Q W^T - n I are needed, and they
// are made row by row.
func fullScaleGrad(grad, w, u, q []float64, n float64, d int) {
	tmp := make([]float64, 3*d*d)
	full, half, white := tmp[:d*d], tmp[d*d:2*d*d], tmp[2*d*d:]
	for j := range d {
		for l, v := range q[tri(j, 0) : tri(j, j)+1] {
			full[j*d+l], full[l*d+j] = v, v
		}
	}
	for j := range d {
		row, wj := half[j*d:j*d+j+1], w[tri(j, 0):tri(j, j)+1]
		for m, v := range wj {
			floats.AddScaled(row, v, full[m*d:m*d+j+1])
		}
		for l := range j + 1 {
			white[j*d+l] = floats.Dot(row[:l+1], w[tri(l, 0):tri(l, l)+1])
		}
		white[j*d+j] -= n
	}
	for j := range d {
		row := grad[tri(j, 0) : tri(j, j)+1]
		clear(row)
		for m := j; m < d; m++ {
			floats.AddScaled(row, w[tri(m, j)], white[m*d:m*d+j+1])
		}
		row[j] *= math.Exp(u[tri(j, j)])
	}
}

// factor sets l to the Cholesky factor of the scale u: its diagonal out of logarithms.
func factor(l, u []float64, d int) {
	copy(l, u)
	for j := range d {
		l[tri(j, j)] = math.Exp(u[tri(j, j)])
	}
}

// Precondition implements Smooth. For a mean the information is N Sigma^-1. For a factor it is diagonal in the A of
// dL = L A: 2 N on the diagonal and N below. With du = T A it is T D^-1 T^T that is applied here.
func (g Gaussian) Precondition(z, q, theta []float64, s *Stats) {
	if g.cellwise() {
		g.preconditionCells(z, q, theta, s)
		return
	}
	k, d := s.K, s.D
	size := g.Shape.Size(d)
	lt := make([]float64, d)
	for c := range k {
		u, n := g.ScaleOf(theta, c, k, d), s.Support(c)
		g.transposed(lt, u, q[c*d:c*d+d])
		g.Colour(z[c*d:c*d+d], lt, u)
		for j := range d {
			z[c*d+j] /= n
		}
	}
	for c := range g.Shape.Count(k) {
		at := k*d + c*size
		g.preconditionScale(z[at:at+size], q[at:at+size], theta[at:at+size], s.support(g.weight(s, c)), d)
	}
}

// transposed sets y = L^T x for the scale u.
func (g Gaussian) transposed(y, u, x []float64) {
	for j := range y {
		switch g.Shape.kind() {
		case Full:
			y[j] = math.Exp(u[tri(j, j)]) * x[j]
			for m := j + 1; m < len(y); m++ {
				y[j] += u[tri(m, j)] * x[m]
			}
		case Diag:
			y[j] = math.Exp(u[j]) * x[j]
		default:
			y[j] = math.Exp(u[0]) * x[j]
		}
	}
}

func (g Gaussian) preconditionScale(z, q, u []float64, n float64, d int) {
	switch g.Shape.kind() {
	case Full:
		l, a := make([]float64, len(u)), make([]float64, len(u))
		factor(l, u, d)
		for j := range d { // A = tril(L^T Q) / n, its diagonal halved; Q has q_jj / L_jj on the diagonal
			for m := range j + 1 {
				t := 0.0
				for i := j; i < d; i++ {
					v := q[tri(i, m)]
					if i == m {
						v /= l[tri(i, i)]
					}
					t += l[tri(i, j)] * v
				}
				a[tri(j, m)] = t / n
			}
			a[tri(j, j)] /= 2
		}
		for j := range d {
			for m := range j {
				t := 0.0
				for i := m; i <= j; i++ {
					t += l[tri(j, i)] * a[tri(i, m)]
				}
				z[tri(j, m)] = t
			}
			z[tri(j, j)] = a[tri(j, j)]
		}
	case Diag:
		for j, v := range q {
			z[j] = v / (2 * n)
		}
	default:
		z[0] = q[0] / (2 * n * float64(d))
	}
}

// Multiply implements Smooth. With A = L^-1 dL the information of a factor is L^-T D A, D being 2 N on the diagonal and N below.
func (g Gaussian) Multiply(q, z, theta []float64, s *Stats) {
	if g.cellwise() {
		g.multiplyCells(q, z, theta, s)
		return
	}
	k, d := s.K, s.D
	b := g.Bind(theta, k, d).(*gaussianKernel)
	white := make([]float64, d)
	for c := range k {
		w, to := g.scale(b.whiten, c, d), q[c*d:c*d+d]
		for j := range d {
			white[j] = s.Support(c) * g.row(w, z[c*d:c*d+d], j)
		}
		g.column(to, w, white)
	}
	size := g.Shape.Size(d)
	for c := range g.Shape.Count(k) {
		at := k*d + c*size
		g.multiplyScale(q[at:at+size], z[at:at+size], b.whiten[c*size:c*size+size], theta[at:at+size], s.support(g.weight(s, c)), d)
	}
}

// multiplyScale sets q to the information of a scale u with inverse w, of rows of weight n, times z.
func (g Gaussian) multiplyScale(q, z, w, u []float64, n float64, d int) {
	switch g.Shape.kind() {
	case Full:
		fullMultiply(q, z, w, u, n, d)
	case Diag:
		for j, v := range z {
			q[j] = 2 * n * v
		}
	default:
		q[0] = 2 * n * float64(d) * z[0]
	}
}

// fullMultiply is multiplyScale of a full covariance.
func fullMultiply(q, z, w, u []float64, n float64, d int) {
	move := make([]float64, len(z)) // dL
	copy(move, z)
	for j := range d {
		move[tri(j, j)] *= math.Exp(u[tri(j, j)])
	}
	clear(q)
	a := make([]float64, d)
	for j := range d { // row j of A
		row := w[tri(j, 0) : tri(j, j)+1]
		clear(a[:j+1])
		for i, v := range row {
			floats.AddScaled(a[:i+1], n*v, move[tri(i, 0):tri(i, i)+1])
		}
		a[j] *= 2
		for i, v := range row {
			floats.AddScaled(q[tri(i, 0):tri(i, i)+1], v, a[:i+1])
		}
	}
	for j := range d {
		q[tri(j, j)] *= math.Exp(u[tri(j, j)])
	}
}

// SquaredLength implements Smooth.
func (g Gaussian) SquaredLength(z, theta []float64, s *Stats) float64 {
	if g.cellwise() {
		return g.squaredLengthCells(z, theta, s)
	}
	k, d := s.K, s.D
	b := g.Bind(theta, k, d).(*gaussianKernel)
	sum := 0.0
	for c := range k {
		sum += s.Support(c) * g.whiteSquare(g.scale(b.whiten, c, d), z[c*d:c*d+d])
	}
	size := g.Shape.Size(d)
	for c := range g.Shape.Count(k) {
		at := k*d + c*size
		sum += s.support(g.weight(s, c)) * g.scaleSquare(z[at:at+size], b.whiten[c*size:c*size+size], theta[at:at+size], d)
	}
	return sum
}

// whiteSquare returns |W x|^2.
func (g Gaussian) whiteSquare(w, x []float64) float64 {
	sum := 0.0
	for j := range x {
		t := g.row(w, x, j)
		sum += t * t
	}
	return sum
}

// scaleSquare returns the squared length of the move z of a scale for a weight of 1.
func (g Gaussian) scaleSquare(z, w, u []float64, d int) float64 {
	sum := 0.0
	switch g.Shape.kind() {
	case Full:
		for j := range d { // A = W dL
			for m := range j + 1 {
				t := 0.0
				for i := m; i <= j; i++ {
					v := z[tri(i, m)]
					if i == m {
						v *= math.Exp(u[tri(i, i)])
					}
					t += w[tri(j, i)] * v
				}
				if j == m {
					t *= math.Sqrt2
				}
				sum += t * t
			}
		}
	case Diag:
		for _, v := range z {
			sum += 2 * v * v
		}
	default:
		sum = 2 * float64(d) * z[0] * z[0]
	}
	return sum
}

// Reach implements Smooth.
func (g Gaussian) Reach(z, theta []float64, k, d int) float64 {
	b := g.Bind(theta, k, d).(*gaussianKernel)
	far := 0.0
	for c := range k {
		far = max(far, math.Sqrt(g.whiteSquare(g.scale(b.whiten, c, d), z[c*d:c*d+d]))/2)
	}
	g.logs(k, d, func(i int) { far = max(far, math.Abs(z[i])) })
	return far
}

// logs calls f with the place in theta of every logarithm of a scale.
func (g Gaussian) logs(k, d int, f func(i int)) {
	size := g.Shape.Size(d)
	for c := range g.Shape.Count(k) {
		for j := range size {
			if g.Shape.kind() != Full {
				f(k*d + c*size + j)
			} else if j < d {
				f(k*d + c*size + tri(j, j))
			}
		}
	}
}

// Apart implements Smooth.
func (g Gaussian) Apart(theta []float64, a, b, k, d int) float64 {
	move := make([]float64, d)
	for j := range move {
		move[j] = theta[b*d+j] - theta[a*d+j]
	}
	u, v := g.ScaleOf(theta, a, k, d), g.ScaleOf(theta, b, k, d)
	w, z := make([]float64, len(u)), make([]float64, len(u))
	g.inverse(w, u, d)
	sum := g.whiteSquare(w, move)
	if !g.Shape.Shared() {
		for i := range z {
			z[i] = v[i] - u[i]
		}
		sum += g.scaleSquare(z, w, u, d)
	}
	return math.Sqrt(sum)
}

// Place tells where the mean of component c is.
func (g Gaussian) Place(c, _, d int, do func(from, to int)) { do(c*d, c*d+d) }

// Nudge moves the means by 0.05 of their components' standard deviations.
func (g Gaussian) Nudge(theta []float64, k, d int, normal func() float64) {
	white, x := make([]float64, d), make([]float64, d)
	for c := range k {
		for j := range white {
			white[j] = 0.05 * normal()
		}
		g.Colour(x, white, g.ScaleOf(theta, c, k, d))
		for j := range x {
			theta[c*d+j] += x[j]
		}
	}
}

// Project raises covariances to the floor. Within 1e-3 of it they are inside, the tolerance of AtFloor: what clipping
// sets is that far from the floor where eigenvalues span 1e12, and a second call must change nothing.
func (g Gaussian) Project(theta []float64, k, d int) {
	q, size := make([]float64, g.Shape.Size(d)), g.Shape.Size(d)
	for c := range g.Shape.Count(k) {
		if u := theta[k*d+c*size : k*d+c*size+size]; g.atFloor(u, d, 1-1e-3) {
			g.Covariance(q, u, d)
			g.ScaleAbove(u, q, d)
		}
	}
}

// Held marks the scales whose smallest eigenvalue is at the floor: the whole of a scale, since the floor binds along
// a direction that no coordinate follows.
func (g Gaussian) Held(held []bool, theta []float64, k, d int) {
	clear(held)
	size := g.Shape.Size(d)
	for c := range g.Shape.Count(k) {
		at := k*d + c*size
		if g.atFloor(theta[at:at+size], d, 1+1e-3) {
			for i := range size {
				held[at+i] = true
			}
		}
	}
}

// atFloor reports whether an eigenvalue of D^-1/2 S D^-1/2 is below factor times MinEigenvalue, for the scale u.
func (g Gaussian) atFloor(u []float64, d int, factor float64) bool {
	if g.Shape.kind() != Full {
		return g.smallest(u, d) <= MinEigenvalue*factor
	}
	q, l := make([]float64, len(u)), make([]float64, len(u))
	g.inverse(l, u, d)
	square := 0.0 // of all entries of A^-1, A the factor in units of the columns: its smallest eigenvalue is above 1 over that
	for j := range d {
		for m := range j + 1 {
			v := l[tri(j, m)]
			square += v * v * g.Var[m]
		}
	}
	if 2*square*MinEigenvalue*factor < 1 { // twice: rounding
		return false
	}
	g.Covariance(q, u, d)
	for j := range d {
		for m := range j + 1 {
			q[tri(j, m)] /= math.Sqrt(g.Var[j] * g.Var[m])
		}
	}
	return !cholesky(l, q, d, MinEigenvalue*factor)
}

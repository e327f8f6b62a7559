package family

import (
	"math"

	"github.com/latent-go/latent/internal/kern"
)

// What Gaussian does with gaps where columns are independent within a component. A column's mean and variance are those of the rows that
// have the cell; what components or columns share is pooled over all cells that are there.

// cellWeights returns the k x d weights of the rows that have a cell.
func (g Gaussian) cellWeights(s *Stats) []float64 { return s.Sum[g.Params(s.K, s.D):] }

// cellSums calls do with the place of every variance in a scale, its sum of squares about the means in use, what a move to the means
// of the sums takes off that, and its weight.
func (g Gaussian) cellSums(s *Stats, do func(at int, square, off, weight float64)) {
	k, d, n := s.K, s.D, g.cellWeights(s)
	first, second, size := s.Sum[:k*d], g.second(s), g.Shape.Size(d)
	off, weight := make([]float64, len(second)), make([]float64, len(second))
	for i, w := range n {
		c, j := i/d, i%d
		at := min(j, size-1)
		if !g.Shape.Shared() {
			at += c * size
		}
		weight[at] += w
		if w > minWeight {
			off[at] += first[i] * first[i] / w
		}
	}
	for at, q := range second {
		do(at, q, off[at], weight[at])
	}
}

// varianceFloor returns the smallest variance that place at of the scales may have.
func (g Gaussian) varianceFloor(at, d int) float64 {
	if g.Shape.kind() == Diag {
		return MinEigenvalue * g.Var[at%d]
	}
	return g.sphericalFloor()
}

func (g Gaussian) mStepCells(next, theta []float64, s *Stats) {
	k, d := s.K, s.D
	scales := make([]float64, g.Params(k, d)-k*d)
	g.cellSums(s, func(at int, square, off, weight float64) {
		scales[at] = theta[k*d+at]
		if weight > minWeight {
			scales[at] = logSD(max((square-off)/weight+g.RegCovar, g.varianceFloor(at, d)))
		}
	})
	copy(next[k*d:], scales)
	for i, n := range g.cellWeights(s) {
		next[i] = theta[i]
		if n > minWeight {
			next[i] += s.Sum[i] / n
		}
	}
}

// logScale returns the logarithm of the standard deviation of column j in component c.
func (g Gaussian) logScale(theta []float64, c, j, k, d int) float64 {
	u := g.ScaleOf(theta, c, k, d)
	return u[min(j, len(u)-1)]
}

func (g Gaussian) expectedCells(next, theta []float64, s *Stats) float64 {
	k, d, f := s.K, s.D, 0.0
	g.cellSums(s, func(at int, square, _, _ float64) { f -= 0.5 * square * math.Exp(-2*next[k*d+at]) })
	for i, n := range g.cellWeights(s) {
		u := g.logScale(next, i/d, i%d, k, d)
		w, e := math.Exp(-u), next[i]-theta[i]
		f += n*(-0.5*log2Pi-u) + (w*e)*(w*s.Sum[i]) - 0.5*n*(w*e)*(w*e)
	}
	return f
}

func (g Gaussian) gradCells(grad, theta []float64, s *Stats) {
	k, d := s.K, s.D
	g.cellSums(s, func(at int, square, _, weight float64) { grad[k*d+at] = math.Exp(-2*theta[k*d+at])*square - weight })
	for i := range k * d {
		w := math.Exp(-g.logScale(theta, i/d, i%d, k, d))
		grad[i] = w * (w * s.Sum[i])
	}
}

func (g Gaussian) preconditionCells(z, q, theta []float64, s *Stats) {
	k, d := s.K, s.D
	g.cellSums(s, func(at int, _, _, weight float64) { z[k*d+at] = q[k*d+at] / (2 * s.support(weight)) })
	for i, n := range g.cellWeights(s) {
		sd := math.Exp(g.logScale(theta, i/d, i%d, k, d))
		z[i] = sd * (sd * q[i]) / s.support(n)
	}
}

func (g Gaussian) multiplyCells(q, z, theta []float64, s *Stats) {
	k, d := s.K, s.D
	g.cellSums(s, func(at int, _, _, weight float64) { q[k*d+at] = 2 * s.support(weight) * z[k*d+at] })
	for i, n := range g.cellWeights(s) {
		w := math.Exp(-g.logScale(theta, i/d, i%d, k, d))
		q[i] = s.support(n) * w * (w * z[i])
	}
}

func (g Gaussian) squaredLengthCells(z, theta []float64, s *Stats) float64 {
	k, d, sum := s.K, s.D, 0.0
	g.cellSums(s, func(at int, _, _, weight float64) { sum += 2 * s.support(weight) * z[k*d+at] * z[k*d+at] })
	for i, n := range g.cellWeights(s) {
		t := math.Exp(-g.logScale(theta, i/d, i%d, k, d)) * z[i]
		sum += s.support(n) * t * t
	}
	return sum
}

// scoreCells is Score: with the mean in place of what is missing its difference is 0, and only the constants of the cells that are there
// count.
func (b *gaussianKernel) scoreCells(dst []float64, p *Panel, ws *Workspace) {
	d := b.d
	for c := range b.k {
		out, w := dst[c*kern.Rows:c*kern.Rows+kern.Rows], b.g.scale(b.whiten, c, d)
		filled := Panel{N: p.N, D: d, X: p.filledWith(ws, b.mean[c*d:c*d+d])}
		b.score(out, &filled, c, ws)
		if !p.Holes {
			continue
		}
		for j := range d {
			v := 0.5*log2Pi - math.Log(w[min(j, len(w)-1)])
			for i, there := range p.Mask[j*kern.Rows : j*kern.Rows+kern.Rows] {
				out[i] += v * (1 - there)
			}
		}
	}
}

// addCells is Add.
func (b *gaussianKernel) addCells(s *Stats, p *Panel, r []float64, ws *Workspace) {
	for c := range b.k {
		if rc := r[c*kern.Rows : c*kern.Rows+kern.Rows]; !zero(rc) {
			b.addCell(s, p, rc, c, ws)
		}
	}
}

// addCell adds the panel with weights rc to component c.
func (b *gaussianKernel) addCell(s *Stats, p *Panel, rc []float64, c int, ws *Workspace) {
	d := b.d
	filled := Panel{N: p.N, D: d, X: p.filledWith(ws, b.mean[c*d:c*d+d])}
	b.add(s, &filled, rc, c, ws)
	kern.First(b.g.cellWeights(s)[c*d:c*d+d], p.Mask, rc)
}

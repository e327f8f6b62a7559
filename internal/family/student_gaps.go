package family

import (
	"math"

	"github.com/latent-go/latent/internal/kern"
)

// Rows with missing cells: those that are there have a t distribution with the same degrees of freedom. Given these cells and the hidden
// gamma variable the others are normal, so that a row is completed by its conditional mean, and its conditional covariance is added to the
// second moments, by the weight r and not r u. With o cells that are there the hidden variable has (v+o)/2 for (v+d)/2, and u = (v+o)/(v+delta)
// by the cells that are there. Rows are taken one by one, in plain loops.

// studentCells is what the rows with missing cells need of the parameters.
type studentCells struct {
	scale []float64 // k x d x d
	shift []float64 // k x (d+1): what log densities of o cells have, but for the determinant of their scale
	lag   []float64 // k x (d+1): psiLag of (v+o)/2 less that of (v+d)/2, which sums of r log u take up
}

func (g Student) cells(theta []float64, k, d int) *studentCells {
	t := &studentCells{scale: make([]float64, k*d*d), shift: make([]float64, k*(d+1)), lag: make([]float64, k*(d+1))}
	p, own := g.plain(theta, k, d)
	q := make([]float64, p.Shape.Size(d))
	for c, v := range g.Dofs(theta, k) {
		p.Covariance(q, p.ScaleOf(own, c, k, d), d)
		for j := range d {
			for l := range j + 1 {
				s := 0.0
				switch {
				case p.Shape.kind() == Full:
					s = q[tri(j, l)]
				case j == l:
					s = q[min(j, len(q)-1)]
				}
				t.scale[c*d*d+j*d+l], t.scale[c*d*d+l*d+j] = s, s
			}
		}
		for o := range d + 1 {
			n := float64(o)
			t.shift[c*(d+1)+o] = logGammaRatio(v/2, n/2) - n/2*math.Log(v*math.Pi)
			t.lag[c*(d+1)+o] = psiLag((v+n)/2) - psiLag((v+float64(d))/2)
		}
	}
	return t
}

// gapRow is scratch memory for one row and one component.
type gapRow struct {
	there, gone []int
	factor      []float64 // d x d: the lower Cholesky factor of the scale of the cells that are there
	white       []float64 // its inverse times their deviations from the location
	cross       []float64 // d x d: its inverse times their scale with each missing cell, a missing cell a row
	e           []float64 // deviations of the completed row
	extra       []float64 // d x d: conditional scale of the missing cells
}

func (h *tailRows) gapRow(d int) *gapRow {
	r := &h.gaps
	if len(r.e) < d {
		v := make([]float64, 3*d*d+2*d)
		r.factor, r.cross, r.extra, r.white, r.e = v[:d*d], v[d*d:2*d*d], v[2*d*d:3*d*d], v[3*d*d:3*d*d+d], v[3*d*d+d:]
		r.there, r.gone = make([]int, 0, d), make([]int, 0, d)
	}
	return r
}

// look notes which cells row i of the panel has.
func (r *gapRow) look(p *Panel, i int) {
	r.there, r.gone = r.there[:0], r.gone[:0]
	for j := range p.D {
		if p.Mask[j*kern.Rows+i] != 0 {
			r.there = append(r.there, j)
		} else {
			r.gone = append(r.gone, j)
		}
	}
}

// distance returns the squared distance of row i from the location m by the scale s of the cells that are there, and half the
// logarithm of the determinant of that.
func (r *gapRow) distance(p *Panel, i int, m, s []float64) (delta, logDet float64) {
	d := p.D
	for a, j := range r.there {
		for b, l := range r.there[:a+1] {
			v := s[j*d+l]
			for t := range b {
				v -= r.factor[a*d+t] * r.factor[b*d+t]
			}
			if a > b {
				r.factor[a*d+b] = v / r.factor[b*d+b]
			} else {
				r.factor[a*d+a] = math.Sqrt(max(v, leastPivot*s[j*d+j]))
				logDet += math.Log(r.factor[a*d+a])
			}
		}
		y := p.X[j*kern.Rows+i] - m[j]
		for t := range a {
			y -= r.factor[a*d+t] * r.white[t]
		}
		r.white[a] = y / r.factor[a*d+a]
		delta += r.white[a] * r.white[a]
	}
	return min(delta, math.MaxFloat64), logDet
}

// complete sets e and extra after distance.
func (r *gapRow) complete(p *Panel, i int, m, s []float64) {
	d := p.D
	for _, j := range r.there {
		r.e[j] = p.X[j*kern.Rows+i] - m[j]
	}
	for a, j := range r.gone {
		row := r.cross[a*d : a*d+len(r.there)]
		r.e[j] = 0
		for b, l := range r.there {
			v := s[j*d+l]
			for t := range b {
				v -= r.factor[b*d+t] * row[t]
			}
			row[b] = v / r.factor[b*d+b]
			r.e[j] += row[b] * r.white[b]
		}
		for b, l := range r.gone[:a+1] {
			v := s[j*d+l]
			for t, x := range row {
				v -= x * r.cross[b*d+t]
			}
			r.extra[a*d+b] = v
		}
	}
}

// scoreCells is Score of a panel with missing cells. It keeps u and log u + lag of each row in h.
func (b *studentKernel) scoreCells(dst []float64, p *Panel, h *tailRows) {
	d, r := b.d, h.gapRow(b.d)
	clear(dst[:b.k*kern.Rows])
	for i := range p.N {
		r.look(p, i)
		o := len(r.there)
		for c, v := range b.tail.dof {
			delta, logDet := r.distance(p, i, b.plain.mean[c*d:c*d+d], b.cells.scale[c*d*d:(c+1)*d*d])
			at, half := c*kern.Rows+i, (v+float64(o))/2
			l := math.Log(min(1+delta/v, math.MaxFloat64))
			dst[at] = b.cells.shift[c*(d+1)+o] - logDet - half*l
			h.u[at] = 2 * half / v / min(1+delta/v, math.MaxFloat64)
			h.log[at] = math.Log(2*half/v) - l - b.cells.lag[c*(d+1)+o]
		}
	}
}

// addCells is Add of a panel with missing cells.
func (b *studentKernel) addCells(s *Stats, p *Panel, weight []float64, h *tailRows) {
	d, r := b.d, h.gapRow(b.d)
	b.scoreCells(h.score, p, h)
	u, logs := b.g.hiddenSums(s)
	sums := b.g.sums()
	for i := range p.N {
		r.look(p, i)
		for c := range b.k {
			at := c*kern.Rows + i
			w := weight[at]
			if w == 0 {
				continue
			}
			m, scale := b.plain.mean[c*d:c*d+d], b.cells.scale[c*d*d:(c+1)*d*d]
			r.distance(p, i, m, scale)
			r.complete(p, i, m, scale)
			s.N[c] += w
			u[c] += w * h.u[at]
			logs[c] += w * h.log[at]
			s.Sum[len(s.Sum)-1] += w * h.score[at]
			r.add(s.Sum[c*d:c*d+d], sums.scale(s.Sum[b.k*d:], c, d), sums.Shape, w, w*h.u[at], d)
		}
	}
}

// add adds the completed row to the moments of a component: its deviations by the weight ru, its conditional scale by r.
func (row *gapRow) add(first, second []float64, shape Shape, r, ru float64, d int) {
	for j, e := range row.e[:d] {
		first[j] += ru * e
		switch shape.kind() {
		case Full:
			for l := range j + 1 {
				second[tri(j, l)] += ru * e * row.e[l]
			}
		case Diag:
			second[j] += ru * e * e
		default:
			second[0] += ru * e * e
		}
	}
	for a, j := range row.gone {
		switch v := r * row.extra[a*d+a]; shape.kind() {
		case Full:
			for b, l := range row.gone[:a+1] {
				second[tri(j, l)] += r * row.extra[a*d+b]
			}
		case Diag:
			second[j] += v
		default:
			second[0] += v
		}
	}
}

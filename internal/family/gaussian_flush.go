package family

import "github.com/latent-go/latent/internal/kern"

// Flush turns moments about the origin into moments about the means: with S the first moments and Q the second,
// t = S - N m and Q - m S' - t m'. It implements FusedKernel.
func (f *fusedGaussian) Flush(s *Stats, g *Gathered) {
	if g.done != nil && g.done.of != nil {
		g.done.of.flush(s, g)
	}
	if f.few {
		f.flushFew(g)
	}
	if len(g.sum) < f.size { // nothing gathered yet
		return
	}
	b := f.b
	k, d := b.k, b.d
	first, second := s.Sum[:k*d], b.g.second(s)
	if b.g.Shape.Shared() && !f.all {
		f.flushTotal(second, g)
	}
	if b.g.Shape == Full {
		f.recentreFull(s, g)
	}
	t := grow(&g.buffers().rows, max(d, kern.Rows))
	for c := range k {
		if f.own[c] && b.g.Shape.kind() == Full {
			f.flushOwn(s, c, g.sum[f.at[c]:])
		}
		if f.own[c] || b.g.Shape == Full {
			continue
		}
		n := g.sum[c]
		s.N[c] += n
		for j, m := range b.mean[c*d : c*d+d] {
			t[j] = g.sum[(1+j)*f.kp+c] - n*m
			first[c*d+j] += t[j]
		}
		f.recentre(b.g.scale(second, c, d), t, g.sum[c:], c)
	}
	clear(g.sum[:f.size])
}

// flushFew adds up the partial sums.
func (f *fusedGaussian) flushFew(g *Gathered) {
	if len(g.few) < f.size*kern.Lanes {
		return
	}
	sum, few := grow(&g.sum, f.size), g.few[:f.size*kern.Lanes]
	for _, e := range f.blocks {
		for c := range f.b.k {
			for j := range e.n {
				sum[(e.at+j)*f.kp+c] = kern.Sum(few[(e.at*f.b.k+c*e.n+j)*kern.Lanes:])
			}
		}
	}
	clear(few)
}

// recentreFull adds moments about the means for full covariances. It goes through a row of all matrices before the next, since the sums of a
// feature lie together; one component after the other would fetch every line of them k times.
func (f *fusedGaussian) recentreFull(s *Stats, g *Gathered) {
	k, d, kp := f.b.k, f.b.d, f.kp
	if f.all {
		return
	}
	first, second, z := s.Sum[:k*d], s.Sum[k*d:], d*(d+1)/2
	t := grow(&g.buffers().features, k*d) // first moments about the means
	for c, n := range g.sum[:k] {
		if f.own[c] {
			continue
		}
		s.N[c] += n
		for j, mean := range f.b.mean[c*d : c*d+d] {
			t[c*d+j] = g.sum[(1+j)*kp+c] - n*mean
			first[c*d+j] += t[c*d+j]
		}
	}
	for j := range d {
		sums := g.sum[(1+d+tri(j, 0))*kp:][:(j+1)*kp]
		for c := range k {
			if f.own[c] {
				continue
			}
			row, m, t := second[c*z+tri(j, 0):][:j+1], f.b.mean[c*d:][:j+1], t[c*d:][:j+1]
			sj, mj, at := g.sum[(1+j)*kp+c], m[j], c
			for l, q := range row {
				q -= sj*m[l] + mj*t[l]
				row[l] = q + sums[at]
				at += kp
			}
		}
	}
}

// recentre adds to q the second moments of component c about its mean; t are the first, sum[i*kp] its sum of feature i.
func (f *fusedGaussian) recentre(q, t, sum []float64, c int) {
	d, kp := f.b.d, f.kp
	m := f.b.mean[c*d : c*d+d]
	square := (1 + d) * kp // the next second moment; shared shapes have a total instead, which has been added already
	shared := f.b.g.Shape.Shared()
	for j, mj := range m {
		sj := sum[(1+j)*kp]
		switch f.b.g.Shape.kind() {
		case Full:
			row := q[tri(j, 0) : tri(j, j)+1] // of one covariance for all: full ones are recentreFull's
			for l, ml := range m[:j+1] {
				row[l] -= sj*ml + mj*t[l]
			}
		case Diag:
			q[j] -= sj*mj + mj*t[j]
			if !shared {
				q[j] += sum[square]
				square += kp
			}
		default:
			q[0] -= sj*mj + mj*t[j]
		}
	}
	if f.b.g.Shape == Spherical {
		q[0] += sum[square]
	}
}

// flushOwn adds moments that were taken about the mean of component c.
func (f *fusedGaussian) flushOwn(s *Stats, c int, sum []float64) {
	k, d, dp := f.b.k, f.b.d, kern.Pad(f.b.d)
	first, second := s.Sum[c*d:c*d+d], f.b.g.scale(s.Sum[k*d:], c, d)
	if f.fewOwn {
		s.N[c] += kern.Sum(sum)
		for j := range first {
			first[j] += kern.Sum(sum[(1+j)*kern.Lanes:])
		}
		for j := range second {
			second[j] += kern.Sum(sum[(1+d+j)*kern.Lanes:])
		}
		return
	}
	for j := range d {
		first[j] += sum[d*dp+j]
		for l := range j + 1 {
			second[tri(j, l)] += sum[j*dp+l]
		}
	}
}

// flushTotal adds the second moments of all components together about the origin.
func (f *fusedGaussian) flushTotal(second []float64, g *Gathered) {
	d, dp, sum := f.b.d, kern.Pad(f.b.d), g.sum[f.total:]
	switch f.b.g.Shape.kind() {
	case Full:
		for j := range d {
			for l := range j + 1 {
				second[tri(j, l)] += sum[j*dp+l]
			}
		}
	case Diag:
		for j := range d {
			second[j] += sum[j*kern.Lanes]
		}
	default:
		second[0] += sum[0]
	}
}

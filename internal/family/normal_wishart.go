package family

import "slices"

// NormalWishart is the conjugate prior of means and covariances (Fraley and Raftery 2007, Journal of Classification 24, 155-181): means are
// normal about Mean with the covariance of their component over Shrinkage, covariances inverse Wishart, or inverse gamma where they are
// diagonal or spherical. Without constants its log density is
//
//	sum over distinct covariances [ -Count/2 log|S| - tr(S^-1 Scale)/2 ] - sum_c [ Shrinkage/2 (m_c - Mean)' S_c^-1 (m_c - Mean) + Each/2 log|S_c| ]
//
// There are k distinct covariances, one for shapes that are Shared. For the degrees of freedom nu, Count is nu + d + 1 where covariances are
// matrices, nu + 2 where they are diagonal and (nu + 2)/d where they are spherical; Scale is then one number for all columns together. A fit
// that multiplies row weights by a factor multiplies all numbers but Mean.
//
// It serves Gaussian and Parsimonious. Their steps are those of sums with pseudo-rows: Shrinkage of them at Mean for the mean, and
// Each + Count of them with scatter Scale for the covariance.
type NormalWishart struct {
	Shrinkage float64   // 0 or more
	Mean      []float64 // d numbers, relative to the origin of the sweep
	Each      float64   // 1: what the density of its mean adds to the count of a component's covariance
	Count     float64   // what the density of a covariance adds to its count: see above
	Scale     []float64 // laid out like second moments: a packed lower triangle, d numbers or one; positive definite
}

// complete returns f as it is for complete rows, and the Gaussian whose sums it has.
func (p *NormalWishart) complete(f Smooth) (Smooth, Gaussian) {
	switch g := f.(type) {
	case Gaussian:
		g.Gaps = nil
		return g, g
	case Parsimonious:
		g.Gaps = nil
		return g, g.Plain()
	}
	panic("family: a normal-Wishart prior is for Gaussian families")
}

// counted returns f as it takes the sums that joined makes, and the Gaussian whose sums it has: with gaps only where these are counted
// cell by cell.
func (p *NormalWishart) counted(f Smooth) (Smooth, Gaussian) {
	if g, ok := f.(Gaussian); ok && g.cellwise() {
		return g, g
	}
	return p.complete(f)
}

// each returns what Each and Count together add to the count of one component: shared covariances have one Count.
func (p *NormalWishart) each(g Gaussian, k int) float64 {
	if g.Shape.Shared() {
		return p.Each + p.Count/float64(k)
	}
	return p.Each + p.Count
}

// scatter adds to second moments about the means of at those of the pseudo-rows.
func (p *NormalWishart) scatter(g Gaussian, second, at []float64, k, d int) {
	e := make([]float64, d)
	for c := range k {
		for j := range e {
			e[j] = p.Mean[j] - at[c*d+j]
		}
		q := g.scale(second, c, d)
		switch g.Shape.kind() {
		case Full:
			for j := range d {
				for l := range j + 1 {
					q[tri(j, l)] += p.Shrinkage * e[j] * e[l]
				}
			}
		default:
			for j, v := range e {
				q[min(j, len(q)-1)] += p.Shrinkage * v * v
			}
		}
		if c == 0 || !g.Shape.Shared() {
			for i, v := range p.Scale {
				q[i] += v
			}
		}
	}
}

// sums returns the sums of the pseudo-rows alone, about the means of theta. The counts are those of covariances.
func (p *NormalWishart) sums(f Smooth, theta []float64, k, d int) (Smooth, *Stats) {
	own, g := p.complete(f)
	s := NewStats(k, d, own.Sums(k, d), 0)
	for c := range k {
		s.N[c] = p.each(g, k)
		for j := range d {
			s.Sum[c*d+j] = p.Shrinkage * (p.Mean[j] - theta[c*d+j])
		}
	}
	p.scatter(g, s.Sum[k*d:], theta, k, d)
	return own, s
}

// LogDensity implements Prior. That of the pseudo-rows has constants, which are taken off again.
func (p *NormalWishart) LogDensity(f Smooth, theta []float64, k, d int) float64 {
	own, s := p.sums(f, theta, k, d)
	n := 0.0
	for _, v := range s.N {
		n += v
	}
	return own.Expected(theta, theta, s) + n*float64(d)/2*log2Pi
}

// AddGrad implements Prior.
func (p *NormalWishart) AddGrad(f Smooth, g, theta []float64, k, d int) {
	own, s := p.sums(f, theta, k, d)
	addGrad(own, g, theta, s)
}

// filled returns the sums s of a sweep of f with theta as counted takes them.
func (p *NormalWishart) filled(f Smooth, theta []float64, s *Stats) (Smooth, Gaussian, *Stats) {
	if g, ok := f.(Parsimonious); ok {
		s = g.completed(s, theta)
	}
	own, g := p.counted(f)
	s = s.clone()
	s.Sum = s.Sum[:own.Sums(s.K, s.D)]
	return own, g, s
}

// count adds n to the count of every component, and of its cells where these are counted.
func count(g Gaussian, s *Stats, n float64) {
	for c := range s.N {
		s.N[c] += n
	}
	if g.cellwise() {
		cells := g.cellWeights(s)
		for i := range cells {
			cells[i] += n
		}
	}
}

// joined returns parameters with the means of the next step and else those of theta, and the sums of rows and pseudo-rows about them. Their
// counts are those of covariances, and first moments are 0: no part of the sums is a difference of large ones.
func (p *NormalWishart) joined(f Smooth, theta []float64, s *Stats) (own Smooth, at []float64, sums *Stats) {
	own, g, s := p.filled(f, theta, s)
	k, d := s.K, s.D
	at = slices.Clone(theta)
	for i := range k * d {
		n := s.N[i/d]
		if g.cellwise() {
			n = g.cellWeights(s)[i]
		}
		if n += p.Shrinkage; n > minWeight {
			at[i] += (s.Sum[i] + p.Shrinkage*(p.Mean[i%d]-theta[i])) / n
		}
	}
	g.Move(s, at, theta)
	clear(s.Sum[:k*d])
	p.scatter(g, g.second(s), at, k, d)
	count(g, s, p.each(g, k))
	return own, at, s
}

// MStep implements Prior: with pseudo-rows in the sums it is that of the family.
func (p *NormalWishart) MStep(f Smooth, next, theta []float64, s *Stats) {
	own, at, sums := p.joined(f, theta, s)
	own.MStep(next, at, sums)
}

// means returns the sums of the rows with the counts of means.
func (p *NormalWishart) means(f Smooth, theta []float64, s *Stats) *Stats {
	_, g, own := p.filled(f, theta, s)
	count(g, own, p.Shrinkage)
	return own
}

// Precondition implements Prior. Means and covariances are orthogonal in the information, and have counts of their own.
func (p *NormalWishart) Precondition(f Smooth, z, q, theta []float64, s *Stats, framed bool) {
	own, _, sums := p.joined(f, theta, s)
	q, at := slices.Clone(q), s.K*s.D
	precondition(own, z, q, theta, sums, framed)
	scales := slices.Clone(z[at:])
	precondition(own, z, q, theta, p.means(f, theta, s), framed)
	copy(z[at:], scales)
}

// Multiply implements Prior.
func (p *NormalWishart) Multiply(f Smooth, q, z, theta []float64, s *Stats) {
	own, _, sums := p.joined(f, theta, s)
	at := s.K * s.D
	own.Multiply(q, z, theta, sums)
	scales := slices.Clone(q[at:])
	own.Multiply(q, z, theta, p.means(f, theta, s))
	copy(q[at:], scales)
}

// SquaredLength implements Prior.
func (p *NormalWishart) SquaredLength(f Smooth, z, theta []float64, s *Stats) float64 {
	own, _, sums := p.joined(f, theta, s)
	part, at := slices.Clone(z), s.K*s.D
	clear(part[:at])
	square := own.SquaredLength(part, theta, sums)
	copy(part, z[:at])
	clear(part[at:])
	return square + own.SquaredLength(part, theta, p.means(f, theta, s))
}

// Positive reports whether q, laid out as one covariance of the shape on d columns, is positive definite: a packed lower triangle, or d
// numbers or one, all finite and above 0. q stays as it is.
func Positive(q []float64, shape Shape, d int) bool {
	switch {
	case slices.ContainsFunc(q, func(v float64) bool { return v-v != 0 }):
		return false
	case shape.kind() == Full:
		return cholesky(make([]float64, len(q)), q, d, 0)
	}
	return slices.Min(q) > 0
}

package family

// A Moving family takes its sums about its parameters: those of a sweep with other parameters do not add to them.
type Moving interface {
	Family
	// Move turns s, the sums of a sweep with the parameters from, into what they are about the parameters to, with the same
	// responsibilities: exactly, without a pass.
	Move(s *Stats, to, from []float64)
}

// Move turns s, the sums of a sweep of f with the parameters from, into those about the parameters to. Responsibilities stay as they are. Of
// a family whose sums are about no parameters it changes nothing.
func Move(f Family, s *Stats, to, from []float64) {
	if f, ok := f.(Moving); ok {
		f.Move(s, to, from)
	}
}

// Move implements Moving. With e = b - a for the means a of from and b of to, n the weight of a component, t and Q its sums about a,
//
//	sum r (x - b)          = t - n e
//	sum r (x - b) (x - b)' = Q - t e' - e t' + n e e'
//
// Rows that were completed count as they were completed. Where moments are taken over the cells that are there, n is the weight of
// the rows that have a column's cell.
func (g Gaussian) Move(s *Stats, to, from []float64) {
	k, d := s.K, s.D
	first, second, e, n := s.Sum[:k*d], g.second(s), make([]float64, d), make([]float64, d)
	for c := range k {
		t, q := first[c*d:c*d+d], g.scale(second, c, d)
		for j := range e {
			e[j], n[j] = to[c*d+j]-from[c*d+j], s.N[c]
			if g.cellwise() {
				n[j] = g.cellWeights(s)[c*d+j]
			}
		}
		g.moveSecond(q, t, e, n)
		for j := range t {
			t[j] -= n[j] * e[j]
		}
	}
}

// moveSecond is the second line of Move for one component, whose rows weigh n[j] in column j.
func (g Gaussian) moveSecond(q, t, e, n []float64) {
	for j := range t {
		switch own := n[j]*e[j]*e[j] - 2*t[j]*e[j]; g.Shape.kind() {
		case Full:
			for l := range j + 1 {
				q[tri(j, l)] += n[j]*e[j]*e[l] - t[j]*e[l] - e[j]*t[l]
			}
		case Diag:
			q[j] += own
		default:
			q[0] += own
		}
	}
}

// Move implements Moving.
func (g Parsimonious) Move(s *Stats, to, from []float64) { g.gathered().Move(s, to, from) }

// Move implements Moving: sums about the origin stay, and the cost in s.F becomes that about the centres to.
func (f KMeans) Move(s *Stats, to, from []float64) { s.F = f.Expected(to, from, s) }

// Move implements Moving, part by part.
func (m Mixed) Move(s *Stats, to, from []float64) {
	m.each(s, func(p *Part, at, end int, own *Stats) { Move(p.Family, own, to[at:end], from[at:end]) })
}

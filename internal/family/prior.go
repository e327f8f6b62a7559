package family

// A Prior is a conjugate prior of the parameters of k components: all that it adds to a step are pseudo-rows in the sums. It knows no
// family, so that it serves every family whose sums it can add to, with gaps or without: each method takes the one in use. Parameters and
// sums are those of that family.
type Prior interface {
	// LogDensity returns the logarithm of the prior density of theta in nats, without its constants.
	LogDensity(f Smooth, theta []float64, k, d int) float64
	// AddGrad adds to g the gradient of LogDensity at theta.
	AddGrad(f Smooth, g, theta []float64, k, d int)
	// MStep sets next to the maximiser of Expected plus LogDensity, for the sums of a sweep with theta. next and theta may be the same slice.
	MStep(f Smooth, next, theta []float64, s *Stats)
	// Precondition is that of the family with the information of the pseudo-rows added; where framed is set it is Curved.PreconditionFramed.
	Precondition(f Smooth, z, q, theta []float64, s *Stats, framed bool)
	// Multiply is that of the family with the information of the pseudo-rows added.
	Multiply(f Smooth, q, z, theta []float64, s *Stats)
	// SquaredLength is that of the family with the information of the pseudo-rows added.
	SquaredLength(f Smooth, z, theta []float64, s *Stats) float64
}

// precondition is Precondition of the family, in its frame where framed says so.
func precondition(f Smooth, z, q, theta []float64, s *Stats, framed bool) {
	if framed {
		f.(Curved).PreconditionFramed(z, q, theta, s)
		return
	}
	f.Precondition(z, q, theta, s)
}

// LevelPrior is the prior of probabilities that adds pseudo-rows to each component, in which every column has given shares of its levels:
// a Dirichlet prior of each column (the Bayes constants of Vermunt and Magidson 2016, Technical Guide for Latent GOLD, section 7.3). It
// serves Bernoulli and Categorical.
type LevelPrior struct {
	// Rows is the weight of the pseudo-rows of each component.
	Rows float64
	// Shares holds the share of each level of each column, one column after another; of bits the share of ones, one a column.
	Shares []float64
}

// sums returns the sums of the pseudo-rows alone.
func (p LevelPrior) sums(f Smooth, k, d int) *Stats {
	s := NewStats(k, d, f.Sums(k, d), 0)
	p.add(f, s)
	return s
}

// add adds the pseudo-rows to the sums s.
func (p LevelPrior) add(f Smooth, s *Stats) {
	width := len(p.Shares)
	bits, ok := f.(Bernoulli)
	zerosToo := ok && bits.Gaps != nil // sums are then weights of ones and of zeros, in turn
	for c := range s.N {
		s.N[c] += p.Rows
		for l, share := range p.Shares {
			if at := c*width + l; zerosToo {
				s.Sum[2*at] += p.Rows * share
				s.Sum[2*at+1] += p.Rows * (1 - share)
			} else {
				s.Sum[at] += p.Rows * share
			}
		}
	}
}

// with returns the sums s and those of the pseudo-rows.
func (p LevelPrior) with(f Smooth, s *Stats) *Stats {
	own := s.clone()
	p.add(f, own)
	return own
}

// LogDensity implements Prior: the log-likelihood of the pseudo-rows.
func (p LevelPrior) LogDensity(f Smooth, theta []float64, k, d int) float64 {
	return f.Expected(theta, theta, p.sums(f, k, d))
}

// AddGrad implements Prior.
func (p LevelPrior) AddGrad(f Smooth, g, theta []float64, k, d int) {
	addGrad(f, g, theta, p.sums(f, k, d))
}

// addGrad adds to g the gradient of the sums s.
func addGrad(f Smooth, g, theta []float64, s *Stats) {
	own := make([]float64, len(theta))
	f.Grad(own, theta, s)
	for i, v := range own {
		g[i] += v
	}
}

// MStep implements Prior.
func (p LevelPrior) MStep(f Smooth, next, theta []float64, s *Stats) {
	f.MStep(next, theta, p.with(f, s))
}

// Precondition implements Prior.
func (p LevelPrior) Precondition(f Smooth, z, q, theta []float64, s *Stats, framed bool) {
	precondition(f, z, q, theta, p.with(f, s), framed)
}

// Multiply implements Prior.
func (p LevelPrior) Multiply(f Smooth, q, z, theta []float64, s *Stats) {
	f.Multiply(q, z, theta, p.with(f, s))
}

// SquaredLength implements Prior.
func (p LevelPrior) SquaredLength(f Smooth, z, theta []float64, s *Stats) float64 {
	return f.SquaredLength(z, theta, p.with(f, s))
}

// PartPriors are the priors of the parts of Mixed, nil for a part without one.
type PartPriors []Prior

// each calls do with each part of f, its prior, nil where it has none, and the place of its parameters.
func (p PartPriors) each(f Smooth, k int, do func(part *Part, own Prior, from, to int)) {
	i := 0
	f.(Mixed).Each(k, func(part *Part, from, to int) {
		do(part, p[i], from, to)
		i++
	})
}

// eachSums is each with the sums of the part.
func (p PartPriors) eachSums(f Smooth, s *Stats, do func(part Smooth, own Prior, from, to int, sums *Stats)) {
	i := 0
	f.(Mixed).each(s, func(part *Part, from, to int, sums *Stats) {
		do(part.Family.(Smooth), p[i], from, to, sums)
		i++
	})
}

// LogDensity implements Prior.
func (p PartPriors) LogDensity(f Smooth, theta []float64, k, _ int) (sum float64) {
	p.each(f, k, func(part *Part, own Prior, from, to int) {
		if own != nil {
			sum += own.LogDensity(part.Family.(Smooth), theta[from:to], k, part.d())
		}
	})
	return sum
}

// AddGrad implements Prior.
func (p PartPriors) AddGrad(f Smooth, g, theta []float64, k, _ int) {
	p.each(f, k, func(part *Part, own Prior, from, to int) {
		if own != nil {
			own.AddGrad(part.Family.(Smooth), g[from:to], theta[from:to], k, part.d())
		}
	})
}

// MStep implements Prior.
func (p PartPriors) MStep(f Smooth, next, theta []float64, s *Stats) {
	p.eachSums(f, s, func(part Smooth, own Prior, from, to int, sums *Stats) {
		if own == nil {
			part.MStep(next[from:to], theta[from:to], sums)
			return
		}
		own.MStep(part, next[from:to], theta[from:to], sums)
	})
}

// Precondition implements Prior.
func (p PartPriors) Precondition(f Smooth, z, q, theta []float64, s *Stats, framed bool) {
	p.eachSums(f, s, func(part Smooth, own Prior, from, to int, sums *Stats) {
		_, curved := part.(Curved)
		if own == nil {
			precondition(part, z[from:to], q[from:to], theta[from:to], sums, framed && curved)
			return
		}
		own.Precondition(part, z[from:to], q[from:to], theta[from:to], sums, framed && curved)
	})
}

// Multiply implements Prior.
func (p PartPriors) Multiply(f Smooth, q, z, theta []float64, s *Stats) {
	p.eachSums(f, s, func(part Smooth, own Prior, from, to int, sums *Stats) {
		if own == nil {
			part.Multiply(q[from:to], z[from:to], theta[from:to], sums)
			return
		}
		own.Multiply(part, q[from:to], z[from:to], theta[from:to], sums)
	})
}

// SquaredLength implements Prior.
func (p PartPriors) SquaredLength(f Smooth, z, theta []float64, s *Stats) (sum float64) {
	p.eachSums(f, s, func(part Smooth, own Prior, from, to int, sums *Stats) {
		if own == nil {
			sum += part.SquaredLength(z[from:to], theta[from:to], sums)
			return
		}
		sum += own.SquaredLength(part, z[from:to], theta[from:to], sums)
	})
	return sum
}

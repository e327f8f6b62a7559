package family

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// A Bayesian family is one whose theta stands for a distribution q of the parameters of each component, under a conjugate prior: variational
// Bayes. What theta does not hold follows from the number of rows that q of a component counts. Sums, scores and the free coordinates are
// those of the density whose precision is the expected one; the M-step, the gradient and the metric are those of the evidence lower bound.
type Bayesian interface {
	Smooth
	// Counts sets, for components whose q count n[c] rows, offset[c] to what the expected log density of a row is above the score of
	// the kernel, and information[c], unless that is nil, to minus the second derivative of the bound in n[c] where responsibilities add up
	// to n. It returns the part of the Kullback-Leibler divergence of q from the prior that depends on n alone. All in nats.
	Counts(offset, information, n []float64, d int) (divergence float64)
	// Divergence returns the rest of that divergence, which depends on theta alone, in nats.
	Divergence(theta []float64, k, d int) float64
	// LeastCount is the number above 0 by which a count may fall below 0 with q still a distribution.
	LeastCount(d int) float64
}

// BayesPrior is the conjugate prior of a Gaussian component, normal-Wishart (Attias 1999; Bishop 2006, section 10.2): its mean given its precision P is
// N(Mean, (MeanPrecision P)^-1).
//
// P is Wishart with Dof degrees of freedom and the expectation Dof Scale^-1 for Full and Tied. For Diag and TiedDiag the precision of each
// column has a gamma distribution by itself, of shape Dof/2 and rate Scale_j/2, and for Spherical and TiedSpherical one gamma distribution serves all
// columns, to which a row adds d/2. Components of a shared shape have one precision, and each a mean given it.
type BayesPrior struct {
	MeanPrecision float64   // rows that Mean counts for; above 0
	Mean          []float64 // d numbers, relative to the origin of a sweep
	Dof           float64   // above d - 1 for Full and Tied, else above 0
	Scale         []float64 // a scatter, laid out as a covariance of the shape: packed lower triangle, d numbers or one; positive definite
}

// Bayes is the Gaussian family of variational Bayes. Its theta is that of Gaussian: the means of q, and for covariances the inverse of
// the expected precision, S/dof. A component that counts n rows has the mean precision b = Prior.MeanPrecision + n and the degrees of freedom
// Prior.Dof + n, for Spherical Prior.Dof + n d; of a shared shape n is there the number of all rows. The mean of q and its scatter S are those of
// the rows and of MeanPrecision more rows at the prior's mean, with Prior.Scale added to the scatter: an M-step of pseudo-rows.
type Bayes struct {
	Gaussian
	Prior BayesPrior
}

// WithGaps implements Incomplete.
func (f Bayes) WithGaps(gaps *Gaps) Family {
	f.Gaps = gaps
	return f
}

// served is how many columns one precision serves: so many degrees of freedom a row adds to it, and so many times sums over the columns
// hold what is its own. It is d for spherical shapes, else 1.
func (f Bayes) served(d int) float64 {
	if f.Shape.kind() == Spherical {
		return float64(d)
	}
	return 1
}

// DofOf returns the degrees of freedom of a precision that so many rows of d columns count for.
func (f Bayes) DofOf(rows float64, d int) float64 { return f.Prior.Dof + f.served(d)*rows }

// digammas is the sum over the degrees of freedom of the columns of g(dof of the column / 2): of a Wishart they fall by 1 from column to
// column.
func (f Bayes) digammas(g func(float64) float64, dof float64, d int) float64 {
	if f.Shape.kind() != Full {
		return float64(d) * g(dof/2)
	}
	sum := 0.0
	for j := range d {
		sum += g((dof - float64(j)) / 2)
	}
	return sum
}

// LeastCount implements Bayesian.
func (f Bayes) LeastCount(d int) float64 {
	if f.Shape.Shared() { // degrees of freedom count all rows
		return f.Prior.MeanPrecision
	}
	least := f.Prior.Dof / f.served(d)
	if f.Shape.kind() == Full {
		least = f.Prior.Dof - float64(d-1)
	}
	return min(least, f.Prior.MeanPrecision)
}

// Counts implements Bayesian.
func (f Bayes) Counts(offset, information, n []float64, d int) (divergence float64) {
	total := 0.0
	for _, v := range n {
		total += v
	}
	b0, served := f.Prior.MeanPrecision, f.served(d)
	for c, own := range n {
		rows := own
		if f.Shape.Shared() {
			rows = total
		}
		b, dof := b0+own, f.DofOf(rows, d)
		offset[c] = f.Offset(b, dof, d)
		if information != nil {
			information[c] = float64(d) / (2 * b * b)
			if !f.Shape.Shared() {
				information[c] += served * served * (f.digammas(Trigamma, dof, d)/4 - float64(d)/(2*dof)) / served
			}
		}
		divergence += 0.5 * float64(d) * (b0/b - 1 - math.Log(b0/b))
		if !f.Shape.Shared() || c == 0 {
			divergence += f.ofDof(dof, d)
		}
	}
	return divergence
}

// Offset returns what the expected log density of a row of d columns is above the log density by the expected precision, in nats, for a
// component of q with the mean precision b and so many degrees of freedom.
func (f Bayes) Offset(b, dof float64, d int) float64 {
	return 0.5*(f.digammas(mathext.Digamma, dof, d)-float64(d)*math.Log(dof/2)) - float64(d)/(2*b)
}

// ofDof returns the part of the divergence of a precision that depends on its degrees of freedom.
func (f Bayes) ofDof(dof float64, d int) float64 {
	dof0, columns := f.Prior.Dof, float64(d)
	sum := 0.5 * columns * (dof0*math.Log(dof) - dof)
	sum += f.digammas(lgamma, dof0, d) - f.digammas(lgamma, dof, d) + (dof-dof0)/2*f.digammas(mathext.Digamma, dof, d)
	return sum / f.served(d)
}

// Divergence implements Bayesian.
func (f Bayes) Divergence(theta []float64, k, d int) float64 {
	b := f.Bind(theta, k, d).(*gaussianKernel)
	prior := f.Prior
	u := make([]float64, f.Shape.Size(d))
	f.Scale(u, slices.Clone(prior.Scale), d)
	log0 := f.inverse(make([]float64, len(u)), u, d) / f.served(d)
	e, sum := make([]float64, d), 0.0
	for c := range k {
		for j, m := range prior.Mean {
			e[j] = theta[c*d+j] - m
		}
		sum += 0.5 * prior.MeanPrecision * f.whiteSquare(f.scale(b.whiten, c, d), e)
	}
	w := make([]float64, len(u))
	for c := range f.Shape.Count(k) {
		logDet := f.inverse(w, f.ScaleOf(theta, c, k, d), d) / f.served(d)
		sum += prior.Dof*(logDet-log0) + 0.5*f.trace(w, prior.Scale, d)
	}
	return sum
}

// withPrior returns the sums s of a sweep with theta with those of the rows that the prior stands for, with the counts of scales and with those of
// means. The two share their moments.
func (f Bayes) withPrior(theta []float64, s *Stats) (scale, mean *Stats) {
	k, d, prior := s.K, s.D, f.Prior
	scale = s.clone()
	own := *scale
	mean, own.N = &own, slices.Clone(s.N)
	first, second := scale.Sum[:k*d], f.second(scale)
	e := make([]float64, d)
	for c := range k {
		mean.N[c] += prior.MeanPrecision
		for j, m := range prior.Mean {
			e[j] = m - theta[c*d+j]
			first[c*d+j] += prior.MeanPrecision * e[j]
		}
		q := f.scale(second, c, d)
		f.recentre(q, e, -1/prior.MeanPrecision) // adds MeanPrecision e e'
		if !f.Shape.Shared() || c == 0 {
			for i, v := range prior.Scale {
				q[i] += v
			}
			scale.N[c] += prior.Dof / f.served(d)
		}
	}
	return scale, mean
}

// MStep sets means and scales to those of the best q for the responsibilities.
func (f Bayes) MStep(next, theta []float64, s *Stats) {
	k, d := s.K, s.D
	scale, mean := f.withPrior(theta, s)
	first, second := scale.Sum[:k*d], f.second(scale)
	for c := range k {
		t := first[c*d : c*d+d]
		f.recentre(f.scale(second, c, d), t, mean.N[c])
		for j := range d {
			next[c*d+j] = theta[c*d+j] + t[j]/mean.N[c]
		}
	}
	z := f.Shape.Size(d)
	for c := range f.Shape.Count(k) {
		f.ToScale(next[k*d+c*z:k*d+c*z+z], second[c*z:c*z+z], f.weight(scale, c), d)
	}
}

// Grad sets g to the gradient of the bound, responsibilities held fixed, in means and scales.
func (f Bayes) Grad(g, theta []float64, s *Stats) {
	scale, _ := f.withPrior(theta, s)
	f.Gaussian.Grad(g, theta, scale)
}

// Precondition implements Smooth: the information of a mean is b P, and that of a scale counts the degrees of freedom for rows.
func (f Bayes) Precondition(z, q, theta []float64, s *Stats) {
	scale, mean := f.withPrior(theta, s)
	means := make([]float64, len(q))
	f.Gaussian.Precondition(means, q, theta, mean)
	f.Gaussian.Precondition(z, q, theta, scale)
	copy(z[:s.K*s.D], means)
}

// Multiply implements Smooth.
func (f Bayes) Multiply(q, z, theta []float64, s *Stats) {
	scale, mean := f.withPrior(theta, s)
	means := make([]float64, len(q))
	f.Gaussian.Multiply(means, z, theta, mean)
	f.Gaussian.Multiply(q, z, theta, scale)
	copy(q[:s.K*s.D], means)
}

// SquaredLength implements Smooth.
func (f Bayes) SquaredLength(z, theta []float64, s *Stats) float64 {
	scale, mean := f.withPrior(theta, s)
	at, own := s.K*s.D, make([]float64, len(z))
	copy(own, z[:at])
	sum := f.Gaussian.SquaredLength(own, theta, mean)
	clear(own[:at])
	copy(own[at:], z[at:])
	return sum + f.Gaussian.SquaredLength(own, theta, scale)
}

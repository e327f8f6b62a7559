package plan

import "github.com/latent-go/latent/internal/family"

// Driver returns the driver in use on d columns: never Auto.
func (p *Plan) Driver(d int) Algorithm {
	a, _ := p.DriverAndReason(d)
	return a
}

// DriverAndReason returns the driver in use on d columns and, where it was left to the fit, why it is this one; else "".
func (p *Plan) DriverAndReason(d int) (a Algorithm, why string) {
	switch {
	case p.Penalty != nil:
		return DPMeans, ""
	case p.Algorithm != Auto:
		return p.Algorithm, ""
	case !p.Mixture() && d == 1 && !p.Holes && p.auto() && p.NInit == 0 && p.Spec.MaxIter == nil && p.TolShift == 0:
		return Exact, "in one column the best solution can be found for certain"
	case p.breathes():
		return Breathing, "moves of centres and rows find what Lloyd's algorithm misses, in less time than more starts take"
	case !p.Mixture():
		return Lloyd, "every step takes the best centres for the labels and the best labels for the centres"
	case p.RegCovar > 0:
		return EM, "with --reg-covar no likelihood is maximised, so only EM's own steps apply"
	}
	return EMLBFGS, "it finds what EM finds, in several times fewer passes where groups overlap"
}

// breathes reports whether a fit of k-means whose driver is left open is one of breathing k-means, which goes on where Lloyd's algorithm
// ends (Fritzke 2020). It is not where the start is given or steps are limited.
func (p *Plan) breathes() bool {
	return p.Kind.Squared && !p.Holes && !p.HasStart() && p.K != 1 && p.Spec.MaxIter == nil && p.TolShift == 0
}

// auto reports whether the choice of starts is left to the fit.
func (p *Plan) auto() bool { return p.Init == AutoStart }

// Start returns how starts are chosen on d columns: never AutoStart, and NoStart where none is needed.
func (p *Plan) Start(d int) Start {
	switch {
	case p.Driver(d) == Exact:
		return NoStart
	case !p.auto():
		return p.Init
	case p.Penalty != nil:
		return OverallMean
	case !p.Mixture():
		return GreedyPlusPlus
	case p.Shape.Factors() > 0 && d > family.NarrowColumns:
		// Of many columns a likelihood rewards components of few rows, whose factors explain a large share of chance: what is best of several
		// tries after a few steps has such components.
		return KMeans
	case p.Thorough() || p.Chain:
		return Mixed
	}
	return KMeans
}

// Thorough reports whether how to search is left to the fit: it then begins at starts of several kinds, and goes on by
// splitting and merging components.
func (p *Plan) Thorough() bool {
	return p.Mixture() && !p.Chain && p.RegCovar == 0 && p.auto() && p.NInit != 1 && (p.Algorithm == Auto || p.Bayes())
}

// HasStart reports whether the caller brought the start.
func (p *Plan) HasStart() bool {
	return p.Init == FromLabels || p.Init == FromModel || p.Init == FromCenters
}

// Starts returns the number of starts on n rows, at least 1.
func (p *Plan) Starts(n int64) int {
	switch {
	case p.HasStart():
		return 1
	case p.NInit > 0:
		return p.NInit
	case p.K == 1 && p.Noise == nil: // every start ends at the same place
		return 1
	case p.Driver(0) == Breathing: // its moves find more than further starts, and a few centres have few local optima
		if n <= 1000 && p.K > 3 {
			return 2
		}
		return 1
	case n > 10_000:
		return 3
	case p.Holes && !p.Mixture(): // nothing goes on where Lloyd's algorithm ends
		return int(min(max(gappedWork/n, 10), 200))
	case p.Thorough():
		return 5
	}
	return 10
}

// gappedWork is the number of rows of all starts of k-means with missing cells together.
const gappedWork = 200_000

// Constants of tries: how many starts are tried for each one that climbs.
const (
	smallStarts = 10     // at most
	mixedWork   = 20_000 // rows of all tries together, where starts are mixed

	// Of kinds whose starts are of several kinds (kind.Kind.Soft): fewer tries, each almost to its maximum. Their likelihoods have many
	// local maxima, and the objective after ten steps of EM says little about the maximum that it leads to.
	discreteTries = 4
	discreteWork  = 10_000
)

// Tries returns how many starts of a method are tried, on n rows, for each one that climbs: fewer where they take long, 1 where none are
// tried.
func (p *Plan) Tries(method Start, n int64) int {
	switch {
	case method == SmallEM:
		return smallStarts
	case method == Mixed && p.Kind.Soft:
		return int(min(max(discreteWork/n, 1), discreteTries))
	case method == Mixed:
		return int(min(max(mixedWork/n, 1), smallStarts))
	}
	return 1
}

package latent

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// leastSquare is the least squared distance that is surely a number of full precision: a sum of squares below it may have
// lost some of them.
const leastSquare = 0x1p-1015

// mostCost is where kernels stop counting: squares that overflow are to them the largest number.
const mostCost = math.MaxFloat64 / 4

// guard refuses rows of which a model cannot tell in float64: those so far from all components that no log density or cost is
// finite, and those between centres so close that squares of distances vanish.
type guard struct {
	m      *Model
	names  []string // of the variables that the parameters speak of
	origin []float64
	near   map[int32]int
}

func (m *Model) guard(origin []float64) *guard {
	return &guard{m: m, names: m.Fitted(), origin: origin, near: map[int32]int{}}
}

// check returns what is wrong with the first row of s that cannot be told of.
func (g *guard) check(s *Scored) error {
	square := g.m.kind().Squared
	for i, best := range s.Best {
		switch {
		case s.Weight(i) == 0:
		case !(best > -mostCost) || !(s.Score[i] > -mostCost):
			return g.tooFar(s, i)
		case square && -best < leastSquare:
			if j := g.crowded(s.Label[i]); j >= 0 {
				return fmt.Errorf("row %d, column %q: the centres next to it differ by so little that squares underflow; multiply the column by a constant, or use --scale standard", s.Number(i), g.names[j])
			}
		}
	}
	return nil
}

// crowded returns a column in which another centre differs from c, where it does so in all columns by so little that squares
// underflow; -1 where there is none.
func (g *guard) crowded(c int32) int {
	if j, known := g.near[c]; known {
		return j
	}
	at := -1
	for _, other := range g.m.Means {
		if at = closest(g.m.Means[c], other); at >= 0 {
			break
		}
	}
	g.near[c] = at
	return at
}

// closest returns the column in which two centres differ most, where they differ and the square of their distance underflows;
// -1 elsewhere.
func closest(a, b []float64) int {
	sum, widest := 0.0, 0
	for j, v := range a {
		if sum += (v - b[j]) * (v - b[j]); sum >= leastSquare {
			return -1
		}
		if math.Abs(v-b[j]) > math.Abs(a[widest]-b[widest]) {
			widest = j
		}
	}
	if a[widest] == b[widest] {
		return -1
	}
	return widest
}

func (g *guard) tooFar(s *Scored, i int) error {
	at := 0
	for j := range s.D {
		if math.Abs(s.At(i, j)/2-g.origin[j]/2) > math.Abs(s.At(i, at)/2-g.origin[at]/2) {
			at = j
		}
	}
	for j := range s.D {
		if v := s.At(i, j); v-v != 0 {
			return fmt.Errorf("row %d, column %q: the value overflows where it is scaled; divide the column by a constant", s.Number(i), g.names[j])
		}
	}
	what, name := "its log density", g.names[at]
	if !g.m.HasDensity() {
		what = "the distance to a centre"
	}
	return fmt.Errorf("row %d, column %q: %v is so far from all groups that no float64 can hold %s; leave the row out, or divide the column by a constant", s.Number(i), name, s.At(i, at), what)
}

// leastWeight is the least sum of row weights that is fitted: what is in proportion to it, as a log-likelihood is, must keep
// its digits.
const leastWeight = 0x1p-1000

// checkWeights refuses weights whose sum no float64 can hold, or only few digits of it.
func checkWeights(sum float64) error {
	switch {
	case math.IsInf(sum, 1):
		return errors.New("the row weights add up to more than a float64 can hold")
	case sum < leastWeight:
		return fmt.Errorf("the row weights add up to %g, so little that sums lose their digits; multiply the weights by a constant", sum)
	}
	return nil
}

// OutOfRange returns what Fit says of a column of a Gaussian mixture whose values have the standard deviation sd, where it
// refuses it because no float64 could hold the covariances; nil where it does not.
func OutOfRange(column string, sd float64) error {
	switch power := 2 * math.Log2(sd); {
	case sd == 0:
		return nil
	case power > math.Log2(mostVariance):
		return tooLarge(column)
	case power < math.Log2(leastVariance):
		return tooSmall(column)
	}
	return nil
}

// WeightsOutOfRange returns what Fit says of row weights that add up to sum, where it refuses them because no float64 could hold
// what is in proportion to them; nil where it does not.
func WeightsOutOfRange(sum float64) error {
	if sum == 0 {
		return nil
	}
	return checkWeights(sum)
}

// checkNumbers refuses a result with a number that no float64 can hold, and an inertia whose squares have vanished.
func (f *fit) checkNumbers(ctx context.Context, r *Result) error {
	for _, v := range []*float64{r.LogLik, r.BIC, r.AIC, r.ICL, r.Inertia, r.Objective} {
		if v != nil && *v-*v != 0 {
			what := "log-likelihood"
			if r.LogLik == nil {
				what = "inertia"
			}
			return fmt.Errorf("the %s is more than a float64 can hold; divide the columns, or the row weights, by a constant", what)
		}
	}
	const normal = 0x1p-1022 // numbers below it have fewer digits
	if r.Inertia == nil || *r.Inertia >= normal || *r.Inertia > 0 && f.spec.medians() {
		return nil
	}
	if *r.Inertia > 0 {
		return errors.New("the inertia is less than a float64 can hold with all its digits; multiply the columns, or the row weights, by a constant")
	}
	// Rows cost nothing only where each equals its centre.
	if distinct, err := distinctRows(ctx, f.user, r.K+1); err != nil || distinct <= r.K {
		return err
	}
	at := -1
	for j, hi := range f.look.Max {
		if width := hi - f.look.Min[j]; width > 0 && (at < 0 || width < f.look.Max[at]-f.look.Min[at]) {
			at = j
		}
	}
	if at < 0 || at >= len(f.names) || len(f.look.Max) != len(f.names) {
		return errors.New("rows of one group differ by so little that the squares underflow; use --scale standard")
	}
	return fmt.Errorf("column %q: rows of one group differ by so little that the squares underflow; multiply the column by a constant, or use --scale standard", f.names[at])
}

// Package inference tells what the final point of a fit is worth: its certificate, its standard errors, and whether the rows determine all
// parameters.
package inference

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/prepare"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// Fit is a fit whose final point is asked about.
type Fit struct {
	*prepare.Rows
	Mix   *mixture.Mixture
	Local *sweep.Local
	// Climb runs a driver from theta, counts its passes, and returns its last step.
	Climb  func(ctx context.Context, d ascent.Driver, theta []float64) (ascent.Step, error)
	Sweeps int // passes made without Climb
	// Gradient returns the gradient at theta without reading rows; nil where that cannot be.
	Gradient func(theta []float64) []float64
}

// StandardErrors makes a pass, or under a prior several, for the standard errors at s, the last step of a fit, in the user's units. Parameters on a floor have none.
// Component c of the answer is component order[c] of theta; where order[c] is -1 it has no standard errors. Where s has not been looked at
// in every direction, the pass may find a flat direction, which s.Certificate then tells. The answer is nil for a model without a density,
// and says why where there are no standard errors.
func (f *Fit) StandardErrors(ctx context.Context, s *ascent.Step, order []int) (*model.StandardErrors, error) {
	if !f.Mix.Family.Density() {
		return nil, nil
	}
	e, theta := &model.StandardErrors{}, s.Point.Theta
	held := f.NearEdge(s.Point)
	keep := f.Mix.Identified(theta, held)
	p := len(keep)
	switch {
	case f.Plan.RegCovar > 0:
		e.Why = "--reg-covar adds to the variances, so that no likelihood is maximised"
	case f.Plan.Hard():
		e.Why = "hard labels maximise another function than the log-likelihood"
	case IsFlat(s):
		e.Why = Undetermined
	case p == 0:
		e.Why = "every parameter is at an end of its range"
	case p > sweep.MaxInformation:
		e.Why = fmt.Sprintf("there are %d free parameters, more than the %d for which they are computed", p, sweep.MaxInformation)
	case f.Mix.Chain && float64(p)*float64(p)*float64(f.Survey.Used) > mostOfChain:
		e.Why = fmt.Sprintf("they take two passes for each of %d parameters over %s, which takes long", p, text.Count(f.Survey.Used, "row"))
	case int64(p) >= f.Survey.Used && !f.differences(p):
		e.Why = fmt.Sprintf("%s too few for the standard errors of %d parameters", text.RowsAre(f.Survey.Used, f.Survey.W), p) // whatever their weights, the scores of n rows span n directions at most
	}
	if e.Why != "" {
		return e, nil
	}
	info, found, err := f.information(ctx, s, keep, held)
	if err != nil {
		return nil, err
	}
	if IsFlat(s) {
		e.Why = Undetermined
		return e, nil
	}
	e.Rows = found.Rows
	f.holdRotations(info, keep, theta)
	u, err := mixture.Invert(info, keep)
	if err != nil {
		e.Why = err.Error()
		return e, nil
	}
	e.Method = found.Method
	n := natural{f: f, theta: theta, held: held, u: u, order: order}
	n.at = len(theta) - len(f.Mix.Components(theta))
	n.fill(e)
	multiply(e, math.Exp2(float64(f.Units.WeightPower)/2)) // an error is in proportion to 1 / sqrt(weights)
	return e, nil
}

// EdgeRows is the expected number of rows with the rarer outcome of a probability, or of noise, below which its standard error is left out.
const EdgeRows = 0.1

// mostOfChain is how much rows x p^2 may be for the standard errors of the p parameters of a hidden Markov model, which take 2 p passes: some ten seconds.
const mostOfChain = 4e9

// NearEdge returns, for each parameter of p, whether it has no standard error: those held, probabilities so near 0 or 1 that less than a tenth
// of a row is expected to have the rarer outcome, and the means of a component at the floor of variances, whose rows are all but equal in
// some direction.
func (f *Fit) NearEdge(p *ascent.Point) []bool {
	theta := p.Theta
	comp := f.Mix.Components(theta)
	near, at := make([]bool, len(theta)), len(theta)-len(comp)
	copy(near, p.Held)
	weights := f.Mix.LogWeights(nil, theta)
	if f.Mix.Chain {
		f.nearEdgeOfChain(near, p)
		for c, w := range p.Weights {
			weights[c] = math.Log(w / f.Survey.W)
		}
	}
	if f.Mix.Noise != nil && math.Exp(f.Mix.LogNoise(theta))*f.Survey.W < EdgeRows {
		near[f.Mix.K] = true
	}
	for i, part := range f.Mix.Parts() {
		f.nearEdge(near[at+part.From:at+part.To], part, f.kindOf(i, part), comp[part.From:part.To], weights)
	}
	return near
}

// nearEdgeOfChain is NearEdge of the probabilities of first states and of transitions. A state has about as many moves as rows.
func (f *Fit) nearEdgeOfChain(near []bool, p *ascent.Point) {
	initial, transitions := f.Mix.ChainProbabilities(p.Theta)
	mark := func(at int, v, n float64) { near[at] = near[at] || n*min(v, 1-v) < EdgeRows }
	for c, v := range initial {
		mark(c, v, float64(f.Sequences))
	}
	for i, v := range transitions {
		mark(f.Mix.K+i, v, p.Weights[i/f.Mix.K])
	}
}

// kindOf returns what part i is modelled by.
func (f *Fit) kindOf(i int, part mixture.Part) *kind.Kind {
	return f.Plan.Kind.Parts(f.Plan.Types, len(part.Columns))[i].Kind
}

// nearEdge is NearEdge of the parameters comp of one part.
func (f *Fit) nearEdge(near []bool, part mixture.Part, kd *kind.Kind, comp, weights []float64) {
	k, d := part.K, part.D
	fam, ok := part.Family.(family.Natural)
	if !ok {
		for c, floor := range part.Family.AtFloor(comp, k, d) {
			for j := range d {
				near[c*d+j] = near[c*d+j] || floor
			}
		}
		return
	}
	p, events := fam.Natural(nil, comp, k), kd.Location.Events
	if events == nil { // all rows tell
		return
	}
	for c, lw := range weights {
		rows, width := math.Exp(lw)*f.Survey.W, len(p)/k
		for j := c * width; j < (c+1)*width; j++ {
			near[j] = near[j] || events(p[j], rows) < EdgeRows
		}
	}
}

// natural turns the uncertainty of theta into standard errors of natural parameters.
type natural struct {
	f     *Fit
	theta []float64
	held  []bool
	u     *mixture.Uncertainty
	order []int
	at    int // where the parameters of the part begin in theta

	part mixture.Part
	kind *kind.Kind // of the part
}

// fill sets the standard errors of all parameters.
func (n *natural) fill(e *model.StandardErrors) {
	switch {
	case n.f.Mix.Chain:
		n.chain(e)
	case n.at > 0 && (len(n.order) > 1 || n.f.Mix.Noise != nil):
		w := n.f.Mix.LogWeights(nil, n.theta)
		if n.f.Mix.Noise != nil {
			w = append(w, n.f.Mix.LogNoise(n.theta))
		}
		for c := range w {
			w[c] = math.Exp(w[c])
		}
		shares := n.shares(0, w)
		if k := n.f.Mix.K; k < len(shares) {
			e.Noise = shares[k:]
		}
		for _, c := range n.order {
			v := math.NaN()
			if c >= 0 {
				v = shares[c]
			}
			e.Weights = append(e.Weights, v)
		}
	}
	at := n.at
	for i, part := range n.f.Mix.Parts() {
		n.part, n.kind, n.at = part, n.f.kindOf(i, part), at+part.From
		if t, ok := part.Family.(family.Student); ok {
			n.tails(e, t)
		}
		switch fam := family.BaseOf(part.Family).(type) {
		case family.Gaussian:
			n.gaussian(e, fam)
		case family.Parsimonious:
			n.gaussian(e, fam.Plain())
		case family.Factors:
			n.factors(e, fam.WideFactors)
		case family.WideFactors:
			n.factors(e, fam)
		case family.Natural:
			n.locations(e, fam)
		}
	}
}

// chain sets the errors of the probabilities of first states and of transitions.
func (n *natural) chain(e *model.StandardErrors) {
	k := n.f.Mix.K
	initial, transitions := n.f.Mix.ChainProbabilities(n.theta)
	e.Initial = kind.Picked(n.shares(0, initial), n.order)
	for _, a := range n.order {
		e.Transitions = append(e.Transitions, kind.Picked(n.shares(k+a*k, transitions[a*k:(a+1)*k]), n.order))
	}
}

// components returns the parameters of the part.
func (n *natural) components() []float64 { return n.theta[n.at : n.at+n.part.To-n.part.From] }

// locations sets the errors of components of a kind whose parameters are one number a cell, such as a probability: each by its slope in its
// own parameter, or those of the levels of a column together.
func (n *natural) locations(e *model.StandardErrors, fam family.Natural) {
	k, at := n.f.Mix.K, n.kind.Location
	p := fam.Natural(nil, n.components(), k)
	width, rows := len(p)/k, make([]model.Errors, k)
	if groups, ok := fam.(family.Grouped); ok {
		groups.Groups(k, func(from, to int) {
			c := from / width
			rows[c] = append(rows[c], n.shares(n.at+from, p[from:to])...)
		})
	} else {
		for i, v := range p {
			rows[i/width] = append(rows[i/width], n.u.StandardError(n.at+i, []float64{at.Slope(v)}))
		}
	}
	told := &e.Probabilities
	switch {
	case at.Told == kind.Probability:
	case n.f.Plan.Kind.Parted:
		told = &e.Rates
	default:
		told = &e.Means
	}
	for _, c := range n.order {
		if c < 0 {
			*told = append(*told, unknown(width))
		} else {
			*told = append(*told, rows[c])
		}
	}
}

// shares returns the standard errors of probabilities p that are the softmax of the logits t = theta[from:from+len(p)]:
// dp_l = p_l (dt_l - sum_m p_m dt_m).
func (n *natural) shares(from int, p []float64) model.Errors {
	e, grad := make(model.Errors, len(p)), make([]float64, len(p))
	for l := range p {
		for m := range p {
			grad[m] = -p[l] * p[m]
		}
		grad[l] = p[l] * (1 - p[l])
		e[l] = math.NaN()
		if n.held == nil || !n.held[from+l] {
			e[l] = n.u.StandardError(from, grad)
		}
	}
	return e
}

// gaussian sets the errors of means and covariances.
func (n *natural) gaussian(e *model.StandardErrors, g family.Gaussian) {
	unit, columns := n.f.unitSizes(), len(n.f.Names)
	if n.f.Plan.Kind.Parted {
		unit, columns = kind.Picked(unit, n.part.Columns), n.part.D
	}
	n.means(e, columns)
	for i := range g.Shape.Count(len(n.order)) {
		c := n.order[i]
		if g.Shape.Shared() {
			c = 0
		}
		e.Covariance = append(e.Covariance, n.covariance(g, c, unit))
	}
}

// means sets the errors of means in so many columns.
func (n *natural) means(e *model.StandardErrors, columns int) {
	for _, c := range n.order {
		row := unknown(columns)
		for j := 0; j < len(row) && c >= 0; j++ {
			row[j] = n.mean(c, j)
		}
		e.Means = append(e.Means, row)
	}
}

// tails sets the errors of degrees of freedom, of which theta holds the logarithms. Those that are given or at a limit have none.
func (n *natural) tails(e *model.StandardErrors, t family.Student) {
	comp := n.components()
	v, from := t.Dofs(comp, n.part.K), n.at+len(t.Scales(comp, n.part.K))
	free := n.at + len(comp) - from
	for _, c := range n.order {
		own := math.NaN()
		if at := from + min(c, free-1); c >= 0 && free > 0 && (n.held == nil || !n.held[at]) {
			own = n.u.StandardError(at, []float64{v[c]})
		}
		e.Dof = append(e.Dof, own)
	}
}

// unknown returns the standard errors of n parameters that have none.
func unknown(n int) model.Errors { return slices.Repeat(model.Errors{math.NaN()}, n) }

// mean returns the standard error of the mean of component c in column j, in the user's units.
func (n *natural) mean(c, j int) float64 {
	d, unit := n.part.D, 1.0
	for _, t := range n.f.Transform {
		if t.Kind != "pca" {
			at := j
			if n.f.Plan.Kind.Parted {
				at = n.part.Columns[j]
			}
			unit *= t.Scale[at]
			continue
		}
		grad := make([]float64, d) // of the column's mean in those of the components
		for a, axis := range t.Components {
			grad[a] = unit * axis[j]
		}
		return n.u.StandardError(n.at+c*d, grad)
	}
	return unit * n.u.StandardError(n.at+c*d+j, []float64{1})
}

// covariance returns the standard errors of the covariance of component c, laid out as in model.StandardErrors; unknown where c is -1.
func (n *natural) covariance(g family.Gaussian, c int, unit []float64) model.Errors {
	d, size := n.part.D, g.Shape.Size(n.part.D)
	entry := func(_, _ int) float64 { return math.NaN() }
	if c >= 0 {
		entry = n.entries(g, c)
	}
	at := func(j, l int) float64 { return unit[j] * unit[l] * entry(j, l) }
	switch {
	case g.Shape.Matrix():
		e := make(model.Errors, d*d)
		for j := range d {
			for l := range j + 1 {
				v := at(j, l)
				e[j*d+l], e[l*d+j] = v, v
			}
		}
		return e
	case size == 1 && (len(n.f.UserTransforms()) == 0 || model.Principal(n.f.Transform) != nil):
		return model.Errors{at(0, 0)}
	}
	e := make(model.Errors, d)
	for j := range e {
		e[j] = at(j, j)
	}
	return e
}

// entries returns a function that returns the standard error of entry j, l of the covariance of component c.
func (n *natural) entries(g family.Gaussian, c int) func(j, l int) float64 {
	k, d, comp := n.part.K, n.part.D, n.components()
	if fam, ok := family.BaseOf(n.part.Family).(family.Parsimonious); ok {
		grad := make([]float64, len(comp))
		return func(j, l int) float64 {
			fam.CovarianceGrad(grad, comp, c, j, l, k, d)
			return n.u.StandardError(n.at, grad)
		}
	}
	size := g.Shape.Size(d)
	u, grad := g.ScaleOf(comp, c, k, d), make([]float64, size)
	return func(j, l int) float64 {
		g.CovarianceGrad(grad, u, j, l, d)
		return n.u.StandardError(n.at+k*d+c*size, grad)
	}
}

// unitSizes returns, for each variable, how long a step of 1 in the fit is in the units that covariances are told in: the user's, or those of
// principal components.
func (f *Fit) unitSizes() []float64 {
	unit := slices.Repeat([]float64{1}, f.Mix.D)
	if model.Principal(f.Transform) != nil {
		if !f.Plan.Scaled() {
			unit = slices.Repeat([]float64{math.Ldexp(1, f.Units.ScalePower)}, f.Mix.D)
		}
		return unit
	}
	for _, t := range f.Transform {
		for j, s := range t.Scale {
			unit[j] *= s
		}
	}
	return unit
}

// multiply multiplies all errors of e.
func multiply(e *model.StandardErrors, by float64) {
	for _, rows := range [][]model.Errors{{e.Weights, e.Initial, e.Noise, e.Dof}, e.Transitions, e.Means, e.Covariance, e.Loadings, e.Uniquenesses, e.Probabilities, e.Rates} {
		for _, row := range rows {
			for j := range row {
				row[j] *= by
			}
		}
	}
}

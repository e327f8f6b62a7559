package latent

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/score"
)

// result turns the winning run into a model and judges it with one more pass, by the model's own numbers: what is
// reported is what the model file gives back.
func (f *fit) result(ctx context.Context, e *outcome) (*Result, error) {
	win, interrupted := e.win(), e.interrupted
	m, order := f.model(win.last.Point)
	t, err := f.judge(ctx, m)
	if err != nil {
		return nil, err
	}
	if !m.HasDensity() {
		m.Sizes = t.sizes
	}
	s := win.last
	r := &Result{
		Kind: m.Kind, K: m.K(), N: f.look.Used, Weight: f.weight(), D: len(f.names), Columns: f.names, Levels: f.plan.Levels,
		Algorithm: string(f.plan.Driver(f.mix.D)), Init: string(f.plan.Start(f.mix.D)), Seed: f.plan.Seed, Converged: s.Done.Converged() && !interrupted, Interrupted: interrupted, Reason: s.Done,
		Iterations: s.Iteration, Sweeps: win.sweeps + 1, Moves: s.Kept, Threads: f.plan.Threads, Free: f.mix.Free(),
		Starts: f.agreement(e), Warnings: []string{}, Version: Version, Model: m,
		PCA: m.PCA(), ColumnSD: f.sd,
	}
	_, r.Why = f.plan.Choice(f.mix.D)
	for _, run := range e.runs {
		r.SweepsTotal += run.sweeps
	}
	r.SweepsTotal += f.startSweeps + f.moveSweeps + 2 // the first pass, and the one that judges
	f.numbers(r, t)
	if err := f.checkNumbers(ctx, r); err != nil {
		return nil, err
	}
	f.components(r, m, t)
	if !interrupted {
		if r.StandardErrors, err = f.standardErrors(ctx, &s, order); err != nil {
			return nil, err
		}
		if r.StandardErrors != nil && r.StandardErrors.Rows > 0 {
			r.SweepsTotal++
		}
	}
	r.Sweeps, r.SweepsTotal = r.Sweeps+f.confirmSweeps, r.SweepsTotal+f.confirmSweeps
	f.certify(r, s)
	f.edges(r, s.Point, t, order)
	f.warnings(r, t, e)
	f.dominance(r)
	if err := f.flatGroups(ctx, r); err != nil {
		return nil, err
	}
	if t.agreement != nil {
		r.Truth = &model.Truth{ARI: t.agreement.ARI(), NMI: t.agreement.NMI()}
		if t.unknown > 0 {
			r.warn(fmt.Sprintf("%s no value in the column of known groups; they count as a class of their own", text.Count(t.unknown, "row")+text.Form(t.unknown, " has", " have")))
		}
	}
	return r, f.addProvenance(r)
}

// addProvenance puts into the model what the fit found out, so that the file alone can tell it again. No times and no thread
// counts: the same fit gives the same bytes.
func (f *fit) addProvenance(r *Result) (err error) {
	m := r.Model
	m.N, m.LogLik = new(f.look.Used), r.LogLik
	if m.Spec, err = f.plan.JSON(); err != nil {
		return err
	}
	m.SetStandardErrors(r.StandardErrors)
	m.Certificate, err = json.Marshal(r.Certificate)
	m.Provenance = &model.Provenance{
		Rows: f.look.Used, Weight: r.Weight, Converged: r.Converged, Interrupted: r.Interrupted, Algorithm: r.Algorithm, Why: r.Why, Free: r.Free, Init: r.Init,
		Seed: r.Seed, Iterations: r.Iterations, Sweeps: r.Sweeps, SweepsTotal: r.SweepsTotal, Moves: r.Moves, Starts: r.Starts, ICL: r.ICL,
		Inertia: r.Inertia, Penalty: r.Penalty, Objective: r.Objective, Truth: r.Truth, Warnings: r.Warnings, Version: r.Version, ColumnSD: r.ColumnSD,
	}
	for _, c := range r.Components {
		m.Provenance.GroupRows = append(m.Provenance.GroupRows, c.Rows)
		m.Provenance.AtFloor = append(m.Provenance.AtFloor, c.AtFloor)
	}
	return err
}

// numbers fills in the objective and the criteria.
func (f *fit) numbers(r *Result, t *tally) {
	if !f.plan.Mixture() {
		r.Inertia = new(0 - t.best)
		if f.plan.Penalty != nil {
			r.Penalty, r.Objective = f.plan.Penalty, new(*r.Inertia+*f.plan.Penalty*float64(r.K))
		}
		return
	}
	ll := t.logLik
	n, p := f.weight(), r.Free
	r.LogLik, r.MeanLogLik = new(ll), new(ll/n)
	r.BIC, r.AIC, r.ICL = new(score.BIC(p, n, ll)), new(score.AIC(p, ll)), new(score.ICL(p, n, ll, t.entropy))
}

// estimateAfter is how many steps a driver's own estimate of the distance needs to mean anything.
const estimateAfter = 6

// certify says how far from the optimum the fit stopped.
func (f *fit) certify(r *Result, s ascent.Step) {
	c := &r.Certificate
	c.OnEdge = []string{}
	switch {
	case f.plan.RegCovar > 0:
		c.Why = "--reg-covar adds to the variances outside the likelihood: nothing is climbed"
		return
	case f.plan.Hard() && f.plan.Mixture():
		c.Why = "hard labels climb another function than the log-likelihood"
		return
	case f.plan.Hard():
		return
	}
	method := "estimate" // the driver's own, where nobody looked closely
	if s.Certificate != nil {
		method = string(s.Certificate.Method)
		if s.Certificate.AtLeast {
			method = "lower bound"
		}
		c.Why, c.Saddles = s.Certificate.Why, s.Certificate.Saddles
		if s.Certificate.Curvature == s.Certificate.Curvature {
			c.Curvature, c.Whole = new(s.Certificate.Curvature), s.Certificate.Whole
		}
	}
	if s.Distance == s.Distance && (s.Certificate != nil || s.Iteration >= estimateAfter) {
		c.DistanceSE, c.Remaining, c.Method = new(s.Distance), new(f.userWeight(s.Remaining)), &method
	}
}

// model turns parameters into a model with its components in canonical order: by weight, ties by mean or probability; the
// model that the fit started from stays as it is where no step was taken. Component c of the model is the order[c]-th of the
// parameters; -1 for one of weight 0 that took no part.
func (f *fit) model(p *ascent.Point) (m *model.Model, order []int) {
	if m, order, ok := f.unmoved(p.Theta); ok {
		return m, order
	}
	k, d := f.mix.K, f.mix.D
	comp := f.mix.Components(p.Theta)
	weight := make([]float64, k)
	for c, lw := range f.mix.LogWeights(nil, p.Theta) {
		weight[c] = math.Exp(lw)
	}
	if !f.plan.Mixture() {
		weight = p.Weights
	}
	place := f.places(comp)
	order = make([]int, k)
	for c := range k {
		order[c] = c
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if weight[a] != weight[b] {
			return map[bool]int{true: -1, false: 1}[weight[a] > weight[b]]
		}
		return slices.Compare(place[a], place[b])
	})
	m = &model.Model{Kind: f.plan.Kind.Name, Columns: f.names, Levels: f.plan.Levels, Transform: f.transform}
	var rows [][]float64
	for _, c := range order {
		rows = append(rows, place[c])
		if m.HasDensity() {
			m.Weights = append(m.Weights, weight[c])
		}
	}
	normalise(m.Weights)
	if f.plan.Kind.Location.Told == kind.Probability {
		m.Probabilities = rows
	} else {
		m.Means = rows
	}
	defer f.fold(m)
	if g, comp, ok := f.gaussian(comp); ok {
		m.Shape = f.plan.Shape
		for i := range g.Shape.Count(k) {
			q := make([]float64, g.Shape.Size(d))
			g.Covariance(q, g.ScaleOf(comp, order[i], k, d), d)
			m.Covariance = append(m.Covariance, kind.Unpack(g.Shape, q, d))
		}
	}
	return m, f.addAbsent(m, order)
}

// places returns the k means, centres or rows of probabilities of the components comp.
func (f *fit) places(comp []float64) [][]float64 {
	k, d := f.mix.K, f.mix.D
	var flat []float64
	if fam, ok := f.mix.Family.(family.Natural); ok {
		flat = fam.Natural(nil, comp, k)
	} else {
		flat = slices.Clone(comp[:k*d])
		for i := range flat {
			flat[i] += f.origin[i%d]
		}
	}
	return slices.Collect(slices.Chunk(flat, len(flat)/k))
}

// normalise divides weights by their sum, which the rounding of logarithms leaves within a few units of 1.
func normalise(w []float64) {
	sum := 0.0
	for _, v := range w {
		sum += v
	}
	for c := range w {
		w[c] /= sum
	}
}

// judge makes the pass that labels, counts and scores the rows by the model.
func (f *fit) judge(ctx context.Context, m *model.Model) (*tally, error) {
	t := &tally{rows: make([]int64, m.K()), sizes: make([]float64, m.K())}
	return t, m.Rows(ctx, f.user, f.plan.Threads, t.add)
}

// components fills in the groups, in the user's units.
func (f *fit) components(r *Result, m *model.Model, t *tally) {
	for c := range m.K() {
		x := m.Component(c)
		x.Rows = t.rows[c]
		if !m.HasDensity() {
			x.Weight = t.sizes[c] / f.weight()
		}
		r.Components = append(r.Components, x)
	}
	if kind.Of(m.Kind).Shaped {
		r.Covariance, r.Mclust = m.Shape.String(), m.Shape.Mclust()
	}
}

// edges names what sits on a floor: parameters that the certificate leaves out.
func (f *fit) edges(r *Result, p *ascent.Point, t *tally, order []int) {
	edge := func(format string, a ...any) {
		r.Certificate.OnEdge = append(r.Certificate.OnEdge, fmt.Sprintf(format, a...))
	}
	at, held := f.atFloor(p), f.mix.Family.AtFloor(f.mix.Components(p.Theta), f.mix.K, f.mix.D)
	for c, from := range order {
		r.Components[c].AtFloor = from >= 0 && at[from]
	}
	switch _, g, gaussian := f.startMixture(); {
	case !gaussian:
		f.certain(r, p, order)
	case g.Shape.Shared() && slices.Contains(at, true):
		r.warn("the shared covariance is at the floor of variances: the rows of each component are all but equal in some direction")
		edge("covariance")
	default:
		for c, from := range order {
			x := r.Components[c]
			if x.AtFloor {
				r.warn(fmt.Sprintf("component %d is at the floor of variances (%g of the columns' own): its %s all but equal in some direction", x.Label, family.MinEigenvalue, rowsAre(x.Rows, t.sizes[c])))
			}
			if from >= 0 && held[from] {
				edge("covariance %d", x.Label)
			}
		}
	}
}

// rowsAre says how many rows there are, and where their weights are not all 1 how many rows those count for.
func rowsAre(n int64, weight float64) string {
	s := text.Count(n, "row")
	if weight != float64(n) {
		s += fmt.Sprintf(" of weight %.6g", weight)
	}
	return s + text.Form(n, " is", " are")
}

// certain names the columns in which a component has a probability, or the like, at an end of its range.
func (f *fit) certain(r *Result, p *ascent.Point, order []int) {
	if p.Held == nil {
		return
	}
	held := p.Held[len(p.Theta)-len(f.mix.Components(p.Theta)):]
	width, total, at := len(held)/f.mix.K, 0, f.plan.Kind.Location
	for c, from := range order {
		if from < 0 {
			continue
		}
		var names []string
		for j, h := range held[from*width : (from+1)*width] {
			if h {
				names = append(names, f.columnOf(j))
				total++
			}
		}
		names = slices.Compact(names)
		if len(names) > 10 {
			names = append(names[:10:10], fmt.Sprintf("and %d more", len(names)-10))
		}
		if len(names) > 0 {
			r.Certificate.OnEdge = append(r.Certificate.OnEdge, fmt.Sprintf("%s %d: %s", at.Edge, c+1, strings.Join(names, ", ")))
		}
	}
	if total > 0 {
		r.warn(text.Are(total, at.EdgeNoun) + " " + at.Certain)
	}
}

// columnOf returns the column that probability j of a component belongs to.
func (f *fit) columnOf(j int) string {
	if f.plan.Levels == nil {
		return f.names[j]
	}
	for c, names := range f.plan.Levels {
		if j < len(names) {
			return f.names[c]
		}
		j -= len(names)
	}
	return ""
}

// warnings says what the reader of the result should know.
func (f *fit) warnings(r *Result, t *tally, e *outcome) {
	switch {
	case r.Interrupted:
		r.warn(fmt.Sprintf("interrupted after %s: this is the best so far, not finished", text.Count(r.Iterations, "iteration")))
	case r.Reason == ascent.Flat:
		r.warn(fmt.Sprintf("not finished: after %s the log-likelihood cannot tell steps apart any more, but --tol %g is not reached", text.Count(r.Iterations, "iteration"), f.plan.Tol))
	case !r.Converged && r.Certificate.DistanceSE != nil && *r.Certificate.DistanceSE <= f.plan.Tol && *r.Certificate.Method == string(ascent.Information):
		r.warn(fmt.Sprintf("not finished after %s: within --tol, but the log-likelihood is nearly flat here, where the fit goes on to be sure; raise --max-iter", text.Count(r.Iterations, "iteration")))
	case !r.Converged:
		r.warn(fmt.Sprintf("not finished after %s: raise --max-iter", text.Count(r.Iterations, "iteration")))
	}
	if f.plan.RegCovar > 0 {
		r.warn(r.Certificate.Why + ", so no distance to an optimum can be told")
	}
	if c := r.Certificate.Curvature; r.Converged && c != nil && *c < flatBelow {
		r.warn(undetermined + "; fewer components may do")
	}
	if f.plan.Mixture() {
		if c, j := f.narrow(e.win().last.Point); c >= 0 {
			r.warn(fmt.Sprintf("a component of few rows is %s: its likelihood is an accident of rounding; fewer components may do", f.narrower(j)))
		}
		if c, need := f.scant(e.win().last.Point); c >= 0 {
			r.warn(fmt.Sprintf("the smallest component holds %.3g rows, fewer than the %d that a covariance of its own takes: its likelihood is an accident of these rows; fewer components may do", e.win().last.Point.Weights[c], need))
		}
	}
	if f.units.weights != 0 && f.plan.Mixture() && f.plan.Algorithm != plan.HardEM {
		r.warn(fmt.Sprintf("the row weights average %.3g: the fit stops where it would if they averaged about 1, and its distance from the optimum is in standard errors of such weights; criteria and standard errors count the weights as they are", f.weight()/float64(f.look.Used)))
	}
	if f.discrete != nil {
		r.warn(f.discreteWarning())
	}
	if f.given != nil && f.given.raised {
		r.warn(fmt.Sprintf("the model of --init has a covariance below the floor of variances (%g of the columns' own), which was raised to it", family.MinEigenvalue))
	}
	switch n := f.absent(); {
	case n == 1:
		r.warn("1 component of --init's model has weight 0 and takes no part: no step changes it, and its parameters are not counted")
	case n > 1:
		r.warn(fmt.Sprintf("%d components of --init's model have weight 0 and take no part: no step changes them, and their parameters are not counted", n))
	}
	var noRows, noWeight []int // labels
	for c, x := range r.Components {
		switch {
		case t.sizes[c] > 0 || x.Weight == 0 && f.absent() > 0:
		case x.Rows > 0:
			noWeight = append(noWeight, x.Label)
		default:
			noRows = append(noRows, x.Label)
		}
	}
	r.warnEmpty(noRows, "no row carries")
	r.warnEmpty(noWeight, "only rows of weight 0 carry")
}

func (r *Result) warn(s string) { r.Warnings = append(r.Warnings, s) }

// warnEmpty names the components of these labels as empty: carries says which rows carry their label.
func (r *Result) warnEmpty(labels []int, carries string) {
	switch n := len(labels); {
	case n == 1:
		r.warn(fmt.Sprintf("component %d is empty: %s its label", labels[0], carries))
	case n > 1:
		shown := strings.Trim(fmt.Sprint(labels[:min(n, 10)]), "[]")
		if n > 10 {
			shown += " ..."
		}
		r.warn(fmt.Sprintf("%d components are empty (%s): %s their labels", n, strings.ReplaceAll(shown, " ", ", "), carries))
	}
}

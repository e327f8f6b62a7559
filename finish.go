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

// Fitted is what a fit leaves.
type Fitted struct {
	Model       *model.Model // its Provenance tells what was found
	Certificate model.Certificate
	Reason      ascent.Reason // why the winning start stopped
	Timing      Stages
}

// Stages are the seconds that the stages of a fit took.
type Stages struct{ Start, Fit, Judge float64 }

// warn adds a warning.
func (r *Fitted) warn(w model.Warning) {
	r.Model.Provenance.Warnings = append(r.Model.Provenance.Warnings, w)
}

// warnFirst adds a warning before the others.
func (r *Fitted) warnFirst(w model.Warning) {
	r.Model.Provenance.Warnings = slices.Insert(r.Model.Provenance.Warnings, 0, w)
}

// onFloor reports whether a component is at the floor of variances.
func (r *Fitted) onFloor() bool { return slices.Contains(r.Model.Provenance.AtFloor, true) }

// result turns the winning run into a model and judges it with one more pass, by the model's own numbers: what is
// reported is what the model file gives back.
func (f *fit) result(ctx context.Context, e *outcome) (*Fitted, error) {
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
	r := &Fitted{Model: m, Reason: s.Done}
	p := f.provenance(e, t)
	m.Provenance = p
	n := f.numbers(t)
	if err := f.checkNumbers(ctx, n); err != nil {
		return nil, err
	}
	m.LogLik, p.ICL, p.Inertia, p.Penalty, p.Objective = n.LogLik, n.ICL, n.Inertia, f.plan.Penalty, n.Objective
	var errs *model.StandardErrors
	if !interrupted {
		if errs, err = f.standardErrors(ctx, &s, order); err != nil {
			return nil, err
		}
		if errs != nil && errs.Rows > 0 {
			p.SweepsTotal++
		}
	}
	p.Sweeps, p.SweepsTotal = p.Sweeps+f.confirmSweeps, p.SweepsTotal+f.confirmSweeps
	f.certify(&r.Certificate, s)
	f.edges(r, s.Point, t, order)
	f.warnings(r, t, e)
	f.dominance(r)
	if err := f.flatGroups(ctx, r); err != nil {
		return nil, err
	}
	if t.agreement != nil {
		p.Truth = &model.Truth{ARI: t.agreement.ARI(), NMI: t.agreement.NMI()}
		if t.unknown > 0 {
			r.warn(model.Warn(model.TruthGaps, "%s no value in the column of known groups; they count as a class of their own", text.Count(t.unknown, "row")+text.Form(t.unknown, " has", " have")))
		}
	}
	return r, f.seal(r, errs)
}

// provenance returns what a model remembers of its fit, as far as it does not depend on the rows' densities. No times and no thread
// counts: the same fit gives the same bytes.
func (f *fit) provenance(e *outcome, t *tally) *model.Provenance {
	win := e.win()
	s := win.last
	p := &model.Provenance{
		Rows: f.look.Used, GroupRows: t.rows, AtFloor: make([]bool, len(t.rows)),
		Course: model.Course{
			TotalWeight: f.weight(), Converged: s.Done.Converged() && !e.interrupted, Interrupted: e.interrupted,
			Algorithm: string(f.plan.Driver(f.mix.D)), FreeParameters: f.mix.Free(), Init: string(f.plan.Start(f.mix.D)), Seed: f.plan.Seed,
			Iterations: s.Iteration, Sweeps: win.sweeps + 1, Moves: s.Kept, Starts: f.agreement(e),
		},
		Findings: model.Findings{ColumnSD: f.sd, Warnings: []model.Warning{}, Version: plan.Version},
	}
	_, p.Why = f.plan.Choice(f.mix.D)
	for _, run := range e.runs {
		p.SweepsTotal += run.sweeps
	}
	p.SweepsTotal += f.startSweeps + f.moveSweeps + 2 // the first pass, and the one that judges
	return p
}

// seal puts into the model what it has beside its parameters and its provenance, so that the file alone can tell the fit again.
func (f *fit) seal(r *Fitted, errs *model.StandardErrors) (err error) {
	m := r.Model
	m.N = new(f.look.Used)
	if m.Spec, err = f.plan.JSON(); err != nil {
		return err
	}
	m.SetStandardErrors(errs)
	m.Certificate, err = json.Marshal(r.Certificate)
	return err
}

// numbers are what a fit is judged by: see model.Candidate.
type numbers struct{ LogLik, BIC, AIC, ICL, Inertia, Objective *float64 }

// numbers returns the objective and the criteria.
func (f *fit) numbers(t *tally) (r numbers) {
	if !f.plan.Mixture() {
		r.Inertia = new(0 - t.best)
		if f.plan.Penalty != nil {
			r.Objective = new(*r.Inertia + *f.plan.Penalty*float64(f.mix.K))
		}
		return r
	}
	ll, n, p := t.logLik, f.weight(), f.mix.Free()
	r.LogLik, r.BIC, r.AIC, r.ICL = new(ll), new(score.BIC(p, n, ll)), new(score.AIC(p, ll)), new(score.ICL(p, n, ll, t.entropy))
	return r
}

// estimateAfter is how many steps a driver's own estimate of the distance needs to mean anything.
const estimateAfter = 6

// certify says how far from the optimum the fit stopped.
func (f *fit) certify(c *model.Certificate, s ascent.Step) {
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

// edges names what sits on a floor: parameters that the certificate leaves out.
func (f *fit) edges(r *Fitted, p *ascent.Point, t *tally, order []int) {
	edge := func(format string, a ...any) {
		r.Certificate.OnEdge = append(r.Certificate.OnEdge, fmt.Sprintf(format, a...))
	}
	at, held := f.atFloor(p), f.mix.Family.AtFloor(f.mix.Components(p.Theta), f.mix.K, f.mix.D)
	for c, from := range order {
		r.Model.Provenance.AtFloor[c] = from >= 0 && at[from]
	}
	switch _, g, gaussian := f.startMixture(); {
	case !gaussian:
		f.certain(r, p, order)
	case g.Shape.Shared() && slices.Contains(at, true):
		r.warn(model.Warn(model.AtFloor, "the shared covariance is at the floor of variances: the rows of each component are all but equal in some direction"))
		edge("covariance")
	default:
		for c, from := range order {
			if r.Model.Provenance.AtFloor[c] {
				w := model.Warn(model.AtFloor, "component %d is at the floor of variances (%g of the columns' own): its %s all but equal in some direction", c+1, family.MinEigenvalue, rowsAre(t.rows[c], t.sizes[c]))
				w.Component = c + 1
				r.warn(w)
			}
			if from >= 0 && held[from] {
				edge("covariance %d", c+1)
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
func (f *fit) certain(r *Fitted, p *ascent.Point, order []int) {
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
		r.warn(model.Warn(model.Certain, "%s %s", text.Are(total, at.EdgeNoun), at.Certain))
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

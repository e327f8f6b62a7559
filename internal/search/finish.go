package search

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/inference"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/score"
)

// Result is what a fit leaves.
type Result struct {
	Model       *model.Model // with its Provenance, which tells what was found
	Certificate model.Certificate
	Crosstab    *score.Crosstab[int] // of the groups against the known classes; nil without these, or where they are too many
	Reason      ascent.Reason        // why the winning start stopped
	Start       int                  // the winning climb, as Progress numbers it
	Order       []int                // for each component of that climb its place in the model; nil of variational Bayes
	Timing      Stages
}

// Stages are the seconds that the stages of a fit took.
type Stages struct{ Start, Fit, Judge float64 }

// warn adds a warning.
func (r *Result) warn(w model.Warning) {
	r.Model.Provenance.Warnings = append(r.Model.Provenance.Warnings, w)
}

// WarnFirst adds a warning before the others.
func (r *Result) WarnFirst(w model.Warning) {
	r.Model.Provenance.Warnings = slices.Insert(r.Model.Provenance.Warnings, 0, w)
}

// OnFloor reports whether a component is at the floor of variances.
func (r *Result) OnFloor() bool { return slices.Contains(r.Model.Provenance.AtFloor, true) }

// result turns the winning run into a model and judges it with one more pass, by the model's own numbers: what is
// reported is what the model file gives back.
func (f *Fit) result(ctx context.Context, e *Outcome) (*Result, error) {
	win, interrupted := e.Winner(), e.Interrupted
	m, order := f.Model(win.Last.Point)
	t, err := f.Judge(ctx, m)
	if err != nil {
		return nil, err
	}
	if !m.HasDensity() {
		m.Sizes = t.sizes
	}
	s := win.Last
	r := &Result{Model: m, Reason: s.Done, Start: win.start + 1}
	if f.Mix.Bayes == nil { // else not all components of the climb are in the model
		r.Order = f.placesIn(order)
	}
	p := f.provenance(e, t)
	m.Provenance = p
	n := f.Numbers(t, s.Point)
	if err := f.CheckNumbers(ctx, n); err != nil {
		return nil, err
	}
	if f.Mix.Bayes != nil {
		p.ELBO, p.KMax = f.bound(s.Point), f.Mix.K
		used := *f.Mix
		used.K = m.K()
		p.FreeParameters = used.Free()
	}
	m.LogLik, p.ICL, p.Inertia, p.Penalty, p.Objective = n.LogLik, n.ICL, n.Inertia, f.Plan.Penalty, n.Objective
	if f.TellPrior(p, s.Point); p.LogPrior != nil {
		p.LogPosterior = new(*n.LogLik + *p.LogPrior)
	}
	var errs *model.StandardErrors
	if !interrupted && f.Mix.Bayes == nil { // of which the posterior tells
		end := f.inference()
		if errs, err = end.StandardErrors(ctx, &s, order); err != nil {
			return nil, err
		}
		p.SweepsTotal += end.Sweeps
	}
	p.Sweeps, p.SweepsTotal = p.Sweeps+f.ConfirmSweeps, p.SweepsTotal+f.ConfirmSweeps
	if f.alone != nil { // the first look, the pass that all evaluations share, and the one that judges
		p.Sweeps, p.SweepsTotal = 2, 3
	}
	r.Certificate = f.inference().Certify(s)
	f.edges(r, s.Point, t, order)
	f.warnings(r, t, e)
	f.dominance(r)
	if err := f.flatGroups(ctx, r); err != nil {
		return nil, err
	}
	r.truth(t)
	return r, f.seal(r, errs)
}

// Agree sets how the labels of t agree with the known groups, where there are any.
func (r *Result) Agree(t *Tally) {
	if t.agreement == nil {
		return
	}
	r.Model.Provenance.Truth = &model.Truth{ARI: t.agreement.ARI(), NMI: t.agreement.NMI()}
	labels := make([]int, 0, len(t.rows)+1)
	if r.Model.Noise != nil {
		labels = append(labels, 0)
	}
	for c := range t.rows {
		labels = append(labels, c+1)
	}
	_, classes := t.agreement.Labels()
	r.Crosstab = score.NewCrosstab(labels, classes, t.agreement.Count)
}

// truth adds how the labels agree with the known groups, and what is odd about these.
func (r *Result) truth(t *Tally) {
	r.Agree(t)
	if t.agreement != nil && r.Crosstab == nil {
		r.warn(model.Warn(model.ManyClasses, "the column of known groups has so many classes that there is no table of them; is it an id?"))
	}
	if t.unknown > 0 {
		r.warn(model.Warn(model.TruthGaps, "%s no value in the column of known groups; they count as a class of their own", text.Count(t.unknown, "row")+text.Form(t.unknown, " has", " have")))
	}
}

// provenance returns what a model remembers of its fit, as far as it does not depend on the rows' densities. It holds no times and no
// number of threads, so that the same fit gives the same bytes.
func (f *Fit) provenance(e *Outcome, t *Tally) *model.Provenance {
	win := e.Winner()
	s := win.Last
	p := &model.Provenance{
		Rows: f.Survey.Used, Sequences: f.Sequences, GroupRows: t.rows, NoiseRows: t.noiseRows, AtFloor: make([]bool, len(t.rows)),
		Course: model.Course{
			TotalWeight: f.Weight(), Converged: s.Done.Converged() && !e.Interrupted, Interrupted: e.Interrupted,
			Algorithm: string(f.Plan.Driver(f.Mix.D)), FreeParameters: f.Mix.Free(), Init: string(f.Plan.Start(f.Mix.D)), Seed: f.Plan.Seed,
			Iterations: s.Iteration, Sweeps: win.Sweeps + 1, Moves: s.Kept, Starts: f.agreement(e),
		},
		Findings: model.Findings{ColumnSD: f.SD, Warnings: []model.Warning{}, Version: plan.Version},
	}
	if look := f.Survey; look.Missing > 0 || look.Empty > 0 {
		p.Missing = &model.Missing{Cells: look.Missing, Rows: look.Incomplete, Patterns: int64(look.Gaps.Len()), EmptyRows: look.Empty}
		if look.Incomplete < look.Used {
			p.Missing.Patterns++
		}
	}
	_, p.Why = f.Plan.DriverAndReason(f.Mix.D)
	for _, run := range e.Runs {
		p.SweepsTotal += run.Sweeps
	}
	p.SweepsTotal += f.StartSweeps + f.MoveSweeps + 2 // the first pass, and the one that judges
	if f.whole != nil {
		p.SweepsTotal += f.whole.sweeps
	}
	return p
}

// seal puts into the model the plan, the number of rows, the standard errors and the certificate, so that the file alone can tell the
// fit again.
func (f *Fit) seal(r *Result, errs *model.StandardErrors) (err error) {
	m := r.Model
	m.N = new(f.Survey.Used)
	if m.Spec, err = f.Plan.JSON(); err != nil {
		return err
	}
	m.SetStandardErrors(errs)
	if f.Changes != nil {
		m.Provenance.ColumnSD = f.UserSD
	}
	m = f.UserModel(m)
	r.Model = m
	m.Certificate, err = json.Marshal(r.Certificate)
	return err
}

// Model turns a point into a model of UserRows, in the user's units but for changes of scale, with its components in order of weight, ties by mean or probability. Where no step
// was taken it is the model that the fit started from. Component c of the model is the order[c]-th of the parameters; order[c] is -1 for
// one of weight 0 that took no part.
func (f *Fit) Model(p *ascent.Point) (m *model.Model, order []int) {
	if m, order, ok := f.unmoved(p.Theta); ok {
		return m, order
	}
	if f.Mix.Bayes != nil {
		return f.bayesModel(p.Theta)
	}
	return f.byWeight(p.Theta, p.Weights)
}

// byWeight returns the model of theta, whose components are sorted as Model says, and their order. sizes are those of centres, and of states.
func (f *Fit) byWeight(theta, sizes []float64) (*model.Model, []int) {
	comp, weight := f.Mix.Components(theta), sizes
	if f.Plan.Mixture() && !f.Plan.Chain {
		weight = f.weights(theta)
	}
	place := f.places(comp)
	order := upTo(f.Mix.K)
	slices.SortStableFunc(order, func(a, b int) int {
		if weight[a] != weight[b] {
			return map[bool]int{true: -1, false: 1}[weight[a] > weight[b]]
		}
		return slices.Compare(place[a], place[b])
	})
	m, order := f.modelIn(order, comp, weight, f.Mix.NoiseWeight(theta))
	f.setChain(m, theta, order)
	return m, order
}

// noise returns the noise of the fit with a weight.
func (f *Fit) noise(weight float64) *model.Noise {
	own := *f.Noise
	own.Weight = weight
	return &own
}

// weights returns the mixing weights in theta, of all components that take part.
func (f *Fit) weights(theta []float64) []float64 {
	weight := f.Mix.LogWeights(nil, theta)
	for c, lw := range weight {
		weight[c] = math.Exp(lw)
	}
	return weight
}

// upTo returns the numbers from 0 to k-1.
func upTo(k int) []int {
	order := make([]int, k)
	for c := range order {
		order[c] = c
	}
	return order
}

// modelIn returns the model of components with such parameters and weights in such an order, and of noise of such a weight where there is any, and
// after them those that took no part: in the order returned they are -1.
func (f *Fit) modelIn(order []int, comp, weight []float64, noise float64) (*model.Model, []int) {
	m := &model.Model{Kind: f.Plan.Kind.Name, Columns: f.Names, Types: f.Plan.Types, Levels: f.Plan.Levels, Transform: f.Transform}
	for _, c := range order {
		if m.HasDensity() {
			m.Weights = append(m.Weights, weight[c])
		}
	}
	normalise(m.Weights)
	if f.Noise != nil {
		m.Noise = f.noise(noise)
		for c := range m.Weights {
			m.Weights[c] *= 1 - noise
		}
	}
	defer f.ToUserUnits(m)
	for i, p := range f.Mix.Parts() {
		f.setPart(m, p, f.Plan.Kind.Parts(f.Plan.Types, len(p.Columns))[i].Kind, comp[p.From:p.To], order)
	}
	return m, f.addAbsent(m, order)
}

// setPart sets the parameters of one part of the model, a part of kind kd with the components comp.
func (f *Fit) setPart(m *model.Model, p mixture.Part, kd *kind.Kind, comp []float64, order []int) {
	place := placesOf(p, comp, f.Origin)
	var rows [][]float64
	for _, c := range order {
		rows = append(rows, place[c])
	}
	switch {
	case kd.Location.Told == kind.Probability:
		m.Probabilities = rows
	case f.Plan.Kind.Parted && !kd.Shaped:
		m.Rates = rows
	default:
		m.Means = rows
	}
	if fam, ok := family.WideOf(p.Family); ok {
		setFactors(m, fam, comp, order, p.K, p.D)
	} else if g, comp, ok := p.Gaussian(comp); ok {
		m.Shape = f.Plan.Shape
		for i := range g.Shape.Count(len(order)) {
			q := make([]float64, g.Shape.Size(p.D))
			g.Covariance(q, g.ScaleOf(comp, order[i], p.K, p.D), p.D)
			m.Covariance = append(m.Covariance, kind.Unpack(g.Shape, q, p.D))
		}
	}
	if t, ok := p.Family.(family.Student); ok {
		m.Dof = kind.Picked(t.Dofs(comp, p.K), order)
	}
}

// places returns for each component of comp the numbers that say where it is: its mean, its centre or its probabilities, part after part.
func (f *Fit) places(comp []float64) [][]float64 {
	all := make([][]float64, f.Mix.K)
	for _, p := range f.Mix.Parts() {
		for c, row := range placesOf(p, comp[p.From:p.To], f.Origin) {
			all[c] = append(all[c], row...)
		}
	}
	return all
}

// placesOf returns the k means, centres or rows of probabilities of the components comp of a part.
func placesOf(p mixture.Part, comp, origin []float64) [][]float64 {
	var flat []float64
	if fam, ok := p.Family.(family.Natural); ok {
		flat = fam.Natural(nil, comp, p.K)
	} else {
		flat = slices.Clone(comp[:p.K*p.D])
		for i := range flat {
			flat[i] += origin[p.Columns[i%p.D]]
		}
	}
	return slices.Collect(slices.Chunk(flat, len(flat)/p.K))
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

// edges names the parameters at the floor of variances, or at an end of their range, which the certificate leaves out, and warns of them.
func (f *Fit) edges(r *Result, p *ascent.Point, t *Tally, order []int) {
	edge := func(format string, a ...any) {
		r.Certificate.OnEdge = append(r.Certificate.OnEdge, fmt.Sprintf(format, a...))
	}
	at, held := f.atFloor(p), f.Mix.Family.AtFloor(f.Mix.Components(p.Theta), f.Mix.K, f.Mix.D)
	for c, from := range order {
		r.Model.Provenance.AtFloor[c] = from >= 0 && at[from]
	}
	if f.Mix.Noise != nil && math.Exp(f.Mix.LogNoise(p.Theta))*f.Survey.W < inference.EdgeRows {
		edge("weight of the noise")
	}
	if f.Plan.Chain {
		f.chainEdges(r, p, order)
	}
	numbers, gaussian := f.Mix.Numbers()
	for i, part := range f.Mix.Parts() {
		if kd := f.Plan.Kind.Parts(f.Plan.Types, len(part.Columns))[i].Kind; !kd.Shaped {
			f.certain(r, p, part, kd, order)
		}
	}
	if !gaussian {
		return
	}
	f.tailEdges(r, p, order)
	switch _, g, _ := numbers.Start(); {
	case g.Shape.Shared() && slices.Contains(at, true):
		r.warn(model.Warn(model.AtFloor, "the covariance that all %[1]ss share is at the variance floor: the rows of each %[1]s are almost equal in some direction%[2]s", f.Plan.Part(), f.flatIn(r.Model, p, 0, max(order[0], 0))))
		edge("covariance")
	default:
		for c, from := range order {
			if r.Model.Provenance.AtFloor[c] {
				w := model.Warn(model.AtFloor, "%s %d has collapsed to the variance floor: its %s almost equal in some direction%s", f.Plan.Part(), c+1, text.RowsAre(t.rows[c], t.sizes[c]), f.flatIn(r.Model, p, c, from))
				w.Component = c + 1
				r.warn(w)
			}
			if from >= 0 && held[from] && f.Plan.Shape.Factors() == 0 {
				edge("covariance %d", c+1)
			}
		}
	}
	f.heywood(r, p, order)
}

// certain names the columns in which a component has a probability, or a parameter like it, at an end of its range, and warns of them.
func (f *Fit) certain(r *Result, p *ascent.Point, part mixture.Part, kd *kind.Kind, order []int) {
	if p.Held == nil {
		return
	}
	held := p.Held[len(p.Theta)-len(f.Mix.Components(p.Theta)):][part.From:part.To]
	width, total, at := len(held)/f.Mix.K, 0, kd.Location
	for c, from := range order {
		if from < 0 {
			continue
		}
		var names []string
		for j, h := range held[from*width : (from+1)*width] {
			if h {
				names = append(names, f.columnOf(part, kd, j))
				total++
			}
		}
		names = slices.Compact(names)
		if len(names) > 0 {
			r.Certificate.OnEdge = append(r.Certificate.OnEdge, fmt.Sprintf("%s %d: %s", at.Edge, c+1, firstTen(names)))
		}
	}
	if total > 0 {
		r.warn(model.Warn(model.Certain, "%s %s", text.Are(total, at.EdgeNoun), fmt.Sprintf(at.Certain, f.Plan.Part())))
	}
}

// firstTen lists ten names, and says how many more there are.
func firstTen(names []string) string {
	if len(names) > 10 {
		names = append(names[:10:10], fmt.Sprintf("and %d more", len(names)-10))
	}
	return strings.Join(names, ", ")
}

// columnOf returns the column that probability j of a component of a part belongs to.
func (f *Fit) columnOf(part mixture.Part, kd *kind.Kind, j int) string {
	if !kd.Cells.Levels {
		return f.Names[part.Columns[j]]
	}
	for _, c := range part.Columns {
		n := len(f.Plan.Levels[c])
		if j < n {
			return f.Names[c]
		}
		j -= n
	}
	return ""
}

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/plot"
)

// sureness shows how sure the labels are: the histogram of uncertainty.
func (b *builder) sureness() {
	if b.k == 1 || !b.rows.density {
		return
	}
	s := &section{ID: "uncertainty", Title: "How sure each row is"}
	if worst := b.leastSure(); worst < doubt {
		s.Lead = append(s.Lead, fmt.Sprintf("No row is in doubt: every one belongs to its %s with a probability of %v or more.", b.noun(), 1-doubt))
		b.add(s)
		return
	}
	s.Lead = append(s.Lead, "A row's uncertainty is the probability that it belongs to another "+b.noun()+" than its own.")
	h := plot.Histogram{Head: plot.Head{Title: b.belong(), Width: wide},
		X: plot.Axis{Label: "uncertainty"}, Values: b.rows.Uncertainty, Bins: 40}
	if int64(len(b.rows.Uncertainty)) < b.rows.N {
		h.Note = fmt.Sprintf("%s of %s, drawn at random", text.Thousands(int64(len(b.rows.Uncertainty))), text.Count(b.rows.N, "row"))
	}
	b.draw(s, h)
	b.add(s)
}

// doubt is the uncertainty from which on a row is drawn as one in doubt.
const doubt = 0.01

// leastSure returns the largest uncertainty of a row.
func (b *builder) leastSure() (worst float64) {
	for c := range b.rows.Group {
		if unsure := b.rows.Group[c].Unsure; len(unsure) > 0 {
			worst = max(worst, unsure[0].Uncertainty)
		}
	}
	return worst
}

// silhouette shows that of the groups of k-means.
func (b *builder) silhouette() {
	e := b.rows.Silhouette
	if e == nil {
		return
	}
	h := plot.Silhouette{Head: plot.Head{Title: fmt.Sprintf("The mean silhouette is %.2f", e.Mean), Width: wide}, Names: b.names, Values: make([][]float64, b.k), Weights: make([][]float64, b.k)}
	if e.Least > 0 {
		h.Note = fmt.Sprintf("estimated from %s of %s rows, at least %s of every group or all that it has; groups count in the mean as they do among all rows", text.Thousands(int64(len(e.Values))), text.Thousands(b.rows.N), text.Thousands(int64(e.Least)))
	}
	for i, c := range e.Labels {
		h.Values[c], h.Weights[c] = append(h.Values[c], e.Values[i]), append(h.Weights[c], e.Weight[i])
	}
	s := &section{ID: "silhouette", Title: "How well each row fits its group",
		Lead: []string{"A silhouette is 1 where a row is far closer to its own group than to the next, 0 between the two, and negative where another is closer."}}
	b.draw(s, h)
	b.add(s)
}

// overlap shows with which components the rows of each group are shared.
func (b *builder) overlap() {
	if b.k == 1 || b.k > listed || !b.rows.density || b.leastSure() < doubt {
		return
	}
	m := plot.Matrix{Head: plot.Head{Width: wide}, X: plot.Axis{Label: "belong to " + b.noun()}, Y: plot.Axis{Label: "rows with label"}, Percent: true, Unit: "per cent: the mean probability of the rows of a label to belong to each " + b.noun()}
	top, at := 0.0, [2]int{}
	for c := range b.k {
		name := fmt.Sprint(c + 1)
		m.Rows, m.Columns, m.Values = append(m.Rows, name), append(m.Columns, name), append(m.Values, b.rows.Overlap[c])
		for o, v := range b.rows.Overlap[c] {
			if o != c && v > top {
				top, at = v, [2]int{c, o}
			}
		}
	}
	m.Title = fmt.Sprintf("No two %ss overlap", b.noun())
	if top > 0.001 {
		m.Title = fmt.Sprintf("The rows of %[1]s %[2]d are shared most: %[3]s with %[1]s %[4]d", b.noun(), at[0]+1, percent(top), at[1]+1)
	}
	s := &section{ID: "overlap", Title: fmt.Sprintf("Which %ss overlap", b.noun())}
	b.draw(s, m)
	b.add(s)
}

// convergence shows the climb of every start.
func (b *builder) convergence() {
	if len(b.Steps) == 0 {
		return
	}
	starts := map[int][]Step{}
	for _, step := range b.Steps {
		starts[step.Start] = append(starts[step.Start], step)
	}
	winner, top := 0, math.Inf(-1)
	for start, steps := range starts {
		f := steps[len(steps)-1].Free
		if b.r.Prior != nil { // a log posterior is climbed, but starts are compared by their log-likelihoods
			f = steps[len(steps)-1].LogLik
		}
		if f > top || f == top && start < winner {
			winner, top = start, f
		}
	}
	what, unit := "free energy", "nats"
	switch {
	case b.r.ELBO != nil:
		what = "evidence lower bound"
	case b.r.Prior != nil:
		what, top = "free energy and log prior", starts[winner][len(starts[winner])-1].Free
	case b.r.LogLik == nil:
		what, unit = "minus the cost", ""
	}
	free := plot.Lines{Head: plot.Head{Title: fmt.Sprintf("The winning start rose to %s in %s", decimals(top), text.Count(starts[winner][len(starts[winner])-1].Sweep, "sweep")), Width: wide},
		X: plot.Axis{Label: "sweep"}, Y: plot.Axis{Label: what, Unit: unit}}
	order := make([]int, 0, len(starts))
	for start := range starts {
		order = append(order, start)
	}
	slices.Sort(order)
	each := max(climbs/len(starts), 40)
	var lo, hi []float64
	for _, start := range order {
		steps := thin(starts[start], each)
		line := plot.Series{Name: fmt.Sprint("start ", start), Faint: start != winner}
		for _, step := range steps {
			line.X, line.Y = append(line.X, float64(step.Sweep)), append(line.Y, step.Free)
			if !math.IsNaN(step.Lifted) {
				line.X, line.Y = append(line.X, float64(step.Sweep)+0.5), append(line.Y, step.Lifted)
			}
		}
		if start != winner {
			line.Name = ""
		}
		free.Series = append(free.Series, line)
		lo, hi = append(lo, line.Y[min(len(line.Y)-1, 4)]), append(hi, slices.Max(line.Y))
	}
	slices.Sort(lo)
	bottom, peak := lo[0], slices.Max(hi)
	if b.r.LogLik != nil {
		bottom = min(bottom, peak-0.1) // less than a tenth of a nat is no difference between starts
	}
	if peak > bottom { // the first steps would flatten the rest
		free.Y.Min, free.Y.Max = bottom-0.05*(peak-bottom), peak+0.05*(peak-bottom)
	}
	s := &section{ID: "convergence", Title: "How the fit went", Folded: true}
	if b.climbed(starts) {
		s.Lead = []string{"The axis leaves out the first steps where they would flatten the rest; thin lines are the other starts."}
		b.draw(s, free)
		b.distance(s, starts[winner], winner)
	} else {
		s.Lead = []string{free.Title + ". What was watched of it has no picture: every start was near its end from the first sweep on."}
	}
	s.Data = append(s.Data, b.steps(starts[winner], winner, what))
	b.add(s)
}

// steps lists those of a start. A column is left out where it says nothing: β where it is 1, or hard labels have none, and what a model without
// density lacks.
func (b *builder) steps(steps []Step, start int, what string) table {
	t := table{Caption: fmt.Sprintf("start %d, the winner", start), Head: []string{"sweep", what}}
	steps = thin(steps, 40)
	for _, step := range steps {
		t.Rows = append(t.Rows, []string{fmt.Sprint(step.Sweep), decimals(step.Free)})
	}
	column := func(name string, says func(Step) bool, cell func(Step) string) {
		if !slices.ContainsFunc(steps, says) {
			return
		}
		t.Head = append(t.Head, name)
		for i, step := range steps {
			s := ""
			if says(step) {
				s = cell(step)
			}
			t.Rows[i] = append(t.Rows[i], s)
		}
	}
	if slices.ContainsFunc(steps, func(s Step) bool { return s.Beta != 1 }) {
		column("β", func(s Step) bool { return !math.IsInf(s.Beta, 0) }, func(s Step) string { return text.Short(s.Beta) })
	}
	if b.r.LogLik != nil && b.r.ELBO == nil {
		column("log-likelihood", func(s Step) bool { return true }, func(s Step) string { return decimals(s.LogLik) })
	}
	column("distance (standard errors)", func(s Step) bool { return !math.IsNaN(s.Distance) }, func(s Step) string {
		if s.Distance < 1e-6 && s.Distance > 0 {
			return "under 0.000001"
		}
		return text.Short(s.Distance)
	})
	return t
}

// climbed reports whether some start rose while it was watched, by so much that it can be seen: a tenth of a nat, or a millionth of the cost.
func (b *builder) climbed(starts map[int][]Step) bool {
	for _, steps := range starts {
		first, last := steps[0].Free, steps[len(steps)-1].Free
		if least := 1e-6 * math.Abs(last); last-first > 0.1 || b.r.LogLik == nil && last-first > least {
			return true
		}
	}
	return false
}

// distance shows how far from its end the winning climb was, by its own last value.
func (b *builder) distance(s *section, steps []Step, start int) {
	if len(steps) < 3 {
		return
	}
	last := steps[len(steps)-1].Free
	line := plot.Series{Name: fmt.Sprint("start ", start)}
	for _, step := range thin(steps, 400) {
		if gap := last - step.Free; gap > 0 && step.Beta == steps[len(steps)-1].Beta {
			line.X, line.Y = append(line.X, float64(step.Sweep)), append(line.Y, gap)
		}
	}
	if len(line.Y) < 3 {
		return
	}
	unit := "nats"
	if b.r.LogLik == nil {
		unit = ""
	}
	b.draw(s, plot.Lines{Head: plot.Head{Title: "What was still to gain, on a logarithmic axis", Width: wide}, X: plot.Axis{Label: "sweep"}, Y: plot.Axis{Label: "below the final value", Unit: unit, Log: true}, Series: []plot.Series{line}})
}

// thin returns at most about n of the steps, the last among them.
func thin(steps []Step, n int) []Step {
	if len(steps) <= n {
		return steps
	}
	var kept []Step
	for i := range n {
		kept = append(kept, steps[i*(len(steps)-1)/(n-1)])
	}
	return kept
}

// responsibilities stacks those of a sample of rows, by group and sureness.
func (b *builder) responsibilities() {
	if b.k == 1 || b.k > listed || !b.rows.density || b.leastSure() < doubt {
		return
	}
	p := plot.Shares{Head: plot.Head{Width: wide}, Part: b.noun()}
	for c := range b.k {
		rows, _ := b.sampled(c, stacked, 2)
		rows = slices.Clone(rows)
		slices.SortStableFunc(rows, func(a, e Row) int { return cmp.Compare(a.Uncertainty, e.Uncertainty) })
		for _, row := range rows {
			p.Values = append(p.Values, row.P)
		}
		p.Names = append(p.Names, b.names[c])
	}
	unsure := 0
	for _, v := range p.Values {
		if slices.Max(v) < 0.9 {
			unsure++
		}
	}
	p.Title = fmt.Sprintf("Of %s, %d %s shared between %ss", text.Count(len(p.Values), "row"), unsure, text.Form(unsure, "is", "are"), b.noun())
	switch {
	case b.rows.Sure >= 1:
		p.Title = fmt.Sprintf("No row is shared between %ss", b.noun())
	case b.weighted():
		p.Title = fmt.Sprintf("Rows with %s of the weight are shared between %ss", percent(1-b.rows.Sure), b.noun())
	case int64(len(p.Values)) < b.rows.N: // small groups have more than their share of those drawn
		p.Title = fmt.Sprintf("%s of the rows are shared between %ss", percent(1-b.rows.Sure), b.noun())
	}
	p.X.Label, p.Y.Label = "rows, by "+b.noun()+" and sureness", "probability"
	p.Note = b.note(len(p.Values), stacked, 2)
	s := &section{ID: "responsibilities", Title: fmt.Sprintf("Between which %ss rows are shared", b.noun()), Lead: []string{"A row is shared where no " + b.noun() + " has a probability of 0.9 or more."}}
	b.draw(s, p)
	b.add(s)
}

// agreement shows the groups against known labels.
func (b *builder) agreement() {
	r := b.rows
	if len(r.Truths) == 0 || len(r.Truths) > listed || b.k > listed {
		return
	}
	m := plot.Matrix{Head: plot.Head{Title: b.nounFirst() + "s and known labels", Width: wide}, X: plot.Axis{Label: "known label"}, Y: plot.Axis{Label: b.noun()}, Columns: r.Truths, Unit: "rows"}
	if t := b.r.Truth; t != nil {
		m.Title = fmt.Sprintf("Agreement with the known labels: ARI %.3f, NMI %.3f", t.ARI, t.NMI)
	}
	if i := slices.Index(m.Columns, ""); i >= 0 {
		m.Columns = slices.Clone(m.Columns)
		m.Columns[i] = "(no value)"
	}
	for c := range b.k {
		line := make([]float64, len(r.Truths))
		for t, name := range r.Truths {
			line[t] = r.Confusion[c][name]
		}
		m.Rows, m.Values = append(m.Rows, fmt.Sprint(c+1)), append(m.Values, line)
	}
	s := &section{ID: "agreement", Title: "Against the known labels", Lead: []string{"They took no part in the fit."}}
	b.draw(s, m)
	b.add(s)
}

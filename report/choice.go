package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/tell"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/plot"
)

var criterionNames = map[string]string{"bic": "BIC", "aic": "AIC", "icl": "ICL", "silhouette": "silhouette", "gap": "gap statistic", "elbow": "J + λk"}

// Criterion draws what k and the covariance shape of a result were chosen by: one line a shape, by the number of groups.
// Candidates that could not win have no point.
func Criterion(r *latent.Result) plot.Criterion {
	c := plot.Criterion{Name: criterionNames[r.Choice.Criterion], Part: tell.Part(r), Highest: r.Choice.Highest}
	at := map[string]int{} // index of each shape's curve
	ranked := r.Ranked()
	for _, x := range r.Candidates {
		name := x.Mclust
		if name == "" {
			name = r.Kind
		}
		i, ok := at[name]
		if !ok {
			i = len(c.Curves)
			at[name] = i
			c.Curves = append(c.Curves, plot.Curve{Name: name})
		}
		v := x.Value(r.Choice.Criterion)
		if x.Collapsed() || x.SameAs != "" && among(ranked, r.Choice.Criterion, v) { // one model is ringed once
			v = math.NaN()
		}
		c.Curves[i].K, c.Curves[i].Value = append(c.Curves[i].K, x.K), append(c.Curves[i].Value, v)
	}
	return c
}

// among reports whether v is the value of one of the best three.
func among(ranked []model.Candidate, criterion string, v float64) bool {
	return slices.ContainsFunc(ranked[:min(len(ranked), 3)], func(x model.Candidate) bool { return x.Value(criterion) == v })
}

// choice says how k and the shape were chosen, where they were.
func (b *builder) choice() {
	c := b.r.Choice
	best := b.r.Ranked()
	if c == nil || len(best) == 0 {
		return
	}
	s := &section{ID: "choice", Title: fmt.Sprintf("How the number of %ss was chosen", tell.Part(b.r))}
	name := criterionNames[c.Criterion]
	s.Lead = append(s.Lead, fmt.Sprintf("%s %s compared by %s; %s is better. %s", text.Count(len(b.r.Candidates), "candidate"), text.Form(len(b.r.Candidates), "was", "were"), name, map[bool]string{true: "higher", false: "lower"}[c.Highest], b.closeness()))
	if c.LeftOut != nil {
		s.Lead = append(s.Lead, "Not tried, because they take long on these rows: "+strings.Join(c.LeftOut, ", ")+".")
	}
	if c.TooLarge != nil {
		s.Lead = append(s.Lead, "Not tried, because they have too many parameters for these rows: "+strings.Join(c.TooLarge, ", ")+".")
	}
	if n := b.r.Pruned(); n > 0 {
		s.Lead = append(s.Lead, fmt.Sprintf("%d of them %s stopped on the way, their %s somewhat too high: what they could still gain would not make them the best.", n, text.Form(n, "was", "were"), name))
	}
	open := 0
	for _, x := range b.r.Candidates {
		if x.Undetermined {
			open++
		}
	}
	if open > 0 {
		s.Lead = append(s.Lead, fmt.Sprintf("The rows do not determine all parameters of %d of them: the log-likelihood is flat in some direction.", open))
	}
	if c.Criterion == "gap" {
		s.Lead = append(s.Lead, fmt.Sprintf("A gap is the mean logarithm of the inertia of %d sets of rows without groups less that of the rows. The smallest number of groups is chosen whose gap is within a standard error of the next, which need not have the largest; where there is none, the most groups that were tried.", c.GapSets))
		if int64(c.GapRows) < b.r.Rows {
			s.Lead = append(s.Lead, fmt.Sprintf("Each set has %s rows; the inertia beside them is of all rows.", text.Thousands(int64(c.GapRows))))
		}
	}
	if c.Penalty != nil {
		s.Lead = append(s.Lead, fmt.Sprintf("J is the inertia, and λ = %s what one group more saves on average over the range.", text.Short(*c.Penalty)))
	}
	if c.Least > 0 {
		s.Lead = append(s.Lead, fmt.Sprintf("Silhouettes are estimated from %s rows drawn at random, at least %s of every group or all that it has.", text.Thousands(int64(c.Rows)), text.Thousands(int64(c.Least))))
	}
	picture := Criterion(b.r)
	if len(best) > 1 && b.r.Candidates[0].K < b.r.Candidates[len(b.r.Candidates)-1].K {
		picture.Head = plot.Head{Title: fmt.Sprintf("%s is best with %s", name, groupsOf(&best[0], tell.Part(b.r))), Width: wide, Height: 460}
		if c.Criterion == "gap" {
			picture.Title = fmt.Sprintf("The gap statistic takes %s", groupsOf(&best[0], tell.Part(b.r)))
		}
		b.draw(s, picture)
	}
	s.Data = append(s.Data, candidateTable(b.r))
	b.add(s)
}

// closeness says what the distance to the second means, and what makes the choice doubtful.
func (b *builder) closeness() string {
	c := b.r.Choice
	said := ""
	switch word := tell.Word(c); word {
	case "":
	case tell.CloseCall:
		said = fmt.Sprintf("The second is only %s behind: %s, the two are almost equally good.", decimals(*c.Margin), word)
	default:
		said = fmt.Sprintf("The second is %s behind: %s.", decimals(*c.Margin), word)
	}
	for _, d := range c.Doubts {
		said = strings.TrimSpace(said + " " + strings.ToUpper(d[:1]) + d[1:] + ".")
	}
	return said
}

// groupsOf says how many components a candidate has, each of them a part, and of what shape.
func groupsOf(x *model.Candidate, part string) string {
	s := text.Count(x.K, part)
	if x.Mclust != "" {
		s += " of shape " + x.Mclust
	}
	return s
}

// candidateTable lists the candidates of a choice. Two values of a column that differ read differently.
func candidateTable(r *latent.Result) table {
	t := table{Caption: "candidates", Rows: make([][]string, len(r.Candidates))}
	column := func(name string, cell func(i int, x *model.Candidate) string) {
		t.Head = append(t.Head, name)
		for i := range r.Candidates {
			t.Rows[i] = append(t.Rows[i], cell(i, &r.Candidates[i]))
		}
	}
	numbers := func(name string, write func([]float64) []string, value func(*model.Candidate) *float64) {
		told := optional(r.Candidates, write, value)
		column(name, func(i int, _ *model.Candidate) string { return told[i] })
	}
	nats := func(v []float64) []string { return text.Criteria(v, 2, sameCriterion) }
	ratios := func(v []float64) []string { return text.Criteria(v, 4, sameCriterion) }
	costs := func(v []float64) []string { return text.Numbers(v, 0) }
	column(tell.Part(r)+"s", func(_ int, x *model.Candidate) string { return fmt.Sprint(x.K) })
	if r.LogLik != nil {
		column("shape", func(_ int, x *model.Candidate) string { return x.Mclust })
		numbers("log-likelihood", nats, func(x *model.Candidate) *float64 { return x.LogLik })
		column("parameters", func(_ int, x *model.Candidate) string {
			if x.FreeParameters == nil {
				return ""
			}
			return fmt.Sprint(*x.FreeParameters)
		})
		numbers("BIC", nats, func(x *model.Candidate) *float64 { return x.BIC })
		numbers("AIC", nats, func(x *model.Candidate) *float64 { return x.AIC })
		numbers("ICL", nats, func(x *model.Candidate) *float64 { return x.ICL })
	} else {
		numbers("cost", costs, func(x *model.Candidate) *float64 { return x.Inertia })
	}
	numbers("silhouette", ratios, func(x *model.Candidate) *float64 { return x.Silhouette })
	switch r.Choice.Criterion {
	case "gap":
		numbers("gap", ratios, func(x *model.Candidate) *float64 { return x.Gap })
		numbers("standard error", ratios, func(x *model.Candidate) *float64 { return x.GapSE })
	case "elbow":
		numbers("J + λk", costs, func(x *model.Candidate) *float64 { return x.Objective })
	}
	column("what kept it from winning", func(_ int, x *model.Candidate) string { return x.Why })
	return t
}

// sameCriterion is the difference from which on two values of a criterion are told apart.
const sameCriterion = 1e-6

// optional writes a value of each candidate, nothing where it has none.
func optional(candidates []model.Candidate, write func([]float64) []string, value func(*model.Candidate) *float64) []string {
	out := make([]string, len(candidates))
	var at []int
	var values []float64
	for i := range candidates {
		if v := value(&candidates[i]); v != nil {
			at, values = append(at, i), append(values, *v)
		}
	}
	for n, s := range write(values) {
		out[at[n]] = text.Group(s)
	}
	return out
}

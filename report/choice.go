package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/plot"
)

var criterionNames = map[string]string{"bic": "BIC", "aic": "AIC", "icl": "ICL", "silhouette": "silhouette", "gap": "gap statistic", "elbow": "J + λk"}

// Criterion draws what k and the covariance shape of a result were chosen by: one line a shape, by the number of groups.
// Candidates that could not win have no point.
func Criterion(r *latent.Result) plot.Criterion {
	c := plot.Criterion{Name: criterionNames[r.Choice.Criterion], Highest: r.Choice.Highest}
	at := map[string]int{} // index of each shape's curve
	ranked := r.Ranked()
	for _, x := range r.Candidates {
		name := x.Mclust
		if name == "" {
			name = r.Model
		}
		i, ok := at[name]
		if !ok {
			i = len(c.Curves)
			at[name] = i
			c.Curves = append(c.Curves, plot.Curve{Name: name})
		}
		v := x.Value(r.Choice.Criterion)
		if x.AtFloor || x.Narrow || x.SameAs != "" && among(ranked, r.Choice.Criterion, v) { // one model is ringed once
			v = math.NaN()
		}
		c.Curves[i].K, c.Curves[i].Value = append(c.Curves[i].K, x.K), append(c.Curves[i].Value, v)
	}
	return c
}

// among reports whether v is the value of one of the best three.
func among(ranked []latent.Candidate, criterion string, v float64) bool {
	return slices.ContainsFunc(ranked[:min(len(ranked), 3)], func(x latent.Candidate) bool { return x.Value(criterion) == v })
}

// choice says how k and the shape were chosen, where they were.
func (b *builder) choice() {
	c := b.r.Choice
	best := b.r.Ranked()
	if c == nil || len(best) == 0 {
		return
	}
	s := &section{ID: "choice", Title: "How the number of groups was chosen"}
	name := criterionNames[c.Criterion]
	s.Lead = append(s.Lead, fmt.Sprintf("%d candidates were compared by %s; %s is better. %s", len(b.r.Candidates), name, map[bool]string{true: "higher", false: "lower"}[c.Highest], b.firmness()))
	if c.LeftOut != nil {
		s.Lead = append(s.Lead, "Not tried, because they take long on these rows: "+strings.Join(c.LeftOut, ", ")+".")
	}
	if n := b.r.Outraced(); n > 0 {
		s.Lead = append(s.Lead, fmt.Sprintf("%d of them were stopped on the way, their %s somewhat too high: what they could still gain would not make them the best.", n, name))
	}
	if c.Criterion == "gap" {
		s.Lead = append(s.Lead, fmt.Sprintf("A gap is the mean logarithm of the inertia of %d sets of rows without groups less that of the rows. The smallest number of groups wins whose gap is within a standard error of the next, which need not have the largest; where there is none, the most groups that were tried.", c.GapSets))
		if int64(c.GapRows) < b.r.N {
			s.Lead = append(s.Lead, fmt.Sprintf("Gaps are those of %s rows drawn at random.", count(int64(c.GapRows))))
		}
	}
	if c.Penalty != nil {
		s.Lead = append(s.Lead, fmt.Sprintf("J is the inertia, and λ = %s what one group more saves on average over the range.", number(*c.Penalty)))
	}
	if c.Rows > 0 && int64(c.Rows) < b.r.N {
		s.Lead = append(s.Lead, fmt.Sprintf("Silhouettes are those of %s rows drawn at random.", count(int64(c.Rows))))
	}
	picture := Criterion(b.r)
	if len(best) > 1 && b.r.Candidates[0].K < b.r.Candidates[len(b.r.Candidates)-1].K {
		picture.Head = plot.Head{Title: fmt.Sprintf("%s is best with %s", name, groupsOf(&best[0])), Width: wide, Height: 460}
		if c.Criterion == "gap" {
			picture.Title = fmt.Sprintf("The gap statistic takes %s", groupsOf(&best[0]))
		}
		b.draw(s, picture)
	}
	s.Data = append(s.Data, candidateTable(b.r))
	b.add(s)
}

// firmness says what the distance to the second means.
func (b *builder) firmness() string {
	switch b.r.Choice.Verdict {
	case "flat":
		return fmt.Sprintf("The first two differ by %s only: these rows hardly tell them apart.", decimals(*b.r.Choice.Margin))
	case "fair":
		return fmt.Sprintf("The second is %s behind: a fair choice.", decimals(*b.r.Choice.Margin))
	case "clear":
		return fmt.Sprintf("The second is %s behind: a clear choice.", decimals(*b.r.Choice.Margin))
	}
	return ""
}

func groupsOf(x *latent.Candidate) string {
	s := fmt.Sprintf("%d groups", x.K)
	if x.K == 1 {
		s = "1 group"
	}
	if x.Mclust != "" {
		s += " of shape " + x.Mclust
	}
	return s
}

func candidateTable(r *latent.Result) table {
	t := table{Caption: "candidates", Head: []string{"groups", "shape", "log-likelihood", "parameters", "BIC", "AIC", "ICL", "silhouette", "what kept it from winning"}}
	if r.LogLik == nil {
		t.Head = []string{"groups", "cost", "silhouette", "what kept it from winning"}
	}
	text := func(v *float64) string {
		if v == nil {
			return ""
		}
		return decimals(*v)
	}
	switch r.Choice.Criterion {
	case "gap":
		t.Head = slices.Insert(t.Head, 3, "gap", "standard error")
	case "elbow":
		t.Head = slices.Insert(t.Head, 3, "J + λk")
	}
	for _, x := range r.Candidates {
		line := []string{fmt.Sprint(x.K), x.Mclust, text(x.LogLik), "", text(x.BIC), text(x.AIC), text(x.ICL), "", x.Why}
		if x.Free != nil {
			line[3] = fmt.Sprint(*x.Free)
		}
		if r.LogLik == nil {
			line = []string{fmt.Sprint(x.K), text(x.Inertia), "", x.Why}
		}
		if x.Silhouette != nil {
			line[len(line)-2] = fmt.Sprintf("%.4f", *x.Silhouette)
		}
		switch {
		case r.Choice.Criterion == "gap" && x.Gap != nil:
			line = slices.Insert(line, 3, fmt.Sprintf("%.4f", *x.Gap), fmt.Sprintf("%.4f", *x.GapSE))
		case r.Choice.Criterion == "gap":
			line = slices.Insert(line, 3, "", "")
		case r.Choice.Criterion == "elbow":
			line = slices.Insert(line, 3, text(x.Objective))
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

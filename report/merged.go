package report

import (
	"fmt"
	"strings"

	"github.com/latent-go/latent/internal/tell"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/plot"
)

// merged says which components make each cluster, and by which steps that was found.
func (b *builder) merged() {
	c := b.r.Clusters
	if c == nil {
		return
	}
	s := &section{ID: "merged", Title: "Which components make a cluster", Lead: []string{tell.Merged(b.r) + " The density is that of the components; a row belongs to a cluster with the sum of their probabilities."}}
	t := table{Caption: "clusters", Head: []string{"cluster", "share", "components"}}
	for g, list := range b.members {
		t.Rows = append(t.Rows, []string{fmt.Sprint(g + 1), percent(c.Weights[g]), strings.Join(tell.Components(list), ", ")})
	}
	s.Data = append(s.Data, t)
	switch {
	case c.Cutoff != nil:
		s.Lead = append(s.Lead, "Two overlap by the share of the rows of one that are more likely of the other, the larger of the two shares.")
	case c.Entropy != nil:
		s.Lead = append(s.Lead, "Entropy is how unsure it is to which cluster rows belong: that pair is merged which takes most of it away.")
		b.draw(s, b.entropies(c))
	}
	if len(c.Steps) > 0 || c.Next != nil {
		s.Data = append(s.Data, steps(c))
	}
	b.add(s)
}

// entropies draws the entropy by the number of clusters.
func (b *builder) entropies(c *model.Clusters) plot.Lines {
	k := len(c.Of)
	line, axis := plot.Series{X: []float64{float64(k - 1)}, Y: []float64{*c.Entropy}}, plot.Axis{Label: "clusters"}
	for _, step := range c.Steps {
		line.X, line.Y = append(line.X, float64(step.Clusters-1)), append(line.Y, *step.Entropy)
	}
	for n := range k {
		axis.Names = append(axis.Names, fmt.Sprint(n+1))
	}
	return plot.Lines{Head: plot.Head{Title: fmt.Sprintf("The entropy that is left with so many clusters; %s taken", text.Are(c.N, "cluster")), Width: wide},
		X: axis, Y: plot.Axis{Label: "entropy", Unit: "nats"}, Series: []plot.Series{line}}
}

// steps lists the mergers.
func steps(c *model.Clusters) table {
	what := "entropy"
	if c.Cutoff != nil {
		what = "overlap"
	}
	t := table{Caption: "mergers", Head: []string{"clusters", what, "components joined"}}
	line := func(s *model.MergeStep, clusters string) {
		v := s.Value
		if v == nil {
			v = s.Entropy
		}
		t.Rows = append(t.Rows, []string{clusters, text.Decimals(*v, 4), numbered(s.Joined[0]) + " with " + numbered(s.Joined[1])})
	}
	for i := range c.Steps {
		line(&c.Steps[i], fmt.Sprint(c.Steps[i].Clusters))
	}
	if c.Next != nil {
		line(c.Next, "not merged")
	}
	return t
}

func numbered(list []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]")
}

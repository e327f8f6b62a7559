package report

import (
	"fmt"

	"github.com/latent-go/latent/internal/tell"
	"github.com/latent-go/latent/internal/text"
)

// stability says what repeating the fit on resampled rows found out, and the test against one more group.
func (b *builder) stability() {
	st, lrt := b.r.Stability, b.r.LRT
	if (st == nil || st.Done == 0) && (lrt == nil || lrt.P == nil) {
		return
	}
	s := &section{ID: "stability", Title: fmt.Sprintf("How stable the %ss are", b.noun())}
	if st != nil && st.Done > 0 {
		s.Lead = append(s.Lead, fmt.Sprintf("The fit was repeated on %s of the rows, and each of these models labelled all rows. Their labels agree with those here by an ARI of %.3f on average (1: the same labels, 0: no more than by chance), and of %.3f or more in 95 %% of the samples.", text.Count(st.Done, "bootstrap sample"), *st.ARI, *st.ARILow))
		s.Lead = append(s.Lead, fmt.Sprintf("Jaccard: the rows that a %[1]s shares with its most similar %[1]s in a sample, of the rows in either, on average. Consensus: the share of the pairs of its rows that stay together. A %[1]s is recovered where its Jaccard is above 0.75, and dissolved where it is 0.5 or less.", b.noun()))
		if st.Failed > 0 {
			s.Lead = append(s.Lead, fmt.Sprintf("%s could not be fitted: %s.", text.Count(st.Failed, "sample"), st.Why))
		}
		if st.Interrupted {
			s.Lead = append(s.Lead, fmt.Sprintf("%s %s asked for; the rest was interrupted.", text.Count(st.Replicates, "sample"), text.Form(st.Replicates, "was", "were")))
		}
		s.Data = append(s.Data, b.stabilityTables()...)
	}
	if lrt != nil && lrt.P != nil {
		s.Lead = append(s.Lead, fmt.Sprintf("The likelihood ratio of %s against %d is %s; of %s drawn from the mixture of %d, %d %s that (p = %s).",
			text.Count(lrt.K, tell.Part(b.r)), lrt.Against, text.Short(*lrt.Statistic), text.Count(lrt.Done, "sample"), lrt.K, lrt.Reached, text.Form(lrt.Reached, "reaches", "reach"), text.P(*lrt.P)))
	}
	b.add(s)
}

func (b *builder) stabilityTables() []table {
	st := b.r.Stability
	groups := table{Caption: b.noun() + "s", Head: []string{b.noun(), "reading", "Jaccard", "consensus", "recovered in", "dissolved in"}}
	for _, g := range st.Groups {
		groups.Rows = append(groups.Rows, []string{fmt.Sprint(g.Label), g.Reading, fmt.Sprintf("%.3f", g.Jaccard), fmt.Sprintf("%.3f", g.Consensus), fmt.Sprint(g.Recovered), fmt.Sprint(g.Dissolved)})
	}
	tables := []table{groups}
	if st.Choices != nil {
		chosen := table{Caption: "what the samples chose", Head: []string{tell.Part(b.r) + "s", "shape", "times"}}
		for _, c := range st.Choices {
			chosen.Rows = append(chosen.Rows, []string{fmt.Sprint(c.K), c.Mclust, fmt.Sprint(c.Times)})
		}
		tables = append(tables, chosen)
	}
	return tables
}

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/tell"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// quoted returns the name of a column as it stands in a sentence.
func quoted(name string) string { return "“" + name + "”" }

// percent writes a share in per cent, without rounding it to 0 or 100. The blank in it does not break.
func percent(v float64) string {
	s := ""
	switch {
	case v == 0 || v == 1:
		s = fmt.Sprintf("%.0f", 100*v)
	case v < 0.001:
		s = "under 0.1"
	case v > 0.999:
		s = "over 99.9"
	case v < 0.1 || v > 0.9:
		s = fmt.Sprintf("%.1f", 100*v)
	default:
		s = fmt.Sprintf("%.0f", 100*v)
	}
	return s + "\u00a0%"
}

// trust says whether the fit finished and what found it, how sure the labels are, and what the page is of where it is of other rows.
func (b *builder) trust() []string {
	said := []string{tell.Trust(b.r)}
	if b.r.LogLik != nil && b.k > 1 {
		said[0] += " " + b.belong() + "."
	}
	if n := b.r.Rows; n > 0 && n != b.rows.N+b.rows.Missing.EmptyRows {
		said = append(said, fmt.Sprintf("The model was fitted to %s; this page shows %s.", text.Count(n, "row"), text.Count(b.rows.N, "row")))
	}
	if b.r.Truth != nil {
		said = append(said, fmt.Sprintf("Agreement with the known labels: ARI %.3f, NMI %.3f.", b.r.Truth.ARI, b.r.Truth.NMI))
	}
	return said
}

// belong says how many rows belong to their group for sure.
func (b *builder) belong() string {
	if b.rows.Sure >= 1 {
		return "Every row belongs to its group with a probability of 0.9 or more"
	}
	return percent(b.rows.Sure) + " of the rows belong to their group with a probability of 0.9 or more"
}

// fitted says what was fitted, how good it is and how far from the optimum it may be.
func (b *builder) fitted() []fact {
	r := b.r
	k := kind.Of(r.Kind)
	by := k.Phrase
	if s := tell.Covariances(r); s != "" {
		by += " with " + s
	}
	facts := []fact{{"fitted", text.Count(r.K, "group") + ", by " + by}}
	switch {
	case r.LogLik != nil && r.BIC == nil: // the file does not say of how many rows
		facts = append(facts, fact{"log-likelihood", fmt.Sprintf("%s (%s)", decimals(*r.LogLik), text.Count(r.FreeParameters, "free parameter"))})
	case r.LogLik != nil:
		facts = append(facts, fact{"log-likelihood", decimals(*r.LogLik)}, fact{"BIC", fmt.Sprintf("%s with %s; lower is better", decimals(*r.BIC), text.Count(r.FreeParameters, "free parameter"))})
	case r.Inertia != nil:
		facts = append(facts, fact{k.Cost.Name, fmt.Sprintf("%s: %s of the rows to their centres", text.Short(*r.Inertia), k.Cost.Of)})
	}
	if s := tell.Certain(r); s != "" {
		facts = append(facts, fact{"how far it got", s})
	}
	if r.Starts.N > 1 {
		facts = append(facts, fact{"starts", b.starts()})
	}
	for _, w := range r.Warnings {
		if w.Code == model.Certain {
			facts = append(facts, fact{"to note", w.Text})
		}
	}
	return facts
}

// starts says how many starts ended at this solution, and how much splitting and merging gained where none did.
func (b *builder) starts() string {
	s := b.r.Starts
	switch {
	case s.AgreeWithBest == 0 && s.Moves != nil && s.Moves.Kept > 0:
		return fmt.Sprintf("none of %d reached this solution; splitting and merging groups did, %s nats above the best of them", s.N, decimals(s.Moves.Gain))
	case s.AgreeWithBest == 0:
		return fmt.Sprintf("none of %d reached this solution", s.N)
	case s.DistinctOptima > 1:
		return fmt.Sprintf("%d of %d reached this solution; they ended at %s in all", s.AgreeWithBest, s.N, text.Count(s.DistinctOptima, "optimum"))
	case s.AgreeWithBest == s.N:
		return fmt.Sprintf("all %d reached this solution", s.N)
	}
	return fmt.Sprintf("%d of %d reached this solution; the others were stopped on the way", s.AgreeWithBest, s.N)
}

// decimals writes v with two decimals, more where it would read 0 and is not.
func decimals(v float64) string {
	if math.Abs(v) >= 1e15 {
		return text.Short(v)
	}
	return strings.TrimPrefix(text.Difference(v, 2, 0), "+")
}

// card is what is told of a group.
type card struct {
	Name, Color    string
	Weight         string
	Share          float64 // of the rows, percent
	Rows           string
	Words          []string
	Typical, Least table
}

// cards tells the groups.
func (b *builder) cards() *section {
	s := &section{ID: "groups", Lead: []string{b.basis()}}
	for c := range b.k {
		g := &b.rows.Group[c]
		u := card{Name: b.names[c], Color: hex(c), Share: 100 * g.Weight / b.rows.Weight, Rows: text.Count(g.Rows, "row"), Words: b.distinguishing(c)}
		if b.r.LogLik != nil {
			u.Share = 100 * b.r.Components[c].Weight
			u.Rows += text.Form(g.Rows, " has", " have") + " this label"
		}
		u.Weight = percent(u.Share/100) + " of the rows"
		typical := "nearest to the group's centre"
		if k := kind.Of(b.r.Kind); !k.Cells.Units || k.Parted { // rows of bits, levels or counts have no centre among them
			typical = "that fit the group best"
		}
		u.Typical = b.told(typical, g.Typical)
		if len(g.Unsure) > 0 && g.Unsure[0].Uncertainty > 1e-6 {
			u.Least = b.told("least sure", g.Unsure)
		}
		s.Cards = append(s.Cards, u)
	}
	if len(s.Cards) > 60 {
		s.Lead = append(s.Lead, fmt.Sprintf("The 60 largest of %d groups.", len(s.Cards)))
		s.Cards = s.Cards[:60]
	}
	return s
}

// basis says what the numbers of the groups are.
func (b *builder) basis() string {
	scaled := ""
	if b.rescaled() {
		scaled = " In columns that were fitted on another scale they are averages of the rows with its label."
	}
	if b.r.LogLik == nil {
		return "Numbers of a group are its centre, by the model; “over all rows” is the average of the data." + scaled + " Rows are counted by label, the group whose centre is nearest."
	}
	return "Numbers of a group are parameters of the model: each row counts as far as it belongs to the group." + scaled + " “Over all rows” is the average of the data. Rows are counted by label, the group that each belongs to most."
}

// told lists rows in their three most telling columns.
func (b *builder) told(caption string, rows []Row) table {
	t := table{Caption: caption, Head: []string{"row"}}
	columns := b.telling[:min(3, len(b.telling))]
	for _, j := range columns {
		t.Head = append(t.Head, b.r.Columns[j])
	}
	t.Head = append(t.Head, "unsure")
	cells := b.cells(columns, rows)
	for i, row := range rows {
		line := append([]string{text.Thousands(row.Number)}, cells[i]...)
		t.Rows = append(t.Rows, append(line, percent(row.Uncertainty)))
	}
	return t
}

// spreads is how many standard deviations count as the width of the range in which a column's rows lie.
const spreads = 4

// spread returns about the width of the range in which the rows of column j lie.
func (b *builder) spread(j int) float64 { return spreads * b.rows.SD[j] }

// cells writes the values of some columns for rows that stand below each other: a line a row.
func (b *builder) cells(columns []int, rows []Row) [][]string {
	lines := make([][]string, len(rows))
	for _, j := range columns {
		values := make([]float64, len(rows))
		for i, row := range rows {
			values[i] = row.X[j]
		}
		told := b.written(values, j)
		for i, v := range values {
			if names := b.columns[j].Levels; v >= 0 && v < float64(len(names)) {
				told[i] = names[int(v)]
			}
			lines[i] = append(lines[i], told[i])
		}
	}
	return lines
}

// distinguishing says in words in which columns group c differs most from all rows.
func (b *builder) distinguishing(c int) (words []string) {
	g := &b.rows.Group[c]
	if g.Rows == 0 {
		return []string{"no row carries this label"}
	}
	words = b.meanWords(c)
	words = append(words, b.levelWords(c)...)
	if words == nil {
		return []string{"near the average in every column"}
	}
	return words
}

// meanWords says in which columns group c differs most from the mean of all rows.
func (b *builder) meanWords(c int) (words []string) {
	off := make([]float64, b.d)
	var order []int
	for j := range off {
		if b.hasShares(j) {
			continue
		}
		order = append(order, j)
		if v := b.apart(c, j); v == v {
			off[j] = v
		}
	}
	slices.SortStableFunc(order, func(a, e int) int { return cmp.Compare(math.Abs(off[e]), math.Abs(off[a])) })
	for _, j := range order[:min(3, len(order))] {
		size := math.Abs(off[j])
		if size < 0.2 {
			break
		}
		how := map[bool]string{true: "higher", false: "lower"}[off[j] > 0]
		switch {
		case size >= 1.5:
			how = "much " + how
		case size < 0.5:
			how = "somewhat " + how
		}
		told := b.written([]float64{b.typical(c, j), b.rows.Mean[j]}, j)
		words = append(words, fmt.Sprintf("%s %s: %s, over all rows %s", quoted(b.r.Columns[j]), how, told[0], told[1]))
	}
	return words
}

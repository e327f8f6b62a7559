package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
)

// number writes v with four significant digits.
func number(v float64) string {
	if math.Abs(v) >= 1e4 && math.Abs(v) < 1e15 {
		return text.Thousands(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

func percent(v float64) string {
	switch {
	case v == 0 || v == 1:
		return fmt.Sprintf("%.0f %%", 100*v)
	case v < 0.001:
		return "under 0.1 %"
	case v > 0.999:
		return "over 99.9 %"
	case v < 0.1 || v > 0.9:
		return fmt.Sprintf("%.1f %%", 100*v)
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}

// verdict says what the fit found, how good it is and whether it finished.
func (b *builder) verdict() []string {
	r := b.r
	k := kind.Of(r.Kind)
	shape := ""
	if r.Covariance != "" {
		shape = fmt.Sprintf(" with %s covariances (%s)", r.Covariance, r.Mclust)
	}
	said := []string{fmt.Sprintf("%s, by %s%s.", text.Count(r.K, "group"), k.Phrase, shape)}
	switch {
	case r.LogLik != nil && r.BIC == nil: // the file does not say of how many rows
		said = append(said, fmt.Sprintf("Log-likelihood %s nats (%s).", decimals(*r.LogLik), text.Count(r.FreeParameters, "free parameter")))
	case r.LogLik != nil:
		said = append(said, fmt.Sprintf("Log-likelihood %s nats, BIC %s (%s; lower is better).", decimals(*r.LogLik), decimals(*r.BIC), text.Count(r.FreeParameters, "free parameter")))
	case r.Inertia != nil:
		said = append(said, fmt.Sprintf("%s %s: %s of the rows to their centres.", strings.ToUpper(k.Cost.Name[:1])+k.Cost.Name[1:], number(*r.Inertia), k.Cost.Of))
	}
	said = append(said, b.finished())
	if r.Starts.N > 1 {
		said = append(said, b.starts())
	}
	if r.LogLik != nil && r.K > 1 {
		said = append(said, fmt.Sprintf("The label is sure, with a responsibility of 0.9 or more, for %s of the rows.", percent(b.rows.Sure)))
	}
	if r.Truth != nil {
		said = append(said, fmt.Sprintf("Agreement with the known labels: ARI %.3f, NMI %.3f.", r.Truth.ARI, r.Truth.NMI))
	}
	return said
}

// starts says how many starts ended at this solution, and what led to it where none did.
func (b *builder) starts() string {
	s := b.r.Starts
	moved := s.Moves != nil && s.Moves.Kept > 0
	switch {
	case s.AgreeWithBest == 0 && moved:
		return fmt.Sprintf("None of the %d starts reached this solution; splitting and merging groups did, %s nats above the best of them.", s.N, decimals(s.Moves.Gain))
	case s.AgreeWithBest == 0:
		return fmt.Sprintf("None of the %d starts reached this solution.", s.N)
	case s.DistinctOptima > 1:
		return fmt.Sprintf("%d of %d starts reached this solution; the starts ended at %s in all.", s.AgreeWithBest, s.N, text.Count(s.DistinctOptima, "optimum"))
	case s.AgreeWithBest == s.N:
		return fmt.Sprintf("All %d starts reached this solution.", s.N)
	}
	return fmt.Sprintf("%d of %d starts reached this solution; the others were stopped on the way.", s.AgreeWithBest, s.N)
}

// decimals writes v with two decimals, more where it would read 0 and is not.
func decimals(v float64) string {
	if math.Abs(v) >= 1e15 {
		return number(v)
	}
	s := text.Difference(v, 2, 0)
	return text.Group(strings.TrimPrefix(s, "+"))
}

func (b *builder) finished() string {
	r, c := b.r, b.r.Certificate
	switch {
	case r.ByHand:
		return "The model was written by hand: it was not fitted to these or other rows."
	case r.Starts.N == 0:
		return "The model file does not say whether the fit had finished."
	case !r.Converged:
		return "Not finished: the numbers below may still change."
	case c.DistanceSE != nil && c.Remaining != nil:
		return fmt.Sprintf("Finished: within %.2g standard errors of its optimum; at most about %.1g nats are left to gain.", *c.DistanceSE, *c.Remaining)
	case !kind.Of(r.Kind).Mixture:
		return "Finished: no row changes its group any more."
	}
	return "Finished."
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
func (b *builder) cards() {
	s := &section{ID: "groups", Title: "The groups"}
	for c := range b.k {
		g := &b.rows.Group[c]
		u := card{Name: b.names[c], Color: hex(c), Share: 100 * g.Weight / b.rows.Weight, Rows: text.Count(g.Rows, "row"), Words: b.distinguishing(c)}
		if c < len(b.r.Components) {
			u.Weight = text.Share(b.r.Components[c].Weight, 3)
		}
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
	b.add(s)
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
		told := text.Numbers(values, b.spread(j))
		for i, v := range values {
			switch names := b.columns[j].levels; {
			case v != v:
				told[i] = "–"
			case v >= 0 && v < float64(len(names)):
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
	words = b.meanWords(g)
	words = append(words, b.levelWords(c)...)
	if words == nil {
		return []string{"near the average in every column"}
	}
	return words
}

// meanWords says in which columns the means of a group differ most from those of all rows.
func (b *builder) meanWords(g *Group) (words []string) {
	off := make([]float64, b.d)
	var order []int
	for j := range off {
		if !b.hasMean(j) {
			continue
		}
		order = append(order, j)
		if v := (g.Mean[j] - b.rows.Mean[j]) / b.rows.SD[j]; b.rows.SD[j] > 0 && v == v {
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
		told := text.Numbers([]float64{g.Mean[j], b.rows.Mean[j]}, b.spread(j))
		words = append(words, fmt.Sprintf("%s %s: %s, over all rows %s", b.r.Columns[j], how, told[0], told[1]))
	}
	return words
}

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
		s = "under\u00a00.1"
	case v > 0.999:
		s = "over\u00a099.9"
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
	if b.rows.density && b.k > 1 {
		said[0] += " " + b.belong() + "."
	}
	if n := b.r.Rows; n > 0 && n != b.rows.N && n != b.rows.N+b.rows.Missing.EmptyRows {
		said = append(said, fmt.Sprintf("The model was fitted to %s; this page shows %s.", text.Count(n, "row"), text.Count(b.rows.N, "row")))
	}
	if b.r.Truth != nil {
		said = append(said, fmt.Sprintf("Agreement with the known labels: ARI %.3f, NMI %.3f; 1 would be full agreement.", b.r.Truth.ARI, b.r.Truth.NMI))
	}
	if st := b.r.Stability; st != nil && st.Done > 0 {
		said = append(said, fmt.Sprintf("Fits to %[1]s of the rows agree with these %[3]ss by an ARI of %.3[2]f on average; 1 would be the same %[3]ss.", text.Count(st.Done, "bootstrap sample"), *st.ARI, b.noun()))
	}
	return said
}

// belong says how many rows belong to their group for sure.
func (b *builder) belong() string {
	switch {
	case b.rows.Sure >= 1:
		return "Every row belongs to its " + b.noun() + " with a probability of 0.9 or more"
	case b.weighted():
		return "Rows with " + percent(b.rows.Sure) + " of the weight belong to their " + b.noun() + " with a probability of 0.9 or more"
	}
	return percent(b.rows.Sure) + " of the rows belong to their " + b.noun() + " with a probability of 0.9 or more"
}

// weighted reports whether rows have weights, so that a share is one of the weight, not of the rows.
func (b *builder) weighted() bool { return b.rows.Weight != float64(b.rows.N) }

// weight writes the total weight of the rows.
func (b *builder) weight() string {
	if v := b.rows.Weight; v == math.Trunc(v) && v < 1e15 {
		return text.Thousands(int64(v))
	}
	return text.Short(b.rows.Weight)
}

// ofWhat says what shares are of.
func (b *builder) ofWhat() string {
	if b.weighted() {
		return "the weight"
	}
	return "the rows"
}

// fitted says what was fitted, how good it is and how far from the optimum it may be.
func (b *builder) fitted() []fact {
	r := b.r
	k := kind.Of(r.ComponentKind())
	by := k.Phrase
	if r.Transitions != nil {
		by = "a " + tell.Kind(r)
	}
	if s := tell.Covariances(r); s != "" {
		by += " with " + s
	}
	if r.Noise != nil {
		by += ", and noise"
	}
	facts := []fact{{"fitted", text.Count(r.K, tell.Part(r)) + ", by " + by}}
	switch {
	case r.ELBO != nil:
		facts = append(facts, fact{"evidence lower bound", fmt.Sprintf("%s nats; %d of %s in use", decimals(*r.ELBO), r.K, text.Count(r.KMax, "component"))})
	case r.LogLik != nil && r.BIC == nil: // the file does not say of how many rows
		facts = append(facts, fact{"log-likelihood", fmt.Sprintf("%s (%s)", decimals(*r.LogLik), text.Count(r.FreeParameters, "free parameter"))})
	case r.LogLik != nil:
		facts = append(facts, fact{"log-likelihood", decimals(*r.LogLik)}, fact{"BIC", fmt.Sprintf("%s with %s; lower is better", decimals(*r.BIC), text.Count(r.FreeParameters, "free parameter"))})
	case r.Inertia != nil:
		facts = append(facts, fact{k.Cost.Name, fmt.Sprintf("%s: %s of the rows to their centres", text.Short(*r.Inertia), k.Cost.Of)})
	}
	if s := tell.Prior(r); s != "" {
		facts = append(facts, fact{"conjugate prior", s})
	}
	if s := tell.Certain(r); s != "" {
		facts = append(facts, fact{"how far it got", s})
	}
	if r.Starts.N > 1 {
		facts = append(facts, fact{"starts", b.starts()})
	}
	for _, w := range r.Warnings {
		if certain(w) {
			facts = append(facts, fact{"to note", w.Text})
		}
	}
	return facts
}

// certain reports whether a warning only says that probabilities are at an end of their range, which is normal. Model files keep no codes.
func certain(w model.Warning) bool {
	return w.Code == model.Certain || slices.ContainsFunc(kind.Names(), func(name string) bool {
		before, after, ok := strings.Cut(kind.Of(name).Location.Certain, "%s")
		return ok && strings.Contains(w.Text, before) && strings.HasSuffix(w.Text, after)
	})
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
		if b.rows.density {
			u.Share = 100 * b.r.Components[c].Weight
			u.Rows += text.Form(g.Rows, " has", " have") + " this label"
		}
		u.Weight = percent(u.Share/100) + " of " + b.ofWhat()
		typical := "nearest to the " + b.noun() + "'s centre"
		if k := kind.Of(b.r.ComponentKind()); !k.Cells.Units || k.Parted || len(b.members[c]) > 1 { // rows of bits, levels or counts have no centre among them
			typical = "that fit the " + b.noun() + " best"
		}
		u.Typical = b.told(typical, g.Typical)
		if len(g.Unsure) > 0 && g.Unsure[0].Uncertainty > 1e-6 {
			u.Least = b.told("least sure", g.Unsure)
		}
		s.Cards = append(s.Cards, u)
	}
	if len(s.Cards) > 60 {
		s.Lead = append(s.Lead, fmt.Sprintf("The 60 largest of %d %ss.", len(s.Cards), b.noun()))
		s.Cards = s.Cards[:60]
	}
	return s
}

// basis says what the numbers of the groups are, and what shares are of where rows have weights.
func (b *builder) basis() string {
	if b.weighted() {
		return b.meant() + fmt.Sprintf(" Shares are of the total weight of the rows, %s.", b.weight())
	}
	return b.meant()
}

// meant says what the numbers of the groups are.
func (b *builder) meant() string {
	scaled := ""
	if b.rescaled() {
		scaled = " In columns that were fitted on another scale they are averages of the rows with its label."
	}
	switch {
	case b.k == 1 && b.rows.density:
		return "The numbers are parameters of the model." + scaled
	case !b.rows.density:
		return "Numbers of a group are its centre, by the model; “all rows” is the average of the data." + scaled + " Rows are counted by label, the group whose centre is nearest."
	}
	all := "“all rows” is the average of the data"
	if some := b.those(b.hasShares); len(some) == b.d {
		all = "“all rows” is the average of these over the " + b.noun() + "s"
	} else if some != nil {
		all += ", of categories the average over the " + b.noun() + "s"
	}
	return fmt.Sprintf("Numbers of a %[1]s are parameters of the model: each row counts as far as it belongs to the %[1]s; %[2]s.%[3]s Rows are counted by label, the %[1]s that each belongs to most.", b.noun(), all, scaled)
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

// Differences that are told of a group, in standard deviations of all rows.
const (
	tellsMean = 0.2 // of a mean
	somewhat  = 0.5 // below this it is somewhat higher or lower
	much      = 1.5 // from this on much
)

// word says in what a group differs from all rows.
type word struct {
	text string
	by   float64 // standard deviations of all rows; a level counts as a column of 0 and 1
}

// distinguishing says in words in which columns group c differs most from all rows; where it differs in none, what its first columns are like.
func (b *builder) distinguishing(c int) (said []string) {
	if b.rows.Group[c].Rows == 0 {
		return []string{"no row carries this label"}
	}
	means, levels := b.meanWords(c), b.levelWords(c)
	most := 3
	if means != nil && levels != nil {
		most = 5
	}
	words := append(means, levels...)
	said = b.placeWords(c)
	if words == nil && said == nil {
		return b.plainWords(c)
	}
	slices.SortStableFunc(words, func(a, e word) int { return cmp.Compare(e.by, a.by) })
	for _, w := range words[:min(most, len(words))] {
		said = append(said, w.text)
	}
	return said
}

// placeWords says where on earth the centre of group c lies, where columns are degrees: no average of these is one to compare it with.
func (b *builder) placeWords(c int) (said []string) {
	for j, column := range b.columns {
		if column.Scale == "geo" {
			said = append(said, fmt.Sprintf("%s: %s at the centre", quoted(b.r.Columns[j]), b.written([]float64{b.center(&b.r.Components[c], j)}, j)[0]))
		}
	}
	return said
}

// meanWords says in which columns the mean of group c, by the model, differs from that of all rows.
func (b *builder) meanWords(c int) (words []word) {
	for j := range b.d {
		if b.hasShares(j) {
			continue
		}
		off := b.apart(c, j)
		size := math.Abs(off)
		if !(size >= tellsMean) {
			continue
		}
		how := map[bool]string{true: "higher", false: "lower"}[off > 0]
		switch {
		case size >= much:
			how = "much " + how
		case size < somewhat:
			how = "somewhat " + how
		}
		words = append(words, word{b.meanWord(c, j, " "+how), size})
	}
	return words
}

// meanWord tells the centre of a group in column j, and that of all rows where there are other groups.
func (b *builder) meanWord(c, j int, how string) string {
	told := b.written([]float64{b.typical(c, j), b.rows.Mean[j]}, j)
	if b.k == 1 {
		return fmt.Sprintf("%s: %s", quoted(b.r.Columns[j]), told[0])
	}
	return fmt.Sprintf("%s%s: %s (all rows: %s)", quoted(b.r.Columns[j]), how, told[0], told[1])
}

// plainWords tell what group c is like in the columns that tell the groups apart best, whether or not it differs there.
func (b *builder) plainWords(c int) (said []string) {
	most := 3
	if b.k == 1 {
		most = 8
	}
	for _, j := range b.telling[:min(most, b.d)] {
		if b.hasShares(j) {
			names, of, all := b.levelShares(j)
			at := slices.Index(of[c], slices.Max(of[c]))
			said = append(said, b.levelWord(j, names[at], of[c][at], all[at]))
			continue
		}
		if v := b.typical(c, j); v == v {
			said = append(said, b.meanWord(c, j, " near the average"))
		}
	}
	return said
}

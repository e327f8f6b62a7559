package main

import (
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/profile"
	"github.com/latent-go/latent/internal/tell"
	"github.com/latent-go/latent/internal/text"
)

// groups prints what the groups are like.
func groups(w io.Writer, r *latent.Result) {
	r = byLabel(r)
	head, lines, shown := groupLines(r)
	if groupsProfile(w, r, shown == len(r.Columns)) {
		return
	}
	printTable(w, head, lines)
	groupsNote(w, r, shown)
	for _, note := range scaleNotes(r) {
		fmt.Fprintf(w, "(%s)\n", note)
	}
}

// byLabel returns the result with what it tells of each label for components: of the clusters of a merged model.
func byLabel(r *latent.Result) *latent.Result {
	if r.Clusters == nil {
		return r
	}
	own := *r
	own.Components = r.Groups()
	return &own
}

// groupLines returns a table with one line a group, and as many columns as fit.
func groupLines(r *latent.Result) (head []string, lines [][]string, shown int) {
	head, lines = []string{tell.Label(r), "rows", "share"}, make([][]string, len(r.Components))
	share := shares(r)
	for i, c := range r.Components {
		lines[i] = []string{strconv.Itoa(c.Label), tell.Rows(r, &c), share[i]}
		if r.Rows == 0 && c.Weight == 0 && !r.Model.HasDensity() { // written by hand: centres without sizes
			lines[i][2] = "-"
		}
	}
	if tails := degrees(r); tails != nil {
		head = append(head, "degrees of freedom")
		for i := range lines {
			lines[i] = append(lines[i], tails[i])
		}
	}
	if hasStable(r) {
		head = append(head, "stable")
		for i := range lines {
			lines[i] = append(lines[i], stableCell(r.Stability, i))
		}
	}
	used := 0
	for j := range head {
		used += 2 + cellWidth(head, lines, j)
	}
	for j, name := range r.Columns {
		col, n := columnTexts(r, j), utf8.RuneCountInString(name)
		for _, s := range col {
			n = max(n, utf8.RuneCountInString(s))
		}
		if used+2+n > width && shown > 0 {
			break
		}
		used += 2 + n
		head = append(head, name)
		for i := range lines {
			lines[i] = append(lines[i], col[i])
		}
		shown++
	}
	return head, lines, shown
}

// summaryLines is how many lines a summary's table may have: as many as a screen shows.
const summaryLines = 40

// mostBlocks is how many times groups that do not fit side by side may go on below.
const mostBlocks = 4

// shares writes the share of every group.
func shares(r *latent.Result) []string {
	values := make([]float64, len(r.Components))
	for i, c := range r.Components {
		values[i] = c.Weight
	}
	return text.Percents(values, 1)
}

// degrees writes the degrees of freedom of every group; nil where groups have none.
func degrees(r *latent.Result) []string {
	if len(r.Components) == 0 || r.Components[0].Dof == nil {
		return nil
	}
	out := make([]string, len(r.Components))
	for i, c := range r.Components {
		if out[i] = text.Significant(*c.Dof, 3); c.Gaussian {
			out[i] = "Gaussian"
		}
	}
	return out
}

// groupsProfile prints the parameters of the groups, columns as rows and groups as columns. It prints nothing and returns false where
// the groups do not fit side by side and a line for each of them has room for all columns, or where there are too many groups.
func groupsProfile(w io.Writer, r *latent.Result, columnsFit bool) bool {
	weights := make([]float64, len(r.Components))
	for i, c := range r.Components {
		weights[i] = c.Weight
	}
	p := profile.Told(r.Model, weights, r.ColumnSD)
	table := func(most int) (t *profileTable, shown, blocks int) {
		t = newProfileTable(p)
		t.counts(r)
		shown = t.columns(p, most)
		return t, shown, len(t.blocks()) - 1
	}
	t, shown, blocks := table(summaryLines)
	switch {
	case blocks > mostBlocks, blocks > 1 && columnsFit:
		return false
	case blocks > 1:
		t, shown, _ = table(summaryLines / blocks)
	}
	t.print(w)
	for _, note := range toldNotes(r, p, shown) {
		fmt.Fprintf(w, "(%s)\n", note)
	}
	return true
}

// counts adds the lines that say how large the groups are.
func (t *profileTable) counts(r *latent.Result) {
	rows, stable := []string{text.Thousands(r.Rows)}, []string{""}
	known := r.Rows > 0 // else written by hand: nobody has counted
	for i, c := range r.Components {
		rows = append(rows, tell.Rows(r, &c))
		known = known || c.Weight > 0
		if hasStable(r) {
			stable = append(stable, stableCell(r.Stability, i))
		}
	}
	if r.Rows > 0 {
		t.line("rows", rows)
	}
	if known || r.Model.HasDensity() {
		t.line("share", append([]string{""}, shares(r)...))
	}
	if tails := degrees(r); tails != nil {
		t.line("degrees of freedom", append([]string{""}, tails...))
	}
	if hasStable(r) {
		t.line("stable", stable)
	}
}

// toldNotes says what the numbers of a summary's table are.
func toldNotes(r *latent.Result, p *profile.Profile, shown int) []string {
	notes := append(p.Notes(shown), scaleNotes(r)...)
	if kind.Of(r.ComponentKind()).Mixture && r.Rows > 0 {
		share := "the mixing weight"
		if r.Transitions != nil {
			share = "of the rows that are expected in the state"
		}
		notes = append(notes, "rows: by the likeliest "+tell.Label(r)+"; share: "+share)
	}
	if r.Noise != nil {
		notes = append(notes, "all: the groups together, without the noise, but for the number of rows")
	}
	if all := len(p.Columns); shown < all {
		notes = append(notes, fmt.Sprintf("the %s that tell the %ss apart best; latent profile shows all %s", text.Count(shown, "column"), tell.Label(r), text.Thousands(int64(all))))
	}
	return notes
}

package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/tell"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// compared says which fits come next to the best one, and which were excluded or not tried.
func compared(w io.Writer, r *latent.Result) {
	c, best := r.Choice, r.Ranked()
	if len(best) > 1 {
		var next []string
		for i := range best[1:min(len(best), 4)] {
			next = append(next, fmt.Sprintf("%s (%s)", candidateName(&best[i+1], tell.Part(r)), behind(c, &best[0], &best[i+1])))
		}
		fmt.Fprintf(w, "runners-up by %s (%s is better): %s; -v lists all %s\n", tell.Criterion(c.Criterion), map[bool]string{true: "higher", false: "lower"}[c.Highest], strings.Join(next, ", "), text.Thousands(int64(len(r.Candidates))))
	}
	if s := excluded(r.Candidates, tell.Part(r)); s != "" {
		fmt.Fprintln(w, s)
	}
	if c.LeftOut != nil {
		fmt.Fprintf(w, "not tried, because they take long here: %s; --covariance all tries them too\n", strings.Join(c.LeftOut, " "))
	}
	if c.TooLarge != nil {
		fmt.Fprintf(w, "not tried, because they have too many parameters for these rows: %s\n", strings.Join(c.TooLarge, ", "))
	}
}

// choiceNotes says how the candidates were compared.
func choiceNotes(w io.Writer, r *latent.Result) {
	c := r.Choice
	fmt.Fprintf(w, "compared by %s: %s\n", tell.Criterion(c.Criterion), span(r))
	if n := r.Pruned(); n > 0 {
		fmt.Fprintf(w, "%s of %s candidates were stopped early, with a %s that is somewhat too high: what they could still gain would not make them the best\n", text.Thousands(int64(n)), text.Thousands(int64(len(r.Candidates))), tell.Criterion(c.Criterion))
	}
	if c.Penalty != nil {
		fmt.Fprintf(w, "J is the inertia, and λ = %s what one group more saves on average over this range\n", text.Short(*c.Penalty))
	}
	if c.GapRows > 0 && int64(c.GapRows) < r.Rows {
		fmt.Fprintf(w, "each of the %d reference sets has %s rows; the inertia beside them is of all rows\n", c.GapSets, text.Thousands(int64(c.GapRows)))
	}
	if c.Least > 0 {
		fmt.Fprintf(w, "silhouettes are estimated from %s\n", sampledRows(int64(c.Rows), c.Least, tell.Part(r)))
	}
}

// span says what was tried.
func span(r *latent.Result) string {
	lo, hi := r.Candidates[0].K, r.Candidates[len(r.Candidates)-1].K
	part := tell.Part(r)
	s := text.Count(lo, part)
	if lo < hi {
		s = fmt.Sprintf("%d to %s", lo, text.Count(hi, part))
	}
	if n := len(shapesOf(r)); n > 1 {
		s += fmt.Sprintf(", %d shapes of covariances", n)
	}
	return s
}

// excluded says how many candidates could not win, and why most of them could not; part is what a component is called.
func excluded(all []model.Candidate, part string) string {
	collapsed, failed := 0, 0
	for _, x := range all {
		switch {
		case x.Collapsed():
			collapsed++
		case x.LogLik == nil && x.Inertia == nil:
			failed++
		}
	}
	var parts []string
	if collapsed > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s %s excluded because a %s collapsed", text.Thousands(int64(collapsed)), text.Count(len(all), "candidate"), text.Form(collapsed, "was", "were"), part))
	}
	if failed > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s could not be fitted", text.Thousands(int64(failed)), text.Count(len(all), "candidate")))
	}
	return strings.Join(parts, ", ")
}

// candidateName names a candidate by its number of components, each of them a part, and the code of its shape, where there is one.
func candidateName(x *model.Candidate, part string) string {
	return strings.TrimSpace(text.Count(x.K, part) + " " + x.Mclust)
}

// behind writes how far x is from the best.
func behind(c *model.Choice, best, x *model.Candidate) string {
	d := x.Value(c.Criterion) - best.Value(c.Criterion)
	if c.Highest {
		return strings.Replace(text.Difference(d, 3, sameCriterion), "-", "−", 1)
	}
	if c.Criterion == "elbow" { // in the units of the rows
		return "+" + text.Short(d)
	}
	return text.Difference(d, 1, sameCriterion)
}

// shapesOf returns the codes of the shapes that were tried, in order.
func shapesOf(r *latent.Result) (codes []string) {
	for _, x := range r.Candidates {
		if !slices.Contains(codes, x.Mclust) {
			codes = append(codes, x.Mclust)
		}
	}
	return codes
}

// criteria prints the table of the criterion: a line a shape, a column a number of groups.
func criteria(w io.Writer, r *latent.Result) {
	c := r.Choice
	if len(r.Candidates) < 3 {
		return
	}
	head := []string{cmp.Or(map[string]string{"gap": "gap", "elbow": "J + λk", "silhouette": "silhouette"}[c.Criterion], tell.Criterion(c.Criterion))}
	var ks []int
	for _, x := range r.Candidates {
		if !slices.Contains(ks, x.K) {
			ks = append(ks, x.K)
			head = append(head, "k = "+strconv.Itoa(x.K))
		}
	}
	var lines [][]string
	notes := map[string]bool{}
	cells := criterionCells(r, notes)
	for _, code := range shapesOf(r) {
		line := []string{code}
		if code == "" {
			line[0] = r.Kind
		}
		for _, k := range ks {
			cell := "" // not tried
			for i, x := range r.Candidates {
				if x.Mclust == code && x.K == k {
					cell = cells[i]
				}
			}
			line = append(line, cell)
		}
		lines = append(lines, line)
	}
	if c.Criterion == "gap" {
		line := []string{"standard error"}
		for _, x := range r.Candidates {
			cell := "-"
			if x.GapSE != nil {
				cell = fmt.Sprintf("%.4f", *x.GapSE)
			}
			line = append(line, cell)
		}
		lines = append(lines, line)
	}
	fmt.Fprintln(w)
	const atOnce = 9 // columns that fit
	for from := 0; from < len(ks); from += atOnce {
		to := min(from+atOnce, len(ks))
		part := make([][]string, len(lines))
		for i, l := range lines {
			part[i] = append([]string{l[0]}, l[from+1:to+1]...)
		}
		printTable(w, append([]string{head[0]}, head[from+1:to+1]...), part)
	}
	part := tell.Part(r)
	var said []string
	if notes["floor"] {
		said = append(said, "floor: a "+part+" collapsed to the least variance that is allowed, and the candidate is excluded")
	}
	if notes["narrow"] {
		said = append(said, "narrow: a "+part+" of few rows is narrower than the steps to which a column is rounded, and the candidate is excluded")
	}
	if notes["few"] {
		said = append(said, "few: a "+part+" has fewer rows than its covariance needs, and the candidate is excluded")
	}
	if notes["*"] {
		said = append(said, "*: the rows do not determine all parameters of the candidate")
	}
	if notes["-"] {
		said = append(said, "-: there is no number; --json says why")
	}
	if said != nil {
		fmt.Fprintf(w, "(%s)\n", strings.Join(said, "; "))
	}
}

// criterionCells returns what the table shows of each candidate. Two values that differ read differently.
func criterionCells(r *latent.Result, notes map[string]bool) []string {
	c := r.Choice
	cells, values := make([]string, len(r.Candidates)), make([]float64, len(r.Candidates))
	for i, x := range r.Candidates {
		v := x.Value(c.Criterion)
		switch {
		case x.AtFloor:
			cells[i] = "floor"
		case x.Narrow:
			cells[i] = "narrow"
		case x.FewRows:
			cells[i] = "few"
		case math.IsNaN(v):
			cells[i] = "-"
		}
		if values[i] = v; cells[i] != "" {
			notes[cells[i]], values[i] = true, math.NaN() // what is not shown tells nothing apart
		}
	}
	var numbers []string
	switch {
	case c.Criterion == "elbow": // in the units of the rows
		numbers = text.Numbers(values, 0)
	case c.Highest:
		numbers = text.Criteria(values, 4, sameCriterion)
	default:
		numbers = text.Criteria(values, 1, sameCriterion)
	}
	for i, s := range cells {
		if s != "" {
			continue
		}
		if cells[i] = numbers[i]; r.Candidates[i].Undetermined {
			cells[i], notes["*"] = numbers[i]+"*", true
		}
	}
	return cells
}

// sameCriterion is the difference from which on two values of a criterion are told apart.
const sameCriterion = 1e-6

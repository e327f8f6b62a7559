package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/tell"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// repeats says what repeating the fit on other rows found out.
func repeats(w io.Writer, r *latent.Result) {
	if s := r.Stability; s != nil {
		stabilityLines(w, r, s)
	}
	if t := r.LRT; t != nil {
		fmt.Fprintln(w, lrtLine(t, tell.Part(r)))
	}
}

func stabilityLines(w io.Writer, r *latent.Result, s *model.Stability) {
	of := howMany(s.Done, s.Replicates, "bootstrap sample")
	if s.Failed > 0 {
		of += fmt.Sprintf(" (%d could not be fitted: %s)", s.Failed, s.Why)
	}
	if s.Done == 0 {
		fmt.Fprintf(w, "stability: none of %s is done\n", of)
		return
	}
	fmt.Fprintf(w, "stability in %s: the labels agree with an ARI of %.3f on average, and of at least %.3f in 95 %% of them\n", of, *s.ARI, *s.ARILow)
	if s.Choices == nil {
		return
	}
	var ks []string
	seen := map[int]bool{}
	for _, c := range s.Choices {
		if !seen[c.K] {
			seen[c.K] = true
			ks = append(ks, fmt.Sprintf("%d in %d", c.K, s.Times(c.K)))
		}
	}
	line := fmt.Sprintf("number of %ss that was chosen in them: %s", tell.Part(r), strings.Join(ks, ", "))
	if r.Mclust != "" && len(s.Choices) > len(ks) {
		var shapes []string
		for _, c := range s.Choices[:min(len(s.Choices), 4)] {
			shapes = append(shapes, fmt.Sprintf("%s %d in %d", c.Mclust, c.K, c.Times))
		}
		line += "; with their shapes " + strings.Join(shapes, ", ")
		if more := len(s.Choices) - len(shapes); more > 0 {
			line += fmt.Sprintf(" and %d more", more)
		}
	}
	fmt.Fprintln(w, line)
}

// howMany returns "100 bootstrap samples", or how many of them there are where some are missing.
func howMany(done, asked int, noun string) string {
	if done == asked {
		return text.Count(asked, noun)
	}
	return fmt.Sprintf("%s of %s", text.Thousands(int64(done)), text.Count(asked, noun))
}

// significant is the customary level of a test.
const significant = 0.05

// lrtLine tells of the test whether more of what is named by noun would be better.
func lrtLine(t *model.LRT, noun string) string {
	line := fmt.Sprintf("test of %s against %d by the likelihood ratio: ", text.Count(t.K, noun), t.Against)
	switch {
	case t.Statistic == nil && t.Why != "":
		return line + "there is none, " + t.Why
	case t.P == nil:
		return line + "no sample is done"
	}
	line += fmt.Sprintf("%s, p = %s from %s", text.Short(*t.Statistic), text.P(*t.P), howMany(t.Done, t.Replicates, "sample"))
	if t.Failed > 0 {
		line += fmt.Sprintf(" (%d could not be compared: %s)", t.Failed, t.Why)
	}
	if *t.P <= significant {
		return line + fmt.Sprintf(": %s too few", text.Are(t.K, noun))
	}
	return line + fmt.Sprintf(": no evidence for more than %s", text.Count(t.K, noun))
}

// unrepeated says which replicates an interruption left out; nothing where it left out none.
func unrepeated(r *latent.Result) string {
	var parts []string
	if s := r.Stability; s != nil && s.Interrupted {
		parts = append(parts, fmt.Sprintf("%d of %s", s.Done+s.Failed, text.Count(s.Replicates, "bootstrap sample")))
	}
	if t := r.LRT; t != nil && t.Interrupted {
		parts = append(parts, fmt.Sprintf("%d of %s of the likelihood ratio", t.Done+t.Failed, text.Count(t.Replicates, "sample")))
	}
	if parts == nil {
		return ""
	}
	return "interrupted after " + strings.Join(parts, " and ") + "; the fit itself is complete"
}

// stableCell is what the table of groups tells of a group's stability.
func stableCell(s *model.Stability, c int) string { return fmt.Sprintf("%.2f", s.Groups[c].Jaccard) }

// hasStable reports whether the table of groups has a column of stabilities.
func hasStable(r *latent.Result) bool {
	return r.Stability != nil && len(r.Stability.Groups) == r.Model.NumLabels()
}

// stableNote explains the column, and names the groups that need a word.
func stableNote(w io.Writer, r *latent.Result) {
	if !hasStable(r) {
		return
	}
	var doubt []string
	for _, g := range r.Stability.Groups {
		if g.Reading == model.NotTrusted {
			doubt = append(doubt, fmt.Sprint(g.Label))
		}
	}
	fmt.Fprintf(w, "(stable: mean similarity, by Jaccard, with the nearest %s of each sample; from 0.85 %s, from 0.75 %s, below 0.6 %s", tell.Label(r), model.VeryStable, model.Stable, model.NotTrusted)
	switch len(doubt) {
	case 0:
	case 1:
		fmt.Fprintf(w, ": %s %s", tell.Label(r), doubt[0])
	default:
		fmt.Fprintf(w, ": %ss %s", tell.Label(r), strings.Join(doubt, ", "))
	}
	fmt.Fprintln(w, ")")
}

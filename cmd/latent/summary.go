package main

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// width is how wide a summary may be.
const width = 110

// summarise answers five questions: what was read, what was fitted, how good it is, whether it finished, and what the
// groups are. info is nil where the data are not at hand.
func summarise(w io.Writer, r *latent.Result, info *data.Info, verbose bool) {
	w = printable{w}
	for _, line := range readLines(r, info) {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w, fittedLine(r))
	if r.Choice != nil {
		chosen(w, r)
	}
	if r.Model != nil && r.Model.PCA() != nil {
		fmt.Fprintln(w, pcaLine(r, r.Model.PCA()))
	}
	fmt.Fprintln(w, goodLine(r))
	if r.Truth != nil {
		fmt.Fprintf(w, "agreement with the %s: ARI %.3f, NMI %.3f\n", truthName(info), r.Truth.ARI, r.Truth.NMI)
	}
	fmt.Fprintln(w, finishedLine(r))
	repeats(w, r)
	for _, s := range r.Warnings {
		if !said(s) {
			fmt.Fprintf(w, "warning: %s\n", s)
		}
	}
	fmt.Fprintln(w)
	groups(w, r)
	stableNote(w, r)
	if r.Choice != nil {
		criteria(w, r)
	}
	if verbose {
		details(w, r, info)
	}
}

// said reports whether the lines above have told a warning already.
func said(w model.Warning) bool {
	return w.Code == model.Unfinished || w.Code == model.Interrupted || w.Code == model.PartRead
}

func fittedLine(r *latent.Result) string {
	what := fmt.Sprintf("%s, k = %d", kind.Of(r.Kind).Title, r.K)
	if r.Covariance != "" {
		shape := r.Covariance + " covariances (" + r.Mclust + ")"
		if s, err := family.ParseShape(r.Covariance); err == nil && s.Shared() {
			shape = "one " + r.Covariance + " covariance (" + r.Mclust + ")"
		}
		what += ", " + shape
	}
	if r.Algorithm == "" {
		return what
	}
	by := cmp.Or(algorithmNames[r.Algorithm], r.Algorithm)
	if r.Init == "none" || r.Init == "" {
		return what + "; " + by
	}
	return fmt.Sprintf("%s; %s from %s (%s), seed %d", what, by, text.Count(r.Starts.N, "start"), r.Init, r.Seed)
}

// pcaLine says what principal components were fitted, and what follows for the numbers below.
func pcaLine(r *latent.Result, p *model.PCA) string {
	s := fmt.Sprintf("fitted to %s of the rows", text.Count(p.N, "principal component"))
	if p.Explained != nil {
		s += fmt.Sprintf(" (%.1f %% of the variance)", 100**p.Explained)
	}
	switch {
	case p.N == r.D:
		return s
	case r.Model.HasDensity():
		return s + "; the log-likelihood is that of the components, not of the columns"
	}
	return s + "; distances are between the components, not between the columns"
}

// algorithmNames are the algorithms as a text calls them.
var algorithmNames = map[string]string{"em": "EM", "hard-em": "hard EM", "lloyd": "Lloyd's algorithm", "em-lbfgs": "EM-metric L-BFGS", "anti-annealing": "anti-annealing",
	"squarem": "SQUAREM", "bfgs": "BFGS", "lbfgs": "L-BFGS", "ecg": "conjugate gradients (ECG)", "minibatch": "mini-batches", "breathing": "breathing k-means", "exact": "the exact optimum", "dp-means": "DP-means"}

func goodLine(r *latent.Result) string {
	switch {
	case r.Objective != nil:
		return fmt.Sprintf("inertia %s, and with a price of %s a cluster %s (DP-means: k is found)", text.Short(*r.Inertia), text.Short(*r.Penalty), text.Short(*r.Objective))
	case r.Inertia != nil:
		k := kind.Of(r.Kind)
		return fmt.Sprintf("%s %s (%s to the centres; %s has no log-likelihood and no BIC)", k.Cost.Name, text.Short(*r.Inertia), k.Cost.Of, k.Title)
	case r.LogLik == nil:
		return fmt.Sprintf("%s; the log-likelihood and BIC of a fit are not in the file", text.Count(r.FreeParameters, "free parameter"))
	case r.BIC == nil:
		return fmt.Sprintf("log-likelihood %s", fixed(*r.LogLik))
	}
	s := fmt.Sprintf("log-likelihood %s (%s a row); BIC %s with %s", fixed(*r.LogLik), fixed(*r.MeanLogLik), fixed(*r.BIC), text.Count(r.FreeParameters, "parameter"))
	if r.ICL != nil {
		s += ", ICL " + fixed(*r.ICL)
	}
	return s + " (lower is better)"
}

func finishedLine(r *latent.Result) string {
	switch {
	case r.ByHand:
		return "not fitted: the model was written by hand"
	case r.Starts.N == 0:
		return "the file does not say whether the fit had finished"
	}
	var b strings.Builder
	switch {
	case r.Interrupted:
		b.WriteString("interrupted, not finished")
	case r.Converged:
		b.WriteString("finished")
	default:
		b.WriteString("not finished")
	}
	fmt.Fprintf(&b, " after %s", text.Count(r.Iterations, "iteration"))
	if r.Moves > 0 {
		fmt.Fprintf(&b, ", %s kept", text.Count(r.Moves, "move"))
	}
	c := r.Certificate
	switch {
	case c.DistanceSE != nil:
		guess := map[string]string{"estimate": "by a rough estimate ", "lower bound": "at least "}[*c.Method]
		fmt.Fprintf(&b, ": %s%s standard errors from the optimum, %s nats to gain", guess, about(*c.DistanceSE), about(*c.Remaining))
	case r.Reason == ascent.LogLik:
		b.WriteString(" by --tol-loglik; how far the optimum is, is not known")
	case r.Reason == ascent.Shift:
		b.WriteString(" by --tol-shift; labels may still change")
	case r.Algorithm == "exact":
		b.WriteString(": no partition costs less")
	case r.Certificate.Why != "":
		b.WriteString(": " + r.Certificate.Why)
	case r.Algorithm == "minibatch":
		b.WriteString(": batches gain no more")
	case r.Converged && r.Certificate.Method == nil && r.LogLik == nil || r.Algorithm == "hard-em" && r.Converged:
		b.WriteString(": no label changes any more")
	}
	switch {
	case r.Converged || r.Interrupted:
	case r.Reason == ascent.Flat:
		b.WriteString("; the log-likelihood cannot tell steps apart any more")
	default:
		b.WriteString("; raise --max-iter")
	}
	if c.Saddles > 0 {
		fmt.Fprintf(&b, "; escaped %s on the way", text.Count(c.Saddles, "saddle"))
	}
	return b.String() + startsAgree(r)
}

// startsAgree says how many starts ended where the result is, and what led there where none did.
func startsAgree(r *latent.Result) string {
	s, gained := r.Starts, ""
	if m := s.Moves; m != nil && m.Kept > 0 {
		gained = about(m.Gain) + " nats above the best of them"
	}
	switch {
	case s.AgreeWithBest == 0 && gained != "" && s.N > 1:
		return fmt.Sprintf("; none of the %d starts reached this solution: splitting and merging groups did, %s", s.N, gained)
	case s.AgreeWithBest == 0 && gained != "":
		return fmt.Sprintf("; the start did not reach this solution: splitting and merging groups did, %s nats above it", about(s.Moves.Gain))
	case s.N < 2:
		return ""
	case s.AgreeWithBest == 0:
		return fmt.Sprintf("; none of the %d starts reached this solution", s.N)
	}
	return fmt.Sprintf("; %d of %d starts %s", s.AgreeWithBest, s.N, text.Form(s.AgreeWithBest, "agrees", "agree"))
}

func truthName(info *data.Info) string {
	if info != nil {
		for _, c := range info.Columns {
			if c.Use == "truth" {
				return "column " + c.Name
			}
		}
	}
	return "truth column"
}

// groups prints a table: one line a group, as many columns as fit.
func groups(w io.Writer, r *latent.Result) {
	head := []string{"group", "rows", "share"}
	lines := make([][]string, len(r.Components))
	for i, c := range r.Components {
		lines[i] = []string{strconv.Itoa(c.Label), text.Thousands(c.Rows), text.Share(c.Weight, 3)}
		if r.Rows == 0 { // written by hand: nobody has counted
			lines[i][1] = "-"
			if c.Weight == 0 && !r.Model.HasDensity() { // centres without sizes
				lines[i][2] = "-"
			}
		}
	}
	if hasStable(r) {
		head = append(head, "stable")
		for i := range lines {
			lines[i] = append(lines[i], stableCell(r.Stability, i))
		}
	}
	used, shown := 0, 0
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
	printTable(w, head, lines)
	groupsNote(w, r, shown)
}

// printTable prints lines under a head, every column as wide as it needs and to the right.
func printTable(w io.Writer, head []string, lines [][]string) {
	widths := make([]int, len(head))
	for j := range head {
		widths[j] = cellWidth(head, lines, j)
	}
	for _, line := range append([][]string{head}, lines...) {
		var b strings.Builder
		for j, s := range line {
			b.WriteString(strings.Repeat(" ", widths[j]-utf8.RuneCountInString(s)))
			b.WriteString(s)
			if j < len(line)-1 {
				b.WriteString("  ")
			}
		}
		fmt.Fprintln(w, b.String())
	}
}

func cellWidth(head []string, lines [][]string, j int) int {
	n := utf8.RuneCountInString(head[j])
	for _, l := range lines {
		n = max(n, utf8.RuneCountInString(l[j]))
	}
	return n
}

// details prints what -v adds.
func details(w io.Writer, r *latent.Result, info *data.Info) {
	fmt.Fprintln(w)
	if r.Why != "" {
		fmt.Fprintf(w, "algorithm %s: %s\n", r.Algorithm, r.Why)
	}
	if n := r.Starts.DrawnFrom; n > 0 && n < r.Rows {
		fmt.Fprintf(w, "starts were drawn from %s rows taken at random\n", text.Thousands(n))
	}
	for i, v := range r.Starts.Objectives {
		fmt.Fprintf(w, "start %d reached %s\n", i+1, fixed(v))
	}
	standardErrors(w, r)
	if r.Threads == 0 { // told from the file alone
		return
	}
	fmt.Fprintf(w, "%s of the winning start, %d in all; %s; read %.3f s, starts %.3f s, fit %.3f s, standard errors and criteria %.3f s\n", text.Count(r.Sweeps, "pass"), r.SweepsTotal, text.Count(r.Threads, "thread"), r.Timing.Read, r.Timing.Start, r.Timing.Fit, r.Timing.Judge)
	if info != nil {
		for _, c := range info.Columns {
			fmt.Fprintf(w, "column %s: %s, %s %s\n", c.Name, cmp.Or(c.Type, c.Kind), c.Use, c.Why)
		}
	}
}

// about writes an estimate: one digit, and nothing below a thousandth.
func about(v float64) string {
	if v < 0.001 {
		return "less than 0.001"
	}
	return "about " + strconv.FormatFloat(v, 'g', 1, 64)
}

// fixed writes a log-likelihood: four decimals.
func fixed(v float64) string {
	if s := strconv.FormatFloat(v, 'f', 4, 64); s != "-0.0000" {
		return s
	}
	return "0.0000"
}

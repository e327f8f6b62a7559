package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/tell"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// width is how wide a summary may be.
const width = 110

// summarise begins with the finding, the groups and how far they can be trusted; what was computed from which rows follows, and with
// verbose how. info is nil where the data are not at hand.
func summarise(w io.Writer, r *latent.Result, info *data.Info, verbose bool) {
	w = printable{w}
	fmt.Fprintln(w, tell.Finding(r))
	if s := tell.Merged(r); s != "" {
		fmt.Fprintln(w, s)
	}
	for _, s := range tell.Doubts(r) {
		fmt.Fprintln(w, s)
	}
	fmt.Fprintln(w)
	groups(w, r)
	states(w, r)
	if r.Crosstab != nil {
		fmt.Fprintln(w)
		newTable(r.Crosstab, tell.Label(r)).tell(w, "the "+truthName(info))
	}
	stableNote(w, r)
	if r.K == 1 || verbose {
		loadings(w, r)
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, tell.Trust(r))
	if r.Truth != nil {
		fmt.Fprintf(w, "agreement with the %s: ARI %.3f, NMI %.3f\n", truthName(info), r.Truth.ARI, r.Truth.NMI)
	}
	repeats(w, r)
	warnings(w, r.Warnings)
	fmt.Fprintln(w)
	fmt.Fprintln(w, modelLine(r))
	if s := priorLine(r); s != "" {
		fmt.Fprintln(w, s)
	}
	if r.Model != nil && r.Model.PCA() != nil {
		fmt.Fprintln(w, pcaLine(r, r.Model.PCA()))
	}
	if r.Choice != nil {
		compared(w, r)
	}
	for _, line := range readLines(r, info) {
		fmt.Fprintln(w, line)
	}
	if verbose {
		details(w, r, info)
	}
}

// warnings prints those that the lines above have not told.
func warnings(w io.Writer, list []model.Warning) {
	for _, s := range list {
		if !said(s) {
			fmt.Fprintf(w, "warning: %s\n", s)
		}
	}
}

// said reports whether the lines above have told a warning already.
func said(w model.Warning) bool {
	return w.Code == model.Unfinished || w.Code == model.Interrupted || w.Code == model.PartRead
}

// modelName says what kind of model was fitted, and with which covariances.
func modelName(r *latent.Result) string {
	what := tell.Kind(r)
	if s := tell.Covariances(r); s != "" {
		what += ", " + s
	}
	if r.Noise != nil {
		what += ", and noise"
	}
	return what
}

// methodLine says how the fit was computed and how far its end is from the maximum.
func methodLine(r *latent.Result) string {
	if r.Algorithm == "" {
		return ""
	}
	s := "computed by " + cmp.Or(algorithmNames[r.Algorithm], r.Algorithm)
	if r.Init != "none" && r.Init != "" {
		s += fmt.Sprintf(" from %s (%s)", text.Count(r.Starts.N, "start"), r.Init)
	}
	s += fmt.Sprintf(", %s", text.Count(r.Iterations, "iteration"))
	if r.Moves > 0 {
		s += fmt.Sprintf(", %s kept", text.Count(r.Moves, "move"))
	}
	if c := tell.Certain(r); c != "" {
		s += ": " + c
	}
	return s
}

// priorLine says which prior was put on the parameters; "" where there was none.
func priorLine(r *latent.Result) string {
	if s := tell.Prior(r); s != "" {
		return "conjugate prior: " + s
	}
	return ""
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
	"squarem": "SQUAREM", "bfgs": "BFGS", "lbfgs": "L-BFGS", "ecg": "conjugate gradients (ECG)", "minibatch": "mini-batches", "breathing": "breathing k-means", "exact": "the exact optimum", "dp-means": "DP-means", "vb": "variational Bayes"}

// modelLine says what was fitted and how good it is: what fits are compared by.
func modelLine(r *latent.Result) string {
	s := modelName(r) + ": "
	s = strings.ToUpper(s[:1]) + s[1:]
	switch {
	case r.Objective != nil:
		return s + fmt.Sprintf("inertia %s, and with a price of %s a group %s (DP-means finds k)", text.Short(*r.Inertia), text.Short(*r.Penalty), text.Short(*r.Objective))
	case r.Inertia != nil:
		k := kind.Of(r.ComponentKind())
		return s + fmt.Sprintf("%s %s (%s to the centres; there is no log-likelihood and no BIC)", k.Cost.Name, text.Short(*r.Inertia), k.Cost.Of)
	case r.ELBO != nil:
		return s + fmt.Sprintf("evidence lower bound %s nats; %d of %s in use", text.Decimals(*r.ELBO, 4), r.K, text.Count(r.KMax, "component"))
	case r.LogLik == nil && !kind.Of(r.ComponentKind()).Mixture:
		return s + fmt.Sprintf("the %s is not in the file", kind.Of(r.ComponentKind()).Cost.Name)
	case r.LogLik == nil:
		return s + fmt.Sprintf("%s; the log-likelihood and BIC of a fit are not in the file", text.Count(r.FreeParameters, "free parameter"))
	case r.BIC == nil:
		return s + "log-likelihood " + text.Decimals(*r.LogLik, 4)
	}
	return s + fmt.Sprintf("log-likelihood %s, BIC %s with %s (lower is better)", text.Decimals(*r.LogLik, 4), text.Decimals(*r.BIC, 2), text.Count(r.FreeParameters, "parameter"))
}

// criteriaLine tells the log-likelihood of a row and the other criteria.
func criteriaLine(r *latent.Result) string {
	if r.MeanLogLik == nil || r.AIC == nil {
		return ""
	}
	s := fmt.Sprintf("log-likelihood %s a row; AIC %s", text.Decimals(*r.MeanLogLik, 4), text.Decimals(*r.AIC, 2))
	if r.ICL != nil {
		s += ", ICL " + text.Decimals(*r.ICL, 2)
	}
	return s
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
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
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
	for _, line := range []string{methodLine(r), criteriaLine(r)} {
		if line != "" {
			fmt.Fprintln(w, line)
		}
	}
	if r.Why != "" {
		fmt.Fprintf(w, "algorithm %s: %s\n", r.Algorithm, r.Why)
	}
	if r.Choice != nil {
		choiceNotes(w, r)
		criteria(w, r)
	}
	if n := r.Starts.DrawnFrom; n > 0 && n < r.Rows {
		fmt.Fprintf(w, "starts were drawn from %s rows taken at random\n", text.Thousands(n))
	}
	if r.Clusters != nil {
		clusterTable(w, r)
		mergers(w, r.Clusters)
	}
	for i, v := range r.Starts.Objectives {
		fmt.Fprintf(w, "start %d reached %s\n", i+1, text.Decimals(v, 4))
	}
	standardErrors(w, r)
	if r.Threads == 0 { // told from the file alone
		return
	}
	fmt.Fprintf(w, "%s of the best start, %s in all; %s; read %.3f s, starts %.3f s, fit %.3f s, standard errors and criteria %.3f s\n", text.Count(r.Sweeps, "pass"), text.Thousands(int64(r.SweepsTotal)), text.Count(r.Threads, "thread"), r.Timing.Read, r.Timing.Start, r.Timing.Fit, r.Timing.Judge)
	if info != nil {
		for _, c := range info.Columns {
			fmt.Fprintln(w, strings.TrimSpace(fmt.Sprintf("column %s: %s, %s %s", c.Name, cmp.Or(c.Type, c.Kind), c.Use, c.Why)))
		}
	}
}

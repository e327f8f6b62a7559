package tell

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// What a choice is called, by how far its second best candidate is behind in BIC, AIC or ICL (Kass and Raftery 1995): below 2 it is a close
// call, from 10 on a clear choice if there is no doubt, between the two a fair choice. Where there is a doubt, and the second is 2 or more
// behind, it is not a clear choice. docs/choosing.md tells readers the same.
const (
	ClearChoice    = "a clear choice"
	FairChoice     = "a fair choice"
	CloseCall      = "a close call"
	NotClearChoice = "not a clear choice"
)

// closeCall is the difference in a criterion of a likelihood below which candidates are almost equally good.
const closeCall = 2

// Finding is the sentence with which everything that is told of a result begins: how many groups there are in how many rows, and what the
// number was chosen by, from how many fits, and how clearly. Columns that were left out though nobody asked for it are named. r is one of a
// fit or of a model file.
func Finding(r *latent.Result) string {
	switch {
	case r.ByHand:
		return groups(r) + ", in a model written by hand." + noise(r)
	case r.Rows == 0:
		return groups(r) + ", in a model that does not say how many rows it was fitted to." + noise(r)
	}
	weight := r.TotalWeight
	if weight == 0 { // a file that does not tell it
		weight = float64(r.Rows)
	}
	s := fmt.Sprintf("%s in %s%s", groups(r), text.Rows(r.Rows, weight), without(r))
	if r.Sequences > 0 {
		s = fmt.Sprintf("%s in %s of %s%s", groups(r), text.Rows(r.Rows, weight), text.Count(r.Sequences, "sequence"), without(r))
	}
	switch c := r.Choice; {
	case c != nil:
		s += fmt.Sprintf(", chosen among %s by %s", text.Count(len(r.Candidates), "fit"), Criterion(c.Criterion))
		if v := Verdict(r); v != "" {
			s += ": " + v
		}
	case r.ELBO != nil:
		s += fmt.Sprintf(", found by variational Bayes among at most %d", r.KMax)
	case r.Objective != nil && r.Penalty != nil:
		s += fmt.Sprintf(", found by DP-means at a price of %s a group", text.Short(*r.Penalty))
	}
	return s + "." + noise(r)
}

// noise says, after the finding, how many rows lie anywhere; "" where no noise was fitted.
func noise(r *latent.Result) string {
	n := r.Noise
	switch {
	case n == nil:
		return ""
	case r.Rows == 0:
		return fmt.Sprintf(" %s is noise: rows that lie anywhere, in no group.", text.Percent(n.Weight))
	case n.Rows == 0:
		return fmt.Sprintf(" No row is noise: its weight is %s.", text.Percent(n.Weight))
	}
	return fmt.Sprintf(" %s noise: %s anywhere, in no group (weight %s).", text.Are(n.Rows, "row"), text.Form(n.Rows, "it lies", "they lie"), text.Percent(n.Weight))
}

// leftNamed is how many columns that were left out a finding names.
const leftNamed = 2

// without names the columns that were left out.
func without(r *latent.Result) string {
	n := len(r.LeftOut)
	if n == 0 {
		return ""
	}
	if n > leftNamed {
		return fmt.Sprintf(" (without %s)", text.Count(n, "column"))
	}
	var names []string
	for _, c := range r.LeftOut {
		names = append(names, c.Column)
	}
	return fmt.Sprintf(" (without %s %s)", text.Form(n, "column", "columns"), text.List(names, "and"))
}

// Criterion returns a criterion as a sentence calls it: "BIC" for "bic".
func Criterion(name string) string {
	return cmp.Or(map[string]string{"bic": "BIC", "aic": "AIC", "icl": "ICL", "silhouette": "the mean silhouette", "gap": "the gap statistic", "elbow": "the elbow of the inertia"}[name], name)
}

// Verdict says how clear the choice of a result is: one of the verdicts above, with the numbers of groups that it was close between, or by
// which rule the criterion chose where it has no scale of evidence. It is empty without a choice.
func Verdict(r *latent.Result) string {
	c := r.Choice
	if c == nil || len(r.Candidates) == 0 {
		return ""
	}
	ranked := r.Ranked()
	switch {
	case c.Criterion == "gap" && r.K == r.Candidates[len(r.Candidates)-1].K:
		return "no smaller number has a gap within a standard error of the next"
	case c.Criterion == "gap":
		return "the smallest number whose gap is within a standard error of the next"
	case c.Margin == nil && len(r.Candidates) == 1 && c.TooLarge == nil:
		return "the only candidate"
	case c.Margin == nil || len(ranked) < 2:
		return "nothing else could be fitted"
	}
	switch word := Word(c); word {
	case CloseCall:
		return word + between(c, ranked, Part(r))
	case FairChoice, NotClearChoice:
		if ranked[1].K != r.K {
			word += fmt.Sprintf(", with %s next", text.Count(ranked[1].K, Part(r)))
		}
		return word
	case ClearChoice:
		return word
	}
	return "the " + map[bool]string{true: "highest", false: "lowest"}[c.Highest] + fmt.Sprintf(", with %s next", text.Count(ranked[1].K, Part(r)))
}

// Word is the verdict on a choice: one of the four above. It is empty where the criterion has no scale of evidence.
func Word(c *model.Choice) string {
	switch {
	case c.Verdict == "flat":
		return CloseCall
	case c.Verdict == "fair" && c.Doubts == nil:
		return FairChoice
	case c.Verdict == "fair":
		return NotClearChoice
	case c.Verdict == "clear":
		return ClearChoice
	}
	return ""
}

// between says between what a close call is: numbers of what is named by noun, or shapes of one number.
func between(c *model.Choice, ranked []model.Candidate, noun string) string {
	best := ranked[0].Value(c.Criterion)
	var ks, shapes []string
	var numbers []int
	for i := range ranked {
		x := &ranked[i]
		if math.Abs(x.Value(c.Criterion)-best) >= closeCall {
			continue
		}
		numbers = append(numbers, x.K)
		if x.K == ranked[0].K {
			shapes = append(shapes, x.Mclust)
		}
	}
	slices.Sort(numbers)
	for _, k := range slices.Compact(numbers) {
		ks = append(ks, fmt.Sprint(k))
	}
	switch {
	case len(ks) > 1:
		return " between " + text.List(ks, "and")
	case len(shapes) > 1:
		return fmt.Sprintf(" between the covariances %s, not between numbers of %ss", text.List(shapes, "and"), noun)
	}
	return ""
}

// Covariances says what covariances, or scales of t distributions, the groups have, with mclust's code: "diagonal covariances (VVI)". It is empty for models without any.
func Covariances(r *latent.Result) string {
	s, err := family.ParseShape(r.Covariance)
	if err != nil {
		return ""
	}
	words := s.Words()
	if len(r.Components) > 0 && r.Components[0].Scale != nil { // matrices that are no covariances
		words = strings.ReplaceAll(words, "covariance", "scale")
	}
	return words + " (" + s.Mclust() + ")"
}

// Doubts are sentences that say what keeps a choice from being clear, whatever the distance to the second; nil where nothing does.
func Doubts(r *latent.Result) (said []string) {
	if r.Choice == nil {
		return nil
	}
	for _, d := range r.Choice.Doubts {
		if d != "" {
			said = append(said, strings.ToUpper(d[:1])+d[1:]+".")
		}
	}
	return said
}

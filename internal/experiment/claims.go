package experiment

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/latent-go/latent/internal/text"
)

// Claim is a finding of the paper beside what came out here.
type Claim struct {
	Paper   string // what the paper says
	Verdict string
	Here    string // the numbers
}

// Verdicts.
const (
	held    = "held"
	tied    = "tied"
	notHeld = "did not hold"
)

func verdict(ok bool) string {
	if ok {
		return held
	}
	return notHeld
}

// near is how close two log-likelihoods are taken for the same, nats.
const near = 0.01

// compared says whether a mean is higher than another one: tied where they differ by less than the standard error of the
// difference of means of n runs, or by least.
func compared(a, b spread, n int, least float64) string {
	if math.Abs(a.mean-b.mean) <= math.Max(least, math.Sqrt((a.deviation*a.deviation+b.deviation*b.deviation)/float64(n))) {
		return tied
	}
	return verdict(a.mean > b.mean)
}

// claims checks the findings of the paper's appendix that a study can speak of. Only the paper's four algorithms are
// compared; those that came later are in the tables.
func (s *Study) claims() (list []Claim) {
	all := s.summaries()[:papers]
	list = append(list, s.quick(all), s.highest(all), s.stable(all))
	if s.truth != nil {
		list = append(list, s.far(all), s.nearest(all))
	}
	if all[0].found >= 0 {
		list = append(list, s.finds(all))
	}
	if s.pixels != nil {
		list = append(list, s.closest(all))
	}
	return append(list, s.uneven(), s.searches(all))
}

// each writes a value of every algorithm.
func each(all []*summary, value func(*summary) string) string {
	var words []string
	for _, t := range all {
		words = append(words, t.algorithm+" "+value(t))
	}
	return strings.Join(words, ", ")
}

// soon is the share of the passes allowed that is called quick; close is what may be left of the way up, from the mean
// start to the highest mean end, to be called near the best log-likelihood.
const (
	soon  = 0.2
	close = 0.02
)

// arrival returns the sweep from which on the mean log-likelihood of an algorithm is close to the highest mean end; 0 if
// it never is.
func (s *Study) arrival(algorithm string, top float64) int {
	y := s.curve(algorithm, logLikOf)
	at := 0
	for i, v := range y {
		switch far := top-v > close*(top-y[0]); {
		case far:
			at = 0
		case at == 0:
			at = i + 1
		}
	}
	return at
}

// top returns the highest mean log-likelihood at the end.
func top(all []*summary) float64 {
	v := math.Inf(-1)
	for _, t := range all {
		v = math.Max(v, t.logLik.mean)
	}
	return v
}

func (s *Study) quick(all []*summary) Claim {
	ok := true
	here := each(all, func(t *summary) string {
		at := s.arrival(t.algorithm, top(all))
		ok = ok && at > 0 && float64(at) <= soon*MaxSweeps
		if at == 0 {
			return "never"
		}
		return fmt.Sprintf("after %d sweeps", at)
	})
	return Claim{
		"All four algorithms come quickly to near the best log-likelihood.", verdict(ok),
		fmt.Sprintf("%g %% of the way from the start to the highest mean end, for good: %s (quick: %g at most).", 100*(1-close), here, soon*MaxSweeps),
	}
}

func (s *Study) highest(all []*summary) Claim {
	own, rest := all[1], others(all)
	best := least(rest, func(t *summary) float64 { return -t.logLik.mean })
	return Claim{
		"Anti-annealing ends at a slightly better mean log-likelihood than the others.", compared(own.logLik, best.logLik, own.runs, near),
		fmt.Sprintf("%s; anti-annealing is %s nats %s the best of the others, %s.", each(all, func(t *summary) string { return fixed(t.logLik.mean, 2) }),
			fixed(math.Abs(own.logLik.mean-best.logLik.mean), 2), map[bool]string{true: "above", false: "below"}[own.logLik.mean >= best.logLik.mean], best.algorithm),
	}
}

func (s *Study) stable(all []*summary) Claim {
	own := all[1].logLik.deviation
	best := least(others(all), func(t *summary) float64 { return t.logLik.deviation })
	v := verdict(own < best.logLik.deviation)
	if math.Abs(own-best.logLik.deviation) <= near {
		v = tied
	}
	return Claim{
		"Anti-annealing is the most stable: its final log-likelihood varies least from start to start.", v,
		"Standard deviations in nats: " + each(all, func(t *summary) string { return fixed(t.logLik.deviation, 3) }) + ".",
	}
}

// far asks whether EM's parameters are still far off when its log-likelihood looks done.
func (s *Study) far(all []*summary) Claim {
	const finding = "When EM's log-likelihood is near the best, its parameters are still far from the truth."
	arrived := s.arrival("em", top(all))
	if arrived == 0 {
		return Claim{finding, notHeld, "EM's mean log-likelihood never comes near the best."}
	}
	best := least(all, func(t *summary) float64 { return t.error.mean })
	then := s.curve("em", errorOf)[arrived-1]
	return Claim{
		finding, verdict(then > 2*best.error.mean),
		fmt.Sprintf("After %d sweeps, at %g %% of the way up, EM's mean parameter error is %s; the least mean error of the four at the end is %s, of %s (far: more than twice that).",
			arrived, 100*(1-close), short(then), short(best.error.mean), best.algorithm),
	}
}

func (s *Study) nearest(all []*summary) Claim {
	best := least(others(all), func(t *summary) float64 { return t.error.mean })
	return Claim{
		"Anti-annealing learns the parameters more accurately than the others.", compared(best.error, all[1].error, best.runs, 1e-3),
		"Mean parameter error at the end: " + each(all, func(t *summary) string { return short(t.error.mean) }) + ".",
	}
}

func (s *Study) finds(all []*summary) Claim {
	own := all[1]
	best := least(others(all), func(t *summary) float64 { return -float64(t.found) })
	v := verdict(own.found > best.found)
	if own.found == best.found {
		v = tied
	}
	paper := "Anti-annealing finds the small cluster where the others do not."
	if s.pixels != nil {
		paper = "Anti-annealing gives the yellow centres a segment of their own; the others do not."
	}
	return Claim{paper, v, fmt.Sprintf("Found, of %d runs: %s.", own.runs, each(all, func(t *summary) string { return fmt.Sprint(t.found) }))}
}

func (s *Study) closest(all []*summary) Claim {
	best := least(others(all), func(t *summary) float64 { return t.mse.mean })
	return Claim{
		"Anti-annealing's segments repaint the picture with the least mean squared error.", compared(best.mse, all[1].mse, best.runs, 0.1),
		"Mean error: " + each(all, func(t *summary) string { return fixed(t.mse.mean, 1) + " ± " + fixed(t.mse.deviation, 1) }) + ".",
	}
}

func (s *Study) uneven() Claim {
	return Claim{
		"Anti-annealing's log-likelihood is not monotone, since another function is climbed at another temperature; EM's is.",
		verdict(s.falls("anti-annealing") > 0 && s.falls("em") == 0),
		fmt.Sprintf("Steps at which the log-likelihood fell, in all runs together: anti-annealing %d, em %d, bfgs %d, ecg %d.",
			s.falls("anti-annealing"), s.falls("em"), s.falls("bfgs"), s.falls("ecg")),
	}
}

func (s *Study) searches(all []*summary) Claim {
	return Claim{
		"A step of BFGS and of ECG costs a little more than one of EM, since it searches a line.", verdict(all[2].perStep > all[0].perStep && all[3].perStep > all[0].perStep),
		"Sweeps an accepted step took, the certificate at the end included: " + each(all, func(t *summary) string { return fixed(t.perStep, 2) }) + ".",
	}
}

// others returns the paper's algorithms without anti-annealing.
func others(all []*summary) []*summary { return []*summary{all[0], all[2], all[3]} }

// finding says in one sentence what came of a study.
func (s *Study) finding() string {
	all := s.summaries()
	high := least(all, func(t *summary) float64 { return -t.logLik.mean })
	text := fmt.Sprintf("%s: %s ended highest on average, at a log-likelihood of %s ± %s in %d runs (em %s ± %s)", s.Name, leaders(all),
		fixed(high.logLik.mean, 1), fixed(high.logLik.deviation, 1), high.runs, fixed(all[0].logLik.mean, 1), fixed(all[0].logLik.deviation, 1))
	if all[0].found < 0 {
		return text
	}
	what := "the small cluster"
	if s.pixels != nil {
		what = "the yellow centres"
	}
	return text + fmt.Sprintf("; %s found by %s", what, each(all, func(t *summary) string { return fmt.Sprintf("in %d", t.found) }))
}

// leaders names the algorithms whose mean log-likelihood at the end is the highest, or as high.
func leaders(all []*summary) string {
	high := top(all)
	var names []string
	for _, t := range all {
		if high-t.logLik.mean <= near {
			names = append(names, t.algorithm)
		}
	}
	if len(names) == len(all) {
		return "every algorithm"
	}
	return text.List(names, "and")
}

// fixed writes a number with so many decimals and a comma between thousands.
func fixed(v float64, decimals int) string {
	if math.IsNaN(v) {
		return "–"
	}
	s := text.Group(strconv.FormatFloat(math.Abs(v), 'f', decimals, 64))
	if v < 0 && strings.Trim(s, "0.,") != "" {
		return "−" + s
	}
	return s
}

// short writes a number with three digits.
func short(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.3g", v)
}

package studio

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/text"
)

// labCase is a case of the failure lab: a run that goes wrong, what to look at, and how its verdict is reached from results.
type labCase struct {
	Name, Title string
	Text        []string
	Cure        string
	data        string   // the set that is fitted; "" for the table of the case
	words       []string // the run that is watched, of one start
	query       string   // what its address has beside these words
	race        string   // the address of a race that shows it; "" for none
	judge       func(*lab) (verdict map[string]float64, sentence string)
}

// labCases are the cases in the order in which they are listed.
var labCases = []labCase{
	{
		Name: "local-optimum", Title: "A local optimum", data: "@iris", words: []string{"-k", "3", "--algorithm", "em", "--init", "random", "--seed", "1"},
		Text: []string{"EM climbs to the top of the hill on which it starts, and says truthfully that it has arrived.", "Look which two kinds of iris it takes for one group, and which group it splits."},
		Cure: "Begin from several starts: without an algorithm and a start of your own, a fit does so, and splits and merges groups afterwards.",
		race: "/race?data=@iris&k=3&algorithms=em,em-lbfgs,anti-annealing&init=random&seed=1", judge: judgeOptimum,
	},
	{
		Name: "tolerance-trap", Title: "The tolerance trap", words: []string{"-k", "2", "--algorithm", "em", "--init", "k-means++", "--seed", "1"},
		Text: []string{"A small step is not the end: where groups overlap EM creeps, and a rule that stops at a small change stops on the slope.", "Switch the climb to what is still to go: where the curve of values looks flat, that is a long straight line down."},
		Cure: "Leave the rule of small changes out: a fit stops by the distance from the optimum that it estimates, in standard errors.",
		race: "/race?data=@lab-tolerance-trap&k=2&algorithms=em,em-lbfgs,squarem&init=k-means%2B%2B&seed=1", judge: judgeTrap,
	},
	{
		Name: "spike", Title: "A spike", words: []string{"-k", "4", "--algorithm", "em", "--init", "random", "--seed", "1"},
		Text: []string{"A group that shrinks onto a few equal rows gains likelihood without end; the variance floor stops it.", "Look for the smallest ellipse: it stands on a few rows, three of them the same, and what it adds to the likelihood is worth nothing."},
		Cure: "Ask for covariances that all groups share (tied), or for fewer groups, or begin from several starts, among which such an end does not win.",
		race: "", judge: judgeSpike,
	},
	{
		Name: "saddle", Title: "A saddle", data: "@faithful", words: []string{"-k", "2", "--algorithm", "em"}, query: "&init=centers&centers=,;,&seed=1",
		Text: []string{"Both groups begin at the overall mean: every row then belongs to both alike, and EM has no reason to part them.", "The climb stands still until a search for a rising direction pushes it off."},
		Cure: "Begin elsewhere; no start that is drawn puts two groups in one place.",
		race: "", judge: judgeSaddle,
	},
	{
		Name: "long-clusters", Title: "k-means on long clusters", words: []string{"-k", "2", "--model", "kmeans", "--algorithm", "lloyd", "--init", "k-means++", "--seed", "1"},
		Text: []string{"The groups are long and lie side by side; k-means cuts across both, because it knows round groups of one size only.", "Look at the border between the centres: it stands upright, and the gap between the groups lies flat."},
		Cure: "Fit a mixture with full covariances.",
		race: "/race?data=@lab-long-clusters&k=2&algorithms=em,em-lbfgs,kmeans&init=k-means%2B%2B&seed=1", judge: judgeLong,
	},
	{
		Name: "annealing", Title: "Annealing that merges", data: "@faithful", words: []string{"-k", "3", "--algorithm", "anti-annealing", "--init", "random", "--seed", "2"},
		Text: []string{"At low temperatures β every row belongs to all groups alike, and the groups become one: this is not broken, it forgets the start.", "Look how they merge at β = 0.2, are nudged, and part again as β rises."},
		Cure: "Annealing is a search, not a guarantee: a default fit begins from several starts and splits and merges groups.",
		race: "/race?data=@faithful&k=3&algorithms=em,anti-annealing,em-lbfgs&init=random&seed=2", judge: judgeAnnealing,
	},
	{
		Name: "unbalanced", Title: "Unbalanced weights", words: []string{"-k", "2", "--algorithm", "em", "--init", "random", "--seed", "3"},
		Text: []string{"One group has two rows of a hundred, and EM takes hundreds of passes to find out.", "Look at the weight of the small group: it is still shrinking long after the values look flat."},
		Cure: "Use an algorithm that looks ahead: EM-metric L-BFGS, the default, ends at the same place in a fraction of the passes.",
		race: "/race?data=@lab-unbalanced&k=2&algorithms=em,anti-annealing,em-lbfgs&init=random&seed=3", judge: judgeUnbalanced,
	},
}

// labRoutes serve the failure lab.
func (s *Studio) labRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/lab", func(w http.ResponseWriter, _ *http.Request) {
		list := []map[string]string{}
		for i := range labCases {
			list = append(list, map[string]string{"name": labCases[i].Name, "title": labCases[i].Title})
		}
		answer(w, http.StatusOK, list)
	})
	mux.HandleFunc("POST /api/lab/{name}", s.serveLab)
	mux.HandleFunc("GET /api/lab/{name}/data.csv", func(w http.ResponseWriter, r *http.Request) {
		path, _, err := s.labTable(r.PathValue("name"), false)
		if err != nil || path == "" {
			fail(w, http.StatusNotFound, "there is no such table")
			return
		}
		w.Header().Set("Content-Disposition", `attachment; filename="`+filepath.Base(path)+`"`)
		sendFile(w, r, path, "text/csv; charset=utf-8")
	})
}

// serveLab runs a case and answers what came of it.
func (s *Studio) serveLab(w http.ResponseWriter, r *http.Request) {
	var none struct{}
	if err := decode(w, r, &none); err != nil {
		fail(w, http.StatusBadRequest, "%s", err)
		return
	}
	at := slices.IndexFunc(labCases, func(c labCase) bool { return c.Name == r.PathValue("name") })
	if at < 0 {
		fail(w, http.StatusNotFound, "there is no such case")
		return
	}
	c := &labCases[at]
	l := &lab{s: s, ctx: r.Context(), space: s.spaceOf(r), of: c}
	verdict, sentence := c.judge(l)
	if l.no != nil {
		fail(w, l.no.status, "%s", l.no.text)
		return
	}
	numbers := map[string]*float64{}
	for name, v := range verdict {
		numbers[name] = number(v)
	}
	answer(w, http.StatusOK, map[string]any{"name": c.Name, "title": c.Title, "text": c.Text, "cure": c.Cure, "watch": c.address(), "race": c.race, "verdict": numbers, "sentence": sentence})
}

// table returns what the table of the case is called in addresses.
func (c *labCase) table() string {
	if c.data != "" {
		return c.data
	}
	return labPrefix + c.Name
}

// address returns that of the run in Watch.
func (c *labCase) address() string {
	var b strings.Builder
	b.WriteString("/watch?data=" + c.table())
	for i := 0; i < len(c.words); i += 2 {
		b.WriteString("&" + strings.TrimLeft(c.words[i], "-") + "=" + strings.ReplaceAll(c.words[i+1], "+", "%2B"))
	}
	return b.String() + c.query
}

// lab is a case that is judged. After a run that was refused nothing more is run.
type lab struct {
	s     *Studio
	ctx   context.Context
	space *space
	of    *labCase
	no    *refusal
}

// fit runs a command on the table of the case and returns its result; an empty one after a refusal. see may be nil.
func (l *lab) fit(see func(latent.Progress), known bool, words ...string) *latent.Result {
	path, folder, err := l.of.data, "", error(nil)
	if path == "" {
		path, folder, err = l.s.labTable(l.of.Name, known)
	}
	if err != nil {
		l.no = &refusal{http.StatusInternalServerError, "there is no place for the table of this case: " + reason(err)}
	}
	result := &latent.Result{LogLik: new(math.NaN())}
	if l.no != nil {
		return result
	}
	var errw said
	var out capped
	args := append([]string{"fit", "--json"}, words...)
	l.s.do(l.ctx, append(args, "--", path), &out, &errw, Hooks{Folder: folder, Observe: latent.Observer{Step: see}, Result: func(r *latent.Result) { result = r }})
	if result.K == 0 {
		l.no = &refusal{http.StatusUnprocessableEntity, errw.line(path, l.of.Name)}
	}
	return result
}

// climb runs what is watched, of one start, with more words.
func (l *lab) climb(more ...string) *latent.Result {
	return l.fit(nil, false, append(append([]string{"--n-init", "1"}, l.of.words...), more...)...)
}

// smallest returns the least weight of a group.
func smallest(r *latent.Result) float64 {
	least := math.Inf(1)
	for i := range r.Components {
		least = min(least, r.Components[i].Weight)
	}
	return least
}

func judgeOptimum(l *lab) (map[string]float64, string) {
	one, best := l.climb(), l.fit(nil, false, "-k", "3")
	a, b := *one.LogLik, *best.LogLik
	return map[string]float64{"log-likelihood": a, "best": b}, fmt.Sprintf(
		"From this start EM ends at a log-likelihood of %.2f, %s; a default fit finds %.2f, %.2f higher.", a, map[bool]string{true: "and that is an optimum", false: "not finished"}[one.Converged], b, b-a)
}

func judgeTrap(l *lab) (map[string]float64, string) {
	stop, end := l.climb("--tol-loglik", "0.001"), l.climb("--max-iter", "5000")
	a, b := smallest(stop), smallest(end)
	return map[string]float64{"weight-at-stop": a, "weight-at-end": b, "log-likelihood": *end.LogLik, "best": *end.LogLik}, fmt.Sprintf(
		"Stopped at a change of 0.001 a row, after %s, the smaller group has a weight of %.3f; EM goes on for %s more, and it has %.3f. The two log-likelihoods are %.1f apart.",
		text.Count(stop.Sweeps, "sweep"), a, text.Count(end.Sweeps-stop.Sweeps, "sweep"), b, *end.LogLik-*stop.LogLik)
}

func judgeSpike(l *lab) (map[string]float64, string) {
	one, best := l.climb(), l.fit(nil, false, "-k", "4")
	n, rows := 0, int64(0)
	for i := range one.Components {
		if one.Components[i].AtFloor {
			n++
			rows += one.Components[i].Rows
		}
	}
	return map[string]float64{"at-floor": float64(n), "log-likelihood": *one.LogLik, "best": *best.LogLik}, fmt.Sprintf(
		"%s at the variance floor, on %s: the log-likelihood of %.2f is worth nothing. A default fit ends at %.2f.", text.Are(n, "group"), text.Count(rows, "row"), *one.LogLik, *best.LogLik)
}

func judgeSaddle(l *lab) (map[string]float64, string) {
	first, start := math.NaN(), l.overall()
	defer os.Remove(start) // what is left goes with the folder of all
	r := l.fit(func(p latent.Progress) {
		if first != first {
			first = p.Point.LogLik
		}
	}, false, append([]string{"--n-init", "1", "--init", "centers:" + start}, l.of.words...)...)
	n := r.Certificate.Saddles
	return map[string]float64{"saddles-escaped": float64(n), "log-likelihood": *r.LogLik, "start": first}, fmt.Sprintf(
		"EM stands still at %.2f; a search for a rising direction leaves the saddle %s, and the climb ends at %.2f.", first, map[bool]string{true: "once", false: text.Count(n, "time")}[n == 1], *r.LogLik)
}

// overall returns a file of two centres, both at the mean of all rows of the set of the case.
func (l *lab) overall() (path string) {
	f, no := l.s.openSet(l.ctx, l.space, l.of.data)
	if no != nil {
		l.no = no
		return ""
	}
	features, _ := f.features()
	means := f.means()
	rows := [][]string{features, nil, nil}
	for _, name := range features {
		word := strconv.FormatFloat(means[name], 'g', -1, 64)
		rows[1], rows[2] = append(rows[1], word), append(rows[2], word)
	}
	path = filepath.Join(l.s.Folder, "lab", l.of.Name+"-"+strconv.FormatInt(l.s.ids.Add(1), 10)+".csv")
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = writeCSV(path, rows)
	}
	if err != nil {
		l.no = &refusal{http.StatusInternalServerError, "there is no place for the start of this case: " + reason(err)}
	}
	return path
}

func judgeLong(l *lab) (map[string]float64, string) {
	centres := l.fit(nil, true, "-k", "2", "--model", "kmeans", "--truth", "group")
	mixture := l.fit(nil, true, "-k", "2", "--truth", "group")
	a, b := agreement(centres), agreement(mixture)
	return map[string]float64{"ari-kmeans": a, "ari-mixture": b}, fmt.Sprintf("Agreement with the true groups (adjusted Rand index, 1 is all): k-means %.2f, a mixture %.2f.", a, b)
}

// agreement returns the adjusted Rand index of a result; NaN without one.
func agreement(r *latent.Result) float64 {
	if r.Truth == nil {
		return math.NaN()
	}
	return r.Truth.ARI
}

func judgeAnnealing(l *lab) (map[string]float64, string) {
	apart := math.NaN()
	r := l.fit(func(p latent.Progress) {
		if p.Point.Beta != 0.2 {
			return
		}
		m := p.Model()
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, mean := range m.Means {
			lo, hi = min(lo, mean[0]), max(hi, mean[0])
		}
		apart = hi - lo
	}, false, append([]string{"--n-init", "1"}, l.of.words...)...)
	em := l.fit(nil, false, "-k", "3", "--algorithm", "em", "--init", "random", "--seed", "2", "--n-init", "1")
	best := l.fit(nil, false, "-k", "3")
	return map[string]float64{"apart": apart, "log-likelihood": *r.LogLik, "best": *best.LogLik}, fmt.Sprintf(
		"At β = 0.2 the means of the three groups are %.4f minutes apart: they have become one. They part again and end at %.2f, where EM from this start ends at %.2f; a default fit finds %.2f.",
		apart, *r.LogLik, *em.LogLik, *best.LogLik)
}

func judgeUnbalanced(l *lab) (map[string]float64, string) {
	base := []string{"-k", "2", "--init", "random", "--seed", "3", "--n-init", "1"}
	by := func(algorithm string, more ...string) *latent.Result {
		return l.fit(nil, false, append(append(slices.Clone(base), "--algorithm", algorithm), more...)...)
	}
	em, anneal, quasi, stop := by("em"), by("anti-annealing"), by("em-lbfgs"), by("em", "--tol-loglik", "0.001")
	return map[string]float64{"weight-at-stop": smallest(stop), "weight-at-end": smallest(em), "log-likelihood": *em.LogLik, "best": *quasi.LogLik}, fmt.Sprintf(
		"To the same end EM takes %s, anti-annealing %d and EM-metric L-BFGS %d. Stopped at a change of 0.001 a row, after %s, the small group has a weight of %.3f instead of %.3f.",
		text.Count(em.Sweeps, "sweep"), anneal.Sweeps, quasi.Sweeps, text.Count(stop.Sweeps, "sweep"), smallest(stop), smallest(em))
}

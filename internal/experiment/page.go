package experiment

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"

	"github.com/latent-go/latent/plot"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page is what the template is filled with.
type page struct {
	Title    string
	Paper    string
	Lead     string
	Command  string
	Style    template.CSS
	Sections []pageSection
	Held     int
	Checked  int
}

type pageSection struct {
	*Section
	Figures []pageFigure
	Tables  []table
	Took    string
	Notes   []string
}

type pageFigure struct {
	SVG     template.HTML
	Caption string
}

// table is shown under "data".
type table struct {
	Name   string
	Header []string
	Rows   [][]string
}

// WritePage writes the page: one file with its pictures inside, which loads nothing.
func (r *Report) WritePage(w io.Writer) error {
	name := "all"
	if len(r.Sections) == 1 {
		name = r.Sections[0].Name
	}
	p := page{Title: "The paper's experiments, repeated", Paper: paper, Lead: r.Finding(), Style: template.CSS(plot.CSS()),
		Command: fmt.Sprintf("latent experiment %s --runs %d --seed %d", name, r.Runs, r.Seed)}
	if r.Data != "" {
		p.Command += " --data " + r.Data
	}
	for _, s := range r.Sections {
		out := pageSection{Section: s, Took: fmt.Sprintf("%.1f s", s.Seconds), Notes: s.notes()}
		for _, d := range s.figures {
			svg, err := d.picture.Figure().Inline()
			if err != nil {
				return err
			}
			out.Figures = append(out.Figures, pageFigure{template.HTML(svg), d.caption}) // plot escapes all text
		}
		out.Tables = s.tables()
		for _, c := range s.Claims {
			p.Checked++
			if c.Verdict == held {
				p.Held++
			}
		}
		p.Sections = append(p.Sections, out)
	}
	return pageTemplate.Execute(w, p)
}

// notes says how the numbers of a section are defined.
func (s *Section) notes() (list []string) {
	t := s.study
	if t == nil {
		return nil
	}
	list = append(list,
		fmt.Sprintf("%s rows, %d columns, k = %d, full covariances. Every algorithm starts from the same %d starts: k rows drawn at random as means, equal weights, the variances of the columns for all. A run ends when it is certified to be within 0.01 standard errors of its optimum, or after %d sweeps.",
			fixed(float64(t.N), 0), t.D, t.K, t.summary(Algorithms[0]).runs, MaxSweeps),
		"A sweep is one pass over all rows; every trial of a line search is one.",
		"Two means are called tied where they differ by less than the standard error of their difference.",
		fmt.Sprintf("Anti-annealing: β = %s (settled: within 0.1 standard errors by EM's own estimate, 100 sweeps at most), then the last β = 1. Components are nudged apart before β rises from below 1, since what has become equal no step of EM parts; each start has nudges of its own. At the last β the default driver em-lbfgs takes over, where the paper runs EM on.",
			t.plan.name()))
	if t.truth != nil {
		list = append(list, "Parameter error: "+ErrorFormula+".", "The small cluster is found where "+FoundRule+".")
	}
	return list
}

// tables returns the numbers of a section.
func (s *Section) tables() []table {
	if s.times != nil {
		t := table{Name: "Timings", Header: []string{"algorithm", "varied", "rows", "components", "columns", "sweeps", "steps", "ms a sweep"}}
		for _, x := range s.times.all {
			t.Rows = append(t.Rows, []string{x.algorithm, x.varied, fixed(float64(x.n), 0), fmt.Sprint(x.k), fmt.Sprint(x.d), fmt.Sprint(x.sweeps), fmt.Sprint(x.steps), fixed(1000*x.perSweep(), 3)})
		}
		return []table{t}
	}
	runs := table{Name: "Every run", Header: append([]string{"algorithm", "run", "sweeps", "steps", "seconds", "log-likelihood"}, s.study.measured()...)}
	for _, r := range s.study.Runs {
		row := []string{r.Algorithm, fmt.Sprint(r.Number), fmt.Sprint(r.Sweeps), fmt.Sprint(r.Steps), fixed(r.Seconds, 3), fixed(r.LogLik, 3)}
		if s.study.truth != nil {
			row = append(row, fixed(r.Error, 4))
		}
		if r.Found != nil {
			row = append(row, map[bool]string{true: "yes", false: "no"}[*r.Found])
		}
		if s.study.pixels != nil {
			row = append(row, fixed(r.MSE, 1))
		}
		runs.Rows = append(runs.Rows, row)
	}
	return []table{runs}
}

// measured names the columns that only some studies have.
func (s *Study) measured() (names []string) {
	if s.truth != nil {
		names = append(names, "parameter error")
	}
	if s.Runs[0].Found != nil {
		names = append(names, map[bool]string{true: "centres found", false: "small cluster found"}[s.pixels != nil])
	}
	if s.pixels != nil {
		names = append(names, "error of picture")
	}
	return names
}

// measures are the cells of those columns.
func (s *Study) measures(x *summary) (cells []string) {
	if s.truth != nil {
		cells = append(cells, plusMinus(x.error, 3))
	}
	if x.found >= 0 {
		cells = append(cells, fmt.Sprintf("%d of %d", x.found, x.runs))
	}
	if s.pixels != nil {
		cells = append(cells, plusMinus(x.mse, 1))
	}
	return cells
}

func plusMinus(s spread, decimals int) string {
	return fixed(s.mean, decimals) + " ± " + fixed(s.deviation, decimals)
}

// perRun heads the column of seconds.
const perRun = "seconds a run"

// Summary is the table of means and deviations of a section; nil for the complexity experiment.
func (s *Section) Summary() *table {
	if s.study == nil {
		return nil
	}
	all := s.study.summaries()
	t := &table{Name: "Means and standard deviations", Header: append([]string{"algorithm", "log-likelihood", "sweeps", "finished", perRun}, s.study.measured()...)}
	for _, x := range all {
		row := []string{x.algorithm, plusMinus(x.logLik, 2), plusMinus(x.sweeps, 0), fmt.Sprintf("%d of %d", x.converged, x.runs), fixed(x.seconds.mean, 3)}
		t.Rows = append(t.Rows, append(row, s.study.measures(x)...))
	}
	return t
}

// Schedules is the table of anti-annealing's schedules; nil for the complexity experiment.
func (s *Section) Schedules() *table {
	if s.study == nil {
		return nil
	}
	return s.study.schedulesTable()
}

// Lines returns the summary as words, the header first, without its seconds: what the command prints. It is nil for the
// complexity experiment.
func (s *Section) Lines() (lines [][]string) {
	t := s.Summary()
	if t == nil {
		return nil
	}
	at := slices.Index(t.Header, perRun)
	for _, row := range append([][]string{t.Header}, t.Rows...) {
		lines = append(lines, slices.Delete(slices.Clone(row), at, at+1))
	}
	return lines
}

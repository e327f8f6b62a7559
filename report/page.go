package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/plot"
)

// Page is what a report is made of. Only Result and Rows are required.
type Page struct {
	Result  *latent.Result
	Rows    *Rows
	Hash    string   // of the file, "sha256:..."
	LeftOut []string // columns of the file that were not fitted
	Command string   // what repeats the fit
	When    string   // date
	Machine string   // threads and kernel level
	Steps   []Step   // of the climb, by start and sweep; nil where it was not watched
}

// Step is one step of a climb.
type Step struct {
	Start, Sweep   int
	Free, LogLik   float64 // nats; for a model without density Free is minus the cost
	Beta, Distance float64 // inverse temperature; standard errors from the optimum, NaN where not known
	Lifted         float64 // free energy after the M-step, NaN where the step was none of EM
}

// section is a part of the page.
type section struct {
	ID, Title string
	Lead      []string
	Figures   []template.HTML
	Data      []table
	Cards     []card
}

// table is what a picture shows, in numbers.
type table struct {
	Caption string
	Head    []string
	Rows    [][]string
}

//go:embed page.html
var pageHTML string

var page = template.Must(template.New("page").Parse(pageHTML))

// Write writes the page. An error is one of w, or of a picture that could not be drawn.
func Write(w io.Writer, p Page) error {
	if p.Result == nil || p.Rows == nil || p.Result.Model == nil {
		return &data.ArgumentError{Name: "the page", Reason: "needs a Result with its model, and Rows"}
	}
	b := &builder{Page: p, r: p.Result, rows: p.Rows, d: len(p.Result.Columns), k: p.Result.K}
	b.prepare()
	for _, add := range []func(){b.cards, b.choice, b.stability, b.scatter, b.profile, b.levels, b.pairs, b.tiles, b.silhouette, b.sureness, b.overlap, b.convergence, b.responsibilities, b.unusual, b.agreement} {
		add()
	}
	if b.err != nil {
		return b.err
	}
	first := min(len(p.Result.Warnings), 3)
	var out bytes.Buffer
	err := page.Execute(&out, map[string]any{"Title": b.title(), "CSS": template.CSS(plot.CSS()), "Facts": b.facts(), "Verdict": b.verdict(), "Warnings": p.Result.Warnings[:first], "More": p.Result.Warnings[first:], "HowMany": text.Count(len(p.Result.Warnings)-first, "more warning"), "Sections": b.sections})
	if err != nil {
		return err
	}
	_, err = w.Write(out.Bytes())
	return err
}

// builder gathers sections.
type builder struct {
	Page
	r        *latent.Result
	rows     *Rows
	d, k     int
	names    []string // of the groups
	columns  []column
	telling  []int     // columns, the most telling first
	share    []float64 // of each column's variance that lies between the groups
	sections []*section
	err      error
}

func (b *builder) prepare() {
	for c := range b.k {
		b.names = append(b.names, fmt.Sprint("group ", c+1))
	}
	b.columns = columnsOf(b.r.Model)
	b.order()
}

// draw adds a picture to a section.
func (b *builder) draw(s *section, p plot.Picture) {
	svg, err := p.Figure().Inline()
	if err != nil {
		b.err = err
		return
	}
	s.Figures = append(s.Figures, template.HTML(svg))
}

func (b *builder) add(s *section) { b.sections = append(b.sections, s) }

// bits reports whether cells are 0 or 1.
func (b *builder) bits() bool { return kind.Of(b.r.Kind).Cells.Bits }

func (b *builder) title() string {
	name := b.r.Data
	if name == "" {
		name = "a model"
	}
	return fmt.Sprintf("%s in %s", name, text.Count(b.k, "group"))
}

// fact is a line of the head.
type fact struct{ Name, Value string }

func (b *builder) facts() []fact {
	r := b.r
	seed, version := fmt.Sprint(r.Seed), "latent "+r.Version
	if r.ByHand { // nothing was drawn, and no program has fitted it
		seed, version = "", ""
	}
	facts := []fact{{"data", r.Data}, {"hash", b.Hash}, {"rows", text.Thousands(b.rows.N)}, {"columns", strings.Join(r.Columns, ", ")}, {"of these", b.types()}, {"missing", b.missing()}, {"left out", strings.Join(b.LeftOut, ", ")},
		{"command", b.Command}, {"seed", seed}, {"version", version}, {"computed with", b.Machine}, {"date", b.When}}
	if r.Dropped > 0 {
		facts[2].Value += fmt.Sprintf(" (%s dropped for missing cells)", text.Thousands(r.Dropped))
	}
	if b.rows.Weight != float64(b.rows.N) {
		facts[2].Value += ", total weight " + number(b.rows.Weight)
	}
	var said []fact
	for _, f := range facts {
		if f.Value != "" {
			said = append(said, f)
		}
	}
	return said
}

// types says how many columns of each type there are, where there may be several.
func (b *builder) types() string {
	if !b.parted() {
		return ""
	}
	var parts []string
	for _, p := range b.r.Model.Parts() {
		parts = append(parts, text.Count(len(p.Columns), kind.Of(p.Kind).Type().String()))
	}
	return strings.Join(parts, ", ")
}

// missing says what the rows lack.
func (b *builder) missing() string {
	m := &b.rows.Missing
	var parts []string
	if m.Cells > 0 {
		parts = append(parts, fmt.Sprintf("%s in %s", text.Count(m.Cells, "cell"), text.Count(m.Rows, "row")))
	}
	if m.EmptyRows > 0 {
		parts = append(parts, text.Count(m.EmptyRows, "row")+" without any cell, not shown")
	}
	return strings.Join(parts, "; ")
}

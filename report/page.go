package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/tell"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/plot"
)

// Page is what a report is made of. Only Result and Rows are required.
type Page struct {
	Result  *latent.Result
	Rows    *Rows
	Table   *Table   // what every column is like in each group; nil for what the parameters of the model say of its own
	Hash    string   // of the file, "sha256:..."
	Names   []string // of the sequences, by number; nil where they have none
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
	Figures   []figure
	Data      []table
	Cards     []card
	Folded    bool // the data are shown on demand, as those of a picture are
}

// figure is a picture as wide as the text, and once more for a narrow screen, on which the other would be too small to read.
// Its title and notes are text of the page, which breaks where it must.
type figure struct {
	Title        string
	Wide, Narrow template.HTML
	Notes        []string
}

// part is a question that a page answers, and the sections that do.
type part struct {
	ID, Title string
	Sections  []*section
}

// table is what a picture shows, in numbers.
type table struct {
	Caption string
	Head    []string
	Rows    [][]string
	Words   bool // the last column holds words
}

//go:embed page.html
var pageHTML string

var page = template.Must(template.New("page").Parse(pageHTML))

// Write writes the page. An error is one of w, or of a picture that could not be drawn.
func Write(w io.Writer, p Page) error {
	if p.Result == nil || p.Rows == nil || p.Result.Model == nil {
		return &data.ArgumentError{Name: "the page", Reason: "needs a Result with its model, and Rows"}
	}
	b := &builder{Page: p, rows: p.Rows, d: len(p.Result.Columns), k: p.Result.Model.NumLabels(), members: p.Result.Model.Members(), parts: p.Result.Components}
	own := *p.Result
	own.Components = p.Result.Groups() // the page tells of labels
	b.r = &own
	b.prepare()
	groups, parts := b.cards(), b.questions()
	if b.err != nil {
		return b.err
	}
	warnings := b.warnings()
	first := min(len(warnings), 3)
	var out bytes.Buffer
	err := page.Execute(&out, map[string]any{"Title": fmt.Sprintf("%s: %s", b.file(), text.Count(b.k, b.noun())), "File": b.file(), "Finding": tell.Opening(b.r), "Overview": b.overview(), "CSS": template.CSS(plot.CSS()),
		"Groups": groups, "Trust": b.trust(), "Unfinished": !b.r.ByHand && b.r.Starts.N > 0 && !b.r.Converged, "Warnings": warnings[:first], "More": warnings[first:], "HowMany": text.Count(len(warnings)-first, "more warning"), "Parts": parts, "Facts": b.facts()})
	if err != nil {
		return err
	}
	_, err = w.Write(out.Bytes())
	return err
}

// questions are the sections below the groups, by the question that each answers. A part without a section is left out, but for the last, which ends
// with how the page was made.
func (b *builder) questions() (parts []part) {
	who := []func(){b.scatter, b.profile, b.levels, b.tiles, b.pairs}
	if len(b.telling) > 0 && b.hasShares(b.telling[0]) {
		who = []func(){b.levels, b.scatter, b.profile, b.tiles, b.pairs}
	}
	for _, p := range []struct {
		id, title string
		add       []func()
	}{
		{"time", "How the states follow each other", []func(){b.states}},
		{"who", "Who the " + b.noun() + "s are", who},
		{"sure", "How sure this is", []func(){b.choice, b.merged, b.stability, b.sureness, b.overlap, b.responsibilities, b.silhouette, b.agreement}},
		{"odd", "Which rows are odd", []func(){b.unusual}},
		{"how", "How it was computed", []func(){b.convergence}},
	} {
		b.sections = nil
		for _, add := range p.add {
			add()
		}
		if b.sections != nil || p.id == "how" {
			parts = append(parts, part{p.id, p.title, b.sections})
		}
	}
	return parts
}

// builder gathers sections.
type builder struct {
	Page
	r        *latent.Result    // whose Components are the groups
	parts    []model.Component // of the model: those that a group is made of are members
	members  [][]int
	rows     *Rows
	d, k     int
	names    []string // of the groups
	columns  []column
	telling  []int      // columns, the most telling first
	share    []float64  // of each column's variance that lies between the groups
	sections []*section // of the part that is made
	err      error
}

func (b *builder) prepare() {
	for c := range b.k {
		b.names = append(b.names, fmt.Sprint(b.noun()+" ", c+1))
	}
	b.columns = columnsOf(b.r.Model)
	b.order()
}

// noun is what the groups are called.
func (b *builder) noun() string { return tell.Label(b.r) }

// nounFirst is noun as a sentence begins with it.
func (b *builder) nounFirst() string {
	s := b.noun()
	return strings.ToUpper(s[:1]) + s[1:]
}

// place sets where the components of group c are, as of tells of each.
func (b *builder) place(g *plot.Group, c int, of func(u *model.Component) *plot.Normal) {
	for i, at := range b.members[c] {
		if u := &b.parts[at]; i == 0 {
			g.Normal = of(u)
		} else {
			g.More = append(g.More, *of(u))
		}
	}
}

// draw adds a picture to a section, in both widths.
func (b *builder) draw(s *section, p plot.Picture) {
	var both [2]template.HTML
	whole := p.Figure()
	f := figure{Title: whole.Title}
	for _, note := range append([]string{whole.Note}, whole.Notes...) {
		if note != "" {
			f.Notes = append(f.Notes, strings.TrimSuffix(note, ".")+".")
		}
	}
	for i, drawn := range []*plot.Figure{whole, small(p)} {
		drawn.Alt = f.Title + ". " + drawn.Alt
		drawn.Title, drawn.Note, drawn.Notes = "", "", nil
		svg, err := drawn.Inline()
		if err != nil {
			b.err = err
			return
		}
		both[i] = template.HTML(svg)
	}
	f.Wide, f.Narrow = both[0], both[1]
	s.Figures = append(s.Figures, f)
}

// small returns the picture for a narrow screen: no higher than it is wide, unless it has many lines, and with two panels in a row.
func small(p plot.Picture) *plot.Figure {
	switch q := p.(type) {
	case plot.Panels:
		q.Columns = 2
		p = q
	case plot.Images:
		q.PerRow = 5
		p = q
	}
	f := p.Figure()
	f.Width = narrow
	if f.Height > narrow {
		f.Height = narrow
	}
	return f
}

func (b *builder) add(s *section) { b.sections = append(b.sections, s) }

// bits reports whether cells are 0 or 1.
func (b *builder) bits() bool { return kind.Of(b.r.ComponentKind()).Cells.Bits }

// file returns the name of the data without the folders that it lies in.
func (b *builder) file() string {
	if b.r.Data == "" {
		return "a model"
	}
	return base(b.r.Data)
}

// base returns what follows the last separator of a path of any system.
func base(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// warnings are the texts of those of the result, in which the data have their short name.
func (b *builder) warnings() (said []string) {
	for _, w := range b.r.Warnings {
		if certain(w) || w.Code == model.Unfinished || w.Code == model.Interrupted { // nothing to be wary of, see fitted; or in the line of trust already
			continue
		}
		s := w.Text
		if b.r.Data != "" {
			s = strings.ReplaceAll(s, b.r.Data, b.file())
		}
		said = append(said, s)
	}
	return said
}

// fact is a line of the head.
type fact struct{ Name, Value string }

func (b *builder) facts() []fact {
	r := b.r
	seed, version := fmt.Sprint(r.Seed), "latent "+r.Version
	if r.ByHand { // nothing was drawn, and no program has fitted it
		seed, version = "", ""
	}
	facts := append(b.fitted(), []fact{{"data", base(r.Data)}, {"hash", b.Hash}, {"rows", text.Thousands(b.rows.N)}, {"columns", strings.Join(r.Columns, ", ")}, {"of these", b.types()}, {"missing", b.missing()}, {"left out", strings.Join(b.LeftOut, ", ")},
		{"command", b.Command}, {"seed", seed}, {"version", version}, {"computed with", b.Machine}, {"date", b.When}}...)
	at := slices.IndexFunc(facts, func(f fact) bool { return f.Name == "rows" })
	if r.Dropped > 0 {
		facts[at].Value += fmt.Sprintf(" (%s dropped for missing cells)", text.Thousands(r.Dropped))
	}
	if b.weighted() {
		facts[at].Value += ", total weight " + b.weight()
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
	count := map[string]int{}
	for _, c := range b.columns {
		count[c.kind.Type().String()]++
	}
	for _, p := range b.r.Model.Parts() {
		parts = append(parts, text.Count(count[kind.Of(p.Kind).Type().String()], kind.Of(p.Kind).Type().String()))
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

package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/model"
)

// Size of a plot where nobody says, in cells.
const (
	plotWidth  = 72
	plotHeight = 24
)

// plotPage is where a plot goes.
type plotPage struct {
	width, height int
	colours       bool
}

// pageOf returns the page that w is: as large as the terminal, and coloured unless that is not wanted.
func pageOf(w io.Writer, noColour bool) plotPage {
	p := plotPage{width: plotWidth, height: plotHeight}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return p
	}
	p.colours = !noColour && os.Getenv("NO_COLOR") == ""
	if width, height, err := term.GetSize(int(f.Fd())); err == nil {
		p.width, p.height = min(max(width-1, 40), 120), min(max(height-2, 12), 40)
	}
	return p
}

// view is what of a model can be drawn: places and spreads in units that ticks can tell.
type view struct {
	names []string
	share []float64   // of each component
	mean  [][]float64 // k x d
	// cov returns the covariance of variables j and l in component c; nil where components have none.
	cov func(c, j, l int) float64
	// unit is what distances between places count as 1 in each variable: --scale's, or the standard deviation of a component's cells.
	unit  []float64
	place string // what the place of a component is: "mean" or "centre"
}

// viewOf returns the view of a model: in the user's units, or after --pca in those of the components. It is of the numbers among columns
// of several types. It is nil for bits and levels, which have no place.
func viewOf(r *latent.Result) *view {
	m := drawnPart(r)
	if m == nil {
		return nil
	}
	v, kd := &view{names: m.Variables(), place: "centre"}, kind.Of(m.Kind)
	v.unit = slices.Repeat([]float64{1}, len(v.names))
	inside := m.PCA() != nil
	for _, t := range m.Transform {
		for j, s := range t.Scale {
			if !inside {
				v.unit[j] *= s
			}
		}
	}
	for c, x := range r.Components {
		v.share = append(v.share, x.Weight)
		mean := m.Means[c]
		if !inside {
			mean = m.UserMean(c)
		}
		v.mean = append(v.mean, mean)
	}
	if kd.Mixture {
		v.place = "mean"
	}
	if kd.Shaped {
		v.cov = func(c, j, l int) float64 { return r.Components[c].Covariance.At(j, l) }
	}
	if variance := kd.Location.Variance; variance != nil {
		for j := range v.unit {
			within := 0.0
			for c, s := range v.shares() {
				within += s * variance(v.mean[c][j])
			}
			if within > 0 {
				v.unit[j] = math.Sqrt(within)
			}
		}
	}
	return v
}

// drawnPart returns the model of the columns that have places: all of them, or the numbers among columns of several types; nil where there
// are none.
func drawnPart(r *latent.Result) *model.Model {
	for _, p := range r.Model.Parts() {
		if p.Means != nil && (kind.Of(p.Kind).Cells.Units || !kind.Of(r.Kind).Parted) {
			return p.Model
		}
	}
	return nil
}

// drawModel draws the model that a result tells of.
func drawModel(w io.Writer, r *latent.Result, page plotPage) {
	v := viewOf(r)
	switch {
	case v == nil && kind.Of(r.Kind).Parted:
		fmt.Fprintln(w, "no plot: there is no column of numbers, and other groups have no place; the table has them")
	case v == nil:
		fmt.Fprintf(w, "no plot: the groups of a %s are probabilities, which have no place; the table has them\n", kind.Of(r.Kind).Title)
	case len(v.names) == 1 && v.cov == nil:
		v.points(w, page)
	case len(v.names) == 1:
		v.curve(w, page)
	default:
		v.plane(w, page)
	}
}

// telling returns the two variables that tell the components apart best: those with the largest trace of W^-1 B, B the
// covariance between the means and W the mean of the covariances. Of equals, the first. Without covariances the squares of
// the units stand for W.
func (v *view) telling() (x, y int) {
	d := len(v.names)
	total, centre := 0.0, make([]float64, d)
	for c, s := range v.shares() {
		total += s
		for j, m := range v.mean[c] {
			centre[j] += s * m
		}
	}
	between := func(j, l int) (b float64) {
		for c, s := range v.shares() {
			b += s / total * (v.mean[c][j] - centre[j]/total) * (v.mean[c][l] - centre[l]/total)
		}
		return b
	}
	within := func(j, l int) (w float64) {
		if v.cov == nil {
			return map[bool]float64{true: v.unit[j] * v.unit[j]}[j == l]
		}
		for c, s := range v.shares() {
			w += s / total * v.cov(c, j, l)
		}
		return w
	}
	// Of many variables only those that tell most by themselves are paired.
	order := make([]int, d)
	alone := make([]float64, d)
	for j := range order {
		order[j] = j
		alone[j] = between(j, j) / within(j, j)
	}
	slices.SortStableFunc(order, func(a, b int) int { return byMost(alone[b], alone[a]) })
	order = order[:min(d, mostPaired)]
	slices.Sort(order)
	best := -1.0
	x, y = order[0], order[1]
	for i, j := range order {
		for _, l := range order[i+1:] {
			a, b, c := within(j, j), within(j, l), within(l, l)
			det := a*c - b*b
			if !(det > 1e-12*a*c) { // one is the other in other units
				continue
			}
			t := (c*between(j, j) - 2*b*between(j, l) + a*between(l, l)) / det
			if byMost(t, best) > 0 {
				best, x, y = t, j, l
			}
		}
	}
	return x, y
}

// mostPaired is how many variables are looked at in pairs.
const mostPaired = 40

// byMost orders numbers, equal within rounding.
func byMost(a, b float64) int {
	switch {
	case a > b*(1+1e-9):
		return 1
	case b > a*(1+1e-9):
		return -1
	}
	return 0
}

// shares returns the weights of the components, all alike where they are not known.
func (v *view) shares() []float64 {
	sum := 0.0
	for _, s := range v.share {
		sum += s
	}
	if sum > 0 {
		return v.share
	}
	return slices.Repeat([]float64{1}, len(v.share))
}

// Radii, in standard deviations, of the ellipses that hold half and 95 % of a Gaussian in two variables: sqrt(-2 log(1-p)).
var radii = [2]float64{math.Sqrt(2 * math.Ln2), math.Sqrt(2 * math.Log(20))}

// plane draws the components on two variables: a label at each mean, ellipses around it.
func (v *view) plane(w io.Writer, page plotPage) {
	jx, jy := v.telling()
	x, y := v.extent(jx), v.extent(jy)
	p := newPlot(page, v.names[jx], v.names[jy], x, y, page.height)
	if v.cov != nil {
		v.ellipses(p, jx, jy)
	}
	for c, m := range v.mean {
		p.canvas.letter(dot(p.x.at(m[jx])), dot(p.y.at(m[jy])), sign(c), c+1)
	}
	p.write(w)
	what := "a number is a " + v.place
	if v.cov != nil {
		what += "; ellipses hold 50 % and 95 % of a group"
	}
	if more := len(v.names) - 2; more > 0 {
		what += fmt.Sprintf("; of %d columns %s and %s tell the groups apart best", more+2, v.names[jx], v.names[jy])
	}
	fmt.Fprintln(w, what)
}

// ellipses draws those of the components on variables jx and jy.
func (v *view) ellipses(p *framed, jx, jy int) {
	for c := len(v.mean) - 1; c >= 0; c-- { // the largest is drawn last, over others
		a := math.Sqrt(max(v.cov(c, jx, jx), 0))
		b := 0.0
		if a > 0 {
			b = v.cov(c, jx, jy) / a
		}
		rest := math.Sqrt(max(v.cov(c, jy, jy)-b*b, 0))
		for _, radius := range radii {
			p.loop(func(cos, sin float64) (float64, float64) {
				return v.mean[c][jx] + radius*a*cos, v.mean[c][jy] + radius*(b*cos+rest*sin)
			}, c+1)
		}
	}
}

// extent returns the range of variable j: that of the outer ellipses, or of the centres and a margin.
func (v *view) extent(j int) (e [2]float64) {
	e = [2]float64{math.Inf(1), math.Inf(-1)}
	for c, m := range v.mean {
		r := 0.0
		if v.cov != nil {
			r = radii[1] * math.Sqrt(max(v.cov(c, j, j), 0))
		}
		e[0], e[1] = min(e[0], m[j]-r), max(e[1], m[j]+r)
	}
	if v.cov == nil {
		margin := (e[1] - e[0]) / 10
		e[0], e[1] = e[0]-margin, e[1]+margin
	}
	return e
}

// points draws the centres of one column on a line.
func (v *view) points(w io.Writer, page plotPage) {
	p := newPlot(page, v.names[0], "", v.extent(0), [2]float64{0, 1}, plotFrame+1)
	for c, m := range v.mean {
		p.canvas.letter(dot(p.x.at(m[0])), 0, sign(c), c+1)
	}
	p.write(w)
	fmt.Fprintln(w, "a number is a "+v.place)
}

// curve draws the density of one variable, and a label where each mean is on it.
func (v *view) curve(w io.Writer, page plotPage) {
	p := v.drawCurve(page)
	for c, m := range v.mean {
		p.canvas.letter(dot(p.x.at(m[0])), dot(p.y.at(v.density(m[0]))), sign(c), c+1)
	}
	p.write(w)
	fmt.Fprintln(w, "the density of the mixture; a number is the mean of a group")
}

// density returns that of one variable at x.
func (v *view) density(x float64) (p float64) {
	total := 0.0
	for c, s := range v.shares() {
		sd := math.Sqrt(v.cov(c, 0, 0))
		z := (x - v.mean[c][0]) / sd
		p += s * math.Exp(-z*z/2) / (sd * math.Sqrt(2*math.Pi))
		total += s
	}
	return p / total
}

// drawCurve returns the plot of the density without its labels.
func (v *view) drawCurve(page plotPage) *framed {
	across := v.extent(0)
	margin := (across[1] - across[0]) / 20
	across[0], across[1] = across[0]-margin, across[1]+margin
	top := 0.0
	for i := range 2000 {
		top = max(top, v.density(across[0]+(across[1]-across[0])*float64(i)/1999))
	}
	for _, m := range v.mean {
		top = max(top, v.density(m[0]))
	}
	p := newPlot(page, v.names[0], "density", across, [2]float64{0, top}, page.height)
	before := 0.0
	for i := range p.x.dots {
		x := p.x.lo + (p.x.hi-p.x.lo)*float64(i)/float64(p.x.dots-1)
		at := p.y.at(v.density(x))
		if i > 0 {
			p.canvas.line(float64(i-1), before, float64(i), at, 0)
		}
		before = at
	}
	return p
}

// dot rounds a place to a dot; far outside stays outside.
func dot(v float64) int { return int(math.Floor(min(max(v, -9), 1e6) + 0.5)) }

// sign returns the sign of a component: 1 to 9, then letters.
func sign(c int) rune {
	const signs = "123456789abcdefghijklmnopqrstuvwxyz"
	if c < len(signs) {
		return rune(signs[c])
	}
	return '+'
}

// plotFrame is how many rows of text a plot has beside its canvas: the name above, and line, ticks, name and what it shows
// below.
const plotFrame = 5

// framed is a canvas between two axes.
type framed struct {
	page   plotPage
	canvas *canvas
	x, y   *axis
	margin int // cells left of the vertical line
}

// newPlot returns an empty plot of height rows, ranges x across and y up. Without a name the upward axis has no ticks.
func newPlot(page plotPage, across, up string, x, y [2]float64, height int) *framed {
	rows := max(height-plotFrame, 1)
	p := &framed{page: page, y: newAxis(up, y[0], y[1], 4*rows, max(rows/5, 2))}
	if up == "" {
		p.y.ticks = nil
	}
	for _, t := range p.y.ticks {
		p.margin = max(p.margin, len(p.y.label(t)))
	}
	p.margin++
	columns := max(page.width-p.margin-1, 10)
	p.x = newAxis(across, x[0], x[1], 2*columns, max(columns/14, 2))
	p.canvas = newCanvas(columns, rows)
	return p
}

// loop draws a closed curve, at gives its point for an angle's cosine and sine.
func (p *framed) loop(at func(cos, sin float64) (x, y float64), colour int) {
	const corners = 180
	var px, py float64
	for i := range corners + 1 {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		x, y := at(cos, sin)
		x, y = p.x.at(x), p.y.at(y)
		if i > 0 {
			p.canvas.line(px, py, x, y, colour)
		}
		px, py = x, y
	}
}

// write writes the canvas and its axes.
func (p *framed) write(w io.Writer) {
	if p.y.name != "" {
		fmt.Fprintln(w, p.y.name)
	}
	label := make([]string, p.canvas.height)
	for _, t := range p.y.ticks {
		if row := p.canvas.height - 1 - dot(p.y.at(t))/4; row >= 0 && row < len(label) {
			label[row] = p.y.label(t)
		}
	}
	for i, line := range p.canvas.lines(p.page.colours) {
		edge := "│"
		if label[i] != "" {
			edge = "┤"
		}
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%*s%s%s", p.margin, label[i], edge, line), " "))
	}
	rule, under := []rune(strings.Repeat("─", p.canvas.width)), []rune(strings.Repeat(" ", p.page.width+20))
	free := 0
	for _, t := range p.x.ticks {
		at := min(dot(p.x.at(t))/2, len(rule)-1)
		text := []rune(p.x.label(t))
		from := max(p.margin+1+at-len(text)/2, 0)
		if rule[at] = '┬'; from < free || from+len(text) > len(under) {
			continue // no room: the tick stays
		}
		copy(under[from:], text)
		free = from + len(text) + 1
	}
	fmt.Fprintf(w, "%s└%s\n", strings.Repeat(" ", p.margin), string(rule))
	fmt.Fprintln(w, strings.TrimRight(string(under), " "))
	name := p.x.name
	fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", max(p.margin+1+p.canvas.width-utf8.RuneCountInString(name), 0)), name)
}

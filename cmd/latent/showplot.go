package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/tell"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// view is what of a model can be drawn: places and spreads in units that ticks can tell.
type view struct {
	names []string
	share []float64   // of each component
	label []int       // of its rows, from 0: its cluster; nil where components are not merged
	mean  [][]float64 // k x d
	// cov returns the covariance of variables j and l in component c; nil where components have none.
	cov func(c, j, l int) float64
	dof []float64 // of each component where all are t distributions, of which cov is the scale; else nil
	// anywhere is the density of the rows that lie anywhere, in the units of the variables.
	anywhere float64
	// unit is what distances between places count as 1 in each variable: --scale's, or the standard deviation of a component's cells.
	unit  []float64
	place string // what the place of a component is: "mean" or "centre"
	noun  string // what a label stands for
	of    string // what an ellipse is of
	// inside tells that the variables are principal components; elsewhere they are columns of the model, columns says which.
	inside  bool
	columns []int
}

// viewOf returns the view of a model: in the user's units, or after --pca in those of the components. It is of the numbers among columns
// of several types. It is nil for bits and levels, which have no place.
func viewOf(r *latent.Result) *view {
	part := drawnPart(r)
	if part == nil {
		return nil
	}
	m := part.Model
	inside := m.PCA() != nil
	v, kd := &view{names: m.Variables(), place: "centre", inside: inside, columns: part.Columns}, kind.Of(m.ComponentKind())
	v.unit = slices.Repeat([]float64{1}, len(v.names))
	for _, t := range m.Transform {
		for j, s := range t.Scale {
			if !inside {
				v.unit[j] *= s
			}
		}
	}
	for c, x := range r.Components {
		v.share = append(v.share, x.Weight)
		if x.Dof != nil {
			v.dof = append(v.dof, *x.Dof)
		}
		if r.Clusters != nil {
			v.label = append(v.label, r.Model.LabelOf(c))
		}
		mean := m.Means[c]
		if !inside {
			mean = m.UserMean(c)
		}
		v.mean = append(v.mean, mean)
	}
	v.noun, v.of = tell.Label(r), "a "+tell.Part(r)
	if kd.Mixture {
		v.place = "mean"
	}
	if r.Clusters != nil {
		v.place = "mean of a component, with the number of its cluster"
	}
	if kd.Shaped {
		v.cov = func(c, j, l int) float64 { return r.Components[c].Spread().At(j, l) }
	}
	if r.Noise != nil {
		v.anywhere = r.Noise.Weight * math.Exp(-r.Noise.LogVolume)
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

// labelOf returns the label of the rows of a component, from 0.
func (v *view) labelOf(c int) int {
	if v.label == nil {
		return c
	}
	return v.label[c]
}

// drawnPart returns the model of the columns that have places: all of them, or the numbers among columns of several types; nil where there
// are none.
func drawnPart(r *latent.Result) *model.Part {
	for _, p := range r.Model.Parts() {
		if p.Means != nil && (kind.Of(p.Kind).Cells.Units || !kind.Of(r.ComponentKind()).Parted) {
			return &p
		}
	}
	return nil
}

// drawBelow draws the model below a summary.
func drawBelow(w io.Writer, r *latent.Result, page plotPage, rows *rowSource) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out)
	if err := drawModel(out, r, page, rows); err != nil {
		return err
	}
	return out.Flush()
}

// drawModel draws the model that a result tells of, and rows where they are at hand.
func drawModel(w io.Writer, r *latent.Result, page plotPage, rows *rowSource) error {
	v := viewOf(r)
	switch {
	case v == nil && kind.Of(r.ComponentKind()).Parted:
		fmt.Fprintf(w, "no plot: a drawing needs a column of numbers; the table has the %ss\n", tell.Label(r))
	case v == nil:
		fmt.Fprintf(w, "no plot: the %[1]ss of a %[2]s are probabilities, which are not places on an axis; the table has the %[1]ss\n", tell.Label(r), kind.Of(r.ComponentKind()).Title)
	default:
		jx, jy := 0, -1
		if len(v.names) > 1 {
			jx, jy = v.telling()
		}
		var drawn *drawnRows
		if rows != nil {
			var err error
			if drawn, err = rows.gather(v, jx, jy); err != nil {
				return err
			}
		}
		switch {
		case jy >= 0:
			v.plane(w, page, jx, jy, drawn)
		case v.cov == nil:
			v.points(w, page, drawn)
		default:
			v.curve(w, page, drawn)
		}
	}
	if rows != nil && rows.model.IsChain() {
		return drawStates(w, page, rows)
	}
	return nil
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

// rings are what the ellipses hold of a component.
var rings = [2]float64{0.5, 0.95}

// radius returns that of the ellipse that holds so much of component c in two variables, in standard deviations: sqrt(-2 log(1-p)); of a t
// distribution in those of its scale: sqrt(v ((1-p)^(-2/v) - 1)) for v degrees of freedom.
func (v *view) radius(c int, p float64) float64 {
	square := -2 * math.Log1p(-p)
	if v.dof != nil {
		square = v.dof[c] * math.Expm1(square/v.dof[c])
	}
	return min(math.Sqrt(square), widest)
}

// widest bounds radii where next to no degrees of freedom make them more than a float64 can hold.
const widest = 1e100

// plane draws the components on two variables: a label at each mean, ellipses around it, and a dot for each row.
func (v *view) plane(w io.Writer, page plotPage, jx, jy int, rows *drawnRows) {
	x, y := v.extent(jx), v.extent(jy)
	rows.widen(&x, &y)
	x, y = page.across(x), page.up(y)
	what := "a number is a " + v.place
	drawn := rings[:]
	switch {
	case v.cov == nil:
	case rows != nil: // where the rows are the inner ellipse is in the way
		drawn = rings[1:]
		what += "; an ellipse holds 95 % of " + v.of
	default:
		what += "; ellipses hold 50 % and 95 % of " + v.of
	}
	if more := len(v.names) - 2; more > 0 {
		what += fmt.Sprintf("; of %d columns %s and %s tell the %ss apart best", more+2, v.names[jx], v.names[jy], v.noun)
	}
	below := page.wrap(what + rows.tell(x, y) + v.outside(x, jx, y, jy))
	p := newPlot(page, v.names[jx], v.names[jy], x, y, page.height-len(below)+1)
	rows.draw(p)
	if v.cov != nil {
		v.ellipses(p, jx, jy, drawn)
	}
	for c, m := range v.mean {
		p.letter(v.labelOf(c), m[jx], m[jy])
	}
	p.write(w, below)
}

// ellipses draws those of the components on variables jx and jy that hold each of some shares.
func (v *view) ellipses(p *framed, jx, jy int, shares []float64) {
	for c := len(v.mean) - 1; c >= 0; c-- { // the largest is drawn last, over others
		a := math.Sqrt(max(v.cov(c, jx, jx), 0))
		b := 0.0
		if a > 0 {
			b = v.cov(c, jx, jy) / a
		}
		rest := math.Sqrt(max(v.cov(c, jy, jy)-b*b, 0))
		for _, share := range shares {
			radius := v.radius(c, share)
			p.loop(func(cos, sin float64) (float64, float64) {
				return v.mean[c][jx] + radius*a*cos, v.mean[c][jy] + radius*(b*cos+rest*sin)
			}, v.labelOf(c)+1)
		}
	}
}

// extent returns the range of variable j: that of the outer ellipses, or of the centres and a margin. The range of one variable leaves out
// most of long tails.
func (v *view) extent(j int) (e [2]float64) {
	e = [2]float64{math.Inf(1), math.Inf(-1)}
	for c, m := range v.mean {
		r := 0.0
		if v.cov != nil {
			radius := v.radius(c, rings[1])
			if len(v.names) == 1 {
				radius = min(radius, mostOfACurve)
			}
			r = radius * math.Sqrt(max(v.cov(c, j, j), 0))
		}
		e[0], e[1] = min(e[0], m[j]-r), max(e[1], m[j]+r)
	}
	if v.cov == nil {
		margin := (e[1] - e[0]) / 10
		e[0], e[1] = e[0]-margin, e[1]+margin
	}
	return e
}

// mostOfACurve is how far from a mean a curve is drawn at most, in standard deviations or those of a scale.
const mostOfACurve = 6

// points draws the centres of one column on a line.
func (v *view) points(w io.Writer, page plotPage, rows *drawnRows) {
	x, y := v.extent(0), [2]float64{0, 1}
	rows.widen(&x, &y)
	x = page.across(x)
	p := newPlot(page, v.names[0], "", x, y, plotFrame+1)
	rows.draw(p)
	for c, m := range v.mean {
		p.letter(v.labelOf(c), m[0], 0)
	}
	p.write(w, page.wrap("a number is a "+v.place+rows.tell(x, y)+v.outside(x, 0, y, -1)))
}

// curve draws the density of one variable, a label where each mean is on it, and a dot at the bottom for each row.
func (v *view) curve(w io.Writer, page plotPage, rows *drawnRows) {
	x, y := v.extent(0), [2]float64{}
	rows.widen(&x, &y)
	margin := (x[1] - x[0]) / 20
	x = page.across([2]float64{x[0] - margin, x[1] + margin})
	y = page.up([2]float64{0, v.top(x)})
	below := page.wrap("the density of the mixture; a number is the mean of " + v.of + rows.tell(x, y) + v.outside(x, 0, y, -1))
	p := newPlot(page, v.names[0], "density", x, y, page.height-len(below)+1)
	rows.draw(p)
	v.drawCurve(p)
	for c, m := range v.mean {
		p.letter(v.labelOf(c), m[0], v.density(m[0]))
	}
	p.write(w, below)
}

// outside names the groups whose place is outside of what is shown; jy is below 0 for one variable.
func (v *view) outside(x [2]float64, jx int, y [2]float64, jy int) string {
	var out []string
	for c, m := range v.mean {
		if !within(x, m[jx]) || jy >= 0 && !within(y, m[jy]) {
			out = append(out, string(sign(v.labelOf(c))))
		}
	}
	if out == nil {
		return ""
	}
	return fmt.Sprintf("; %s %s %s outside", text.Form(len(out), v.noun, v.noun+"s"), text.List(out, "and"), text.Form(len(out), "is", "are"))
}

// within reports whether v lies in a range.
func within(e [2]float64, v float64) bool { return e[0] <= v && v <= e[1] }

// density returns that of one variable at x, with that of the rows that lie anywhere.
func (v *view) density(x float64) float64 {
	p, total := 0.0, 0.0
	for c, s := range v.shares() {
		sd := math.Sqrt(v.cov(c, 0, 0))
		if mean := v.mean[c][0]; v.dof != nil {
			p += s * distuv.StudentsT{Mu: mean, Sigma: sd, Nu: v.dof[c]}.Prob(x)
		} else {
			p += s * distuv.Normal{Mu: mean, Sigma: sd}.Prob(x)
		}
		total += s
	}
	if v.anywhere > 0 { // its weight and those of the components make 1
		return p + v.anywhere
	}
	return p / total
}

// top returns the highest density of one variable in a range.
func (v *view) top(x [2]float64) (top float64) {
	for i := range 2000 {
		top = max(top, v.density(x[0]+(x[1]-x[0])*float64(i)/1999))
	}
	for _, m := range v.mean {
		if within(x, m[0]) {
			top = max(top, v.density(m[0]))
		}
	}
	return top
}

// drawCurve draws the density of one variable.
func (v *view) drawCurve(p *framed) {
	before := 0.0
	for i := range p.x.dots {
		x := p.x.lo + (p.x.hi-p.x.lo)*float64(i)/float64(p.x.dots-1)
		at := p.y.at(v.density(x))
		if i > 0 {
			p.canvas.line(float64(i-1), before, float64(i), at, 0)
		}
		before = at
	}
}

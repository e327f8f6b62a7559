package report

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/plot"
)

// Sizes of what is drawn.
const (
	paired       = 6    // columns of the pair plot
	inPairs      = 300  // points of each of its panels
	leastInPairs = 8    // of each group that has as many
	profiled     = 40   // columns of the heat map
	listed       = 40   // groups of a picture with a line a group
	climbs       = 2000 // points of all lines of the convergence
	wide         = 864  // pixels: the width of the text of a page
	narrow       = 360  // pixels: that of a telephone
)

func hex(c int) string {
	v := plot.Color(c)
	return fmt.Sprintf("#%02x%02x%02x", v.R, v.G, v.B)
}

// sampled returns the drawn rows of group c: about most in all, in proportion, but at least a few of each group.
func (b *builder) sampled(c, most, least int) (rows []Row, fitted [][]float64) {
	g := &b.rows.Group[c]
	n := int(float64(most) * float64(g.Rows) / float64(b.rows.N))
	n = min(max(n, least), len(g.sample))
	return g.sample[:n], g.fitted[:n]
}

// note says how many rows are drawn where it is not all: n of those that sampled returns for most and least.
func (b *builder) note(n, most, least int) string {
	taken := 0
	for c := range b.rows.Group {
		rows, _ := b.sampled(c, most, least)
		taken += len(rows)
	}
	switch {
	case int64(n) == b.rows.N:
		return ""
	case b.rows.noise > 0 && int64(taken) == b.rows.N-b.rows.noise && n == taken:
		return fmt.Sprintf("%s of %s drawn: all but those of the noise", text.Thousands(int64(n)), text.Count(b.rows.N, "row"))
	case int64(taken) == b.rows.N:
		return fmt.Sprintf("%s of %s drawn; the others lack a value here", text.Thousands(int64(n)), text.Count(b.rows.N, "row"))
	}
	return fmt.Sprintf("%s of %s drawn, small %ss with more than their share", text.Thousands(int64(n)), text.Count(b.rows.N, "row"), b.noun())
}

// scatter shows the rows in their two most telling columns, or in the plane of the first two principal components where
// the model was fitted on components.
func (b *builder) scatter() {
	columns := b.those(b.hasPlace)
	if len(columns) == 0 {
		return
	}
	s := &section{ID: "scatter", Title: fmt.Sprintf("Where the %ss lie", b.noun())}
	if len(columns) == 1 {
		b.density(s, columns[0])
		return
	}
	switch {
	case b.r.PCA != nil && b.r.PCA.N > 1:
		b.components(s)
	case len(columns) > paired && b.k > 2:
		b.plane(s)
	}
	i, j := columns[0], columns[1]
	groups, n := b.points(i, j, drawn, least)
	title := fmt.Sprintf("The %ss differ most in %s and %s", b.noun(), quoted(b.r.Columns[i]), quoted(b.r.Columns[j]))
	if b.k == 1 {
		title = fmt.Sprintf("One %s, in %s and %s", b.noun(), quoted(b.r.Columns[i]), quoted(b.r.Columns[j]))
	}
	b.draw(s, plot.Scatter{Head: plot.Head{Title: title, Note: b.note(n, drawn, least), Width: wide, Height: 520}, X: b.axis(i), Y: b.axis(j), Groups: groups, Part: b.noun()})
	switch {
	case b.r.Covariance == "":
		s.Lead = append(s.Lead, "A point is a row, in the colour of its label; a numbered disc is the centre of a "+b.noun()+".")
	case b.k == 1:
		s.Lead = append(s.Lead, "A point is a row; the disc with a rim is the centre. Ellipses hold half and 95 % of the "+b.noun()+", by the model.")
	case b.r.Clusters != nil:
		s.Lead = append(s.Lead, "A point is a row, in the colour of its label; a numbered disc is the centre of a component, with the number of its cluster. Ellipses hold half and 95 % of a component, by the model.")
	default:
		s.Lead = append(s.Lead, "A point is a row, in the colour of its label; a numbered disc is the centre of a "+b.noun()+". Ellipses hold half and 95 % of a "+b.noun()+", by the model.")
		if b.rescaled() {
			s.Lead = append(s.Lead, "Columns that were fitted on another scale are drawn in your units, where "+b.noun()+"s have no ellipses; centres are medians there.")
		}
	}
	s.Data = append(s.Data, b.centers())
	b.add(s)
}

// centers is the table of the centres of the components in columns that have means.
func (b *builder) centers() table {
	t := table{Caption: "centres, by the model", Head: []string{b.noun(), "share"}}
	for c, u := range b.r.Components {
		t.Rows = append(t.Rows, []string{fmt.Sprint(c + 1), percent(u.Weight)})
	}
	for j, name := range b.r.Columns {
		if !b.hasMean(j) {
			continue
		}
		t.Head = append(t.Head, name)
		var values []float64
		for c := range b.r.Components {
			values = append(values, b.center(&b.r.Components[c], j))
		}
		for c, s := range b.written(values, j) {
			t.Rows[c] = append(t.Rows[c], s)
		}
	}
	return t
}

// points are the groups of a scatter of columns i and j.
func (b *builder) points(i, j, most, least int) (groups []plot.Group, n int) {
	for c := range b.r.Components {
		rows, _ := b.sampled(c, most, least)
		g := plot.Group{Name: b.names[c]}
		for _, row := range rows {
			if x, y := row.X[i], row.X[j]; x == x && y == y {
				g.X, g.Y = append(g.X, x), append(g.Y, y)
			}
		}
		if u := &b.r.Components[c]; hasCenters(u) {
			b.place(&g, c, func(u *model.Component) *plot.Normal {
				return &plot.Normal{Mean: [2]float64{b.center(u, i), b.center(u, j)}, Cov: b.block(u, i, j), Dof: dof(u)}
			})
		}
		n += len(g.X)
		groups = append(groups, g)
	}
	return groups, n
}

// dof returns the degrees of freedom of a component; 0 where it has none.
func dof(u *model.Component) float64 {
	if u.Dof == nil {
		return 0
	}
	return *u.Dof
}

// block returns the covariance of columns i and j.
func block(c *model.Covariance, i, j int) (v [2][2]float64) {
	if c != nil {
		v = [2][2]float64{{c.At(i, i), c.At(i, j)}, {c.At(j, i), c.At(j, j)}}
	}
	return v
}

// density shows column j: how many rows there are at each value, and what the components make of that.
func (b *builder) density(s *section, j int) {
	var x []float64
	var levels []plot.Reference
	for c := range b.r.Components {
		rows, _ := b.sampled(c, drawn, least)
		for _, row := range rows {
			if v := row.X[j]; v == v {
				x = append(x, v)
			}
		}
		if u := &b.r.Components[c]; hasCenters(u) && b.k <= 12 {
			levels = append(levels, plot.Reference{At: b.center(u, j), Name: fmt.Sprint(c + 1)})
		}
	}
	if len(x) == 0 {
		return
	}
	name := b.r.Columns[j]
	b.draw(s, plot.Histogram{Head: plot.Head{Title: fmt.Sprintf("%s and the %s of its %s", quoted(name), text.Form(b.k, "centre", "centres"), text.Count(b.k, "group")), Note: b.note(len(x), drawn, least), Width: wide}, X: b.axis(j), Values: x, Levels: levels})
	if b.r.Covariance != "" && b.r.PCA == nil {
		b.curves(s, j, x)
	}
	b.add(s)
}

// curves draws the density of column j, whose cells are x, and its parts.
func (b *builder) curves(s *section, j int, x []float64) {
	lo, hi := slices.Min(x), slices.Max(x)
	const n = 300
	grid, all := make([]float64, n), make([]float64, n)
	var parts []plot.Series
	for c := range b.r.Components {
		y := make([]float64, n)
		for _, own := range b.members[c] {
			pdf, known := b.pdf(own, j)
			if !known {
				return
			}
			for i := range grid {
				grid[i] = lo + (hi-lo)*float64(i)/(n-1)
				y[i] += b.parts[own].Weight * pdf(grid[i])
			}
		}
		for i, v := range y {
			all[i] += v
		}
		parts = append(parts, plot.Series{Name: b.names[c], X: grid, Y: y})
	}
	parts = append(parts, plot.Series{Name: "all", X: grid, Y: all, Faint: true})
	title := "The density is the sum of those of the " + b.noun() + "s, each times its share"
	if b.r.Noise != nil {
		title += "; without the noise"
	}
	b.draw(s, plot.Lines{Head: plot.Head{Title: title, Width: wide}, X: b.axis(j), Y: plot.Axis{Label: "density", Min: 0, Max: 1.05 * slices.Max(all)}, Series: parts})
}

// profile is the heat map of standardised centres: a line a column, the most telling on top.
func (b *builder) profile() {
	columns := b.those(func(j int) bool { return !b.hasShares(j) && b.columns[j].Scale != "geo" })
	all := len(columns)
	if all < 2 || b.k == 1 {
		return
	}
	columns = columns[:min(profiled, all)]
	h := plot.HeatMap{Head: plot.Head{Width: wide}, Unit: "standard deviations of all rows", X: plot.Axis{Label: b.noun()}}
	shown := min(b.k, listed)
	for c := range shown {
		h.Columns = append(h.Columns, fmt.Sprint(c+1))
	}
	top, at := 0.0, [2]int{}
	for _, j := range columns {
		line := make([]float64, shown)
		for c := range line {
			line[c] = b.apart(c, j)
			if math.Abs(line[c]) > math.Abs(top) {
				top, at = line[c], [2]int{c, j}
			}
		}
		h.Rows, h.Values = append(h.Rows, b.r.Columns[j]), append(h.Values, line)
	}
	h.Title = fmt.Sprintf("%s %d stands out most: %s, %.1f standard deviations %s the mean of all rows", b.nounFirst(), at[0]+1, quoted(b.r.Columns[at[1]]), math.Abs(top), map[bool]string{true: "above", false: "below"}[top > 0])
	if len(columns) < all {
		h.Note = fmt.Sprintf("The %d most telling of %d columns", len(columns), all)
	}
	s := &section{ID: "profile", Title: "What makes a " + b.noun(), Lead: []string{fmt.Sprintf("How far the centre of each %[1]s, by the model, lies from the mean of all rows. Columns at the top tell the %[1]ss apart best.", b.noun())}}
	if b.rescaled() {
		s.Lead = append(s.Lead, "Of columns on another scale, whose centres are medians, the means of the rows with each label are shown; latitude and longitude are left out.")
	}
	b.draw(s, h)
	t := table{Caption: "share of each column's variance that lies between the means of the rows of each label", Head: []string{"column", "share"}}
	for _, j := range columns {
		t.Rows = append(t.Rows, []string{b.r.Columns[j], percent(min(b.share[j], 1))})
	}
	s.Data = append(s.Data, t)
	b.add(s)
}

// pairs shows every two of the most telling columns.
func (b *builder) pairs() {
	columns := b.those(b.hasPlace)
	if len(columns) < 3 || b.k == 1 {
		return
	}
	columns = columns[:min(paired, len(columns))]
	p := plot.Panels{Head: plot.Head{Title: fmt.Sprintf("Every two of the %d most telling columns", len(columns)), Width: wide}, Columns: 3}
	n := 0
	for a, i := range columns {
		for _, j := range columns[a+1:] {
			var groups []plot.Group
			groups, n = b.points(i, j, inPairs, leastInPairs)
			for g := range groups {
				groups[g].Name = ""
				if b.k > 8 && groups[g].Normal != nil {
					groups[g].Normal = &plot.Normal{Mean: groups[g].Normal.Mean} // the ellipses would hide the points
					groups[g].More = nil
				}
			}
			f := plot.Scatter{X: b.axis(i), Y: b.axis(j), Groups: groups, Part: b.noun()}.Figure()
			f.Legend = nil // that of the picture above
			p.Pictures = append(p.Pictures, f)
		}
	}
	p.Note = b.note(n, inPairs, leastInPairs)
	s := &section{ID: "pairs", Title: "Two columns at a time"}
	b.draw(s, p)
	b.add(s)
}

// pixels are the names of columns that are pixels of a picture, by line and column from 0.
var pixels = regexp.MustCompile(`^pixel_(\d{1,3})_(\d{1,3})$`)

// grid returns where each column lies in a picture of so many lines and columns: pixels by their names, of which some may not have been fitted,
// or columns that fill a square by their order. It has no lines where the columns are no picture.
func (b *builder) grid() (at []image.Point, lines, columns int) {
	for _, name := range b.r.Columns {
		m := pixels.FindStringSubmatch(name)
		if m == nil {
			break
		}
		y, _ := strconv.Atoi(m[1])
		x, _ := strconv.Atoi(m[2])
		at = append(at, image.Pt(x, y))
		lines, columns = max(lines, y+1), max(columns, x+1)
	}
	if len(at) == b.d {
		if 2*b.d < lines*columns || lines < fewestPixels || columns < fewestPixels { // a few pixels are no picture
			return nil, 0, 0
		}
		return at, lines, columns
	}
	side := int(math.Round(math.Sqrt(float64(b.d))))
	named := !slices.ContainsFunc(b.r.Columns, func(name string) bool { return !strings.HasPrefix(name, "pixel") })
	if side < fewestPixels || side*side != b.d || !b.bits() && !named {
		return nil, 0, 0
	}
	at = at[:0]
	for i := range b.d {
		at = append(at, image.Pt(i%side, i/side))
	}
	return at, side, side
}

// fewestPixels are the lines and columns that a picture has at least.
const fewestPixels = 4

// tiles shows the groups as pictures, before all else of its part, where the columns are pixels.
func (b *builder) tiles() {
	at, lines, columns := b.grid()
	if lines == 0 || b.parted() || !b.hasMean(0) {
		return
	}
	p := plot.Images{Head: plot.Head{Title: fmt.Sprintf("The centres of the groups, by the model, as pictures of %d x %d columns, the highest value black", lines, columns), Width: wide}, PerRow: 10}
	if n := lines*columns - b.d; n > 0 {
		p.Note = fmt.Sprintf("%s %s not fitted, and left white", text.Count(n, "column"), text.Form(n, "was", "were"))
	}
	top := 0.0
	for c := range b.k {
		for j := range b.d {
			top = max(top, b.center(&b.r.Components[c], j))
		}
	}
	for c := range min(b.k, listed) {
		m := image.NewGray(image.Rect(0, 0, columns, lines))
		for i := range m.Pix {
			m.Pix[i] = 255
		}
		for j, q := range at {
			v := 0.0
			if top > 0 {
				v = min(max(b.center(&b.r.Components[c], j)/top, 0), 1)
			}
			m.SetGray(q.X, q.Y, color.Gray{Y: uint8(math.Round(255 * (1 - v)))})
		}
		p.Images = append(p.Images, plot.CaptionedImage{Image: m, Caption: fmt.Sprintf("%d: %s", c+1, percent(b.rows.Group[c].Weight/b.rows.Weight))})
	}
	s := &section{ID: "tiles", Title: "The groups as pictures"}
	b.draw(s, p)
	b.sections = slices.Insert(b.sections, 0, s)
}

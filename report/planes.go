package report

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/plot"
)

// plane shows the rows in the two directions in which the centres of the groups differ most, columns in standard deviations.
func (b *builder) plane(s *section) {
	v, values := b.directions()
	if values == nil {
		return
	}
	var p plot.Plane
	columns := b.placed()
	p.Origin = picked(b.rows.Mean, columns)
	var axis [2]plot.Axis
	for a := range axis {
		top, sign := 0, 1.0
		for j := range b.d {
			if math.Abs(v[a][j]) > math.Abs(v[a][top]) {
				top = j
			}
		}
		if v[a][top] < 0 {
			sign = -1
		}
		for _, j := range columns {
			w := 0.0
			if b.rows.SD[j] > 0 {
				w = sign * v[a][j] / b.rows.SD[j]
			}
			p.P[a] = append(p.P[a], w)
		}
		axis[a].Label = fmt.Sprintf("direction %d, most of all %s", a+1, b.r.Columns[top])
	}
	total := 0.0
	for _, l := range values {
		total += l
	}
	var groups []plot.Group
	n := 0
	for c := range b.r.Components {
		rows, _ := b.sampled(c, drawn, least)
		g := plot.Group{Name: b.names[c]}
		for _, row := range rows {
			if at := p.Point(picked(row.X, columns)); at[0] == at[0] && at[1] == at[1] {
				g.X, g.Y = append(g.X, at[0]), append(g.Y, at[1])
			}
		}
		if u := &b.r.Components[c]; hasCenters(u) {
			b.place(&g, c, func(u *model.Component) *plot.Normal { return b.normal(p, u, columns) })
		}
		n += len(g.X)
		groups = append(groups, g)
	}
	s.Lead = append(s.Lead, "A direction is a sum of all columns, each in standard deviations and with a weight of its own; these two set the centres farthest apart.")
	title := fmt.Sprintf("Two directions hold %s of what differs between the %ss", percent(min((values[0]+values[1])/total, 1)), b.noun())
	b.draw(s, plot.Scatter{Head: plot.Head{Title: title, Note: b.note(n, drawn, least), Width: wide, Height: 520}, X: axis[0], Y: axis[1], Groups: groups, Part: b.noun()})
}

// manyColumns is the number of columns beyond which directions are found from the groups, which are fewer: a matrix of the
// columns would take hundreds of megabytes and its eigenvectors hours.
const manyColumns = 500

// directions returns the two directions, each of length 1, in which the centres of the groups differ most, columns in
// standard deviations, and all variances between the groups, the largest first; nil where there are none.
func (b *builder) directions() (v [2][]float64, values []float64) {
	off := mat.NewDense(len(b.rows.Group), b.d, nil) // times the root of the groups' shares
	for c := range b.rows.Group {
		g := &b.rows.Group[c]
		for j := range b.d {
			d := g.Mean[j] - b.rows.Mean[j]
			if b.rows.SD[j] > 0 && g.Rows > 0 && b.hasPlace(j) && d == d {
				off.Set(c, j, math.Sqrt(g.Weight/b.rows.Weight)*d/b.rows.SD[j])
			}
		}
	}
	var product mat.SymDense
	few := b.d > manyColumns && b.k > 1
	if few {
		product.SymOuterK(1, off)
	} else {
		product.SymOuterK(1, off.T())
	}
	var e mat.EigenSym
	if !e.Factorize(&product, true) {
		return v, nil
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	n := product.SymmetricDim()
	for i := range n {
		values = append(values, e.Values(nil)[n-1-i])
	}
	for a := range v {
		column := vectors.ColView(n - 1 - a)
		if few {
			var turned mat.VecDense
			turned.MulVec(off.T(), column)
			column = &turned
		}
		v[a] = mat.Col(nil, 0, column)
	}
	if few {
		unit(v[0], 0)
		if values[1] <= flatShare*values[0] { // two groups differ in one direction: any other shows as much
			clear(v[1])
			v[1][smallest(v[0])] = 1
		}
		dot := 0.0
		for j, x := range v[0] {
			dot += x * v[1][j]
		}
		for j, x := range v[0] {
			v[1][j] -= dot * x
		}
		unit(v[1], 1)
	}
	return v, values
}

// flatShare is the share of the largest variance below which another is rounding.
const flatShare = 1e-12

// unit scales x to length 1; a vector of zeros becomes the unit vector of column j.
func unit(x []float64, j int) {
	length := 0.0
	for _, v := range x {
		length = math.Hypot(length, v)
	}
	if length == 0 {
		x[j] = 1
		return
	}
	for i := range x {
		x[i] /= length
	}
}

// smallest returns the first place of the smallest absolute value.
func smallest(x []float64) (at int) {
	for i, v := range x {
		if math.Abs(v) < math.Abs(x[at]) {
			at = i
		}
	}
	return at
}

// picked returns the values at some places.
func picked(x []float64, at []int) []float64 {
	own := make([]float64, len(at))
	for i, j := range at {
		own[i] = x[j]
	}
	return own
}

// normal returns a component in a plane of some columns.
func (b *builder) normal(p plot.Plane, u *model.Component, columns []int) *plot.Normal {
	mean := make([]float64, len(columns))
	for i, j := range columns {
		mean[i] = b.center(u, j)
	}
	n := plot.Normal{Mean: p.Point(mean), Dof: dof(u)}
	if slices.ContainsFunc(columns, func(j int) bool { return b.columns[j].Scale != "" && !b.columns[j].InUnits() }) {
		return &n // covariances are those of another scale
	}
	if spread := u.Spread(); spread != nil && spread.IsMatrix() && b.r.PCA == nil {
		for r := range 2 {
			for s := range 2 {
				n.Cov[r][s] = spread.Between(p.P[r], p.P[s])
			}
		}
		return &n
	}
	for r := range 2 {
		for s := range 2 {
			for i, f := range p.P[r] {
				if g := p.P[s][i]; f != 0 && g != 0 {
					n.Cov[r][s] += f * b.block(u, columns[i], columns[i])[0][0] * g
				}
			}
		}
	}
	return &n
}

// components shows the rows in the first two of the principal components that were fitted.
func (b *builder) components(s *section) {
	var groups []plot.Group
	n := 0
	for c := range b.r.Components {
		_, rows := b.sampled(c, drawn, least)
		g := plot.Group{Name: b.names[c]}
		for _, x := range rows {
			g.X, g.Y = append(g.X, x[0]), append(g.Y, x[1])
		}
		b.place(&g, c, func(u *model.Component) *plot.Normal {
			m := b.r.Model.Means[u.Label-1]
			return &plot.Normal{Mean: [2]float64{m[0], m[1]}, Cov: block(u.Spread(), 0, 1), Dof: dof(u)}
		})
		n += len(rows)
		groups = append(groups, g)
	}
	title := fmt.Sprintf("The first two of the %d principal components that were fitted", b.r.PCA.N)
	b.draw(s, plot.Scatter{Head: plot.Head{Title: title, Note: b.note(n, drawn, least), Width: wide, Height: 520}, X: plot.Axis{Label: "pc1"}, Y: plot.Axis{Label: "pc2"}, Groups: groups, Part: b.noun()})
}

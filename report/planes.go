package report

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/plot"
)

// plane shows the rows in the two directions in which the centres of the groups differ most, columns in standard deviations.
func (b *builder) plane(s *section) {
	between := mat.NewSymDense(b.d, nil)
	off := mat.NewVecDense(b.d, nil)
	for c := range b.rows.Group {
		g := &b.rows.Group[c]
		for j := range b.d {
			v := 0.0
			if b.rows.SD[j] > 0 && g.Rows > 0 {
				v = (g.Mean[j] - b.rows.Mean[j]) / b.rows.SD[j]
			}
			off.SetVec(j, v)
		}
		between.SymRankOne(between, g.Weight/b.rows.Weight, off)
	}
	var e mat.EigenSym
	if !e.Factorize(between, true) {
		return
	}
	var v mat.Dense
	e.VectorsTo(&v)
	var p plot.Plane
	p.Origin = b.rows.Mean
	var axis [2]plot.Axis
	for a := range axis {
		top, sign := 0, 1.0
		for j := range b.d {
			if math.Abs(v.At(j, b.d-1-a)) > math.Abs(v.At(top, b.d-1-a)) {
				top = j
			}
		}
		if v.At(top, b.d-1-a) < 0 {
			sign = -1
		}
		for j := range b.d {
			w := 0.0
			if b.rows.SD[j] > 0 {
				w = sign * v.At(j, b.d-1-a) / b.rows.SD[j]
			}
			p.P[a] = append(p.P[a], w)
		}
		axis[a].Label = fmt.Sprintf("direction %d, most of all %s", a+1, b.r.Columns[top])
	}
	values := e.Values(nil)
	total := 0.0
	for _, l := range values {
		total += l
	}
	var groups []plot.Group
	n := 0
	for c, u := range b.r.Components {
		rows, _ := b.sampled(c, drawn, least)
		g := plot.Group{Name: b.names[c]}
		for _, row := range rows {
			at := p.Point(row.X)
			g.X, g.Y = append(g.X, at[0]), append(g.Y, at[1])
		}
		if m := center(u.Mean, u.Median); m != nil {
			g.Normal = p.Normal(m, square(b.covariance(u), b.d))
		}
		n += len(rows)
		groups = append(groups, g)
	}
	title := fmt.Sprintf("Two directions hold %s of what differs between the groups", percent(min((values[b.d-1]+values[b.d-2])/total, 1)))
	b.draw(s, plot.Scatter{Head: plot.Head{Title: title, Note: b.note(n), Width: wide, Height: 520}, X: axis[0], Y: axis[1], Groups: groups})
}

// components shows the rows in the first two of the principal components that were fitted.
func (b *builder) components(s *section) {
	var groups []plot.Group
	n := 0
	for c, u := range b.r.Components {
		_, rows := b.sampled(c, drawn, least)
		g := plot.Group{Name: b.names[c]}
		for _, x := range rows {
			g.X, g.Y = append(g.X, x[0]), append(g.Y, x[1])
		}
		m := b.r.Fitted.Means[c]
		g.Normal = &plot.Normal{Mean: [2]float64{m[0], m[1]}, Cov: block(u.Covariance, 0, 1)}
		n += len(rows)
		groups = append(groups, g)
	}
	title := fmt.Sprintf("The first two of the %d principal components that were fitted", b.r.PCA.N)
	b.draw(s, plot.Scatter{Head: plot.Head{Title: title, Note: b.note(n), Width: wide, Height: 520}, X: plot.Axis{Label: "pc1"}, Y: plot.Axis{Label: "pc2"}, Groups: groups})
}

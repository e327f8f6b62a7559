package studio

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/model"
)

// view is what a plane shows of a model: for each of its axes the columns of the model that it is made of.
type view struct {
	axes []direction
}

// direction is an axis as a sum over columns of a model: of factor times (column less from). It is empty where the model does not have the columns.
type direction struct {
	at     []int // columns of the model
	factor []float64
	from   []float64
}

// direct returns an axis of a table as columns of a model.
func direct(a *axis, features, names, columns []string, name string) (d direction) {
	if a.Column >= 0 {
		if at := slices.Index(columns, name); at >= 0 {
			return direction{[]int{at}, []float64{1}, []float64{0}}
		}
		return d
	}
	for j, f := range features {
		at := slices.Index(columns, f)
		if at < 0 {
			return direction{}
		}
		d.at, d.factor, d.from = append(d.at, at), append(d.factor, a.Dir[j]), append(d.from, a.Mean[j])
	}
	return d
}

// maxNumbers is how many numbers of components an answer has, about: who asked for more frames asks again from the next one on.
const maxNumbers = 1 << 20

// serveComponents answers where the components of each frame are on a plane: weight, mean and covariance, NaN where the model does not tell.
func (s *Studio) serveComponents(w http.ResponseWriter, r *http.Request, n *run) {
	q := r.URL.Query()
	names := []string{q.Get("x")}
	if y := q.Get("y"); y != "" {
		names = append(names, y)
	}
	from := 0
	if q.Has("from") {
		var err error
		if from, err = strconv.Atoi(q.Get("from")); err != nil || from < 0 {
			fail(w, http.StatusBadRequest, "from is %q; it must be the number of a frame", q.Get("from"))
			return
		}
	}
	src, axes, err := s.axes(r.Context(), n.file, names)
	if err != nil {
		fail(w, http.StatusUnprocessableEntity, "%s", n.file.plain(err))
		return
	}
	closeSource(src)
	var v *view
	var numbers []float32
	for i := from; i < n.record.count() && len(numbers) < maxNumbers; i++ {
		if r.Context().Err() != nil {
			return
		}
		m, _, _ := n.record.at(i)
		if m == nil { // they have just gone
			fail(w, http.StatusGone, "%s", stepsGone)
			return
		}
		if v == nil {
			v = newView(n.file, axes, names, m.Columns)
		}
		numbers = append(numbers, v.components(m)...)
	}
	sendFloats(w, numbers)
}

// newView returns the view of a model with such columns, on axes of the table.
func newView(f *file, axes []axis, names, columns []string) *view {
	features, _ := f.features()
	v := &view{}
	for i := range axes {
		v.axes = append(v.axes, direct(&axes[i], features, names, columns, names[i]))
	}
	return v
}

// components returns for each component of m its weight, where it is on each axis, and its variances there, between two axes with the covariance.
func (v *view) components(m *model.Model) (all []float32) {
	c := newCells(m)
	for k := range m.K() {
		c.look(k)
		all = append(all, float32(c.weight(k)))
		for _, a := range v.axes {
			all = append(all, float32(c.mean(a)))
		}
		for i, a := range v.axes {
			for _, b := range v.axes[i:] {
				all = append(all, float32(c.covariance(a, b)))
			}
		}
	}
	return all
}

// cells tells what a component of a model expects of the cells of columns.
type cells struct {
	m      *model.Model
	places []model.Place
	x      model.Component
	total  float64     // of the sizes of centres
	lift   [][]float64 // of principal components: by column what each component adds to it; nil elsewhere
}

// newCells returns what tells of m.
func newCells(m *model.Model) *cells {
	c := &cells{m: m, places: m.Places()}
	for _, size := range m.Sizes {
		c.total += size
	}
	if p := model.Principal(m.Transform); p != nil && m.Changes() == nil {
		c.lift = make([][]float64, m.D())
		for j := range c.lift {
			scale := 1.0
			for _, t := range m.Transform {
				if t.Scale != nil {
					scale *= t.Scale[j]
				}
			}
			c.lift[j] = make([]float64, len(p.Components))
			for a, own := range p.Components {
				c.lift[j][a] = own[j] * scale
			}
		}
	}
	return c
}

// look makes component k the one that is told of.
func (c *cells) look(k int) { c.x = c.m.Component(k) }

// weight returns the share of component k.
func (c *cells) weight(k int) float64 {
	switch {
	case c.m.HasDensity():
		return c.m.Weights[k]
	case c.total > 0:
		return c.m.Sizes[k] / c.total
	}
	return 1 / float64(c.m.K())
}

// mean returns where the component is along a direction.
func (c *cells) mean(d direction) float64 {
	if d.at == nil {
		return math.NaN()
	}
	sum := 0.0
	for i, j := range d.at {
		sum += d.factor[i] * (c.cell(j) - d.from[i])
	}
	return sum
}

// cell returns the mean of column j: of levels that of their numbers.
func (c *cells) cell(j int) float64 {
	p := &c.places[j]
	switch {
	case p.Levels != nil:
		mean := 0.0
		for l, v := range c.levels(p) {
			mean += float64(l) * v
		}
		return mean
	case c.counted(p):
		return c.x.Rate[p.At]
	case c.x.Median != nil:
		return c.x.Median[p.At]
	case c.x.Mean != nil:
		return c.x.Mean[p.At]
	}
	bits, ok := c.x.Probability.([]float64)
	if !ok {
		return math.NaN()
	}
	return bits[p.At]
}

// counted reports whether a column is one of counts beside columns of other types.
func (c *cells) counted(p *model.Place) bool {
	return kind.Of(c.m.ComponentKind()).Parted && kind.Of(p.Kind).Location.Variance != nil && c.x.Rate != nil
}

// levels returns the probabilities of the levels of a column.
func (c *cells) levels(p *model.Place) []float64 {
	rows, ok := c.x.Probability.([][]float64)
	if !ok || p.At >= len(rows) {
		return nil
	}
	return rows[p.At]
}

// covariance returns that of the component between two directions; NaN where the model does not tell.
func (c *cells) covariance(a, b direction) float64 {
	if a.at == nil || b.at == nil {
		return math.NaN()
	}
	if c.lift != nil && c.x.Spread() != nil {
		return c.lifted(a, b)
	}
	sum := 0.0
	for i, j := range a.at {
		for l, k := range b.at {
			sum += a.factor[i] * b.factor[l] * c.between(j, k)
		}
	}
	return sum
}

// lifted is covariance where components are of principal components.
func (c *cells) lifted(a, b direction) float64 {
	up := func(d direction) []float64 {
		v := make([]float64, len(c.lift[0]))
		for i, j := range d.at {
			for p, f := range c.lift[j] {
				v[p] += d.factor[i] * f
			}
		}
		return v
	}
	x, y, sum := up(a), up(b), 0.0
	for p, v := range x {
		for q, w := range y {
			sum += v * w * c.x.Spread().At(p, q)
		}
	}
	return sum
}

// between returns the covariance of two columns, in the user's units.
func (c *cells) between(j, k int) float64 {
	p, q := &c.places[j], &c.places[k]
	switch {
	case p.Part != q.Part:
		return 0 // independent, given the component
	case p.Levels != nil && j != k:
		return 0
	case p.Levels != nil:
		mean, sum := c.cell(j), 0.0
		for l, v := range c.levels(p) {
			sum += v * (float64(l) - mean) * (float64(l) - mean)
		}
		return sum
	case kind.Of(p.Kind).Location.Variance != nil && j != k:
		return 0
	case kind.Of(p.Kind).Location.Variance != nil:
		return kind.Of(p.Kind).Location.Variance(c.cell(j))
	case c.x.Spread() == nil || !p.InUnits() || !q.InUnits():
		return math.NaN()
	}
	return c.x.Spread().At(p.Variable, q.Variable)
}

// marksOf returns how the rows of a run are marks, on the axes that a request names, or the first two features; cells only of many rows.
func (s *Studio) marksOf(ctx context.Context, n *run, x, y string) (*layout, error) {
	if n.file.looked.Rows <= maxMarks {
		return &layout{Rows: n.file.looked.Rows}, nil
	}
	features, _ := n.file.features()
	if x == "" && len(features) == 0 {
		return nil, fmt.Errorf("%s: there are no features to lay rows out by", n.file.Name)
	}
	if x == "" {
		if x = features[0]; len(features) > 1 {
			y = features[1]
		}
	}
	return s.laid(ctx, n.file, x, y)
}

package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

// Silhouette shows the silhouettes of rows, -1 to 1, as bars that descend within each group, with the mean of all (Rousseeuw 1987).
type Silhouette struct {
	Head
	Names  []string
	Values [][]float64 // of the rows of each group, in any order
	// Weights is what each of the rows counts in the means, laid out like Values; nil where all count alike.
	Weights [][]float64
}

// Figure lays the bars out.
func (s Silhouette) Figure() *Figure {
	f := &Figure{Head: s.Head, X: Axis{Label: "silhouette", Max: 1}, Y: Axis{Label: "group"}}
	layer := &silhouetteLayer{}
	all, at := 0, 0.0
	total, weight := 0.0, 0.0
	for c, name := range padded(s.Names, len(s.Values)) {
		var rows []float64
		sum, own := 0.0, 0.0
		for i, v := range s.Values[c] {
			if usable(v) && math.Abs(v) <= 1 {
				w := 1.0
				if s.Weights != nil {
					w = s.Weights[c][i]
				}
				rows = append(rows, v)
				sum, own = sum+w*v, own+w
			}
		}
		all += len(s.Values[c])
		if len(rows) == 0 {
			continue
		}
		slices.SortFunc(rows, func(a, b float64) int { return cmp.Compare(b, a) })
		f.X.Min = min(f.X.Min, math.Floor(rows[len(rows)-1]*5)/5)
		layer.add(c, at, rows)
		f.Y.Names = append(f.Y.Names, fmt.Sprintf("%s: %s", name, grouped(sum/own, 2)))
		f.Y.at = append(f.Y.at, at+float64(len(rows))/2)
		at += float64(len(rows))
		total, weight = total+sum, weight+own
		layer.n += len(rows)
	}
	gap := 0.02 * at // between groups, in rows
	for i := range layer.blocks {
		layer.blocks[i].from += gap * float64(i)
		f.Y.at[i] += gap * float64(i)
	}
	f.Y.Min, f.Y.Max = 0, at+gap*float64(max(len(layer.blocks)-1, 0))
	if weight > 0 {
		layer.mean = total / weight
	}
	f.Layers = []Layer{layer}
	f.margin = func(*pen) vg.Length { return 16 }
	if lost := all - layer.n; lost > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s of %s silhouettes left out: not in -1 to 1.", grouped(float64(lost), 0), grouped(float64(all), 0)))
	}
	if f.Alt == "" {
		f.Alt = fmt.Sprintf("Silhouettes of %s rows in %d groups, mean %s.", grouped(float64(layer.n), 0), len(layer.blocks), grouped(layer.mean, 2))
	}
	return f
}

// block is the rows of a group, descending, thinned to what can be seen.
type block struct {
	group    int
	from, to float64 // first and last place, in rows
	rows     []float64
}

type silhouetteLayer struct {
	blocks []block
	mean   float64
	n      int
}

func (l *silhouetteLayer) add(group int, from float64, rows []float64) {
	const most = 300
	b := block{group: group, from: from, to: float64(len(rows)), rows: rows}
	if n := len(rows); n > most {
		b.rows = nil
		for i := range most {
			b.rows = append(b.rows, rows[i*(n-1)/(most-1)])
		}
	}
	l.blocks = append(l.blocks, b)
}

func (l *silhouetteLayer) Range() Range {
	r := Nothing()
	if l.n > 0 {
		r = r.With(0, 0).With(1, float64(l.n))
	}
	return r
}

func (l *silhouetteLayer) Draw(f *Frame) {
	y := func(row float64) vg.Length { return f.Canvas.Y(1 - f.y.norm(row)) }
	zero := f.Canvas.X(f.x.norm(0))
	for _, b := range l.blocks {
		step := b.to / float64(len(b.rows))
		polygon := []vg.Point{{X: zero, Y: y(b.from)}}
		for i, v := range b.rows {
			x := f.Canvas.X(f.x.norm(v))
			polygon = append(polygon, vg.Point{X: x, Y: y(b.from + step*float64(i))}, vg.Point{X: x, Y: y(b.from + step*float64(i+1))})
		}
		polygon = append(polygon, vg.Point{X: zero, Y: y(b.from + b.to)})
		f.fill(Color(b.group), polygon)
	}
	f.stroke(Muted, 1, nil, []vg.Point{{X: zero, Y: f.Min.Y}, {X: zero, Y: f.Max.Y}})
	x := f.Canvas.X(f.x.norm(l.mean))
	f.stroke(Ink, 1.2, []vg.Length{4, 3}, []vg.Point{{X: x, Y: f.Min.Y}, {X: x, Y: f.Max.Y}})
	f.write("mean "+grouped(l.mean, 2), vg.Point{X: x, Y: f.Max.Y + 4}, label{size: smallSize, anchor: middle})
}

package plot

import (
	"fmt"

	"gonum.org/v1/plot/vg"

	"github.com/latent-go/latent/internal/text"
)

// Shares shows rows of shares, such as responsibilities, as bars stacked to 1, in the order given. A row is divided by its sum.
type Shares struct {
	Head
	X, Y   Axis // Label and Unit alone count; "rows" and "responsibility" if empty
	Names  []string
	Part   string      // what is named, in the singular: "group" where it is empty
	Values [][]float64 // n x k; a row with a negative or infinite share, or none above 0, is left out
}

// Figure lays the bars out.
func (s Shares) Figure() *Figure {
	f := &Figure{Head: s.Head}
	f.X = Axis{Label: orElse(s.X.Label, "rows"), Unit: s.X.Unit, tight: true, whole: true}
	f.Y = Axis{Label: orElse(s.Y.Label, "responsibility"), Unit: s.Y.Unit, Min: 0, Max: 1}
	layer := &shareLayer{}
	k, lost, unsure := len(s.Names), 0, 0
	for _, row := range s.Values {
		sum, ok := 0.0, true
		for _, v := range row {
			sum += v
			ok = ok && v >= 0 && usable(v)
		}
		k = max(k, len(row))
		if !ok || !usable(sum) || sum <= 0 {
			layer.rows = append(layer.rows, nil)
			lost++
			continue
		}
		shares := make([]float64, len(row))
		most := 0.0
		for c, v := range row {
			shares[c] = v / sum
			most = max(most, shares[c])
		}
		if most < 0.6 {
			unsure++
		}
		layer.rows = append(layer.rows, shares)
	}
	layer.k = k
	for c, name := range padded(s.Names, k) {
		f.Legend = append(f.Legend, Key{Name: name, Kind: Patch, Color: Color(c)})
	}
	f.Layers = []Layer{layer}
	f.height = func(float64) float64 { return 260 }
	f.leftOut(lost, len(s.Values), "rows")
	if part := orElse(s.Part, "group"); f.Alt == "" {
		f.Alt = fmt.Sprintf("Shares of %s in %s rows, stacked; in %s of them no %s has more than 60 %%.", text.Count(k, part), grouped(float64(len(s.Values)), 0), grouped(float64(unsure), 0), part)
	}
	return f
}

type shareLayer struct {
	rows [][]float64
	k    int
}

func (l *shareLayer) Range() Range {
	r := Nothing()
	for i, row := range l.rows {
		if row != nil {
			r = r.With(float64(i), 0).With(float64(i)+1, 1)
		}
	}
	return r
}

func (l *shareLayer) Draw(f *Frame) {
	parts := make([][][]vg.Point, l.k)
	for i, row := range l.rows {
		from := 0.0
		for c, v := range row {
			a, _ := f.At(float64(i), from)
			b, _ := f.At(float64(i)+1, min(from+v, 1))
			from += v
			gap := vg.Length(0)
			if b.X-a.X > 10 { // narrower bars would be striped
				gap = 0.5
			}
			if b.Y-a.Y > 0.1 { // less than that cannot be seen
				parts[c] = append(parts[c], box(a.X+gap, a.Y, b.X-gap, b.Y))
			}
		}
	}
	for c, boxes := range parts {
		f.fill(Color(c), boxes...)
	}
	l.numbers(f)
}

// numbers writes the number of a group where it has the largest share of several rows next to each other, as far as there is room.
func (l *shareLayer) numbers(f *Frame) {
	most := func(row []float64) int {
		c := -1
		for i, v := range row {
			if c < 0 || v > row[c] {
				c = i
			}
		}
		return c
	}
	for from, to := 0, 0; from < len(l.rows); from = to {
		c := most(l.rows[from])
		for to = from + 1; to < len(l.rows) && most(l.rows[to]) == c; to++ {
		}
		a, _ := f.At(float64(from), 0)
		b, _ := f.At(float64(to), 1)
		style := label{bold: true, anchor: middle, color: inkOn(Color(max(c, 0)))}
		if name := fmt.Sprint(c + 1); c >= 0 && l.k > 1 && f.measure(name, style)+6 <= b.X-a.X {
			f.write(name, vg.Point{X: (a.X + b.X) / 2, Y: (a.Y+b.Y)/2 - 4}, style)
		}
	}
}

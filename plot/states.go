package plot

import (
	"fmt"
	"image/color"
	"maps"
	"slices"

	"gonum.org/v1/plot/vg"
)

// Strips shows which state rows in time are in: a line a sequence, in the colours of the states, one row after the other from the left.
type Strips struct {
	Head
	X         Axis
	Sequences []Strip
	States    []string // names of the states, for the legend; state i has Color(i)
}

// Strip is a sequence of states.
type Strip struct {
	Name   string
	States []int // of each row, from 0
}

// finest is how many parts of a strip are drawn; of more rows each part has the colour of the state that most of its rows are in.
const finest = 800

// Figure lays the strips out.
func (s Strips) Figure() *Figure {
	f := &Figure{Head: s.Head, X: s.X}
	f.X.Names, f.X.tight, f.X.whole = nil, true, true
	layer := &stripLayer{}
	longest, coarse := 0, 0
	for _, q := range s.Sequences {
		layer.strips = append(layer.strips, partsOf(q.States, finest))
		f.Y.Names = append(f.Y.Names, q.Name)
		if longest = max(longest, len(q.States)); len(q.States) > finest {
			coarse++
		}
	}
	layer.longest = longest
	for i, name := range s.States {
		f.Legend = append(f.Legend, Key{Name: name, Kind: Patch, Color: Color(i)})
	}
	if coarse > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("Long sequences are drawn in %d parts, each in the colour of its most frequent state.", finest))
	}
	f.Layers = []Layer{layer}
	f.height = func(float64) float64 { return 100 + 24*float64(max(len(s.Sequences), 2)) }
	if f.Alt == "" {
		f.Alt = fmt.Sprintf("Strips of the states of %s sequences, the longest of %s rows.", grouped(float64(len(s.Sequences)), 0), grouped(float64(longest), 0))
	}
	return f
}

// A part is rows from to to of a sequence, counted from 0, in one state.
type part struct {
	from, to float64
	state    int
}

// partsOf cuts a sequence of states in parts: one a run of equal states, of as many as most pieces of equal length where there are more rows.
func partsOf(states []int, most int) (parts []part) {
	n := len(states)
	pieces := min(n, most)
	for i := range pieces {
		lo, hi := i*n/pieces, (i+1)*n/pieces
		times, best := map[int]int{}, states[lo]
		for _, s := range states[lo:hi] {
			if times[s]++; times[s] > times[best] {
				best = s
			}
		}
		if last := len(parts) - 1; last >= 0 && parts[last].state == best {
			parts[last].to = float64(hi)
			continue
		}
		parts = append(parts, part{float64(lo), float64(hi), best})
	}
	return parts
}

type stripLayer struct {
	strips  [][]part
	longest int
}

// Range implements Layer.
func (l *stripLayer) Range() Range {
	if l.longest == 0 {
		return Nothing()
	}
	return Nothing().With(0.5, 0).With(float64(l.longest)+0.5, float64(len(l.strips)-1))
}

// Draw implements Layer.
func (l *stripLayer) Draw(f *Frame) {
	half := min(f.Size().Y/vg.Length(max(len(l.strips), 1))*0.36, 9)
	for i, strip := range l.strips {
		y := f.Canvas.Y(1 - f.y.norm(float64(i)))
		for _, p := range strip {
			f.fill(Color(p.state), box(f.Canvas.X(f.x.norm(p.from+0.5)), y-half, f.Canvas.X(f.x.norm(p.to+0.5)), y+half))
		}
	}
}

// Timeline shows the values of a column one row after the other, each in the colour and shape of its state, above a strip of the states.
type Timeline struct {
	Head
	X, Y   Axis
	Values []float64 // NaN where a cell is missing, which breaks the line
	States []int     // of each row, from 0
	Names  []string  // of the states, for the legend; nil for none
}

// stripHeight is that of the strip of a timeline, in pixels.
const stripHeight = 8

// Figure lays the timeline out.
func (t Timeline) Figure() *Figure {
	f := &Figure{Head: t.Head, X: t.X, Y: t.Y}
	f.X.Names, f.Y.Names, f.X.whole = nil, nil, true
	layer := &timeLayer{strip: partsOf(t.States, finest), marks: map[int][][2]float64{}}
	lost := 0
	layer.line, lost = joined(nil, t.Values, Axis{}, t.Y)
	for i := range layer.line {
		q := &layer.line[i]
		q[0] = float64(i + 1)
		if q[1] == q[1] && i < len(t.States) {
			layer.marks[t.States[i]] = append(layer.marks[t.States[i]], *q)
		}
	}
	for i, name := range t.Names {
		f.Legend = append(f.Legend, Key{Name: name, Color: Color(i), Shape: Shape(i)})
	}
	f.Layers = []Layer{layer}
	if lost > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s of %s rows are left out: they have no value that can be drawn.", grouped(float64(lost), 0), grouped(float64(len(t.Values)), 0)))
	}
	if f.Alt == "" {
		f.Alt = fmt.Sprintf("%s over %s rows, in the colours of %d states.", orElse(f.Y.title(), "Values"), grouped(float64(len(t.Values)), 0), len(layer.marks))
	}
	return f
}

type timeLayer struct {
	line  [][2]float64
	marks map[int][][2]float64 // by state
	strip []part
}

// Range implements Layer.
func (l *timeLayer) Range() Range {
	r := Nothing()
	for i, q := range l.line {
		r = r.With(float64(i+1), q[1])
	}
	if !r.empty() {
		r.Y0 -= (r.Y1 - r.Y0) / 12 // for the strip
	}
	return r
}

// Draw implements Layer.
func (l *timeLayer) Draw(f *Frame) {
	f.DrawLine(color.NRGBA{R: 0x8a, G: 0x8a, B: 0x8a, A: 0xb0}, 1, l.line...)
	radius := 3.0
	if len(l.line) > 200 {
		radius = 2
	}
	for _, state := range slices.Sorted(maps.Keys(l.marks)) {
		f.DrawMarks(Color(state), Shape(state), radius, l.marks[state]...)
	}
	at := func(v float64) vg.Length {
		x := f.Canvas.X(f.x.norm(v))
		return min(max(x, f.Min.X), f.Max.X)
	}
	for _, p := range l.strip {
		f.fill(Color(p.state), box(at(p.from+0.5), f.Min.Y, at(p.to+0.5), f.Min.Y+stripHeight))
	}
}

package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/latent-go/latent/internal/text"
)

// Criterion shows a criterion by the number of components, one line a shape, and rings the best three. Where a few candidates are so much worse
// that they would flatten the rest, the axis ends before them, and a note counts them and names the shapes that are nowhere on it. Up to seven shapes are coloured; of more,
// only those that hold one of the three.
type Criterion struct {
	Head
	Name    string // "BIC"
	Unit    string
	Part    string // what K counts, in the singular: "group" where it is empty
	Highest bool   // more is better; else less
	Curves  []Curve
}

// Curve is the criterion of one shape.
type Curve struct {
	Name  string // "VVE"
	K     []int
	Value []float64 // of equal length; what one has more is not drawn
}

// Choice is one value of a criterion.
type Choice struct {
	Curve int // index into Curves
	K     int
	Value float64
}

// Best returns the n best choices, the best first; of equal ones that with fewer groups, then the earlier curve.
func (c Criterion) Best(n int) []Choice {
	var all []Choice
	for i, curve := range c.Curves {
		for j := range min(len(curve.K), len(curve.Value)) {
			if usable(curve.Value[j]) {
				all = append(all, Choice{i, curve.K[j], curve.Value[j]})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Choice) int {
		switch {
		case a.Value != b.Value:
			if (a.Value < b.Value) != c.Highest {
				return -1
			}
			return 1
		default:
			return a.K - b.K
		}
	})
	return all[:min(max(n, 0), len(all))]
}

// Figure lays the curves out.
func (c Criterion) Figure() *Figure {
	best, part := c.Best(3), orElse(c.Part, "group")
	group := map[int]int{} // of the curves that are coloured
	axis := Axis{Label: c.Name, Unit: c.Unit}
	axis.Min, axis.Max = c.matters(best)
	lines := Lines{Head: c.Head, X: Axis{Label: text.Plural(part)}, Y: axis, absent: "candidates left out: they could not win, or are the same model as another"}
	for i, curve := range c.Curves {
		x := make([]float64, len(curve.K))
		for j, k := range curve.K {
			x[j] = float64(k)
		}
		holds := slices.ContainsFunc(best, func(b Choice) bool { return b.Curve == i })
		faint := len(c.Curves) > 7 && !holds
		if !faint {
			group[i] = len(group)
		}
		lines.Series = append(lines.Series, Series{Name: curve.Name, X: x, Y: curve.Value, Dots: true, Faint: faint})
	}
	f := lines.Figure()
	f.X.tight, f.X.whole = false, true
	c.beyond(f, axis)
	f.Layers = append(f.Layers, &bestLayer{best: best})
	values := make([]float64, len(best))
	for i, b := range best {
		values[i] = b.Value
	}
	told := fine(values)
	for i, b := range best {
		name := fmt.Sprintf("%d: %s, %s, %s", i+1, c.Curves[b.Curve].Name, text.Count(b.K, part), told[i])
		f.Legend = append(f.Legend, Key{Name: name, Color: Color(group[b.Curve]), Shape: Shape(group[b.Curve])})
	}
	if c.Alt == "" {
		f.Alt = fmt.Sprintf("%s by number of %s", orElse(c.Name, "A criterion"), text.Plural(part))
		if n := len(c.Curves); n > 1 {
			f.Alt += fmt.Sprintf(" for %d shapes", n)
		}
		f.Alt += "."
		for i, b := range best {
			f.Alt += fmt.Sprintf(" %s: %s with %s, %s.", [...]string{"Best", "Second", "Third"}[i], orElse(c.Curves[b.Curve].Name, "one"), text.Count(b.K, part), told[i])
		}
	}
	return f
}

// How many times as far from the best as the median the axis reaches: of few candidates each tells something.
const worse, fewWorse, few = 2, 8, 12

// matters returns the range of values that the axis shows, both 0 where it is all of them: the best three, the best of the numbers of groups
// next to the winner's, and what is not many times as far from the best as the median.
func (c Criterion) matters(best []Choice) (lo, hi float64) {
	all := c.Best(math.MaxInt)
	if len(all) < 4 {
		return 0, 0
	}
	first, last := all[0].Value, all[len(all)-1].Value
	off := func(v float64) float64 { return math.Abs(v - first) }
	times := float64(worse)
	if len(all) < few {
		times = fewWorse
	}
	far := max(times*off(all[len(all)/2].Value), off(best[len(best)-1].Value))
	for _, k := range []int{best[0].K - 1, best[0].K + 1} {
		if i := slices.IndexFunc(all, func(x Choice) bool { return x.K == k }); i >= 0 {
			far = max(far, off(all[i].Value))
		}
	}
	if !(far > 0 && far*1.15 < off(last)) { // a little more shows them all
		return 0, 0
	}
	if c.Highest {
		return first - far, first + 0.06*far
	}
	return first - 0.06*far, first + far
}

// beyond notes what lies beyond the axis.
func (c Criterion) beyond(f *Figure, axis Axis) {
	if axis.Min >= axis.Max {
		return
	}
	count, all := 0, c.Best(math.MaxInt)
	seen := map[int]bool{}
	for _, x := range all {
		if x.Value < axis.Min || x.Value > axis.Max {
			count++
		} else {
			seen[x.Curve] = true
		}
	}
	var whole []string
	for i, curve := range c.Curves {
		if slices.ContainsFunc(all, func(x Choice) bool { return x.Curve == i }) && !seen[i] {
			whole = append(whole, curve.Name)
		}
	}
	note := fmt.Sprintf("%d of %d candidates %s too far from the best for this axis", count, len(all), text.Form(count, "is", "are"))
	if whole != nil {
		note += ", all of " + text.List(whole, "and") + " among them"
	}
	f.Notes = append(f.Notes, note+".")
}

type bestLayer struct{ best []Choice }

func (l *bestLayer) Range() Range { return Nothing() }

// Draw rings the choices and numbers them, on the side away from the others.
func (l *bestLayer) Draw(f *Frame) {
	var taken []vg.Rectangle
	var at []vg.Point
	for _, b := range l.best {
		p, ok := f.At(float64(b.K), b.Value)
		if !ok {
			return
		}
		at = append(at, p)
		taken = append(taken, around(p, 6, 6))
	}
	for i, p := range at {
		if !f.inside(p) {
			continue
		}
		var ring vg.Path
		ring.Move(p.Add(vg.Point{X: 7}))
		ring.Arc(p, 7, 0, 2*math.Pi)
		ring.Close()
		f.SetColor(Ink)
		f.SetLineWidth(1.6)
		f.SetLineDash(nil, 0)
		f.Stroke(ring)
		for _, to := range []vg.Point{{Y: -17}, {Y: 17}, {X: 15, Y: -8}, {X: -15, Y: -8}, {X: 15, Y: 8}, {X: -15, Y: 8}} {
			room := around(p.Add(to), 6, 7)
			if f.inside(room.Min) && f.inside(room.Max) && !overlaps(room, taken) {
				f.write(fmt.Sprint(i+1), vg.Point{X: p.X + to.X, Y: p.Y + to.Y - 4}, label{bold: true, anchor: middle, rim: Paper})
				taken = append(taken, room)
				break
			}
		}
	}
}

// fine writes values of a criterion: two that differ must differ in print.
func fine(values []float64) []string {
	least, most := math.Inf(1), 0.0
	for _, v := range values {
		least, most = min(least, math.Abs(v)), max(most, math.Abs(v))
	}
	var out []string
	switch {
	case most >= 1e15 || least < 1e-3:
		out = text.Numbers(values, 0)
	case most < 10:
		out = text.Criteria(values, 3, 1e-6)
	default:
		out = text.Criteria(values, 1, 1e-6)
	}
	for i, s := range out {
		if math.Abs(values[i]) >= 1e4 {
			s = text.Group(s)
		}
		out[i] = strings.Replace(s, "-", "−", 1)
	}
	return out
}

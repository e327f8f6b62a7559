package plot

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/latent-go/latent/internal/text"
)

// Histogram counts values in bins of equal width, of a round size. On a logarithmic axis bins have equal ratios.
type Histogram struct {
	Head
	X      Axis
	Y      Axis // linear, from 0; its Label is "rows" if empty
	Values []float64
	Bins   int         // about how many; 0: by the rule of Freedman and Diaconis, 5 to 60
	Levels []Reference // values of X to mark
}

// Figure lays the histogram out.
func (h Histogram) Figure() *Figure {
	f := &Figure{Head: h.Head, X: h.X, Y: h.Y}
	f.X.Names, f.Y.Names = nil, nil
	f.Y.Label, f.Y.zero = orElse(h.Y.Label, "rows"), true
	f.X.tight, f.Y.Log, f.Y.whole = true, false, true
	var values []float64
	for _, v := range h.Values {
		if h.X.fits(v) {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	layer := &binLayer{levels: h.Levels}
	layer.count(values, h.Bins, h.X.Log)
	f.Layers = []Layer{layer}
	f.leftOut(len(h.Values)-len(values), len(h.Values), "values")
	if f.Alt == "" && len(values) > 0 {
		n := len(values)
		told := text.Numbers([]float64{values[0], values[n-1], values[n/4], values[n-1-n/4]}, 0)
		f.Alt = fmt.Sprintf("Histogram of %s values of %s from %s to %s; half of them lie between %s and %s.", grouped(float64(n), 0), orElse(h.X.title(), "one column"),
			told[0], told[1], told[2], told[3])
	}
	return f
}

type binLayer struct {
	edges  []float64 // one more than counts
	counts []float64
	levels []Reference
}

// count bins ascending values.
func (l *binLayer) count(values []float64, bins int, log bool) {
	if len(values) == 0 {
		return
	}
	to, from := func(v float64) float64 { return v }, func(v float64) float64 { return v }
	if log {
		to, from = math.Log10, func(v float64) float64 { return math.Pow(10, v) }
	}
	n := len(values)
	lo, hi := to(values[0]), to(values[n-1])
	if hi-lo <= 1e-12*max(math.Abs(lo), math.Abs(hi)) { // one value: one bin about it
		room := max(0.005*math.Abs(lo), 1e-12)
		if lo == 0 {
			room = 0.5
		}
		l.edges, l.counts = []float64{from(lo - room), from(lo + room)}, []float64{float64(n)}
		return
	}
	if bins <= 0 {
		width := 2 * (to(values[n-1-n/4]) - to(values[n/4])) / math.Cbrt(float64(n))
		bins = 10
		if width > 0 {
			bins = int(min(max((hi-lo)/width, 5), 60))
		}
	}
	bins = min(bins, 200)
	step := roundStep((hi - lo) / float64(bins))
	if step > 1.5*(hi-lo)/float64(bins) { // so round that fewer than two thirds of the bins are left: halve it
		step /= 2
	}
	first := math.Floor(lo/step + 1e-9)
	size := max(1, int(math.Ceil(hi/step-1e-9)-first))
	for i := range size + 1 {
		l.edges = append(l.edges, from((first+float64(i))*step))
	}
	l.counts = make([]float64, size)
	for _, v := range values {
		i := int(to(v)/step - first)
		l.counts[min(max(i, 0), size-1)]++
	}
}

func (l *binLayer) Range() Range {
	r := Nothing()
	for i, c := range l.counts {
		r = r.With(l.edges[i], 0).With(l.edges[i+1], c)
	}
	return r
}

func (l *binLayer) Draw(f *Frame) {
	var bars [][]vg.Point
	for i, c := range l.counts {
		a, ok := f.At(l.edges[i], 0)
		b, fine := f.At(l.edges[i+1], c)
		if !ok || !fine || c == 0 {
			continue
		}
		gap := min(0.5, (b.X-a.X)/10)
		if bar := f.ClipPolygonXY(box(a.X+gap, a.Y, b.X-gap, b.Y)); len(bar) > 2 {
			bars = append(bars, bar)
		}
	}
	f.fill(Color(0), bars...)
	for _, v := range l.levels {
		u := f.x.norm(v.At)
		if !(u >= 0 && u <= 1) {
			continue
		}
		x := f.Canvas.X(u)
		f.stroke(Ink, 1.2, []vg.Length{4, 3}, []vg.Point{{X: x, Y: f.Min.Y}, {X: x, Y: f.Max.Y}})
		to, side := x+5, start
		if u > 0.6 {
			to, side = x-5, end
		}
		l := label{size: smallSize, anchor: side, rim: Paper}
		f.write(f.shorten(v.Name, l, f.Size().X*0.6), vg.Point{X: to, Y: f.Max.Y - 10}, l)
	}
}

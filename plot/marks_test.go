package plot

import (
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// textBox is where a text of an SVG is, by the metrics of Liberation Sans.
type textBox struct {
	text           string
	x0, x1, y0, y1 float64
}

// textBoxes returns the boxes of all level texts, rims aside.
func textBoxes(t *testing.T, s string) []textBox {
	t.Helper()
	p, err := newPen(newSVG(10, true), 10, 10)
	if err != nil {
		t.Fatal(err)
	}
	var out []textBox
	for _, e := range elements(t, s) {
		if e.name != "text" || e.attr["fill"] == "none" || e.attr["transform"] != "" {
			continue
		}
		num := func(a string) float64 {
			v, err := strconv.ParseFloat(e.attr[a], 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		size := num("font-size")
		w := float64(p.measure(e.text, label{size: vg.Length(size), bold: e.attr["font-weight"] != ""}))
		x := num("x") - w*map[string]float64{"": 0, "middle": 0.5, "end": 1}[e.attr["text-anchor"]]
		out = append(out, textBox{e.text, x, x + w, num("y") - 0.7*size, num("y")})
	}
	return out
}

func TestTextsLieInTheFigureAndNotOnEachOther(t *testing.T) {
	for _, name := range []string{"age", "income per household and year of tax"} {
		for kind, p := range kinds(name, same) {
			for _, width := range []float64{480, 640, 900} {
				if kind == "panels" && width < 640 {
					continue
				}
				f := p.Figure()
				f.Width = width
				w, h := f.size()
				boxes := textBoxes(t, svgOf(t, f))
				if len(boxes) < 4 && kind != "images" {
					t.Errorf("%s: %d texts", kind, len(boxes))
				}
				for i, a := range boxes {
					if a.x0 < 0 || a.x1 > w || a.y0 < 0 || a.y1 > h-1 {
						t.Errorf("%s, %v wide: %q leaves the figure: %v", kind, width, a.text, a)
					}
					for _, b := range boxes[:i] {
						if a.x0 < b.x1-0.5 && b.x0 < a.x1-0.5 && a.y0 < b.y1-0.5 && b.y0 < a.y1-0.5 {
							t.Errorf("%s, %v wide: %q at %v lies on %q at %v", kind, width, a.text, a, b.text, b)
						}
					}
				}
			}
		}
	}
}

// boxesOf returns the x and y extents of paths with a fill.
func boxesOf(t *testing.T, s, fill string) (out []textBox) {
	t.Helper()
	for _, e := range elements(t, s) {
		if e.name != "path" || e.attr["fill"] != fill {
			continue
		}
		for _, part := range strings.Split(strings.TrimSuffix(e.attr["d"], "z"), "z") {
			b := textBox{x0: math.Inf(1), x1: math.Inf(-1), y0: math.Inf(1), y1: math.Inf(-1)}
			for _, pair := range strings.FieldsFunc(part, func(r rune) bool { return r == 'M' || r == 'L' }) {
				x, y, _ := strings.Cut(pair, " ")
				px, err := strconv.ParseFloat(x, 64)
				py, err2 := strconv.ParseFloat(y, 64)
				if err != nil || err2 != nil {
					t.Fatalf("path %q", part)
				}
				b.x0, b.x1, b.y0, b.y1 = min(b.x0, px), max(b.x1, px), min(b.y0, py), max(b.y1, py)
			}
			out = append(out, b)
		}
	}
	return out
}

func TestBarsAreAsLongAsTheirValues(t *testing.T) {
	b := Bars{Bars: []Bar{{Name: "a", Value: 10}, {Name: "b", Value: 25}, {Name: "c", Value: -5}}}
	s := svgOf(t, b)
	width := func(i int) float64 {
		r := boxesOf(t, s, hex(Color(i)))
		if len(r) != 1 {
			t.Fatalf("%d bars of colour %d", len(r), i)
		}
		return r[0].x1 - r[0].x0
	}
	if a, b, c := width(0), width(1), width(2); math.Abs(b/a-2.5) > 0.001 || math.Abs(c/a-0.5) > 0.001 {
		t.Errorf("bars of 10, 25 and -5 are %v, %v and %v long", a, b, c)
	}
}

func TestBarsThatWouldHideTheDifferenceAreMarksOnACutAxis(t *testing.T) {
	b := Bars{Bars: []Bar{{Value: -1126.3, Deviation: 0.2}, {Value: -1127.1, Deviation: 0.3}}}
	cut := b.Figure()
	if cut.X.zero {
		t.Error("bars from 0 to -1127")
	}
	b.Zero = true
	if !b.Figure().X.zero {
		t.Error("Zero is ignored")
	}
	if (Bars{Bars: []Bar{{Value: 10}, {Value: 6}}}).Figure().X.zero != true {
		t.Error("6 and 10 are not shown from 0")
	}
}

func TestPointsAreDrawnByAnAffineMap(t *testing.T) {
	f := Scatter{X: Axis{Label: "x"}, Y: Axis{Label: "y"}, Groups: []Group{{Name: "g", X: []float64{0, 1, 4}, Y: []float64{10, 20, 50}}}}.Figure()
	var d string
	for _, e := range elements(t, svgOf(t, f)) {
		if e.attr["stroke-width"] == "6" {
			d = e.attr["d"]
		}
	}
	var x, y []float64
	for _, part := range strings.Split(strings.TrimPrefix(strings.TrimSuffix(d, "h0"), "M"), "h0M") {
		a, b, _ := strings.Cut(part, " ")
		px, err := strconv.ParseFloat(a, 64)
		py, err2 := strconv.ParseFloat(b, 64)
		if err != nil || err2 != nil {
			t.Fatalf("marks %q", d)
		}
		x, y = append(x, px), append(y, py)
	}
	if len(x) != 3 || math.Abs((x[2]-x[0])-4*(x[1]-x[0])) > 0.06 || math.Abs((y[2]-y[0])-4*(y[1]-y[0])) > 0.06 || x[1] <= x[0] || y[1] >= y[0] {
		t.Errorf("points at %v, %v", x, y)
	}
}

func TestLogAxisGivesEqualRoomToEqualRatios(t *testing.T) {
	s := Axis{Log: true}.fit(1, 1000)
	if a, b := s.norm(10)-s.norm(1), s.norm(1000)-s.norm(100); math.Abs(a-b) > 1e-12 || a < 0.25 {
		t.Errorf("1 to 10 takes %v of the axis, 100 to 1000 %v", a, b)
	}
	if v := s.norm(0); !math.IsInf(v, -1) && !math.IsNaN(v) {
		t.Errorf("0 stands at %v", v)
	}
}

func TestSharesFillTheHeight(t *testing.T) {
	s := svgOf(t, Shares{Names: []string{"a", "b"}, Values: [][]float64{{3, 1}, {0.5, 0.5}}})
	a, b := boxesOf(t, s, hex(Color(0)))[1:], boxesOf(t, s, hex(Color(1)))[1:] // the first is the legend's
	for i, want := range []float64{3, 1} {
		ha, hb := a[i].y1-a[i].y0, b[i].y1-b[i].y0
		if math.Abs(ha/hb-want) > 0.02 || math.Abs(ha+hb-(a[0].y1-b[0].y0)) > 0.05 {
			t.Errorf("row %d: heights %v and %v", i, ha, hb)
		}
	}
}

func TestBestChoices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for range 200 {
		c := Criterion{Highest: r.IntN(2) == 0, Curves: make([]Curve, 1+r.IntN(5))}
		var all []float64
		for i := range c.Curves {
			for k := range 1 + r.IntN(6) {
				v := math.Floor(20 * r.Float64())
				if r.IntN(9) == 0 {
					v = math.NaN()
				} else {
					all = append(all, v)
				}
				c.Curves[i].K, c.Curves[i].Value = append(c.Curves[i].K, k+1), append(c.Curves[i].Value, v)
			}
		}
		slices.Sort(all)
		if c.Highest {
			slices.Reverse(all)
		}
		best := c.Best(3)
		if len(best) != min(3, len(all)) {
			t.Fatalf("%d best of %d", len(best), len(all))
		}
		for i, b := range best {
			if b.Value != all[i] || c.Curves[b.Curve].Value[b.K-1] != b.Value {
				t.Fatalf("place %d is %v, want %v", i+1, b, all[i])
			}
			if i > 0 && best[i-1].Value == b.Value && best[i-1].K > b.K {
				t.Fatalf("equal values: %v before %v", best[i-1], b)
			}
		}
	}
}

func TestHistogramCountsEveryValueInItsBin(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 300 {
		values := make([]float64, 1+r.IntN(400))
		for i := range values {
			values[i] = math.Exp(3*r.NormFloat64()) + float64(r.IntN(3))
		}
		slices.Sort(values)
		for _, log := range []bool{false, true} {
			var l binLayer
			l.count(values, r.IntN(30), log)
			total := 0.0
			for i, c := range l.counts {
				naive := 0.0
				for _, v := range values {
					if v >= l.edges[i] && (v < l.edges[i+1] || i == len(l.counts)-1) {
						naive++
					}
				}
				if math.Abs(naive-c) > 1 { // an edge that rounding moved past a value
					t.Fatalf("bin %d of %v holds %v, want %v", i, l.edges, c, naive)
				}
				total += c
			}
			if total != float64(len(values)) || l.edges[0] > values[0]*(1+1e-9) || l.edges[len(l.edges)-1] < values[len(values)-1]*(1-1e-9) {
				t.Fatalf("%v of %d values in %v", total, len(values), l.edges)
			}
		}
	}
}

func TestThinnedLinesKeepTheirExtremes(t *testing.T) {
	var f Frame
	f.Max = vg.Point{X: 100, Y: 100}
	r := rand.New(rand.NewPCG(2, 2))
	line := make([]vg.Point, 50000)
	for i := range line {
		line[i] = vg.Point{X: vg.Length(i) / 500, Y: vg.Length(100 * r.Float64())}
	}
	thin := f.thin([][]vg.Point{line})[0]
	if len(thin) > 400 || thin[0] != line[0] || thin[len(thin)-1] != line[len(line)-1] {
		t.Fatalf("%d points left, %v to %v", len(thin), thin[0], thin[len(thin)-1])
	}
	for column := range 100 {
		lo, hi := vg.Length(1e9), vg.Length(-1e9)
		for _, q := range line[column*500 : (column+1)*500] {
			lo, hi = min(lo, q.Y), max(hi, q.Y)
		}
		if !slices.ContainsFunc(thin, func(q vg.Point) bool { return q.Y == lo }) || !slices.ContainsFunc(thin, func(q vg.Point) bool { return q.Y == hi }) {
			t.Fatalf("column %d lost its extremes", column)
		}
	}
}

func TestZoomStandsWhereNoLineIs(t *testing.T) {
	for name, y := range map[string]func(i float64) float64{
		"rising":  func(i float64) float64 { return -math.Exp(-i / 5) },
		"falling": func(i float64) float64 { return math.Exp(-i / 5) },
	} {
		s := Series{Name: name}
		for i := range 100 {
			s.Y = append(s.Y, y(float64(i)))
		}
		f := Lines{Series: []Series{s}, Zoom: &Zoom{X0: 20, X1: 90, Y0: -0.01, Y1: 0.01}}.Figure()
		z, ok := f.Layers[len(f.Layers)-1].(*zoomLayer)
		if !ok {
			t.Fatalf("%s: no window", name)
		}
		e := f.extent()
		frame := Frame{x: f.X.fit(e.X0, e.X1), y: f.Y.fit(e.Y0, e.Y1)}
		frame.Max = vg.Point{X: 500, Y: 300}
		w, _ := z.place(&frame)
		for i := 0.0; i < 99; i += 0.01 {
			k := math.Floor(i)
			p, _ := frame.At(i, s.Y[int(k)]*(1-i+k)+s.Y[int(k)+1]*(i-k))
			if p.X > w.Min.X && p.X < w.Max.X && p.Y > w.Min.Y && p.Y < w.Max.Y {
				t.Fatalf("%s: the window %v covers the line at %v", name, w, p)
			}
		}
	}
}

func TestImagesAreReducedToTwiceTheirPlace(t *testing.T) {
	big, small := image.NewGray(image.Rect(0, 0, 1600, 1200)), image.NewGray(image.Rect(0, 0, 8, 6))
	s := svgOf(t, Images{Images: []CaptionedImage{{big, "big"}, {small, "small"}}})
	if len(s) > 100000 {
		t.Errorf("%d bytes", len(s))
	}
	if n := strings.Count(s, "image-rendering:pixelated"); n != 1 {
		t.Errorf("%d images are enlarged in squares, want the small one", n)
	}
}

func TestTwentyThousandPointsStayBelow400KB(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	g := make([]Group, 4)
	for i := range 20000 {
		g[i%4].X, g[i%4].Y = append(g[i%4].X, r.NormFloat64()), append(g[i%4].Y, r.NormFloat64())
	}
	if n := len(svgOf(t, Scatter{Groups: g})); n > 400000 {
		t.Errorf("%d bytes", n)
	}
}

// Fourteen groups beside long names on a telephone: numbers of groups that have no room are left out, and names end before the bars.
func TestLevelsOfManyGroupsDoNotRunIntoEachOther(t *testing.T) {
	l := Levels{Columns: []LevelColumn{{Name: "branch", Levels: []Level{{Name: "Office number 1 in a city with a long name", All: 0.5}}}}}
	for c := range 14 {
		l.Groups = append(l.Groups, "group "+strconv.Itoa(c+1))
		l.Columns[0].Levels[0].Of = append(l.Columns[0].Levels[0].Of, 0.5)
	}
	f := l.Figure()
	f.Width = 360
	boxes := textBoxes(t, svgOf(t, f))
	var numbers []string
	for i, a := range boxes {
		if _, err := strconv.Atoi(a.text); err == nil {
			numbers = append(numbers, a.text)
		}
		if strings.HasPrefix(a.text, "Office") && a.x0+stretch*(a.x1-a.x0) > 0.4*360 {
			t.Errorf("%q may end at %v, on the bars", a.text, a.x0+stretch*(a.x1-a.x0))
		}
		for _, b := range boxes[:i] {
			if a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1 {
				t.Errorf("%q at %v lies on %q at %v", a.text, a, b.text, b)
			}
		}
	}
	if len(numbers) < 9 || numbers[0] != "1" || slices.Contains(numbers, "11") {
		t.Errorf("the groups are %q", numbers)
	}
}

// Captions of one line take the room of one.
func TestShortCaptionsLeaveNoGap(t *testing.T) {
	height := func(caption string) float64 {
		m := Images{PerRow: 2}
		for range 4 {
			m.Images = append(m.Images, CaptionedImage{Image: image.NewGray(image.Rect(0, 0, 8, 8)), Caption: caption})
		}
		f := m.Figure()
		f.Width = 400
		_, h := f.size()
		return h
	}
	// Two rows of images, of which each saves one line of 11 by 1.3; a height is a whole number.
	if short, long := height("1: 14 %"), height(strings.Repeat("a long caption ", 5)); math.Abs(long-short-2*11*1.3) > 1 {
		t.Errorf("%v high with short captions, %v with long ones", short, long)
	}
}

package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"regexp"
	"strings"
	"sync"
	"testing"
)

func svgOf(t *testing.T, p Picture) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Figure().WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func inlineOf(t *testing.T, p Picture) string {
	t.Helper()
	s, err := p.Figure().Inline()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// element is an XML element with its text.
type element struct {
	name, text string
	attr       map[string]string
}

// elements parses XML strictly.
func elements(t *testing.T, s string) []*element {
	t.Helper()
	var all, open []*element
	d := xml.NewDecoder(strings.NewReader(s))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("no XML: %v\n%.300s", err, s)
		}
		switch k := token.(type) {
		case xml.StartElement:
			e := &element{name: k.Name.Local, attr: map[string]string{}}
			for _, a := range k.Attr {
				if _, twice := e.attr[a.Name.Local]; twice {
					t.Fatalf("<%s> has %s twice", e.name, a.Name.Local)
				}
				e.attr[a.Name.Local] = a.Value
			}
			all, open = append(all, e), append(open, e)
		case xml.CharData:
			if len(open) > 0 {
				open[len(open)-1].text += string(k)
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
}

func TestSVGIsWholeXMLAndUserTextStaysText(t *testing.T) {
	for kind, p := range kinds(nasty, same) {
		for _, s := range []string{svgOf(t, p), inlineOf(t, p)} {
			texts := 0
			for _, e := range elements(t, s) {
				switch e.name {
				case "svg", "title", "desc", "style", "path", "text", "image":
				default:
					t.Errorf("%s: an element <%s>", kind, e.name)
				}
				if e.name == "text" && strings.Contains(e.text, `<b>"a`) {
					texts++
				}
			}
			if texts == 0 {
				t.Errorf("%s: no text shows the name", kind)
			}
			if strings.Contains(s, "<b>") || strings.Contains(s, "<script") || strings.Contains(s, "\x00") {
				t.Errorf("%s: a name got through as markup", kind)
			}
		}
	}
}

func TestSVGHasATextAlternative(t *testing.T) {
	for kind, p := range kinds("age", same) {
		svg := elements(t, inlineOf(t, p))
		root, title, desc := svg[0], svg[1], svg[2]
		if root.attr["role"] != "img" || root.attr["aria-label"] != "Found: age" || title.name != "title" || title.text != "Found: age" {
			t.Errorf("%s: %v, %v", kind, root.attr, title)
		}
		if desc.name != "desc" || len(desc.text) < 20 || !strings.Contains(desc.text, "A note on age.") {
			t.Errorf("%s: description %q", kind, desc.text)
		}
	}
	f := kinds("age", same)["scatter"].Figure()
	f.Alt = "Two groups, far apart."
	if s := inlineOf(t, f); !strings.Contains(s, "<desc>Two groups, far apart. A note") {
		t.Error("the caller's text alternative is not used")
	}
}

func TestSVGsInOnePageDoNotDisturbEachOtherAndLoadNothing(t *testing.T) {
	page := "<html>"
	for _, p := range kinds("age", same) {
		page += inlineOf(t, p) + svgOf(t, p)
	}
	ids := map[string]bool{}
	for _, e := range elements(t, page+"</html>") {
		if id, ok := e.attr["id"]; ok {
			if ids[id] {
				t.Errorf("id %q twice", id)
			}
			ids[id] = true
		}
		for name, v := range e.attr {
			switch {
			case name == "href" && !strings.HasPrefix(v, "data:image/png;base64,"), name == "src", strings.HasPrefix(name, "on"):
				t.Errorf("<%s %s=%q>", e.name, name, v[:min(len(v), 40)])
			case name != "xmlns" && name != "href" && (strings.Contains(v, "://") || strings.Contains(v, "url(")):
				t.Errorf("<%s %s=%q> points elsewhere", e.name, name, v)
			}
		}
		if e.name == "style" && (strings.Contains(e.text, "@import") || strings.Contains(e.text, "url(")) {
			t.Errorf("a style sheet loads: %s", e.text)
		}
	}
}

func TestSVGFollowsDarkAndLight(t *testing.T) {
	for kind, p := range kinds("age", same) {
		in, alone := inlineOf(t, p), svgOf(t, p)
		if !strings.Contains(in, `fill="var(--plot-paper,#ffffff)"`) || !strings.Contains(in, `fill="var(--plot-ink,#1f2328)"`) || strings.Contains(in, "<style") {
			t.Errorf("%s: the inline figure has no variables or a style sheet", kind)
		}
		if strings.Contains(alone, "var(") || strings.Count(alone, "prefers-color-scheme:dark") != 1 || !strings.Contains(alone, "xmlns=") {
			t.Errorf("%s: the file has variables or no style sheet", kind)
		}
		style := elements(t, alone)[3].text
		for _, e := range elements(t, alone) {
			if c := e.attr["class"]; c != "" && !strings.Contains(style, "."+c+"{") {
				t.Errorf("%s: class %s has no dark colour", kind, c)
			}
		}
	}
	for _, r := range []string{"ink", "muted", "grid", "paper"} {
		if strings.Count(CSS(), "--plot-"+r+":#") != 3 {
			t.Errorf("CSS has not three values of %s", r)
		}
	}
}

func TestSVGNumbersHaveTwoDecimalsAtMost(t *testing.T) {
	long := regexp.MustCompile(`\d\.\d{3,}|NaN|Inf|e[+-]\d`)
	for kind, p := range kinds("age", same) {
		for _, e := range elements(t, svgOf(t, p)) {
			for name, v := range e.attr {
				if name != "href" && long.MatchString(v) {
					t.Errorf("%s: <%s %s=%q>", kind, e.name, name, long.FindString(v))
				}
			}
		}
	}
}

func TestPNGHasTheSizeAskedForAndThePaperOfItsTheme(t *testing.T) {
	sizes := []struct {
		scale float64
		w, h  int
	}{{1, 333, 277}, {0.37, 123, 102}, {1.5, 500, 416}, {2, 666, 554}}
	themes := []Theme{Light(), Dark()}
	i := 0
	for kind, p := range kinds("age", same) {
		f := p.Figure()
		f.Width, f.Height = 333, 277
		c, theme := sizes[i%4], themes[i%2]
		i++
		var b bytes.Buffer
		if err := f.WritePNG(&b, theme, c.scale); err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		if s := img.Bounds().Size(); s.X != c.w || s.Y != c.h {
			t.Errorf("%s: %v at scale %v, want %d x %d", kind, s, c.scale, c.w, c.h)
		}
		for _, x := range []int{0, c.w - 1} {
			for _, y := range []int{0, c.h - 1} {
				if r, g, b, a := img.At(x, y).RGBA(); r>>8 != uint32(theme.Paper.R) || g>>8 != uint32(theme.Paper.G) || b>>8 != uint32(theme.Paper.B) || a != 0xffff {
					t.Errorf("%s: the corner %d, %d has the colour %v", kind, x, y, img.At(x, y))
				}
			}
		}
	}
	for _, scale := range []float64{0, -1, 9, math.NaN(), math.Inf(1)} {
		if err := (&Figure{}).WritePNG(io.Discard, Light(), scale); err == nil {
			t.Errorf("a scale of %v was taken", scale)
		}
	}
}

func TestSameInputSameBytes(t *testing.T) {
	figures := func() (all []*Figure) {
		k := kinds("age", same)
		for _, name := range []string{"scatter", "lines", "zoom beside", "bars", "images", "criterion", "heat map", "matrix", "histogram", "shares", "silhouette", "panels"} {
			all = append(all, k[name].Figure())
		}
		return all
	}
	render := func(all []*Figure) string {
		var out bytes.Buffer
		for _, f := range all {
			if err := f.WriteSVG(&out); err != nil {
				t.Error(err)
			}
			if err := f.WritePNG(&out, Dark(), 0.3); err != nil {
				t.Error(err)
			}
		}
		return out.String()
	}
	want, shared := render(figures()), figures()
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			if render(shared) != want {
				t.Error("the same figures gave other bytes")
			}
		})
	}
	wait.Wait()
}

func TestValuesThatCannotBeDrawnAreLeftOutAndSaid(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(-1), math.MaxFloat64} {
		i := 0
		third := func(v float64) float64 {
			if i++; i%3 == 0 {
				return bad
			}
			return v
		}
		for kind, p := range kinds("age", third) {
			s := svgOf(t, p)
			elements(t, s)
			if kind != "images" && kind != "strips" && !strings.Contains(s, "left out") {
				t.Errorf("%s with %v does not say what is left out", kind, bad)
			}
			if err := p.Figure().WritePNG(io.Discard, Light(), 0.2); err != nil {
				t.Errorf("%s with %v: %v", kind, bad, err)
			}
		}
		for kind, p := range kinds("age", func(float64) float64 { return bad }) {
			if kind == "images" || kind == "panels" || kind == "zoom beside" || kind == "strips" {
				continue
			}
			if s := svgOf(t, p); !strings.Contains(s, ">There is nothing to draw<") {
				t.Errorf("%s of %v alone draws something", kind, bad)
			}
		}
	}
}

func TestExtremeNumbersDrawFiniteCoordinates(t *testing.T) {
	for name, f := range map[string]func(float64) float64{
		"one value": func(float64) float64 { return 3 },
		"zero":      func(float64) float64 { return 0 },
		"huge":      func(v float64) float64 { return v * 1e298 },
		"tiny":      func(v float64) float64 { return v * 1e-300 },
		"denormal":  func(v float64) float64 { return v * 1e-320 },
		"close":     func(v float64) float64 { return 1e15 + v },
		"mixed":     func(v float64) float64 { return math.Sinh(v * 80) },
	} {
		for kind, p := range kinds("age", f) {
			for _, e := range elements(t, svgOf(t, p)) {
				for a, v := range e.attr {
					if a != "href" && (strings.Contains(v, "NaN") || strings.Contains(v, "Inf")) {
						t.Errorf("%s, %s: <%s %s=%.80q>", kind, name, e.name, a, v)
					}
				}
			}
			if name == "huge" || name == "zero" { // the raster canvas takes the same paths
				if err := p.Figure().WritePNG(io.Discard, Light(), 0.2); err != nil {
					t.Errorf("%s, %s: %v", kind, name, err)
				}
			}
		}
	}
}

func TestEmptyFiguresSayThatThereIsNothingToDraw(t *testing.T) {
	for kind, p := range empties() {
		s := svgOf(t, p)
		if !strings.Contains(s, ">There is nothing to draw<") || !strings.Contains(s, "<desc>There is nothing to draw.") {
			t.Errorf("%s: %s", kind, s)
		}
		if err := p.Figure().WritePNG(io.Discard, Light(), 0.3); err != nil {
			t.Error(err)
		}
	}
}

func TestAnySizeCanBeDrawn(t *testing.T) {
	for kind, p := range kinds("a name that is longer than most names of columns are", same) {
		f := p.Figure()
		for _, size := range [][2]float64{{-5, math.NaN()}, {1, 1}, {120, 2000}, {3000, 120}, {math.Inf(1), 150}} {
			f.Width, f.Height = size[0], size[1]
			elements(t, svgOf(t, f))
			if size[0] == 1 {
				if err := f.WritePNG(io.Discard, Light(), 0.3); err != nil {
					t.Errorf("%s of %v: %v", kind, size, err)
				}
			}
		}
	}
}

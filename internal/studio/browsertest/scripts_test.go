package browsertest

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
)

// given returns what a module of the page makes of something: module is the name of its file, m in the expression.
func given[T any](p *page, module, expression string) (v T) {
	p.Helper()
	text := eval[string](p, `import("/static/`+module+`").then((m) => JSON.stringify(`+expression+`))`)
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return v
}

// Colours are mixed in linear light: half black and half white is a light of 0.5, which is 188 in sRGB. Red in OKLCH is what CSS Color 4 has, and the
// way there and back leads to the same bytes. Groups beyond seven have colours of their own.
func TestColours(t *testing.T) {
	p := open(t, shared, "/lab", look{})
	if got := given[[]int](p, "colour.js", `[...m.mix(new Uint8Array([0, 1, 2, 127, 127, 0, 1, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0]), [[0, 0, 0], [255, 255, 255], [9, 9, 9]], [1, 2, 3], new Uint8Array(9))]`); !slices.Equal(got, []int{188, 188, 188, 255, 255, 255, 1, 2, 3}) {
		t.Errorf("mixtures are %v", got)
	}
	red := given[[3]float64](p, "colour.js", `m.toOKLCH([255, 0, 0])`)
	if math.Abs(red[0]-0.6280) > 1e-4 || math.Abs(red[1]-0.2577) > 1e-4 || math.Abs(red[2]-29.23*math.Pi/180) > 1e-3 {
		t.Errorf("red is %v", red)
	}
	for _, c := range [][3]int{{0, 114, 178}, {230, 159, 0}, {106, 106, 106}, {255, 255, 255}} {
		b, _ := json.Marshal(c)
		if got := given[[3]int](p, "colour.js", `m.fromOKLCH(...m.toOKLCH(`+string(b)+`))`); got != c {
			t.Errorf("%v comes back as %v", c, got)
		}
	}
	for _, dark := range []bool{false, true} {
		p.emulate(look{dark: dark})
		colours := given[[][3]float64](p, "colour.js", `Array.from({length: 20}, (_, i) => m.groupColour(m.theme(), i))`)
		for i, a := range colours {
			for j, b := range colours[:i] {
				if math.Abs(a[0]-b[0])+math.Abs(a[1]-b[1])+math.Abs(a[2]-b[2]) < 20 {
					t.Errorf("dark %v: groups %d and %d have the colours %v and %v", dark, j+1, i+1, b, a)
				}
			}
		}
	}
	if got := given[[]string](p, "colour.js", `[m.inkOn([255, 255, 255]), m.inkOn([0, 0, 0]), m.inkOn([240, 228, 66])]`); !slices.Equal(got, []string{"#000000", "#ffffff", "#000000"}) {
		t.Errorf("texts on colours are %v", got)
	}
}

// Ticks are round, and read with the decimals that their distance asks for.
func TestScales(t *testing.T) {
	p := open(t, shared, "/lab", look{})
	for expression, want := range map[string]string{
		`m.tickTexts(m.ticks(0, 10))`:                             `["0","2","4","6","8","10"]`,
		`m.tickTexts(m.ticks(-0.1, 0.15))`:                        `["−0.10","−0.05","0.00","0.05","0.10","0.15"]`,
		`m.tickTexts(m.ticks(1.2e9, 1.4e9))`:                      `["1.2e9","1.25e9","1.3e9","1.35e9","1.4e9"]`,
		`m.ticks(3, 3)`:                                           `[]`,
		`m.extent([1, 1, NaN])`:                                   `[0.5,1.5]`,
		`m.extent([], 0)`:                                         `[0,1]`,
		`m.extent([-2, 8, Infinity], 0.1)`:                        `[-3,9]`,
		`m.place({lo: 0, hi: 4, from: 100, to: 0}, 1)`:            `75`,
		`m.value({lo: 0, hi: 4, from: 100, to: 0}, 75)`:           `1`,
		`[m.power(2), m.power(-12)]`:                              `["100","10⁻¹²"]`,
		`[m.fixed(-0.00004), m.fixed(null), m.fixed(-180.18548)]`: `["−0.0000400","–","−180.1855"]`,
	} {
		got, err := json.Marshal(given[any](p, "scale.js", expression))
		if err != nil || string(got) != want {
			t.Errorf("%s is %s, want %s", expression, got, want)
		}
	}
}

// Lines of an answer come whole however its text is cut.
func TestLinesAreReadWhole(t *testing.T) {
	p := open(t, shared, "/lab", look{})
	for cut := 1; cut < 8; cut++ {
		got := eval[string](p, fmt.Sprintf(`import("/static/api.js").then((m) => {
			const seen = [], text = '{"a":"ü"}\n{"b":2}\n\n{"c":3}', reader = m.lines((l) => seen.push(l));
			for (let i = 0; i < text.length; i += %d) reader.push(text.slice(i, i + %[1]d));
			reader.end();
			return JSON.stringify(seen);
		})`, cut))
		if got != `[{"a":"ü"},{"b":2},{"c":3}]` {
			t.Errorf("cut every %d signs: %s", cut, got)
		}
	}
}

// What an address says comes back as it was; what it gets wrong is told, and the default taken.
func TestAddressesAreReadAndWritten(t *testing.T) {
	p := open(t, shared, "/lab", look{})
	const address = "data=@iris&k=4&covariance=tied&algorithm=anti-annealing&init=k-means%2B%2B&seed=7&beta=0.5,1.5,1&x=petal_width&y="
	once := given[string](p, "view.js", `String(m.write(m.read(new URLSearchParams("`+address+`")).view))`)
	if again := given[string](p, "view.js", `String(m.write(m.read(new URLSearchParams("`+once+`")).view))`); again != once || once == "" {
		t.Errorf("the address %q becomes %q", once, again)
	}
	view := given[map[string]any](p, "view.js", `m.read(new URLSearchParams("`+address+`")).view`)
	if view["data"] != "@iris" || view["k"] != 4.0 || view["covariance"] != "tied" || view["init"] != "k-means++" || view["seed"] != 7.0 || view["y"] != "" || fmt.Sprint(view["beta"]) != "[0.5 1.5 1]" {
		t.Errorf("the view is %v", view)
	}
	wrong := given[[]string](p, "view.js", `m.read(new URLSearchParams("k=minus&algorithm=magic&seed=1.5")).complaints`)
	if len(wrong) != 3 {
		t.Errorf("complaints: %q", wrong)
	}
}

// Stamps are blended as paint is, a byte of colour at a time, and end at the edge of the picture.
func TestStampsAreBlended(t *testing.T) {
	p := open(t, shared, "/lab", look{})
	for name, more := range map[string][2]string{"rows": {"null", "m.disc(1, 0.55)"}, "large": {"null", "m.disc(3.4, 0.88)"}, "cells": {"Uint16Array.from(places, (_, i) => 40 + 36 * i)", "m.block(900, 600)"}, "ticks": {"null", "m.tick(1, 100)"}} {
		worst := given[float64](p, "stamps.js", `((places, colours) => {
			const w = 9, h = 7, all = new Uint32Array(w * h).fill(0xffc8fa64), strengths = `+more[0]+`, s = `+more[1]+`;
			const want = Array.from({length: w * h}, () => [0x64, 0xfa, 0xc8]);
			m.paint(all, w, h, places, colours, strengths, s);
			places.forEach((at, i) => s.dx.forEach((x, j) => {
				const px = at % w + x, py = Math.floor(at / w) + s.dy[j], a = (strengths ? strengths[i] / 256 : 1) * s.alpha[j] / 256;
				if (at < 0 || px < 0 || px >= w || py < 0 || py >= h) return;
				const under = want[py * w + px];
				for (let c = 0; c < 3; c++) under[c] += a * (colours[3 * i + c] - under[c]);
			}));
			const bytes = new Uint8Array(all.buffer);
			return Math.max(...want.flatMap((rgb, i) => [...rgb.map((v, c) => Math.abs(v - bytes[4 * i + c])), bytes[4 * i + 3] === 255 ? 0 : 999]));
		})(Int32Array.from([0, 8, 30, 31, -1, 62]), Uint8Array.from({length: 18}, (_, i) => (i * 97) % 256))`)
		if worst > 4 { // each of a few layers is rounded to a byte, and how much it covers to one in 256
			t.Errorf("%s: a byte is %v beside what blending gives", name, worst)
		}
	}
}

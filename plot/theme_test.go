package plot

import (
	"image/color"
	"math"
	"testing"
)

// contrast is that of WCAG 2.1.
func contrast(a, b color.RGBA) float64 {
	x, y := luminance(a)+0.05, luminance(b)+0.05
	return max(x, y) / min(x, y)
}

func TestLuminanceOfKnownColours(t *testing.T) {
	for c, want := range map[uint32]float64{0x000000: 0, 0xffffff: 1, 0xff0000: 0.2126, 0x00ff00: 0.7152, 0x808080: 0.2159} {
		if got := luminance(rgb(c)); math.Abs(got-want) > 1e-4 {
			t.Errorf("luminance of %06x is %v, want %v", c, got, want)
		}
	}
}

func TestColoursReadOnBothBackgrounds(t *testing.T) {
	for _, theme := range []Theme{Light(), Dark()} {
		for i := range palette {
			if c := contrast(Color(i), theme.Paper); c < 2.2 {
				t.Errorf("colour %d on %v: contrast %.2f", i, theme.Paper, c)
			}
		}
		if c := contrast(theme.Ink, theme.Paper); c < 7 {
			t.Errorf("ink: contrast %.2f", c)
		}
		if c := contrast(theme.Muted, theme.Paper); c < 4.5 {
			t.Errorf("muted: contrast %.2f", c)
		}
	}
}

func TestNumbersReadOnEveryCell(t *testing.T) {
	for v := -1.0; v <= 1; v += 0.001 {
		if c := contrast(diverging(v), inkOn(diverging(v))); c < 4.5 {
			t.Fatalf("on the shade of %v: contrast %.2f", v, c)
		}
	}
}

func TestShadesGrowDarkerAwayFromZero(t *testing.T) {
	for v := 0.01; v <= 1; v += 0.01 {
		for _, sign := range []float64{-1, 1} {
			if luminance(diverging(sign*v)) >= luminance(diverging(sign*(v-0.01))) {
				t.Fatalf("the shade of %v is not darker than that before it", sign*v)
			}
		}
	}
	if diverging(-3) != diverging(-1) || diverging(3) != diverging(1) || sequential(0.4) != diverging(-0.4) {
		t.Error("the ends of the scale do not hold")
	}
}

// TestColoursDifferForColourBlindReaders sees the colours as a reader without red or green cones does, by the matrices of Machado,
// Oliveira and Fernandes (2009) at full severity, and asks for a distance in CIELAB.
func TestColoursDifferForColourBlindReaders(t *testing.T) {
	for name, m := range map[string][3][3]float64{
		"normal": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		"protan": {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
		"deutan": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	} {
		for i := range palette {
			for j := range i {
				if d := distance(lab(Color(i), m), lab(Color(j), m)); d < 12 {
					t.Errorf("%s: colours %d and %d are %.1f apart", name, i, j, d)
				}
			}
		}
	}
}

func distance(a, b [3]float64) float64 {
	return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
}

// lab is c in CIELAB (D65), after the matrix m in linear RGB.
func lab(c color.RGBA, m [3][3]float64) [3]float64 {
	var in, out [3]float64
	for i, v := range []uint8{c.R, c.G, c.B} {
		if s := float64(v) / 255; s <= 0.04045 {
			in[i] = s / 12.92
		} else {
			in[i] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	for i := range m {
		for j := range m {
			out[i] += m[i][j] * in[j]
		}
		out[i] = min(max(out[i], 0), 1)
	}
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124*out[0] + 0.3576*out[1] + 0.1805*out[2]) / 0.9505)
	y := f(0.2126*out[0] + 0.7152*out[1] + 0.0722*out[2])
	z := f((0.0193*out[0] + 0.1192*out[1] + 0.9505*out[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

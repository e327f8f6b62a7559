package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The signs are those of the Unicode chart: dots 1 to 8 of a cell, by their places.
func TestDotsAreThoseOfTheChart(t *testing.T) {
	for _, c := range []struct {
		dots [][2]int
		want string
	}{
		{[][2]int{{0, 3}}, "⠁"}, {[][2]int{{0, 2}}, "⠂"}, {[][2]int{{0, 1}}, "⠄"}, {[][2]int{{0, 0}}, "⡀"},
		{[][2]int{{1, 3}}, "⠈"}, {[][2]int{{1, 2}}, "⠐"}, {[][2]int{{1, 1}}, "⠠"}, {[][2]int{{1, 0}}, "⢀"},
		{[][2]int{{0, 0}, {1, 0}}, "⣀"},
		{[][2]int{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1}, {1, 2}, {1, 3}}, "⣿"},
		{nil, ""},
		{[][2]int{{-1, 0}, {0, -1}, {2, 0}, {0, 4}}, ""}, // outside
	} {
		p := newCanvas(1, 1)
		for _, d := range c.dots {
			p.set(d[0], d[1], 0)
		}
		if got := p.lines(false); len(got) != 1 || got[0] != c.want {
			t.Errorf("%v: got %q, want %q", c.dots, got, c.want)
		}
	}
	p := newCanvas(3, 2) // the top row first, and nothing after its last sign
	p.set(2, 7, 0)
	p.set(5, 0, 0)
	if got := p.lines(false); !slices.Equal(got, []string{" ⠁", "  ⢀"}) {
		t.Errorf("%q", got)
	}
}

// on reports whether a dot is set.
func (c *canvas) on(x, y int) bool {
	p := c.at(x, y)
	return p != nil && p.dots&brailleBit[3-y%4][x%2] != 0
}

// A line sets, of all dots, those within a dot of it, and in every step along its longer side one at least. Ends outside
// change nothing inside.
func TestLineIsWhereItShouldBe(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	inside, outside := 0, 0
	for range 300 {
		c := newCanvas(10, 5)
		w, h := c.dots()
		far := math.Pow(10, float64(rng.IntN(4)))
		end := func(n int) float64 { return float64(n)/2 + far*(rng.Float64()-0.5)*float64(n) }
		x0, y0, x1, y1 := end(w), end(h), end(w), end(h)
		c.line(x0, y0, x1, y1, 0)
		length := math.Hypot(x1-x0, y1-y0)
		for x := range w {
			for y := range h {
				away := math.Abs((x1-x0)*(y0-float64(y))-(x0-float64(x))*(y1-y0)) / length
				if c.on(x, y) && away > 0.75 {
					t.Fatalf("(%v, %v) to (%v, %v): dot (%d, %d) is %v away", x0, y0, x1, y1, x, y, away)
				}
			}
		}
		steps := 4 * int(length+1) // a plain walk: a dot is set beside every point of it
		for i := range steps + 1 {
			s := float64(i) / float64(steps)
			x, y := int(math.Floor(x0+s*(x1-x0)+0.5)), int(math.Floor(y0+s*(y1-y0)+0.5))
			if c.at(x, y) == nil {
				outside++
				continue
			}
			inside++
			near := false
			for dx := -1; dx <= 1; dx++ {
				for dy := -1; dy <= 1; dy++ {
					near = near || c.on(x+dx, y+dy)
				}
			}
			if !near {
				t.Fatalf("(%v, %v) to (%v, %v): nothing at (%d, %d)", x0, y0, x1, y1, x, y)
			}
		}
	}
	if inside < 1000 || outside < 1000 {
		t.Errorf("%d points inside, %d outside", inside, outside)
	}
}

func TestNoNumberDrawsNothing(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		c := newCanvas(4, 4)
		c.line(v, 1, 3, 4, 0)
		c.line(1, 1, 3, v, 0)
		if got := strings.Join(c.lines(false), ""); v != v && got != "" {
			t.Errorf("%v drew %q", v, got)
		}
	}
}

// Two letters for one cell stand side by side, and dots do not hide them.
func TestLettersMakeRoom(t *testing.T) {
	c := newCanvas(3, 1)
	c.letter(2, 0, 'a', 0)
	c.letter(3, 2, 'b', 0)
	c.letter(2, 1, 'c', 0)
	c.letter(2, 1, 'd', 0) // no room any more
	c.line(0, 1, 5, 1, 0)
	if got := c.lines(false); got[0] != "cab" {
		t.Errorf("%q", got)
	}
}

func TestColoursAreTurnedOnAndOff(t *testing.T) {
	c := newCanvas(4, 1)
	c.set(0, 0, 1)
	c.set(2, 0, 1)
	c.set(6, 0, 2)
	if got, want := c.lines(true)[0], "\x1b[34m⡀⡀ \x1b[31m⡀\x1b[0m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := c.lines(false)[0]; got != "⡀⡀ ⡀" {
		t.Errorf("%q", got)
	}
}

// Ticks are round, inside the range, evenly spaced and a few; what their labels say is where they are.
func TestTicksAreRound(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 2000 {
		scale := math.Pow(10, float64(rng.IntN(30)-15))
		lo := scale * (rng.Float64() - 0.5) * math.Pow(10, float64(rng.IntN(4)))
		hi := lo + scale*(0.1+rng.Float64())
		a := newAxis("x", lo, hi, 100, 4)
		if len(a.ticks) < 2 || len(a.ticks) > 9 {
			t.Fatalf("%v to %v: ticks %v", lo, hi, a.ticks)
		}
		step := a.ticks[1] - a.ticks[0]
		if mantissa := step / math.Pow(10, math.Floor(math.Log10(step)+0.01)); math.Abs(mantissa-1) > 1e-6 && math.Abs(mantissa-2) > 1e-6 && math.Abs(mantissa-5) > 1e-6 {
			t.Fatalf("%v to %v: the step is %v", lo, hi, step)
		}
		for i, v := range a.ticks {
			told, err := strconv.ParseFloat(strings.ReplaceAll(a.label(v), ",", ""), 64)
			if err != nil || v < lo || v > hi || math.Abs(told-v) > 1e-3*step {
				t.Fatalf("%v to %v: tick %v is told as %q", lo, hi, v, a.label(v))
			}
			if i > 0 && math.Abs(v-a.ticks[i-1]-step) > 1e-6*step {
				t.Fatalf("%v to %v: ticks %v", lo, hi, a.ticks)
			}
		}
		if a.at(lo) != 0 || a.at(hi) != 99 || math.Abs(a.at(lo/2+hi/2)-49.5) > 1e-6 {
			t.Fatalf("%v to %v are at %v and %v", lo, hi, a.at(lo), a.at(hi))
		}
	}
	for want, c := range map[string][2]float64{"14,500,000": {14e6, 15e6}, "0.00002": {1e-5, 3e-5}, "2020": {2015, 2025}, "-20,000": {-25000, 0}} {
		a := newAxis("x", c[0], c[1], 100, 2)
		if got := a.label(a.ticks[1]); got != want && a.label(a.ticks[0]) != want {
			t.Errorf("%v: %q and %q, want %q", c, a.label(a.ticks[0]), got, want)
		}
	}
	for _, c := range [][2]float64{{3, 3}, {0, 0}, {-math.MaxFloat64, math.MaxFloat64}, {0, 5e-324}, {1, math.Nextafter(1, 2)}} {
		a := newAxis("x", c[0], c[1], 100, 4) // no panic, no endless loop
		if v := a.at(c[0]); !(v >= 0 && v <= 99) || len(a.ticks) > 13 {
			t.Errorf("%v: at %v with ticks %v", c, v, a.ticks)
		}
	}
}

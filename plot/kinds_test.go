package plot

import (
	"fmt"
	"image"
	"image/color"
	"math"
)

// nasty is a name as users' columns have them.
const nasty = `<b>"a" & 'b'</b>` + "\x00\n</svg><script>"

// kinds returns a picture of every kind, all names of which are name, all numbers of which go through f.
func kinds(name string, f func(float64) float64) map[string]Picture {
	head := func() Head { return Head{Title: "Found: " + name, Note: "A note on " + name} }
	axis := Axis{Label: name, Unit: name}
	column := func(n int, at func(i float64) float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = f(at(float64(i)))
		}
		return out
	}
	wave := func(i float64) float64 { return 5 + 3*math.Sin(i) + i/10 }
	table := [][]float64{column(4, wave), column(4, math.Cos), column(4, math.Sin)}
	shares := [][]float64{column(3, func(float64) float64 { return 0.3 }), column(3, func(i float64) float64 { return i }), column(3, func(i float64) float64 { return 1 - i/5 })}
	silhouettes := [][]float64{column(20, func(i float64) float64 { return math.Cos(i) * 0.7 }), column(30, func(i float64) float64 { return 0.9 - i/40 })}
	group := Group{Name: name, X: column(60, wave), Y: column(60, func(i float64) float64 { return 7 * math.Cos(i*i) }),
		Normal: &Normal{Mean: [2]float64{f(5), f(1)}, Cov: [2][2]float64{{f(4), f(1)}, {f(1), f(9)}}}}
	rise := Series{Name: name, Y: column(50, func(i float64) float64 { return -1 / (1 + i) }), Runs: [][]float64{column(50, func(i float64) float64 { return -1.1 / (1 + i) })}}
	band := Series{Name: name, X: column(9, func(i float64) float64 { return i * i }), Y: column(9, wave), Low: column(9, func(float64) float64 { return 3 }), High: column(9, wave), Dots: true}
	img := image.NewGray(image.Rect(3, 3, 13, 9))
	curve := Curve{Name: name, K: []int{1, 2, 3, 4, 5}, Value: column(5, wave)}
	bar := Bar{Name: name, Value: f(6), Deviation: f(1), Runs: column(5, wave)}
	scatter := Scatter{Head: head(), X: axis, Y: axis, Groups: []Group{group, group, {Name: name}}}
	return map[string]Picture{
		"scatter":     scatter,
		"scatter log": Scatter{Head: head(), X: Axis{Label: name, Log: true}, Y: Axis{Label: name, Log: true}, Groups: []Group{group}},
		"lines":       Lines{Head: head(), X: axis, Y: axis, Series: []Series{rise, rise}, Zoom: &Zoom{X0: 10, X1: 50, Y0: -0.1, Y1: 0}, Levels: []Reference{{At: f(-0.5), Name: name}}},
		"lines band":  Lines{Head: head(), X: axis, Y: Axis{Label: name, Log: true}, Series: []Series{band, rise, {Name: name, Y: column(9, wave), Faint: true}}},
		"zoom beside": Lines{Head: head(), X: axis, Y: axis, Series: []Series{{Name: name, Y: column(99, wave)}}, Zoom: &Zoom{X0: 20, X1: 30}},
		"bars":        Bars{Head: head(), Value: axis, Bars: []Bar{bar, {Name: name, Value: f(2)}}},
		"dots":        Bars{Head: head(), Value: axis, Bars: []Bar{{Name: name, Value: f(-100)}, {Name: name, Value: f(-101), Deviation: f(0.5)}}},
		"images":      Images{Head: head(), Images: []CaptionedImage{{img, name}, {image.NewUniform(color.White), name}, {nil, name}}},
		"criterion":   Criterion{Head: head(), Name: name, Unit: name, Curves: []Curve{curve, curve, {Name: name}}},
		"heat map":    HeatMap{Head: head(), X: axis, Y: axis, Rows: []string{name, name, name}, Columns: []string{name, name, name, name}, Values: table, Unit: name},
		"matrix":      Matrix{Head: head(), X: axis, Y: axis, Rows: []string{name, name}, Values: table, Percent: true},
		"histogram":   Histogram{Head: head(), X: axis, Values: column(200, wave), Levels: []Reference{{At: f(5), Name: name}}},
		"shares":      Shares{Head: head(), Names: []string{name, name, name}, Values: shares},
		"silhouette":  Silhouette{Head: head(), Names: []string{name, name}, Values: silhouettes},
		"strips":      Strips{Head: head(), X: axis, States: []string{name, name}, Sequences: []Strip{{name, []int{0, 0, 1, 1, 0}}, {name, []int{1}}, {name, nil}}},
		"timeline":    Timeline{Head: head(), X: axis, Y: axis, Values: column(30, wave), States: make([]int, 30), Names: []string{name}},
		"panels":      Panels{Head: head(), Pictures: []Picture{scatter, Bars{Bars: []Bar{bar}, Value: axis}}},
	}
}

func same(v float64) float64 { return v }

// empties returns a picture of every kind without data.
func empties() map[string]Picture {
	out := map[string]Picture{"figure": &Figure{}}
	for _, p := range []Picture{Scatter{}, Lines{}, Lines{Zoom: &Zoom{}}, Bars{}, Images{}, Criterion{}, HeatMap{}, Matrix{}, Histogram{}, Shares{}, Silhouette{}, Strips{}, Timeline{}, Panels{},
		Scatter{Groups: []Group{{}}}, Lines{Series: []Series{{}}}, Criterion{Curves: []Curve{{}}}, HeatMap{Values: [][]float64{{}}}, Shares{Values: [][]float64{{}}}, Silhouette{Values: [][]float64{{}}}} {
		out[fmt.Sprintf("%T%+v", p, p)] = p
	}
	return out
}

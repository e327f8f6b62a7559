package experiment

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"github.com/latent-go/latent/plot"
)

// drawing is a picture of the page.
type drawing struct {
	picture plot.Picture
	caption string // "" where the title says all
}

// colourOf returns the colour that an algorithm has in every picture.
func colourOf(algorithm string) color.Color { return plot.Color(slices.Index(Algorithms, algorithm)) }

// drawings returns the pictures of a study: those of the paper's figures 1, 2 and 4, and what the truth allows.
func (s *Study) drawings() (list []drawing) {
	list = append(list, drawing{s.climbs(), "As figure 1 of the paper. The window shows the last of the climb. Where anti-annealing is at another temperature than 1, another function is climbed, so its log-likelihood may fall."})
	if s.truth != nil {
		list = append(list, drawing{s.errors(), "0 would be the truth itself: " + ErrorFormula + "."})
	}
	list = append(list, drawing{s.ends(), "As figure 2 of the paper: mean, standard deviation and single runs."})
	if s.truth != nil && s.D == 2 {
		list = append(list, drawing{s.components(), fmt.Sprintf("The run that ended highest of each algorithm, with the ellipses that hold 95 %% of each component; dashed grey: the truth. Behind them, %s of the rows.", fixed(float64(len(s.shown)), 0))})
	}
	if s.pixels != nil {
		list = append(list, drawing{s.panels(), "As figure 4 of the paper: every pixel has its segment's mean colour. Shown is the run of each algorithm that ended at the highest log-likelihood."})
		if s.pixels.centre != nil {
			list = append(list, drawing{s.closeUps(), "The same runs, one flower enlarged."})
		}
		list = append(list, drawing{s.mses(), "As the last panel of figure 4: √ Σ (original − repainted)² over pixels and channels, which the paper calls mean squared error."})
	}
	return list
}

// climbs draws the mean log-likelihood by sweep.
func (s *Study) climbs() plot.Picture {
	all := s.summaries()
	high := top(all)
	var last []float64
	l := plot.Lines{
		X: plot.Axis{Label: "sweeps over the rows"}, Y: plot.Axis{Label: "mean log-likelihood", Unit: "nats"},
	}
	for _, t := range all {
		y := s.curve(t.algorithm, logLikOf)
		l.Series = append(l.Series, plot.Series{Name: t.algorithm, X: from1(len(y)), Y: y})
		last = append(last, y[len(y)-1])
	}
	slices.Sort(last)
	low := last[0]
	l.Title = fmt.Sprintf("Highest: %s, %s nats on average; the lowest mean end is %s nats below", leaders(all), fixed(high, 1), fixed(high-low, 2))
	if high-low > 4*(high-last[1]) { // one far below the others would leave no room to tell those apart
		low = last[1]
	}
	margin := math.Max(0.35*(high-low), 1e-7*math.Abs(high))
	l.Zoom = &plot.Zoom{X0: 0, X1: longest(l.Series), Y0: low - 2*margin, Y1: high + margin}
	return l
}

// longest returns the last sweep of any line.
func longest(lines []plot.Series) (x float64) {
	for _, l := range lines {
		x = max(x, l.X[len(l.X)-1])
	}
	return x
}

func from1(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i + 1)
	}
	return x
}

// errors draws the mean parameter error by sweep.
func (s *Study) errors() plot.Picture {
	all := s.summaries()
	l := plot.Lines{X: plot.Axis{Label: "sweeps over the rows"}, Y: plot.Axis{Label: "mean parameter error", Log: true}}
	for _, t := range all {
		y := s.curve(t.algorithm, errorOf)
		l.Series = append(l.Series, plot.Series{Name: t.algorithm, X: from1(len(y)), Y: y})
	}
	best := least(all, func(t *summary) float64 { return t.error.mean })
	l.Title = fmt.Sprintf("%s ends nearest the truth, with a mean error of %s; em at %s", best.algorithm, short(best.error.mean), short(all[0].error.mean))
	return l
}

// ends draws the final log-likelihoods.
func (s *Study) ends() plot.Picture {
	all := s.summaries()
	steady := least(all, func(t *summary) float64 { return t.logLik.deviation })
	b := plot.Bars{Value: plot.Axis{Label: "log-likelihood at the end", Unit: "nats"}}
	b.Title = fmt.Sprintf("%s varies least from start to start: ± %s nats", steady.algorithm, fixed(steady.logLik.deviation, 3))
	for _, t := range all {
		bar := plot.Bar{Name: t.algorithm, Value: t.logLik.mean, Deviation: t.logLik.deviation, Color: colourOf(t.algorithm), Text: fixed(t.logLik.mean, 1) + " ± " + fixed(t.logLik.deviation, 2)}
		for _, r := range s.of(t.algorithm) {
			bar.Runs = append(bar.Runs, r.LogLik)
		}
		b.Bars = append(b.Bars, bar)
	}
	return b
}

// mses draws the errors of the repainted pictures.
func (s *Study) mses() plot.Picture {
	all := s.summaries()
	best := least(all, func(t *summary) float64 { return t.mse.mean })
	b := plot.Bars{Value: plot.Axis{Label: "error of the repainted picture, root of summed squares", Unit: "levels"}}
	b.Title = fmt.Sprintf("%s repaints the picture best: %s on average", best.algorithm, fixed(best.mse.mean, 0))
	for _, t := range all {
		bar := plot.Bar{Name: t.algorithm, Value: t.mse.mean, Deviation: t.mse.deviation, Color: colourOf(t.algorithm), Text: fixed(t.mse.mean, 0) + " ± " + fixed(t.mse.deviation, 0)}
		for _, r := range s.of(t.algorithm) {
			bar.Runs = append(bar.Runs, r.MSE)
		}
		b.Bars = append(b.Bars, bar)
	}
	return b
}

// panels draws the picture and what each algorithm makes of it.
func (s *Study) panels() plot.Picture {
	p := s.pixels
	all := s.summaries()
	images := plot.Images{Images: []plot.CaptionedImage{{Image: p.image(p.rgb), Caption: "original"}}, PerRow: 4, Head: plot.Head{Width: wide}}
	for _, t := range all {
		r := t.mostLikely
		caption := fmt.Sprintf("%s, error %s", t.algorithm, fixed(r.MSE, 0))
		if p.centre != nil {
			caption += map[bool]string{true: "; centres found", false: "; centres lost"}[r.segments.own(p) >= 0]
		}
		images.Images = append(images.Images, plot.CaptionedImage{Image: p.image(r.segments.repainted()), Caption: caption})
	}
	images.Title = fmt.Sprintf("The picture in %d segments", s.K)
	if p.centre != nil {
		images.Title = fmt.Sprintf("The yellow centres have a segment of their own in %d of %d runs of anti-annealing, in %d of em", all[1].found, all[1].runs, all[0].found)
	}
	return images
}

// closeUps draws the surroundings of one yellow centre, as they are and as each algorithm's segments have them.
func (s *Study) closeUps() plot.Picture {
	p := s.pixels
	at := max(slices.Index(p.centre, true), 0)
	const w, h = 48, 36
	x, y := min(max(at%p.width-w/2, 0), p.width-w), min(max(at/p.width-h/2, 0), p.height-h)
	cut := func(rgb []uint8) image.Image {
		return p.image(rgb).SubImage(image.Rect(x, y, x+w, y+h))
	}
	images := plot.Images{Images: []plot.CaptionedImage{{Image: cut(p.rgb), Caption: "original"}}, PerRow: 4, Head: plot.Head{Width: wide}}
	kept := 0
	for _, t := range s.summaries() {
		own := t.mostLikely.segments.own(p) >= 0
		if own {
			kept++
		}
		images.Images = append(images.Images, plot.CaptionedImage{Image: cut(t.mostLikely.segments.repainted()), Caption: t.algorithm + map[bool]string{true: ": found", false: ": lost"}[own]})
	}
	images.Title = fmt.Sprintf("At their highest ends %d of the %d algorithms keep the yellow centres apart", kept, len(Algorithms))
	return images
}

// image returns the pixels with other colours.
func (p *pixels) image(rgb []uint8) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, p.width, p.height))
	for i := range p.width * p.height {
		m.SetRGBA(i%p.width, i/p.width, color.RGBA{rgb[3*i], rgb[3*i+1], rgb[3*i+2], 255})
	}
	return m
}

// wide is the width of pictures with several parts, pixels.
const wide = 900

// shownRows is how many rows a scatter draws.
const shownRows = 500

// components draws the ends of each algorithm over the rows and the truth.
func (s *Study) components() plot.Picture {
	panels := plot.Panels{Columns: 3, Head: plot.Head{Width: wide}}
	found := 0
	for _, t := range s.summaries() {
		r := t.mostLikely
		f := &plot.Figure{X: plot.Axis{Label: "x"}, Y: plot.Axis{Label: "y"}}
		e, _ := s.truth.Error(r.model)
		f.Title = fmt.Sprintf("%s: error %s", t.algorithm, short(e))
		f.Layers = []plot.Layer{cloud(s.shown)}
		for c := range s.truth.Weights {
			f.Layers = append(f.Layers, ring{ellipse(s.truth.Means[c], s.truth.Covariances[c]), true, plot.Muted})
		}
		for c := range r.model.Weights {
			f.Layers = append(f.Layers, ring{ellipse(r.model.Means[c], covariance(r.model, c)), false, colourOf(t.algorithm)})
		}
		if *r.Found {
			found++
		}
		panels.Pictures = append(panels.Pictures, f)
	}
	panels.Title = fmt.Sprintf("At their highest ends %d of the %d algorithms have found the small cluster", found, len(Algorithms))
	return panels
}

func ellipse(mean, cov []float64) [][2]float64 {
	e, err := plot.NewEllipse([2]float64{mean[0], mean[1]}, [2][2]float64{{cov[0], cov[1]}, {cov[2], cov[3]}}, 0.95)
	if err != nil {
		return nil
	}
	return e.Points(97)
}

// drawings returns the pictures of the timings.
func (c *times) drawings() (list []drawing) {
	for _, v := range []struct{ name, label string }{{"n", "rows"}, {"k", "components"}, {"d", "columns"}} {
		l := plot.Lines{X: plot.Axis{Label: v.label, Log: true}, Y: plot.Axis{Label: "a sweep", Unit: "ms", Log: true}}
		for _, a := range Algorithms[:papers] {
			x, y := c.of(a, v.name)
			for i := range y {
				y[i] *= 1000
			}
			l.Series = append(l.Series, plot.Series{Name: a, X: x, Y: y, Dots: true})
		}
		x, y := c.of("em", v.name)
		l.Title = fmt.Sprintf("A sweep of EM takes time as %s to the power of %.2f", v.label, exponent(x, y))
		list = append(list, drawing{l, ""})
	}
	b := plot.Bars{Value: plot.Axis{Label: "sweeps an accepted step"}, Zero: true}
	b.Title = fmt.Sprintf("A step of BFGS takes %.2f sweeps, one of ECG %.2f, one of EM %.2f", c.perStep("bfgs"), c.perStep("ecg"), c.perStep("em"))
	for _, a := range Algorithms {
		b.Bars = append(b.Bars, plot.Bar{Name: a, Value: c.perStep(a), Color: colourOf(a), Text: fmt.Sprintf("%.2f", c.perStep(a))})
	}
	return append(list, drawing{b, ""})
}

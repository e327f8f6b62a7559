package experiment

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"slices"
	"strings"
)

// The paper, as pages name it.
const paper = "I. Naim, D. Gildea: Convergence of the EM algorithm for Gaussian mixtures with unbalanced mixing coefficients, ICML 2012, and its appendix"

// section makes the section of a study, with what all studies share.
func section(s *Study, title, data, differs string) *Section {
	return &Section{Title: title, Data: data, Differs: differs, Finding: s.finding(), Claims: s.claims(), Remarks: s.remarks(), study: s, figures: s.drawings()}
}

// gaussians is the experiment on rows drawn from known clusters.
func gaussians(name string, clusters []cluster) func(context.Context, *Options) (*Section, error) {
	return func(ctx context.Context, o *Options) (*Section, error) {
		rows, _ := drawn(clusters, o.Seed)
		t := truth(clusters)
		p := &problem{rows: rows, k: len(clusters), plan: tablePlan, truth: t}
		s, err := p.run(ctx, name, o)
		if err != nil {
			return nil, err
		}
		var words []string
		for _, g := range clusters {
			words = append(words, fmt.Sprintf("%s around (%g, %g) with variances %g", fixed(float64(g.n), 0), g.x, g.y, g.variance))
		}
		return section(s, map[int]string{2: "Two Gaussians", 4: "Four Gaussians"}[len(clusters)],
			fmt.Sprintf("%s rows of two columns drawn from %d normal distributions: %s. The truth that parameters are measured against is those distributions, so even the best fit has an error, that of the sample.",
				fixed(float64(rows.N), 0), len(clusters), strings.Join(words, "; ")),
			"The paper's own numbers of rows, means and variances were not at hand; these are our own, as unbalanced as its title says."), nil
	}
}

// violet is the experiment on the generated picture.
func violet(ctx context.Context, o *Options) (*Section, error) {
	v := NewViolet(o.Seed)
	px := newPixels(violetWidth, violetHeight, v.RGB, v.Centre)
	centre := 0
	for _, in := range v.Centre {
		if in {
			centre++
		}
	}
	p := &problem{rows: px.rows(o.Seed), k: 40, plan: picturePlan, pixels: px}
	s, err := p.run(ctx, "violet", o)
	if err != nil {
		return nil, err
	}
	return section(s, "A violet with tiny yellow centres",
		fmt.Sprintf("A picture made by the program: %d × %d pixels, dark leaves with withered yellow spots, violet petals, and yellow centres of %d pixels, %s %% of all, which the program knows. Rows are the raw RGB values. "+
			"The yellow centres have a segment of their own where %s.", violetWidth, violetHeight, centre, fixed(100*float64(centre)/float64(len(v.Centre)), 2), OwnRule),
		"The paper segments a photograph of a St. Paulia of the same size, which could not be had; this picture imitates it. Its values are given a uniform random part of half a level up or down, because whole numbers have no density: "+
			"without it components collapse onto single grey levels. Errors are measured against the picture itself."), nil
}

// photograph returns the experiment on a photograph that comes with the program.
func photograph(name, title, which string, file []byte) func(context.Context, *Options) (*Section, error) {
	return func(ctx context.Context, o *Options) (*Section, error) {
		m, err := jpeg.Decode(bytes.NewReader(file))
		if err != nil {
			return nil, err
		}
		px := halved(m)
		p := &problem{rows: px.rows(o.Seed), k: 40, plan: picturePlan, pixels: px}
		s, err := p.run(ctx, name, o)
		if err != nil {
			return nil, err
		}
		return section(s, title,
			fmt.Sprintf("The photograph %s (CC BY 2.0, copied from scikit-learn), reduced to %d × %d pixels, each the mean of four. Rows are RGB values.", which, px.width, px.height),
			"The paper segments a photograph of a St. Paulia, 304 × 268, which could not be had. Here nobody marked a small cluster, so only likelihood and error are compared. Values are given a uniform random part of half a level up or down, as for the violet."), nil
	}
}

// halved returns an image at half its size, every pixel the rounded mean of four.
func halved(m image.Image) *pixels {
	b := m.Bounds()
	w, h := b.Dx()/2, b.Dy()/2
	rgb := make([]uint8, 0, 3*w*h)
	for i := range w * h {
		var sum [3]uint32
		for at := range 4 {
			r, g, bl, _ := m.At(b.Min.X+2*(i%w)+at%2, b.Min.Y+2*(i/w)+at/2).RGBA()
			for j, v := range []uint32{r, g, bl} {
				sum[j] += v >> 8
			}
		}
		for _, v := range sum {
			rgb = append(rgb, uint8((v+2)/4))
		}
	}
	return newPixels(w, h, rgb, nil)
}

// remarks says what else the numbers of a study show.
func (s *Study) remarks() (list []string) {
	all := s.summaries()
	for _, t := range all {
		if t.degenerate > 0 {
			list = append(list, fmt.Sprintf("%d of the %d runs of %s end with a component on the floor under variances that holds only a few rows: their log-likelihood is too high by an accident.", t.degenerate, t.runs, t.algorithm))
		}
	}
	list = append(list, fmt.Sprintf("Runs that finished, certified within 0.01 standard errors, before the %d sweeps were used up: %s.", MaxSweeps,
		each(all, func(t *summary) string { return fmt.Sprintf("%d of %d", t.converged, t.runs) })))
	best := least(all, func(t *summary) float64 { return -t.mostLikely.LogLik }).mostLikely
	list = append(list, fmt.Sprintf("The highest end of all is run %d of %s, at %s nats.", best.Number, best.Algorithm, fixed(best.LogLik, 2)))
	return append(list, s.ofSchedules()...)
}

// complexitySection is the experiment on times.
func complexitySection(ctx context.Context, o *Options) (*Section, error) {
	c, err := complexity(ctx, o)
	if err != nil {
		return nil, err
	}
	var exponents, ends []float64
	for _, v := range []string{"n", "k", "d"} {
		x, y := c.of("em", v)
		exponents = append(exponents, exponent(x, y))
		ends = append(ends, exponent(x[len(x)-2:], y[len(y)-2:]))
	}
	ratio := c.relative("anti-annealing")
	list := []Claim{
		{"A sweep of EM and of anti-annealing takes O(N K d²) operations: no more than in proportion to rows, components and squared columns.",
			verdict(exponents[0] < 1.15 && exponents[1] < 1.15 && exponents[2] < 2.2),
			fmt.Sprintf("Seconds a sweep of EM grow as rows^%.2f, components^%.2f and columns^%.2f; between the two largest sizes, where what is done once a sweep or once a row weighs least, as %.2f, %.2f and %.2f. The bound is 1, 1 and 2.",
				exponents[0], exponents[1], exponents[2], ends[0], ends[1], ends[2])},
		{"A sweep of anti-annealing costs almost the same as one of EM.", verdict(ratio < 1.25 && ratio > 0.8),
			fmt.Sprintf("A sweep of anti-annealing takes %.2f times EM's (median over the sizes; %d of its %d sweeps at another temperature than 1).", ratio, 6*timedAtABeta, timedSweeps)},
		{"A step of BFGS and of ECG costs a little more than one of EM, since it searches a line.",
			verdict(c.perStep("bfgs") > 1 && c.perStep("ecg") > 1),
			fmt.Sprintf("Sweeps an accepted step takes: em %.2f, anti-annealing %.2f, bfgs %.2f, ecg %.2f, em-lbfgs %.2f, squarem %.2f. A sweep of BFGS takes %.2f times one of EM, since it keeps a matrix of all parameters and needs the gradient; one of ECG %.2f times.",
				c.perStep("em"), c.perStep("anti-annealing"), c.perStep("bfgs"), c.perStep("ecg"), c.perStep("em-lbfgs"), c.perStep("squarem"), c.relative("bfgs"), c.relative("ecg"))},
	}
	return &Section{
		Title: "Cost of a sweep",
		Data: fmt.Sprintf("Rows of round clusters drawn at random: %s rows, %d components and %d columns, and one of the three varied: rows %s, components %s, columns %s. Each algorithm runs for %d sweeps from %d starts; the fastest counts.",
			fixed(float64(baseSize.n), 0), baseSize.k, baseSize.d, join(sizesOfN), join(sizesOfK), join(sizesOfD), timedSweeps, timedStarts),
		Differs: "The paper states the cost and does not measure it. Seconds are those of this machine at this moment and change from run to run.",
		Finding: fmt.Sprintf("complexity: seconds a sweep of EM grow as rows^%.2f, components^%.2f, columns^%.2f; sweeps a step: em %.2f, bfgs %.2f, ecg %.2f",
			exponents[0], exponents[1], exponents[2], c.perStep("em"), c.perStep("bfgs"), c.perStep("ecg")),
		Claims: list, times: c, figures: c.drawings(),
	}, nil
}

func join(v []int) string {
	var words []string
	for _, x := range slices.Sorted(slices.Values(v)) {
		words = append(words, fixed(float64(x), 0))
	}
	return strings.Join(words, ", ")
}

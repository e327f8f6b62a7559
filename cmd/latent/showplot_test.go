package main

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// result reads a model written by hand.
func result(t *testing.T, modelFile string) *latent.Result {
	t.Helper()
	m := new(model.Model)
	if err := m.UnmarshalJSON([]byte(modelFile)); err != nil {
		t.Fatal(err)
	}
	return latent.Told(m)
}

// Every dot lies on an ellipse that holds half or 95 % of its component, to within two dots, and every part of both has
// dots.
func TestEllipsesAreAtTheirDistance(t *testing.T) {
	r := result(t, `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "full", "columns": ["x", "y"],
		"weights": [0.7, 0.3], "means": [[0, 0], [30, -2]], "covariances": [[[4, 1.5], [1.5, 1]], [[9, -2], [-2, 2]]]}`)
	v := viewOf(r)
	for c, inverse := range [][3]float64{{1 / 1.75, -1.5 / 1.75, 4 / 1.75}, {2. / 14, 2. / 14, 9. / 14}} { // xx, xy, yy by hand
		one := &view{names: v.names, share: v.share[c : c+1], mean: v.mean[c : c+1], cov: func(_, j, l int) float64 { return v.cov(c, j, l) }}
		p := newPlot(plotPage{width: 120, height: 40}, "x", "y", one.extent(0), one.extent(1), 40)
		one.ellipses(p, 0, 1, rings[:])
		count := map[[2]int]int{}
		w, h := p.canvas.dots()
		for x := range w {
			for y := range h {
				if !p.canvas.on(x, y) {
					continue
				}
				at := func(dx, dy float64) (radius, angle float64) {
					a := p.x.lo + (float64(x)+dx)*(p.x.hi-p.x.lo)/float64(w-1) - one.mean[0][0]
					b := p.y.lo + (float64(y)+dy)*(p.y.hi-p.y.lo)/float64(h-1) - one.mean[0][1]
					return math.Sqrt(a*a*inverse[0] + 2*a*b*inverse[1] + b*b*inverse[2]), math.Atan2(b, a)
				}
				least, most := math.Inf(1), math.Inf(-1)
				for _, d := range [][2]float64{{-2, -2}, {-2, 2}, {2, -2}, {2, 2}, {0, 0}} {
					m, _ := at(d[0], d[1])
					least, most = min(least, m), max(most, m)
				}
				_, angle := at(0, 0)
				found := false
				// A share p of a Gaussian in the plane lies within the radius that solves p = 1 - exp(-r²/2).
				for i, share := range []float64{0.5, 0.95} {
					radius := math.Sqrt(-2 * math.Log(1-share))
					if least <= radius && radius <= most {
						found = true
						count[[2]int{i, int(math.Floor(4 * angle / math.Pi))}]++
					}
				}
				if !found {
					t.Errorf("component %d: a dot at %d, %d lies at distance %v to %v", c+1, x, y, least, most)
				}
			}
		}
		if len(count) != 16 {
			t.Errorf("component %d: dots in %d of 16 parts of the ellipses", c+1, len(count))
		}
	}
}

// The ellipse of a t distribution holds as much of it as is said, and its curve is its density: dof 2 and 1 by hand.
func TestTailsAreDrawn(t *testing.T) {
	plane := viewOf(result(t, `{"format": "latent-model", "version": 1, "model": "t", "covariance": "spherical", "columns": ["x", "y"],
		"weights": [0.5, 0.5], "means": [[0, 0], [9, 9]], "scales": [4, 1], "dof": [2, 0.001]}`))
	// With 2 degrees of freedom a share 1 - 1/(1 + r²/2) lies within r.
	for _, share := range rings {
		if got, want := plane.radius(0, share), math.Sqrt(2*(1/(1-share)-1)); math.Abs(got-want) > 1e-12*want {
			t.Errorf("%v of dof 2 within %v, want %v", share, got, want)
		}
	}
	if e := plane.extent(0); math.IsInf(e[1]-e[0], 0) {
		t.Errorf("dof 0.001: the range is %v", e)
	}
	curve := viewOf(result(t, `{"format": "latent-model", "version": 1, "model": "t", "covariance": "spherical", "columns": ["x"],
		"weights": [1], "means": [[3]], "scales": [4], "dof": [1]}`))
	for _, x := range []float64{3, 4, 50} {
		z := (x - 3) / 2
		if got, want := curve.density(x), 1/(2*math.Pi*(1+z*z)); math.Abs(got-want) > 1e-12*want {
			t.Errorf("density at %v: %v, want %v", x, got, want)
		}
	}
}

// With rows that lie anywhere the curve is the density by which the model scores rows, on scaled columns too.
func TestCurveHasTheNoise(t *testing.T) {
	const modelFile = `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "spherical", "columns": ["x"],
		"weights": [0.5, 0.2], "means": [[0], [7]], "covariances": [1, 4], "transform": [{"kind": "standard", "center": [3], "scale": [10]}],
		"noise": {"weight": 0.3, "log_volume": 4, "center": [0], "axes": [[1]], "low": [-20], "high": [30]}}`
	r := result(t, modelFile)
	v := viewOf(r)
	for _, x := range []float64{3, 70, 1e4} {
		err := r.Model.Rows(t.Context(), &data.Table{N: 1, D: 1, F64: []float64{x}}, 1, func(s *model.Scored) error {
			if got, want := v.density(x), math.Exp(s.LogDensity[0]); math.Abs(got-want) > 1e-12*want {
				t.Errorf("density at %v: %v, want %v", x, got, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The area under the curve of a density is 1.
func TestAreaUnderTheCurveIsOne(t *testing.T) {
	v := viewOf(result(t, `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "spherical", "columns": ["x"],
		"weights": [0.6, 0.4], "means": [[0], [7]], "covariances": [1, 4]}`))
	p := newPlot(plotPage{width: 120, height: 40}, "x", "density", [2]float64{-8, 15}, [2]float64{0, 0.4}, 40)
	v.drawCurve(p)
	area := 0.0
	w, h := p.canvas.dots()
	for x := range w {
		top := 0
		for y := range h {
			if p.canvas.on(x, y) {
				top = y
			}
		}
		area += float64(top) * (p.y.hi - p.y.lo) / float64(h-1) * (p.x.hi - p.x.lo) / float64(w-1)
	}
	if math.Abs(area-1) > 0.05 {
		t.Errorf("the area is %v", area)
	}
}

// Columns 2 and 4 tell the groups apart: by each itself column 1 does more than column 4, but 2 and 4 together do most, since
// they are correlated within the groups.
func TestTheMostTellingColumnsAreDrawn(t *testing.T) {
	r := result(t, `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "tied", "columns": ["a", "b", "c", "d"],
		"weights": [0.5, 0.5], "means": [[0, 0, 0, 0], [1, 2, 0.1, 0.5]],
		"covariances": [[1, 0, 0, 0], [0, 1, 0, 0.9], [0, 0, 1, 0], [0, 0.9, 0, 1]]}`)
	if x, y := viewOf(r).telling(); x != 1 || y != 3 {
		t.Errorf("columns %d and %d are drawn", x+1, y+1)
	}
	// Centres: the widest differences, in the units that distances were measured in.
	centres := `{"format": "latent-model", "version": 1, "model": "kmeans", "columns": ["a", "b", "c"], "centers": [[0, 0, 0], [1, 5, 2]]`
	if x, y := viewOf(result(t, centres+`}`)).telling(); x != 1 || y != 2 {
		t.Errorf("columns %d and %d are drawn", x+1, y+1)
	}
	r = result(t, centres+`, "transform": [{"kind": "standard", "center": [0, 0, 0], "scale": [100, 0.1, 1]}]}`)
	if x, y := viewOf(r).telling(); x != 1 || y != 2 {
		t.Errorf("scaled: columns %d and %d are drawn", x+1, y+1)
	}
	equal := `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "spherical", "columns": ["a", "b", "c"],
		"weights": [1], "means": [[1, 2, 3]], "covariances": [1]}`
	if x, y := viewOf(result(t, equal)).telling(); x != 0 || y != 1 {
		t.Errorf("one group: columns %d and %d are drawn", x+1, y+1)
	}
}

// After principal components the drawing is in their space.
func TestComponentsAreDrawnInTheirSpace(t *testing.T) {
	r := result(t, `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "diag", "columns": ["a", "b", "c"],
		"transform": [{"kind": "pca", "mean": [5, 5, 5], "components": [[0.6, 0.8, 0], [0, 0, 1]]}],
		"weights": [1], "means": [[10, 1]], "covariances": [[4, 9]]}`)
	v := viewOf(r)
	if strings.Join(v.names, " ") != "pc1 pc2" || v.mean[0][0] != 10 || v.cov(0, 1, 1) != 9 || v.cov(0, 0, 1) != 0 {
		t.Errorf("%v at %v, variance %v", v.names, v.mean, v.cov(0, 1, 1))
	}
}

// No model, however odd its numbers or many its groups, breaks the page: lines keep to its width but for what is said below.
func TestPlotsKeepToThePage(t *testing.T) {
	many := strings.Repeat("[1, 2], ", 60) + "[3, 4]"
	for name, modelFile := range map[string]string{
		"many": `"kmeans", "columns": ["x", "y"], "centers": [` + many + `]`,
		"huge": `"kmeans", "columns": ["x", "y"], "centers": [[-1e308, 1], [1e308, 1]]`,
		"tiny": `"gmm", "covariance": "diag", "columns": ["x", "y"], "weights": [1], "means": [[0, 1e9]], "covariances": [[1e-300, 1e-12]]`,
		"one":  `"gmm", "covariance": "full", "columns": ["x"], "weights": [1], "means": [[1e200]], "covariances": [[[1]]]`,
		"far":  `"kmedians", "columns": ["x"], "centers": [[1e200], [1e-200]]`,
	} {
		for _, page := range []plotPage{{width: 72, height: 24}, {width: 40, height: 12}} {
			var b bytes.Buffer
			if err := drawModel(&b, result(t, `{"format": "latent-model", "version": 1, "model": `+modelFile+`}`), page, nil); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
			for _, line := range lines[:len(lines)-1] {
				if n := len([]rune(line)); n > page.width+12 {
					t.Errorf("%s: a line of %d: %q", name, n, line)
				}
			}
			if len(lines) > page.height {
				t.Errorf("%s: %d lines on a page of %d", name, len(lines), page.height)
			}
		}
	}
}

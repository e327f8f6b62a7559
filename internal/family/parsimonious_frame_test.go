package family_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/family"
)

var turned = []family.Shape{family.TiedVolumeAxes, family.TiedAxes, family.TiedVolumeShape, family.TiedShape}

// A gradient gains along a move what it gains in the frame, a short move in the frame is the one of theta that it begins
// with, and the metric is one in both.
func TestFrameOfParsimoniousIsTheTangent(t *testing.T) {
	rng := rand.New(rand.NewPCG(73, 0))
	for _, shape := range turned {
		for d := 1; d <= 5; d++ {
			const k, h = 3, 1e-6
			g, theta := somewhere(rng, shape, k, d)
			n := len(theta)
			w, grad, z, f := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range w {
				w[i], grad[i] = rng.NormFloat64(), rng.NormFloat64()
			}
			g.Unframed(z, w, theta, k, d)
			g.Framed(f, grad, theta, k, d)
			if in, out := dotOf(f, w), dotOf(grad, z); !(math.Abs(in-out) <= 1e-10*math.Sqrt(dotOf(f, f)*dotOf(w, w))) {
				t.Errorf("%s, d %d: the slope is %v in the frame and %v in theta", shape.Mclust(), d, in, out)
			}
			ahead, back, short := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range w {
				short[i] = h * w[i]
			}
			g.Along(ahead, short, theta, k, d)
			for i := range short {
				short[i] = -short[i]
			}
			g.Along(back, short, theta, k, d)
			for i, v := range z {
				if got := (ahead[i] - back[i]) / (2 * h); !(math.Abs(got-v) <= 1e-5*math.Sqrt(dotOf(z, z))) {
					t.Errorf("%s, d %d: parameter %d moves by %v, want %v", shape.Mclust(), d, i, got, v)
				}
			}
			s := momentsOf(g, theta, theta, []float64{20, 35, 50}, k, d)
			in, out := make([]float64, n), make([]float64, n)
			g.PreconditionFramed(in, f, theta, s)
			g.Unframed(in, in, theta, k, d)
			g.Precondition(out, grad, theta, s)
			for i, v := range out {
				if !(math.Abs(in[i]-v) <= 1e-9*math.Sqrt(dotOf(out, out))) {
					t.Errorf("%s, d %d: step %d is %v in the frame, want %v", shape.Mclust(), d, i, in[i], v)
				}
			}
		}
	}
}

// Two moves along the same turns are one of both, and the way back ends where it began; a frame whose axes have changed
// their signs is another.
func TestMovesInTheFrameOfParsimoniousAddUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(79, 0))
	for _, shape := range turned {
		for d := 2; d <= 5; d++ {
			const k = 2
			g, theta := somewhere(rng, shape, k, d)
			n := len(theta)
			w, next, back := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range w {
				w[i] = 0.1 * rng.NormFloat64()
			}
			g.Along(next, w, theta, k, d)
			found := slices.Clone(w)
			if !g.Between(found, next, theta, k, d) {
				t.Fatalf("%s, d %d: a move of 0.1 leads to another frame", shape.Mclust(), d)
			}
			for i, v := range w {
				if !(math.Abs(found[i]-v) <= 1e-12) {
					t.Errorf("%s, d %d: move %d is %v, want %v", shape.Mclust(), d, i, found[i], v)
				}
				found[i] = -v
			}
			g.Along(back, found, next, k, d)
			for i, v := range theta {
				if !(math.Abs(back[i]-v) <= 1e-9*(1+math.Abs(v))) {
					t.Errorf("%s, d %d: parameter %d comes back to %v, not %v", shape.Mclust(), d, i, back[i], v)
				}
			}
			far := slices.Clone(next)
			for i := n - d*(d-1)/2; i < n; i++ {
				far[i] = 1e6
			}
			g.Project(far, k, d)
			if g.Between(slices.Clone(w), far, theta, k, d) {
				t.Errorf("%s, d %d: other axes are taken for the same frame", shape.Mclust(), d)
			}
		}
	}
}

func dotOf(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

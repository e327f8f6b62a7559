package mixture_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
)

// strong is a prior of the cloud that is anything but weak; its pseudo-rows of the weights are the components' alone.
func strong(shape family.Shape) *mixture.Prior {
	p := &family.NormalWishart{Shrinkage: 0.7, Each: 1, Mean: []float64{0.5, -0.5}, Count: 7, Scale: make([]float64, shape.Size(2))}
	for i := range p.Scale {
		p.Scale[i] = []float64{3, 0.4, 2}[i]
	}
	if len(p.Scale) == 2 {
		p.Scale[1] = 2
	}
	return &mixture.Prior{Weights: 1.5, Components: p}
}

// With noise and a prior together neither half of a step lowers the log posterior, and the gradient is that of differences.
func TestNoiseUnderAPrior(t *testing.T) {
	each(t, func(t *testing.T, c *cloud) {
		g, _, _ := c.m.Start()
		c.m.Prior = strong(g.Family.(family.Gaussian).Shape)
		theta := append([]float64(nil), c.theta...)
		c.m.SetNoise(theta, 0.4)
		s := c.sweep(theta, 1)
		for range 12 {
			next := make([]float64, len(theta))
			c.m.MStep(next, theta, s)
			before := s.F + c.m.LogPrior(theta)
			after := c.m.FreeEnergy(next, theta, 1, s) + c.m.LogPrior(next)
			e := c.sweep(next, 1)
			if slack := 1e-10 * math.Abs(before); after < before-slack || e.F+c.m.LogPrior(next) < after-slack {
				t.Fatalf("the log posterior was %v, after the M-step %v, after the E-step %v", before, after, e.F+c.m.LogPrior(next))
			}
			theta, s = next, e
		}
		d := make([]float64, len(theta))
		c.m.Grad(d, theta, s)
		for i := range d {
			at := func(h float64) float64 {
				x := append([]float64(nil), theta...)
				x[i] += h
				return c.sweep(x, 1).LogLik + c.m.LogPrior(x)
			}
			const h = 1e-4
			want := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
			within(t, fmt.Sprintf("derivative %d", i), d[i], want, 1e-5*(1+math.Abs(want)))
		}
	})
}

package experiment

import (
	"context"
	"math"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/rng"
)

// timing is what an algorithm took on one size of table.
type timing struct {
	algorithm     string
	varied        string // "n", "k" or "d": the number that differs from the base
	n, k, d       int
	sweeps, steps int
	seconds       float64
}

func (t *timing) perSweep() float64 { return t.seconds / float64(t.sweeps) }

// times is what came of the complexity experiment.
type times struct {
	threads int
	all     []timing
}

// Sizes of the tables that are timed: one number varies, the others stay at the base.
var (
	baseSize = size{n: 50_000, k: 4, d: 8}
	sizesOfN = []int{12_500, 25_000, 50_000, 100_000, 200_000}
	sizesOfK = []int{2, 4, 8, 16, 32}
	sizesOfD = []int{4, 8, 16, 32}
)

type size struct{ n, k, d int }

// How long each is timed.
const (
	timedSweeps  = 30
	timedStarts  = 3 // the fastest of three counts
	timedAtABeta = 3 // sweeps of anti-annealing at each temperature: 18 of the 30
)

// complexity times every algorithm on tables of several sizes.
func complexity(ctx context.Context, o *Options) (*times, error) {
	c := &times{threads: o.Threads}
	for _, v := range []struct {
		name  string
		sizes []int
	}{{"n", sizesOfN}, {"k", sizesOfK}, {"d", sizesOfD}} {
		for _, x := range v.sizes {
			s := baseSize
			switch v.name {
			case "n":
				s.n = x
			case "k":
				s.k = x
			case "d":
				s.d = x
			}
			o.tell("complexity: n = %d, k = %d, d = %d", s.n, s.k, s.d)
			t, err := timed(ctx, s, v.name, o)
			if err != nil {
				return nil, err
			}
			c.all = append(c.all, t...)
		}
	}
	return c, nil
}

// timed runs every algorithm on a table of one size.
func timed(ctx context.Context, s size, varied string, o *Options) (all []timing, err error) {
	spec := latent.Spec{K: s.k, Init: "random", NInit: timedStarts, Seed: &o.Seed, Threads: o.Threads, BetaSteps: timedAtABeta, Tol: new(0.0)}
	trials, err := latent.Trials(ctx, clouds(s, o.Seed), spec, Algorithms, timedSweeps, nil)
	if err != nil {
		return nil, err
	}
	for _, a := range Algorithms {
		best := timing{seconds: math.Inf(1)}
		for _, t := range trials {
			now := timing{a, varied, s.n, s.k, s.d, t.Sweeps, t.Steps, t.Seconds}
			if t.Algorithm == a && (math.IsInf(best.seconds, 1) || now.perSweep() < best.perSweep()) {
				best = now
			}
		}
		all = append(all, best)
	}
	return all, nil
}

// clouds returns rows of k round clusters, two standard deviations apart in every column on average.
func clouds(s size, seed uint64) *data.Table {
	rng := rng.Times.New(seed)
	centres := make([]float64, s.k*s.d)
	for i := range centres {
		centres[i] = 2 * rng.NormFloat64()
	}
	t := &data.Table{N: s.n, D: s.d, F64: make([]float64, s.n*s.d)}
	for i := range t.F64 {
		t.F64[i] = centres[i/s.d%s.k*s.d+i%s.d] + rng.NormFloat64()
	}
	return t
}

// of returns the timings of an algorithm with one number varied, and the values of that number.
func (c *times) of(algorithm, varied string) (x, seconds []float64) {
	for _, t := range c.all {
		if t.algorithm == algorithm && t.varied == varied {
			x = append(x, float64(map[string]int{"n": t.n, "k": t.k, "d": t.d}[varied]))
			seconds = append(seconds, t.perSweep())
		}
	}
	return x, seconds
}

// exponent returns e of the power law seconds = a x^e, by least squares on logarithms.
func exponent(x, seconds []float64) float64 {
	var mx, my, xy, xx float64
	n := float64(len(x))
	for i := range x {
		mx += math.Log(x[i]) / n
		my += math.Log(seconds[i]) / n
	}
	for i := range x {
		u := math.Log(x[i]) - mx
		xy += u * (math.Log(seconds[i]) - my)
		xx += u * u
	}
	return xy / xx
}

// perStep returns the sweeps that an accepted step took, over all sizes; the evaluation of the start is not counted.
func (c *times) perStep(algorithm string) float64 {
	sweeps, steps := 0, 0
	for _, t := range c.all {
		if t.algorithm == algorithm {
			sweeps += t.sweeps - 1
			steps += t.steps
		}
	}
	return float64(sweeps) / math.Max(float64(steps), 1)
}

// relative returns the seconds a sweep of an algorithm takes over those of EM, the median over all sizes.
func (c *times) relative(algorithm string) float64 {
	var ratio []float64
	for _, v := range []string{"n", "k", "d"} {
		_, em := c.of("em", v)
		_, own := c.of(algorithm, v)
		for i := range own {
			ratio = append(ratio, own[i]/em[i])
		}
	}
	return median(ratio)
}

package experiment

import (
	"math"
	"slices"
	"sort"
)

// summary is what the runs of one algorithm have in common.
type summary struct {
	algorithm  string
	runs       int
	logLik     spread
	error      spread // NaN where no truth is known
	sweeps     spread
	perStep    float64 // sweeps an accepted step
	seconds    spread
	mse        spread
	found      int // of runs; -1 where nothing small is known
	converged  int
	degenerate int      // runs with a degenerate component at their end
	mostLikely *Outcome // the run with the highest log-likelihood; those with a degenerate component come last
}

// spread is a mean and a standard deviation (divisor n-1; 0 for one value).
type spread struct{ mean, deviation float64 }

func spreadOf(v []float64) spread {
	s := spread{}
	for _, x := range v {
		s.mean += x / float64(len(v))
	}
	for _, x := range v {
		s.deviation += (x - s.mean) * (x - s.mean)
	}
	s.deviation = math.Sqrt(s.deviation / math.Max(float64(len(v)-1), 1))
	return s
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// summary sums up the runs of an algorithm.
func (s *Study) summary(algorithm string) *summary {
	runs := s.of(algorithm)
	each := func(value func(r *Outcome) float64) spread {
		v := make([]float64, len(runs))
		for i := range runs {
			v[i] = value(&runs[i])
		}
		return spreadOf(v)
	}
	t := &summary{
		algorithm: algorithm, runs: len(runs), found: -1,
		logLik:  each(func(r *Outcome) float64 { return r.LogLik }),
		error:   each(func(r *Outcome) float64 { return r.Error }),
		sweeps:  each(func(r *Outcome) float64 { return float64(r.Sweeps) }),
		seconds: each(func(r *Outcome) float64 { return r.Seconds }),
		mse:     each(func(r *Outcome) float64 { return r.MSE }),
	}
	steps := 0.0
	for i := range runs {
		r := &runs[i]
		steps += float64(max(r.Steps, 1))
		if r.Found != nil {
			t.found = max(t.found, 0)
			if *r.Found {
				t.found++
			}
		}
		if r.Converged {
			t.converged++
		}
		if r.Degenerate {
			t.degenerate++
		}
		if best := t.mostLikely; best == nil || best.Degenerate && !r.Degenerate || best.Degenerate == r.Degenerate && r.LogLik > best.LogLik {
			t.mostLikely = r
		}
	}
	t.perStep = t.sweeps.mean * float64(t.runs) / steps
	return t
}

// summaries sums up every algorithm, in their order.
func (s *Study) summaries() (all []*summary) {
	for _, a := range Algorithms {
		all = append(all, s.summary(a))
	}
	return all
}

// at returns the last point of a path that had used at most so many sweeps.
func at(path []Point, sweep int) Point {
	i := sort.Search(len(path), func(i int) bool { return path[i].Sweep > sweep })
	return path[max(i-1, 0)]
}

// curve returns the mean of a value over the runs of an algorithm after 1, 2, ... sweeps, up to where the longest ended. A
// run that has ended stays where it was.
func (s *Study) curve(algorithm string, value func(Point) float64) (y []float64) {
	runs := s.of(algorithm)
	longest := 0
	for _, r := range runs {
		longest = max(longest, r.Path[len(r.Path)-1].Sweep)
	}
	y = make([]float64, longest)
	for _, r := range runs {
		for i := range y {
			y[i] += value(at(r.Path, i+1)) / float64(len(runs))
		}
	}
	return y
}

func logLikOf(p Point) float64 { return p.LogLik }
func errorOf(p Point) float64  { return p.Error }

// falls counts the accepted steps of an algorithm at which the log-likelihood fell by more than rounding, and the runs.
func (s *Study) falls(algorithm string) (n int) {
	for _, r := range s.of(algorithm) {
		for i := 1; i < len(r.Path); i++ {
			if r.Path[i].LogLik < r.Path[i-1].LogLik-1e-9*math.Abs(r.Path[i].LogLik) {
				n++
			}
		}
	}
	return n
}

// least returns the summary of the least value.
func least(all []*summary, value func(*summary) float64) *summary {
	return slices.MinFunc(all, func(a, b *summary) int {
		switch x, y := value(a), value(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
}

package ascent

import (
	"context"
	"iter"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/rng"
)

// Anneal runs EM at a sequence of inverse temperatures and then climbs at 1 by another driver. Rising from below 1 is
// deterministic annealing (Ueda and Nakano 1998), which forgets the start; going above 1 and back is anti-annealing
// (Naim and Gildea 2012), which sharpens responsibilities and finds small clusters sooner. It is a search for a better
// optimum, not a faster way to the same one: F is monotone only while beta stands still.
//
// Overlapping components merge at small beta, and once equal no EM step parts them. So before beta rises from below 1
// components are nudged apart.
type Anneal struct {
	Betas   []float64 // the last must be 1
	Sweeps  int       // EM steps at each; 0 means until settled, at most MaxSettle
	MaxIter int       // accepted steps allowed
	Seed    uint64    // of the nudges
	Last    Driver    // climbs at beta = 1, from where EM at the others ended
}

// MaxSettle is how many EM steps Anneal waits at one temperature for EM to settle.
const MaxSettle = 100

// settledAt is the estimated distance, in standard errors, at which EM at one temperature has settled: closer is lost
// when the temperature moves.
const settledAt = 0.1

// Steps implements Driver.
func (a Anneal) Steps(ctx context.Context, o Objective, theta []float64) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		normal := rng.Nudges.New(a.Seed).NormFloat64
		n := 0 // M-steps taken
		for i, beta := range a.Betas[:len(a.Betas)-1] {
			last, ok := a.settle(ctx, o, theta, beta, &n, yield)
			if !ok {
				return
			}
			theta = last.Next
			if beta < 1 && a.Betas[i+1] > beta && last.Near != nil {
				theta = slices.Clone(theta) // the point is the caller's
				last.Near.Nudge(theta, normal)
			}
		}
		for s, err := range a.Last.Steps(ctx, o, theta) {
			s.Iteration += n
			s.Sweeps += n
			if s.Iteration == n && n > 0 {
				s.Change = unknown
			}
			if s.Iteration >= a.MaxIter && s.Done == Going {
				s.Done = Limit
			}
			if !yield(s, err) || err != nil || s.Done != Going {
				return
			}
		}
	}
}

// settle runs EM at one temperature and returns its last point, whose M-step is to be taken; false where the climb is
// over.
func (a Anneal) settle(ctx context.Context, o Objective, theta []float64, beta float64, n *int, yield func(Step, error) bool) (*Point, bool) {
	most := a.Sweeps
	if most == 0 {
		most = MaxSettle
	}
	var gains gainRatio
	var last *Point
	for t := range most {
		p, err := o.Eval(ctx, theta, beta)
		if err != nil {
			yield(Step{}, err)
			return nil, false
		}
		s := Step{Iteration: *n, Sweeps: *n + 1, Point: p, Halves: true, Searching: true, Change: unknown, Distance: unknown, Remaining: unknown}
		distance := unknown
		if *n == 0 {
			s.Change = 0
		}
		if t > 0 {
			s.Change = p.F - last.F
			distance = math.Sqrt(2 * gains.remaining(s.Change, p.F))
		}
		if *n >= a.MaxIter {
			s.Done = Limit
		}
		if !yield(s, nil) || s.Done != Going {
			return nil, false
		}
		*n++
		last, theta = p, p.Next
		if a.Sweeps == 0 && distance <= settledAt {
			break
		}
	}
	return last, true
}

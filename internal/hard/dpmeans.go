package hard

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/seed"
	"github.com/latent-go/latent/internal/sweep"
)

// DPMeans is k-means that finds k: it lowers SSE + lambda k, SSE the inertia and lambda the cost of a cluster in squared
// distance. It is the limit of small variance of a Dirichlet process mixture of spherical Gaussians (Kulis and Jordan
// 2012).
//
// Every sweep assigns, removes the clusters that no row is nearest to, and moves centres to means. It opens at most one
// cluster, at the farthest row whose squared distance is above lambda, from the old centre and from the new, and for
// which that pays: a row of weight 1 or more always does, since it saves its weight times its distance. Lighter rows wait
// until nothing else moves; then a cluster is tried at each of the farthest, all in one pass, and kept where SSE + lambda k
// is lower once rows and means have followed. So the objective never rises, no cluster is empty, and at the end no row is
// farther than sqrt(lambda) from its centre, rows of weight below 1 excepted: of those, none of the farthest 16 was worth
// a cluster.
//
// Lambda 0 gives every distinct row its cluster; coordinates that differ by less than 1e-12 of their size count as equal.
type DPMeans struct {
	Penalty float64 // lambda: at least 0
	MaxIter int     // steps allowed, each of which opens one cluster at most; 0 evaluates the start
	// Points, where not nil, are all rows of positive weight, about the origin of the sweeps: where the rest has ended, other
	// partitions of them are looked for that cost less.
	Points *seed.Points
}

// MostClusters is where DP-means gives up: one sweep a cluster, each as long as there are clusters, is n k^2 / 2 distances.
// That takes hours; where far more would open, LeastClusters tells at once.
const MostClusters = 10_000

// trials is how many of the farthest rows a sweep names.
const trials = 16

// Steps climbs from start, k x d centres about the origin of s; the overall mean is one. Theta grows and shrinks by d
// at a time. F is -(SSE + lambda k), and Next holds the new cluster, last, where one opens. Where Next comes from a tried
// cluster it is no M-step, and Halves is false. Sweeps counts every tried cluster as a sweep.
//
// It fails where the penalty is negative or not finite, or so small that more than 10,000 clusters would open.
func (p DPMeans) Steps(ctx context.Context, s sweep.Sweeper, start []float64, d int) iter.Seq2[ascent.Step, error] {
	return func(yield func(ascent.Step, error) bool) {
		if err := p.check(start, d); err != nil {
			yield(ascent.Step{}, err)
			return
		}
		g := &growth{DPMeans: p, ctx: ctx, sweeper: s, d: d}
		now, err := g.sweep(start)
		last := now
		for t := 0; err == nil; t++ {
			next, tried, done := now.mean(now.pays()), (*move)(nil), ascent.Going
			if slices.Equal(next.theta, now.theta) {
				if tried, err = g.try(now); err != nil {
					break
				}
				if tried == nil {
					if tried, err = g.search(now); err != nil {
						break
					}
				}
				if done = ascent.FixedPoint; tried != nil {
					next, done = *tried, ascent.Going
				}
			}
			if done == ascent.Going && t >= p.MaxIter {
				done = ascent.Limit
			}
			if !yield(ascent.Step{
				Iteration: t, Sweeps: g.sweeps, Point: now.point(next), Halves: tried == nil, Change: last.objective() - now.objective(),
				Distance: math.NaN(), Remaining: math.NaN(), Done: done,
			}, nil) || done != ascent.Going {
				return
			}
			last = now
			now, err = g.sweep(next.theta)
		}
		yield(ascent.Step{}, err)
	}
}

func (p DPMeans) check(start []float64, d int) error {
	switch {
	case !(p.Penalty >= 0) || math.IsInf(p.Penalty, 1):
		return fmt.Errorf("the penalty is %v; it must be a finite number of at least 0, in squared distance", p.Penalty)
	case d < 1 || len(start) == 0 || len(start)%d != 0:
		return fmt.Errorf("a start of %d numbers is not k centres in %d columns", len(start), d)
	}
	return nil
}

// growth is one climb.
type growth struct {
	DPMeans
	ctx     context.Context
	sweeper sweep.Sweeper
	d       int
	sweeps  int // evaluations so far

	points   *seed.Points // those that differ
	searched bool
}

// sweep sweeps with theta.
func (g *growth) sweep(theta []float64) (*partition, error) {
	q, err := g.sweepAll([]move{{theta: theta}})
	if err != nil {
		return nil, err
	}
	return q[0], nil
}

// sweepAll sweeps with the centres of every move, in one pass.
func (g *growth) sweepAll(moves []move) ([]*partition, error) {
	var tasks []sweep.Task
	for _, m := range moves {
		k := len(m.theta) / g.d
		if k > MostClusters {
			return nil, fmt.Errorf("the penalty %v opens more than %d clusters: raise it", g.Penalty, MostClusters)
		}
		tasks = append(tasks, sweep.Task{Mixture: &mixture.Mixture{Family: far{}, K: k, D: g.d}, Theta: m.theta, Beta: math.Inf(1)})
	}
	stats, err := g.sweeper.Sweep(g.ctx, tasks)
	if err != nil {
		return nil, err
	}
	g.sweeps += len(tasks)
	var found []*partition
	for i, s := range stats {
		if s.Rows == 0 {
			return nil, errors.New("there are no rows of positive weight")
		}
		found = append(found, newPartition(g.Penalty, tasks[i].Theta, s))
	}
	return found, nil
}

// try looks for a light row that is worth a cluster, the farthest first. It returns the centres that such a cluster
// leads to, or nil.
func (g *growth) try(now *partition) (*move, error) {
	var moves []move
	for i := range now.s.Far {
		if f := &now.s.Far[i]; now.mayOpen(f) {
			moves = append(moves, now.mean(f))
		}
	}
	if moves == nil {
		return nil, nil
	}
	found, err := g.sweepAll(moves)
	for _, q := range found {
		if m := q.mean(nil); m.lifted > -now.objective()*(1-1e-12) { // by more than rounding, or it could go on for ever
			return &m, nil
		}
	}
	return nil, err
}

// search looks for a partition that costs less, and returns its centres, or nil. Where no row is farther from the overall mean
// than the penalty allows, one cluster it stays: a cluster is opened for a row that is too far from its centre.
func (g *growth) search(now *partition) (*move, error) {
	if g.Points == nil || g.Penalty == 0 {
		return nil, nil
	}
	if g.points == nil {
		g.points = distinct(g.Points)
	}
	mean, far := overallMean(g.points), false
	for i := 0; i < g.points.N && !far; i++ {
		x := g.points.At(i)
		q := sqdist(x, mean)
		far = q > g.Penalty && q > noise(x)
	}
	if !far {
		return nil, nil
	}
	theta, cost, passes, err := g.lower(g.points, now.theta, now.objective())
	g.sweeps += passes
	if err != nil || theta == nil {
		return nil, err
	}
	return &move{theta: theta, lifted: -cost}, nil
}

func init() { gob.Register(far{}) } // sweeps of it may be made on other machines

// far is k-means whose sweeps name enough of the farthest rows: light ones must not hide a heavier.
type far struct{ family.KMeans }

// Bind implements family.Family.
func (far) Bind(theta []float64, k, d int) family.Kernel {
	return farKernel{family.KMeans{}.Bind(theta, k, d).(family.HardKernel)}
}

type farKernel struct{ family.HardKernel }

// FarRows implements family.HardKernel.
func (farKernel) FarRows() int { return trials }

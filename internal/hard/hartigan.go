package hard

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/par"
	"github.com/latent-go/latent/internal/seed"
)

// polish moves single rows to other clusters as long as that lowers the inertia, with Lloyd's algorithm after every round
// of it, and returns where neither has anything left. It reports false where it was cut off.
func (s *search) polish(at end) (end, bool) {
	for s.all {
		theta, moved, ok := s.round(at.theta)
		if !ok || !moved {
			return at, ok
		}
		next, ok := s.lloyd(theta, 0, nil)
		if !ok || !(next.cost < at.cost) {
			return at, ok
		}
		at = next
	}
	return at, true
}

// surely is the share of a gain that must be left for a move to be made: what rounding may be to blame for does not count.
const surely = 1e-9

// round offers every row, in order, to the other clusters once, and returns the means that this leaves. A row x of weight
// w moves from cluster a of weight n_a to b where that lowers the inertia, means included:
//
//	|x-c_b|^2 w n_b/(n_b+w) < |x-c_a|^2 w n_a/(n_a-w)
//
// (Hartigan 1975; Späth 1980). Means follow every move.
func (s *search) round(theta []float64) (next []float64, moved, ok bool) {
	p, b := s.points, &s.border
	s.passes++
	if err := b.follow(s.ctx, theta, s.threads); err != nil {
		return nil, false, false
	}
	c := clusters{d: p.D, mean: slices.Clone(theta), weight: b.weight}
	least := slices.Min(c.weight)
	for i := range p.N {
		// Most rows are settled by the two nearest centres as they were: means hardly move, and the next round sees the rest.
		a, w := int(b.label[i]), p.W[i]
		if !(c.weight[a] > w*(1+surely)) {
			continue
		}
		gain, loss := c.weight[a]/(c.weight[a]-w), least/(least+w)
		if b.settled(i, gain, loss) {
			continue
		}
		if b.look(i); b.second[i]*loss >= b.first[i]*gain {
			continue
		}
		if to := c.better(p.At(i), w, a); to >= 0 {
			c.move(p.At(i), w, a, to)
			least, moved = slices.Min(c.weight), true
		}
	}
	return c.mean, moved, true
}

// clusters are means and weights that follow every move.
type clusters struct {
	d            int
	mean, weight []float64
}

// better returns the cluster that the row x of weight w in cluster a belongs in, or -1 where it is a.
func (c *clusters) better(x []float64, w float64, a int) int {
	to, least := -1, sqdist(x, c.mean[a*c.d:])*(c.weight[a]/(c.weight[a]-w))*(1-surely)
	for b, n := range c.weight {
		if b == a {
			continue
		}
		if v := sqdist(x, c.mean[b*c.d:]) * (n / (n + w)); v < least {
			to, least = b, v
		}
	}
	return to
}

func (c *clusters) move(x []float64, w float64, a, b int) {
	c.weight[a] -= w
	c.weight[b] += w
	from, to := w/c.weight[a], w/c.weight[b]
	for j, v := range x {
		c.mean[a*c.d+j] -= from * (v - c.mean[a*c.d+j])
		c.mean[b*c.d+j] += to * (v - c.mean[b*c.d+j])
	}
}

// pairs are the two nearest centres of every point among theta: which is nearest, the lowest of equals, and both squared
// distances. The second is +Inf where there is one centre. What follows the last point in its panel counts for nothing.
type pairs struct {
	theta         []float64 // nil where nothing is known
	label         []int32
	first, second []float64
}

// compare sets q to the nearest centres of theta, unless it is. Distances are approximate where the points are a sample: that is
// inexact, too. It reports false where it was cut off.
func (s *search) compare(q *pairs, theta []float64) (ok bool) {
	if slices.Equal(q.theta, theta) {
		return true
	}
	s.passes++
	if !s.all && s.level(len(theta)/s.points.D).approximate(q, theta) {
		return true
	}
	return q.find(s.ctx, theta, s.points, s.threads) == nil
}

// reserve makes room for n points.
func (q *pairs) reserve(n int) {
	if len(q.label) < n {
		q.label, q.first, q.second = make([]int32, n), make([]float64, n), make([]float64, n)
	}
}

func (q *pairs) find(ctx context.Context, theta []float64, p *seed.Points, threads int) error {
	panels, d := p.Panels(), p.D
	k, n := len(theta)/d, len(panels)/d
	q.reserve(n)
	q.theta = nil
	scratch := make([][]float64, threads)
	err := par.Do(ctx, threads, (n+chunkRows-1)/chunkRows, func(id, chunk int) {
		if scratch[id] == nil {
			scratch[id] = make([]float64, k*kern.Rows)
		}
		dist, label := scratch[id], make([]int64, kern.Rows)
		for lo := chunk * chunkRows; lo < min(n, (chunk+1)*chunkRows); lo += kern.Rows {
			kern.SqdistFused(dist, panels[lo*d:(lo+kern.Rows)*d], theta, k, d)
			kern.TwoLeast(q.first[lo:lo+kern.Rows], q.second[lo:lo+kern.Rows], label, dist, k)
			for i, c := range label {
				q.label[lo+i] = int32(c)
			}
		}
	})
	if err == nil {
		q.theta = theta
	}
	return err
}

// distinct returns the different points, each with the weight of all that equal it, in the order they first appear: p
// itself where all differ.
func distinct(p *seed.Points) *seed.Points {
	same, repeats := firsts(p)
	if repeats == 0 {
		return p
	}
	q := &seed.Points{D: p.D, X: make([]float64, 0, (p.N-repeats)*p.D), W: make([]float64, 0, p.N-repeats)}
	to := make([]int, p.N)
	for i, w := range p.W {
		if same[i] < i {
			q.W[to[same[i]]] += w
			continue
		}
		to[i] = q.N
		q.X, q.W = append(q.X, p.At(i)...), append(q.W, w)
		q.N++
	}
	return q
}

// firsts returns for every point the first that equals it, and how many points are not the first.
func firsts(p *seed.Points) (same []int, repeats int) {
	same = make([]int, p.N)
	last, before := make(map[uint64]int, p.N), make([]int, p.N) // of one hash: the last point, and for each the one before
	for i := range p.N {
		h := hash(p.At(i))
		at, ok := last[h]
		if !ok {
			at = -1
		}
		before[i], last[h], same[i] = at, i, i
		for ; at >= 0; at = before[at] {
			if slices.Equal(p.At(at), p.At(i)) {
				same[i] = same[at]
				repeats++
				break
			}
		}
	}
	return same, repeats
}

// hash is the same for equal rows, 0 and -0 included. Four chains do not wait for each other.
func hash(x []float64) uint64 {
	mix := func(h uint64, v float64) uint64 {
		return bits.RotateLeft64((h^math.Float64bits(v+0))*0x9e3779b97f4a7c15, 29) // -0 + 0 is 0
	}
	var a, b, c, d uint64
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = mix(a, x[0]), mix(b, x[1]), mix(c, x[2]), mix(d, x[3])
	}
	for _, v := range x {
		a = mix(a, v)
	}
	return (a*3+b)*5 + bits.RotateLeft64(c*7+d, 32)
}

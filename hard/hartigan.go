package hard

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/seed"
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
	p, d := s.points, s.points.D
	near, ok := s.compare(theta, false)
	if !ok {
		return nil, false, false
	}
	c := clusters{d: d, mean: slices.Clone(theta), weight: make([]float64, len(theta)/d)}
	for i, a := range near.label {
		c.weight[a] += p.W[i]
	}
	least := slices.Min(c.weight)
	for i := range p.N {
		// Most rows are settled by the two nearest centres as they were: means hardly move, and the next round sees the rest.
		a, w := int(near.label[i]), p.W[i]
		if !(c.weight[a] > w*(1+surely)) || near.second[i]*(least/(least+w)) >= near.first[i]*(c.weight[a]/(c.weight[a]-w)) {
			continue
		}
		if b := c.better(p.At(i), w, a); b >= 0 {
			c.move(p.At(i), w, a, b)
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
// distances. The second is +Inf where there is one centre.
type pairs struct {
	theta         []float64
	label         []int32
	first, second []float64
}

func newPairs(n int) *pairs {
	n = (n + kern.Rows - 1) / kern.Rows * kern.Rows
	return &pairs{label: make([]int32, n), first: make([]float64, n), second: make([]float64, n)}
}

// compare returns the nearest centres of theta. It reports false where it was cut off. Two results are kept: the last of
// those with stay, since every breath begins with the best centres there are, and the last of the others.
func (s *search) compare(theta []float64, stay bool) (q *pairs, ok bool) {
	if stay && s.near[1] != nil && slices.Equal(s.near[1].theta, theta) {
		s.near[0], s.near[1] = s.near[1], s.near[0]
	}
	slot := &s.near[1]
	if stay || s.near[0] != nil && slices.Equal(s.near[0].theta, theta) {
		slot = &s.near[0]
	}
	if q = *slot; q == nil {
		q = newPairs(s.points.N)
		*slot = q
	}
	if slices.Equal(q.theta, theta) {
		return q, true
	}
	s.passes++
	if err := q.find(s.ctx, theta, s.panels, s.points.D, s.threads); err != nil {
		q.theta = nil
		return nil, false
	}
	n := s.points.N
	q.label, q.first, q.second = q.label[:n], q.first[:n], q.second[:n]
	return q, true
}

func (q *pairs) find(ctx context.Context, theta, panels []float64, d, threads int) error {
	k, n := len(theta)/d, len(panels)/d
	q.theta, q.label, q.first, q.second = theta, q.label[:n], q.first[:n], q.second[:n]
	scratch := make([][]float64, threads)
	return inParallel(ctx, threads, (n+chunkRows-1)/chunkRows, func(id, chunk int) {
		if scratch[id] == nil {
			scratch[id] = make([]float64, k*kern.Rows)
		}
		dist, label := scratch[id], make([]int64, kern.Rows)
		for lo := chunk * chunkRows; lo < min(n, (chunk+1)*chunkRows); lo += kern.Rows {
			kern.SqdistAll(dist, panels[lo*d:(lo+kern.Rows)*d], theta, k, d)
			kern.TwoLeast(q.first[lo:lo+kern.Rows], q.second[lo:lo+kern.Rows], label, dist, k)
			for i, c := range label {
				q.label[lo+i] = int32(c)
			}
		}
	})
}

// packed returns the points in panels of kern.Rows, variable by variable; the last is filled up with zeros.
func packed(p *seed.Points) []float64 {
	zero := make([]float64, p.D)
	x := make([]float64, (p.N+kern.Rows-1)/kern.Rows*kern.Rows*p.D)
	for lo := 0; lo < p.N; lo += kern.Rows {
		n := min(kern.Rows, p.N-lo)
		kern.Pack(x[lo*p.D:(lo+kern.Rows)*p.D], p.X[lo*p.D:(lo+n)*p.D], zero, n, p.D)
	}
	return x
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
		hash := uint64(p.D)
		for _, v := range p.At(i) {
			hash = bits.RotateLeft64((hash^math.Float64bits(v+0))*0x9e3779b97f4a7c15, 29) // +0 turns -0 into 0
		}
		at, ok := last[hash]
		if !ok {
			at = -1
		}
		before[i], last[hash], same[i] = at, i, i
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

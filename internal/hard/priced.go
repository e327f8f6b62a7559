package hard

import (
	"context"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/onedim"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
)

// Constants of the search for a lower objective of DP-means. Work is counted in coordinates of rows held against centres.
const (
	pricedOrders = 200 // orders in which rows are handed out anew
	pricedWork   = 5e7 // work after which no other place to descend from is tried
	descentWork  = 5e8 // work after which a descent ends where it is
	freeRows     = 16  // rows that differ, up to which clusters open wherever that costs less
	freeColumn   = 100 // those of one column, whose optimum is computed
	twoMeans     = 10  // steps of k-means that halve a cluster
)

// priced is a partition of points that differ into clusters, each of which costs penalty beside its squared distances.
type priced struct {
	ctx     context.Context
	points  *seed.Points
	penalty float64
	label   []int32
	clusters
	count []int // points of each cluster
	work  float64
	free  bool // clusters may open for rows that are not too far
}

// lower looks for centres with a lower objective than those of theta, whose objective is now, about the origin of the points:
// it returns nil where it finds none. passes is how many passes over the points that took.
//
// From theta, and then from other places, it descends until no move of one row to another cluster or to one of its own, no union
// of two clusters and no halving of one is left that lowers the objective, where clusters may open (see free). The other places are what remains when a
// cluster is given up, with another halved or without, and what random orders of the rows lead to, each row taking the cheaper of a
// cluster that is there and one of its own. One column of few values needs none of it: its optimum is computed.
func (g *growth) lower(points *seed.Points, theta []float64, now float64) (best []float64, objective float64, passes int, err error) {
	s := &priced{ctx: g.ctx, points: points, penalty: g.Penalty, free: free(points)}
	if points.D == 1 && s.free {
		best, err := onedim.Priced(g.ctx, points.X, points.W, g.Penalty)
		if err != nil {
			return nil, 0, 0, err
		}
		s.nearest(best)
		if s.objective() < now*(1-lower) {
			return s.mean, s.objective(), 1, nil
		}
		return nil, 0, 1, nil
	}
	rng := rng.Orders.New()
	s.nearest(theta)
	s.descend()
	top := s.clone()
	cost := top.objective()
	// better keeps what s has come to, where that is lower.
	better := func() bool {
		if s.descend(); !(s.objective() < cost*(1-lower)) {
			return false
		}
		top, cost = s.clone(), s.objective()
		return true
	}
	for again := !g.searched; again && s.spent(pricedWork); {
		again = false
		for c := 0; c < len(top.weight) && len(top.weight) > 1 && s.spent(pricedWork); c++ {
			for _, halved := range append([]int{-1}, top.widest(c)...) {
				s.restore(top)
				if halved >= 0 {
					s.halve(s.members()[halved], true)
				}
				s.dissolve(c)
				if better() {
					again = true
					break
				}
			}
		}
	}
	for try := range pricedOrders {
		if g.searched || !s.spent(pricedWork) {
			break
		}
		order := rng.Perm(points.N)
		if !s.free || try%2 == 0 {
			s.hand(order)
		} else { // about as many rows as there are clusters
			k := min(max(len(top.weight)-2+rng.IntN(5), 1), points.N)
			var theta []float64
			for _, i := range order[:k] {
				theta = append(theta, points.At(i)...)
			}
			s.nearest(theta)
		}
		better()
	}
	g.searched = true
	passes = int(math.Ceil(s.work / float64(len(points.X)*len(top.weight))))
	if err := g.ctx.Err(); err != nil {
		return nil, 0, passes, err
	}
	if !(cost < now*(1-lower)) {
		return nil, 0, passes, nil
	}
	return top.mean, cost, passes, nil
}

// free reports whether all partitions of points that differ are looked for: they are few. Where they are many the cheapest has far
// more clusters than rows are apart, since halving a cluster of n rows saves in proportion to n; there a cluster opens
// only for a row that is too far from its centre, so that the penalty says how large a cluster may be.
func free(points *seed.Points) bool {
	return points.N <= freeRows || points.D == 1 && points.N <= freeColumn
}

// Free reports whether DP-means with such Points ends at the cheapest of all partitions that it finds, whatever opens them.
func Free(points *seed.Points) bool { return free(distinct(points)) }

// mayOpen reports whether a row at a squared distance from its centre may have a cluster of its own.
func (s *priced) mayOpen(square float64) bool { return s.free || square > s.penalty }

// spent reports whether there is work left of so much, and time.
func (s *priced) spent(most float64) bool { return s.work < most && s.ctx.Err() == nil }

func (s *priced) clone() *priced {
	c := *s
	c.label, c.mean, c.weight, c.count = slices.Clone(s.label), slices.Clone(s.mean), slices.Clone(s.weight), slices.Clone(s.count)
	return &c
}

// restore makes the partition that of t.
func (s *priced) restore(t *priced) {
	work := s.work
	*s = *t.clone()
	s.work = work
}

// nearest gives every point to the nearest of the centres theta.
func (s *priced) nearest(theta []float64) {
	s.d = s.points.D
	s.label = seed.Nearest(s.points, theta, 1)
	s.work += float64(len(s.points.X) * len(theta) / s.d)
	s.settle(len(theta) / s.d)
}

// settle sets the clusters to those of the labels, which are below k; it drops empty ones.
func (s *priced) settle(k int) {
	to, used := make([]int32, k), 0
	for c := range to {
		to[c] = -1
	}
	for i, c := range s.label {
		if to[c] < 0 {
			to[c] = int32(used)
			used++
		}
		s.label[i] = to[c]
	}
	s.mean, s.weight, s.count = make([]float64, used*s.d), make([]float64, used), make([]int, used)
	for i, c := range s.label {
		w := s.points.W[i]
		s.weight[c] += w
		s.count[c]++
		share := w / s.weight[c]
		for j, x := range s.points.At(i) {
			s.mean[int(c)*s.d+j] += share * (x - s.mean[int(c)*s.d+j])
		}
	}
}

// objective is what the partition costs.
func (s *priced) objective() float64 {
	sum := s.penalty * float64(len(s.weight))
	for i, c := range s.label {
		sum += s.points.W[i] * sqdist(s.points.At(i), s.mean[int(c)*s.d:])
	}
	return sum
}

// descend makes moves that lower the objective until none is left.
func (s *priced) descend() {
	end := s.work + descentWork
	for s.spent(end) {
		if s.round() || s.unite() {
			continue
		}
		halved := false
		for _, rows := range s.members() {
			halved = s.halve(rows, false) || halved
		}
		if !halved {
			return
		}
		s.settle(len(s.weight))
	}
}

// round offers every point, in order, to the other clusters and to one of its own.
func (s *priced) round() (moved bool) {
	for i := range s.points.N {
		x, w, a := s.points.At(i), s.points.W[i], int(s.label[i])
		s.work += float64(s.d * len(s.weight))
		to, least := -1, s.penalty // what is saved where a point leaves a cluster of its own
		if s.count[a] > 1 {
			left := s.weight[a] - w
			if !(left > surely*w) {
				continue
			}
			far := sqdist(x, s.mean[a*s.d:])
			if least = w * far * (s.weight[a] / left); least*(1-surely) > s.penalty && s.mayOpen(far) && far > noise(x) {
				to = len(s.weight)
			}
		}
		least *= 1 - surely
		if to >= 0 {
			least = s.penalty
		}
		for b, n := range s.weight {
			if b == a || s.count[b] == 0 {
				continue
			}
			if v := sqdist(x, s.mean[b*s.d:]) * (w * n / (n + w)); v < least {
				to, least = b, v
			}
		}
		if to >= 0 {
			s.give(i, to)
			moved = true
		}
	}
	if moved {
		s.settle(len(s.weight))
	}
	return moved
}

// give moves point i to a cluster, which is new where it is one more than there are.
func (s *priced) give(i, to int) {
	x, w, a := s.points.At(i), s.points.W[i], int(s.label[i])
	if to == len(s.weight) {
		s.mean, s.weight, s.count = append(s.mean, x...), append(s.weight, 0), append(s.count, 0)
	}
	if s.count[a] == 1 { // which leaves it empty
		s.weight[a] = 2 * w
	}
	s.move(x, w, a, to)
	s.count[a]--
	s.count[to]++
	s.label[i] = int32(to)
}

// unite makes one of each two clusters that cost less together.
func (s *priced) unite() (united bool) {
	k := len(s.weight)
	s.work += float64(s.d * k * k / 2)
	to := make([]int, k)
	for a := range k {
		to[a] = a
	}
	for a := range k {
		for b := a + 1; b < k; b++ {
			n, m := s.weight[a], s.weight[b]
			if to[a] != a || to[b] != b || !(n*m/(n+m)*sqdist(s.mean[a*s.d:(a+1)*s.d], s.mean[b*s.d:]) < s.penalty*(1-surely)) {
				continue
			}
			for j := range s.d {
				s.mean[a*s.d+j] += m / (n + m) * (s.mean[b*s.d+j] - s.mean[a*s.d+j])
			}
			s.weight[a], to[b], united = n+m, a, true
		}
	}
	if united {
		for i, c := range s.label {
			s.label[i] = int32(to[c])
		}
		s.settle(k)
	}
	return united
}

// members returns the points of each cluster.
func (s *priced) members() [][]int {
	rows := make([][]int, len(s.weight))
	for i, c := range s.label {
		rows[c] = append(rows[c], i)
	}
	return rows
}

// widest returns up to three clusters of the largest cost, c apart.
func (s *priced) widest(c int) (list []int) {
	cost := make([]float64, len(s.weight))
	for i, a := range s.label {
		cost[a] += s.points.W[i] * sqdist(s.points.At(i), s.mean[int(a)*s.d:])
	}
	for range 3 {
		at := -1
		for a, v := range cost {
			if a != c && v > 0 && s.count[a] > 1 && !slices.Contains(list, a) && (at < 0 || v > cost[at]) {
				at = a
			}
		}
		if at >= 0 {
			list = append(list, at)
		}
	}
	return list
}

// halve parts the rows of one cluster in two by k-means from two that are far apart, where that pays, or whatever it costs. It
// sets labels and appends a cluster, whose mean the caller settles.
func (s *priced) halve(rows []int, always bool) bool {
	if len(rows) < 2 {
		return false
	}
	c := int(s.label[rows[0]])
	whole := slices.Clone(s.mean[c*s.d : (c+1)*s.d])
	farthest := func(from []float64) (at int, total float64) {
		most := -1.0
		for _, i := range rows {
			q := sqdist(s.points.At(i), from)
			if total += s.points.W[i] * q; q > most {
				at, most = i, q
			}
		}
		return at, total
	}
	s.work += float64(len(rows) * s.d)
	first, cost := farthest(whole)
	if !always && !s.mayOpen(sqdist(s.points.At(first), whole)) {
		return false
	}
	if !always && !(cost*(1-surely) > s.penalty) || sqdist(s.points.At(first), whole) <= noise(s.points.At(first)) {
		return false
	}
	second, _ := farthest(s.points.At(first))
	two := [2][]float64{slices.Clone(s.points.At(second)), slices.Clone(s.points.At(first))}
	side, halves := make([]bool, len(rows)), 0.0
	for step := range twoMeans {
		s.work += float64(2 * len(rows) * s.d)
		changed, weight, sum := step == 0, [2]float64{}, [2][]float64{make([]float64, s.d), make([]float64, s.d)}
		halves = 0
		for r, i := range rows {
			x, w := s.points.At(i), s.points.W[i]
			p, q := sqdist(x, two[0]), sqdist(x, two[1])
			halves += w * min(p, q)
			changed, side[r] = changed || side[r] != (q < p), q < p
			h := map[bool]int{true: 1}[side[r]]
			weight[h] += w
			for j, v := range x {
				sum[h][j] += w / weight[h] * (v - sum[h][j])
			}
		}
		if two = sum; !changed || weight[0] == 0 || weight[1] == 0 {
			break
		}
	}
	if !slices.Contains(side, true) || !slices.Contains(side, false) || !always && !((cost-halves)*(1-surely) > s.penalty) {
		return false
	}
	for r, i := range rows {
		if side[r] {
			s.label[i] = int32(len(s.weight))
		}
	}
	s.mean, s.weight, s.count = append(s.mean, two[1]...), append(s.weight, 1), append(s.count, 0)
	copy(s.mean[c*s.d:(c+1)*s.d], two[0])
	return true
}

// dissolve gives the points of a cluster to the others that are nearest.
func (s *priced) dissolve(c int) {
	for i, a := range s.label {
		if int(a) != c {
			continue
		}
		s.work += float64(s.d * len(s.weight))
		least := math.Inf(1)
		for b := range s.weight {
			if q := sqdist(s.points.At(i), s.mean[b*s.d:]); b != c && q < least {
				s.label[i], least = int32(b), q
			}
		}
	}
	s.settle(len(s.weight))
}

// hand hands the points out in an order, each to the cheaper of a cluster that is there and one of its own.
func (s *priced) hand(order []int) {
	s.mean, s.weight = s.mean[:0], s.weight[:0]
	for _, i := range order {
		x, w := s.points.At(i), s.points.W[i]
		s.work += float64(s.d * len(s.weight))
		to, least := len(s.weight), s.penalty
		join, near := -1, math.Inf(1)
		for b, n := range s.weight {
			q := sqdist(x, s.mean[b*s.d:])
			if v := q * (w * n / (n + w)); v < least {
				to, least = b, v
			}
			if q < near {
				join, near = b, q
			}
		}
		if to == len(s.weight) && !s.mayOpen(near) {
			to = join
		}
		if s.label[i] = int32(to); to == len(s.weight) {
			s.mean, s.weight = append(s.mean, x...), append(s.weight, w)
			continue
		}
		s.weight[to] += w
		for j, v := range x {
			s.mean[to*s.d+j] += w / s.weight[to] * (v - s.mean[to*s.d+j])
		}
	}
	s.settle(len(s.weight))
}

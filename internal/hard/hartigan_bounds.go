package hard

import (
	"context"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/seed"
)

// hartiganBounds are bounds on the distances of points from centres. By them most points keep their cluster without a comparison, and
// Hartigan's test looks at the distances of the others. Rounds hardly move the centres: a centre that moves by t comes nearer to a point, or falls behind, by at most t (Hamerly 2010), so that most
// points are settled without a comparison.
type hartiganBounds struct {
	pairs  // labels of now; distances as they were when a point was last compared
	points *seed.Points
	weight []float64 // k: of the points of each label
	// moved is how far each centre has come since all points were compared, and rival the one of the others that moved most.
	moved, rival []float64
	// A point is no farther from its centre than upper + moved, and no nearer to another than lower - rival.
	upper, lower []float64
	turn         int   // counts calls of follow
	seen         []int // the turn in which a point was last compared

	rows        []int // scratch, as the rest
	panel, dist []float64
	least, next [kern.Rows]float64
	at          [kern.Rows]int64
}

const (
	// worthwhile is how many cells of centres a comparison with all of them takes at least for bounds to be less work.
	worthwhile = 100
	// many is the share of points from which comparing all takes less time than gathering some: a row gathered takes about twice
	// as long.
	many = 0.4
)

// follow moves on to the centres theta: labels and weights are those of now.
func (b *hartiganBounds) follow(ctx context.Context, theta []float64, threads int) error {
	b.turn++
	if len(theta) < worthwhile || len(b.theta) != len(theta) {
		return b.all(ctx, theta, threads)
	}
	b.move(theta)
	least := slices.Min(b.weight)
	b.rows = b.rows[:0]
	for i, w := range b.points.W {
		// Weights as the last round left them are about right. Those that this misses are looked at one by one.
		own := b.weight[b.label[i]]
		if !b.settled(i, own/max(own-w, 0), least/(least+w)) {
			b.rows = append(b.rows, i)
		}
	}
	if float64(len(b.rows)) > many*float64(b.points.N) {
		return b.all(ctx, theta, threads)
	}
	b.some(b.rows)
	b.weigh()
	return ctx.Err()
}

// settled reports whether point i cannot gain by a move that changes its squared distance by the factors gain of the cluster
// it leaves, at least 1, and loss of that it joins, at most 1. Then its label is what it was, too.
func (b *hartiganBounds) settled(i int, gain, loss float64) bool {
	a := b.label[i]
	u, l := b.upper[i]+b.moved[a], b.lower[i]-b.rival[a]
	return l > 0 && l*l*loss*(1-surely) >= u*u*gain
}

// look brings the distances of point i up to date, whose label is.
func (b *hartiganBounds) look(i int) {
	if b.seen[i] == b.turn {
		return
	}
	x, d, a := b.points.At(i), b.points.D, int(b.label[i])
	b.second[i] = math.Inf(1)
	for c := range b.weight {
		switch v := sqdist(x, b.theta[c*d:c*d+d]); {
		case c == a:
			b.first[i] = v
		case v < b.second[i]:
			b.second[i] = v
		}
	}
	b.know(i)
}

// know sets the bounds of point i from its distances.
func (b *hartiganBounds) know(i int) {
	a := b.label[i]
	b.upper[i], b.lower[i], b.seen[i] = math.Sqrt(b.first[i])-b.moved[a], math.Sqrt(b.second[i])+b.rival[a], b.turn
}

// move moves the centres to theta.
func (b *hartiganBounds) move(theta []float64) {
	d := b.points.D
	var most, second float64
	fastest := -1
	step := b.dist[:len(b.weight)]
	for c := range step {
		step[c] = math.Sqrt(sqdist(theta[c*d:c*d+d], b.theta[c*d:]))
		b.moved[c] += step[c]
		if step[c] > most {
			most, second, fastest = step[c], most, c
		} else {
			second = max(second, step[c])
		}
	}
	for c := range step {
		if c == fastest {
			b.rival[c] += second
		} else {
			b.rival[c] += most
		}
	}
	b.theta = theta
}

// all compares every point with theta.
func (b *hartiganBounds) all(ctx context.Context, theta []float64, threads int) error {
	k, d := len(theta)/b.points.D, b.points.D
	if b.upper == nil {
		b.upper, b.lower, b.seen, b.panel = make([]float64, b.points.N), make([]float64, b.points.N), make([]int, b.points.N), make([]float64, d*kern.Rows)
	}
	if len(b.weight) != k {
		b.weight, b.moved, b.rival, b.dist = make([]float64, k), make([]float64, k), make([]float64, k), make([]float64, k*kern.Rows)
	}
	clear(b.moved)
	clear(b.rival)
	if err := b.find(ctx, theta, b.points, threads); err != nil {
		return err
	}
	for i := range b.seen {
		b.know(i)
	}
	b.weigh()
	return nil
}

// some compares the points named.
func (b *hartiganBounds) some(rows []int) {
	k, d := len(b.weight), b.points.D
	for len(rows) > 0 {
		n := min(len(rows), kern.Rows)
		for r, i := range rows[:n] {
			to := b.panel[r:]
			for j, v := range b.points.At(i) {
				to[j*kern.Rows] = v
			}
		}
		kern.SqdistFused(b.dist, b.panel, b.theta, k, d)
		kern.TwoLeast(b.least[:], b.next[:], b.at[:], b.dist, k)
		for r, i := range rows[:n] {
			b.label[i], b.first[i], b.second[i] = int32(b.at[r]), b.least[r], b.next[r]
			b.know(i)
		}
		rows = rows[n:]
	}
}

// weigh sums the weights of each label.
func (b *hartiganBounds) weigh() {
	clear(b.weight)
	for i, w := range b.points.W {
		b.weight[b.label[i]] += w
	}
}

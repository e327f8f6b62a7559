package hard

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/ascent"
	"github.com/latent-go/latent/family"
	"github.com/latent-go/latent/internal/median"
	"github.com/latent-go/latent/seed"
)

// Medians is the objective of K-medians: F is minus the sum of weighted L1 distances to the nearest centre, and the step
// moves each centre to the median of its rows, column by column: the value with half the weight on either side, where
// the derivative of sum w |x - m| changes sign. Of an interval of such values it takes the midpoint.
//
// theta is k x d centres. ascent.EM with Beta +Inf climbs it; Labels let that end when no label changes. Eval may be
// called from several goroutines at once.
type Medians struct {
	Points  *seed.Points // all weights positive; only read
	Threads int          // at least 1 is used
}

// Eval implements ascent.Objective. beta must be +Inf: labels are hard. The error is that of ctx otherwise.
//
// A cluster without rows takes the row farthest from its own centre, of equals the first, if that row has company; the
// medians are taken after it left. Labels and Lifted are those of the rows after such moves, F and Weights before.
func (m *Medians) Eval(ctx context.Context, theta []float64, beta float64) (*ascent.Point, error) {
	if !math.IsInf(beta, 1) {
		return nil, fmt.Errorf("beta is %v, but the labels of K-medians are hard: it must be +Inf", beta)
	}
	p := m.Points
	theta = slices.Clone(theta)
	a := newAssignment(p.N)
	if err := a.assign(ctx, family.Absolute{}, theta, p, nil, m.Threads); err != nil {
		return nil, err
	}
	g := newGroups(a.label, len(theta)/p.D)
	point := &ascent.Point{Theta: theta, Beta: beta, F: weightedSum(p.W, a.score), Weights: make([]float64, g.k)}
	for i, c := range a.label {
		point.Weights[c] += p.W[i]
	}
	g.fill(a)
	for i, c := range a.label {
		point.Labels += family.Fingerprint(int64(i), c)
	}
	var err error
	point.Next, point.Lifted, err = m.medians(ctx, g.order(a.label), theta)
	return point, err
}

// medians returns the centres that are the medians of the rows of each cluster, and F there. A cluster without rows
// keeps its centre.
func (m *Medians) medians(ctx context.Context, rows [][]int32, theta []float64) (next []float64, f float64, err error) {
	p := m.Points
	next, cost := slices.Clone(theta), make([]float64, len(theta))
	buffers := make([][]weighted, max(m.Threads, 1))
	err = inParallel(ctx, m.Threads, len(theta), func(id, at int) {
		mine, j, v := rows[at/p.D], at%p.D, buffers[id][:0]
		if len(mine) == 0 {
			return
		}
		for _, i := range mine {
			v = append(v, weighted{p.X[int(i)*p.D+j], p.W[i]})
		}
		next[at] = median.Middle(interval(v))
		for _, e := range v {
			cost[at] += e.w * math.Abs(e.x-next[at])
		}
		buffers[id] = v
	})
	for _, v := range cost {
		f -= v
	}
	return next, f, err
}

// groups counts the rows of each cluster.
type groups struct {
	k    int
	rows []int // k
}

func newGroups(label []int32, k int) *groups {
	g := &groups{k: k, rows: make([]int, k)}
	for _, c := range label {
		g.rows[c]++
	}
	return g
}

// fill gives every empty cluster a row. A row at its own centre has nothing to gain, and one alone would leave another
// cluster empty.
func (g *groups) fill(a *assignment) {
	for c := range g.k {
		if g.rows[c] > 0 {
			continue
		}
		far, worst := -1, 0.0
		for i, s := range a.score {
			if s < worst && g.rows[a.label[i]] > 1 {
				far, worst = i, s
			}
		}
		if far < 0 {
			return
		}
		g.rows[a.label[far]]--
		g.rows[c]++
		a.label[far], a.score[far] = int32(c), 0
	}
}

// order returns the rows of each cluster, in row order.
func (g *groups) order(label []int32) [][]int32 {
	all, of := make([]int32, len(label)), make([][]int32, g.k)
	for c, n := range g.rows {
		of[c], all = all[:0:n], all[n:]
	}
	for i, c := range label {
		of[c] = append(of[c], int32(i))
	}
	return of
}

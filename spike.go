package latent

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/latent-go/latent/ascent"
	"github.com/latent-go/latent/family"
	"github.com/latent-go/latent/seed"
)

// degenerate reports whether a point owes its height to a component on a few rows that are all but equal in some
// direction: one at the floor that holds less weight than d + 2 rows, or a narrow one. Many equal rows are a cluster.
func (f *fit) degenerate(p *ascent.Point) bool {
	few := float64(f.mix.D + 2)
	if f.spec.replicate { // rows that were drawn again and again are few all the same
		few *= rowDrawnTimes
	}
	for c, at := range f.atFloor(p) {
		if at && p.Weights[c] < few {
			return true
		}
	}
	c, _ := f.narrow(p)
	return c >= 0
}

// atFloor tells which components owe their covariance to the floor of variances.
func (f *fit) atFloor(p *ascent.Point) []bool {
	at := f.mix.Family.AtFloor(f.mix.Components(p.Theta), f.mix.K, f.mix.D)
	for c, flat := range p.Flat {
		at[c] = at[c] || flat
	}
	return at
}

// narrowRows times d + 1 rows is the weight from which on a component may be as narrow as it likes.
const narrowRows = 10

// narrow returns a component of few rows that is narrower in a column than values are told apart there, and the column; -1
// where there is none. Where values are rounded to steps, equal ones are equal by rounding, and a density that is higher than
// uniform over a step, whose variance is step^2 / 12, makes something of nothing. Components at the floor are left out.
func (f *fit) narrow(p *ascent.Point) (c, column int) {
	few := narrowRows * float64(f.mix.D+1)
	if f.grid == nil || slices.Min(p.Weights) >= few {
		return -1, -1
	}
	g, own, ok := f.gaussian(f.mix.Components(p.Theta))
	if !ok {
		return -1, -1
	}
	k, d := f.mix.K, f.mix.D
	floor := f.atFloor(p)
	q := make([]float64, g.Shape.Size(d))
	for c := range k {
		if p.Weights[c] >= few || floor[c] {
			continue
		}
		g.Covariance(q, g.ScaleOf(own, c, k, d), d)
		for j, step := range f.grid {
			v := q[0]
			switch len(q) {
			case d:
				v = q[j]
			case d * (d + 1) / 2:
				v = q[j*(j+3)/2]
			}
			if v < step*step/12 {
				return c, j
			}
		}
	}
	return -1, -1
}

// gridRows is the number of rows that steps are looked for in.
const gridRows = 5000

// grids returns for each column of the points the smallest difference of two values, where some are equal; else 0: nothing
// is rounded there. In a column of many values it is as good as 0.
func grids(p *seed.Points) []float64 {
	n := min(p.N, gridRows)
	steps, values := make([]float64, p.D), make([]float64, n)
	for j := range steps {
		for i := range n {
			values[i] = p.At(int(int64(i) * int64(p.N) / int64(n)))[j]
		}
		slices.Sort(values)
		step, equal := math.Inf(1), false
		for i := 1; i < n; i++ {
			if d := values[i] - values[i-1]; d > 0 {
				step = min(step, d)
			} else {
				equal = true
			}
		}
		if equal && !math.IsInf(step, 1) {
			steps[j] = step
		}
	}
	return steps
}

// spikeReason says why a candidate with the point cannot win; "" where it can.
func (f *fit) spikeReason(p *ascent.Point) (reason string, atFloor bool) {
	if _, _, gaussian := f.startMixture(); !gaussian {
		return "", false
	}
	if slices.Contains(f.atFloor(p), true) {
		return fmt.Sprintf("a component is at the floor of variances (%g of the columns' own), which decides its likelihood", family.MinEigenvalue), true
	}
	if c, j := f.narrow(p); c >= 0 {
		return "a component of few rows is " + f.narrower(j) + ", which decides its likelihood", false
	}
	return "", false
}

// narrower says how narrow a component is in column j.
func (f *fit) narrower(j int) string {
	if len(f.grid) != len(f.names) { // principal components
		return "narrower than the rows are told apart"
	}
	step := f.grid[j]
	for _, t := range f.transform {
		if t.Scale != nil {
			step *= t.Scale[j]
		}
	}
	return fmt.Sprintf("narrower than the steps of column %q, %s", f.names[j], strconv.FormatFloat(step, 'g', 4, 64))
}

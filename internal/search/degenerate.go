package search

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/seed"
	"github.com/latent-go/latent/internal/text"
)

// Degenerate reports whether a point owes its likelihood to a degenerate component: one on a few rows that are all but equal in some
// direction. It is at the floor of variances and holds less weight than d + 2 rows, or it is narrow, or it has factors and fewer rows than those take.
// Many equal rows are a cluster.
func (f *Fit) Degenerate(p *ascent.Point) bool {
	if f.Mix.Bayes != nil { // its prior keeps variances off 0, and the bound is no density
		return false
	}
	few := float64(f.numbers() + 2)
	if f.Plan.Replica { // rows that were drawn again and again are few all the same
		few *= rowDrawnTimes
	}
	if slices.Min(p.Weights) < few { // elsewhere the eigenvalues of all covariances would be found for nothing
		for c, at := range f.atFloor(p) {
			if at && p.Weights[c] < few {
				return true
			}
		}
	}
	if f.Plan.Shape.Factors() > 0 { // no floor tells that rows are too few for them
		if c, _ := f.scant(p); c >= 0 {
			return true
		}
	}
	c, _ := f.narrow(p)
	return c >= 0
}

// numbers returns how many columns a covariance is of.
func (f *Fit) numbers() int {
	if p, ok := f.Mix.Numbers(); ok {
		return p.D
	}
	return f.Mix.D
}

// atFloor tells which components owe their covariance to the floor of variances.
func (f *Fit) atFloor(p *ascent.Point) []bool {
	at := f.Mix.Family.AtFloor(f.Mix.Components(p.Theta), f.Mix.K, f.Mix.D)
	for c, flat := range p.Flat {
		at[c] = at[c] || flat
	}
	return at
}

// narrowRows times d + 1 rows is the weight from which on a component counts as a cluster, however narrow it is.
const narrowRows = 10

// oblique stands in place of a column for a direction that is no column's.
const oblique = -1

// narrow returns a component of few rows that is narrower than the rounding of values, and the column in which it is, or oblique; c is
// -1 where there is none. Where values are rounded to steps, equal values tell only that they lie within a step. A uniform density over a
// step has the variance step^2 / 12; a narrower one claims more than the values tell. Rounding gives every direction u the variance
// sum u_j^2 step_j^2 / 12, so no component may have less. Components at the floor are left out, and none is narrow under a prior, which
// gives each a width.
func (f *Fit) narrow(p *ascent.Point) (c, column int) {
	few := narrowRows * float64(f.numbers()+1)
	if f.grid == nil || f.Mix.Prior != nil || slices.Min(p.Weights) >= few {
		return -1, oblique
	}
	numbers, ok := f.Mix.Numbers()
	if !ok {
		return -1, oblique
	}
	if fam, ok := family.WideOf(f.Mix.Family); ok {
		return f.narrowFactors(fam, p, few)
	}
	g, own, _ := numbers.Gaussian(f.Mix.Components(p.Theta)[numbers.From:numbers.To])
	k, d := f.Mix.K, numbers.D
	floor := f.atFloor(p)
	q := make([]float64, g.Shape.Size(d))
	for c := range k {
		if p.Weights[c] >= few || floor[c] {
			continue
		}
		g.Covariance(q, g.ScaleOf(own, c, k, d), d)
		if column, ok := f.belowSteps(q); ok {
			if column != oblique {
				column = numbers.Columns[column]
			}
			return c, column
		}
	}
	return -1, oblique
}

// belowSteps reports whether a covariance q, packed as its shape has it, is less in some direction than the variance of rounding to the
// grid, and in which column, or oblique.
func (f *Fit) belowSteps(q []float64) (column int, below bool) {
	d := len(f.grid)
	matrix := d > 1 && len(q) == d*(d+1)/2
	for j, step := range f.grid {
		v := q[0]
		switch {
		case matrix:
			v = q[j*(j+3)/2]
		case len(q) == d:
			v = q[j]
		}
		if v < step*step/12 {
			return j, true
		}
	}
	if !matrix {
		return oblique, false
	}
	rest := slices.Clone(q) // what rounding does not explain
	for j, step := range f.grid {
		rest[j*(j+3)/2] -= step * step / 12
	}
	return oblique, !positive(rest, d)
}

// positive reports whether the packed lower triangle of a symmetric matrix, which it overwrites, is positive definite.
func positive(q []float64, d int) bool {
	for j := range d {
		row := q[j*(j+1)/2:][:j+1]
		for i := range j {
			v := row[i]
			for m, u := range q[i*(i+1)/2:][:i] {
				v -= row[m] * u
			}
			row[i] = v / q[i*(i+3)/2]
			row[j] -= row[i] * row[i]
		}
		if !(row[j] > 0) {
			return false
		}
		row[j] = math.Sqrt(row[j])
	}
	return true
}

// scant returns the smallest component, if it holds fewer rows than a covariance of its own takes, and that number; -1 where none
// does. A matrix of d columns takes d + 2 rows: on d + 1 it fits any rows, and its volume is an accident. Variances, or a
// volume, take 3. With q factors it is 3 (q + 1), or d + 2 if that is less: on fewer rows the mean and the factors explain more than a third of what varies
// by chance. A covariance that all components share is as good as all rows, and under a prior one is as good as its pseudo-rows. A component
// with tails takes d + 2 rows whatever its scale: a few rows far out are no group but what tails are for.
func (f *Fit) scant(p *ascent.Point) (c, need int) {
	shape := f.Plan.Shape
	code := shape.Mclust()
	switch q := shape.Factors(); {
	case !f.Plan.Shaped() || f.Mix.K == 1 || f.Mix.Prior != nil || f.Mix.Bayes != nil:
		return -1, 0
	case f.Plan.Kind.Tails:
		need = f.numbers() + 2
	case q > 0:
		need = min(3*(q+1), f.numbers()+2)
	case !strings.Contains(code, "V"):
		return -1, 0
	case shape.Matrix() && f.numbers() > 1 && strings.Contains(code[1:], "V"):
		need = f.numbers() + 2
	default:
		need = 3
	}
	c = slices.Index(p.Weights, slices.Min(p.Weights))
	if p.Weights[c] >= float64(need) {
		return -1, need
	}
	return c, need
}

// below writes a number of rows that is less than need, so that it reads as less.
func below(rows float64, need int, write func(float64, int) string, digits int) string {
	if s := write(rows, digits); s != write(float64(need), digits) {
		return s
	}
	return fmt.Sprintf("just under %d", need)
}

// shapeOf says what of a component takes so many rows.
func (f *Fit) shapeOf() string {
	if f.Plan.Kind.Tails {
		return "t distribution"
	}
	return "covariance"
}

// gridRows is the number of rows that steps are looked for in.
const gridRows = 5000

// grids returns for each column of the points the step that its values are rounded to: their smallest difference, where some are equal;
// else 0, for a column that is not rounded. In a column of many values the step is almost 0.
func grids(p *seed.Points) []float64 {
	n := min(p.N, gridRows)
	steps, values := make([]float64, p.D), make([]float64, n)
	for j := range steps {
		values = values[:0]
		for i := range n {
			if v := p.At(int(int64(i) * int64(p.N) / int64(n)))[j]; v == v {
				values = append(values, v)
			}
		}
		slices.Sort(values)
		step, equal := math.Inf(1), false
		for i := 1; i < len(values); i++ {
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

// Collapse is how a component is degenerate. A candidate with such a component never wins.
type Collapse string

// The ways to be degenerate.
const (
	Sound     Collapse = ""       // it is not
	OnFloor   Collapse = "floor"  // at the floor of variances
	TooNarrow Collapse = "narrow" // of few rows, and narrower than a column's values are told apart
	TooFew    Collapse = "few"    // of fewer rows than a covariance of its own takes
)

// Collapsed returns how a component at p is degenerate, Sound where none is, and the reason in words why a candidate with it cannot win.
func (f *Fit) Collapsed(p *ascent.Point) (how Collapse, reason string) {
	if _, ok := f.Mix.Numbers(); !ok {
		return Sound, ""
	}
	if slices.Contains(f.atFloor(p), true) {
		return OnFloor, "a " + f.Plan.Part() + " collapsed to the variance floor, which alone makes its likelihood high"
	}
	if c, j := f.narrow(p); c >= 0 {
		return TooNarrow, "a " + f.Plan.Part() + " of few rows is " + f.narrower(j) + ", which alone makes its likelihood high"
	}
	if c, need := f.scant(p); c >= 0 {
		return TooFew, fmt.Sprintf("a %s has %s rows, fewer than the %d that its %s needs", f.Plan.Part(), below(p.Weights[c], need, text.Significant, 3), need, f.shapeOf())
	}
	return Sound, ""
}

// narrower says how narrow a component is in column j, or in an oblique direction.
func (f *Fit) narrower(j int) string {
	switch {
	case f.Plan.PCA > 0: // principal components
		return "narrower than the rows are told apart"
	case j == oblique:
		return "narrower along some direction than the steps that its columns' values are rounded to"
	}
	step := 0.0
	if numbers, ok := f.Mix.Numbers(); ok {
		step = f.grid[slices.Index(numbers.Columns, j)]
	}
	for _, t := range f.Transform {
		if t.Scale != nil {
			step *= t.Scale[j]
		}
	}
	return fmt.Sprintf("narrower than the steps of column %q, %s", f.Names[j], text.Significant(step, 4))
}

// rowDrawnTimes is how many times a row of a bootstrap sample is drawn at most, but for one row in ten thousand. A degenerate component on
// a few rows may weigh so many times what it would weigh without repeats.
const rowDrawnTimes = 7

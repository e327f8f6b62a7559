package search

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

const (
	// partOfFlat is the share of the largest entry from which a column has a part in a direction in which a component is flat.
	partOfFlat = 0.02
	// isEqual is how near to 1, or to 0 in standard deviations, numbers are told as equal.
	isEqual = 1e-4
)

// flatIn says in words what is equal in the rows of component c of the model, which is component from of the point and at the floor of
// variances: the direction of the least variance, in units of the columns' own. It is empty where that cannot be told.
func (f *Fit) flatIn(m *model.Model, p *ascent.Point, c, from int) string {
	numbers, ok := f.Mix.Numbers()
	if !ok || f.Plan.PCA > 0 {
		return ""
	}
	g, own, ok := numbers.Gaussian(f.Mix.Components(p.Theta)[numbers.From:numbers.To])
	if !ok {
		return ""
	}
	d := numbers.D
	q := make([]float64, g.Shape.Size(d))
	g.Covariance(q, g.ScaleOf(own, from, numbers.K, d), d)
	direction := f.flattest(q, numbers.Columns)
	if direction == nil {
		return ""
	}
	most := 0.0
	for _, v := range direction {
		most = max(most, math.Abs(v))
	}
	var at []int
	for j, v := range direction {
		if math.Abs(v) > partOfFlat*most {
			at = append(at, j)
		}
	}
	return f.tellFlat(m, c, direction, at, numbers.Columns)
}

// flattest returns the direction of the least variance of a covariance q, packed as its shape has it, in units of the columns' standard
// deviations; nil where it has no factor.
func (f *Fit) flattest(q []float64, columns []int) []float64 {
	d := len(columns)
	v := func(j int) float64 { return f.Survey.Var[columns[j]] }
	direction := make([]float64, d)
	switch {
	case len(q) == 1 && d > 1:
		return nil // flat in all
	case len(q) == d:
		least := 0
		for j := range q {
			if q[j]/v(j) < q[least]/v(least) {
				least = j
			}
		}
		direction[least] = 1
		return direction
	}
	s := mat.NewSymDense(d, nil)
	for j := range d {
		for l := range j + 1 {
			s.SetSym(j, l, q[j*(j+1)/2+l]/math.Sqrt(v(j)*v(l)))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(s, true) {
		return nil
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	return mat.Col(direction, 0, &vectors)
}

// tellFlat says what a direction, whose parts are the number columns at, means in the user's units.
func (f *Fit) tellFlat(m *model.Model, c int, direction []float64, at, columns []int) string {
	name := func(j int) string { return strconv.Quote(f.Names[columns[j]]) }
	number := func(v float64) string { return text.Significant(v, 4) }
	var mean []float64
	for _, p := range m.Parts() {
		if p.Covariance != nil || p.Loadings != nil {
			mean = p.UserMean(c)
		}
	}
	switch len(at) {
	case 1:
		return fmt.Sprintf("; there %s is %s", name(at[0]), number(mean[at[0]]))
	case 2:
		a, b := at[0], at[1] // b in terms of a
		unit := func(j int) float64 {
			u := math.Sqrt(f.Survey.Var[columns[j]])
			for _, t := range f.Transform {
				u *= t.Scale[columns[j]]
			}
			return u
		}
		slope := -(direction[a] / unit(a)) / (direction[b] / unit(b))
		start := mean[b] - slope*mean[a]
		if math.Abs(slope-1) < isEqual {
			slope = 1
			start = mean[b] - mean[a]
		}
		plain := math.Abs(start) < isEqual*max(math.Abs(mean[b]), unit(b))
		switch {
		case plain && slope == 1:
			return fmt.Sprintf("; there %s equals %s", name(b), name(a))
		case plain:
			return fmt.Sprintf("; there %s is %s times %s", name(b), number(slope), name(a))
		case slope == 1:
			return fmt.Sprintf("; there %s is %s %s", name(b), name(a), signed(start))
		}
		return fmt.Sprintf("; there %s is %s times %s %s", name(b), number(slope), name(a), signed(start))
	}
	if len(at) > 4 {
		return ""
	}
	var names []string
	for _, j := range at {
		names = append(names, name(j))
	}
	return "; there " + text.List(names, "and") + " determine each other"
}

// signed writes a number as it is added: "plus 3" or "minus 3".
func signed(v float64) string {
	sign := "plus "
	if v < 0 {
		sign = "minus "
	}
	return sign + strconv.FormatFloat(math.Abs(v), 'g', 4, 64)
}

// warnApart names pairs of numbers that no row has both of, and reports whether there are any: the rows then do not tell how they vary
// together.
func (f *Fit) warnApart(r *Result) bool {
	numbers, ok := f.Mix.Numbers()
	if look := f.Survey; !ok || look.Gaps == nil || look.Incomplete < look.Used || !f.Plan.Shape.Matrix() {
		return false
	}
	var pairs []string
	for _, pair := range f.Survey.Gaps.Apart(numbers.Columns) {
		pairs = append(pairs, fmt.Sprintf("%q and %q", f.Names[pair[0]], f.Names[pair[1]]))
	}
	if pairs == nil {
		return false
	}
	const shown = 3
	if more := len(pairs) - shown; more > 0 {
		pairs = append(slices.Clone(pairs[:shown]), text.Count(more, "more pair")+" of columns")
	}
	r.warn(model.Warn(model.NeverTogether, "no row has a value in both %s: how they vary together is not known, and the covariance between them is a guess; --covariance diag does without", text.List(pairs, "nor in")))
	return true
}

package search

import (
	"context"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// whole is one component that describes all rows: what the default of a prior is made of.
type whole struct {
	mix    *mixture.Mixture
	theta  []float64
	sweeps int // passes that it took
}

// momentSteps is how many steps the moments of rows with gaps may take. They are complete long before.
const momentSteps = 1000

// wholePrior reports whether the plan's prior, which must be there, says all numbers that rows could tell.
func (f *Fit) wholePrior() bool {
	asked := f.Plan.Prior
	return (asked.Mean != nil && asked.Scale != nil || !f.Plan.Shaped()) && (asked.Shares != nil || !f.Plan.Leveled())
}

// LookForPrior makes the passes that a prior needs, where the plan has one that does not say all numbers: they fit one component to all rows,
// whose moments are those of the columns, or with gaps the likeliest ones. All candidates of a choice share what it finds.
func (f *Fit) LookForPrior(ctx context.Context) error {
	if f.Plan.Prior == nil || f.wholePrior() {
		return nil
	}
	p, d, shape := &f.Plan, len(f.Survey.Mean), family.Diag
	shapes, _ := p.Shapes(f.Survey.Used, d)
	if slices.ContainsFunc(shapes, family.Shape.Matrix) {
		shape = family.Full
	}
	v := f.variables(shape)
	v.RegCovar = 0
	one := &mixture.Mixture{K: 1, D: d, Uniform: true, Family: p.Kind.Family(v)}
	theta := make([]float64, one.Params())
	for _, part := range one.Parts() {
		if g, comp, ok := part.Gaussian(theta[part.From:part.To]); ok {
			for i, j := range part.Columns {
				comp[i] = f.Survey.Mean[j] - f.Origin[j]
			}
			g.FromVariances(g.ScaleOf(comp, 0, 1, part.D), g.Var)
		}
	}
	steps := 0
	if f.Survey.Missing > 0 {
		steps = momentSteps
	}
	local := sweep.NewLocal(f.Source, f.Survey.Rows, f.Origin, p.Threads)
	last, err := Climb(ctx, local, one, ascent.EM{Beta: 1, MaxIter: steps}, theta, func(ascent.Step) {})
	if err != nil {
		return err
	}
	f.whole = &whole{one, last.Point.Next, last.Sweeps}
	return nil
}

// SetPrior gives the mixture the plan's prior, and notes its numbers. It refuses a prior that does not suit the columns. Where the plan's
// does not say all numbers, LookForPrior must come first.
func (f *Fit) SetPrior() error {
	f.told = nil
	asked := f.Plan.Prior
	if asked == nil {
		return nil
	}
	rows := math.Ldexp(1, f.Units.WeightPower) // what a row of the user's weighs
	told := &model.Prior{Weights: new(valueOr(asked.Weights, 1))}
	parts, wholes := f.Mix.Parts(), []mixture.Part(nil)
	switch {
	case f.whole != nil:
		wholes = f.whole.mix.Parts()
	case !f.wholePrior():
		return plan.Wrong("Prior", "has no mean and scale, or no shares of levels, and there are no rows to find them by")
	}
	priors := make(family.PartPriors, len(parts))
	shares := asked.Shares
	for i, part := range parts {
		var comp []float64 // of the component that describes all rows
		if wholes != nil {
			comp = f.whole.theta[wholes[i].From:wholes[i].To]
		}
		kd := f.Plan.Kind.Parts(f.Plan.Types, len(part.Columns))[i].Kind
		var err error
		switch {
		case kd.Shaped:
			priors[i], err = f.numbersPrior(told, part, comp, rows)
		case kd.Cells.Bits || kd.Cells.Levels:
			if shares == nil {
				told.Shares = sharesOf(wholes[i], comp)
			} else {
				told.Shares = shares
			}
			told.Levels = new(valueOr(asked.Levels, 1))
			priors[i], err = f.levelsPrior(told, part, rows)
		}
		if err != nil {
			return err
		}
	}
	prior := &mixture.Prior{Weights: rows * (*told.Weights - 1)}
	if f.Plan.Chain {
		told.Transitions = new(valueOr(asked.Transitions, 1))
		prior.Transitions = rows * (*told.Transitions - 1)
	}
	switch {
	case len(parts) > 1 || f.Plan.Kind.Parted:
		prior.Components = priors
	case priors[0] != nil:
		prior.Components = priors[0]
	}
	f.Mix.Prior, f.told = prior, told
	return nil
}

func valueOr(v *float64, other float64) float64 {
	if v == nil {
		return other
	}
	return *v
}

// numbersPrior returns the prior of means and covariances, and adds its numbers to told. comp is the component that describes all rows.
func (f *Fit) numbersPrior(told *model.Prior, part mixture.Part, comp []float64, rows float64) (family.Prior, error) {
	asked, shape, d := f.Plan.Prior, f.Plan.Shape, part.D
	told.Shrinkage, told.Dof = new(valueOr(asked.Shrinkage, 0.01)), new(valueOr(asked.Dof, float64(d+2)))
	if !(*told.Dof > float64(d-1)) {
		return nil, plan.Wrong("Prior", "dof=%v must be above d - 1 = %d for %s; the default is d + 2 = %d", *told.Dof, d-1, text.Count(d, "column"), d+2)
	}
	if asked.Mean != nil && len(asked.Mean) != d {
		return nil, plan.Wrong("Prior", "mean has %s for %s", text.Count(len(asked.Mean), "number"), text.Count(d, "column"))
	}
	unit := kind.Picked(f.fittedUnits(), part.Columns)
	p := &family.NormalWishart{Shrinkage: rows * *told.Shrinkage, Each: rows, Mean: slices.Clone(asked.Mean), Scale: make([]float64, shape.Size(d))}
	for j, c := range part.Columns {
		if asked.Mean != nil {
			p.Mean[j] = p.Mean[j]/unit[j] - f.Origin[c]
		} else {
			p.Mean = append(p.Mean, comp[j])
		}
		told.Mean = append(told.Mean, (p.Mean[j]+f.Origin[c])*unit[j])
	}
	switch shape.Alone() {
	case family.Full:
		p.Count = *told.Dof + float64(d) + 1
	case family.Diag:
		p.Count = *told.Dof + 2
	default:
		p.Count = (*told.Dof + 2) / float64(d)
	}
	p.Count *= rows
	if err := f.priorScale(p.Scale, part, comp, unit); err != nil {
		return nil, err
	}
	q := slices.Clone(p.Scale)
	eachOf(shape, d, func(at, i, j int) {
		q[at] *= unit[i] * unit[j]
		p.Scale[at] *= rows
	})
	told.Scale = [][]float64{q}
	if shape.Matrix() {
		told.Scale = slices.Collect(slices.Chunk(kind.Unpack(shape, q, d), d))
	}
	return p, nil
}

// eachOf calls do with the place of each number of one covariance of a shape, packed, and its row and column.
func eachOf(shape family.Shape, d int, do func(at, i, j int)) {
	switch shape.Alone() {
	case family.Full:
		for i := range d {
			for j := range i + 1 {
				do(i*(i+1)/2+j, i, j)
			}
		}
	case family.Diag:
		for j := range d {
			do(j, j, j)
		}
	default:
		do(0, 0, 0)
	}
}

// priorScale sets scale, packed as the shape has it, to the scale of the prior of covariances in the units of the fit.
func (f *Fit) priorScale(scale []float64, part mixture.Part, comp, unit []float64) error {
	asked, shape, d := f.Plan.Prior, f.Plan.Shape, part.D
	if given := asked.Scale; given != nil {
		if err := checkScale(given, shape, d); err != nil {
			return err
		}
		eachOf(shape, d, func(at, i, j int) { scale[at] = given[min(i, len(given)-1)][j] / (unit[i] * unit[j]) })
		if !family.Positive(scale, shape, d) {
			return plan.Wrong("Prior", "scale must be %s", positiveName(shape))
		}
		return nil
	}
	all, _ := f.whole.mix.Numbers()
	g, comp, _ := all.Gaussian(comp)
	q, w := make([]float64, g.Shape.Size(d)), f.Weight()
	g.Covariance(q, g.ScaleOf(comp, 0, 1, d), d)
	if shape.Matrix() && slices.Contains(all.Family.AtFloor(comp, 1, d), true) {
		return plan.Wrong("Prior", "auto takes the covariance of all rows for a scale, but columns are collinear and it has no inverse: leave out a column, use --covariance diag, or give a scale")
	}
	factor := math.Pow(float64(f.Plan.K), -2/float64(d))
	if asked.ScaleFactor != nil {
		factor = *asked.ScaleFactor
	}
	if w > 1 { // the covariance with the divisor n - 1
		factor *= w / (w - 1)
	}
	variance := func(j int) float64 {
		if g.Shape.Matrix() {
			return q[j*(j+3)/2]
		}
		return q[j]
	}
	switch shape.Alone() {
	case family.Full:
		for i, v := range q {
			scale[i] = factor * v
		}
	case family.Diag:
		for j := range scale {
			scale[j] = factor * variance(j)
		}
	default:
		for j := range d {
			scale[0] += factor * variance(j) / float64(d)
		}
	}
	return nil
}

// checkScale refuses a scale of another form than the covariances have.
func checkScale(given model.PriorScale, shape family.Shape, d int) error {
	rows, numbers, words := 1, d, "a list of "+text.Count(d, "number")
	switch shape.Alone() {
	case family.Full:
		rows, words = d, text.Count(d, "list")+" of "+text.Count(d, "number")
	case family.Spherical:
		numbers, words = 1, "one number"
	}
	if len(given) != rows || slices.ContainsFunc(given, func(row []float64) bool { return len(row) != numbers }) {
		return plan.Wrong("Prior", "scale must be %s for %s covariances", words, shape)
	}
	for i := range rows {
		for j := range i {
			if a, b := given[i][j], given[j][i]; math.Abs(a-b) > 1e-9*math.Max(math.Abs(a), math.Abs(b)) {
				return plan.Wrong("Prior", "scale is not symmetric: row %d, column %d is %v, and the other way round %v", i+1, j+1, a, b)
			}
		}
	}
	return nil
}

// positiveName says what a scale must be.
func positiveName(shape family.Shape) string {
	if shape.Matrix() {
		return "finite and positive definite"
	}
	return "finite and above 0"
}

// sharesOf returns the share of each level of each column in all rows, of bits those of 0 and 1.
func sharesOf(part mixture.Part, comp []float64) (shares [][]float64) {
	fam := part.Family.(family.Natural)
	p := fam.Natural(nil, comp, 1)
	if groups, ok := fam.(family.Grouped); ok {
		groups.Groups(1, func(from, to int) { shares = append(shares, p[from:to]) })
		return shares
	}
	for _, v := range p {
		shares = append(shares, []float64{1 - v, v})
	}
	return shares
}

// levelsPrior returns the prior of probabilities with the numbers told, which it checks against the columns.
func (f *Fit) levelsPrior(told *model.Prior, part mixture.Part, rows float64) (family.Prior, error) {
	p := family.LevelPrior{Rows: rows * *told.Levels / float64(f.Plan.K)}
	if len(told.Shares) != part.D {
		return nil, plan.Wrong("Prior", "shares are of %s, but there are %d with levels", text.Count(len(told.Shares), "column"), part.D)
	}
	for i, own := range told.Shares {
		j, levels := part.Columns[i], 2
		bits := !f.Plan.Kind.CellsOf(f.Plan.Types, part.Columns[i]).Levels
		if !bits {
			levels = len(f.Plan.Levels[j])
		}
		if len(own) != levels {
			return nil, plan.Wrong("Prior", "shares of column %q: %s for %s", f.Names[j], text.Count(len(own), "number"), text.Count(levels, "level"))
		}
		if bits {
			own = own[1:]
		}
		p.Shares = append(p.Shares, own...)
	}
	return p, nil
}

// fittedUnits returns for each variable how long a step of 1 in the fit is in the units that a prior is told in: the user's, or those of
// scaled columns and principal components.
func (f *Fit) fittedUnits() []float64 {
	unit := slices.Repeat([]float64{1}, f.Mix.D)
	switch {
	case f.Plan.Scaled() || f.Units.Scale == nil:
	case model.Principal(f.Transform) != nil:
		unit = slices.Repeat([]float64{math.Ldexp(1, f.Units.ScalePower)}, f.Mix.D)
	default:
		copy(unit, f.Units.Scale)
	}
	return unit
}

// TellPrior adds to the provenance the prior, if there is one, and its log density at the final point, in the units that it is told in.
func (f *Fit) TellPrior(p *model.Provenance, at *ascent.Point) {
	if f.told == nil {
		return
	}
	log := f.UserWeight(at.Prior)
	for _, part := range f.Mix.Parts() {
		if part.Prior == nil {
			continue
		}
		if own, ok := part.Prior.Components.(*family.NormalWishart); ok {
			count := float64(part.K)*own.Each + float64(f.Plan.Shape.Count(part.K))*own.Count
			for _, u := range kind.Picked(f.fittedUnits(), part.Columns) {
				log -= f.UserWeight(count) * math.Log(u) // half the logarithm of each determinant
			}
		}
	}
	p.Prior, p.LogPrior = f.told, &log
}

package prepare

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/model"
)

// Squares, products of squares and weighted sums of them must stay within float64, whose powers of two go from -1074 to 1023.
// A fit whose columns or row weights would lead out of that range is made in other units. Columns and weights are multiplied by powers of
// two, which is exact, and everything that is reported is in the user's units again. Fits of ordinary numbers are made in the user's
// units.

const (
	// ordinaryRange is the power of two within which the range of a column is ordinary: fourth powers, and products of ten
	// variances, are then far from the ends of float64.
	ordinaryRange = 100
	// The mean row weight is ordinary between lightWeight and heavyWeight. Weights count rows, and the fit of a mixture ends
	// within --tol standard errors of its optimum. With rows of very small weight it would end anywhere; rows of very large weight
	// ask for more digits than the log-likelihood has. A silhouette needs clusters of more than one row.
	lightWeight, heavyWeight = 1.0 / 16, 1 << 20
	// tinyWeight is the least positive weight in the units of the fit, where the mean is about 1. It keeps a row among those that
	// are fitted and changes no sum.
	tinyWeight = 0x1p-500
)

// Units are what a fit measures columns and row weights by. The zero value means the user's units. A value of the user is Scale[j] times
// that of the fit; a weight of the fit is 2^WeightPower times that of the user.
type Units struct {
	Scale       []float64 // of each column: a power of two; nil where columns are in the user's units
	ScalePower  int       // the scale is 2^ScalePower where all columns have one in common; else 0
	WeightPower int       // of two, that weights are multiplied by
}

// findUnits returns the units that the first pass asks for.
func (f *Rows) findUnits() (u Units) {
	if f.Survey.Used == 0 || f.Survey.MaxWeight == 0 {
		return u
	}
	if f.Plan.Kind.Cells.Units {
		u.Scale, u.ScalePower = f.columnUnits()
	}
	u.WeightPower = f.WeightPower()
	return u
}

// columnUnits returns a scale for each column. Where the fit does not depend on the units of single columns, each has a scale of its own;
// else all have one in common, which is 2^power. The scale is nil where all ranges are ordinary.
func (f *Rows) columnUnits() (scale []float64, power int) {
	powers := make([]int, len(f.Survey.Min))
	far, largest := false, math.MinInt
	for j := range powers {
		powers[j] = rangePower(f.Survey.Min[j], f.Survey.Max[j])
		if f.units(j) && f.Survey.Min[j] < f.Survey.Max[j] {
			far = far || abs(powers[j]) > ordinaryRange
			largest = max(largest, powers[j])
		}
	}
	own := f.ownScales()
	if !far || !own && abs(largest) <= ordinaryRange {
		return nil, 0
	}
	scale = make([]float64, len(powers))
	for j, p := range powers {
		switch constant := f.Survey.Min[j] == f.Survey.Max[j]; {
		case !f.units(j):
			p = 0
		case !own:
			p = largest
			if constant { // it tells no rows apart, but must not overflow
				_, e := math.Frexp(f.Survey.Min[j])
				p = max(p, e-ordinaryRange)
			}
		case constant || abs(p) <= ordinaryRange:
			p = 0
		}
		scale[j] = math.Ldexp(1, p)
	}
	if own {
		largest = 0
	}
	return scale, largest
}

// rangePower returns p such that hi - lo is at most 2^p and at least half of that, except for the largest numbers.
func rangePower(lo, hi float64) int {
	_, p := math.Frexp(hi - lo)
	if math.IsInf(hi-lo, 0) {
		p = 1023 // 2^1024 is no float64; the range is then at most 4 units
	}
	return p
}

func abs(p int) int { return max(p, -p) }

// ownScales reports whether columns may have units of their own, since the result does not depend on them: rows are scaled before they are
// fitted, or a change of units maps every mixture of the shape to another of the same shape.
func (f *Rows) ownScales() bool {
	if f.Plan.Scaled() {
		return true
	}
	if !f.Plan.Kind.Shaped || f.Plan.PCA != 0 || f.Plan.RegCovar != 0 {
		return false
	}
	return !f.Plan.OneUnit && f.Plan.Shape.Rescales()
}

// WeightPower returns the power of two that weights are multiplied by, 0 where they are ordinary.
func (f *Rows) WeightPower() int {
	if f.Plan.Penalty != nil || f.Plan.Bayes() { // a row of weight 2 is two rows, each of which may open a cluster, or counts beside a prior
		return 0
	}
	mean := f.Survey.W / float64(f.Survey.Used)
	if math.IsInf(mean, 1) {
		mean = f.Survey.MaxWeight
	}
	if mean >= lightWeight && mean <= heavyWeight {
		return 0
	}
	_, p := math.Frexp(mean)
	return 1 - p
}

// rescale puts the rows into the units that the first pass asks for, and makes another first pass if they are not the user's.
func (f *Rows) rescale(ctx context.Context) (err error) {
	f.Units = f.findUnits()
	if f.Units.Scale == nil && f.Units.WeightPower == 0 {
		return nil
	}
	if f.Source, err = f.Units.rows(ctx, f.Source); err != nil {
		return err
	}
	if f.Units.Scale != nil {
		f.Transform = []model.Transform{f.Units.transform()}
	}
	f.measured = f.Source
	plain := f.Survey
	if f.Survey, err = f.look(ctx); err != nil || !f.Plan.Kind.Shaped {
		return err
	}
	for j, lo := range f.Survey.Min {
		if lo == f.Survey.Max[j] && plain.Min[j] < plain.Max[j] {
			return plan.Errorf("column %q: its values are so small beside those of the others that no float64 holds both in one unit; multiply the column by a constant, or use --scale standard", f.Names[j])
		}
	}
	return nil
}

// transform returns the units of columns as a change of variables.
func (u *Units) transform() model.Transform {
	return model.Transform{Kind: "standard", Center: make([]float64, len(u.Scale)), Scale: u.Scale}
}

// rows returns src in the units. A table stays one.
func (u *Units) rows(ctx context.Context, src data.Source) (data.Source, error) {
	out := src
	if u.Scale != nil {
		t := u.transform()
		out = t.Rows(out)
	}
	if u.WeightPower != 0 {
		out = Reweighted(out, u.WeightPower)
	}
	table, ok := src.(*data.Table)
	if !ok {
		return out, nil
	}
	t := *table
	r, err := out.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	t.F64, t.F32, t.W = make([]float64, 0, t.N*t.D), nil, nil
	var b data.Block
	for {
		if err := r.Read(&b, 4096); err == io.EOF {
			return &t, nil
		} else if err != nil {
			return nil, err
		}
		for i := range b.N * b.D {
			t.F64 = append(t.F64, b.At(i/b.D, i%b.D))
		}
		t.W = append(t.W, b.W...)
	}
}

// Reweighted returns src with its row weights multiplied by 2^power; positive ones stay positive.
func Reweighted(src data.Source, power int) data.Source { return data.Viewed(src, weightView{power}) }

// reweighted is a source whose row weights are multiplied by 2^power. Positive ones stay above tinyWeight.
type reweighted struct {
	data.Source
	power int
}

// weightView is the view of reweighted rows.
type weightView struct{ Power int }

// Rows implements data.View.
func (v weightView) Rows(src data.Source) data.Source { return &reweighted{src, v.Power} }

// Open implements data.Source.
func (s *reweighted) Open(ctx context.Context) (data.Reader, error) {
	r, err := s.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &reweightedReader{Reader: r, power: s.power}, nil
}

// reweightedReader keeps the new weights in memory of its own, since those of the reader below may be a view of the table.
type reweightedReader struct {
	data.Reader
	power int
}

// Read implements data.Reader.
func (r *reweightedReader) Read(b *data.Block, n int) error {
	if err := r.Reader.Read(b, n); err != nil {
		return err
	}
	w := make([]float64, b.N)
	for i := range w {
		if v := b.Weight(i); v > 0 {
			w[i] = max(math.Ldexp(v, r.power), tinyWeight)
		}
	}
	b.W = w
	return nil
}

// UserWeight returns a sum of the fit's row weights, or what is in proportion to one, in the user's units.
func (f *Rows) UserWeight(w float64) float64 { return math.Ldexp(w, -f.Units.WeightPower) }

// Weight returns the sum of the row weights as the user gave them.
func (f *Rows) Weight() float64 { return f.UserWeight(f.Survey.W) }

// UserObjective returns the objective h of a point of the fit in the user's units: a log-likelihood in nats, or minus a cost.
func (f *Rows) UserObjective(h float64) float64 {
	if f.Plan.Mixture() {
		return f.UserWeight(h + f.LogJacobian())
	}
	return math.Ldexp(h, f.CostPower()-f.Units.WeightPower)
}

// CostPower returns the power of two that a cost of the fit is multiplied by to be in the user's units: that of a squared distance, or of a
// distance for K-medians. Where --scale scales the columns, costs are of scaled columns and it is 0.
func (f *Rows) CostPower() int {
	switch {
	case f.Plan.Scaled():
		return 0
	case f.Plan.Medians():
		return f.Units.ScalePower
	}
	return 2 * f.Units.ScalePower
}

// SquareInUnits returns a squared distance of the user, or what is added to variances, in the units of the fit.
func (f *Rows) SquareInUnits(square float64) float64 {
	if f.Plan.Scaled() {
		return square
	}
	return math.Ldexp(square, -2*f.Units.ScalePower)
}

// UserTransforms returns the transforms that the user asked for: all but that of the units. It shares memory with Transform.
func (f *Rows) UserTransforms() []model.Transform {
	if f.Units.Scale != nil {
		return f.Transform[1:]
	}
	return f.Transform
}

// ToUserUnits brings a model of the fit, whose first transform is that of the units, to the user's units. It changes m, which gets new
// slices.
func (f *Rows) ToUserUnits(m *model.Model) {
	if f.Units.Scale == nil {
		return
	}
	m.Transform = slices.Clone(m.Transform[1:])
	remeasure(m, f.Units.Scale, func(v, s float64) float64 { return v * s })
	if len(m.Transform) == 0 {
		m.Transform = nil
	}
}

// FromUserUnits returns a model in the user's units in those of the fit: the inverse of ToUserUnits. m stays as it is.
func (f *Rows) FromUserUnits(m *model.Model) *model.Model {
	if f.Units.Scale == nil {
		return m
	}
	c := *m
	c.Transform = slices.Clone(m.Transform)
	remeasure(&c, f.Units.Scale, func(v, s float64) float64 { return v / s })
	c.Transform = slices.Insert(c.Transform, 0, f.Units.transform())
	return &c
}

// remeasure changes the units of a model. It replaces v by by(v, scale[j]) where v is a length in column j, and does so twice for each
// product of two lengths, with the scales of both columns. It makes new slices.
func remeasure(m *model.Model, scale []float64, by func(v, s float64) float64) {
	row := func(x []float64) []float64 {
		y := make([]float64, len(x))
		for j, v := range x {
			y[j] = by(v, scale[j])
		}
		return y
	}
	if len(m.Transform) > 0 && m.Transform[0].Scale != nil {
		m.Transform[0].Center, m.Transform[0].Scale = row(m.Transform[0].Center), row(m.Transform[0].Scale)
		return
	}
	if len(m.Transform) > 0 { // principal components, of columns of one scale
		m.Transform[0].Mean = row(m.Transform[0].Mean)
		scale = slices.Repeat(scale[:1], len(m.Variables()))
	}
	if m.Types != nil { // means and covariances are of the numbers alone
		own := scale[:0:0]
		for j, t := range m.Types {
			if t == data.Number {
				own = append(own, scale[j])
			}
		}
		scale = own
	}
	if m.Noise != nil {
		factor := make([]float64, len(scale))
		for j, s := range scale {
			factor[j] = by(1, s)
		}
		m.Noise = m.Noise.Scaled(factor)
	}
	means, covariance := make([][]float64, len(m.Means)), [][]float64(nil) // nil as it was: of few factors there is none
	for c, mean := range m.Means {
		means[c] = row(mean)
	}
	for _, cov := range m.Covariance {
		d := len(scale)
		q := make([]float64, len(cov))
		for i, v := range cov {
			if m.Shape.Matrix() {
				q[i] = by(by(v, scale[i/d]), scale[i%d])
			} else {
				q[i] = by(by(v, scale[i]), scale[i])
			}
		}
		covariance = append(covariance, q)
	}
	m.Means, m.Covariance = means, covariance
	m.Loadings, m.Uniquenesses = remeasuredFactors(m, scale, by)
}

// remeasuredFactors is remeasure of loadings and uniquenesses; nil where there are none.
func remeasuredFactors(m *model.Model, scale []float64, by func(v, s float64) float64) (loadings, uniquenesses [][]float64) {
	q := m.Shape.Factors()
	for _, flat := range m.Loadings {
		own := make([]float64, len(flat))
		for i, v := range flat {
			own[i] = by(v, scale[i/q])
		}
		loadings = append(loadings, own)
	}
	for _, u := range m.Uniquenesses {
		own := make([]float64, len(u))
		for j, v := range u {
			own[j] = by(by(v, scale[j]), scale[j])
		}
		uniquenesses = append(uniquenesses, own)
	}
	return loadings, uniquenesses
}

// The variance of a column, in the user's units, must lie between these bounds. Sums over rows then have full precision, and so has the floor
// of the variances of a mixture.
const (
	leastVariance = 0x1p-960
	mostVariance  = 0x1p+1020
	// leastSpread is the least variance of the widest column of k-means.
	leastSpread = 0x1p-1000
)

// checkRange refuses columns whose results float64 could not hold.
func (f *Rows) checkRange(context.Context) error {
	if f.Plan.Binarize != nil || f.Plan.Medians() || !f.Plan.Kind.Shaped && f.Plan.Scaled() {
		return nil
	}
	widest, largest := 0, math.Inf(-1) // of log2 of the variance, for k-means
	for j, v := range f.Survey.Var {
		if v == 0 || !f.units(j) && f.Plan.Kind.Parted {
			continue
		}
		power := math.Log2(v)
		if f.Units.Scale != nil {
			power += 2 * math.Log2(f.Units.Scale[j])
		}
		if power > largest {
			widest, largest = j, power
		}
		if power > math.Log2(mostVariance) {
			return tooLarge(f.Names[j])
		}
		if f.Plan.Mixture() && power < math.Log2(leastVariance) {
			return tooSmall(f.Names[j])
		}
	}
	if !f.Plan.Mixture() && largest < math.Log2(leastSpread) && !math.IsInf(largest, -1) {
		return tooSmall(f.Names[widest])
	}
	return nil
}

func tooLarge(column string) error {
	return fmt.Errorf("column %q: the values are so large that their variance overflows; divide the column by a constant", column)
}

func tooSmall(column string) error {
	return fmt.Errorf("column %q: the values are so small that their variance underflows; multiply the column by a constant", column)
}

package latent

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/latent-go/latent/internal/mixture"
)

// given is the model that a fit starts from, with its columns and levels in the order of the fit's.
type given struct {
	model  *Model
	theta  []float64 // of its components of a weight above 0, where the climb begins
	at     []int     // for each of its components the place among those of theta; -1 for one of weight 0
	raised bool      // its covariances lay below the floor of variances and were raised to it
}

// fromModel returns the parameters of a model in this fit's coordinates. Columns and levels are met by name. A component of
// weight 0 takes no part in the climb, which gives it no row: the fit has fewer components until it has ended.
func (f *fit) fromModel(m *Model) ([]float64, error) {
	if err := m.whole(); err != nil {
		return nil, bad("init", "model: %s", err)
	}
	if err := m.check(); err != nil {
		return nil, bad("init", "model: %s", err)
	}
	switch {
	case m.Kind != f.spec.kind().Name:
		return nil, bad("init", "model: it is a %s model, but %s is fitted", m.Kind, f.spec.kind().Name)
	case m.K() != f.spec.K:
		return nil, bad("init", "model: it has %d components, but -k is %d", m.K(), f.spec.K)
	case m.kind().Shaped && m.Shape != f.spec.shape():
		return nil, bad("init", "model: it has %s covariances, but %s ones are fitted", m.Shape, f.spec.shape())
	}
	m, err := m.arranged(f.names, f.spec.Levels)
	if err != nil {
		return nil, bad("init", "model: %s", err)
	}
	plain := m.Transform
	m = f.unfold(m)
	if !slices.EqualFunc(m.Transform, f.transform, sameTransform) {
		return nil, bad("init", "model: %s", otherTransform(plain, f.userSteps()))
	}
	f.given = &given{model: m, at: make([]int, m.K())}
	some := m
	if !f.mix.Uniform {
		some, _ = m.present()
	}
	f.mix.K = some.K()
	for c, next := 0, 0; c < m.K(); c++ {
		if f.given.at[c] = -1; some == m || m.Weights[c] > 0 {
			f.given.at[c] = next
			next++
		}
	}
	theta, err := f.thetaOf(some, false)
	if err == nil {
		inside := slices.Clone(theta)
		f.mix.Project(inside)
		f.given.raised = !slices.Equal(inside, theta)
	}
	if err != nil || f.given.raised {
		if theta, err = f.thetaOf(some, true); err != nil {
			return nil, bad("init", "model: %s", err)
		}
		f.mix.Project(theta)
	}
	f.given.theta = theta
	return theta, nil
}

// thetaOf returns the parameters of a model of the fit's kind in its coordinates: covariances below the floor as they are,
// or raised to it.
func (f *fit) thetaOf(m *Model, raise bool) ([]float64, error) {
	theta := make([]float64, f.mix.Params())
	if f.mix.Family.Density() && !f.mix.Uniform {
		for c, w := range m.Weights {
			theta[c] = max(math.Log(w), mixture.MinLogWeight)
		}
	}
	return theta, m.fill(f.mix.Family, f.mix.Components(theta), f.origin, raise)
}

// unmoved returns the model that the fit started from, where theta is that start: its own numbers and their order, which
// coordinates would not give back to the last bit. ok is false elsewhere.
func (f *fit) unmoved(theta []float64) (m *Model, order []int, ok bool) {
	if f.given == nil || f.given.raised || !slices.Equal(theta, f.given.theta) {
		return nil, nil, false
	}
	g := f.given.model
	m = &Model{Kind: g.Kind, Shape: g.Shape, Columns: g.Columns, Levels: g.Levels, Weights: g.Weights, Means: g.Means,
		Covariance: g.Covariance, Probabilities: g.Probabilities, Transform: g.Transform}
	if f.mix.Uniform && slices.Min(m.Weights) < slices.Max(m.Weights) {
		m.Weights = slices.Repeat([]float64{1 / float64(m.K())}, m.K())
	}
	f.fold(m)
	return m, f.given.at, true
}

// addAbsent adds to a model, and to the order of its components, those that took no part in the fit: as they were given, but
// for what all covariances share.
func (f *fit) addAbsent(m *Model, order []int) []int {
	if f.given == nil {
		return order
	}
	g := f.given.model
	for c, at := range f.given.at {
		if at >= 0 {
			continue
		}
		order, m.Weights = append(order, -1), append(m.Weights, 0)
		if g.Means != nil {
			m.Means = append(m.Means, g.Means[c])
		}
		if g.Probabilities != nil {
			m.Probabilities = append(m.Probabilities, g.Probabilities[c])
		}
		if m.kind().Shaped && !m.Shape.Shared() {
			m.Covariance = append(m.Covariance, f.shaped(m, g.Covariance[c]))
		}
	}
	return order
}

// absent returns how many components take no part.
func (f *fit) absent() (n int) {
	if f.given != nil {
		for _, at := range f.given.at {
			if at < 0 {
				n++
			}
		}
	}
	return n
}

// arranged returns the model with its columns in the order of the names and its levels in that of levels, which is nil where
// there are none. Where either side has numbers 1 to d for names, columns are met by position. It shares memory with m.
func (m *Model) arranged(names []string, levels [][]string) (*Model, error) {
	at, err := placesOf(m.Columns, names)
	if err != nil {
		return nil, err
	}
	own := *m
	own.Columns = names
	if moved := !inOrder(at); moved {
		own.Transform = slices.Clone(m.Transform)
		for i := range own.Transform {
			if own.Transform[i].arrange(at); own.Transform[i].Kind == "pca" {
				break // what follows has components for columns
			}
		}
		if m.PCA() == nil {
			own.Means, own.Covariance = eachPicked(m.Means, at), make([][]float64, len(m.Covariance))
			for c, cov := range m.Covariance {
				own.Covariance[c] = arrangedCovariance(cov, at)
			}
			if !m.kind().Cells.Levels {
				own.Probabilities = eachPicked(m.Probabilities, at)
			}
		}
	}
	if !m.kind().Cells.Levels {
		return &own, nil
	}
	return own.withLevels(m, at, levels)
}

// withLevels sets the levels of own, a copy of m whose column j is column at[j] of m, and the probabilities that go with them.
func (own *Model) withLevels(m *Model, at []int, levels [][]string) (*Model, error) {
	first := make([]int, len(m.Levels)+1) // where in a row of probabilities each column of m begins
	for j, names := range m.Levels {
		first[j+1] = first[j] + len(names)
	}
	var places []int
	for j, from := range at {
		have := m.Levels[from]
		if few := without(have, levels[j]); few != nil {
			return nil, fmt.Errorf("it has %s of column %q, which no row has", listed("the level", few), own.Columns[j])
		}
		if more := without(levels[j], have); more != nil {
			return nil, fmt.Errorf("it does not have %s of column %q, which rows have", listed("the level", more), own.Columns[j])
		}
		for _, name := range levels[j] {
			places = append(places, first[from]+slices.Index(have, name))
		}
	}
	own.Levels, own.Probabilities = levels, eachPicked(m.Probabilities, places)
	return own, nil
}

// placesOf returns for each name in want its place in have: by name, or by position where one side has numbers for names.
func placesOf(have, want []string) ([]int, error) {
	at := make([]int, len(want))
	for j := range at {
		at[j] = j
	}
	missing, extra := without(want, have), without(have, want)
	switch nameless := numbered(have) || numbered(want); {
	case nameless && len(have) != len(want):
		return nil, fmt.Errorf("it has %d columns, but %d are fitted", len(have), len(want))
	case nameless && missing != nil:
		return at, nil
	case missing != nil && extra != nil:
		return nil, fmt.Errorf("it does not have %s, which is fitted, and has %s, which is not; fit its columns with --columns %s", listed("the column", missing), listed("the column", extra), flagOf(have))
	case missing != nil:
		return nil, fmt.Errorf("it does not have %s, which is fitted; fit its columns with --columns %s", listed("the column", missing), flagOf(have))
	case extra != nil:
		return nil, fmt.Errorf("it has %s, which is not fitted", listed("the column", extra))
	}
	for j, name := range want {
		at[j] = slices.Index(have, name)
	}
	return at, nil
}

// flagOf returns names as a flag takes them, at most as many as fit a line.
func flagOf(names []string) string {
	for _, name := range names {
		if strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }) || len(names) > 4*mostListed {
			return "..."
		}
	}
	return strings.Join(names, ",")
}

// numbered reports whether the names are those of columns without names: 1, 2 and on.
func numbered(names []string) bool {
	for j, name := range names {
		if name != strconv.Itoa(j+1) {
			return false
		}
	}
	return true
}

// inOrder reports whether the places are 0, 1, 2 and on.
func inOrder(at []int) bool {
	for j, from := range at {
		if j != from {
			return false
		}
	}
	return true
}

// without returns the names that are not among others; nil where all are.
func without(names, others []string) (out []string) {
	among := make(map[string]bool, len(others))
	for _, name := range others {
		among[name] = true
	}
	for _, name := range names {
		if !among[name] {
			out = append(out, name)
		}
	}
	return out
}

// mostListed is how many names a message lists.
const mostListed = 6

// listed returns `the column "a"`, or `the columns "a" and "b"`.
func listed(what string, names []string) string {
	quoted := make([]string, 0, mostListed)
	for _, name := range names[:min(len(names), mostListed)] {
		quoted = append(quoted, strconv.Quote(name))
	}
	switch n := len(names); {
	case n == 1:
		return what + " " + quoted[0]
	case n > mostListed:
		return fmt.Sprintf("%ss %s and %d more", what, strings.Join(quoted, ", "), n-mostListed)
	}
	last := len(quoted) - 1
	return fmt.Sprintf("%ss %s and %s", what, strings.Join(quoted[:last], ", "), quoted[last])
}

// picked returns v in the order of the places.
func picked(v []float64, at []int) []float64 {
	if v == nil {
		return nil
	}
	out := make([]float64, len(at))
	for j, from := range at {
		out[j] = v[from]
	}
	return out
}

func eachPicked(rows [][]float64, at []int) [][]float64 {
	if rows == nil {
		return nil
	}
	out := make([][]float64, len(rows))
	for i, row := range rows {
		out[i] = picked(row, at)
	}
	return out
}

// arrangedCovariance returns a covariance of columns in the order of the places: a matrix, variances or one number.
func arrangedCovariance(cov []float64, at []int) []float64 {
	switch d := len(at); len(cov) {
	case d:
		return picked(cov, at)
	case d * d:
		out := make([]float64, 0, d*d)
		for _, j := range at {
			out = append(out, picked(cov[j*d:j*d+d], at)...)
		}
		return out
	}
	return cov
}

// arrange gives a transform new columns: the places of the old ones.
func (t *Transform) arrange(at []int) {
	t.Center, t.Scale, t.Mean = picked(t.Center, at), picked(t.Scale, at), picked(t.Mean, at)
	t.Components = eachPicked(t.Components, at)
}

// sameAxes is how far two axes of principal components may be apart to be the same: the processor's level decides on their
// last digits.
const sameAxes = 1e-9

func sameTransform(a, b Transform) bool {
	near := func(x, y []float64) bool {
		return slices.EqualFunc(x, y, func(v, w float64) bool { return math.Abs(v-w) <= sameAxes })
	}
	return a.Kind == b.Kind && slices.Equal(a.Center, b.Center) && slices.Equal(a.Scale, b.Scale) &&
		(a.Threshold == nil) == (b.Threshold == nil) && (a.Threshold == nil || *a.Threshold == *b.Threshold) &&
		slices.Equal(a.Mean, b.Mean) && slices.EqualFunc(a.Components, b.Components, near)
}

// otherTransform says how the transforms of a model differ from those of a fit.
func otherTransform(model, fit []Transform) string {
	kinds := func(ts []Transform) string {
		if len(ts) == 0 {
			return "takes the rows as they are"
		}
		var words []string
		for _, t := range ts {
			word := t.Kind
			if t.Threshold != nil {
				word += " " + strconv.FormatFloat(*t.Threshold, 'g', -1, 64)
			}
			if t.Components != nil {
				word += " " + strconv.Itoa(len(t.Components))
			}
			words = append(words, word)
		}
		return "transforms them by " + strings.Join(words, ", ")
	}
	if a, b := kinds(model), kinds(fit); a != b {
		return "it scales, projects or binarizes its rows in another way than this fit: it " + a + ", and the fit " + b
	}
	return "it scales, projects or binarizes its rows in another way than this fit: by numbers that were made from other rows"
}

package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/text"
	"gonum.org/v1/gonum/mat"
)

// userFactors returns the loadings and the d uniquenesses of component c of a model with factors, in the user's units, or after principal components in
// those of the components. Of columns on another scale they are those on the scale.
func (m *Model) userFactors(c int) (loadings [][]float64, uniquenesses []float64) {
	m = m.Changed()
	d, q := m.dims(), m.Shape.Factors()
	flat := slices.Clone(m.Loadings[c])
	u := slices.Clone(m.parameters().Unique(c))
	if m.PCA() == nil {
		for _, t := range m.Transform {
			for j, s := range t.Scale {
				u[j] *= s * s
				for f := range q {
					flat[j*q+f] *= s
				}
			}
		}
	}
	for j := range d {
		loadings = append(loadings, flat[j*q:j*q+q:j*q+q])
	}
	return loadings, u
}

// setFactors sets what a component of a model with factors has in place of a covariance, and the covariance.
func (x *Component) setFactors(m *Model, c int) {
	l, u := m.userFactors(c)
	x.Factors, x.Loadings, x.Uniquenesses = m.Shape.Factors(), l, u
	if m.Shape.OneUniqueness() && (len(m.Changed().Transform) == 0 || m.PCA() != nil) {
		x.Uniquenesses = u[0]
	}
	x.Covariance = factoredCovariance(l, u)
}

// checkFactors wants loadings of the right number and positive uniquenesses.
func (m *Model) checkFactors() error {
	if err := m.wholeFactors(m.K(), m.dims()); err != nil {
		return fmt.Errorf("%s", err.Reason)
	}
	for c, row := range m.Loadings {
		for i, v := range row {
			if v-v != 0 {
				return fmt.Errorf("loadings: number %d holds %v in row %d", c+1, v, i/m.Shape.Factors()+1)
			}
		}
	}
	for c, row := range m.Uniquenesses {
		for j, v := range row {
			if !(v > 0 && v <= math.MaxFloat64) {
				return fmt.Errorf("uniquenesses: row %d, column %d is %v; it must be above 0", c+1, j+1, v)
			}
		}
	}
	return nil
}

// wholeFactors checks how many loadings and uniquenesses k components on d variables have.
func (m *Model) wholeFactors(k, d int) *ModelError {
	q, count, size := m.Shape.Factors(), k, d
	switch {
	case m.Shape.SharesUniquenesses():
		count = 1
	case m.Shape.OneUniqueness():
		size = 1
	}
	switch {
	case m.Covariance != nil:
		return &ModelError{"covariances: a model with factors has loadings and uniquenesses instead"}
	case len(m.Loadings) != k:
		return &ModelError{fmt.Sprintf("loadings: there %s %d for %s", text.Form(len(m.Loadings), "is", "are"), len(m.Loadings), text.Count(k, "component"))}
	case len(m.Uniquenesses) != count:
		return &ModelError{fmt.Sprintf("uniquenesses: there %s %d, but %s has %d", text.Form(len(m.Uniquenesses), "is", "are"), len(m.Uniquenesses), m.Shape, count)}
	}
	for c, row := range m.Loadings {
		if len(row) != d*q {
			return &ModelError{fmt.Sprintf("loadings: number %d has %s; there must be %d rows of %d", c+1, text.Count(len(row), "number"), d, q)}
		}
	}
	for c, row := range m.Uniquenesses {
		if len(row) != size {
			return &ModelError{fmt.Sprintf("uniquenesses: row %d has %s; there must be %d", c+1, text.Count(len(row), "number"), size)}
		}
	}
	return nil
}

// factors reads loadings, whose rows tell how many factors there are, and uniquenesses.
func (r *modelReader) factors(m *Model) {
	var all [][][]number
	r.decode("loadings", &all)
	if r.err != nil {
		return
	}
	q := 0
	if len(all) > 0 && len(all[0]) > 0 {
		q = len(all[0][0])
	}
	if q < 1 || q > family.MostFactors {
		r.err = fmt.Errorf("loadings: a row has %s; it must be from 1 to %d", text.Count(q, "number"), family.MostFactors)
		return
	}
	m.Shape = m.Shape.WithFactors(q)
	for c, rows := range all {
		var flat []float64
		for j, row := range rows {
			if len(row) != q {
				r.err = fmt.Errorf("loadings: row %d of number %d has %s, and the first of all has %d", j+1, c+1, text.Count(len(row), "number"), q)
				return
			}
			flat = append(flat, floats(row)...)
		}
		m.Loadings = append(m.Loadings, flat)
	}
	switch {
	case m.Shape.OneUniqueness():
		for _, v := range r.numbers("uniquenesses") {
			m.Uniquenesses = append(m.Uniquenesses, []float64{v})
		}
	case m.Shape.SharesUniquenesses():
		m.Uniquenesses = [][]float64{r.numbers("uniquenesses")}
	default:
		m.Uniquenesses = r.rows("uniquenesses")
	}
}

// factors writes loadings and uniquenesses.
func (w *modelWriter) factors(m *Model) {
	q := m.Shape.Factors()
	w.open("loadings")
	for c, flat := range m.Loadings {
		w.b.WriteString([]string{"[\n  ", ",\n  "}[min(c, 1)])
		w.value(slices.Collect(slices.Chunk(flat, q)))
	}
	w.b.WriteString("\n ]")
	switch {
	case m.Shape.OneUniqueness():
		w.key("uniquenesses", slices.Concat(m.Uniquenesses...))
	case m.Shape.SharesUniquenesses():
		w.key("uniquenesses", m.Uniquenesses[0])
	default:
		w.lines("uniquenesses", m.Uniquenesses)
	}
}

// mostWritten is the number of variables up to which whole covariances are exported beside their loadings: 8 MB each.
const mostWritten = 1000

// factorArrays returns loadings_ and uniquenesses_, and of few variables the covariances that they make.
func (m *Model) factorArrays() ([]Array, error) {
	k, d, q := m.K(), m.dims(), m.Shape.Factors()
	var unique, covariances, precisions []float64
	for c := range k {
		unique = append(unique, m.parameters().Unique(c)...)
		if d > mostWritten {
			continue
		}
		cov := slices.Concat(m.ownCovariance(c).Full()...)
		l := lower(mat.NewSymDense(d, slices.Clone(cov)))
		if l == nil {
			return nil, fmt.Errorf("the covariance of group %d is too near singular to be exported", c+1)
		}
		covariances, precisions = append(covariances, cov...), append(precisions, (&scale{l: l}).inverse()...)
	}
	all := []Array{word("covariance_type", m.Shape.Stem())}
	if d <= mostWritten {
		all = []Array{word("covariance_type", family.Full.String()), numbers("covariances_", covariances, k, d, d), numbers("precisions_cholesky_", precisions, k, d, d)}
	}
	return append(all, numbers("loadings_", slices.Concat(m.Loadings...), k, d, q), numbers("uniquenesses_", unique, k, d)), nil
}

// Factors returns a function that sets dst, n x q, to the factors expected of each row of s, as Rows gives it, in its component: L' S^-1 (x - mean), the
// mean of the standard normal factors once the row is known (the regression scores of Thomson 1951). Of a row with missing cells they are those that the others tell. A row of the noise has none, NaN. The
// function has memory of its own: it is for one goroutine at a time. A model without factors is an error.
func (m *Model) Factors() (expect func(dst []float64, s *Scored), q int, err error) {
	if err := m.whole(); err != nil {
		return nil, 0, err
	}
	m = m.Changed()
	if q = m.Shape.Factors(); q == 0 {
		return nil, 0, fmt.Errorf("%s with %s covariances has no factors; fit one with --covariance factors:Q or ppca:Q", m.called(), m.Shape)
	}
	d := m.dims()
	solvers := make([]*family.Solver, m.K())
	for c := range solvers {
		solvers[c] = family.NewSolver(m.Loadings[c], m.parameters().Unique(c))
	}
	x := make([]float64, d)
	return func(dst []float64, s *Scored) {
		for i, own := range s.Component {
			row := dst[i*q : i*q+q]
			if own < 0 {
				for f := range row {
					row[f] = math.NaN()
				}
				continue
			}
			var there []int
			for j, mean := range m.Means[own] {
				if x[j] = s.At(i, j) - mean; x[j] == x[j] {
					there = append(there, j)
				}
			}
			if len(there) == d {
				solvers[own].Expect(row, x)
			} else {
				solvers[own].Among(there).Expect(row, picked(x, there))
			}
		}
	}, q, nil
}

// Varimax returns the model with the factors of each component turned by varimax (Kaiser 1958, rows of length 1 meanwhile), for reading: its density is
// the same, and its loadings are in another position than those of a fit. Their standard errors are NaN where several factors were turned, since they
// were those of the other position. A model without factors is an error. It shares memory with m but for the loadings and their errors.
func (m *Model) Varimax() (*Model, error) {
	if err := m.whole(); err != nil {
		return nil, err
	}
	q := m.Shape.Factors()
	if q == 0 {
		return nil, fmt.Errorf("%s with %s covariances has no factors to turn; fit one with --covariance factors:Q or ppca:Q", m.called(), m.Shape)
	}
	own := *m
	own.Loadings, own.Sums = nil, nil
	for _, l := range m.Loadings {
		own.Loadings = append(own.Loadings, family.Varimax(l, q))
	}
	if e := m.StandardErrors; e != nil && e.Loadings != nil && q > 1 {
		turned := *e
		turned.Loadings = make([]Errors, len(e.Loadings))
		for c, list := range e.Loadings {
			turned.Loadings[c] = slices.Repeat(Errors{math.NaN()}, len(list))
		}
		own.StandardErrors = &turned
	}
	return &own, nil
}

// checkFactors wants standard errors of all loadings and uniquenesses of m, or none.
func (e *StandardErrors) checkFactors(m *Model) error {
	if e.Loadings == nil && e.Uniquenesses == nil {
		return nil
	}
	if m.Loadings == nil || len(e.Loadings) != m.K() || len(e.Uniquenesses) != m.K() {
		return fmt.Errorf("loadings, uniquenesses: there are those of %d and %d components, and the model has %s", len(e.Loadings), len(e.Uniquenesses), text.Count(m.K(), "component"))
	}
	for c := range e.Loadings {
		if u := len(e.Uniquenesses[c]); len(e.Loadings[c]) != len(m.Loadings[c]) || u != m.dims() && u != len(m.Uniquenesses[0]) {
			return fmt.Errorf("loadings, uniquenesses: those of component %d are not as many as its loadings and uniquenesses", c+1)
		}
	}
	return nil
}

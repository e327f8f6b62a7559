package latent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/sweep"
)

// ModelVersion is the newest version of the model file that this package reads, and the one it writes.
const ModelVersion = 1

// Model is a fitted or hand-written clustering in natural parameters: what the model file holds.
type Model struct {
	Kind          string       // "gmm", "bernoulli", "categorical", "kmeans" or "kmedians"
	Shape         family.Shape // of the covariances of a gmm
	Columns       []string     // names of the d columns of the rows
	Levels        [][]string   // categorical: the names of each column's levels
	Weights       []float64    // mixtures: k mixing weights
	Means         [][]float64  // k x d means of a gmm, or centres of kmeans and kmedians, after Transform (d is then len(Fitted()))
	Covariance    [][]float64  // gmm: k covariances, 1 where they are shared; d x d row-major, d variances or 1; after Transform
	Probabilities [][]float64  // bernoulli: k x d, of a 1; categorical: k rows of one a level, column after column
	Sizes         []float64    // kmeans, kmedians: summed row weights of the clusters
	Transform     []Transform  // what is done to a row first, in order

	N              *int64          // rows fitted
	LogLik         *float64        // log-likelihood of the fit in the user's units, nats
	Certificate    json.RawMessage // how sure it is that the fit had finished
	StandardErrors *StandardErrors // of the parameters, as far as they could be had
	Spec           json.RawMessage // what was asked for
	Provenance     *Provenance     // where it came from; nil in a model written by hand
}

// K returns the number of components.
func (m *Model) K() int {
	if m.HasDensity() {
		return len(m.Weights)
	}
	return len(m.Means)
}

// D returns the number of columns of a row; what is fitted may have fewer (see Fitted).
func (m *Model) D() int { return len(m.Columns) }

// HasDensity reports whether the model is a mixture: kmeans and kmedians have centres only.
func (m *Model) HasDensity() bool {
	k := m.kind()
	return k != nil && k.Mixture
}

// kind returns the kind of the model; nil where it has none that is known.
func (m *Model) kind() *kind.Kind {
	if m.Kind == "" { // Of would take the default
		return nil
	}
	return kind.Of(m.Kind)
}

// locations returns the rows of numbers that say where the components are: means, centres or probabilities.
func (m *Model) locations() *[][]float64 {
	if m.kind().Location.Told == kind.Probability {
		return &m.Probabilities
	}
	return &m.Means
}

// Load reads a model file. What it does not understand it refuses, naming the key.
func Load(path string) (*Model, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no such file", path)
	}
	if err != nil {
		return nil, err
	}
	m := new(Model)
	if err := m.UnmarshalJSON(b); err != nil { // json.Unmarshal would not say on which line a file stops being JSON
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// family returns the family of the components. The variances that a Gaussian's floor is measured by are 1 unless given.
func (m *Model) family(variances []float64) family.Family {
	f := m.kind().Family(kind.Variables{Shape: m.Shape, Levels: counts(m.Levels), Var: variances})
	if f, ok := f.(family.Decomposed); ok { // covariances are taken as they stand, whatever they share
		return f.Plain()
	}
	return f
}

// counts returns the number of levels of each column.
func counts(levels [][]string) []int {
	n := make([]int, len(levels))
	for j, names := range levels {
		n[j] = len(names)
	}
	return n
}

// mixture returns the mixture of the model, its parameter vector and the origin that both are relative to.
func (m *Model) mixture() (mix *mixture.Mixture, theta, origin []float64, err error) {
	k, d := m.K(), m.dims()
	origin = make([]float64, d)
	mix = &mixture.Mixture{K: k, D: d}
	if m.kind().Centred() {
		origin = m.origin()
		mix.Family = m.family(m.spread())
	} else {
		mix.Family = m.family(nil)
	}
	theta = make([]float64, mix.Params())
	for c, w := range m.Weights {
		theta[c] = max(math.Log(w), mixture.MinLogWeight)
	}
	return mix, theta, origin, m.fill(mix.Family, mix.Components(theta), origin, false)
}

// fill sets comp to the parameters of the components of a family, relative to origin. raise says that covariances below
// the floor are raised to it; else they are taken as they stand.
func (m *Model) fill(fam family.Family, comp, origin []float64, raise bool) error {
	k, d := m.K(), m.dims()
	if fam, ok := fam.(family.Natural); ok {
		fam.FromNatural(comp, slices.Concat(*m.locations()...), k)
		return nil
	}
	for c, mean := range m.Means {
		for j, v := range mean {
			comp[c*d+j] = v - origin[j]
		}
	}
	switch fam := fam.(type) {
	case family.Gaussian:
		for c, cov := range m.Covariance {
			u, q := fam.ScaleOf(comp, c, k, d), pack(fam.Shape, cov, d)
			if raise {
				fam.ScaleAbove(u, q, d)
			} else if !fam.Scale(u, q, d) {
				return fmt.Errorf("covariances: number %d is not positive definite", c+1)
			}
		}
	case family.Decomposed:
		return m.fillDecomposed(fam, comp)
	}
	return nil
}

// matrix reports whether covariances of the shape are whole matrices.
func matrix(s family.Shape) bool { return s.Matrix() }

// pack returns the free half of a covariance: the lower triangle by rows of a d x d matrix, and others as they are.
func pack(s family.Shape, cov []float64, d int) []float64 {
	if !matrix(s) {
		return append([]float64(nil), cov...)
	}
	q := make([]float64, 0, d*(d+1)/2)
	for j := range d {
		q = append(q, cov[j*d:j*d+j+1]...)
	}
	return q
}

// unpack is the inverse of pack.
func unpack(s family.Shape, q []float64, d int) []float64 {
	if !matrix(s) {
		return q
	}
	cov := make([]float64, d*d)
	for j := range d {
		for l := range j + 1 {
			v := q[j*(j+1)/2+l]
			cov[j*d+l], cov[l*d+j] = v, v
		}
	}
	return cov
}

// spread returns a variance a column: within plus between the components, or 1 where there is none.
func (m *Model) spread() []float64 {
	d, mean, v := m.dims(), m.centre(), make([]float64, m.dims())
	for c, mu := range m.Means {
		for j, x := range mu {
			v[j] += m.share(c) * (x - mean[j]) * (x - mean[j])
			if m.HasDensity() {
				v[j] += m.share(c) * m.variance(c, j)
			}
		}
	}
	for j := range d {
		if !(v[j] > 0) {
			v[j] = 1
		}
	}
	return v
}

// variance returns the variance of column j in component c of a gmm.
func (m *Model) variance(c, j int) float64 {
	cov := m.Covariance[min(c, len(m.Covariance)-1)]
	switch d := m.dims(); {
	case len(cov) == 1:
		return cov[0]
	case matrix(m.Shape):
		return cov[j*d+j]
	}
	return cov[j]
}

func (m *Model) share(c int) float64 {
	if m.HasDensity() {
		return m.Weights[c]
	}
	return 1 / float64(m.K())
}

func (m *Model) centre() []float64 {
	mean := make([]float64, m.dims())
	for c, mu := range m.Means {
		for j, x := range mu {
			mean[j] += m.share(c) * x
		}
	}
	return mean
}

// origin returns the point that rows are read relative to, chosen as for a fit.
func (m *Model) origin() []float64 {
	s := sweep.Survey{Mean: m.centre(), Var: m.spread(), Min: m.Means[0]}
	return s.Origin()
}

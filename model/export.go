package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
)

// An Array is a named array of numbers or text for programs outside: row-major, with one of F64, Int and Text set. An
// empty Shape is a single value.
type Array struct {
	Name  string
	Shape []int
	F64   []float64
	Int   []int64
	Text  []string
}

// Arrays returns the model as arrays in the layout of scikit-learn's attributes of the same names, after the model's
// transform:
//
//	model                 the kind
//	columns               d names of the columns of a row
//	transform             the kinds of what is done to a row first, in order; number i, from 1, has arrays transform_i_center
//	                      and transform_i_scale, or transform_i_mean and transform_i_components, or transform_i_threshold, or for
//	                      a change of scale transform_i_columns, the names of its columns, and of dates transform_i_origin
//	weights_              mixtures: k
//	covariance_type       gmm: full, tied, diag or spherical
//	means_                gmm: k x d
//	covariances_          gmm: k x d x d, d x d, k x d or k, by that type
//	scales_               t: its scale matrices in place of covariances_, laid out like these; and dof, k degrees of freedom
//	loadings_             gmm with factors: k x d x q; and uniquenesses_, k x d. Of up to 1,000 variables there are covariances_ too, as full
//	precisions_cholesky_  gmm, and of the scales of t: of the same shape; U with U Uᵀ the inverse covariance: upper triangular, or 1 / standard deviation
//	cluster_centers_      kmeans and kmedians: k x d
//	probabilities         bernoulli: k x d, of a 1; categorical: k x levels of all columns, one column after another
//	n_levels, levels      categorical: d numbers of levels, and the names of all levels
//	types                 mixed: number, category or count for each column; then the arrays of gmm for the numbers, those of
//	                      categorical for the categories, and rates for the counts, each over the columns of its type in order
//
// A model of variational Bayes has these of the components in use, and of all K components of its posterior, under the names that scikit-learn's
// BayesianGaussianMixture has:
//
//	posterior_weight_concentration_  K, or 2 x K of sticks
//	posterior_mean_precision_        K
//	posterior_means_                 K x d
//	posterior_degrees_of_freedom_    K, or a single value where all share a covariance
//	posterior_covariances_, posterior_precisions_cholesky_
//	                                 of the inverse of the expected precisions, laid out as those without the prefix
//
// A hidden Markov model has those of its emissions, and under the names that hmmlearn has
//
//	emission              the kind of the components
//	startprob_            k: of the first state of a sequence
//	transmat_             k x k: row a has the probabilities of the state after state a
//
// A kind whose components have means under another name, such as rates, has them under that, k x d.
//
// Shapes of covariance that scikit-learn does not know go as the least of its types that holds their matrices: those
// along the columns as diag, round ones as spherical, all others as full. Arrays share memory with the model where they can. It fails
// where a covariance is not positive definite, which no model that was read from a file has.
func (m *Model) Arrays() ([]Array, error) {
	if err := m.whole(); err != nil {
		return nil, err
	}
	if m.Noise != nil {
		return nil, errors.New("a model with noise cannot be exported: scikit-learn's mixtures have no component of constant density, and their weights sum to 1")
	}
	k := m.K()
	all := []Array{word("model", m.Kind), words("columns", m.Columns)}
	all = append(all, transformArrays(m.Transform)...)
	if m.HasDensity() {
		all = append(all, numbers("weights_", m.Weights, k))
	}
	if m.IsChain() {
		all = append(all, word("emission", m.Emission), numbers("startprob_", m.Initial, k), numbers("transmat_", slices.Concat(m.Transitions...), k, k))
	}
	if m.Clusters != nil {
		of := Array{Name: "clusters", Shape: []int{k}}
		for _, cluster := range m.Clusters {
			of.Int = append(of.Int, int64(cluster))
		}
		all = append(all, of)
	}
	if m.kind().Parted {
		types := make([]string, len(m.Types))
		for j, t := range m.Types {
			types[j] = t.String()
		}
		all = append(all, words("types", types))
	}
	for _, p := range m.Parts() {
		own, err := p.parameterArrays()
		if err != nil {
			return nil, err
		}
		all = append(all, own...)
	}
	if m.Posterior != nil {
		own, err := m.posteriorArrays()
		return append(all, own...), err
	}
	return all, nil
}

// parameterArrays returns the arrays of the parameters but for the weights.
func (m *Model) parameterArrays() (all []Array, err error) {
	k, d, kd := m.K(), m.dims(), m.kind()
	all = append(all, numbers(kd.Location.Array, slices.Concat(m.locations()...), k, kd.Width(d, m.Levels)))
	if kd.Cells.Levels {
		n := Array{Name: "n_levels", Shape: []int{d}}
		for _, names := range m.Levels {
			n.Int = append(n.Int, int64(len(names)))
		}
		all = append(all, n, words("levels", slices.Concat(m.Levels...)))
	}
	if !kd.Shaped {
		return all, nil
	}
	covariances, err := m.covarianceArrays()
	return append(all, covariances...), err
}

func word(name, text string) Array { return Array{Name: name, Text: []string{text}} }

func words(name string, list []string) Array {
	return Array{Name: name, Shape: []int{len(list)}, Text: list}
}

func numbers(name string, v []float64, shape ...int) Array {
	return Array{Name: name, Shape: shape, F64: v}
}

func transformArrays(ts []Transform) []Array {
	kinds := make([]string, len(ts))
	for i, t := range ts {
		kinds[i] = t.Kind
	}
	all := []Array{words("transform", kinds)}
	for i, t := range ts {
		of := fmt.Sprintf("transform_%d_", i+1)
		switch {
		case t.changes():
			if all = append(all, words(of+"columns", t.Columns)); t.Origin != "" {
				all = append(all, word(of+"origin", t.Origin))
			}
			continue
		}
		switch t.Kind {
		case "pca":
			n, d := len(t.Components), len(t.Mean)
			all = append(all, numbers(of+"mean", t.Mean, d), numbers(of+"components", slices.Concat(t.Components...), n, d))
		case "binarize":
			all = append(all, numbers(of+"threshold", []float64{*t.Threshold}))
		default:
			all = append(all, numbers(of+"center", t.Center, len(t.Center)), numbers(of+"scale", t.Scale, len(t.Scale)))
		}
	}
	return all
}

// covarianceArrays returns covariance_type, covariances_ and precisions_cholesky_, or of a kind with tails scales_ and dof.
func (m *Model) covarianceArrays() ([]Array, error) {
	k, d := m.K(), m.dims()
	if m.Shape.Factors() > 0 {
		return m.factorArrays()
	}
	kind, shape, count := m.Shape.Alone(), []int{k}, k
	switch {
	case m.Shape == family.Tied:
		kind, shape, count = family.Tied, []int{d, d}, 1
	case kind == family.Full:
		shape = []int{k, d, d}
	case kind == family.Diag:
		shape = []int{k, d}
	}
	var covariances, precisions []float64
	for c := range count {
		cov := m.covariance(c)
		u, err := m.scaleOf(c)
		if err != nil {
			return nil, err
		}
		covariances, precisions = append(covariances, cov...), append(precisions, u.inverse()...)
	}
	all := []Array{word("covariance_type", kind.String()), numbers(m.kind().Scales+"_", covariances, shape...), numbers("precisions_cholesky_", precisions, shape...)}
	if m.Dof != nil {
		all = append(all, numbers("dof", m.Dof, k))
	}
	return all, nil
}

// covariance returns that of component c, which may be the one that all share.
func (m *Model) covariance(c int) []float64 { return m.Covariance[min(c, len(m.Covariance)-1)] }

// A scale is a standard deviation of several columns: the lower triangle L of a covariance L Lᵀ, or d standard deviations, or
// one.
type scale struct {
	l  *mat.TriDense // nil where there is no matrix
	sd []float64
	of *family.Solver // of a covariance with factors, in place of the others
}

// scaleOf factors the covariance of component c.
func (m *Model) scaleOf(c int) (*scale, error) {
	if m.Shape.Factors() > 0 {
		return &scale{of: family.NewSolver(m.Loadings[c], m.parameters().Unique(c))}, nil
	}
	cov, s := m.covariance(c), &scale{}
	bad := fmt.Errorf("%s: number %d is not positive definite", m.kind().Scales, c+1)
	if !m.Shape.Matrix() {
		for _, v := range cov {
			if !(v > 0) {
				return nil, bad
			}
			s.sd = append(s.sd, math.Sqrt(v))
		}
		return s, nil
	}
	if s.l = lower(mat.NewSymDense(m.dims(), slices.Clone(cov))); s.l == nil {
		return nil, bad
	}
	return s, nil
}

// lower returns the Cholesky factor L of q = L Lᵀ; nil where q is not positive definite.
func lower(q *mat.SymDense) *mat.TriDense {
	var factor mat.Cholesky
	if !factor.Factorize(q) {
		return nil
	}
	l := mat.NewTriDense(q.SymmetricDim(), mat.Lower, nil)
	factor.LTo(l)
	return l
}

// inverse returns L⁻¹ transposed, an upper triangle, or the inverse standard deviations.
func (s *scale) inverse() []float64 {
	if s.l == nil {
		u := make([]float64, len(s.sd))
		for j, v := range s.sd {
			u[j] = 1 / v
		}
		return u
	}
	var w mat.TriDense
	_ = w.InverseTri(s.l) // a warning of large conditions only: the diagonal is above 0
	u := mat.DenseCopyOf(w.T()).RawMatrix().Data
	for i := range u {
		u[i] += 0 // -0 is written as it is
	}
	return u
}

// square returns |L⁻¹ x|², and overwrites x.
func (s *scale) square(x []float64) (sum float64) {
	if s.of != nil {
		return s.of.Square(x)
	}
	s.whiten(x)
	for _, v := range x {
		sum += v * v
	}
	return sum
}

// whiten sets x to L⁻¹ x.
func (s *scale) whiten(x []float64) {
	if s.l != nil {
		blas64.Trsv(blas.NoTrans, s.l.RawTriangular(), blas64.Vector{N: len(x), Inc: 1, Data: x})
		return
	}
	for j := range x {
		x[j] /= s.sd[min(j, len(s.sd)-1)]
	}
}

// Distances returns a function that sets dst[i] to the squared Mahalanobis distance of row i of s, as Rows gives it, to
// its likeliest component, |L⁻¹ (x - mean)|² where L Lᵀ is the covariance, after the model's transform. For kmeans it
// is the squared distance to the centre. A row of the noise has no component, and its distance is NaN. Of cells that are missing it takes no account: it is that of the others by their own covariance. In a
// mixed model it is that of the numbers. len(dst) must be s.N. The function has memory of its own: it is for one
// goroutine at a time. Models without covariances have no such distance, which is an error; kmedians has medians and distances of another kind.
func (m *Model) Distances() (func(dst []float64, s *Scored), error) {
	if err := m.whole(); err != nil {
		return nil, err
	}
	m = m.Changed() // whose rows are those that Rows tells of
	p := m.part(data.Number)
	if p == nil || !p.kind().Shaped && !p.kind().Squared {
		return nil, fmt.Errorf("%s has no means with covariances to measure Mahalanobis distances by", m.called())
	}
	scales := []*scale{{sd: []float64{1}}}
	if p.kind().Shaped {
		scales = make([]*scale, max(len(p.Covariance), len(p.Loadings)))
		for c := range scales {
			var err error
			if scales[c], err = p.scaleOf(c); err != nil {
				return nil, err
			}
		}
	}
	columns := p.Columns[:p.dims()] // after principal components their first
	x := make([]float64, len(columns))
	return func(dst []float64, s *Scored) {
		for i, own := range s.Component {
			if own < 0 {
				dst[i] = math.NaN()
				continue
			}
			c, whole := int(own), true
			for j, mean := range p.Means[c] {
				x[j] = s.At(i, columns[j]) - mean
				whole = whole && x[j] == x[j]
			}
			own := scales[min(c, len(scales)-1)]
			if !whole {
				dst[i] = own.partial(x)
				continue
			}
			dst[i] = own.square(x)
		}
	}, nil
}

// partial returns the squared Mahalanobis distance of the differences x that are there, NaN being none, by their own covariance.
func (s *scale) partial(x []float64) float64 {
	var at []int
	sum := 0.0
	for j, v := range x {
		if v == v {
			at = append(at, j)
			if s.sd != nil {
				v /= s.sd[min(j, len(s.sd)-1)]
				sum += v * v
			}
		}
	}
	if s.of != nil {
		return s.of.Among(at).Square(picked(x, at))
	}
	if s.l == nil || len(at) == 0 {
		return sum
	}
	cov, y := mat.NewSymDense(len(at), nil), mat.NewVecDense(len(at), nil)
	for a, j := range at {
		y.SetVec(a, x[j])
		for b, l := range at[:a+1] {
			v := 0.0
			for m := range l + 1 {
				v += s.l.At(j, m) * s.l.At(l, m)
			}
			cov.SetSym(a, b, v)
		}
	}
	var factor mat.Cholesky
	var z mat.VecDense
	factor.Factorize(cov)
	_ = factor.SolveVecTo(&z, y) // a warning of large conditions only
	return mat.Dot(y, &z)
}

package model

import (
	"math"
	"slices"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
)

// Pooled returns the model with one component for each cluster of a merged model, which has the weight, the mean, the covariance, the probabilities and the
// rates that the components of the cluster have together: what a table tells of clusters. Its density is another one than that of m, of the same
// first moments. Covariances become full where they are matrices, else diagonal. A cluster of t distributions has the fewest degrees of freedom of its
// components: its covariance is infinite where one of theirs is. Where columns are on other scales, moments are pooled there. Where no
// components are merged it is m. It shares memory with m.
func (m *Model) Pooled() *Model {
	if m.Clusters == nil {
		return m
	}
	members := m.Members()
	own := *m.Unmerged()
	own.Sums, own.StandardErrors, own.Provenance, own.Spec, own.Certificate, own.N, own.LogLik = nil, nil, nil, nil, nil, nil, nil
	own.Weights = make([]float64, len(members))
	for g, list := range members {
		for _, c := range list {
			own.Weights[g] += m.Weights[c]
		}
	}
	own.Means, own.Probabilities, own.Rates = m.averages(m.Means), m.averages(m.Probabilities), m.averages(m.Rates)
	if m.Covariance == nil && m.Loadings == nil {
		return &own
	}
	if own.Shape = family.Diag; m.Shape.Matrix() {
		own.Shape = family.Full
	}
	own.Covariance, own.Loadings, own.Uniquenesses, own.Dof = nil, nil, nil, nil
	for g, list := range members {
		if m.Dof != nil {
			own.Dof = append(own.Dof, slices.Min(kind.Picked(m.Dof, list)))
		}
		own.Covariance = append(own.Covariance, m.pooledCovariance(list, own.Means[g]))
	}
	return &own
}

// shares returns how much each of the components of a cluster is of it.
func (m *Model) shares(list []int) []float64 {
	w, sum := make([]float64, len(list)), 0.0
	for i, c := range list {
		w[i] = m.Weights[c]
		sum += w[i]
	}
	for i := range w {
		if sum > 0 {
			w[i] /= sum
		} else { // none of them takes part
			w[i] = 1 / float64(len(list))
		}
	}
	return w
}

// averages returns for each cluster the mean of what its components have in rows; nil where there is none.
func (m *Model) averages(rows [][]float64) [][]float64 {
	if rows == nil {
		return nil
	}
	var all [][]float64
	for _, list := range m.Members() {
		mean := make([]float64, len(rows[list[0]]))
		for i, w := range m.shares(list) {
			for j, v := range rows[list[i]] {
				mean[j] += w * v
			}
		}
		all = append(all, mean)
	}
	return all
}

// pooledCovariance returns the covariance of some components together, about their mean: a matrix, or variances where the shape has none. Of t
// distributions it is the scale that has it with the fewest degrees of freedom, or where that has none the scales pooled in the same way.
func (m *Model) pooledCovariance(list []int, mean []float64) []float64 {
	d, matrix := len(mean), m.Shape.Matrix()
	least := math.Inf(1)
	for _, c := range list {
		if m.Dof != nil {
			least = min(least, m.Dof[c])
		}
	}
	finite := m.Dof != nil && least > 2
	sum := make([]float64, d)
	if matrix {
		sum = make([]float64, d*d)
	}
	for i, w := range m.shares(list) {
		at, cov := m.Means[list[i]], m.ownCovariance(list[i])
		wide := 1.0 // covariance over scale
		if finite {
			wide = m.Dof[list[i]] / (m.Dof[list[i]] - 2)
		}
		for j := range d {
			if !matrix {
				sum[j] += w * (wide*cov.At(j, j) + (at[j]-mean[j])*(at[j]-mean[j]))
				continue
			}
			for l := range d {
				sum[j*d+l] += w * (wide*cov.At(j, l) + (at[j]-mean[j])*(at[l]-mean[l]))
			}
		}
	}
	if finite {
		for i := range sum {
			sum[i] *= (least - 2) / least
		}
	}
	return sum
}

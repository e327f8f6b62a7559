package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/sweep"
)

// ModelVersion is the newest version of the model file that this package reads, and the one it writes.
const ModelVersion = 1

// Model is a fitted or hand-written clustering in natural parameters: what the model file holds.
type Model struct {
	Kind          string       // "gmm", "kmeans" or another name of --model; "hmm" for a chain of states
	Shape         family.Shape // of the covariances of a gmm
	Columns       []string     // names of the d columns of the rows
	Types         []data.Type  // mixed: what each column holds
	Levels        [][]string   // of columns of levels: the names of each column's; mixed: nil for the others
	Weights       []float64    // mixtures: k mixing weights
	Means         [][]float64  // k x d means of the components, or centres, after Transform (d is then len(Variables())); nil where there are Probabilities
	Covariance    [][]float64  // gmm: k covariances, 1 where they are shared; d x d row-major, d variances or 1; after Transform. t: scale matrices
	Loadings      [][]float64  // gmm with factors, in place of Covariance: k times d x q, row-major, after Transform; the covariance is L Lᵀ plus the uniquenesses on the diagonal
	Uniquenesses  [][]float64  // gmm with factors: variances after Transform, k times d numbers, one where all columns have one, or d for all components once where they share them
	Dof           []float64    // t: k degrees of freedom
	Probabilities [][]float64  // of columns of bits: k x d, of a 1; of levels: k rows of one a level, column after column
	Rates         [][]float64  // mixed: k rows of one a column of counts. Means and Covariance are then of the numbers, Probabilities of the categories
	Noise         *Noise       // gmm: one more component, of rows that lie anywhere; Weights and its weight then make 1. nil where there is none
	Sizes         []float64    // kmeans, kmedians: summed row weights of the clusters
	Transform     []Transform  // what is done to a row first, in order
	Clusters      []int        // of a mixture: the cluster of each component, from 1, where components are merged; nil else
	Posterior     *Posterior   // what variational Bayes found; nil elsewhere. Log densities and draws are then those of a row to come: the parameters are integrated out

	// Of a hidden Markov model, whose Kind is "hmm" (see IsChain): its components are the densities of the states' rows, and Weights the share of
	// all rows that each state is expected to have; nil where nothing was fitted.
	Emission    string      // the name of the kind of the components, as of --model
	Initial     []float64   // k probabilities that a sequence begins in a state
	Transitions [][]float64 // k x k: row a has the probabilities of the state after state a
	Sequence    string      // the column that told sequences apart; "" where the rows were one
	Time        string      // the column that ordered the rows of a sequence; "" where the file did

	N              *int64          // rows fitted
	LogLik         *float64        // log-likelihood of the fit in the user's units, nats
	Certificate    json.RawMessage // how sure it is that the fit had finished
	Sums           *Sums           // what an update with other rows needs of those that were fitted; nil where they were not kept
	StandardErrors *StandardErrors // of the parameters, as far as they could be had
	Spec           json.RawMessage // what was asked for
	Provenance     *Provenance     // where it came from; nil in a model written by hand

	before int // how many changes of scale came before Transform, where the model is a Changed one: messages count them
}

// K returns the number of components.
func (m *Model) K() int {
	if m.IsChain() {
		return len(m.Initial)
	}
	if m.HasDensity() {
		return len(m.Weights)
	}
	return len(m.Means)
}

// D returns the number of columns of a row; what is fitted may have fewer (see Variables).
func (m *Model) D() int { return len(m.Columns) }

// HasDensity reports whether the model is a mixture: kmeans and kmedians have centres only.
func (m *Model) HasDensity() bool {
	k := m.kind()
	return k != nil && k.Mixture
}

// kind returns the kind of the components; nil where it is none that is known.
func (m *Model) kind() *kind.Kind {
	name := m.ComponentKind()
	if name == "" { // Of would take the default
		return nil
	}
	return kind.Of(name)
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

// parameters returns the natural parameters. They share memory with the model.
func (m *Model) parameters() *kind.Parameters {
	m = m.Changed()
	if kd := m.kind(); kd.Parted {
		p := &kind.Parameters{Kind: kd, Levels: m.Levels, D: m.D(), Weights: m.Weights}
		for _, part := range m.Parts() {
			p.Parts = append(p.Parts, kind.ParametersOf{Parameters: part.parameters(), Columns: part.Columns})
		}
		return p
	}
	p := &kind.Parameters{Kind: m.kind(), Shape: m.Shape, Levels: m.Levels, D: m.dims(), Weights: m.Weights, Means: m.Means, Covariance: m.Covariance, Loadings: m.Loadings, Uniquenesses: m.Uniquenesses, Dof: m.Dof, Probabilities: m.Probabilities}
	if m.Noise != nil {
		p.NoiseWeight = m.Noise.Weight
	}
	return p
}

// mixture returns the mixture of the model, its parameter vector and the origin that both are relative to.
func (m *Model) mixture() (mix *mixture.Mixture, theta, origin []float64, err error) {
	p := m.parameters()
	origin = make([]float64, p.D)
	mix = &mixture.Mixture{K: p.K(), D: p.D}
	if p.Kind.Centred() {
		around := sweep.Survey{Mean: p.Centre(), Var: p.Spread(), Min: make([]float64, p.D)} // as for a fit
		origin = around.Origin()
		mix.Family = p.Family(around.Var)
	} else {
		mix.Family = p.Family(nil)
	}
	if m.Noise != nil && m.Noise.Weight > 0 {
		mix.Noise = &mixture.Noise{LogVolume: m.Noise.LogVolume}
		if mix.Noise.LogWidths, err = m.Noise.LogWidths(); err != nil {
			return nil, nil, nil, err
		}
	}
	theta = make([]float64, mix.Params())
	for c, w := range m.Weights {
		theta[c] = max(math.Log(w), mixture.MinLogWeight)
	}
	if mix.Noise != nil {
		theta[mix.K] = math.Log(m.Noise.Weight)
	}
	if m.Posterior != nil { // labels go by expected log densities
		copy(theta, m.Posterior.offsets(p.D)[:m.K()])
	}
	return mix, theta, origin, p.Fill(mix.Family, mix.Components(theta), origin, false)
}

// locations returns the rows of numbers that say where the components are.
func (m *Model) locations() [][]float64 { return *m.parameters().Locations() }

// setLocations is the inverse of locations.
func (m *Model) setLocations(rows [][]float64) {
	p := m.parameters()
	*p.Locations() = rows
	m.Means, m.Probabilities = p.Means, p.Probabilities
}

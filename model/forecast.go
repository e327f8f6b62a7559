package model

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/chain"
	"github.com/latent-go/latent/internal/kind"
)

// A Forecast is what a hidden Markov model expects of a row after the last of a sequence. It is valid only during the call that receives it.
type Forecast struct {
	Sequence  int32     // the number of the sequence, as in data.Block
	Step      int       // rows after its last, from 1
	States    []float64 // K: probabilities of the states
	Variables []Moments // of each of ForecastVariables
}

// Moments are what a forecast expects of a variable.
type Moments struct {
	Mean, SD float64   // of the mixture of the states' densities; NaN where a state's do not exist, as those of a t with 2 degrees of freedom or fewer
	Levels   []float64 // of a column of categories: the probability of each level; the others are then 0
}

// ForecastVariables returns the names of the variables that forecasts tell of, in order, and the levels of those that are categories, nil for the
// others. They are the columns; one on another scale is told on that scale, as "log price", and principal components by their own names. What is
// returned may share memory with the model.
func (m *Model) ForecastVariables() (names []string, levels [][]string) {
	in := m.Changed()
	if in.PCA() != nil {
		return in.Variables(), make([][]string, in.dims())
	}
	levels = make([][]string, in.D())
	for _, p := range in.Parts() {
		for i, list := range p.Levels {
			levels[p.Columns[i]] = list
		}
	}
	return in.Columns, levels
}

// Forecast tells what is expected of the rows 1 to steps after the last of each sequence of src, sequences as in Decode: the states from the last
// filtered probabilities on, p A^h, and the mean and the standard deviation of the mixture of their densities (Hamilton 1994, chapter 22), in the units
// of ForecastVariables. each is called sequence by sequence, and by steps. What fails is what fails in Decode, and fewer than 1 step.
func (m *Model) Forecast(ctx context.Context, src data.Source, steps, threads int, each func(*Forecast) error) error {
	if err := m.whole(); err != nil {
		return err
	}
	switch {
	case !m.IsChain():
		return fmt.Errorf("a %s model has no forecast: it knows nothing of the order of rows; fit one with --model %s", m.Kind, ChainKind)
	case steps < 1:
		return &data.ArgumentError{Name: "steps", Reason: fmt.Sprintf("is %d; there must be at least 1", steps)}
	case each == nil:
		return &data.ArgumentError{Name: "each", Reason: "is nil; it must be a function that takes the forecasts"}
	}
	f := m.forecaster(steps, each)
	last, of, any := make([]float64, m.K()), int32(0), false
	err := m.Decode(ctx, src, Filter, threads, func(s *Scored) error {
		for i := range s.N {
			if now := sequenceOf(s.Block, i); any && now != of {
				if err := f.ahead(of, last); err != nil {
					return err
				}
			}
			of, any = sequenceOf(s.Block, i), true
			copy(last, s.Responsibilities[i*s.K:(i+1)*s.K])
		}
		return nil
	})
	if err != nil || !any {
		return err
	}
	return f.ahead(of, last)
}

// forecaster goes ahead from the last state of a sequence.
type forecaster struct {
	chain     *chain.Chain
	steps     int
	each      func(*Forecast) error
	variables []variable
	now, next []float64 // chain.Stride: probabilities of states
	told      Forecast
}

// variable is what the states say of a variable: means and variances, or probabilities of levels.
type variable struct {
	mean, variance []float64   // k
	levels         [][]float64 // k of one a level
}

func (m *Model) forecaster(steps int, each func(*Forecast) error) *forecaster {
	c := chain.New(m.Initial, slices.Concat(m.Transitions...))
	f := &forecaster{chain: c, steps: steps, each: each, now: make([]float64, c.Stride), next: make([]float64, c.Stride)}
	in := m.Changed()
	names, _ := m.ForecastVariables()
	f.variables = make([]variable, len(names))
	for _, p := range in.Parts() {
		for i, j := range p.Columns[:p.dims()] {
			for state := range m.K() {
				f.variables[j].add(p.Model, state, i)
			}
		}
	}
	f.told.Variables = make([]Moments, len(names))
	for j := range f.variables {
		if levels := f.variables[j].levels; levels != nil {
			f.told.Variables[j].Levels = make([]float64, len(levels[0]))
		}
	}
	return f
}

// add adds what a state of a model says of its variable i.
func (v *variable) add(m *Model, state, i int) {
	switch k := m.kind(); {
	case k.Cells.Levels:
		v.levels = append(v.levels, m.byLevel(state)[i])
		return
	case k.Location.Told == kind.Probability: // of bits
		p := m.Probabilities[state][i]
		v.mean, v.variance = append(v.mean, p), append(v.variance, p*(1-p))
		return
	case k.Location.Variance != nil:
		mean := m.locations()[state][i]
		v.mean, v.variance = append(v.mean, mean), append(v.variance, k.Location.Variance(mean))
		return
	}
	mean, variance := m.Means[state][i], math.NaN()
	x := m.Component(state)
	if m.PCA() == nil {
		mean = x.Mean[i]
	}
	if x.Covariance != nil {
		variance = x.Covariance.At(i, i)
	}
	if m.Dof != nil && m.Dof[state] <= 1 {
		mean = math.NaN()
	}
	v.mean, v.variance = append(v.mean, mean), append(v.variance, variance)
}

// ahead tells of the rows after the last one of a sequence, whose states have the probabilities last.
func (f *forecaster) ahead(of int32, last []float64) error {
	clear(f.now)
	copy(f.now, last)
	for step := 1; step <= f.steps; step++ {
		f.chain.Ahead(f.next, f.now)
		f.now, f.next = f.next, f.now
		f.told.Sequence, f.told.Step, f.told.States = of, step, f.now[:f.chain.K]
		for j := range f.variables {
			f.variables[j].mix(&f.told.Variables[j], f.told.States)
		}
		if err := f.each(&f.told); err != nil {
			return err
		}
	}
	return nil
}

// mix sets to what states with the probabilities p say together. A state without any takes no part.
func (v *variable) mix(to *Moments, p []float64) {
	if v.levels != nil {
		clear(to.Levels)
		for state, own := range v.levels {
			for l, q := range own {
				to.Levels[l] += p[state] * q
			}
		}
		return
	}
	mean, variance := 0.0, 0.0
	for state, w := range p {
		if w > 0 {
			mean += w * v.mean[state]
		}
	}
	for state, w := range p {
		if w > 0 {
			variance += w * (v.variance[state] + (v.mean[state]-mean)*(v.mean[state]-mean))
		}
	}
	to.Mean, to.SD = mean, math.Sqrt(variance)
}

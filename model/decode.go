package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/chain"
	"github.com/latent-go/latent/internal/text"
)

// Decoding is how the rows of a sequence are labelled by a hidden Markov model.
type Decoding string

// The ways to decode. Probabilities are those given all rows of the sequence (smoothed), but for Filter.
const (
	Viterbi Decoding = "viterbi" // the labels are the likeliest path of states (Viterbi 1967)
	Smooth  Decoding = "smooth"  // the label is the likeliest state of the row
	Filter  Decoding = "filter"  // the same given the rows up to this one alone: nothing looks ahead
)

// Decodings returns the ways to decode, the default first.
func Decodings() []Decoding { return []Decoding{Viterbi, Smooth, Filter} }

// ParseDecoding returns the way to decode of a name, Viterbi for "".
func ParseDecoding(name string) (Decoding, error) {
	if name == "" {
		return Viterbi, nil
	}
	how := Decoding(name)
	return how, how.check()
}

// check refuses a way to decode that is none.
func (how Decoding) check() error {
	if !slices.Contains(Decodings(), how) {
		return fmt.Errorf("%q is not known; it must be %s", string(how), text.List([]string{string(Viterbi), string(Smooth), string(Filter)}, "or"))
	}
	return nil
}

// Decode is Rows of a hidden Markov model, labelled one way or another. Rows of src with the same Block.Sequence are one sequence, in their order
// in time; without any all are one. LogDensity is that of a row given the rows of its sequence before it, in nats, so that all add up to the
// log-likelihood. The recursions are those of Baum, Petrie, Soules and Weiss (1970) and, for Viterbi, of Viterbi (1967). A row without any cell keeps its place, with density 1. The function each gets the rows in the order of src, as from Rows.
//
// Densities of rows are computed by so many threads, 0 for all cores, the recursions by one; the number changes no bit. Filter keeps nothing of the rows before. The others hold one
// sequence at a time, five numbers a row and state; of a long one only a block of rows, whose densities are then computed three times. Where
// src is no data.Table, they hold its rows of some sequences, or of a long one, too.
//
// A sequence to which the model gives probability 0 is an error that names its row, and so is a model that is no chain.
func (m *Model) Decode(ctx context.Context, src data.Source, how Decoding, threads int, each func(*Scored) error) error {
	if err := m.whole(); err != nil {
		return err
	}
	if !m.IsChain() {
		return fmt.Errorf("a %s model has no sequences of states to decode; its rows are labelled one by one", m.Kind)
	}
	if err := how.check(); err != nil {
		return &data.ArgumentError{Name: "how", Reason: err.Error()}
	}
	if each == nil {
		return &data.ArgumentError{Name: "each", Reason: "is nil; it must be a function that takes the rows"}
	}
	d := m.decoder(how, threads, each)
	if t, ok := src.(*data.Table); ok && t != nil {
		d.next = t.First
	}
	if how == Filter {
		return d.rows(ctx, src)
	}
	return d.pieces(ctx, src, longSequence, blockRows)
}

func (m *Model) decoder(how Decoding, threads int, each func(*Scored) error) *decoder {
	return &decoder{states: m.emissions(), chain: chain.New(m.Initial, slices.Concat(m.Transitions...)), how: how, threads: threads, each: each}
}

// decoder labels the rows of sequences as their densities come.
type decoder struct {
	states  *Model // of equal weights
	chain   *chain.Chain
	how     Decoding
	threads int
	each    func(*Scored) error
	next    int64 // number of the next row among those of the source, from 0

	open     bool      // a sequence has begun whose end is not known
	sequence int32     // its number
	scores   []float64 // of its rows, n x chain.Stride: log densities in every state, nats; of Filter those of the chunk at hand
	told     chain.Sequence
	past     chain.Past // of Filter: the rows before
	waiting  []*Scored  // runs of rows of which some wait for the end of their sequence
	decoded  int        // rows of them that do not
}

// rows decodes the rows of a source, in one pass.
func (d *decoder) rows(ctx context.Context, src data.Source) error {
	if err := d.states.rows(ctx, src, d.threads, wantLogits, d.add); err != nil {
		return err
	}
	return d.finish()
}

// wait makes room for what is said of a run of rows. The block stays what it is: a pass reads each into memory of its own.
func (d *decoder) wait(s *Scored) {
	b := *s.Block
	b.First, d.next = d.next, d.next+int64(s.N)
	run := &Scored{Block: &b, K: s.K, Label: make([]int32, s.N), LogDensity: make([]float64, s.N), Responsibilities: make([]float64, s.N*s.K),
		Entropy: make([]float64, s.N), Best: make([]float64, s.N)}
	run.Component, run.ComponentResponsibilities = run.Label, run.Responsibilities
	d.waiting = append(d.waiting, run)
}

// add takes a run of rows, whose logits are what matters of them.
func (d *decoder) add(s *Scored) error {
	d.wait(s)
	for i := 0; i < s.N; {
		of := sequenceOf(s.Block, i)
		if d.open && of != d.sequence {
			if err := d.end(); err != nil {
				return err
			}
		}
		d.open, d.sequence = true, of
		to := i + 1
		for to < s.N && sequenceOf(s.Block, to) == of {
			to++
		}
		d.take(s, i, to)
		if d.how == Filter {
			if err := d.filter(); err != nil {
				return err
			}
		}
		i = to
	}
	return d.emit()
}

// sequenceOf returns the number of the sequence of row i.
func sequenceOf(b *data.Block, i int) int32 {
	if b.Sequence == nil {
		return 0
	}
	return b.Sequence[i]
}

// take adds the scores of rows i to to, in the user's units.
func (d *decoder) take(s *Scored, i, to int) {
	equal := math.Log(float64(s.K))
	for ; i < to; i++ {
		logits := s.logits[i*s.K : (i+1)*s.K]
		// The log density of the mixture in the user's units, less the same in those of the fit.
		units := s.LogDensity[i] - logSum(logits) + equal
		for _, v := range logits {
			d.scores = append(d.scores, v+units)
		}
		d.scores = append(d.scores, make([]float64, d.chain.Stride-s.K)...)
	}
}

// logSum returns ln Σ e^v.
func logSum(v []float64) float64 {
	top := slices.Max(v)
	sum := 0.0
	for _, x := range v {
		sum += math.Exp(x - top)
	}
	return top + math.Log(sum)
}

// end decodes the sequence that has ended.
func (d *decoder) end() error {
	d.open = false
	if d.how == Filter {
		d.past = chain.Past{}
		return nil
	}
	if err := d.chain.Smooth(&d.told, d.scores); err != nil {
		return d.impossible(err)
	}
	n := len(d.scores) / d.chain.Stride
	var path []int32
	if d.how == Viterbi {
		path = make([]int32, n)
		if _, err := d.chain.Viterbi(path, d.scores); err != nil {
			return d.impossible(err)
		}
	}
	d.tell(d.told.Smoothed, path)
	return nil
}

// filter goes on with the rows of a sequence as they come.
func (d *decoder) filter() error {
	if err := d.chain.FilterOn(&d.told, d.scores, &d.past); err != nil {
		return d.impossible(err)
	}
	d.tell(d.told.Filtered, nil)
	return nil
}

// tell gives the rows that scores are of their labels: those of path, or the likeliest states by p, n x chain.Stride.
func (d *decoder) tell(p []float64, path []int32) {
	n, k := d.chain.Stride, d.chain.K
	runs, i := d.place()
	for t := range len(d.scores) / n {
		for i == runs[0].N {
			runs, i = runs[1:], 0
		}
		run := runs[0]
		row := run.Responsibilities[i*k : (i+1)*k]
		copy(row, p[t*n:])
		normalise(row)
		best, entropy := 0, 0.0
		for c, v := range row {
			if v > row[best] {
				best = c
			}
			entropy += surprise(v)
		}
		if path != nil {
			best = int(path[t])
		}
		run.Label[i], run.LogDensity[i], run.Entropy[i] = int32(best), d.told.LogDensity[t], entropy
		run.Best[i] = d.told.LogDensity[t] + math.Log(row[best])
		i++
		d.decoded++
	}
	d.scores = d.scores[:0]
}

// place returns the runs from that of the next row to decode on, and its place in the first.
func (d *decoder) place() (runs []*Scored, i int) {
	runs, i = d.waiting, d.decoded
	for len(runs) > 1 && i >= runs[0].N {
		runs, i = runs[1:], i-runs[0].N
	}
	return runs, i
}

// emit hands on the runs whose rows are all decoded.
func (d *decoder) emit() error {
	for len(d.waiting) > 0 && d.waiting[0].N <= d.decoded {
		run := d.waiting[0]
		d.waiting, d.decoded = d.waiting[1:], d.decoded-run.N
		if err := d.each(run); err != nil {
			return err
		}
	}
	return nil
}

// finish decodes the last sequence.
func (d *decoder) finish() error {
	if !d.open {
		return nil
	}
	if err := d.end(); err != nil {
		return err
	}
	return d.emit()
}

// impossible says which row of the file it is that no path explains.
func (d *decoder) impossible(err error) error {
	var at *chain.ImpossibleError
	if !errors.As(err, &at) {
		return err
	}
	d.decoded += at.Row
	runs, i := d.place()
	return impossibleRow(runs[0].Number(i))
}

func impossibleRow(number int64) error {
	return fmt.Errorf("row %d: the model gives its sequence probability 0: no path of states leads there", number)
}

package model

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/data"
)

// What p-values are of where nobody says.
const (
	TailDraws = 100_000 // the standard error of a p-value near 0.001 is then 0.0001
	TailSeed  = 99      // not the seed that samples have by default: rows that a user drew are not held against themselves
)

// tie is by how much log densities that ought to be equal may differ, as a share of them (of 1 where they are smaller). Rows of bits, levels and
// counts tie often, and rounding depends on which other rows lack cells.
const tie = 1e-9

// mostKept is how many log densities are kept for patterns of missing cells: 64 MB, or 83 patterns of 100,000 draws. Beyond it the oldest are computed
// again when they are needed.
const mostKept = 1 << 23

// A Tail tells how unusual rows are under a model: the p-value of a row is the probability, under the mixture, of a log density as low
// as its own or lower. It is estimated from rows drawn from the model, the same ones for all rows (Monte Carlo test, Barnard 1963): (1 + the number
// of draws that have such a log density) / (1 + draws), which is never 0 and whose standard error is that of StandardError. Densities are those of the
// variables of the fit: a p-value does not depend on the units of columns. A row with gaps is held against the same draws without the cells that it lacks.
//
// Centres (kmeans, kmedians) have no density. Their p-value is the share of the rows of a source that are at least as far from their
// nearest centre, over the cells that the row has; rows of the source that lack one of these are left out.
//
// A Tail is for one goroutine at a time.
type Tail struct {
	m       *Model      // the caller's
	bare    *Model      // without the transform: its columns are the variables
	judge   *judge      // of bare
	volume  *judge      // of m: what its log densities lack of those of bare
	from    data.Source // the rows that others are held against, after the transform
	draws   int         // how many are drawn; 0 where they are rows of a source
	threads int         // for passes over from
	kept    map[string]*lows
	order   []string // of kept, the oldest first
	size    int      // log densities in kept
	gone    []bool   // of the row at hand: the variables that are missing
	key     []byte   // the same as a key of kept
	odd     oddest
}

// lows is what a pattern of missing cells is held against.
type lows struct {
	scores []float64 // log densities, the lowest first
	usual  []float64 // see oddest; nil before it was needed
}

// Tail returns what tells how unusual rows are under a mixture, from so many draws (TailDraws) with a seed (TailSeed), which are the rows that
// Sampler draws, by so many threads; 0 means all cores. A model without a density is an error: see TailAmong. It costs nothing before the first row.
func (m *Model) Tail(draws int, seed uint64, threads int) (*Tail, error) {
	if err := m.needsDensity("to draw rows from"); err != nil {
		return nil, err
	}
	if draws < 1 {
		return nil, &data.ArgumentError{Name: "draws", Reason: fmt.Sprintf("is %d; there must be at least 1", draws)}
	}
	t, err := m.tail(threads)
	if err != nil {
		return nil, err
	}
	t.draws, t.from = draws, &drawn{m: t.bare, n: draws, seed: seed}
	return t, nil
}

// TailAmong returns what tells how unusual rows are under centres, by their distances among those of src, whose columns are the model's in order
// and in the user's units. Each pattern of missing cells takes a pass over src, and 8 bytes a row. A mixture is an error: see Tail.
func (m *Model) TailAmong(src data.Source, threads int) (*Tail, error) {
	if err := m.whole(); err != nil {
		return nil, err
	}
	if m.HasDensity() {
		return nil, fmt.Errorf("a %s model has a density, by which rows are unusual, not by distances among others", m.Kind)
	}
	src, err := data.Checked(src)
	if err != nil {
		return nil, err
	}
	t, err := m.tail(threads)
	if err != nil {
		return nil, err
	}
	for i := range m.Transform {
		src = m.Transform[i].Rows(src)
	}
	t.from = src
	return t, nil
}

// tail returns a Tail without rows to hold others against.
func (m *Model) tail(threads int) (t *Tail, err error) {
	bare := *m
	bare.Columns, bare.Transform = m.Variables(), nil
	t = &Tail{m: m, bare: &bare, threads: threads, kept: map[string]*lows{}, gone: make([]bool, bare.D())}
	if t.judge, err = bare.judge(); err != nil {
		return nil, err
	}
	t.volume, err = m.judge()
	return t, err
}

// Draws returns how many rows are drawn; 0 where rows are held against those of a source.
func (t *Tail) Draws() int { return t.draws }

// StandardError returns that of an estimated p-value: sqrt(p (1 - p) / draws). It is 0 where nothing is drawn.
func (t *Tail) StandardError(p float64) float64 {
	if t.draws == 0 {
		return 0
	}
	return math.Sqrt(p * (1 - p) / float64(t.draws))
}

// P returns the p-value of row i of s, which is what Rows says of rows by the same model. It is NaN for a row without any cell.
func (t *Tail) P(ctx context.Context, s *Scored, i int) (float64, error) {
	if !t.look(s, i) {
		return math.NaN(), nil
	}
	l, err := t.lows(ctx)
	if err != nil {
		return 0, err
	}
	v := t.logDensity(s, i)
	v += tie * max(1, math.Abs(v))
	low, _ := slices.BinarySearchFunc(l.scores, v, func(x, v float64) int {
		if x <= v {
			return -1
		}
		return 1
	})
	if t.draws > 0 {
		return float64(1+low) / float64(1+t.draws), nil
	}
	return float64(low) / float64(len(l.scores)), nil
}

// logDensity returns the log density of row i over the variables.
func (t *Tail) logDensity(s *Scored, i int) float64 {
	if !t.volume.scaled {
		return s.LogDensity[i]
	}
	return s.LogDensity[i] + t.volume.volume(s.Block, i)
}

// look notes which variables row i lacks, and reports whether it has any.
func (t *Tail) look(s *Scored, i int) (some bool) {
	t.key = t.key[:0]
	for j := range t.gone {
		v := s.At(i, j)
		if t.gone[j] = v != v; t.gone[j] {
			t.key = append(t.key, 1)
		} else {
			t.key, some = append(t.key, 0), true
		}
	}
	return some
}

// lows returns what rows that lack the variables gone are held against.
func (t *Tail) lows(ctx context.Context) (*lows, error) {
	if l := t.kept[string(t.key)]; l != nil {
		return l, nil
	}
	l := &lows{}
	src := &lacking{Source: t.from, gone: t.gone}
	err := t.judge.rows(ctx, src, t.threads, func(s *Scored) error {
		for i, v := range s.LogDensity {
			if t.draws > 0 || t.has(s, i) {
				l.scores = append(l.scores, v)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(l.scores)
	for t.size += len(l.scores); t.size > mostKept && len(t.order) > 0; t.order = t.order[1:] {
		t.size -= len(t.kept[t.order[0]].scores)
		delete(t.kept, t.order[0])
	}
	t.kept[string(t.key)], t.order = l, append(t.order, string(t.key))
	return l, nil
}

// has reports whether row i of s has all variables that are not gone.
func (t *Tail) has(s *Scored, i int) bool {
	for j, gone := range t.gone {
		if v := s.At(i, j); !gone && v != v {
			return false
		}
	}
	return true
}

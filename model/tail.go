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

// mostKept is how many numbers are kept of rows, and of log densities: 64 MB each. Draws that do not fit are drawn anew in every pass; of
// patterns of missing cells the oldest are computed again when they are needed.
const mostKept = 1 << 23

// A pattern of missing cells is first held against a tenth of the draws: rows that are likely on these are not looked at further. Tables with gaps may
// have as many patterns as rows, and nine of ten rows then cost a tenth.
const (
	firstPart = 10
	likely    = 0.1
)

// A Tail tells how unusual rows are under a model: the p-value of a row is the probability, under the mixture, of a log density as low
// as its own or lower. It is estimated from rows drawn from the model, the same ones for all rows (a Monte Carlo test, Barnard 1963): (1 + the number
// of draws that have such a log density) / (1 + draws), which is never 0 and whose standard error is that of StandardError. Densities are those of the
// variables of the fit: a p-value does not depend on the units of columns. A row with gaps is held against the same draws without the cells that it
// lacks, and where a tenth of them says that its p-value is 0.1 or more, that is the estimate.
//
// Centres (kmeans, kmedians) have no density. Their p-value is the share of the rows of a source that are at least as far from their
// nearest centre, over the cells that the row has; rows of the source that lack one of these are left out.
//
// A Tail is for one goroutine at a time.
type Tail struct {
	bare    *Model        // without the transform: its columns are the variables
	m       *Model        // the caller's
	changes *data.Changes // of scale, of the columns of m; nil where there are none
	sloped  bool          // log densities of m have the slopes of these in them
	judge   *judge        // of bare
	volume  *judge        // of rows after changes of scale: what log densities lack of those of bare
	from    data.Source   // n rows of bare that others are held against
	n       int
	own     bool // they are all rows that are asked about
	threads int  // for passes over from
	most    int  // numbers of rows, and log densities, that are kept: mostKept
	kept    map[string]*lows
	order   []string // of kept, the oldest first
	size    int      // log densities in kept
	gone    []bool   // of the row at hand: the variables that are missing
	odd     oddest
}

// lows is what a pattern of missing cells is held against.
type lows struct {
	part, all []float64         // log densities of a part of the rows, and of all, the lowest first; nil before they were needed
	usual     map[int][]float64 // see Tail.usual; of the components for which it was needed
}

// Tail returns what tells how unusual rows are under a mixture, from so many draws (TailDraws) with a seed (TailSeed), which are the rows that
// Sampler draws, by so many threads; 0 means all cores. A model without a density is an error: see TailAmong.
func (m *Model) Tail(draws int, seed uint64, threads int) (*Tail, error) {
	if err := m.needsDensity("to draw rows from"); err != nil {
		return nil, err
	}
	if err := m.alone("has no p-values of single rows", "its log densities say which are a surprise"); err != nil {
		return nil, err
	}
	if draws < 1 {
		return nil, &data.ArgumentError{Name: "draws", Reason: fmt.Sprintf("is %d; there must be at least 1", draws)}
	}
	t, err := m.tail(threads)
	if err != nil {
		return nil, err
	}
	return t, t.draw(draws, seed)
}

// draw makes rows drawn from the mixture those that others are held against.
func (t *Tail) draw(n int, seed uint64) (err error) {
	t.n = n
	if n > t.most/t.bare.D() {
		t.from = &drawn{m: t.bare, n: n, seed: seed, component: anyOf}
		return nil
	}
	t.from, _, err = t.bare.Sample(n, seed)
	return err
}

// TailAmong returns what tells how unusual rows are under centres, by their distances among those of src, whose columns are the model's in order
// and in the user's units. Beyond TailDraws rows, or 64 MB of them, it takes so many at random, and p-values are estimates as those of Tail are. A
// mixture is an error: see Tail.
func (m *Model) TailAmong(ctx context.Context, src data.Source, threads int) (*Tail, error) {
	if err := m.whole(); err != nil {
		return nil, err
	}
	if m.HasDensity() {
		return nil, fmt.Errorf("%s has a density: rows are held against draws from it, not against other rows", m.called())
	}
	src, err := data.Checked(src)
	if err != nil {
		return nil, err
	}
	if _, d := src.Shape(); d != m.D() {
		return nil, fmt.Errorf("the rows have %d columns, but the model has %d", d, m.D())
	}
	t, err := m.tail(threads)
	if err != nil {
		return nil, err
	}
	if t.changes != nil {
		src = t.changes.Rows(src)
	}
	for _, step := range m.Changed().Transform {
		src = step.Rows(src)
	}
	table, all, err := some(ctx, src, min(TailDraws, max(t.most/t.bare.D(), 1)))
	if err != nil {
		return nil, err
	}
	t.from, t.n, t.own = table, table.N, all
	return t, nil
}

// tail returns a Tail without rows to hold others against.
func (m *Model) tail(threads int) (t *Tail, err error) {
	in := m.Changed()
	bare := *in
	bare.Columns, bare.Transform = m.Variables(), nil
	t = &Tail{m: m, changes: m.Changes(), sloped: m.Changes() != nil && m.sloped(), bare: &bare, threads: threads, most: mostKept, kept: map[string]*lows{}, gone: make([]bool, bare.D())}
	if t.judge, err = bare.judge(); err != nil {
		return nil, err
	}
	t.volume, err = in.judge()
	return t, err
}

// Draws returns how many rows p-values are estimated from; 0 where they are not estimates, because all rows are held against each other.
func (t *Tail) Draws() int {
	if t.own {
		return 0
	}
	return t.n
}

// StandardError returns that of a p-value, sqrt(p (1 - p) / draws), of a row without gaps or below 0.1; 0 where it is no estimate.
func (t *Tail) StandardError(p float64) float64 {
	if t.own {
		return 0
	}
	return math.Sqrt(p * (1 - p) / float64(t.n))
}

// P returns the p-value of row i of s, which is what Rows says of rows by the same model. It is NaN for a row without any cell.
func (t *Tail) P(ctx context.Context, s *Scored, i int) (float64, error) {
	some, whole := t.look(s, i)
	if !some {
		return math.NaN(), nil
	}
	l, v := t.lows(), t.logDensity(s, i)
	if !whole && t.bare.HasDensity() && t.n >= firstPart {
		if err := t.fill(ctx, l, &l.part, t.n/firstPart); err != nil {
			return 0, err
		}
		if p := t.share(l.part, v); p >= likely {
			return p, nil
		}
	}
	if err := t.fill(ctx, l, &l.all, t.n); err != nil {
		return 0, err
	}
	return t.share(l.all, v), nil
}

// share returns the p-value of log density v among sorted ones.
func (t *Tail) share(sorted []float64, v float64) float64 {
	v += tie * max(1, math.Abs(v))
	low, _ := slices.BinarySearchFunc(sorted, v, func(x, v float64) int {
		if x <= v {
			return -1
		}
		return 1
	})
	if t.own {
		return float64(low) / float64(len(sorted))
	}
	return float64(1+low) / float64(1+len(sorted))
}

// logDensity returns the log density of row i over the variables.
func (t *Tail) logDensity(s *Scored, i int) float64 {
	v := s.LogDensity[i]
	if t.sloped {
		v -= s.Slope[i]
	}
	if t.volume.scaled {
		v += t.volume.volume(s.Block, i)
	}
	return v
}

// look notes which variables row i lacks, and reports whether it has some, and all.
func (t *Tail) look(s *Scored, i int) (some, whole bool) {
	whole = true
	for j := range t.gone {
		v := s.At(i, j)
		t.gone[j] = v != v
		some, whole = some || v == v, whole && v == v
	}
	return some, whole
}

// lows returns what rows that lack the variables gone are held against, as far as it is known.
func (t *Tail) lows() *lows {
	key := make([]byte, len(t.gone))
	for j, gone := range t.gone {
		if gone {
			key[j] = 1
		}
	}
	l := t.kept[string(key)]
	if l == nil {
		l = &lows{}
		t.kept[string(key)], t.order = l, append(t.order, string(key))
	}
	return l
}

// fill sets scores, of l, to the sorted log densities of the first n rows without the variables gone, unless it has been done.
func (t *Tail) fill(ctx context.Context, l *lows, scores *[]float64, n int) error {
	if *scores != nil {
		return nil
	}
	for t.size+n > t.most && t.kept[t.order[0]] != l {
		old := t.kept[t.order[0]]
		t.size -= len(old.part) + len(old.all)
		delete(t.kept, t.order[0])
		t.order = t.order[1:]
	}
	list := make([]float64, 0, n)
	err := t.judge.rows(ctx, &lacking{Source: t.first(n), gone: t.gone}, t.threads, func(s *Scored) error {
		for i, v := range s.LogDensity {
			if t.bare.HasDensity() || t.has(s, i) {
				list = append(list, v)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.Sort(list)
	*scores = list
	t.size += len(list)
	return nil
}

// first returns the first n of the rows that others are held against.
func (t *Tail) first(n int) data.Source {
	if from, ok := t.from.(*data.Table); ok {
		return &data.Table{N: n, D: from.D, F64: from.F64[:n*from.D]}
	}
	from := *t.from.(*drawn)
	from.n = n
	return &from
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

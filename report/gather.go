package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/score"
)

// How much of the rows a page shows.
const (
	drawn    = 4000  // points of a scatter
	least    = 40    // of them, of each group that has as many
	inBins   = 20000 // rows of the histogram of uncertainty
	examples = 5     // rows of a group that are told
	outliers = 20    // rows that fit the model least
	stacked  = 200   // rows whose responsibilities are stacked
	kept     = 2e6   // cells of all sampled rows: 16 MB
)

// Row is a row that the page shows.
type Row struct {
	Number      int64      // in the file, from 1
	X           []float64  // d cells in the user's units
	Label       int        // from 0
	Score       float64    // log density, nats; minus the distance for a model without density
	Uncertainty float64    // 1 less the responsibility of its label
	P           []float64  // k responsibilities
	PValue      float64    // see model.Tail; NaN where it has none, and for a model without density of other than Unusual rows
	Odd         *model.Odd // its oddest cell, of Unusual rows alone; nil where that would take long
	key, tie    float64    // what a list of rows is sorted by
}

// Group is what the rows of one label are like.
type Group struct {
	Rows     int64
	Weight   float64   // summed row weights
	Mean, SD []float64 // d, of the cells of the rows that carry the label; NaN and 0 where there are none
	Typical  []Row     // those the component explains best
	Unsure   []Row     // those with the most uncertainty
	distance float64   // mean of the rows to their centre, for a model without density
	sample   []Row
	fitted   [][]float64 // the sample as the model sees it, after its transform
	moments  moments
}

// Rows is what a pass over the rows found out.
type Rows struct {
	N           int64
	Weight      float64
	Mean, SD    []float64     // d, of all cells that are there
	Missing     model.Missing // cells that the rows lack, but for Patterns
	Group       []Group       // k
	Overlap     [][]float64
	Uncertainty []float64 // of all rows, or of a sample of inBins
	Sure        float64   // share of the weight whose label has a responsibility of 0.9 or more
	Unusual     []Row     // the lowest p-values, of equals and where there are none the lowest log densities
	Odd         Odd
	noise       int64 // rows of the noise, which are in no group
	density     bool
	squared     bool // the score of a row is minus a squared distance
	Confusion   []map[string]float64
	Truths      []string // the known labels, in the order they came; nil without a truth column
	// Silhouette is that of k-means, of all rows or of a sample in which every group has rows; nil where there is none.
	Silhouette *score.SampledSilhouette
	// Of a hidden Markov model: how many sequences there are, and the states of the first of them.
	Sequences int
	States    []Sequence
}

// Gather makes one pass over src, whose columns are the model's, in the user's units. Beyond the sizes of the pages above it
// keeps no rows: samples are drawn with a fixed seed.
func Gather(ctx context.Context, m *model.Model, src data.Source, threads int) (*Rows, error) {
	if m == nil {
		return nil, &data.ArgumentError{Name: "m", Reason: "is nil; it must be the model to tell of"}
	}
	if err := data.CheckContext(ctx); err != nil {
		return nil, err
	}
	src, err := data.Checked(src)
	if err != nil {
		return nil, err
	}
	k, d := m.NumLabels(), m.D()
	if k == 0 || d == 0 {
		return nil, &data.ArgumentError{Name: "m", Reason: "has no components or no columns"}
	}
	g := &gatherer{Rows: &Rows{Group: make([]Group, k), Confusion: make([]map[string]float64, k)}, moments: newMoments(d),
		rng: rng.Page.New(), most: max(least, min(drawn, int(kept/float64(k*d)))), gaps: map[string]bool{}}
	g.density, g.squared = m.HasDensity(), kind.Of(m.ComponentKind()).Squared
	if g.tail, g.Odd.Draws, err = newTail(m, threads); err != nil {
		return nil, err
	}
	if g.tail != nil {
		g.Odd.SE = g.tail.StandardError(oddBelow)
	}
	if kind.Of(m.ComponentKind()).Squared && k > 1 && k <= listed {
		cols := len(m.Variables())
		g.judges = score.NewSilhouetteSample(cols, max(score.PairedRows(cols, 1e9), 4000), rng.PageSilhouettes.New())
	}
	for c := range k {
		g.Group[c].moments, g.Confusion[c] = newMoments(d), map[string]float64{}
		g.Overlap = append(g.Overlap, make([]float64, k))
	}
	raw, err := newRaw(ctx, src, d)
	if err != nil {
		return nil, err
	}
	err = m.Rows(ctx, src, threads, func(s *model.Scored) error {
		if err := raw.read(s.N); err != nil {
			return err
		}
		for i := range s.Label {
			if m.IsChain() {
				g.addState(s, i, raw.x[i*d:i*d+d])
			}
			if err := g.add(ctx, s, i, raw.x[i*d:i*d+d]); err != nil {
				return err
			}
		}
		return nil
	})
	if closed := raw.reader.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = g.judge(ctx, threads)
	}
	if err == nil {
		err = g.oddest(ctx, m, src)
	}
	if err != nil {
		return nil, err
	}
	return g.done(), nil
}

// judge takes the silhouettes, where they are wanted and defined.
func (g *gatherer) judge(ctx context.Context, threads int) (err error) {
	if g.judges == nil {
		return nil
	}
	g.Silhouette, err = g.judges.Silhouette(ctx, threads)
	var undefined *score.UndefinedError
	if errors.As(err, &undefined) {
		return nil
	}
	return err
}

// raw reads the rows as the user has them beside those that the model transformed.
type raw struct {
	reader data.Reader
	block  data.Block
	x      []float64 // of the last read
	d      int
}

func newRaw(ctx context.Context, src data.Source, d int) (*raw, error) {
	r, err := src.Open(ctx)
	return &raw{reader: r, d: d}, err
}

// read sets x to the next n rows.
func (r *raw) read(n int) error {
	r.x = r.x[:0]
	for len(r.x) < n*r.d {
		err := r.reader.Read(&r.block, n-len(r.x)/r.d)
		if err == io.EOF {
			return fmt.Errorf("the rows changed while they were read")
		}
		if err != nil {
			return err
		}
		if r.block.F64 != nil {
			r.x = append(r.x, r.block.F64...)
			continue
		}
		for _, v := range r.block.F32 {
			r.x = append(r.x, float64(v))
		}
	}
	return nil
}

type gatherer struct {
	*Rows
	rng     *rand.Rand
	moments moments
	most    int                     // rows of a group's sample
	tail    *model.Tail             // nil where there are no p-values
	gaps    map[string]bool         // the patterns of missing cells whose rows have p-values
	judges  *score.SilhouetteSample // nil where no silhouettes are shown
	sure    float64
	seen    int64

	stripped int // rows whose states are kept
}

func (g *gatherer) add(ctx context.Context, s *model.Scored, i int, x []float64) error {
	w := s.Weight(i)
	missing := 0
	if w != 0 {
		missing = g.lacks(x)
	}
	if w == 0 || missing == len(x) {
		return nil
	}
	c, p := int(s.Label[i]), s.Responsibilities[i*s.K:i*s.K+s.K]
	if c < 0 {
		return g.addNoise(ctx, s, i, x)
	}
	g.N++
	g.Weight += w
	g.moments.add(x, w)
	group := &g.Group[c]
	group.Rows++
	group.Weight += w
	group.moments.add(x, w)
	row := Row{Number: s.Number(i), Label: c, Score: s.LogDensity[i]}
	if !g.density {
		group.distance += w * g.far(&row)
	}
	_, row.Uncertainty = s.Sure(i)
	for j, v := range p {
		g.Overlap[c][j] += w * v
	}
	if row.Uncertainty <= 0.1 {
		g.sure += w
	}
	if s.Truth != nil {
		if _, ok := g.Confusion[c][s.Truth[i]]; !ok && !slices.Contains(g.Truths, s.Truth[i]) {
			g.Truths = append(g.Truths, s.Truth[i])
		}
		g.Confusion[c][s.Truth[i]] += w
	}
	g.seen++
	if at, ok := g.slot(len(g.Uncertainty), inBins, g.seen); ok {
		g.Uncertainty = put(g.Uncertainty, at, row.Uncertainty)
	}
	keep := func(r Row) Row { // the memory is the source's
		r.X, r.P = slices.Clone(x), slices.Clone(p)
		return r
	}
	if at, ok := g.slot(len(group.sample), g.most, group.Rows); ok {
		group.sample = put(group.sample, at, keep(row))
		group.fitted = put(group.fitted, at, fitted(s, i))
	}
	group.Typical = top(group.Typical, row, s.Best[i]-aGap*float64(missing), examples, keep)
	if row.Uncertainty > 0 {
		group.Unsure = top(group.Unsure, row, row.Uncertainty, examples, keep)
	}
	if err := g.addUnusual(ctx, s, i, row, keep); err != nil || g.judges == nil {
		return err
	}
	return g.judges.Add(c, fitted(s, i), w)
}

// addNoise adds a row of the noise, which is in no group.
func (g *gatherer) addNoise(ctx context.Context, s *model.Scored, i int, x []float64) error {
	g.noise++
	w, row := s.Weight(i), Row{Number: s.Number(i), Label: -1, Score: s.LogDensity[i]}
	g.N++
	g.Weight += w
	g.moments.add(x, w)
	if _, row.Uncertainty = s.Sure(i); row.Uncertainty <= 0.1 {
		g.sure += w
	}
	g.seen++
	if at, ok := g.slot(len(g.Uncertainty), inBins, g.seen); ok {
		g.Uncertainty = put(g.Uncertainty, at, row.Uncertainty)
	}
	return g.addUnusual(ctx, s, i, row, func(r Row) Row {
		r.X, r.P = slices.Clone(x), slices.Clone(s.Responsibilities[i*s.K:i*s.K+s.K])
		return r
	})
}

// addUnusual puts row i of s among the unusual ones, if it is one of them. keep gives a row memory of its own.
func (g *gatherer) addUnusual(ctx context.Context, s *model.Scored, i int, row Row, keep func(Row) Row) error {
	if err := g.judgeRow(ctx, s, i, &row); err != nil {
		return err
	}
	if row.tie = -row.Score; g.tail == nil {
		g.Unusual = top(g.Unusual, row, 0, outliers, keep)
	} else if row.PValue == row.PValue {
		g.Unusual = top(g.Unusual, row, -row.PValue, outliers, keep)
	}
	return nil
}

// fitted returns row i as the model sees it.
func fitted(s *model.Scored, i int) []float64 {
	if s.F64 != nil {
		return slices.Clone(s.F64[i*s.D : i*s.D+s.D])
	}
	x := make([]float64, s.D)
	for j, v := range s.F32[i*s.D : i*s.D+s.D] {
		x[j] = float64(v)
	}
	return x
}

// aGap is how many nats a missing cell costs a row among the typical ones: more than densities differ, so that rows with fewer gaps come
// first. Densities of fewer cells are higher.
const aGap = 1e6

// lacks counts the cells that a row lacks. One that lacks every cell is not fitted, and not shown. Silhouettes are of complete rows.
func (g *gatherer) lacks(x []float64) (missing int) {
	for _, v := range x {
		if v != v {
			missing++
		}
	}
	switch missing {
	case 0:
	case len(x):
		g.Missing.EmptyRows++
	default:
		g.Missing.Cells += int64(missing)
		g.Missing.Rows++
		g.judges = nil
	}
	return missing
}

// slot returns where the n-th row of a stream goes in a sample of at most most rows that holds some already, if anywhere
// (Vitter 1985, algorithm R).
func (g *gatherer) slot(have, most int, n int64) (int, bool) {
	if have < most {
		return have, true
	}
	at := g.rng.Int64N(n)
	return int(at), at < int64(most)
}

func put[T any](s []T, at int, v T) []T {
	if at == len(s) {
		return append(s, v)
	}
	s[at] = v
	return s
}

// top puts row among the at most most rows with the highest keys, in falling order; of equals those with the higher tie, then the first, stay.
func top(list []Row, row Row, key float64, most int, keep func(Row) Row) []Row {
	at := len(list)
	for at > 0 && (list[at-1].key < key || list[at-1].key == key && list[at-1].tie < row.tie) {
		at--
	}
	if at >= most {
		return list
	}
	row = keep(row)
	row.key = key
	list = slices.Insert(list, at, row)
	return list[:min(len(list), most)]
}

// done turns sums into what they stand for.
func (g *gatherer) done() *Rows {
	g.Mean, g.SD = g.moments.done()
	for c := range g.Group {
		u := &g.Group[c]
		if u.Mean, u.SD = u.moments.done(); u.Weight > 0 {
			u.distance /= u.Weight
			for j := range g.Overlap[c] {
				g.Overlap[c][j] /= u.Weight
			}
		}
	}
	g.Sure = g.sure / g.Weight
	return g.Rows
}

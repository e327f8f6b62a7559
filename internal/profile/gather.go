package profile

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/model"
)

const (
	// MostLevels is how many different values of a column are told apart.
	MostLevels = 10_000
	// sampledRows and sampledCells bound what is kept for quartiles: with more rows they are those of a sample.
	sampledRows, sampledCells = 100_000, 8_000_000
	sampleSeed                = 1
)

// Options says how rows count and what is told.
type Options struct {
	ByLabel   bool // rows count for their label alone
	Quartiles bool // quartiles of numbers too: of at most 100,000 rows, drawn at random where there are more
}

// Builder gathers a profile, rows in order.
type Builder struct {
	model   *model.Model
	weights []float64 // of its labels; nil where it has none
	info    *data.Info
	by      Options
	k       int
	rows    int64
	cols    []gathered
	share   []float64 // of a run: of group c at [c*n, c*n+n), the weights of the rows behind all groups
	total   []moments // weights of the groups, then of all rows
	noise   float64   // weight of the rows of the noise
	keep    *sample
	place   []places
}

// gathered is what is known of a column.
type gathered struct {
	name    string
	fitted  int              // its index in the model, -1 for none
	date    *data.DateParser // of dates, whose numbers are days since 1970-01-01; nil for other columns
	missing int64
	numbers int64 // cells that are numbers
	texts   int64
	whole   bool      // all numbers are whole
	rising  bool      // each is above the one before by 1
	last    float64   // number
	moments []moments // of each group, then of all rows
	index   map[string]int
	names   []string
	levels  []float64 // weight of level l in group c at l*(k+1)+c, over all rows at c = k
	full    bool      // there are more levels
	x       []float64 // of a run: the numbers
}

// New returns a builder for rows that m scores. info tells of the table they come from, whose cells Options.Carry must hand out.
func New(m *model.Model, info *data.Info, by Options) *Builder {
	k := m.NumLabels()
	b := &Builder{model: m, weights: m.Pooled().Weights, info: info, by: by, k: k, total: make([]moments, k+1)}
	for _, c := range info.Columns {
		// Columns of a model may have been met by position: the features are named as in the file, in the order of the model.
		g := gathered{name: c.Name, fitted: slices.Index(info.Features, c.Name), whole: true, rising: true, moments: make([]moments, k+1), index: map[string]int{}}
		if g.fitted >= 0 {
			if d, ok := m.Date(m.Columns[g.fitted]); ok {
				g.date = &data.DateParser{Order: d.Order}
			}
		}
		b.cols = append(b.cols, g)
	}
	b.place = placesOf(m, b.cols)
	if by.Quartiles {
		b.keep = newSample(info.Rows, len(b.cols), k)
	}
	return b
}

// Add adds a run of rows.
func (b *Builder) Add(s *model.Scored) error {
	n := s.N
	b.share = b.share[:0]
	for c := range b.k {
		for i := range n {
			r := s.Responsibilities[i*s.K+c]
			if b.by.ByLabel {
				r = 0
				if s.Label[i] == int32(c) {
					r = 1
				}
			}
			b.share = append(b.share, r*s.Weight(i))
		}
	}
	for i := range n {
		b.share = append(b.share, s.Weight(i))
		if s.Weight(i) > 0 {
			b.rows++
		}
	}
	for i, r := range s.Noise {
		if b.by.ByLabel {
			r = 0
			if s.Label[i] < 0 {
				r = 1
			}
		}
		b.noise += r * s.Weight(i)
	}
	for c := range b.total {
		for _, w := range b.share[c*n : c*n+n] {
			b.total[c].weight += w
		}
	}
	for j := range b.cols {
		b.cols[j].add(b, s, j)
	}
	for i := range b.place {
		if err := b.place[i].add(b, n); err != nil {
			return err
		}
	}
	if b.keep != nil {
		b.keep.add(b, n)
	}
	return nil
}

// add adds the cells of column j.
func (g *gathered) add(b *Builder, s *model.Scored, j int) {
	n, width := s.N, b.k+1
	weight := b.share[b.k*n:]
	g.x = g.x[:0]
	for i := range n {
		v, number, missing := b.info.Spelled(s.Cells[i*len(b.cols)+j])
		if g.date != nil && !missing {
			v, number = g.date.Parse(s.Cells[i*len(b.cols)+j])
		}
		if missing || !number {
			v = math.NaN()
		}
		g.x = append(g.x, v)
		switch {
		case weight[i] == 0:
			continue
		case missing:
			g.missing++
			continue
		case number:
			g.count(v)
		default:
			g.texts++
		}
		if l, ok := g.level(s.Cells[i*len(b.cols)+j], v, width); ok {
			for c := range width {
				g.levels[l*width+c] += b.share[c*n+i]
			}
		}
	}
	for c := range g.moments {
		g.moments[c].add(g.x, b.share[c*n:c*n+n])
	}
}

// count notes a number.
func (g *gathered) count(v float64) {
	g.whole = g.whole && v == math.Trunc(v)
	if g.numbers > 0 {
		g.rising = g.rising && v == g.last+1
	}
	g.last = v
	g.numbers++
}

// level returns the number of a cell's level; false where there are too many.
func (g *gathered) level(cell string, v float64, width int) (l int, ok bool) {
	if g.full {
		return 0, false
	}
	if l, ok = g.index[cell]; ok {
		return l, true
	}
	name := strings.Trim(cell, " \t\r\n")
	if v == v { // 1.0 and 1 are one level
		name = strconv.FormatFloat(v+0, 'f', -1, 64)
	}
	l, ok = g.index[name]
	if !ok {
		if len(g.names) == MostLevels {
			g.full = true
			return 0, false
		}
		l = len(g.names)
		name = strings.Clone(name)
		g.names, g.index[name] = append(g.names, name), l
		g.levels = append(g.levels, make([]float64, width)...)
	}
	if len(g.index) < 2*MostLevels { // other spellings of what is there
		g.index[strings.Clone(cell)] = l
	}
	return l, true
}

// sample is rows for quartiles: all of them, or some at random.
type sample struct {
	take   *rng.Selection // nil for all
	x      [][]float64    // of each column, the numbers
	shares [][]float64    // of each group, then of all rows
}

// newSample returns a sample of n rows of so many columns.
func newSample(n int64, columns, k int) *sample {
	s := &sample{x: make([][]float64, columns), shares: make([][]float64, k+1)}
	if most := min(sampledRows, int64(sampledCells/(columns+k+1))); n > most {
		s.take = rng.Select(rng.Quartiles.New(sampleSeed), most, n)
	}
	return s
}

// add adds the n rows of the run that b has added last.
func (s *sample) add(b *Builder, n int) {
	for i := range n {
		if s.take != nil && !s.take.Take() {
			continue
		}
		for j := range s.x {
			s.x[j] = append(s.x[j], b.cols[j].x[i])
		}
		for c := range s.shares {
			s.shares[c] = append(s.shares[c], b.share[c*n+i])
		}
	}
}

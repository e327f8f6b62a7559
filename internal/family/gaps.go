package family

import (
	"math"
	"math/bits"
	"slices"

	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/rng"
)

// Gaps knows which columns of a table are missing together: its patterns. A family that has one takes rows with missing
// cells, which are NaN in a Panel; a family without takes complete rows. Patterns are numbered from 0 in the order in which
// they were added, and none is complete.
type Gaps struct {
	D     int
	words int
	masks []uint64         // of pattern p at p*words: bit j is set where column j is missing
	rows  []int64          // of each pattern
	at    map[uint64]int32 // the pattern with this fingerprint
	part  []int32          // of some of the columns of a table: for each pattern of all columns its own
}

// In Panel.Pattern a row may have no pattern.
const (
	Complete = -1 // nothing is missing
	Unknown  = -2 // its pattern is none of the table's
)

// NewGaps returns no patterns of d columns.
func NewGaps(d int) *Gaps {
	return &Gaps{D: d, words: (d + 63) / 64, at: map[uint64]int32{}}
}

// Len returns the number of patterns.
func (g *Gaps) Len() int { return len(g.rows) }

// Rows returns how many rows have pattern p.
func (g *Gaps) Rows(p int) int64 { return g.rows[p] }

// Mask returns pattern p: bit j of the words is set where column j is missing. The memory is that of g.
func (g *Gaps) Mask(p int) []uint64 { return g.masks[p*g.words : (p+1)*g.words] }

// Add counts rows with the pattern mask, which is copied, and returns its number.
func (g *Gaps) Add(mask []uint64, rows int64) int32 {
	for key := fingerprint(mask); ; key++ { // two patterns with one fingerprint: the next number
		p, ok := g.at[key]
		if !ok {
			p = int32(len(g.rows))
			g.at[key] = p
			g.masks, g.rows = append(g.masks, mask...), append(g.rows, rows)
			return p
		}
		if slices.Equal(g.Mask(int(p)), mask) {
			g.rows[p] += rows
			return p
		}
	}
}

// Find returns the number of the pattern mask, -1 where it is none of g.
func (g *Gaps) Find(mask []uint64) int {
	for key := fingerprint(mask); ; key++ {
		p, ok := g.at[key]
		if !ok {
			return -1
		}
		if slices.Equal(g.Mask(int(p)), mask) {
			return int(p)
		}
	}
}

// Merge adds the patterns of o.
func (g *Gaps) Merge(o *Gaps) {
	for p, rows := range o.rows {
		g.Add(o.Mask(p), rows)
	}
}

// Of returns the patterns of some of the columns, in their order; nil where none of them is missing in any. Of no patterns it returns none: any
// may then come.
func (g *Gaps) Of(columns []int) *Gaps {
	own := NewGaps(len(columns))
	if g.Len() == 0 {
		return own
	}
	mask := make([]uint64, own.words)
	for p, rows := range g.rows {
		clear(mask)
		for to, j := range columns {
			if g.Mask(p)[j/64]>>(j%64)&1 != 0 {
				mask[to/64] |= 1 << (to % 64)
			}
		}
		own.part = append(own.part, Complete)
		if missing(mask) > 0 {
			own.part[p] = own.Add(mask, rows)
		}
	}
	if own.Len() == 0 {
		return nil
	}
	return own
}

// Number sets p.Pattern to the numbers of its rows' patterns. masks is memory from an earlier call, nil at first.
func (g *Gaps) Number(p *Panel, masks []uint64) []uint64 {
	if len(masks) < kern.Rows*g.words {
		masks = make([]uint64, kern.Rows*g.words)
	}
	p.masks(masks, g.words)
	for i := range p.Pattern {
		p.Pattern[i] = Complete
		if mask := masks[i*g.words : (i+1)*g.words]; missing(mask) > 0 {
			if p.Pattern[i] = int32(g.Find(mask)); p.Pattern[i] < 0 {
				p.Pattern[i] = Unknown
			}
		}
	}
	return masks
}

// masks sets masks to those of the rows of p, words each.
func (p *Panel) masks(masks []uint64, words int) {
	clear(masks)
	for j := range p.D {
		bit, at := uint64(1)<<(j%64), j/64
		for i, there := range p.Mask[j*kern.Rows : j*kern.Rows+p.N] {
			if there == 0 {
				masks[i*words+at] |= bit
			}
		}
	}
}

// Apart returns the pairs of the columns that are there together in no pattern.
func (g *Gaps) Apart(columns []int) (pairs [][2]int) {
	gone := func(p, j int) bool { return g.Mask(p)[j/64]>>(j%64)&1 != 0 }
	together := make([]uint64, g.words)
	for i, a := range columns {
		clear(together)
		for p := range g.Len() {
			if !gone(p, a) {
				for w, mask := range g.Mask(p) {
					together[w] |= ^mask
				}
			}
		}
		for _, b := range columns[i+1:] {
			if together[b/64]>>(b%64)&1 == 0 {
				pairs = append(pairs, [2]int{a, b})
			}
		}
	}
	return pairs
}

// fingerprint mixes the words of a mask.
func fingerprint(mask []uint64) uint64 {
	h := uint64(len(mask))
	for _, w := range mask {
		h = rng.Mix(h*0xd1342543de82ef95 + w)
	}
	return h
}

// missing returns how many bits of a mask are set.
func missing(mask []uint64) (n int) {
	for _, w := range mask {
		n += bits.OnesCount64(w)
	}
	return n
}

// Mark looks for missing cells, NaN in X, and notes them in Holes, Mask and Filled. Rows beyond N have none.
func (p *Panel) Mark() {
	n := p.D * kern.Rows
	if len(p.Mask) < n {
		p.Mask, p.Filled = make([]float64, n), make([]float64, n)
	}
	if p.N == kern.Rows {
		p.Holes = kern.Present(p.Mask, p.Filled, p.X, p.D)
		return
	}
	p.Holes = false
	for at, v := range p.X[:n] {
		p.Mask[at], p.Filled[at] = 1, v
		if v != v && at%kern.Rows < p.N {
			p.Mask[at], p.Filled[at], p.Holes = 0, 0, true
		}
	}
}

// HasHoles reports whether a cell of the panel is missing.
func (p *Panel) HasHoles() bool {
	for j := range p.D {
		for _, v := range p.X[j*kern.Rows : j*kern.Rows+p.N] {
			if v != v {
				return true
			}
		}
	}
	return false
}

// cells returns the cells of the panel with 0 in place of missing ones.
func (p *Panel) cells() []float64 {
	if p.Holes {
		return p.Filled
	}
	return p.X
}

// filledWith is cells with fill[j] in place of the missing cells of column j, in memory of ws.
func (p *Panel) filledWith(ws *Workspace, fill []float64) []float64 {
	if !p.Holes {
		return p.X
	}
	x := grow(&ws.filled, p.D*kern.Rows)
	for j, f := range fill {
		from, to := j*kern.Rows, (j+1)*kern.Rows
		own, there := p.Filled[from:to], p.Mask[from:to]
		for i := range own {
			x[from+i] = own[i] + (1-there[i])*f
		}
	}
	return x
}

// An Incomplete family takes rows with missing cells.
type Incomplete interface {
	Family
	// WithGaps returns the family for rows with such patterns of missing cells; nil is for complete rows. Sums, and with them the layout
	// of Stats, are others; parameters are the same.
	WithGaps(*Gaps) Family
	// Patterns returns the patterns that the family was given; nil where rows are complete.
	Patterns() *Gaps
}

// PatternsOf returns the patterns of missing cells that f was given, nil where its rows are complete.
func PatternsOf(f Family) *Gaps {
	if f, ok := f.(Incomplete); ok {
		return f.Patterns()
	}
	return nil
}

// log2Pi is log 2 pi.
var log2Pi = math.Log(2 * math.Pi)

package sweep

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// bitRows are the rows of a table in memory as bits, which the first pass of a family that reads bits leaves behind: d/4
// bytes a row, by rows and by columns, where the table has 8 d. Panel p of the table is rows p*kern.Rows and on.
type bitRows struct {
	filling sync.Mutex // held by the pass that fills what is missing
	whole   atomic.Bool
	family  family.Binary
	known   []known  // of each panel
	words   []uint32 // of each panel
}

// known is what is known of a panel.
type known uint8

const (
	nothing known = iota
	asBits
	asNumbers // a row of weight 0 has a cell that is no bit
)

// packer brings panels to the kernels of one pass.
type packer struct {
	origin []float64
	family family.Binary // nil: numbers are wanted
	width  int           // words of a panel
	kept   *bitRows      // nil where none are kept
	fills  bool
	own    [][]uint32 // where none are kept: a panel for each worker
}

// packer returns the packer of a pass for the tasks, and a function to call at its end. Tasks of one family that reads bits
// are given bits alone.
func (l *Local) packer(ctx context.Context, tasks []Task) (p *packer, end func(err error)) {
	p, end = &packer{origin: l.origin}, func(error) {}
	for i := range tasks {
		m := tasks[i].Mixture
		f, ok := m.Family.(family.Binary)
		if !ok || f.Bits(m.D) == 0 || i > 0 && !reflect.DeepEqual(f, p.family) {
			p.family = nil
			return p, end
		}
		p.family, p.width = f, kern.BitWords(f.Bits(m.D))
	}
	if p.family == nil {
		return p, end
	}
	p.own = make([][]uint32, l.threads)
	table, ok := l.src.(*data.Table)
	if ok {
		_, err := table.Open(ctx) // the pass will say what is wrong
		ok = err == nil && table.D == len(l.origin)
	}
	rows := &l.bits
	switch {
	case !ok:
	case rows.whole.Load():
		if reflect.DeepEqual(rows.family, p.family) {
			p.kept = rows
		}
	case rows.filling.TryLock(): // a pass beside this one goes on without
		if n := (table.N + kern.Rows - 1) / kern.Rows; rows.family == nil {
			rows.family, rows.known, rows.words = p.family, make([]known, n), make([]uint32, n*p.width)
		}
		if !reflect.DeepEqual(rows.family, p.family) {
			rows.filling.Unlock()
			break
		}
		p.kept, p.fills = rows, true
		return p, func(err error) {
			rows.whole.Store(err == nil)
			rows.filling.Unlock()
		}
	}
	return p, end
}

// pack fills the panel with the rows of b from lo on, for worker id.
func (p *packer) pack(id int, to *family.Panel, b *data.Block, lo int) {
	to.Bits = nil
	if p.family == nil {
		pack(to, b, lo, p.origin)
		return
	}
	at, before := int(b.First+int64(lo))/kern.Rows, nothing
	words := p.own[id]
	if p.kept != nil {
		words, before = p.kept.words[at*p.width:(at+1)*p.width], p.kept.known[at]
	} else if words == nil {
		words = make([]uint32, p.width)
		p.own[id] = words
	}
	if before == asBits {
		to.Bits = words
		number(to, b, lo)
		return
	}
	pack(to, b, lo, p.origin)
	if before == asNumbers {
		return
	}
	is := asNumbers
	if p.family.PackBits(words, to.X, b.D) {
		to.Bits, is = words, asBits
	}
	if p.fills {
		p.kept.known[at] = is
	}
}

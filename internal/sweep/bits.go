package sweep

import (
	"context"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// bitRows are the rows of a table in memory as bits, d/4 bytes a row, by rows and by columns, where the table has 8 d.
type bitRows = keptRows[family.Binary, uint32]

// packer brings panels to the kernels of one pass.
type packer struct {
	origin []float64
	family family.Binary // nil: numbers are wanted
	width  int           // words of a panel
	kept   *bitRows      // nil where none are kept
	fills  bool
	own    [][]uint32 // where none are kept: a panel for each worker
	base   *baser     // nil where no family has a part of its own for a row
	gaps   *finder    // nil where no cell is missing
	first  int64      // rows before the first of the table whose values are kept
}

// packer returns the packer of a pass for the tasks, and a function to call at its end. Tasks of one family that reads bits
// are given bits alone.
func (l *Local) packer(ctx context.Context, tasks []Task) (p *packer, end func(err error)) {
	p, end = &packer{origin: l.origin, first: l.first()}, func(error) {}
	if g := gaps(tasks); g != nil {
		found, over := l.finder(ctx, g)
		p.gaps = found
		defer func() {
			kept := end
			end = func(err error) {
				kept(err)
				over(err)
			}
		}()
	}
	if f, ok := common[family.Based](tasks); ok {
		p.base, end = l.baser(ctx, f)
		return p, end
	}
	f, ok := common[family.Binary](tasks)
	if !ok || f.Bits(tasks[0].Mixture.D) == 0 {
		return p, end
	}
	p.family, p.width, p.own = f, kern.BitWords(f.Bits(tasks[0].Mixture.D)), make([][]uint32, l.threads)
	kept, fills := l.bits.keeps(ctx, f, l.src, len(l.origin), p.width)
	if kept {
		p.kept, p.fills = &l.bits, fills
	}
	if fills {
		end = l.bits.end
	}
	return p, end
}

// gaps returns the patterns of missing cells of the rows, nil where the tasks are for complete rows.
func gaps(tasks []Task) *family.Gaps {
	for i := range tasks {
		if g := family.PatternsOf(tasks[i].Mixture.Family); g != nil {
			return g
		}
	}
	return nil
}

// mark notes what is missing of a panel, whose first row has this number.
func (p *packer) mark(id int, to *family.Panel, first int) {
	if p.gaps == nil {
		return
	}
	to.Pattern = nil
	if to.Mark(); to.Holes {
		p.gaps.fill(id, to, first)
	}
}

// pack fills the panel with the rows of b from lo on, for worker id.
func (p *packer) pack(id int, to *family.Panel, b *data.Block, lo int) {
	to.Bits, to.Base = nil, nil
	first := int(b.First-p.first) + lo
	if p.family == nil {
		pack(to, b, lo, p.origin)
		p.mark(id, to, first)
		if p.base != nil {
			p.base.fill(id, to, first)
		}
		return
	}
	at, before := first/kern.Rows, nothing
	words := p.own[id]
	if p.kept != nil {
		words, before = p.kept.panel(at), p.kept.known[at]
	} else if words == nil {
		words = make([]uint32, p.width)
		p.own[id] = words
	}
	if before == asValues {
		to.Bits = words
		number(to, b, lo)
		return
	}
	pack(to, b, lo, p.origin)
	p.mark(id, to, first)
	if before == asNumbers {
		return
	}
	is := asNumbers
	if p.family.PackBits(words, to.X, b.D) {
		to.Bits, is = words, asValues
	}
	if p.fills {
		p.kept.known[at] = is
	}
}

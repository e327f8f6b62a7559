package sweep

import (
	"context"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// baseRows are the parts of a family.Based that depend on the row alone: a number a row.
type baseRows = keptRows[family.Based, float64]

// baser gives panels those parts.
type baser struct {
	family family.Based
	kept   *baseRows // nil where none are kept
	fills  bool
	own    [][]float64 // where none are kept: a panel for each worker
}

// baser returns the baser of a pass of the family f, and a function to call at its end.
func (l *Local) baser(ctx context.Context, f family.Based) (b *baser, end func(err error)) {
	b, end = &baser{family: f, own: make([][]float64, l.threads)}, func(error) {}
	kept, fills := l.bases.keeps(ctx, f, l.src, len(l.origin), kern.Rows)
	if kept {
		b.kept, b.fills = &l.bases, fills
	}
	if fills {
		end = l.bases.end
	}
	return b, end
}

// fill sets the part of the panel whose first row has this number, for worker id.
func (b *baser) fill(id int, p *family.Panel, first int) {
	at := first / kern.Rows
	switch {
	case b.kept != nil:
		p.Base = b.kept.panel(at)
		if b.kept.known[at] == asValues {
			return
		}
	case b.own[id] == nil:
		b.own[id] = make([]float64, kern.Rows)
		fallthrough
	default:
		p.Base = b.own[id]
	}
	b.family.Base(p.Base, p.X, p.D)
	if b.fills {
		b.kept.known[at] = asValues
	}
}

package sweep

import (
	"context"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// patternRows are the numbers of the rows' patterns of missing cells, 4 bytes a row.
type patternRows = keptRows[*family.Gaps, int32]

// finder gives panels the numbers of their patterns.
type finder struct {
	gaps  *family.Gaps
	kept  *patternRows // nil where none are kept
	fills bool
	masks [][]uint64 // for each worker
	own   [][]int32  // for each worker, where none are kept
}

// finder returns the finder of a pass over rows with these patterns, and a function to call at its end.
func (l *Local) finder(ctx context.Context, gaps *family.Gaps) (f *finder, end func(err error)) {
	f, end = &finder{gaps: gaps, masks: make([][]uint64, l.threads), own: make([][]int32, l.threads)}, func(error) {}
	kept, fills := l.patterns.keeps(ctx, gaps, l.src, len(l.origin), kern.Rows)
	if kept {
		f.kept, f.fills = &l.patterns, fills
	}
	if fills {
		end = l.patterns.end
	}
	return f, end
}

// fill sets the patterns of the panel whose first row has this number, for worker id.
func (f *finder) fill(id int, p *family.Panel, first int) {
	at := first / kern.Rows
	if f.kept != nil {
		p.Pattern = f.kept.panel(at)
		if f.kept.known[at] == asValues {
			return
		}
	} else {
		if f.own[id] == nil {
			f.own[id] = make([]int32, kern.Rows)
		}
		p.Pattern = f.own[id]
	}
	f.masks[id] = f.gaps.Number(p, f.masks[id])
	if f.fills {
		f.kept.known[at] = asValues
	}
}

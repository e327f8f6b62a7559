package sweep

import (
	"sync"
	"sync/atomic"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
)

// probes is how many panels of a chunk say whether its other ones are bounded.
const probes = 4

// leastPanels is how many panels a chunk must have for probes to be cheap.
const leastPanels = 16

// blocks is one worker's means to leave components out: panels that stay for all tasks, and their boxes.
type blocks struct {
	panels []*family.Panel
	boxes  *family.Boxes
	paying []bool // tasks for which it pays in the chunk at hand
}

// boxRows are the boxes of the panels of a table in memory, which the first pass that bounds a chunk leaves behind: 2 d
// numbers for kern.Rows rows. They do not depend on parameters.
type boxRows struct {
	once   sync.Once
	chunks []atomic.Pointer[[]*family.Boxes] // kern.Rows boxes together
}

// kept returns where the boxes of the chunk b are kept, nil where they are not.
func (l *Local) kept(b *data.Block) *atomic.Pointer[[]*family.Boxes] {
	table, ok := l.src.(*data.Table)
	if !ok {
		return nil
	}
	l.boxes.once.Do(func() { l.boxes.chunks = make([]atomic.Pointer[[]*family.Boxes], (table.N+l.chunk-1)/l.chunk) })
	return &l.boxes.chunks[(b.First-table.First)/int64(l.chunk)]
}

// bounded reports whether any of the mixtures may leave components out.
func bounded(bound []*mixture.Bound) bool {
	for _, b := range bound {
		if b.Bounded() {
			return true
		}
	}
	return false
}

func newBlocks(tasks, d int) *blocks {
	w := &blocks{boxes: family.NewBoxes(d), paying: make([]bool, tasks), panels: make([]*family.Panel, kern.Rows)}
	for i := range w.panels {
		w.panels[i] = newPanel(d)
	}
	return w
}

// probe reports whether any task gains from bounds in the chunk b, by panels here and there in it. It depends on the
// chunk and the parameters alone.
func (w *worker) probe(bound []*mixture.Bound, b *data.Block, pack func(p *family.Panel, lo int)) bool {
	v := w.blocks
	n := b.N / kern.Rows
	if v == nil || n < leastPanels {
		return false
	}
	v.boxes.N = 0
	for i := range probes {
		pack(w.panel, (2*i+1)*n/(2*probes)*kern.Rows)
		v.boxes.Add(w.panel)
	}
	any := false
	for t := range bound {
		v.paying[t] = bound[t].Bounded() && bound[t].Pays(v.boxes, w.scratch[t])
		any = any || v.paying[t]
	}
	return any
}

// gather adds the chunk b to the sums of all tasks, kern.Rows panels at a time, unless stopped returns an error.
func (w *worker) gather(acc []*family.Stats, bound []*mixture.Bound, b *data.Block, pack func(p *family.Panel, lo int),
	keep *atomic.Pointer[[]*family.Boxes], stopped func() error) error {
	v := w.blocks
	var known, found []*family.Boxes
	if keep != nil {
		if k := keep.Load(); k != nil {
			known = *k
		}
	}
	for lo, at := 0, 0; lo < b.N; at++ {
		if err := stopped(); err != nil {
			return err
		}
		boxes := v.boxes
		switch {
		case known != nil:
			boxes = known[at]
		case keep != nil:
			boxes = family.NewBoxes(b.D)
			found = append(found, boxes)
		default:
			boxes.N = 0
		}
		n := 0
		for ; n < kern.Rows && lo < b.N; n++ {
			pack(v.panels[n], lo)
			if known == nil {
				boxes.Add(v.panels[n])
			}
			lo += kern.Rows
		}
		for t, pays := range v.paying {
			if pays {
				bound[t].GatherBoxes(acc[t], v.panels[:n], boxes, w.scratch[t])
				continue
			}
			for _, p := range v.panels[:n] {
				bound[t].Gather(acc[t], p, w.scratch[t])
			}
		}
	}
	if found != nil {
		keep.Store(&found)
	}
	return nil
}

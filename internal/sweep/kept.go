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

// keptRows is what the first pass of a family, or of what else F is, leaves behind of a table in memory, so that later ones need not make it again:
// width values for each panel of kern.Rows rows. Panel p of the table is rows p*kern.Rows and on.
type keptRows[F, V any] struct {
	filling sync.Mutex // held by the pass that fills what is missing
	whole   atomic.Bool
	family  F
	width   int
	known   []known // of each panel
	values  []V
}

// known is what is known of a panel.
type known uint8

const (
	nothing   known = iota
	asValues        // its values
	asNumbers       // that it has none: a row of weight 0 has a cell that is none of the family's
)

// keeps reports whether k holds what a pass of the family f over src of d columns makes of it, and whether this pass fills k,
// which has to call end then. Rows that are no table are not kept, and of passes side by side one fills.
func (k *keptRows[F, V]) keeps(ctx context.Context, f F, src data.Source, d, width int) (kept, fills bool) {
	table, ok := src.(*data.Table)
	if ok {
		_, err := table.Open(ctx) // the pass will say what is wrong
		ok = err == nil && table.D == d
	}
	switch {
	case !ok:
	case k.whole.Load():
		kept = reflect.DeepEqual(k.family, f)
	case k.filling.TryLock():
		if k.known == nil {
			n := (table.N + kern.Rows - 1) / kern.Rows
			k.family, k.width, k.known, k.values = f, width, make([]known, n), make([]V, n*width)
		}
		if kept = reflect.DeepEqual(k.family, f); !kept {
			k.filling.Unlock()
		}
		fills = kept
	}
	return kept, fills
}

// end is called at the end of a pass that fills k.
func (k *keptRows[F, V]) end(err error) {
	k.whole.Store(err == nil)
	k.filling.Unlock()
}

// panel returns the values of a panel.
func (k *keptRows[F, V]) panel(at int) []V { return k.values[at*k.width : (at+1)*k.width] }

// common returns the family that all tasks have, if it is one of the kind F.
func common[F family.Family](tasks []Task) (f F, ok bool) {
	for i := range tasks {
		own, is := tasks[i].Mixture.Family.(F)
		if !is || i > 0 && !reflect.DeepEqual(own, f) {
			return f, false
		}
		f = own
	}
	return f, len(tasks) > 0
}

package resampling

import (
	"context"
	"sync"

	"github.com/latent-go/latent/internal/par"
	"github.com/latent-go/latent/internal/selection"
)

// replicates calls do for the replicates 0 to b-1 of a fit of so many rows, until ctx ends. On few rows they run side by side with one thread
// each, as candidates of a choice do, else one after another with all threads. The result of a replicate must depend on its number alone.
// note, where not nil, is told how many are done.
func replicates(ctx context.Context, threads int, rows int64, b int, note func(done, of int), do func(i, threads int)) {
	workers, each := 1, threads
	if rows <= selection.SideBySideRows {
		workers, each = threads, 1
	}
	var mu sync.Mutex
	done := 0
	par.Do(ctx, workers, b, func(_, i int) { // its error is that of ctx: the rest of the replicates are then left out
		do(i, each)
		mu.Lock()
		defer mu.Unlock()
		if done++; note != nil {
			note(done, b)
		}
	})
}

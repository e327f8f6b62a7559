package resampling

import (
	"context"
	"sync"

	"github.com/latent-go/latent/internal/par"
	"github.com/latent-go/latent/internal/selection"
)

// replicates runs do for the replicates 0 to b-1 of a fit of so many rows, until ctx ends: side by side with one thread
// each where candidates of a choice would be, else one after another with all threads. What a replicate comes to must
// depend on its number alone. note, where set, is told how many are done.
func replicates(ctx context.Context, threads int, rows int64, b int, note func(done, of int), do func(i, threads int)) {
	workers, each := 1, threads
	if rows <= selection.SideBySideRows {
		workers, each = threads, 1
	}
	var mu sync.Mutex
	done := 0
	par.Do(ctx, workers, b, func(_, i int) { // its error is that of ctx, whose end leaves the rest of the replicates out
		do(i, each)
		mu.Lock()
		defer mu.Unlock()
		if done++; note != nil {
			note(done, b)
		}
	})
}

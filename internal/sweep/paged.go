package sweep

import (
	"context"
	"errors"
	"os"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/nearest"
	"github.com/latent-go/latent/internal/scratch"
)

// pageFile makes the temporary file of a start.
var pageFile = func() (nearest.File, error) { return scratch.File(os.TempDir()) }

// paged makes a pass for tasks of k-means whose rows pass by. Where it pays, labels and until when they stand are in a temporary file from the
// second sweep of a start on, so that most rows are read and not compared. Without room for such a file every row is compared, which gives
// the same sums.
func (l *Local) paged(ctx context.Context, tasks []Task) (total []*nearest.Tally, ok bool, err error) {
	pass := func() { total, ok, err = l.tallies(tasks, states(tasks)).run(ctx, l.src) }
	if !l.passing() || l.lloyd.unpaged {
		pass()
		return total, ok, err
	}
	for _, t := range tasks {
		if g := t.State.Pages; g != nil && !(g.Fits(l, t.Mixture.K, t.Mixture.D) && g.Begin(t.Theta)) {
			drop(t.State)
		}
	}
	pass()
	if lost := new(nearest.PageError); errors.As(err, &lost) {
		l.lloyd.unpaged = true
		dropAll(tasks)
		pass()
	}
	if err != nil || !ok {
		dropAll(tasks) // some chunks may be those of this sweep and some of the last
		return total, ok, err
	}
	for i, t := range tasks {
		if g := t.State.Pages; g != nil {
			g.End(total[i], t.newStats())
		} else if !l.lloyd.unpaged {
			t.State.Pages, err = nearest.NewPages(l, total[i], l.chunk, pageFile)
			l.lloyd.unpaged = err != nil
		}
	}
	return total, ok, nil
}

// passing reports whether the rows pass by on this machine.
func (l *Local) passing() bool {
	switch l.src.(type) {
	case *data.Table, data.Remote:
		return false
	}
	return true
}

func dropAll(tasks []Task) {
	for _, t := range tasks {
		drop(t.State)
	}
}

// drop gives up the pages of a state. What they hold is of no use, and neither is an error of their end.
func drop(s *State) {
	if s.Pages != nil {
		s.Pages.Close()
		s.Pages = nil
	}
}

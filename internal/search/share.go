package search

import (
	"context"
	"fmt"
	"sync"

	"github.com/latent-go/latent/internal/seed"
)

// shared is what the stages of a fit, and all fits of a choice, have in common: samples of the rows by their size, those of float32 cells apart, rungs below a rung by its size, and labels of k-means by
// the rows it starts from, which several shapes draw alike.
type shared struct {
	mu     sync.Mutex
	points map[int]func() (*seed.Points, error)
	narrow map[int]func() (*seed.Points, error)
	rungs  map[int]func() (*seed.Points, error)
	labels map[string]func() ([]int32, error)
}

// once returns the value m[key], which fresh computes at its first use.
func once[K comparable, V any](s *shared, m *map[K]func() (V, error), key K, fresh func() (V, error)) (V, error) {
	s.mu.Lock()
	if *m == nil {
		*m = map[K]func() (V, error){}
	}
	f, ok := (*m)[key]
	if !ok {
		f = sync.OnceValues(fresh)
		(*m)[key] = f
	}
	s.mu.Unlock()
	return f()
}

// sample returns a sample of at most so many rows, which draw makes.
func (s *shared) sample(most int, draw func() (*seed.Points, error)) (*seed.Points, error) {
	return once(s, &s.points, most, draw)
}

// rung returns each rungStep-th row of the rung above.
func (s *shared) rung(above *seed.Points) (*seed.Points, error) {
	return once(s, &s.rungs, above.N, func() (*seed.Points, error) { return above.Every(rungStep), nil })
}

// lloyd returns the labels that seed.Lloyd gives to near from the given rows of it. near must be the same for all fits that share.
func (s *shared) lloyd(ctx context.Context, near *seed.Points, rows []int, threads int) ([]int32, error) {
	return once(s, &s.labels, fmt.Sprint(rows), func() ([]int32, error) { return seed.Lloyd(ctx, near, rows, threads) })
}

package sweep_test

import (
	"context"
	"math"
	"sync"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/sweep"
)

// A pass does not depend on those before, whose memory it takes: those at other parameters, of several tasks, cancelled ones, and ones at the same time.
func TestAPassDoesNotDependOnThoseBefore(t *testing.T) {
	const n, d, k = 700, 6, 3
	src := holed(n, d, "random")
	look, err := sweep.LookThrough(t.Context(), src, 2)
	if err != nil {
		t.Fatal(err)
	}
	whole := &data.Table{N: n, D: d}
	for i, v := range src.F64 {
		if v != v {
			v = math.Sin(float64(i))
		}
		whole.F64 = append(whole.F64, v)
	}
	full := family.Gaussian{Shape: family.Full, Var: look.Var}
	for name, c := range map[string]struct {
		family family.Family
		src    *data.Table
	}{
		"full": {full, whole}, "tied": {family.Gaussian{Shape: family.Tied, Var: look.Var}, whole}, "diag": {family.Gaussian{Shape: family.Diag, Var: look.Var}, whole},
		"common axes": {family.Parsimonious{Shape: family.TiedAxes, Var: look.Var}, whole}, "kmeans": {family.KMeans{}, whole},
		"full with gaps": {full.WithGaps(look.Gaps), src}, "diag with gaps": {family.Gaussian{Shape: family.Diag, Var: look.Var}.WithGaps(look.Gaps), src},
	} {
		m := &mixture.Mixture{Family: c.family, K: k, D: d}
		task := func(phase float64) sweep.Task {
			theta := make([]float64, m.Params())
			for i := range theta {
				theta[i] = 0.3 * math.Sin(phase+float64(i))
			}
			return sweep.Task{Mixture: m, Theta: theta, Beta: 1}
		}
		sums := func(l *sweep.Local, tasks ...sweep.Task) string {
			stats, err := l.Sweep(context.Background(), tasks)
			if err != nil {
				t.Error(name, err)
			}
			return text(stats)
		}
		fresh := func() *sweep.Local { return sweep.NewLocal(c.src, n, make([]float64, d), 2) }
		a, b := task(0), task(2)
		want := sums(fresh(), a)
		l := fresh()
		sums(l, b)
		sums(l, a, b)
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := l.Sweep(cancelled, []sweep.Task{b}); err == nil {
			t.Fatal(name, "a cancelled pass has sums")
		}
		sums(l, b)
		if got := sums(l, a); got != want {
			t.Errorf("%s: other sums after other passes", name)
		}
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				for range 4 {
					if got := sums(l, a); got != want {
						t.Errorf("%s: other sums beside other passes", name)
					}
				}
			})
		}
		all.Wait()
	}
}

package sweep

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
)

// stripes are rows of separated clusters, a run of equal ones after the other, and the mixture they are from.
func stripes(n, run int) (*data.Table, *mixture.Mixture, []float64) {
	const k, d = 20, 3
	rng := rand.New(rand.NewPCG(91, 0))
	m := &mixture.Mixture{Family: family.Gaussian{Shape: family.Full, Var: []float64{1, 1, 1}}, K: k, D: d}
	theta := make([]float64, m.Params())
	mean := m.Components(theta)[:k*d]
	for i := range mean {
		mean[i] = 50 * rng.NormFloat64()
	}
	t := &data.Table{N: n, D: d, F64: make([]float64, n*d)}
	c := 0
	for i := range n {
		if i%run == 0 {
			c = rng.IntN(k)
		}
		for j := range d {
			t.F64[i*d+j] = mean[c*d+j] + rng.NormFloat64()
		}
	}
	return t, m, theta
}

// hidden is a source whose rows are not in memory as far as a sweep can see.
type hidden struct{ data.Source }

func TestBlocksDoNotDependOnThreadsNorOnTheSource(t *testing.T) {
	for _, run := range []int{1, 40, 1000} {
		table, m, theta := stripes(70_001, run)
		tasks := []Task{{Mixture: m, Theta: theta, Beta: 1}, {Mixture: m, Theta: theta, Beta: math.Inf(1)}}
		var want []*family.Stats
		for _, src := range []data.Source{table, hidden{table}} {
			for _, threads := range []int{1, 3} {
				l := NewLocal(src, int64(table.N), make([]float64, m.D), threads)
				for range 2 { // the second pass finds boxes that the first has left
					got, err := l.Sweep(context.Background(), tasks)
					if err != nil {
						t.Fatal(err)
					}
					if want == nil {
						want = got
					}
					if !reflect.DeepEqual(got, want) {
						t.Fatalf("runs of %d, %d threads, %T: other bits", run, threads, src)
					}
				}
			}
		}
	}
}

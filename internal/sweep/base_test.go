package sweep_test

import (
	"context"
	"math"
	"sync/atomic"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/sweep"
)

// tilted is the family of bits with a part of the log density that depends on the row alone: times the number of its ones.
type tilted struct {
	family.Bernoulli
	times float64
	calls *atomic.Int64
}

func (tilted) Bits(int) int { return 0 }

func (f tilted) Base(base, x []float64, d int) {
	f.calls.Add(1)
	for i := range base {
		base[i] = 0
		for j := range d {
			base[i] += f.times * x[j*kern.Rows+i]
		}
	}
}

func (f tilted) Bind(theta []float64, k, d int) family.Kernel {
	return tiltedKernel{f.Bernoulli.Bind(theta, k, d), f, k}
}

type tiltedKernel struct {
	family.Kernel
	f tilted
	k int
}

func (b tiltedKernel) Score(dst []float64, p *family.Panel, ws *family.Workspace) {
	base := p.Base
	if base == nil {
		base = make([]float64, kern.Rows)
		b.f.Base(base, p.X, p.D)
	}
	b.Kernel.Score(dst, p, ws)
	for i := range dst[:b.k*kern.Rows] {
		dst[i] += base[i%kern.Rows]
	}
}

// What a row has of its own is made once of a table, and in every pass of a stream; by each of two families its own.
func TestPartsOfRowsAreMadeOnceOfATable(t *testing.T) {
	ctx := context.Background()
	for _, n := range []int{1, 33, 5000} {
		panels, want := int64(n+kern.Rows-1)/kern.Rows, [2]string{}
		table := answers(n, two)
		for _, threads := range []int{1, 3} {
			for _, src := range []data.Source{table, &stream{Table: table}} {
				_, kept := src.(*data.Table)
				l := sweep.NewLocal(src, int64(n), make([]float64, len(two)), threads)
				for pass := range 4 {
					which, calls := pass/2, new(atomic.Int64)
					f := tilted{times: float64(1 + which), calls: calls}
					s, err := l.Sweep(ctx, binary(f, 3, len(two)))
					if err != nil {
						t.Fatal(err)
					}
					if want[which] == "" {
						want[which] = text(s)
						plain, _ := sweep.NewLocal(table, int64(n), make([]float64, len(two)), 1).Sweep(ctx, binary(unfused{}, 3, len(two)))
						ones := 0.0
						for i, v := range table.F64 {
							ones += table.W[i/len(two)] * v
						}
						if off := s[0].LogLik - plain[0].LogLik - f.times*ones; !(math.Abs(off) <= 1e-9*(1+math.Abs(s[0].LogLik))) {
							t.Errorf("n %d: a log-likelihood is %v off", n, off)
						}
					}
					if got := text(s); got != want[which] {
						t.Fatalf("n %d, %d threads, %T, pass %d: sums\n%s\nwant\n%s", n, threads, src, pass, got, want[which])
					}
					if got := calls.Load(); got != panels && !(kept && got == 0) {
						t.Errorf("n %d, %T, pass %d: made of %d panels, there are %d", n, src, pass, got, panels)
					}
				}
				if !kept {
					continue
				}
				calls := new(atomic.Int64)
				tasks := binary(tilted{times: 1, calls: calls}, 3, len(two))
				l = sweep.NewLocal(src, int64(n), make([]float64, len(two)), threads)
				for range 3 {
					if _, err := l.Sweep(ctx, tasks); err != nil {
						t.Fatal(err)
					}
				}
				if calls.Load() != panels {
					t.Errorf("n %d: three passes made the parts of %d panels, there are %d", n, calls.Load(), panels)
				}
			}
		}
	}
}

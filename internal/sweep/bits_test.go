package sweep_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/sweep"
)

// answers returns n rows of codes below the levels, with weights 0, 0.5, ...; rows without weight may hold anything.
func answers(n int, levels []int) *data.Table {
	rng := rand.New(rand.NewPCG(uint64(n), 81))
	t := &data.Table{N: n, D: len(levels)}
	for range n {
		w := float64(rng.IntN(4)) / 2
		odd := w == 0 && rng.IntN(50) == 0
		for _, l := range levels {
			v := float64(rng.IntN(l))
			if odd {
				v = 0.5
			}
			t.F64 = append(t.F64, v)
		}
		t.W = append(t.W, w)
	}
	return t
}

// binary returns two tasks, soft and hard, with parameters that part the components.
func binary(f family.Family, k, d int) []sweep.Task {
	m := &mixture.Mixture{Family: f, K: k, D: d}
	rng := rand.New(rand.NewPCG(82, 0))
	theta := make([]float64, m.Params())
	for i := range theta {
		theta[i] = 2 * rng.NormFloat64()
	}
	return []sweep.Task{{Mixture: m, Theta: theta, Beta: 1}, {Mixture: m, Theta: theta, Beta: math.Inf(1)}}
}

// two are columns of bits, enough to be read as bits at every level.
var two = slices.Repeat([]int{2}, 19)

// Rows of a table are kept as bits from the first pass on. Neither that nor the source shows in a bit of the sums.
func TestSumsOfBitsAreTheSameBitsForAnyPassThreadsAndSource(t *testing.T) {
	ctx := context.Background()
	levels := []int{2, 1, 5, 3, 2, 4, 2}
	for _, n := range []int{1, 31, 33, 257, 5000} {
		for _, c := range []struct {
			f      family.Family
			levels []int
		}{{family.Bernoulli{}, two}, {family.Categorical{Levels: levels}, levels}} {
			d := len(c.levels)
			table, tasks, want := answers(n, c.levels), binary(c.f, 3, d), ""
			for _, threads := range []int{1, 2, 5} {
				for _, src := range []data.Source{table, &stream{Table: table}} {
					l := sweep.NewLocal(src, int64(n), make([]float64, d), threads)
					for pass := range 3 {
						s, err := l.Sweep(ctx, tasks)
						if err != nil {
							t.Fatal(err)
						}
						if want == "" {
							want = text(s)
						}
						if got := text(s); got != want {
							t.Fatalf("%s, n %d, %d threads, %T, pass %d: sums\n%s\nwant\n%s", c.f.Name(), n, threads, src, pass, got, want)
						}
					}
				}
			}
		}
	}
}

// The expected sums are a loop over rows with probabilities in place of logits.
func TestSumsOfBitsAgreeWithALoop(t *testing.T) {
	const n, k = 3000, 3
	table, tasks := answers(n, two), binary(family.Bernoulli{}, k, len(two))
	d, m, theta := len(two), tasks[0].Mixture, tasks[0].Theta
	pi, p := m.LogWeights(nil, theta), family.Bernoulli{}.Natural(nil, m.Components(theta), 0)
	var logLik, weight float64
	sum := make([]float64, k*d)
	for i := range n {
		x, w := table.F64[i*d:i*d+d], table.W[i]
		if w == 0 {
			continue
		}
		q, total := make([]float64, k), 0.0
		for c := range k {
			q[c] = math.Exp(pi[c])
			for j, v := range x {
				q[c] *= p[c*d+j]*v + (1-p[c*d+j])*(1-v)
			}
			total += q[c]
		}
		weight += w
		logLik += w * math.Log(total)
		for c := range k {
			for j, v := range x {
				sum[c*d+j] += w * q[c] / total * v
			}
		}
	}
	for _, level := range kern.Levels() {
		restore := kern.Use(level)
		l := sweep.NewLocal(table, n, make([]float64, d), 2)
		for range 2 {
			got, err := l.Sweep(context.Background(), tasks)
			if err != nil {
				t.Fatal(err)
			}
			if s := got[0]; s.W != weight || !(math.Abs(s.LogLik-logLik) <= 1e-11*math.Abs(logLik)) {
				t.Fatalf("%v: weight %v and log-likelihood %v, want %v and %v", level, s.W, s.LogLik, weight, logLik)
			}
			for i, v := range got[0].Sum {
				if !(math.Abs(v-sum[i]) <= 1e-11*weight) {
					t.Fatalf("%v: sum %d is %v, want %v", level, i, v, sum[i])
				}
			}
		}
		restore()
	}
}

// A first pass that ends early leaves half of the rows as bits; passes side by side must not disturb each other.
func TestBitsSurviveACancelledPassAndPassesSideBySide(t *testing.T) {
	const n = 20000
	table, tasks := answers(n, two), binary(family.Bernoulli{}, 3, len(two))
	fresh := func() *sweep.Local { return sweep.NewLocal(table, n, make([]float64, len(two)), 2) }
	s, err := fresh().Sweep(context.Background(), tasks)
	if err != nil {
		t.Fatal(err)
	}
	want, l := text(s), fresh()
	for _, after := range []int{1, 5} {
		if _, err := l.Sweep(&expiring{Context: context.Background(), left: after}, tasks); !errors.Is(err, context.Canceled) {
			t.Fatalf("the pass ended with %v", err)
		}
	}
	for range 2 {
		if s, err := l.Sweep(context.Background(), tasks); err != nil || text(s) != want {
			t.Fatalf("after a cancelled pass (%v):\n%s\nwant\n%s", err, text(s), want)
		}
	}
	l = fresh()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if s, err := l.Sweep(context.Background(), tasks); err != nil || text(s) != want {
				t.Errorf("side by side (%v):\n%s\nwant\n%s", err, text(s), want)
			}
		})
	}
	wg.Wait()
}

// expiring is a context that ends once it has been asked a number of times.
type expiring struct {
	context.Context
	mu   sync.Mutex
	left int
}

func (e *expiring) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return nil
}

// A family of numbers may be swept between two of bits, or beside one.
func TestBitsAndNumbersInTurn(t *testing.T) {
	ctx, table := context.Background(), answers(500, two)
	bits, levels := binary(family.Bernoulli{}, 2, len(two)), binary(family.Categorical{Levels: two}, 2, len(two))
	numbers := sweep.Task{Mixture: &mixture.Mixture{Family: family.KMeans{}, K: 2, D: len(two)}, Theta: append(make([]float64, len(two)), slices.Repeat([]float64{1}, len(two))...), Beta: math.Inf(1)}
	alone := func(tasks ...sweep.Task) string {
		s, err := sweep.NewLocal(table, 500, make([]float64, len(two)), 1).Sweep(ctx, tasks)
		if err != nil {
			t.Fatal(err)
		}
		return text(s)
	}
	l := sweep.NewLocal(table, 500, make([]float64, len(two)), 1)
	for i, tasks := range [][]sweep.Task{{bits[0]}, {numbers}, {bits[0], numbers}, {bits[0]}, {levels[0]}, {levels[0], bits[0]}, {bits[1]}} {
		s, err := l.Sweep(ctx, tasks)
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		for _, task := range tasks {
			want += alone(task)
		}
		if got := text(s); got != want {
			t.Errorf("pass %d:\n%s\nwant\n%s", i, got, want)
		}
	}
}

// unfused is a family whose kernels have no fused form, which is how bits were swept before they had one.
type unfused struct{ family.Bernoulli }

type unfusedKernel struct{ family.Kernel }

func (u unfused) Bind(theta []float64, k, d int) family.Kernel {
	return unfusedKernel{u.Bernoulli.Bind(theta, k, d)}
}

func (unfused) Bits(int) int { return 0 }

// A pass in milliseconds, the fastest of the run; the share of the peak counts a multiply-add for a bit and a component,
// twice.
func BenchmarkBitSweep(b *testing.B) {
	for _, size := range [][3]int{{100_000, 784, 20}, {1_000_000, 64, 32}} {
		n, d, k := size[0], size[1], size[2]
		table := sync.OnceValue(func() *data.Table {
			rng := rand.New(rand.NewPCG(83, 0))
			t := &data.Table{N: n, D: d, F32: make([]float32, n*d)}
			for i := range t.F32 {
				t.F32[i] = float32(rng.Uint32() >> 31)
			}
			return t
		})
		for _, f := range []family.Family{unfused{}, family.Bernoulli{}} {
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("%T/n=%d,d=%d,k=%d/%d", f, n, d, k, threads), func(b *testing.B) {
					l, tasks := sweep.NewLocal(table(), int64(n), make([]float64, d), threads), binary(f, k, d)[:1]
					peak := kern.PeakFlops(false) * float64(threads)
					least := math.Inf(1)
					for i := 0; b.Loop(); i++ {
						before := b.Elapsed()
						if _, err := l.Sweep(context.Background(), tasks); err != nil {
							b.Fatal(err)
						}
						if i > 0 || b.N == 1 {
							least = min(least, (b.Elapsed() - before).Seconds())
						}
					}
					b.ReportMetric(least*1e3, "ms")
					b.ReportMetric(100*4*float64(n*d*k)/least/peak, "%peak")
				})
			}
		}
	}
}

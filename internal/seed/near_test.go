package seed

import (
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/kern"
)

// plusPlus is the method by its definition, one candidate after the other.
func plusPlus(p *Points, k, candidates int, u01 func() float64) []int {
	rows := []int{draw(p.W, u01())}
	near := make([]float64, p.N)
	lower := func(near []float64, c int) (dst []float64, total float64) {
		for i := range p.N {
			s := 0.0
			for j, x := range p.At(i) {
				t := x - p.At(c)[j]
				s += float64(t * t)
			}
			s = min(s*p.W[i], near[i])
			dst, total = append(dst, s), total+s
		}
		return dst, total
	}
	for i := range near {
		near[i] = math.Inf(1)
	}
	near, _ = lower(near, rows[0])
	for len(rows) < k {
		kept, least, best := -1, math.Inf(1), near
		for range candidates {
			i := draw(near, u01())
			if i < 0 {
				break
			}
			if trial, total := lower(near, i); total < least {
				kept, least, best = i, total, trial
			}
		}
		if kept < 0 {
			break
		}
		rows, near = append(rows, kept), best
	}
	return rows
}

func TestBatchesOfCandidatesDrawTheSameRows(t *testing.T) {
	for _, level := range kern.Levels() {
		restore := kern.Use(level)
		for _, n := range []int{1, 31, 64, 1000} {
			for _, d := range []int{1, 3, 20} {
				for _, candidates := range []int{1, 4, 7} {
					rng := rand.New(rand.NewPCG(uint64(n), uint64(10*d+candidates)))
					p := &Points{N: n, D: d}
					for range n {
						p.W = append(p.W, rng.Float64())
					}
					for range n * d {
						x := rng.NormFloat64()
						if n == 64 { // many rows are equal
							x = math.Round(x)
						}
						p.X = append(p.X, x)
					}
					a, b := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 2))
					got, want := PlusPlus(p, min(n, 12), candidates, 2, a.Float64), plusPlus(p, min(n, 12), candidates, b.Float64)
					if !slices.Equal(got, want) || a.Uint64() != b.Uint64() {
						t.Errorf("%v, n %d, d %d, %d candidates: rows %v, want %v, or the numbers used differ", level, n, d, candidates, got, want)
					}
					centres, labels := p.X[:min(n, 40)*d], []int32{}
					for i := range n {
						best, at := math.Inf(1), int32(0)
						for c := 0; c*d < len(centres); c++ {
							s := 0.0
							for j, x := range p.At(i) {
								e := x - centres[c*d+j]
								s += float64(e * e)
							}
							if s < best {
								best, at = s, int32(c)
							}
						}
						labels = append(labels, at)
					}
					if got := Nearest(p, centres, 2); !slices.Equal(got, labels) {
						t.Errorf("%v, n %d, d %d: labels %v, want %v", level, n, d, got, labels)
					}
				}
			}
		}
		restore()
	}
}

func TestTotalsAreSumsInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for k := range 14 {
		w, want, got := make([][]float64, k), make([]float64, k), make([]float64, k)
		for c := range w {
			for range 100 {
				v := rng.ExpFloat64()
				w[c] = append(w[c], v)
				want[c] += v
			}
		}
		if totals(got, w); !slices.Equal(got, want) {
			t.Errorf("%d sums: %v, want %v", k, got, want)
		}
	}
}

func TestSearchAgreesWithDraw(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 2000 {
		w := make([]float64, 1+rng.IntN(9))
		for i := range w {
			w[i] = []float64{0, 0, 1, 1e-300, 3, math.Inf(1)}[rng.IntN(5+rng.IntN(2))]
		}
		sum := make([]float64, len(w))
		running(sum, w)
		for _, u := range []float64{0, 0.25, 0.5, rng.Float64(), math.Nextafter(1, 0)} {
			if got, want := search(sum, w, u), draw(w, u); got != want {
				t.Fatalf("%v at %v: %d, want %d", w, u, got, want)
			}
		}
	}
}

// Only as many threads work as are asked for, however many processors there are, and rows and labels are the same for any number.
func TestThreadsAreThoseAskedFor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	runtime.GC() // starts the collector's own goroutines
	created := func() uint64 {
		s := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	const n, d, k = 9600, 200, 4
	rng := rand.New(rand.NewPCG(3, 1))
	p := &Points{N: n, D: d, W: slices.Repeat([]float64{1}, n)}
	for range n * d {
		p.X = append(p.X, rng.NormFloat64())
	}
	p.Panels()
	var rows []int
	var labels []int32
	for _, threads := range []int{1, 2, 3, 8} {
		before := created()
		got := PlusPlus(p, k, 3, threads, rand.New(rand.NewPCG(1, 2)).Float64)
		near := Nearest(p, p.X[:k*d], threads)
		if threads == 1 {
			rows, labels = got, near
		}
		const passes = k + 1
		if n := created() - before; n >= uint64(passes*threads) {
			t.Errorf("%d threads: %d goroutines for %d passes", threads, n, passes)
		}
		if !slices.Equal(got, rows) || !slices.Equal(near, labels) {
			t.Errorf("%d threads draw rows %v, one draws %v; or the labels differ", threads, got, rows)
		}
	}
}

func BenchmarkPlusPlus(b *testing.B) {
	const n, d, k = 50_000, 32, 100
	rng := rand.New(rand.NewPCG(1, 1))
	p := &Points{N: n, D: d, W: slices.Repeat([]float64{1}, n)}
	for range n * d {
		p.X = append(p.X, rng.NormFloat64())
	}
	for b.Loop() {
		PlusPlus(p, k, Greedy(k), 2, rng.Float64)
	}
}

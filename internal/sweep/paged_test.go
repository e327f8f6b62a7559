package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/nearest"
)

// passing is a table of which a sweeper does not know that it is in memory.
type passing struct{ *data.Table }

// clumps returns rows about many points. Where they are tight the cost is a small difference of large sums.
func clumps(n, d int, spread float64, narrow bool) *data.Table {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	t := &data.Table{N: n, D: d}
	for i := range n {
		for j := range d {
			v := float64((i*(j+5)+i/7)%9) + spread*rng.NormFloat64()
			if narrow {
				t.F32 = append(t.F32, float32(v))
			} else {
				t.F64 = append(t.F64, v)
			}
		}
		if !narrow {
			t.W = append(t.W, float64(rng.IntN(4))/2)
		}
	}
	return t
}

// sweeps returns what sweeps of k-means give, as text, with the pages that the last has left.
func sweeps(t *testing.T, src data.Source, table *data.Table, k, threads, steps int) (sums []string, pages *nearest.Pages) {
	t.Helper()
	d := table.D
	m := &mixture.Mixture{Family: family.KMeans{}, K: k, D: d}
	l, state, theta := NewLocal(src, int64(table.N), slices.Repeat([]float64{3}, d), threads), new(State), make([]float64, k*d)
	for c := range k {
		for j := range d {
			theta[c*d+j] = table.At(c*7%table.N, j) - 3
		}
	}
	for range steps {
		s, err := l.Sweep(context.Background(), []Task{{Mixture: m, Theta: theta, Beta: math.Inf(1), State: state}})
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, fmt.Sprintf("%d %b %b %b %b %v", s[0].Rows, s[0].W, s[0].F, s[0].N, s[0].Sum, s[0].Far))
		m.MStep(theta, theta, s[0])
	}
	return sums, state.Pages
}

// Sums of rows that pass by, with labels in a file, are those of plain passes over all rows, to the bit, and of rows in memory.
func TestSweepsWithPagesAreThoseOfPlainOnes(t *testing.T) {
	for _, c := range []struct {
		n, d, k int
		spread  float64
		narrow  bool
	}{{33_000, 8, 20, 0.7, false}, {20_000, 8, 100, 0.001, false}, {20_011, 16, 30, 0.3, true}, {300, 300, 4, 1, false}, {2000, 16, 300, 0.2, false}} {
		table := clumps(c.n, c.d, c.spread, c.narrow)
		const steps = 9
		want, _ := sweeps(t, table, table, c.k, 2, steps)
		failing := pageFile
		pageFile = func() (nearest.File, error) { return nil, errors.New("no room") }
		plain, pages := sweeps(t, passing{table}, table, c.k, 2, steps)
		pageFile = failing
		if pages != nil {
			t.Fatalf("%+v: pages without a file", c)
		}
		for step := range plain {
			if plain[step] != want[step] {
				t.Fatalf("%+v, sweep %d: rows in memory give other sums than a plain pass", c, step)
			}
		}
		for _, level := range kern.Levels() {
			restore := kern.Use(level)
			for _, threads := range []int{1, 3} {
				got, pages := sweeps(t, passing{table}, table, c.k, threads, steps)
				if (pages != nil) != (level != kern.Go) {
					t.Errorf("%+v, %v: pages %v", c, level, pages != nil)
				}
				for step := range got {
					if got[step] != plain[step] {
						t.Fatalf("%+v, %v, %d threads, sweep %d:\n%.300s\nwant\n%.300s", c, level, threads, step, got[step], plain[step])
					}
				}
			}
			restore()
		}
	}
}

// flaky is a file that fails after so many calls.
type flaky struct {
	nearest.File
	left  *int
	short bool // reads give something else, without an error
}

func (f flaky) call() error {
	*f.left--
	if *f.left < 0 && !f.short {
		return errors.New("no space left on device")
	}
	return nil
}

func (f flaky) ReadAt(b []byte, at int64) (int, error) {
	if err := f.call(); err != nil {
		return 0, err
	}
	n, err := f.File.ReadAt(b, at)
	if *f.left < 0 {
		for i := range b {
			b[i] = 0x70
		}
	}
	return n, err
}

func (f flaky) WriteAt(b []byte, at int64) (int, error) {
	if err := f.call(); err != nil {
		return 0, err
	}
	return f.File.WriteAt(b, at)
}

// Where the file fails in the middle of a pass, the sums are the same.
func TestSweepsOutliveTheirPages(t *testing.T) {
	table := clumps(10_000, 8, 0.5, false)
	const k, steps = 40, 6
	want, _ := sweeps(t, passing{table}, table, k, 2, steps)
	own := pageFile
	defer func() { pageFile = own }()
	for _, short := range []bool{false, true} {
		for _, after := range []int{0, 7, 20, 50} {
			left := after
			pageFile = func() (nearest.File, error) {
				f, err := own()
				return flaky{f, &left, short}, err
			}
			if got, pages := sweeps(t, passing{table}, table, k, 1, steps); !slices.Equal(got, want) || pages != nil && kern.Current() != kern.Go {
				t.Errorf("after %d calls, %v: other sums, or pages that failed are kept", after, short)
			}
		}
	}
}

// stopping calls stop at its fifth read.
type stopping struct {
	data.Reader
	reads int
	stop  func()
}

func (r *stopping) Read(b *data.Block, n int) error {
	if r.reads++; r.reads == 5 {
		r.stop()
	}
	return r.Reader.Read(b, n)
}

type stoppable struct {
	*data.Table
	stop func()
}

func (s *stoppable) Open(ctx context.Context) (data.Reader, error) {
	r, err := s.Table.Open(ctx)
	return &stopping{r, 0, s.stop}, err
}

// A pass that ends in the middle leaves a start that goes on.
func TestCancelledPagesBeginAgain(t *testing.T) {
	table := clumps(30_000, 8, 0.5, false)
	src := &stoppable{Table: table}
	m := &mixture.Mixture{Family: family.KMeans{}, K: 140, D: 8}
	l := NewLocal(src, 30_000, make([]float64, 8), 2)
	task := Task{Mixture: m, Theta: slices.Clone(table.F64[:140*8]), Beta: math.Inf(1), State: new(State)}
	want := ""
	for i := range 9 {
		ctx, cancel := context.WithCancel(context.Background())
		if src.stop = func() {}; i%3 == 2 {
			src.stop = cancel
		}
		s, err := l.Sweep(ctx, []Task{task})
		cancel()
		if i%3 == 2 {
			if !errors.Is(err, context.Canceled) || task.State.Pages != nil {
				t.Fatalf("%v, pages %v", err, task.State.Pages != nil)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%b %b %b", s[0].F, s[0].N, s[0].Sum); want == "" {
			want = got
		} else if got != want {
			t.Fatal("other sums")
		}
	}
}

// Nobody else can read the file, and nothing of it is left.
func TestPagesAreTheOwnersAlone(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	f, err := pageFile()
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.(*os.File).Stat()
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info.Mode(), err)
	}
	f.Close()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Fatalf("%v, %v", left, err)
	}
}

func BenchmarkPages(b *testing.B) {
	const n, d = 200_000, 16
	table := clumps(n, d, 0.5, false)
	for _, k := range []int{8, 32, 128, 512} {
		for _, kept := range []bool{false, true} {
			b.Run(fmt.Sprintf("k=%d/kept=%v", k, kept), func(b *testing.B) {
				m := &mixture.Mixture{Family: family.KMeans{}, K: k, D: d}
				for b.Loop() {
					l, state, theta := NewLocal(passing{table}, n, make([]float64, d), 1), new(State), slices.Clone(table.F64[:k*d])
					l.lloyd.unpaged = !kept
					for range 30 {
						s, err := l.Sweep(context.Background(), []Task{{Mixture: m, Theta: theta, Beta: math.Inf(1), State: state}})
						if err != nil {
							b.Fatal(err)
						}
						m.MStep(theta, theta, s[0])
					}
				}
			})
		}
	}
}

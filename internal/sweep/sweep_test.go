package sweep_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/sweep"
)

// blobs returns n rows in d columns around a few centres, with weights 0.25, 0.5, ... and some 0.
func blobs(n, d int) *data.Table {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	t := &data.Table{N: n, D: d}
	for i := range n {
		for j := range d {
			t.F64 = append(t.F64, 5*float64((i*(j+3))%4)+rng.NormFloat64())
		}
		t.W = append(t.W, float64(rng.IntN(5))/4)
	}
	t.W[0] = 1
	return t
}

// stream is a table that does not know its size and whose readers copy rows into memory that they use again.
type stream struct {
	*data.Table
	reads  atomic.Int64
	closed atomic.Int64
	before func(read int64) error // called before each read
}

func (s *stream) Shape() (int64, int) { return -1, s.D }

func (s *stream) Open(ctx context.Context) (data.Reader, error) {
	r, err := s.Table.Open(ctx)
	return &streamReader{s, r}, err
}

type streamReader struct {
	s *stream
	r data.Reader
}

func (r *streamReader) Read(b *data.Block, n int) error {
	if at := r.s.reads.Add(1); r.s.before != nil {
		if err := r.s.before(at); err != nil {
			return err
		}
	}
	x, w := b.F64[:cap(b.F64)], b.W[:cap(b.W)]
	for i := range x {
		x[i] = math.NaN() // what was there belongs to the reader
	}
	var view data.Block
	if err := r.r.Read(&view, n); err != nil {
		*b = data.Block{}
		return err
	}
	*b = view
	b.F64, b.W = append(x[:0], view.F64...), append(w[:0], view.W...)
	return nil
}

func (r *streamReader) Close() error {
	r.s.closed.Add(1)
	return r.r.Close()
}

// tasks are a Gaussian mixture, soft, and k-means, far from their ends.
func tasks(d int) []sweep.Task {
	v := slices.Repeat([]float64{30}, d)
	gmm := &mixture.Mixture{Family: family.Gaussian{Shape: family.Full, Var: v}, K: 3, D: d}
	means := &mixture.Mixture{Family: family.KMeans{}, K: 4, D: d}
	a, b := make([]float64, gmm.Params()), make([]float64, means.Params())
	for i := range a {
		a[i] = float64(i%3) / 2
	}
	for i := range b {
		b[i] = float64(i)
	}
	return []sweep.Task{{Mixture: gmm, Theta: a, Beta: 1}, {Mixture: means, Theta: b, Beta: math.Inf(1)}, {Mixture: gmm, Theta: a, Beta: 0.5}}
}

// text writes every bit of the sums.
func text(stats []*family.Stats) (s string) {
	for _, t := range stats {
		s += fmt.Sprintf("%d %b %b %b %b %b %b", t.Rows, t.W, t.F, t.LogLik, t.Entropy, t.N, t.Sum)
		for _, f := range t.Far {
			s += fmt.Sprintf(" %d %b %b %d %b", f.Row, f.Score, f.W, f.Label, f.X)
		}
		s += "\n"
	}
	return s
}

// Without weights a first pass finds, to the bit, what it finds with weights of 1, in both types of cells and with values whose distances or
// sums are beyond float64.
func TestWeightsOfOneChangeNothingInASurvey(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for _, d := range []int{1, 3, 4, 7, 16, 21} {
		for _, n := range []int{1, 255, 2049, 7000} {
			for _, size := range []float64{1, 1e-200, 3e38, 1e308} {
				plain := &data.Table{N: n, D: d, F64: make([]float64, n*d)}
				for i := range plain.F64 {
					plain.F64[i] = size * (rng.Float64() - 0.5)
				}
				tables := []*data.Table{plain}
				if size == 1 {
					single := &data.Table{N: n, D: d, F32: make([]float32, n*d)}
					for i, v := range plain.F64 {
						single.F32[i] = float32(v)
					}
					tables = append(tables, single)
				}
				for _, table := range tables {
					got, err := sweep.Look(context.Background(), table, 2)
					if err != nil {
						t.Fatal(err)
					}
					table.W = slices.Repeat([]float64{1}, n)
					want, err := sweep.Look(context.Background(), table, 2)
					if err != nil {
						t.Fatal(err)
					}
					if g, w := fmt.Sprintf("%+v", *got), fmt.Sprintf("%+v", *want); g != w {
						t.Errorf("%d rows of %d columns, size %v: %s\nwith weights %s", n, d, size, g, w)
					}
				}
			}
		}
	}
}

func TestSumsAreTheSameBitsForAnyThreadsAndSource(t *testing.T) {
	const d = 2
	ctx := context.Background()
	origin := []float64{4, 8}
	for _, n := range []int{1, 31, 32, 33, 255, 256, 257, 2047, 2048, 2049, 20000} {
		table := blobs(n, d)
		var want, scored, seen string
		for _, threads := range []int{1, 2, 3, 7} {
			for _, src := range []data.Source{table, &stream{Table: table}} {
				l := sweep.NewLocal(src, int64(n), origin, threads)
				stats, err := l.Sweep(ctx, tasks(d))
				if err != nil {
					t.Fatal(err)
				}
				rows := ""
				at := int64(0)
				err = l.Rows(ctx, tasks(d)[0].Mixture, tasks(d)[0].Theta, func(s *sweep.Scored) error {
					if s.First != at {
						t.Fatalf("n %d, %d threads: row %d follows row %d", n, threads, s.First, at-1)
					}
					at += int64(s.N)
					rows += fmt.Sprintf("%v %b %b %b %b", s.Label, s.LogDensity, s.Entropy, s.Best, s.Responsibilities[:min(len(s.Responsibilities), 30)])
					rows += fmt.Sprintf("%b %b", s.F64[0], s.W)
					return nil
				})
				if err != nil || at != int64(n) {
					t.Fatalf("n %d, %d threads: %d rows scored (%v)", n, threads, at, err)
				}
				survey, err := sweep.Look(ctx, src, threads)
				if err != nil {
					t.Fatal(err)
				}
				look := fmt.Sprintf("%+v", *survey)
				if want == "" {
					want, scored, seen = text(stats), rows, look
				}
				if got := text(stats); got != want {
					t.Fatalf("n %d, %d threads, %T: sums\n%s\nwant\n%s", n, threads, src, got, want)
				}
				if rows[:20] != scored[:20] || len(rows) != len(scored) {
					t.Fatalf("n %d, %d threads, %T: scores differ", n, threads, src)
				}
				if rows != scored || look != seen {
					t.Fatalf("n %d, %d threads, %T: scores or the first pass differ", n, threads, src)
				}
			}
		}
	}
}

// The merge is a tree over chunks, so that whole subtrees may be folded elsewhere: on another machine, say.
func TestHalvesFoldedApartMergeToTheSameBits(t *testing.T) {
	const n, d = 4096, 2 // 16 chunks
	table := blobs(n, d)
	half := func(lo, hi int) *data.Table {
		return &data.Table{N: hi - lo, D: d, F64: table.F64[lo*d : hi*d], W: table.W[lo:hi]}
	}
	task := tasks(d)[:1]
	var got [3]*family.Stats
	for i, src := range []*data.Table{table, half(0, n/2), half(n/2, n)} {
		stats, err := sweep.NewLocal(src, n, []float64{4, 8}, 2).Sweep(context.Background(), task)
		if err != nil {
			t.Fatal(err)
		}
		got[i] = stats[0]
	}
	got[1].Merge(got[2])
	if a, b := text(got[:1]), text(got[1:2]); a != b {
		t.Errorf("%s, in halves %s", a, b)
	}
}

// What a loop over the rows gives.
func TestSumsAgreeWithALoop(t *testing.T) {
	const d, k = 2, 4
	for _, n := range []int{1, 33, 257, 5000} {
		table, task := blobs(n, d), tasks(d)[1]
		stats, err := sweep.NewLocal(table, int64(n), []float64{0, 0}, 2).Sweep(context.Background(), []sweep.Task{task})
		if err != nil {
			t.Fatal(err)
		}
		var rows int64
		var cost, total float64
		count, sum := make([]float64, k), make([]float64, k*d)
		for i, w := range table.W {
			best, at := math.Inf(1), 0
			for c := range k {
				q := 0.0
				for j := range d {
					e := table.F64[i*d+j] - task.Theta[c*d+j]
					q += e * e
				}
				if q < best {
					best, at = q, c
				}
			}
			if w > 0 {
				rows++
			}
			total += w
			cost += w * best
			count[at] += w
			for j := range d {
				sum[at*d+j] += w * table.F64[i*d+j]
			}
		}
		s := stats[0]
		if s.Rows != rows || s.W != total || math.Abs(s.F+cost) > 1e-12*cost || !slices.Equal(s.N, count) {
			t.Errorf("n %d: %d rows, W %v, F %v, N %v, want %d, %v, %v, %v", n, s.Rows, s.W, s.F, s.N, rows, total, -cost, count)
		}
		for i, v := range sum {
			if math.Abs(s.Sum[i]-v) > 1e-12*(1+math.Abs(v))*float64(n) {
				t.Errorf("n %d: sum %v, want %v", n, s.Sum[i], v)
			}
		}
	}
}

func TestFirstPassAgreesWithTwoPasses(t *testing.T) {
	const d, n = 3, 5000
	table := blobs(n, d)
	for i := range table.F64 {
		if i%d == 1 {
			table.F64[i] += 1e9
		} else if i%d == 2 {
			table.F64[i] = 0.1 // constant: its mean and variance are exact
		}
	}
	s, err := sweep.Look(context.Background(), table, 2)
	if err != nil {
		t.Fatal(err)
	}
	for j := range d {
		mean, v, w := 0.0, 0.0, 0.0
		least, largest := math.Inf(1), math.Inf(-1)
		base := table.F64[j]
		for i, u := range table.W {
			w += u
			mean += u * (table.F64[i*d+j] - base)
			if u > 0 {
				least, largest = min(least, table.F64[i*d+j]), max(largest, table.F64[i*d+j])
			}
		}
		mean /= w
		for i, u := range table.W {
			e := table.F64[i*d+j] - base - mean
			v += u * e * e / w
		}
		if math.Abs(s.Mean[j]-base-mean) > 1e-15*math.Abs(base)+1e-12 || math.Abs(s.Var[j]-v) > 1e-9*v || s.Min[j] != least || s.Max[j] != largest || s.W != w {
			t.Errorf("column %d: mean %v, variance %v, range %v to %v, want %v, %v, %v to %v", j, s.Mean[j], s.Var[j], s.Min[j], s.Max[j], base+mean, v, least, largest)
		}
		if o := s.Origin()[j]; math.Abs(o-s.Mean[j]) > 4*math.Sqrt(s.Var[j])+1e-300 {
			t.Errorf("column %d: the origin %v is far from the mean %v", j, o, s.Mean[j])
		}
	}
	if s.Var[2] != 0 || s.Mean[2] != 0.1 || s.Origin()[2] != 0.1 {
		t.Errorf("the constant column has mean %v, variance %v, origin %v", s.Mean[2], s.Var[2], s.Origin()[2])
	}
}

func TestFirstPassNamesTheRowThatCannotBeUsed(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(t *data.Table)
		want  string
	}{
		{"NaN", func(t *data.Table) { t.F64[2*2+1] = math.NaN() }, "row 3, column 2: the value is NaN; values must be finite"},
		{"infinity", func(t *data.Table) { t.F64[0] = math.Inf(-1) }, "row 1, column 1: the value is -Inf; values must be finite"},
		{"numbered rows", func(t *data.Table) { t.F64[2], t.Row = math.NaN(), []int64{1, 7, 8, 9, 10} }, "row 7, column 1: the value is NaN; values must be finite"},
		{"negative weight", func(t *data.Table) { t.W[4] = -1 }, "row 5: the weight is -1; weights must be finite and not negative"},
		{"weight that is no number", func(t *data.Table) { t.W[1] = math.NaN() }, "row 2: the weight is NaN; weights must be finite and not negative"},
		{"infinite weight", func(t *data.Table) { t.W[1] = math.Inf(1) }, "row 2: the weight is +Inf; weights must be finite and not negative"},
	} {
		table := blobs(5, 2)
		c.spoil(table)
		if _, err := sweep.Look(context.Background(), table, 2); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// within fails if f does not return in time, and if it leaves goroutines behind.
func within(t *testing.T, f func()) {
	t.Helper()
	before := runtime.NumGoroutine()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("the pass does not end")
	}
	for range 200 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

var errBroken = errors.New("the disk is gone")

func TestPassEndsWithTheErrorOfTheReader(t *testing.T) {
	for _, threads := range []int{1, 2, 7} {
		for _, at := range []int64{1, 2, 9, 40} {
			src := &stream{Table: blobs(20000, 2), before: func(read int64) error {
				if read == at {
					return errBroken
				}
				return nil
			}}
			within(t, func() {
				if _, err := sweep.NewLocal(src, 20000, []float64{0, 0}, threads).Sweep(context.Background(), tasks(2)); !errors.Is(err, errBroken) {
					t.Errorf("%d threads, read %d: %v", threads, at, err)
				}
			})
			if src.closed.Load() != 1 {
				t.Errorf("the reader was closed %d times", src.closed.Load())
			}
		}
	}
}

func TestPassEndsWithTheErrorOfTheReceiver(t *testing.T) {
	for _, threads := range []int{1, 2, 7} {
		src, task := &stream{Table: blobs(20000, 2)}, tasks(2)[0]
		within(t, func() {
			calls := 0
			err := sweep.NewLocal(src, 20000, []float64{0, 0}, threads).Rows(context.Background(), task.Mixture, task.Theta, func(*sweep.Scored) error {
				if calls++; calls == 3 {
					return errBroken
				}
				return nil
			})
			if !errors.Is(err, errBroken) || calls != 3 {
				t.Errorf("%d threads: %v after %d calls", threads, err, calls)
			}
		})
		if src.closed.Load() != 1 {
			t.Errorf("the reader was closed %d times", src.closed.Load())
		}
	}
}

func TestCancelledPassStops(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 7} {
		for _, at := range []int64{1, 4, 30} {
			ctx, cancel := context.WithCancel(context.Background())
			src := &stream{Table: blobs(20000, 2), before: func(read int64) error {
				if read == at {
					cancel()
				}
				return nil
			}}
			within(t, func() {
				if _, err := sweep.NewLocal(src, 20000, []float64{0, 0}, threads).Sweep(ctx, tasks(2)); !errors.Is(err, context.Canceled) {
					t.Errorf("%d threads: %v", threads, err)
				}
			})
			if n := src.reads.Load(); n > at {
				t.Errorf("%d threads: %d reads, cancelled in number %d", threads, n, at)
			}
			cancel()
		}
	}
}

func TestPassOverNoRows(t *testing.T) {
	l := sweep.NewLocal(&data.Table{D: 2}, 0, []float64{0, 0}, 2)
	stats, err := l.Sweep(context.Background(), tasks(2))
	if err != nil || len(stats) != 3 || stats[0].W != 0 || len(stats[1].Sum) != 8 {
		t.Errorf("%v (%v)", stats, err)
	}
	if err := l.Rows(context.Background(), tasks(2)[0].Mixture, tasks(2)[0].Theta, func(*sweep.Scored) error { return io.EOF }); err != nil {
		t.Error(err)
	}
}

func TestFloat32RowsAreReadAsTheyAre(t *testing.T) {
	wide, narrow := blobs(300, 2), blobs(300, 2)
	narrow.F64, narrow.F32 = nil, make([]float32, len(wide.F64))
	for i, v := range wide.F64 {
		narrow.F32[i] = float32(v)
		wide.F64[i] = float64(narrow.F32[i])
	}
	a, err := sweep.NewLocal(wide, 300, []float64{4, 8}, 1).Sweep(context.Background(), tasks(2))
	b, err2 := sweep.NewLocal(narrow, 300, []float64{4, 8}, 1).Sweep(context.Background(), tasks(2))
	if err != nil || err2 != nil || text(a) != text(b) {
		t.Errorf("sums differ (%v, %v)", err, err2)
	}
}

// There are finitely many partitions, the cost falls with every new one, so Lloyd's algorithm ends: and it ends where
// the centres are the means of their rows and every row is with its nearest centre. An empty cluster takes a row.
func TestLloydNeverVisitsAPartitionTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d, k := rapid.IntRange(1, 60).Draw(t, "n"), rapid.IntRange(1, 3).Draw(t, "d"), rapid.IntRange(1, 7).Draw(t, "k")
		wide := rapid.SampledFrom([]int{2, 10, 100}).Draw(t, "range") // 2: many equal rows and ties
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		table := &data.Table{N: n, D: d}
		for range n * d {
			table.F64 = append(table.F64, float64(rng.IntN(wide)))
		}
		far := rapid.SampledFrom([]float64{1, 100}).Draw(t, "start") // 100: most clusters start empty
		theta := make([]float64, k*d)
		for i := range theta {
			theta[i] = far * float64(rng.IntN(wide))
		}
		m := &mixture.Mixture{Family: family.KMeans{}, K: k, D: d}
		l := sweep.NewLocal(table, int64(n), make([]float64, d), 1)
		ctx := context.Background()
		partition := func(theta []float64) (s string) {
			if err := l.Rows(ctx, m, theta, func(s2 *sweep.Scored) error { s += fmt.Sprint(s2.Label); return nil }); err != nil {
				t.Fatal(err)
			}
			return s
		}
		seen, moved, cost := map[string]bool{}, false, math.Inf(1)
		for step := 0; ; step++ {
			now := partition(theta)
			stats, err := l.Sweep(ctx, []sweep.Task{{Mixture: m, Theta: theta, Beta: math.Inf(1)}})
			if err != nil {
				t.Fatal(err)
			}
			c, next := -stats[0].F, make([]float64, len(theta))
			empty := slices.Contains(stats[0].N, 0)
			m.MStep(next, theta, stats[0])
			lifted := -m.FreeEnergy(next, theta, math.Inf(1), stats[0])
			if tol := 1e-9 * float64(n*wide*wide) * far * far; lifted > c+tol || lifted < -tol {
				t.Fatalf("step %d: moving the centres takes the cost from %v to %v", step, c, lifted)
			}
			if slices.Equal(next, theta) {
				resting(t, table, k, theta)
				if empty && distinct(table) >= k {
					t.Fatalf("step %d: %v rows, an empty cluster stays", step, stats[0].N)
				}
				return
			}
			if seen[now] && !moved { // a row moved to an empty cluster may find a centre of lower index on its very spot
				t.Fatalf("step %d: partition %s again", step, now)
			}
			if !(c < cost) {
				t.Fatalf("step %d: the cost goes from %v to %v", step, cost, c)
			}
			seen[now], moved, cost, theta = true, empty, c, next
		}
	})
}

// resting fails unless the centres are the means of the rows nearest to them.
func resting(t *rapid.T, table *data.Table, k int, centres []float64) {
	d := table.D
	count, sum := make([]float64, k), make([]float64, k*d)
	for i := range table.N {
		at, least := 0, math.Inf(1)
		for c := range k {
			q := 0.0
			for j := range d {
				q += (table.F64[i*d+j] - centres[c*d+j]) * (table.F64[i*d+j] - centres[c*d+j])
			}
			if q < least {
				at, least = c, q
			}
		}
		count[at]++
		for j := range d {
			sum[at*d+j] += table.F64[i*d+j]
		}
	}
	for i, v := range sum {
		if n := count[i/d]; n > 0 && math.Abs(v/n-centres[i]) > 1e-9 {
			t.Fatalf("centre %d rests at %v in column %d, the mean of its rows is %v", i/d, centres[i], i%d, v/n)
		}
	}
}

func distinct(t *data.Table) int {
	seen := map[string]bool{}
	for i := range t.N {
		seen[fmt.Sprint(t.F64[i*t.D:(i+1)*t.D])] = true
	}
	return len(seen)
}

package studio

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latent-go/latent/data"
)

// Marks of few rows are the rows, with NaN for a missing cell.
func TestRowsAsMarks(t *testing.T) {
	v := serving(t, Options{})
	d := v.open("a.csv", "a,b\n1,2\n3,\n,6\n7,8.25\n")
	r := v.ask("GET", "/api/data/"+d.ID+"/marks?x=a&y=b", "", nil)
	if got := fmt.Sprint(floats(r.body)); got != "[1 2 3 NaN NaN 6 7 8.25]" || r.Header.Get("Latent-Marks") != "rows" || r.Header.Get("Latent-Rows") != "4" {
		t.Errorf("%s, %v", got, r.Header)
	}
	if got := fmt.Sprint(floats(v.ask("GET", "/api/data/"+d.ID+"/marks?x=b", "", nil).body)); got != "[2 NaN 6 8.25]" {
		t.Errorf("one column: %s", got)
	}
	for _, q := range []string{"x=c", "x=", "", "x=a&y=c", "x=pc3"} {
		if r := v.ask("GET", "/api/data/"+d.ID+"/marks?"+q, "", nil); r.StatusCode != 422 || !strings.Contains(string(r.body), "a.csv: there is no column") {
			t.Errorf("%q: %d %s", q, r.StatusCode, r.body)
		}
	}
}

// Two columns of which one is twice the other have their first component along (1, 2), and no second.
func TestComponentMarks(t *testing.T) {
	v := serving(t, Options{})
	d := v.open("a.csv", "a,b\n0,0\n1,2\n2,4\n5,\n3,6\n")
	got := floats(v.ask("GET", "/api/data/"+d.ID+"/marks?x=pc1&y=a", "", nil).body)
	mean := 1.5 // of the rows that have both
	for i, a := range []float64{0, 1, 2, math.NaN(), 3} {
		want := (a - mean) * math.Sqrt(5)
		if g := float64(got[2*i]); math.Abs(g-want) > 1e-6 || math.IsNaN(g) != math.IsNaN(want) {
			t.Errorf("row %d is at %v, want %v", i+1, g, want)
		}
	}
	if r := v.ask("GET", "/api/data/"+d.ID+"/marks?x=pc2", "", nil); r.StatusCode != 422 || !strings.Contains(string(r.body), "no second principal component") {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
}

// clouds returns rows in three places, a few with gaps.
func clouds(n, d int) *data.Table {
	r := rand.New(rand.NewPCG(1, 2))
	t := &data.Table{N: n, D: d, F64: make([]float64, n*d)}
	for i := range t.F64 {
		t.F64[i] = r.NormFloat64() + float64(3*(i/d%3))
		if r.IntN(1000) == 0 {
			t.F64[i] = math.NaN()
		}
	}
	return t
}

// Cells hold what a naive loop says: their rows, the mean of their places, and each row its cell.
func TestCells(t *testing.T) {
	for _, axes := range [][]axis{{{Column: 1}, {Column: 0}}, {{Column: 2}}, {{-1, []float64{1, 2, 3}, []float64{.6, 0, .8}}, {Column: 1}}} {
		src := clouds(30_000, 3)
		l, err := gridded(context.Background(), src, int64(src.N), axes, true)
		if err != nil {
			t.Fatal(err)
		}
		size := []int{320, 240}
		place := func(i, j int) float64 {
			if a := axes[j]; a.Column >= 0 {
				return src.At(i, a.Column)
			}
			return .6*(src.At(i, 0)-1) + .8*(src.At(i, 2)-3)
		}
		lo, hi := make([]float64, len(axes)), make([]float64, len(axes))
		for j := range axes {
			lo[j], hi[j] = math.Inf(1), math.Inf(-1)
			for i := range src.N {
				if v := place(i, j); v == v {
					lo[j], hi[j] = min(lo[j], v), max(hi[j], v)
				}
			}
		}
		count, sum, missing := map[[2]int]int{}, map[[2]int][2]float64{}, 0
		cell := func(i int) (c [2]int, ok bool) {
			for j := range axes {
				v := place(i, j)
				if v != v {
					return c, false
				}
				c[j] = min(int((v-lo[j])/(hi[j]-lo[j])*float64(size[j])), size[j]-1)
			}
			return c, true
		}
		rowCell := make([]string, src.N)
		for i := range src.N {
			c, ok := cell(i)
			if !ok {
				missing++
				continue
			}
			rowCell[i] = fmt.Sprint(c)
			count[c]++
			s := sum[c]
			for j := range axes {
				s[j] += place(i, j)
			}
			sum[c] = s
		}
		if !l.Cells || l.Rows != int64(src.N) || l.Missing != int64(missing) || missing == 0 || len(l.Marks)/l.Per > len(count)+3 || len(l.Marks)/l.Per < len(count)-3 {
			t.Fatalf("%d rows, %d missing (want %d), %d cells (want %d)", l.Rows, l.Missing, missing, len(l.Marks)/l.Per, len(count))
		}
		var keys [][2]int
		for c := range count {
			keys = append(keys, c)
		}
		slices.SortFunc(keys, func(a, b [2]int) int { return (a[1]-b[1])*1000 + a[0] - b[0] })
		wrong, total := 0, 0.0
		for m, c := range keys {
			for j := range axes {
				if want := float32(sum[c][j] / float64(count[c])); math.Abs(float64(l.Marks[m*l.Per+j]-want)) > 1e-5 {
					wrong++
				}
			}
			if l.Marks[m*l.Per+len(axes)] != float32(count[c]) {
				wrong++
			}
			total += float64(l.Marks[m*l.Per+len(axes)])
		}
		if wrong > 0 || int(total) != src.N-missing {
			t.Errorf("%d numbers differ; the masses sum to %v of %d", wrong, total, src.N-missing)
		}
		number := map[string]int32{"": -1}
		for m, c := range keys {
			number[fmt.Sprint(c)] = int32(m)
		}
		for i, c := range l.CellOf {
			if want := number[rowCell[i]]; c != want {
				t.Fatalf("row %d is in mark %d, want %d", i, c, want)
			}
		}
	}
}

// Rows that are all in one place are one cell.
func TestOneCell(t *testing.T) {
	src := &data.Table{N: 5, D: 2, F64: []float64{7, 1, 7, 1, 7, 1, 7, 1, 7, 1}}
	l, err := gridded(context.Background(), src, 5, []axis{{Column: 0}, {Column: 1}}, false)
	if err != nil || fmt.Sprint(l.Marks) != "[7 1 5]" {
		t.Errorf("%v, %v", l, err)
	}
	src = &data.Table{N: 2, D: 1, F64: []float64{math.NaN(), math.NaN()}}
	if l, err = gridded(context.Background(), src, 2, []axis{{Column: 0}}, true); err != nil || len(l.Marks) != 0 || l.Missing != 2 {
		t.Errorf("%v, %v", l, err)
	}
}

// A table that is too large for memory has the same marks, read from its file.
func TestStreamedMarks(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,b,c\n")
	for i := range 500 {
		fmt.Fprintf(&b, "%d,%d,%d\n", i*7%101, i*i%53, i%10)
	}
	v := serving(t, Options{})
	held := v.open("a.csv", b.String())
	streamed := v.open("b.csv", b.String())
	for _, q := range []string{"x=a&y=b", "x=c", "x=pc1&y=pc2"} {
		want := v.ask("GET", "/api/data/"+held.ID+"/marks?"+q, "", nil)
		v.held.Add(maxHeld)
		got := v.ask("GET", "/api/data/"+streamed.ID+"/marks?"+q, "", nil)
		v.held.Add(-maxHeld)
		if string(got.body) != string(want.body) || got.StatusCode != 200 {
			t.Errorf("%s: %d, %d bytes, want %d", q, got.StatusCode, len(got.body), len(want.body))
		}
	}
}

// The layout of many rows is made once for the same axes, is the one that is made anew, and counts for what is in memory.
func TestTheLastLayoutIsKept(t *testing.T) {
	t.Parallel()
	v := serving(t, Options{})
	const rows = maxMarks + 1
	f := opened(groups(rows, 2))
	lay := func(x, y string) *layout {
		t.Helper()
		l, err := v.laid(t.Context(), f, x, y)
		want, wrong := v.layout(t.Context(), f, x, y, true)
		if err != nil || wrong != nil || !reflect.DeepEqual(l, want) {
			t.Fatalf("by %q and %q: %v, %v, or not the layout that is made anew", x, y, err, wrong)
		}
		return l
	}
	holds := func(want int64) {
		t.Helper()
		if got := v.held.Load(); got != want {
			t.Errorf("%d bytes are held, want %d", got, want)
		}
	}
	first := lay("c1", "c2")
	if len(first.CellOf) != rows || lay("c1", "c2") != first {
		t.Errorf("%d rows, and the layout is made again", len(first.CellOf))
	}
	holds(4 * rows)
	if lay("c2", "c1") == first || lay("c1", "") == first || lay("c1", "c2") == first {
		t.Error("other axes have the same layout")
	}
	holds(4 * rows)
	for range 2 {
		if _, err := v.laid(t.Context(), f, "c1", "none"); err == nil || f.rows.laid != nil {
			t.Errorf("a fault is kept: %v", err)
		}
		holds(0)
	}
	v.held.Add(maxHeld)
	if lay("c1", "c2"); f.rows.laid != nil {
		t.Error("a layout is kept where there is no room")
	}
	holds(maxHeld)
	v.held.Add(-maxHeld)
	lay("c1", "c2")
	v.drop(f)
	if holds(0); f.rows.laid != nil {
		t.Error("a table that was dropped has a layout")
	}
}

// A request that is gone does not end a layout that others wait for, and one that nobody wants any more ends.
func TestALayoutOutlivesTheRequestThatBeganIt(t *testing.T) {
	t.Parallel()
	v := serving(t, Options{})
	f := opened(groups(maxMarks+1, 2))
	gone, leave := context.WithCancel(t.Context())
	leave()
	v.laid(gone, f, "c1", "c2")
	begun := f.rows.laid
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if l, err := v.laid(t.Context(), f, "c1", "c2"); err != nil || l != begun.of {
				t.Errorf("%v, or another layout", err)
			}
		})
	}
	all.Wait()

	under := func() (*laying, context.Context) {
		ctx, stop := context.WithCancel(t.Context())
		return &laying{x: "c1", y: "c2", made: make(chan struct{}), stop: stop}, ctx
	}
	idle, over := under()
	f.rows.laid = idle
	v.laid(t.Context(), f, "c2", "")
	if over.Err() == nil {
		t.Error("a layout that nobody wants goes on")
	}
	wanted, over := under()
	f.rows.laid = wanted
	waiting, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := v.laid(waiting, f, "c1", "c2")
		left <- err
	}()
	for wanted.waiting.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if v.laid(t.Context(), f, "c2", ""); over.Err() != nil {
		t.Error("a layout that a request waits for was stopped")
	}
	leave()
	if err := <-left; err == nil || over.Err() == nil {
		t.Errorf("the last one to wait is gone with %v, and the layout goes on", err)
	}
}

// Colours of frames that are asked for at once are those that are asked for one by one.
func TestColoursAtOnce(t *testing.T) {
	t.Parallel()
	table, names := groups(maxMarks+1, 2)
	v := serving(t, Options{Run: climbing(table, names)})
	n := &run{ID: "r1", asked: asked{Trace: true}, file: opened(table, names), folder: t.TempDir(), state: running, began: make(chan struct{}), ended: make(chan struct{})}
	v.fit(t.Context(), n)
	colours := func(frame int) string {
		w := httptest.NewRecorder()
		if v.serveResponsibilities(w, httptest.NewRequest("GET", fmt.Sprint("/?x=c1&y=c2&frame=", frame), nil), n); w.Code != 200 {
			t.Errorf("frame %d: %d %s", frame, w.Code, w.Body)
		}
		return w.Body.String()
	}
	const frames = 4
	var got [frames]string
	var all sync.WaitGroup
	for i := range frames {
		all.Go(func() { got[i] = colours(i + 1) })
	}
	all.Wait()
	for i := range frames {
		v.drop(n.file)
		n.file.rows.table = table
		if want := colours(i + 1); got[i] != want || len(want) == 0 {
			t.Errorf("frame %d: other colours", i+1)
		}
	}
}

func BenchmarkCells(b *testing.B) {
	src := clouds(1_000_000, 8)
	dir := []float64{.5, .5, .5, .5, 0, 0, 0, 0}
	for name, axes := range map[string][]axis{"columns": {{Column: 1}, {Column: 4}}, "components": {{-1, make([]float64, 8), dir}, {-1, make([]float64, 8), dir[:]}}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := gridded(context.Background(), src, int64(src.N), axes, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

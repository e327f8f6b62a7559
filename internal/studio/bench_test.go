package studio

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
)

// groups returns rows of five groups that overlap, so that EM has a way to go.
func groups(n, d int) (*data.Table, []string) {
	r := rand.New(rand.NewPCG(3, 4))
	t := &data.Table{N: n, D: d, F64: make([]float64, n*d)}
	for i := range t.F64 {
		t.F64[i] = r.NormFloat64() + float64(2*(i/d%5)*(i%d%2+1))
	}
	var names []string
	for j := range d {
		names = append(names, fmt.Sprintf("c%d", j+1))
	}
	return t, names
}

// opened returns the table as a file that is open and read.
func opened(t *data.Table, names []string) *file {
	f := &file{ID: "d1", Name: "rows.csv", Path: "rows.csv"}
	for _, name := range names {
		f.looked.Columns = append(f.looked.Columns, lookedCol{Name: name, Use: "feature", Type: "number"})
	}
	f.looked.Rows, f.rows.table = int64(t.N), t
	return f
}

// climbing is a RunFunc that makes 20 steps of EM on a table, watched or not.
func climbing(t *data.Table, names []string) RunFunc {
	return func(ctx context.Context, _ []string, out, errw io.Writer, h Hooks) int {
		h.Read(t, &data.Info{Features: names}, data.Options{})
		spec := latent.Spec{K: 5, Algorithm: "em", Init: "random", NInit: 1, Columns: names, MaxIter: new(20), Tol: new(0.0)}
		var see []latent.Observer
		if h.Observe.Step != nil {
			see = append(see, h.Observe)
		}
		r, err := latent.Fit(ctx, t, spec, see...)
		if err != nil {
			fmt.Fprintln(errw, err)
			return 1
		}
		h.Result(r)
		json.NewEncoder(out).Encode(r)
		return 0
	}
}

// newRun returns a run that is watched, of an open table.
func newRun(b *testing.B, f *file) *run {
	return &run{ID: "r1", asked: asked{Trace: true}, file: f, folder: b.TempDir(), state: running, began: make(chan struct{}), ended: make(chan struct{})}
}

// slowWriter is a page that takes a while over each line.
type slowWriter struct {
	*httptest.ResponseRecorder
	wait time.Duration
}

// Write implements io.Writer.
func (w slowWriter) Write(b []byte) (int, error) {
	time.Sleep(w.wait)
	return len(b), nil
}

// What a fit of 1,000,000 x 8 rows takes by itself, and while a page watches: one that reads at once, and one that takes half a second a line.
func BenchmarkFit(b *testing.B) {
	t, names := groups(1_000_000, 8)
	f, fit := opened(t, names), climbing(t, names)
	v := serving(b, Options{Run: fit})
	b.Run("alone", func(b *testing.B) {
		for b.Loop() {
			quiet := Hooks{Read: func(data.Source, *data.Info, data.Options) {}, Result: func(*latent.Result) {}}
			if fit(b.Context(), nil, io.Discard, io.Discard, quiet) != 0 {
				b.Fatal("no fit")
			}
		}
	})
	for _, page := range []struct {
		name string
		wait time.Duration
	}{{"watched", 0}, {"watched_slowly", 500 * time.Millisecond}} {
		b.Run(page.name, func(b *testing.B) {
			for b.Loop() {
				n := newRun(b, f)
				go v.fit(b.Context(), n)
				go n.stream(slowWriter{httptest.NewRecorder(), page.wait})
				if <-n.ended; n.record.count() < 40 {
					b.Fatalf("%d frames", n.record.count())
				}
			}
		})
	}
}

// The colours of a frame, by rows, and by cells where rows are many.
func BenchmarkResponsibilities(b *testing.B) {
	for _, rows := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			t, names := groups(rows, 2)
			v := serving(b, Options{Run: climbing(t, names)})
			n := newRun(b, opened(t, names))
			v.fit(b.Context(), n)
			r := httptest.NewRequest(http.MethodGet, "/?frame=9&x=c1&y=c2", nil)
			for b.Loop() {
				w := httptest.NewRecorder()
				if v.serveResponsibilities(w, r, n); w.Code != http.StatusOK {
					b.Fatal(w.Body)
				}
			}
		})
	}
}

// The marks of a table, as they are sent.
func BenchmarkMarks(b *testing.B) {
	for _, rows := range []int{1_000, 100_000, 1_000_000} {
		for _, axes := range []string{"x=c1&y=c2", "x=pc1&y=pc2"} {
			b.Run(fmt.Sprint(rows, "/", axes[2:4]), func(b *testing.B) {
				v := serving(b, Options{})
				f := opened(groups(rows, 2))
				r := httptest.NewRequest(http.MethodGet, "/?"+axes, nil)
				for b.Loop() {
					w := httptest.NewRecorder()
					if v.serveMarks(w, r, f); w.Code != http.StatusOK {
						b.Fatal(w.Body)
					}
				}
			})
		}
	}
}

// The rows of a result, sorted.
func BenchmarkSortedRows(b *testing.B) {
	t, names := groups(1_000_000, 2)
	v := serving(b, Options{Run: climbing(t, names)})
	n := newRun(b, opened(t, names))
	v.fit(b.Context(), n)
	if _, _, err := v.scored(b.Context(), n); err != nil {
		b.Fatal(err)
	}
	rows, _ := v.tables.turnTo(n)
	for b.Loop() {
		rows.by = ""
		rows.sorted("density")
	}
}

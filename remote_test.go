package latent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/sweep"
)

// elsewhere holds a table in parts, each of which knows nothing of the others, as other machines would.
type elsewhere struct {
	*held
	views []data.View
}

type held struct {
	parts []*sweep.Part
	rows  int64
	d     int

	mu     sync.Mutex
	passes int
	read   int64 // rows that were brought here
}

// cut returns the rows of a table in at most so many parts.
func cut(t *data.Table, parts int) *elsewhere {
	h := &held{rows: int64(t.N), d: t.D}
	align := sweep.AlignedRows(h.rows)
	each := max(1, (t.N/align+parts)/parts) * align
	for lo := 0; lo < t.N; lo += each {
		hi := min(lo+each, t.N)
		own := &data.Table{N: hi - lo, D: t.D, First: int64(lo), F64: t.F64[lo*t.D : hi*t.D : hi*t.D]}
		if t.W != nil {
			own.W = t.W[lo:hi:hi]
		}
		if t.Truth != nil {
			own.Truth = t.Truth[lo:hi:hi]
		}
		h.parts = append(h.parts, &sweep.Part{Table: own, Threads: 1 + len(h.parts)%3})
	}
	return &elsewhere{held: h}
}

func (e *elsewhere) Shape() (int64, int) {
	var src data.Source = &data.Table{D: e.d}
	for _, v := range e.views {
		src = v.Rows(src)
	}
	_, d := src.Shape()
	return e.rows, d
}

func (e *elsewhere) Views() []data.View { return e.views }

func (e *elsewhere) With(v data.View) data.Remote {
	return &elsewhere{e.held, append(e.views[:len(e.views):len(e.views)], v)}
}

func (e *elsewhere) Pass(ctx context.Context, job []byte) (answers [][]byte, err error) {
	e.mu.Lock()
	e.passes++
	e.mu.Unlock()
	for _, p := range e.parts {
		a, err := p.Serve(ctx, job)
		if err != nil {
			return nil, err
		}
		answers = append(answers, a)
	}
	return answers, nil
}

func (e *elsewhere) Open(ctx context.Context) (data.Reader, error) {
	var src data.Source = &brought{held: e.held}
	for _, v := range e.views {
		src = v.Rows(src)
	}
	return src.Open(ctx)
}

// brought reads the rows one part after another.
type brought struct {
	*held
	at int
	r  data.Reader
}

func (b *brought) Shape() (int64, int) { return b.rows, b.d }

func (b *brought) Open(context.Context) (data.Reader, error) { return &brought{held: b.held}, nil }

func (b *brought) Read(to *data.Block, n int) error {
	for {
		if b.r == nil {
			if b.at == len(b.parts) {
				return io.EOF
			}
			b.r, _ = b.parts[b.at].Table.Open(context.Background())
			b.at++
		}
		err := b.r.Read(to, n)
		if err == io.EOF {
			b.r = nil
			continue
		}
		b.mu.Lock()
		b.read += int64(to.N)
		b.mu.Unlock()
		return err
	}
}

func (b *brought) Close() error { return nil }

// spread draws rows of three overlapping groups, of the cells that a kind takes.
func spread(of string, n int) *data.Table {
	const d = 4
	r := rand.New(rand.NewPCG(11, 12))
	t := &data.Table{N: n, D: d, F64: make([]float64, n*d)}
	for i := range n {
		g := float64(i % 7 % 3)
		for j := range d {
			x := r.NormFloat64()*(1+g/2) + 3*g*float64(j%2) + 100
			switch of {
			case "bits":
				x = 0
				if r.Float64() < 0.2+0.3*g {
					x = 1
				}
			case "counts":
				x = math.Floor(r.ExpFloat64() * (1 + 4*g))
			case "tight": // the cost is a difference that cancels
				x = 50*g*float64(j+1) + 0.01*r.NormFloat64()
			case "gaps":
				if r.Float64() < 0.05 {
					x = math.NaN()
				}
			}
			t.F64[i*d+j] = x
		}
		if of == "weights" {
			t.W = append(t.W, float64(i%4)/3)
		}
		if of == "truth" {
			t.Truth = append(t.Truth, fmt.Sprint("group ", i%3))
		}
	}
	return t
}

// A fit of rows on other machines is that of a table, to the last bit, and brings few of them here.
func TestRowsElsewhere(t *testing.T) {
	for _, c := range []struct {
		name string
		spec latent.Spec
		of   string
	}{
		{"full", latent.Spec{K: 4, Seed: new(uint64(3))}, ""},
		{"kmeans", latent.Spec{Model: "kmeans", K: 5, Seed: new(uint64(3))}, ""},
		{"tight kmeans", latent.Spec{Model: "kmeans", K: 3}, "tight"},
		{"kmedians", latent.Spec{Model: "kmedians", K: 3, NInit: 1}, ""},
		{"lloyd", latent.Spec{Model: "kmeans", K: 7, Algorithm: "lloyd", NInit: 3}, ""},
		{"diag", latent.Spec{K: 4, Covariance: "diag", NInit: 2}, ""},
		{"VVE", latent.Spec{K: 3, Covariance: "VVE", NInit: 1}, ""},
		{"standard", latent.Spec{K: 3, Scale: "standard", NInit: 1}, ""},
		{"pca", latent.Spec{K: 3, PCA: 2, NInit: 1}, ""},
		{"em", latent.Spec{K: 3, Algorithm: "em", NInit: 1}, ""},
		{"anneal", latent.Spec{K: 3, Algorithm: "anti-annealing", NInit: 1}, ""},
		{"bernoulli", latent.Spec{Model: "bernoulli", K: 3, NInit: 2}, "bits"},
		{"poisson", latent.Spec{Model: "poisson", K: 3, NInit: 2}, "counts"},
		{"gaps", latent.Spec{K: 3, NInit: 1, Missing: "model"}, "gaps"},
		{"weights", latent.Spec{K: 3, NInit: 1}, "weights"},
		{"noise", latent.Spec{K: 3, NInit: 1, Covariance: "tied", Noise: "auto"}, "weights"},
		{"noise with gaps", latent.Spec{K: 3, NInit: 1, Noise: "auto"}, "gaps"},
		{"vb", latent.Spec{K: 4, Algorithm: "vb", Weights: "process", NInit: 1}, "weights"},
		{"truth", latent.Spec{K: 3, NInit: 1}, "truth"},
		{"choice", latent.Spec{KRange: [2]int{1, 3}, Covariance: "diag,tied"}, ""},
		{"merged", latent.Spec{K: 4, Covariance: "diag", NInit: 1, Merge: "overlap"}, "truth"},
		{"merged by entropy", latent.Spec{K: 3, Covariance: "diag", NInit: 1, Merge: "entropy"}, "weights"},
		{"penalty", latent.Spec{Model: "kmeans", Penalty: new(60.)}, ""},
		{"transform", latent.Spec{K: 2, NInit: 1, Transform: "log:2"}, ""},
		{"mixed", latent.Spec{Model: "mixed", K: 2, NInit: 1, Types: []data.Type{data.Count, data.Number, data.Number, data.Count}}, "counts"},
	} {
		if testing.Short() && !slices.Contains([]string{"tight kmeans", "standard", "gaps", "truth", "bernoulli", "pca"}, c.name) {
			continue // what the others would show of races and kernels, these do
		}
		t.Run(c.name, func(t *testing.T) {
			table := spread(c.of, 30_000)
			want, err := latent.Fit(context.Background(), table, c.spec)
			if err != nil {
				t.Fatal(err)
			}
			e := cut(table, 4)
			got, err := latent.Fit(context.Background(), e, c.spec)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := asJSON(t, want), asJSON(t, got); a != b {
				t.Errorf("models differ:\n%s\n%s", a, b)
			}
			if len(e.parts) < 2 || e.passes == 0 || e.read > 8192 && c.spec.Model != "kmedians" { // which needs all rows side by side

				t.Errorf("%d parts made %d passes, and %d rows were brought here", len(e.parts), e.passes, e.read)
			}
		})
	}
}

func asJSON(t *testing.T, r *latent.Result) string {
	b, err := json.Marshal(r.Model)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

package data

import (
	"context"
	"io"
	"math"
	"testing"
)

// Projected rows are sums over the columns from a plain loop, however many rows are read at a time; weights stay.
func TestProjectedRowsAreProducts(t *testing.T) {
	mean := []float64{1, 2, 3}
	axes := [][]float64{{0.6, 0.8, 0}, {-0.8, 0.6, 0}, {0, 0, 1}, {0.36, 0.48, 0.8}, {0.48, 0.64, -0.6}}
	sources, raw := mappedSources(t)
	for name, src := range sources {
		for n := range len(axes) + 1 {
			p := Projected(src, mean, axes[:n])
			if rows, d := p.Shape(); d != n || name != "stream" && rows != 1000 {
				t.Fatalf("%s: the shape is %d x %d", name, rows, d)
			}
			for _, most := range []int{7, 1000} {
				r, err := p.Open(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				var b Block
				at := 0
				for {
					if err := r.Read(&b, most); err == io.EOF {
						break
					} else if err != nil {
						t.Fatal(err)
					}
					if b.D != n || b.F32 != nil || len(b.F64) != b.N*n || b.First != int64(at) {
						t.Fatalf("%s: a block of %d columns, %d values, from row %d", name, b.D, len(b.F64), b.First)
					}
					for i := range b.N {
						for a := range n {
							want := 0.0
							for j, m := range mean {
								want += axes[a][j] * (raw[(at+i)*3+j] - m)
							}
							if math.Abs(b.At(i, a)-want) > 1e-14 || b.Weight(i) != float64((at+i)%5) {
								t.Fatalf("%s: row %d has %v on axis %d and weight %v, not %v", name, at+i, b.At(i, a), a, b.Weight(i), want)
							}
						}
					}
					at += b.N
				}
				if r.Close(); at != 1000 {
					t.Errorf("%s: %d rows", name, at)
				}
			}
		}
	}
}

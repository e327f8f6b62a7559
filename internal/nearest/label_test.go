package nearest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kern"
)

// Labels of fixed centres are those of the loop, ties, panels that are not full and several calls of the kernel included.
func TestLabelsAreThoseOfTheLoop(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, c := range []struct {
			n, d, k int
			offset  float64
		}{{1, 1, 1, 0}, {31, 2, 3, 0}, {33, 5, 1, 10}, {3000, 16, 64, 0}, {1000, 3, 40, 1e6}, {700, 40, 130, -5}, {70, 300, 700, 0}} {
			table := &data.Table{N: c.n, D: c.d, F64: make([]float64, c.n*c.d)}
			single := &data.Table{N: c.n, D: c.d, F32: make([]float32, c.n*c.d)}
			origin, theta := make([]float64, c.d), make([]float64, c.k*c.d)
			for j := range origin {
				origin[j] = c.offset + float64(rng.IntN(3))
			}
			for i := range theta {
				theta[i] = rng.NormFloat64()
			}
			copy(theta[(c.k-1)*c.d:], theta[:c.d]) // a tie of the last with the first
			for i := range table.F64 {
				table.F64[i] = origin[i%c.d] + rng.NormFloat64()
				if i/c.d%5 == 0 { // half-way between two centres, but for rounding
					a, b := i/c.d%c.k, i/c.d*7%c.k
					table.F64[i] = origin[i%c.d] + (theta[a*c.d+i%c.d]+theta[b*c.d+i%c.d])/2
				}
				single.F32[i] = float32(table.F64[i])
			}
			centres := NewCentres(theta, origin, c.k, c.d)
			if (centres == nil) != (kern.Current() == kern.Go) {
				t.Fatalf("%+v: centres are %v", c, centres)
			}
			if centres == nil {
				continue
			}
			l := centres.Labeller()
			for _, rows := range []*data.Table{table, single} {
				want, _, _, _ := loop(rows, origin, theta, c.k)
				got := make([]int32, c.n)
				if b := (&data.Block{N: c.n, D: c.d, F64: rows.F64, F32: rows.F32}); !l.Label(got, b) || !slices.Equal(got, want) {
					t.Fatalf("%+v: labels %v, want %v", c, got, want)
				} else if n := testing.AllocsPerRun(2, func() { l.Label(got, b) }); n != 0 {
					t.Errorf("%+v: %v allocations", c, n)
				}
				clear(got)
				dist := make([]float64, c.n)
				if !l.LabelAndMeasure(got, dist, &data.Block{N: c.n, D: c.d, F64: rows.F64, F32: rows.F32}) || !slices.Equal(got, want) {
					t.Fatalf("%+v: labels %v, want %v", c, got, want)
				}
				for i, label := range want {
					square := 0.0
					for j := range c.d {
						e := (rows.At(i, j) - origin[j]) - theta[int(label)*c.d+j]
						square += float64(e * e)
					}
					if dist[i] != square {
						t.Fatalf("%+v: row %d at the distance %v, want %v", c, i+1, dist[i], square)
					}
				}
			}
		}
	})
}

// What float32 cannot decide is refused, and the next block is labelled as if nothing had been.
func TestLabelsAreRefusedWhereSquaresAreOutOfRange(t *testing.T) {
	if kern.Current() == kern.Go {
		defer kern.Use(kern.Levels()[len(kern.Levels())-1])()
	}
	if kern.Current() == kern.Go {
		return // a machine without vectors has no centres
	}
	theta := []float64{0, 0, 1, 1}
	l := NewCentres(theta, make([]float64, 2), 2, 2).Labeller()
	got := make([]int32, 3)
	for _, odd := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 2e15, -1e300} {
		if l.Label(got, &data.Block{N: 3, D: 2, F64: []float64{0, 0, 1, odd, 1, 1}}) {
			t.Errorf("%v: labelled %v", odd, got)
		}
		if !l.Label(got, &data.Block{N: 3, D: 2, F64: []float64{0, 0.25, 0.75, 1, 1, 1}}) || !slices.Equal(got, []int32{0, 1, 1}) {
			t.Errorf("after %v: labelled %v", odd, got)
		}
	}
	if NewCentres([]float64{0, 1e16}, []float64{0}, 2, 1) != nil {
		t.Error("centres beyond the range of float32's squares")
	}
	near := NewCentres([]float64{0, 1e-200}, []float64{0}, 2, 1).Labeller()
	if near.Label(got[:1], &data.Block{N: 1, D: 1, F64: []float64{1e-200}}) {
		t.Error("squares that underflow decided")
	}
}

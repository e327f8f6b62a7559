package nearest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// Distances that a sweep tells are those of a plain loop, up to what scores in float32, words and bytes are good for, and one centre and centres far from
// the rows are not told of.
func TestSweepsTellOfDistances(t *testing.T) {
	for _, c := range []struct {
		d, k int
		off  float64 // at most, of the product of the lengths of row and centre
	}{{3, 5, 1e-5}, {64, 40, 1e-3}, {64, 200, 3e-2}} {
		t.Run(fmt.Sprintf("d=%d,k=%d", c.d, c.k), func(t *testing.T) {
			levels(t, func(t *testing.T) { tells(t, c.d, c.k, c.off) })
		})
	}
}

func levels(t *testing.T, f func(t *testing.T)) {
	for _, l := range kern.Levels() {
		t.Run(l.String(), func(t *testing.T) {
			defer kern.Use(l)()
			f(t)
		})
	}
}

func tells(t *testing.T, d, k int, off float64) {
	const n = 1010
	rng := rand.New(rand.NewPCG(4, uint64(d)))
	x, theta := &data.Table{N: n, D: d, F32: make([]float32, n*d)}, make([]float64, k*d)
	for i := range x.F32 {
		x.F32[i] = float32(rng.NormFloat64())
	}
	for i := range theta {
		theta[i] = rng.NormFloat64()
	}
	e, st := New(x, make([]float64, d), 2), new(State)
	near := &Near{First: make([]float32, n), Second: make([]float32, n)}
	tell := func(theta []float64, k int) bool {
		near.Known = true
		task := []Task{{State: st, Theta: theta, K: k, Stats: family.NewStats(k, d, k*d, 0), Near: near}}
		if err := e.Sweep(t.Context(), task); err != nil || !task[0].Done {
			t.Fatal(err, task[0].Done)
		}
		return near.Known
	}
	for sweep := range 3 { // the second and the third with bounds that stand
		theta[sweep] += 0.01
		if !tell(theta, k) {
			t.Fatal("nothing is told")
		}
		for i := range n {
			first, second, label, longest := math.Inf(1), math.Inf(1), 0, 0.0
			row := 0.0
			for j := range d {
				row += x.At(i, j) * x.At(i, j)
			}
			for c := range k {
				q, size := 0.0, 0.0
				for j, m := range theta[c*d : c*d+d] {
					q += (x.At(i, j) - m) * (x.At(i, j) - m)
					size += m * m
				}
				if longest = max(longest, size); q < first {
					first, second, label = q, first, c
				} else if q < second {
					second = q
				}
			}
			room := off*math.Sqrt(row*longest) + 1e-5*row
			if int(st.Label(i)) != label || math.Abs(float64(near.First[i])-first) > room || math.Abs(float64(near.Second[i])-second) > room {
				t.Fatalf("sweep %d, row %d: label %d at %v, next %v; want %d at %v, %v", sweep, i, st.Label(i), near.First[i], near.Second[i], label, first, second)
			}
		}
	}
	for i := range theta {
		theta[i] += 100
	}
	if tell(theta, k) {
		t.Error("centres far from the rows are told of")
	}
	if tell(theta, 1) {
		t.Error("one centre is told of")
	}
}

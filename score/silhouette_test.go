package score_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/score"
)

// cloud returns n rows of d columns and labels of k clusters, some of them small.
func cloud(n, d, k int) *score.Partition {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	p := &score.Partition{N: n, D: d, Labels: make([]int, n)}
	for i := range n {
		l := min(rng.IntN(k), rng.IntN(k))
		p.Labels[i] = l
		for range d {
			p.X = append(p.X, rng.NormFloat64()+float64(l))
		}
	}
	return p
}

// Clusters of more than a panel, and several in one.
func TestSilhouettesOfPanelsAreThoseOfTheBook(t *testing.T) {
	for _, l := range kern.Levels() {
		restore := kern.Use(l)
		for _, size := range [][3]int{{97, 1, 2}, {150, 2, 40}, {200, 5, 3}, {64, 19, 60}} {
			p := cloud(size[0], size[1], size[2])
			var rows [][]float64
			for i := range p.N {
				rows = append(rows, p.X[i*p.D:(i+1)*p.D])
			}
			got := make([]float64, p.N)
			if _, err := p.Silhouette(context.Background(), got); err != nil {
				t.Fatal(err)
			}
			for i, s := range got {
				if want := naive(rows, p.Labels, i); !(math.Abs(s-want) <= 1e-12) {
					t.Errorf("%v, %v: row %d is %v, by the book %v", l, size, i, s, want)
				}
			}
		}
		restore()
	}
}

// Places of the last panel that no row has must not hold zeros: squares of their distances would overflow.
func TestSilhouetteBesideAHugeConstant(t *testing.T) {
	p := &score.Partition{N: 5, D: 2, X: []float64{1e300, 0, 1e300, 1, 1e300, 0, 1e300, 28, 1e300, 28}, Labels: []int{0, 0, 0, 1, 1}}
	plain := &score.Partition{N: 5, D: 1, X: []float64{0, 1, 0, 28, 28}, Labels: p.Labels}
	got, err := p.Silhouette(context.Background(), nil)
	want, err2 := plain.Silhouette(context.Background(), nil)
	if err != nil || err2 != nil || !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("%v (%v), want %v (%v)", got, err, want, err2)
	}
}

func BenchmarkSilhouette(b *testing.B) {
	for _, size := range [][3]int{{20_000, 2, 5}, {10_000, 16, 10}, {5000, 64, 8}} {
		p := cloud(size[0], size[1], size[2])
		p.Threads = 2
		b.Run(fmt.Sprintf("n=%d,d=%d,k=%d", size[0], size[1], size[2]), func(b *testing.B) {
			for b.Loop() {
				if _, err := p.Silhouette(context.Background(), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

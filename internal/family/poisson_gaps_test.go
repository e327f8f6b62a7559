package family_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// The fused kernel of counts with gaps against sums of log x! and of logarithms, cell by cell.
func TestFusedCountsWithGaps(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(61, 0))
		for _, size := range [][2]int{{1, 1}, {2, 2}, {3, 9}, {4, 8}, {9, 17}, {33, 2}} {
			d, k := size[0], size[1]
			t.Run(fmt.Sprintf("d=%d,k=%d", d, k), func(t *testing.T) { fusedCounts(t, rng, d, k) })
		}
	})
}

func fusedCounts(t *testing.T, rng *rand.Rand, d, k int) {
	f := family.Poisson{}.WithGaps(family.NewGaps(d))
	theta, logw := make([]float64, k*d), make([]float64, k)
	for i := range theta {
		theta[i] = 2 * rng.NormFloat64()
	}
	for c := range logw {
		logw[c] = -3 * rng.Float64()
	}
	var all []*family.Panel
	for i := range 3 {
		p := &family.Panel{N: kern.Rows - 5*(i/2), D: d, X: make([]float64, d*kern.Rows), W: make([]float64, kern.Rows)}
		for at := range p.X {
			if r := at % kern.Rows; r < p.N {
				p.X[at], p.W[r] = float64(rng.IntN(9)), float64(rng.IntN(3))
			}
		}
		if i == 1 {
			p.X[4] = 1 << 20
		}
		all = append(all, p)
	}
	puncture(rng, all)
	fused, gathered, ws := f.Bind(theta, k, d).(family.Fusable).Fuse(logw), new(family.Gathered), family.NewWorkspace(d)
	got, want := family.NewStats(k, d, f.Sums(k, d), 0), family.NewStats(k, d, f.Sums(k, d), 0)
	for _, p := range all {
		q := make([]float64, kern.Pad(k)*kern.Rows)
		fused.Logits(q, p, gathered, ws)
		for c := range k {
			for i := range p.N {
				score, size, base := logw[c], 1.0, 0.0
				r := 0.1 + rng.Float64()
				for j := range d {
					if x := p.X[j*kern.Rows+i]; x == x {
						fact, _ := math.Lgamma(x + 1)
						score += x*theta[c*d+j] - math.Exp(theta[c*d+j]) - fact
						size += x*math.Abs(theta[c*d+j]) + math.Exp(theta[c*d+j]) + fact
						base -= fact
						want.Sum[c*d+j] += r * p.W[i] * x
						want.Sum[(k+c)*d+j] += r * p.W[i]
					}
				}
				want.N[c] += r * p.W[i]
				want.Sum[len(want.Sum)-1] += r * p.W[i] * base
				if v := q[c*kern.Rows+i]; !(math.Abs(v-score) <= 1e-12*size) {
					t.Fatalf("score %v, want %v", v, score)
				}
				q[c*kern.Rows+i] = r
			}
		}
		fused.Gather(got, p, q, p.W, gathered, ws)
	}
	fused.Flush(got, gathered)
	for i, v := range append(want.Sum, want.N...) {
		if u := append(got.Sum, got.N...)[i]; !(math.Abs(u-v) <= 1e-12*(1+math.Abs(v))) {
			t.Fatalf("sum %d is %v, want %v", i, u, v)
		}
	}
}

package family_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// levels returns d columns of 1 to 5 levels.
func levels(d int) (l []int) {
	for j := range d {
		l = append(l, 1+j*7%5)
	}
	return l
}

// codePanel draws a panel of codes below levels, some rows without weight; if odd is set these hold what is no code.
func codePanel(rng *rand.Rand, levels []int, odd bool) *family.Panel {
	d := len(levels)
	p := &family.Panel{N: kern.Rows - rng.IntN(9), D: d, X: make([]float64, d*kern.Rows), W: make([]float64, kern.Rows)}
	for i := range p.N {
		p.W[i] = float64(rng.IntN(4)) / 2
		for j, l := range levels {
			p.X[j*kern.Rows+i] = float64(rng.IntN(l))
			if odd && p.W[i] == 0 && rng.IntN(3) == 0 {
				p.X[j*kern.Rows+i] = []float64{0.5, -3, 1e10}[rng.IntN(3)]
			}
		}
	}
	return p
}

func random01(rng *rand.Rand, n int) []float64 {
	p := make([]float64, n)
	for i := range p {
		p[i] = rng.Float64()
	}
	return p
}

// binaries calls f with both families that read bits, at parameters all over the place, the floors included.
func binaries(t *testing.T, d, k int, rng *rand.Rand, f func(t *testing.T, fam family.Binary, levels []int, theta []float64)) {
	theta := make([]float64, k*d)
	for i, v := range random01(rng, k*d) {
		theta[i] = []float64{8 * (v - 0.5), 27.6, -27.6}[max(0, rng.IntN(9)-6)]
	}
	two := make([]int, d)
	for j := range two {
		two[j] = 2
	}
	name := fmt.Sprintf("d=%d,k=%d", d, k)
	t.Run("bernoulli,"+name, func(t *testing.T) { f(t, family.Bernoulli{}, two, theta) })
	c := family.Categorical{Levels: levels(d)}
	theta = make([]float64, c.Params(k, d))
	c.FromNatural(theta, random01(rng, len(theta)), k)
	t.Run("categorical,"+name, func(t *testing.T) { f(t, c, c.Levels, theta) })
}

// The kernel is the definition: a log probability by plain loops over float64, and the sums of its Add. Panels bring their
// numbers, or their bits and numbers that must not be looked at.
func TestFusedBitsGiveTheKernelsSums(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(71, 0))
		for _, size := range [][2]int{{1, 1}, {1, 5}, {3, 2}, {4, 4}, {9, 17}, {17, 4}, {33, 3}, {70, 8}} {
			d, k := size[0], size[1]
			binaries(t, d, k, rng, func(t *testing.T, fam family.Binary, levels []int, theta []float64) {
				if fam.Bits(d) == 0 {
					if kern.Current() != kern.Go || d > 9 {
						t.Fatal("these are to be read as bits")
					}
					return
				}
				logw := make([]float64, k)
				for c := range logw {
					logw[c] = -3 * rng.Float64()
				}
				kernel, ws, gathered := fam.Bind(theta, k, d), family.NewWorkspace(d), new(family.Gathered)
				fused := kernel.(family.Fusable).Fuse(logw)
				want, got := family.NewStats(k, d, fam.Sums(k, d), 0), family.NewStats(k, d, fam.Sums(k, d), 0)
				score, r := make([]float64, k*kern.Rows), make([]float64, k*kern.Rows)
				logits, factor := make([]float64, kern.Pad(k)*kern.Rows), make([]float64, kern.Rows)
				for n := range 5 {
					p := codePanel(rng, levels, n == 2)
					kernel.Score(score, p, ws)
					q := *p
					if n > 2 {
						q.Bits = make([]uint32, kern.BitWords(fam.Bits(d)))
						if !fam.PackBits(q.Bits, p.X, d) {
							t.Fatal("the panel has other cells than bits")
						}
						q.X = nil
					}
					fused.Logits(logits, &q, gathered, ws)
					for i := range score {
						if v := score[i] + logw[i/kern.Rows]; !(math.Abs(logits[i]-v) <= 1e-12*(1+math.Abs(v))) {
							t.Fatalf("panel %d: logit %d is %v, want %v", n, i, logits[i], v)
						}
					}
					for i := range kern.Rows {
						factor[i] = p.W[i] / 2
						for c := range k {
							logits[c*kern.Rows+i] = rng.Float64()
							r[c*kern.Rows+i] = logits[c*kern.Rows+i] * factor[i]
						}
					}
					kernel.Add(want, p, r, ws)
					fused.Gather(got, &q, logits, factor, gathered, ws)
				}
				fused.Flush(got, gathered)
				fused.Flush(got, gathered) // nothing is left
				for c, v := range want.N {
					if !(math.Abs(got.N[c]-v) <= 1e-12*v) {
						t.Fatalf("weight %v, want %v", got.N[c], v)
					}
				}
				for i, v := range want.Sum {
					if !(math.Abs(got.Sum[i]-v) <= 1e-12*want.N[i*k/len(want.Sum)]) {
						t.Fatalf("sum %d is %v, want %v", i, got.Sum[i], v)
					}
				}
			})
		}
	})
}

func TestFusedBitsAllocateNothing(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		const k, d = 5, 37
		binaries(t, d, k, rand.New(rand.NewPCG(72, 0)), func(t *testing.T, fam family.Binary, levels []int, theta []float64) {
			fused := fam.Bind(theta, k, d).(family.Fusable).Fuse(make([]float64, k))
			p, ws := codePanel(rand.New(rand.NewPCG(73, 0)), levels, false), family.NewWorkspace(d)
			s, gathered := family.NewStats(k, d, fam.Sums(k, d), 0), new(family.Gathered)
			q, factor := make([]float64, kern.Pad(k)*kern.Rows), make([]float64, kern.Rows)
			if n := testing.AllocsPerRun(10, func() {
				fused.Logits(q, p, gathered, ws)
				fused.Gather(s, p, q, factor, gathered, ws)
				fused.Flush(s, gathered)
			}); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	})
}

func TestManyLevelsAreNotReadAsBits(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, c := range []struct {
			levels []int
			bits   int
		}{{[]int{2, 3, 4, 2, 3, 4}, 18}, {[]int{1000, 2}, 0}} {
			f, d := family.Categorical{Levels: c.levels}, len(c.levels)
			if n := f.Bits(d); n != c.bits {
				t.Errorf("levels %v: %d bits, want %d", c.levels, n, c.bits)
			}
			fused := f.Bind(make([]float64, f.Params(1, d)), 1, d).(family.Fusable).Fuse([]float64{0})
			if (fused == nil) != (c.bits == 0) {
				t.Errorf("levels %v: fused form %v", c.levels, fused)
			}
		}
	})
}

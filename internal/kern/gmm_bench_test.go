package kern

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// rate reports GFLOP/s of flops an iteration.
func rate(b *testing.B, flops float64) {
	b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

func benchLevels(b *testing.B, name string, f func(b *testing.B)) {
	for _, l := range Levels() {
		b.Run(name+"/"+l.String(), func(b *testing.B) {
			defer Use(l)()
			f(b)
		})
	}
}

func BenchmarkPeak(b *testing.B) {
	benchLevels(b, "fma", func(b *testing.B) {
		for b.Loop() {
			b.ReportMetric(PeakFlops(false)/1e9, "GFLOP/s")
		}
	})
}

func BenchmarkMixture(b *testing.B) {
	rng := rand.New(rand.NewPCG(37, 0))
	for _, size := range []struct{ d, k int }{{3, 40}, {16, 16}, {64, 8}} {
		d, k := size.d, size.k
		f := 1 + d + d*(d+1)/2
		x, _ := random(rng, d*Rows)
		t, bias := make([]float64, f*Rows), make([]float64, k)
		s, r := make([]float64, Pad(k)*Rows), make([]float64, Pad(k)*Rows)
		sum, row := make([]float64, f*Pad(k)), make([]float64, 4*Rows)
		src := clone(x)
		name := fmt.Sprintf("d=%d,k=%d", d, k)
		benchLevels(b, "pack/"+name, func(b *testing.B) {
			for b.Loop() {
				Pack(x, src, src[:d], Rows, d)
			}
		})
		benchLevels(b, "products/"+name, func(b *testing.B) {
			for b.Loop() {
				Products(t, x, 0, d)
			}
		})
		benchLevels(b, "whitened/"+name, func(b *testing.B) {
			tiles, mean := make([]float64, k*LowerTiles(d)), make([]float64, k*d)
			for b.Loop() {
				Whitened(s, x, mean, tiles, bias, d, k)
			}
			rate(b, float64(2*f*k*Rows))
		})
		b.Run("whiten/"+name+"/go", func(b *testing.B) { // what plain Go does instead
			defer Use(Go)()
			w, mean, y, z := make([]float64, d*(d+1)/2), make([]float64, d), make([]float64, d*Rows), make([]float64, d*Rows)
			for b.Loop() {
				for c := range k {
					Centre(y, x, mean)
					Whiten(z, y, w, d)
					Norms(s[c*Rows:(c+1)*Rows], z, d)
				}
			}
		})
		benchLevels(b, "ellipses/"+name, func(b *testing.B) {
			mean := make([]float64, k*d)
			for b.Loop() {
				Ellipses(s, x, mean, mean, bias, d, k)
			}
			rate(b, float64(4*d*k*Rows))
		})
		benchLevels(b, "masked/"+name, func(b *testing.B) {
			mean := make([]float64, k*d)
			for b.Loop() {
				MaskedEllipses(s, x, x, mean, mean, mean, bias, d, k)
			}
			rate(b, float64(6*d*k*Rows))
		})
		benchLevels(b, "spheres/"+name, func(b *testing.B) {
			mean := make([]float64, k*d)
			for b.Loop() {
				Spheres(s, x, mean, bias, bias, d, k)
			}
			rate(b, float64(2*d*k*Rows))
		})
		benchLevels(b, "soften/"+name, func(b *testing.B) {
			scores := clone(s)
			for i := range scores {
				scores[i] = -1000 * rng.Float64() * rng.Float64()
			}
			for b.Loop() {
				copy(s, scores)
				Soften(s, row, row[Rows:], row[2*Rows:], k, 1)
			}
		})
		benchLevels(b, "logsumexp/"+name, func(b *testing.B) {
			for b.Loop() {
				LogSumExp(row[:Rows], s, k)
			}
		})
		benchLevels(b, "share/"+name, func(b *testing.B) {
			for b.Loop() {
				Share(r, s, row[2*Rows:], k)
			}
		})
		benchLevels(b, "accumulate/"+name, func(b *testing.B) {
			for b.Loop() {
				Accumulate(sum, t, r, f, k)
			}
			rate(b, float64(2*f*k*Rows))
		})
	}
}

func BenchmarkSecond(b *testing.B) {
	const d = 399
	rng := rand.New(rand.NewPCG(44, 0))
	x, _ := random(rng, Pad(d)*Rows)
	s, tmp := make([]float64, d*(d+1)/2), make([]float64, SecondScratch(d))
	benchLevels(b, fmt.Sprintf("d=%d", d), func(b *testing.B) {
		for b.Loop() {
			SecondMoments(s, x, x[:Rows], tmp, d)
		}
		rate(b, float64(d*(d+1)*Rows))
	})
}

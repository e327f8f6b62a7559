package kern

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func BenchmarkNearest(b *testing.B) {
	rng := rand.New(rand.NewPCG(51, 0))
	for _, size := range []struct{ d, k int }{{16, 24}, {64, 192}} {
		d, k := size.d, size.k
		name := fmt.Sprintf("d=%d,k=%d", d, k)
		x, _ := random(rng, d*Rows)
		centres, _ := random(rng, k*d)
		dist, least, label := make([]float64, k*Rows), make([]float64, Rows), make([]int64, Rows)
		benchLevels(b, "dense/"+name, func(b *testing.B) {
			w := TileWidth()
			tiles := (k + w - 1) / w
			c, x, norm := make([]float32, tiles*(d+2)*w), make([]float32, d*Rows), make([]float32, Rows)
			for i := range c {
				c[i] = rng.Float32()
			}
			for i := range x {
				x[i] = rng.Float32()
			}
			var coef [3]float32
			state, label, got, flags := make([]DenseState, 1), make([]int32, Rows), make([]int32, Rows), make([]uint32, 2)
			for b.Loop() {
				Dense(x, c, norm, &coef, state, label, got, flags, d, w, tiles, 1, false)
			}
		})
		for _, words := range []bool{false, true} {
			benchLevels(b, map[bool]string{false: "integers/", true: "words/"}[words]+name, func(b *testing.B) {
				const w = 12
				groups, tiles := d/4, k/w
				if words {
					groups = d / 2
				}
				x, row, c, meta := make([]uint8, groups*4*Rows), make([]float32, 4*Rows), make([]int8, tiles*w*4*(groups+2)), make([]float32, 4*tiles)
				for i := range x {
					x[i] = uint8(rng.IntN(MostByte() + 1))
				}
				for i := range c {
					c[i] = int8(rng.IntN(40))
				}
				for i := range Rows {
					row[i] = 1
				}
				for i := range tiles {
					meta[4*i] = 1
				}
				scores, list := make([]float32, k*Rows), make([]Survivor, k+1)
				for b.Loop() {
					var upper [Rows]float32
					for i := range upper {
						upper[i] = math.MaxFloat32
					}
					Integers(x, row, c, meta, scores, &upper, words, groups, w, tiles)
					Survivors(list, row, meta, scores, &upper, w, tiles)
				}
			})
		}
		benchLevels(b, "exact/"+name, func(b *testing.B) {
			for b.Loop() {
				SqdistAll(dist, x, centres, k, d)
				Argmin(least, label, dist, k)
			}
		})
		benchLevels(b, "l1/"+name, func(b *testing.B) {
			for b.Loop() {
				L1Nearest(least, label, x, centres, k, d)
			}
		})
	}
}

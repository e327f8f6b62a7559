package kern

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// BenchmarkLanes tells the time of one row, or of one call where there are no rows.
func BenchmarkLanes(b *testing.B) {
	rng := rand.New(rand.NewPCG(57, 0))
	for _, size := range []struct{ d, k int }{{4, 8}, {16, 8}, {60, 8}, {16, 32}} {
		d, kp := size.d, Pad(size.k)
		x, _ := random(rng, d)
		x[d/2] = math.NaN()
		y, _ := random(rng, Rows*d*kp)
		q, _ := random(rng, Rows*kp)
		mean, _ := random(rng, d*kp)
		m, _ := random(rng, d*d*kp)
		v, dst, sum := make([]float64, d*kp), make([]float64, Rows*kp), make([]float64, (1+d+d*(d+1)/2)*kp)
		rows := []int32{int32(d / 4), int32(d / 2), int32(d - 1)}
		name := fmt.Sprintf("d=%d,k=%d", d, size.k)
		benchLevels(b, "deviations/"+name, func(b *testing.B) {
			for b.Loop() {
				LaneDeviations(v, x, mean, d, kp)
			}
		})
		benchLevels(b, "product/"+name, func(b *testing.B) {
			for b.Loop() {
				LaneProduct(dst, m, v, rows, d, kp)
			}
		})
		benchLevels(b, "scatter/"+name, func(b *testing.B) {
			for b.Loop() {
				LaneScatter(sum, v, q, rows, kp)
			}
		})
		for _, n := range []int{1, 3, Rows} {
			perRow := func(b *testing.B) {
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
			}
			rows := fmt.Sprintf("%s,n=%d", name, n)
			benchLevels(b, "norms/"+rows, func(b *testing.B) {
				for b.Loop() {
					LaneNorms(dst, y, m, n, d, kp)
				}
				perRow(b)
			})
			benchLevels(b, "moments/"+rows, func(b *testing.B) {
				for b.Loop() {
					LaneMoments(sum, y, q, n, d, kp)
				}
				perRow(b)
			})
		}
	}
}

// BenchmarkLaneInverse inverts matrices of diagonal 1, over and over: what they are does not matter, as long as it stays finite.
func BenchmarkLaneInverse(b *testing.B) {
	for _, size := range []struct{ n, k int }{{1, 8}, {2, 8}, {3, 8}, {4, 8}, {5, 8}, {6, 8}, {7, 8}, {8, 8}, {12, 8}, {16, 8}, {30, 8}, {60, 8}, {3, 32}, {8, 32}} {
		n, kp := size.n, Pad(size.k)
		v, pivot := make([]float64, n*n*kp), make([]float64, n*kp)
		for i := range n {
			for c := range kp {
				v[i*(n+1)*kp+c] = 1
			}
		}
		benchLevels(b, fmt.Sprintf("n=%d,k=%d", n, size.k), func(b *testing.B) {
			for b.Loop() {
				LaneInverse(v, pivot, n, kp, 0x1p-52)
			}
		})
	}
}

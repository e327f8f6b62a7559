package nearest

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A kind of rows with centres for them, full of what a fast pass could get wrong.
var kinds = []struct {
	name string
	make func(rng *rand.Rand, n, d, k int) (x, theta []float64)
}{
	{"integers, most of them tied", func(rng *rand.Rand, n, d, k int) (x, theta []float64) {
		for range n * d {
			x = append(x, float64(rng.IntN(3)))
		}
		for range k * d {
			theta = append(theta, float64(rng.IntN(3)))
		}
		return x, theta
	}},
	{"rows midway between centres, or nearly", func(rng *rand.Rand, n, d, k int) (x, theta []float64) {
		for range k * d {
			theta = append(theta, rng.NormFloat64())
		}
		for range n {
			a, b := rng.IntN(k), rng.IntN(k)
			nudge := []float64{0, 0x1p-52, 0x1p-40, 0x1p-25, 1e-3}[rng.IntN(5)] * rng.NormFloat64()
			for j := range d {
				x = append(x, (theta[a*d+j]+theta[b*d+j])/2+nudge)
			}
		}
		return x, theta
	}},
	{"rows nearly midway, far from the origin", func(rng *rand.Rand, n, d, k int) (x, theta []float64) {
		for range k * d {
			theta = append(theta, 5000+rng.NormFloat64())
		}
		for range n {
			a, b := rng.IntN(k), rng.IntN(k)
			for j := range d {
				x = append(x, (theta[a*d+j]+theta[b*d+j])/2+1e-4*rng.NormFloat64())
			}
		}
		return x, theta
	}},
	{"equal rows and equal centres", func(rng *rand.Rand, n, d, k int) (x, theta []float64) {
		for i := range n * d {
			x = append(x, float64(i/d%3)+0.1*float64(i%d))
		}
		for c := range k {
			for j := range d {
				theta = append(theta, float64(c/2%3)+0.1*float64(j))
			}
		}
		return x, theta
	}},
	{"blobs", func(rng *rand.Rand, n, d, k int) (x, theta []float64) {
		for range k * d {
			theta = append(theta, 2*rng.NormFloat64())
		}
		for range n {
			c := rng.IntN(k)
			for j := range d {
				x = append(x, theta[c*d+j]+rng.NormFloat64())
			}
		}
		return x, theta
	}},
	{"heavy tails, a centre far away", func(rng *rand.Rand, n, d, k int) (x, theta []float64) {
		for range n * d {
			x = append(x, math.Tan(math.Pi*(rng.Float64()-0.5)))
		}
		for range k * d {
			theta = append(theta, math.Tan(math.Pi*(rng.Float64()-0.5)))
		}
		theta[0] = 1e9
		return x, theta
	}},
	// Scores are equal but for what the integers of a row leave out, and what is left points the other way.
	{"residuals that bytes cannot see", func(rng *rand.Rand, n, d, k int) (x, theta []float64) { return unseen(rng, n, d, k, 127) }},
	{"residuals that words cannot see", func(rng *rand.Rand, n, d, k int) (x, theta []float64) {
		return unseen(rng, n, d, k, math.Sqrt((1<<31-1)/float64(d)))
	}},
	{"rows far from both centres and nearly midway", func(rng *rand.Rand, n, d, k int) (x, theta []float64) { return remote(rng, n, d, k, 1e3) }},
	{"rows so far that float64 cannot tell", func(rng *rand.Rand, n, d, k int) (x, theta []float64) { return remote(rng, n, d, k, 1e12) }},
	{"tight clusters far apart", func(rng *rand.Rand, n, d, k int) (x, theta []float64) {
		for range k * d {
			theta = append(theta, 1e3*rng.NormFloat64())
		}
		for range n {
			c := rng.IntN(k)
			for j := range d {
				x = append(x, theta[c*d+j]+1e-4*rng.NormFloat64())
			}
		}
		return x, theta
	}},
}

func kind(name string) func(rng *rand.Rand, n, d, k int) (x, theta []float64) {
	for _, c := range kinds {
		if c.name == name {
			return c.make
		}
	}
	panic(name)
}

// unseen returns two centres, +-(t, C, ..., C), others as long in pairs +-, and rows (L, -r, ..., -r) with r less than half a
// step of so many to L: in steps a row is (L, 0, ..., 0) and nearest to the first, but for what is left of it to the second.
func unseen(rng *rand.Rand, n, d, k int, steps float64) (x, theta []float64) {
	const c = 4.0
	for i := 0; len(theta) < k*d; i += 2 {
		v := make([]float64, d)
		for j := range v {
			if v[j] = c; i > 0 && rng.IntN(2) == 0 {
				v[j] = -c
			}
		}
		if v[0] = 0; i == 0 {
			v[0] = c / steps
		}
		theta = append(theta, v...)
		for j := range v {
			v[j] = -v[j]
		}
		theta = append(theta, v...)
	}
	for range n {
		l := 1 + rng.Float64()
		if rng.IntN(2) == 0 {
			l = -l
		}
		x = append(x, l)
		for range d - 1 {
			x = append(x, -l/steps*(0.3+0.19*rng.Float64()))
		}
	}
	return x, theta[:k*d]
}

// remote returns two centres and copies of them, and rows at a distance that differ in their distances from the two by about
// the rounding of float32 or of float64.
func remote(rng *rand.Rand, n, d, k int, distance float64) (x, theta []float64) {
	for range min(k, 2) * d {
		theta = append(theta, rng.NormFloat64())
	}
	for len(theta) < k*d {
		theta = append(theta, theta[len(theta)-2*d])
	}
	if k == 1 {
		return slices.Repeat([]float64{distance}, n*d), theta
	}
	far := make([]float64, d)
	for i := range n {
		v, along, length := make([]float64, d), 0.0, 1e-300
		for j := range v {
			if far[j] = -far[j]; i%2 == 0 { // in pairs, so that their mean is near the centres
				far[j] = distance * rng.NormFloat64()
			}
			v[j] = far[j]
			along += v[j] * (theta[j] - theta[d+j])
			length += (theta[j] - theta[d+j]) * (theta[j] - theta[d+j])
		}
		nudge := []float64{0, 0x1p-24 * distance, 0x1p-28 * distance, 0x1p-53 * distance * distance}[rng.IntN(4)] * rng.NormFloat64()
		for j := range v {
			v[j] += (nudge-along/length)*(theta[j]-theta[d+j]) + (theta[j]+theta[d+j])/2
		}
		x = append(x, v...)
	}
	return x, theta
}

package kern

import (
	"encoding/binary"
	"math"
)

// Deviations sets z to x - origin - mu, subtracted in this order, and returns the sums of the squares of x - origin and of z, and the
// largest size of a number of z, NaN where one is. Sums are of every fourth number each, and those of two pairs. z may be x.
func Deviations[F float32 | float64](z []float64, x []F, origin, mu []float64) (before, after, top float64) {
	n := len(z)
	x, origin, mu = x[:n], origin[:n], mu[:n]
	var sums [12]float64 // before, after, and the bits of sizes, which compare as sizes do
	whole := n &^ 3
	if !fastDeviations(&sums, z[:whole], x[:whole], origin, mu) {
		whole = 0
	}
	for j := whole; j < n; j++ {
		lane := j & 3
		if j >= n&^3 {
			lane = 0
		}
		y := float64(x[j]) - origin[j]
		sums[lane] += float64(y * y)
		y -= mu[j]
		sums[4+lane] += float64(y * y)
		sums[8+lane] = larger(sums[8+lane], math.Abs(y))
		z[j] = y
	}
	return (sums[0] + sums[1]) + (sums[2] + sums[3]), (sums[4] + sums[5]) + (sums[6] + sums[7]), larger(larger(sums[8], sums[9]), larger(sums[10], sums[11]))
}

// larger returns the larger of two sizes; NaN is the largest.
func larger(a, b float64) float64 {
	return math.Float64frombits(max(math.Float64bits(a), math.Float64bits(b)))
}

// Quantise writes z in steps of s as integers for Integers: bytes, the byte of 0 being zero, or words. Those of group g are at q[g*4*Rows:]. It
// returns the sums of squares of what is missed and of the integers. Numbers must be at most 127 steps in bytes, 1<<15 - 1 in
// words. The last group must be 0 before where z does not fill it.
func Quantise(q []uint8, z []float64, s float64, words bool, zero int) (miss, kept float64) {
	var sums [8]float64
	inv, whole := 1/s, len(z)&^3
	if !fastQuantise(&sums, q, z[:whole], s, inv, words, zero) {
		whole = 0
	}
	for j := whole; j < len(z); j++ {
		lane := j & 3
		u := math.RoundToEven(z[j] * inv)
		t := z[j] - float64(s*u)
		sums[lane] += float64(t * t)
		sums[4+lane] += float64(u * u)
		if words {
			binary.LittleEndian.PutUint16(q[j>>1*4*Rows+j&1*2:], uint16(int(u)))
		} else {
			q[j>>2*4*Rows+j&3] = uint8(int(u) + zero)
		}
	}
	return (sums[0] + sums[1]) + (sums[2] + sums[3]), (sums[4] + sums[5]) + (sums[6] + sums[7])
}

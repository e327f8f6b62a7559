package rng

import "math"

// Uniforms returns the first n values in [0, 1) of Knuth's linear congruential generator from a seed, which any language repeats in three lines: for
// tables that others make too. They are no stream of the program.
func Uniforms(seed uint64, n int) []float64 {
	u := make([]float64, n)
	for i := range u {
		seed = seed*6364136223846793005 + 1442695040888963407
		u[i] = float64(seed>>11) / (1 << 53)
	}
	return u
}

// Normals returns n standard normal values that pairs of Uniforms make (Box and Muller 1958).
func Normals(seed uint64, n int) []float64 {
	u, z := Uniforms(seed, 2*n), make([]float64, n)
	for i := range z {
		z[i] = math.Sqrt(-2*math.Log(1-u[2*i])) * math.Cos(2*math.Pi*u[2*i+1])
	}
	return z
}

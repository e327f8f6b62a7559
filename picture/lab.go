package picture

import "math"

// The linear part of sRGB and its white D65 (IEC 61966-2-1, matrix to seven digits by B. Lindbloom). White is the sum of
// the columns, so that gray has a = b = 0.
var toXYZ = [3][3]float64{
	{0.4124564, 0.3575761, 0.1804375},
	{0.2126729, 0.7151522, 0.0721750},
	{0.0193339, 0.1191920, 0.9503041},
}

// Lab returns a colour as CIE 1976 L*a*b* for the white D65. rgb are sRGB values from 0 to 255; L is from 0 to 100, and a
// and b are within 128 of 0. Distances in it follow what eyes see better than those in RGB do.
func Lab(rgb [3]float64) [3]float64 {
	var f [3]float64
	linear := [3]float64{linearOf(rgb[0]), linearOf(rgb[1]), linearOf(rgb[2])}
	for i, row := range toXYZ {
		xyz, white := 0.0, 0.0
		for j, m := range row {
			xyz += m * linear[j]
			white += m
		}
		f[i] = lightness(xyz / white)
	}
	return [3]float64{116*f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])}
}

// linearOf undoes the transfer curve of sRGB: 0..255 to 0..1.
func linearOf(v float64) float64 {
	v /= 255
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

// lightness is the cube root of CIE 15, straight near 0.
func lightness(t float64) float64 {
	const epsilon, kappa = 216.0 / 24389, 24389.0 / 27
	if t > epsilon {
		return math.Cbrt(t)
	}
	return (kappa*t + 16) / 116
}

//go:build !purego

package kern

func fastDeviations[F float32 | float64](sums *[12]float64, z []float64, x []F, origin, mu []float64) bool {
	if level == Go || len(z) == 0 {
		return false
	}
	switch x := any(x).(type) {
	case []float32:
		deviations256f32(&sums[0], &z[0], &x[0], &origin[0], &mu[0], len(z))
	case []float64:
		deviations256f64(&sums[0], &z[0], &x[0], &origin[0], &mu[0], len(z))
	}
	return true
}

func fastQuantise(sums *[8]float64, q []uint8, z []float64, s, inv float64, words bool, zero int) bool {
	if level == Go || len(z) == 0 {
		return false
	}
	if words {
		_ = q[(len(z)/2-1)*4*Rows+3]
		quantiseWords256(&sums[0], &q[0], &z[0], s, inv, len(z))
		return true
	}
	_ = q[(len(z)/4-1)*4*Rows+3]
	quantiseBytes256(&sums[0], &q[0], &z[0], s, inv, len(z), zero)
	return true
}

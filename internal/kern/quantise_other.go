//go:build !amd64 || purego

package kern

func fastDeviations[F float32 | float64](_ *[12]float64, _ []float64, _ []F, _, _ []float64) bool {
	return false
}

func fastQuantise(_ *[8]float64, _ []uint8, _ []float64, _, _ float64, _ bool, _ int) bool {
	return false
}

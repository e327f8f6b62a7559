//go:build !amd64 || purego

package kern

func fastColumnSums[F float32 | float64](_ *Columns, _ []F, _ []float64) bool { return false }

func fastColumnSquares[F float32 | float64](_ []float64, _ []F, _ []float64) bool { return false }

func fastNarrow(_ []float32, _ *[Rows]float64, _, _ []float64) bool { return false }

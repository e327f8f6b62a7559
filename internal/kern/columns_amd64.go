//go:build !purego

package kern

// columnGroups calls f for groups of size columns, 8 or 4 of d. The last may take in some of the one before again: what is found of a column
// depends on no other.
func columnGroups(d int, f func(j, size int)) bool {
	size := 8
	if d < size {
		size = 4
	}
	if level == Go || d < size {
		return false
	}
	for j := 0; j < d; j += size {
		f(min(j, d-size), size)
	}
	return true
}

func fastColumnSums[F float32 | float64](sum, least, largest []float64, at []int64, x []F, from []float64) bool {
	d := len(sum)
	n := len(x) / d
	return columnGroups(d, func(j, size int) {
		switch x := any(x).(type) {
		case []float32:
			f := columnSums8f32
			if size == 4 {
				f = columnSums4f32
			}
			f(&sum[j], &least[j], &largest[j], &at[j], &from[j], &x[j], n, d)
		case []float64:
			f := columnSums8f64
			if size == 4 {
				f = columnSums4f64
			}
			f(&sum[j], &least[j], &largest[j], &at[j], &from[j], &x[j], n, d)
		}
	})
}

func fastColumnSquares[F float32 | float64](square []float64, x []F, mean []float64) bool {
	d := len(square)
	n := len(x) / d
	return columnGroups(d, func(j, size int) {
		switch x := any(x).(type) {
		case []float32:
			f := columnSquares8f32
			if size == 4 {
				f = columnSquares4f32
			}
			f(&square[j], &mean[j], &x[j], n, d)
		case []float64:
			f := columnSquares8f64
			if size == 4 {
				f = columnSquares4f64
			}
			f(&square[j], &mean[j], &x[j], n, d)
		}
	})
}

func fastNarrow(dst []float32, length *[Rows]float64, x, mu []float64) bool {
	if level == Go {
		return false
	}
	narrow256(&dst[0], &length[0], &x[0], &mu[0], len(mu))
	return true
}

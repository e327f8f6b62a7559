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

func fastColumnSums[F float32 | float64](c *Columns, x []F, from []float64) bool {
	d := len(from)
	n := len(x) / d
	_, _, _, _, _ = c.Sum[d-1], c.Least[d-1], c.Largest[d-1], c.At[d-1], c.Broken[d-1]
	return columnGroups(d, func(j, size int) {
		switch x := any(x).(type) {
		case []float32:
			f := columnSumsTwo256f32
			if size == 4 {
				f = columnSumsOne256f32
			}
			f(&c.Sum[j], &c.Least[j], &c.Largest[j], &c.At[j], &c.Broken[j], &from[j], &x[j], n, d)
		case []float64:
			f := columnSumsTwo256f64
			if size == 4 {
				f = columnSumsOne256f64
			}
			f(&c.Sum[j], &c.Least[j], &c.Largest[j], &c.At[j], &c.Broken[j], &from[j], &x[j], n, d)
		}
	})
}

func fastColumnSquares[F float32 | float64](square []float64, x []F, mean []float64) bool {
	d := len(square)
	n := len(x) / d
	return columnGroups(d, func(j, size int) {
		switch x := any(x).(type) {
		case []float32:
			f := columnSquaresTwo256f32
			if size == 4 {
				f = columnSquaresOne256f32
			}
			f(&square[j], &mean[j], &x[j], n, d)
		case []float64:
			f := columnSquaresTwo256f64
			if size == 4 {
				f = columnSquaresOne256f64
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

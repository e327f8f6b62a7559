package kern

import "math"

// Columns are what ColumnSums finds of each of d columns.
type Columns struct {
	Sum            []float64 // of the distances from a number
	Least, Largest []float64 // cells
	At             []int64   // the first row, from 0, with the least
	Broken         []int64   // 0 where all cells are whole numbers
}

// ColumnSums sums up every column of rows of len(from) cells, row-major: c.Sum[j] is that of x - from[j], one term after the other. Nothing else of
// a column means anything where that is not finite, as it is of no column with a cell that is not. No rows have the sum 0, the least +Inf
// and the largest -Inf.
func ColumnSums[F float32 | float64](c *Columns, x []F, from []float64) {
	d := len(from)
	if d > 0 && len(x) >= d && fastColumnSums(c, x, from) {
		return
	}
	for j, f := range from {
		sum, least, largest, at, broken := 0.0, math.Inf(1), math.Inf(-1), int64(0), int64(0)
		for i, row := j, int64(0); i < len(x); i, row = i+d, row+1 {
			v := float64(x[i])
			if v < least {
				least, at = v, row
			}
			if v > largest {
				largest = v
			}
			if v != math.Floor(v) {
				broken = -1
			}
			sum += v - f
		}
		c.Sum[j], c.Least[j], c.Largest[j], c.At[j], c.Broken[j] = sum, least, largest, at, broken
	}
}

// ColumnSquares sums up the squares of every column of rows of len(square) cells, row-major: square[j] is that of (x - mean[j])^2, one term
// after the other.
func ColumnSquares[F float32 | float64](square []float64, x []F, mean []float64) {
	d := len(square)
	mean = mean[:d]
	if d > 0 && len(x) >= d && fastColumnSquares(square, x, mean) {
		return
	}
	for j := range square {
		s := 0.0
		for i := j; i < len(x); i += d {
			t := float64(x[i]) - mean[j]
			s += float64(t * t) // never fused: the bits are the same on every processor
		}
		square[j] = s
	}
}

// Narrow sets dst[j*Rows+i] = float32(x[j*Rows+i] - mu[j]) for the len(mu) columns of a panel, and length[i] to the length of row i of what is
// rounded there, its squares added one after the other.
func Narrow(dst []float32, length *[Rows]float64, x, mu []float64) {
	d := len(mu)
	dst, x = dst[:d*Rows], x[:d*Rows]
	if d > 0 && fastNarrow(dst, length, x, mu) {
		return
	}
	clear(length[:])
	for j, m := range mu {
		to, from := dst[j*Rows:j*Rows+Rows], x[j*Rows:j*Rows+Rows]
		for i, v := range from {
			z := v - m
			to[i] = float32(z)
			length[i] += float64(z * z)
		}
	}
	for i, v := range length {
		length[i] = math.Sqrt(v)
	}
}

package kern

// CentreRows is Centre.
func CentreRows(y, x, m []float64) {
	y, x = y[:len(m)*Rows], x[:len(m)*Rows]
	if len(m) > 0 && fastCentre(y, x, m, len(m)) {
		return
	}
	Centre(y, x, m)
}

// lowerRows is how many rows of a triangular factor Whitened takes at a time: as many as the registers hold.
const lowerRows = 5

// LowerTiles is how many numbers TileLower packs for d variables.
func LowerTiles(d int) (n int) {
	for j := 0; j < d; j += lowerRows {
		q := min(lowerRows, d-j)
		n += (j + q) * q
	}
	return n
}

// TileLower packs w, lower triangular and packed by rows, as WhitenTiles and Whitened read it.
func TileLower(dst, w []float64, d int) {
	for j := 0; j < d; j += lowerRows {
		q := min(lowerRows, d-j)
		for l := range j + q {
			for b := range q {
				dst[0] = 0
				if l <= j+b {
					dst[0] = w[(j+b)*(j+b+1)/2+l]
				}
				dst = dst[1:]
			}
		}
	}
}

// WhitenTiles is Whiten with w packed by TileLower.
func WhitenTiles(y, x, w []float64, d int) {
	y, x, w = y[:d*Rows], x[:d*Rows], w[:LowerTiles(d)]
	for j := 0; j < d; j += lowerRows {
		q := min(lowerRows, d-j)
		n := (j + q) * q
		if !fastMultiply(y[j*Rows:], x, w[:n], j+q, q) {
			for b := range q {
				combine(y[(j+b)*Rows:], x, w[:n], q, b)
			}
		}
		w = w[n:]
	}
}

// combine sets the first row of y to the rows of x times column b of w, which has q.
func combine(y, x, w []float64, q, b int) {
	for i := 0; i < Rows; i += 4 {
		var a0, a1, a2, a3 float64
		for at := 0; at < len(w); at += q {
			p, f := (*[4]float64)(x[at/q*Rows+i:]), w[at+b]
			a0 += f * p[0]
			a1 += f * p[1]
			a2 += f * p[2]
			a3 += f * p[3]
		}
		y[i], y[i+1], y[i+2], y[i+3] = a0, a1, a2, a3
	}
}

// Lower adds second moments: sum_i t[j*Rows+i] r[i*Pad(d)+l] to sum[j*Pad(d)+l] for l <= j < d, and for j = d, a row of
// ones, the first moments for all l < d. With r what Share makes of the same t and weights that is sum_i w_i x_j x_l and
// sum_i w_i x_l. What it does to the other places is not defined.
func Lower(sum, t, r []float64, d int) {
	dp := Pad(d)
	sum, t, r = sum[:(d+1)*dp], t[:(d+1)*Rows], r[:Rows*dp]
	if d == 0 || fastLower(sum, t, r, d, dp) {
		return
	}
	for j := range d + 1 {
		tj, dst := t[j*Rows:j*Rows+Rows], sum[j*dp:j*dp+dp]
		for l := 0; l < min(j+1, d); l += 4 {
			var a0, a1, a2, a3 float64
			for i, v := range tj {
				p := r[i*dp+l : i*dp+l+4 : i*dp+l+4]
				a0 += v * p[0]
				a1 += v * p[1]
				a2 += v * p[2]
				a3 += v * p[3]
			}
			dst[l] += a0
			dst[l+1] += a1
			dst[l+2] += a2
			dst[l+3] += a3
		}
	}
}

// secondRows is how many rows of the sum SecondMoments has in registers at a time.
const secondRows = 6

// SecondScratch is the length of tmp in SecondMoments.
func SecondScratch(d int) int { return (Rows + secondRows) * Pad(d) }

// SecondMoments is Second for many variables. x has memory for Pad(d) of them; what the surplus ones hold does not matter.
func SecondMoments(s, x, r, tmp []float64, d int) {
	dp := Pad(d)
	s, x, r, tmp = s[:d*(d+1)/2], x[:dp*Rows], r[:Rows], tmp[:SecondScratch(d)]
	if level == Go {
		Second(s, x, r, tmp, d)
		return
	}
	weighted, sum := tmp[:Rows*dp], tmp[Rows*dp:]
	Share(weighted, x, r, d)
	for j := 0; j < d; j += secondRows {
		q := min(secondRows, d-j)
		clear(sum)
		fastBand(sum, x[j*Rows:], weighted, q, Pad(j+q), dp)
		for b := range q {
			row := s[(j+b)*(j+b+1)/2 : (j+b)*(j+b+1)/2+j+b+1]
			for l, v := range sum[b*dp : b*dp+len(row)] {
				row[l] += v
			}
		}
	}
}

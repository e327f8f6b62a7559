package kern

import (
	"math"
	"math/bits"
)

// The kernels of bounds between sweeps. A row is due when its cluster has come as far as the row's number says; until then
// its label stands.

// Due sets bit i of flags[p] where row i of panel p is due: where not due[i] > at[label[i]+1].
func Due(flags []uint32, due []float32, label []int32, at []float32, panels int) {
	flags, due, label = flags[:panels], due[:panels*Rows], label[:panels*Rows]
	if panels == 0 || fastDue(flags, due, label, at, panels) {
		return
	}
	for p := range flags {
		flags[p] = 0
		for i, v := range due[p*Rows : (p+1)*Rows] {
			if !(v > at[label[p*Rows+i]+1]) {
				flags[p] |= 1 << i
			}
		}
	}
}

// Slack sets due to low[label+1] and how much farther the second centre is than the first, at least. The squared distance of
// a row and a centre is b + score, b at most coef[4] (norm + coef[3])^2, and the two scores together may be wrong by g =
// (coef[0] norm + coef[1]) norm + coef[2]:
//
//	coef[6] (second - best - g) / max(sqrt(b + g + best) + sqrt(b + g + second), coef[5])
//
// and nothing where that is negative. state holds the scores, one for each panel, as Dense leaves them.
func Slack(due []float32, state []DenseState, norm []float32, label []int32, low []float32, coef *[7]float32, panels int) {
	due, state, norm, label = due[:panels*Rows], state[:panels], norm[:panels*Rows], label[:panels*Rows]
	if panels == 0 || fastSlack(due, state, norm, label, low, coef, panels) {
		return
	}
	root := func(v float32) float32 { return float32(math.Sqrt(float64(max(v, 0)))) }
	for i, n := range norm {
		best, second := state[i/Rows][i%Rows], state[i/Rows][Rows+i%Rows]
		g := (coef[0]*n+coef[1])*n + coef[2]
		b := float32(coef[4]*(n+coef[3])*(n+coef[3])) + g // rounded before g comes, as in vectors: a root may be of what cancels
		due[i] = low[label[i]+1] + coef[6]*max(second-best-g, 0)/max(root(b+best)+root(b+second), coef[5])
	}
}

// RunnerUp sets second to the second smallest of score less radius, from what Integers left.
func RunnerUp(second *[Rows]float32, row, meta, scores []float32, w, tiles int) {
	row, meta, scores = row[:4*Rows], meta[:4*tiles], scores[:tiles*w*Rows]
	if fastRunnerUp(second, row, meta, scores, w, tiles) {
		return
	}
	var least [Rows]float32
	for i := range least {
		least[i], second[i] = math.MaxFloat32, math.MaxFloat32
	}
	for slot := range tiles * w {
		for i := range Rows {
			s := scores[slot*Rows+i] - radius(row, meta[slot/w*4:], i)
			second[i] = min(second[i], max(s, least[i]))
			least[i] = min(least[i], s)
		}
	}
}

// A Change takes a row out of one cluster and adds it to another.
type Change struct{ Row, From, To uint32 }

// Shift moves rows x[row*d+j] - origin[j] from the sums hi + lo of [from*d+j] to those of [to*d+j]. hi takes what remains of
// a cell after adding grain and taking it away again, lo the rest (Rump, Ogita, Oishi 2008, algorithm 3.2): where grain is a power
// of two and no sum of cells reaches it hi is exact, and so is lo for float32 of ordinary range. It is half the work of
// Scatter.
func Shift(hi, lo []float64, x []float32, origin []float64, grain float64, changes []Change, d int) {
	origin = origin[:d]
	if len(changes) == 0 || d == 0 || fastShift(hi, lo, x, origin, grain, changes, d) {
		return
	}
	for _, c := range changes {
		fh, fl := hi[int(c.From)*d:int(c.From)*d+d], lo[int(c.From)*d:int(c.From)*d+d]
		th, tl := hi[int(c.To)*d:int(c.To)*d+d], lo[int(c.To)*d:int(c.To)*d+d]
		for j, v := range x[int(c.Row)*d : int(c.Row)*d+d] {
			y := float64(v) - origin[j]
			a := float64(y+grain) - grain
			b := y - a
			fh[j] -= a
			fl[j] -= b
			th[j] += a
			tl[j] += b
		}
	}
}

// Compress copies the rows of the bits of a panel of so many columns to dst side by side, in order: row i of a column at
// [column*Rows+i]. There must be room for them before the next column of dst.
func Compress(dst, src []float32, rows uint32, columns int) {
	if columns == 0 || rows == 0 {
		return
	}
	n := bits.OnesCount32(rows)
	dst, src = dst[:(columns-1)*Rows+n], src[:columns*Rows]
	if n > 1 && fastCompress(dst, src, rows, columns) {
		return
	}
	for at := 0; rows != 0; rows &= rows - 1 {
		from := src[bits.TrailingZeros32(rows):]
		for to := at; to < len(dst); to += Rows {
			dst[to] = from[to-at]
		}
		at++
	}
}

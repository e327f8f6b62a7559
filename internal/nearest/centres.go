package nearest

import (
	"cmp"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/kern"
)

// never is a norm that no real score reaches: that of the centres which fill up the last tile.
const never = 3e38

// centres are those of one sweep, made ready for the kernels. A score leaves out what all centres share: with z = x - mu,
// m any point and c' = c - m, |x - c|^2 = |z - a|^2 + |c'|^2 + 2 a.c' - 2 z.c', a = m - mu. With m amid the centres c' is
// short, and with it every error.
type centres struct {
	w, tiles int
	order    []int32   // slot to centre, the shortest first: tiles of like centres have like radii; -1 where a slot is empty
	shifted  []float64 // k x D: c'
	length   []float64 // k: |c'|
	norm     []float64 // k: |c'|^2 + 2 a.c'
	m, a     []float64
	aa, far  float64 // |a|^2, the largest |c - mu|^2

	off   float32 // at least |a|
	dense []float32
	coef  [3]float32
	byRow []float64 // D x rowK: plain centres, variable by variable
	rowK  int

	ints   []int8
	meta   []float32
	rounds [3]float32 // what a score of integers less or plus its radius may be wrong by, as coef

	picked  []int8     // k centres as kern.Picked wants them
	each    []float32  // k x 4: as meta, of each
	table   []float32  // of kern.Candidates
	largest [3]float64 // of what z multiplies there, of what stands alone, and of what a multiplies
	one     []int8     // a tile of one

	narrow            []float32 // k x D: c'
	bias              []float64 // k
	raw, longest, top float64   // |mu + origin|, the largest |c'| and |bias|
}

// grown returns s with length n, keeping its memory where it can.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// set takes in k centres. It reports whether their squares are in range.
func (c *centres) set(theta, mu []float64, k, d, width int) bool {
	c.tiles = (k + width - 1) / width
	c.w = (k + c.tiles - 1) / c.tiles
	c.m, c.a, c.shifted = grown(c.m, d), grown(c.a, d), grown(c.shifted, k*d)
	c.length, c.norm = grown(c.length, k), grown(c.norm, k)
	clear(c.m)
	for i := range k {
		for j, v := range theta[i*d : i*d+d] {
			if !(math.Abs(v) < largest) {
				return false
			}
			c.m[j] += v
		}
	}
	c.aa, c.far = 0, 0
	for j := range d {
		c.m[j] /= float64(k)
	}
	if spread(theta, mu, k, d) < mostGrowth*spread(theta, c.m, k, d) {
		copy(c.m, mu)
	}
	for j := range d {
		c.a[j] = c.m[j] - mu[j]
		c.aa += c.a[j] * c.a[j]
	}
	c.off = float32(math.Sqrt(c.aa) * up)
	for i := range k {
		q, cross := 0.0, 0.0
		out := c.shifted[i*d : i*d+d]
		for j, v := range theta[i*d : i*d+d] {
			s := v - c.m[j]
			out[j] = s
			q += s * s
			cross += s * c.a[j]
		}
		c.length[i], c.norm[i] = math.Sqrt(q), q+2*cross
		c.far = max(c.far, 2*(q+c.aa))
	}
	c.order = grown(c.order, c.w*c.tiles)
	for i := range c.order {
		c.order[i] = int32(i)
		if i >= k {
			c.order[i] = -1
		}
	}
	slices.SortStableFunc(c.order[:k], func(a, b int32) int { return cmp.Compare(c.length[a], c.length[b]) })
	return true
}

// mostGrowth is how much the square of the longest c' may grow so that m can be mu: then a is 0, and the score of a row gives its
// distance too.
const mostGrowth = 4

// spread returns the largest square of the centres' distances from m.
func spread(theta, m []float64, k, d int) (most float64) {
	for i := range k {
		most = max(most, apart(theta[i*d:i*d+d], m))
	}
	return most
}

// apart returns the squared distance of two points, up to rounding. Sums side by side do not wait for each other.
func apart(x, y []float64) float64 {
	y = y[:len(x)]
	var a, b, c, d float64
	for ; len(x) >= 4; x, y = x[4:], y[4:] {
		p, q, r, s := x[0]-y[0], x[1]-y[1], x[2]-y[2], x[3]-y[3]
		a += p * p
		b += q * q
		c += r * r
		d += s * s
	}
	for j, v := range x {
		a += (v - y[j]) * (v - y[j])
	}
	return (a + b) + (c + d)
}

// denseTiles lays the centres out for kern.Dense and sets what the gap between two scores may be wrong by.
func (c *centres) denseTiles(theta []float64, k, d int) {
	size := (d + 2) * c.w
	c.dense = grown(c.dense, c.tiles*size)
	longest, top := 0.0, 0.0
	for slot, i := range c.order {
		tile, q := c.dense[slot/c.w*size:(slot/c.w+1)*size], slot%c.w
		if i < 0 {
			for j := range d {
				tile[j*c.w+q] = 0
			}
			tile[d*c.w+q], tile[(d+1)*c.w+q] = never, 0
			continue
		}
		for j, v := range c.shifted[int(i)*d : int(i)*d+d] {
			tile[j*c.w+q] = float32(-2 * v)
		}
		tile[d*c.w+q], tile[(d+1)*c.w+q] = float32(c.norm[i]), math.Float32frombits(uint32(i))
		longest, top = max(longest, c.length[i]), max(top, math.Abs(c.norm[i]))
	}
	// A score's error, u = 2^-24: (2d + 4) u |z| |c'| from products and sums, twice over as the factor is -2, u (|norm| +
	// |score|) from the norm and the last addition (Higham 2002, section 3.1). The gap of two scores holds it twice, and
	// the plain loop's own rounding beside it.
	n, u := float64(d), 0x1p-24
	c.coef[0] = float32((n + 4) * 0x1p-49)
	c.coef[1] = float32(2 * u * (4*n + 14) * longest * 1.01)
	c.coef[2] = float32((2*u*4*top + (n+4)*0x1p-49*c.far + 1e-36) * 1.01)
	c.rowK = (k + 31) / 32 * 32
	c.byRow = grown(c.byRow, c.rowK*d)
	clear(c.byRow)
	for i := range k {
		for j, v := range theta[i*d : i*d+d] {
			c.byRow[j*c.rowK+i] = v
		}
	}
}

// intTiles lays the centres out for kern.Integers.
func (c *centres) intTiles(p *intPanels, d int) {
	size := 4 * (p.groups + 2) * c.w
	c.ints, c.meta = grown(c.ints, c.tiles*size), grown(c.meta, 4*c.tiles)
	clear(c.ints)
	longest, top := 0.0, 0.0
	for i, v := range c.norm {
		longest, top = max(longest, c.length[i]), max(top, math.Abs(v))
	}
	c.rounds = [3]float32{0, float32(longest * 0x1p-20), float32(top*0x1p-20 + 1e-36)}
	for t := range c.tiles {
		c.intTile(p, c.ints[t*size:(t+1)*size], c.meta[4*t:4*t+4], c.order[t*c.w:(t+1)*c.w], d)
	}
}

// tileStep returns the step of the integers of a tile: one for them all, and with it one factor for all scores.
func (c *centres) tileStep(p *intPanels, members []int32, d int) float32 {
	most, sum, longest := 0.0, 0.0, 0.0
	for _, i := range members {
		if i < 0 {
			continue
		}
		longest = max(longest, c.length[i])
		row := c.shifted[int(i)*d : int(i)*d+d]
		for _, v := range row {
			most = max(most, math.Abs(v))
		}
		if p.sum > 0 {
			sum = max(sum, sumOfFour(row))
		}
	}
	step := max(most/p.most, longest/p.long)
	if p.sum > 0 {
		step = max(step, sum/(p.sum-2)) // each of four integers may be half a step larger than its number
	}
	if step == 0 {
		return 1
	}
	return float32(step * up)
}

// sumOfFour returns the largest sum of the positive or of the negative numbers among those whose products kern.Integers adds up first: columns
// 0 and 1, or 2 and 3, of two groups.
func sumOfFour(row []float64) (most float64) {
	for ; len(row) > 0; row = row[min(8, len(row)):] {
		for pair := 0; pair < 4; pair += 2 {
			var plus, minus float64
			for _, j := range [4]int{pair, pair + 1, pair + 4, pair + 5} {
				if j < len(row) {
					plus, minus = plus+max(row[j], 0), minus-min(row[j], 0)
				}
			}
			most = max(most, plus, minus)
		}
	}
	return most
}

func (c *centres) intTile(p *intPanels, tile []int8, meta []float32, members []int32, d int) {
	t := c.tileStep(p, members, d)
	step, inv := float64(t), 1/float64(t)
	w := len(members)
	put := func(g, q int, v uint32) { putWord(tile[(g*w+q)*4:], v) }
	var longest, worst, top float64
	for q, i := range members {
		if i < 0 {
			put(p.groups+1, q, math.Float32bits(never))
			continue
		}
		sum, miss := 0, 0.0
		for j, v := range c.shifted[int(i)*d : int(i)*d+d] {
			u := math.RoundToEven(v * inv)
			r := v - step*u
			miss += r * r
			if p.words {
				at := ((j>>1+1)*w+q)*4 + j&1*2
				tile[at], tile[at+1] = int8(int(u)), int8(int(u)>>8)
			} else {
				sum += int(u)
				tile[((j>>2+1)*w+q)*4+j&3] = int8(u)
			}
		}
		put(0, q, uint32(int32(-p.zero*sum)))
		put(p.groups+1, q, math.Float32bits(float32(c.norm[i])))
		longest, worst, top = max(longest, c.length[i]), max(worst, math.Sqrt(miss)), max(top, math.Abs(c.norm[i]))
	}
	// |z.c' - z^.c^| <= |z - z^| |c'| + |z^| |c' - c^| (Cauchy-Schwarz), and 16 roundings of a score in float32.
	u := 0x1p-24
	meta[0] = t
	meta[1] = float32(longest * (1 + 1e-5))
	meta[2] = float32((worst + 16*u*(longest+worst)) * (1 + 1e-5))
	meta[3] = float32((16*u*(top+c.aa) + float64(d+4)*0x1p-51*c.far + 1e-36) * (1 + 1e-5))
}

// putWord writes 32 bits, least byte first.
func putWord(b []int8, v uint32) {
	b = b[:4]
	b[0], b[1], b[2], b[3] = int8(v), int8(v>>8), int8(v>>16), int8(v>>24)
}

// dotRows readies what Dots wants: c' in float32, and for each centre |c|^2 of the score |c'|^2 + 2 (a + mu + origin).c' -
// 2 x.c' of a row as it stands in memory.
func (c *centres) dotRows(mu, origin []float64, k, d int) {
	c.narrow, c.bias = grown(c.narrow, k*d), grown(c.bias, k)
	raw := 0.0
	for j, o := range origin {
		raw += (mu[j] + o) * (mu[j] + o)
	}
	c.raw, c.longest, c.top = math.Sqrt(raw), 0, 0
	for i := range k {
		cross := 0.0
		for j, v := range c.shifted[i*d : i*d+d] {
			c.narrow[i*d+j] = float32(v)
			cross += v * (mu[j] + origin[j])
		}
		c.bias[i] = c.norm[i] + 2*cross
		c.longest, c.top = max(c.longest, c.length[i]), max(c.top, math.Abs(c.bias[i]))
	}
}

// slots returns the number of centres with those that fill up the last tile.
func (c *centres) slots() int { return c.w * c.tiles }

// width returns how many centres a tile may hold.
func width(integers bool) int {
	if integers {
		return 12
	}
	return kern.TileWidth()
}

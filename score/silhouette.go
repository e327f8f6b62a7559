package score

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

const silhouetteIndex = "silhouette"

// Rows judged together by a worker, and rows they are held against at a time: 16 x k sums are kept, and 64 rows of up
// to 60 columns stay in a 32 KiB cache.
const (
	tileRows  = 16
	panelRows = 64
)

// Silhouette returns the mean silhouette of all rows, weighted; it lies in [-1, 1] and higher is better. Where dst is
// not nil, dst[i] is the silhouette of row i and len(dst) must be N.
//
// A row alone in its cluster counts 0, as does a row at distance 0 from its own and the nearest other cluster. The
// others of row i's cluster weigh n_j - 1, since weights are counts; a cluster of weight 1 or less is a row alone. A row
// of weight 0 is no part of the data: it changes nothing and gets 0. The mean is undefined for one cluster and for as
// many clusters as rows.
//
// Every pair of rows is looked at: time grows with N² D (of the order of a minute for 200,000 rows of 2 columns on two
// cores; for more rows see SilhouetteOf). Memory grows with N D; no N x N matrix is formed. A cancelled ctx ends it
// with its error. Rousseeuw 1987.
func (p *Partition) Silhouette(ctx context.Context, dst []float64) (float64, error) {
	if dst != nil && len(dst) != p.N {
		return 0, fmt.Errorf("%s: room for %d values of %d rows", silhouetteIndex, len(dst), p.N)
	}
	c, err := p.check(silhouetteIndex)
	if err != nil {
		return 0, err
	}
	rows := make([]int, p.N)
	for i := range rows {
		rows[i] = i
	}
	return c.silhouettes(ctx, dst, rows)
}

// SilhouetteOf is Silhouette for chosen rows, each held against all the data: the values are the same as there, the
// mean is over these rows, and time grows with len(rows) N D. On rows drawn at random the mean estimates that of all
// rows without bias; whoever shows it says that it is an estimate. Where dst is not nil, dst[t] is the silhouette of
// row rows[t] and len(dst) must be len(rows).
func (p *Partition) SilhouetteOf(ctx context.Context, dst []float64, rows []int) (float64, error) {
	if dst != nil && len(dst) != len(rows) {
		return 0, fmt.Errorf("%s: room for %d values of %d rows", silhouetteIndex, len(dst), len(rows))
	}
	c, err := p.check(silhouetteIndex)
	if err != nil {
		return 0, err
	}
	for _, i := range rows {
		if i < 0 || i >= p.N {
			return 0, fmt.Errorf("%s: row %d of %d rows (from 0)", silhouetteIndex, i, p.N)
		}
	}
	return c.silhouettes(ctx, dst, rows)
}

// silhouettes shares rows among workers and returns their mean silhouette; dst may be nil.
func (c *clusters) silhouettes(ctx context.Context, dst []float64, rows []int) (float64, error) {
	if dst == nil {
		dst = make([]float64, len(rows))
	}
	g := c.group()

	workers := c.Threads
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	tiles := (len(rows) + tileRows - 1) / tileRows
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, tiles) {
		wg.Go(func() {
			sums := make([]float64, tileRows*c.k)
			for ctx.Err() == nil {
				lo := int(next.Add(1)-1) * tileRows
				if lo >= len(rows) {
					return
				}
				hi := min(lo+tileRows, len(rows))
				g.tile(dst[lo:hi], rows[lo:hi], sums)
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return 0, err
	}

	var weight, sum float64 // in the order of rows, whatever the workers did
	for t, i := range rows {
		w := c.weight(i)
		weight += w
		sum += w * dst[t]
	}
	if weight == 0 {
		return 0, &UndefinedError{Index: silhouetteIndex, Why: "the chosen rows have no weight"}
	}
	return sum / weight, nil
}

// grouped is the data with the rows of a cluster side by side, so that a sum over a cluster is a sum over a range.
// Rows of weight 0 are left out; numbers are times scale.
type grouped struct {
	*clusters
	x     []float64 // rows x D
	w     []float64 // nil means all 1
	start []int     // k+1: cluster l is rows start[l] to start[l+1]
}

func (c *clusters) group() *grouped {
	g := &grouped{clusters: c, start: make([]int, c.k+1)}
	for _, l := range c.label {
		if l >= 0 {
			g.start[l+1]++
		}
	}
	for l := range c.k {
		g.start[l+1] += g.start[l]
	}
	n := g.start[c.k]
	g.x = make([]float64, n*c.D)
	if c.W != nil {
		g.w = make([]float64, n)
	}
	at := append([]int(nil), g.start[:c.k]...)
	for i, l := range c.label {
		if l < 0 {
			continue
		}
		t := at[l]
		at[l]++
		for j, v := range c.row(i) {
			g.x[t*c.D+j] = v * c.scale
		}
		if g.w != nil {
			g.w[t] = c.W[i]
		}
	}
	return g
}

// tile sets dst[t] to the silhouette of row rows[t]; there are at most tileRows rows. sums is scratch of tileRows x k:
// sums[t*k+l] becomes Σ w |x - x'| over the rows x' of cluster l.
func (g *grouped) tile(dst []float64, rows []int, sums []float64) {
	clear(sums)
	own := make([]float64, len(rows)*g.D)
	for t, i := range rows {
		for j, v := range g.row(i) {
			own[t*g.D+j] = v * g.scale
		}
	}
	for l := range g.k {
		for lo := g.start[l]; lo < g.start[l+1]; lo += panelRows {
			hi := min(lo+panelRows, g.start[l+1])
			for t := range rows {
				x := own[t*g.D : (t+1)*g.D]
				var sum float64
				if g.w == nil {
					for u := lo; u < hi; u++ {
						sum += distance(x, g.x[u*g.D:(u+1)*g.D])
					}
				} else {
					for u := lo; u < hi; u++ {
						sum += g.w[u] * distance(x, g.x[u*g.D:(u+1)*g.D])
					}
				}
				sums[t*g.k+l] += sum
			}
		}
	}
	for t, i := range rows {
		dst[t] = g.silhouette(g.label[i], sums[t*g.k:(t+1)*g.k])
	}
}

// silhouette returns the silhouette of a row of cluster l whose distances to each cluster sum to sums.
func (g *grouped) silhouette(l int, sums []float64) float64 {
	if l < 0 || g.size[l] <= 1 {
		return 0
	}
	a, b := sums[l]/(g.size[l]-1), math.Inf(1)
	for o, s := range sums {
		if o != l {
			b = min(b, s/g.size[o])
		}
	}
	if a == b { // 0/0 too
		return 0
	}
	return (b - a) / max(a, b)
}

// distance returns the Euclidean distance of a and b, which have the same length.
func distance(a, b []float64) float64 {
	b = b[:len(a)]
	var sum float64
	for j, v := range a {
		u := v - b[j]
		sum += u * u
	}
	return math.Sqrt(sum)
}

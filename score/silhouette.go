package score

import (
	"context"
	"fmt"
	"runtime"

	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/par"
)

const silhouetteIndex = "silhouette"

// tileRows is how many rows a worker judges together: it keeps 32 x k sums, and reads each panel of the data once for all
// of them.
const tileRows = 32

// Silhouette returns the mean silhouette of all rows, weighted; it lies in [-1, 1] and higher is better. Where dst is
// not nil, dst[i] is the silhouette of row i and len(dst) must be N.
//
// A row alone in its cluster counts 0, as does a row at distance 0 from its own and the nearest other cluster. The
// others of row i's cluster weigh n_j - 1, since weights are counts; a cluster of weight 1 or less is a row alone. A row
// of weight 0 is no part of the data: it changes nothing and gets 0. The mean is undefined for one cluster and for as
// many clusters as rows.
//
// Every pair of rows is looked at: time grows with N² D (of the order of ten seconds for 200,000 rows of 2 columns on
// two cores with AVX-512; for more rows see SilhouetteSample). Rows of one column are sorted instead, which takes time in
// proportion to N log N + N k. Memory grows with N D; no N x N matrix is formed. A cancelled ctx ends it with its error.
// Rousseeuw 1987.
func (p *Partition) Silhouette(ctx context.Context, dst []float64) (float64, error) {
	if dst != nil && len(dst) != p.N {
		return 0, fmt.Errorf("%s: room for %d values of %d rows", silhouetteIndex, len(dst), p.N)
	}
	c, err := p.check(silhouetteIndex)
	if err != nil {
		return 0, err
	}
	if dst == nil {
		dst = make([]float64, p.N)
	}
	rows := make([]int, p.N)
	for i := range rows {
		rows[i] = i
	}
	if err := c.each(ctx, dst, rows); err != nil {
		return 0, err
	}
	return c.mean(dst, rows)
}

// each sets dst[t] to the silhouette of row rows[t] for all rows in order.
func (c *clusters) each(ctx context.Context, dst []float64, rows []int) error {
	if c.D == 1 && c.of == nil {
		return c.lineSilhouettes(ctx, dst)
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
	if dst == nil {
		dst = make([]float64, len(rows))
	}
	if err := c.silhouettes(ctx, dst, rows); err != nil {
		return 0, err
	}
	return c.mean(dst, rows)
}

// silhouettes shares rows among workers, who look at every pair, and sets dst[t] to the silhouette of row rows[t].
func (c *clusters) silhouettes(ctx context.Context, dst []float64, rows []int) error {
	if ctx == nil {
		return fmt.Errorf("%s: the context is nil; context.Background() never ends", silhouetteIndex)
	}
	g := c.group()

	workers := c.Threads
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	tiles := (len(rows) + tileRows - 1) / tileRows
	tile := make([]*tile, min(workers, max(tiles, 1)))
	return par.Do(ctx, workers, tiles, func(worker, i int) {
		if tile[worker] == nil {
			tile[worker] = newTile(g, min(tileRows, len(rows)))
		}
		lo, hi := i*tileRows, min((i+1)*tileRows, len(rows))
		tile[worker].silhouettes(ctx, dst[lo:hi], rows[lo:hi])
	})
}

// mean returns the mean of the silhouettes values of some rows, weighted.
func (c *clusters) mean(values []float64, rows []int) (float64, error) {
	var weight, sum float64 // in the order of rows, whatever the workers did
	for t, i := range rows {
		w := c.weight(i)
		weight += w
		sum += w * values[t]
	}
	if weight == 0 {
		return 0, &UndefinedError{Index: silhouetteIndex, Why: "the chosen rows have no weight"}
	}
	return sum / weight, nil
}

// grouped is the data in panels of kern.Rows rows, those of a cluster side by side, so that a sum over a cluster is a sum
// over a range. Rows of weight 0 are left out; numbers are times scale. Panels are not those of one cluster each: with as
// many clusters as pairs of rows they would take sixteen times the memory. Places beyond the last row repeat it with
// weight 0.
type grouped struct {
	*clusters
	x     []float64 // panels x D x kern.Rows
	w     []float64 // panels x kern.Rows
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
	panels := (g.start[c.k] + kern.Rows - 1) / kern.Rows
	g.x, g.w = make([]float64, panels*c.D*kern.Rows), make([]float64, panels*kern.Rows)
	at := append([]int(nil), g.start[:c.k]...)
	for i, l := range c.label {
		if l < 0 {
			continue
		}
		t := at[l]
		at[l]++
		g.put(t, i)
		g.w[t] = c.weight(i)
		if t == g.start[c.k]-1 { // what fills the last panel must be as near as data are: no square may overflow
			for u := t + 1; u < len(g.w); u++ {
				g.put(u, i)
			}
		}
	}
	return g
}

// put writes row i to place t.
func (g *grouped) put(t, i int) {
	x := g.x[t/kern.Rows*g.D*kern.Rows:]
	for j, v := range g.row(i) {
		x[j*kern.Rows+t%kern.Rows] = v * g.scale
	}
}

// tile is the memory of a worker.
type tile struct {
	*grouped
	x    []float64 // tileRows x D, times scale
	sums []float64 // k x tileRows: sums[l*tileRows+t] is Σ w |x - x'| over the rows x' of cluster l
	own  []float64 // k
}

func newTile(g *grouped, rows int) *tile {
	return &tile{grouped: g, x: make([]float64, rows*g.D), sums: make([]float64, g.k*tileRows), own: make([]float64, g.k)}
}

// silhouettes sets dst[t] to the silhouette of row rows[t]; there are at most tileRows rows. It returns early where ctx
// ends.
func (t *tile) silhouettes(ctx context.Context, dst []float64, rows []int) {
	clear(t.sums)
	for u, i := range rows {
		for j, v := range t.row(i) {
			t.x[u*t.D+j] = v * t.scale
		}
	}
	for l := range t.k {
		t.add(t.sums[l*tileRows:l*tileRows+len(rows)], t.start[l], t.start[l+1])
		if ctx.Err() != nil {
			return
		}
	}
	for u, i := range rows {
		for l := range t.own {
			t.own[l] = t.sums[l*tileRows+u]
		}
		if l := t.label[i]; l >= 0 {
			dst[u] = t.silhouette(l, t.within(i, t.own[l]), t.own)
		} else {
			dst[u] = 0
		}
	}
}

// add adds to sums the weighted distances of the tile to the rows from lo up to hi.
func (t *tile) add(sums []float64, lo, hi int) {
	for p := lo / kern.Rows; p*kern.Rows < hi; p++ {
		x, w := t.grouped.x[p*t.D*kern.Rows:(p+1)*t.D*kern.Rows], t.w[p*kern.Rows:(p+1)*kern.Rows]
		if from, to := max(lo-p*kern.Rows, 0), min(hi-p*kern.Rows, kern.Rows); to-from < kern.Rows { // others share the panel
			part := [kern.Rows]float64{}
			copy(part[from:to], w[from:to])
			w = part[:]
		}
		kern.DistanceSums(sums, x, w, t.x, len(sums), t.D)
	}
}

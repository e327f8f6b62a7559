package nearest

import (
	"math/bits"

	"github.com/latent-go/latent/internal/kern"
)

// densePanels labels the rows in hand, n panels of float32. label holds their labels so far.
func (w *worker) densePanels(x, norm []float32, label []int32, n int) {
	e, c := w.e, w.j.centres
	step := max(min(callWork/(c.slots()*e.d), batch), 1)
	for p := 0; p < n; p += step {
		m, lo := min(step, n-p), p*kern.Rows
		w.denseCall(x[lo*e.d:], norm[lo:], label[lo:], p, m)
	}
}

// denseCall labels m panels of the rows in hand, from panel at on.
func (w *worker) denseCall(x, norm []float32, label []int32, at, m int) {
	e, c := w.e, w.j.centres
	d, state := e.d, w.state[:1]
	if w.batch.bound || w.batch.near {
		state = w.state[:m]
	}
	tiles := c.tiles
	if m == 1 {
		tiles = max(callWork/(c.w*d), 1)
	}
	for t := 0; t < c.tiles; t += tiles {
		end := min(t+tiles, c.tiles)
		kern.Dense(x, c.dense[t*(d+2)*c.w:end*(d+2)*c.w], norm, &c.coef, state, label, w.got, w.flags, d, c.w, end-t, m, t > 0)
	}
	for i := range m {
		near, moved := w.flags[2*i]&w.batch.valid(at+i), w.flags[2*i+1]
		if near|moved == 0 {
			continue
		}
		got := w.got[i*kern.Rows : (i+1)*kern.Rows]
		for b := near; b != 0; b &= b - 1 {
			r := bits.TrailingZeros32(b)
			got[r] = w.settle(w.e.rowOf(w.batch.lane((at+i)*kern.Rows + r)))
		}
		w.note(at+i, near|moved, got)
	}
	if w.batch.near {
		w.tellDense(at, m, norm)
	}
	if w.batch.bound {
		w.finish(at, m, norm, &c.coef)
	}
}

// settle returns the label of row i by the plain loop.
func (w *worker) settle(i int) int32 {
	c := w.j.centres
	w.e.row(w.y, i)
	w.dist = grown(w.dist, c.rowK)
	kern.SqdistRow(w.dist, w.y, c.byRow, c.rowK)
	at := 0
	for q, v := range w.dist[:w.j.k] {
		if v < w.dist[at] {
			at = q
		}
	}
	return int32(at)
}

// Package hard holds hard clusterings that need more than sums of the rows: K-medians, mini-batch and breathing k-means, and
// DP-means. K-medians and mini-batch want rows in memory, breathing k-means some of them; DP-means wants the farthest rows of
// a sweep.
//
// Labels are those of the nearest centre, the lowest of equals. Results are the same, to the last bit, for any number of
// threads.
package hard

import (
	"context"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/par"
	"github.com/latent-go/latent/internal/seed"
)

// chunkRows is how many rows a worker takes at a time, and sums are rounded by. It does not depend on threads.
const chunkRows = 32 * kern.Rows

// assignment says where rows belong. Element i is row i of the points, or the i-th of the rows asked for.
type assignment struct {
	label []int32
	score []float64 // minus the distance, as the family measures it
}

func newAssignment(n int) *assignment {
	return &assignment{label: make([]int32, n), score: make([]float64, n)}
}

// assign finds the nearest centre of each of the rows of p, or of all where rows is nil. It scores as a sweep does, so
// that labels agree with those of a sweep at the same centres.
func (a *assignment) assign(ctx context.Context, f family.Family, theta []float64, p *seed.Points, rows []int, threads int) error {
	n, k := len(a.label), len(theta)/p.D
	kernel := f.Bind(theta, k, p.D)
	workers := make([]*packer, max(threads, 1))
	return par.Do(ctx, threads, (n+chunkRows-1)/chunkRows, func(id, chunk int) {
		if workers[id] == nil {
			workers[id] = newPacker(k, p.D)
		}
		w := workers[id]
		for lo := chunk * chunkRows; lo < min(n, (chunk+1)*chunkRows); lo += kern.Rows {
			m := min(kern.Rows, n-lo)
			w.pack(p, rows, lo, m)
			kernel.Score(w.scores, w.panel, w.ws)
			kern.Argmax(w.best, w.label, w.scores, k)
			copy(a.label[lo:lo+m], w.label)
			copy(a.score[lo:lo+m], w.best)
		}
	})
}

// packer is the scratch memory of one worker.
type packer struct {
	panel              *family.Panel
	ws                 *family.Workspace
	scores, best, zero []float64
	label              []int32
}

func newPacker(k, d int) *packer {
	return &packer{
		panel: &family.Panel{D: d, X: make([]float64, d*kern.Rows), W: make([]float64, kern.Rows)}, ws: family.NewWorkspace(d),
		scores: make([]float64, k*kern.Rows), best: make([]float64, kern.Rows), zero: make([]float64, d), label: make([]int32, kern.Rows),
	}
}

// pack fills the panel with n rows of p: those from lo on, or those that rows names from lo on.
func (w *packer) pack(p *seed.Points, rows []int, lo, n int) {
	w.panel.N = n
	if rows == nil {
		kern.Pack(w.panel.X, p.X[lo*p.D:(lo+n)*p.D], w.zero, n, p.D)
		return
	}
	for i, row := range rows[lo : lo+n] {
		for j, x := range p.At(row) {
			w.panel.X[j*kern.Rows+i] = x
		}
	}
}

// weightedSum returns the sum of w[i] v[i]. It rounds chunk by chunk, so that the error grows with the number of chunks.
func weightedSum(w, v []float64) (sum float64) {
	for len(v) > 0 {
		m, part := min(chunkRows, len(v)), 0.0
		for i, x := range v[:m] {
			part += w[i] * x
		}
		sum += part
		w, v = w[m:], v[m:]
	}
	return sum
}

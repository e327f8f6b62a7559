package seed

import (
	"context"
	"math"
	"sort"

	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/par"
)

// panelCells is how many cells may be kept a second time, panel by panel, while rows are drawn: 256 MB.
const panelCells = 1 << 25

// panels gives the rows of points as kern wants them, to several threads at once. Distances are those of a plain loop over the
// columns, to the bit.
type panels struct {
	p       *Points
	x       []float64 // all panels, or nil where they would be too large
	origin  []float64
	workers []panelWorker
}

type panelWorker struct {
	x, dist []float64
	least   [kern.Rows]float64
	label   [kern.Rows]int64
}

func newPanels(p *Points, threads int) *panels {
	s := &panels{p: p, origin: make([]float64, p.D)}
	if p.Levels != nil {
		return s
	}
	count := s.count()
	s.workers = make([]panelWorker, max(min(threads, count*p.D/8192+1), 1))
	if count*kern.Rows*p.D <= panelCells {
		s.x = p.Panels()
	}
	return s
}

// Panels returns the points in panels of 32 rows, variable by variable: column j of row i at [(i/32*D+j)*32 + i%32], 0 in
// rows beyond the last. They are laid out once, by the first call, and kept as long as the points.
func (p *Points) Panels() []float64 {
	p.pack.Do(func() {
		origin := make([]float64, p.D)
		p.cells = make([]float64, (p.N+kern.Rows-1)/kern.Rows*kern.Rows*p.D)
		for lo := 0; lo < p.N; lo += kern.Rows {
			n := min(kern.Rows, p.N-lo)
			if to := p.cells[lo*p.D : (lo+kern.Rows)*p.D]; p.Narrow != nil {
				kern.Pack(to, p.Narrow[lo*p.D:(lo+n)*p.D], p.Origin, n, p.D)
			} else {
				kern.Pack(to, p.X[lo*p.D:(lo+n)*p.D], origin, n, p.D)
			}
		}
	})
	return p.cells
}

func (s *panels) count() int { return (s.p.N + kern.Rows - 1) / kern.Rows }

// each calls f for every panel.
func (s *panels) each(f func(w *panelWorker, i int, x []float64)) {
	n, size, parts := s.count(), s.p.D*kern.Rows, len(s.workers)
	par.Do(context.Background(), parts, parts, func(_, part int) {
		w := &s.workers[part]
		for i := n * part / parts; i < n*(part+1)/parts; i++ {
			if s.x != nil {
				f(w, i, s.x[i*size:(i+1)*size])
				continue
			}
			if w.x == nil {
				w.x = make([]float64, size)
			}
			rows := min(kern.Rows, s.p.N-i*kern.Rows)
			kern.Pack(w.x, s.p.X[i*kern.Rows*s.p.D:], s.origin, rows, s.p.D)
			f(w, i, w.x)
		}
	})
}

// distances returns the squared distances of a panel's rows from some centres, kern.Rows a centre.
func (w *panelWorker) distances(x, centres []float64, d int) []float64 {
	k := len(centres) / d
	if cap(w.dist) < k*kern.Rows {
		w.dist = make([]float64, k*kern.Rows)
	}
	w.dist = w.dist[:k*kern.Rows]
	kern.SqdistAll(w.dist, x, centres, k, d)
	return w.dist
}

// lower sets dst[c], for every candidate row c, to the smaller of near and the weighted squared distance to that row. A nil
// near is infinite everywhere.
func (s *panels) lower(dst [][]float64, near []float64, rows []int) {
	p := s.p
	if p.Levels != nil {
		for c, i := range rows {
			lowerLevels(dst[c], near, p, i)
		}
		return
	}
	centres := make([]float64, 0, len(rows)*p.D)
	for _, i := range rows {
		centres = append(centres, p.At(i)...)
	}
	s.each(func(w *panelWorker, at int, x []float64) {
		dist := w.distances(x, centres, p.D)
		lo := at * kern.Rows
		hi := min(lo+kern.Rows, p.N)
		for c := range rows {
			out, w, far := dst[c][lo:hi], p.W[lo:hi], dist[c*kern.Rows:]
			if near == nil {
				for i, v := range w {
					out[i] = far[i] * v
				}
				continue
			}
			before := near[lo:hi]
			for i, v := range w {
				out[i] = min(far[i]*v, before[i])
			}
		}
	})
}

// running sets sum[i] to w[0] + ... + w[i], and returns the last.
func running(sum, w []float64) (total float64) {
	for i, v := range w {
		total += v
		sum[i] = total
	}
	return total
}

// totals sets sum[c] to the sum of every w[c], each in the order of its rows. Sums side by side do not wait for each other: the last four may
// be those of some of the four before, again.
func totals(sum []float64, w [][]float64) {
	last := len(w) - 1
	for c := 0; c <= last; c += 4 {
		c1, c2, c3 := min(c+1, last), min(c+2, last), min(c+3, last)
		var s0, s1, s2, s3 float64
		w0 := w[c]
		w1, w2, w3 := w[c1][:len(w0)], w[c2][:len(w0)], w[c3][:len(w0)]
		for i, v := range w0 {
			s0 += v
			s1 += w1[i]
			s2 += w2[i]
			s3 += w3[i]
		}
		sum[c], sum[c1], sum[c2], sum[c3] = s0, s1, s2, s3
	}
}

// search returns what draw returns for the weights whose running sums are given.
func search(sum, w []float64, u float64) int {
	at := u * sum[len(sum)-1]
	i := sort.Search(len(sum), func(i int) bool { return sum[i] > at })
	for i == len(sum) || i >= 0 && !(w[i] > 0) { // rounding in the running sum cannot pass the end
		i--
	}
	return i
}

// Nearest returns the label of the nearest centre for each point, the lowest of equals. centres is k x D. The number of threads
// changes nothing else.
func Nearest(p *Points, centres []float64, threads int) []int32 {
	if p.Levels != nil {
		return nearestLevels(p, centres)
	}
	labels := make([]int32, p.N)
	if p.D == 0 || p.N == 0 {
		return labels
	}
	s := &panels{p: p, origin: make([]float64, p.D), workers: make([]panelWorker, max(min(threads, p.N/256), 1))}
	s.each(func(w *panelWorker, at int, x []float64) {
		lo := at * kern.Rows
		out := labels[lo:min(lo+kern.Rows, p.N)]
		var least [kern.Rows]float64
		for i := range least {
			least[i] = math.Inf(1)
		}
		const group = 32
		for c := 0; c*p.D < len(centres); c += group {
			dist := w.distances(x, centres[c*p.D:min((c+group)*p.D, len(centres))], p.D)
			kern.Argmin(w.least[:], w.label[:], dist, len(dist)/kern.Rows)
			for i := range out {
				if v := w.least[i]; v < least[i] {
					least[i], out[i] = v, int32(c)+int32(w.label[i])
				}
			}
		}
	})
	return labels
}

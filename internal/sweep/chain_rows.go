package sweep

import (
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/chain"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
)

// chainRows is the rows of a job as one worker has them for one task, with the memory for all that it makes of them.
type chainRows struct {
	bound   *mixture.Bound
	chain   *chain.Chain
	scratch *mixture.Scratch
	panel   *family.Panel
	pack    func(lo int) // fills the panel with the rows from lo on
	b       *data.Block
	beta    float64

	d, alpha []float64 // rows x Stride: densities, and then what Backward makes of them; alpha, or its logarithms
	gamma    []float64 // rows x Stride: probabilities of the states
	present  []bool    // whether the row's sequence has a weight; means nothing where rows have none of their own
	scale, c []float64 // what densities are divided by, as a logarithm; c of the recursions, or its logarithms
	logs     []float64 // logarithms of densities

	moves  []float64 // Stride x Stride: of the sequences before, as chain.AddMoves gathers them
	weight float64   // of these sequences
	made   []float64 // K x K: expected moves
	end    []float64 // Stride: beta at the end of a sequence, or its logarithms
}

// rows returns the rows of b as worker id has them for task t.
func (p *chainPass) rows(id, t int, b *data.Block) *chainRows {
	if p.workers[id] == nil {
		p.workers[id] = newWorker(p.tasks)
		p.workers[id].rows = new(chainRows)
	}
	w := p.workers[id]
	r := w.rows
	r.bound, r.chain, r.scratch, r.panel, r.b, r.beta = p.bound[t], p.bound[t].Chain(), w.scratch[t], w.panel, b, p.tasks[t].Beta
	r.pack = func(lo int) { p.packer.pack(id, w.panel, b, lo) }
	k, n, whole := r.chain.K, r.chain.Stride, (b.N+kern.Rows-1)/kern.Rows*kern.Rows
	r.d, r.alpha, r.gamma = sized(r.d, whole*n), sized(r.alpha, whole*n), sized(r.gamma, whole*n)
	r.scale, r.c = sized(r.scale, whole), sized(r.c, whole)
	r.moves, r.made, r.end = sized(r.moves, n*n), sized(r.made, k*k), sized(r.end, n)
	clear(r.moves)
	return r
}

// sized returns s with n numbers, in its memory where that is enough.
func sized(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}

// packScored fills the panel with rows to score: those of weight 0 too, which say nothing but have a place in time, unless their sequence has it.
func (r *chainRows) packScored(lo int) {
	r.pack(lo)
	if r.b.W == nil {
		return
	}
	for i := range r.panel.N {
		if r.panel.W[i] == 0 && r.present[lo+i] {
			r.panel.W[i] = 1
		}
	}
}

// densities sets those of all rows.
func (r *chainRows) densities() {
	for lo := 0; lo < r.b.N; lo += kern.Rows {
		r.packScored(lo)
		r.bound.Densities(r.d[lo*r.chain.Stride:], r.scale[lo:], r.panel, r.scratch)
	}
}

// logDensities sets logs to the logarithms of the densities of rows from to to.
func (r *chainRows) logDensities(from, to int) {
	n := r.chain.Stride
	r.logs = sized(r.logs, (to-from+kern.Rows)*n)
	for lo := from; lo < to; lo += kern.Rows {
		r.packScored(lo)
		r.bound.LogDensities(r.logs[(lo-from)*n:], r.panel, r.scratch)
	}
	r.logs = r.logs[:(to-from)*n]
}

// sequences runs the recursions of whole sequences and adds to s all but the sums of the family.
func (r *chainRows) sequences(s *family.Stats) {
	m, n := r.chain, r.chain.Stride
	r.markPresent()
	r.densities()
	for from, to := 0, 0; from < r.b.N; from = to {
		to = sequenceEnd(r.b.Sequence, from, r.b.N)
		alpha, gamma, c, d := r.alpha[from*n:to*n], r.gamma[from*n:to*n], r.c[from:to], r.d[from*n:to*n]
		w := sequenceWeight(r.b.W, from, to)
		if w == 0 {
			clear(gamma)
			continue
		}
		r.weigh(s, w)
		for i := range r.end {
			r.end[i] = 1
		}
		if m.Forward(alpha, c, d, nil) {
			m.Backward(gamma, r.end, alpha, c, d)
			m.AddMoves(r.moves, alpha, d, nil)
			s.F += r.weight * r.logLik(from, to)
		} else {
			r.logDensities(from, to)
			clear(r.end)
			m.LogForward(alpha, c, r.logs, nil)
			r.logBack(s, gamma, r.end, alpha, c, nil)
		}
		r.addFirst(s, from)
	}
	r.addMoves(s)
}

// markPresent notes the rows of sequences that have a weight.
func (r *chainRows) markPresent() {
	if r.b.W == nil {
		return
	}
	r.present = r.present[:0]
	for from, to := 0, 0; from < r.b.N; from = to {
		to = sequenceEnd(r.b.Sequence, from, r.b.N)
		for w := sequenceWeight(r.b.W, from, to); from < to; from++ {
			r.present = append(r.present, w > 0)
		}
	}
}

// allPresent notes that all rows are those of a sequence with a weight.
func (r *chainRows) allPresent() {
	r.present = r.present[:0]
	for range r.b.N {
		r.present = append(r.present, true)
	}
}

// weigh makes w the weight of the moves to come.
func (r *chainRows) weigh(s *family.Stats, w float64) {
	if w != r.weight {
		r.addMoves(s)
		r.weight = w
	}
}

// logLik returns what rows from to to add to the free energy of a sequence, from what the scaled recursions have left.
func (r *chainRows) logLik(from, to int) float64 {
	sum := 0.0
	for _, v := range r.scale[from:to] {
		sum += v
	}
	return sum + logProduct(r.c[from:to])/r.beta
}

// logBack runs back through rows whose logarithms of densities are in logs, and adds to s their free energy and moves.
func (r *chainRows) logBack(s *family.Stats, gamma, beta, alpha, c, past []float64) {
	clear(r.made)
	r.chain.LogBackward(gamma, r.made, beta, alpha, c, r.logs, past)
	for _, v := range c {
		s.F += r.weight * v / r.beta
	}
	r.addMade(s)
}

// addFirst adds to s the probabilities of the states of a first row.
func (r *chainRows) addFirst(s *family.Stats, row int) {
	for c, v := range r.gamma[row*r.chain.Stride : row*r.chain.Stride+r.chain.K] {
		s.Chain[c] += r.weight * v
	}
}

// addMoves adds to s the moves gathered since it was called before.
func (r *chainRows) addMoves(s *family.Stats) {
	r.chain.Moves(r.made, r.moves)
	r.addMade(s)
	clear(r.moves)
}

// addMade adds the expected moves in made to s.
func (r *chainRows) addMade(s *family.Stats) {
	for i, v := range r.made {
		s.Chain[r.chain.K+i] += r.weight * v
	}
}

// ahead runs forward through a block of a long sequence, or, with logs, by logarithms where the course needs them.
func (r *chainRows) ahead(j *job, c *course, logs bool) {
	m, n := r.chain, r.chain.Stride
	r.allPresent()
	switch {
	case !logs:
		r.densities()
	case !c.logs:
		return
	default:
		r.logDensities(0, r.b.N)
	}
	alpha := r.alpha[:r.b.N*n]
	c.turn.in(j.at, func() {
		switch past := c.before(j, n); {
		case logs:
			m.LogForward(alpha, r.c[:r.b.N], r.logs, past)
		case c.logs || !m.Forward(alpha, r.c[:r.b.N], r.d[:r.b.N*n], past):
			c.logs = true
			return
		}
		if j.at+1 < j.of.blocks {
			copy(c.past[(j.at+1)*n:(j.at+2)*n], alpha[len(alpha)-n:])
		}
	})
}

// before returns alpha of the row before a block; nil where it begins the sequence.
func (c *course) before(j *job, n int) []float64 {
	if j.at == 0 {
		return nil
	}
	return c.past[j.at*n : (j.at+1)*n]
}

// back runs back through a block of a long sequence and adds to s all but the sums of the family.
func (r *chainRows) back(s *family.Stats, j *job, c *course) {
	m, n, rows := r.chain, r.chain.Stride, r.b.N
	alpha, gamma, past, at := r.alpha[:rows*n], r.gamma[:rows*n], c.before(j, n), j.of.blocks-1-j.at
	r.allPresent()
	r.weigh(s, j.of.weight)
	if c.logs {
		r.logDensities(0, rows)
		m.LogForward(alpha, r.c[:rows], r.logs, past)
		c.turn.in(at, func() { r.logBack(s, gamma, c.beta, alpha, r.c[:rows], past) })
	} else {
		r.densities()
		d := r.d[:rows*n]
		m.Forward(alpha, r.c[:rows], d, past)
		c.turn.in(at, func() { m.Backward(gamma, c.beta, alpha, r.c[:rows], d) })
		m.AddMoves(r.moves, alpha, d, past)
		s.F += r.weight * r.logLik(0, rows)
		r.addMoves(s)
	}
	if j.at == 0 {
		r.addFirst(s, 0)
	}
}

// gather adds to s the sums of the family.
func (r *chainRows) gather(s *family.Stats) {
	for lo := 0; lo < r.b.N; lo += kern.Rows {
		r.pack(lo)
		r.bound.GatherStates(s, r.panel, r.gamma[lo*r.chain.Stride:], r.scratch)
	}
	r.bound.Flush(s, r.scratch)
}

package family

import "github.com/latent-go/latent/internal/kern"

// A Binary family can read its rows as bits: a sweep that knows them need not read their numbers again.
type Binary interface {
	Family
	// Bits is how many bits a row of d columns has; 0 if the family would rather have numbers.
	Bits(d int) int
	// PackBits sets words, of length kern.BitWords(Bits(d)), to the panel x of d columns, for Panel.Bits, and reports
	// whether it is one of bits. If not, words may be anything.
	PackBits(words []uint32, x []float64, d int) bool
}

// leastBitsInGo is how many bits a row must have for look-ups in plain Go to be no slower than loops over numbers; with 32
// bits and 20 components they are twice as fast.
const leastBitsInGo = 16

// Bits returns d: a cell is a bit. With gaps it is 2 d: one says that the cell is 1, and one that it is 0. It returns 0 for few columns
// in plain Go.
func (f Bernoulli) Bits(d int) int {
	if kern.Current() == kern.Go && d < leastBitsInGo {
		return 0
	}
	if f.Gaps != nil {
		return 2 * d
	}
	return d
}

// PackBits implements Binary. A row of weight 0 may hold what is no bit.
func (f Bernoulli) PackBits(words []uint32, x []float64, d int) bool {
	if f.Gaps != nil {
		return packPairs(words, x, d)
	}
	return kern.PackBits(words, x, d)
}

// Fuse implements Fusable; it returns nil where Bits returns 0.
func (b *bernoulliKernel) Fuse(logw []float64) FusedKernel {
	if (Bernoulli{}).Bits(b.d) == 0 {
		return nil
	}
	base := make([]float64, b.k)
	for c, lw := range logw {
		base[c] = b.base[c] + lw
	}
	return &fusedBits{plain: b, family: Bernoulli{}, logw: logw, bits: kern.NewBits(b.logit, base, b.k, b.d), d: b.d, width: b.d, k: b.k}
}

// fusedBits scores a row by the weights of its bits, and gathers the shares of the rows with each bit.
type fusedBits struct {
	plain    Kernel // for panels that are not of bits
	family   Binary
	logw     []float64
	bits     *kern.Bits
	d, width int // columns and bits of a row
	k        int
}

// words returns the bits of p, nil where it has other cells.
func (f *fusedBits) words(p *Panel) []uint32 {
	if p.Bits != nil {
		return p.Bits
	}
	n := kern.BitWords(f.width)
	if len(p.own) < n {
		p.own = make([]uint32, n)
	}
	if !f.family.PackBits(p.own[:n], p.X, f.d) {
		return nil
	}
	return p.own[:n]
}

// Logits implements FusedKernel.
func (f *fusedBits) Logits(dst []float64, p *Panel, g *Gathered, ws *Workspace) {
	if words := f.words(p); words != nil {
		f.bits.Score(dst, words, grow(&g.buffers().features, f.bits.Scratch()))
		return
	}
	f.plain.Score(dst, p, ws)
	for c, lw := range f.logw {
		for i := range kern.Rows {
			dst[c*kern.Rows+i] += lw
		}
	}
}

// Gather implements FusedKernel.
func (f *fusedBits) Gather(s *Stats, p *Panel, q, factor []float64, g *Gathered, ws *Workspace) {
	if words := f.words(p); words != nil {
		f.bits.Add(grow(&g.sum, f.bits.Size()), words, q, factor, grow(&g.buffers().features, f.bits.Scratch()))
		return
	}
	for c := range f.k {
		qc := q[c*kern.Rows : c*kern.Rows+kern.Rows]
		times(qc, qc, factor)
	}
	f.plain.Add(s, p, q, ws)
}

// Flush implements FusedKernel.
func (f *fusedBits) Flush(s *Stats, g *Gathered) {
	if len(g.sum) >= f.bits.Size() { // something was gathered
		f.bits.Flush(s.N, s.Sum, g.sum)
	}
}

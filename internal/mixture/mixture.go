// Package mixture puts mixing weights over a family of components: the density sum_c pi_c p_c(x), its E-step, its
// M-step and the free energy that both climb.
//
// A parameter vector theta holds k logits, where the weights are learned, that of the noise where there is noise, and then the
// family's parameters. The mixing weights are the softmax of the logits. With Bayes the same numbers stand for a distribution of the parameters.
// With Chain the components are the states of a hidden Markov model, and theta begins with (k+1) x k logits: see chain.go.
package mixture

import (
	"math"

	"github.com/latent-go/latent/internal/chain"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// MinLogWeight is the smallest logarithm of a mixing weight that an M-step sets (a weight of 1e-300), reached only by
// a component that no row supports.
const MinLogWeight = -690.7755278982137

// Mixture is k components of one family on d columns.
type Mixture struct {
	Family  family.Family
	K, D    int
	Uniform bool   // mixing weights are 1/k and not learned
	Prior   *Prior // of the parameters; nil where there is none
	Noise   *Noise // one more component of constant density, for a family with a density and learned weights; nil where there is none
	Chain   bool   // labels of the rows of a sequence are a Markov chain: a hidden Markov model, for a family with a density
	Bayes   *Bayes // with it theta stands for a distribution of the parameters; nil elsewhere
}

// Params returns the length of theta.
func (m *Mixture) Params() int { return m.logits() + m.Family.Params(m.K, m.D) }

// Free counts the parameters an information criterion charges for: the family's, and k-1 where weights are learned; for noise two
// more, its weight and its volume.
func (m *Mixture) Free() int {
	free := m.Family.Free(m.K, m.D) + max(m.logits()-1, 0)
	if m.Chain {
		free -= m.K // every row of transitions has one logit too many, too
	}
	if m.Noise != nil {
		free++
	}
	return free
}

// WithGaps returns the mixture for rows with missing cells: itself, if it is one.
func (m *Mixture) WithGaps() *Mixture {
	f, ok := m.Family.(family.Incomplete)
	if !ok || f.Patterns() != nil {
		return m
	}
	own := *m
	own.Family = f.WithGaps(family.NewGaps(m.D))
	return &own
}

func (m *Mixture) logits() int {
	switch {
	case m.Uniform || !m.Family.Density():
		return 0
	case m.Chain:
		return (m.K + 1) * m.K
	}
	return m.shares()
}

// Components returns the family's part of theta. It shares theta's memory.
func (m *Mixture) Components(theta []float64) []float64 { return theta[m.logits():] }

// LogWeights sets dst, of length k, to the logarithms of the mixing weights; nil allocates. For a family without
// density they are all 0: its cost has no weights. With Bayes they are the shares of the counts, see there. With Chain they are those of
// the states of first rows.
func (m *Mixture) LogWeights(dst, theta []float64) []float64 {
	if dst == nil {
		dst = make([]float64, m.K)
	}
	switch {
	case !m.Family.Density():
		clear(dst)
	case m.Uniform:
		for c := range dst {
			dst[c] = -math.Log(float64(m.K))
		}
	default:
		lse := logSumExp(theta[:m.shares()])
		for c, v := range theta[:m.K] {
			dst[c] = v - lse
		}
	}
	return dst
}

// MStep sets next to the parameters that maximise the free energy for the responsibilities whose sums are s, plus the log prior density
// where there is one; theta is what the sweep ran with. next and theta may be the same slice.
func (m *Mixture) MStep(next, theta []float64, s *family.Stats) {
	if m.Prior != nil {
		m.priorMStep(next, theta, s)
		return
	}
	m.Family.MStep(m.Components(next), m.Components(theta), s)
	m.shareOut(next, theta, s, 0)
}

// shareOut sets the logits of next to the logarithms of the shares of s, where each component counts for so many pseudo-rows more.
func (m *Mixture) shareOut(next, theta []float64, s *family.Stats, more float64) {
	if m.Chain {
		m.chain().MStep(next[:m.logits()], theta[:m.logits()], m.chainStats(s, true))
		return
	}
	total := s.W + float64(m.K)*more
	for c := range m.logits() {
		switch {
		case m.Bayes != nil:
			next[c] = m.ofCounts(s.N[c], s.W)
		case c == m.K:
			next[c] = max(math.Log(s.Noise/total), minLogNoise)
		default:
			next[c] = max(math.Log((s.N[c]+more)/total), MinLogWeight)
		}
	}
}

// FreeEnergy returns F(q, next) in nats for the responsibilities whose sums a sweep with theta at inverse temperature
// beta collected: sum w q (log pi + log p) + H(q)/beta. For hard labels beta is +Inf and H is 0. It is of the rows alone: what a
// prior adds is LogPrior.
func (m *Mixture) FreeEnergy(next, theta []float64, beta float64, s *family.Stats) float64 {
	if m.Bayes != nil {
		return m.boundAfterStep(next, theta, s)
	}
	f := m.Family.Expected(m.Components(next), m.Components(theta), s)
	if !m.Family.Density() { // its sums start from s.F, which holds the entropy
		return f
	}
	if m.Chain {
		return f + m.chain().Expected(next[:m.logits()], nil, m.chainStats(s, false)) + s.Entropy/beta
	}
	for c, lw := range m.LogWeights(nil, next) {
		f += s.N[c] * lw
	}
	if m.Noise != nil {
		f += s.Noise*m.LogNoise(next) + s.NoiseDensity
	}
	return f + s.Entropy/beta
}

// NewStats returns empty sums for this mixture. farMax is 0 unless the kernel is a family.HardKernel that asks for more.
func (m *Mixture) NewStats(farMax int) *family.Stats {
	s := family.NewStats(m.K, m.D, m.Family.Sums(m.K, m.D), farMax)
	if m.Chain {
		s.Chain = make([]float64, (m.K+1)*m.K)
	}
	return s
}

// Bound is a mixture at fixed parameters: read-only, shared by the workers of a sweep.
type Bound struct {
	kernel family.Kernel
	hard   family.HardKernel  // nil where the kernel has no hard form
	fused  family.FusedKernel // nil where the kernel has no fused form
	logw   []float64
	beta   float64
	k      int
	dense  bool   // scores are log densities
	noise  *noise // nil where there is none

	bounding *bounding    // nil where no component is left out
	chain    *chain.Chain // nil where there is none
}

// Bind prepares theta for a sweep at inverse temperature beta; +Inf means hard labels.
func (m *Mixture) Bind(theta []float64, beta float64) *Bound {
	b := &Bound{kernel: m.Family.Bind(m.Components(theta), m.K, m.D), logw: m.LogWeights(nil, theta), beta: beta, k: m.K, dense: m.Family.Density()}
	switch {
	case m.Bayes != nil:
		b.logw, _ = m.offsets(m.Counts(theta))
	case m.Chain: // transitions are no part of a row's scores
		clear(b.logw)
		b.chain = m.bindChain(theta, beta)
	}
	b.hard, _ = b.kernel.(family.HardKernel)
	if f, ok := b.kernel.(family.Fusable); ok {
		b.fused = f.Fuse(b.logw)
		if family.PatternsOf(m.Family) == nil && !m.Chain {
			b.bounding = b.newBounding(m.D)
		}
	}
	b.noise = m.bindNoise(theta, b.fused)
	return b
}

// FarMax is how many of the worst explained rows the sums of this sweep keep.
func (b *Bound) FarMax() int {
	if b.hard != nil && math.IsInf(b.beta, 1) {
		return b.hard.FarRows()
	}
	return 0
}

// Scratch is the memory of one worker for panels of one mixture size, and what Gather has gathered in it.
type Scratch struct {
	*family.Workspace
	logits, lse, ent, tmp, best []float64
	label                       []int32
	tally                       *[4 * kern.Lanes]float64 // sums of the panels since the last Flush
	gathered                    *family.Gathered
	chosen                      *chosen  // nil for few components
	outside                     *outside // nil until there is noise
}

// NewScratch returns scratch memory for k components on d columns, and noise.
func NewScratch(k, d int) *Scratch {
	kp := kern.Pad(k + 1)
	v := make([]float64, (kp+4)*kern.Rows)
	cut := func(n int) (s []float64) { s, v = v[:n:n], v[n:]; return s }
	sc := &Scratch{Workspace: family.NewWorkspace(d), logits: cut(kp * kern.Rows), lse: cut(kern.Rows), ent: cut(kern.Rows),
		tmp: cut(kern.Rows), best: cut(kern.Rows), label: make([]int32, kern.Rows), tally: new([4 * kern.Lanes]float64), gathered: new(family.Gathered)}
	if k >= leastComponents {
		sc.chosen = newChosen(k)
	}
	return sc
}

// Sibling returns scratch memory for another mixture of the same size whose panels are run in turn with those of sc: all
// is shared but what each has gathered.
func (sc *Scratch) Sibling() *Scratch {
	o := *sc
	o.gathered, o.tally, o.outside = sc.gathered.Sibling(), new([4 * kern.Lanes]float64), nil
	return &o
}

// Logits returns log pi_c + log p_c(x_i) at [c*kern.Rows+i] for the rows of p, in nats; for a family without density
// minus the cost. Where there is noise, c = k is the noise. The memory is the scratch's.
func (b *Bound) Logits(p *family.Panel, sc *Scratch) []float64 {
	logits := sc.logits[:b.k*kern.Rows]
	if b.fused != nil {
		b.fused.Logits(logits, p, sc.gathered, sc.Workspace)
		return b.withNoise(p, sc, b.k)
	}
	b.kernel.Score(logits, p, sc.Workspace)
	for c, w := range b.logw {
		if w == 0 {
			continue
		}
		for i := range kern.Rows {
			logits[c*kern.Rows+i] += w
		}
	}
	return b.withNoise(p, sc, b.k)
}

// withNoise returns the scores in sc of k components and, after them, of the noise where there is any.
func (b *Bound) withNoise(p *family.Panel, sc *Scratch, k int) []float64 {
	if b.noise == nil {
		return sc.logits[:k*kern.Rows]
	}
	b.noise.column(sc.logits[k*kern.Rows:(k+1)*kern.Rows], p)
	return sc.logits[:(k+1)*kern.Rows]
}

// Add runs the E-step on one panel and adds its sums to s. A sweep does the same in two steps, Gather for each panel of a
// chunk and Flush at its end. At beta = 1 a panel takes one fused pass: scores, log-sum-exp, responsibilities and moments
// while it is in cache; no n x k array exists.
func (b *Bound) Add(s *family.Stats, p *family.Panel, sc *Scratch) {
	b.Gather(s, p, sc)
	b.Flush(s, sc)
}

// Gather is Add, but may leave sums in sc, from which Flush adds them to s. All panels since the last Flush must be of b.
func (b *Bound) Gather(s *family.Stats, p *family.Panel, sc *Scratch) {
	b.Logits(p, sc)
	b.gather(s, p, sc, b.fused, nil)
}

// gather adds the panel whose scores are in sc.logits: those of the components of, which are kernel's, or of all where of
// is nil, and of the noise.
func (b *Bound) gather(s *family.Stats, p *family.Panel, sc *Scratch, kernel family.FusedKernel, of []int) {
	k := b.k
	if of != nil {
		k = len(of)
	}
	logits := sc.logits[:k*kern.Rows]
	if b.noise != nil {
		logits = sc.logits[:(k+1)*kern.Rows]
	}
	if math.IsInf(b.beta, 1) {
		b.addHard(s, p, sc, logits, kernel, of)
		return
	}
	factor, plain := sc.tmp, 0.0
	if b.dense && b.beta != 1 {
		kern.LogSumExp(sc.lse, logits, len(logits)/kern.Rows)
		for i, w := range p.W[:kern.Rows] {
			plain += w * sc.lse[i]
		}
	}
	kern.Soften(logits, sc.lse, sc.ent, factor, len(logits)/kern.Rows, b.beta)
	kern.Tally(sc.tally, factor, p.W, sc.lse, sc.ent)
	s.LogLik += plain
	b.share(s, b.inside(p, sc, logits, factor), sc, factor, kernel)
}

// inside returns the panel with the row weights that the noise, the last column of q, leaves to the components, and notes its share in sc;
// p itself without noise.
func (b *Bound) inside(p *family.Panel, sc *Scratch, q, factor []float64) *family.Panel {
	if b.noise == nil {
		return p
	}
	if sc.outside == nil {
		sc.outside = new(outside)
	}
	return sc.outside.take(b.noise, p, q[len(q)-kern.Rows:], factor)
}

// share adds the panel with the responsibilities factor[i] logits[c*kern.Rows+i], row weights in them. kernel is nil where
// there is no fused one.
func (b *Bound) share(s *family.Stats, p *family.Panel, sc *Scratch, factor []float64, kernel family.FusedKernel) {
	if kernel != nil {
		kernel.Gather(s, p, sc.logits, factor, sc.gathered, sc.Workspace)
		return
	}
	for c := range b.k {
		r := sc.logits[c*kern.Rows : c*kern.Rows+kern.Rows]
		for i, f := range factor {
			r[i] *= f
		}
	}
	b.kernel.Add(s, p, sc.logits[:b.k*kern.Rows], sc.Workspace)
}

// Flush adds to s what Gather left in sc.
func (b *Bound) Flush(s *family.Stats, sc *Scratch) {
	sum := func(n int) float64 { return kern.Sum(sc.tally[n*kern.Lanes:]) }
	free := sum(1)
	s.W += sum(0)
	s.F += free
	s.Entropy += sum(2)
	s.Rows += int64(sum(3))
	if b.dense && b.beta == 1 {
		s.LogLik += free
	}
	clear(sc.tally[:])
	if b.noise != nil && sc.outside != nil {
		sc.outside.flush(s, b.noise)
	}
	if b.fused != nil {
		b.fused.Flush(s, sc.gathered)
	}
}

func (b *Bound) addHard(s *family.Stats, p *family.Panel, sc *Scratch, logits []float64, kernel family.FusedKernel, of []int) {
	for _, w := range p.W[:p.N] {
		s.W += w
		if w > 0 {
			s.Rows++
		}
	}
	if b.dense {
		kern.LogSumExp(sc.lse, logits, len(logits)/kern.Rows)
		for i, w := range p.W {
			s.LogLik += w * sc.lse[i]
		}
	}
	kern.Argmax(sc.best, sc.label, logits, len(logits)/kern.Rows)
	for i, w := range p.W {
		s.F += w * sc.best[i]
	}
	if b.hard == nil {
		clear(logits)
		for i, w := range p.W {
			logits[int(sc.label[i])*kern.Rows+i] = w
			if w > 0 {
				label := sc.label[i]
				switch {
				case of == nil:
				case int(label) < len(of):
					label = int32(of[label])
				default: // the noise
					label = int32(b.k)
				}
				s.Labels += family.Fingerprint(p.First+int64(i), label)
			}
		}
		for i := range sc.tmp {
			sc.tmp[i] = 1
		}
		b.share(s, b.inside(p, sc, logits, sc.tmp), sc, sc.tmp, kernel)
		return
	}
	b.hard.AddHard(s, p, sc.label)
	for i := range p.N {
		if p.W[i] > 0 && s.Worse(sc.best[i]) {
			x := make([]float64, p.D)
			for j := range x {
				x[j] = p.X[j*kern.Rows+i]
			}
			s.Offer(family.Far{Row: p.First + int64(i), Score: sc.best[i], W: p.W[i], Label: sc.label[i], X: x})
		}
	}
}

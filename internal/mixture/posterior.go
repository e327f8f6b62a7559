package mixture

import (
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// Posterior is what a mixture says of the rows of one panel. The memory is the scratch's.
type Posterior struct {
	Label   []int32   // kern.Rows: the best component; the lowest of equals; -1 for the noise
	Best    []float64 // kern.Rows: log pi_c + log p_c(x_i) of that component, nats; minus the cost for a family without density
	Score   []float64 // kern.Rows: log p(x_i), nats; Best for a family without density
	Entropy []float64 // kern.Rows: entropy of the responsibilities, nats
	P       []float64 // k x kern.Rows: responsibilities at beta = 1
	Noise   []float64 // kern.Rows: that of the noise; nil where there is none
}

// Posterior returns the responsibilities of the rows of p.
func (b *Bound) Posterior(p *family.Panel, sc *Scratch) Posterior {
	logits := b.Logits(p, sc)
	n := len(logits) / kern.Rows
	e := Posterior{Label: sc.label, Best: sc.best, Score: sc.lse, Entropy: sc.ent, P: logits[:b.k*kern.Rows]}
	kern.Argmax(e.Best, e.Label, logits, n)
	if b.noise != nil {
		e.Noise = logits[b.k*kern.Rows:]
		for i, c := range e.Label {
			if int(c) == b.k {
				e.Label[i] = -1
			}
		}
	}
	if b.dense {
		kern.Soften(logits, sc.lse, sc.ent, sc.tmp, n, 1)
		for c := range n {
			for i, f := range sc.tmp {
				logits[c*kern.Rows+i] *= f
			}
		}
		return e
	}
	copy(e.Score, e.Best)
	clear(e.Entropy)
	clear(e.P)
	for i, c := range e.Label {
		e.P[int(c)*kern.Rows+i] = 1
	}
	return e
}

// Assign adds the panel to s by labels instead of responsibilities: component label[i] gets the share confidence of row i, and all components
// share the rest, the noise nothing. From these sums, which are whole after Flush, an M-step makes parameters out of labels.
func (b *Bound) Assign(s *family.Stats, p *family.Panel, label []int32, confidence float64, sc *Scratch) {
	r := sc.logits[:b.k*kern.Rows]
	clear(r)
	for i, w := range p.W[:p.N] {
		for c := range b.k {
			r[c*kern.Rows+i] = w * (1 - confidence) / float64(b.k)
		}
		r[int(label[i])*kern.Rows+i] += w * confidence
		s.W += w
	}
	if b.fused == nil || b.k > kern.Rows || p.Holes { // of many components most have no row of the panel; rows with gaps must be completed first
		b.kernel.Add(s, p, r, sc.Workspace)
		return
	}
	for i := range sc.tmp {
		sc.tmp[i] = 1
	}
	b.share(s, p, sc, sc.tmp, b.fused)
}

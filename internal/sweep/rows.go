package sweep

import (
	"context"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/nearest"
)

// Scored is a run of consecutive rows with what a mixture says of them. It is valid only during the call that
// receives it.
type Scored struct {
	*data.Block
	K                int
	Label            []int32   // N: the best component, from 0; the lowest of equals; -1 for the noise
	LogDensity       []float64 // N: log p(x_i) in nats; for a family without density minus the cost
	Responsibilities []float64 // N x K, row-major: responsibilities at beta = 1; 1 and 0 for a family without density; not of Scores
	Entropy          []float64 // N: entropy of the responsibilities, nats
	Best             []float64 // N: log pi_c + log p_c(x_i) of the label, nats
	Noise            []float64 // N: responsibility of the noise; nil where there is none
	Logits           []float64 // N x K, row-major: log pi_c + log p_c(x_i), nats; of RowsWithLogits alone, else nil
}

// telling is what a pass tells of rows.
type telling int

const (
	labels           telling = iota // and of rows for which it is no more work all that scores tells
	scores                          // all of Scored but responsibilities and logits
	responsibilities                // those too
	logits                          // all
)

// Rows makes one pass and calls emit with all rows, scored, in row order and from one goroutine at a time. An error of
// emit ends the pass and is returned.
func (l *Local) Rows(ctx context.Context, m *mixture.Mixture, theta []float64, emit func(*Scored) error) error {
	return l.scored(ctx, m, theta, responsibilities, emit)
}

// Scores is Rows without responsibilities, N x K numbers that not everybody needs.
func (l *Local) Scores(ctx context.Context, m *mixture.Mixture, theta []float64, emit func(*Scored) error) error {
	return l.scored(ctx, m, theta, scores, emit)
}

// Labels is Rows for labels alone: of those of k-means that float32 decides the rest of Scored is nil. Labels are the same.
func (l *Local) Labels(ctx context.Context, m *mixture.Mixture, theta []float64, emit func(*Scored) error) error {
	return l.scored(ctx, m, theta, labels, emit)
}

// RowsWithLogits is Rows with Scored.Logits: responsibilities have lost what is far below them. There must be no noise.
func (l *Local) RowsWithLogits(ctx context.Context, m *mixture.Mixture, theta []float64, emit func(*Scored) error) error {
	return l.scored(ctx, m, theta, logits, emit)
}

// nearby returns the centres of k-means whose rows are labelled in float32, where that decides; nil for all other mixtures.
func (l *Local) nearby(m *mixture.Mixture, theta []float64) *nearest.Centres {
	f, means := m.Family.(family.KMeans)
	if !means || f.Gaps != nil || m.Noise != nil {
		return nil
	}
	return nearest.NewCentres(m.Components(theta), l.origin, m.K, m.D)
}

// scored is a pass that tells what is asked for.
func (l *Local) scored(ctx context.Context, m *mixture.Mixture, theta []float64, what telling, emit func(*Scored) error) error {
	var centres *nearest.Centres
	if what < logits {
		centres = l.nearby(m, theta)
	}
	scorers, labellers := make([]*scorer, l.threads), make([]*nearest.Labeller, l.threads)
	task := []Task{{Mixture: m, Theta: theta, Beta: 1}}
	all, err := bind(ctx, task)
	if err != nil {
		return err
	}
	bound, stopped := all[0], stopper(ctx, task)
	var spare pool[*Scored]
	f := &fold[*Scored]{
		threads: l.threads, chunk: l.chunk,
		fresh: func() *Scored {
			if s, ok := spare.get(); ok {
				return s
			}
			return &Scored{K: m.K}
		},
		reuse: spare.put,
		work: func(id int, b *data.Block, s *Scored) error {
			if centres != nil {
				if labellers[id] == nil {
					labellers[id] = centres.Labeller()
				}
				if s.label(labellers[id], b, what) {
					return stopped()
				}
			}
			s.resize(b, what)
			if scorers[id] == nil {
				scorers[id] = &scorer{mixture: m, theta: theta, bound: bound, panel: newPanel(m.D), scratch: mixture.NewScratch(m.K, m.D)}
			}
			for lo := 0; lo < b.N; lo += kern.Rows {
				if err := stopped(); err != nil {
					return err
				}
				scorers[id].pack(b, lo, l.origin)
				scorers[id].score(s, lo)
			}
			return nil
		},
		merge: func(_, _ *Scored) {},
		emit:  emit,
	}
	_, _, err = f.run(ctx, l.src)
	return err
}

// label sets what is told of the rows of b, whose nearest centres it finds in float32 where that decides. It reports false where it cannot.
func (s *Scored) label(l *nearest.Labeller, b *data.Block, what telling) bool {
	s.Block, s.Label = b, resized(s.Label, b.N)
	if what == labels {
		s.LogDensity, s.Entropy, s.Best = nil, nil, nil
		return l.Label(s.Label, b)
	}
	s.resize(b, what)
	if !l.LabelAndMeasure(s.Label, s.Best, b) {
		return false
	}
	for i, v := range s.Best {
		s.Best[i] = -v
	}
	copy(s.LogDensity, s.Best)
	clear(s.Entropy)
	if what == responsibilities {
		clear(s.Responsibilities)
		for i, c := range s.Label {
			s.Responsibilities[i*s.K+int(c)] = 1
		}
	}
	return true
}

// scorer is one worker's means to score panels.
type scorer struct {
	mixture *mixture.Mixture
	theta   []float64
	bound   *mixture.Bound
	gapped  *mixture.Bound // for panels with missing cells; nil until there is one
	panel   *family.Panel
	scratch *mixture.Scratch
}

// pack fills the panel with the rows of b from lo on.
func (r *scorer) pack(b *data.Block, lo int, origin []float64) {
	pack(r.panel, b, lo, origin)
	r.panel.Holes = false
	if family.PatternsOf(r.mixture.Family) != nil || r.panel.HasHoles() {
		r.panel.Mark()
	}
}

// score fills rows lo and on of s from the panel. A row without any cell has the density 1, and the mixing weights as responsibilities.
func (r *scorer) score(s *Scored, lo int) {
	bound := r.bound
	if r.panel.Holes {
		if r.gapped == nil {
			r.gapped = r.mixture.WithGaps().Bind(r.theta, 1)
		}
		bound = r.gapped
	}
	if s.Logits != nil {
		all := bound.Logits(r.panel, r.scratch)
		for i := range r.panel.N {
			for c := range s.K {
				s.Logits[(lo+i)*s.K+c] = all[c*kern.Rows+i]
			}
		}
	}
	e := bound.Posterior(r.panel, r.scratch)
	for i := range r.panel.N {
		s.Label[lo+i], s.LogDensity[lo+i], s.Entropy[lo+i], s.Best[lo+i] = e.Label[i], e.Score[i], e.Entropy[i], e.Best[i]
		for c := range len(s.Responsibilities) / s.N {
			s.Responsibilities[(lo+i)*s.K+c] = e.P[c*kern.Rows+i]
		}
	}
	if e.Noise != nil {
		s.Noise = append(s.Noise[:lo], e.Noise[:r.panel.N]...)
	}
}

// resize makes room for what is told of the rows of b.
func (s *Scored) resize(b *data.Block, what telling) {
	n := b.N
	s.Block, s.Label = b, resized(s.Label, n)
	s.LogDensity, s.Entropy, s.Best = resized(s.LogDensity, n), resized(s.Entropy, n), resized(s.Best, n)
	if what >= responsibilities {
		s.Responsibilities = resized(s.Responsibilities, n*s.K)
	}
	if what >= logits {
		s.Logits = resized(s.Logits, n*s.K)
	}
}

// resized returns s with length n, keeping its memory where it can.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// A Single scores one row at a time. It is for one goroutine.
type Single struct {
	scorer scorer
	origin []float64
	block  data.Block
	out    Scored
}

// NewSingle returns a scorer of single rows by a mixture with the parameters theta, both relative to origin.
func NewSingle(m *mixture.Mixture, theta, origin []float64) *Single {
	bound := m.Bind(theta, 1)
	return &Single{scorer: scorer{mixture: m, theta: theta, bound: bound, panel: newPanel(m.D), scratch: mixture.NewScratch(m.K, m.D)}, origin: origin, out: Scored{K: m.K}}
}

// Score scores a row as Rows does. What it returns is valid until the next call, and refers to x.
func (s *Single) Score(x []float64) *Scored {
	s.block = data.Block{N: 1, D: len(x), F64: x}
	s.out.resize(&s.block, responsibilities)
	s.scorer.pack(&s.block, 0, s.origin)
	s.scorer.score(&s.out, 0)
	return &s.out
}

package merging

import (
	"context"
	"encoding/gob"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/score"
)

func init() { gob.Register(&job{}) }

// job is the pass that a merger is decided by, as it is sent to where the rows are.
type job struct {
	Model   []byte // as its file holds it; set where it is sent
	Entropy bool   // of the method that merges by entropies, else by overlaps
	With    int    // the pairs to add up: those with this cluster, all where it is -1
}

// sums are what it adds up: of Overlaps and Entropies the one that the method needs, the other is nil.
type sums struct {
	Weight    float64 // of the rows
	Total     float64 // entropy of the responsibilities of the clusters, nats
	Overlaps  *score.Overlaps
	Entropies *score.Entropies
}

func (j *job) empty(k int) *sums {
	if j.Entropy {
		return &sums{Entropies: score.NewEntropies(k, j.With)}
	}
	return &sums{Overlaps: score.NewOverlaps(k, j.With)}
}

func (s *sums) merge(next *sums) {
	s.Weight += next.Weight
	s.Total += next.Total
	if s.Overlaps != nil {
		s.Overlaps.Merge(next.Overlaps)
	} else {
		s.Entropies.Merge(next.Entropies)
	}
}

// tally returns what adds up the rows: in runs whose sums are joined in the same order wherever the rows are.
func (j *job) tally(k int) *sweep.Runs[*sums] {
	return &sweep.Runs[*sums]{New: func() *sums { return j.empty(k) }, Tree: sweep.Tree[*sums]{Merge: (*sums).merge}}
}

// rows makes the pass over rows that are here.
func (j *job) rows(ctx context.Context, src data.Source, m *model.Model, threads int, t *sweep.Runs[*sums]) error {
	err := m.Rows(ctx, src, threads, func(s *model.Scored) error {
		for i := range s.N {
			w, own := s.Weight(i), t.At(s.First+int64(i))
			if w == 0 {
				continue
			}
			own.Weight += w
			own.Total += w * s.Entropy[i]
			r := s.Responsibilities[i*s.K : (i+1)*s.K]
			if own.Overlaps != nil {
				own.Overlaps.Add(r, w)
			} else {
				own.Entropies.Add(r, w)
			}
		}
		return nil
	})
	t.Close()
	return err
}

// Serve implements sweep.Job.
func (j *job) Serve(ctx context.Context, p *sweep.Part, src *data.Table) ([]sweep.Node, error) {
	m := new(model.Model)
	if err := m.UnmarshalJSON(j.Model); err != nil {
		return nil, err
	}
	t := j.tally(m.NumLabels())
	if err := j.rows(ctx, src, m, p.Threads, t); err != nil {
		return nil, err
	}
	return t.Nodes()
}

// gather makes the pass over the rows of src, wherever they are, by m, whose labels are the clusters so far.
func gather(ctx context.Context, src data.Source, m *model.Model, j *job, threads int) (*sums, error) {
	t := j.tally(m.NumLabels())
	if r, ok := src.(data.Remote); ok {
		own := *m
		own.Provenance, own.Sums = nil, nil
		var err error
		if j.Model, err = own.MarshalJSON(); err != nil {
			return nil, err
		}
		nodes, err := sweep.Send(ctx, r, j)
		if err != nil {
			return nil, err
		}
		if err := t.Add(nodes); err != nil {
			return nil, err
		}
	} else if err := j.rows(ctx, src, m, threads, t); err != nil {
		return nil, err
	}
	if total, ok := t.Total(); ok {
		return total, nil
	}
	return j.empty(m.NumLabels()), nil
}

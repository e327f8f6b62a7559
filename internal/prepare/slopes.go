package prepare

import (
	"context"
	"encoding/gob"
	"math"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/sweep"
)

func init() { gob.Register(&slopesJob{}) }

// slopes is the weighted sum of what changes of scale add to the log density of each row: of each run the sum, and what is lost in that (Neumaier
// 1974).
type slopes struct{ sweep.Runs[[]float64] }

func newSlopes() *slopes {
	add := func(into, from []float64) { into[0], into[1] = into[0]+from[0], into[1]+from[1] }
	return &slopes{sweep.Runs[[]float64]{New: func() []float64 { return make([]float64, 2) }, Tree: sweep.Tree[[]float64]{Merge: add}}}
}

func (s *slopes) add(b *data.Block) {
	for i, v := range b.Slope {
		run := s.At(b.First + int64(i))
		v *= b.Weight(i)
		sum := run[0] + v
		if math.Abs(run[0]) >= math.Abs(v) {
			run[1] += run[0] - sum + v
		} else {
			run[1] += v - sum + run[0]
		}
		run[0] = sum
	}
}

func (s *slopes) total() float64 {
	s.Close()
	total, ok := s.Total()
	if !ok {
		return 0
	}
	return total[0] + total[1]
}

// slopesJob is the pass for the sum where the rows are.
type slopesJob struct {
	List    []data.Change
	Columns []string
}

// Serve implements sweep.Job.
func (j *slopesJob) Serve(ctx context.Context, _ *sweep.Part, src *data.Table) ([]sweep.Node, error) {
	c, err := data.Bind(j.List, j.Columns)
	if err != nil {
		return nil, err
	}
	s := newSlopes()
	if err := data.EachBlock(ctx, c.Rows(src), func(b *data.Block) error { s.add(b); return nil }); err != nil {
		return nil, err
	}
	s.Close()
	return s.Nodes()
}

// slopesElsewhere sums up for rows on other machines.
func (f *Rows) slopesElsewhere(ctx context.Context, r data.Remote) error {
	nodes, err := sweep.Send(ctx, r, &slopesJob{f.Changes.List(), f.Changes.Columns()})
	if err != nil {
		return err
	}
	s := newSlopes()
	if err := s.Add(nodes); err != nil {
		return err
	}
	f.slopes = s.total()
	return nil
}

package prepare

import (
	"context"
	"encoding/gob"
	"math"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/sweep"
)

func init() { gob.Register(&slopesJob{}) }

// slopes is the weighted sum of what changes of scale add to the log density of each row, in runs of slopeRows rows.
type slopes struct {
	run  [2]float64 // of the run under way: its sum, and what is lost in that (Neumaier 1974)
	next int64      // the row after the last
	sums sweep.Tree[[]float64]
}

const slopeRows = 2048

func newSlopes() *slopes {
	return &slopes{sums: sweep.Tree[[]float64]{Merge: func(into, from []float64) { into[0], into[1] = into[0]+from[0], into[1]+from[1] }}}
}

func (s *slopes) add(b *data.Block) {
	for i, v := range b.Slope {
		at := b.First + int64(i)
		if at%slopeRows == 0 {
			s.close()
		}
		s.next = at + 1
		v *= b.Weight(i)
		sum := s.run[0] + v
		if math.Abs(s.run[0]) >= math.Abs(v) {
			s.run[1] += s.run[0] - sum + v
		} else {
			s.run[1] += v - sum + s.run[0]
		}
		s.run[0] = sum
	}
}

// close adds the run under way to the sums.
func (s *slopes) close() {
	if s.next == 0 {
		return
	}
	s.sums.Push((s.next-1)/slopeRows, 0, []float64{s.run[0], s.run[1]})
	s.run = [2]float64{}
}

func (s *slopes) total() float64 {
	s.close()
	total, ok := s.sums.Total()
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
	s.close()
	return s.sums.Nodes()
}

// slopesElsewhere sums up for rows on other machines.
func (f *Rows) slopesElsewhere(ctx context.Context, r data.Remote) error {
	nodes, err := sweep.Send(ctx, r, &slopesJob{f.Changes.List(), f.Changes.Columns()})
	if err != nil {
		return err
	}
	s := newSlopes()
	if err := s.sums.Add(nodes); err != nil {
		return err
	}
	f.slopes = s.total()
	return nil
}

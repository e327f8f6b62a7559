package seed

import (
	"cmp"
	"context"
	"encoding/gob"
	"fmt"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/internal/transit"
)

func init() {
	gob.Register(&usedJob{})
	gob.Register(&pickJob{})
}

// usedJob counts the rows of positive weight of a part.
type usedJob struct{ Rows int64 }

// Serve implements sweep.Job.
func (*usedJob) Serve(ctx context.Context, _ *sweep.Part, src *data.Table) ([]sweep.Node, error) {
	used := int64(0)
	for i := range src.N {
		if src.W == nil || src.W[i] > 0 {
			used++
		}
	}
	n, err := sweep.NodeOf(used)
	n.At = src.First
	return []sweep.Node{n}, err
}

// pickJob brings the rows that were drawn.
type pickJob struct {
	Origin []float64
	Drawn  []drawnRows // of the parts, in row order
}

// drawnRows says which rows of positive weight of a part were drawn, ascending.
type drawnRows struct {
	First int64 // row of the part
	Rows  []int64
}

// Serve implements sweep.Job.
func (j *pickJob) Serve(ctx context.Context, _ *sweep.Part, src *data.Table) ([]sweep.Node, error) {
	p, used := &Points{D: src.D}, int64(0)
	var drawn []int64
	if at, ok := slices.BinarySearchFunc(j.Drawn, src.First, func(d drawnRows, first int64) int { return cmp.Compare(d.First, first) }); ok {
		drawn = j.Drawn[at].Rows
	}
	err := data.EachBlock(ctx, src, func(b *data.Block) error {
		for i := 0; i < b.N && len(drawn) > 0; i++ {
			w := b.Weight(i)
			if w == 0 {
				continue
			}
			if used == drawn[0] {
				p.add(b, i, w, j.Origin)
				drawn = drawn[1:]
			}
			used++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	n, err := sweep.NodeOf(pointsWire{p.N, p.X, p.W, p.Row})
	return []sweep.Node{n}, err
}

// pointsWire is Points as they are sent.
type pointsWire struct {
	N    int
	X, W []float64
	Row  []int64
}

// sampleElsewhere is Sample of rows on other machines, of which only those that are drawn are sent.
func sampleElsewhere(ctx context.Context, r data.Remote, used int64, origin []float64, sample *rng.Selection) (*Points, error) {
	parts, err := sweep.Send(ctx, r, &usedJob{})
	if err != nil {
		return nil, err
	}
	job := &pickJob{Origin: origin}
	total := int64(0)
	for _, n := range parts {
		var own int64
		if err := transit.Decode(n.Body, &own); err != nil {
			return nil, err
		}
		total += own
		drawn := drawnRows{First: n.At}
		for i := range own {
			if !sample.Done() && sample.Take() {
				drawn.Rows = append(drawn.Rows, i)
			}
		}
		job.Drawn = append(job.Drawn, drawn)
	}
	if total != used {
		return nil, fmt.Errorf("the rows changed under the fit: %d of positive weight became %d", used, total)
	}
	picked, err := sweep.Send(ctx, r, job)
	if err != nil {
		return nil, err
	}
	p := &Points{D: len(origin)}
	for _, n := range picked {
		var own pointsWire
		if err := transit.Decode(n.Body, &own); err != nil {
			return nil, err
		}
		p.N, p.X, p.W, p.Row = p.N+own.N, append(p.X, own.X...), append(p.W, own.W...), append(p.Row, own.Row...)
	}
	return p, nil
}

package search

import (
	"context"
	"encoding/gob"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/internal/transit"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/score"
)

func init() { gob.Register(&judgeJob{}) }

// judgeJob is the pass of Judge.
type judgeJob struct{ Model []byte } // as its file holds it

// verdict is what it leaves of a part.
type verdict struct {
	Nodes     []sweep.Node
	Agreement []agreeing
	Unknown   int64
}

// agreeing is a label, from 1, and a known group with the weight of the rows that have both.
type agreeing struct {
	Label  int
	Class  string
	Weight float64
}

// pairs are the labels, from 1, and known groups of a part in the order in which they came: sums over them are rounded by that order.
type pairs struct {
	list []agreeing
	seen map[agreeing]bool
}

func (p *pairs) add(label int, class string) {
	key := agreeing{Label: label, Class: class}
	if p.seen[key] {
		return
	}
	if p.seen == nil {
		p.seen = map[agreeing]bool{}
	}
	p.seen[key] = true
	p.list = append(p.list, key)
}

// countsWire is counts as they are sent.
type countsWire struct {
	NoiseRows             int64
	Rows                  []int64
	Sizes                 []float64
	LogLik, Entropy, Best float64
}

// GobEncode implements gob.GobEncoder.
func (c *counts) GobEncode() ([]byte, error) {
	return transit.Encode(countsWire{c.noiseRows, c.rows, c.sizes, c.logLik, c.entropy, c.best})
}

// GobDecode implements gob.GobDecoder.
func (c *counts) GobDecode(b []byte) error {
	var w countsWire
	err := transit.Decode(b, &w)
	*c = counts{w.NoiseRows, w.Rows, w.Sizes, w.LogLik, w.Entropy, w.Best}
	return err
}

// Serve implements sweep.Job.
func (j *judgeJob) Serve(ctx context.Context, p *sweep.Part, src *data.Table) ([]sweep.Node, error) {
	m := new(model.Model)
	if err := m.UnmarshalJSON(j.Model); err != nil {
		return nil, err
	}
	t := newTally(m.NumLabels())
	t.pairs = new(pairs)
	if err := m.Scores(ctx, src, p.Threads, t.add); err != nil {
		return nil, err
	}
	t.sums.Close()
	v := verdict{Unknown: t.unknown}
	var err error
	if v.Nodes, err = t.sums.Nodes(); err != nil {
		return nil, err
	}
	for _, a := range t.pairs.list {
		a.Weight = t.agreement.Count(a.Label, a.Class)
		v.Agreement = append(v.Agreement, a)
	}
	n, err := sweep.NodeOf(v)
	return []sweep.Node{n}, err
}

// elsewhere gathers from rows on other machines. Weights of rows that agree are added up part by part.
func (t *Tally) elsewhere(ctx context.Context, r data.Remote, m *model.Model) error {
	own := *m
	own.Provenance = nil
	b, err := own.MarshalJSON()
	if err != nil {
		return err
	}
	parts, err := sweep.Send(ctx, r, &judgeJob{b})
	if err != nil {
		return err
	}
	for _, part := range parts {
		var v verdict
		if err := transit.Decode(part.Body, &v); err != nil {
			return err
		}
		if err := t.sums.Add(v.Nodes); err != nil {
			return err
		}
		t.unknown += v.Unknown
		for _, a := range v.Agreement {
			if t.agreement == nil {
				t.agreement = new(score.Agreement[int, string])
			}
			if err := t.agreement.Add(a.Label, a.Class, a.Weight); err != nil {
				return err
			}
		}
	}
	t.finish()
	return nil
}

package sweep

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/nearest"
	"github.com/latent-go/latent/internal/transit"
)

// A Job is a pass, as it is sent to where the rows are. Its type is registered with encoding/gob.
type Job interface {
	// Serve makes the pass over the rows of a part, src with the views over them, and returns what is left of them.
	Serve(ctx context.Context, p *Part, src *data.Table) ([]Node, error)
}

// Node is what a pass leaves of a run of chunks that is a node of the tree of additions: the 2^Level chunks from chunk At on.
type Node struct {
	At    int64
	Level int
	Body  []byte // by encoding/gob
}

// AlignedRows returns what the first row of each part of a data.Remote of so many rows has to be a multiple of, so that the nodes of the parts
// are those of the whole and sums are the same bits wherever the rows are.
func AlignedRows(rows int64) int { return mostJoined * chunkRows(rows) }

// mostJoined is how many chunks a pass may read as one: of 256 rows or more each, it makes the least part a multiple of mostChunk.
const mostJoined = 8

// envelope is a job with the views over the rows.
type envelope struct {
	Views []data.View
	Job   Job
}

// Send makes a job of the rows of r and returns the nodes of all parts, in row order.
func Send(ctx context.Context, r data.Remote, job Job) ([]Node, error) {
	b, err := transit.Encode(envelope{r.Views(), job})
	if err != nil {
		return nil, err
	}
	answers, err := r.Pass(ctx, b)
	if err != nil {
		return nil, err
	}
	var nodes []Node
	for _, a := range answers {
		var own []Node
		if err := transit.Decode(a, &own); err != nil {
			return nil, err
		}
		nodes = append(nodes, own...)
	}
	return nodes, nil
}

// nodes makes the pass over a part of the rows and returns what cannot be joined without those around it.
func nodes[A any](ctx context.Context, f *fold[A], src *data.Table) ([]Node, error) {
	if src.First%int64(f.chunk) != 0 {
		return nil, fmt.Errorf("a part begins with row %d, which is no multiple of the %d rows of a chunk", src.First, f.chunk)
	}
	t, err := f.tree(ctx, src, src.First/int64(f.chunk))
	if err != nil {
		return nil, err
	}
	return t.Nodes()
}

// NodeOf returns a node with v for its body.
func NodeOf(v any) (Node, error) {
	b, err := transit.Encode(v)
	return Node{Body: b}, err
}

// Part is a run of the rows of a data.Remote, in the memory of a machine that makes passes over it. It makes one pass at a time.
type Part struct {
	Table   *data.Table // its First is a multiple of AlignedRows
	Threads int

	mu     sync.Mutex
	viewed map[string]*data.Table // by the views over them
	locals map[string]*Local      // by views, origin and rows
	last   string                 // the views of the job that is served
	states []numbered             // of k-means, that used last at the end
}

// Serve makes the pass that job, from Send, asks for and returns the nodes it leaves.
func (p *Part) Serve(ctx context.Context, job []byte) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var e envelope
	if err := transit.Decode(job, &e); err != nil {
		return nil, err
	}
	if e.Job == nil {
		return nil, errors.New("a job without a pass")
	}
	src, err := p.view(ctx, e.Views)
	if err != nil {
		return nil, err
	}
	list, err := e.Job.Serve(ctx, p, src)
	if err != nil {
		return nil, err
	}
	return transit.Encode(list)
}

// view returns the rows under some views, which stay in memory for passes to come.
func (p *Part) view(ctx context.Context, views []data.View) (*data.Table, error) {
	p.last = ""
	if len(views) == 0 {
		return p.Table, nil
	}
	key, err := transit.Encode(views)
	if err != nil {
		return nil, err
	}
	p.last = string(key)
	if t := p.viewed[p.last]; t != nil {
		return t, nil
	}
	var src data.Source = p.Table
	for _, v := range views {
		src = v.Rows(src)
	}
	t, err := held(ctx, src, p.Table)
	if err != nil {
		return nil, err
	}
	if p.viewed == nil {
		p.viewed = map[string]*data.Table{}
	}
	p.viewed[p.last] = t
	return t, nil
}

// held reads src, of the rows of below, into memory.
func held(ctx context.Context, src data.Source, below *data.Table) (*data.Table, error) {
	_, d := src.Shape()
	t := &data.Table{N: below.N, D: d, First: below.First, Sequence: below.Sequence, Row: below.Row, ID: below.ID, Truth: below.Truth}
	err := data.EachBlock(ctx, src, func(b *data.Block) error {
		t.F64, t.F32 = append(t.F64, b.F64...), append(t.F32, b.F32...)
		if b.W != nil {
			t.W = append(t.W, b.W...)
		}
		return nil
	})
	return t, err
}

// Local returns a sweeper over src, the rows of the part under the views of the job. What it keeps serves later passes over the same rows. rows
// is the number of all rows.
func (p *Part) Local(src *data.Table, rows int64, origin []float64) *Local {
	var key strings.Builder
	fmt.Fprintf(&key, "%q %d %x", p.last, rows, origin)
	if l := p.locals[key.String()]; l != nil {
		return l
	}
	if p.locals == nil {
		p.locals = map[string]*Local{}
	}
	l := NewLocal(src, rows, origin, p.Threads)
	p.locals[key.String()] = l
	return l
}

// mostStates is how many states of k-means a part keeps: those that were used last.
const mostStates = 32

// short serves tasks of k-means by an engine and the states that earlier passes left; nil where that cannot be.
func (p *Part) short(ctx context.Context, l *Local, j *sweepJob, src *data.Table) ([]Node, error) {
	if !l.lloyd.looked {
		l.lloyd.looked, l.lloyd.engine = true, l.prepare(ctx)
	}
	if l.lloyd.engine == nil {
		return nil, ctx.Err()
	}
	tasks := make([]nearest.Task, len(j.Tasks))
	for i, w := range j.Tasks {
		tasks[i] = nearest.Task{State: p.state(j.States[i]), Theta: w.Theta, K: w.K}
	}
	total, err := l.lloyd.engine.Tallies(ctx, tasks)
	if err != nil {
		return nil, err
	}
	for i := range tasks {
		if !tasks[i].Done {
			return nil, nil
		}
	}
	n, err := NodeOf(total)
	n.At = src.First / int64(l.chunk)
	return []Node{n}, err
}

// state returns the state of this number.
func (p *Part) state(id uint64) *State {
	at := slices.IndexFunc(p.states, func(s numbered) bool { return s.id == id })
	own := numbered{id, nil}
	if at >= 0 {
		own = p.states[at]
		p.states = slices.Delete(p.states, at, at+1)
	} else {
		own.state = new(State)
		if len(p.states) == mostStates {
			p.states = slices.Delete(p.states, 0, 1)
		}
	}
	p.states = append(p.states, own)
	return own.state
}

// numbered is a state and its number.
type numbered struct {
	id    uint64
	state *State
}

// lookJob is a first pass.
type lookJob struct {
	Gaps bool
}

// Serve implements Job.
func (j *lookJob) Serve(ctx context.Context, p *Part, src *data.Table) ([]Node, error) {
	return nodes(ctx, looking(src.D, workers(p.Threads), j.Gaps), src)
}

// sweepJob is a sweep.
type sweepJob struct {
	Origin []float64
	Rows   int64
	Tasks  []wire
	Means  bool     // tasks of k-means, of which sums are rounded once
	States []uint64 // numbers of their states, which the part keeps; nil makes a plain pass
}

// wire is a task, as it is sent.
type wire struct {
	Family  family.Family
	K, D    int
	Uniform bool
	Noise   *mixture.Noise
	Bayes   *mixture.Bayes
	Theta   []float64
	Beta    float64
}

// mixture returns the mixture of the task.
func (w *wire) mixture() *mixture.Mixture {
	return &mixture.Mixture{Family: w.Family, K: w.K, D: w.D, Uniform: w.Uniform, Noise: w.Noise, Bayes: w.Bayes}
}

func wired(tasks []Task) []wire {
	list := make([]wire, len(tasks))
	for i, t := range tasks {
		m := t.Mixture
		list[i] = wire{m.Family, m.K, m.D, m.Uniform, m.Noise, m.Bayes, t.Theta, t.Beta}
	}
	return list
}

// Serve implements Job.
func (j *sweepJob) Serve(ctx context.Context, p *Part, src *data.Table) (list []Node, err error) {
	l := p.Local(src, j.Rows, j.Origin)
	tasks := make([]Task, len(j.Tasks))
	for i, w := range j.Tasks {
		tasks[i] = Task{Mixture: w.mixture(), Theta: w.Theta, Beta: w.Beta}
	}
	if j.Means {
		if j.States != nil {
			if list, err = p.short(ctx, l, j, src); err != nil || list != nil {
				return list, err
			}
		}
		return nodes(ctx, l.tallies(tasks, nil), src)
	}
	_, err = l.plain(ctx, tasks, func(f *fold[[]*family.Stats]) ([]*family.Stats, error) {
		list, err = nodes(ctx, f, src)
		return nil, err
	})
	return list, err
}

func init() {
	for _, job := range []Job{&lookJob{}, &sweepJob{}, &informationJob{}} {
		gob.Register(job)
	}
}

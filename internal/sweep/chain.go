package sweep

import (
	"context"
	"errors"
	"math"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
)

// A sweep of hidden Markov models goes through the rows sequence by sequence. A worker takes some whole sequences at a time: densities of their
// rows, the recursions of each, and the family's sums with the probabilities of states for responsibilities. A sequence of many rows is cut into
// blocks. Then a first pass runs forward and keeps what it knows at the end of each block, and a second one runs back: workers score blocks and
// gather their sums side by side, while the recursions go from block to block in order. So memory is k numbers for each block and for each row
// of the blocks under way, never of all rows.

// chained serves tasks of hidden Markov models, and returns nil for any other.
func (l *Local) chained(ctx context.Context, tasks []Task) ([]*family.Stats, error) {
	stats := make([]*family.Stats, len(tasks))
	var own []Task
	for _, t := range tasks {
		if t.Mixture.Chain {
			own = append(own, t)
		}
	}
	if own == nil {
		return stats, nil
	}
	if _, remote := l.src.(data.Remote); remote {
		return nil, errors.New("sequences are not fitted where rows are on other machines; read the file on this one")
	}
	n := len(own)
	for _, t := range own[:n] {
		if t.Beta != 1 { // whose log-likelihood is known at 1 alone
			own = append(own, Task{Mixture: t.Mixture, Theta: t.Theta, Beta: 1})
		}
	}
	sums, err := l.chains(ctx, own)
	if err != nil {
		return nil, err
	}
	plain := sums[n:]
	for t := range tasks {
		if !tasks[t].Mixture.Chain {
			continue
		}
		s := sums[0]
		sums = sums[1:]
		if s.LogLik = s.F; tasks[t].Beta != 1 {
			s.LogLik, plain = plain[0].F, plain[1:]
		}
		stats[t] = s
	}
	return stats, nil
}

// chains makes a sweep for tasks that are all of hidden Markov models.
func (l *Local) chains(ctx context.Context, tasks []Task) ([]*family.Stats, error) {
	bound, err := bind(ctx, tasks)
	if err != nil {
		return nil, err
	}
	unkept := Local{origin: l.origin, threads: l.threads} // panels begin where sequences do
	packer, _ := unkept.packer(ctx, tasks)
	workers := l.idle.take(tasks, l.threads)
	total := Tree[[]*family.Stats]{Merge: mergeStats}
	first := int64(0)
	err = l.pieces(ctx, func(t *data.Table, jobs *jobs) error {
		p := &chainPass{Local: l, tasks: tasks, bound: bound, packer: packer, workers: workers, jobs: jobs, table: t, stopped: stopper(ctx, tasks)}
		part, err := p.run(ctx, first)
		if err != nil {
			return err
		}
		for _, n := range part.stack {
			total.Push(n.at, n.level, n.acc)
		}
		first += int64(len(jobs.back))
		return nil
	})
	if err != nil {
		return nil, err
	}
	l.idle.put(tasks, workers)
	sums, ok := total.Total()
	if !ok {
		sums = newStats(tasks)
	}
	for t, s := range sums {
		tasks[t].Mixture.CloseChain(tasks[t].Theta, tasks[t].Beta, s)
	}
	return sums, nil
}

// chainPass is a sweep of hidden Markov models over the rows of a table.
type chainPass struct {
	*Local
	tasks   []Task
	bound   []*mixture.Bound
	packer  *packer
	workers []*worker
	table   *data.Table
	jobs    *jobs
	courses []courses // of each long sequence
	stopped func() error
}

// run makes the pass, whose first job has this number among those of all rows.
func (p *chainPass) run(ctx context.Context, first int64) (*Tree[[]*family.Stats], error) {
	p.courses = p.jobs.newCourses(p.bound)
	if err := p.ahead(ctx); err != nil {
		return nil, err
	}
	for _, cs := range p.courses {
		cs.turnBack(p.bound)
	}
	var spare pool[[]*family.Stats]
	f := &fold[[]*family.Stats]{
		threads: p.threads, reuse: spare.put, merge: mergeStats,
		fresh: func() []*family.Stats {
			if s, ok := spare.get(); ok {
				for _, t := range s {
					t.Reset()
				}
				return s
			}
			return newStats(p.tasks)
		},
		work: func(id int, b *data.Block, acc []*family.Stats) error {
			return p.each(id, b, func(r *chainRows, t int, j *job) {
				if j.of == nil {
					r.sequences(acc[t])
				} else {
					r.back(acc[t], j, &p.courses[j.of.number][t])
				}
				r.gather(acc[t])
			})
		},
	}
	return f.tree(ctx, &jobSource{p.table, p.jobs.back}, first)
}

// ahead runs forward through the blocks of long sequences, and again, with logarithms, for those that need them.
func (p *chainPass) ahead(ctx context.Context) error {
	for _, logs := range []bool{false, true} {
		some := !logs && len(p.courses) > 0
		for _, cs := range p.courses {
			for t := range cs {
				cs[t].turn.next = 0
				some = some || cs[t].logs
			}
		}
		if !some {
			return nil
		}
		f := &fold[struct{}]{
			threads: p.threads, fresh: func() (none struct{}) { return none }, reuse: func(struct{}) {}, merge: func(_, _ struct{}) {},
			work: func(id int, b *data.Block, _ struct{}) error {
				return p.each(id, b, func(r *chainRows, t int, j *job) { r.ahead(j, &p.courses[j.of.number][t], logs) })
			},
		}
		if _, err := f.tree(ctx, &jobSource{p.table, p.jobs.ahead}, 0); err != nil {
			return err
		}
	}
	return nil
}

// each calls do with the rows of b, those of a job, as worker id has them for each task.
func (p *chainPass) each(id int, b *data.Block, do func(r *chainRows, task int, j *job)) error {
	j := p.jobs.by[b.First]
	work := func() error {
		for t := range p.tasks {
			if err := p.stopped(); err != nil {
				return err
			}
			do(p.rows(id, t, b), t, j)
		}
		return nil
	}
	if j.of == nil {
		return work()
	}
	return p.courses[j.of.number].guarded(work)
}

// logProduct returns sum_t log c_t of numbers that are no less than chain.Underflow, by one logarithm for a product of several.
func logProduct(c []float64) float64 {
	sum, product := 0.0, 1.0
	for _, v := range c {
		if product *= v; product < 1e-100 || product > 1e100 {
			sum += math.Log(product)
			product = 1
		}
	}
	return sum + math.Log(product)
}

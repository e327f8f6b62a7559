package studio

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/model"
)

const (
	maxFrameBytes = 64 << 20  // of the models of a record
	maxSpaceBytes = 256 << 20 // of those of all records of a workspace: four lanes of a race at their largest
	// maxFrames is from how many frames on only every tenth step is recorded, from a tenth more on every hundredth, and so on.
	maxFrames = 100_000
)

// frame is what a page draws of a moment of a climb. Halves are the start, where rows have no groups yet; E and M, the halves of EM; and S, a step
// of an algorithm without halves.
type frame struct {
	At      int      `json:"at"`
	Half    string   `json:"half"`
	Step    int      `json:"step"` // from 1; 0 for the start
	Start   int      `json:"start"`
	F       *float64 `json:"f"`    // free energy, of centres minus the cost; null at the start
	LogLik  *float64 `json:"ll"`   // log-likelihood of the parameters; null for centres and where it is not known
	Gap     *float64 `json:"gap"`  // what the free energy is below it, at a temperature of 1
	SE      *float64 `json:"se"`   // distance from the optimum, standard errors
	Beta    *float64 `json:"beta"` // null is infinity: hard labels
	Sweeps  int      `json:"sweeps"`
	Seconds float64  `json:"seconds"`

	step int     // which of the steps seen, from 0
	next bool    // its parameters are those after the M-step
	beta float64 // of the responsibilities
}

// record is the record of a climb. Its models are 64 MB at most: beyond that those of every other step go, and frames without one of their own
// have that of the step before.
type record struct {
	mu     sync.Mutex
	frames []frame
	half   *frame            // an M-step whose log-likelihood the next step tells
	models [][2]*model.Model // by step: before and after its M-step
	bytes  int
	stride int  // models of each step whose number this divides are kept
	seen   int  // steps
	left   int  // steps that were left out because there were so many
	lost   bool // the models had to go
	began  time.Time
	limit  int // of bytes; 0 is maxFrameBytes
}

// number returns v for JSON, which has neither NaN nor infinities.
func number(v float64) *float64 {
	if v-v != 0 {
		return nil
	}
	return &v
}

// gap returns what the free energy f is below the log-likelihood ll, without the rounding of a gap that an E-step has closed.
func gap(ll, f float64) *float64 {
	d := ll - f
	if math.Abs(d) <= 1e-12*math.Abs(f) {
		d = 0
	}
	return number(d)
}

// step records a step.
func (r *record) step(p latent.Progress) {
	if r.skips(p) {
		return
	}
	m, next, pt := p.Model(), p.Next(), p.Point
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.began.IsZero() {
		r.began = time.Now()
	}
	density := m.HasDensity()
	f := frame{Half: "S", Step: p.Iteration + 1, Start: p.Start, F: number(pt.F), SE: number(p.Distance), Beta: number(pt.Beta), Sweeps: p.Sweeps, Seconds: time.Since(r.began).Seconds(),
		step: r.seen, beta: pt.Beta}
	if p.InHalves() {
		f.Half = "E"
	}
	if density {
		if f.LogLik = number(pt.LogLik); pt.Beta == 1 {
			f.Gap = gap(pt.LogLik, pt.F)
		}
	}
	if r.seen == 0 {
		start := f
		start.Half, start.Step, start.F, start.Gap, start.SE, start.Sweeps, start.Seconds = "start", 0, nil, nil, nil, 0, 0
		r.add(start)
	}
	same := r.settle(m, f.LogLik, pt.Beta)
	r.add(f)
	if p.Done == ascent.Going && f.Half == "E" {
		h := f
		h.Half, h.F, h.LogLik, h.Gap, h.SE, h.next = "M", number(pt.Lifted), nil, nil, nil, true
		r.half = &h
	}
	if same != nil {
		m = same
	}
	r.models = append(r.models, [2]*model.Model{m, next})
	r.seen++
	r.keep()
}

// skips reports whether a step is left out because there are so many.
func (r *record) skips(p latent.Progress) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	every := 1
	for n := maxFrames; len(r.frames) >= n; n += maxFrames / 10 {
		every *= 10
	}
	skips := every > 1 && p.Iteration%every != 0 && p.Done == ascent.Going
	if skips {
		r.left++
	}
	return skips
}

// settle adds the M-step that waits. Where the model m, which has the log-likelihood ll, is the one after it, it returns the copy that is
// recorded already.
func (r *record) settle(m *model.Model, ll *float64, beta float64) (same *model.Model) {
	h := r.half
	if h == nil {
		return nil
	}
	r.half = nil
	if next := r.models[h.step][1]; m != nil && next != nil && sameParameters(next, m) {
		same = next
		if h.LogLik = ll; ll != nil && h.F != nil && h.beta == 1 {
			h.Gap = gap(*ll, *h.F)
		}
	}
	r.add(*h)
	return same
}

// add appends a frame.
func (r *record) add(f frame) {
	f.At = len(r.frames)
	r.frames = append(r.frames, f)
}

// keep lets go of the models of every other step where they are too large.
func (r *record) keep() {
	most := r.limit
	if most == 0 {
		most = maxFrameBytes
	}
	r.stride = max(r.stride, 1)
	last := len(r.models) - 1
	r.bytes += weigh(r.models[last][0], nil) + weigh(r.models[last][1], r.models[last][0])
	if last > 0 && r.models[last][0] == r.models[last-1][1] {
		r.bytes -= weigh(r.models[last][0], nil)
	}
	for r.bytes > most && r.stride <= last {
		r.stride *= 2
		r.bytes = 0
		var before *model.Model
		for t := range r.models {
			if t%r.stride != 0 && t != last {
				r.models[t] = [2]*model.Model{}
			}
			r.bytes += weigh(r.models[t][0], before) + weigh(r.models[t][1], nil)
			if r.models[t][1] != nil {
				before = r.models[t][1]
			}
		}
	}
	if t := last - 1; t > 0 && t%r.stride != 0 { // it was kept as the last one only
		r.bytes -= weigh(r.models[t][0], r.models[t-1][1]) + weigh(r.models[t][1], r.models[last][0])
		r.models[t] = [2]*model.Model{}
	}
}

// weigh returns about how many bytes the parameters of m take, 0 for one that is counted already.
func weigh(m, counted *model.Model) int {
	if m == nil || m == counted {
		return 0
	}
	n := len(m.Weights) + len(m.Sizes)
	for _, rows := range [][][]float64{m.Means, m.Covariance, m.Loadings, m.Uniquenesses, m.Probabilities, m.Rates, {m.Dof}} {
		for _, row := range rows {
			n += len(row) + 3
		}
	}
	return 8*n + 500
}

// sameParameters reports whether two models have the same parameters, to the last bit.
func sameParameters(a, b *model.Model) bool {
	same := func(x, y [][]float64) bool { return slices.EqualFunc(x, y, slices.Equal[[]float64]) }
	return slices.Equal(a.Weights, b.Weights) && same(a.Means, b.Means) && same(a.Covariance, b.Covariance) && same(a.Loadings, b.Loadings) && same(a.Uniquenesses, b.Uniquenesses) && slices.Equal(a.Dof, b.Dof) && same(a.Probabilities, b.Probabilities) && same(a.Rates, b.Rates)
}

// end closes the record with the result, in the climb's own order: where the climb that was seen ended elsewhere, or none was seen, the result is a
// frame of its own. It returns for each component of the climb its label less 1.
func (r *record) end(res *latent.Result) (order []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settle(nil, nil, 1)
	order = res.Order
	if order == nil || len(r.models) == 0 {
		order = make([]int, res.K)
		for c := range order {
			order[c] = c
		}
	}
	m := res.Model.Reordered(order)
	if n := len(r.models); n > 0 && r.models[n-1][0] != nil && sameParameters(r.models[n-1][0], m) {
		return order
	}
	f := frame{Half: "S", Step: res.Iterations + 1, Start: max(res.Start, 1), LogLik: res.LogLik, F: res.LogLik, Beta: number(1), Sweeps: res.Sweeps, SE: res.Certificate.DistanceSE, step: r.seen, beta: 1}
	if res.Inertia != nil {
		f.F, f.Beta, f.beta = number(-*res.Inertia), nil, math.Inf(1)
	} else {
		f.Gap = number(0)
	}
	if n := len(r.frames); n > 0 {
		f.Seconds = r.frames[n-1].Seconds
	}
	r.add(f)
	r.models = append(r.models, [2]*model.Model{m, nil})
	r.bytes += weigh(m, nil)
	r.seen++
	return order
}

// since returns the frames from one on.
func (r *record) since(from int) []frame {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.frames[min(from, len(r.frames)):])
}

// count returns how many frames there are.
func (r *record) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.frames)
}

// at returns frame i: what its parameters are, and what its responsibilities are of, at which inverse temperature. They are nil where there is
// no such frame; shares is nil at the start.
func (r *record) at(i int) (params, shares *model.Model, beta float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i < 0 || i >= len(r.frames) || r.lost {
		return nil, nil, 0
	}
	f := &r.frames[i]
	t := f.step
	for t > 0 && r.models[t][0] == nil {
		t--
	}
	both := r.models[t]
	if params, shares = both[0], both[0]; f.next && both[1] != nil {
		params = both[1]
	}
	if f.Half == "start" {
		shares = nil
	}
	return params, shares, f.beta
}

// thinned returns of how many steps one has a frame with a model of its own, and how many steps have no frame at all.
func (r *record) thinned() (one, left int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(r.stride, 1) * ((r.seen + r.left + max(r.seen, 1) - 1) / max(r.seen, 1)), r.left
}

// size returns how many bytes the models take, about.
func (r *record) size() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bytes
}

// lose lets go of the models, and returns how many bytes they took. A record of the end alone stays: the result holds it anyway.
func (r *record) lose() (bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.models) < 2 {
		return 0
	}
	bytes, r.bytes = r.bytes, 0
	r.models, r.lost = nil, true
	return bytes
}

// gone reports whether the models had to go.
func (r *record) gone() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost
}

// trim lets go of the records of the oldest runs that have ended where those of a workspace are too large together.
func (w *space) trim(most int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := 0
	for _, n := range w.runs {
		all += n.record.size()
	}
	for i, n := range w.runs {
		if all <= most || i == len(w.runs)-1 {
			return
		}
		if n.over() {
			all -= n.record.lose()
		}
	}
}

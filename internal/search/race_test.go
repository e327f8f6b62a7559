package search

import (
	"context"
	"testing"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/plan"
)

// A hurried race has one climb that has ended at -100 nats. What becomes of the other, which has come to the last of the objectives, one a pass.
func TestClimbsFarBehindOneThatHasEndedAreStopped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		past     []float64
		distance float64
		steps    int
		change   func(*lockstep, []bool)
		want     error
	}{
		{"100 nats below, 12 in the last quarter", []float64{-900, -400, -230, -212, -200}, 2, 30, nil, errPruned},
		{"100 nats below, 13 in the last quarter", []float64{-900, -400, -230, -213, -200}, 2, 30, nil, nil},
		{"100 nats below, 3 standard errors from its maximum", []float64{-900, -400, -230, -212, -200}, 3, 30, nil, errPruned},
		{"100 nats below, 3.5 standard errors from its maximum", []float64{-900, -400, -230, -212, -200}, 3.5, 30, nil, nil},
		{"9 nats below, without a gain", []float64{-109, -109, -109, -109}, 0.5, 30, nil, nil},
		{"11 nats below, without a gain", []float64{-111, -111, -111, -111}, 0.5, 30, nil, errPruned},
		{"after few steps", []float64{-900, -400, -230, -212, -200}, 2, 19, nil, nil},
		{"behind one that climbs", []float64{-900, -400, -230, -212, -200}, 2, 30, func(l *lockstep, over []bool) {
			over[0], l.runs[0].Last.Iteration, l.runs[0].Last.Distance = false, 30, 0.06
		}, nil},
		{"behind one that has all but ended", []float64{-900, -400, -230, -212, -200}, 2, 30, func(l *lockstep, over []bool) {
			over[0], l.runs[0].Last.Iteration, l.runs[0].Last.Distance = false, 12, 0.04
		}, errPruned},
		{"behind one that seems to end after few steps", []float64{-900, -400, -230, -212, -200}, 2, 30, func(l *lockstep, over []bool) {
			over[0], l.runs[0].Last.Iteration, l.runs[0].Last.Distance = false, 11, 0.04
		}, nil},
		{"behind one that was stopped", []float64{-900, -400, -230, -212, -200}, 2, 30, func(l *lockstep, _ []bool) { l.runs[0].pruned = true }, nil},
		{"behind one that met another", []float64{-900, -400, -230, -212, -200}, 2, 30, func(l *lockstep, _ []bool) { l.runs[0].met = 2 }, nil},
		{"behind one with a degenerate component", []float64{-900, -400, -230, -212, -200}, 2, 30, func(l *lockstep, _ []bool) {
			l.degenerate = func(p *ascent.Point) bool { return p.F == -100 }
		}, nil},
		{"in no hurry", []float64{-900, -400, -230, -212, -200}, 2, 30, func(l *lockstep, _ []bool) { l.hurried = false }, nil},
		{"behind an earlier climb", []float64{-900, -400, -230, -212, -200}, 2, 30, func(l *lockstep, over []bool) {
			over[0], l.reached = false, &ascent.Point{F: -100, Beta: 1}
		}, errPruned},
		{"near the same maximum", []float64{-120, -101, -100.2, -100.1}, 0.5, 30, nil, errMet},
		{"as high, far from a maximum", []float64{-120, -101, -100.2, -100.1}, 1.5, 30, nil, nil},
		{"near a maximum that is lower", []float64{-120, -103, -101.8, -101.2}, 0.5, 30, nil, nil},
		{"as high, far from a maximum, after few steps", []float64{-120, -101, -100.2, -100.1}, 8, 19, nil, nil},
		{"near its maximum after few steps", []float64{-120, -101, -100.2, -100.1}, 0.5, 19, nil, nil},
		{"at the same place, far from a maximum", []float64{-120, -101, -100.2, -100.1}, 8, 1, func(l *lockstep, over []bool) {
			over[0], l.runs[0].Last.Iteration, l.runs[0].Last.Distance = false, 1, 8
			l.runs[1].Last.Point.Weights = []float64{80.5, 25.5} // 0.5 is 0.1 of the square root of 25
		}, errMet},
		{"at the same place as starts", []float64{-120, -101, -100.2, -100.1}, 8, 0, func(l *lockstep, over []bool) {
			over[0], l.runs[0].Last.Iteration, l.runs[0].Last.Distance = false, 0, 8
			l.runs[1].Last.Point.Weights = []float64{80.5, 25.5}
		}, nil},
		{"near one with other weights", []float64{-120, -101, -100.2, -100.1}, 0.5, 30, func(l *lockstep, _ []bool) {
			l.runs[1].Last.Point.Weights = []float64{78, 28} // 3 is more than half of the square root of 25
		}, nil},
		{"above it", []float64{-120, -101, -100.2, -99.9}, 0.5, 30, nil, nil},
	} {
		l := &lockstep{degenerate: func(*ascent.Point) bool { return false }, hurried: true, joins: true, stuck: make([]int, 2), past: make([][]float64, 2)}
		l.begin(2)
		over, reply := []bool{true, false}, make(chan answer, 1)
		l.runs[0].Last = ascent.Step{Point: &ascent.Point{F: -100, Beta: 1, Weights: []float64{25, 81}}, Iteration: 30, Distance: 0.01}
		last := len(c.past) - 1
		l.past[1] = c.past[:last]
		l.runs[1].Last = ascent.Step{Point: &ascent.Point{F: c.past[last], Beta: 1, Weights: []float64{80, 26}}, Iteration: c.steps, Distance: c.distance}
		if c.change != nil {
			c.change(l, over)
		}
		waiting, asked := []*ask{nil, {start: 1, reply: reply}}, 1
		l.prune(waiting, &asked, over)
		var got error
		if len(reply) > 0 {
			got = (<-reply).err
		}
		if got != c.want || (asked == 0) != (c.want != nil) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Five starts of two groups that overlap, 20,000 rows. Those that come to where another has ended need no certificate of their own, and agree with it.
func TestStartsThatMeetAgree(t *testing.T) {
	t.Parallel()
	f, err := New(context.Background(), fixtures.Overlapping(20_000), fixtures.Plan(plan.Spec{K: 2, NInit: 5, Init: "random", Algorithm: "em-lbfgs"}))
	if err != nil {
		t.Fatal(err)
	}
	e, err := f.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	met := 0
	for _, r := range e.Runs {
		if r.met > 0 {
			met++
		}
	}
	if s := f.agreement(e); met == 0 || e.Winner().met > 0 || s.AgreeWithBest != 1+met || s.DistinctOptima != 1 || s.Pruned != 4-met {
		t.Errorf("%d met; of 5 starts %d agree at %d optima, %d stopped", met, s.AgreeWithBest, s.DistinctOptima, s.Pruned)
	}
}

// Moves are tried on a sample only where it has rows enough for the parameters: of eight columns, 5,000 rows, 28 components have 1,259.
func TestMovesNeedRowsForTheParameters(t *testing.T) {
	t.Parallel()
	for k, want := range map[int]bool{2: true, 28: false} {
		f, err := New(context.Background(), fixtures.Lumps(6000, 8, 3), fixtures.Plan(plan.Spec{K: k}))
		if err != nil {
			t.Fatal(err)
		}
		theta, err := f.Starts(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		e := &Outcome{Runs: []Run{f.ClimbWith(context.Background(), ascent.EM{Beta: 1}, theta[0], nil)}}
		if err := f.splitAndMerge(context.Background(), e); err != nil || (e.moves != nil) != want {
			t.Errorf("%d components: moves %v (%v), want %v", k, e.moves, err, want)
		}
	}
}

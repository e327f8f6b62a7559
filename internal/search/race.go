package search

import (
	"math"
	"slices"

	"github.com/latent-go/latent/internal/ascent"
)

// When a climb is stopped for the sake of others from the same fit.
const (
	// raceNear is the estimated distance from its own optimum, in standard errors, below which a climb may be stopped.
	// Farther out the estimate says little: with 1 in place of 0.1, one fit in six lost its best start on real tables.
	raceNear = 0.1
	// raceSteps is how many steps a climb has at least.
	raceSteps = 20
	// raceGap is how far below the leader, in nats, a climb must be to be stopped.
	raceGap = 10
	// raceStuck is the number of passes in a row with a degenerate component after which a climb is stopped, if another
	// without one is over: it could win only if it left that component again.
	raceStuck = 50
	// raceEnded is the estimated distance from its own optimum, in standard errors, below which a climb counts as one that has ended, in a hurried race,
	// once it has had so many steps as raceLead: what follows, up to the certificate, may take as many passes as came before.
	raceEnded = 0.05
	raceLead  = 12
	// raceBehind is how many times what it has gained in the last quarter of its passes a climb must be below one that has ended to be stopped, in a
	// hurried race, and raceFar how many times the square of its estimated distance, which would be twice what it has still to gain. Of three starts of
	// nine kinds of groups, 5 to 40 components in 6 to 30 columns drawn with 40,000 to 100,000 rows, 3 % lost their best end that way, and 33 % of their
	// passes were saved. Twice what was gained in the second half of the passes lost 5 % for 28 %; with 0.1 or 0.3 in place of raceEnded 6 % and 10 % were lost.
	raceBehind = 8
	raceFar    = 10
	// meetNear is the estimated distance of two climbs from their maxima, in standard errors, meetGap how far one is below the other, nats, and meetWeights
	// how much the weights of their components differ, in standard errors, for them to be on their way to the same maximum. Climbs whose weights differ by
	// no more than meetSame are at the same place, however far that is from a maximum: starts of k-means often end at one partition but for a few rows. All 13
	// pairs of such fits that differed by 0.25 ended at one maximum; at 0.26 one pair ended 21 nats apart.
	meetNear    = 1
	meetGap     = 1
	meetWeights = 0.5
	meetSame    = 0.15
)

// prune ends the climbs that would not win. All climbs wait while it looks, so that what it sees does not depend on timing. over tells which climbs
// have ended.
func (l *lockstep) prune(waiting []*ask, asked *int, over []bool) {
	if len(waiting) == 1 && !l.hurried {
		return
	}
	var r standing
	if l.degenerate != nil {
		r = l.standing(over)
	}
	why := make([]error, len(waiting))
	for i, a := range waiting {
		if a == nil {
			continue
		}
		s := l.runs[i].Last
		if s.Point == nil || s.Point.Beta != 1 || s.Iteration == 0 {
			continue
		}
		switch {
		case l.degenerate != nil && s.Iteration >= raceSteps && (r.sound && l.stuck[i] >= raceStuck || l.outraced(r, i)):
			l.runs[i].pruned, why[i] = true, errPruned
		case l.joins && l.meets(i):
			why[i] = errMet
		}
	}
	dismiss(waiting, asked, why)
}

// dismiss ends the climbs for which why says what ends them. A climb that has its answer runs on, so that it comes after all looks at what climbs have come to.
func dismiss(waiting []*ask, asked *int, why []error) {
	for i, err := range why {
		if err != nil {
			waiting[i].reply <- answer{err: err}
			waiting[i] = nil
			*asked--
		}
	}
}

// standing is how a race stands.
type standing struct {
	top   float64 // the highest objective of a climb without a degenerate component; -Inf without one
	ended float64 // the highest of one that has ended, or almost
	sound bool    // one that has ended, or was stopped, has no degenerate component
}

// standing notes the objectives after a pass and returns how the race stands.
func (l *lockstep) standing(over []bool) standing {
	r := standing{top: math.Inf(-1), ended: math.Inf(-1)}
	if l.reached != nil {
		r.ended = ObjectiveOf(l.reached)
	}
	for i := range l.runs {
		own := &l.runs[i]
		p := own.Last.Point
		if p == nil || p.Beta != 1 {
			continue
		}
		f := ObjectiveOf(p)
		if l.hurried {
			l.past[i] = append(l.past[i], f)
		}
		if l.degenerate(p) {
			l.stuck[i]++
			continue
		}
		l.stuck[i] = 0
		r.top, r.sound = max(r.top, f), r.sound || own.Last.Done.Converged() || own.pruned
		ended := over[i] || l.hurried && own.Last.Iteration >= raceLead && own.Last.Distance < raceEnded
		if ended && !own.pruned && own.met == 0 && own.Err == nil {
			r.ended = max(r.ended, f)
		}
	}
	return r
}

// meets reports whether climb i is on its way to the maximum that another, which is as high, has come to or is on its way to. It keeps which one.
func (l *lockstep) meets(i int) bool {
	own := &l.runs[i]
	f := ObjectiveOf(own.Last.Point)
	near := func(s ascent.Step) bool { return s.Iteration >= raceSteps && s.Distance < meetNear }
	for j := range l.runs {
		other := &l.runs[j]
		if j == i || other.pruned || other.met > 0 || other.Err != nil || other.Last.Point == nil {
			continue
		}
		above := ObjectiveOf(other.Last.Point) - f
		if !(above >= 0 && above < meetGap && (above > 0 || j < i)) {
			continue
		}
		within := meetSame
		if near(own.Last) && near(other.Last) {
			within = meetWeights
		}
		if alike(own.Last.Point.Weights, other.Last.Point.Weights, within) {
			own.met = 1 + j
			return true
		}
	}
	return false
}

// alike reports whether components have the same weights, in some order, to within a share of their standard errors.
func alike(a, b []float64, within float64) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	for i, w := range a {
		if !(math.Abs(w-b[i]) <= within*math.Sqrt(w)) {
			return false
		}
	}
	return true
}

// outraced reports whether climb i would not win.
func (l *lockstep) outraced(r standing, i int) bool {
	s := l.runs[i].Last
	f := ObjectiveOf(s.Point)
	return s.Distance < raceNear && f+raceGap < r.top || l.hurried && f+max(raceGap, raceBehind*l.pace(i), raceFar*s.Distance*s.Distance) < r.ended
}

// pace returns what climb i has gained in the last quarter of the passes so far, nats.
func (l *lockstep) pace(i int) float64 {
	past := l.past[i]
	return past[len(past)-1] - past[len(past)*3/4]
}

// forgo ends the climbs that will not reach the objective at which their candidate would be chosen.
func (l *lockstep) forgo(waiting []*ask, asked *int) {
	if l.rival == nil {
		return
	}
	why := make([]error, len(waiting))
	for i, a := range waiting {
		if own := &l.runs[i]; a != nil && l.rival.cannotWin(own.Last) {
			own.Forgone, own.pruned, why[i] = true, true, errForgone
		}
	}
	dismiss(waiting, asked, why)
}

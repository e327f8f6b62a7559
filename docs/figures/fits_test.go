package main

import (
	"math"
	"testing"
)

func squared(a []float64, b [2]float64) float64 {
	return (a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1])
}

// lloyd returns what one step of k-means makes of the centres, and the cost of the labels they give.
func lloyd(rows [][]float64, centres [][2]float64) (next [][2]float64, cost float64) {
	next = make([][2]float64, len(centres))
	size := make([]float64, len(centres))
	for _, x := range rows {
		best := 0
		for c := range centres {
			if squared(x, centres[c]) < squared(x, centres[best]) {
				best = c
			}
		}
		cost += squared(x, centres[best])
		size[best]++
		next[best][0] += x[0]
		next[best][1] += x[1]
	}
	for c := range next {
		next[c][0] /= size[c]
		next[c][1] /= size[c]
	}
	return next, cost
}

func TestOnlyAntiAnnealingLeavesTheBadStart(t *testing.T) {
	s := newStuck()
	for i, c := range s.climbs {
		for j, p := range c.paths {
			if math.Sqrt(squared(badStart[j], p[0])) > 1e-12 {
				t.Errorf("climb %d, centre %d begins at %v, not %v", i, j, p[0], badStart[j])
			}
			near := math.Inf(1) // the end is a centre of the model
			for _, m := range c.result.Model.Means {
				near = min(near, squared(m, p[len(p)-1]))
			}
			if near > 1e-4 {
				t.Errorf("climb %d: centre %d ends %v from the model's", i, j, math.Sqrt(near))
			}
		}
	}
	kmeans, em, annealed := s.climbs[0], s.climbs[1], s.climbs[2]
	if s.found(kmeans) == 3 || s.found(em) == 3 || s.found(annealed) != 3 {
		t.Errorf("%d, %d and %d groups found", s.found(kmeans), s.found(em), s.found(annealed))
	}
	if !(*annealed.result.LogLik > *em.result.LogLik+50) {
		t.Errorf("log-likelihoods %v and %v", *annealed.result.LogLik, *em.result.LogLik)
	}
	var path, truth [][2]float64
	for _, c := range badStart {
		path = append(path, [2]float64(c))
	}
	for _, c := range s.truth {
		truth = append(truth, [2]float64(c))
	}
	for n := range kmeans.paths[0] { // every dot of k-means is a step of the loop above, the last one is at rest
		for j := range path {
			if math.Sqrt(squared(path[j][:], kmeans.paths[j][n])) > 1e-9 {
				t.Fatalf("k-means, step %d, centre %d at %v, want %v", n, j, kmeans.paths[j][n], path[j])
			}
		}
		path, _ = lloyd(s.rows, path)
	}
	end, cost := lloyd(s.rows, path)
	for j := range end {
		if squared(end[j][:], path[j]) > 1e-18 {
			t.Errorf("k-means is not at rest: centre %d moves from %v to %v", j, path[j], end[j])
		}
	}
	if math.Abs(cost-*kmeans.result.Inertia) > 1e-6 {
		t.Errorf("inertia %v, want %v", *kmeans.result.Inertia, cost)
	}
	if _, best := lloyd(s.rows, truth); !(cost > 2*best) {
		t.Errorf("k-means ends at a cost of %v, the true centres cost %v", cost, best)
	}
}

func TestKMeansPrefersToCutTheGroups(t *testing.T) {
	s := newShapes()
	for i, l := range s.fits {
		if want := mostlyRight(l.labels, s.from); l.right > want { // one label may stand for one group only
			t.Errorf("fit %d: %d rows right, more than %d", i, l.right, want)
		}
	}
	n := float64(len(s.rows))
	if kmeans, mixture := float64(s.fits[0].right)/n, float64(s.fits[1].right)/n; kmeans > 0.75 || mixture < 0.99 {
		t.Errorf("%v of rows right by k-means, %v by the mixture", kmeans, mixture)
	}
	var pairs float64 // the inertia of a group is the sum of squared distances of its pairs, over its size
	size := map[int]float64{}
	for _, g := range s.from {
		size[g]++
	}
	for i, a := range s.rows {
		for j, b := range s.rows[:i] {
			if s.from[i] == s.from[j] {
				pairs += squared(a, [2]float64(b)) / size[s.from[i]]
			}
		}
	}
	if math.Abs(pairs-s.cost()) > 1e-8*pairs {
		t.Errorf("the true groups cost %v, want %v", s.cost(), pairs)
	}
	if !(*s.fits[0].result.Inertia < 0.8*pairs) {
		t.Errorf("k-means pays %v, the true groups cost %v", *s.fits[0].result.Inertia, pairs)
	}
}

// mostlyRight counts the rows that carry the commonest label of their group.
func mostlyRight(labels []int32, from []int) int {
	count := map[[2]int]int{}
	most := map[int]int{}
	for i, l := range labels {
		key := [2]int{from[i], int(l)}
		count[key]++
		most[from[i]] = max(most[from[i]], count[key])
	}
	n := 0
	for _, m := range most {
		n += m
	}
	return n
}

func TestAgreementIsThatOfTheBestNames(t *testing.T) {
	labels, from := []int32{1, 1, 1, 0, 0, 2, 2}, []int{0, 0, 1, 1, 1, 1, 2}
	if got := agreeing(labels, from, 3); got != 5 { // 1 is group 0, 0 is group 1, 2 is group 2
		t.Errorf("%d rows agree, want 5", got)
	}
}

func TestSmallGroupIsFoundLongAfterTheLogLikelihoodIsFlat(t *testing.T) {
	p := newPlateau()
	em, fast := p.runs[0], p.runs[1]
	if em.algorithm != "em" || fast.algorithm != "em-lbfgs" || p.rows != 8200 {
		t.Fatalf("%s and %s on %d rows", em.algorithm, fast.algorithm, p.rows)
	}
	for i := 1; i < len(em.logLik); i++ {
		if em.logLik[i] < em.logLik[i-1]-1e-9 {
			t.Fatalf("EM falls at step %d, from %v to %v", i, em.logLik[i-1], em.logLik[i])
		}
	}
	last, lastFast := len(em.sweep)-1, len(fast.sweep)-1
	if math.Abs(em.logLik[last]-fast.logLik[lastFast]) > 0.01 {
		t.Errorf("EM ends at %v, em-lbfgs at %v", em.logLik[last], fast.logLik[lastFast])
	}
	for _, r := range p.runs {
		if r.certified == nil || *r.certified > 0.01 {
			t.Errorf("%s has not finished", r.algorithm)
		}
	}
	stop := p.stopped(em)
	if gain := (em.logLik[stop] - em.logLik[stop-1]) / 8200; gain >= usualTol || stop > 20 {
		t.Errorf("step %d, where the log-likelihood rises by %v a row, is no usual stop", stop, gain)
	}
	if em.distance[stop] < 1.5 || em.distance[last] > 0.3 || fast.distance[lastFast] > 0.3 {
		t.Errorf("distances %v at the stop, %v and %v at the ends", em.distance[stop], em.distance[last], fast.distance[lastFast])
	}
	if em.sweep[last] < 10*fast.sweep[lastFast] {
		t.Errorf("EM takes %v sweeps, em-lbfgs %v", em.sweep[last], fast.sweep[lastFast])
	}
}

// Log-likelihoods of the plateau are those of a plain sum, at the start and at the end of EM.
func TestPlateauIsTheLogLikelihood(t *testing.T) {
	p := newPlateau()
	rows := unbalanced()
	for _, r := range p.runs {
		for _, i := range []int{0, len(r.models) - 1} {
			m, sum := r.models[i], 0.0
			for _, x := range rows {
				density := 0.0
				for c, w := range m.Weights {
					sd := math.Sqrt(m.Covariance[c][0])
					density += w * normal(x[0], m.Means[c][0], sd) * normal(x[1], m.Means[c][1], sd)
				}
				sum += math.Log(density)
			}
			if at := []int{0, len(r.logLik) - 1}[i]; math.Abs(sum-r.logLik[at]) > 1e-6 {
				t.Errorf("%s: log-likelihood %v, want %v", r.algorithm, r.logLik[at], sum)
			}
		}
	}
}

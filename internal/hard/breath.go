package hard

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// inhale returns theta with m more centres: each beside one of the m centres of the largest cost, or at rows drawn by
// their share of the cost.
func (s *search) inhale(theta []float64, m int, beside bool) (wide []float64, ok bool) {
	p, d := s.points, s.points.D
	near := &s.best
	if !s.compare(near, theta) {
		return nil, false
	}
	cost, sum, weight := make([]float64, len(theta)/d), make([]float64, p.N), 0.0
	total := 0.0
	for i, c := range near.label[:p.N] {
		w := p.W[i] * near.first[i]
		cost[c] += w
		total += w
		sum[i] = total
		weight += p.W[i]
	}
	wide = slices.Clone(theta)
	if beside {
		shift := nudge * math.Sqrt(total/weight)
		order := ascending(cost)
		for i := range m {
			c := order[len(order)-1-i]
			for _, v := range theta[c*d : c*d+d] {
				wide = append(wide, v+shift*(2*s.rng.Float64()-1))
			}
		}
		return wide, true
	}
	for range m {
		u := s.rng.Float64() * total
		i := sort.Search(p.N-1, func(i int) bool { return sum[i] > u })
		wide = append(wide, p.At(i)...)
	}
	return wide, true
}

// nudge is how far a new centre stands beside another, in root mean squared distances of a row from its centre.
const nudge = 0.01

// exhale returns theta without the m centres of least use, the sum of what their rows would lose without them. Centres
// near one that goes stay, for its rows are theirs now, as long as enough others are left.
func (s *search) exhale(theta []float64, m int) (narrow []float64, ok bool) {
	d := s.points.D
	k := len(theta) / d
	near := &s.wide
	if !s.compare(near, theta) {
		return nil, false
	}
	use := make([]float64, k)
	for i, c := range near.label[:s.points.N] {
		use[c] += s.points.W[i] * (near.second[i] - near.first[i])
	}
	between, close := distances(theta, k, d)
	gone, stays, held := make([]bool, k), make([]bool, k), 0
	left := m
	for _, c := range ascending(use) {
		if left == 0 {
			break
		}
		if stays[c] {
			continue
		}
		gone[c] = true
		left--
		for _, b := range ascending(between[c*k : c*k+k]) {
			if between[c*k+b] >= close || held+m >= k {
				break
			}
			if !gone[b] && !stays[b] {
				stays[b] = true
				held++
			}
		}
	}
	narrow = slices.Clone(theta[:(k-m)*d])
	for c, last := 0, k-m; c < k-m; c++ {
		if gone[c] {
			for ; gone[last]; last++ {
			}
			copy(narrow[c*d:c*d+d], theta[last*d:])
			last++
		}
	}
	return narrow, true
}

// neighbourly is how close two centres are neighbours, in mean distances of a centre from the one next to it: Fritzke's.
const neighbourly = 1.1

// distances returns the k x k distances between centres, and the one below which two are neighbours.
func distances(theta []float64, k, d int) (between []float64, close float64) {
	between = make([]float64, k*k)
	for a := range k {
		next := math.Inf(1)
		for b := range k {
			between[a*k+b] = math.Sqrt(sqdist(theta[a*d:a*d+d], theta[b*d:b*d+d]))
			if a != b {
				next = min(next, between[a*k+b])
			}
		}
		close += neighbourly * next / float64(k)
	}
	return between, close
}

// ascending returns the indexes of v, that of its least value first.
func ascending(v []float64) []int {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v[a], v[b]) })
	return order
}

func sqdist(x, c []float64) (sum float64) {
	c = c[:len(x)]
	for j, v := range x {
		t := v - c[j]
		sum = math.FMA(t, t, sum) // the bits of kern.SqdistFused
	}
	return sum
}

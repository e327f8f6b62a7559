package profile

import (
	"cmp"
	"math"
	"slices"
)

// moments are those of numbers with weights. Blocks of numbers are taken about their own mean and merged (Chan, Golub and LeVeque 1983), so
// that nothing cancels.
type moments struct{ weight, mean, square float64 }

// add adds the numbers x with weights w; NaN is none.
func (m *moments) add(x, w []float64) {
	var own moments
	for i, v := range x {
		if v == v {
			own.weight += w[i]
			own.mean += w[i] * v
		}
	}
	if own.weight <= 0 {
		return
	}
	own.mean /= own.weight
	for i, v := range x {
		if v == v {
			own.square += w[i] * (v - own.mean) * (v - own.mean)
		}
	}
	m.merge(own)
}

// merge adds the numbers of o.
func (m *moments) merge(o moments) {
	total := m.weight + o.weight
	if total <= 0 {
		return
	}
	apart := o.mean - m.mean
	m.square += o.square + apart*apart*m.weight*(o.weight/total)
	m.mean += apart * (o.weight / total)
	m.weight = total
}

// cell returns mean and standard deviation; nil where there is nothing.
func (m *moments) cell() (c Cell) {
	if m.weight > 0 {
		c.Mean, c.SD = new(m.mean), new(math.Sqrt(m.square/m.weight))
	}
	return c
}

// varianceBetween returns the share of the squares about the mean of all that lies between the groups; nil where there are none.
func varianceBetween(groups []moments, all *moments) *float64 {
	between := 0.0
	for _, g := range groups {
		between += g.weight * (g.mean - all.mean) * (g.mean - all.mean)
	}
	return ratio(between, all.square)
}

// entropyBetween returns the share of the entropy of the levels that the groups tell, their mutual information over the entropy; nil where
// there is none. shares has the weight of level l in group g at l*(k+1)+g, and over all groups at g = k.
func entropyBetween(shares []float64, k int) *float64 {
	width := k + 1
	levels := len(shares) / width
	total, groups := 0.0, make([]float64, k)
	for l := range levels {
		total += shares[l*width+k]
		for g := range groups {
			groups[g] += shares[l*width+g]
		}
	}
	entropy, mutual := 0.0, 0.0
	for l := range levels {
		p := shares[l*width+k] / total
		if !(p > 0) {
			continue
		}
		entropy -= p * math.Log(p)
		for g, weight := range groups {
			if joint := shares[l*width+g] / total; joint > 0 {
				mutual += joint * math.Log(joint/(p*(weight/total)))
			}
		}
	}
	if !(entropy > 0) {
		return nil
	}
	return new(min(max(mutual/entropy, 0), 1))
}

// ascending returns where the numbers in x are, the smallest first; NaN is none.
func ascending(x []float64) (at []int32) {
	for i, v := range x {
		if v == v {
			at = append(at, int32(i))
		}
	}
	slices.SortFunc(at, func(a, b int32) int { return cmp.Or(cmp.Compare(x[a], x[b]), cmp.Compare(a, b)) })
	return at
}

// quartiles returns those of the numbers x[i] with weights w[i] for the i in at, in ascending order of x. Each is the smallest number up to
// which a quarter, a half, three quarters of the weight lies, or the middle between it and the next where that is so exactly. It is nil
// where there is no weight.
func quartiles(x, w []float64, at []int32) *[3]float64 {
	total := 0.0
	for _, i := range at {
		total += w[i]
	}
	if !(total > 0) {
		return nil
	}
	var q [3]float64
	sum, next, exact := 0.0, 0, 0 // quartiles from exact to next wait for the number behind them
	for _, i := range at {
		if w[i] == 0 {
			continue
		}
		for ; exact < next; exact++ {
			q[exact] += (x[i] - q[exact]) / 2
		}
		sum += w[i]
		for next < 3 && sum >= total*float64(next+1)/4 {
			q[next] = x[i]
			if sum > total*float64(next+1)/4 {
				exact = next + 1
			}
			next++
		}
		if next == 3 && exact == 3 {
			break
		}
	}
	for ; next < 3; next++ { // rounding has kept the sum below the total
		q[next] = x[at[len(at)-1]]
	}
	return &q
}

package score

import "math"

// Overlaps are sums over rows of the responsibilities of K groups, by which Hennig merges the components of a mixture that
// overlap: DEMP, "directly estimated misclassification probabilities" (Hennig 2010). Sums of some rows add to those of others.
type Overlaps struct {
	K     int
	Taken []float64 // K x K, row-major: at a*K+b the weight of group b in rows where a is at least as likely, Σ w r_b [r_a >= r_b]

	pairs [][2]int // that are added up
}

// NewOverlaps returns the empty sums of k groups: of all pairs where with is -1, else of the pairs with that group alone.
func NewOverlaps(k, with int) *Overlaps {
	return &Overlaps{K: k, Taken: make([]float64, k*k), pairs: pairsOf(k, with)}
}

// Add adds a row of weight w and responsibilities r, of length K.
func (o *Overlaps) Add(r []float64, w float64) {
	for _, p := range o.pairs {
		a, b := p[0], p[1]
		if r[a] >= r[b] {
			o.Taken[a*o.K+b] += w * r[b]
		}
		if r[b] >= r[a] {
			o.Taken[b*o.K+a] += w * r[a]
		}
	}
}

// Merge adds the sums of the rows that follow.
func (o *Overlaps) Merge(next *Overlaps) { addTo(o.Taken, next.Taken) }

// Of returns the larger of the two shares in which groups a and b are taken for each other: of b in rows where a is at least
// as likely, Taken / (total weight_b), and the reverse. weights are those of the groups in the mixture, total is the weight of
// all rows. A group without weight overlaps with none.
func (o *Overlaps) Of(a, b int, weights []float64, total float64) float64 {
	share := func(of, by int) float64 {
		if !(total*weights[of] > 0) {
			return 0
		}
		return o.Taken[by*o.K+of] / (total * weights[of])
	}
	return max(share(b, a), share(a, b))
}

// Entropies are sums over rows of the responsibilities of K groups, by which Baudry and others merge the components of a mixture
// (Baudry, Raftery, Celeux, Lo and Gottardo 2010). Sums of some rows add to those of others.
type Entropies struct {
	K int
	// Gain is K x K, row-major: at a*K+b for a < b what merging the two takes from the entropy Σ w Σ_c -r_c ln r_c, in nats.
	Gain []float64

	pairs [][2]int  // that are added up
	logs  []float64 // of the row at hand
}

// NewEntropies returns the empty sums of k groups: of all pairs where with is -1, else of the pairs with that group alone.
func NewEntropies(k, with int) *Entropies {
	return &Entropies{K: k, Gain: make([]float64, k*k), pairs: pairsOf(k, with), logs: make([]float64, k)}
}

// Add adds a row of weight w and responsibilities r, of length K.
func (e *Entropies) Add(r []float64, w float64) {
	for c, v := range r {
		e.logs[c] = math.Log(v)
	}
	for _, p := range e.pairs {
		a, b := p[0], p[1]
		if r[a] < r[b] {
			a, b = b, a
		}
		e.Gain[p[0]*e.K+p[1]] += w * joined(r[a], r[b], e.logs[a], e.logs[b])
	}
}

// joined returns f(p + q) - f(p) - f(q) with f(x) = x ln x, for p >= q and their logarithms. Written so, p ln(1 + q/p) + q ln((p + q)/q), all
// terms are positive and no digits are lost.
func joined(p, q, logP, logQ float64) float64 {
	if q == 0 {
		return 0
	}
	more := q / p
	if more > 1e-17 { // else it is its own logarithm, and most pairs of a row are far apart
		more = math.Log1p(more)
	}
	return p*more + q*(logP+more-logQ)
}

// Merge adds the sums of the rows that follow.
func (e *Entropies) Merge(next *Entropies) { addTo(e.Gain, next.Gain) }

// pairsOf returns the pairs a < b of k groups in order, those with one of them alone where with is not -1.
func pairsOf(k, with int) (pairs [][2]int) {
	for a := range k {
		for b := a + 1; b < k; b++ {
			if with < 0 || a == with || b == with {
				pairs = append(pairs, [2]int{a, b})
			}
		}
	}
	return pairs
}

func addTo(sum, next []float64) {
	for i, v := range next {
		sum[i] += v
	}
}

// Bend returns at how many clusters the entropy bends, entropy[j] being that of j+1 clusters: the number from 2 to
// len(entropy)-1 at which two straight lines that share its point, one through the points before it and one through those after,
// leave the smallest sum of squares; the first of equals. Of fewer than three numbers there is no bend, and it returns 0.
func Bend(entropy []float64) int {
	best, at := math.Inf(1), 0
	for m := 2; m < len(entropy); m++ {
		if rest := aroundLine(entropy[:m]) + aroundLine(entropy[m-1:]); rest < best {
			best, at = rest, m
		}
	}
	return at
}

// aroundLine returns the sum of squares around the straight line through y at 0, 1, 2 ... by least squares.
func aroundLine(y []float64) (rest float64) {
	n := float64(len(y))
	mean, slope, squares := 0.0, 0.0, 0.0
	for _, v := range y {
		mean += v / n
	}
	for i, v := range y {
		x := float64(i) - (n-1)/2
		slope += x * (v - mean)
		squares += x * x
	}
	for i, v := range y {
		off := v - mean - slope/squares*(float64(i)-(n-1)/2)
		rest += off * off
	}
	return rest
}

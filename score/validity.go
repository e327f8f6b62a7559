package score

import (
	"fmt"
	"math"
)

// A Partition is data with a label for every row: what the validity indices judge. They only read it.
type Partition struct {
	N, D   int
	X      []float64 // N x D, finite
	Labels []int     // N; any integers, equal ones are one cluster
	W      []float64 // N row weights, finite and >= 0; nil means all 1

	// Threads is the number of workers of Silhouette; 0 means GOMAXPROCS. It changes no bit of a result.
	Threads int
}

// An UndefinedError says that an index has no value on this partition. The run can go on: the index is what is missing.
type UndefinedError struct {
	Index string // such as "Davies-Bouldin index"
	Why   string
}

// Error names the index and says why it is undefined.
func (e *UndefinedError) Error() string { return e.Index + " is undefined: " + e.Why }

// clusters is a partition with its labels numbered 0..k-1 in order of appearance.
type clusters struct {
	*Partition
	k     int
	label []int     // N; -1 for rows of weight 0, which are not there
	size  []float64 // k, summed weights
	total float64   // Σ w
	scale float64   // a power of two to multiply X with; the indices do not depend on it
	of    *whole    // what the rows are a sample of; nil where they are all
}

// check validates p and numbers the clusters. It returns an *UndefinedError unless 2 <= k < n.
func (p *Partition) check(index string) (*clusters, error) {
	c, err := p.clusters(index)
	if err != nil {
		return nil, err
	}
	return c, defined(index, c.k, c.total)
}

// clusters validates p and numbers the clusters.
func (p *Partition) clusters(index string) (*clusters, error) {
	switch {
	case p.N < 0 || p.D < 0 || len(p.X) != p.N*p.D:
		return nil, fmt.Errorf("%s: %d numbers for %d rows of %d columns", index, len(p.X), p.N, p.D)
	case len(p.Labels) != p.N:
		return nil, fmt.Errorf("%s: %d labels for %d rows", index, len(p.Labels), p.N)
	case p.W != nil && len(p.W) != p.N:
		return nil, fmt.Errorf("%s: %d weights for %d rows", index, len(p.W), p.N)
	}
	c := &clusters{Partition: p, label: make([]int, p.N)}
	number := make(map[int]int)
	for i, l := range p.Labels {
		w := p.weight(i)
		if !(w >= 0) || math.IsInf(w, 1) {
			return nil, fmt.Errorf("%s: weight %v of row %d (from 0) is not a finite number of at least 0", index, w, i)
		}
		if w == 0 {
			c.label[i] = -1
			continue
		}
		j, seen := number[l]
		if !seen {
			j = c.k
			number[l] = j
			c.k++
			c.size = append(c.size, 0)
		}
		c.label[i] = j
		c.size[j] += w
		c.total += w
	}
	return c, c.setScale(index)
}

// defined returns an *UndefinedError unless 2 <= k < n, the total weight.
func defined(index string, k int, n float64) error {
	why := ""
	switch {
	case k == 0:
		why = "there are no rows"
	case k == 1:
		why = "there is one cluster"
	case n <= float64(k):
		why = "there are as many clusters as rows"
	default:
		return nil
	}
	return &UndefinedError{Index: index, Why: why}
}

// weight returns the weight of row i.
func (p *Partition) weight(i int) float64 {
	if p.W == nil {
		return 1
	}
	return p.W[i]
}

// row returns row i of X.
func (p *Partition) row(i int) []float64 { return p.X[i*p.D : (i+1)*p.D] }

// setScale refuses numbers that are not finite and sets scale: 1 unless squares of differences could leave the range of
// float64, then a power of two (exact) that brings the widest column to a width of about 1.
func (c *clusters) setScale(index string) error {
	lo, hi := make([]float64, c.D), make([]float64, c.D)
	first := true
	for i := range c.N {
		if c.label[i] < 0 {
			continue
		}
		for j, v := range c.row(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s: row %d, column %d (both from 0) is %v, not a finite number", index, i, j, v)
			}
			if first {
				lo[j], hi[j] = v, v
			}
			lo[j], hi[j] = min(lo[j], v), max(hi[j], v)
		}
		first = false
	}
	c.scale = scaleOf(lo, hi)
	return nil
}

// scaleOf returns the scale of columns that lie between lo and hi.
func scaleOf(lo, hi []float64) float64 {
	var half, most float64 // half the width of the widest column; the largest number
	for j := range lo {
		half = max(half, hi[j]/2-lo[j]/2)
		most = max(most, hi[j], -lo[j])
	}
	if half == 0 {
		return 1
	}
	if e := math.Ilogb(half); e < -400 || e > 400 { // squares stay within 2^±802, room for 2^200 of them
		return math.Ldexp(1, -min(max(e, math.Ilogb(most)-1000, -1000), 1000)) // nor may a number or the scale overflow
	}
	return 1
}

// centres are the means of the clusters, times scale, as base + shift: base is the first row of the cluster and shift
// the mean of what the rows are off it. The sum is never formed: at an offset of 1e9 it would round to 1e-7, which is
// then missing in every distance. A cluster of equal rows has shift 0 exactly.
type centres struct {
	k, d        int
	base, shift []float64 // k x d
}

func (c *clusters) centres() *centres {
	m := &centres{k: c.k, d: c.D, base: make([]float64, c.k*c.D), shift: make([]float64, c.k*c.D)}
	started := make([]bool, c.k)
	for i, l := range c.label {
		if l >= 0 && !started[l] {
			started[l] = true
			for j, v := range c.row(i) {
				m.base[l*c.D+j] = v * c.scale
			}
		}
	}
	// A second round adds the mean of what is left, which is the rounding of the first.
	left := make([]float64, c.k*c.D)
	for range 2 {
		clear(left)
		for i, l := range c.label {
			if l < 0 {
				continue
			}
			w := c.weight(i) / c.size[l]
			for j, v := range c.row(i) {
				at := l*c.D + j
				left[at] += w * (v*c.scale - m.base[at] - m.shift[at])
			}
		}
		for at, v := range left {
			m.shift[at] += v
		}
	}
	return m
}

// squared returns the squared distance of x, times scale, to centre a.
func (m *centres) squared(a int, x []float64, scale float64) float64 {
	at := a * m.d
	var sum float64
	for j, v := range x {
		u := v*scale - m.base[at+j] - m.shift[at+j]
		sum += u * u
	}
	return sum
}

// off returns column j of centre a minus centre b.
func (m *centres) off(a, b, j int) float64 {
	return m.base[a*m.d+j] - m.base[b*m.d+j] + (m.shift[a*m.d+j] - m.shift[b*m.d+j])
}

// apart returns the distance of centres a and b.
func (m *centres) apart(a, b int) float64 {
	var sum float64
	for j := range m.d {
		u := m.off(a, b, j)
		sum += u * u
	}
	return math.Sqrt(sum)
}

// length returns the length of the shift of centre a.
func (m *centres) length(a int) float64 {
	var sum float64
	for _, u := range m.shift[a*m.d : (a+1)*m.d] {
		sum += u * u
	}
	return math.Sqrt(sum)
}

// The indices by name.
const (
	calinskiHarabasz = "Calinski-Harabasz index"
	daviesBouldin    = "Davies-Bouldin index"
)

// CalinskiHarabasz returns the ratio of the variance between clusters to that within; higher is better. It is undefined
// for one cluster, for as many clusters as rows, and where every row lies on the centre of its cluster: the ratio is
// then infinite. It reads the rows a few times and holds k x D numbers and a label a row. Calinski and Harabasz 1974.
func (p *Partition) CalinskiHarabasz() (float64, error) {
	c, err := p.check(calinskiHarabasz)
	if err != nil {
		return 0, err
	}
	m := c.centres()
	var within float64
	for i, l := range c.label {
		if l >= 0 {
			within += c.weight(i) * m.squared(l, c.row(i), c.scale)
		}
	}
	return m.calinskiHarabasz(c.size, c.total, within)
}

// calinskiHarabasz returns the index of clusters of these sizes whose rows have the sum within of squared distances to
// their centres.
func (m *centres) calinskiHarabasz(size []float64, total, within float64) (float64, error) {
	var between float64
	for j := range m.d {
		var mean float64 // relative to the first centre
		for l := range m.k {
			mean += size[l] / total * m.off(l, 0, j)
		}
		for l := range m.k {
			u := m.off(l, 0, j) - mean
			between += size[l] * u * u
		}
	}
	if within == 0 {
		return 0, &UndefinedError{Index: calinskiHarabasz, Why: "every row lies on the centre of its cluster"}
	}
	return finite(calinskiHarabasz, between/float64(m.k-1)/(within/(total-float64(m.k))))
}

// DaviesBouldin returns the mean over clusters of the worst ratio of their widths to the distance of their centres;
// lower is better. It is undefined for one cluster, for as many clusters as rows, and where two clusters have the same
// centre, but for rounding: the ratio is then infinite (scikit-learn leaves such pairs out). It reads the rows a few
// times and holds k x D numbers and a label a row. Davies and Bouldin 1979.
func (p *Partition) DaviesBouldin() (float64, error) {
	c, err := p.check(daviesBouldin)
	if err != nil {
		return 0, err
	}
	m := c.centres()
	width := make([]float64, c.k)
	for i, l := range c.label {
		if l >= 0 {
			width[l] += c.weight(i) / c.size[l] * math.Sqrt(m.squared(l, c.row(i), c.scale))
		}
	}
	return m.daviesBouldin(width)
}

// daviesBouldin returns the index of clusters of these widths.
func (m *centres) daviesBouldin(width []float64) (float64, error) {
	var sum float64
	for a := range m.k {
		var worst float64
		for b := range m.k {
			if a == b {
				continue
			}
			d := m.apart(a, b)
			// Centres are sure to a few 2^-53 of the lengths they are made of: below 2^-50 a distance is rounding.
			if d <= 0x1p-50*(width[a]+width[b]+m.length(a)+m.length(b)) {
				return 0, &UndefinedError{Index: daviesBouldin, Why: "two clusters have the same centre"}
			}
			worst = max(worst, (width[a]+width[b])/d)
		}
		sum += worst
	}
	return finite(daviesBouldin, sum/float64(m.k))
}

// finite returns v, or an error where it left the range of float64: never NaN or infinity without a word.
func finite(index string, v float64) (float64, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, &UndefinedError{Index: index, Why: "it is too large for a float64"}
	}
	return v, nil
}

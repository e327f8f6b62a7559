package score

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Limits of a SilhouetteSample.
const (
	// MostLineRows is how many rows of one column have exact silhouettes: they are kept, in 24 bytes each.
	MostLineRows = 2_000_000
	// mostLineWork is how many rows times clusters of one column may take: a few seconds.
	mostLineWork = 2_000_000_000
	// MostSampledClusters is how many clusters a sample may have. Two rows of each are held against all others.
	MostSampledClusters = 20_000
)

// A SilhouetteSample estimates the mean silhouette of rows that are shown to it one by one, once, and need not fit into
// memory. Make one with NewSilhouetteSample.
//
// Up to so many rows as the sample may have, and up to MostLineRows of one column, the silhouettes are those of all rows, as
// of a Partition. Beyond, a sample stands for them in which no cluster is missing: every cluster has at least most / (2 k)
// of its rows, and at least 2, or all where it has no more; other rows are drawn from all that are left, in proportion to
// their weights. A cluster counts in the mean by the weight of all its rows, known from the pass, and so does a row's own
// share of its cluster: the estimate has no bias from how many rows of which cluster were drawn. More than
// MostSampledClusters have none.
//
// Rows are drawn by keys: each row of positive weight takes one number of the generator, in the order in which rows come,
// divided by its weight, and those with the smallest keys stay (priority sampling: Duffield, Lund and Thorup 2007). Samples
// of the same rows under other labels thus have most of their rows in common.
type SilhouetteSample struct {
	d, most  int
	rng      *rand.Rand
	number   map[int]int // labels by order of appearance
	labels   []int       // k: the label of each cluster
	rows     []int64     // k, of positive weight
	weight   []float64   // k, summed
	seen     int64
	total    float64
	kept     keyed
	top      float64   // keys above it are of no use, whatever cluster the row is in
	enough   []float64 // k: nor are keys above this of a row of the cluster
	full     int       // rows kept at which those of no use are dropped
	line     keyed     // one column: all rows, without keys
	tooMany  bool      // rows beyond the sample, and clusters beyond MostSampledClusters
	longLine bool      // rows beyond MostLineRows
}

// keyed is rows and the keys that they are drawn by.
type keyed struct {
	key   []float64
	label []int // number of the cluster
	w     []float64
	x     []float64
}

func (r *keyed) add(key float64, label int, x []float64, w float64) {
	r.key, r.label, r.w, r.x = append(r.key, key), append(r.label, label), append(r.w, w), append(r.x, x...)
}

// SampledSilhouette is what a SilhouetteSample found out. The slices are of the rows that it looked at, in the order in
// which they came.
type SampledSilhouette struct {
	Mean   float64   // of all rows, weighted; an estimate unless Least is 0
	Least  int       // the sample has so many rows of every cluster, or all that there are; 0 where it is all rows
	Labels []int     // as they were shown
	Values []float64 // the silhouette of each row
	Weight []float64 // what each stands for: Mean is the mean of Values with these weights
}

// NewSilhouetteSample returns an empty sample of at most most rows of d columns, more only where 2 of every cluster are.
// Its memory grows with most, and so does the square root of the time that Silhouette takes. Rows are drawn with rng, which is then the sample's own.
func NewSilhouetteSample(d, most int, rng *rand.Rand) *SilhouetteSample {
	return &SilhouetteSample{d: d, most: most, rng: rng, number: make(map[int]int), top: math.Inf(1), full: 3 * most, longLine: d != 1}
}

// PairedRows returns how many rows of d columns can have every pair looked at for so much work: the number of pairs times d + 4,
// since a pair takes about as long as four columns beside its own. Two cores with AVX-512 do some 1e10 a second.
func PairedRows(d int, work float64) int { return int(math.Sqrt(work / float64(d+4))) }

// Add shows a row of weight w and its label, any integer. len(x) must be d; x is only read. A row of weight 0 leaves no
// trace. A weight that is not finite, or negative, is refused.
func (s *SilhouetteSample) Add(label int, x []float64, w float64) error {
	switch {
	case len(x) != s.d:
		return fmt.Errorf("a row of %d numbers in a sample of %d columns", len(x), s.d)
	case !(w >= 0) || math.IsInf(w, 1):
		return fmt.Errorf("weight %v of a row is not a finite number of at least 0", w)
	case w == 0:
		return nil
	}
	l, seen := s.number[label]
	if !seen {
		l = len(s.labels)
		s.number[label] = l
		s.labels, s.rows, s.weight, s.enough = append(s.labels, label), append(s.rows, 0), append(s.weight, 0), append(s.enough, math.Inf(1))
	}
	s.seen++
	s.rows[l]++
	s.weight[l] += w
	s.total += w
	s.keepLine(l, x, w)
	if s.tooMany = s.tooMany || s.seen > int64(s.most) && len(s.labels) > MostSampledClusters; s.tooMany {
		s.kept = keyed{}
		return nil
	}
	key := s.rng.Float64() / w
	if key > max(s.top, s.enough[l]) {
		return nil
	}
	if s.kept.add(key, l, x, w); len(s.kept.key) >= s.full {
		s.drop()
	}
	return nil
}

// keepLine keeps a row of one column as long as there are not too many.
func (s *SilhouetteSample) keepLine(l int, x []float64, w float64) {
	if s.longLine {
		return
	}
	if s.longLine = s.seen > MostLineRows; s.longLine {
		s.line = keyed{}
		return
	}
	s.line.label, s.line.w, s.line.x = append(s.line.label, l), append(s.line.w, w), append(s.line.x, x[0])
}

// least is how many rows of every cluster the sample has, where there are as many.
func (s *SilhouetteSample) least() int { return max(2, s.most/(2*len(s.labels))) }

// byKey returns the places of the rows kept, the smallest key first, and the rank of each row among those of its cluster.
func (s *SilhouetteSample) byKey() (order, rank []int) {
	order, rank = make([]int, len(s.kept.key)), make([]int, len(s.kept.key))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.kept.key[a], s.kept.key[b]) })
	have := make([]int, len(s.labels))
	for _, i := range order {
		l := s.kept.label[i]
		rank[i] = have[l]
		have[l]++
	}
	return order, rank
}

// drop lets go of rows that cannot be in the sample any more, whatever comes: least falls as clusters are met, and what is left
// of the sample holds no more than most rows.
func (s *SilhouetteSample) drop() {
	order, rank := s.byKey()
	if len(order) > s.most {
		s.top = min(s.top, s.kept.key[order[s.most]])
	}
	least := s.least()
	for _, i := range order {
		if rank[i] == least {
			s.enough[s.kept.label[i]] = s.kept.key[i]
		}
	}
	s.keep(func(i int) bool { return s.kept.key[i] <= max(s.top, s.enough[s.kept.label[i]]) })
	s.full = 2*len(s.kept.key) + s.most
}

// keep leaves only some of the rows kept.
func (s *SilhouetteSample) keep(use func(i int) bool) {
	old, n := s.kept, 0
	for i := range old.key {
		if use(i) {
			old.key[n], old.label[n], old.w[n] = old.key[i], old.label[i], old.w[i]
			copy(old.x[n*s.d:(n+1)*s.d], old.x[i*s.d:(i+1)*s.d])
			n++
		}
	}
	s.kept = keyed{old.key[:n], old.label[:n], old.w[:n], old.x[:n*s.d]}
}

// Silhouette returns the mean silhouette of the rows shown, with the silhouettes that it was made of. Threads is the number of workers, 0 means
// GOMAXPROCS; it changes no bit of the result. An *UndefinedError says that there is none: for one cluster, for as many clusters as
// rows, and for more clusters than a sample may have. A cancelled ctx ends it with its error. Nothing can be added afterwards.
func (s *SilhouetteSample) Silhouette(ctx context.Context, threads int) (*SampledSilhouette, error) {
	if err := defined(silhouetteIndex, len(s.labels), s.total); err != nil {
		return nil, err
	}
	if !s.longLine && s.seen*int64(len(s.labels)) <= mostLineWork {
		return s.judge(ctx, &s.line, 0, nil, threads)
	}
	if s.tooMany {
		return nil, &UndefinedError{Index: silhouetteIndex, Why: fmt.Sprintf("a sample has rows of every cluster, and there are more than %d", MostSampledClusters)}
	}
	if s.seen <= int64(s.most) {
		return s.judge(ctx, &s.kept, 0, nil, threads)
	}
	bound := s.draw()
	return s.judge(ctx, &s.kept, s.least(), bound, threads)
}

// draw leaves only the sample, and returns for each cluster the key from which on its rows are not in it.
func (s *SilhouetteSample) draw() (bound []float64) {
	order, rank := s.byKey()
	least, left, next := s.least(), s.most, math.Inf(1)
	bound = make([]float64, len(s.labels))
	for l := range bound {
		bound[l] = math.Inf(1)
		left -= int(min(s.rows[l], int64(least)))
	}
	for _, i := range order {
		if rank[i] < least {
			continue
		}
		if left--; left < 0 {
			next = s.kept.key[i]
			break
		}
	}
	for _, i := range order {
		if rank[i] == least {
			bound[s.kept.label[i]] = max(s.kept.key[i], next)
		}
	}
	s.keep(func(i int) bool { return s.kept.key[i] < bound[s.kept.label[i]] })
	return bound
}

// whole is what a sample of the rows of some clusters is of.
type whole struct {
	weight []float64 // k, of all rows of the cluster
	own    []float64 // of each row of the sample, where the partition has what the row stands for
	all    []bool    // k: whether all rows of the cluster are in the sample
}

// judge takes the silhouettes of rows that stand for all. bound are the keys from which on rows of a cluster are left out, nil where none
// are: a row then stands for at least 1 / bound.
func (s *SilhouetteSample) judge(ctx context.Context, r *keyed, least int, bound []float64, threads int) (*SampledSilhouette, error) {
	n, k := len(r.label), len(s.labels)
	p := &Partition{N: n, D: s.d, X: r.x, Labels: r.label, W: r.w, Threads: threads}
	e := &SampledSilhouette{Least: least, Labels: make([]int, n), Values: make([]float64, n), Weight: r.w}
	rows := make([]int, n)
	for i, l := range r.label {
		rows[i], e.Labels[i] = i, s.labels[l]
	}
	have := make([]int64, k)
	if bound != nil {
		p.W = make([]float64, n)
		for i, l := range r.label {
			p.W[i] = max(r.w[i], 1/bound[l])
			have[l]++
		}
	}
	c, err := p.clusters(silhouetteIndex)
	if err != nil {
		return nil, err
	}
	if bound != nil {
		c.of = &whole{weight: make([]float64, k), own: r.w, all: make([]bool, k)}
		e.Weight = make([]float64, n)
		for i, l := range r.label {
			m := c.label[i] // clusters are numbered in the order of their first row in the sample
			c.of.weight[m], c.of.all[m] = s.weight[l], have[l] == s.rows[l]
			e.Weight[i] = p.W[i] / c.size[m] * s.weight[l]
		}
	}
	if err := c.each(ctx, e.Values, rows); err != nil {
		return nil, err
	}
	sum := 0.0
	for i, v := range e.Values {
		sum += e.Weight[i] * v
	}
	e.Mean = sum / s.total
	return e, nil
}

// weighs returns the weight of all rows of cluster l.
func (c *clusters) weighs(l int) float64 {
	if c.of == nil {
		return c.size[l]
	}
	return c.of.weight[l]
}

// within returns the mean distance of row i to the others of its cluster, from the sum of its distances to those that are there.
// The others weigh n - 1, since weights are counts: as many as stand in other rows are as far as those of the sample, the rest are the row
// itself again.
func (c *clusters) within(i int, sum float64) float64 {
	l := c.label[i]
	if c.of == nil || c.of.all[l] {
		return sum / (c.size[l] - 1)
	}
	others, n := c.size[l]-c.weight(i), c.of.weight[l]
	if !(others > 0) {
		return 0
	}
	return sum / others * ((n - c.of.own[i]) / (n - 1))
}

package data

import (
	"math"
	"strings"
	"sync"

	"github.com/latent-go/latent/internal/kern"
)

// spot is a cell of interest.
type spot struct {
	Row   int64  // data row, from 1; 0 for no place
	Line  int64  // line in the file, from 1; 0 for formats without lines
	Value string // as it stands in the file, cut to 60 bytes
}

// columnStats is what one pass learns of a column. Runs of rows are summed up apart and merged in row order, so that
// the sums do not depend on which thread had which run.
type columnStats struct {
	n             int64 // finite numbers
	mean          float64
	m2            squares // about the mean
	min, max      float64
	minRow        int64 // from 0
	minLine       int64
	first, last   float64
	bits          bool // all 0 or 1
	integers      bool
	rising        bool // every number is larger than the one before
	from0, from1  bool // the numbers are those of the rows, from 0 or from 1
	missing       int64
	infinite      int64
	texts         int64
	rounded       int64 // numbers beyond 2^53 whose last digits are lost
	grouped       int64 // numbers with points between thousands
	firstMissing  spot
	firstInfinite spot
	firstText     spot
	firstRounded  spot
	firstGrouped  spot
	samples       []string // the first texts, at most textSamples of them
}

// textSamples is how many texts of a column are kept to see what they look like.
const textSamples = 32

func noStats() columnStats {
	return columnStats{bits: true, integers: true, rising: true, from0: true, from1: true, min: math.Inf(1), max: math.Inf(-1)}
}

// columnSums are sums of every column of a batch in which no cell is missing: see kern.ColumnSums. Where one is, that of its column is not finite.
type columnSums struct {
	kern.Columns
	mean, square, zero []float64
}

// of sums up rows of d numbers, row-major.
func (c *columnSums) of(x []float64, d int) {
	if len(c.zero) != d {
		v, w := make([]float64, 6*d), make([]int64, 2*d)
		*c = columnSums{kern.Columns{Sum: v[:d], Least: v[d : 2*d], Largest: v[2*d : 3*d], At: w[:d], Broken: w[d:]}, v[3*d : 4*d], v[4*d : 5*d], v[5*d:]}
	}
	kern.ColumnSums(&c.Columns, x, c.zero)
	for k, sum := range c.Sum {
		c.mean[k] = sum / float64(len(x)/d)
	}
	kern.ColumnSquares(c.square, x, c.mean)
}

// numberStats sums up column k of n rows of d numbers, whose sums c has; NaN is no number. row returns the row index of the i-th. The row of the
// least is that of x until the caller makes it one of the file.
func (c *columnSums) numberStats(k int, x []float64, d, n int, row func(int) int64) columnStats {
	s := noStats()
	x = x[k:]
	s.n, s.min, s.max, s.minRow, s.mean, s.integers = int64(n), c.Least[k], c.Largest[k], c.At[k], c.mean[k], c.Broken[k] == 0
	m2 := c.square[k]
	if sum := c.Sum[k]; sum-sum != 0 {
		m2 = s.add(x, d, n)
	}
	s.follow(x, d, n, row)
	if s.n == 0 {
		return s
	}
	if s.m2 = (squares{m2, math.Ldexp(m2, -2*downShift), math.Ldexp(m2, 2*upShift)}); m2 > mostSquares || m2 < leastSquares && s.min < s.max {
		s.m2 = squaresOf(x, d, n, s.mean)
	}
	return s
}

// add sums up a column in which numbers are missing or huge, and returns the sum of their squares about the mean.
func (s *columnStats) add(x []float64, stride, n int) (m2 float64) {
	s.n, s.min, s.max, s.minRow, s.mean, s.integers = 0, math.Inf(1), math.Inf(-1), 0, 0, true
	sum := 0.0
	for i := range n {
		v := x[i*stride]
		if v != v {
			continue
		}
		sum += v
		if v < s.min {
			s.min, s.minRow = v, int64(i)
		}
		s.max = max(s.max, v)
		s.integers = s.integers && v == math.Floor(v)
		s.n++
	}
	if s.n == 0 {
		return 0
	}
	if s.mean = sum / float64(s.n); math.IsInf(sum, 0) { // huge numbers: divide them before they are added
		s.mean = 0
		for i := range n {
			if v := x[i*stride]; v == v {
				s.mean += v / float64(s.n)
			}
		}
	}
	for i := range n {
		if t := x[i*stride] - s.mean; t == t {
			m2 += t * t
		}
	}
	return m2
}

// follow looks at what numbers are from row to row, as long as there is something to find.
func (s *columnStats) follow(x []float64, stride, n int, row func(int) int64) {
	if !s.integers {
		s.bits, s.from0, s.from1 = false, false, false
	}
	last := math.NaN()
	for i := 0; i < n && (s.rising || s.bits || s.from0 || s.from1); i++ {
		v := x[i*stride]
		if v != v {
			continue
		}
		s.rising = s.rising && !(v <= last)
		if last = v; s.integers {
			r := float64(row(i))
			s.bits, s.from0, s.from1 = s.bits && (v == 0 || v == 1), s.from0 && v == r, s.from1 && v == r+1
		}
	}
	for i := 0; i < n; i++ {
		if v := x[i*stride]; v == v {
			s.first = v
			break
		}
	}
	for i := n - 1; i >= 0; i-- {
		if v := x[i*stride]; v == v {
			s.last = v
			break
		}
	}
}

// squares is a sum of squares that float64 may not hold, in three units: as it stands, and of numbers that were multiplied by
// 2^-downShift and by 2^upShift first. One of them has all its digits.
type squares struct{ plain, small, large float64 }

const (
	downShift    = 560      // squares of the largest numbers are then below 2^930
	upShift      = 700      // squares of the smallest are then above 2^-750
	leastSquares = 0x1p-900 // below it plain may have lost digits
	mostSquares  = 0x1p+1000
)

// squaresOf sums up the squares of n numbers, stride apart, about their mean.
func squaresOf(x []float64, stride, n int, mean float64) (s squares) {
	for i := range n {
		// Halves: the difference itself may be more than a float64 holds.
		if d := x[i*stride]/2 - mean/2; d == d {
			s.add(square(d, 2))
		}
	}
	return s
}

// square returns the square of d times a factor.
func square(d, by float64) squares {
	down, up := math.Ldexp(d, -downShift)*by, math.Ldexp(d, upShift)*by
	return squares{d * by * (d * by), down * down, up * up}
}

func (s *squares) add(t squares) {
	s.plain, s.small, s.large = s.plain+t.plain, s.small+t.small, s.large+t.large
}

func (s squares) times(f float64) squares { return squares{s.plain * f, s.small * f, s.large * f} }

// root returns the root of the sum over n.
func (s squares) root(n float64) float64 {
	switch {
	case s.plain > mostSquares:
		return math.Ldexp(math.Sqrt(s.small/n), downShift)
	case s.plain < leastSquares:
		return math.Ldexp(math.Sqrt(s.large/n), -upShift)
	}
	return math.Sqrt(s.plain / n)
}

// merge adds the rows that follow (Chan, Golub and LeVeque 1983).
func (s *columnStats) merge(t *columnStats) {
	s.missing += t.missing
	s.infinite += t.infinite
	s.texts += t.texts
	s.rounded += t.rounded
	s.grouped += t.grouped
	s.samples = append(s.samples, t.samples[:min(len(t.samples), textSamples-len(s.samples))]...)
	for _, p := range [][2]*spot{{&s.firstMissing, &t.firstMissing}, {&s.firstInfinite, &t.firstInfinite}, {&s.firstText, &t.firstText},
		{&s.firstRounded, &t.firstRounded}, {&s.firstGrouped, &t.firstGrouped}} {
		if p[0].Row == 0 {
			*p[0] = *p[1]
		}
	}
	s.bits, s.integers = s.bits && t.bits, s.integers && t.integers
	s.from0, s.from1 = s.from0 && t.from0, s.from1 && t.from1
	s.rising = s.rising && t.rising && (s.n == 0 || t.n == 0 || t.first > s.last)
	if t.n == 0 {
		return
	}
	if s.n == 0 {
		s.first = t.first
	}
	s.last = t.last
	if t.min < s.min {
		s.min, s.minRow, s.minLine = t.min, t.minRow, t.minLine
	}
	s.max = math.Max(s.max, t.max)
	n, d := float64(s.n+t.n), t.mean-s.mean
	switch {
	case s.n == 0:
		s.mean, s.m2 = t.mean, t.m2
	case math.IsInf(d, 0):
		s.m2.add(t.m2)
		s.m2.add(square(t.mean/2-s.mean/2, 2).times(float64(s.n) / n * float64(t.n)))
		s.mean = s.mean*(float64(s.n)/n) + t.mean*(float64(t.n)/n)
	default:
		between := squares{plain: d * d}
		if between.plain > mostSquares || between.plain < leastSquares {
			between = square(d, 1)
		} else {
			between.small, between.large = math.Ldexp(between.plain, -2*downShift), math.Ldexp(between.plain, 2*upShift)
		}
		s.m2.add(t.m2)
		s.m2.add(between.times(float64(s.n) / n).times(float64(t.n)))
		s.mean += d * (float64(t.n) / n)
	}
	s.n += t.n
}

// sd returns the standard deviation with n-1 below; 0 for fewer than two numbers.
func (s *columnStats) sd() float64 {
	if s.n < 2 {
		return 0
	}
	return s.m2.root(float64(s.n - 1))
}

// merger puts the statistics of batches together in row order, whatever order they come in.
type merger struct {
	mu      sync.Mutex
	total   []columnStats
	next    int64 // first row of the batch that is due
	waiting map[int64]*batchStats
	spare   []*batchStats // their memory serves the batches to come
}

// fresh returns memory for the statistics of a batch.
func (m *merger) fresh() *batchStats {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.spare)
	if n == 0 {
		return &batchStats{cols: make([]columnStats, len(m.total))}
	}
	b := m.spare[n-1]
	m.spare = m.spare[:n-1]
	return b
}

type batchStats struct {
	rows int64
	cols []columnStats
	sums columnSums
}

func newMerger(d int) *merger {
	m := &merger{total: make([]columnStats, d), waiting: map[int64]*batchStats{}}
	for i := range m.total {
		m.total[i] = noStats()
	}
	return m
}

func (m *merger) add(first int64, b *batchStats) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting[first] = b
	for b := m.waiting[m.next]; b != nil; b = m.waiting[m.next] {
		delete(m.waiting, m.next)
		for i := range b.cols {
			m.total[i].merge(&b.cols[i])
		}
		m.next += b.rows
		m.spare = append(m.spare, b)
	}
}

// statsOf sums up a batch in out, for every column of the file.
func statsOf(out *batchStats, b *batch, p *plan, rowOf func(int64) int64) *batchStats {
	out.rows = int64(b.N)
	row := func(i int) int64 { return rowOf(b.First + int64(i)) }
	values := b.F64
	if b.Value != nil {
		values = b.Value
	}
	if p.numbers > 0 && b.N > 0 {
		out.sums.of(values[:b.N*p.numbers], p.numbers)
	}
	for c := range out.cols {
		s := &out.cols[c]
		k := p.number[c]
		if k < 0 || b.N == 0 {
			*s = noStats()
			s.bits, s.integers, s.rising, s.from0, s.from1 = false, false, false, false, false
			continue
		}
		*s = out.sums.numberStats(k, values, p.numbers, b.N, row)
		if s.n > 0 {
			i := s.minRow
			s.minRow = row(int(i))
			if b.Line != nil {
				s.minLine = b.Line[i]
			}
		}
	}
	for i := range b.Bad {
		bad := &b.Bad[i]
		s := &out.cols[bad.Column]
		count, place := &s.texts, &s.firstText
		switch bad.Kind {
		case missingCell:
			count, place = &s.missing, &s.firstMissing
		case infiniteCell:
			count, place = &s.infinite, &s.firstInfinite
		case roundedCell:
			count, place = &s.rounded, &s.firstRounded
		case groupedCell:
			count, place = &s.grouped, &s.firstGrouped
		default:
			if len(s.samples) < textSamples {
				s.samples = append(s.samples, strings.Clone(bad.Value)) // the value is part of a batch
			}
		}
		*count++
		if place.Row == 0 {
			*place = spot{Row: rowOf(bad.Row) + 1, Line: bad.Line, Value: bad.Value}
		}
	}
	return out
}

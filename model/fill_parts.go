package model

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
)

// normals fills in numbers: in each component by the regression of those that are missing on those that are there.
type normals struct {
	columns  []int // of the model
	means    [][]float64
	cov      []*Covariance // one a component, or the one that all share
	patterns map[string]*pattern
	held     int // numbers in the patterns
	key      []byte
	dev      []float64 // of the numbers that are there, from a component's mean
	z, sum   []float64
}

// mostHeld is how many numbers the regressions that are kept may have: 32 MB. Where more patterns come they are begun anew, so that rows
// sorted by pattern, or in blocks, find theirs all the same.
const mostHeld = 4 << 20

// pattern is what is known of the rows that lack the same numbers.
type pattern struct {
	missing, there []int // places among the columns of the part
	of             []regression
}

// regression is the distribution of the missing numbers given the others in a component: their mean is that of the component plus slope
// times the deviations of the others from theirs, their covariance root times its transpose.
type regression struct {
	slope []float64 // missing x there, row-major; nil where numbers do not vary together
	root  []float64 // missing x missing, row-major, a lower triangle; where they do not vary together their standard deviations
}

func newNormals(p Part) *normals {
	n := &normals{columns: p.Columns, means: p.Means, patterns: map[string]*pattern{}, key: make([]byte, (len(p.Columns)+7)/8)}
	n.dev, n.z, n.sum = make([]float64, len(p.Columns)), make([]float64, len(p.Columns)), make([]float64, len(p.Columns))
	for c := range max(len(p.Covariance), len(p.Loadings)) {
		n.cov = append(n.cov, p.ownCovariance(c))
	}
	return n
}

// of returns the pattern of the missing numbers of x; nil where none is missing.
func (n *normals) of(x []float64) (*pattern, error) {
	clear(n.key)
	some := false
	for i, j := range n.columns {
		if x[j] != x[j] {
			n.key[i/8] |= 1 << (i % 8)
			some = true
		}
	}
	if !some {
		return nil, nil
	}
	if p := n.patterns[string(n.key)]; p != nil {
		return p, nil
	}
	p := new(pattern)
	for i := range n.columns {
		if n.key[i/8]>>(i%8)&1 == 1 {
			p.missing = append(p.missing, i)
		} else {
			p.there = append(p.there, i)
		}
	}
	size := 0
	for c, cov := range n.cov {
		r, ok := regress(cov, p.missing, p.there)
		if !ok {
			return nil, fmt.Errorf("the covariance of group %d is too near singular to fill in what is missing here", c+1)
		}
		p.of = append(p.of, r)
		size += len(r.slope) + len(r.root)
	}
	if n.held+size > mostHeld {
		clear(n.patterns)
		n.held = 0
	}
	n.patterns[string(n.key)] = p
	n.held += size
	return p, nil
}

// regress computes a regression; false where the covariance is not positive definite.
//
// With the numbers that are there first, the lower triangle L of the covariance has blocks A of those, B below it and C of the missing ones:
// the slope is B times the inverse of A, and C Cᵀ is the covariance that is left, which is so never a difference. Numbers are first
// divided by their standard deviations, so that units do not matter.
func regress(cov *Covariance, missing, there []int) (regression, bool) {
	m, o := len(missing), len(there)
	if !cov.IsMatrix() {
		r := regression{root: make([]float64, m)}
		for i, j := range missing {
			r.root[i] = math.Sqrt(cov.At(j, j))
		}
		return r, true
	}
	order := make([]int, 0, o+m)
	order = append(append(order, there...), missing...)
	d := len(order)
	s := blas64.Symmetric{N: d, Stride: d, Uplo: blas.Lower, Data: make([]float64, d*d)}
	sd := make([]float64, d)
	for a, i := range order {
		sd[a] = math.Sqrt(cov.At(i, i))
		for b, j := range order[:a+1] {
			s.Data[a*d+b] = cov.At(i, j) / sd[a] / sd[b]
		}
	}
	l, ok := lapack64.Potrf(s)
	if !ok {
		return regression{}, false
	}
	r := regression{slope: make([]float64, m*o), root: make([]float64, m*m)}
	for a := range m {
		copy(r.slope[a*o:(a+1)*o], l.Data[(o+a)*d:])
		for b := range a + 1 {
			r.root[a*m+b] = l.Data[(o+a)*d+o+b] * sd[o+a]
		}
	}
	if m > 0 && o > 0 {
		l.N = o
		blas64.Trsm(blas.Right, blas.NoTrans, 1, l, blas64.General{Rows: m, Cols: o, Stride: o, Data: r.slope})
		for a := range m {
			for b := range o {
				r.slope[a*o+b] *= sd[o+a] / sd[b]
			}
		}
	}
	return r, true
}

// deviate sets n.dev to the deviations of the numbers that are there from the mean of component c.
func (n *normals) deviate(p *pattern, x []float64, c int) {
	for b, i := range p.there {
		n.dev[b] = x[n.columns[i]] - n.means[c][i]
	}
}

// mean returns what is expected of missing number a in component c, whose regression is r, when n.dev is set.
func (n *normals) mean(p *pattern, r *regression, a, c int) float64 {
	v := n.means[c][p.missing[a]]
	if r.slope != nil {
		o := len(p.there)
		for b, s := range r.slope[a*o : (a+1)*o] {
			v += s * n.dev[b]
		}
	}
	return v
}

// regressionOf returns that of component c.
func (p *pattern) regressionOf(c int) *regression { return &p.of[min(c, len(p.of)-1)] }

// expect sets the missing numbers to their means: that of the best component, plus what the others differ from it by their
// responsibilities, so that no digits are lost far from 0.
func (n *normals) expect(x, r []float64, best int) error {
	p, err := n.of(x)
	if p == nil {
		return err
	}
	m := len(p.missing)
	base, sum := n.z[:m], n.sum[:m]
	clear(sum)
	n.deviate(p, x, best)
	for a := range base {
		base[a] = n.mean(p, p.regressionOf(best), a, best)
	}
	for c, rc := range r {
		if c == best || rc == 0 {
			continue
		}
		n.deviate(p, x, c)
		own := p.regressionOf(c)
		for a := range sum {
			sum[a] += rc * (n.mean(p, own, a, c) - base[a])
		}
	}
	for a, i := range p.missing {
		x[n.columns[i]] = base[a] + sum[a]
	}
	return nil
}

// draw sets the missing numbers to those of a row of component c.
func (n *normals) draw(x []float64, c int, random *rand.Rand) error {
	p, err := n.of(x)
	if p == nil {
		return err
	}
	r, m := p.regressionOf(c), len(p.missing)
	for a := range m {
		n.z[a] = random.NormFloat64()
	}
	n.deviate(p, x, c)
	for a, i := range p.missing {
		v := n.mean(p, r, a, c)
		if r.slope == nil {
			v += r.root[a] * n.z[a]
		} else {
			for b, s := range r.root[a*m : a*m+a+1] {
				v += s * n.z[b]
			}
		}
		x[n.columns[i]] = v
	}
	return nil
}

// discrete fills in bits, categories and counts, which are independent given the component.
type discrete struct {
	kind     *kind.Kind
	columns  []int       // of the model
	location [][]float64 // of each component
	first    []int       // where in a location each column begins, and where the last ends
	levels   []int       // of each column; nil where there are none
}

func newDiscrete(p Part) *discrete {
	d := &discrete{kind: p.kind(), columns: p.Columns, location: p.locations(), first: make([]int, len(p.Columns)+1)}
	if d.kind.Cells.Levels {
		d.levels = kind.Counts(p.Levels)
	}
	for i := range p.Columns {
		d.first[i+1] = d.first[i] + 1
		if d.levels != nil {
			d.first[i+1] = d.first[i] + d.levels[i]
		}
	}
	return d
}

func (d *discrete) expect(x, r []float64, _ int) error {
	for i, j := range d.columns {
		switch {
		case x[j] == x[j]:
		case d.levels != nil:
			x[j] = float64(d.likeliest(r, d.first[i], d.first[i+1]))
		case d.kind.Type() == data.Category:
			x[j] = d.bit(r, i)
		default:
			x[j] = d.sum(r, i)
		}
	}
	return nil
}

// sum returns the mean of number i of the locations.
func (d *discrete) sum(r []float64, i int) float64 {
	v := 0.0
	for c, rc := range r {
		v += rc * d.location[c][i]
	}
	return v
}

// likeliest returns the level of the highest probability, the first of equals, of a column with the numbers from to to of the locations.
func (d *discrete) likeliest(r []float64, from, to int) int {
	best, top := 0, math.Inf(-1)
	for l := from; l < to; l++ {
		if v := d.sum(r, l); v > top {
			best, top = l-from, v
		}
	}
	return best
}

// bit returns the likelier bit of a column, 0 where they are equal.
func (d *discrete) bit(r []float64, i int) float64 {
	one, zero := 0.0, 0.0
	for c, rc := range r {
		one += rc * d.location[c][i]
		zero += rc * (1 - d.location[c][i])
	}
	if one > zero {
		return 1
	}
	return 0
}

func (d *discrete) draw(x []float64, c int, random *rand.Rand) error {
	for i, j := range d.columns {
		if x[j] == x[j] {
			continue
		}
		var levels []int
		if d.levels != nil {
			levels = d.levels[i : i+1]
		}
		d.kind.Location.Draw(x[j:j+1], d.location[c][d.first[i]:d.first[i+1]], levels, random)
	}
	return nil
}

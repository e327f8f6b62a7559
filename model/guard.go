package model

import (
	"fmt"
	"math"

	"github.com/latent-go/latent/internal/family"
)

// leastSquare is the least squared distance that is surely a number of full precision: a sum of squares below it may have
// lost some of them.
const leastSquare = 0x1p-1015

// mostCost is where kernels stop counting: squares that overflow are to them the largest number.
const mostCost = math.MaxFloat64 / 4

// guard refuses rows of which a model cannot tell in float64: those so far from all components that no log density or cost is
// finite, and those between centres so close that squares of distances vanish.
type guard struct {
	m      *Model
	names  []string // of the variables that the parameters speak of
	origin []float64
	near   map[int32]int
	places bool   // rows without any cell have a place in time: they may be there in any case
	whole  string // why rows must be complete; "" where cells may be missing
}

func (m *Model) guard(origin []float64) *guard {
	return &guard{m: m, names: m.Variables(), origin: origin, near: map[int32]int{}, whole: m.WholeRows()}
}

// WholeRows says why the model needs rows without missing cells; "" where it does not.
func (m *Model) WholeRows() string {
	switch {
	case m.PCA() != nil:
		return "principal components need whole rows"
	case m.Shape.Factors() > 0 && m.dims() > family.NarrowColumns:
		return fmt.Sprintf("factors of more than %d columns need whole rows", family.NarrowColumns)
	}
	return ""
}

// check returns what is wrong with the first row of s that cannot be told of.
func (g *guard) check(s *Scored) error {
	square := g.m.kind().Squared
	for i, best := range s.Best {
		switch {
		case s.Weight(i) == 0:
		case g.whole != "" && s.cells(i) < s.D && !(g.places && s.cells(i) == 0):
			return fmt.Errorf("row %d: a cell is missing, or overflows where it is projected; %s", s.Number(i), g.whole)
		case !(best > -mostCost) || !(s.LogDensity[i] > -mostCost):
			return g.tooFar(s, i)
		case square && -best < leastSquare:
			if j := g.crowded(s.Label[i]); j >= 0 {
				return fmt.Errorf("row %d, column %q: the centres next to it differ by so little that squares underflow; multiply the column by a constant, or use --scale standard", s.Number(i), g.names[j])
			}
		}
	}
	return nil
}

// cells returns how many cells of row i are there.
func (s *Scored) cells(i int) (n int) {
	for j := range s.D {
		if v := s.At(i, j); v == v {
			n++
		}
	}
	return n
}

// crowded returns a column in which another centre differs from c, where it does so in all columns by so little that squares
// underflow; -1 where there is none.
func (g *guard) crowded(c int32) int {
	if j, known := g.near[c]; known {
		return j
	}
	at := -1
	for _, other := range g.m.Means {
		if at = closest(g.m.Means[c], other); at >= 0 {
			break
		}
	}
	g.near[c] = at
	return at
}

// closest returns the column in which two centres differ most, where they differ and the square of their distance underflows;
// -1 elsewhere.
func closest(a, b []float64) int {
	sum, widest := 0.0, 0
	for j, v := range a {
		if sum += (v - b[j]) * (v - b[j]); sum >= leastSquare {
			return -1
		}
		if math.Abs(v-b[j]) > math.Abs(a[widest]-b[widest]) {
			widest = j
		}
	}
	if a[widest] == b[widest] {
		return -1
	}
	return widest
}

func (g *guard) tooFar(s *Scored, i int) error {
	at := 0
	for j := range s.D {
		if v := s.At(i, at); math.Abs(s.At(i, j)/2-g.origin[j]/2) > math.Abs(v/2-g.origin[at]/2) || v != v {
			at = j
		}
	}
	for j := range s.D {
		if v := s.At(i, j); math.IsInf(v, 0) {
			return fmt.Errorf("row %d, column %q: the value overflows where it is scaled; divide the column by a constant", s.Number(i), g.names[j])
		}
	}
	what, name := "its log density", g.names[at]
	if !g.m.HasDensity() {
		what = "the distance to a centre"
	}
	return fmt.Errorf("row %d, column %q: %v is so far from all groups that no float64 can hold %s; leave the row out, or divide the column by a constant", s.Number(i), name, s.At(i, at), what)
}

package kern

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// exact has the digits of a number for hard matrices to be inverted to float64.
func exact(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }

// gaussJordan returns the inverse of the n x n matrix whose lower triangle a has, and its pivots, by elimination in the textbook's way with
// numbers of 300 bits. A pivot below least times its diagonal element is taken for that.
func gaussJordan(a []float64, n int, least float64) (inverse, pivots []float64) {
	rows := make([][]*big.Float, n) // of A and the unit matrix
	for i := range rows {
		for j := range n {
			rows[i] = append(rows[i], exact(a[max(i, j)*n+min(i, j)]))
		}
		for j := range n {
			rows[i] = append(rows[i], exact(0))
			if i == j {
				rows[i][n+j] = exact(1)
			}
		}
	}
	tmp := exact(0)
	for i, row := range rows {
		// A change of the diagonal, so that the unit matrix stays what it is of.
		if floor := exact(0).Mul(exact(least), exact(a[i*n+i])); row[i].Cmp(floor) < 0 {
			row[i].Set(floor)
		}
		p := exact(0).Set(row[i])
		v, _ := p.Float64()
		pivots = append(pivots, v)
		if e := p.MantExp(nil); e < -500 || e > 500 { // numbers of any size take any memory
			panic("no matrix for a test")
		}
		for _, x := range row {
			x.Quo(x, p)
		}
		for l, other := range rows {
			if f := exact(0).Set(other[i]); l != i {
				for j, x := range other {
					x.Sub(x, tmp.Mul(f, row[j]))
				}
			}
		}
	}
	for _, row := range rows {
		for _, x := range row[n:] {
			v, _ := x.Float64()
			inverse = append(inverse, v)
		}
	}
	return inverse, pivots
}

// solved is a matrix and what is to come out for it.
type solved struct {
	matrix, inverse, pivots []float64
	least, condition        float64
}

// newSolved draws the inner products of n vectors of length near 1: of random ones, of ones that differ mostly in few directions, of ones
// that are nearly the same, or of ones at right angles. least is the floor of pivots.
func newSolved(rng *rand.Rand, kind, n int, least float64) solved {
	length := n + 5
	x, scale := make([]float64, n*length), make([]float64, length)
	for i := range scale {
		scale[i] = 1 / math.Sqrt(float64(length))
		if kind == 1 {
			scale[i] *= math.Pow(10, -6*rng.Float64())
		}
	}
	for j := range n {
		for i, size := range scale {
			switch v := &x[j*length+i]; {
			case kind == 2:
				*v = size * (1 + 1e-5*rng.NormFloat64())
			case kind < 3 || i == j:
				*v = size * rng.NormFloat64()
			}
		}
	}
	s := solved{matrix: make([]float64, n*n), least: least}
	for a := range n {
		for b := range a + 1 {
			for i := range length {
				s.matrix[a*n+b] += x[a*length+i] * x[b*length+i]
			}
		}
	}
	s.inverse, s.pivots = gaussJordan(s.matrix, n, least)
	for a := range n {
		s.condition += s.matrix[a*(n+1)] * s.inverse[a*(n+1)] // where variables have their own units, to a factor n
	}
	if !(s.condition < 1e14) {
		panic("no matrix for a test")
	}
	return s
}

// invertAndCompare inverts kp of the matrices, whose variables it measures in other units, powers of two: the result is the same but for
// its own units.
func invertAndCompare(t *testing.T, rng *rand.Rand, of []solved, n, kp int) {
	v, intact := unaligned(rng, n*n*kp)
	pivot, intactPivot := unaligned(rng, n*kp)
	unit := make([]float64, n*kp)
	for i := range unit {
		unit[i] = math.Ldexp(1, rng.IntN(41)-20)
	}
	lane := make([]solved, kp)
	for c := range lane {
		lane[c] = of[rng.IntN(len(of))]
		for a := range n {
			for b := range n {
				v[(a*n+b)*kp+c] = math.NaN()
				if b <= a {
					v[(a*n+b)*kp+c] = lane[c].matrix[a*n+b] * unit[a*kp+c] * unit[b*kp+c]
				}
			}
		}
	}
	LaneInverse(v, pivot, n, kp, of[0].least)
	intact(t)
	intactPivot(t)
	const tolerance = 1e-15
	for c, s := range lane {
		for a := range n {
			for b := range n {
				got, want := v[(a*n+b)*kp+c]*unit[a*kp+c]*unit[b*kp+c], s.inverse[a*n+b]
				size := math.Sqrt(s.inverse[a*(n+1)] * s.inverse[b*(n+1)])
				if !(math.Abs(got-want) <= tolerance*s.condition*size) {
					t.Fatalf("n %d, kp %d: entry (%d, %d) of component %d is %v, want %v; condition %g", n, kp, a, b, c, got, want, s.condition)
				}
				if v[(a*n+b)*kp+c] != v[(b*n+a)*kp+c] {
					t.Fatalf("n %d, kp %d: component %d is not symmetric", n, kp, c)
				}
			}
			u := unit[a*kp+c]
			if got, want := pivot[a*kp+c]/u/u, s.pivots[a]; !(math.Abs(got-want) <= tolerance*s.condition*want) {
				t.Fatalf("n %d, kp %d: pivot %d of component %d is %v, want %v; condition %g", n, kp, a, c, got, want, s.condition)
			}
		}
	}
}

func TestLaneInverse(t *testing.T) {
	rng := rand.New(rand.NewPCG(58, 0))
	for n := 1; n <= 20; n++ {
		for _, least := range []float64{0x1p-52, 0.3, 2} {
			var of []solved
			for kind := range 4 {
				of = append(of, newSolved(rng, kind, n, least))
			}
			everyLevel(t, func(t *testing.T) {
				for kp := Lanes; kp <= 32; kp += Lanes {
					invertAndCompare(t, rng, of, n, kp)
				}
			})
		}
	}
	for _, n := range []int{37, 60} {
		of := []solved{newSolved(rng, n%2, n, 0x1p-52)}
		everyLevel(t, func(t *testing.T) { invertAndCompare(t, rng, of, n, 2*Lanes) })
	}
}

// Matrices that take more than one call of assembly: a product with the inverse is the unit matrix.
func TestLaneInverseOfManyColumns(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(59, 0))
		for _, n := range []int{102, 131} {
			const kp = Lanes
			v, intact := unaligned(rng, n*n*kp)
			pivot, intactPivot := unaligned(rng, n*kp)
			for i := range v {
				if a, b := i/kp/n, i/kp%n; a == b {
					v[i] = float64(n)
				} else if b < a {
					v[i] = rng.Float64()
				}
			}
			a := clone(v)
			LaneInverse(v, pivot, n, kp, 0x1p-52)
			intact(t)
			intactPivot(t)
			for i := range n {
				for j := range n {
					var sum, size [kp]float64
					for l := range n {
						for c := range kp {
							p := a[(max(i, l)*n+min(i, l))*kp+c] * v[(l*n+j)*kp+c]
							sum[c] += p
							size[c] += math.Abs(p)
						}
					}
					for c, got := range sum {
						want := 0.0
						if i == j {
							want = 1
						}
						near(t, fmt.Sprintf("n %d: entry (%d, %d) of the product of component %d", n, i, j, c), got, want, size[c])
					}
				}
			}
		}
	})
}

// Matrices whose last column is the sum of all others, or beyond: what is left of its pivot is nothing, or less.
func TestLaneInverseOfMatricesWithoutOne(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for n := 2; n <= 12; n++ {
			for short := range 2 {
				const kp, least = Lanes, 0x1p-52
				v, pivot := make([]float64, n*n*kp), make([]float64, n*kp)
				for i := range v {
					switch a, b := i/kp/n, i/kp%n; {
					case a == n-1 && b == n-1:
						v[i] = float64(n - 1 - short)
					case a == n-1 || b == n-1 || a == b:
						v[i] = 1
					}
				}
				LaneInverse(v, pivot, n, kp, least)
				floor := least * float64(n-1-short)
				if n == 2 && short == 1 {
					continue // its diagonal has a 0
				}
				for i, got := range pivot {
					want := 1.0
					if i/kp == n-1 {
						want = floor
					}
					if got != want {
						t.Fatalf("n %d: pivot %d is %v, want %v", n, i/kp, got, want)
					}
				}
				for i, got := range v {
					want := 1 / floor
					switch a, b := i/kp/n, i/kp%n; {
					case a == n-1 && b == n-1:
					case a == n-1 || b == n-1:
						want = -want
					case a == b:
						want++
					}
					if !(math.Abs(got-want) <= 1e-15*math.Abs(want)) {
						t.Fatalf("n %d: entry (%d, %d) is %v, want %v", n, i/kp/n, i/kp%n, got, want)
					}
				}
			}
		}
	})
}

// What is not finite stays in its lane.
func TestLaneInverseKeepsLanesApart(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for n := 1; n <= 9; n++ {
			const kp = 2 * Lanes
			for bad := range kp {
				v, pivot := make([]float64, n*n*kp), make([]float64, n*kp)
				for i := range v {
					if i/kp%(n+1) == 0 {
						v[i] = 4
					}
					if i%kp == bad {
						v[i] = odd[(i+bad)%len(odd)]
					}
				}
				LaneInverse(v, pivot, n, kp, 0x1p-52)
				for i, got := range v {
					want := 0.0
					if i/kp%(n+1) == 0 {
						want = 0.25
					}
					if i%kp != bad && got != want {
						t.Fatalf("n %d: entry %d of component %d is %v beside a bad one, want %v", n, i/kp, i%kp, got, want)
					}
				}
			}
		}
	})
}

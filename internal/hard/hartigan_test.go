package hard

import (
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/seed"
)

// costOf is the inertia of a partition: each cluster about its own mean.
func costOf(p *seed.Points, label []int, k int) (sum float64) {
	mean, weight := make([]float64, k*p.D), make([]float64, k)
	for i, c := range label {
		weight[c] += p.W[i]
		for j, x := range p.At(i) {
			mean[c*p.D+j] += p.W[i] * x
		}
	}
	for i, c := range label {
		for j, x := range p.At(i) {
			x -= mean[c*p.D+j] / weight[c]
			sum += p.W[i] * x * x
		}
	}
	return sum
}

func TestNoSingleRowCanImproveTheEnd(t *testing.T) {
	improved := 0
	for s := range uint64(4) {
		p := cloud(s, 90, 2)
		for i := range p.W {
			p.W[i] = 0.25 + float64(i%4)
		}
		k := 3 + 2*int(s)
		start := drawn(p, k, s)
		plain := climb(t, lloyd(300), kmeans(p, k), start)
		for _, theta := range [][]float64{plain[len(plain)-1].Point.Theta, nil} {
			end := theta
			if theta == nil {
				steps := climb(t, breathing(p, 1), kmeans(p, k), start)
				end = steps[len(steps)-1].Point.Theta
			}
			_, weight, label := means(p, end)
			now := costOf(p, label, k)
			for i, a := range label {
				for b := range k {
					if b == a || weight[a] == p.W[i] {
						continue
					}
					label[i] = b
					if after := costOf(p, label, k); after < now*(1-1e-10) {
						if theta == nil {
							t.Errorf("seed %d: row %d moves from %d to %d, %v to %v", s, i, a, b, now, after)
						}
						improved++
					}
					label[i] = a
				}
			}
		}
	}
	if improved == 0 {
		t.Error("no end of Lloyd's algorithm could be improved: the rows are no test")
	}
}

func TestAMoveLowersTheInertiaAndKeepsMeans(t *testing.T) {
	for s := range uint64(5) {
		p := cloud(s, 120, 3)
		for i := range p.W {
			p.W[i] = 1 + float64(i%3)
		}
		k := 4
		theta, weight, label := means(p, drawn(p, k, s))
		c := clusters{d: p.D, mean: slices.Clone(theta), weight: slices.Clone(weight)}
		moves := 0
		for i := range p.N {
			before := costOf(p, label, k)
			b := c.better(p.At(i), p.W[i], label[i])
			if b < 0 {
				continue
			}
			c.move(p.At(i), p.W[i], label[i], b)
			label[i] = b
			moves++
			if after := costOf(p, label, k); after >= before {
				t.Fatalf("seed %d: row %d raises the inertia from %v to %v", s, i, before, after)
			}
		}
		if moves == 0 {
			t.Errorf("seed %d: nothing moved", s)
		}
		want, sizes := make([]float64, k*p.D), make([]float64, k)
		for i, l := range label {
			sizes[l] += p.W[i]
			for j, x := range p.At(i) {
				want[l*p.D+j] += p.W[i] * x
			}
		}
		for i, v := range want {
			within(t, "a mean", c.mean[i], v/sizes[i/p.D], 1e-12)
		}
	}
}

func TestPairsAreTheTwoNearest(t *testing.T) {
	for _, n := range []int{1, 31, 32, 33, 2100} {
		p := cloud(uint64(n), n, 5)
		for _, k := range []int{1, 2, 7, 40} {
			theta := cloud(9, k, 5).X
			if k == 7 {
				copy(theta[5:10], theta[:5]) // two in one place: the lower is the nearest
			}
			q := &pairs{}
			if err := q.find(t.Context(), theta, p, 2); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				first, second, at := math.Inf(1), math.Inf(1), 0
				for c := range k {
					if v := sqdist(p.At(i), theta[c*5:]); v < first {
						first, second, at = v, first, c
					} else if v < second {
						second = v
					}
				}
				if int(q.label[i]) != at || q.first[i] != first || q.second[i] != second {
					t.Fatalf("%d rows, k %d: row %d has %d at %v and %v, want %d at %v and %v", n, k, i, q.label[i], q.first[i], q.second[i], at, first, second)
				}
			}
		}
	}
}

func TestDistinctPointsCarryTheWeightOfTheirEquals(t *testing.T) {
	p := points([][]float64{{0, 1}, {2, 2}, {math.Copysign(0, -1), 1}, {1, 0}, {2, 2}, {2, 2}}, []float64{1, 2, 3, 4, 5, 6})
	q := distinct(p)
	if q.N != 3 || !slices.Equal(q.X, []float64{0, 1, 2, 2, 1, 0}) || !slices.Equal(q.W, []float64{4, 13, 4}) {
		t.Errorf("%+v", q)
	}
	if distinct(q) != q {
		t.Error("points that all differ are copied")
	}
}

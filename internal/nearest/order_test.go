package nearest

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// Rows laid out by label stand by label and length, in as many ranges as have two panels of a label, each in one place, and their panels hold
// what they held.
func TestRowsAreLaidOutByLabelAndLength(t *testing.T) {
	const d = 30
	for _, c := range []struct {
		n, k, ranges int
		words        bool
	}{{1003, 40, 1, false}, {1003, 40, 1, true}, {20_011, 70, 4, false}} {
		n, k, words := c.n, c.k, c.words
		table, theta := blobs(n, d, k)
		e, st := New(table, make([]float64, d), 2), new(State)
		e.prepare(k)
		if e.ints == nil {
			e.ints = e.quantise(words)
		}
		sweep1(e, st, theta, k, family.NewStats(k, d, k*d, 3))
		e.ints = e.quantise(words)
		q, row := slices.Clone(e.ints.q), slices.Clone(e.ints.row)
		label := slices.Clone(st.label)
		e.sort(st)

		lengthOf := func(i int) float64 {
			y, sum := make([]float64, d), 0.0
			e.row(y, i)
			for j, v := range y {
				sum += (v - e.mu[j]) * (v - e.mu[j])
			}
			return math.Sqrt(sum)
		}
		seen := make([]bool, e.panels*kern.Rows)
		for lane, i := range e.order.row {
			if seen[i] || int(e.order.lane[i]) != lane {
				t.Fatalf("row %d has no place of its own", i)
			}
			seen[i] = true
			for g := range e.ints.groups {
				at := func(i int) int { return ((i/kern.Rows*e.ints.groups+g)*kern.Rows + i%kern.Rows) * 4 }
				if a, b := at(lane), at(int(i)); !bytes.Equal(e.ints.q[a:a+4], q[b:b+4]) {
					t.Fatalf("words %v: lane %d does not hold row %d", words, lane, i)
				}
			}
			for g := range 4 {
				if at := func(i int) int { return (i/kern.Rows*4+g)*kern.Rows + i%kern.Rows }; e.ints.row[at(lane)] != row[at(int(i))] {
					t.Fatalf("words %v: lane %d does not hold number %d of row %d", words, lane, g, i)
				}
			}
			if lane >= n {
				continue
			}
			begins := false
			for r := range c.ranges {
				lo, hi := e.span(r, c.ranges)
				begins = begins || lane == lo*kern.Rows
				if lane >= lo*kern.Rows && lane < hi*kern.Rows && (int(i) < lo*kern.Rows || int(i) >= hi*kern.Rows) {
					t.Fatalf("row %d is in lane %d, of another range", i, lane)
				}
			}
			if begins {
				continue
			}
			before := e.order.row[lane-1]
			if a, b := label[before], label[i]; a > b || a == b && lengthOf(int(before)) > 1.05*lengthOf(int(i)) {
				t.Errorf("rows %d and %d, side by side, have labels %d and %d and lengths %v and %v", before, i, a, b, lengthOf(int(before)), lengthOf(int(i)))
			}
		}
	}
}

package nearest

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// Rows laid out by label stand by label and length, each in one place, and their panels hold what they held.
func TestRowsAreLaidOutByLabelAndLength(t *testing.T) {
	const n, d, k = 1003, 30, 40
	table, theta := blobs(n, d, k)
	for _, words := range []bool{false, true} {
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
			if lane == 0 || lane >= n {
				continue
			}
			before := e.order.row[lane-1]
			if a, b := label[before], label[i]; a > b || a == b && lengthOf(int(before)) > 1.05*lengthOf(int(i)) {
				t.Errorf("rows %d and %d, side by side, have labels %d and %d and lengths %v and %v", before, i, a, b, lengthOf(int(before)), lengthOf(int(i)))
			}
		}
	}
}

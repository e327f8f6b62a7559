package kern

import (
	"math/rand/v2"
	"testing"
)

func TestL1Distances(t *testing.T) {
	everyD(t, func(t *testing.T, rng *rand.Rand, d int) {
		x, _ := random(rng, d*Rows)
		c, _ := random(rng, d)
		got, intact := guarded(Rows)
		L1dist(got, x, c)
		intact(t)
		for i := range Rows {
			want := 0.0
			for j := range d {
				if e := x[j*Rows+i] - c[j]; e > 0 {
					want += e
				} else {
					want -= e
				}
			}
			near(t, "distance", got[i], want, want)
		}
		if n := testing.AllocsPerRun(10, func() { L1dist(got, x, c) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

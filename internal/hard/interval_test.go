package hard

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/median"
)

// spread returns sum w |x - m|.
func spread(v []weighted, m float64) (sum float64) {
	for _, e := range v {
		sum += e.w * math.Abs(e.x-m)
	}
	return sum
}

// With integers every sum is exact, so the interval is where the convex sum is least: some values of v are optimal, and
// the bounds are the least and the largest of those.
func TestIntervalIsWhereTheSumOfDistancesIsLeast(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 0))
	for range 4000 {
		v := make([]weighted, 1+rng.IntN(40))
		wide := 1 + rng.IntN(60)
		for i := range v {
			v[i] = weighted{float64(rng.IntN(wide) - wide/2), float64(1 + rng.IntN(1+rng.IntN(4)))}
		}
		best := math.Inf(1)
		for _, e := range v {
			best = min(best, spread(v, e.x))
		}
		var optimal []float64
		for _, e := range v {
			if spread(v, e.x) == best {
				optimal = append(optimal, e.x)
			}
		}
		lower, upper := interval(slices.Clone(v))
		if lower != slices.Min(optimal) || upper != slices.Max(optimal) {
			t.Fatalf("%v: [%v, %v], want [%v, %v]", v, lower, upper, slices.Min(optimal), slices.Max(optimal))
		}
		if got := spread(v, median.Middle(lower, upper)); got != best {
			t.Fatalf("%v: the midpoint costs %v, the bounds %v", v, got, best)
		}
	}
}

func TestIntervalDoesNotHangOnOrderOrRounding(t *testing.T) {
	const n = 30_000
	for name, x := range map[string]func(i int) float64{
		"rising":     func(i int) float64 { return float64(i) },
		"falling":    func(i int) float64 { return float64(n - 1 - i) },
		"organ pipe": func(i int) float64 { return float64(min(2*i, 2*(n-1-i)+1)) },
	} {
		v := make([]weighted, n)
		for i := range v {
			v[i] = weighted{x(i), 1}
		}
		if lower, upper := interval(v); lower != n/2-1 || upper != n/2 {
			t.Errorf("%s: [%v, %v]", name, lower, upper)
		}
	}
	tenths := []weighted{{1, 0.1}, {2, 0.1}, {3, 0.1}, {7, 0.3}} // 0.1 + 0.1 + 0.1 is not 0.3, and sums depend on the order
	for range tenths {
		tenths = append(tenths[1:], tenths[0])
		if lower, upper := interval(slices.Clone(tenths)); lower != 3 || upper != 7 {
			t.Errorf("%v: [%v, %v], want [3, 7]", tenths, lower, upper)
		}
	}
	if lower, upper := interval([]weighted{{math.MaxFloat64, 1}, {-math.MaxFloat64, 1}}); median.Middle(lower, upper) != 0 {
		t.Errorf("midpoint of [%v, %v] is not 0", lower, upper)
	}
}

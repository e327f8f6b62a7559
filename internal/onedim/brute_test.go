package onedim

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// groupCost is the least cost of rows as one cluster: about their mean, in two passes, or about the best of the rows.
func groupCost(rows []point, cost Cost) float64 {
	about := func(c float64) (total float64) {
		for _, r := range rows {
			if cost == Squared {
				total += r.w * (r.x - c) * (r.x - c)
			} else {
				total += r.w * math.Abs(r.x-c)
			}
		}
		return total
	}
	if cost == Squared {
		w, mean := 0.0, 0.0
		for _, r := range rows {
			w += r.w
		}
		for _, r := range rows {
			mean += r.w / w * (r.x - rows[0].x)
		}
		return about(rows[0].x + mean)
	}
	least := math.Inf(1)
	for _, r := range rows {
		least = min(least, about(r.x))
	}
	return least
}

// bestCuts is the least cost of sorted rows in k runs, over all ways to cut them.
func bestCuts(rows []point, k int, cost Cost) float64 {
	if k == 1 {
		return groupCost(rows, cost)
	}
	least := math.Inf(1)
	for c := 1; c <= len(rows)-k+1; c++ {
		least = min(least, groupCost(rows[:c], cost)+bestCuts(rows[c:], k-1, cost))
	}
	return least
}

// bestPartition is the least cost of rows in k groups, over all partitions, of whatever shape.
func bestPartition(rows []point, k int, cost Cost) float64 {
	groups := make([][]point, k)
	var place func(i, used int) float64
	place = func(i, used int) float64 {
		if i == len(rows) {
			if used < k {
				return math.Inf(1)
			}
			total := 0.0
			for _, g := range groups {
				total += groupCost(g, cost)
			}
			return total
		}
		least := math.Inf(1)
		for g := 0; g < min(used+1, k); g++ {
			groups[g] = append(groups[g], rows[i])
			least = min(least, place(i+1, max(used, g+1)))
			groups[g] = groups[g][:len(groups[g])-1]
		}
		return least
	}
	return place(0, 0)
}

// quadratic is the dynamic program over sorted rows with every value of every matrix computed.
func quadratic(rows []point, k int, cost Cost) float64 {
	n := len(rows)
	span := make([][]float64, n)
	for i := range span {
		span[i] = make([]float64, n+1)
		for j := i + 1; j <= n; j++ {
			span[i][j] = groupCost(rows[i:j], cost)
		}
	}
	best := span[0]
	for q := 2; q <= k; q++ {
		next := make([]float64, n+1)
		for j := range next {
			next[j] = math.Inf(1)
			for c := q - 1; c < j; c++ {
				next[j] = min(next[j], best[c]+span[c][j])
			}
		}
		best = next
	}
	return best[n]
}

// draw returns n rows of few or many distinct values, at least k of them of positive weight.
func draw(rng *rand.Rand, n, k, wide int, weighted bool) []point {
	rows := make([]point, n)
	for i := range rows {
		rows[i] = point{float64(rng.IntN(wide)), 1}
		if weighted {
			rows[i].w = []float64{0.25, 0.1, 1, 3, rng.Float64()}[rng.IntN(5)]
		}
		if i < k {
			rows[i].x = float64(i * wide / k)
		}
	}
	rng.Shuffle(n, func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}

func columns(rows []point) (x, w []float64) {
	for _, r := range rows {
		x, w = append(x, r.x), append(w, r.w)
	}
	return x, w
}

func sorted(rows []point) []point {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	return rows
}

func close(a, b, relative float64) bool {
	return math.Abs(a-b) <= relative*max(math.Abs(a), math.Abs(b))
}

// mustCluster clusters, with the given number of choices in memory, and fails unless the result hangs together: labels are
// of nearest centres and rise with x, no cluster is empty, and the cost is that of labels and centres.
func mustCluster(t testing.TB, x, w []float64, k int, cost Cost, capacity int) *Result {
	t.Helper()
	r, err := cluster(context.Background(), x, w, k, cost, capacity)
	if err != nil {
		t.Fatal(err)
	}
	if r.K != k || len(r.Centers) != k || len(r.Label) != len(x) || !slices.IsSorted(r.Centers) {
		t.Fatalf("K %d, %d labels of %d rows, centres %v", r.K, len(r.Label), len(x), r.Centers)
	}
	total, weights := 0.0, make([]float64, k)
	for i, v := range x {
		one, away := 1.0, math.Abs(v-r.Centers[r.Label[i]])
		if w != nil {
			one = w[i]
		}
		loss := one * away
		if cost == Squared {
			loss *= away
		}
		total += loss
		weights[r.Label[i]] += one
		for c, m := range r.Centers {
			if nearer := math.Abs(v - m); nearer < away && !close(nearer, away, 1e-9) {
				t.Fatalf("value %v has centre %v at %v, but %d at %v is nearer", v, r.Label[i], r.Centers[r.Label[i]], c, m)
			}
		}
	}
	if slices.Min(weights) <= 0 {
		t.Fatalf("weights of clusters are %v", weights)
	}
	if !close(total, r.Cost, 1e-12) {
		t.Fatalf("cost %v, but labels and centres give %v", r.Cost, total)
	}
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	for i := range order[1:] {
		a, b := order[i], order[i+1]
		if r.Label[a] > r.Label[b] || x[a] == x[b] && r.Label[a] != r.Label[b] {
			t.Fatalf("values %v and %v have labels %d and %d", x[a], x[b], r.Label[a], r.Label[b])
		}
	}
	return r
}

func eachCost(t *testing.T, f func(t *testing.T, cost Cost)) {
	for cost, name := range []string{"squared", "absolute"} {
		t.Run(name, func(t *testing.T) { f(t, Cost(cost)) })
	}
}

func TestNoPartitionIsCheaper(t *testing.T) {
	eachCost(t, func(t *testing.T, cost Cost) {
		rng := rand.New(rand.NewPCG(1, 0))
		for trial := range 120 {
			n := 1 + rng.IntN(8)
			k := 1 + rng.IntN(n)
			rows := draw(rng, n, k, 8+rng.IntN(40), trial%2 == 1)
			x, w := columns(rows)
			r := mustCluster(t, x, w, k, cost, tableLimit)
			if want := bestPartition(rows, k, cost); !close(r.Cost, want, 1e-12) && math.Abs(r.Cost-want) > 1e-28 {
				t.Fatalf("%v, k %d: cost %v, want %v", rows, k, r.Cost, want)
			}
		}
	})
}

func TestNoCutIsCheaper(t *testing.T) {
	eachCost(t, func(t *testing.T, cost Cost) {
		rng := rand.New(rand.NewPCG(2, 0))
		for trial := range 200 {
			n := 5 + rng.IntN(12)
			k := 1 + rng.IntN(5)
			rows := draw(rng, n, k, []int{6, 15, 1000}[trial%3], trial%2 == 1)
			x, w := columns(rows)
			r := mustCluster(t, x, w, k, cost, tableLimit)
			if want := bestCuts(sorted(rows), k, cost); !close(r.Cost, want, 1e-12) && math.Abs(r.Cost-want) > 1e-28 {
				t.Fatalf("%v, k %d: cost %v, want %v", rows, k, r.Cost, want)
			}
		}
	})
}

// With little memory the program carries middle cuts instead of keeping a table; both must find the optimum.
func TestSMAWKEqualsTheQuadraticProgram(t *testing.T) {
	eachCost(t, func(t *testing.T, cost Cost) {
		rng := rand.New(rand.NewPCG(3, 0))
		for trial, k := range []int{2, 3, 4, 5, 7, 8, 13, 40, 119, 120} {
			rows := draw(rng, 120, k, []int{150, 1_000_000}[trial%2], trial%3 > 0)
			if k > 100 {
				for i := range rows {
					rows[i].x = float64(i * i)
				}
			}
			x, w := columns(rows)
			want := quadratic(sorted(rows), k, cost)
			for _, capacity := range []int{tableLimit, 700, 100, 0} {
				r := mustCluster(t, x, w, k, cost, capacity)
				if !close(r.Cost, want, 1e-12) && math.Abs(r.Cost-want) > 1e-20 {
					t.Errorf("k %d, %d choices in memory: cost %v, want %v", k, capacity, r.Cost, want)
				}
			}
		}
	})
}

// The choices must not depend on how many are kept, where the best partition is unique.
func TestMemoryDoesNotChangeLabels(t *testing.T) {
	eachCost(t, func(t *testing.T, cost Cost) {
		rng := rand.New(rand.NewPCG(4, 0))
		x := make([]float64, 5000)
		for i := range x {
			x[i] = rng.NormFloat64() * float64(1+i%3)
		}
		for _, k := range []int{2, 3, 6, 11, 64} {
			whole := mustCluster(t, x, nil, k, cost, tableLimit)
			for _, capacity := range []int{30_000, 0} {
				if r := mustCluster(t, x, nil, k, cost, capacity); !slices.Equal(r.Label, whole.Label) {
					t.Errorf("k %d, %d choices in memory: other labels, cost %v and %v", k, capacity, r.Cost, whole.Cost)
				}
			}
		}
	})
}

func ExampleCluster() {
	r, _ := Cluster(context.Background(), []float64{7, 1, 8, 2, 30}, nil, 3, Squared)
	fmt.Println(r.Label, r.Centers, r.Cost)
	// Output: [1 0 1 0 2] [1.5 7.5 30] 1
}

package onedim

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type optimum struct {
	Cost   float64
	Exact  string `json:"cost_exact"`
	Sizes  []int  `json:"sizes_in_order"`
	Unique bool
}

func TestOptimaOfOtherTools(t *testing.T) {
	text, err := os.ReadFile("../../testdata/oracle/optimum/one-column.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Fits []struct {
			Data struct {
				File, Transform string
				Columns         []string
			}
			N, K             int
			KMeans, KMedians optimum
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if stated := strings.Count(string(text), `"k":`); stated != len(file.Fits) || stated < 36 {
		t.Fatalf("%d fits, %d stated", len(file.Fits), stated)
	}
	for _, f := range file.Fits {
		x := column(t, filepath.Base(f.Data.File), f.Data.Columns[0])
		if len(x) != f.N || f.Data.Transform != "none" {
			t.Fatalf("%d rows of %v, want %d", len(x), f.Data, f.N)
		}
		for cost, want := range []optimum{f.KMeans, f.KMedians} {
			r := mustCluster(t, x, nil, f.K, Cost(cost), tableLimit)
			ratio, ok := new(big.Rat).SetString(want.Exact)
			if !ok {
				t.Fatalf("%s, k %d: cost %q", f.Data.File, f.K, want.Exact)
			}
			exact, _ := ratio.Float64()
			if !close(r.Cost, exact, 1e-13) || !close(r.Cost, want.Cost, 1e-12) {
				t.Errorf("%v, k %d, cost %d: %v, want %v", f.Data, f.K, cost, r.Cost, exact)
			}
			sizes := make([]int, f.K)
			for _, c := range r.Label {
				sizes[c]++
			}
			if want.Unique && !slices.Equal(sizes, want.Sizes) {
				t.Errorf("%v, k %d, cost %d: sizes %v, want %v", f.Data, f.K, cost, sizes, want.Sizes)
			}
		}
	}
}

// column reads a column of a bundled data set, or of testdata.
func column(t *testing.T, name, header string) (x []float64) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../data/datasets", name))
	if os.IsNotExist(err) {
		text, err = os.ReadFile(filepath.Join("testdata", name))
	}
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		v, err := strconv.ParseFloat(line[slices.Index(lines[0], header)], 64)
		if err != nil {
			t.Fatal(err)
		}
		x = append(x, v)
	}
	return x
}

func TestFarFromZero(t *testing.T) {
	eachCost(t, func(t *testing.T, cost Cost) {
		rng := rand.New(rand.NewPCG(5, 0))
		rows := draw(rng, 150, 6, 5000, true)
		x, w := columns(rows)
		for i := range x {
			x[i] = math.Ldexp(x[i], -20) // a multiple of the distance between neighbours of 1e8, so that nothing is rounded
		}
		near := mustCluster(t, x, w, 6, cost, tableLimit)
		for _, offset := range []float64{1e8, -1e8} {
			far := slices.Clone(x)
			for i := range far {
				far[i] += offset
			}
			r := mustCluster(t, far, w, 6, cost, tableLimit)
			if !slices.Equal(r.Label, near.Label) {
				t.Errorf("offset %v: other labels", offset)
			}
			// A centre, rounded to 2^-26, is off by 2^-27 at most: w times its square, or w times it, is the most it costs.
			slack := 2 * 150 * 3 * math.Ldexp(1, -27)
			if cost == Squared {
				slack *= math.Ldexp(1, -27)
			}
			if math.Abs(r.Cost-near.Cost) > slack+1e-12*near.Cost {
				t.Errorf("offset %v: cost %v, want %v", offset, r.Cost, near.Cost)
			}
		}
	})
}

// Whole numbers from 2^52 on are neighbours in float64: twice the precision alone would not hold their squares.
func TestNeighboursInFloat64(t *testing.T) {
	eachCost(t, func(t *testing.T, cost Cost) {
		rng := rand.New(rand.NewPCG(6, 0))
		var x, far, w []float64
		for range 400 {
			v := float64(rng.IntN(1000))
			x, far, w = append(x, v), append(far, v+math.Ldexp(1, 52)), append(w, 1+rng.Float64())
		}
		near := mustCluster(t, x, w, 150, cost, tableLimit)
		r, err := Cluster(context.Background(), far, w, 150, cost)
		if err != nil || !slices.Equal(r.Label, near.Label) {
			t.Errorf("other labels, error %v", err)
		}
	})
}

// Tight clusters far from each other: no one origin is near to all.
func TestTightClustersFarApart(t *testing.T) {
	var x []float64
	for _, centre := range []float64{1e8, -1e8, 3, 5e7} {
		for _, v := range []float64{0, 1, 10, 11, 30} {
			x = append(x, centre+math.Ldexp(v, -20))
		}
	}
	u := math.Ldexp(1, -20)
	for _, c := range []struct {
		cost  Cost
		k     int
		least float64
	}{ // five values 0 1 10 11 30: with centre 10.4, or 10; in three parts 0 1 | 10 11 | 30
		{Squared, 4, 4 * (10.4*10.4 + 9.4*9.4 + 0.4*0.4 + 0.6*0.6 + 19.6*19.6) * u * u},
		{Absolute, 4, 4 * (10 + 9 + 0 + 1 + 20) * u},
		{Squared, 12, 4 * (0.5 + 0.5) * u * u},
		{Absolute, 12, 4 * (1 + 1) * u},
	} {
		r := mustCluster(t, x, nil, c.k, c.cost, tableLimit)
		// centres of 1e8 are rounded to 2^-26, a 64th of the unit
		if slack := 20 * u / 64; r.Cost < c.least*(1-1e-12) || c.cost == Squared && r.Cost > c.least+20*(u/64)*(u/64) || r.Cost > c.least+slack {
			t.Errorf("cost %d, k %d: %v, want %v", c.cost, c.k, r.Cost, c.least)
		}
		for i := range x {
			if per := int32(c.k / 4); r.Label[i]/per != map[float64]int32{1e8: 3, -1e8: 0, 3: 1, 5e7: 2}[math.Round(x[i])] {
				t.Errorf("cost %d, k %d: value %v has label %d", c.cost, c.k, x[i], r.Label[i])
			}
		}
	}
}

func TestHugeAndTinyValues(t *testing.T) {
	eachCost(t, func(t *testing.T, cost Cost) {
		x := []float64{1, 2, 11, 12, 13, 40}
		want := []int32{0, 0, 1, 1, 1, 2}
		for _, scale := range []float64{1e-318, 1e-300, 1e-160, 1e150} {
			scaled := make([]float64, len(x))
			for i := range x {
				scaled[i] = x[i] * scale
			}
			if r, err := Cluster(context.Background(), scaled, nil, 3, cost); err != nil || !slices.Equal(r.Label, want) {
				t.Errorf("scale %v: %v, %v", scale, r, err)
			}
			weights := []float64{scale, scale, scale, scale, scale, scale}
			if r, err := Cluster(context.Background(), x, weights, 3, cost); err != nil || !slices.Equal(r.Label, want) {
				t.Errorf("weights %v: %v, %v", scale, r, err)
			}
		}
	})
}

func TestConstantRuns(t *testing.T) {
	eachCost(t, func(t *testing.T, cost Cost) {
		var x []float64
		for i := range 3000 {
			x = append(x, []float64{0.1, 7.3, 1e8}[i%3])
		}
		for range 1000 {
			x = append(x, 7.3)
		}
		if r := mustCluster(t, x, nil, 3, cost, tableLimit); r.Cost != 0 || !slices.Equal(r.Centers, []float64{0.1, 7.3, 1e8}) {
			t.Errorf("cost %v, centres %v", r.Cost, r.Centers)
		}
		if r := mustCluster(t, x[3000:], nil, 1, cost, tableLimit); r.Cost != 0 || r.Centers[0] != 7.3 {
			t.Errorf("cost %v, centres %v", r.Cost, r.Centers)
		}
	})
}

func TestMedianIsTheMidpointOfAllMedians(t *testing.T) {
	for _, c := range []struct {
		x, w []float64
		want float64
	}{
		{[]float64{5, 1, 3}, nil, 3},
		{[]float64{4, 1, 2, 9}, nil, 3},
		{[]float64{1, 2, 9}, []float64{1, 1, 2}, 5.5},
		{[]float64{1, 2, 9}, []float64{0.1, 0.2, 0.3}, 5.5},
		{[]float64{1, 2, 9}, []float64{1, 1, 2.001}, 9},
		{[]float64{1, 2, 3, 9}, []float64{1, 1, 0, 2}, 5.5},
		{[]float64{1, 1, 1, 5, 5, 8}, nil, 3},
		{[]float64{-1e308, -1.5e308}, nil, -1.25e308},
	} {
		r, err := Cluster(context.Background(), c.x, c.w, 1, Absolute)
		if err != nil || r.Centers[0] != c.want {
			t.Errorf("median of %v with weights %v: %v, %v, want %v", c.x, c.w, r, err, c.want)
		}
	}
}

func TestRowsWithoutWeightTakeTheNearestCentre(t *testing.T) {
	x := []float64{1e300, -5, 0, 2, 4, 5, 6, 7, 10, 2, 5.5}
	w := []float64{0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0}
	// centres 1 and 10, or both bounds' midpoints, the same: 5.5 is as near to both and takes the lower
	want := []int32{1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0}
	eachCost(t, func(t *testing.T, cost Cost) {
		r, err := Cluster(context.Background(), x, w, 2, cost)
		if err != nil || !slices.Equal(r.Label, want) || r.Cost != 2 || !slices.Equal(r.Centers, []float64{1, 10}) {
			t.Errorf("%+v, %v, want labels %v", r, err, want)
		}
	})
}

func TestRefusals(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		x, w []float64
		k    int
		cost Cost
		want string
	}{
		{[]float64{1, 2}, nil, 0, Squared, "k is 0: it must be at least 1"},
		{[]float64{1, 2, 2}, nil, 3, Squared, "k is 3, but there are 2 distinct values of positive weight"},
		{[]float64{1, 2, 3}, []float64{1, 1, 0}, 3, Absolute, "k is 3, but there are 2 distinct values of positive weight"},
		{nil, nil, 1, Squared, "k is 1, but there are 0 distinct values of positive weight"},
		{[]float64{1}, []float64{0}, 1, Squared, "k is 1, but there are 0 distinct values of positive weight"},
		{[]float64{0, math.Copysign(0, -1)}, nil, 2, Squared, "k is 2, but there are 1 distinct values of positive weight"},
		{[]float64{1, nan}, nil, 1, Squared, "value 1 is NaN: values must be finite"},
		{[]float64{-inf}, []float64{0}, 1, Squared, "value 0 is -Inf: values must be finite"},
		{[]float64{1}, []float64{nan}, 1, Squared, "weight 0 is NaN: weights must be finite and not negative"},
		{[]float64{1}, []float64{inf}, 1, Squared, "weight 0 is +Inf: weights must be finite and not negative"},
		{[]float64{1, 2}, []float64{1, -1}, 1, Squared, "weight 1 is -1: weights must be finite and not negative"},
		{[]float64{1, 2}, []float64{1}, 1, Squared, "2 values, but 1 weights"},
		{[]float64{1, 2}, nil, 1, 2, "cost 2 is neither Squared nor Absolute"},
		{[]float64{0, 1e200}, nil, 1, Squared, "values or weights are so large that the cost overflows: scale them down"},
		{[]float64{-1.7e308, 1.7e308}, nil, 2, Absolute, "values or weights are so large that the cost overflows: scale them down"},
		{[]float64{1, 1}, []float64{1.7e308, 1.7e308}, 1, Absolute, "values or weights are so large that the cost overflows: scale them down"},
	} {
		if r, err := Cluster(context.Background(), c.x, c.w, c.k, c.cost); err == nil || err.Error() != c.want || r != nil {
			t.Errorf("%v %v k %d: %v, want %q", c.x, c.w, c.k, err, c.want)
		}
	}
}

// cases draws rows of small integers, so that sums are exact, with integer weights.
func cases(t *rapid.T) (x, w []float64, k int, cost Cost) {
	n := rapid.IntRange(1, 40).Draw(t, "n")
	wide := rapid.SampledFrom([]int{3, 20, 5000}).Draw(t, "range")
	seen := map[float64]bool{}
	for range n {
		v := float64(rapid.IntRange(-wide, wide).Draw(t, "x"))
		x, w = append(x, v), append(w, float64(rapid.IntRange(1, 5).Draw(t, "w")))
		seen[v] = true
	}
	return x, w, rapid.IntRange(1, len(seen)).Draw(t, "k"), Cost(rapid.IntRange(0, 1).Draw(t, "cost"))
}

func TestWeightsAreRepeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, w, k, cost := cases(t)
		var repeated []float64
		for i, v := range x {
			repeated = append(repeated, slices.Repeat([]float64{v}, int(w[i]))...)
		}
		a, err := Cluster(context.Background(), x, w, k, cost)
		b, err2 := Cluster(context.Background(), repeated, nil, k, cost)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if !slices.Equal(a.Centers, b.Centers) || !close(a.Cost, b.Cost, 1e-13) { // equal to the bit, though partitions may tie
			t.Fatalf("%+v, repeated %+v", a, b)
		}
	})
}

// Powers of two scale and small integers shift without rounding; a mirror may choose another of equal partitions.
func TestShiftScaleAndMirror(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, w, k, cost := cases(t)
		shift := float64(rapid.IntRange(-1000, 1000).Draw(t, "shift"))
		scale := math.Ldexp(1, rapid.IntRange(-40, 40).Draw(t, "exponent"))
		if rapid.Bool().Draw(t, "mirror") {
			scale = -scale
		}
		moved := make([]float64, len(x))
		for i, v := range x {
			moved[i] = scale * (v + shift)
		}
		a, err := Cluster(context.Background(), x, w, k, cost)
		b, err2 := Cluster(context.Background(), moved, w, k, cost)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		factor := math.Abs(scale)
		if cost == Squared {
			factor *= factor
		}
		if !close(a.Cost*factor, b.Cost, 1e-12) && math.Abs(a.Cost-b.Cost/factor) > 1e-22 {
			t.Fatalf("cost %v becomes %v, want %v", a.Cost, b.Cost, a.Cost*factor)
		}
	})
}

func TestCostNeverRisesWithK(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, w, most, cost := cases(t)
		last := math.Inf(1)
		for k := 1; k <= most; k++ {
			r, err := Cluster(context.Background(), x, w, k, cost)
			if err != nil {
				t.Fatal(err)
			}
			if r.Cost > last*(1+1e-13)+1e-24 {
				t.Fatalf("cost %v with %d clusters, %v with one fewer", r.Cost, k, last)
			}
			last = r.Cost
		}
	})
}

func TestOrderOfRowsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, w, k, cost := cases(t)
		order := make([]int, len(x))
		for i := range order {
			order[i] = i
		}
		order = rapid.Permutation(order).Draw(t, "order")
		y, v := make([]float64, len(x)), make([]float64, len(x))
		for i, at := range order {
			y[i], v[i] = x[at], w[at]
		}
		a, err := Cluster(context.Background(), x, w, k, cost)
		b, err2 := Cluster(context.Background(), y, v, k, cost)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		for i, at := range order {
			if b.Label[i] != a.Label[at] {
				t.Fatalf("row %d: labels %d and %d", at, a.Label[at], b.Label[i])
			}
		}
	})
}

// A cancelled context ends the program between two numbers of clusters, whether its choices fit the table or not.
func TestACancelledContextEndsTheProgram(t *testing.T) {
	x := make([]float64, 300)
	for i := range x {
		x[i] = float64(i * i % 1009)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, capacity := range []int{tableLimit, 10} {
		if r, err := cluster(ctx, x, nil, 20, Squared, capacity); err != context.Canceled || r != nil {
			t.Errorf("capacity %d: %v, %v", capacity, r, err)
		}
	}
}

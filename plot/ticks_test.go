package plot

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// read is the inverse of what ticks write.
func read(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(strings.NewReplacer("−", "-", ",", "").Replace(s), 64)
	if err != nil {
		t.Fatalf("a tick says %q", s)
	}
	return v
}

func TestTicksAreInRangeAscendingAndSayWhereTheyAre(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 6000 {
		lo := (r.Float64() - 0.5) * math.Pow(10, float64(r.IntN(24)-12))
		hi := lo + math.Abs(lo)*math.Pow(10, -6*r.Float64()) + math.Pow(10, float64(r.IntN(20)-10))
		n := 2 + r.IntN(12)
		ticks := linearTicks(lo, hi, n)
		checkTicks(t, ticks, lo, hi, n)
		step, ulp := ticks[1].value-ticks[0].value, 4e-16*max(math.Abs(lo), math.Abs(hi))
		if m := strconv.FormatFloat(step, 'e', 1, 64); !strings.Contains("1.0 2.0 5.0", m[:3]) {
			t.Fatalf("a step of %v in %v..%v", step, lo, hi)
		}
		for i := 2; i < len(ticks); i++ {
			if got := ticks[i].value - ticks[i-1].value; math.Abs(got-step) > 1e-9*step+4*ulp {
				t.Fatalf("ticks of %v..%v are %v and %v apart", lo, hi, step, got)
			}
		}
	}
	for range 6000 {
		lo := math.Pow(10, 40*r.Float64()-20)
		hi := lo * math.Pow(10, 0.01+10*r.Float64()*r.Float64())
		n := 2 + r.IntN(10)
		checkTicks(t, logTicks(lo, hi, n), lo, hi, n)
	}
}

func checkTicks(t *testing.T, ticks []tick, lo, hi float64, n int) {
	t.Helper()
	if len(ticks) < 2 || len(ticks) > n+8 {
		t.Fatalf("%d ticks in %v..%v for %d", len(ticks), lo, hi, n)
	}
	gap := math.Inf(1)
	for i, k := range ticks {
		if k.value < lo || k.value > hi {
			t.Fatalf("tick %v is not in %v..%v", k, lo, hi)
		}
		if i > 0 {
			if k.value <= ticks[i-1].value {
				t.Fatalf("ticks %v do not ascend", ticks)
			}
			gap = min(gap, k.value-ticks[i-1].value)
		}
	}
	for _, k := range ticks {
		if got := read(t, k.text); math.Abs(got-k.value) > 0.01*gap {
			t.Fatalf("the tick at %v says %q (range %v..%v)", k.value, k.text, lo, hi)
		}
	}
}

func TestTickTexts(t *testing.T) {
	texts := func(ticks []tick) string {
		var s []string
		for _, k := range ticks {
			s = append(s, k.text)
		}
		return strings.Join(s, " ")
	}
	for _, c := range []struct {
		ticks []tick
		want  string
	}{
		{linearTicks(0, 1, 5), "0.0 0.2 0.4 0.6 0.8 1.0"},
		{linearTicks(-3.31, -3.19, 6), "−3.30 −3.28 −3.26 −3.24 −3.22 −3.20"},
		{linearTicks(0, 40000, 4), "0 10,000 20,000 30,000 40,000"},
		{linearTicks(-1e9, 1e9, 4), "−1,000,000,000 −500,000,000 0 500,000,000 1,000,000,000"},
		{linearTicks(-1e18, 1e18, 4), "−1e18 −5e17 0 5e17 1e18"},
		{linearTicks(0, 4e-4, 4), "0 0.0001 0.0002 0.0003 0.0004"},
		{linearTicks(0, 4e-6, 4), "0 0.000001 0.000002 0.000003 0.000004"},
		{linearTicks(-12345678.4, -12345676.9, 3), "−12,345,678.0 −12,345,677.5 −12,345,677.0"},
		{logTicks(0.004, 30, 8), "0.01 0.1 1 10"},
		{logTicks(1, 1e9, 5), "1 100 10,000 1,000,000 100,000,000"},
		{logTicks(1, 30, 8), "1 2 5 10 20"},
		{logTicks(95, 105, 5), "96 98 100 102 104"},
	} {
		if got := texts(c.ticks); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestNumbersForReaders(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1126.33: "1126", -1.5: "−1.5", 12345: "12,345", 0.012345: "0.01235", 3e-7: "3.00e−7", -2.5e9: "−2,500,000,000", 2e15: "2.00e15", 100: "100"} {
		if got := number(v); got != want {
			t.Errorf("number(%v) is %q, want %q", v, got, want)
		}
	}
	for _, c := range []struct {
		v, d float64
		want string
	}{{-1126.333, 0.0213, "−1126.333 ± 0.021"}, {120, 13.4, "120 ± 13"}, {61.2, 0, "61.2"}, {61.2, math.NaN(), "61.2"}, {5, 1, "5.0 ± 1.0"}} {
		if got := measured(c.v, c.d); got != c.want {
			t.Errorf("measured(%v, %v) is %q, want %q", c.v, c.d, got, c.want)
		}
	}
}

func TestSpreadKeepsOrderGapAndRoom(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		y := make([]vg.Length, 1+r.IntN(12))
		for i := range y {
			y[i] = vg.Length(300 * r.Float64() * r.Float64())
		}
		slices.Sort(y)
		spread(y, 13, 0, 300)
		for i := range y {
			if y[i] < -1e-9 || y[i] > 300+1e-9 {
				t.Fatalf("%v leaves 0..300", y)
			}
			if i > 0 && y[i]-y[i-1] < 13-1e-9 {
				t.Fatalf("%v are too close", y)
			}
		}
		again := slices.Clone(y)
		spread(again, 13, 0, 300)
		for i := range y {
			if math.Abs(float64(again[i]-y[i])) > 1e-6 {
				t.Fatalf("places apart moved from %v to %v", y, again)
			}
		}
	}
	crowd := make([]vg.Length, 50)
	spread(crowd, 13, 0, 100)
	if crowd[0] < -1e-9 || crowd[49] > 100+1e-9 || !slices.IsSorted(crowd) {
		t.Errorf("50 places in 100: %v", crowd)
	}
}

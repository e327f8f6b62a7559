package score_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/latent-go/latent/score"
)

// values are the five numbers of an Agreement, in the order ARI, NMI, homogeneity, completeness, V-measure.
func values[A, B comparable](t *score.Agreement[A, B]) [5]float64 {
	return [5]float64{t.ARI(), t.NMI(), t.Homogeneity(), t.Completeness(), t.VMeasure()}
}

// agreement fills a table from two labellings; w may be nil.
func agreement[A, B comparable](t interface{ Fatal(...any) }, a []A, b []B, w []float64) *score.Agreement[A, B] {
	var g score.Agreement[A, B]
	for i := range a {
		v := 1.0
		if w != nil {
			v = w[i]
		}
		if err := g.Add(a[i], b[i], v); err != nil {
			t.Fatal(err)
		}
	}
	return &g
}

func TestAgreementByHand(t *testing.T) {
	ln := math.Log
	for _, c := range []struct {
		name string
		a, b []int
		want [5]float64
	}{
		{"no rows", nil, nil, [5]float64{1, 1, 1, 1, 1}},
		{"one row", []int{4}, []int{7}, [5]float64{1, 1, 1, 1, 1}},
		{"one cluster in both", []int{0, 0, 0}, []int{5, 5, 5}, [5]float64{1, 1, 1, 1, 1}},
		{"every row alone in both", []int{0, 1, 2}, []int{2, 0, 1}, [5]float64{1, 1, 1, 1, 1}},
		{"one class, two clusters", []int{0, 0, 0}, []int{0, 0, 1}, [5]float64{0, 0, 1, 0, 0}},
		{"two classes, one cluster", []int{0, 0, 1}, []int{0, 0, 0}, [5]float64{0, 0, 0, 1, 0}},
		{"one class, every row alone", []int{0, 0, 0}, []int{0, 1, 2}, [5]float64{0, 0, 1, 0, 0}},
		{"other names", []int{0, 0, 1, 1}, []int{1, 1, 0, 0}, [5]float64{1, 1, 1, 1, 1}},
		// Each of four cells holds one row: no pair is together in both, 2 x 2 pairs are together in one.
		// ARI = (0 - 2·2/6) / (2 - 2·2/6) = -1/2; independent, so no information.
		{"crossed", []int{0, 0, 1, 1}, []int{0, 1, 0, 1}, [5]float64{-0.5, 0, 0, 0, 0}},
		// Cells 2, 1, 1: ARI = (1 - 2·1/6) / (3/2 - 1/3) = 4/7, H(C) = ln 2, H(K) = (3/2) ln 2, I = ln 2.
		{"one cluster split", []int{0, 0, 1, 1}, []int{0, 0, 1, 2}, [5]float64{4.0 / 7, 0.8, 1, 2.0 / 3, 0.8}},
	} {
		got := values(agreement(t, c.a, c.b, nil))
		for i, name := range []string{"ARI", "NMI", "homogeneity", "completeness", "V-measure"} {
			if !near(got[i], c.want[i], 1e-15) {
				t.Errorf("%s: %s = %v, want %v", c.name, name, got[i], c.want[i])
			}
		}
	}

	// Words against numbers: cells 3, 1, 2, rows 4 and 2, columns 3 and 3.
	g := agreement(t, []string{"a", "a", "b"}, []int{0, 1, 1}, []float64{3, 1, 2})
	i := ln(6*3/(4.*3))/2 + ln(6*1/(4.*3))/6 + ln(6*2/(2.*3))/3
	hc := -(2.0/3*ln(2.0/3) + ln(1.0/3)/3)
	hk := ln(2)
	// Pairs: together in both 3+0+1 = 4, in the first 6+1 = 7, in the second 3+3 = 6, of 15.
	want := [5]float64{(4 - 42.0/15) / (6.5 - 42.0/15), i / ((hc + hk) / 2), i / hc, i / hk, 2 * i / (hc + hk)}
	for j, v := range values(g) {
		if !near(v, want[j], 1e-14) {
			t.Errorf("weighted, number %d: %v, want %v", j, v, want[j])
		}
	}
	if g.N() != 6 || g.Count("a", 0) != 3 || g.Count("b", 0) != 0 || g.Count("c", 0) != 0 || g.Count("b", 1) != 2 {
		t.Errorf("table holds %v, a0 %v, b0 %v, b1 %v", g.N(), g.Count("a", 0), g.Count("b", 0), g.Count("b", 1))
	}
}

func TestAgreementRefusesWeights(t *testing.T) {
	var g score.Agreement[int, int]
	for _, w := range []float64{-1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if g.Add(0, 0, w) == nil {
			t.Errorf("a weight of %v was taken", w)
		}
	}
	if err := g.Add(1, 2, 0); err != nil {
		t.Error(err)
	}
	if g.N() != 0 || g.ARI() != 1 {
		t.Errorf("refused and empty rows left a trace: n = %v, ARI = %v", g.N(), g.ARI())
	}
}

// labelling draws n labels below k.
func labelling(t *rapid.T, name string, n, k int) []int {
	return rapid.SliceOfN(rapid.IntRange(0, k-1), n, n).Draw(t, name)
}

func TestAgreementLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "n")
		a, b := labelling(t, "a", n, 5), labelling(t, "b", n, 4)
		w := make([]float64, n)
		var a2, b2 []int // rows repeated by their weight
		for i := range w {
			r := rapid.IntRange(0, 3).Draw(t, "w")
			w[i] = float64(r)
			for range r {
				a2, b2 = append(a2, a[i]), append(b2, b[i])
			}
		}
		got := values(agreement(t, a, b, w))
		same := func(law string, want [5]float64) {
			t.Helper()
			for i, v := range got {
				if !near(v, want[i], 1e-12) {
					t.Errorf("%s: number %d is %v and %v", law, i, v, want[i])
				}
			}
		}
		same("weights are repeats", values(agreement(t, a2, b2, nil)))

		names := rapid.Permutation([]string{"p", "q", "r", "s", "t"}).Draw(t, "names")
		other := make([]string, n)
		for i, l := range a {
			other[i] = names[l]
		}
		same("names do not matter", values(agreement(t, other, b, w)))

		turned := values(agreement(t, b, a, w))
		turned[2], turned[3] = turned[3], turned[2]
		same("turning the table swaps homogeneity and completeness", turned)

		same("V-measure is NMI", [5]float64{got[0], got[4], got[2], got[3], got[1]})
		for i, v := range got {
			if v > 1 || i > 0 && v < 0 || math.IsNaN(v) {
				t.Errorf("number %d is %v", i, v)
			}
		}
		for i, v := range values(agreement(t, a, other, w)) {
			if !near(v, 1, 1e-12) {
				t.Errorf("a labelling against itself under other names: number %d is %v", i, v)
			}
		}
	})
}

// Any weights give finite numbers, and pairs counted one by one give the ARI.
func TestAgreementPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 25).Draw(t, "n")
		a, b := labelling(t, "a", n, 4), labelling(t, "b", n, 4)
		var r, pa, pb, all float64
		for i := range n {
			for j := range i {
				all++
				if a[i] == a[j] {
					pa++
				}
				if b[i] == b[j] {
					pb++
				}
				if a[i] == a[j] && b[i] == b[j] {
					r++
				}
			}
		}
		want := 1.0
		if e := pa * pb / all; (pa+pb)/2 != e && (r != pa || r != pb) {
			want = (r - e) / ((pa+pb)/2 - e)
		}
		if got := agreement(t, a, b, nil).ARI(); !near(got, want, 1e-12) {
			t.Errorf("ARI = %v, counting pairs %v", got, want)
		}
		w := rapid.SliceOfN(rapid.Float64Range(0, 2), n, n).Draw(t, "w")
		for i, v := range values(agreement(t, a, b, w)) {
			if math.IsNaN(v) || math.IsInf(v, 0) || v > 1+1e-12 {
				t.Errorf("weights %v: number %d is %v", w, i, v)
			}
		}
	})
}

package score_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/latent-go/latent/score"
)

// streamed shows the rows of p to a Stream, the second time in another order.
func streamed(t interface{ Fatal(...any) }, p *score.Partition) *score.Stream {
	s := score.NewStream(p.D)
	show := func(i int, to func(int, []float64, float64) error) {
		w := 1.0
		if p.W != nil {
			w = p.W[i]
		}
		if err := to(p.Labels[i], p.X[i*p.D:(i+1)*p.D], w); err != nil {
			t.Fatal(err)
		}
	}
	for i := range p.N {
		show(i, s.Gather)
	}
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(p.N) {
		show(i, s.Measure)
	}
	return s
}

func TestStreamIsThePartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPartition(t)
		s := streamed(t, p)
		for _, c := range []struct {
			name           string
			stream, memory func() (float64, error)
		}{{"Calinski-Harabasz", s.CalinskiHarabasz, p.CalinskiHarabasz}, {"Davies-Bouldin", s.DaviesBouldin, p.DaviesBouldin}} {
			got, err := c.stream()
			want, wanted := c.memory()
			if u := (*score.UndefinedError)(nil); wanted != nil && !errors.As(err, &u) || wanted == nil && err != nil || !near(got, want, 1e-12) {
				t.Errorf("%s = %v (%v), in memory %v (%v)", c.name, got, err, want, wanted)
			}
		}
	})
}

// A mean that is summed far from its rows drifts: 300,000 rows at 1e9 whose true indices are known.
func TestStreamKeepsItsDigitsFarFromZero(t *testing.T) {
	p := &score.Partition{D: 1}
	for i := range 300_000 { // clusters at 1e9 ± 1 and 1e9 + 8 ± 1: within 1 a row, between 16
		c := i % 2
		p.X, p.Labels = append(p.X, 1e9+float64(8*c)+float64(i/2%2*2-1)), append(p.Labels, c)
	}
	p.N = len(p.X)
	s := streamed(t, p)
	n := float64(p.N)
	v, err := s.CalinskiHarabasz()
	defined(t, "Calinski-Harabasz", v, err, 16*(n-2))
	v, err = s.DaviesBouldin()
	defined(t, "Davies-Bouldin", v, err, 2.0/8)
}

func TestStreamRefuses(t *testing.T) {
	fresh := func() *score.Stream {
		s := score.NewStream(1)
		for i, x := range []float64{0, 1, 10, 11} {
			if err := s.Gather(i/2, []float64{x}, 1); err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	for name, err := range map[string]error{
		"a short row":        fresh().Gather(0, nil, 1),
		"a negative weight":  fresh().Gather(0, []float64{1}, -1),
		"an infinite weight": fresh().Measure(0, []float64{1}, math.Inf(1)),
		"a missing number":   fresh().Gather(0, []float64{math.NaN()}, 1),
		"a label not seen":   fresh().Measure(7, []float64{1}, 1),
	} {
		if err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	s := fresh()
	if err := s.Measure(0, []float64{0}, 1); err != nil {
		t.Fatal(err)
	}
	if v, err := s.CalinskiHarabasz(); err == nil {
		t.Errorf("with one row of four measured the index is %v", v)
	}
	if s.Gather(0, []float64{0}, 1) == nil {
		t.Error("a row is gathered after the first was measured")
	}
	if err := s.Gather(0, []float64{math.NaN()}, 0); err == nil {
		t.Error("a row of weight 0 is gathered after the first was measured")
	}
	if v, err := fresh().CalinskiHarabasz(); err == nil {
		t.Errorf("with no row measured the index is %v", v)
	}
}

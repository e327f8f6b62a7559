package hard

import (
	"math"
	"testing"

	"github.com/latent-go/latent/internal/nearest"
	"github.com/latent-go/latent/internal/seed"
)

// amongSample returns a search among points that are a sample.
func amongSample(t *testing.T, p *seed.Points) *search {
	origin := p.Origin
	if origin == nil {
		origin = make([]float64, p.D)
	}
	b := NewBreathing(p, int64(2*p.N), 1)
	return &search{Breathing: b, ctx: t.Context(), threads: 2, levels: map[int]*level{}, engine: nearest.New(p.Table(), origin, 2)}
}

// narrowed returns points that hold the cells of p, rounded to float32, less an origin.
func narrowed(p *seed.Points) *seed.Points {
	q := &seed.Points{N: p.N, D: p.D, W: p.W, Origin: make([]float64, p.D)}
	for j := range q.Origin {
		q.Origin[j] = float64(j % 3)
	}
	for i, x := range p.X {
		q.Narrow = append(q.Narrow, float32(x+q.Origin[i%p.D]))
	}
	return q
}

// What moves among a sample are chosen by is what a comparison in float64 would tell, within some per cent: float32 or integers, wide or narrow.
func TestDistancesAmongASampleAreAboutRight(t *testing.T) {
	for _, d := range []int{3, 40} {
		const n, k = 3000, 50
		for _, p := range []*seed.Points{cloud(1, n, d), narrowed(cloud(1, n, d))} {
			theta := cloud(1, n, d).X[:k*d]
			s, got := amongSample(t, p), &pairs{}
			if !s.level(k).approximate(got, theta) {
				t.Fatalf("%d columns: distances are not told", d)
			}
			want := &pairs{}
			if err := want.find(t.Context(), theta, p, 2); err != nil {
				t.Fatal(err)
			}
			use, wantUse := make([]float64, k), make([]float64, k)
			for i := range n {
				if got.label[i] != want.label[i] {
					t.Fatalf("%d columns: row %d has label %d, want %d", d, i, got.label[i], want.label[i])
				}
				if math.Abs(got.first[i]-want.first[i]) > 0.02*want.first[i]+0.01 {
					t.Fatalf("%d columns: row %d is %v from its centre, want %v", d, i, got.first[i], want.first[i])
				}
				use[got.label[i]] += got.second[i] - got.first[i]
				wantUse[got.label[i]] += want.second[i] - want.first[i]
			}
			for c, w := range wantUse {
				if math.Abs(use[c]-w) > 0.05*w+0.05 {
					t.Errorf("%d columns: cluster %d saves %v, want %v", d, c, use[c], w)
				}
			}
		}
	}
}

// Where clusters are a millionth as wide as they are far apart, scores in float32 say nothing of distances within them: they are compared in float64.
func TestDistancesInTightClustersAreExact(t *testing.T) {
	const n, d, k = 2000, 3, 2
	p := cloud(3, n, d)
	for i := range p.X {
		p.X[i] = 1e-6*p.X[i] + float64(i/d%2)
	}
	theta := []float64{0, 0, 0, 1, 1, 1}
	s, got := amongSample(t, p), &pairs{}
	if s.level(k).approximate(got, theta) {
		t.Error("distances that rounding hides are taken for good")
	}
	if !s.compare(got, theta) {
		t.Fatal("cut off")
	}
	for i := range n {
		if want := sqdist(p.At(i), theta[i%2*d:]); math.Abs(got.first[i]-want) > 1e-9*want {
			t.Fatalf("row %d is %v from its centre, want %v", i, got.first[i], want)
		}
	}
}

package hard

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
)

// Hard EM of spherical Gaussians with one shared variance and equal weights takes the steps of k-means: the variance
// scales all squared distances alike, so that its M-step moves no label.
func TestKMeansIsHardEMOfEqualSpheres(t *testing.T) {
	const k, d = 4, 2
	longest := 0
	for s := range uint64(8) {
		p := normal(s, 240, d, k)
		centres := rowsOf(p, seed.Random(p, k, rng.Starts.At(s, 0)))
		m := &mixture.Mixture{Family: family.Gaussian{Shape: family.TiedSpherical, Var: []float64{9, 9}}, K: k, D: d, Uniform: true}
		theta := seed.Around(m, m.Family.(family.Gaussian), centres, []float64{1, 1, 1, 1}, []float64{9, 9})
		spheres := climb(t, lloyd(300), swept{sweeper(p, 1), m}, theta)
		lloyds := climb(t, lloyd(300), kmeans(p, k), centres)
		if slices.Min(lloyds[0].Point.Weights) == 0 {
			t.Fatalf("seed %d begins with an empty cluster", s)
		}
		longest = max(longest, len(lloyds))
		for i := range max(len(lloyds), len(spheres)) {
			a, b := lloyds[min(i, len(lloyds)-1)].Point.Theta, spheres[min(i, len(spheres)-1)].Point.Theta
			for j, x := range a {
				within(t, "mean", b[j], x, 1e-12*(1+math.Abs(x)))
			}
			if !slices.Equal(labelsOf(t, family.KMeans{}, p, a), gaussianLabels(t, p, m, b)) {
				t.Errorf("seed %d: labels differ after %d steps", s, i)
			}
		}
		if a, b := spheres[0].Point.Theta, spheres[len(spheres)-1].Point.Theta; a[k*d] == b[k*d] {
			t.Errorf("seed %d: the variance has not moved", s)
		}
	}
	if longest < 5 {
		t.Errorf("the longest climb has %d steps: too few for a test", longest)
	}
}

// gaussianLabels returns the component of largest density of each row, by the definition of the density.
func gaussianLabels(t *testing.T, p *seed.Points, m *mixture.Mixture, theta []float64) []int32 {
	t.Helper()
	g := m.Family.(family.Gaussian)
	variance := make([]float64, 1)
	g.Covariance(variance, g.ScaleOf(theta, 0, m.K, m.D), m.D)
	labels := make([]int32, p.N)
	for i := range p.N {
		best := math.Inf(-1)
		for c := range m.K {
			density := -float64(m.D) / 2 * math.Log(2*math.Pi*variance[0])
			for j, x := range p.At(i) {
				density -= (x - theta[c*m.D+j]) * (x - theta[c*m.D+j]) / (2 * variance[0])
			}
			if density > best {
				best, labels[i] = density, int32(c)
			}
		}
	}
	return labels
}

// The k-means kernel at inverse temperature beta is a sphere of variance 1/(2 beta). As that goes to 0 the step of soft
// EM goes to the step of k-means.
func TestKMeansIsTheLimitOfSmallVariance(t *testing.T) {
	for s := range uint64(8) {
		p := normal(s, 200, 2, 3)
		for i, x := range p.X { // rows on a grid have no near ties that a large beta would leave soft
			p.X[i] = math.Round(4*x) / 4
		}
		o, theta := kmeans(p, 3), rowsOf(p, seed.PlusPlus(p, 3, 1, 2, rng.Starts.At(s, 0).Float64))
		for i := range theta {
			theta[i] += 0.013 * float64(i+1)
		}
		want, err := o.Eval(context.Background(), theta, math.Inf(1))
		if err != nil {
			t.Fatal(err)
		}
		if slices.Min(want.Weights) == 0 {
			t.Fatalf("seed %d begins with an empty cluster", s)
		}
		last := math.Inf(1)
		for _, beta := range []float64{0.1, 1, 10, 100, 1e4} {
			got, err := o.Eval(context.Background(), theta, beta)
			if err != nil {
				t.Fatal(err)
			}
			// (1/beta) log sum exp(-beta d^2) is within (log k)/beta of -min d^2.
			if gap := got.F - want.F; gap < -1e-9 || gap > float64(p.N)*math.Log(3)/beta+1e-9 {
				t.Errorf("seed %d, beta %v: F is %v, for hard labels %v", s, beta, got.F, want.F)
			}
			off := 0.0
			for i, x := range want.Next {
				off = max(off, math.Abs(got.Next[i]-x))
			}
			if off > last {
				t.Errorf("seed %d, beta %v: %v off, farther than before", s, beta, off)
			}
			last = off
		}
		if last > 1e-9 {
			t.Errorf("seed %d: %v off at the largest beta", s, last)
		}
	}
}

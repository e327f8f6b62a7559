package plot

import (
	"math"
	"math/rand/v2"
	"testing"
)

// mahalanobis returns the squared distance of p from mean, by the inverse of a 2 x 2 matrix.
func mahalanobis(p, mean [2]float64, c [2][2]float64) float64 {
	x, y := p[0]-mean[0], p[1]-mean[1]
	det := c[0][0]*c[1][1] - c[0][1]*c[1][0]
	return (c[1][1]*x*x - (c[0][1]+c[1][0])*x*y + c[0][0]*y*y) / det
}

func TestEllipsePointsHaveTheDistanceOfTheLevel(t *testing.T) {
	mean := [2]float64{3, -70}
	for _, cov := range [][2][2]float64{
		{{1, 0}, {0, 1}}, {{4, 0}, {0, 0.25}}, {{0.25, 0}, {0, 4}}, {{2, 1.9}, {1.9, 2}}, {{2, -1.9}, {-1.9, 2}}, {{1e-6, 3e-4}, {3e-4, 1}},
	} {
		for level, quantile := range map[float64]float64{0.5: 1.3862943611198906, 0.95: 5.991464547107979, 0.99: 9.210340371976182} { // qchisq(level, 2) of R
			e, err := NewEllipse(mean, cov, level)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range e.Points(50) {
				if got := mahalanobis(p, mean, cov); math.Abs(got-quantile) > 1e-6*quantile {
					t.Fatalf("%v at level %v: squared distance %v, want %v", cov, level, got, quantile)
				}
			}
			if e.A < e.B {
				t.Errorf("%v: half axes %v < %v", cov, e.A, e.B)
			}
		}
	}
}

func TestEllipseHoldsItsShareOfALargeSample(t *testing.T) {
	const n = 100000
	r := rand.New(rand.NewPCG(7, 11))
	cov := [2][2]float64{{4, 3}, {3, 9}}
	for _, level := range []float64{0.5, 0.95} {
		e, err := NewEllipse([2]float64{1, 2}, cov, level)
		if err != nil {
			t.Fatal(err)
		}
		sin, cos := math.Sincos(e.Angle)
		inside := 0
		for range n {
			u, v := r.NormFloat64(), r.NormFloat64() // L L^T = cov, L = {{2, 0}, {1.5, sqrt(6.75)}}
			x, y := 2*u, 1.5*u+math.Sqrt(6.75)*v
			a, b := (x*cos+y*sin)/e.A, (y*cos-x*sin)/e.B
			if a*a+b*b <= 1 {
				inside++
			}
		}
		share, se := float64(inside)/n, math.Sqrt(level*(1-level)/n)
		if math.Abs(share-level) > 4*se {
			t.Errorf("%v of the sample in the ellipse of %v (standard error %v)", share, level, se)
		}
	}
}

func TestSingularCovarianceGivesALine(t *testing.T) {
	e, err := NewEllipse([2]float64{}, [2][2]float64{{1, 2}, {2, 4}}, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range e.Points(30) {
		if math.Abs(p[1]-2*p[0]) > 1e-7 {
			t.Fatalf("%v is not on y = 2x", p)
		}
	}
	if want := math.Sqrt(5 * 5.991464547107979); math.Abs(e.A-want) > 1e-9 {
		t.Errorf("half axis %v, want %v", e.A, want)
	}
}

func TestEllipseRefusesWhatIsNoCovariance(t *testing.T) {
	good := [2][2]float64{{1, 0}, {0, 1}}
	for _, c := range []struct {
		mean  [2]float64
		cov   [2][2]float64
		level float64
	}{
		{[2]float64{math.NaN(), 0}, good, 0.5},
		{[2]float64{}, [2][2]float64{{math.Inf(1), 0}, {0, 1}}, 0.5},
		{[2]float64{}, [2][2]float64{{1, 2}, {2, 1}}, 0.5},
		{[2]float64{}, [2][2]float64{{-1, 0}, {0, -1}}, 0.5},
		{[2]float64{}, good, 1}, {[2]float64{}, good, -0.1}, {[2]float64{}, good, math.NaN()},
	} {
		if e, err := NewEllipse(c.mean, c.cov, c.level); err == nil {
			t.Errorf("mean %v, covariance %v, level %v gave %v", c.mean, c.cov, c.level, e)
		}
	}
}

func TestPlaneProjectsMeanAndCovariance(t *testing.T) {
	p := Plane{P: [2][]float64{{0.6, 0.8, 0}, {-0.8, 0.6, 2}}, Origin: []float64{1, 1, 1}}
	// Σ = A Aᵀ, so P Σ Pᵀ = (P A)(P A)ᵀ: another way to the same numbers.
	a := [3][3]float64{{1, 0, 0}, {2, 3, 0}, {-1, 0.5, 2}}
	cov := make([]float64, 9)
	var pa [2][3]float64
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				cov[i*3+j] += a[i][k] * a[j][k]
			}
			for r := range 2 {
				pa[r][j] += p.P[r][i] * a[i][j]
			}
		}
	}
	n := p.Normal([]float64{2, 3, 4}, cov)
	for r := range 2 {
		for s := range 2 {
			want := pa[r][0]*pa[s][0] + pa[r][1]*pa[s][1] + pa[r][2]*pa[s][2]
			if math.Abs(n.Cov[r][s]-want) > 1e-12 {
				t.Errorf("covariance %d, %d is %v, want %v", r, s, n.Cov[r][s], want)
			}
		}
	}
	if want := [2]float64{0.6*1 + 0.8*2, -0.8*1 + 0.6*2 + 2*3}; math.Abs(n.Mean[0]-want[0]) > 1e-12 || math.Abs(n.Mean[1]-want[1]) > 1e-12 {
		t.Errorf("mean %v, want %v", n.Mean, want)
	}
}

func TestColumnsPicksTwo(t *testing.T) {
	x, y := Columns(3, 2, 0).Points([]float64{1, math.NaN(), 3, 4, 5, 6})
	if len(x) != 2 || x[0] != 3 || y[0] != 1 || x[1] != 6 || y[1] != 4 {
		t.Errorf("columns 2 and 0 are %v and %v", x, y)
	}
	n := Columns(2, 1, 0).Normal([]float64{1, 2}, []float64{5, 6, 6, 7})
	if n.Mean != [2]float64{2, 1} || n.Cov != [2][2]float64{{7, 6}, {6, 5}} {
		t.Errorf("swapped columns give %v", n)
	}
}

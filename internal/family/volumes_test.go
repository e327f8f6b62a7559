package family

import (
	"math"
	"math/rand/v2"
	"testing"
)

// inTurn is Celeux and Govaert's iteration (1995) for variances along shared axes: volumes for the shape, the shape for the
// volumes. It returns logarithms of variances.
func inTurn(v [][]float64, n []float64, d, turns int) [][]float64 {
	shape, volume := make([]float64, d), make([]float64, len(v))
	for range turns {
		for c := range v {
			volume[c] = 0
			for j, x := range v[c] {
				volume[c] += x / math.Exp(shape[j]) / float64(d)
			}
		}
		mean := 0.0
		for j := range d {
			sum := 0.0
			for c := range v {
				sum += n[c] * v[c][j] / volume[c]
			}
			shape[j] = math.Log(sum)
			mean += shape[j] / float64(d)
		}
		for j := range d {
			shape[j] -= mean
		}
	}
	logs := make([][]float64, len(v))
	for c := range v {
		for j := range d {
			logs[c] = append(logs[c], math.Log(volume[c])+shape[j])
		}
	}
	return logs
}

func TestVolumesAreThoseOfTurns(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 0))
	for _, size := range [][2]int{{1, 3}, {2, 2}, {4, 6}, {9, 3}} {
		k, d := size[0], size[1]
		m := &moments{d: d}
		v := make([][]float64, k)
		for c := range k {
			m.n = append(m.n, 0.5+20*rng.Float64())
			m.total += m.n[c]
			for range d {
				v[c] = append(v[c], math.Exp(3*rng.NormFloat64()))
			}
		}
		got, want := m.volumesAndShape(v), inTurn(v, m.n, d, 5000)
		for c := range k {
			for j := range d {
				if math.Abs(2*got[c][j]-want[c][j]) > 1e-10 {
					t.Errorf("%d components, %d columns: log variance %v, want %v", k, d, 2*got[c][j], want[c][j])
				}
			}
		}
		// Matrices with common axes have the volumes of their eigenvalues.
		axes := newRotation(turnOf(rng, d), d).axes
		for c := range k {
			m.s = append(m.s, turned(axes, v[c], d))
		}
		for c, u := range m.proportional() {
			logDet := 0.0
			for j := range d {
				logDet += 2*u[tri(j, j)] - want[c][j]
			}
			if math.Abs(logDet) > 1e-9 {
				t.Errorf("%d components, %d columns: the log determinant of %d is %v off", k, d, c, logDet)
			}
		}
		if m.loose {
			t.Errorf("%d components, %d columns: not settled", k, d)
		}
	}
}

func turnOf(rng *rand.Rand, d int) []float64 {
	w := make([]float64, d*(d-1)/2)
	for i := range w {
		w[i] = rng.NormFloat64()
	}
	return w
}

// turned returns the packed matrix with the axes and the eigenvalues given.
func turned(axes, values []float64, d int) []float64 {
	q := make([]float64, d*(d+1)/2)
	for a, v := range values {
		for j := range d {
			for l := range j + 1 {
				q[tri(j, l)] += v * axes[j*d+a] * axes[l*d+a]
			}
		}
	}
	return q
}

// The best volumes and what is shared fit each other: C is the mean of the S_c / l_c. That holds where each component is flat
// in directions of its own, too, which takes the turns tens of thousands of steps.
func TestVolumesOfFlatComponentsSettle(t *testing.T) {
	const k, d = 3, 3
	rng := rand.New(rand.NewPCG(6, 0))
	m := &moments{d: d, n: []float64{5, 40, 12}, total: 57}
	v := [][]float64{{1, 1e-8, 1e-8}, {1e-8, 2, 1e-8}, {1e-8, 1e-8, 0.5}}
	for c := range k {
		m.s = append(m.s, turned(newRotation(turnOf(rng, d), d).axes, v[c], d))
	}
	factors := m.proportional()
	if m.loose {
		t.Error("full: not settled")
	}
	first, w, mean := factors[0], make([]float64, d*(d+1)/2), make([]float64, d*(d+1)/2)
	(Gaussian{Shape: Full}).inverse(w, first, d)
	for c, u := range factors {
		volume := math.Exp(2 * (u[0] - first[0])) // beside the first
		for i, q := range m.s[c] {
			mean[i] += m.n[c] / m.total * q / volume
		}
	}
	unit := congruent(w, mean, d)
	for j := range d {
		for l := range j + 1 {
			want := 0.0
			if j == l {
				want = 1
			}
			if math.Abs(unit[tri(j, l)]-want) > 1e-6 { // a condition of 1e8 times rounding, and some
				t.Errorf("full: the mean is %v of what is shared", unit)
			}
		}
	}
	logs := m.volumesAndShape(v)
	if m.loose {
		t.Error("along axes: not settled")
	}
	for j := range d {
		sum := 0.0
		for c := range k {
			sum += m.n[c] * v[c][j] / math.Exp(2*logs[c][j])
		}
		if math.Abs(sum/m.total-1) > 1e-9 {
			t.Errorf("along axes: column %d sums to %v of the rows", j, sum/m.total)
		}
	}
}

func TestVolumesOfMomentsThatOverflow(t *testing.T) {
	for _, far := range [][]float64{{1e-9, 2e119, 5e125}, {math.NaN(), 0, 1}, {0, 0, 0}} {
		m := &moments{d: 2, n: []float64{3, 4}, total: 7, s: [][]float64{{1, 0.1, 2}, far}}
		if got := m.proportional(); len(got) != 2 {
			t.Errorf("%v: %v", far, got)
		}
	}
}

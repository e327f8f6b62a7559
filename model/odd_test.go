package model

import (
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
)

// odds returns what is oddest about rows.
func odds(t *testing.T, m *Model, tail *Tail, rows *data.Table) (found []Odd) {
	t.Helper()
	err := m.Rows(t.Context(), rows, 2, func(s *Scored) error {
		for i := range s.N {
			o, ok, err := tail.Oddest(t.Context(), s, i)
			if err != nil {
				return err
			}
			if ok == s.Empty(i) {
				t.Errorf("row %d: odd %v, without any cell %v", i+1, ok, s.Empty(i))
			}
			found = append(found, o)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// What is oddest is known by hand where one cell stands out.
func TestOddestCellsByHand(t *testing.T) {
	for name, x := range map[string]struct {
		model string
		d     int
		row   []float64
		want  []string // of each row
	}{
		// Where the columns vary together, (2, -2) is odd though neither number is: each expects 0.9 of the other.
		"a Gaussian": {`{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "full", "columns": ["a", "b", "c"],
			"weights": [1], "means": [[0, 0, 5]], "covariances": [[[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]]]}`, 3,
			[]float64{2, -2.5, 6.5, nan, 1, 8, 3, nan, nan},
			[]string{"b=-2.5 (group 1 expects 1.8)", "c=8 (group 1 expects 5)", "a=3 (group 1 expects 0)"}},
		// The others decide which group a cell is held against: 10 is in the midst of group 2, and 1 is a bit off group 1.
		"a mixture": {`{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "spherical", "columns": ["a", "b"],
			"weights": [0.5, 0.5], "means": [[0, 0], [10, 10]], "covariances": [1, 1]}`, 2,
			[]float64{10, 1, 1, 10, 0, 4}, []string{"b=1 (group 2 expects 10)", "a=1 (group 2 expects 10)", "b=4 (group 1 expects 0)"}},
		// A centimetre is not odder than a metre: both columns are off by three standard deviations or by one.
		"units": {`{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "diag", "columns": ["a", "b"],
			"weights": [1], "means": [[0, 0]], "covariances": [[1, 1]], "transform": [{"kind": "standard", "center": [100, 2], "scale": [50, 0.25]}]}`, 2,
			[]float64{250, 2.25, 150, 2.75}, []string{"a=250 (group 1 expects 100)", "b=2.75 (group 1 expects 2)"}},
		// -log 0.1 is 2 nats above what is usual of a, -log 0.4 is 0.2 above what is usual of b.
		// A place is one cell: at 90 degrees east y is ten standard deviations from the mean, which lies in the Gulf of Guinea.
		"places": {`{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "diag", "columns": ["b", "lon", "lat"], "transform": [{"kind": "geo", "columns": ["lat", "lon"]}],
			"weights": [1], "means": [[0, 1, 0, 0]], "covariances": [[1, 0.01, 0.01, 0.01]]}`, 3,
			[]float64{2, 90, 0, 6, 1, -1, 3, nan, nan}, []string{"lat,lon=0,90 (group 1 expects 0,0)", "b=6 (group 1 expects 0)", "b=3 (group 1 expects 0)"}},
		"bits": {`{"format": "latent-model", "version": 1, "model": "bernoulli", "columns": ["a", "b"], "weights": [1], "probabilities": [[0.9, 0.4]]}`, 2,
			[]float64{0, 1, 0, nan, nan, 1}, []string{"a=0 (group 1 expects 1; 0 in 10.0 %)", "a=0 (group 1 expects 1; 0 in 10.0 %)", "b=1 (group 1 expects 0; 1 in 40.0 %)"}},
		"bits of numbers": {`{"format": "latent-model", "version": 1, "model": "bernoulli", "columns": ["a", "b"], "weights": [1], "probabilities": [[0.9, 0.5]],
			"transform": [{"kind": "binarize", "threshold": 12000.5}]}`, 2,
			[]float64{3, 20000}, []string{"a=at most 12,000.5 (group 1 expects above 12,000.5; at most 12,000.5 in 10.0 %)"}},
		"levels": {`{"format": "latent-model", "version": 1, "model": "categorical", "columns": ["pet", "home"], "levels": [["cat", "dog", "emu"], ["flat", "house"]],
			"weights": [1], "probabilities": [[[0.8, 0.198, 0.002], [0.5, 0.5]]]}`, 2,
			[]float64{2, 0, 0, 0}, []string{"pet=emu (group 1 expects cat; emu in 0.2 %)", "home=flat (group 1 expects flat in 50.0 %)"}},
		"counts": {`{"format": "latent-model", "version": 1, "model": "poisson", "columns": ["calls", "orders"], "weights": [1], "rates": [[2, 10]]}`, 2,
			[]float64{9, 10, 2, 30}, []string{"calls=9 (group 1 expects 2)", "orders=30 (group 1 expects 10)"}},
		"several kinds": {`{"format": "latent-model", "version": 1, "model": "mixed", "covariance": "full", "columns": ["h", "c", "n", "w"], "types": ["number", "category", "count", "number"],
			"levels": [["u", "v"]], "weights": [1], "means": [[0, 0]], "covariances": [[[1, 0.5], [0.5, 1]]], "probabilities": [[[0.999, 0.001]]], "rates": [[4]]}`, 4,
			[]float64{0, 1, 4, 0, 0, 0, 19, 0, 0, 0, 4, 5, 1, 0, 4, -4},
			[]string{"c=v (group 1 expects u; v in 0.1 %)", "n=19 (group 1 expects 4)", "w=5 (group 1 expects 0)", "w=-4 (group 1 expects 0.5)"}},
	} {
		m := parsed(t, []byte(x.model))
		tail, err := m.Tail(1000, TailSeed, 2)
		if err != nil {
			t.Fatal(name, err)
		}
		for i, o := range odds(t, m, tail, &data.Table{N: len(x.row) / x.d, D: x.d, F64: x.row}) {
			if got := o.String(); got != x.want[i] {
				t.Errorf("%s, row %d: %s, want %s", name, i+1, got, x.want[i])
			}
		}
	}
}

// Under centres it is the cell farthest from the centre, after the scaling.
func TestOddestCellsUnderCentres(t *testing.T) {
	m := parsed(t, []byte(`{"format": "latent-model", "version": 1, "model": "kmeans", "columns": ["a", "b"], "centers": [[0, 0], [5, 2]],
		"transform": [{"kind": "standard", "center": [1, 1], "scale": [2, 0.5]}]}`))
	rows := &data.Table{N: 4, D: 2, F64: []float64{3, 2.5, 21, 2, nan, 3, nan, nan}} // scaled: (1, 3), (10, 2), (-, 4), nothing
	tail, err := m.TailAmong(t.Context(), rows, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"b=2.5 (group 1 expects 1)", "a=21 (group 2 expects 11)", "b=3 (group 2 expects 2)"}
	for i, o := range odds(t, m, tail, rows)[:3] {
		if got := o.String(); got != want[i] {
			t.Errorf("row %d: %s, want %s", i+1, got, want[i])
		}
	}
}

// A place is as odd as its point is far from the centre, in a straight line.
func TestOddestPlacesUnderCentres(t *testing.T) {
	m := parsed(t, []byte(`{"format": "latent-model", "version": 1, "model": "kmeans", "columns": ["lat", "lon", "b"], "transform": [{"kind": "geo", "columns": ["lat", "lon"]}],
		"centers": [[-1, 0, 0, 0]]}`))
	rows := &data.Table{N: 2, D: 3, F64: []float64{0, 90, 1.4, 0, 90, 1.42}} // sqrt 2 away
	tail, err := m.TailAmong(t.Context(), rows, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"lat,lon=0,90 (group 1 expects 0,180)", "b=1.42 (group 1 expects 0)"}
	for i, o := range odds(t, m, tail, rows) {
		if got := o.String(); got != want[i] {
			t.Errorf("row %d: %s, want %s", i+1, got, want[i])
		}
	}
}

// Of one Gaussian the oddest cell is that with the largest |x_j - E(x_j | others)| / sd(x_j | others): with the inverse P of the covariance
// these are |(P (x - mean))_j| / sqrt(P_jj). Cells that are about as odd as the oddest are left out, since what is usual is estimated from draws.
func TestOddestCellsOfAGaussianAreThoseOfItsInverse(t *testing.T) {
	m := parsed(t, []byte(`{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "full", "columns": ["a", "b", "c"],
		"weights": [1], "means": [[1, 2, 3]], "covariances": [[[2, 1, 0], [1, 2, 1], [0, 1, 2]]]}`))
	inverse := [3][3]float64{{0.75, -0.5, 0.25}, {-0.5, 1, -0.5}, {0.25, -0.5, 0.75}}
	const n = 200
	rows, _, err := m.Sample(n, 8)
	if err != nil {
		t.Fatal(err)
	}
	var first []Odd
	for _, threads := range []int{1, 3} {
		tail, err := m.Tail(1000, TailSeed, threads)
		if err != nil {
			t.Fatal(err)
		}
		got := odds(t, m, tail, rows)
		if first == nil {
			first = got
		}
		if !slices.Equal(got, first) {
			t.Errorf("%d threads find other cells", threads)
		}
	}
	judged := 0
	for i, got := range first {
		var far [3]float64
		for j := range far {
			for l := range far {
				far[j] += inverse[j][l] * (rows.F64[3*i+l] - float64(l+1))
			}
			far[j] = math.Abs(far[j]) / math.Sqrt(inverse[j][j])
		}
		order := []int{0, 1, 2}
		slices.SortFunc(order, func(a, b int) int { return int(math.Copysign(1, far[b]-far[a])) })
		if far[order[0]]*far[order[0]]-far[order[1]]*far[order[1]] < 0.3 {
			continue
		}
		judged++
		if got.Variable != order[0] {
			t.Errorf("row %d, %v standard deviations off: %s", i+1, far, got)
		}
	}
	if judged < n/2 {
		t.Errorf("%d rows judged", judged)
	}
}

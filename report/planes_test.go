package report

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// The directions found from the groups are those found from the columns: they hold the same variances, and of three groups
// they span the same plane.
func TestDirectionsOfManyColumnsAreThoseOfFew(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	b := &builder{d: 40, k: 3, rows: &Rows{N: 60, Weight: 60, Mean: make([]float64, 40), SD: make([]float64, 40), Group: make([]Group, 3)}}
	for j := range b.d {
		b.rows.SD[j] = 1 + float64(j%3)
	}
	for c, w := range []float64{10, 20, 30} {
		g := &b.rows.Group[c]
		g.Rows, g.Weight = int64(w), w
		for j := range b.d {
			g.Mean = append(g.Mean, 3*rng.NormFloat64())
			b.rows.Mean[j] += w / 60 * g.Mean[j]
		}
	}
	v, values := b.directions()
	wide := *b
	rows := *b.rows // columns that are the same everywhere change nothing
	wide.rows, wide.d = &rows, manyColumns+1
	pad := func(x []float64) []float64 { return append(x[:40:40], make([]float64, wide.d-40)...) }
	rows.Mean, rows.SD, rows.Group = pad(rows.Mean), pad(rows.SD), append([]Group(nil), rows.Group...)
	for c := range rows.Group {
		rows.Group[c].Mean = pad(rows.Group[c].Mean)
	}
	u, same := wide.directions()
	for a := range 2 {
		dot := 0.0
		for j := range 40 {
			dot += v[a][j] * u[a][j]
		}
		if math.Abs(math.Abs(dot)-1) > 1e-9 || math.Abs(values[a]-same[a]) > 1e-9*values[0] {
			t.Errorf("direction %d: cosine %v, variances %v and %v", a+1, dot, values[a], same[a])
		}
	}
}

// Thousands of columns take no matrix of thousands of columns.
func TestDirectionsOfThousandsOfColumnsAreFoundAtOnce(t *testing.T) {
	const d = 20_000
	b := &builder{d: d, k: 3, rows: &Rows{N: 30, Weight: 30, Mean: make([]float64, d), SD: make([]float64, d), Group: make([]Group, 3)}}
	for c := range b.rows.Group {
		g := &b.rows.Group[c]
		g.Rows, g.Weight, g.Mean = 10, 10, make([]float64, d)
		g.Mean[c] = 3 // the overall mean is 1 in each of three columns
		b.rows.Mean[c] = 1
	}
	for j := range d {
		b.rows.SD[j] = 1
	}
	began := time.Now()
	_, values := b.directions()
	// Centres (3,0,0), (0,3,0), (0,0,3) about (1,1,1): their covariance is 3 I - J, with eigenvalues 3, 3 and 0.
	for i, want := range []float64{3, 3, 0} {
		if math.Abs(values[i]-want) > 1e-9 {
			t.Errorf("variance %d is %v, wanted %v", i+1, values[i], want)
		}
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

package hard

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/seed"
	"github.com/latent-go/latent/internal/sweep"
)

var hardBeta = math.Inf(1)

// points returns the rows of positive weight; nil weights are 1.
func points(rows [][]float64, w []float64) *seed.Points {
	p := &seed.Points{D: len(rows[0])}
	for i, row := range rows {
		weight := 1.0
		if w != nil {
			weight = w[i]
		}
		if weight > 0 {
			p.X, p.W, p.Row, p.N = append(p.X, row...), append(p.W, weight), append(p.Row, int64(i)), p.N+1
		}
	}
	return p
}

// column returns one column of rows of weight 1.
func column(x ...float64) *seed.Points {
	rows := make([][]float64, len(x))
	for i := range x {
		rows[i] = x[i : i+1]
	}
	return points(rows, nil)
}

// normal returns n x d numbers around k centres.
func normal(s uint64, n, d, k int) *seed.Points {
	rng := rand.New(rand.NewPCG(s, 7))
	centres := make([]float64, k*d)
	for i := range centres {
		centres[i] = 6 * rng.NormFloat64()
	}
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, d)
		for j := range d {
			rows[i][j] = centres[i%k*d+j] + rng.NormFloat64()
		}
	}
	return points(rows, nil)
}

func sweeper(p *seed.Points, threads int) *sweep.Local {
	return sweep.NewLocal(p.Table(), int64(p.N), make([]float64, p.D), threads)
}

func flat(rows [][]float64) (v []float64) {
	for _, r := range rows {
		v = append(v, r...)
	}
	return v
}

// climb runs the driver to its end.
func climb(t *testing.T, d ascent.Driver, o ascent.Objective, theta []float64) (steps []ascent.Step) {
	t.Helper()
	for s, err := range d.Steps(context.Background(), o, theta) {
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, s)
	}
	return steps
}

func lloyd(limit int) ascent.EM { return ascent.EM{Beta: hardBeta, MaxIter: limit} }

// stored is a file of testdata/oracle/kmedians.
type stored struct {
	Data struct {
		Rows [][]float64
	}
	RowWeights []float64 `json:"row_weights"`
	Cases      []struct {
		Name       string
		K          int
		Rule       string
		Start      [][]float64
		CostByStep []float64 `json:"cost_by_step"`
		After      []struct {
			Steps                 int
			Centres, Lower, Upper [][]float64
			Labels                []int32
			Cost                  float64
		}
		// Of small-exact.json only.
		Rows        [][]float64
		RowWeights  []float64 `json:"row_weights"`
		OptimalCost float64   `json:"optimal_cost"`
	}
}

func load(t *testing.T, name string) *stored {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "oracle", "kmedians", name))
	if err != nil {
		t.Fatal(err)
	}
	s := new(stored)
	if err := json.Unmarshal(text, s); err != nil {
		t.Fatal(err)
	}
	return s
}

func within(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s is %v, want %v within %v", what, got, want, tol)
	}
}

// swept is the objective of a mixture on points.
type swept struct {
	s sweep.Sweeper
	m *mixture.Mixture
}

func (o swept) Eval(ctx context.Context, theta []float64, beta float64) (*ascent.Point, error) {
	stats, err := o.s.Sweep(ctx, []sweep.Task{{Mixture: o.m, Theta: theta, Beta: beta}})
	if err != nil {
		return nil, err
	}
	s := stats[0]
	p := &ascent.Point{Theta: theta, Beta: beta, F: s.F, Labels: s.Labels, Weights: append([]float64(nil), s.N...), Next: make([]float64, len(theta))}
	o.m.MStep(p.Next, theta, s)
	return p, nil
}

// kmeans returns the objective of k-means.
func kmeans(p *seed.Points, k int) swept {
	return swept{sweeper(p, 2), &mixture.Mixture{Family: family.KMeans{}, K: k, D: p.D}}
}

// inertia is the sum of weighted squared distances to the nearest centre, by its definition.
func inertia(p *seed.Points, theta []float64) (sum float64) {
	for i := range p.N {
		least := math.Inf(1)
		for c := 0; c < len(theta); c += p.D {
			q := 0.0
			for j, x := range p.At(i) {
				q += (x - theta[c+j]) * (x - theta[c+j])
			}
			least = min(least, q)
		}
		sum += p.W[i] * least
	}
	return sum
}

// rowsOf returns the rows with the given numbers, one after another.
func rowsOf(p *seed.Points, rows []int) (theta []float64) {
	for _, i := range rows {
		theta = append(theta, p.At(i)...)
	}
	return theta
}

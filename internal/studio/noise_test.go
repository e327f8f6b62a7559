package studio

import (
	"math"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// A row of the noise is drawn in the colour of no group at every temperature; of others the groups have what the noise leaves.
func TestSharesOfRowsWithNoise(t *testing.T) {
	t.Parallel()
	m := new(model.Model)
	err := m.UnmarshalJSON([]byte(`{"format":"latent-model","version":1,"model":"gmm","covariance":"full","columns":["x"],"weights":[0.5,0.3],"means":[[0],[3]],"covariances":[[[1]],[[1]]],
		"noise":{"weight":0.2,"log_volume":2,"center":[0],"axes":[[1]],"low":[-3],"high":[4]}}`))
	if err != nil {
		t.Fatal(err)
	}
	err = m.Rows(t.Context(), &data.Table{N: 2, D: 1, F64: []float64{0.5, 50}}, 1, func(s *model.Scored) error {
		density := []float64{0.5 * math.Exp(-0.125) / math.Sqrt(2*math.Pi), 0.3 * math.Exp(-3.125) / math.Sqrt(2*math.Pi), 0.2 * math.Exp(-2)}
		for _, beta := range []float64{0.5, 1, 3, math.Inf(1)} {
			q, far, sum := make([]float64, 2), []float64{1, 1}, 0.0
			sharesOf(q, s, 0, beta)
			sharesOf(far, s, 1, beta)
			for _, v := range density {
				sum += math.Pow(v, beta)
			}
			for c := range q {
				want := math.Pow(density[c], beta) / sum
				if math.IsInf(beta, 1) {
					want = map[bool]float64{true: 1}[c == 0]
				}
				if math.Abs(q[c]-want) > 1e-12 || far[c] != 0 {
					t.Errorf("beta %v, group %d: shares %v and, far out, %v; want %v and 0", beta, c+1, q[c], far[c], want)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

package latent

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/model"
)

// A component at the floor of variances says what is equal in its rows, in the user's units.
func TestWhatIsEqualAtTheFloorIsNamed(t *testing.T) {
	t.Parallel()
	for want, b := range map[string]func(a float64) float64{
		`there "b" equals "a"`:                  func(a float64) float64 { return a },
		`there "b" is 2 times "a"`:              func(a float64) float64 { return 2 * a },
		`there "b" is "a" plus 3`:               func(a float64) float64 { return a + 3 },
		`there "b" is 1.5 times "a" minus 7`:    func(a float64) float64 { return 1.5*a - 7 },
		`there "b" is 4.25`:                     func(float64) float64 { return 4.25 },
		`there "a", "b" and "c" determine each`: nil,
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		src := &data.Table{D: 3}
		for i := range 160 {
			x, y, z := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
			switch {
			case i%2 == 0:
				x, y, z = 8+x, 3+2*y, 3+z
			case b == nil:
				z = x + y
			default:
				y = b(x)
			}
			src.F64 = append(src.F64, x, y, z)
			src.N++
		}
		for _, scale := range []string{"", "standard"} {
			r := mustFit(t, src, Spec{K: 2, Covariance: "full", Scale: scale, Columns: []string{"a", "b", "c"}})
			said := ""
			for _, w := range r.Warnings {
				if w.Code == model.AtFloor {
					said += w.Text
				}
			}
			if !strings.Contains(said, want) {
				t.Errorf("scale %q: %q, want %q", scale, said, want)
			}
		}
	}
}

// Numbers that no row has both of are named, and only those.
func TestNumbersNeverTogetherAreNamed(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	src := &data.Table{N: 120, D: 3}
	for i := range src.N {
		g := 4 * float64(i%2)
		row := []float64{g + rng.NormFloat64(), g + rng.NormFloat64(), g + rng.NormFloat64()}
		row[i%3%2] = math.NaN() // the first or the second
		src.F64 = append(src.F64, row...)
	}
	never := func(r *Result) (said []string) {
		for _, w := range r.Warnings {
			if w.Code == model.NeverTogether {
				said = append(said, w.Text)
			}
		}
		return said
	}
	spec := Spec{K: 2, Covariance: "full", Columns: []string{"a", "b", "c"}}
	if said := never(mustFit(t, src, spec)); len(said) != 1 || !strings.HasPrefix(said[0], `no row has a value in both "a" and "b":`) {
		t.Errorf("warnings %q", said)
	}
	spec.Covariance = "diag"
	if said := never(mustFit(t, src, spec)); said != nil {
		t.Errorf("of variances alone: %q", said)
	}
	src.F64[0], src.F64[1] = 1, 1
	spec.Covariance = "full"
	if said := never(mustFit(t, src, spec)); said != nil {
		t.Errorf("with a row that has both: %q", said)
	}
}

// A row without any cell is not in n, has no part in any result, and is labelled by the weights.
func TestRowsWithoutCellsAreLeftOut(t *testing.T) {
	t.Parallel()
	src := fixtures.Table(2, rng.Normals(5, 200)...)
	more := &data.Table{N: src.N + 2, D: 2, F64: append([]float64{math.NaN(), math.NaN()}, append(append([]float64{}, src.F64...), math.NaN(), math.NaN())...)}
	a := mustFit(t, src, Spec{K: 2})
	b, err := Fit(t.Context(), more, Spec{K: 2})
	if err != nil {
		t.Fatal(err)
	}
	fixtures.Within(t, "log-likelihood", *b.LogLik, *a.LogLik, 1e-9)
	fixtures.Within(t, "BIC", *b.BIC, *a.BIC, 1e-8)
	if b.Rows != a.Rows || b.TotalWeight != a.TotalWeight || b.Missing != (model.Missing{Patterns: 1, EmptyRows: 2}) || b.Components[0].Rows+b.Components[1].Rows != a.Rows {
		t.Errorf("n %d, weight %v, missing %+v, rows of components %d and %d", b.Rows, b.TotalWeight, b.Missing, b.Components[0].Rows, b.Components[1].Rows)
	}
	p, err := b.Model.PredictProba(t.Context(), more)
	if err != nil {
		t.Fatal(err)
	}
	for c, w := range b.Model.Weights {
		fixtures.Within(t, "responsibility of a row without cells", p[0][c], w, 1e-12)
	}
}

// A likelihood-ratio test draws rows that lack what the rows lack, and so does not find groups in the pattern of gaps.
func TestLikelihoodRatioOfRowsWithGaps(t *testing.T) {
	t.Parallel()
	src := fixtures.Table(2, rng.Normals(9, 160)...)
	for i := range src.N {
		if i%3 == 0 {
			src.F64[2*i+1] = math.NaN()
		}
	}
	r := mustFit(t, src, Spec{K: 1, LRT: 9})
	if r.LRT.P == nil || r.LRT.Done != 9 || *r.LRT.P < 0.1 {
		t.Errorf("%+v of one group", r.LRT)
	}
}

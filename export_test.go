package latent_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/model"
)

// spd is a covariance of d columns: whole matrices for some shapes, variances or one variance for others.
func spd(rng *rand.Rand, s family.Shape, d int) []float64 {
	switch s.Alone() {
	case family.Spherical:
		return []float64{0.5 + rng.Float64()}
	case family.Diag:
		v := make([]float64, d)
		for j := range v {
			v[j] = 0.5 + rng.Float64()
		}
		return v
	}
	a := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			a.Set(i, j, rng.NormFloat64())
		}
	}
	var c mat.Dense
	c.Mul(a, a.T())
	for j := range d {
		c.Set(j, j, c.At(j, j)+0.1)
	}
	return c.RawMatrix().Data
}

// whole is the d x d matrix of any covariance.
func whole(v []float64, d int) *mat.Dense {
	if len(v) == d*d {
		return mat.NewDense(d, d, v)
	}
	c := mat.NewDense(d, d, nil)
	for j := range d {
		c.Set(j, j, v[min(j, len(v)-1)])
	}
	return c
}

// mixtures are a mixture of every shape.
func mixtures(t *testing.T, d int) map[string]*model.Model {
	all := map[string]*model.Model{}
	for _, code := range strings.Fields("VVV EEE VVI VII EEI EII VEI EVI VEE EVE VVE EEV VEV EVV") {
		s, err := family.ParseShape(code)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(7, uint64(len(all))))
		m := &model.Model{Kind: "gmm", Shape: s, Weights: []float64{0.5, 0.3, 0.2}}
		for c := range 3 {
			m.Means = append(m.Means, make([]float64, d))
			for j := range d {
				m.Means[c][j] = 3 * rng.NormFloat64()
			}
			if c == 0 || !s.Shared() {
				m.Covariance = append(m.Covariance, spd(rng, s, d))
			}
		}
		for j := range d {
			m.Columns = append(m.Columns, string(rune('a'+j)))
		}
		all[code] = m
	}
	return all
}

// found returns the array of a name.
func found(t *testing.T, m *model.Model, name string) model.Array {
	t.Helper()
	all, err := m.Arrays()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if a.Name == name {
			return a
		}
	}
	t.Fatalf("there is no array %s", name)
	return model.Array{}
}

// In whatever layout they are, covariances_ are those of the model and precisions_cholesky_ are upper triangles U with
// U Uᵀ the inverse. The inverse is gonum's.
func TestExportedPrecisionsAreInverseCovariances(t *testing.T) {
	t.Parallel()
	const k, d = 3, 4
	layouts := map[string]int{"full": k * d * d, "tied": d * d, "diag": k * d, "spherical": k}
	for code, m := range mixtures(t, d) {
		kind, cov, u := found(t, m, "covariance_type").Text[0], found(t, m, "covariances_"), found(t, m, "precisions_cholesky_")
		if len(cov.F64) != layouts[kind] || len(u.F64) != len(cov.F64) {
			t.Fatalf("%s: %d and %d numbers for type %s", code, len(cov.F64), len(u.F64), kind)
		}
		size := len(cov.F64) / k
		if kind == "tied" {
			size = d * d
		}
		for c := range k {
			at := c * size % len(cov.F64)
			want := whole(m.Covariance[min(c, len(m.Covariance)-1)], d)
			if got := whole(cov.F64[at:at+size], d); !mat.Equal(got, want) {
				t.Errorf("%s: covariance %d is %v, want %v", code, c, got, want)
			}
			var inverse, product mat.Dense
			if err := inverse.Inverse(want); err != nil {
				t.Fatal(err)
			}
			root := whole(u.F64[at:at+size], d)
			product.Mul(root, root.T())
			if !mat.EqualApprox(&product, &inverse, 1e-9*mat.Max(&inverse)) {
				t.Errorf("%s: U Uᵀ of %d is %v, the inverse %v", code, c, product, inverse)
			}
			for i := range d {
				for j := range i {
					if root.At(i, j) != 0 {
						t.Errorf("%s: U of %d has %v below its diagonal", code, c, root.At(i, j))
					}
				}
			}
		}
	}
}

func TestExportedShapesHoldTheirNumbers(t *testing.T) {
	t.Parallel()
	models := mixtures(t, 3)
	half := 0.5
	models["transformed"] = &model.Model{Kind: "kmedians", Columns: []string{"a", "b"}, Means: [][]float64{{1}, {2}, {3}}, Transform: []model.Transform{
		{Kind: "robust", Center: []float64{1, 2}, Scale: []float64{3, 4}}, {Kind: "pca", Mean: []float64{0, 1}, Components: [][]float64{{0.6, 0.8}}}}}
	models["bits"] = &model.Model{Kind: "bernoulli", Columns: []string{"a", "b"}, Weights: []float64{1}, Probabilities: [][]float64{{0.1, 0.9}}, Transform: []model.Transform{{Kind: "binarize", Threshold: &half}}}
	models["levels"] = &model.Model{Kind: "categorical", Columns: []string{"a", "b"}, Levels: [][]string{{"x", "y", "z"}, {"u", "ü"}}, Weights: []float64{0.5, 0.5},
		Probabilities: [][]float64{{0.2, 0.3, 0.5, 0.4, 0.6}, {0.5, 0.5, 0, 1, 0}}}
	for name, m := range models {
		all, err := m.Arrays()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range all {
			n := 1
			for _, v := range a.Shape {
				n *= v
			}
			if got := len(a.F64) + len(a.Int) + len(a.Text); got != n {
				t.Errorf("%s: %s has shape %v and %d values", name, a.Name, a.Shape, got)
			}
		}
	}
	if a := found(t, models["transformed"], "transform_2_components"); a.Shape[0] != 1 || a.Shape[1] != 2 || a.F64[1] != 0.8 {
		t.Errorf("components are %v", a)
	}
	if a := found(t, models["transformed"], "cluster_centers_"); a.Shape[0] != 3 || a.Shape[1] != 1 || a.F64[2] != 3 {
		t.Errorf("centres are %v", a)
	}
	if a := found(t, models["bits"], "transform_1_threshold"); a.F64[0] != 0.5 {
		t.Errorf("the threshold is %v", a)
	}
	if a := found(t, models["levels"], "levels"); a.Text[4] != "ü" || found(t, models["levels"], "n_levels").Int[1] != 2 {
		t.Errorf("levels are %v", a)
	}
}

func TestArraysRefuseACovarianceThatIsNone(t *testing.T) {
	t.Parallel()
	for code, m := range mixtures(t, 2) {
		m.Covariance[0][0] = -1
		if _, err := m.Arrays(); err == nil || !strings.Contains(err.Error(), "number 1") {
			t.Errorf("%s: %v", code, err)
		}
		if _, err := m.Distances(); err == nil {
			t.Errorf("%s: distances of it are taken", code)
		}
	}
}

// The distance is the quadratic form (x - m)ᵀ Σ⁻¹ (x - m) with gonum's inverse, x in the units after the transform.
func TestDistancesAreTheQuadraticForm(t *testing.T) {
	t.Parallel()
	const d = 4
	rng := rand.New(rand.NewPCG(1, 1))
	table := &data.Table{N: 100, D: d}
	for range table.N * d {
		table.F64 = append(table.F64, 5*rng.NormFloat64())
	}
	models := mixtures(t, d)
	center, scale := []float64{1, 2, 3, 4}, []float64{2, 0.5, 1, 4}
	for _, m := range models {
		m.Transform = []model.Transform{{Kind: "standard", Center: center, Scale: scale}}
	}
	models["kmeans"] = &model.Model{Kind: "kmeans", Columns: models["VVV"].Columns, Means: models["VVV"].Means, Transform: models["VVV"].Transform}
	for name, m := range models {
		distances, err := m.Distances()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		err = m.Rows(context.Background(), table, 2, func(s *model.Scored) error {
			got := make([]float64, s.N)
			distances(got, s)
			for i, label := range s.Label {
				inverse := whole([]float64{1}, d)
				if m.Covariance != nil {
					if err := inverse.Inverse(whole(m.Covariance[min(int(label), len(m.Covariance)-1)], d)); err != nil {
						return err
					}
				}
				x := mat.NewVecDense(d, nil)
				for j := range d {
					x.SetVec(j, (table.F64[(int(s.First)+i)*d+j]-center[j])/scale[j]-m.Means[label][j])
				}
				if want := mat.Inner(x, inverse, x); !(math.Abs(got[i]-want) <= 1e-9*want) {
					t.Errorf("%s: row %d at %v, want %v", name, i, got[i], want)
				}
				n++
			}
			return nil
		})
		if err != nil || n != table.N {
			t.Errorf("%s: %d rows, %v", name, n, err)
		}
	}
	if _, err := (&model.Model{Kind: "kmedians"}).Distances(); err == nil {
		t.Error("kmedians has Mahalanobis distances")
	}
}

package model

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/latent-go/latent/internal/family"
)

// A covariance is the same matrix in any form, and in JSON a matrix, a list or a number.
func TestCovariancesOfEveryForm(t *testing.T) {
	for _, c := range []struct {
		cov         *Covariance
		full        [][]float64
		json        string
		matrix, one bool
	}{
		{newCovariance(family.Full, []float64{2, 1, 1, 3}, 2), [][]float64{{2, 1}, {1, 3}}, "[[2,1],[1,3]]", true, false},
		{newCovariance(family.Diag, []float64{2, 3}, 2), [][]float64{{2, 0}, {0, 3}}, "[2,3]", false, false},
		{newCovariance(family.Diag, []float64{2}, 1), [][]float64{{2}}, "[2]", false, false},
		{newCovariance(family.Spherical, []float64{5}, 2), [][]float64{{5, 0}, {0, 5}}, "5", false, true},
	} {
		b, err := json.Marshal(c.cov)
		if err != nil || string(b) != c.json || !reflect.DeepEqual(c.cov.Full(), c.full) || c.cov.IsMatrix() != c.matrix || c.cov.IsRound() != c.one {
			t.Errorf("%s, %v: %v; want %s, %v", b, err, c.cov.Full(), c.json, c.full)
		}
		for j, v := range c.cov.Diag() {
			if v != c.full[j][j] || c.cov.At(j, 0) != c.full[j][0] {
				t.Errorf("%s: variance %d is %v", c.json, j, v)
			}
		}
		back := new(Covariance)
		if err := json.Unmarshal(b, back); err != nil || back.IsMatrix() != c.matrix || back.IsRound() != c.one || back.At(0, 0) != c.full[0][0] {
			t.Errorf("%s is read as %+v, %v", b, back, err)
		}
	}
	for _, bad := range []string{`"x"`, `[[1,2]]`, `{}`} {
		if json.Unmarshal([]byte(bad), new(Covariance)) == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

// The covariance of two sums of variables is that of the whole matrix, also of one that is told by factors.
func TestCovarianceOfSums(t *testing.T) {
	loadings, unique := [][]float64{{1, 0.5}, {-0.3, 2}, {0.7, 0}}, []float64{0.4, 0.9, 1.5}
	a, b := []float64{1, -2, 0.5}, []float64{0.3, 0, 4}
	want, matrix := 0.0, make([]float64, 9)
	for i := range 3 {
		for j := range 3 {
			v := loadings[i][0]*loadings[j][0] + loadings[i][1]*loadings[j][1]
			if i == j {
				v += unique[i]
			}
			matrix[i*3+j] = v
			want += a[i] * v * b[j]
		}
	}
	for _, c := range []*Covariance{factoredCovariance(loadings, unique), newCovariance(family.Full, matrix, 3)} {
		if got := c.Between(a, b); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v, want %v", got, want)
		}
		for i := range 3 {
			if got := c.Diag()[i]; math.Abs(got-matrix[4*i]) > 1e-15 || !c.IsMatrix() || c.IsRound() {
				t.Errorf("variance %d is %v, want %v", i, got, matrix[4*i])
			}
		}
	}
}

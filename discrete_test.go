package latent

import (
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/rng"
)

// Three years in a column of a mixture are told of; more values, few rows, and models that have no density to grow are not.
func TestColumnsOfFewValuesAreNamed(t *testing.T) {
	t.Parallel()
	table := func(n, values int) *data.Table {
		x := rng.Normals(12, 2*n)
		for i := range n {
			x[2*i+1] = 2007 + float64(i%values)
		}
		return fixtures.Table(2, x...)
	}
	names := []string{"length", "year"}
	for _, c := range []struct {
		src  data.Source
		spec Spec
		want bool
	}{
		{table(60, 3), Spec{K: 2, NInit: 1}, true},
		{table(60, 5), Spec{K: 2, NInit: 1}, true},
		{table(10_000, 3), Spec{K: 2, NInit: 1}, true},
		{table(60, 6), Spec{K: 2, NInit: 1}, false},
		{table(49, 3), Spec{K: 2, NInit: 1}, false},
		{table(60, 3), Spec{K: 2, Model: "kmeans"}, false},
		{&data.Table{N: 60, D: 2, F64: table(60, 6).F64, W: slices.Concat(slices.Repeat([]float64{1, 1, 1, 0, 0, 0}, 10))}, Spec{K: 1}, false}, // 30 rows of weight
		{&data.Table{N: 120, D: 2, F64: table(120, 6).F64, W: slices.Repeat([]float64{1, 1, 1, 0, 0, 0}, 20)}, Spec{K: 1}, true},
	} {
		c.spec.Columns = names
		r := mustFit(t, c.src, c.spec)
		found := slices.ContainsFunc(texts(r.Warnings), func(w string) bool { return strings.Contains(w, `column "year" has`) })
		other := slices.ContainsFunc(texts(r.Warnings), func(w string) bool { return strings.Contains(w, `"length"`) })
		if found != c.want || other {
			t.Errorf("%+v: warnings %q", c.spec, r.Warnings)
		}
	}
}

package report

import (
	"strings"
	"testing"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/rng"
)

// The curves of a column are those of the groups, and the page says so where there is noise.
func TestCurvesWithoutTheNoise(t *testing.T) {
	t.Parallel()
	src := &data.Table{D: 1, F64: append(rng.Normals(1, 100), 30, -40, 55, -62, 70, -21, 38, 90)}
	src.N = len(src.F64)
	for noise, want := range map[string]int{"": 0, "auto": 1} {
		r, err := latent.Fit(t.Context(), src, latent.Spec{K: 1, Noise: noise, Columns: []string{"a"}})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := Gather(t.Context(), r.Model, src, 1)
		if err != nil {
			t.Fatal(err)
		}
		var page strings.Builder
		if err := Write(&page, Page{Result: r, Rows: rows}); err != nil {
			t.Fatal(err)
		}
		const title = "The density is the sum of those of the groups, each times its share"
		if !strings.Contains(page.String(), title) || min(strings.Count(page.String(), title+"; without the noise"), 1) != want {
			t.Errorf("noise %q: the title of the density is another", noise)
		}
	}
}

// A page of a model with noise counts its rows in no group, and lists them as group 0 where they are odd.
func TestPageOfAModelWithNoise(t *testing.T) {
	t.Parallel()
	z, u := rng.Normals(1, 300), rng.Uniforms(2, 60)
	src := &data.Table{D: 2, F64: z}
	for i := range 150 {
		z[2*i] += 8 * float64(i%2)
	}
	for _, v := range u {
		src.F64 = append(src.F64, 60*v-30)
	}
	src.N = len(src.F64) / 2
	r, err := latent.Fit(t.Context(), src, latent.Spec{K: 2, Noise: "auto", Columns: []string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := Gather(t.Context(), r.Model, src, 1)
	if err != nil {
		t.Fatal(err)
	}
	if n := rows.Group[0].Rows + rows.Group[1].Rows; rows.noise != r.Noise.Rows || n+rows.noise != rows.N || rows.N != 180 || rows.noise < 20 {
		t.Errorf("%d rows in groups and %d of the noise, of %d; the fit has %d", n, rows.noise, rows.N, r.Noise.Rows)
	}
	zero := 0
	for _, row := range rows.Unusual {
		if row.Label == -1 {
			zero++
		}
	}
	if zero == 0 {
		t.Error("no row of the noise is among those with the lowest p-values")
	}
	var page strings.Builder
	if err := Write(&page, Page{Result: r, Rows: rows}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"rows are noise: they lie anywhere, in no group", ", and noise", "all but those of the noise"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

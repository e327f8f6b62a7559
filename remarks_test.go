package latent

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/model"
)

// repeatedRows writes out the rows of a table as often as their weights say.
func repeatedRows(t *data.Table) *data.Table {
	out := &data.Table{D: t.D}
	for i := range t.N {
		for range int(t.W[i]) {
			out.N++
			out.F64 = append(out.F64, t.F64[i*t.D:(i+1)*t.D]...)
		}
	}
	return out
}

// A weight is a number of rows in what is remarked too: few lines of large weights are many rows, and the remarks are those of
// the rows written out, each group's count apart.
func TestRemarksCountRowsByTheirWeights(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	floor := &data.Table{N: 31, D: 1}
	for i := range 30 {
		floor.F64, floor.W = append(floor.F64, math.Sin(float64(i))), append(floor.W, 1)
	}
	floor.F64, floor.W = append(floor.F64, 50), append(floor.W, 40) // one line, but forty rows
	few := &data.Table{N: 12, D: 1}
	for i := range 12 {
		few.F64, few.W = append(few.F64, float64(i%4)), append(few.W, 5) // twelve lines and sixty rows of four values
	}
	for _, c := range []struct {
		table      *data.Table
		spec       Spec
		want       string // in the remark of the weighted rows
		wantLonger string // in that of the rows written out
	}{
		{floor, Spec{K: 2, Seed: new(uint64(1))}, "its 1 row of weight 40 is almost equal", "its 40 rows are almost equal"},
		{few, Spec{K: 1}, "no more than 5 distinct values", "no more than 5 distinct values"},
	} {
		weighted, err := Fit(ctx, c.table, c.spec)
		if err != nil {
			t.Fatal(err)
		}
		written, err := Fit(ctx, repeatedRows(c.table), c.spec)
		if err != nil {
			t.Fatal(err)
		}
		has := func(r *Result, text string) bool {
			return slices.ContainsFunc(texts(r.Warnings), func(w string) bool { return strings.Contains(w, text) })
		}
		if !has(weighted, c.want) || !has(written, c.wantLonger) || len(weighted.Warnings) != len(written.Warnings) {
			t.Errorf("the remarks are %q of weighted rows and %q of rows written out", weighted.Warnings, written.Warnings)
		}
	}
}

// What is said of too few rows names their weight, where that is what they count for.
func TestTooFewRowsAreToldWithTheirWeight(t *testing.T) {
	t.Parallel()
	rows := &data.Table{N: 4, D: 1, F64: []float64{0, 1, 10, 12}, W: []float64{30, 30, 30, 30}}
	r, err := Fit(context.Background(), rows, Spec{K: 2})
	if err != nil {
		t.Fatal(err)
	}
	if want := "4 rows of weight 120 are too few for the standard errors of 5 parameters"; r.StandardErrors.Why != want {
		t.Errorf("%q, want %q", r.StandardErrors.Why, want)
	}
}

// Several empty components are one remark.
func TestEmptyComponentsAreNamedTogether(t *testing.T) {
	t.Parallel()
	rows := &data.Table{N: 5, D: 1, F64: []float64{0, 1, 10, 11, 9}}
	r, err := Fit(context.Background(), rows, Spec{Model: "kmeans", K: 4, Init: "centers", Centers: [][]float64{{0.5}, {10.5}, {400}, {500}}, MaxIter: new(0)})
	if err != nil {
		t.Fatal(err)
	}
	if want := "2 groups are empty (3, 4): no row has their labels"; !slices.Contains(texts(r.Warnings), want) {
		t.Errorf("the remarks are %q, without %q", r.Warnings, want)
	}
}

// Where components are merged they are not what labels are of.
func TestAnEmptyComponentOfAClusterIsNoGroup(t *testing.T) {
	t.Parallel()
	rows := &data.Table{N: 5, D: 1, F64: []float64{0, 1, 10, 11, 9}}
	r, err := Fit(context.Background(), rows, Spec{K: 3, Covariance: "tied", Init: "centers", Centers: [][]float64{{0.5}, {10.5}, {400}}, MaxIter: new(0), Merge: "entropy:1"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "component 3 is empty: no row has its number"; !slices.Contains(texts(r.Warnings), want) {
		t.Errorf("the remarks are %q, without %q", r.Warnings, want)
	}
}

// A component whose label only rows of weight 0 carry is empty.
func TestAComponentOfWeightlessRowsIsEmpty(t *testing.T) {
	t.Parallel()
	rows := &data.Table{N: 5, D: 1, F64: []float64{0, 1, 10, 11, 500}, W: []float64{1, 1, 1, 1, 0}}
	r, err := Fit(context.Background(), rows, Spec{Model: "kmeans", K: 3, Init: "centers", Centers: [][]float64{{0.5}, {10.5}, {400}}, MaxIter: new(0)})
	if err != nil {
		t.Fatal(err)
	}
	if want := "group 3 is empty: only rows of weight 0 have its label"; !slices.Contains(texts(r.Warnings), want) {
		t.Errorf("the remarks are %q, without %q", r.Warnings, want)
	}
}

// A column that equals another leaves a factor none of its variance. What the warning calls a component is what all warnings of the fit call it.
func TestHeywoodCasesAreOfComponentsWhereThoseAreMerged(t *testing.T) {
	t.Parallel()
	var x []float64
	plain := groupsOfThree()
	for i := 0; i < len(plain); i += 3 {
		x = append(x, plain[i], plain[i+1], plain[i+2], plain[i])
	}
	for merge, want := range map[string]string{"": "group", "overlap": "component"} {
		r := mustFit(t, fixtures.Table(4, x...), Spec{K: 3, Covariance: "factors:1", Merge: merge})
		said := slices.IndexFunc(r.Warnings, func(w model.Warning) bool { return w.Code == model.Heywood })
		if said < 0 || !strings.Contains(r.Warnings[said].Text, fmt.Sprintf(" in %s %d:", want, r.Warnings[said].Component)) {
			t.Errorf("merge %q: %v; want a Heywood case in a %s", merge, r.Warnings, want)
		}
	}
}

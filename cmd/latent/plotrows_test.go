package main

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
)

// source returns rows as the source of a drawing of a model.
func source(t *testing.T, modelFile string, rows [][]float64, threads int) (*view, *rowSource) {
	t.Helper()
	src, err := data.FromRows(rows)
	if err != nil {
		t.Fatal(err)
	}
	r := result(t, modelFile)
	return viewOf(r), &rowSource{context.Background(), r.Model, src, threads, nil}
}

// Rows are drawn where the user has them, whatever the model does to them first, and carry the label of the nearest centre.
func TestRowsAreDrawnInTheirUnits(t *testing.T) {
	v, s := source(t, `{"format": "latent-model", "version": 1, "model": "kmeans", "columns": ["a", "b", "c"], "centers": [[0, 0, 0], [1, 5, 2]],
		"transform": [{"kind": "standard", "center": [0, 0, 0], "scale": [100, 0.1, 1]}]}`, [][]float64{{3, 0.1, 1}, {4, 5, -2}, {5, 6, 1}}, 1)
	rows, err := s.gather(v, 1, 2)
	if err != nil || rows.all != 3 || !slices.Equal(rows.at, [][2]float64{{0.1, 1}, {5, -2}, {6, 1}}) || !slices.Equal(rows.label, []int{0, 1, 1}) {
		t.Errorf("%+v, %v", rows, err)
	}
	// (x - 5) in the directions (0.6, 0.8, 0) and (0, 0, 1): (10, 15, 7) is at 3 + 8 and 2.
	v, s = source(t, `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "diag", "columns": ["a", "b", "c"],
		"transform": [{"kind": "pca", "mean": [5, 5, 5], "components": [[0.6, 0.8, 0], [0, 0, 1]]}],
		"weights": [1], "means": [[10, 1]], "covariances": [[4, 9]]}`, [][]float64{{10, 15, 7}}, 1)
	rows, err = s.gather(v, 0, 1)
	if err != nil || !slices.Equal(rows.at, [][2]float64{{11, 2}}) {
		t.Errorf("principal components: %+v, %v", rows, err)
	}
}

// Of many rows a sample is drawn, the same with any number of threads; a row without one of the cells has no place.
func TestASampleOfManyRowsIsDrawn(t *testing.T) {
	const modelFile = `{"format": "latent-model", "version": 1, "model": "kmeans", "columns": ["x"], "centers": [[0]]}`
	chance := rand.New(rand.NewPCG(1, 1))
	table := make([][]float64, 50_000)
	for i := range table {
		table[i] = []float64{chance.Float64()}
	}
	v, s := source(t, modelFile, table, 1)
	one, err := s.gather(v, 0, -1)
	if err != nil || len(one.at) != mostDrawn || one.all != int64(len(table)) {
		t.Fatalf("%d of %d, %v", len(one.at), one.all, err)
	}
	below := 0
	for _, at := range one.at {
		if at[0] < 0.5 {
			below++
		}
	}
	if below < mostDrawn*2/5 || below > mostDrawn*3/5 { // six standard deviations
		t.Errorf("%d of %d lie in the lower half", below, mostDrawn)
	}
	v, s = source(t, modelFile, table, 4)
	if four, err := s.gather(v, 0, -1); err != nil || !slices.Equal(one.at, four.at) {
		t.Errorf("other rows with four threads: %v", err)
	}
}

// A range that is asked for is the range that is shown, and what is outside of it is told.
func TestARangeIsKept(t *testing.T) {
	const modelFile = `{"format": "latent-model", "version": 1, "model": "kmeans", "columns": ["x", "y"], "centers": [[0, 0], [10, 10]]}`
	f := plotFlags{draw: true, window: "-1:3,-2:2"}
	page, err := f.page(new(bytes.Buffer))
	if err != nil || !slices.Equal(page.window, [][2]float64{{-1, 3}, {-2, 2}}) {
		t.Fatalf("%v, %v", page.window, err)
	}
	var b bytes.Buffer
	_, s := source(t, modelFile, [][]float64{{-1, -2}, {3, 2}, {9, 9}}, 1)
	if err := drawModel(&b, result(t, modelFile), page, s); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	lowest := slices.IndexFunc(lines, func(s string) bool { return strings.Contains(s, "-2┤") })
	if !strings.HasSuffix(lines[1], "⠈") || !strings.HasSuffix(lines[lowest], "-2┤⡀") {
		t.Errorf("no rows in the corners: %q", lines)
	}
	if said := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(said, "a dot is a row; 1 drawn row is outside; group 2 is outside") || strings.Count(lines[1], "2") != 1 { // that of the axis
		t.Error(b.String())
	}
	for _, wrong := range []string{"1", "1:", "3:1", "1:1", "0:1,2", "0:1,2:3,4:5", "a:b", "0:inf", "nan:1", ":", ","} {
		f := plotFlags{draw: true, window: wrong}
		if _, err := f.page(&b); err == nil {
			t.Errorf("--range %s is taken", wrong)
		}
	}
}

// Words are cut at blanks, and every line keeps to the page.
func TestWordsAreCutAtBlanks(t *testing.T) {
	if got := (plotPage{width: 12}).wrap("one two three  four a-word-that-is-wider five"); !slices.Equal(got, []string{"one two", "three four", "a-word-that-is-wider", "five"}) {
		t.Errorf("%q", got)
	}
	for _, c := range [][2]string{{"short", "short"}, {"mean radius of the cells", "mean …"}, {"exactly ten", "exactly …"}, {"undivided_name", "undivided…"}} {
		if got := cutAtBlank(c[0], 10); got != c[1] {
			t.Errorf("%q becomes %q", c[0], got)
		}
	}
}

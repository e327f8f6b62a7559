package report

import (
	"context"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
)

// several returns n rows of two groups, with n columns of numbers, a category of three levels that tells the groups apart, one that does not,
// and a count, and the spec for them. Every 7th row lacks a cell, and the 10th all of them.
func several(n, numbers int) (*data.Table, latent.Spec) {
	rng := rand.New(rand.NewPCG(7, 8))
	d := numbers + 3
	t := &data.Table{N: n, D: d}
	spec := latent.Spec{Model: "mixed", K: 2, Covariance: "diag", Levels: make([][]string, d)}
	for j := range numbers {
		spec.Columns, spec.Types = append(spec.Columns, string(rune('a'+j))), append(spec.Types, data.Number)
	}
	spec.Columns = append(spec.Columns, "colour", "coin", "visits")
	spec.Types = append(spec.Types, data.Category, data.Category, data.Count)
	spec.Levels[numbers], spec.Levels[numbers+1] = []string{"blue", "<green>", "red"}, []string{"head", "tail"}
	for i := range n {
		g := i % 2
		row := make([]float64, d)
		for j := range numbers {
			row[j] = rng.NormFloat64() + 8*float64(g)
		}
		row[numbers], row[numbers+1], row[numbers+2] = float64(g+rng.IntN(2)), float64(rng.IntN(2)), float64(rng.IntN(4)+6*g)
		if i%7 == 3 {
			row[i%d] = math.NaN()
		}
		if i == 9 {
			for j := range row {
				row[j] = math.NaN()
			}
		}
		t.F64 = append(t.F64, row...)
	}
	return t, spec
}

func TestPagesOfSeveralTypesOfColumns(t *testing.T) {
	sections := regexp.MustCompile(`<section id="(\w+)"`)
	for _, c := range []struct {
		numbers   int
		has, lack []string
	}{
		{8, []string{"groups", "scatter", "profile", "levels", "pairs", "unusual"}, []string{"tiles", "silhouette"}},
		{2, []string{"groups", "scatter", "profile", "levels"}, []string{"pairs"}},
		{1, []string{"groups", "scatter", "profile", "levels"}, []string{"pairs"}},
		{0, []string{"groups", "levels"}, []string{"scatter", "profile", "pairs"}},
	} {
		src, spec := several(300, c.numbers)
		if c.numbers == 0 {
			spec.Covariance = ""
		}
		page := pageAbout(t, src, fit(t, src, spec))
		var ids []string
		for _, m := range sections.FindAllStringSubmatch(page, -1) {
			ids = append(ids, m[1])
		}
		for _, id := range c.has {
			if !slices.Contains(ids, id) {
				t.Errorf("%d numbers: no section %s among %v", c.numbers, id, ids)
			}
		}
		for _, id := range c.lack {
			if slices.Contains(ids, id) {
				t.Errorf("%d numbers: there is a section %s", c.numbers, id)
			}
		}
		for _, bad := range []string{"NaN", "<green>"} {
			if strings.Contains(page, bad) {
				t.Errorf("%d numbers: the page has %s", c.numbers, bad)
			}
		}
		for _, want := range []string{"“colour” is ", "visits", "2 categories, 1 count", "1 row without any cell, not shown"} {
			if !strings.Contains(page, want) {
				t.Errorf("%d numbers: the page does not have %q", c.numbers, want)
			}
		}
	}
}

// The most telling column is the category that follows from the group, and the least the coin.
func TestColumnsOfAllTypesAreOrderedByWhatTheyTell(t *testing.T) {
	src, spec := several(400, 1)
	for i := range src.N { // the colour is that of the group
		if at := i*src.D + 1; src.F64[at] == src.F64[at] {
			src.F64[at] = float64(2 * (i % 2))
		}
	}
	r := fit(t, src, spec)
	rows, err := Gather(context.Background(), r.Model, src, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := &builder{r: r, rows: rows, d: src.D, k: 2}
	b.prepare()
	if b.telling[0] != 1 || b.telling[3] != 2 || b.share[1] < 0.999 || b.share[2] > 0.05 {
		t.Errorf("the order is %v with shares %v, want the colour first and the coin last", b.telling, b.share)
	}
}

// Means and standard deviations are those of the cells that are there; rows without any are counted, and nothing else.
func TestGatherTakesTheCellsThatAreThere(t *testing.T) {
	nan := math.NaN()
	src, err := data.FromRows([][]float64{{1, 10}, {nan, 12}, {3, nan}, {nan, nan}, {11, 20}, {13, nan}, {12, 24}})
	if err != nil {
		t.Fatal(err)
	}
	r := fit(t, src, latent.Spec{K: 2, Covariance: "tied-diag", Columns: []string{"x", "y"}})
	g, err := Gather(context.Background(), r.Model, src, 1)
	if err != nil {
		t.Fatal(err)
	}
	if m := g.Missing; g.N != 6 || m.Cells != 3 || m.Rows != 3 || m.EmptyRows != 1 {
		t.Errorf("%d rows, missing %+v", g.N, m)
	}
	if math.Abs(g.Mean[0]-8) > 1e-12 || math.Abs(g.Mean[1]-16.5) > 1e-12 { // (1+3+11+13+12)/5, (10+12+20+24)/4
		t.Errorf("means %v, want 8 and 16.5", g.Mean)
	}
	if want := math.Sqrt((49.0 + 25 + 9 + 25 + 16) / 5); math.Abs(g.SD[0]-want) > 1e-12 {
		t.Errorf("standard deviation %v, want %v", g.SD[0], want)
	}
	for c := range g.Group {
		for i, row := range g.Group[c].Typical { // rows with all cells come first
			if gap := hasGap(row.X); i > 0 && !gap && hasGap(g.Group[c].Typical[i-1].X) {
				t.Errorf("group %d: row %d, which is whole, comes after one with a gap", c+1, row.Number)
			}
		}
	}
}

func hasGap(x []float64) bool { return slices.ContainsFunc(x, func(v float64) bool { return v != v }) }

// A column may lack every cell in a group.
func TestAColumnWithoutCellsInAGroup(t *testing.T) {
	var rows [][]float64
	for i := range 60 {
		x := []float64{float64(i % 5), float64(i % 7), float64(i % 3)}
		if i%2 == 0 {
			x = []float64{100 + float64(i%5), math.NaN(), float64(i % 3)}
		}
		rows = append(rows, x)
	}
	src, err := data.FromRows(rows)
	if err != nil {
		t.Fatal(err)
	}
	r := fit(t, src, latent.Spec{K: 2, Covariance: "tied-diag", Columns: []string{"x", "y", "z"}})
	if page := pageAbout(t, src, r); strings.Contains(page, "NaN") {
		t.Error("the page has NaN")
	}
	means := fit(t, src, latent.Spec{Model: "kmeans", K: 2, Missing: "model", Columns: []string{"x", "y", "z"}})
	if page := pageAbout(t, src, means); strings.Contains(page, "NaN") || strings.Contains(page, "silhouette") {
		t.Error("the page of k-means with gaps has NaN or silhouettes")
	}
}

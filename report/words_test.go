package report

import (
	"image"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// Rows of weight 1 and 2 by turns: shares are of the weight, and the page says so.
func TestSharesOfWeightedRowsAreOfTheWeight(t *testing.T) {
	src := two(3000)
	page := pageOf(t, src, latent.Spec{K: 2, Columns: []string{"x", "y"}})
	for words, want := range map[string]bool{"% of the weight<": true, "Shares are of the total weight of the rows, 4,500.": true, "3,000, total weight 4,500": true, "% of the rows<": false} {
		if strings.Contains(page, words) != want {
			t.Errorf("%q: %v", words, !want)
		}
	}
	src.W = nil
	page = pageOf(t, src, latent.Spec{K: 2, Columns: []string{"x", "y"}})
	if strings.Contains(page, "weight<") || strings.Contains(page, "total weight") || !strings.Contains(page, "% of the rows<") {
		t.Error("rows without weights have a weight")
	}
}

// Three groups of ten rows at 0, 10 and 20, whose mean is 10: one is lower, one higher, and the second as all rows are.
func TestAGroupIsToldWhateverItIsLike(t *testing.T) {
	src := &data.Table{N: 30, D: 1}
	for i := range 30 {
		src.F64 = append(src.F64, float64(i/10*10))
	}
	page := pageOf(t, src, latent.Spec{K: 3, Model: "kmeans", Columns: []string{"x"}})
	for _, want := range []string{"<li>“x” lower: 0 (all rows: 10)</li>", "<li>“x” higher: 20 (all rows: 10)</li>", "<li>“x” near the average: 10 (all rows: 10)</li>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	alone := pageOf(t, src, latent.Spec{K: 1, Columns: []string{"x"}})
	if !strings.Contains(alone, "<li>“x”: 10</li>") || strings.Contains(alone, "numbered disc") {
		t.Error("a single group is not told alone")
	}
}

// Of levels and numbers those come first in which a group lies farthest from all rows, by their standard deviations: 0.5 of a share of a half
// is one, and 3 of 2 are one and a half.
func TestNumbersAndLevelsAreToldByWhatTheyTell(t *testing.T) {
	r := &latent.Result{Kind: "mixed", K: 2, Columns: []string{"sex", "age"}}
	r.Model = &model.Model{Kind: "mixed", Columns: r.Columns, Weights: []float64{0.5, 0.5}, Means: [][]float64{{13}, {7}},
		Types: []data.Type{data.Category, data.Number}, Levels: [][]string{{"f", "m"}}}
	b := &builder{r: r, rows: &Rows{Mean: []float64{0.5, 10}, SD: []float64{0.5, 2}, Group: []Group{{Rows: 3}, {Rows: 3}}}, d: 2, k: 2}
	b.r.Components = []model.Component{{Weight: 0.5, Mean: []float64{13}, Probability: [][]float64{{1, 0}}}, {Weight: 0.5, Mean: []float64{7}, Probability: [][]float64{{0, 1}}}}
	b.columns = columnsOf(r.Model)
	want := []string{"“age” much higher: 13 (all rows: 10)", "“sex” is f in 100\u00a0% (all rows: 50\u00a0%)"}
	if got := b.distinguishing(0); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Rows without any cell were not fitted, whether or not the model counts them.
func TestAPageOfTheSameRowsDoesNotSayThatTheyAreOthers(t *testing.T) {
	for rows, other := range map[int64]bool{342: false, 344: false, 300: true} {
		b := &builder{r: &latent.Result{Kind: "kmeans", K: 3, Rows: rows}, rows: &Rows{N: 342, Weight: 342, Missing: model.Missing{EmptyRows: 2}}, k: 3}
		if said := strings.Join(b.trust(), " "); strings.Contains(said, "this page shows") != other {
			t.Errorf("fitted to %d rows: %q", rows, said)
		}
	}
}

func TestPixelsLieWhereTheirNamesSay(t *testing.T) {
	var names, plain []string
	for y := range 4 {
		for x := range 5 {
			if x != 2 || y != 0 { // one was not fitted
				names = append(names, "pixel_"+string(rune('0'+y))+"_"+string(rune('0'+x)))
			}
			plain = append(plain, "height")
		}
	}
	gridOf := func(columns []string) ([]image.Point, int, int) {
		return (&builder{r: &latent.Result{Kind: "kmeans", Columns: columns}, d: len(columns)}).grid()
	}
	at, lines, columns := gridOf(names)
	if lines != 4 || columns != 5 || at[1] != image.Pt(1, 0) || at[2] != image.Pt(3, 0) || at[18] != image.Pt(4, 3) {
		t.Errorf("%d lines, %d columns, %v", lines, columns, at)
	}
	if at, lines, columns := gridOf([]string{"pixel1", "pixel2", "pixel3", "pixel4", "pixel5", "pixel6", "pixel7", "pixel8", "pixel9", "pixel10", "pixel11", "pixel12", "pixel13", "pixel14", "pixel15", "pixel16"}); lines != 4 || columns != 4 || at[5] != image.Pt(1, 1) {
		t.Errorf("%d lines, %d columns, %v", lines, columns, at)
	}
	for _, none := range [][]string{plain, names[:6], {"pixel_0_0", "pixel_90_90"}} {
		if _, lines, _ := gridOf(none); lines != 0 {
			t.Errorf("%d columns %q are a picture", len(none), none[0])
		}
	}
}

// A climb that cannot be seen has no picture, and its table no column that says nothing.
func TestAClimbIsDrawnWhereItRose(t *testing.T) {
	ll := -99.5
	for rise, drawn := range map[float64]bool{0.05: false, 5: true} {
		b := &builder{r: &latent.Result{Kind: "gmm", K: 1}, k: 1}
		b.r.LogLik = &ll
		nan := math.NaN()
		b.Steps = []Step{{Sweep: 1, Free: -100, LogLik: -100, Beta: 1, Distance: nan, Lifted: nan}, {Sweep: 2, Free: -100 + rise, LogLik: -100 + rise, Beta: 1, Distance: 5e-8, Lifted: nan}}
		b.convergence()
		s := b.sections[0]
		if (len(s.Figures) > 0) != drawn || b.err != nil {
			t.Errorf("a rise of %v: %d pictures, %v", rise, len(s.Figures), b.err)
		}
		if got := s.Data[0]; !slices.Equal(got.Head, []string{"sweep", "free energy", "log-likelihood", "distance (standard errors)"}) || got.Rows[0][3] != "" || got.Rows[1][3] != "under 0.000001" {
			t.Errorf("table %q of %q", got.Rows, got.Head)
		}
	}
}

// What is normal is a fact, not a warning, also where the warning was read from a file, which keeps no codes.
func TestWhatIsNormalIsNoWarning(t *testing.T) {
	r := &latent.Result{Kind: "bernoulli", K: 1}
	r.Warnings = []model.Warning{{Text: "3 answers are (almost) certain within a group; that is normal"}, {Code: model.Certain, Text: "so"}, {Text: "a doubt"}}
	b := &builder{r: r}
	if got := b.warnings(); !slices.Equal(got, []string{"a doubt"}) {
		t.Errorf("warnings %q", got)
	}
}

// That a fit has not finished is said once, where trust is told.
func TestUnfinishedIsToldOnce(t *testing.T) {
	rows := make([][]float64, 200)
	for i := range rows {
		rows[i] = []float64{float64(i*i%37) + 20*float64(i%2), float64(i * 7 % 23)}
	}
	src, err := data.FromRows(rows)
	if err != nil {
		t.Fatal(err)
	}
	page := pageOf(t, src, latent.Spec{K: 3, MaxIter: new(1)})
	if n := strings.Count(page, "not finished"); n != 1 || !strings.Contains(page, `<div class="trust warning">`) {
		t.Errorf("said %d times", n)
	}
}

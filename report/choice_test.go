package report

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

func TestPictureOfAChoiceHoldsTheCandidatesThatCouldWin(t *testing.T) {
	v := func(x float64) *float64 { return &x }
	r := &latent.Result{Kind: "gmm", Findings: model.Findings{Choice: &model.Choice{Criterion: "bic"}, Candidates: []model.Candidate{
		{K: 1, Mclust: "VVV", BIC: v(5)}, {K: 1, Mclust: "EEE", BIC: v(5), SameAs: "VVV"},
		{K: 2, Mclust: "VVV", BIC: v(-9), AtFloor: true, Why: "floor"}, {K: 2, Mclust: "EEE", BIC: v(4)},
		{K: 3, Mclust: "VVV", Why: "no"}, {K: 3, Mclust: "EEE", BIC: v(6)},
	}}}
	c := Criterion(r)
	if len(c.Curves) != 2 || c.Name != "BIC" || c.Highest {
		t.Fatalf("%+v", c)
	}
	nan := math.NaN()
	for i, want := range [][]float64{{5, nan, nan}, {nan, 4, 6}} {
		for j, w := range want {
			if got := c.Curves[i].Value[j]; got != w && !(got != got && w != w) || c.Curves[i].K[j] != j+1 {
				t.Errorf("%s, k = %d: %v, want %v", c.Curves[i].Name, c.Curves[i].K[j], got, w)
			}
		}
	}
	best := c.Best(3)
	if best[0].K != 2 || best[1].K != 1 || best[2].K != 3 {
		t.Errorf("the best are %+v", best)
	}
}

// pageOf returns the page of a fit of two columns.
func pageOf(t *testing.T, src data.Source, spec latent.Spec) string {
	t.Helper()
	if spec.Columns == nil {
		spec.Columns = []string{"x", "y"}
	}
	return pageAbout(t, src, fit(t, src, spec))
}

func pageAbout(t *testing.T, src data.Source, r *latent.Result) string {
	t.Helper()
	rows, err := Gather(context.Background(), r.Model, src, 1)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Write(&b, Page{Result: r, Rows: rows}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPageTellsAChoice(t *testing.T) {
	src := two(300)
	if page := pageOf(t, src, latent.Spec{KRange: [2]int{1, 3}, Covariance: "full,tied"}); !strings.Contains(page, `id="choice"`) || !strings.Contains(page, "BIC is best with 2 groups of shape EEE") {
		t.Error("the page does not tell the choice")
	}
	if page := pageOf(t, src, latent.Spec{KRange: [2]int{1, 3}, Model: "kmeans"}); !strings.Contains(page, "silhouette is best with 2 groups") {
		t.Error("the page does not tell the choice of k-means")
	}
	if page := pageOf(t, src, latent.Spec{KRange: [2]int{1, 4}, Model: "kmeans", Criterion: "gap"}); !strings.Contains(page, "The gap statistic takes 2 groups") || !strings.Contains(page, "20 sets of rows without groups") {
		t.Error("the page does not tell the choice by gaps")
	}
	if page := pageOf(t, src, latent.Spec{KRange: [2]int{1, 4}, Model: "kmeans", Criterion: "elbow"}); !strings.Contains(page, "J + λk is best with 2 groups") || !strings.Contains(page, "what one group more saves") {
		t.Error("the page does not tell the choice by the elbow")
	}
	if strings.Contains(pageOf(t, src, latent.Spec{K: 2}), `id="choice"`) {
		t.Error("a page without a choice tells one")
	}
}

func TestPageOfAModelFileTellsTheChoice(t *testing.T) {
	src := two(300)
	for _, spec := range []latent.Spec{{Covariance: "full,tied"}, {Model: "kmeans", Criterion: "gap"}, {Model: "kmeans", Criterion: "elbow"}} {
		spec.KRange, spec.Columns = [2]int{1, 3}, []string{"x", "y"}
		r := fit(t, src, spec)
		var file bytes.Buffer
		if _, err := r.Model.WriteTo(&file); err != nil {
			t.Fatal(err)
		}
		read := func(b []byte) *latent.Result {
			m := new(model.Model)
			if err := json.Unmarshal(b, m); err != nil {
				t.Fatal(err)
			}
			return latent.Told(m)
		}
		section := func(page string) string {
			_, s, _ := strings.Cut(page, `id="choice"`)
			s, _, _ = strings.Cut(s, "</section>")
			return s
		}
		want := section(pageAbout(t, src, r))
		if got := section(pageAbout(t, src, read(file.Bytes()))); got != want || want == "" {
			t.Errorf("%q: the file tells %q, the fit %q", spec.Criterion, got, want)
		}
		// What was edited so that it cannot be told is left out.
		for _, edit := range [][2]string{{`"criterion":"`, `"criterion":"x`}, {`"margin":`, `"verdict":"flat","margin":null,"penalty":`}, {`{"k":2,`, `{"k":0,`}, {`{"k":3,`, `{"k":2,`}, {`"gap_se":`, `"silhouette":`}} {
			page := pageAbout(t, src, read(bytes.ReplaceAll(file.Bytes(), []byte(edit[0]), []byte(edit[1]))))
			if found := bytes.Contains(file.Bytes(), []byte(edit[0])); found == strings.Contains(page, `id="choice"`) {
				t.Errorf("%q: %s in the file, and the page tells a choice: %v", spec.Criterion, edit[1], found)
			}
		}
	}
}

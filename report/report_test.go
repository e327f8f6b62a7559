package report

import (
	"context"
	"encoding/xml"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/score"
)

// two returns n rows of two groups around (0, 0) and (10, 0), every third of the second, with weights 1, 2, 1, 2, ...
func two(n int) *data.Table {
	rng := rand.New(rand.NewPCG(5, 6))
	t := &data.Table{N: n, D: 2, F64: make([]float64, 0, 2*n), W: make([]float64, n)}
	for i := range n {
		x := rng.NormFloat64()
		if i%3 == 0 {
			x += 10
		}
		t.F64 = append(t.F64, x, rng.NormFloat64())
		t.W[i] = float64(1 + i%2)
	}
	return t
}

func fit(t *testing.T, src data.Source, spec latent.Spec, see ...latent.Observer) *latent.Result {
	t.Helper()
	r, err := latent.Fit(context.Background(), src, spec, see...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestGatherCountsEveryRow(t *testing.T) {
	src := two(3000)
	for _, scale := range []string{"none", "standard"} {
		r := fit(t, src, latent.Spec{K: 2, Columns: []string{"x", "y"}, Scale: scale})
		g, err := Gather(context.Background(), r.Model, src, 2)
		if err != nil {
			t.Fatal(err)
		}
		// The plain loop, in two passes.
		var w, mean, square float64
		var rows [2]int64
		var groupW, groupMean [2]float64
		for i := range src.N {
			x, c := src.F64[2*i], 0 // label 0 is the heavier, around 0
			if x > 5 {
				c = 1
			}
			w += src.W[i]
			mean += src.W[i] * x
			rows[c]++
			groupW[c] += src.W[i]
			groupMean[c] += src.W[i] * x
		}
		mean /= w
		for i := range src.N {
			d := src.F64[2*i] - mean
			square += src.W[i] * d * d
		}
		near := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
				t.Errorf("scale %s: %s is %v, want %v", scale, what, got, want)
			}
		}
		near("weight", g.Weight, w)
		near("mean", g.Mean[0], mean)
		near("standard deviation", g.SD[0], math.Sqrt(square/w))
		for c := range 2 {
			near("weight of a group", g.Group[c].Weight, groupW[c])
			near("mean of a group", g.Group[c].Mean[0], groupMean[c]/groupW[c])
			if g.Group[c].Rows != rows[c] {
				t.Errorf("scale %s: group %d has %d rows, want %d", scale, c, g.Group[c].Rows, rows[c])
			}
			near("overlap of a group", g.Overlap[c][0]+g.Overlap[c][1], 1)
			for _, row := range g.Group[c].sample { // rows as the user has them
				if at := 2 * (row.Number - 1); row.X[0] != src.F64[at] || row.X[1] != src.F64[at+1] {
					t.Fatalf("scale %s: row %d is told as %v, but is %v", scale, row.Number, row.X, src.F64[at:at+2])
				}
			}
		}
	}
}

func TestUnusualRowsAreTheLowest(t *testing.T) {
	src := two(400)
	src.F64[2*123], src.F64[2*7] = 40, -30
	r := fit(t, src, latent.Spec{K: 2, Covariance: "tied", Columns: []string{"x", "y"}})
	g, err := Gather(context.Background(), r.Model, src, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Unusual) != outliers || g.Unusual[0].Number != 8 && g.Unusual[0].Number != 124 || g.Unusual[1].Number != 8 && g.Unusual[1].Number != 124 {
		t.Errorf("the most unusual of %d rows are %d and %d, want 8 and 124", len(g.Unusual), g.Unusual[0].Number, g.Unusual[1].Number)
	}
	for i := 1; i < len(g.Unusual); i++ {
		if g.Unusual[i].Score < g.Unusual[i-1].Score {
			t.Errorf("unusual row %d has a log density of %v, below %v before it", i, g.Unusual[i].Score, g.Unusual[i-1].Score)
		}
	}
}

// A sample is without bias: over many streams each of 100 rows is in a sample of 10 about equally often.
func TestSampleIsFair(t *testing.T) {
	count := make([]int, 100)
	const runs = 20000
	g := &gatherer{rng: rand.New(rand.NewPCG(3, 4))}
	for range runs {
		var sample []int
		for i := range count {
			if at, ok := g.slot(len(sample), 10, int64(i+1)); ok {
				sample = put(sample, at, i)
			}
		}
		for _, i := range sample {
			count[i]++
		}
	}
	for i, n := range count { // binomial with mean 2000 and deviation 42
		if n < 1790 || n > 2210 {
			t.Errorf("row %d is in %d of %d samples of a tenth, want about %d", i, n, runs, runs/10)
		}
	}
}

var loads = regexp.MustCompile(`(?i)<(script|link)|<[a-z]+\s[^<>]*\bsrc\s*=|href="[^#d]|url\(|@import`)

func TestPagesAreWholeForEveryModel(t *testing.T) {
	ctx := context.Background()
	evil := `<b onclick="alert(1)">&'`
	bits := &data.Table{N: 64, D: 16}
	for i := range 64 * 16 {
		bits.F64 = append(bits.F64, float64(i*7%11%2))
	}
	one := &data.Table{N: 60, D: 1}
	for i := range 60 {
		one.F64 = append(one.F64, float64(i%30)+float64(i/30*100))
	}
	levels := &data.Table{N: 60, D: 2}
	for i := range 60 {
		levels.F64 = append(levels.F64, float64(i%3), float64(i/20))
	}
	sixteen := make([]string, 16)
	for i := range sixteen {
		sixteen[i] = fmt.Sprint(evil, i)
	}
	type page struct {
		src  *data.Table
		spec latent.Spec
		want []string // sections
	}
	pages := map[string]page{
		"full":        {two(500), latent.Spec{K: 2}, []string{"scatter", "profile", "uncertainty", "convergence", "unusual"}},
		"close":       {two(500), latent.Spec{K: 3}, []string{"scatter", "profile", "uncertainty", "overlap", "convergence", "responsibilities", "unusual"}},
		"one group":   {two(500), latent.Spec{K: 1}, []string{"scatter", "unusual"}},
		"spherical":   {two(500), latent.Spec{K: 3, Covariance: "tied-spherical", Scale: "standard"}, []string{"scatter"}},
		"kmeans":      {two(500), latent.Spec{K: 2, Model: "kmeans"}, []string{"scatter", "silhouette", "convergence"}},
		"kmedians":    {two(500), latent.Spec{K: 2, Model: "kmedians"}, []string{"scatter"}},
		"components":  {bits, latent.Spec{K: 2, PCA: 2, Covariance: "tied"}, []string{"scatter", "profile"}},
		"one column":  {one, latent.Spec{K: 2}, []string{"scatter", "uncertainty"}},
		"bernoulli":   {bits, latent.Spec{K: 2, Model: "bernoulli"}, []string{"levels", "tiles"}},
		"merged":      {two(500), latent.Spec{K: 4, Merge: "overlap"}, []string{"scatter", "merged", "uncertainty"}},
		"merged all":  {two(500), latent.Spec{K: 3, Merge: "entropy:1"}, []string{"scatter", "merged"}},
		"merged line": {one, latent.Spec{K: 3, Merge: "entropy:2"}, []string{"scatter", "merged"}},
		"merged pca":  {bits, latent.Spec{K: 3, PCA: 2, Covariance: "tied", Merge: "entropy:2"}, []string{"scatter", "profile", "merged"}},
		"merged bits": {bits, latent.Spec{K: 3, Model: "bernoulli", Merge: "entropy:2"}, []string{"levels", "merged"}},
		"categorical": {levels, latent.Spec{K: 2, Model: "categorical", Levels: [][]string{{"a", evil, "c"}, {"x", "y", "z"}}}, []string{"groups"}},
	}
	for _, name := range kind.Names() {
		if _, told := pages[name]; !told && !kind.Of(name).Shaped {
			pages[name] = page{bits, latent.Spec{K: 2, Model: name}, []string{"groups", "profile"}}
		}
	}
	for name, c := range pages {
		t.Run(name, func(t *testing.T) {
			c.spec.Columns = []string{evil, "plain"}[:min(2, c.src.D)]
			if c.src.D == 16 {
				c.spec.Columns = sixteen
			}
			var steps []Step
			see := latent.Observer{Step: func(p latent.Progress) {
				steps = append(steps, Step{Start: p.Start, Sweep: p.Sweeps, Free: p.Point.F, LogLik: p.Point.LogLik, Beta: p.Point.Beta, Distance: p.Distance, Lifted: p.Point.Lifted})
			}}
			r := fit(t, c.src, c.spec, see)
			rows, err := Gather(ctx, r.Model, c.src, 2)
			if err != nil {
				t.Fatal(err)
			}
			r.Warnings = append(r.Warnings, model.Warning{Text: evil})
			var b strings.Builder
			if err := Write(&b, Page{Result: r, Rows: rows, Steps: steps, Command: "latent fit " + evil}); err != nil {
				t.Fatal(err)
			}
			s := b.String()
			if strings.Contains(s, "<b ") {
				t.Error("a name went in as markup")
			}
			if at := loads.FindString(s); at != "" {
				t.Errorf("the page loads something: %q", at)
			}
			for _, word := range []string{"Inf", "NaN", "<nil>", "e-0", "e+0"} {
				if strings.Contains(s, word) {
					t.Errorf("the page says %q", word)
				}
			}
			if len(s) > 2e6 {
				t.Errorf("the page has %d bytes", len(s))
			}
			for _, id := range c.want {
				if !strings.Contains(s, `<section id="`+id+`">`) {
					t.Errorf("the page has no section %s", id)
				}
			}
			for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(s, -1) {
				if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil {
					t.Errorf("a picture is no XML: %v", err)
				}
			}
		})
	}
}

// Centres that differ read differently in the tables and the texts of a page, wherever the columns lie.
func TestPageTellsCentresApart(t *testing.T) {
	var rows [][]float64
	for i := range 40 {
		rows = append(rows, []float64{1500000000 + float64(i%4) + 400*float64(i%2), 51.5 + 1e-5*float64(i%5) + 0.002*float64(i%2)})
	}
	src, err := data.FromRows(rows)
	if err != nil {
		t.Fatal(err)
	}
	page := pageOf(t, src, latent.Spec{K: 2, Model: "kmeans"})
	// Means of 0 and 2, and of 401 and 403; and by i mod 10, of the even and the odd multiples of a step of 1e-5.
	for _, want := range []string{"<td>1,500,000,001</td>", "<td>1,500,000,402</td>", "<td>51.50002</td>", "<td>51.50202</td>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
}

// The silhouettes of the page are those of weighted rows, and of a sample groups count by their size: three far rows among
// thousands of two groups that touch are there, and move the mean by nothing.
func TestSilhouettesOfThePageStandForAllRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	crowd := &data.Table{N: 15_003, D: 2}
	for i := range crowd.N {
		x := rng.Float64()
		if i >= crowd.N-3 {
			x += 1000
		}
		crowd.F64 = append(crowd.F64, x, rng.Float64())
	}
	for name, c := range map[string]struct {
		src *data.Table
		k   int
	}{"weights": {two(200), 3}, "sample": {crowd, 3}} {
		r := fit(t, c.src, latent.Spec{Model: "kmeans", K: c.k, Columns: []string{"x", "y"}})
		rows, err := Gather(context.Background(), r.Model, c.src, 2)
		if err != nil {
			t.Fatal(err)
		}
		p := &score.Partition{N: c.src.N, D: 2, X: c.src.F64, W: c.src.W}
		if err := r.Model.Rows(context.Background(), c.src, 1, func(s *model.Scored) error {
			for _, l := range s.Label {
				p.Labels = append(p.Labels, int(l))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		want, err := p.Silhouette(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		e := rows.Silhouette
		if e == nil || math.Abs(e.Mean-want) > 0.005 || name == "weights" && math.Abs(e.Mean-want) > 1e-12 {
			t.Fatalf("%s: %+v, want a mean of %v", name, e, want)
		}
		page := pageAbout(t, c.src, r)
		if !strings.Contains(page, fmt.Sprintf("The mean silhouette is %.2f", e.Mean)) {
			t.Errorf("%s: the page does not say %.2f", name, e.Mean)
		}
		if said := strings.Contains(page, "at least 2,151 of every group or all that it has"); said != (name == "sample") {
			t.Errorf("%s: a sample is told of: %v", name, said)
		}
		if few := slices.IndexFunc(rows.Group, func(g Group) bool { return g.Rows == 3 }); name == "sample" && (few < 0 || labelled(e.Labels, few) != 3) {
			t.Errorf("the sample lacks rows of the group of three, number %d", few)
		}
	}
}

// Two candidates whose criterion differs by less than a hundredth do not read the same.
func TestPageTellsCandidatesApart(t *testing.T) {
	v := func(x float64) *float64 { return &x }
	r := &latent.Result{Kind: "gmm", LogLik: v(-10), Findings: model.Findings{Choice: &model.Choice{Criterion: "bic"}, Candidates: []model.Candidate{
		{K: 1, Mclust: "VVV", BIC: v(1602.8412)}, {K: 1, Mclust: "EEE", BIC: v(1602.8431)}, {K: 2, Mclust: "VVV", BIC: v(1700)}, {K: 2, Mclust: "EEE"},
	}}}
	c := candidateTable(r)
	at := slices.Index(c.Head, "BIC")
	var got []string
	for _, line := range c.Rows {
		got = append(got, line[at])
	}
	if want := []string{"1,602.841", "1,602.843", "1,700.000", ""}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

func labelled(labels []int, c int) (n int) {
	for _, l := range labels {
		if l == c {
			n++
		}
	}
	return n
}

func TestPageSaysWhatTheStartsReached(t *testing.T) {
	for _, c := range []struct {
		starts model.Starts
		want   string
	}{
		{model.Starts{N: 5, AgreeWithBest: 5, DistinctOptima: 1}, "all 5 reached this solution"},
		{model.Starts{N: 5, AgreeWithBest: 2, DistinctOptima: 3}, "2 of 5 reached this solution; they ended at 3 optima in all"},
		{model.Starts{N: 5, Moves: &model.Moves{Kept: 1, Gain: 7.5}}, "none of 5 reached this solution; splitting and merging groups did, 7.50 nats above the best of them"},
		{model.Starts{N: 5}, "none of 5 reached this solution"},
	} {
		b := &builder{r: &latent.Result{Course: model.Course{Starts: c.starts}}}
		if got := b.starts(); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}

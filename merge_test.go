package latent

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/score"
)

// mergeReference is testdata/oracle/merge/cases.json: what mclust's clustCombi, fpc's DEMP and a loop in numpy say.
type mergeReference struct {
	Data map[string]struct {
		File    string
		Columns []string
		Rows    [][]float64
	}
	Cases []struct {
		Name, Data        string
		K, N              int
		LogLik            float64 `json:"log_likelihood"`
		Weights           []float64
		Means             [][]float64
		Covariances       [][][]float64
		EntropyByClusters []float64 `json:"entropy_by_clusters"`
		EntropySteps      []struct {
			Clusters int
			Joined   [2][]int
			Entropy  float64
		} `json:"entropy_steps"`
		ClustersByEntropy map[string][][]int `json:"clusters_by_entropy"`
		Piecewise         int
		Misclassification [][]float64
		Overlap           struct {
			Cutoff   float64
			Clusters [][]int
			Values   []float64
		}
	}
}

func (r *mergeReference) table(t *testing.T, name string) *data.Table {
	d := r.Data[name]
	src := &data.Table{D: len(d.Columns)}
	for _, row := range d.Rows {
		src.F64 = append(src.F64, row...)
	}
	if d.File != "" {
		src.F64 = dataset(t, filepath.Base(d.File), d.Columns)
	}
	src.N = len(src.F64) / src.D
	return src
}

// sets returns the components of each cluster, from 0, in the order of the first.
func sets(of []int) [][]int {
	all, at := [][]int{}, map[int]int{}
	for c, g := range of {
		i, there := at[g]
		if !there {
			i = len(all)
			at[g], all = i, append(all, nil)
		}
		all[i] = append(all[i], c)
	}
	return all
}

// Entropies, the order of merging, the bend, the shares of rows that are taken for another component, and the clusters of overlap are those of mclust, fpc
// and numpy.
func TestMergingIsThatOfOtherTools(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/oracle/merge/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	ref := new(mergeReference)
	if err := json.Unmarshal(text, ref); err != nil {
		t.Fatal(err)
	}
	const tol = 1e-7
	passed, numbers := 0, 0
	near := func(t *testing.T, what string, got, want float64) {
		t.Helper()
		fixtures.Within(t, what, got, want, tol*max(1, math.Abs(want)))
		numbers++
	}
	for _, c := range ref.Cases {
		ok := t.Run(c.Name, func(t *testing.T) {
			src := ref.table(t, c.Data)
			m := &model.Model{Kind: "gmm", Columns: fixturesNames(src.D), Weights: c.Weights, Means: c.Means}
			for _, s := range c.Covariances {
				m.Covariance = append(m.Covariance, slices.Concat(s...))
			}
			ctx := context.Background()
			sum := 0.0
			density, err := m.LogDensity(ctx, src)
			if err != nil || src.N != c.N {
				t.Fatalf("%d rows (%v)", src.N, err)
			}
			for _, v := range density {
				sum += v
			}
			near(t, "the log-likelihood", sum, c.LogLik)

			_, e, err := Merge(ctx, src, m, "entropy", 0)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "the entropy of the components", *e.Entropy, c.EntropyByClusters[c.K-1])
			if len(e.Steps) != len(c.EntropySteps) || len(e.Steps) != c.K-1 {
				t.Fatalf("%d mergers, want %d", len(e.Steps), c.K-1)
			}
			for i, want := range c.EntropySteps {
				s := e.Steps[i]
				near(t, "an entropy", *s.Entropy, want.Entropy)
				joined := [2][]int{plusOne(want.Joined[0]), plusOne(want.Joined[1])}
				if s.Clusters != want.Clusters || !reflect.DeepEqual(s.Joined, joined) {
					t.Errorf("merger %d: %v to %d clusters, want %v to %d", i+1, s.Joined, s.Clusters, joined, want.Clusters)
				}
			}
			if e.N != c.Piecewise || score.Bend(c.EntropyByClusters) != c.Piecewise {
				t.Errorf("the entropies bend at %d clusters, and those of the file at %d; want %d", e.N, score.Bend(c.EntropyByClusters), c.Piecewise)
			}
			for k := 1; k <= c.K; k++ {
				_, g, err := Merge(ctx, src, m, "entropy:"+strconv.Itoa(k), 0)
				if err != nil || g.N != k || !reflect.DeepEqual(sets(g.Of), c.ClustersByEntropy[strconv.Itoa(k)]) {
					t.Errorf("%d clusters by entropy: %v (%v), want %v", k, g.Of, err, c.ClustersByEntropy[strconv.Itoa(k)])
				}
			}

			overlaps := score.NewOverlaps(c.K, -1)
			rows, err := m.PredictProba(ctx, src)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				overlaps.Add(r, 1)
			}
			for a := range c.K {
				for b := range c.K {
					if a != b {
						near(t, "a share that is taken for another component", overlaps.Taken[a*c.K+b]/(float64(c.N)*c.Weights[b]), c.Misclassification[a][b])
					}
				}
			}
			merged, o, err := Merge(ctx, src, m, "overlap", 0)
			if err != nil {
				t.Fatal(err)
			}
			if *o.Cutoff != c.Overlap.Cutoff || !reflect.DeepEqual(sets(o.Of), c.Overlap.Clusters) || !slices.Equal(merged.Clusters, o.Of) {
				t.Errorf("clusters by overlap: %v, want %v", o.Of, c.Overlap.Clusters)
			}
			made := o.Steps
			if o.Next != nil {
				made = append(slices.Clone(made), *o.Next)
			}
			if len(made) != len(c.Overlap.Values) {
				t.Fatalf("%d overlaps, want %d", len(made), len(c.Overlap.Values))
			}
			for i, want := range c.Overlap.Values {
				near(t, "an overlap", *made[i].Value, want)
			}
		})
		if ok {
			passed++
		}
	}
	t.Logf("%d of %d cases, %d numbers", passed, strings.Count(string(text), `"name":`), numbers)
	if passed != 5 || passed != strings.Count(string(text), `"name":`) || numbers != 5+5+18+92+14 {
		t.Errorf("%d of %d cases passed, by %d numbers (log-likelihoods, entropies before and after, shares, overlaps)", passed, strings.Count(string(text), `"name":`), numbers)
	}
}

func plusOne(list []int) []int {
	own := slices.Clone(list)
	for i := range own {
		own[i]++
	}
	slices.Sort(own)
	return own
}

func fixturesNames(d int) (names []string) {
	for j := range d {
		names = append(names, "c"+strconv.Itoa(j))
	}
	return names
}

// BIC takes three components for faithful, overlap makes two clusters of them; nothing that judges the fit changes, and all that is told of labels is
// told of clusters.
func TestFitMerges(t *testing.T) {
	t.Parallel()
	src := &data.Table{D: 2, F64: dataset(t, "faithful.csv", []string{"eruptions", "waiting"})}
	src.N = len(src.F64) / 2
	for i := range src.N { // long waits are one class, short ones another
		src.Truth = append(src.Truth, strconv.FormatBool(src.F64[2*i] > 3))
	}
	ctx := context.Background()
	spec := Spec{K: 3, Covariance: "tied", Columns: []string{"eruptions", "waiting"}}
	plain, err := Fit(ctx, src, spec)
	if err != nil {
		t.Fatal(err)
	}
	spec.Merge = "overlap"
	r, err := Fit(ctx, src, spec)
	if err != nil {
		t.Fatal(err)
	}
	if r.K != 3 || r.Clusters == nil || r.Clusters.N != 2 || !slices.Equal(r.Clusters.Rows, []int64{175, 97}) || !slices.Equal(r.Clusters.Of, []int{1, 2, 1}) {
		t.Fatalf("%d components, clusters %+v", r.K, r.Clusters)
	}
	if *r.LogLik != *plain.LogLik || *r.BIC != *plain.BIC || *r.ICL != *plain.ICL || r.FreeParameters != plain.FreeParameters || !reflect.DeepEqual(r.Components, plain.Components) {
		t.Error("the density or what judges it has changed")
	}
	if plain.Crosstab.Counts == nil || len(r.Crosstab.Groups) != 2 || r.Truth.ARI < 0.95 || r.Truth.ARI <= plain.Truth.ARI {
		t.Errorf("clusters against classes: %+v, ARI %v, of components %v", r.Crosstab, r.Truth.ARI, plain.Truth.ARI)
	}
	labels, err := r.Model.Predict(ctx, src)
	if err != nil {
		t.Fatal(err)
	}
	count := [2]int64{}
	for _, l := range labels {
		count[l]++
	}
	if count != [2]int64{175, 97} {
		t.Errorf("labels of %v rows", count)
	}

	groups := r.Groups()
	if len(groups) != 2 || groups[0].Rows != 175 {
		t.Fatalf("groups %+v", groups)
	}
	// The moments of a mixture of two: by their shares, and what lies between them.
	a, b := plain.Components[0], plain.Components[2]
	p := a.Weight / (a.Weight + b.Weight)
	for j := range 2 {
		mean := p*a.Mean[j] + (1-p)*b.Mean[j]
		fixtures.Within(t, "the mean of a cluster", groups[0].Mean[j], mean, 1e-12*mean)
		for l := range 2 {
			want := p*a.Covariance.At(j, l) + (1-p)*b.Covariance.At(j, l) + p*(1-p)*(a.Mean[j]-b.Mean[j])*(a.Mean[l]-b.Mean[l])
			fixtures.Within(t, "the covariance of a cluster", groups[0].Covariance.At(j, l), want, 1e-10)
		}
	}
	fixtures.Within(t, "the weight of a cluster", groups[0].Weight, a.Weight+b.Weight, 1e-15)

	file, err := json.Marshal(r.Model)
	if err != nil {
		t.Fatal(err)
	}
	again := new(model.Model)
	if err := json.Unmarshal(file, again); err != nil {
		t.Fatal(err)
	}
	if told := Told(again); !reflect.DeepEqual(told.Clusters, r.Clusters) || !reflect.DeepEqual(told.Truth, r.Truth) {
		t.Errorf("the file tells %+v, want %+v", told.Clusters, r.Clusters)
	}
	again.Clusters = []int{1, 2, 2} // by hand, after the fit
	if told := Told(again); told.Clusters.Method != "" || told.Clusters.Steps != nil || told.Clusters.N != 2 || math.Abs(told.Clusters.Weights[0]-plain.Components[0].Weight) > 1e-15 {
		t.Errorf("clusters that were changed are told as %+v", told.Clusters)
	}
}

// Replicates of a merged fit are merged too: stability is that of clusters.
func TestStabilityIsThatOfClusters(t *testing.T) {
	t.Parallel()
	src := &data.Table{D: 2, F64: dataset(t, "faithful.csv", []string{"eruptions", "waiting"})}
	src.N = len(src.F64) / 2
	spec := Spec{K: 3, Covariance: "tied", NInit: 1, Bootstrap: 5, Merge: "entropy:2"}
	r, err := Fit(context.Background(), src, spec)
	if err != nil {
		t.Fatal(err)
	}
	spec.Merge = ""
	plain, err := Fit(context.Background(), src, spec)
	if err != nil {
		t.Fatal(err)
	}
	s := r.Stability
	if s == nil || s.Done != 5 || len(s.Groups) != 2 || *s.ARI < 0.95 || *s.ARI <= *plain.Stability.ARI {
		t.Errorf("clusters: %+v; components: %+v", s, plain.Stability)
	}
	file, err := json.Marshal(r.Model)
	if err != nil {
		t.Fatal(err)
	}
	again := new(model.Model)
	if err := json.Unmarshal(file, again); err != nil || Told(again).Stability == nil {
		t.Errorf("the file does not tell stability (%v)", err)
	}
	// Merged anew, labels are others, and what was told of them is gone.
	m, c, err := Merge(context.Background(), src, again, "entropy:3", 1)
	if err != nil || c.N != 3 || Told(m).Stability != nil {
		t.Errorf("%+v (%v)", c, err)
	}
}

// Where fewer components were chosen than clusters asked for, nothing is merged, and a warning says so; two components have no bend.
func TestTooFewComponentsToMerge(t *testing.T) {
	t.Parallel()
	src := fixtures.Clusters(200, 3, [2]float64{0, 0}, [2]float64{9, 0})
	for merge, says := range map[string]string{"entropy:3": "entropy:3 asks for more clusters than there are components, 2: nothing is merged", "entropy": "the entropies of two components have no bend: nothing is merged"} {
		r, err := Fit(context.Background(), src, Spec{KRange: [2]int{1, 3}, Covariance: "tied-spherical", Merge: merge})
		if err != nil || r.K != 2 || r.Clusters.N != 2 {
			t.Fatalf("%+v (%v)", r, err)
		}
		if !slices.ContainsFunc(r.Warnings, func(w model.Warning) bool { return w.Code == model.NotMerged && w.Text == says }) {
			t.Errorf("%s: warnings %v", merge, r.Warnings)
		}
	}
}

// What a spec or a file cannot ask for is told by name.
func TestWhatMergeRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec Spec
		says string
	}{
		{Spec{K: 3, Model: "kmeans", Merge: "overlap"}, "Merge does not apply to kmeans"},
		{Spec{K: 3, Model: "kmedians", Merge: "entropy"}, "Merge does not apply to kmedians"},
		{Spec{K: 3, Merge: "entropy:4"}, "Merge entropy:4 asks for more clusters than there are components, 3"},
		{Spec{KRange: [2]int{2, 5}, Merge: "entropy:6"}, "Merge entropy:6 asks for more clusters than there are components, 5"},
		{Spec{Merge: "overlap:0"}, `Merge "overlap:0" has no cutoff above 0 and at most 1`},
		{Spec{Merge: "overlap:1.5"}, `Merge "overlap:1.5" has no cutoff`},
		{Spec{Merge: "overlap:NaN"}, `Merge "overlap:NaN" has no cutoff`},
		{Spec{Merge: "overlap:"}, `Merge "overlap:" has no cutoff`},
		{Spec{Merge: "entropy:0"}, `Merge "entropy:0" has no number of clusters, at least 1`},
		{Spec{Merge: "entropy:2.5"}, `Merge "entropy:2.5" has no number`},
		{Spec{Merge: "ridge"}, `Merge "ridge" is not known; choose one of overlap, overlap:CUT, entropy, entropy:K`},
	} {
		var wrong *SpecError
		if err := c.spec.Validate(); !errors.As(err, &wrong) || wrong.Field != "Merge" || !strings.HasPrefix(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, want %q", c.spec, err, c.says)
		}
	}
	for _, ok := range []string{"overlap", "overlap:1", "overlap:1e-3", "entropy", "entropy:1", "entropy:3"} {
		if err := (&Spec{K: 3, Merge: ok}).Validate(); err != nil {
			t.Errorf("%s: %v", ok, err)
		}
	}
	head := `{"format": "latent-model", "version": 1, "columns": ["x"], `
	gmm := head + `"model": "gmm", "covariance": "spherical", "weights": [0.5, 0.5], "means": [[0], [1]], "covariances": [1, 1], "clusters": `
	for file, says := range map[string]string{
		gmm + `[1]}`:      "clusters: there is 1 number for 2 components",
		gmm + `[]}`:       "clusters: there are 0 numbers for 2 components",
		gmm + `[1, 3]}`:   "clusters: that of component 2 is 3; it must be from 1 to 2",
		gmm + `[0, 1]}`:   "clusters: that of component 1 is 0; it must be from 1 to 2",
		gmm + `[2, 2]}`:   "clusters: no component is of cluster 1, but there is a cluster 2",
		gmm + `[1, "a"]}`: "clusters: a text stands where a whole number belongs",
		gmm + `{"n": 2}}`: "clusters: an object stands where a list belongs",
		gmm + `[1.5, 1]}`: "clusters: the number 1.5 stands where a whole number belongs",
		head + `"model": "kmeans", "centers": [[0], [1]], "clusters": [1, 1]}`: "clusters: they are of the components of a mixture, and a kmeans model has centres",
	} {
		if err := json.Unmarshal([]byte(file), new(model.Model)); err == nil || err.Error() != says {
			t.Errorf("%s: %v, want %q", file, err, says)
		}
	}
	told := func(clusters string) string {
		return gmm + `[1, 1], "provenance": {"rows": 2, "component_rows": [1, 1], "at_floor": [false, false], "clusters": ` + clusters + `}}`
	}
	for clusters, says := range map[string]string{
		`{"n": 1}`:                         "of_component: there are 0 numbers for 2 components",
		`{"n": 2, "of_component": [1, 1]}`: "n: it is 2, but of_component has 1",
		`{"n": 1, "of_component": [1, 1]}`: "weights: there are 0 for 1 cluster",
		`{"n": 1, "of_component": [1, 1], "weights": [1], "rows": [1, 2]}`:                                             "rows: there are 2 for 1 cluster",
		`{"n": 1, "of_component": [1, 1], "weights": [1], "method": "ridge"}`:                                          `method: "ridge" is not known; it must be overlap or entropy`,
		`{"n": 1, "of_component": [1, 1], "weights": [1], "method": "entropy", "steps": [{"entropy": 0}]}`:             "entropy: this key is missing",
		`{"n": 1, "of_component": [1, 1], "weights": [1], "method": "overlap", "entropy": 2}`:                          "cutoff: it belongs to overlap, and overlap to it",
		`{"n": 1, "of_component": [1, 1], "weights": [1], "method": "entropy", "entropy": 2, "steps": [{"value": 1}]}`: "steps: number 1 needs entropy, and nothing else",
	} {
		if err := json.Unmarshal([]byte(told(clusters)), new(model.Model)); err == nil || err.Error() != "provenance: clusters: "+says {
			t.Errorf("%s: %v, want %q", clusters, err, says)
		}
	}
	if err := json.Unmarshal([]byte(told(`{"n": 1, "of_component": [1, 1], "weights": [1], "method": "entropy", "entropy": 2, "steps": [{"entropy": 0}]}`)), new(model.Model)); err != nil {
		t.Error(err)
	}
	if err := json.Unmarshal([]byte(gmm+`null}`), new(model.Model)); err != nil {
		t.Errorf("no clusters: %v", err)
	}
}

// Arguments of a program that make no sense are errors of their type.
func TestArgumentsOfMerge(t *testing.T) {
	t.Parallel()
	ctx, table := context.Background(), fixtures.Lumps(30, 2, 2)
	m := &model.Model{Kind: "gmm", Columns: []string{"a", "b"}, Weights: []float64{0.5, 0.5}, Means: [][]float64{{0, 0}, {1, 1}}, Covariance: [][]float64{{1, 0, 0, 1}, {1, 0, 0, 1}}}
	merge := func(ctx context.Context, src data.Source, m *model.Model, method string, threads int) error {
		_, _, err := Merge(ctx, src, m, method, threads)
		return err
	}
	var none context.Context
	var argument *data.ArgumentError
	for name, err := range map[string]error{"ctx": merge(none, table, m, "overlap", 1), "src": merge(ctx, nil, m, "overlap", 1), "model": merge(ctx, table, nil, "overlap", 1),
		"columns": merge(ctx, fixtures.Lumps(30, 3, 2), m, "overlap", 1)} {
		if !errors.As(err, &argument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var field *SpecError
	for name, err := range map[string]error{"no method": merge(ctx, table, m, "", 1), "method": merge(ctx, table, m, "ridge", 1), "threads": merge(ctx, table, m, "overlap", -1)} {
		if !errors.As(err, &field) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var broken *model.ModelError
	own := *m
	own.Clusters = []int{1}
	if err := merge(ctx, table, &own, "overlap", 1); !errors.As(err, &broken) {
		t.Errorf("a model that does not fit together: %v", err)
	}
	if err := merge(ctx, table, m, "overlap", 0); err != nil {
		t.Error(err)
	}
	if _, err := Compare(ctx, table, Spec{K: 2, Merge: "overlap"}, []string{"em"}); !errors.As(err, &field) || field.Field != "Merge" {
		t.Errorf("a comparison: %v", err)
	}
}

// An update leaves components in their clusters.
func TestAnUpdateKeepsClusters(t *testing.T) {
	t.Parallel()
	src := fixtures.Clusters(300, 3, [2]float64{0, 0}, [2]float64{1, 1}, [2]float64{9, 0})
	r, err := Fit(context.Background(), src, Spec{K: 3, NInit: 1, Covariance: "tied-spherical", Merge: "entropy:2", KeepSums: true})
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(r.Clusters.Rows)
	u, err := Update(context.Background(), fixtures.Clusters(100, 4, [2]float64{0, 0}, [2]float64{1, 1}, [2]float64{9, 0}), r.Model, UpdateSpec{})
	if err != nil {
		t.Fatal(err)
	}
	told := Told(u.Model)
	if !slices.Equal(u.Model.Clusters, r.Model.Clusters) || told.Clusters.N != 2 || told.Clusters.Steps != nil || len(told.Groups()) != 2 {
		t.Errorf("clusters %+v, before %+v", told.Clusters, r.Clusters)
	}
	if c := told.Clusters; c.Method != "entropy" || len(c.Rows) != 2 || c.Cutoff != nil || c.Entropy != nil || c.Next != nil || !slices.Equal(c.Weights, u.Model.Pooled().Weights) {
		t.Errorf("how it was merged: %+v", c)
	}
	of := r.Model.Clusters
	for g, rows := range told.Clusters.Rows {
		sum := int64(0)
		for c, own := range u.Model.Provenance.GroupRows {
			if of[c] == g+1 {
				sum += own
			}
		}
		if rows != sum { // components are far apart or of one cluster: their rows are those of the cluster
			t.Errorf("cluster %d has %d rows, and its components %d", g+1, rows, sum)
		}
	}
	if !slices.Equal(r.Clusters.Rows, before) {
		t.Errorf("the model before the update has %v rows, and had %v", r.Clusters.Rows, before)
	}
	for c, x := range u.Components {
		if x.Component != c+1 || x.Label != of[c] {
			t.Errorf("component %d of cluster %d is told as %+v", c+1, of[c], x)
		}
	}
	r.Model.Clusters = []int{1, 1, 1} // by hand: how these were merged is not known
	if u, err = Update(context.Background(), src, r.Model, UpdateSpec{}); err != nil || u.Model.Provenance.Clusters != nil {
		t.Errorf("clusters by hand: %+v, %v", u, err)
	}
}

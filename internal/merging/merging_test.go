package merging

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/model"
)

// mixtures are models of each kind, written by hand, of which some components overlap.
var mixtures = map[string]string{
	"full": `"model": "gmm", "covariance": "full", "columns": ["x", "y"], "weights": [0.3, 0.25, 0.2, 0.15, 0.1], "means": [[0, 0], [1, 1], [6, 0], [7, 2], [0, 9]],
	 "covariances": [[[1, 0.3], [0.3, 1]], [[2, 0], [0, 1]], [[1, 0], [0, 1]], [[1, -0.4], [-0.4, 1]], [[1, 0], [0, 2]]]`,
	"tied":      `"model": "gmm", "covariance": "tied", "columns": ["x", "y"], "weights": [0.5, 0.3, 0.2], "means": [[0, 0], [1.5, 0], [0, 7]], "covariances": [[1, 0.5], [0.5, 1]]`,
	"diag":      `"model": "gmm", "covariance": "diag", "columns": ["x", "y"], "weights": [0.4, 0.4, 0.2], "means": [[0, 0], [0, 3], [5, 5]], "covariances": [[1, 2], [2, 1], [1, 1]]`,
	"spherical": `"model": "gmm", "covariance": "spherical", "columns": ["x"], "weights": [0.4, 0.3, 0.2, 0.1], "means": [[0], [2], [3], [20]], "covariances": [1, 2, 0.5, 1]`,
	"absent":    `"model": "gmm", "covariance": "spherical", "columns": ["x"], "weights": [0.6, 0.4, 0], "means": [[0], [2], [3]], "covariances": [1, 2, 0.5]`,
	"log":       `"model": "gmm", "covariance": "diag", "columns": ["x", "y"], "weights": [0.4, 0.4, 0.2], "means": [[0, 0], [0.5, 1], [5, 5]], "covariances": [[1, 2], [2, 1], [1, 1]], "transform": [{"kind": "log", "columns": ["x"]}]`,
	"bits":      `"model": "bernoulli", "columns": ["a", "b", "c", "d"], "weights": [0.5, 0.3, 0.2], "probabilities": [[0.9, 0.8, 0.9, 0.7], [0.7, 0.9, 0.6, 0.8], [0.1, 0.05, 0.1, 0.2]]`,
	"levels": `"model": "categorical", "columns": ["a", "b"], "levels": [["x", "y", "z"], ["u", "v"]], "weights": [0.5, 0.3, 0.2],
	 "probabilities": [[[0.8, 0.1, 0.1], [0.9, 0.1]], [[0.6, 0.3, 0.1], [0.7, 0.3]], [[0.05, 0.05, 0.9], [0.1, 0.9]]]`,
	"counts": `"model": "poisson", "columns": ["a", "b"], "weights": [0.5, 0.3, 0.2], "rates": [[2, 1], [3, 2], [20, 9]]`,
	"mixed": `"model": "mixed", "covariance": "diag", "columns": ["x", "sex", "visits"], "types": ["number", "category", "count"], "levels": [["f", "m"]], "weights": [0.5, 0.3, 0.2],
	 "means": [[0], [1], [6]], "covariances": [[1], [2], [1]], "probabilities": [[[0.5, 0.5]], [[0.4, 0.6]], [[0.1, 0.9]]], "rates": [[2], [3], [9]]`,
}

func loaded(t *testing.T, keys string) *model.Model {
	t.Helper()
	m := new(model.Model)
	if err := json.Unmarshal([]byte(`{"format": "latent-model", "version": 1, `+keys+`}`), m); err != nil {
		t.Fatal(err)
	}
	return m
}

// drawn returns rows of the model with whole weights, some 0, and with gaps, one row of nothing else.
func drawn(t *testing.T, m *model.Model, n int) *data.Table {
	t.Helper()
	src, _, err := m.Sample(n, 5)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(6, 7))
	for i := range n {
		src.W = append(src.W, float64(r.IntN(4)))
		if i%10 == 0 && src.D > 1 {
			src.F64[i*src.D+r.IntN(src.D)] = math.NaN()
		}
	}
	src.W[3] = 2
	for j := range src.D {
		src.F64[3*src.D+j] = math.NaN()
	}
	return src
}

// plainly merges by plain loops over responsibilities that are all in memory, as the papers say it: all pairs are looked at anew after every merger.
func plainly(t *testing.T, src *data.Table, m *model.Model, how *plan.Merging) (groups [][]int, steps []model.MergeStep, entropies []float64) {
	t.Helper()
	z, err := m.PredictProba(context.Background(), src)
	if err != nil {
		t.Fatal(err)
	}
	w, total := slices.Clone(src.W), 0.0
	for i := range w {
		empty := true
		for j := range src.D {
			empty = empty && math.IsNaN(src.F64[i*src.D+j])
		}
		if empty {
			w[i] = 0
		}
		total += w[i]
	}
	entropy := func(z [][]float64) (h float64) {
		for i, r := range z {
			for _, v := range r {
				if v > 0 {
					h -= w[i] * v * math.Log(v)
				}
			}
		}
		return h
	}
	pi := slices.Clone(m.Weights)
	for c := range pi {
		groups = append(groups, []int{c})
	}
	all := [][][]int{slices.Clone(groups)}
	entropies = []float64{entropy(z)}
	for len(groups) > 1 {
		best, at := -1.0, [2]int{0, 1}
		for a := range groups {
			for b := a + 1; b < len(groups); b++ {
				value := 0.0
				if how.Method == plan.MergeEntropy {
					value = entropies[len(entropies)-1] - entropy(together(z, a, b))
				} else {
					var taken [2]float64
					for i, r := range z {
						if r[a] >= r[b] && pi[b] > 0 {
							taken[0] += w[i] * r[b] / (total * pi[b])
						}
						if r[b] >= r[a] && pi[a] > 0 {
							taken[1] += w[i] * r[a] / (total * pi[a])
						}
					}
					value = max(taken[0], taken[1])
				}
				if value > best+1e-9*math.Abs(best) { // what plain sums round is no difference
					best, at = value, [2]int{a, b}
				}
			}
		}
		a, b := at[0], at[1]
		step := model.MergeStep{Clusters: len(groups) - 1, Joined: [2][]int{labels(groups[a]), labels(groups[b])}, Value: &best}
		steps = append(steps, step)
		if how.Method == plan.MergeOverlap && best < how.Cutoff {
			return groups, steps, entropies
		}
		z, groups[a], pi[a] = together(z, a, b), slices.Concat(groups[a], groups[b]), pi[a]+pi[b]
		groups, pi = slices.Delete(slices.Clone(groups), b, b+1), slices.Delete(pi, b, b+1)
		all = append(all, slices.Clone(groups))
		entropies = append(entropies, entropy(z))
	}
	if how.K > 0 {
		return all[len(all)-how.K], steps, entropies
	}
	return groups, steps, entropies
}

func together(z [][]float64, a, b int) [][]float64 {
	own := make([][]float64, len(z))
	for i, r := range z {
		r = slices.Clone(r)
		r[a] += r[b]
		own[i] = slices.Delete(r, b, b+1)
	}
	return own
}

func labels(group []int) []int {
	own := slices.Clone(group)
	for i := range own {
		own[i]++
	}
	slices.Sort(own)
	return own
}

// partition returns the sets of components of clusters in an order that does not hang on numbers.
func partition(of []int) [][]int {
	sets := map[int][]int{}
	for c, g := range of {
		sets[g] = append(sets[g], c)
	}
	var all [][]int
	for _, s := range sets {
		all = append(all, s)
	}
	slices.SortFunc(all, slices.Compare)
	return all
}

func sorted(groups [][]int) [][]int {
	var all [][]int
	for _, g := range groups {
		all = append(all, slices.Sorted(slices.Values(g)))
	}
	slices.SortFunc(all, slices.Compare)
	return all
}

// Mergers of every kind of mixture, of rows with weights and gaps, are those of plain loops.
func TestMergersAreThoseOfPlainLoops(t *testing.T) {
	t.Parallel()
	for name, keys := range mixtures {
		m := loaded(t, keys)
		src := drawn(t, m, 400)
		for _, how := range []*plan.Merging{{Method: plan.MergeOverlap, Cutoff: 0.025}, {Method: plan.MergeOverlap, Cutoff: 0.2}, {Method: plan.MergeEntropy, K: 2}, {Method: plan.MergeEntropy, K: 1}} {
			t.Run(fmt.Sprint(name, " ", how.Method, how.Cutoff, how.K), func(t *testing.T) {
				got, err := Merge(context.Background(), src, m, how, 2)
				if err != nil {
					t.Fatal(err)
				}
				groups, steps, entropies := plainly(t, src, m, how)
				if want := sorted(groups); !reflect.DeepEqual(partition(got.Clusters.Of), want) {
					t.Errorf("clusters %v, want %v", got.Clusters.Of, want)
				}
				fixtures.Within(t, "the entropy of the components", *got.Clusters.Entropy, entropies[0], 1e-9*(1+entropies[0]))
				made := got.Clusters.Steps
				if got.Clusters.Next != nil {
					made = append(slices.Clone(made), *got.Clusters.Next)
				}
				if len(made) != len(steps) {
					t.Fatalf("%d mergers, want %d", len(made), len(steps))
				}
				for i, s := range made {
					if s.Clusters != steps[i].Clusters || !reflect.DeepEqual(s.Joined, steps[i].Joined) {
						t.Errorf("merger %d: %v, want %v", i+1, s, steps[i])
					}
					if how.Method == plan.MergeOverlap {
						fixtures.Within(t, "an overlap", *s.Value, *steps[i].Value, 1e-12)
					} else {
						fixtures.Within(t, "an entropy", *s.Entropy, entropies[i+1], 1e-9*(1+entropies[0]))
					}
				}
				if how.K == 1 && *made[len(made)-1].Entropy != 0 {
					t.Errorf("one cluster has the entropy %v", *made[len(made)-1].Entropy)
				}
			})
		}
	}
}

// The density of a merged model is that of the model to the last bit; its responsibilities are sums, its labels the largest of them, and what it says
// of components is what the model says.
func TestTheDensityStays(t *testing.T) {
	t.Parallel()
	for name, keys := range mixtures {
		m := loaded(t, keys)
		src := drawn(t, m, 300)
		got, err := Merge(context.Background(), src, m, &plan.Merging{Method: plan.MergeEntropy, K: 2}, 1)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		var before []model.Scored
		keep := func(s *model.Scored) model.Scored {
			own := *s
			own.LogDensity, own.Responsibilities, own.Label = slices.Clone(s.LogDensity), slices.Clone(s.Responsibilities), slices.Clone(s.Label)
			return own
		}
		if err := m.Rows(ctx, src, 1, func(s *model.Scored) error { before = append(before, keep(s)); return nil }); err != nil {
			t.Fatal(err)
		}
		rows, at := make([]int64, 2), 0
		err = got.Model.Rows(ctx, src, 1, func(s *model.Scored) error {
			was := before[at]
			at++
			k := was.K
			if s.K != 2 || !slices.Equal(s.LogDensity, was.LogDensity) || !slices.Equal(s.Component, was.Label) || !slices.Equal(s.ComponentResponsibilities, was.Responsibilities) {
				t.Errorf("%s: components or densities differ", name)
			}
			for i := range s.N {
				var sum [2]float64
				for c, v := range was.Responsibilities[i*k : (i+1)*k] {
					sum[got.Model.LabelOf(c)] += v
				}
				r := s.Responsibilities[i*2 : i*2+2]
				best := 0
				if sum[1] > sum[0] {
					best = 1
				}
				h := 0.0
				for _, v := range sum {
					if v > 0 {
						h -= v * math.Log(v)
					}
				}
				if r[0] != sum[0] || r[1] != sum[1] || int(s.Label[i]) != best || math.Abs(s.Entropy[i]-h) > 1e-15 || math.Abs(s.Best[i]-s.LogDensity[i]-math.Log(sum[best])) > 1e-12*(1+math.Abs(s.Best[i])) {
					t.Errorf("%s, row %d: responsibilities %v, label %d, entropy %v, best %v", name, i, r, s.Label[i], s.Entropy[i], s.Best[i])
				}
				if !s.Empty(i) {
					rows[best]++
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(rows, got.Clusters.Rows) {
			t.Errorf("%s: labels of %v rows, told are %v", name, rows, got.Clusters.Rows)
		}
	}
}

// A merged model is the same in its file, and labels single rows as it labels many.
func TestAMergedModelTravels(t *testing.T) {
	t.Parallel()
	for name, keys := range mixtures {
		m := loaded(t, keys)
		src := drawn(t, m, 100)
		got, err := Merge(context.Background(), src, m, &plan.Merging{Method: plan.MergeOverlap, Cutoff: 0.05}, 1)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(got.Model)
		if err != nil {
			t.Fatal(err)
		}
		again := new(model.Model)
		if err := json.Unmarshal(b, again); err != nil || !slices.Equal(again.Clusters, got.Model.Clusters) {
			t.Fatalf("%s: %v came back as %v (%v)", name, got.Model.Clusters, again.Clusters, err)
		}
		want, err := got.Model.Predict(context.Background(), src)
		if err != nil {
			t.Fatal(err)
		}
		s, err := again.Scorer()
		if err != nil {
			t.Fatal(err)
		}
		for i, label := range want {
			if own, err := s.Predict(src.F64[i*src.D : (i+1)*src.D]); err != nil || own != int(label) {
				t.Errorf("%s, row %d: label %d (%v), want %d", name, i, own, err, label)
			}
		}
	}
}

// Components in another order make the same clusters.
func TestTheOrderOfComponentsChangesNoCluster(t *testing.T) {
	t.Parallel()
	m := loaded(t, mixtures["full"])
	src := drawn(t, m, 400)
	order := []int{3, 0, 4, 2, 1}
	for _, how := range []*plan.Merging{{Method: plan.MergeOverlap, Cutoff: 0.025}, {Method: plan.MergeEntropy}, {Method: plan.MergeEntropy, K: 4}} {
		a, err := Merge(context.Background(), src, m, how, 1)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Merge(context.Background(), src, m.Reordered(order), how, 1)
		if err != nil {
			t.Fatal(err)
		}
		for c, from := range order {
			if a.Clusters.Of[from] != b.Clusters.Of[c] {
				t.Errorf("%s: components %v are of clusters %v, where they were of %v", how.Method, order, b.Clusters.Of, a.Clusters.Of)
			}
		}
	}
}

// A row of weight 2 is the row twice.
func TestAWeightOfTwoIsTheRowTwice(t *testing.T) {
	t.Parallel()
	m := loaded(t, mixtures["full"])
	once, _, err := m.Sample(200, 9)
	if err != nil {
		t.Fatal(err)
	}
	twice := &data.Table{N: 0, D: once.D}
	for i := range once.N {
		once.W = append(once.W, float64(i%3))
		for range i % 3 {
			twice.N, twice.F64 = twice.N+1, append(twice.F64, once.F64[i*2:i*2+2]...)
		}
	}
	for _, method := range []plan.MergeMethod{plan.MergeOverlap, plan.MergeEntropy} {
		how := &plan.Merging{Method: method, Cutoff: 0.025}
		a, err := Merge(context.Background(), once, m, how, 1)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Merge(context.Background(), twice, m, how, 1)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.Clusters.Of, b.Clusters.Of) || len(a.Clusters.Steps) != len(b.Clusters.Steps) {
			t.Fatalf("%s: clusters %v and %v", method, a.Clusters.Of, b.Clusters.Of)
		}
		for i, s := range a.Clusters.Steps {
			x, y := cmp.Or(s.Value, s.Entropy), cmp.Or(b.Clusters.Steps[i].Value, b.Clusters.Steps[i].Entropy)
			fixtures.Within(t, "a step", *x, *y, 1e-11*(1+*y))
		}
	}
}

// Any number of threads, and rows that are read in every pass, give the same bits; there is a pass for each merger and one that labels.
func TestThreadsAndStreamsChangeNoBit(t *testing.T) {
	t.Parallel()
	m := loaded(t, mixtures["full"])
	src := drawn(t, m, 20_000)
	for _, how := range []*plan.Merging{{Method: plan.MergeOverlap, Cutoff: 1e-9}, {Method: plan.MergeEntropy, K: 3}} {
		var first []byte
		for _, threads := range []int{1, 3, 8} {
			for _, from := range []data.Source{src, fixtures.Passed(src)} {
				counted := &opens{Source: from}
				got, err := Merge(context.Background(), counted, m, how, threads)
				if err != nil {
					t.Fatal(err)
				}
				b, err := json.Marshal(got.Clusters)
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = b
				}
				if string(b) != string(first) {
					t.Errorf("%d threads: %s, and with 1 %s", threads, b, first)
				}
				if counted.n > m.K() {
					t.Errorf("%d passes for %d components", counted.n, m.K())
				}
			}
		}
	}
}

// Beside noise the entropy of one cluster takes a pass of its own, which overlaps have no use for.
func TestPassesBesideNoise(t *testing.T) {
	t.Parallel()
	m := loaded(t, `"model": "gmm", "covariance": "spherical", "columns": ["x"], "weights": [0.4, 0.3, 0.2], "means": [[0], [2], [3]], "covariances": [1, 2, 0.5],
	 "noise": {"weight": 0.1, "log_volume": 3, "center": [0], "axes": [[1]], "low": [-10], "high": [10]}`)
	src := drawn(t, m, 200)
	for want, how := range map[int]*plan.Merging{3: {Method: plan.MergeOverlap, Cutoff: 1e-9}, 4: {Method: plan.MergeEntropy}} {
		counted := &opens{Source: src}
		if _, err := Merge(context.Background(), counted, m, how, 1); err != nil || counted.n != want {
			t.Errorf("%s: %d passes, want %d (%v)", how.Method, counted.n, want, err)
		}
	}
}

// opens counts passes.
type opens struct {
	data.Source
	n int
}

func (o *opens) Open(ctx context.Context) (data.Reader, error) {
	o.n++
	return o.Source.Open(ctx)
}

// What cannot be merged is told in one line.
func TestWhatCannotBeMerged(t *testing.T) {
	t.Parallel()
	m := loaded(t, mixtures["tied"])
	src := drawn(t, m, 20)
	none := &data.Table{N: 1, D: 2, F64: []float64{math.NaN(), math.NaN()}}
	for _, c := range []struct {
		src  *data.Table
		how  plan.Merging
		says string
	}{
		{src, plan.Merging{Method: plan.MergeEntropy, K: 4}, "entropy:4 asks for more clusters than there are components, 3"},
		{none, plan.Merging{Method: plan.MergeOverlap, Cutoff: 0.1}, "no row has a value and a weight above 0"},
	} {
		if _, err := Merge(context.Background(), c.src, m, &c.how, 1); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
	one := loaded(t, `"model": "gmm", "covariance": "spherical", "columns": ["x"], "weights": [1], "means": [[0]], "covariances": [1]`)
	got, err := Merge(context.Background(), &data.Table{N: 2, D: 1, F64: []float64{1, 2}}, one, &plan.Merging{Method: plan.MergeEntropy}, 1)
	if err != nil || got.Clusters.N != 1 || *got.Clusters.Entropy != 0 || got.Clusters.Steps != nil {
		t.Errorf("one component: %+v (%v)", got, err)
	}
}

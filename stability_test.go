package latent

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/model"
)

// naiveStability holds the groups a of the rows beside the groups b by loops over all rows and pairs of rows.
func naiveStability(a, b []int32, k int) (ari float64, jaccard, together []float64) {
	var both, onlyA, onlyB, pairs float64
	for i := range a {
		for j := range i {
			pairs++
			if a[i] == a[j] {
				onlyA++
			}
			if b[i] == b[j] {
				onlyB++
			}
			if a[i] == a[j] && b[i] == b[j] {
				both++
			}
		}
	}
	chance := onlyA * onlyB / pairs
	ari = (both - chance) / ((onlyA+onlyB)/2 - chance)
	jaccard, together = make([]float64, k), make([]float64, k)
	for c := range int32(k) {
		for other := range int32(20) {
			and, or := 0.0, 0.0
			for i := range a {
				switch {
				case a[i] == c && b[i] == other:
					and, or = and+1, or+1
				case a[i] == c || b[i] == other:
					or++
				}
			}
			if or > 0 {
				jaccard[c] = max(jaccard[c], and/or)
			}
		}
		own, kept := 0.0, 0.0
		for i := range a {
			for j := range i {
				if a[i] == c && a[j] == c {
					own++
					if b[i] == b[j] {
						kept++
					}
				}
			}
		}
		together[c] = kept / own
	}
	return ari, jaccard, together
}

// naiveDraws returns how often each of n rows is drawn in n draws with replacement: row by row, by the inverse of the distribution
// function of the binomial of the draws that are left (Devroye 1986, page 558).
func naiveDraws(rng *rand.Rand, n int) []float64 {
	w, left := make([]float64, n), n
	lgamma := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	for i := range w {
		count := left
		if p := 1 / float64(n-i); p < 1 && left > 0 {
			u, below := rng.Float64(), 0.0
			for count = 0; ; count++ {
				below += math.Exp(lgamma(left) - lgamma(count) - lgamma(left-count) + float64(count)*math.Log(p) + float64(left-count)*math.Log1p(-p))
				if u <= below || count == left {
					break
				}
			}
		}
		w[i], left = float64(count), left-count
	}
	return w
}

func TestStabilityIsThatOfFitsToResampledWeights(t *testing.T) {
	t.Parallel()
	src := fixtures.Clusters(30, 3, [2]float64{0, 0}, [2]float64{2.5, 0}, [2]float64{0, 9})
	for _, spec := range []Spec{{K: 3, Model: "kmeans"}, {K: 3, Covariance: "tied"}, {K: 4, Model: "kmedians"}} {
		const b = 6
		spec.Bootstrap = b
		r := quickFit(t, src, spec)
		labels := labelsOf(t, src, r.Model)
		spec.Bootstrap = 0
		aris := []float64{}
		jaccard, together := make([]float64, r.K), make([]float64, r.K)
		for i := range b {
			weighted := *src
			weighted.W = naiveDraws(rng.Bootstrap.At(1, i), src.N)
			again := quickFit(t, &weighted, spec)
			ari, js, ts := naiveStability(labels, labelsOf(t, src, again.Model), r.K)
			aris = append(aris, ari)
			for c := range js {
				jaccard[c] += js[c] / b
				together[c] += ts[c] / b
			}
		}
		mean := 0.0
		for _, v := range aris {
			mean += v / b
		}
		slices.Sort(aris)
		s := r.Stability
		fixtures.Within(t, "mean ARI", *s.ARI, mean, 1e-9)
		fixtures.Within(t, "low ARI", *s.ARILow, aris[0]+0.25*(aris[1]-aris[0]), 1e-9) // 0.05 of 5 steps
		for c, g := range s.Groups {
			fixtures.Within(t, "Jaccard similarity", g.Jaccard, jaccard[c], 1e-9)
			fixtures.Within(t, "consensus", g.Consensus, together[c], 1e-9)
		}
		if s.Done != b || s.Failed != 0 || s.Interrupted || s.Choices != nil {
			t.Errorf("%+v", s)
		}
	}
}

func TestSeparateClustersAreStableAndACutBlobIsNot(t *testing.T) {
	t.Parallel()
	three := fixtures.Clusters(40, 5, [2]float64{0, 0}, [2]float64{9, 0}, [2]float64{0, 9})
	blob := fixtures.Clusters(120, 6, [2]float64{0, 0})
	for name, spec := range map[string]Spec{
		"gmm": {KRange: [2]int{2, 4}, Covariance: "EII,EEE"}, "kmeans": {KRange: [2]int{2, 5}, Model: "kmeans"}, "kmedians": {KRange: [2]int{2, 5}, Model: "kmedians"},
		"gap": {KRange: [2]int{1, 4}, Model: "kmeans", Criterion: "gap"}, "elbow": {KRange: [2]int{1, 6}, Model: "kmeans", Criterion: "elbow"},
	} {
		spec.Bootstrap = 20
		r := quickFit(t, three, spec)
		if r.K != 3 || r.Stability.Times(3) < 18 || *r.Stability.ARI < 0.95 {
			t.Errorf("%s: k = %d, chosen again in %+v of 20, ARI %v", name, r.K, r.Stability.Choices, *r.Stability.ARI)
		}
		for _, g := range r.Stability.Groups {
			if g.Reading != "very stable" || g.Jaccard > 1 || g.Recovered < 18 {
				t.Errorf("%s: group %d is %s: %+v", name, g.Label, g.Reading, g)
			}
		}
	}
	for _, name := range []string{"kmeans", "gmm"} {
		r := quickFit(t, blob, Spec{K: 3, Model: name, Bootstrap: 20})
		if slices.ContainsFunc(r.Stability.Groups, func(g model.GroupStability) bool { return g.Reading == "very stable" }) || *r.Stability.ARI > 0.8 {
			t.Errorf("%s of one blob: ARI %v, %+v", name, *r.Stability.ARI, r.Stability.Groups)
		}
	}
}

func TestStabilityIsTheSameForAnyThreadsAndSource(t *testing.T) {
	t.Parallel()
	faithful, _ := builtIn(t, "@faithful")
	bits := make([]float64, 0, 600)
	for i, u := range rng.Uniforms(3, 600) {
		bits = append(bits, map[bool]float64{true: 1}[(u < 0.85) == (i/3%2 == 0)])
	}
	levels := [][]string{{"a", "b"}, {"a", "b"}, {"a", "b"}}
	large := fixtures.TwoOnALine(20_000 + 1)
	for name, c := range map[string]struct {
		src  *data.Table
		spec Spec
	}{
		"choice":      {faithful, Spec{KRange: [2]int{1, 3}, Covariance: "EEE,VEV", Bootstrap: 3, LRT: 2}},
		"pca":         {faithful, Spec{K: 2, Scale: "robust", PCA: 1, Bootstrap: 3, LRT: 2}},
		"bits":        {fixtures.Table(3, bits...), Spec{K: 2, Model: "bernoulli", Bootstrap: 3, LRT: 2}},
		"categories":  {fixtures.Table(3, bits...), Spec{K: 2, Model: "categorical", Levels: levels, Bootstrap: 3, LRT: 2}},
		"penalty":     {faithful, Spec{Model: "kmeans", Penalty: new(2000.0), Bootstrap: 3}},
		"exact":       {fixtures.Table(1, rng.Normals(3, 50)...), Spec{Model: "kmedians", K: 2, Bootstrap: 3}},
		"mini-batch":  {faithful, Spec{Model: "kmeans", K: 2, Algorithm: "minibatch", Bootstrap: 3}},
		"many rows":   {large, Spec{K: 2, NInit: 1, Bootstrap: 2, LRT: 1, Covariance: "tied"}},
		"given start": {faithful, Spec{Model: "kmeans", K: 2, Init: "centers", Centers: [][]float64{{2, 50}, {4, 80}}, Bootstrap: 3}},
	} {
		if testing.Short() && !slices.Contains([]string{"choice", "bits", "exact", "many rows"}, name) {
			continue // the race detector takes ten times as long
		}
		var first string
		for i, src := range []data.Source{c.src, c.src, fixtures.Passed(c.src)} {
			c.spec.Threads = []int{1, 3, 2}[i]
			r := quickFit(t, src, c.spec)
			b, _ := json.Marshal([]any{r.Stability, r.LRT})
			if i == 0 {
				first = string(b)
				if r.Stability.Done == 0 || c.spec.LRT > 0 && r.LRT.Statistic == nil {
					t.Errorf("%s: nothing is done: %s", name, b)
				}
			} else if string(b) != first {
				t.Errorf("%s: %d threads, %T:\n%s\nwant\n%s", name, c.spec.Threads, src, b, first)
			}
		}
	}
}

func TestAnInterruptionLeavesTheReplicatesThatAreDone(t *testing.T) {
	t.Parallel()
	src := fixtures.Clusters(50, 5, [2]float64{0, 0}, [2]float64{9, 0})
	for _, spec := range []Spec{{K: 2, Bootstrap: 1000}, {K: 2, LRT: 1000}} {
		ctx, cancel := context.WithCancel(context.Background())
		spec.Threads = 2
		see := Observer{Replicate: func(done, of int) {
			if of != 1000 {
				t.Errorf("replicate %d of %d", done, of)
			}
			if done == 5 {
				cancel()
			}
		}}
		r, err := Fit(ctx, src, spec, see)
		if err != nil {
			t.Fatal(err)
		}
		if r.Interrupted || !r.Converged {
			t.Error("the fit itself was done")
		}
		switch s, l := r.Stability, r.LRT; {
		case s != nil && (!s.Interrupted || s.Done < 4 || s.Done > 6 || len(s.Groups) != 2):
			t.Errorf("%+v", s)
		case l != nil && (!l.Interrupted || l.Done+l.Failed < 4 || l.Done+l.Failed > 6 || l.P == nil):
			t.Errorf("%+v", l)
		}
		if model := Told(r.Model); model.Stability != r.Stability || model.LRT != r.LRT {
			t.Error("the model does not remember them")
		}
		cancel()
	}
}

func TestReplicatesThatCannotBeFittedAreCounted(t *testing.T) {
	t.Parallel()
	// A column that differs in one row is constant wherever that row is not drawn: in about 1/e of the samples.
	x := make([]float64, 0, 80)
	for i, z := range rng.Normals(2, 40) {
		x = append(x, z, map[bool]float64{true: 1}[i == 7])
	}
	r := quickFit(t, fixtures.Table(2, x...), Spec{K: 1, Bootstrap: 60})
	if s := r.Stability; s.Failed < 12 || s.Failed > 33 || s.Done+s.Failed != 60 || s.Interrupted || !strings.Contains(s.Why, "constant") {
		t.Errorf("%+v", s)
	}
}

func TestStabilityRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	src := fixtures.Clusters(20, 5, [2]float64{0, 0}, [2]float64{9, 0})
	share := *src
	share.W = slices.Repeat([]float64{0.025}, 40) // the weights add to 1
	for want, c := range map[string]struct {
		src  data.Source
		spec Spec
	}{
		"Bootstrap draws":       {&share, Spec{K: 2, Model: "kmeans", Bootstrap: 5}},
		"Bootstrap is -1":       {src, Spec{K: 2, Bootstrap: -1}},
		"LRT draws":             {&share, Spec{K: 2, Covariance: "tied", LRT: 5}},
		"LRT is -1":             {src, Spec{K: 2, LRT: -1}},
		"LRT compares log-like": {src, Spec{K: 2, Model: "kmeans", LRT: 5}},
		"LRT compares the larg": {src, Spec{K: 2, RegCovar: 1e-3, LRT: 5}},
		"LRT fits one more":     {src, Spec{K: 2, Init: "labels", Labels: make([]int32, 40), LRT: 5}},
	} {
		if _, err := Fit(context.Background(), c.src, c.spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s...: %v", want, err)
		}
	}
	if _, err := Trials(context.Background(), src, Spec{K: 2, Bootstrap: 5}, []string{"em"}, 5, nil); err == nil {
		t.Error("trials take a bootstrap that they do not make")
	}
}

func TestLikelihoodRatioTellsTwoGaussiansFromOne(t *testing.T) {
	t.Parallel()
	one, two := rng.Normals(12, 100), rng.Normals(12, 100)
	for i := range two {
		two[i] += float64(i % 2 * 5)
	}
	if r := quickFit(t, fixtures.Table(1, two...), Spec{K: 1, LRT: 39}); *r.LRT.P != 1.0/float64(1+r.LRT.Done) || r.LRT.Done < 30 {
		t.Errorf("two Gaussians: %+v", *r.LRT)
	}
	r := quickFit(t, fixtures.Table(1, one...), Spec{K: 1, LRT: 39})
	if *r.LRT.P < 0.1 || *r.LRT.P != float64(1+r.LRT.Reached)/float64(1+r.LRT.Done) {
		t.Errorf("one Gaussian: p = %v", *r.LRT.P)
	}
	if r := quickFit(t, fixtures.Table(1, two...), Spec{K: 2, Covariance: "tied", LRT: 39}); *r.LRT.P < 0.1 {
		t.Errorf("two Gaussians against three: p = %v", *r.LRT.P)
	}
}

// The statistic depends on neither location nor scale, so that of normal rows has any rank among those of samples with the same
// probability: p is exact. Samples are drawn by the seed, which must be another for each set of rows.
func TestLikelihoodRatioIsRarelySignificantWithoutReason(t *testing.T) {
	t.Parallel()
	low, sets, least, most := 0, 120, 4, 20 // 12 are expected, with a standard deviation of 3.3
	if testing.Short() {                    // 6 of 60, 2.3
		sets, least, most = 60, 1, 12
	}
	for i := range sets {
		if r := quickFit(t, fixtures.Table(1, rng.Normals(uint64(100+i), 60)...), Spec{K: 1, Covariance: "tied", NInit: 3, LRT: 9, Seed: new(uint64(i))}); *r.LRT.P <= 0.1 {
			low++
		}
	}
	if low < least || low > most {
		t.Errorf("p is 0.1 or less in %d of %d", low, sets)
	}
}

func TestLikelihoodRatioHasMclustsStatistic(t *testing.T) {
	t.Parallel()
	faithful, _ := builtIn(t, "@faithful")
	ll := map[int]float64{}
	for _, o := range mclust(t, "faithful") {
		if o.Model == "VVV" {
			ll[o.K] = *o.LogLik
		}
	}
	for name, spec := range map[string]Spec{"as they are": {K: 1, LRT: 1}, "scaled": {K: 1, LRT: 1, Scale: "standard"}} {
		r := quickFit(t, faithful, spec)
		if want := 2 * (ll[2] - ll[1]); math.Abs(*r.LRT.Statistic-want) > 1e-2 {
			t.Errorf("%s: the statistic is %v, mclust's %v", name, *r.LRT.Statistic, want)
		}
	}
}

package latent

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/score"
)

// cluttered returns three groups in two columns, of 60, 50 and 40 rows, and after them so many rows anywhere in a box that holds all. truth is
// the group of each row, -1 for those.
func cluttered(seed uint64, anywhere int) (t *data.Table, truth []int32) {
	rng := rand.New(rand.NewPCG(seed, 0))
	t = &data.Table{D: 2}
	for c, group := range []struct {
		n        int
		x, y     float64
		a, b, sd float64
	}{{60, 0, 0, 1, 0.3, 0.5}, {50, 6, 2, 0.5, -0.4, 0.8}, {40, 2, 7, 0.7, 0, 0.7}} {
		for range group.n {
			u, v := rng.NormFloat64(), rng.NormFloat64()
			t.F64 = append(t.F64, group.x+group.a*u, group.y+group.b*u+group.sd*v)
			truth = append(truth, int32(c))
		}
	}
	for range anywhere {
		t.F64 = append(t.F64, -8+22*rng.Float64(), -8+24*rng.Float64())
		truth = append(truth, -1)
	}
	t.N = len(truth)
	return t, truth
}

// stretched returns the table with column j multiplied by by[j].
func stretched(t *data.Table, by ...float64) *data.Table {
	own := *t
	own.F64 = slices.Clone(t.F64)
	for i := range own.F64 {
		own.F64[i] *= by[i%len(by)]
	}
	return &own
}

// Units of the columns change the volume by their product and nothing else, of all shapes that units of single columns do not change; where they
// do, the volume of auto still does not hang on them.
func TestNoiseDoesNotHangOnUnits(t *testing.T) {
	t.Parallel()
	src, _ := cluttered(1, 30)
	far := stretched(src, 1000, 0.01)
	for _, shape := range family.Shapes() {
		spec := Spec{K: 3, Covariance: shape.String(), Noise: "auto", Tol: new(1e-5)}
		a, b := mustFit(t, src, spec), mustFit(t, far, spec)
		log := math.Log(1000 * 0.01)
		fixtures.Within(t, shape.Mclust()+": log volume", b.Noise.LogVolume-a.Noise.LogVolume, log, 1e-9)
		if !shape.Rescales() {
			continue
		}
		fixtures.Within(t, shape.Mclust()+": weight", b.Noise.Weight, a.Noise.Weight, 1e-5)
		fixtures.Within(t, shape.Mclust()+": log-likelihood", *b.LogLik, *a.LogLik-log*float64(src.N), 1e-5)
		if a.Noise.Rows != b.Noise.Rows || a.FreeParameters != b.FreeParameters {
			t.Errorf("%s: %d and %d rows are noise, %d and %d parameters", shape.Mclust(), a.Noise.Rows, b.Noise.Rows, a.FreeParameters, b.FreeParameters)
		}
	}
	given := mustFit(t, src, Spec{K: 3, Noise: "500"})
	for _, spec := range []Spec{{K: 3, Noise: "500", Scale: "standard"}, {K: 3, Noise: "500", Scale: "robust"}} {
		r := mustFit(t, src, spec)
		fixtures.Within(t, spec.Scale+": log-likelihood with a volume in the user's units", *r.LogLik, *given.LogLik, 1e-5)
		fixtures.Within(t, spec.Scale+": log volume", r.Noise.LogVolume, math.Log(500), 1e-12)
	}
}

// The same fit by any number of threads, in memory and streamed, is the same file to the bit.
func TestNoiseIsTheSameForAnyNumberOfThreads(t *testing.T) {
	t.Parallel()
	src, _ := cluttered(2, 20)
	big := &data.Table{D: 2, N: 20 * src.N}
	for i := range 20 {
		for j, v := range src.F64 {
			big.F64 = append(big.F64, v+0.01*math.Sin(float64(i*len(src.F64)+j)))
		}
	}
	for _, shape := range []string{"full", "tied", "tied-axes"} {
		spec := Spec{K: 3, Covariance: shape, Noise: "auto", NInit: 2}
		var files []string
		for _, threads := range []int{1, 3} {
			spec.Threads = threads
			for _, rows := range []data.Source{big, fixtures.Passed(big)} {
				b, err := mustFit(t, rows, spec).Model.MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, string(b))
			}
		}
		for _, f := range files[1:] {
			if f != files[0] {
				t.Errorf("%s: threads, or where the rows are, change the file", shape)
			}
		}
	}
}

// Every driver ends at the same maximum from the same start, with whole rows and with gaps, and is certain of it; hard-em labels rows 0 too.
func TestEveryDriverFindsTheNoise(t *testing.T) {
	t.Parallel()
	src, _ := cluttered(3, 25)
	gaps := *src
	gaps.F64 = slices.Clone(src.F64)
	for i := 3; i < len(gaps.F64); i += 7 {
		gaps.F64[i] = math.NaN()
	}
	for name, rows := range map[string]*data.Table{"whole": src, "gaps": &gaps} {
		for _, shape := range []string{"full", "tied", "diag", "tied-volume-shape"} {
			want := math.NaN()
			for _, a := range plan.Climbers() {
				if a == plan.AntiAnnealing && shape == "tied-volume-shape" { // where it is hot, ellipsoids of one form merge, and end elsewhere
					continue
				}
				r := mustFit(t, rows, Spec{K: 3, Covariance: shape, Noise: "auto", Algorithm: string(a), Init: "centers", Centers: [][]float64{{0, 0}, {6, 2}, {2, 7}}, Tol: new(1e-4)})
				if want != want {
					want = *r.LogLik
				}
				if c := r.Certificate; !r.Converged || c.DistanceSE == nil || *c.DistanceSE > 1e-3 || *c.Method != "information" {
					t.Errorf("%s, %s, %s: converged %v, %+v", name, shape, a, r.Converged, c)
				}
				fixtures.Within(t, fmt.Sprintf("%s, %s, %s: log-likelihood", name, shape, a), *r.LogLik, want, 1e-4)
			}
			r := mustFit(t, rows, Spec{K: 3, Covariance: shape, Noise: "auto", Algorithm: "hard-em"})
			if !r.Converged || r.Noise.Rows < 8 || r.Noise.Rows > 40 {
				t.Errorf("%s, %s: hard-em converged %v, %d rows of noise", name, shape, r.Converged, r.Noise.Rows)
			}
		}
	}
}

// Of rows that lack cells the noise has the uniform density of the cells that are there: the log-likelihood is that of a plain loop.
func TestNoiseOfRowsWithGapsIsUniformOverWhatIsThere(t *testing.T) {
	t.Parallel()
	src, _ := cluttered(4, 30)
	for i := 1; i < len(src.F64); i += 5 {
		src.F64[i] = math.NaN()
	}
	lo, hi := []float64{math.Inf(1), math.Inf(1)}, []float64{math.Inf(-1), math.Inf(-1)}
	for i, x := range src.F64 {
		if x == x {
			lo[i%2], hi[i%2] = min(lo[i%2], x), max(hi[i%2], x)
		}
	}
	r := mustFit(t, src, Spec{K: 3, Noise: "auto"})
	fixtures.Within(t, "log volume: that of the columns' box", r.Noise.LogVolume, math.Log((hi[0]-lo[0])*(hi[1]-lo[1])), 1e-12)
	sum, noise := 0.0, 0.0
	for i := range src.N {
		x, y := src.F64[2*i], src.F64[2*i+1]
		own := r.Noise.Weight
		if x == x {
			own /= hi[0] - lo[0]
		}
		if y == y {
			own /= hi[1] - lo[1]
		}
		all := own
		for _, c := range r.Components {
			a, b := x-c.Mean[0], y-c.Mean[1]
			v, w, both := c.Covariance.At(0, 0), c.Covariance.At(1, 1), c.Covariance.At(0, 1)
			switch {
			case a != a:
				all += c.Weight * math.Exp(-b*b/2/w) / math.Sqrt(2*math.Pi*w)
			case b != b:
				all += c.Weight * math.Exp(-a*a/2/v) / math.Sqrt(2*math.Pi*v)
			default:
				det := v*w - both*both
				all += c.Weight * math.Exp(-(w*a*a-2*both*a*b+v*b*b)/det/2) / (2 * math.Pi * math.Sqrt(det))
			}
		}
		sum += math.Log(all)
		noise += own / all
	}
	fixtures.Within(t, "log-likelihood", *r.LogLik, sum, 1e-9*math.Abs(sum))
	fixtures.Within(t, "weight of the noise", noise/float64(src.N), r.Noise.Weight, 1e-6)
}

// Where nothing is noise its weight is at its edge, which the certificate names, and the groups are those of the plain fit.
func TestNoiseThatIsNotThereIsOnItsEdge(t *testing.T) {
	t.Parallel()
	src, _ := cluttered(5, 0)
	plain, r := mustFit(t, src, Spec{K: 3, Tol: new(1e-4)}), mustFit(t, src, Spec{K: 3, Noise: "1e9", Tol: new(1e-4)})
	if r.Noise.Weight > 1e-4 || r.Noise.Rows != 0 || !slices.Contains(r.Certificate.OnEdge, "weight of the noise") || r.StandardErrors.Noise != nil && r.StandardErrors.Noise[0] == r.StandardErrors.Noise[0] {
		t.Errorf("noise %+v, edges %v, standard error %v", r.Noise, r.Certificate.OnEdge, r.StandardErrors.Noise)
	}
	fixtures.Within(t, "log-likelihood", *r.LogLik, *plain.LogLik, 1e-4)
	for c := range 3 {
		fixtures.Within(t, "weight", r.Components[c].Weight, plain.Components[c].Weight, 1e-4)
		fixtures.Within(t, "mean", r.Components[c].Mean[0], plain.Components[c].Mean[0], 1e-3)
	}
	if r.FreeParameters != plain.FreeParameters+2 || *r.BIC < *plain.BIC {
		t.Errorf("%d parameters and BIC %v, without noise %d and %v", r.FreeParameters, *r.BIC, plain.FreeParameters, *plain.BIC)
	}
}

// The standard error of the noise's weight where rows tell for certain which are noise is that of a share.
func TestTheStandardErrorOfTheNoise(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 0))
	src := &data.Table{D: 2, N: 2000}
	for i := range src.N {
		if i < 200 {
			src.F64 = append(src.F64, 4000*rng.Float64()-2000, 4000*rng.Float64()-2000)
		} else {
			src.F64 = append(src.F64, rng.NormFloat64(), rng.NormFloat64())
		}
	}
	r := mustFit(t, src, Spec{K: 1, Noise: "auto"})
	p := r.Noise.Weight
	fixtures.Within(t, "weight", p, 0.1, 0.002)
	fixtures.Within(t, "standard error", r.StandardErrors.Noise[0], math.Sqrt(p*(1-p)/2000), 2e-4)
	fixtures.Within(t, "standard error of the group's weight", r.StandardErrors.Weights[0], math.Sqrt(p*(1-p)/2000), 2e-4)
}

// A model with noise says the same from its file; labels of the noise are -1 however far a row is, and draws lie in its region.
func TestAModelWithNoise(t *testing.T) {
	t.Parallel()
	src, _ := cluttered(7, 30)
	far := stretched(src, 1, 100)
	r := mustFit(t, far, Spec{K: 3, Noise: "auto", Scale: "standard", Columns: []string{"a", "b"}})
	b, err := r.Model.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	m := new(model.Model)
	if err := m.UnmarshalJSON(b); err != nil {
		t.Fatal(err)
	}
	if again, _ := m.MarshalJSON(); string(again) != string(b) {
		t.Error("a file that is read and written again has changed")
	}
	if got := Told(m); got.Noise == nil || got.Noise.Weight != r.Noise.Weight || got.Noise.Rows != r.Noise.Rows || got.FreeParameters != r.FreeParameters || *got.BIC != *r.BIC {
		t.Errorf("the file tells of noise %+v, the fit %+v", got.Noise, r.Noise)
	}
	labels, err := m.Predict(context.Background(), &data.Table{N: 3, D: 2, F64: []float64{0, 0, 90, -7000, 1e200, 1e200}})
	if err != nil || !slices.Equal(labels[1:], []int32{-1, -1}) || labels[0] < 0 {
		t.Errorf("labels %v (%v)", labels, err)
	}
	turned, err := m.Arranged([]string{"b", "a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	one, err := m.LogDensity(context.Background(), &data.Table{N: 1, D: 2, F64: []float64{1.5, 200}})
	other, wrong := turned.LogDensity(context.Background(), &data.Table{N: 1, D: 2, F64: []float64{200, 1.5}})
	if err != nil || wrong != nil || math.Abs(one[0]-other[0]) > 1e-12*math.Abs(one[0]) {
		t.Errorf("log densities %v and %v with the columns in another order (%v, %v)", one, other, err, wrong)
	}
	const n = 20_000
	drawn, of, err := m.Sample(n, 5)
	if err != nil {
		t.Fatal(err)
	}
	region, count := r.Noise.Region, 0
	for i, c := range of {
		if c >= 0 {
			continue
		}
		count++
		for a, axis := range region.Axes {
			v := 0.0
			for j, u := range axis {
				v += u * (drawn.F64[2*i+j] - region.Center[j])
			}
			if slack := 1e-9 * (region.High[a] - region.Low[a]); v < region.Low[a]-slack || v > region.High[a]+slack {
				t.Fatalf("row %v of the noise lies beyond its region", drawn.F64[2*i:2*i+2])
			}
		}
	}
	w := r.Noise.Weight
	fixtures.Within(t, "rows of the noise among those drawn", float64(count)/n, w, 5*math.Sqrt(w*(1-w)/n))
	again := mustFit(t, far, Spec{K: 3, Noise: "auto", Scale: "standard", Columns: []string{"a", "b"}, Init: "model", Given: m})
	fixtures.Within(t, "log-likelihood from the model on", *again.LogLik, *r.LogLik, 1e-6)
	if _, err := Fit(context.Background(), far, Spec{K: 3, Scale: "standard", Columns: []string{"a", "b"}, Init: "model", Given: m}); err == nil || !strings.Contains(err.Error(), "noise") {
		t.Errorf("a start with noise for a fit without: %v", err)
	}
	for what, err := range map[string]error{
		"export": errorOf(m.Arrays()), "impute": errorOf(m.Filler()), "update": errorOf(Update(context.Background(), far, m, UpdateSpec{})),
	} {
		if err == nil || !strings.Contains(err.Error(), "a model with noise cannot be") && !strings.Contains(err.Error(), "a model with noise cannot fill") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func errorOf[T any](_ T, err error) error { return err }

// Noise of weight 0 labels no row, as a component of weight 0 does not.
func TestNoiseOfWeightZeroTakesNoPart(t *testing.T) {
	t.Parallel()
	m := new(model.Model)
	err := m.UnmarshalJSON([]byte(`{"format":"latent-model","version":1,"model":"gmm","covariance":"full","columns":["x"],"weights":[1],"means":[[0]],"covariances":[[[1]]],
		"noise":{"weight":0,"log_volume":3,"center":[1],"axes":[[1]],"low":[-9],"high":[14]}}`))
	if err != nil {
		t.Fatal(err)
	}
	err = m.Rows(context.Background(), fixtures.Table(1, 0, 1e6), 1, func(s *model.Scored) error {
		if s.Label[1] != 0 || s.Noise[0] != 0 || s.Noise[1] != 0 || s.LogDensity[1] != -0.5*math.Log(2*math.Pi)-5e11 {
			t.Errorf("label %d, noise %v, log density %v", s.Label[1], s.Noise, s.LogDensity[1])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What is wrong with the noise of a file is said by its key.
func TestFilesWithWrongNoiseAreRefused(t *testing.T) {
	t.Parallel()
	const right = `{"weight":0.1,"log_volume":3.2,"center":[1],"axes":[[1]],"low":[-9],"high":[14]}`
	read := func(kind, noise string) error {
		return new(model.Model).UnmarshalJSON([]byte(`{"format":"latent-model","version":1,` + kind + `,"columns":["x"],"weights":[0.6,0.3],"means":[[0],[5]],"noise":` + noise + `}`))
	}
	const full = `"model":"gmm","covariance":"full","covariances":[[[1]],[[1]]]`
	if err := read(full, right); err != nil {
		t.Fatal(err)
	}
	for want, noise := range map[string]string{
		"noise: log_volume: this key is missing":                               strings.Replace(right, `"log_volume":3.2,`, "", 1),
		`noise: the key "volume" is not known`:                                 strings.Replace(right, "log_volume", "volume", 1),
		"weights: with that of the noise they sum to 1.0":                      strings.Replace(right, `"weight":0.1`, `"weight":0.2`, 1),
		"noise: low of number 1 is 14 and high 14; high must be above low":     strings.Replace(right, "-9", "14", 1),
		"noise: the axes are not linearly independent":                         strings.Replace(right, "[[1]]", "[[0]]", 1),
		"noise: center, low and high must have 1 number, and axes as many row": strings.Replace(right, "[1]", "[1,2]", 1),
	} {
		if err := read(full, noise); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", noise, err, want)
		}
	}
	for want, kind := range map[string]string{
		"weights: they are all 0, so that every row would be noise": strings.Replace(full, `"full"`, `"full","weights":[0,0]`, 1),
		"posterior: a model with noise cannot have one":             full + `,"posterior":{"weights":"dirichlet","concentration":[7,4],"mean_precision":[7,4],"means":[[0],[5]],"dof":[7,4],"scale":[[[7]],[[4]]]}`,
	} {
		text := `{"format":"latent-model","version":1,` + kind + `,"columns":["x"],"weights":[0.6,0.3],"means":[[0],[5]],"noise":` + right + `}`
		if strings.Contains(kind, "[0,0]") {
			text = strings.Replace(strings.Replace(text, `"weights":[0.6,0.3],`, "", 1), `"weight":0.1`, `"weight":1`, 1)
		}
		if err := new(model.Model).UnmarshalJSON([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	counts := []byte(`{"format":"latent-model","version":1,"model":"poisson","columns":["x"],"weights":[1],"rates":[[2]],"noise":` + right + `}`)
	if err := new(model.Model).UnmarshalJSON(counts); err == nil || !strings.Contains(err.Error(), "noise: this key is not known") {
		t.Errorf("noise of counts: %v", err)
	}
}

// Noise that makes no sense is refused in one line, by its field.
func TestNoiseIsRefusedWhereItWouldMeanNothing(t *testing.T) {
	t.Parallel()
	for want, spec := range map[string]Spec{
		"Noise does not apply to kmeans":      {Model: "kmeans", K: 2, Noise: "auto"},
		"Noise does not apply to bernoulli":   {Model: "bernoulli", K: 2, Noise: "auto"},
		"Noise does not apply to categorical": {Model: "categorical", K: 2, Noise: "auto"},
		"Noise does not apply to poisson":     {Model: "poisson", K: 2, Noise: "auto"},
		"Noise does not apply to mixed":       {Model: "mixed", K: 2, Noise: "auto", Types: []data.Type{data.Number, data.Number}},
		"Noise is 0; a volume must be above":  {K: 2, Noise: "0"},
		"Noise is -1; a volume must be above": {K: 2, Noise: "-1"},
		`Noise "NaN" is neither auto nor`:     {K: 2, Noise: "NaN"},
		`Noise "some" is neither auto nor`:    {K: 2, Noise: "some"},
		"Noise is inf; a volume must be":      {K: 2, Noise: "inf"},
		"Noise is 1e400, more than":           {K: 2, Noise: "1e400"},
		"Noise learns its mixing weight":      {K: 2, Noise: "auto", Weights: "uniform"},
		"KeepSums keeps the sums of the":      {K: 2, Noise: "auto", KeepSums: true},
		"LRT draws rows on the scale of":      {K: 2, Noise: "3", LRT: 9, Scale: "standard"},
	} {
		err := spec.Validate()
		var wrong *SpecError
		if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, want %q", spec.Noise, err, want)
		}
	}
}

// Bootstrap samples and the likelihood-ratio test are fits with noise too; a row of the noise is in no group.
func TestNoiseIsRepeated(t *testing.T) {
	t.Parallel()
	src, _ := cluttered(8, 20)
	r := mustFit(t, src, Spec{K: 3, Noise: "auto", Bootstrap: 10, LRT: 9})
	if s := r.Stability; s == nil || s.Done != 10 || len(s.Groups) != 3 || !(*s.ARI > 0.8) || !(s.Groups[0].Jaccard > 0.85) {
		t.Errorf("stability %+v", r.Stability)
	}
	if l := r.LRT; l == nil || l.Done < 8 || l.Statistic == nil {
		t.Errorf("likelihood-ratio test %+v", r.LRT)
	}
	if b, err := json.Marshal(r); err != nil || !strings.Contains(string(b), `"noise":{"weight":`) {
		t.Errorf("%v: %s", err, b)
	}
}

var clutterTables = flag.Int("clutter", 2, "tables of each share of rows anywhere")

// rescued are what fits of one table come to.
type rescued struct {
	three [3]bool    // BIC finds three groups: plain, with noise, with t
	ari   [3]float64 // agreement of the labels of the rows of the groups with these, at k = 3
}

// clutterStudy fits three groups with so many rows anywhere by different specs; a further column is a further spec.
func clutterStudy(t *testing.T, seed uint64, anywhere int) (r rescued) {
	src, truth := cluttered(seed, anywhere)
	for i, spec := range []Spec{{}, {Noise: "auto"}, {Model: "t"}} {
		chosen, at3 := spec, spec
		chosen.KRange, chosen.Covariance, at3.K = [2]int{1, 6}, "full", 3
		r.three[i] = mustFit(t, src, chosen).K == 3
		var agree score.Agreement[int32, int32]
		for row, label := range labelsOf(t, src, mustFit(t, src, at3).Model) {
			if truth[row] >= 0 {
				if err := agree.Add(truth[row], label, 1); err != nil {
					t.Fatal(err)
				}
			}
		}
		r.ari[i] = agree.ARI()
	}
	return r
}

// With a fifth of the rows anywhere, BIC counts them as groups unless there is noise. docs/robust.md has 100 tables of each share: go test
// -run TestClutter -clutter 100 -v.
func TestClutterIsNotCountedAsGroups(t *testing.T) {
	t.Parallel()
	tables := uint64(*clutterTables)
	for _, share := range []float64{0, 0.05, 0.1, 0.2} {
		anywhere := int(math.Round(150 * share / (1 - share)))
		var three [3]int
		var ari [3]float64
		for seed := range tables {
			r := clutterStudy(t, 100+seed, anywhere)
			for i := range three {
				if r.three[i] {
					three[i]++
				}
				ari[i] += r.ari[i] / float64(tables)
			}
		}
		t.Logf("%2.0f %% anywhere: of %d tables BIC finds 3 groups in %d plain, %d with noise, %d with t; ARI of the other rows %.3f", 100*share, tables, three[0], three[1], three[2], ari)
		if three[1] < int(tables)*3/4 || ari[1] < 0.9 || share == 0.2 && (three[0] > int(tables)/4 || ari[0] > ari[1]) {
			t.Errorf("%2.0f %% anywhere: of %d tables %v have three groups by BIC, ARI %v", 100*share, tables, three, ari)
		}
	}
}

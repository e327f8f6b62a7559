package latent

import (
	"context"
	"errors"
	"io"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/model"
)

// crooked is a source that breaks a promise in its pass of some number.
type crooked struct {
	*data.Table
	at     int32
	opened atomic.Int32 // candidates of a choice read side by side
	spoil  func(*data.Block) error
}

func (s *crooked) Open(ctx context.Context) (data.Reader, error) {
	r, err := s.Table.Open(ctx)
	if s.opened.Add(1) < s.at {
		return r, err
	}
	return &crookedReader{r, s.spoil}, err
}

type crookedReader struct {
	data.Reader
	spoil func(*data.Block) error
}

func (r *crookedReader) Read(b *data.Block, n int) error {
	if err := r.Reader.Read(b, n); err != nil {
		return err
	}
	return r.spoil(b)
}

// A source that breaks its promise, at once or in a later pass, is an error of every kind of fit: no panic, no loop without
// an end.
func TestCrookedSourcesAreErrorsOfEveryFit(t *testing.T) {
	spoils := map[string]func(*data.Block) error{
		"short cells":   func(b *data.Block) error { b.F64 = b.F64[:1]; return nil },
		"another width": func(b *data.Block) error { b.D++; return nil },
		"another type": func(b *data.Block) error {
			b.F32, b.F64 = make([]float32, len(b.F64)), nil
			return nil
		},
		"short weights": func(b *data.Block) error { b.W = make([]float64, b.N-1); return nil },
		"nothing":       func(b *data.Block) error { *b = data.Block{}; return nil },
		"fewer rows":    func(b *data.Block) error { return io.EOF },
	}
	table := fixtures.Lumps(60, 3, 3)
	bits := fixtures.Coins(60, 3)
	specs := map[string]Spec{
		"choice": {KRange: [2]int{1, 2}}, "minibatch": {K: 2, Model: "kmeans", Algorithm: "minibatch"}, "scaled": {K: 2, Scale: "robust", PCA: 2}, "bootstrap": {K: 2, Bootstrap: 3},
		"dp-means": {Model: "kmeans", Penalty: new(5.0)},
	}
	for _, name := range kind.Names() {
		specs[name] = Spec{K: 2, Model: name}
		if kind.Of(name).Cells.Levels {
			specs[name] = Spec{K: 2, Model: name, Levels: [][]string{{"n", "y"}, {"n", "y"}, {"n", "y"}}}
		}
	}
	for model, spec := range specs {
		for name, spoil := range spoils {
			for _, at := range []int32{1, 2, 4} {
				src := &crooked{Table: table, at: at, spoil: spoil}
				if !kind.Of(spec.Model).Cells.Units {
					src.Table = bits
				}
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				_, err := Fit(ctx, src, spec)
				cancel()
				var wrong *data.SourceError
				switch {
				case src.opened.Load() < at: // so many passes are not made
				case name == "another type" && at == 1: // it is that type throughout
				case !errors.As(err, &wrong):
					t.Errorf("%s, %s from pass %d on (of %d): error %v", model, name, at, src.opened.Load(), err)
				}
			}
		}
	}
}

// A panic of a source, or of a function that a fit calls, is one that the caller of the fit can recover.
func TestPanicsOfOthersCanBeRecovered(t *testing.T) {
	t.Parallel()
	table := fixtures.Lumps(3000, 3, 3)
	boom := func(*data.Block) error { panic("boom") }
	for name, run := range map[string]func(){
		"a source": func() { Fit(context.Background(), &crooked{Table: table, at: 3, spoil: boom}, Spec{K: 2, Threads: 4}) },
		"in a choice": func() {
			Fit(context.Background(), &crooked{Table: table, at: 5, spoil: boom}, Spec{KRange: [2]int{1, 3}})
		},
		"in a repeat": func() {
			Fit(context.Background(), table, Spec{K: 2, Bootstrap: 3}, Observer{Replicate: func(int, int) { panic("boom") }})
		},
		"Observer.Step": func() {
			Fit(context.Background(), table, Spec{K: 2}, Observer{Step: func(Progress) { panic("boom") }})
		},
		"Observer.Candidate": func() {
			Fit(context.Background(), table, Spec{KRange: [2]int{1, 2}}, Observer{Candidate: func(int, int, model.Candidate) { panic("boom") }})
		},
		"k-means": func() {
			Fit(context.Background(), table, Spec{K: 3, Model: "kmeans"}, Observer{Step: func(Progress) { panic("boom") }})
		},
		"K-medians": func() {
			Fit(context.Background(), table, Spec{K: 3, Model: "kmedians"}, Observer{Step: func(Progress) { panic("boom") }})
		},
		"labelled rows": func() {
			m := &model.Model{Kind: "kmeans", Columns: []string{"a", "b", "c"}, Means: [][]float64{{0, 0, 0}}}
			m.Rows(context.Background(), table, 4, func(*model.Scored) error { panic("boom") })
		},
	} {
		func() {
			defer func() {
				if v := recover(); v != "boom" {
					t.Errorf("%s: recovered %v", name, v)
				}
			}()
			run()
		}()
	}
}

// What no fit can use is an error with a type, whichever function it is given to.
func TestArgumentsOfEveryFunction(t *testing.T) {
	t.Parallel()
	var none context.Context
	ctx, table := context.Background(), fixtures.Lumps(30, 2, 2)
	ok := &model.Model{Kind: "kmeans", Columns: []string{"a", "b"}, Means: [][]float64{{0, 0}, {1, 1}}}
	var argument *data.ArgumentError
	for name, err := range map[string]error{
		"Fit, ctx":        second(Fit(none, table, Spec{K: 2})),
		"Fit, src":        second(Fit(ctx, nil, Spec{K: 2})),
		"Fit, choice":     second(Fit(ctx, nil, Spec{})),
		"Fit, repeated":   second(Fit(none, table, Spec{K: 2, LRT: 3})),
		"Compare, ctx":    second(Compare(none, table, Spec{K: 2}, []string{"em"})),
		"Compare, src":    second(Compare(ctx, nil, Spec{K: 2}, []string{"em"})),
		"Trials, ctx":     second(Trials(none, table, Spec{K: 2}, []string{"em"}, 3, nil)),
		"Trials, src":     second(Trials(ctx, (*data.Table)(nil), Spec{K: 2}, []string{"em"}, 3, nil)),
		"SuggestPenalty":  second(SuggestPenalty(ctx, nil, Spec{Model: "kmeans"}, 2)),
		"PenaltyPath":     second(PenaltyPath(none, table, Spec{Model: "kmeans"}, []float64{1})),
		"Rows, ctx":       ok.Rows(none, table, 1, func(*model.Scored) error { return nil }),
		"Rows, src":       ok.Rows(ctx, nil, 1, func(*model.Scored) error { return nil }),
		"Rows, each":      ok.Rows(ctx, table, 1, nil),
		"Rows, nil model": (*model.Model)(nil).Rows(ctx, table, 1, func(*model.Scored) error { return nil }),
		"a short table":   second(Fit(ctx, &data.Table{N: 3, D: 2, F64: make([]float64, 5)}, Spec{K: 2})),
	} {
		if !errors.As(err, &argument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := ok.Rows(ctx, table, -5, func(*model.Scored) error { return nil }); err != nil {
		t.Errorf("a negative number of threads: %v", err)
	}
	if err := ok.Rows(ctx, table, math.MaxInt, func(*model.Scored) error { return nil }); err != nil {
		t.Errorf("a huge number of threads: %v", err)
	}
	var field *SpecError
	for name, spec := range map[string]Spec{
		"a range of all integers":    {KRange: [2]int{1, math.MaxInt}},
		"k, all integers":            {K: math.MaxInt},
		"k, the least integer":       {K: math.MinInt},
		"too few labels":             {K: 2, Init: "labels", Labels: []int32{0, 1}},
		"no labels":                  {K: 2, Init: "labels", Labels: []int32{}},
		"a label beyond k":           {K: 2, Init: "labels", Labels: append(make([]int32, 29), 2)},
		"a negative label":           {K: 2, Init: "labels", Labels: append(make([]int32, 29), -1)},
		"ragged centres":             {K: 2, Init: "centers", Centers: [][]float64{{1, 2}, {1}}},
		"a nil centre":               {K: 2, Init: "centers", Centers: [][]float64{nil, {1, 2}}},
		"a centre that is no number": {K: 2, Init: "centers", Centers: [][]float64{{math.NaN(), 0}, {1, 2}}},
		"too few centres":            {K: 2, Init: "centers", Centers: [][]float64{{1, 2}}},
		"levels of other columns":    {K: 2, Model: "categorical", Levels: [][]string{{"a"}}},
		"no levels":                  {K: 2, Model: "categorical"},
		"an empty given model":       {K: 2, Init: "model", Given: &model.Model{}},
		"too few names":              {K: 2, Columns: []string{"a"}},
		"threads":                    {K: 2, Threads: math.MaxInt},
		"an empty schedule":          {K: 2, Algorithm: "anti-annealing", Beta: []float64{}},
	} {
		if _, err := Fit(ctx, table, spec); !errors.As(err, &field) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// second returns the error of a call.
func second[T any](_ T, err error) error { return err }

// A model whose parts are missing or do not fit is an error of every method that has one, and no method panics.
func TestModelsWhosePartsAreMissing(t *testing.T) {
	t.Parallel()
	full := func() model.Model {
		return model.Model{Kind: "gmm", Shape: family.Full, Columns: []string{"a", "b"}, Weights: []float64{0.5, 0.5}, Means: [][]float64{{0, 0}, {1, 1}}, Covariance: [][]float64{{1, 0, 0, 1}, {1, 0, 0, 1}}}
	}
	for name, spoil := range map[string]func(*model.Model){
		"nothing":            func(m *model.Model) { *m = model.Model{} },
		"kind":               func(m *model.Model) { m.Kind = "no kind" },
		"shape":              func(m *model.Model) { m.Shape = 200 },
		"no columns":         func(m *model.Model) { m.Columns = nil },
		"no weights":         func(m *model.Model) { m.Weights = nil },
		"too many weights":   func(m *model.Model) { m.Weights = []float64{0.2, 0.2, 0.6} },
		"no means":           func(m *model.Model) { m.Means = nil },
		"a nil mean":         func(m *model.Model) { m.Means[1] = nil },
		"no covariances":     func(m *model.Model) { m.Covariance = nil },
		"one covariance":     func(m *model.Model) { m.Covariance = m.Covariance[:1] },
		"a short covariance": func(m *model.Model) { m.Covariance[1] = []float64{1} },
		"a transform":        func(m *model.Model) { m.Transform = []model.Transform{{Kind: "standard"}} },
		"a transform's kind": func(m *model.Model) { m.Transform = []model.Transform{{}} },
		"no axes":            func(m *model.Model) { m.Transform = []model.Transform{{Kind: "pca", Mean: []float64{0, 0}}} },
		"no threshold":       func(m *model.Model) { m.Transform = []model.Transform{{Kind: "binarize"}} },
		"bits":               func(m *model.Model) { m.Kind = "bernoulli" },
		"levels":             func(m *model.Model) { m.Kind, m.Probabilities = "categorical", [][]float64{{1}, {1}} },
		"nil levels": func(m *model.Model) {
			m.Kind, m.Levels, m.Probabilities = "categorical", [][]string{nil, nil}, [][]float64{{1}, {1}}
		},
		"centres":                         func(m *model.Model) { m.Kind, m.Means = "kmeans", [][]float64{{1}} },
		"degrees of freedom of Gaussians": func(m *model.Model) { m.Dof = []float64{3, 3} },
		"no degrees of freedom":           func(m *model.Model) { m.Kind = "t" },
		"degrees of freedom that are no number": func(m *model.Model) {
			m.Kind, m.Dof = "t", []float64{math.NaN(), 3}
		},
		"degrees of freedom far below 0": func(m *model.Model) { m.Kind, m.Dof = "t", []float64{3, -1e18} },
		"an empty posterior":             func(m *model.Model) { m.Posterior = &model.Posterior{Shape: family.Full} },
		"a posterior of fewer components": func(m *model.Model) {
			m.Posterior = &model.Posterior{Shape: family.Full, Concentration: []float64{1}, MeanPrecision: []float64{1}, Means: [][]float64{{0, 0}}, Dof: []float64{3}, Scale: [][]float64{{3, 0, 0, 3}}}
		},
	} {
		m := full()
		spoil(&m)
		var wrong *model.ModelError
		if err := m.Rows(context.Background(), fixtures.Lumps(10, 2, 2), 1, func(*model.Scored) error { return nil }); !errors.As(err, &wrong) {
			t.Errorf("%s: Rows: %v", name, err)
		}
		if _, err := m.Sampler(1); !errors.As(err, &wrong) {
			t.Errorf("%s: Sampler: %v", name, err)
		}
		if _, err := m.MarshalJSON(); !errors.As(err, &wrong) {
			t.Errorf("%s: MarshalJSON: %v", name, err)
		}
		if _, err := m.WriteTo(io.Discard); !errors.As(err, &wrong) {
			t.Errorf("%s: WriteTo: %v", name, err)
		}
		if _, err := m.Arrays(); !errors.As(err, &wrong) {
			t.Errorf("%s: Arrays: %v", name, err)
		}
		if _, err := m.Distances(); !errors.As(err, &wrong) {
			t.Errorf("%s: Distances: %v", name, err)
		}
		m.K()
		m.D()
		m.PCA()
		m.Variables()
		if r := Told(&m); len(r.Warnings) != 1 {
			t.Errorf("%s: Result: %q", name, r.Warnings)
		}
		var field *SpecError
		if _, err := Fit(context.Background(), fixtures.Lumps(20, 2, 2), Spec{K: 2, Init: "model", Given: &m}); !errors.As(err, &field) {
			t.Errorf("%s: Spec.Given: %v", name, err)
		}
	}
	m := full()
	if err := m.Validate(); err != nil {
		t.Errorf("a model that is whole: %v", err)
	}
}

// A file of k-means need not say how many rows its clusters had.
func TestToldWithoutSizes(t *testing.T) {
	m := new(model.Model)
	if err := m.UnmarshalJSON([]byte(`{"format": "latent-model", "version": 1, "model": "kmeans", "columns": ["a"], "centers": [[1], [4]], "provenance": {"rows": 5, "weight_total": 5}}`)); err != nil {
		t.Fatal(err)
	}
	if got := Told(m).Components; len(got) != 2 || got[0].Weight != 0 || got[1].Mean[0] != 4 {
		t.Errorf("components %+v", got)
	}
}

package latent

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/model"
)

// named returns the model as a start: the parameters alone.
func named(m *model.Model) *model.Model {
	return &model.Model{Kind: m.Kind, Shape: m.Shape, Columns: m.Columns, Weights: m.Weights, Means: m.Means, Covariance: m.Covariance}
}

func TestRidgeCarriesNoCertificateAndSaysWhy(t *testing.T) {
	t.Parallel()
	r := mustFit(t, fixtures.Table(1, rng.Normals(3, 90)...), Spec{K: 2, RegCovar: 1e-3, TolLogLik: 1e-6})
	if r.Certificate.DistanceSE != nil || r.Certificate.Method != nil || !strings.Contains(strings.Join(texts(r.Warnings), "\n"), "--reg-covar") {
		t.Errorf("certificate %+v, warnings %q", r.Certificate, r.Warnings)
	}
	sure := mustFit(t, fixtures.Table(1, rng.Normals(3, 90)...), Spec{K: 1})
	if sure.Certificate.DistanceSE == nil || *sure.Certificate.DistanceSE > 0.01 {
		t.Errorf("certificate %+v", sure.Certificate)
	}
}

// rowsThat is a source whose passes are counted and can be made to fail.
type rowsThat struct {
	*data.Table
	passes int
	open   func(pass int) error
	read   func(pass int) error
}

func (s *rowsThat) Open(ctx context.Context) (data.Reader, error) {
	if s.passes++; s.open != nil {
		if err := s.open(s.passes); err != nil {
			return nil, err
		}
	}
	if s.read != nil {
		if err := s.read(s.passes); err != nil {
			return unreadable{err}, nil
		}
	}
	return s.Table.Open(ctx)
}

// unreadable is a reader that opens and then fails.
type unreadable struct{ err error }

func (u unreadable) Read(*data.Block, int) error { return u.err }

func (u unreadable) Close() error { return nil }

func TestRowsThatCannotBeReadAnyMoreAreAnError(t *testing.T) {
	t.Parallel()
	gone := errors.New("the file is gone")
	for at := 1; at <= 12; at++ {
		fails := func(pass int) error {
			if pass == at {
				return gone
			}
			return nil
		}
		for name, src := range map[string]*rowsThat{"opening": {open: fails}, "reading": {read: fails}} {
			src.Table = fixtures.Table(2, rng.Normals(6, 400)...)
			_, err := Fit(context.Background(), src, Spec{K: 3, Tol: new(0.0), MaxIter: new(30), NInit: 3})
			if !errors.Is(err, gone) {
				t.Errorf("%s fails in pass %d: %v", name, at, err)
			}
		}
	}
}

func TestInterruptedFitReturnsTheBestSoFar(t *testing.T) {
	t.Parallel()
	for _, at := range []int{0, 1, 5} {
		ctx, cancel := context.WithCancel(context.Background())
		src := fixtures.Table(2, rng.Normals(6, 2000)...)
		top := map[int]float64{}
		r, err := Fit(ctx, src, Spec{K: 3, NInit: 4, Tol: new(0.0)}, Observer{Step: func(p Progress) {
			top[p.Start] = p.Point.F
			if p.Iteration == at {
				cancel()
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		best := math.Inf(-1)
		for _, f := range top {
			best = max(best, f)
		}
		if !r.Interrupted || r.Converged || math.Abs(*r.LogLik-best) > 1e-9*math.Abs(best) || !strings.Contains(strings.Join(texts(r.Warnings), "\n"), "interrupted") {
			t.Errorf("at %d: interrupted %v, converged %v, %v, best seen %v, warnings %q", at, r.Interrupted, r.Converged, *r.LogLik, best, r.Warnings)
		}
		cancel()
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Fit(ctx, fixtures.Table(1, 1, 2, 3), Spec{K: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before the first pass: %v", err)
	}
}

func TestStepsOfEveryStartAreSeenInOrder(t *testing.T) {
	t.Parallel()
	next, ended, sweeps := map[int]int{}, map[int]bool{}, map[int]int{}
	best, win := math.Inf(-1), 0
	src := &rowsThat{Table: fixtures.Table(2, rng.Normals(6, 400)...)}
	r, err := Fit(context.Background(), src, Spec{K: 2, Init: "kmeans", NInit: 5}, Observer{Step: func(p Progress) {
		if p.Iteration != next[p.Start] || ended[p.Start] || p.Of != 5 || p.Start < 1 || p.Start > 5 {
			t.Errorf("start %d of %d: step %d after %d", p.Start, p.Of, p.Iteration, next[p.Start]-1)
		}
		if p.Sweeps <= sweeps[p.Start] {
			t.Errorf("start %d: sweep %d after %d", p.Start, p.Sweeps, sweeps[p.Start])
		}
		next[p.Start]++
		sweeps[p.Start] = p.Sweeps // trials that were rejected and the certificate too
		if ended[p.Start] = p.Done != ascent.Going; ended[p.Start] && p.Point.F > best {
			best, win = p.Point.F, p.Start
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	passes, longest := 3, 0 // the first, the one that judges, and the one for standard errors
	for start, n := range sweeps {
		longest = max(longest, n)
		if !ended[start] {
			t.Errorf("start %d has no end", start)
		}
		passes += n
	}
	// The winner's end is looked at in every direction, by passes on both sides of it: at most 12 directions of two components on two
	// columns.
	closer := r.Sweeps - 1 - sweeps[win]
	if closer < 2 || closer > 2*12+1 {
		t.Errorf("the closer look at the end took %d passes", closer)
	}
	if passes += closer; len(next) != 5 || r.SweepsTotal != passes {
		t.Errorf("%d starts, %d passes counted, %d made", len(next), r.SweepsTotal, passes)
	}
	// One pass serves all starts that still climb; distinct rows, distinct values and the rows to start from take a look each.
	if want := longest + closer + 6; src.passes != want {
		t.Errorf("the rows were read %d times, want %d", src.passes, want)
	}
}

func TestValuesThatCannotBeFittedAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		src  *data.Table
		mode string // of Missing
		want string
	}{
		{fixtures.Table(2, 1, 2, 3, math.NaN()), "error", "row 2, column 2: the value is NaN"},
		{fixtures.Table(2, 1, math.NaN(), 3, math.NaN()), "model", `column "2" has no value in any row`},
		{fixtures.Table(1, math.NaN(), math.NaN()), "model", "no row has a value"},
		{fixtures.Table(1, 1, math.Inf(1)), "", "row 2, column 1: the value is +Inf"},
		{fixtures.Table(1, 1e200, -1e200, 0), "", `column "1": the values are so large that their variance overflows`},
		{fixtures.Table(1), "", "there are no rows"},
	} {
		for _, model := range []string{"kmeans", "gmm"} {
			if _, err := Fit(context.Background(), c.src, Spec{Model: model, K: 1, Missing: c.mode}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", model, err, c.want)
			}
		}
	}
}

func TestResultIsJSONWithTheKeysPromised(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]Spec{"gmm": {K: 2}, "kmeans": {Model: "kmeans", K: 2}} {
		r := mustFit(t, fixtures.Table(1, rng.Normals(3, 90)...), spec)
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"model", "k", "n", "weight_total", "d", "columns", "dropped_rows", "algorithm", "seed", "converged", "iterations", "sweeps",
			"sweeps_total", "seconds", "timing", "threads", "log_likelihood", "mean_log_likelihood", "free_parameters", "bic", "aic", "icl", "inertia",
			"certificate", "starts", "components", "warnings", "version"} {
			if _, ok := m[key]; !ok {
				t.Errorf("%s: no key %q", name, key)
			}
		}
		if (m["log_likelihood"] == nil) != (name == "kmeans") || (m["inertia"] == nil) != (name == "gmm") {
			t.Errorf("%s: log_likelihood %v, inertia %v", name, m["log_likelihood"], m["inertia"])
		}
	}
}

package latent

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
)

// testdata/oracle/optimum/kmeans.json: the best inertia of a thousand and more greedy k-means++ starts.
func TestOneDefaultFitOfKMeansFindsTheBestInertiaKnown(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/oracle/optimum/kmeans.json")
	if err != nil {
		t.Fatal(err)
	}
	var o struct {
		Fits []struct {
			Data struct {
				File, Transform string
				Columns         []string
			}
			K       int
			Inertia float64
		}
	}
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	found, fits := 0, 0
	for _, want := range o.Fits {
		name, seeds := strings.Split(filepath.Base(want.Data.File), ".")[0], uint64(10)
		if name == "digits" {
			seeds = 2
		}
		src, _, err := data.Load(context.Background(), "@"+name, data.Options{Header: "auto", Missing: "error", Columns: want.Data.Columns})
		if err != nil {
			t.Fatal(err)
		}
		spec := Spec{Model: "kmeans", K: want.K, Scale: want.Data.Transform}
		here := 0
		for spec.Seed = new(uint64(1)); *spec.Seed <= seeds; *spec.Seed++ {
			r, err := Fit(context.Background(), src, spec)
			if err != nil {
				t.Fatal(err)
			}
			if got := *r.Inertia; got <= want.Inertia*(1+1e-9) {
				here++
			} else if got > 1.03*want.Inertia {
				t.Errorf("%s, k %d, seed %d: %.4f times the best known", name, want.K, *spec.Seed, got/want.Inertia)
			}
		}
		if here == 0 {
			t.Errorf("%s, %s, k %d: none of %d fits found it", name, want.Data.Transform, want.K, seeds)
		}
		found, fits = found+here, fits+int(seeds)
	}
	if float64(found) < 0.9*float64(fits) {
		t.Errorf("found in %d of %d fits", found, fits)
	}
}

// A given start is climbed from as it stands, and limits are those of Lloyd's algorithm.
func TestWhenKMeansGoesOnWhereLloydEnds(t *testing.T) {
	t.Parallel()
	src := fixtures.Table(2, rng.Normals(3, 400)...)
	labels := make([]int32, 200)
	for i := range labels {
		labels[i] = int32(i % 5)
	}
	centers := [][]float64{{0, 0}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1}}
	given := mustFit(t, src, Spec{Model: "kmeans", K: 5, Algorithm: "lloyd", NInit: 1}).Model
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{K: 5}, "breathing"},
		{Spec{K: 5, Algorithm: "auto", Init: "random", NInit: 3}, "breathing"},
		{Spec{K: 5, Algorithm: "breathing", Init: "centers", Centers: centers}, "breathing"},
		{Spec{K: 5, Algorithm: "breathing", MaxIter: new(2)}, "breathing"},
		{Spec{K: 5, Algorithm: "lloyd"}, "lloyd"},
		{Spec{K: 5, Init: "centers", Centers: centers}, "lloyd"},
		{Spec{K: 5, Init: "labels", Labels: labels}, "lloyd"},
		{Spec{K: 5, Init: "model", Given: given}, "lloyd"},
		{Spec{K: 5, MaxIter: new(1000)}, "lloyd"},
		{Spec{K: 5, TolShift: 1e-9}, "lloyd"},
		{Spec{K: 1}, "lloyd"},
	} {
		c.spec.Model = "kmeans"
		r := mustFit(t, src, c.spec)
		if r.Algorithm != c.want || r.Algorithm == "lloyd" && r.Moves != 0 || c.spec.MaxIter != nil && r.Iterations > *c.spec.MaxIter {
			t.Errorf("%+v is fitted by %s, want %s; %d moves, %d iterations", c.spec, r.Algorithm, c.want, r.Moves, r.Iterations)
		}
		if again := Told(r.Model); again.Moves != r.Moves {
			t.Errorf("the model tells of %d moves, the result of %d", again.Moves, r.Moves)
		}
	}
	if _, err := Fit(context.Background(), src, Spec{Model: "kmedians", K: 2, Algorithm: "breathing"}); err == nil {
		t.Error("K-medians breathes")
	}
	if _, err := Fit(context.Background(), src, Spec{Model: "kmeans", K: 2, Algorithm: "breathing", TolShift: 1}); err == nil {
		t.Error("--tol-shift is ignored")
	}
}

// hidden is a source that is no table: rows pass by.
type hidden struct{ *data.Table }

func TestKMeansOfMoreRowsThanASampleIsThatOfAStream(t *testing.T) {
	t.Parallel()
	n := seed.SampleRows + 3000
	x := rng.Normals(21, 2*n)
	for i := range n {
		x[2*i] += 6 * float64(i%4)
	}
	src := fixtures.Table(2, x...)
	spec := Spec{Model: "kmeans", K: 7, Threads: 2}
	table, stream := mustFit(t, src, spec), mustFit(t, hidden{src}, spec)
	if saved(t, table.Model) != saved(t, stream.Model) {
		t.Error("another model than from the table")
	}
	spec.Algorithm, spec.NInit = "lloyd", 1
	plain := mustFit(t, src, spec)
	if *table.Inertia > *plain.Inertia*(1+1e-12) || !table.Converged || table.Starts.DrawnFrom != seed.SampleRows {
		t.Errorf("inertia %v, of Lloyd's algorithm from the same start %v", *table.Inertia, *plain.Inertia)
	}
	// At rest: from the end no label changes.
	again := mustFit(t, src, Spec{Model: "kmeans", K: 7, Init: "model", Given: table.Model})
	for i, c := range again.Components {
		if slices.ContainsFunc([]int{0, 1}, func(j int) bool { return math.Abs(c.Mean[j]-table.Components[i].Mean[j]) > 1e-9 }) || c.Rows != table.Components[i].Rows {
			t.Errorf("component %d moves from %+v to %+v", i, table.Components[i], c)
		}
	}
}

func TestKMeansOnRowsNearTheLimitsOfNumbers(t *testing.T) {
	t.Parallel()
	for _, scale := range []float64{1e-150, 1e-20, 1, 1e20, 1e150} {
		x := rng.Normals(17, 120)
		for i := range x {
			x[i] = (x[i] + float64(i/40*10)) * scale
		}
		r, err := Fit(context.Background(), fixtures.Table(2, x...), Spec{Model: "kmeans", K: 3})
		if err != nil {
			t.Errorf("in units of %v: %v", scale, err)
			continue
		}
		for _, c := range r.Components {
			if c.Rows != 20 {
				t.Errorf("in units of %v: %d rows in a group of 20", scale, c.Rows)
			}
		}
	}
}

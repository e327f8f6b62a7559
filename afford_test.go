package latent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latent-go/latent/internal/fixtures"
)

// A fit whose vectors cannot be held is refused before anything is climbed, by the field that is to blame, with what would
// do. 30 rows of 4,000 columns have 8,006,000 numbers in a covariance and its mean, 64 MB; fifty tries hold six each.
func TestAFitThatMemoryCannotHoldIsRefusedAtOnce(t *testing.T) {
	began := time.Now()
	_, err := Fit(context.Background(), fixtures.Noise(30, 4000, 1), Spec{K: 3})
	var wrong *SpecError
	if !errors.As(err, &wrong) || wrong.Field != "Covariance" {
		t.Fatalf("error %v", err)
	}
	for _, word := range []string{"full with K 3 on 4,000 columns", "24,018,002 parameters for 120,000 cells", "PCA", "Covariance diag", "GB of memory"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q is not in %q", word, err)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %q", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v to refuse", took)
	}
}

// A choice leaves out the candidates that are not affordable, names them, and is the choice among the others.
func TestAChoiceLeavesOutWhatIsNotAffordable(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	src := fixtures.Noise(30, 40, 6)
	for i := range src.N / 2 { // two groups far apart
		for j := range src.D {
			src.F64[i*src.D+j] += 8
		}
	}
	r, err := Fit(ctx, src, Spec{KRange: [2]int{2, 3}, Covariance: "VVE,EII,EVE"})
	if err != nil {
		t.Fatal(err)
	}
	if r.K != 2 || r.Mclust != "EII" {
		t.Errorf("k = %d, %s", r.K, r.Mclust)
	}
	if want := []string{"VVE", "EVE"}; !slices.Equal(r.Choice.TooLarge, want) {
		t.Errorf("too large: %q, wanted %q", r.Choice.TooLarge, want)
	}
	if len(r.Candidates) != 2 {
		t.Errorf("%d candidates, wanted EII with 2 and with 3", len(r.Candidates))
	}
	if _, err := Fit(ctx, src, Spec{KRange: [2]int{2, 3}, Covariance: "VVE,EVE"}); err == nil || !strings.Contains(err.Error(), "PCA") {
		t.Errorf("nothing is affordable: %v", err)
	}
}

// Numbers that nobody has a use for are refused before anything is read; ranges beyond the rows before anything is tried.
func TestHugeNumbersAreRefused(t *testing.T) {
	const huge = 1_000_000_000
	ctx, src := context.Background(), fixtures.Noise(50, 2, 8)
	for _, c := range []struct {
		spec  Spec
		field string
	}{
		{Spec{K: 2, NInit: huge}, "NInit"},
		{Spec{K: 2, NInit: MaxStarts + 1}, "NInit"},
		{Spec{K: 2, Bootstrap: huge}, "Bootstrap"},
		{Spec{K: 2, LRT: huge}, "LRT"},
		{Spec{K: 2, Threads: huge}, "Threads"},
		{Spec{K: huge}, "K"},
		{Spec{K: huge, Model: "kmeans"}, "K"},
		{Spec{KRange: [2]int{1, huge}}, "K"},
		{Spec{KRange: [2]int{1, 151}, Model: "kmeans"}, "K"},
		{Spec{KRange: [2]int{huge, 2 * huge}}, "K"},
		{Spec{K: 2, PCA: huge}, "PCA"},
	} {
		began := time.Now()
		_, err := Fit(ctx, src, c.spec)
		var wrong *SpecError
		if !errors.As(err, &wrong) || wrong.Field != c.field {
			t.Errorf("%+v: %v", c.spec, err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: it took %v to refuse", c.field, took)
		}
	}
	few := fixtures.Noise(20_000, 1, 9)
	if _, err := Fit(ctx, few, Spec{KRange: [2]int{1, 20_000}, Model: "kmeans"}); err == nil || !strings.Contains(err.Error(), "10000 candidates") {
		t.Errorf("a range of 20,000: %v", err)
	}
	for _, spec := range []Spec{ // large, and of no consequence
		{K: 2, MaxIter: new(huge)},
		{K: 2, Algorithm: "anti-annealing", BetaSteps: huge, MaxIter: new(30)},
		{K: 2, Model: "kmeans", Algorithm: "minibatch", BatchSize: huge, MaxIter: new(3)},
	} {
		if _, err := Fit(ctx, src, spec); err != nil {
			t.Errorf("%+v: %v", spec, err)
		}
	}
}

// Candidates each of which is affordable may be too many together: the choice is refused at once, with what would take less,
// unless that is allowed. Where the table has cells in plenty for each parameter, time is no reason.
func TestAChoiceThatTakesTooLongTogetherIsRefused(t *testing.T) {
	ctx, wide := context.Background(), fixtures.Noise(40, 40_000, 11)
	for _, c := range []struct {
		spec  Spec
		field string
		words []string
	}{
		{Spec{}, "K", []string{"34 candidates on 40,000 columns", "KRange 1:3", "PCA N", "AllowLong"}},
	} {
		began := time.Now()
		_, err := Fit(ctx, wide, c.spec)
		var wrong *SpecError
		if !errors.As(err, &wrong) || wrong.Field != c.field {
			t.Fatalf("%+v: %v", c.spec, err)
		}
		for _, word := range append(c.words, "on one core") {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%q is not in %q", word, err)
			}
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%+v: it took %v to refuse", c.spec, took)
		}
	}
}

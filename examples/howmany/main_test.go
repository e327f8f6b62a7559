package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/latent-go/latent"
)

// mclust's BIC of VEV is 561.73 with two components and 562.55 with three, and the next shape is 12 behind; setosa is apart
// and the other two species touch.
func TestIrisIsAFlatChoiceBetweenTwoAndThree(t *testing.T) {
	var out strings.Builder
	if err := run(&out, "@iris", latent.Spec{KRange: [2]int{1, 5}, Covariance: "VVV,EEE,VEV"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 groups, tied-shape         BIC 561.7", "3 groups, tied-shape         BIC 562.6 (+0.8)", "the choice is flat", "splits groups of the coarser"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

func TestThreeGroupsThatAreApartAreAClearChoice(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("left,right\n")
	for i := range 300 {
		fmt.Fprintf(&b, "%g,%g\n", rng.NormFloat64()+float64(20*(i%3)), rng.NormFloat64())
	}
	path := filepath.Join(t.TempDir(), "three.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var spec latent.Spec
	if testing.Short() { // all shapes still, of fewer k
		spec = latent.Spec{KRange: [2]int{1, 4}, Covariance: "all"}
	}
	var out strings.Builder
	if err := run(&out, path, spec); err != nil {
		t.Fatal(err)
	}
	if first := strings.Split(out.String(), "\n")[1]; !strings.HasPrefix(first, "  3 groups, ") {
		t.Errorf("three groups are told as\n%s", out.String())
	}
}

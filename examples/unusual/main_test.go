package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAPlantedRowIsTheMostUnusual(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("left,right\n")
	for i := range 200 {
		x, y := rng.NormFloat64(), rng.NormFloat64()
		switch {
		case i == 76:
			x, y = 0, 9 // row 77: nine standard deviations off in its second column
		case i%2 == 1:
			x += 20
		}
		fmt.Fprintf(&b, "%g,%g\n", x, y)
	}
	path := filepath.Join(t.TempDir(), "planted.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(&out, path, 2); err != nil {
		t.Fatal(err)
	}
	first := strings.Split(out.String(), "\n")[1]
	if !strings.HasPrefix(first, "row 77: ") || !strings.Contains(first, "right is +") {
		t.Errorf("the most unusual row is told as %q, want row 77 for its column right\n%s", first, out.String())
	}
}

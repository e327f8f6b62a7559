package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Whatever the table, one without gaps comes out as it went in; cells that were there stay; and what was filled has no gap left, so that
// it comes out as it is the next time.
func FuzzImpute(f *testing.F) {
	for _, s := range []string{"x,y\n1,2\n", "1,2\n3,\n,4", "x,y,z\r\n1,NA,\"a\"\"b\"\r\n\r\n \"?\" ,2,\"\n\"\r\n", "\xEF\xBB\xBFy,x\n\"1,5\",2\n,\n", "y;x\n1,5;\n"} {
		f.Add(s)
	}
	model := filepath.Join(f.TempDir(), "m.json")
	text := `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "full", "columns": ["x", "y"], "weights": [0.5, 0.5], "means": [[0, 0], [5, 1]],
		"covariances": [[[1, 0.5], [0.5, 1]], [[1, 0], [0, 2]]]}`
	if err := os.WriteFile(model, []byte(text), 0o666); err != nil {
		f.Fatal(err)
	}
	impute := func(in string) (out, said string, ok bool) {
		var stdout, stderr bytes.Buffer
		status := run(context.Background(), []string{"impute", model, "-", "--delimiter", ",", "--decimal", "."}, strings.NewReader(in), &stdout, &stderr)
		return stdout.String(), stderr.String(), status == 0
	}
	gap := func(cell string) bool {
		return slices.Contains([]string{"", "na", "n/a", "nan", "null", "?"}, strings.ToLower(strings.Trim(strings.TrimPrefix(cell, "\uFEFF"), " \t\r\n")))
	}
	f.Fuzz(func(t *testing.T, in string) {
		out, said, ok := impute(in)
		if !ok {
			return
		}
		if strings.Contains(said, "latent: 0 cells filled") && out != in {
			t.Fatalf("%q becomes %q", in, out)
		}
		if again, said, ok := impute(out); !ok || again != out || !strings.Contains(said, "latent: 0 cells filled") {
			t.Fatalf("%q becomes %q, and that %q: %s", in, out, again, said)
		}
		was, err1 := csv.NewReader(strings.NewReader(in)).ReadAll()
		is, err2 := csv.NewReader(strings.NewReader(out)).ReadAll()
		if err1 != nil || err2 != nil {
			return // blanks before quotes, which that reader does not take
		}
		if len(was) != len(is) {
			t.Fatalf("%d records become %d", len(was), len(is))
		}
		for i := range was {
			for j, cell := range was[i] {
				if is[i][j] != cell && !gap(cell) {
					t.Fatalf("cell %d of record %d, %q, becomes %q", j+1, i+1, cell, is[i][j])
				}
			}
		}
	})
}

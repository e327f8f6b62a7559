package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/model"
)

// FuzzModelVerbs: whatever is in a model file, every verb that reads one does its work or refuses it with an error.
func FuzzModelVerbs(f *testing.F) {
	files, _ := filepath.Glob("../../testdata/model/*.json")
	if len(files) == 0 {
		f.Fatal("no model files to start from")
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, text := range []string{
		`{"format":"latent-model","version":1,"model":"bernoulli","columns":["x"],"weights":[0.5,0.5],"probabilities":[[0],[1]],"log_likelihood":-1,"n":2,"certificate":{"distance_se":0.1,"remaining_log_likelihood":0.1,"method":"estimate"},"standard_errors":{"weights":[0.1,0.1],"probabilities":[[0.1],[null]],"rows":2},"provenance":{"rows":2,"weight_total":2,"starts":{"n":2,"moves":{"tried":1,"kept":1,"gain":1}},"stability":{"replicates":1,"done":1,"ari":1,"ari_low":1,"groups":[{"jaccard":1},{"jaccard":0}]},"lrt":{"k":2,"against":3,"statistic":1,"p":0.5,"done":1}}}`,
		`{"format":"latent-model","version":1,"model":"kmeans","columns":["x"],"centers":[[0],[1]],"sizes":[1,0],"provenance":{"rows":2,"inertia":1,"choice":{"criterion":"gap","higher_is_better":true,"margin":null},"candidates":[{"k":1,"gap":1,"gap_se":1},{"k":2,"gap":2,"gap_se":1}]}}`,
		`{"format":"latent-model","version":1,"model":"gmm","covariance":"spherical","columns":["x"],"weights":[0.5,0.5],"means":[[0],[10]],"covariances":[1,1],"sums":{"rows":4,"weight":4,"log_density":{"mean":-2.1,"variance":1},"entropy":0,"seen":[4],"origin":[0],"groups":[2,2],"values":[0,0,2,2,2,2]},"spec":{"weights":"uniform","reg_covar":0.1}}`,
		`{"format":"latent-model","version":1,"model":"kmeans","columns":["x"],"centers":[[0],[1]],"sums":{"rows":2,"weight":2,"log_density":{"mean":0,"variance":0},"cost":0,"seen":[2],"origin":[0],"groups":[1,1],"values":[0,1,1,1]}}`,
	} {
		f.Add([]byte(text))
	}
	for _, b := range fixtures.ModelFiles() {
		f.Add(b)
	}
	dir := f.TempDir()
	file, rows, page := filepath.Join(dir, "m.json"), filepath.Join(dir, "rows.csv"), filepath.Join(dir, "page.html")
	f.Fuzz(func(t *testing.T, b []byte) {
		m := new(model.Model)
		if m.UnmarshalJSON(b) != nil || m.D() > 16 || m.K() > 16 {
			return
		}
		text := strings.Repeat("0,", m.D()-1) + "0\n" + strings.Repeat("1,", m.D()-1) + "1\n" // by position: nothing names the columns
		for name, b := range map[string][]byte{file: b, rows: []byte(text)} {
			if err := os.WriteFile(name, b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		verbs := [][]string{{"show", file, "-v"}, {"show", file, "--json"}, {"show", file, "--plot"}, {"label", file, rows, "--header", "no", "--append"}, {"score", file, rows, "--header", "no"},
			{"impute", file, rows, "--header", "no"}, {"sample", file, "-n", "1"}, {"export", file, "--to", "json"},
			{"label", file, rows, "--header", "no", "--sequence", "", "--time", "", "--decode", "smooth"}, {"forecast", file, rows, "--header", "no", "--sequence", "", "--time", ""},
			{"update", file, rows, "--header", "no", "-o", filepath.Join(dir, "updated.json")}}
		if sampled(string(b), 8) { // a page takes longer than all others together
			verbs = append(verbs, []string{"report", file, rows, "--header", "no", "-o", page})
		}
		for _, args := range verbs {
			if got := runSafely(args); got.panicked != "" || got.status > 2 && !(args[0] == "update" && got.status == exitUnfinished) {
				t.Errorf("%q: exit status %d, %s %s", args, got.status, got.errw, got.panicked)
			}
		}
	})
}

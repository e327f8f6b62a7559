package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The Go code that a run shows builds, and prints the number of the run to the last bit.
func TestTheGoCodeOfARunRepeatsIt(t *testing.T) {
	t.Parallel()
	v := visit(t)
	folder := t.TempDir()
	own := v.upload("two groups.csv", twoGroups())
	if err := os.WriteFile(filepath.Join(folder, "two groups.csv"), []byte(twoGroups()), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, body := range []string{
		`{"data":"` + own + `","spec":{"k_range":[1,3],"covariance":"full,tied","seed":4},"options":{"id":"name"}}`,
		`{"data":"@faithful","spec":{"k":2,"model":"kmeans"},"trace":true,"options":{"centers":[[2,50],[4,null]]}}`,
		`{"data":"@penguins","spec":{"k":3,"model":"mixed","tol":0.02,"max_iter":50},"options":{"missing":"drop","exclude":["year"]}}`,
		`{"data":"@iris","spec":{"k":3,"transform":"log:petal_width","scale":"standard","algorithm":"anti-annealing","beta":[0.5,1]},"trace":true}`,
		`{"data":"@iris","spec":{"k":3,"init":"labels:species","algorithm":"em"},"trace":true}`,
	} {
		s := v.run(body)
		if s.Error != "" {
			t.Fatalf("%s: %s", body, s.Error)
		}
		main, program := filepath.Join(folder, "main"+strconv.Itoa(i)+".go"), filepath.Join(folder, "program"+strconv.Itoa(i))
		if err := os.WriteFile(main, []byte(s.Go), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("go", "build", "-o", program, main).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s\n%s", err, out, s.Go)
		}
		if _, b := v.get("/api/runs/" + s.Run + "/centers.csv"); len(b) > 0 {
			os.WriteFile(filepath.Join(folder, "centers.csv"), b, 0o600)
		}
		run := exec.Command(program)
		run.Dir = folder
		out, err := run.CombinedOutput()
		want := s.Result.LogLik
		if want == nil {
			want = s.Result.Inertia
		}
		if got := strings.TrimSpace(string(out)); err != nil || got != strconv.FormatFloat(*want, 'g', -1, 64) {
			t.Errorf("%v: it prints %s, the run has %v\n%s", err, got, *want, s.Go)
		}
	}
}

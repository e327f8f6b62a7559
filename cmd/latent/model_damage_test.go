package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/model"
)

// fittedModels writes model files of every kind, with all that a fit can leave in one, and returns them by name with the flags
// of the fit.
func fittedModels(t *testing.T) map[string][]string {
	t.Helper()
	var rows, bits, words strings.Builder
	rows.WriteString("x,y,z,w,known\n")
	bits.WriteString("a,b,c\n")
	words.WriteString("sky,wind\n")
	for i := range 24 {
		g := i % 2
		fmt.Fprintf(&rows, "%g,%g,%g,%d,%c\n", 6*float64(g)+math.Sin(float64(i)), math.Cos(3*float64(i)), 0.3*math.Sin(5*float64(i)), 1+i%3/2, 'u'+g)
		fmt.Fprintf(&bits, "%d,%d,%d\n", g, (i*7+g)%10/6, (i*3+5*g)%11/7)
		fmt.Fprintf(&words, "%s,%s\n", []string{"clear", "rain", "snow"}[(i+g)%3], []string{"no", "yes"}[(i*5%7+g)%2])
	}
	for name, text := range map[string]string{"rows.csv": rows.String(), "bits.csv": bits.String(), "words.csv": words.String()} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	all := map[string][]string{
		"full":        {"rows.csv", "-k", "2", "--columns", "x,y", "--weight-column", "w", "--truth", "known", "--bootstrap", "2", "--lrt", "2"},
		"chosen":      {"rows.csv", "-k", "1:2", "--columns", "x,y", "--covariance", "tied,spherical", "--bootstrap", "2"},
		"proportions": {"rows.csv", "-k", "2", "--columns", "x,y,z", "--covariance", "VEE", "--scale", "standard"},
		"components":  {"rows.csv", "-k", "2", "--columns", "x,y,z", "--covariance", "diag", "--scale", "robust", "--pca", "2"},
		"one number":  {"rows.csv", "-k", "2", "--columns", "x,y", "--covariance", "EII", "--scale", "standard"},
		"kmeans":      {"rows.csv", "-k", "2:3", "--columns", "x,y", "--model", "kmeans", "--scale", "standard"},
		"gap":         {"rows.csv", "-k", "1:3", "--columns", "x,y", "--model", "kmeans", "--criterion", "gap"},
		"price":       {"rows.csv", "--columns", "x,y", "--model", "kmeans", "--penalty", "9"},
		"threshold":   {"rows.csv", "-k", "2", "--columns", "x,y,z", "--model", "bernoulli", "--binarize", "0.1"},
	}
	for _, name := range kind.Names() { // each kind once as it comes
		table := "bits.csv"
		switch k := kind.Of(name); {
		case k.Cells.Levels:
			table = "words.csv"
		case k.Cells.Units:
			table = "rows.csv"
		}
		all["kind "+name] = []string{table, "-k", "2", "--model", name, "--exclude", "known"}
		if table != "rows.csv" {
			all["kind "+name] = all["kind "+name][:5]
		}
	}
	for name, args := range all {
		var out, errw bytes.Buffer
		if status := run(context.Background(), append(append([]string{"fit"}, args...), "-o", name+".json", "-q", "--allow-unconverged"), nil, &out, &errw); status != 0 {
			t.Fatalf("%s: exit status %d: %s", name, status, errw.String())
		}
	}
	return all
}

// places calls do with every place in a JSON value: set puts another value there, or takes the place away where it is given
// gone. Of long lists the first and the last element stand for all.
func places(v any, path string, do func(path string, set func(any))) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(mapKeys(v)) {
			old, at := v[key], path+"."+key
			do(at, func(x any) {
				if v[key] = x; x == gone {
					delete(v, key)
				}
			})
			v[key] = old
			places(old, at, do)
		}
	case []any:
		for i := range v {
			if i > 0 && i < len(v)-1 {
				continue
			}
			old, at := v[i], fmt.Sprintf("%s.%d", path, i)
			do(at, func(x any) {
				if x != gone {
					v[i] = x
				}
			})
			v[i] = old
			places(old, at, do)
		}
	}
}

func mapKeys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// gone takes a key away.
var gone any = struct{ gone string }{"gone"}

// damages are what is put in the place of a value, by name.
func damages() map[string]any {
	var long []any
	for i := range 300 {
		long = append(long, float64(i))
	}
	return map[string]any{"gone": gone, "null": nil, "-1": -1.0, "0": 0.0, "1e308": 1e308, "2.5": 2.5, "no text": "", "text": "odd\x1b[31m\n", "true": true, "[]": []any{}, "[null]": []any{nil}, "{}": map[string]any{},
		"unknown": map[string]any{"unknown key": 1.0}, "long": long, "nested": []any{[]any{[]any{}}}}
}

// verbsOf returns what is run on a model file: every verb that reads one.
func verbsOf(file string, fit []string) [][]string {
	data := fit[0]
	all := [][]string{{"show", file, "-v"}, {"show", file, "--json"}, {"show", file, "--plot", "--no-color"}, {"label", file, data, "--probabilities"}, {"score", file, data}, {"score", file, data, "--mahalanobis", "--append"},
		{"score", file, data, "--validity"}, {"sample", file, "-n", "3"}, {"export", file, "--to", "json"}, {"export", file, "--to", "npz", "-o", "out.npz"}, {"report", file, data, "-o", "out.html"}}
	start := []string{"fit", data, "--init", "model:" + file, "--max-iter", "1", "-k", "2", "-q", "-o", "out.json", "--allow-unconverged"}
	flags := len(start)
	for i := 1; i < len(fit); i++ {
		if slices.Contains([]string{"--columns", "--model", "--scale", "--pca", "--binarize"}, fit[i]) {
			start = append(start, fit[i], fit[i+1])
		}
		if fit[i] == "--covariance" && !strings.Contains(fit[i+1], ",") {
			start = append(start, fit[i], fit[i+1])
		}
	}
	other := []string{"compare", data, "--init", "model:" + file, "--max-iter", "1", "-k", "2", "--algorithms", "em"}
	return append(all, start, append(other, start[flags:]...))
}

// A model file that was damaged in any one place, whatever stands there, is refused with one line by every verb, or read and
// worked with. Nothing panics.
func TestDamagedModelFilesNeverPanic(t *testing.T) {
	t.Chdir(t.TempDir())
	models := fittedModels(t)
	tried, read, ran := 0, 0, 0
	for _, name := range slices.Sorted(mapKeysOf(models)) {
		b, err := os.ReadFile(name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var modelFile map[string]any
		if err := json.Unmarshal(b, &modelFile); err != nil {
			t.Fatal(err)
		}
		for _, verb := range verbsOf(name+".json", models[name]) { // as it is, every verb works or says why it does not
			if got := runSafely(verb); got.panicked != "" || got.status > exitUnfinished {
				t.Errorf("%q: exit status %d %s: %s", verb, got.status, got.panicked, got.errw)
			}
		}
		damage := damages()
		places(map[string]any{"model": modelFile}, "", func(path string, set func(any)) {
			for _, what := range slices.Sorted(mapKeys(damage)) {
				set(damage[what])
				b, err := json.Marshal(modelFile)
				if err != nil || path == ".model" {
					continue
				}
				tried++
				taken := new(model.Model).UnmarshalJSON(b) == nil
				verbs := verbsOf("odd.json", models[name])
				if taken {
					read++
				} else {
					verbs = verbs[:1] // all verbs refuse it by the same reader
				}
				written := false
				for _, verb := range verbs { // of all pairs of a file and a verb some stand for all: other ones for each verb
					one := uint32(10)
					if verb[0] == "report" || testing.Short() { // a page takes as long as all others together
						one = 80
					}
					if !sampled(name+path+what+verb[0]+verb[len(verb)-1], one) {
						continue
					}
					if !written {
						written = true
						if err := os.WriteFile("odd.json", b, 0o666); err != nil {
							t.Fatal(err)
						}
					}
					ran++
					got := runSafely(verb)
					if got.panicked != "" {
						t.Errorf("%s, %s = %s: %q panics: %s", name, path, what, verb, got.panicked)
					}
					if got.status < 0 || got.status > 3 || got.status == 1 && strings.Count(strings.TrimRight(got.errw, "\n"), "\n") > strings.Count(got.errw, "latent: warning") || strings.Contains(got.errw, "\x1b") || verb[0] == "show" && !slices.Contains(verb, "--plot") && strings.Contains(got.out, "\x1b") {
						t.Errorf("%s, %s = %s: %q: exit status %d: %q", name, path, what, verb, got.status, got.errw)
					}
				}
			}
		})
	}
	t.Logf("%d damaged files, of which %d are read; %d runs", tried, read, ran)
	if read == 0 || tried < 1000 {
		t.Errorf("%d files were tried and %d read: the test tests nothing", tried, read)
	}
}

func mapKeysOf[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// sampled picks one name in n, the same ones every time.
func sampled(name string, n uint32) bool {
	h := fnv.New32a()
	h.Write([]byte(name))
	return h.Sum32()%n == 0
}

type ranResult struct {
	status   int
	out      string
	errw     string
	panicked string
}

// runSafely runs the command and catches a panic.
func runSafely(args []string) (r ranResult) {
	defer func() {
		if p := recover(); p != nil {
			r.panicked = fmt.Sprintf("%v\n%s", p, debug.Stack())
		}
	}()
	var out, errw bytes.Buffer
	r.status = run(context.Background(), args, strings.NewReader(""), &out, &errw)
	r.out, r.errw = out.String(), errw.String()
	return r
}

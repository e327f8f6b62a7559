package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// modelTold is what a page is told of a model file.
type modelTold struct {
	ID, Name, Error string
	Shown           struct {
		Result                               json.RawMessage
		Finding, Trust, Kind, Shape, Command string
		Groups                               struct {
			Rows, Shares []string
			Lines        []struct {
				Name, Between string
				Cells         []string
			}
			Notes []string
		}
	}
}

// open sends a file and returns the status and what is told of it.
func (v *visitor) open(name string, body []byte) (int, *modelTold) {
	v.t.Helper()
	r, err := v.ask(v.t.Context(), "POST", "/api/data?name="+url.QueryEscape(name), "application/octet-stream", body)
	if err != nil {
		v.t.Fatal(err)
	}
	defer r.Body.Close()
	var told modelTold
	if err := json.NewDecoder(r.Body).Decode(&told); err != nil {
		v.t.Fatal(err)
	}
	return r.StatusCode, &told
}

// refusalOf runs a command that fails, and returns its line of errors without the program's name.
func refusalOf(t *testing.T, args ...string) string {
	t.Helper()
	var out, errw bytes.Buffer
	if run(t.Context(), args, strings.NewReader(""), &out, &errw) == 0 {
		t.Fatalf("%q is not refused", args)
	}
	return strings.TrimPrefix(strings.TrimSpace(errw.String()), "latent: ")
}

const byHand = `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "full", "columns": ["a", "b"], "weights": [0.6, 0.4],
	"means": [[1, 2], [30, 40]], "covariances": [[[4, 1], [1, 9]], [[4, 1], [1, 9]]]}`

// A model file opens as what `latent show` tells of it; it can be taken away as it is, and labels rows as `latent label` does.
func TestAModelFileIsShown(t *testing.T) {
	v, folder := visit(t), t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	rows := write("rows.csv", twoGroups())
	write("hand.json", byHand)
	write("centres.json", `{"format": "latent-model", "version": 1, "model": "kmeans", "columns": ["a b", "c"], "centers": [[0, 0], [6, -5]]}`)
	write("no ending", byHand)
	for name, words := range map[string][]string{
		"two.json":    {rows, "-k", "2", "--covariance", "full", "--id", "name"},
		"chosen.json": {rows, "-k", "1:3", "--covariance", "full,diag", "--id", "name"},
		"mixed.json":  {"@penguins", "-k", "3", "--model", "mixed", "--missing", "drop"},
		"kmeans.json": {rows, "-k", "2", "--model", "kmeans", "--id", "name"},
		"scaled.json": {"@iris", "-k", "3", "--scale", "standard", "--pca", "2"},
	} {
		command(t, "latent fit", append(words, "-o", filepath.Join(folder, name))...)
	}
	data := v.upload("rows.csv", twoGroups())
	for _, name := range []string{"hand.json", "centres.json", "no ending", "two.json", "chosen.json", "mixed.json", "kmeans.json", "scaled.json"} {
		path := filepath.Join(folder, name)
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		status, m := v.open(name, body)
		if status != http.StatusOK || m.Name != name || m.ID == "" {
			t.Errorf("%s: %d %s", name, status, m.Error)
			continue
		}
		if got, want := timeless(t, m.Shown.Result), timeless(t, command(t, "latent show --json", path)); got != want {
			t.Errorf("%s: show prints\n%s\nthe page has\n%s", name, want, got)
		}
		told := string(command(t, "latent show", path))
		for _, sentence := range append([]string{m.Shown.Finding, m.Shown.Trust, m.Shown.Kind, m.Shown.Shape}, m.Shown.Groups.Notes...) {
			if !strings.Contains(strings.ToLower(told), strings.ToLower(sentence)) {
				t.Errorf("%s: show does not say %q:\n%s", name, sentence, told)
			}
		}
		squeezed := strings.Join(strings.Fields(told), " ")
		for _, l := range m.Shown.Groups.Lines {
			if line := strings.Join(strings.Fields(l.Name+" "+l.Between+" "+strings.Join(l.Cells, " ")), " "); !strings.Contains(squeezed, line) {
				t.Errorf("%s: show has no line %q:\n%s", name, line, told)
			}
		}
		for word, cells := range map[string][]string{"rows ": m.Shown.Groups.Rows, "share ": m.Shown.Groups.Shares} {
			if has := strings.Contains(told, "\n"+word); has != (len(cells) > 0) || !strings.Contains(squeezed, strings.Join(cells, " ")) {
				t.Errorf("%s: the page has %s%q, show tells\n%s", name, word, cells, told)
			}
		}
		if _, got := v.get("/api/data/" + m.ID + "/model.json"); !bytes.Equal(got, body) {
			t.Errorf("%s: the model comes back as %.80q", name, got)
		}
		if name == "two.json" || name == "kmeans.json" {
			status, got := v.get("/api/data/" + m.ID + "/applied.csv?data=" + data)
			if want := command(t, "latent label", path, rows); status != http.StatusOK || !bytes.Equal(got, want) {
				t.Errorf("%s: labels are %d %.80q, those of the command %.80q", name, status, got, want)
			}
		}
	}
}

// What is wrong with a model file, or with rows for it, is said in the words of the command, with the names of the files. A model is no table.
func TestABadModelFileIsExplained(t *testing.T) {
	v, folder := visit(t), t.TempDir()
	t.Chdir(folder)
	for name, text := range map[string]string{
		"cut.json":    byHand[:100],
		"other.json":  `{"a": [{"b": 1}]}`,
		"late.json":   strings.Replace(byHand, `"version": 1`, `"version": 99`, 1),
		"weights.txt": strings.Replace(byHand, "0.6", "-0.6", 1),
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if status, m := v.open(name, []byte(text)); status != http.StatusUnprocessableEntity || m.Error != refusalOf(t, "show", name) {
			t.Errorf("%s: %d %q, the command says %q", name, status, m.Error, refusalOf(t, "show", name))
		}
	}
	if status, m := v.open("rows.json", []byte(`[{"a": 1}]`)); status != http.StatusUnprocessableEntity || !strings.Contains(m.Error, "rows.json: a JSON file; save the table in it as CSV") {
		t.Errorf("a table in JSON: %d %q", status, m.Error)
	}
	os.WriteFile("hand.json", []byte(byHand), 0o600)
	os.WriteFile("others.csv", []byte("x,y\n1,2\n3,4\n"), 0o600)
	_, m := v.open("hand.json", []byte(byHand))
	others, said := v.upload("others.csv", "x,y\n1,2\n3,4\n"), struct{ Error string }{}
	status, b := v.get("/api/data/" + m.ID + "/applied.csv?data=" + others)
	if json.Unmarshal(b, &said); status != http.StatusUnprocessableEntity || said.Error != refusalOf(t, "label", "hand.json", "others.csv") {
		t.Errorf("%d %q, the command says %q", status, said.Error, refusalOf(t, "label", "hand.json", "others.csv"))
	}
	for _, path := range []string{"/marks?x=a", "/rows/1"} {
		if status, b := v.get("/api/data/" + m.ID + path); status != http.StatusUnprocessableEntity || !strings.Contains(string(b), "hand.json: this is a model") {
			t.Errorf("%s: %d %s", path, status, b)
		}
	}
	if s := v.run(`{"data":"` + m.ID + `","spec":{"k":2}}`); !strings.Contains(s.Error, "hand.json: this is a model") {
		t.Errorf("a fit of a model: %q", s.Error)
	}
	for _, path := range []string{"/model.json", "/applied.csv?data=" + others} {
		if status, b := v.get("/api/data/" + others + path); status != http.StatusNotFound || !strings.Contains(string(b), "others.csv is no model") {
			t.Errorf("%s: %d %s", path, status, b)
		}
	}
}

// A studio that was started with a model file offers that in place of a table.
func TestAModelFileOfTheCommandLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "given.json")
	if err := os.WriteFile(path, []byte(byHand), 0o600); err != nil {
		t.Fatal(err)
	}
	v := visitWith(t, path)
	var state struct {
		File  any
		Model *modelTold
	}
	if _, b := v.get("/api/state"); json.Unmarshal(b, &state) != nil || state.File != nil || state.Model == nil || state.Model.Shown.Kind != "Gaussian mixture" || state.Model.Name != path {
		t.Fatalf("%s", b)
	}
	if _, got := v.get("/api/data/" + state.Model.ID + "/model.json"); string(got) != byHand {
		t.Errorf("the model comes back as %.80q", got)
	}
	if want := "latent show " + path; state.Model.Shown.Command != want {
		t.Errorf("the command is %q, want %q", state.Model.Shown.Command, want)
	}
}

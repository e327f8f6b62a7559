package studio

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// halfway is a run of four rows, which lie in the file of its studio, by a model of two groups in one place: every row belongs to them by 3 to 2.
func halfway(t *testing.T, v *server) *run {
	t.Helper()
	m := new(model.Model)
	if err := json.Unmarshal([]byte(`{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "full", "columns": ["a", "b"], "weights": [0.6, 0.4],
		"means": [[1, 2], [1, 2]], "covariances": [[[4, 1], [1, 9]], [[4, 1], [1, 9]]]}`), m); err != nil {
		t.Fatal(err)
	}
	d := v.open("own.csv", "a,b\n1,2\n3,4\n5,6\n7,8\n")
	space := v.space.get(v.cookie.Value)
	n := &run{ID: "r9", file: space.files[d.ID], folder: t.TempDir(), state: done, result: &latent.Result{K: 2, Model: m}, read: data.Options{Exact: []string{"a", "b"}}, stop: func() {}, ended: make(chan struct{})}
	close(n.ended)
	n.record.models = [][2]*model.Model{{m, nil}}
	n.record.frames = []frame{{Half: "S", Step: 1, beta: 1}}
	space.runs = append(space.runs, n)
	return n
}

// The shares of a cell are the means of its rows', however many it holds.
func TestSharesOfACellOfManyRows(t *testing.T) {
	t.Parallel()
	v := serving(t, Options{})
	n := halfway(t, v)
	const rows = 2_000_000
	table := &data.Table{N: rows, D: 2, F64: make([]float64, 2*rows)}
	n.file = opened(table, []string{"a", "b"})
	v.tables.keep(n.key(), table)
	w := httptest.NewRecorder()
	v.serveResponsibilities(w, httptest.NewRequest("GET", "/?frame=0", nil), n)
	if got, want := w.Body.Bytes(), []byte{0, 1, 0, byte(math.Round(255 * .6)), byte(math.Round(255 * .4)), 0}; string(got) != string(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Errors about rows that are read again call the file by its name.
func TestErrorsOfRunsNameTheFile(t *testing.T) {
	t.Parallel()
	v := serving(t, Options{})
	n := halfway(t, v)
	if r := v.ask("GET", "/api/runs/r9/rows", "", nil); r.StatusCode != 200 || !strings.Contains(string(r.body), `"total":4`) {
		t.Fatalf("%d %s", r.StatusCode, r.body)
	}
	v.tables.kept = nil
	os.Remove(n.file.Path)
	for _, path := range []string{"rows", "rows/1", "responsibilities?frame=0", "components?x=pc1"} {
		if r := v.ask("GET", "/api/runs/r9/"+path, "", nil); r.StatusCode != 422 || strings.Contains(string(r.body), v.Folder) || !strings.Contains(string(r.body), "own.csv") {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.body)
		}
	}
}

// The components of very many frames come in several answers, each of which goes on where the one before ended.
func TestComponentsOfManyFramesComeInParts(t *testing.T) {
	t.Parallel()
	v := serving(t, Options{})
	n := halfway(t, v)
	const frames = 100_000
	for len(n.record.frames) < frames {
		n.record.frames = append(n.record.frames, frame{Half: "S", Step: 2, beta: 1})
	}
	have, answers := 0, 0
	for have < frames {
		r := v.ask("GET", fmt.Sprint("/api/runs/r9/components?x=a&y=b&from=", have), "", nil)
		got := floats(r.body)
		if len(got) == 0 || len(got)%12 != 0 || len(got) > maxNumbers+12 || fmt.Sprint(got[:12]) != "[0.6 1 2 4 1 9 0.4 1 2 4 1 9]" {
			t.Fatalf("from %d: %d, %d numbers", have, r.StatusCode, len(got))
		}
		have += len(got) / 12
		answers++
	}
	if have != frames || answers < 2 {
		t.Errorf("%d frames in %d answers, want %d", have, answers, frames)
	}
}

// A browser that is no longer let in has no runs: they are stopped, and what they wrote goes.
func TestWhoHasToGoLeavesNoRuns(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	v := serving(t, Options{Run: func(ctx context.Context, args []string, out, errw io.Writer, h Hooks) int {
		if args[0] != "fit" {
			return echo(ctx, args, out, errw, h)
		}
		h.Read(nil, &data.Info{}, data.Options{})
		close(begun)
		<-ctx.Done()
		return 1
	}})
	over := make(chan struct{})
	go func() {
		v.ask("POST", "/api/runs", `{"data":"@iris","spec":{"k":2}}`, map[string]string{"Content-Type": "application/json"})
		close(over)
	}()
	<-begun
	v.leave(v.cookie.Value)
	select {
	case <-over:
	case <-time.After(time.Minute):
		t.Fatal("the run goes on")
	}
	for end := time.Now().Add(10 * time.Second); len(v.files()) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%q are left", v.files())
		}
	}
}

// Whatever is asked for ends with the studio, a look at a table too; and a command that panics is an error.
func TestRequestsEndWithTheStudio(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	v := serving(t, Options{Run: func(ctx context.Context, args []string, _, _ io.Writer, _ Hooks) int {
		if strings.HasSuffix(args[len(args)-1], "bad.csv") {
			panic("no way")
		}
		close(begun)
		<-ctx.Done()
		return 1
	}})
	if r := v.ask("POST", "/api/data?name=bad.csv", "a\n1\n", nil); r.StatusCode != 422 || strings.TrimSpace(string(r.body)) != `{"error":"this is a fault of latent studio: no way"}` {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	ctx, end := context.WithCancel(t.Context())
	v.ctx = ctx
	over := make(chan struct{})
	go func() {
		v.ask("POST", "/api/data?name=a.csv", "a\n1\n", nil)
		close(over)
	}()
	<-begun
	end()
	select {
	case <-over:
	case <-time.After(time.Minute):
		t.Fatal("the look goes on")
	}
	if left := v.files(); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// The start of the saddle is a file for the time of its run only.
func TestTheSaddleLeavesNoFile(t *testing.T) {
	t.Parallel()
	seen := ""
	v := serving(t, Options{Run: func(ctx context.Context, args []string, out, errw io.Writer, h Hooks) int {
		if args[0] != "fit" {
			return echo(ctx, args, out, errw, h)
		}
		for _, w := range args {
			if path, ok := strings.CutPrefix(w, "centers:"); ok {
				b, _ := os.ReadFile(path)
				seen = string(b)
			}
		}
		h.Result(&latent.Result{K: 2, LogLik: new(-1.0)})
		return 0
	}})
	v.space.get(v.cookie.Value).files["@faithful"] = &file{ID: "@faithful", Name: "@faithful", Path: "@faithful", check: json.RawMessage(`{"columns":[{"name":"x","mean":2.5}]}`),
		looked: looked{Columns: []lookedCol{{Name: "x", Use: "feature", Type: "number"}}}}
	r := v.ask("POST", "/api/lab/saddle", "{}", map[string]string{"Content-Type": "application/json"})
	if r.StatusCode != 200 || seen != "x\n2.5\n2.5\n" {
		t.Errorf("%d %s, from %q", r.StatusCode, r.body, seen)
	}
	if left, _ := filepath.Glob(filepath.Join(v.Folder, "lab", "*")); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// A climb that is watched has one number of groups: with several its frames would not be of the same groups.
func TestAWatchedClimbHasOneNumberOfGroups(t *testing.T) {
	t.Parallel()
	for _, spec := range []latent.Spec{{}, {KRange: [2]int{1, 4}}} {
		a := asked{Trace: true, Spec: spec}
		if err := a.settle(); err == nil || !strings.Contains(err.Error(), "one number of groups") {
			t.Errorf("%+v: %v", spec, err)
		}
	}
	centers := asked{Trace: true, Options: choices{Centers: [][]*float64{{nil}, {nil}}}}
	if err := centers.settle(); err != nil {
		t.Error(err)
	}
}

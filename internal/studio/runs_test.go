package studio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// set loads a built-in set.
func loadSet(t testing.TB, name string, o data.Options) (data.Source, *data.Info) {
	t.Helper()
	src, info, err := data.Load(context.Background(), name, o)
	if err != nil {
		t.Fatal(err)
	}
	return src, info
}

// Means and covariances on a plane are those of the components, by the whole matrices: after scaling, on principal components, for every kind of
// column.
func TestComponentsOnAPlaneAreProducts(t *testing.T) {
	t.Parallel()
	src, info := loadSet(t, "@iris", data.Options{Exclude: []string{"species"}})
	dir := axis{-1, []float64{1, 2, 3, 4}, []float64{0.5, -0.5, 0.5, 0.5}}
	for name, spec := range map[string]latent.Spec{
		"full": {K: 3}, "scaled": {K: 3, Scale: "standard"}, "tied": {K: 2, Covariance: "tied"}, "round": {K: 2, Covariance: "spherical", Scale: "robust"},
		"pca": {K: 2, PCA: 2}, "scaled pca": {K: 2, PCA: 3, Scale: "standard"},
	} {
		spec.Columns, spec.NInit = info.Features, 1
		r, err := latent.Fit(t.Context(), src, spec)
		if err != nil {
			t.Fatal(err)
		}
		m := r.Model
		for _, axes := range [][2]axis{{{Column: 0}, {Column: 3}}, {{Column: 2}, dir}} {
			got := newView(irisFile(info), axes[:], []string{info.Features[axes[0].Column], info.Features[max(axes[1].Column, 0)]}, m.Columns).components(m)
			var factor [2][]float64
			var from [2][]float64
			for i, a := range axes {
				factor[i], from[i] = a.Dir, a.Mean
				if a.Column >= 0 {
					factor[i], from[i] = make([]float64, 4), make([]float64, 4)
					factor[i][a.Column] = 1
				}
			}
			for c := range m.K() {
				mean, cov := m.UserMean(c), wholeCovariance(m, c)
				want := []float64{m.Weights[c], 0, 0, 0, 0, 0}
				for j := range 4 {
					want[1] += factor[0][j] * (mean[j] - from[0][j])
					want[2] += factor[1][j] * (mean[j] - from[1][j])
					for l := range 4 {
						want[3] += factor[0][j] * cov[j][l] * factor[0][l]
						want[4] += factor[0][j] * cov[j][l] * factor[1][l]
						want[5] += factor[1][j] * cov[j][l] * factor[1][l]
					}
				}
				for i, v := range want {
					if math.Abs(float64(got[6*c+i])-v) > 1e-5*max(1, math.Abs(v)) {
						t.Errorf("%s, group %d: %v on the plane, by whole matrices %v", name, c+1, got[6*c:6*c+6], want)
						break
					}
				}
			}
		}
	}
}

// irisFile is what an open table knows of features.
func irisFile(info *data.Info) *file {
	f := &file{}
	for _, name := range info.Features {
		f.looked.Columns = append(f.looked.Columns, lookedCol{Name: name, Use: "feature", Type: "number"})
	}
	return f
}

// wholeCovariance returns the covariance of component c in the columns of the user, by the transforms as matrices.
func wholeCovariance(m *model.Model, c int) [][]float64 {
	own := m.Component(c).Covariance
	if m.PCA() == nil {
		return own.Full()
	}
	scale := []float64{1, 1, 1, 1}
	var axes [][]float64
	for _, t := range m.Transform {
		if t.Scale != nil {
			scale = t.Scale
		}
		if t.Components != nil {
			axes = t.Components
		}
	}
	cov := make([][]float64, 4)
	for j := range cov {
		cov[j] = make([]float64, 4)
		for l := range cov[j] {
			for a := range axes {
				for b := range axes {
					cov[j][l] += scale[j] * axes[a][j] * own.At(a, b) * axes[b][l] * scale[l]
				}
			}
		}
	}
	return cov
}

// Columns of counts, bits and levels are told by the moments of their distributions, and have no part in others.
func TestComponentsOfOtherColumnsHaveTheirMoments(t *testing.T) {
	t.Parallel()
	m := new(model.Model)
	if err := json.Unmarshal([]byte(`{"format": "latent-model", "version": 1, "model": "mixed", "covariance": "full", "columns": ["x", "l", "n", "z"], "types": ["number", "category", "count", "number"],
		"levels": [["a", "b", "c"]], "weights": [1], "means": [[1, 2]], "covariances": [[[4, 1], [1, 9]]], "probabilities": [[[0.5, 0.25, 0.25]]], "rates": [[7]]}`), m); err != nil {
		t.Fatal(err)
	}
	direct := func(j int) direction { return direction{[]int{j}, []float64{1}, []float64{0}} }
	for pair, want := range map[[2]int][5]float64{
		{0, 3}: {1, 2, 4, 1, 9}, {0, 1}: {1, 0.75, 4, 0, 0.6875}, {1, 2}: {0.75, 7, 0.6875, 0, 7}, {2, 3}: {7, 2, 7, 0, 9},
	} {
		v := &view{axes: []direction{direct(pair[0]), direct(pair[1])}}
		if got := v.components(m); got[0] != 1 || !slices.EqualFunc(got[1:], want[:], func(a float32, b float64) bool { return float64(a) == b }) {
			t.Errorf("columns %v: %v, should be %v", pair, got, want)
		}
	}
	if got := (&view{axes: []direction{{}}}).components(m); got[1] == got[1] {
		t.Errorf("of a column that is not in the model it says %v", got)
	}
}

// keptOf returns of how many steps one is kept.
func keptOf(r *record) int {
	one, _ := r.thinned()
	return one
}

// A record that is too large keeps the models of evenly spaced steps, and frames without one show that of the step before.
func TestALongRecordIsThinnedEvenly(t *testing.T) {
	t.Parallel()
	src, info := loadSet(t, "@faithful", data.Options{})
	spec := latent.Spec{K: 3, Algorithm: "em", Init: "random", NInit: 1, Columns: info.Features}
	var whole, thin record
	thin.limit = 20_000
	r, err := latent.Fit(t.Context(), src, spec, latent.Observer{Step: func(p latent.Progress) {
		whole.step(p)
		thin.step(p)
		held := 0
		var before *model.Model
		for _, pair := range thin.models {
			held += weigh(pair[0], before) + weigh(pair[1], nil)
			before = pair[1]
		}
		if held > thin.limit+4*weigh(p.Model(), nil) {
			t.Errorf("step %d: %d bytes are held", p.Iteration, held)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	whole.end(r)
	thin.end(r)
	if len(whole.frames) != len(thin.frames) || keptOf(&whole) != 1 || keptOf(&thin) < 4 {
		t.Fatalf("%d and %d frames, one of %d steps kept", len(whole.frames), len(thin.frames), keptOf(&thin))
	}
	last := len(whole.frames) - 1
	for i := range whole.frames {
		m, _, _ := thin.at(i)
		step := thin.frames[i].step
		at := step - step%keptOf(&thin)
		want := whole.models[at][0]
		if i == last {
			want = whole.models[step][0]
		} else if thin.frames[i].next && whole.models[at][1] != nil {
			want = whole.models[at][1]
		}
		if !sameParameters(m, want) {
			t.Errorf("frame %d of step %d does not show step %d", i, step, at)
		}
	}
}

// Steps that are left out since there are so many count as thinned.
func TestStepsThatAreLeftOutAreCounted(t *testing.T) {
	t.Parallel()
	src, info := loadSet(t, "@faithful", data.Options{})
	r := record{frames: make([]frame, maxFrames)}
	steps := 0
	res, err := latent.Fit(t.Context(), src, latent.Spec{K: 3, Algorithm: "em", Init: "random", NInit: 1, Columns: info.Features}, latent.Observer{Step: func(p latent.Progress) {
		steps++
		r.step(p)
	}})
	if err != nil {
		t.Fatal(err)
	}
	r.end(res)
	one, left := r.thinned()
	if left == 0 || left != steps-r.seen || one < 5 || one > 10 { // about one in ten, and the last
		t.Errorf("%d steps, %d seen: one of %d is kept and %d are left out", steps, r.seen, one, left)
	}
}

// The records of all runs of a workspace are bounded: the oldest that has ended loses its own, and says so when it is asked for.
func TestTheOldestRunLosesItsRecord(t *testing.T) {
	t.Parallel()
	v := serving(t, Options{})
	n := halfway(t, v)
	w := v.space.get(v.cookie.Value)
	m := n.record.models[0][0]
	add := func(id, state string, steps int) *run {
		other := &run{ID: id, file: n.file, folder: t.TempDir(), state: state, result: n.result, read: n.read, stop: func() {}, ended: n.ended}
		for i := range steps {
			other.record.models = append(other.record.models, [2]*model.Model{m, nil})
			other.record.frames = append(other.record.frames, frame{At: i, Half: "S", Step: i + 1, beta: 1, step: i})
			other.record.bytes += weigh(m, nil)
		}
		w.runs = append(w.runs, other)
		return other
	}
	old, under, late, last := add("r10", done, 5), add("r11", running, 5), add("r12", done, 5), add("r13", done, 5)
	one := weigh(m, nil)
	w.trim(20 * one)
	if old.record.gone() || n.record.gone() {
		t.Error("a record is gone though there is room")
	}
	w.trim(15 * one)
	if !old.record.gone() || under.record.gone() || late.record.gone() || n.record.gone() {
		t.Error("it is not the oldest of many steps that has gone")
	}
	w.trim(1)
	if under.record.gone() || !late.record.gone() || last.record.gone() {
		t.Error("of those that are left, what has ended and is not the last is to go")
	}
	for _, path := range []string{"components?x=a&y=b", "responsibilities?frame=1"} {
		if r := v.ask("GET", "/api/runs/r10/"+path, "", nil); r.StatusCode != http.StatusGone || !strings.Contains(string(r.body), "no longer kept") {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.body)
		}
		if r := v.ask("GET", "/api/runs/r13/"+path, "", nil); r.StatusCode != http.StatusOK {
			t.Errorf("%s of the last: %d %s", path, r.StatusCode, r.body)
		}
	}
	if r := v.ask("GET", "/api/runs/r10/rows", "", nil); r.StatusCode != http.StatusOK {
		t.Errorf("its rows: %d %s", r.StatusCode, r.body)
	}
	if r := v.ask("POST", "/api/runs", `{"data":"@iris","spec":{"k":2,"model":"kmeans"},"trace":true,"options":{"start":"r10"}}`, map[string]string{"Content-Type": "application/json"}); r.StatusCode != http.StatusGone || !strings.Contains(string(r.body), "no longer kept") {
		t.Errorf("a fit from its start: %d %s", r.StatusCode, r.body)
	}
}

// stuckWriter is a page that reads the first line and no more, until it is let go.
type stuckWriter struct {
	*httptest.ResponseRecorder
	lines   int
	stuck   chan struct{} // closed when it is stuck
	release chan struct{}
}

// Write implements io.Writer.
func (w *stuckWriter) Write(b []byte) (int, error) {
	if w.lines++; w.lines == 2 {
		close(w.stuck)
		<-w.release
	}
	return w.ResponseRecorder.Write(b)
}

// fitting is a RunFunc that fits a built-in set by the library, without files.
func fitting(spec latent.Spec) RunFunc {
	return func(ctx context.Context, args []string, out, errw io.Writer, h Hooks) int {
		if args[0] != "fit" {
			return echo(ctx, args, out, errw, h)
		}
		o := data.Options{}
		src, info, err := data.Load(ctx, "@faithful", o)
		if err != nil {
			return 1
		}
		h.Read(src, info, o)
		spec.Columns = info.Features
		r, err := latent.Fit(ctx, src, spec, h.Observe)
		if err != nil {
			io.WriteString(errw, "latent: "+err.Error()+"\n")
			return 1
		}
		h.Result(r)
		json.NewEncoder(out).Encode(r)
		return 0
	}
}

// A fit does not wait for a page that reads nothing.
func TestAFitDoesNotWaitForThePage(t *testing.T) {
	t.Parallel()
	v := serving(t, Options{Run: fitting(latent.Spec{K: 3, Algorithm: "em", Init: "random", NInit: 1, Tol: new(0.0), MaxIter: new(2000)})})
	n := &run{ID: "r1", asked: asked{Trace: true}, file: &file{Name: "@faithful", Path: "@faithful"}, folder: t.TempDir(), state: running, began: make(chan struct{}), ended: make(chan struct{})}
	w := &stuckWriter{httptest.NewRecorder(), 0, make(chan struct{}), make(chan struct{})}
	go v.fit(t.Context(), n)
	streamed := make(chan struct{})
	go func() { n.stream(w); close(streamed) }()
	select {
	case <-n.ended:
	case <-time.After(time.Minute):
		t.Fatal("the fit waits")
	}
	<-w.stuck
	close(w.release)
	<-streamed
	lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n")
	frames := 0
	for _, line := range lines[1 : len(lines)-1] {
		var l struct{ Frames []frame }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		frames += len(l.Frames)
	}
	if frames != n.record.count() || frames < 100 || !strings.Contains(lines[len(lines)-1], `"finding"`) {
		t.Errorf("%d frames came, of %d; the last line is %.100s", frames, n.record.count(), lines[len(lines)-1])
	}
}

// While the end of a climb is measured the answer says so, once all of its frames have come, whether it is watched or not.
func TestAnEndThatIsMeasuredIsTold(t *testing.T) {
	t.Parallel()
	for _, trace := range []bool{true, false} {
		fits := fitting(latent.Spec{K: 2, Algorithm: "em", Init: "random", NInit: 1})
		told, measured := make(chan struct{}), make(chan struct{})
		v := serving(t, Options{Run: func(ctx context.Context, args []string, out, errw io.Writer, h Hooks) int {
			climbed := h.Observe.Climbed
			h.Observe.Climbed = func() {
				climbed()
				close(told)
				<-measured // until the page has been told
			}
			return fits(ctx, args, out, errw, h)
		}})
		n := &run{ID: "r1", asked: asked{Trace: trace}, file: &file{Name: "@faithful", Path: "@faithful"}, folder: t.TempDir(), state: running, began: make(chan struct{}), ended: make(chan struct{})}
		r, w := io.Pipe()
		go v.fit(t.Context(), n)
		go func() {
			n.stream(pipeWriter{httptest.NewRecorder(), w})
			w.Close()
		}()
		<-told
		frames, seen := 0, false
		for lines := bufio.NewScanner(r); lines.Scan(); {
			var l struct {
				Frames   []frame
				Progress struct{ Measuring bool }
			}
			if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
				t.Fatal(err)
			}
			frames += len(l.Frames)
			if l.Progress.Measuring {
				seen = true
				if frames != n.record.count() {
					t.Errorf("watched %v: %d of %d frames came before it", trace, frames, n.record.count())
				}
				close(measured)
			}
		}
		if !seen {
			t.Errorf("watched %v: it is not told", trace)
		}
	}
}

// pipeWriter is an answer that is read while it is written.
type pipeWriter struct {
	*httptest.ResponseRecorder
	to io.Writer
}

// Write implements io.Writer.
func (w pipeWriter) Write(b []byte) (int, error) { return w.to.Write(b) }

// Answers of lines are of the same kind with progress and without: a distance that is not known is null, and what is no JSON is told as a fault.
func TestLinesOfJSON(t *testing.T) {
	t.Parallel()
	for _, d := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		p := latent.Progress{Start: 2, Of: 3}
		p.Sweeps, p.Distance = 4, d
		if s := strideOf(p); *s != (stride{2, 3, 4, nil}) {
			t.Errorf("%v: %+v", d, s)
		}
	}
	var known latent.Progress
	if known.Distance = 0.5; *strideOf(known).SE != 0.5 {
		t.Errorf("%+v", strideOf(known))
	}
	for name, begin := range map[string]func(http.ResponseWriter) (send func(any), end func()){
		"lines":  func(w http.ResponseWriter) (func(any), func()) { return newLines(w).send, func() {} },
		"stream": func(w http.ResponseWriter) (func(any), func()) { s := newStream(w); return s.send, s.end },
	} {
		w := httptest.NewRecorder()
		send, end := begin(w)
		send(map[string]int{"a": 1})
		send(math.NaN())
		end()
		if got := w.Body.String(); got != "{\"a\":1}\n{\"error\":\"this is a fault of latent studio: an answer that is no JSON\"}\n" || w.Header().Get("Content-Type") != "application/x-ndjson" {
			t.Errorf("%s: %q, %v", name, got, w.Header())
		}
	}
}

// The command and the program name a file so that its name is neither taken for a flag nor for a built-in set.
func TestNamesOfFilesAreNoFlagsAndNoSets(t *testing.T) {
	t.Parallel()
	v := serving(t, Options{Run: fitting(latent.Spec{K: 1})})
	for name, want := range map[string]string{"own.csv": "own.csv", "-own.csv": "./-own.csv", "@own.csv": "./@own.csv", "@iris": "./@iris", "own @ home.csv": "own @ home.csv", "": "@iris"} {
		id := "@iris"
		if name != "" {
			id = v.open(url.QueryEscape(name), "a,b\n1,2\n3,4\n").ID
		}
		r := v.ask("POST", "/api/runs", `{"data":"`+id+`","spec":{"k":1,"init":"labels:a"},"trace":true}`, map[string]string{"Content-Type": "application/json"})
		lines := bytes.Split(bytes.TrimSpace(r.body), []byte("\n"))
		var last struct{ Command, Go string }
		if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil {
			t.Fatalf("%q: %v: %s", name, err, r.body)
		}
		if begin := "latent fit " + text.ShellWord(want) + " -k 1 "; !strings.HasPrefix(last.Command, begin) {
			t.Errorf("%q: the command is %q, should begin with %q", name, last.Command, begin)
		}
		if n := strings.Count(last.Go, fmt.Sprintf("data.Load(ctx, %q, ", want)); n != 2 {
			t.Errorf("%q: the program reads %q %d times, not twice:\n%s", name, want, n, last.Go)
		}
	}
}

// FuzzRunBody holds that a body is refused or becomes flags of fit, whose values are its own: none names a file.
func FuzzRunBody(f *testing.F) {
	for _, s := range []string{
		`{"data":"@iris","spec":{"k":3},"trace":true,"options":{}}`, `{"data":"d1","spec":{"k_range":[1,4],"beta":[0.5,1],"seed":1,"allow_long":true,"tol":1e-9}}`,
		`{"data":"@iris","spec":{"k":2,"init":"labels:--out"},"options":{"centers":[[1,null]],"columns":["-x","a,b"],"missing":"drop"}}`, `{"data":1}`, `{"spec":{"init":"model:/etc/passwd"}}`, `[`, `null`,
		`{"options":{"start":"r1"}}`,
	} {
		f.Add(s)
	}
	known := map[string]bool{"-k": true, "--id": true, "--weight-column": true, "--truth": true, "--types": true, "--columns": true, "--exclude": true}
	for _, key := range specFlags {
		known["--"+strings.ReplaceAll(key, "_", "-")] = true
	}
	f.Fuzz(func(t *testing.T, body string) {
		var a asked
		r := httptest.NewRequest(http.MethodPost, "/api/runs", strings.NewReader(body))
		if err := decode(httptest.NewRecorder(), r, &a); err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q has more than a line", err)
			}
			return
		}
		if err := a.settle(); err != nil {
			return
		}
		words, err := a.words()
		if err != nil {
			return
		}
		for i := 0; i < len(words); i++ {
			if !known[words[i]] {
				t.Fatalf("%q has the flag %q", words, words[i])
			}
			if words[i] == "--allow-long" {
				continue
			}
			if i++; i == len(words) {
				t.Fatalf("%q ends with a flag", words)
			}
			if words[i-1] == "--init" && strings.Contains(words[i], ":") && !strings.HasPrefix(words[i], "labels:") && words[i] != "centers:"+centersFile {
				t.Fatalf("%q reads a file", words)
			}
		}
		if own := inFolder(words, filepath.Join("folder", centersFile)); len(own) != len(words) {
			t.Fatalf("%q became %q", words, own)
		}
		shellCommand("fit", typed(a.Data, ""), words)
	})
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/latent-go/latent/internal/studio"
)

// visitor is a browser at a studio that runs this command.
type visitor struct {
	t      *testing.T
	server *httptest.Server
	cookie *http.Cookie
}

// visit starts a studio and lets a browser in.
func visit(t *testing.T) *visitor {
	t.Helper()
	return visitWith(t, "")
}

// visitWith is visit of a studio that was started with a file.
func visitWith(t *testing.T, file string) *visitor {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	const token = "0123456789abcdef0123456789abcdef0123"
	s := studio.New(t.Context(), studio.Options{Run: inProcess, Host: server.Listener.Addr().String(), Token: token, File: file, MaxUpload: 1 << 30, Folder: t.TempDir(), Version: "test"})
	server.Config.Handler = s.Handler()
	server.Start()
	t.Cleanup(server.Close)
	r, err := http.Get(server.URL + "/?token=" + token)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if len(r.Cookies()) != 1 {
		t.Fatalf("%s, cookies %v", r.Status, r.Cookies())
	}
	return &visitor{t, server, r.Cookies()[0]}
}

// ask makes a request.
func (v *visitor) ask(ctx context.Context, method, path, kind string, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, v.server.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.AddCookie(v.cookie)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	return http.DefaultClient.Do(r)
}

// get returns an answer, whatever its status.
func (v *visitor) get(path string) (int, []byte) {
	v.t.Helper()
	r, err := v.ask(v.t.Context(), "GET", path, "", nil)
	if err != nil {
		v.t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return r.StatusCode, b
}

// upload opens a file and returns its id.
func (v *visitor) upload(name, text string) string {
	v.t.Helper()
	r, err := v.ask(v.t.Context(), "POST", "/api/data?name="+url.QueryEscape(name), "application/octet-stream", []byte(text))
	if err != nil {
		v.t.Fatal(err)
	}
	defer r.Body.Close()
	var told struct{ ID, Error string }
	if err := json.NewDecoder(r.Body).Decode(&told); err != nil || told.ID == "" {
		v.t.Fatalf("%v %+v", err, told)
	}
	return told.ID
}

// shown is what a page knows of a run.
type shown struct {
	Run     string
	Columns []string
	K       *int
	Frames  []shownFrame
	Result  struct {
		LogLik  *float64 `json:"log_likelihood"`
		Inertia *float64
		K       int
		Data    string
	}
	Raw         json.RawMessage
	Finding     string
	Trust       string
	Order       []int
	Command, Go string
	Interrupted bool
	Error       string
	Progress    int
	Thinned     int
}

// shownFrame is a frame of a run.
type shownFrame struct {
	At             int
	Half           string
	Step, Sweeps   int
	F, LL, Gap, SE *float64
	Beta           *float64
}

// run runs a fit to its end.
func (v *visitor) run(body string) *shown {
	v.t.Helper()
	r, err := v.ask(v.t.Context(), "POST", "/api/runs", "application/json", []byte(body))
	if err != nil {
		v.t.Fatal(err)
	}
	defer r.Body.Close()
	return v.read(r.Body)
}

// read reads the lines of a run.
func (v *visitor) read(from io.Reader) *shown {
	v.t.Helper()
	var s shown
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		frames := s.Frames
		s.Frames = nil
		var more struct{ Progress, Result json.RawMessage }
		if err := json.Unmarshal(lines.Bytes(), &more); err != nil {
			v.t.Fatalf("%v: %.200s", err, lines.Bytes())
		}
		if more.Progress != nil {
			s.Progress++
			s.Frames = frames
			continue
		}
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			v.t.Fatalf("%v: %.200s", err, lines.Bytes())
		}
		if more.Result != nil {
			s.Raw = more.Result
		}
		s.Frames = append(frames, s.Frames...)
	}
	for i, f := range s.Frames {
		if f.At != i {
			v.t.Fatalf("frame %d says that it is %d", i, f.At)
		}
	}
	return &s
}

// command runs the command in a folder of its own, with the words that a page shows, and returns what it prints.
func command(t *testing.T, line string, more ...string) []byte {
	t.Helper()
	var words []string
	for _, w := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1) {
		words = append(words, strings.Trim(w, "'"))
	}
	var out, errw bytes.Buffer
	if code := run(t.Context(), append(words[1:], more...), strings.NewReader(""), &out, &errw); code != 0 && code != exitUnfinished {
		t.Fatalf("%s: status %d, %s", line, code, errw.String())
	}
	return out.Bytes()
}

// timeless leaves the times out of the JSON of a result.
func timeless(t *testing.T, b []byte) string {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatalf("%v: %.200s", err, b)
	}
	delete(all, "seconds")
	delete(all, "timing")
	out, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// twoGroups is a table whose name and columns need quoting.
func twoGroups() string {
	var b strings.Builder
	b.WriteString("a b,c,name\n")
	for i := range 120 {
		b.WriteString(strconv.FormatFloat(math.Sin(float64(i))+6*float64(i%3/2), 'g', -1, 64) + "," + strconv.FormatFloat(2*math.Cos(float64(3*i))-5*float64(i%3/2), 'g', -1, 64) + ",r" + strconv.Itoa(i) + "\n")
	}
	return b.String()
}

// What a run is told to have found is what its command prints, and its files are what that command writes, in the folder of the file.
func TestRunsAreThoseOfTheirCommands(t *testing.T) { // not in parallel: it changes the working folder
	v := visit(t)
	own := v.upload("two groups.csv", twoGroups())
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "two groups.csv"), []byte(twoGroups()), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	for name, body := range map[string]string{
		"chosen":    `{"data":"` + own + `","spec":{"k_range":[1,3],"covariance":"full,diag"},"options":{"id":"name"}}`,
		"two":       `{"data":"` + own + `","spec":{"k":2,"covariance":"full","seed":7}}`,
		"iris":      `{"data":"@iris","spec":{"k":3,"covariance":"full"},"options":{"truth":"species"}}`,
		"scaled":    `{"data":"@iris","spec":{"k":3,"scale":"standard","pca":2,"init":"random","n_init":2}}`,
		"excluded":  `{"data":"@faithful","spec":{"k":2},"options":{"exclude":["waiting"]}}`,
		"kmeans":    `{"data":"` + own + `","spec":{"k":2,"model":"kmeans"}}`,
		"penguins":  `{"data":"@penguins","spec":{"k":3,"model":"mixed"},"options":{"missing":"drop"}}`,
		"watched":   `{"data":"` + own + `","spec":{"k":2,"init":"k-means++","seed":3},"trace":true}`,
		"annealed":  `{"data":"@faithful","spec":{"k":3,"algorithm":"anti-annealing","init":"random","seed":2,"beta":[0.3,1.2,1],"beta_steps":4},"trace":true}`,
		"centres":   `{"data":"@faithful","spec":{"k":2,"model":"kmeans"},"trace":true,"options":{"centers":[[2,50],[4,null]]}}`,
		"one start": `{"data":"@faithful","spec":{"k":2,"algorithm":"em-lbfgs","max_iter":3},"trace":true}`,
	} {
		s := v.run(body)
		if s.Error != "" || s.Run == "" || s.Finding == "" || s.Trust == "" {
			t.Fatalf("%s: %q %+v", name, s.Error, s)
		}
		if name == "centres" {
			if _, b := v.get("/api/runs/" + s.Run + "/centers.csv"); os.WriteFile("centers.csv", b, 0o600) != nil || !strings.HasPrefix(string(b), "eruptions,waiting\n2,50\n4,70.89") {
				t.Errorf("centers.csv is %q", b)
			}
		}
		if got, want := timeless(t, s.Raw), timeless(t, command(t, s.Command, "--json")); got != want {
			t.Errorf("%s: %s prints\n%s\nthe run says\n%s", name, s.Command, want, got)
		}
		out := filepath.Join(folder, name)
		os.Mkdir(out, 0o700)
		command(t, s.Command, "--json", "-o", out+"/model.json", "--labels", out+"/labels.csv", "--report", out+"/report.html", "--trace", out+"/trace.csv")
		for _, file := range []string{"model.json", "labels.csv", "report.html", "trace.csv"} {
			want, err := os.ReadFile(filepath.Join(out, file))
			if err != nil {
				t.Fatal(err)
			}
			code, got := v.get("/api/runs/" + s.Run + "/" + file)
			if file == "report.html" || file == "trace.csv" {
				want, got = dateless(want), dateless(got)
			}
			if code != 200 || !bytes.Equal(got, want) {
				t.Errorf("%s: %s: status %d, %d bytes; the command writes %d, and they differ at %s", name, file, code, len(got), len(want), differ(got, want))
			}
		}
	}
}

// times are what differs from run to run: of a page the moment and how long it took, of a trace the last cell of a line.
var times = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d|,[0-9.]+\n|[0-9.]+ (ms|s)\b`)

// dateless leaves the times out.
func dateless(b []byte) []byte { return times.ReplaceAll(b, nil) }

// differ shows where two texts part.
func differ(a, b []byte) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return strconv.Quote(string(a[max(0, i-60):min(len(a), i+60)])) + " and " + strconv.Quote(string(b[max(0, i-60):min(len(b), i+60)]))
}

// The frames of a climb are the lines of its trace, and the last is the result.
func TestTheRecordOfAClimbIsItsTrace(t *testing.T) {
	t.Parallel()
	v := visit(t)
	for _, spec := range []string{
		`{"k":3,"algorithm":"em","init":"random","seed":2}`, `{"k":3,"algorithm":"em-lbfgs","init":"random","seed":2}`, `{"k":3,"algorithm":"anti-annealing","init":"random","seed":2}`,
		`{"k":3,"algorithm":"hard-em"}`, `{"k":3,"model":"kmeans","init":"random"}`, `{"k":3,"algorithm":"em","scale":"standard"}`, `{"k":3,"algorithm":"squarem"}`, `{"k":2,"model":"kmedians"}`,
	} {
		s := v.run(`{"data":"@faithful","trace":true,"spec":` + spec + `}`)
		if s.Error != "" {
			t.Fatalf("%s: %s", spec, s.Error)
		}
		_, b := v.get("/api/runs/" + s.Run + "/trace.csv")
		lines, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if len(lines) != len(s.Frames) || s.Frames[0].Half != "start" {
			t.Fatalf("%s: %d lines of trace with the header, %d frames with the start, %+v", spec, len(lines), len(s.Frames), s.Frames[len(s.Frames)-1])
		}
		told := func(v *float64) string {
			if v == nil {
				return ""
			}
			return strconv.FormatFloat(*v, 'g', -1, 64)
		}
		for i, line := range lines[1:] {
			f := s.Frames[i+1]
			beta := told(f.Beta)
			if beta == "" {
				beta = "inf"
			}
			if line[1] != strconv.Itoa(f.Sweeps) || line[2] != f.Half || line[3] != beta || line[4] != told(f.F) || line[9] != told(f.SE) || f.Half != "M" && line[5] != told(f.LL) {
				t.Errorf("%s: line %v, frame %+v", spec, line, f)
			}
			if f.Half == "M" && i+2 < len(s.Frames) && f.LL != nil && told(f.LL) != told(s.Frames[i+2].LL) {
				t.Errorf("%s: an M-step of log-likelihood %v before an E-step of %v", spec, told(f.LL), told(s.Frames[i+2].LL))
			}
		}
		last := s.Frames[len(s.Frames)-1]
		if s.Result.LogLik != nil && math.Abs(*last.LL-*s.Result.LogLik) > 1e-12*math.Abs(*s.Result.LogLik) || s.Result.Inertia != nil && math.Abs(*last.F+*s.Result.Inertia) > 1e-12**s.Result.Inertia {
			t.Errorf("%s: the last frame is %+v, the result %+v", spec, last, s.Result)
		}
		if !slices.Equal(slices.Sorted(slices.Values(s.Order)), []int{0, 1, 2}[:s.Result.K]) {
			t.Errorf("%s: order %v", spec, s.Order)
		}
	}
}

// floats returns the numbers of an answer.
func (v *visitor) floats(path string) (all []float64) {
	v.t.Helper()
	code, b := v.get(path)
	if code != 200 {
		v.t.Fatalf("%s: %d %s", path, code, b)
	}
	for ; len(b) > 0; b = b[4:] {
		all = append(all, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
	}
	return all
}

// Stopping a run keeps the best so far, and later rows of the answer say so.
func TestAStoppedRunKeepsTheBest(t *testing.T) {
	t.Parallel()
	v := visit(t)
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 60000 {
		b.WriteString(strconv.FormatFloat(math.Sin(float64(i*i)), 'f', 4, 64) + "," + strconv.FormatFloat(math.Cos(float64(7*i)), 'f', 4, 64) + "\n")
	}
	id := v.upload("round.csv", b.String())
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, err := v.ask(ctx, "POST", "/api/runs", "application/json", []byte(`{"data":"`+id+`","trace":true,"spec":{"k":8,"algorithm":"em","tol":0,"max_iter":100000}}`))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(r.Body)
	first, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	stop()
	r.Body.Close()
	var told struct{ Run string }
	json.Unmarshal([]byte(first), &told)
	began := time.Now()
	code, end := v.get("/api/runs/" + told.Run)
	s := v.read(bytes.NewReader(end))
	if code != 200 || !s.Interrupted || s.Result.LogLik == nil || len(s.Order) != 8 {
		t.Errorf("%d: %.300s", code, end)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v to stop", took)
	}
	if code, b := v.get("/api/runs/" + told.Run + "/model.json"); code != 200 || !json.Valid(b) {
		t.Errorf("its model: %d %.100s", code, b)
	}
	if code, b := v.get("/api/runs/" + told.Run + "/labels.csv"); code != 409 {
		t.Errorf("its labels: %d %.100s", code, b)
	}
	if _, b := v.get("/api/state"); !strings.Contains(string(b), `"interrupted"`) {
		t.Errorf("%.300s", b)
	}
}

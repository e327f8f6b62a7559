package studio

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/tell"
)

// maxRuns is how many runs a workspace keeps: the oldest that has ended goes when another begins.
const maxRuns = 8

// stepsGone is what a request about the steps of a run is told when later runs needed their room.
const stepsGone = "the steps of that fit are no longer kept, since those of later fits are so large: run it again"

// What a run is.
const (
	running     = "running"
	done        = "done"
	interrupted = "interrupted" // stopped, with the best that it had
	failed      = "failed"
)

// run is a fit.
type run struct {
	ID     string
	asked  asked
	file   *file
	folder string   // of what it writes
	words  []string // the flags of its command, without those of its files
	record record
	stop   context.CancelFunc
	began  chan struct{} // closed when the rows are read
	ended  chan struct{} // closed at the end

	mu     sync.Mutex
	state  string
	tried  *counted // of a choice: the latest candidate
	climb  *stride  // of a fit: the latest step
	judged *judged  // the climbs have ended
	read   data.Options
	info   *data.Info
	result *latent.Result
	order  []int
	last   any         // the last line of its answer
	files  sync.Mutex  // held while files are made
	gone   atomic.Bool // the run was forgotten: its files are gone, or going
}

// counted is how far a choice is.
type counted struct {
	Candidate  int `json:"candidate"`
	Candidates int `json:"candidates"`
}

// judged says that the climbs of a fit have ended, and that their end is measured.
type judged struct {
	Measuring bool `json:"measuring"`
}

// runRoutes serve fits.
func (s *Studio) runRoutes(mux *http.ServeMux) {
	s.runsTold = tellRuns
	mux.HandleFunc("POST /api/runs", s.serveRun)
	mux.HandleFunc("GET /api/runs/{id}", s.withRun(s.serveEnd))
	mux.HandleFunc("GET /api/runs/{id}/components", s.withRun(withSteps(s.serveComponents)))
	mux.HandleFunc("GET /api/runs/{id}/responsibilities", s.withRun(withSteps(s.serveResponsibilities)))
	mux.HandleFunc("GET /api/runs/{id}/rows", s.withResult(s.serveRows))
	mux.HandleFunc("GET /api/runs/{id}/rows/{row}", s.withResult(s.serveRunRow))
	mux.HandleFunc("GET /api/runs/{id}/applied.csv", s.withResult(s.serveApplied))
	for name := range runFiles {
		mux.HandleFunc("GET /api/runs/{id}/"+name, s.withResult(func(w http.ResponseWriter, r *http.Request, n *run) { s.serveRunFile(w, r, n, name) }))
	}
}

// toldRun is what the page is told of a run that it may ask about.
type toldRun struct {
	ID    string `json:"id"`
	Data  string `json:"data"`
	K     *int   `json:"k"`
	State string `json:"state"`
}

// tellRuns tells of the runs of a workspace.
func tellRuns(w *space) any {
	w.mu.Lock()
	runs := slices.Clone(w.runs)
	w.mu.Unlock()
	told := []toldRun{}
	for _, n := range runs {
		n.mu.Lock()
		told = append(told, toldRun{n.ID, n.file.ID, n.k(), n.state})
		n.mu.Unlock()
	}
	return told
}

// k returns the number of groups where it is known.
func (n *run) k() *int {
	switch {
	case n.result != nil:
		return &n.result.K
	case n.asked.Spec.K > 0:
		return &n.asked.Spec.K
	}
	return nil
}

// withRun answers a request about a run of the workspace.
func (s *Studio) withRun(serve func(http.ResponseWriter, *http.Request, *run)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		space := s.spaceOf(r)
		space.mu.Lock()
		at := slices.IndexFunc(space.runs, func(n *run) bool { return n.ID == r.PathValue("id") })
		var n *run
		if at >= 0 {
			n = space.runs[at]
		}
		space.mu.Unlock()
		if n == nil {
			fail(w, http.StatusNotFound, "%s", runGone)
			return
		}
		serve(w, r, n)
	}
}

// runGone is what a request about a run that was forgotten is answered.
const runGone = "that fit is no longer kept: run it again"

// withSteps answers a request about the steps of a run, where they are still kept.
func withSteps(serve func(http.ResponseWriter, *http.Request, *run)) func(http.ResponseWriter, *http.Request, *run) {
	return func(w http.ResponseWriter, r *http.Request, n *run) {
		if n.record.gone() {
			fail(w, http.StatusGone, "%s", stepsGone)
			return
		}
		serve(w, r, n)
	}
}

// withResult is withRun for what only a run with a result can answer.
func (s *Studio) withResult(serve func(http.ResponseWriter, *http.Request, *run)) http.HandlerFunc {
	return s.withRun(func(w http.ResponseWriter, r *http.Request, n *run) {
		n.mu.Lock()
		state, has := n.state, n.result != nil
		n.mu.Unlock()
		switch {
		case state == running:
			fail(w, http.StatusConflict, "the fit is still under way")
		case !has:
			fail(w, http.StatusNotFound, "the fit has no result")
		default:
			serve(w, r, n)
		}
	})
}

// serveRun runs a fit and answers with its course.
func (s *Studio) serveRun(w http.ResponseWriter, r *http.Request) {
	var a asked
	if err := decode(w, r, &a); err != nil {
		fail(w, http.StatusBadRequest, "%s", err)
		return
	}
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	n, no := s.begun(r, a, stop)
	if no != nil {
		fail(w, no.status, "%s", no.text)
		return
	}
	space := s.spaceOf(r)
	space.trim(maxSpaceBytes)
	go func() {
		s.fit(ctx, n)
		space.trim(maxSpaceBytes)
	}()
	n.stream(w)
}

// begun makes a run of what is asked for, ready to fit, which stop stops.
func (s *Studio) begun(r *http.Request, a asked, stop context.CancelFunc) (*run, *refusal) {
	space := s.spaceOf(r)
	f, no := s.find(r.Context(), space, a.Data)
	if no != nil {
		return nil, no
	}
	wrong := func(err error) *refusal { return &refusal{http.StatusUnprocessableEntity, err.Error()} }
	if err := a.settle(); err != nil {
		return nil, wrong(err)
	}
	words, err := a.words()
	if err != nil {
		return nil, wrong(err)
	}
	var centers [][]string
	if centers, no = s.centers(r.Context(), space, f, &a); no != nil {
		return nil, no
	}
	id, folder, err := s.newFolder("r")
	if err == nil && centers != nil {
		err = writeCSV(filepath.Join(folder, centersFile), centers)
	}
	if err != nil {
		return nil, &refusal{http.StatusInternalServerError, "there is no place to keep what the fit writes: " + reason(err)}
	}
	n := &run{ID: id, asked: a, file: f, folder: folder, words: words, stop: stop, state: running, began: make(chan struct{}), ended: make(chan struct{})}
	if no := s.register(space, n); no != nil {
		os.RemoveAll(folder)
		return nil, no
	}
	return n, nil
}

// register adds a run to a workspace, and lets go of the oldest where there are too many.
func (s *Studio) register(w *space, n *run) *refusal {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.runs) >= maxRuns {
		at := slices.IndexFunc(w.runs, func(old *run) bool { return old.over() })
		if at < 0 {
			return &refusal{http.StatusServiceUnavailable, fmt.Sprintf("%d fits are under way: wait for one of them, or stop it", maxRuns)}
		}
		s.forget(w.runs[at])
		w.runs = slices.Delete(w.runs, at, at+1)
	}
	w.runs = append(w.runs, n)
	return nil
}

// forget lets go of what a run that has ended keeps.
func (s *Studio) forget(n *run) {
	s.tables.forget(n)
	n.gone.Store(true)
	os.RemoveAll(n.folder) // what is left goes with the folder of all
}

// over reports whether the run has ended.
func (n *run) over() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.state != running
}

// fit runs the command of a run.
func (s *Studio) fit(ctx context.Context, n *run) {
	defer close(n.ended)
	var out capped
	var errw said
	s.do(ctx, s.args(n, n.folder, n.trace()), &out, &errw, n.hooks(s))
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.result == nil {
		n.state, n.last = failed, map[string]string{"error": n.plain(errw.line(n.file.Path, n.file.Name))}
		return
	}
	n.state, n.order = done, n.record.end(n.result)
	if n.result.Interrupted {
		n.state = interrupted
	}
	n.last = n.told(out.b)
}

// plain leaves the folder of the run out of a message.
func (n *run) plain(message string) string { return replaceFolder(message, n.folder) }

// trace lists the files that a run writes at once: all, but those that a climb that is watched can make again in no time.
func (n *run) trace() []string {
	if n.asked.Trace {
		return []string{"model.json", "trace.csv"}
	}
	return allFiles
}

// args are the words of the command in this process, which writes files to a folder.
func (s *Studio) args(n *run, folder string, files []string) []string {
	args := append([]string{"fit", "--json"}, inFolder(n.words, filepath.Join(n.folder, centersFile))...)
	for _, name := range files {
		args = append(args, runFiles[name].flag, filepath.Join(folder, name))
	}
	return append(args, "--", n.file.Path)
}

// hooks follow a run.
func (n *run) hooks(s *Studio) Hooks {
	see := latent.Observer{Candidate: n.candidate, Step: n.progress, Climbed: n.climbed}
	if n.asked.Trace {
		see.Step = n.record.step
	}
	return Hooks{Observe: see, Folder: n.file.Folder, Read: func(src data.Source, info *data.Info, o data.Options) {
		n.mu.Lock()
		n.info, n.read = info, o
		n.mu.Unlock()
		s.tables.put(n, src)
		close(n.began)
	}, Result: func(r *latent.Result) {
		n.mu.Lock()
		n.result = r
		n.mu.Unlock()
	}}
}

// resultLine is the line with which the answer of a run ends.
type resultLine struct {
	Result      json.RawMessage `json:"result"` // what the command prints
	Finding     string          `json:"finding"`
	Trust       string          `json:"trust"`
	Shape       string          `json:"shape"` // of covariances, "" where there are none
	Groups      *groupsTable    `json:"groups"`
	Order       []int           `json:"order"` // for each component in the climb's own order its label less 1
	Command     string          `json:"command"`
	Go          string          `json:"go"`
	Files       []string        `json:"files"`
	Interrupted bool            `json:"interrupted"`
	Thinned     int             `json:"thinned"`  // of how many steps one has a model of its own; others are drawn as the one before, or left out
	LeftOut     int             `json:"left_out"` // how many are
}

// told returns the line that tells the result. n.mu is held.
func (n *run) told(printed []byte) any {
	r := n.result
	if !json.Valid(printed) { // more than a page can hold
		b, err := json.Marshal(r)
		if err != nil {
			return map[string]string{"error": "this is a fault of latent studio: " + err.Error()}
		}
		printed = b
	}
	one, left := n.record.thinned()
	return resultLine{printed, tell.Opening(r), tell.Trust(r), tell.Covariances(r), groupsOf(r), n.order, shellCommand("fit", typed(n.file.Name, n.file.Path), n.words), n.program(),
		[]string{"labels.csv", "model.json", "report.html", "trace.csv"}, r.Interrupted, one, left}
}

// serveEnd answers the last line of a run, when it has ended.
func (s *Studio) serveEnd(w http.ResponseWriter, r *http.Request, n *run) {
	select {
	case <-n.ended:
	case <-r.Context().Done():
		return
	case <-s.ctx.Done():
		fail(w, http.StatusServiceUnavailable, "latent studio has ended")
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	answer(w, http.StatusOK, n.last)
}

// centers returns the rows of the file of centres that a run starts from; nil where it starts otherwise.
func (s *Studio) centers(ctx context.Context, w *space, f *file, a *asked) ([][]string, *refusal) {
	if a.Options.Start != "" {
		return startOf(w, a.Options.Start)
	}
	if len(a.Options.Centers) == 0 {
		return nil, nil
	}
	features, _ := f.features()
	var head []string
	var at []int
	for j, name := range features {
		if !slices.Contains(a.Options.Exclude, name) && name != a.Options.ID && name != a.Options.Weight && name != a.Options.Truth && (a.Options.Columns == nil || slices.Contains(a.Options.Columns, name)) {
			head, at = append(head, name), append(at, j)
		}
	}
	means := f.means()
	rows := [][]string{head}
	for i, c := range a.Options.Centers {
		if len(c) != len(features) {
			return nil, &refusal{http.StatusUnprocessableEntity, fmt.Sprintf("centers: row %d has %d numbers, but the table has %d features", i+1, len(c), len(features))}
		}
		var row []string
		for _, j := range at {
			v := means[features[j]]
			if c[j] != nil {
				v = *c[j]
			}
			row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// means returns the mean of each column of numbers, as check tells it.
func (f *file) means() map[string]float64 {
	var told struct {
		Columns []struct {
			Name string
			Mean float64
		}
	}
	json.Unmarshal(f.check, &told) // it is what was printed
	means := map[string]float64{}
	for _, c := range told.Columns {
		means[c.Name] = c.Mean
	}
	return means
}

// startOf returns the means at the start of a run that was watched.
func startOf(w *space, id string) ([][]string, *refusal) {
	w.mu.Lock()
	at := slices.IndexFunc(w.runs, func(n *run) bool { return n.ID == id })
	var n *run
	if at >= 0 {
		n = w.runs[at]
	}
	w.mu.Unlock()
	if n == nil {
		return nil, &refusal{http.StatusNotFound, "the fit whose start is asked for is no longer kept: run it again"}
	}
	if n.record.gone() {
		return nil, &refusal{http.StatusGone, stepsGone}
	}
	m, _, _ := n.record.at(0)
	if m == nil {
		return nil, &refusal{http.StatusConflict, "the fit whose start is asked for has not begun"}
	}
	rows := [][]string{m.Columns}
	for c := range m.K() {
		x := m.Component(c)
		place := x.Mean
		if place == nil {
			place = x.Median
		}
		if len(place) != m.D() {
			return nil, &refusal{http.StatusUnprocessableEntity, "the fit whose start is asked for has no means in all columns"}
		}
		var row []string
		for _, v := range place {
			row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// writeCSV writes rows to a file.
func writeCSV(path string, rows [][]string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	w.WriteAll(rows)
	if err := w.Error(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

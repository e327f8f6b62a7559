package studio

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/text"
)

const (
	givenID       = "d0"                   // of the file of the command line
	givenPatience = 500 * time.Millisecond // for the first look at it, before the page begins without
)

// givenID returns the id of the file of the command line.
func (s *Studio) givenID() string {
	if strings.HasPrefix(s.File, "@") {
		return s.File
	}
	return givenID
}

// file is a table that is open, or a model.
type file struct {
	ID     string // "d1", or "@iris"
	Name   string // as its owner calls it
	Path   string // where it lies; "@iris" for a built-in set
	Folder string // where Path lies, if it was made here; "" otherwise
	Error  string // what a fit would refuse it for as it is; "" for nothing

	check   json.RawMessage // what `latent check --json` prints
	looked  looked          // the same, read
	rows    kept            // the features, in memory
	model   *shownModel     // of a model file, which has no rows; nil for a table
	refused *refusal        // why it is not open at all, for the file of the command line
}

// looked is what is needed of the JSON of check.
type looked struct {
	Format    string      `json:"format"`
	Rows      int64       `json:"rows"`
	Delimiter string      `json:"delimiter"`
	Decimal   string      `json:"decimal"`
	Header    bool        `json:"header"`
	Columns   []lookedCol `json:"columns"`
	Warnings  []string    `json:"warnings"`
	Error     string      `json:"error"`
	Model     string      `json:"model"`
}

// lookedCol is what is needed of a column.
type lookedCol struct {
	Name string   `json:"name"`
	Use  string   `json:"use"`
	Type string   `json:"type"`
	Min  *float64 `json:"min"`
	Max  *float64 `json:"max"`
}

// told is what the page is told of a table.
type told struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Rows     int64           `json:"rows"`
	Check    json.RawMessage `json:"check"`
	Features []string        `json:"features"`
	Types    []string        `json:"types"`
	Text     string          `json:"text"`
	Warnings []string        `json:"warnings"`
	Model    string          `json:"model"`
	Error    string          `json:"error,omitempty"`
}

// plain says an error with the file called as its owner calls it.
func (f *file) plain(err error) string { return strings.ReplaceAll(err.Error(), f.Path, f.Name) }

// features returns the names and types of the columns that a fit takes.
func (f *file) features() (names, types []string) {
	names, types = []string{}, []string{}
	for _, c := range f.looked.Columns {
		if c.Use == "feature" {
			names, types = append(names, c.Name), append(types, c.Type)
		}
	}
	return names, types
}

// tell returns what the page is told.
func (f *file) tell() any {
	if f.model != nil {
		return f.tellModel()
	}
	return f.tellTable()
}

// tellTable is tell of a table.
func (f *file) tellTable() *told {
	l := &f.looked
	names, types := f.features()
	parts := []string{fmt.Sprintf("%s, %s", l.Format, text.Count(l.Rows, "row"))}
	if l.Delimiter != "" {
		parts = append(parts, fmt.Sprintf("delimiter %q", l.Delimiter), fmt.Sprintf("decimal %q", l.Decimal), map[bool]string{true: "a header", false: "no header"}[l.Header])
	}
	line := parts[0]
	if len(parts) > 1 {
		line += "; " + strings.Join(parts[1:], ", ")
	}
	return &told{ID: f.ID, Name: f.Name, Rows: l.Rows, Check: f.check, Features: names, Types: types, Text: line, Warnings: append([]string{}, l.Warnings...), Model: l.Model, Error: f.Error}
}

// dataRoutes serve tables: what is in them, and their rows as marks.
func (s *Studio) dataRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/state", s.serveState)
	mux.HandleFunc("POST /api/data", s.serveOpen)
	mux.HandleFunc("GET /api/data/{id}", s.serveFile)
	mux.HandleFunc("GET /api/data/{id}/marks", s.withFile(s.serveMarks))
	mux.HandleFunc("GET /api/data/{id}/rows/{row}", s.withFile(s.serveRow))
	mux.HandleFunc("GET /api/data/{id}/model.json", s.withModel(s.serveModel))
	mux.HandleFunc("GET /api/data/{id}/applied.csv", s.withModel(s.serveModelApplied))
}

// set is a built-in table as the page is told of it.
type set struct {
	Name    string   `json:"name"`
	Rows    int      `json:"rows"`
	Columns []string `json:"columns"`
	About   string   `json:"about"`
}

// serveState answers what the page needs first.
func (s *Studio) serveState(w http.ResponseWriter, r *http.Request) {
	state := struct {
		Version string         `json:"version"`
		Sets    []set          `json:"sets"`
		Limits  map[string]int `json:"limits"`
		File    any            `json:"file"`
		Model   any            `json:"model"` // in place of the file where that is one
		Runs    any            `json:"runs"`
	}{s.Version, s.sets(), map[string]int{"upload": int(s.MaxUpload), "marks": maxMarks, "frames_bytes": maxFrameBytes}, nil, nil, s.runsTold(s.spaceOf(r))}
	switch {
	case s.File == "":
	case isModel(s.File):
		state.Model = s.tellGiven()
	default:
		state.File = s.tellGiven()
	}
	answer(w, http.StatusOK, state)
}

// tellGiven returns what the page is told of the file of the command line. A large one takes a while to look at: then it is named, and the
// page can ask for it by its id and wait.
func (s *Studio) tellGiven() any {
	select {
	case <-s.ready:
	case <-time.After(givenPatience):
		return map[string]any{"id": s.givenID(), "name": s.File, "reading": true}
	}
	f := s.given()
	if f.refused != nil {
		return map[string]string{"name": f.Name, "error": f.refused.text}
	}
	return f.tell()
}

// serveFile answers what the page is told of a table or a model.
func (s *Studio) serveFile(w http.ResponseWriter, r *http.Request) {
	f, no := s.opened(r.Context(), s.spaceOf(r), r.PathValue("id"))
	if no != nil {
		fail(w, no.status, "%s", no.text)
		return
	}
	answer(w, http.StatusOK, f.tell())
}

// serveOpen opens a table or a model that is sent, or a built-in table.
func (s *Studio) serveOpen(w http.ResponseWriter, r *http.Request) {
	done, ok := s.begin(w)
	if !ok {
		return
	}
	defer done()
	q := r.URL.Query()
	var f *file
	var no *refusal
	switch {
	case q.Get("set") != "" && q.Has("name"):
		no = &refusal{http.StatusBadRequest, "give a set or a name, not both"}
	case q.Get("set") != "":
		f, no = s.openSet(r.Context(), s.spaceOf(r), q.Get("set"))
	default:
		f, no = s.openUpload(w, r)
	}
	switch {
	case no != nil:
		fail(w, no.status, "%s", no.text)
		debug.FreeOSMemory() // a table of 200,000 columns was half a gigabyte before it was refused
	case f.Error != "":
		answer(w, http.StatusUnprocessableEntity, map[string]any{"error": f.Error, "data": f.tell()})
	default:
		answer(w, http.StatusOK, f.tell())
	}
}

// openUpload takes in the body of a request as a table.
func (s *Studio) openUpload(w http.ResponseWriter, r *http.Request) (f *file, no *refusal) {
	name := label(r.URL.Query().Get("name"))
	id, folder, err := s.newFolder("d")
	if err != nil {
		return nil, &refusal{http.StatusInternalServerError, name + ": there is no place to keep it: " + reason(err)}
	}
	defer func() {
		if no != nil {
			os.RemoveAll(folder) // what is left goes with the folder of all
		}
	}()
	path := filepath.Join(folder, fileName(name))
	if no := s.receive(w, r, path, name); no != nil {
		return nil, no
	}
	f = &file{ID: id, Name: name, Path: path, Folder: folder}
	if no := s.look(r.Context(), f); no != nil {
		return nil, no
	}
	space := s.spaceOf(r)
	space.mu.Lock()
	space.files[id] = f
	space.mu.Unlock()
	s.keep(space, upload{id: id, folder: folder})
	return f, nil
}

// openSet opens a built-in set, once for a workspace.
func (s *Studio) openSet(ctx context.Context, w *space, name string) (*file, *refusal) {
	if !strings.HasPrefix(name, "@") {
		name = "@" + name
	}
	w.mu.Lock()
	f := w.files[name]
	w.mu.Unlock()
	if f != nil {
		return f, nil
	}
	f = &file{ID: name, Name: name, Path: name}
	if of, ok := strings.CutPrefix(name, labPrefix); ok {
		path, folder, err := s.labTable(of, false)
		if err != nil {
			return nil, &refusal{http.StatusInternalServerError, name + ": there is no place to keep it: " + reason(err)}
		}
		if path != "" {
			f.Name, f.Path, f.Folder = filepath.Base(path), path, folder
		}
	}
	if no := s.look(ctx, f); no != nil {
		return nil, no
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if first := w.files[name]; first != nil {
		return first, nil
	}
	w.files[name] = f
	return f, nil
}

// openGiven opens the file of the command line, where it lies.
func (s *Studio) openGiven() *file {
	f := &file{ID: s.givenID(), Name: s.File, Path: s.File}
	f.refused = s.look(s.ctx, f)
	return f
}

// look has a file checked. What a fit refuses because of its values is open none the less: leaving a column out may cure it.
func (s *Studio) look(ctx context.Context, f *file) *refusal {
	if isModel(f.Path) {
		return s.lookAtModel(ctx, f)
	}
	out, _, no := s.command(ctx, f.Path, f.Name, Hooks{Folder: f.Folder}, "check", "--json", "--", f.Path)
	if no != nil && len(out) == 0 {
		return no
	}
	err := json.Unmarshal(out, &f.looked)
	if err != nil {
		return &refusal{http.StatusInternalServerError, f.Name + ": this is a fault of latent studio: " + err.Error()}
	}
	if f.Error = f.alone(); no != nil {
		f.Error = no.text
	}
	f.check, err = f.named(out)
	if err != nil {
		return &refusal{http.StatusInternalServerError, f.Name + ": this is a fault of latent studio: " + err.Error()}
	}
	return nil
}

// alone says what is wrong with a table that has one feature to fit and it holds categories; "" elsewhere. Any mixture of categories of one
// column is a single list of shares: the command fits it and says that nothing is determined, which is no answer on a page.
func (f *file) alone() string {
	names, types := f.features()
	if len(names) != 1 || types[0] != data.Category.String() {
		return ""
	}
	return fmt.Sprintf("%s: column %q is all there is to fit, and it holds categories: groups show in how two or more such columns go together", f.Name, names[0])
}

// named returns the JSON of check with the file called by its name.
func (f *file) named(out []byte) (json.RawMessage, error) {
	if f.Folder == "" {
		return out, nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(out, &all); err != nil {
		return nil, err
	}
	for key, v := range map[string]string{"file": f.Name, "error": f.Error} {
		if _, there := all[key]; there {
			b, err := json.Marshal(v)
			if err != nil {
				return nil, err
			}
			all[key] = b
		}
	}
	return json.Marshal(all)
}

// find returns a table by its id.
func (s *Studio) find(ctx context.Context, w *space, id string) (*file, *refusal) {
	f, no := s.opened(ctx, w, id)
	if no == nil && f.model != nil {
		return nil, &refusal{http.StatusUnprocessableEntity, f.Name + ": this is a model, which has no rows: give a table"}
	}
	return f, no
}

// opened returns a table or a model by its id: an upload of this workspace, the file of the command line, or a built-in set.
func (s *Studio) opened(ctx context.Context, w *space, id string) (*file, *refusal) {
	if s.File != "" && id == s.givenID() {
		f := s.given()
		return f, f.refused
	}
	w.mu.Lock()
	f := w.files[id]
	w.mu.Unlock()
	switch {
	case f != nil:
		return f, nil
	case strings.HasPrefix(id, "@"):
		return s.openSet(ctx, w, id)
	}
	return nil, &refusal{http.StatusNotFound, "that table is no longer open: open it again"}
}

// withFile answers a request about a table.
func (s *Studio) withFile(serve func(http.ResponseWriter, *http.Request, *file)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f, no := s.find(r.Context(), s.spaceOf(r), r.PathValue("id"))
		if no != nil {
			fail(w, no.status, "%s", no.text)
			return
		}
		serve(w, r, f)
	}
}

// cell is a cell of a row as it stands in the file.
type cell struct {
	Column string `json:"column"`
	Value  string `json:"value"`
}

// serveRow answers one row, all columns of it.
func (s *Studio) serveRow(w http.ResponseWriter, r *http.Request, f *file) {
	n, err := strconv.ParseInt(r.PathValue("row"), 10, 64)
	if err != nil || n < 1 || n > f.looked.Rows {
		fail(w, http.StatusNotFound, "%s: there is no row %q; rows are 1 to %d", f.Name, r.PathValue("row"), f.looked.Rows)
		return
	}
	cells, err := f.row(r.Context(), n)
	if err != nil {
		fail(w, http.StatusUnprocessableEntity, "%s", f.plain(err))
		return
	}
	answer(w, http.StatusOK, map[string]any{"row": n, "id": nil, "values": cells})
}

// row reads row n, from 1, as it stands in the file.
func (f *file) row(ctx context.Context, n int64) ([]cell, error) {
	o := f.options()
	o.Stream, o.Carry, o.Limit = true, true, n
	src, info, err := data.Load(ctx, f.Path, o)
	if err != nil {
		return nil, err
	}
	defer closeSource(src)
	var cells []cell
	err = data.EachBlock(ctx, src, func(b *data.Block) error {
		d := len(info.Columns)
		for i := range b.N {
			if b.Number(i) == n && len(b.Cells) == b.N*d {
				for j, c := range info.Columns {
					cells = append(cells, cell{c.Name, b.Cells[i*d+j]})
				}
			}
		}
		if cells != nil {
			return io.EOF
		}
		return nil
	})
	return cells, err
}

// builtIn lists the built-in sets.
func (s *Studio) builtIn() (sets []set) {
	for _, d := range data.Datasets() {
		name := "@" + d.Name
		_, info, err := data.Load(s.ctx, name, data.Options{Missing: "model", CanModel: true})
		if err != nil {
			continue // the studio is ending
		}
		sets = append(sets, set{name, d.Rows, info.Features, d.About})
	}
	return sets
}

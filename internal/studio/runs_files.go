package studio

import (
	"net/http"
	"os"
	"path/filepath"
)

// runFiles are the files that a run leaves: the flag that writes each, and its type.
var runFiles = map[string]struct{ flag, kind string }{
	"labels.csv":  {"--labels", "text/csv; charset=utf-8"},
	"model.json":  {"-o", "application/json"},
	"report.html": {"--report", "text/html; charset=utf-8"},
	"trace.csv":   {"--trace", "text/csv; charset=utf-8"},
	centersFile:   {"", "text/csv; charset=utf-8"},
}

// allFiles are those that a command writes that repeats a run.
var allFiles = []string{"model.json", "labels.csv", "report.html", "trace.csv"}

// serveRunFile answers with a file of a run. What a climb that was watched has not written yet is made by running it again, to the same bits.
func (s *Studio) serveRunFile(w http.ResponseWriter, r *http.Request, n *run, name string) {
	n.files.Lock()
	defer n.files.Unlock()
	path := filepath.Join(n.folder, name)
	if _, err := os.Stat(path); err != nil && name != centersFile {
		if no := s.makeFiles(r, n); no != nil {
			if n.gone.Load() { // while they were made
				no = &refusal{http.StatusNotFound, runGone}
			}
			fail(w, no.status, "%s", no.text)
			return
		}
	}
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	sendFile(w, r, path, runFiles[name].kind)
}

// makeFiles writes the files that a run has not written.
func (s *Studio) makeFiles(r *http.Request, n *run) *refusal {
	if n.result.Interrupted {
		return &refusal{http.StatusConflict, "the fit was stopped, so that it cannot be repeated for this file: run it to its end"}
	}
	var out capped
	var errw said
	folder := filepath.Join(n.folder, "all")
	defer os.RemoveAll(folder) // what is left goes with the folder of all
	err := os.Mkdir(folder, 0o700)
	if err == nil {
		s.do(r.Context(), s.args(n, folder, allFiles), &out, &errw, Hooks{Folder: n.file.Folder})
	}
	if r.Context().Err() != nil {
		return &refusal{499, "stopped"}
	}
	for _, name := range []string{"labels.csv", "report.html"} {
		if err == nil {
			err = os.Rename(filepath.Join(folder, name), filepath.Join(n.folder, name))
		}
	}
	if err == nil {
		return nil
	}
	why := n.plain(errw.line(n.file.Path, n.file.Name))
	if why == "" {
		why = "there is no place to keep what the fit writes: " + reason(err)
	}
	return &refusal{http.StatusUnprocessableEntity, why}
}

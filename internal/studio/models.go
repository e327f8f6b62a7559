package studio

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/tell"
)

const (
	// maxModel is how large a model file may be: as text it takes several times its size while it is read.
	maxModel  = 64 << 20
	modelHead = 4096 // bytes within which a model file says that it is one
)

// shownModel is what the page is told of a model file: what `latent show` tells.
type shownModel struct {
	Result  json.RawMessage `json:"result"` // what `latent show --json` prints
	Finding string          `json:"finding"`
	Trust   string          `json:"trust"`
	Kind    string          `json:"kind"`  // such as "Gaussian mixture"
	Shape   string          `json:"shape"` // of covariances, "" where there are none
	Groups  *groupsTable    `json:"groups"`
	Command string          `json:"command"`
}

// isModel reports whether a file is to be read as a model, broken or not: an object of JSON, by its name or by its first key.
func isModel(path string) bool {
	if strings.HasPrefix(path, "@") {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false // the command says why
	}
	defer f.Close()
	head := make([]byte, modelHead)
	n, _ := io.ReadFull(f, head) // a short file is one as well
	head = bytes.TrimLeft(bytes.TrimPrefix(head[:n], []byte("\xef\xbb\xbf")), " \t\r\n")
	return bytes.HasPrefix(head, []byte("{")) && (strings.EqualFold(filepath.Ext(path), ".json") || bytes.Contains(head, []byte(`"latent-model"`)))
}

// lookAtModel has the command show a model file.
func (s *Studio) lookAtModel(ctx context.Context, f *file) *refusal {
	if info, err := os.Stat(f.Path); err == nil && info.Size() > maxModel {
		return &refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("%s: more than the %d MB that a model may have here; latent show tells of it", f.Name, maxModel>>20)}
	}
	var r *latent.Result
	hooks := Hooks{Folder: f.Folder, Result: func(of *latent.Result) { r = of }}
	out, _, no := s.command(ctx, f.Path, f.Name, hooks, "show", "--json", "--", f.Path)
	switch {
	case no != nil:
		return no
	case r == nil:
		return &refusal{http.StatusInternalServerError, f.Name + ": this is a fault of latent studio: nothing was shown"}
	}
	f.model = &shownModel{out, tell.Opening(r), tell.Trust(r), tell.Kind(r), tell.Covariances(r), groupsOf(r), shellCommand("show", typed(f.Name, f.Path), nil)}
	return nil
}

// tellModel returns what the page is told of a model file.
func (f *file) tellModel() any {
	return struct {
		ID    string      `json:"id"`
		Name  string      `json:"name"`
		Shown *shownModel `json:"shown"`
	}{f.ID, f.Name, f.model}
}

// withModel answers a request about a model file.
func (s *Studio) withModel(serve func(http.ResponseWriter, *http.Request, *file)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f, no := s.opened(r.Context(), s.spaceOf(r), r.PathValue("id"))
		switch {
		case no != nil:
			fail(w, no.status, "%s", no.text)
		case f.model == nil:
			fail(w, http.StatusNotFound, "%s is no model", f.Name)
		default:
			serve(w, r, f)
		}
	}
}

// serveModel answers with a model file, byte for byte.
func (s *Studio) serveModel(w http.ResponseWriter, r *http.Request, f *file) {
	w.Header().Set("Content-Disposition", `attachment; filename="model.json"`)
	sendFile(w, r, f.Path, "application/json")
}

// serveModelApplied answers with the labels that a model file gives to the rows of a table.
func (s *Studio) serveModelApplied(w http.ResponseWriter, r *http.Request, f *file) {
	s.labels(w, r, f.Path, func(message string) string { return strings.ReplaceAll(message, f.Path, f.Name) })
}

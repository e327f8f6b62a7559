package studio

import (
	"net/http"
	"os"
	"path/filepath"
)

// serveApplied answers with the labels that the model of a run gives to the rows of another table.
func (s *Studio) serveApplied(w http.ResponseWriter, r *http.Request, n *run) {
	s.labels(w, r, filepath.Join(n.folder, "model.json"), n.plain)
}

// labels answers with what `latent label` writes about the table that a request names. plain leaves out of a message where the model lies.
func (s *Studio) labels(w http.ResponseWriter, r *http.Request, model string, plain func(string) string) {
	f, no := s.find(r.Context(), s.spaceOf(r), r.URL.Query().Get("data"))
	if no != nil {
		fail(w, no.status, "%s", no.text)
		return
	}
	_, folder, err := s.newFolder("a")
	if err != nil {
		fail(w, http.StatusInternalServerError, "%s: there is no place for the labels: %s", f.Name, reason(err))
		return
	}
	defer os.RemoveAll(folder) // what is left goes with the folder of all
	labels := filepath.Join(folder, "labels.csv")
	if _, _, no := s.command(r.Context(), f.Path, f.Name, Hooks{Folder: f.Folder}, "label", "-o", labels, "--", model, f.Path); no != nil {
		fail(w, no.status, "%s", plain(no.text))
		return
	}
	w.Header().Set("Content-Disposition", `attachment; filename="labels.csv"`)
	sendFile(w, r, labels, "text/csv; charset=utf-8")
}

package studio

import (
	"net/http"
	"os"
	"path/filepath"
)

// serveApplied answers with what `latent label` writes: the labels that the model of a run gives to the rows of another table.
func (s *Studio) serveApplied(w http.ResponseWriter, r *http.Request, n *run) {
	f, no := s.find(r.Context(), s.spaceOf(r), r.URL.Query().Get("data"))
	if no != nil {
		fail(w, no.status, "%s", no.text)
		return
	}
	folder, err := os.MkdirTemp(n.folder, "applied")
	if err != nil {
		fail(w, http.StatusInternalServerError, "%s: there is no place for the labels: %s", f.Name, reason(err))
		return
	}
	defer os.RemoveAll(folder) // what is left goes with the folder of all
	model, labels := filepath.Join(n.folder, "model.json"), filepath.Join(folder, "labels.csv")
	if _, _, no := s.command(r.Context(), f.Path, f.Name, Hooks{Folder: f.Folder}, "label", "-o", labels, "--", model, f.Path); no != nil {
		fail(w, no.status, "%s", n.plain(no.text))
		return
	}
	w.Header().Set("Content-Disposition", `attachment; filename="labels.csv"`)
	sendFile(w, r, labels, "text/csv; charset=utf-8")
}

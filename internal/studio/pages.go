package studio

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed web
var web embed.FS

// contentTypes are of the files that are served; others in the folder are not.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
	".png": "image/png", ".ico": "image/x-icon", ".json": "application/json",
}

// asset is a file of the page, ready to be sent.
type asset struct {
	kind, tag   string
	plain, zips []byte // zips is nil where that is no shorter
}

// newAsset makes an asset of what a file holds.
func newAsset(name string, b []byte) *asset {
	sum := sha256.Sum256(b)
	a := &asset{kind: contentTypes[path.Ext(name)], tag: `"` + hex.EncodeToString(sum[:12]) + `"`, plain: b}
	var z bytes.Buffer
	w, _ := gzip.NewWriterLevel(&z, gzip.BestCompression) // the level is known
	w.Write(b)                                            // to memory
	w.Close()
	if z.Len() < len(b)*9/10 {
		a.zips = z.Bytes()
	}
	return a
}

// ServeHTTP implements http.Handler.
func (a *asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h, b := w.Header(), a.plain
	h.Set("Content-Type", a.kind)
	h.Set("Cache-Control", "no-cache") // ask whether it is still the same: another version may be started on this port
	h.Set("Vary", "Accept-Encoding")
	tag := a.tag
	if a.zips != nil && takesGzip(r) {
		h.Set("Content-Encoding", "gzip")
		b, tag = a.zips, strings.TrimSuffix(a.tag, `"`)+`-gzip"`
	}
	h.Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Write(b)
}

// takesGzip reports whether the answer to a request may be compressed.
func takesGzip(r *http.Request) bool {
	for _, c := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		if name, q, _ := strings.Cut(strings.TrimSpace(c), ";"); name == "gzip" && strings.TrimSpace(q) != "q=0" {
			return true
		}
	}
	return false
}

// pagePaths are those of the one HTML file.
var pagePaths = []string{"/", "/watch", "/race", "/lab", "/data", "/pictures"}

// isPage reports whether a path is that of a page.
func isPage(p string) bool {
	for _, known := range pagePaths {
		if p == known {
			return true
		}
	}
	name, ok := strings.CutPrefix(p, "/lab/")
	return ok && name != "" && !strings.Contains(name, "/")
}

// pages serves the files of the page.
func (s *Studio) pages(mux *http.ServeMux) {
	files := map[string]*asset{}
	fs.WalkDir(web, "web", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && contentTypes[path.Ext(p)] != "" {
			b, _ := web.ReadFile(p) // it is part of the program
			files[strings.TrimPrefix(p, "web/")] = newAsset(p, b)
		}
		return nil
	})
	page := files["index.html"]
	delete(files, "index.html")
	for _, p := range pagePaths {
		mux.Handle("GET "+strings.TrimSuffix(p, "/")+map[bool]string{true: "/{$}"}[p == "/"], page)
	}
	mux.Handle("GET /lab/{name}", page)
	mux.HandleFunc("GET /static/", func(w http.ResponseWriter, r *http.Request) {
		a := files[strings.TrimPrefix(r.URL.Path, "/static/")]
		if a == nil {
			http.Error(w, "there is no such file", http.StatusNotFound)
			return
		}
		a.ServeHTTP(w, r)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		(&refusal{http.StatusNotFound, "there is nothing at this address"}).tell(w, r)
	})
}

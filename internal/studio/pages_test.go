package studio

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"
)

// A file is sent compressed to who takes that, and not at all to who has it.
func TestAsset(t *testing.T) {
	text := strings.Repeat("export const a = 1;\n", 100)
	a := newAsset("web/x.js", []byte(text))
	get := func(accept, has string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest("GET", "/static/x.js", nil), httptest.NewRecorder()
		r.Header.Set("Accept-Encoding", accept)
		r.Header.Set("If-None-Match", has)
		a.ServeHTTP(w, r)
		return w
	}
	plain := get("", "")
	if plain.Code != 200 || plain.Body.String() != text || plain.Header().Get("Content-Type") != "text/javascript; charset=utf-8" || plain.Header().Get("Content-Encoding") != "" {
		t.Errorf("plain: %d %v", plain.Code, plain.Header())
	}
	zipped := get("br, gzip;q=1.0, deflate", "")
	z, err := gzip.NewReader(bytes.NewReader(zipped.Body.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(z); err != nil || string(b) != text || zipped.Header().Get("Content-Encoding") != "gzip" || zipped.Header().Get("Vary") != "Accept-Encoding" {
		t.Errorf("gzip: %v %v", err, zipped.Header())
	}
	for _, w := range []*httptest.ResponseRecorder{plain, zipped} {
		tag := w.Header().Get("ETag")
		if again := get(map[bool]string{true: "gzip"}[w == zipped], tag); again.Code != 304 || again.Body.Len() != 0 || again.Header().Get("ETag") != tag {
			t.Errorf("%s again: %d %v", tag, again.Code, again.Header())
		}
	}
	if plain.Header().Get("ETag") == zipped.Header().Get("ETag") {
		t.Error("two texts have one tag")
	}
	if refused := get("gzip;q=0", ""); refused.Header().Get("Content-Encoding") != "" {
		t.Error("compressed for who does not take it")
	}
}

// Every page is the one file, and files have types.
func TestPages(t *testing.T) {
	v := serving(t, Options{})
	first := v.ask("GET", "/", "", nil)
	for _, p := range append(pagePaths, "/lab/spike", "/lab/%3Cb%3E") {
		if r := v.ask("GET", p, "", nil); r.StatusCode != 200 || !bytes.Equal(r.body, first.body) || r.Header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s: %d %v", p, r.StatusCode, r.Header)
		}
	}
	if r := v.ask("GET", "/static/index.html", "", nil); r.StatusCode != 404 {
		t.Errorf("the page below /static/: %d", r.StatusCode)
	}
}

// What the page and its modules name is there.
func TestNamedFiles(t *testing.T) {
	v := serving(t, Options{})
	named := regexp.MustCompile(`(?:href|src)="(/static/[^"]+)"`).FindAllSubmatch(v.ask("GET", "/", "", nil).body, -1)
	seen := map[string]bool{}
	var next []string
	for _, m := range named {
		next = append(next, string(m[1]))
	}
	for len(next) > 0 {
		p := next[0]
		if next = next[1:]; seen[p] {
			continue
		}
		seen[p] = true
		r := v.ask("GET", p, "", nil)
		if r.StatusCode != 200 {
			t.Errorf("%s: %d", p, r.StatusCode)
		}
		if strings.HasSuffix(p, ".js") {
			for _, m := range regexp.MustCompile(`\b(?:from|import)\s*\(?\s*['"](\.{0,2}/[^'"]+)['"]`).FindAllSubmatch(r.body, -1) {
				next = append(next, path.Join(path.Dir(p), string(m[1])))
			}
		}
	}
}

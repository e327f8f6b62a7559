package studio

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const testToken = "a-token-of-a-test"

// server is a studio that answers, and a browser that it has let in.
type server struct {
	*Studio
	t      testing.TB
	url    string
	client *http.Client
	cookie *http.Cookie
}

// serving starts a studio whose commands are done by run.
func serving(t testing.TB, o Options) *server {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	h := httptest.NewUnstartedServer(nil)
	o.Host, o.Token, o.Folder = h.Listener.Addr().String(), testToken, t.TempDir()
	if o.MaxUpload == 0 {
		o.MaxUpload = 10_000_000
	}
	if o.Run == nil {
		o.Run = echo
	}
	s := New(ctx, o)
	h.Config.Handler = s.Handler()
	h.Start()
	t.Cleanup(h.Close)
	v := &server{Studio: s, t: t, url: h.URL, client: h.Client()}
	r := v.ask("GET", "/?token="+testToken, "", nil)
	if r.StatusCode != http.StatusOK || len(r.Cookies()) != 1 {
		t.Fatalf("the token is answered with %d and %d cookies", r.StatusCode, len(r.Cookies()))
	}
	v.cookie = r.Cookies()[0]
	return v
}

// reply is an answer whose body was read.
type reply struct {
	*http.Response
	body []byte
}

// ask sends a request with the cookie. A header with the value "-" is taken away; Host is the host that is asked for.
func (v *server) ask(method, path, body string, header map[string]string) *reply {
	v.t.Helper()
	r, err := http.NewRequest(method, v.url+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	if v.cookie != nil && header["Cookie"] == "" {
		r.AddCookie(v.cookie)
	}
	if method == "POST" {
		r.Header.Set("Content-Type", "application/octet-stream")
	}
	for k, x := range header {
		switch {
		case k == "Host":
			r.Host = x
		case x == "-":
			r.Header.Del(k)
		default:
			r.Header.Set(k, x)
		}
	}
	got, err := v.client.Transport.RoundTrip(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer got.Body.Close()
	b, err := io.ReadAll(got.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return &reply{got, b}
}

// read reads JSON.
func (r *reply) read(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal(r.body, v); err != nil {
		t.Fatalf("%v: %s", err, r.body)
	}
}

// echo stands for the command: check of a file of numbers with a header, by naive reading.
func echo(_ context.Context, args []string, out, errw io.Writer, _ Hooks) int {
	path := args[len(args)-1]
	if args[0] != "check" {
		fmt.Fprintln(errw, "latent: no such command here")
		return 2
	}
	var names []string
	rows := 150
	if path == "@iris" {
		names = []string{"sepal_length", "sepal_width", "petal_length", "petal_width"}
	} else {
		b, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(b, []byte(",")) {
			fmt.Fprintf(errw, "latent: note\nlatent: %s: no table\n", path)
			return 1
		}
		lines := strings.Split(strings.TrimSpace(string(b)), "\n")
		names, rows = strings.Split(lines[0], ","), len(lines)-1
	}
	columns := []map[string]any{}
	for _, n := range names {
		columns = append(columns, map[string]any{"name": n, "use": "feature", "type": "number", "min": 0, "max": nil})
	}
	return printed(out, map[string]any{"file": path, "format": "csv", "rows": rows, "delimiter": ",", "decimal": ".", "header": true, "columns": columns, "warnings": []string{"a warning"}, "model": "gmm"})
}

func printed(out io.Writer, v any) int {
	b, _ := json.Marshal(v)
	out.Write(b)
	return 0
}

// open uploads a table and returns what is told of it.
func (v *server) open(name, body string) *told {
	v.t.Helper()
	r := v.ask("POST", "/api/data?name="+name, body, nil)
	if r.StatusCode != http.StatusOK {
		v.t.Fatalf("%s: %d %s", name, r.StatusCode, r.body)
	}
	var d told
	r.read(v.t, &d)
	return &d
}

// files lists what lies in the folder of a studio.
func (v *server) files() (list []string) {
	filepath.WalkDir(v.Folder, func(p string, d os.DirEntry, err error) error {
		if err == nil && p != v.Folder {
			list = append(list, strings.TrimPrefix(p, v.Folder))
		}
		return nil
	})
	return list
}

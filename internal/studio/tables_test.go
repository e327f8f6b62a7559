package studio

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/latent-go/latent/data"
)

func floats(b []byte) []float32 {
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

func TestState(t *testing.T) {
	file := filepath.Join(t.TempDir(), "given.csv")
	os.WriteFile(file, []byte("left,right\n1,2\n3,4\n"), 0o600)
	v := serving(t, Options{Version: "1.2.3", File: file})
	var s struct {
		Version string
		Sets    []set
		Limits  map[string]int64
		File    *told
		Runs    []any
	}
	v.ask("GET", "/api/state", "", nil).read(t, &s)
	if s.Version != "1.2.3" || s.Limits["upload"] != 10_000_000 || s.Limits["marks"] != 100_000 || s.Runs == nil || len(s.Sets) != len(data.Datasets()) {
		t.Errorf("%+v", s)
	}
	for _, x := range s.Sets {
		if x.Name == "@iris" && (x.Rows != 150 || strings.Join(x.Columns, " ") != "sepal_length sepal_width petal_length petal_width" || x.About == "") {
			t.Errorf("%+v", x)
		}
	}
	if s.File == nil || s.File.Name != file || s.File.Rows != 2 || strings.Join(s.File.Features, " ") != "left right" {
		t.Fatalf("the file given: %+v", s.File)
	}
	if got := floats(v.ask("GET", "/api/data/"+s.File.ID+"/marks?x=right&y=left", "", nil).body); fmt.Sprint(got) != "[2 1 4 3]" {
		t.Errorf("its marks: %v", got)
	}
	bad := serving(t, Options{File: filepath.Join(t.TempDir(), "gone.csv")})
	if r := bad.ask("GET", "/api/state", "", nil); r.StatusCode != 200 || !strings.Contains(string(r.body), "gone.csv: no table") {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
}

// A file of the command line that takes long to look at does not keep the page from beginning.
func TestLargeFile(t *testing.T) {
	file, let := filepath.Join(t.TempDir(), "large.csv"), make(chan bool)
	os.WriteFile(file, []byte("left,right\n1,2\n3,4\n"), 0o600)
	v := serving(t, Options{File: file, Run: func(ctx context.Context, args []string, out, errw io.Writer, h Hooks) int {
		<-let
		return echo(ctx, args, out, errw, h)
	}})
	var s struct {
		File struct {
			ID, Name string
			Reading  bool
		}
	}
	v.ask("GET", "/api/state", "", nil).read(t, &s)
	if s.File.ID != givenID || s.File.Name != file || !s.File.Reading {
		t.Errorf("%+v", s)
	}
	close(let)
	var d told
	v.ask("GET", "/api/data/"+s.File.ID, "", nil).read(t, &d)
	if d.Rows != 2 {
		t.Errorf("%+v", d)
	}
	s.File.Reading = false
	v.ask("GET", "/api/state", "", nil).read(t, &s)
	if s.File.Reading {
		t.Error("it is still being read")
	}
}

func TestOpen(t *testing.T) {
	v := serving(t, Options{})
	name := "<b>two/groups</b> \u202e.csv"
	d := v.open(url.QueryEscape(name), "a,b\n1.50,2\n3,4e0\n")
	if d.ID == "" || d.Rows != 2 || d.Model != "gmm" || d.Text != `csv, 2 rows; delimiter ",", decimal ".", a header` || len(d.Warnings) != 1 {
		t.Errorf("%+v", d)
	}
	if want := "<b>two/groups</b> _.csv"; d.Name != want || !strings.Contains(string(d.Check), `"file":`+quoted(want)) || strings.Contains(string(d.Check), v.Folder) {
		t.Errorf("named %q: %s", d.Name, d.Check)
	}
	r := v.ask("GET", "/api/data/"+d.ID+"/rows/1", "", nil)
	if got := string(r.body); got != `{"id":null,"row":1,"values":[{"column":"a","value":"1.50"},{"column":"b","value":"2"}]}`+"\n" {
		t.Errorf("row 1: %s", got)
	}
	for _, n := range []string{"0", "3", "-1", "x", "99999999999999999999"} {
		if r := v.ask("GET", "/api/data/"+d.ID+"/rows/"+n, "", nil); r.StatusCode != 404 {
			t.Errorf("row %s: %d", n, r.StatusCode)
		}
	}
	var iris told
	v.ask("POST", "/api/data?set=@iris", "", nil).read(t, &iris)
	if iris.ID != "@iris" || iris.Rows != 150 {
		t.Errorf("%+v", iris)
	}
	for path, want := range map[string]int{"?set=@iris&name=a.csv": 400, "?set=@nothing": 422, "?name=x": 422} {
		if r := v.ask("POST", "/api/data"+path, "", nil); r.StatusCode != want {
			t.Errorf("%s: %d %s, want %d", path, r.StatusCode, r.body, want)
		}
	}
}

func quoted(s string) string {
	return strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(fmt.Sprintf("%q", s))
}

// An upload is refused at its limit, whether or not it says beforehand how long it is, and nothing of it stays.
func TestUploadLimit(t *testing.T) {
	v := serving(t, Options{MaxUpload: 1000})
	body := "a,b\n" + strings.Repeat("1,2\n", 300)
	for _, long := range []io.Reader{strings.NewReader(body), struct{ io.Reader }{strings.NewReader(body)}} {
		r, _ := http.NewRequest("POST", v.url+"/api/data?name=long.csv", long)
		r.Header.Set("Content-Type", "application/octet-stream")
		r.AddCookie(v.cookie)
		got, err := v.client.Transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(got.Body)
		got.Body.Close()
		if got.StatusCode != 413 || !bytes.Contains(b, []byte("long.csv: more than the 0 MB")) {
			t.Errorf("%d %s", got.StatusCode, b)
		}
	}
	if left := v.files(); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

// An upload may take any time while something comes, and ends where nothing does.
func TestSlowUpload(t *testing.T) {
	v := serving(t, Options{})
	v.wait = time.Second
	send := func(pieces int, stall bool) (int, string) {
		body, w := io.Pipe()
		defer body.Close()
		go func() {
			io.WriteString(w, "a,b\n")
			for range pieces {
				time.Sleep(300 * time.Millisecond)
				io.WriteString(w, "1,2\n")
			}
			if !stall {
				w.Close()
			}
		}()
		r, _ := http.NewRequest("POST", v.url+"/api/data?name=slow.csv", struct{ io.Reader }{body})
		r.Header.Set("Content-Type", "application/octet-stream")
		r.AddCookie(v.cookie)
		got, err := v.client.Transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close()
		b, _ := io.ReadAll(got.Body)
		return got.StatusCode, string(b)
	}
	if code, b := send(5, false); code != 200 {
		t.Errorf("slow: %d %s", code, b)
	}
	n := len(v.files())
	if code, b := send(2, true); code != 408 || !strings.Contains(b, "slow.csv: it did not come whole") || len(v.files()) != n {
		t.Errorf("stalled: %d %s, %q", code, b, v.files())
	}
}

// Beyond a few uploads at once others are asked to come again.
func TestBusy(t *testing.T) {
	begun, let := make(chan bool, maxUploads), make(chan bool)
	v := serving(t, Options{Run: func(ctx context.Context, args []string, out, errw io.Writer, h Hooks) int {
		begun <- true
		<-let
		return echo(ctx, args, out, errw, h)
	}})
	var all sync.WaitGroup
	for range maxUploads {
		all.Add(1)
		go func() {
			defer all.Done()
			v.open("a.csv", "a,b\n1,2\n3,4\n")
		}()
		<-begun
	}
	r := v.ask("POST", "/api/data?name=b.csv", "a,b\n1,2\n", nil)
	if r.StatusCode != 503 || r.Header.Get("Retry-After") == "" {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	close(let)
	all.Wait()
}

// The oldest uploads go when others come.
func TestKept(t *testing.T) {
	v := serving(t, Options{})
	var ids []string
	for i := range maxFiles + 3 {
		ids = append(ids, v.open(fmt.Sprintf("f%d.csv", i), "a,b\n1,2\n3,4\n").ID)
		v.ask("GET", "/api/data/"+ids[i]+"/marks?x=a", "", nil)
	}
	for i, id := range ids {
		want := map[bool]int{true: 404, false: 200}[i < 3]
		if r := v.ask("GET", "/api/data/"+id+"/marks?x=a", "", nil); r.StatusCode != want {
			t.Errorf("upload %d: %d, want %d", i, r.StatusCode, want)
		}
	}
	if n := len(v.files()); n != 2*maxFiles {
		t.Errorf("%d files and folders: %q", n, v.files())
	}
	if got, want := v.held.Load(), int64(maxFiles*2*2*8); got != want {
		t.Errorf("%d bytes are held, want %d", got, want)
	}
}

// Fifty bad uploads, some at once, are refused one by one, in a bounded memory, and nothing of them stays.
func TestBadUploads(t *testing.T) {
	v := serving(t, Options{})
	noise := make([]byte, 400_000)
	r := rand.NewChaCha8([32]byte{1})
	r.Read(noise)
	noise = bytes.ReplaceAll(noise, []byte(","), nil)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var all sync.WaitGroup
	place := make(chan bool, maxUploads)
	for i := range 50 {
		all.Add(1)
		place <- true
		go func() {
			defer func() { <-place; all.Done() }()
			got := v.ask("POST", fmt.Sprintf("/api/data?name=bad%d", i), string(noise[:i*8000]), nil)
			if got.StatusCode != 422 || !strings.Contains(string(got.body), fmt.Sprintf(`"bad%d: no table"`, i)) {
				t.Errorf("upload %d: %d %s", i, got.StatusCode, got.body)
			}
		}()
	}
	all.Wait()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 20<<20 {
		t.Errorf("%d bytes more are held", grown)
	}
	if left := v.files(); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

// All kinds of requests at once, by several who were let in, for the race detector.
func TestAtOnce(t *testing.T) {
	v := serving(t, Options{})
	var all sync.WaitGroup
	for g := range 6 {
		all.Add(1)
		go func() {
			defer all.Done()
			c := v.ask("GET", "/?token="+testToken, "", map[string]string{"Cookie": "-"}).Cookies()[0]
			own := map[string]string{"Cookie": c.Name + "=" + c.Value}
			for i := range 6 {
				r := v.ask("POST", "/api/data?name=x.csv", "a,b\n1,2\n3,5\n4,4\n", own)
				if r.StatusCode == 503 {
					continue
				}
				var d told
				r.read(t, &d)
				for _, path := range []string{"/api/state", "/watch", "/api/data/" + d.ID + "/marks?x=a&y=b", "/api/data/" + d.ID + "/marks?x=pc1&y=pc2", "/api/data/@iris/marks?x=pc1", "/api/data/" + d.ID + "/rows/2"} {
					if r := v.ask("GET", path, "", own); r.StatusCode != 200 {
						t.Errorf("%d/%d: %s: %d %s", g, i, path, r.StatusCode, r.body)
					}
				}
			}
		}()
	}
	all.Wait()
}

// Whatever an upload is called, it lies in its folder, and is shown as text of one line.
func FuzzUploadName(f *testing.F) {
	for _, s := range []string{"a.csv", "../../etc/passwd", "..", ".", "", "-o", "@iris", "con\x00.csv", "\\\\server\\x", "C:\\x", strings.Repeat("ä", 300) + ".csv.gz", "a\nb", "~", "\xff\xfe", " . ", "x." + strings.Repeat("y", 300), strings.Repeat(".", 250)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, given string) {
		l := label(given)
		n := fileName(l)
		if l == "" || len(l) > maxLabel || !utf8.ValidString(l) || strings.ContainsAny(l, "\n\r\x00\u2028") {
			t.Errorf("%q is called %q", given, l)
		}
		if n == "" || len(n) > 210 || !utf8.ValidString(n) || filepath.Base(n) != n || !filepath.IsLocal(n) || strings.ContainsAny(n, `/\:`+"\x00") || strings.ContainsAny(n[:1], "-@.~") {
			t.Errorf("%q lies in %q", given, n)
		}
	})
}

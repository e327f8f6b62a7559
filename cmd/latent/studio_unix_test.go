//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// page is a studio of a process of its own.
type page struct {
	*exec.Cmd
	t             *testing.T
	address, base string
	cookie        *http.Cookie
	temp          string
	rest          *bufio.Reader // of standard output
	err           bytes.Buffer
	seen          string // where the address that a browser was opened with is written
}

// startStudio starts the studio and comes in by the address that it prints.
func startStudio(t *testing.T, args ...string) *page {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := &page{t: t, temp: t.TempDir(), seen: filepath.Join(dir, "seen")}
	os.WriteFile(filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\nprintf %s \"$1\" > \""+p.seen+".part\" && mv \""+p.seen+".part\" \""+p.seen+"\"\n"), 0o700)
	p.Cmd = &exec.Cmd{Path: self, Args: append([]string{"latent-process", "studio"}, args...), Dir: t.TempDir(), Stderr: &p.err,
		Env: append(os.Environ(), "TMPDIR="+p.temp, "PATH="+dir+":"+os.Getenv("PATH"))}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Process.Kill()
		p.Wait()
	})
	p.rest = bufio.NewReader(out)
	line, err := p.rest.ReadString('\n')
	if err != nil || !regexp.MustCompile(`^http://127\.0\.0\.1:\d+/(data)?\?token=[-\w]{24}\n$`).MatchString(line) {
		t.Fatalf("the first line is %q, %v, %s", line, err, &p.err)
	}
	p.address = strings.TrimSpace(line)
	p.base = "http://" + strings.Split(p.address, "/")[2]
	return p
}

// enter shows an address and takes the cookie.
func (p *page) enter(address string) int {
	p.t.Helper()
	r, err := http.Get(address)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Body.Close()
	if c := r.Cookies(); len(c) == 1 {
		p.cookie = c[0]
	}
	return r.StatusCode
}

// ask sends a request with the cookie.
func (p *page) ask(method, path, kind, body string) (int, []byte) {
	p.t.Helper()
	r, err := http.NewRequest(method, p.base+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	r.AddCookie(p.cookie)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer got.Body.Close()
	b, err := io.ReadAll(got.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return got.StatusCode, b
}

// end sends a signal, and demands that all is over soon and nothing stays.
func (p *page) end(how syscall.Signal) {
	p.t.Helper()
	began := time.Now()
	p.Process.Signal(how)
	rest, _ := io.ReadAll(p.rest)
	p.Wait()
	if took := time.Since(began); p.ProcessState.ExitCode() != 0 || took > 10*time.Second || strings.Contains(p.err.String(), "goroutine") {
		p.t.Errorf("%v: %v after %v: %s", how, p.ProcessState, took, &p.err)
	}
	if left, _ := filepath.Glob(filepath.Join(p.temp, "*")); len(left) != 0 || len(rest) != 0 {
		p.t.Errorf("%v: left are %q, and %q on standard output", how, left, rest)
	}
}

// What check prints is what the page is told, but for the name; what it refuses is refused in the same words.
func TestStudioOpens(t *testing.T) {
	p := startStudio(t, "--no-open")
	if code := p.enter(p.address); code != 200 {
		t.Fatalf("the address is answered with %d", code)
	}
	const file = "application/octet-stream"
	for name, body := range map[string]string{
		"two groups.csv": "a b,c,name\n" + strings.Repeat("1.5,2,r1\n2.25,,r2\n3,5,r3\n4,4,r4\n", 5), "colours.csv": "x,y\n" + strings.Repeat("red,1\nblue,2\nred,3\n", 9),
		"typo.csv": "age,height\n31,180\n4l,175\n28,169\n", "ragged.csv": "a,b\n1,2\n3\n", "noise.parquet": "PAR1 and noise", "empty.csv": "",
	} {
		path := filepath.Join(t.TempDir(), name)
		os.WriteFile(path, []byte(body), 0o600)
		var out, errw bytes.Buffer
		status := run(t.Context(), []string{"check", "--json", path}, strings.NewReader(""), &out, &errw)
		want := strings.ReplaceAll(out.String(), path, name)
		said := strings.TrimPrefix(strings.TrimSpace(strings.ReplaceAll(errw.String(), path, name)), "latent: ")
		code, got := p.ask("POST", "/api/data?name="+strings.ReplaceAll(name, " ", "+"), file, body)
		var r struct {
			Error string
			Check json.RawMessage
			Data  struct{ Check json.RawMessage }
		}
		if err := json.Unmarshal(got, &r); err != nil {
			t.Fatalf("%s: %v: %s", name, err, got)
		}
		if code != map[bool]int{true: 200, false: 422}[status == 0] || r.Error != said {
			t.Errorf("%s: %d %q, want %q", name, code, r.Error, said)
		}
		if r.Check == nil {
			r.Check = r.Data.Check
		}
		if !sameJSON(t, string(r.Check), want) {
			t.Errorf("%s: told %s, want %s", name, r.Check, want)
		}
	}
	p.end(syscall.SIGINT)
}

// sameJSON compares two values, of which both may be missing.
func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	if a == "" || b == "" {
		return a == b
	}
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatal(err)
	}
	m, _ := json.Marshal(x)
	n, _ := json.Marshal(y)
	return bytes.Equal(m, n)
}

// The marks of a file with columns of every type: numbers as they are, categories by the index of their level, gaps as NaN.
func TestStudioMarks(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "given.csv")
	os.WriteFile(file, []byte("x,colour\n"+strings.Repeat("1.5,red\n,blue\n2.5,red\n3.5,green\n", 10)), 0o600)
	p := startStudio(t, "--no-open", file)
	p.enter(p.address)
	code, got := p.ask("GET", "/api/data/d0/marks?x=x&y=colour", "", "")
	want := []byte{0, 0, 0xc0, 0x3f, 0, 0, 0, 0x40, 0, 0, 0xc0, 0x7f, 0, 0, 0, 0, 0, 0, 0x20, 0x40, 0, 0, 0, 0x40, 0, 0, 0x60, 0x40, 0, 0, 0x80, 0x3f} // blue, green, red are 0, 1, 2
	if code != 200 || len(got) != 320 || !bytes.Equal(got[:32], want) {
		t.Errorf("%d % x", code, got)
	}
	p.end(syscall.SIGTERM)
}

// The browser is opened with a token of its own, which works once.
func TestStudioBrowser(t *testing.T) {
	p := startStudio(t)
	var opened []byte
	until(t, "a browser", func() bool {
		opened, _ = os.ReadFile(p.seen)
		return len(opened) > 0
	})
	if first, second := p.enter(string(opened)), p.enter(string(opened)); first != 200 || second != 403 || string(opened) == p.address {
		t.Errorf("%s is answered with %d and %d", opened, first, second)
	}
	if code := p.enter(p.address); code != 200 {
		t.Errorf("the address is answered with %d", code)
	}
	p.end(syscall.SIGINT)
}

// A segmentation is the command's, and one that is under way ends with the studio.
func TestStudioPicture(t *testing.T) {
	p := startStudio(t, "--no-open")
	p.enter(p.address)
	dir := t.TempDir()
	var out, errw bytes.Buffer
	one := filepath.Join(dir, "flower.png")
	if status := run(t.Context(), []string{"segment", "@flower", "-k", "3", "--model", "kmeans", "-o", one}, strings.NewReader(""), &out, &errw); status != 0 {
		t.Fatal(errw.String())
	}
	body, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	code, told := p.ask("POST", "/api/pictures?name=flower.png", "application/octet-stream", string(body))
	var shot struct{ ID string }
	if err := json.Unmarshal(told, &shot); err != nil || code != 200 {
		t.Fatalf("%d %s", code, told)
	}
	for _, name := range []string{"after.png", "labels.png", "palette.csv"} {
		if code, _ := p.ask("GET", "/api/pictures/"+shot.ID+"/"+name, "", ""); code != 404 {
			t.Errorf("%s before there is any: %d", name, code)
		}
	}
	code, lines := p.ask("POST", "/api/pictures/"+shot.ID+"/segment", "application/json", `{"k":2,"model":"kmeans","space":"lab","seed":4}`)
	if code != 200 || !bytes.Contains(lines, []byte(`"command":"latent segment flower.png -k 2 --model kmeans --space lab --seed 4 -o segmented.png"`)) {
		t.Fatalf("%d %s", code, lines)
	}
	args := []string{"segment", one, "-k", "2", "--model", "kmeans", "--space", "lab", "--seed", "4"}
	for flag, name := range map[string]string{"-o": "after.png", "--labels": "labels.png", "--palette": "palette.csv"} {
		args = append(args, flag, filepath.Join(dir, name))
	}
	if status := run(t.Context(), args, strings.NewReader(""), &out, &errw); status != 0 {
		t.Fatal(errw.String())
	}
	for _, name := range []string{"after.png", "labels.png", "palette.csv"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if code, got := p.ask("GET", "/api/pictures/"+shot.ID+"/"+name, "", ""); code != 200 || !bytes.Equal(got, want) {
			t.Errorf("%s: %d, %d bytes that are not the command's %d", name, code, len(got), len(want))
		}
	}
	p.end(syscall.SIGTERM)
}

// A port that is in use is told in one line.
func TestStudioPort(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	var out, errw bytes.Buffer
	status := run(t.Context(), []string{"studio", "--no-open", "--port", port}, strings.NewReader(""), &out, &errw)
	if want := "latent: port " + port + " is in use; give another with --port, or none for one that is free\n"; status != exitError || errw.String() != want || out.Len() != 0 {
		t.Errorf("%d %q %q", status, &out, &errw)
	}
}

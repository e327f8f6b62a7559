package data

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

// folder is what a folder holds: names to contents.
func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	for _, e := range entries {
		if e.IsDir() {
			m[e.Name()] = "/"
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		m[e.Name()] = string(b)
	}
	return m
}

func wantFolder(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	got := folder(t, dir)
	for name, s := range got {
		if w, ok := want[name]; !ok || w != s {
			t.Errorf("%s holds %q, want %q", name, s, w)
		}
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("%s is not there", name)
		}
	}
}

func put(s string) func(*Output) error {
	return func(f *Output) error { _, err := f.WriteString(s); return err }
}

// oneFile writes a file through Files.
func oneFile(path string, write func(f *Output) error) error {
	var t Files
	defer t.Abort()
	f, err := t.Create(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		return err
	}
	return t.Commit()
}

func TestOneFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	if err := oneFile(path, put("one")); err != nil {
		t.Fatal(err)
	}
	wantFolder(t, dir, map[string]string{"x": "one"})
	if runtime.GOOS != "windows" {
		info, _ := os.Stat(path)
		if p := info.Mode().Perm(); p&^0o644 != 0 || p&0o600 != 0o600 {
			t.Errorf("permissions %v", p)
		}
	}
	stop := errors.New("stop")
	if err := oneFile(path, func(f *Output) error { f.WriteString("half"); return stop }); err != stop {
		t.Error(err)
	}
	wantFolder(t, dir, map[string]string{"x": "one"})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is lost")
			}
		}()
		oneFile(path, func(f *Output) error { panic("oh") })
	}()
	wantFolder(t, dir, map[string]string{"x": "one"})
	if err := oneFile(path, put("two")); err != nil {
		t.Fatal(err)
	}
	wantFolder(t, dir, map[string]string{"x": "two"})

	if name := freshName("", "x"+strings.Repeat("é", 100), tempEnd); !utf8.ValidString(name) || len(name) > 120 {
		t.Errorf("a temporary name is %q", name)
	}
	err := oneFile(filepath.Join(dir, "no", "x"), put(""))
	if err == nil || !strings.Contains(err.Error(), "does not exist; make it first") {
		t.Error("no folder:", err)
	}
	if err := oneFile(dir, put("")); err == nil || !strings.Contains(err.Error(), "this is a folder") {
		t.Error("a folder:", err)
	}
}

func TestOneFileSpecial(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links and devices as in Unix")
	}
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.WriteFile(real, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", link); err != nil {
		t.Fatal(err)
	}
	if err := oneFile(link, put("new")); err != nil {
		t.Fatal(err)
	}
	wantFolder(t, dir, map[string]string{"real": "new", "link": "new"})
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o600 {
		t.Error("the permissions were lost")
	}
	if err := oneFile("/dev/null", put("x")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat("/dev/null"); err != nil || info.Mode().IsRegular() {
		t.Fatal("/dev/null was replaced")
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	create := func(files *Files, name, s string) {
		t.Helper()
		f, err := files.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString(s)
	}
	var files Files
	if err := files.Folder(filepath.Join(dir, "p", "q")); err != nil {
		t.Fatal(err)
	}
	create(&files, "a", "1")
	create(&files, "p/q/b", "2")
	files.Abort()
	wantFolder(t, dir, nil)

	if err := files.Folder(filepath.Join(dir, "p")); err != nil {
		t.Fatal(err)
	}
	create(&files, "a", "1")
	create(&files, "p/b", "2")
	if err := files.Commit(); err != nil {
		t.Fatal(err)
	}
	files.Abort() // nothing is left to undo
	wantFolder(t, dir, map[string]string{"a": "1", "p": "/"})
	wantFolder(t, filepath.Join(dir, "p"), map[string]string{"b": "2"})

	// The third file cannot get its name: the others are as they were.
	create(&files, "a", "new")
	create(&files, "fresh", "new")
	create(&files, "c", "new")
	if err := os.Mkdir(filepath.Join(dir, "c"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := files.Commit(); err == nil {
		t.Error("a folder was replaced by a file")
	}
	wantFolder(t, dir, map[string]string{"a": "1", "p": "/", "c": "/"})

	if err := files.Folder(filepath.Join(dir, "a", "x")); err == nil {
		t.Error("a folder was made inside a file")
	}
}

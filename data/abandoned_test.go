//go:build !windows

package data

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What a killed process left beside an output goes with the next one that is written there. What has an owner, belongs to
// another output or another machine, or only looks alike stays.
func TestAbandoned(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.csv")
	start := nameStart("x.csv")
	const digits = "0123456789ab"
	keep := map[string]string{
		nameStart("y.csv") + digits + ".tmp":             "another output",
		".x.csv.00000000-" + digits + ".tmp":             "another machine",
		start + "0123456789aB.tmp":                       "not our digits",
		start + digits + ".txt":                          "not our end",
		start + digits + "0.tmp":                         "too long",
		strings.TrimPrefix(start, ".") + digits + ".tmp": "not hidden",
		".x.csv.tmp": "of another program",
	}
	for name, s := range keep {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	leave := func(name string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	leave(start + digits + ".tmp")
	leave(start + "ffffffffffff.tmp")
	backup := leave(start + "eeeeeeeeeeee.old") // the only copy of what was there before
	if err := oneFile(path, put("whole")); err != nil {
		t.Fatal(err)
	}
	keep["x.csv"], keep[filepath.Base(backup)] = "whole", "half"
	wantFolder(t, dir, keep)

	// Now the output is there, so that the copy is of no more use.
	owned := leave(start + "dddddddddddd.tmp")
	owner := tryOwn(owned)
	if owner == nil {
		t.Fatal("the file system of temporary files has no locks; point TMPDIR at one that has")
	}
	if err := oneFile(path, put("again")); err != nil {
		t.Fatal(err)
	}
	keep["x.csv"], keep[filepath.Base(owned)] = "again", "half"
	wantFolder(t, dir, keep) // its backup stays while somebody else is writing there
	owner.Close()
	if err := oneFile(path, put("thrice")); err != nil {
		t.Fatal(err)
	}
	keep["x.csv"] = "thrice"
	delete(keep, filepath.Base(owned))
	delete(keep, filepath.Base(backup))
	wantFolder(t, dir, keep)
}

// Two that write to the same name at once do not take each other's files, and the last one to end wins.
func TestTwoWriters(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	var a, b Files
	fa, err := a.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	fa.WriteString("a")
	fb, err := b.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	fb.WriteString("b")
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	wantOne := func(s string) {
		t.Helper()
		if got, err := os.ReadFile(path); err != nil || string(got) != s {
			t.Errorf("%q, %v, want %q", got, err, s)
		}
	}
	wantOne("b")
	if err := a.Commit(); err != nil {
		t.Fatal(err)
	}
	wantOne("a")
	wantFolder(t, dir, map[string]string{"x": "a"})
}

// Errors of writing name the output, never what it is called until it is whole.
func TestWriteErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	err := oneFile(path, func(f *Output) error {
		f.f.Close() // stands for a disk that is full
		_, err := f.WriteString("x")
		if _, also := f.Write([]byte("x")); err == nil || also == nil || err.Error() != also.Error() {
			t.Errorf("%v, %v", err, also)
		}
		if _, err := f.Seek(0, 0); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("Seek: %v", err)
		}
		return err
	})
	var wrong *WriteError
	if !errors.As(err, &wrong) || wrong.Path != path || err.Error() != path+": "+os.ErrClosed.Error() || !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if runtime.GOOS == "linux" {
		if err := oneFile("/dev/full", put("x")); err == nil || err.Error() != "/dev/full: no space left on device" {
			t.Errorf("/dev/full: %v", err)
		}
	}
}

//go:build unix

package data

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A named pipe without a writer is left when the context ends; one with a writer is read.
func TestNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := Load(ctx, path, Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	go os.WriteFile(path, nil, 0) // lets go of the reader that was left
	time.Sleep(50 * time.Millisecond)
	go os.WriteFile(path, []byte("x,y\n1,5\n2,7\n"), 0)
	src, _, err := Load(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n, d := src.Shape(); n != 2 || d != 2 {
		t.Errorf("%d rows of %d", n, d)
	}
}

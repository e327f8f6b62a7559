//go:build !windows

package data

import (
	"context"
	"io"
	"os"
	"testing"
)

// A file that another takes the name of is read to its end: nothing was written to it.
func TestReplacedFile(t *testing.T) {
	path := writeNumbers(t, "x.csv", 50_000)
	src, info, err := Load(context.Background(), path, Options{Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	defer src.(io.Closer).Close()
	if err := os.Rename(writeNumbers(t, "y.csv", 10), path); err != nil {
		t.Fatal(err)
	}
	if sum, err := pass(src); err != nil || sum != 7*50_000*49_999/2 {
		t.Errorf("sum %v, %v", sum, err)
	}
	if err := info.Changed(); err != nil {
		t.Error(err)
	}
}

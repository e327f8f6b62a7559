package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/latent-go/latent/internal/rng"
)

// writeNPY writes x, d columns of float64, as numpy.save does, and returns the path.
func writeNPY(t *testing.T, x []float64, d int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.npy")
	head := "{'descr': '<f8', 'fortran_order': False, 'shape': (" + strconv.Itoa(len(x)/d) + ", " + strconv.Itoa(d) + "), }\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
	b = append(b, head...)
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Another program cuts the file short during a fit that would take for ever. Read in every pass, it is an error at once;
// held in memory, the rows are whole, and the result says what has become of their file.
func TestFileCutShortDuringFit(t *testing.T) {
	for _, c := range []struct {
		stream bool
		status int
		want   string
	}{
		{true, exitError, "the file became shorter while it was read"},
		{false, exitInterrupted, "the file became shorter after it was read: the result is of the rows as they were before"},
	} {
		path := writeNPY(t, rng.Normals(5, 120_000), 3)
		args := []string{"fit", path, "-k", "6", "--algorithm", "em", "--n-init", "1", "--tol", "0", "--max-iter", "1000000", "--no-progress", "--json"}
		if c.stream {
			args = append(args, "--stream")
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var out, errw bytes.Buffer
		done := make(chan int)
		go func() { done <- run(ctx, args, strings.NewReader(""), &out, &errw) }()
		time.Sleep(2 * time.Second) // in a slow environment this may be among the starts: both must hold there too
		if err := os.Truncate(path, 5000); err != nil {
			t.Fatal(err)
		}
		if !c.stream {
			time.Sleep(200 * time.Millisecond)
			cancel()
		}
		select {
		case status := <-done:
			if text := out.String() + errw.String(); status != c.status || !strings.Contains(text, path+": "+c.want) {
				t.Errorf("stream %t: exit status %d, %s", c.stream, status, text)
			}
		case <-time.After(time.Minute):
			t.Fatalf("stream %t: no end", c.stream)
		}
	}
}

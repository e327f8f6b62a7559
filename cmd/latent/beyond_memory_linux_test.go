package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/latent-go/latent/data"
)

// TestATableOfTenTimesTheMemory: 400 MB of rows in forty files are fitted and labelled with 40 MiB beside the memory of the program itself.
// It stands for 40 GB on a machine of 2 GB: what a streamed fit holds does not depend on the number of rows, as the fits of a quarter of
// them, in the same memory, show. The files are one on disk, under forty names.
func TestATableOfTenTimesTheMemory(t *testing.T) {
	const d, rows, most = 8, 156_250, 40 << 10 // a file of 10 MB; KiB
	parts := 40
	if testing.Short() { // under the race detector, which the program itself is built without
		parts = 8
	}
	program := filepath.Join(t.TempDir(), "latent")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Chdir(t.TempDir())
	for _, format := range []string{"npy", "csv"} {
		writeBlobs(t, "part."+format, format, d, rows/map[string]int{"npy": 1, "csv": 4}[format])
	}
	if out, err := exec.Command("gzip", "-1", "part.csv").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	folder := func(name, part string, n int) {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if err := os.Link(part, filepath.Join(name, fmt.Sprintf("%02d.%s", i, part))); err != nil {
				t.Fatal(err)
			}
		}
	}
	folder("all", "part.npy", parts)
	folder("quarter", "part.npy", parts/4)
	folder("packed", "part.csv.gz", parts/4)
	base, _ := peakMemory(t, 0, program, "fit", "@iris", "-k", "3")
	for _, c := range []struct {
		status int
		args   string
	}{
		{0, "fit all --stream --model kmeans -k 5 --n-init 1 --max-iter 2 --allow-unconverged -o means.json"},
		{0, "fit quarter --stream --model kmeans -k 5 --n-init 1 --max-iter 2 --allow-unconverged"},
		{0, "fit quarter --stream --model gmm -k 3 --n-init 1 --max-iter 2 --allow-unconverged"},
		{0, "fit packed --stream --model kmeans -k 5 --n-init 1 --max-iter 2 --allow-unconverged"},
		{0, "label means.json all -o labels.npy"},
	} {
		kib, _ := peakMemory(t, c.status, program, strings.Fields(c.args)...)
		t.Logf("%s: %d KiB beside the %d of the program", c.args, kib-base, base)
		if kib > base+most {
			t.Errorf("%s: %d KiB at most, %d of them beside the program; %d are allowed", c.args, kib, kib-base, most)
		}
	}
	src, _, err := data.Load(t.Context(), "labels.npy", data.Options{Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	defer src.(interface{ Close() error }).Close()
	if n, _ := src.Shape(); n != int64(rows*parts) {
		t.Errorf("%d labels of %d rows", n, rows*parts)
	}
	if _, said := peakMemory(t, 1, program, "fit", "all", "--model", "kmeans", "-k", "5"); !strings.Contains(said, "which is more than the 20 MiB of memory that may be used; allow more with --max-memory, or use --stream") {
		t.Errorf("in memory: %s", said)
	}
}

// writeBlobs writes rows around five centres.
func writeBlobs(t *testing.T, path, format string, d, n int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cols := make([]data.OutColumn, d)
	for j := range cols {
		cols[j] = data.OutColumn{Name: "x" + strconv.Itoa(j), Kind: data.Float}
	}
	out, err := data.Create(f, format, cols)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		c := float64(r.IntN(5))
		for j := range cols {
			out.Float(math.Round(1000*(6*math.Sin(c*float64(j+1))+r.NormFloat64())) / 1000)
		}
		if err := out.End(); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// peakMemory runs a program, which must end with a status, with 40 MiB for the memory that Go manages, and returns the most that it had resident, in
// KiB, and what it said. That is what the system last knew of the running process: what it knows of one that ended counts the memory of
// the process that started it too.
func peakMemory(t *testing.T, status int, program string, args ...string) (kib int, said string) {
	t.Helper()
	cmd := exec.Command(program, args...)
	var out bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), "GOMEMLIMIT=40MiB"), &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cmd.Wait()
	}()
	for running := true; running; {
		select {
		case <-ended:
			running = false
		case <-time.After(2 * time.Millisecond):
			b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			if _, rest, ok := strings.Cut(string(b), "VmHWM:"); ok {
				now, _ := strconv.Atoi(strings.Fields(rest)[0])
				kib = max(kib, now)
			}
		}
	}
	if got := cmd.ProcessState.ExitCode(); got != status {
		t.Fatalf("%v: status %d, not %d: %s", args, got, status, &out)
	}
	return kib, out.String()
}

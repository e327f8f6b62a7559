//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process starts the whole program, signals included, in a folder of its own.
func process(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := &exec.Cmd{Path: self, Args: append([]string{"latent-process"}, args...), Dir: t.TempDir(), Stdout: &out, Stderr: &out}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd, &out
}

// until waits for a sign of the process.
func until(t *testing.T, what string, there func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !there(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not after a minute", what)
		}
	}
}

// endless is a fit that ends by a signal alone.
var endless = []string{"fit", "@faithful", "-k", "2", "--model", "kmeans", "--bootstrap", "100000", "--no-progress", "-o", "m.json"}

// A terminal that closes, and a request to end, are told as Ctrl-C is: the best so far is written, and the status says so.
func TestSignalsInterrupt(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT} {
		cmd, out := process(t, endless...)
		time.Sleep(2 * time.Second)
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || !strings.Contains(out.String(), "interrupted") {
			t.Errorf("%v: %v, %s", s, cmd.ProcessState, out)
		}
	}
}

// Under nohup a terminal that closes changes nothing.
func TestIgnoredHangup(t *testing.T) {
	signal.Ignore(syscall.SIGHUP) // what is ignored here is ignored in the process
	defer signal.Reset(syscall.SIGHUP)
	cmd, out := process(t, endless...)
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	time.Sleep(2 * time.Second)
	cmd.Process.Signal(syscall.SIGHUP)
	select {
	case <-ended:
		t.Fatalf("it ended: %v, %s", cmd.ProcessState, out)
	case <-time.After(2 * time.Second):
	}
	cmd.Process.Signal(syscall.SIGTERM)
	<-ended
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("%v, %s", cmd.ProcessState, out)
	}
}

// A process that is killed while it writes leaves a hidden file; the next one that writes there removes it, but not that of a
// process which is still at work.
func TestKilledWhileWriting(t *testing.T) {
	dir := t.TempDir()
	modelFile, target := filepath.Join(dir, "m.json"), filepath.Join(dir, "x.csv")
	const text = `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "diag", "columns": ["x"], "weights": [1], "means": [[0]], "covariances": [[1]]}`
	if err := os.WriteFile(modelFile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	files := func() []string {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	cmd, _ := process(t, "sample", modelFile, "-n", "1000000000", "-o", target)
	until(t, "a hidden file", func() bool { return len(files()) == 2 })
	small := func() {
		t.Helper()
		other, out := process(t, "sample", modelFile, "-n", "3", "-o", target)
		if err := other.Wait(); err != nil {
			t.Fatalf("%v, %s", err, out)
		}
	}
	small()
	if names := files(); len(names) != 3 || !strings.HasPrefix(names[0], ".x.csv.") {
		t.Errorf("beside a process at work: %q", names)
	}
	cmd.Process.Kill()
	cmd.Wait()
	small()
	if names := files(); len(names) != 2 {
		t.Errorf("after one that was killed: %q", names)
	}
}

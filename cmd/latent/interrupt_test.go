package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/latent-go/latent/internal/rng"
)

// Ctrl-C ends the climb, not the writing: the best so far is written and says what it is. The status is 130.
func TestInterruptedWritesTheBestSoFar(t *testing.T) {
	dir := t.TempDir()
	in, modelFile, labels := filepath.Join(dir, "in.csv"), filepath.Join(dir, "m.json"), filepath.Join(dir, "l.csv")
	if err := writeCSV(in, []string{"a", "b", "c"}, wide(rng.Normals(9, 60000), 3)); err != nil {
		t.Fatal(err)
	}
	// One lump, ten components, plain EM and no tolerance: far from its end when it is stopped.
	args := []string{"fit", in, "-k", "10", "--algorithm", "em", "--n-init", "2", "--tol", "0", "--max-iter", "1000000", "-o", modelFile, "--labels", labels, "--json"}
	for wait := 500 * time.Millisecond; ; wait *= 3 {
		ctx, cancel := context.WithCancel(context.Background())
		var out, errw bytes.Buffer
		done := make(chan int)
		go func() { done <- run(ctx, args, strings.NewReader(""), &out, &errw) }()
		time.Sleep(wait)
		cancel()
		if status := <-done; status != exitInterrupted {
			t.Fatalf("exit status %d, want %d; %s", status, exitInterrupted, errw.String())
		}
		if out.Len() == 0 && wait < 30*time.Second { // stopped before the climb began: a slow machine
			if _, err := os.Stat(modelFile); err == nil {
				t.Fatal("a model was written, but no summary")
			}
			continue
		}
		for _, c := range []struct{ path, op, value string }{
			{"converged", "=", "false"}, {"interrupted", "=", "true"}, {"components", "len", "10"}, {"n", "=", "20000"}, {"warnings.0", "matches", "interrupted.*best so far"},
		} {
			v, ok, err := lookUp(out.String(), c.path)
			if err == nil {
				err = judge(v, ok, c.op, []string{c.value})
			}
			if err != nil {
				t.Errorf("--json, %s: %v", c.path, err)
			}
		}
		break
	}
	b, err := os.ReadFile(labels)
	if err != nil || bytes.Count(b, []byte("\n")) != 20001 {
		t.Errorf("%d lines of labels, %v", bytes.Count(b, []byte("\n")), err)
	}
	var out, errw bytes.Buffer
	if status := run(context.Background(), []string{"show", modelFile}, nil, &out, &errw); status != 0 {
		t.Fatalf("show: exit status %d, %s", status, errw.String())
	}
	if s := out.String(); !strings.Contains(s, "interrupted after") || !strings.Contains(s, "log-likelihood") {
		t.Errorf("show says:\n%s", s)
	}
}

// Interrupted before there is anything to keep: the same status, and no file.
func TestInterruptedAtOnceWritesNothing(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errw bytes.Buffer
	args := []string{"fit", "@iris", "-k", "3", "-o", filepath.Join(dir, "m.json"), "--out", filepath.Join(dir, "all")}
	if status := run(ctx, args, strings.NewReader(""), &out, &errw); status != exitInterrupted {
		t.Errorf("exit status %d, want %d; %s", status, exitInterrupted, errw.String())
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
	if out.Len() != 0 || errw.Len() == 0 {
		t.Errorf("standard output %q, standard error %q", out.String(), errw.String())
	}
}

// Interrupted among the replicates: the fit is whole and written, and says of how many its stability is.
func TestInterruptedReplicatesLeaveTheFit(t *testing.T) {
	modelFile := filepath.Join(t.TempDir(), "m.json")
	for wait := 500 * time.Millisecond; ; wait *= 3 {
		ctx, cancel := context.WithCancel(context.Background())
		var out, errw bytes.Buffer
		done := make(chan int)
		go func() {
			done <- run(ctx, []string{"fit", "@faithful", "-k", "2", "--model", "kmeans", "--bootstrap", "1000000", "-o", modelFile}, strings.NewReader(""), &out, &errw)
		}()
		time.Sleep(wait)
		cancel()
		if status := <-done; status != exitInterrupted {
			t.Fatalf("exit status %d, want %d; %s", status, exitInterrupted, errw.String())
		}
		if !strings.Contains(out.String(), "ARI") && wait < 30*time.Second { // stopped before the first replicate: a slow machine
			continue
		}
		if _, err := os.Stat(modelFile); err != nil {
			t.Error(err)
		}
		if s := out.String(); !strings.Contains(s, "of 1,000,000 bootstrap samples: the labels agree") || !strings.Contains(s, "The computation finished") || strings.Contains(s, "not finished") {
			t.Errorf("standard output:\n%s", s)
		}
		if s := errw.String(); !strings.Contains(s, "interrupted after") || !strings.Contains(s, "the fit itself is complete") {
			t.Errorf("standard error:\n%s", s)
		}
		return
	}
}

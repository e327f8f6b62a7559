package main

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/ascent"
)

// What is left is told at the pace of what was timed: 30 fits in 3 seconds leave 9.2 seconds for 92.
func TestACountTellsWhatIsLeft(t *testing.T) {
	for _, x := range []struct {
		done, of, timed int
		spent           time.Duration
		want            string
	}{
		{34, 126, 30, 3 * time.Second, "fit 34 of 126, about 9 s left"},
		{1, 126, 0, 5 * time.Second, "fit 1 of 126"},                            // no pace yet
		{9, 126, 8, 900 * time.Millisecond, "fit 9 of 126"},                     // too early to tell
		{125, 126, 100, 2 * time.Second, "fit 125 of 126, about 1 s left"},      // never 0 s
		{11, 100, 10, 20 * time.Second, "fit 11 of 100, about 3 minutes left"},  // 178 s
		{11, 1000, 10, 10 * time.Minute, "fit 11 of 1000, about 16 hours left"}, // 989 min
		{126, 126, 125, 10 * time.Second, "fit 126 of 126"},                     // nothing
	} {
		if got := counted("fit", x.done, x.of, x.timed, x.spent); got != x.want {
			t.Errorf("%d of %d, %d in %v: %q, want %q", x.done, x.of, x.timed, x.spent, got, x.want)
		}
	}
}

// The line is one line, drawn at most ten times a second, and what is counted next has a pace of its own.
func TestTheProgressLine(t *testing.T) {
	var b bytes.Buffer
	began := time.Unix(0, 0)
	l := &progressLine{w: &b, next: began}
	l.begin("")
	for i := range 40 { // a fit in 50 ms
		l.count("fit", i+1, 60, began.Add(time.Duration(i)*50*time.Millisecond))
	}
	for i := range 2 {
		l.count("replicate", i+1, 10, began.Add(time.Duration(10+20*i)*time.Second))
	}
	l.clear()
	lines := strings.Split(b.String(), "\r\x1b[K")[1:]
	if len(lines) != 20+2+1 || strings.Contains(b.String(), "\n") {
		t.Fatalf("%d times drawn: %q", len(lines), lines)
	}
	for at, want := range map[int]string{0: "fit 1 of 60", 19: "fit 39 of 60, about 1 s left", 20: "replicate 1 of 10", 21: "replicate 2 of 10, about 3 minutes left", 22: ""} {
		if lines[at] != want {
			t.Errorf("drawing %d is %q, want %q", at+1, lines[at], want)
		}
	}
}

// Of starts that climb side by side the line follows the highest.
func TestTheHighestStartIsTold(t *testing.T) {
	var b bytes.Buffer
	l := &progressLine{w: &b}
	l.begin("em: ")
	at := time.Unix(0, 0)
	step := func(start, sweep int, loglik, distance float64) string {
		b.Reset()
		at = at.Add(time.Second)
		l.climb(latent.Progress{Start: start, Of: 3, Step: ascent.Step{Sweeps: sweep, Point: &ascent.Point{F: loglik, LogLik: loglik}, Distance: distance}}, at)
		return strings.TrimPrefix(b.String(), "\r\x1b[K")
	}
	for i, x := range []struct {
		start, sweep     int
		loglik, distance float64
		want             string
	}{
		{1, 1, -20, math.NaN(), "em: sweep 1, log-likelihood -20 (best of 3 starts)"},
		{2, 1, -30, math.NaN(), ""},
		{3, 2, -10, 0.25, "em: sweep 2, log-likelihood -10 (best of 3 starts), 0.25 standard errors to go"},
		{1, 2, -15, 2, ""},
		{3, 3, -11, 0.5, "em: sweep 3, log-likelihood -11 (best of 3 starts), 0.5 standard errors to go"}, // annealing may step down
	} {
		if got := step(x.start, x.sweep, x.loglik, x.distance); got != x.want {
			t.Errorf("step %d: %q, want %q", i+1, got, x.want)
		}
	}
	l.begin("")
	b.Reset()
	l.climb(latent.Progress{Start: 1, Of: 1, Step: ascent.Step{Sweeps: 4, Point: &ascent.Point{F: -7}, Distance: math.NaN()}}, at.Add(time.Second))
	if got := strings.TrimPrefix(b.String(), "\r\x1b[K"); got != "sweep 4, cost 7" {
		t.Errorf("k-means: %q", got)
	}
}

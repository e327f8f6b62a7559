package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/text"
)

// progressLine is one line on a terminal, drawn again at most ten times a second.
type progressLine struct {
	w      io.Writer
	next   time.Time
	live   bool
	prefix string // before what is told of a single fit
	start  int    // the start that is told of, and how high it is
	best   float64
	work   string // what is counted
	first  int    // the count at since, from which the pace is measured
	since  time.Time
}

// newProgressLine returns nil where w is not a terminal.
func newProgressLine(w io.Writer) *progressLine {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	l := &progressLine{w: w, next: time.Now().Add(200 * time.Millisecond)}
	l.begin("")
	return l
}

// count shows how many pieces of work of one kind are done at a time, and how long the rest will take at the pace of those.
func (l *progressLine) count(work string, done, of int, now time.Time) {
	if work != l.work {
		l.work, l.first, l.since = work, done, now
	}
	l.draw(now, counted(work, done, of, done-l.first, now.Sub(l.since)))
}

// counted returns the text of a count: timed of the pieces have taken spent.
func counted(work string, done, of, timed int, spent time.Duration) string {
	s := fmt.Sprintf("%s %d of %d", work, done, of)
	if timed < 1 || spent < time.Second || done >= of {
		return s
	}
	left := spent.Seconds() / float64(timed) * float64(of-done)
	if left < 99.5 {
		return fmt.Sprintf("%s, about %.0f s left", s, max(left, 1))
	}
	return s + ", about " + text.Duration(left) + " left"
}

// climb shows a step of the start that is highest so far. Nobody knows how many sweeps a single fit will take: how far its optimum is
// tells what is left.
func (l *progressLine) climb(p latent.Progress, now time.Time) {
	_, height := height(p)
	if p.Start != l.start && !(height > l.best) {
		return
	}
	l.start, l.best = p.Start, height
	l.draw(now, l.prefix+climbed(p))
}

// begin makes the line ready for another fit, whose steps are told after prefix.
func (l *progressLine) begin(prefix string) { l.prefix, l.start, l.best = prefix, 0, math.Inf(-1) }

// height returns what a step is measured by, and that: the log-likelihood, or less the cost.
func height(p latent.Progress) (what string, height float64) {
	if p.Bound() {
		return "evidence lower bound", p.Point.F
	}
	if p.Point.LogLik != 0 {
		return "log-likelihood", p.Point.LogLik
	}
	return "cost", p.Point.F
}

// climbed returns the text of a step.
func climbed(p latent.Progress) string {
	what, value := height(p)
	if what == "cost" {
		value = -value
	}
	s := fmt.Sprintf("sweep %d, %s %s", p.Sweeps, what, text.Significant(value, 8))
	if p.Of > 1 {
		s += fmt.Sprintf(" (best of %d starts)", p.Of)
	}
	if p.Distance == p.Distance {
		s += fmt.Sprintf(", %s standard errors to go", text.Significant(p.Distance, 2))
	}
	return s
}

// tell shows what is being done.
func (l *progressLine) tell(what string) { l.draw(time.Now(), what) }

// draw draws the line anew, unless it has just been drawn.
func (l *progressLine) draw(now time.Time, line string) {
	if now.Before(l.next) {
		return
	}
	l.next, l.live = now.Add(100*time.Millisecond), true
	fmt.Fprint(l.w, "\r\x1b[K"+line)
}

func (l *progressLine) clear() {
	if l.live {
		fmt.Fprint(l.w, "\r\x1b[K")
	}
}

package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/report"
)

// watcher follows a fit: it keeps the trace and draws the progress line.
type watcher struct {
	trace map[int]*strings.Builder // by start, since starts climb side by side; nil: not wanted
	last  map[int]float64          // free energy of each start's last line
	line  *progressLine            // nil: not wanted
	drawn bool                     // steps are wanted for a page
	steps []report.Step
	began time.Time
}

func (w *watcher) step(p latent.Progress) {
	if w.began.IsZero() {
		w.began = time.Now()
	}
	if w.trace != nil {
		w.record(p)
	}
	if w.drawn {
		w.steps = append(w.steps, reportStep(p))
	}
	if w.line != nil {
		w.line.climb(p, time.Now())
	}
}

// tried shows how far a choice is, in fits: candidates that start again from their neighbours are fitted twice.
func (w *watcher) tried(done, of int, _ model.Candidate) {
	if w.line != nil && done < of {
		w.line.count("fit", done, of, time.Now())
	}
}

// repeated shows how many replicates are done.
func (w *watcher) repeated(done, of int) {
	if w.line != nil {
		w.line.count("replicate", done, of, time.Now())
	}
}

func (w *watcher) finish() {
	if w.line != nil {
		w.line.clear()
	}
}

// record adds the half-sweeps of a step: E, the state after the E-step, and M unless the start ends here.
func (w *watcher) record(p latent.Progress) {
	if w.last == nil {
		w.last = map[int]float64{}
	}
	b := w.trace[p.Start]
	if b == nil {
		b = new(strings.Builder)
		w.trace[p.Start] = b
	}
	pt := p.Point
	density := pt.LogLik != 0
	kl := pt.LogLik + (1/pt.Beta-1)*pt.Entropy - (pt.F - pt.Prior)
	if math.Abs(kl) <= 1e-12*math.Abs(pt.F) {
		kl = 0 // the E-step closes the gap at beta = 1
	}
	opt := func(ok bool, v float64) string {
		if !ok || v != v {
			return ""
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	change := func(f float64) string {
		before, ok := w.last[p.Start]
		w.last[p.Start] = f
		return opt(ok, f-before)
	}
	seconds := strconv.FormatFloat(time.Since(w.began).Seconds(), 'f', 6, 64)
	beta := opt(true, pt.Beta)
	if math.IsInf(pt.Beta, 1) {
		beta = "inf"
	}
	half := "S"
	if p.InHalves() {
		half = "E"
	}
	fmt.Fprintf(b, "%d,%d,%s,%s,%s,%s,%s,%s,%s,%s,%s\n", p.Start, p.Sweeps, half, beta, opt(true, pt.F), opt(density, pt.LogLik), opt(density, kl),
		opt(density, pt.Entropy), change(pt.F), opt(true, p.Distance), seconds)
	if p.Done == ascent.Going && half == "E" {
		fmt.Fprintf(b, "%d,%d,M,%s,%s,,,%s,%s,,%s\n", p.Start, p.Sweeps, beta, opt(true, pt.Lifted), opt(density, pt.Entropy), change(pt.Lifted), seconds)
	}
}

const traceHeader = "start,sweep,half,beta,free_energy,log_likelihood,kl,entropy,change,distance,seconds\n"

// writeTrace writes the trace, start by start.
func (w *watcher) writeTrace(out io.Writer) error {
	if _, err := io.WriteString(out, traceHeader); err != nil {
		return err
	}
	return w.writeLines(out, "")
}

// writeLines writes the lines of the trace, each after a prefix.
func (w *watcher) writeLines(out io.Writer, prefix string) error {
	b := bufio.NewWriter(out)
	for i := 1; i <= len(w.trace); i++ {
		if s := w.trace[i]; s != nil {
			for line := range strings.Lines(s.String()) {
				b.WriteString(prefix)
				b.WriteString(line)
			}
		}
	}
	return b.Flush()
}

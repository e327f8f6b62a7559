package browsertest

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// overlapping writes rows of three groups that overlap, so that EM has a way to go.
func overlapping(t testing.TB, rows int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), fmt.Sprintf("rows-%d.csv", rows))
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	r := rand.New(rand.NewPCG(5, 6))
	fmt.Fprintln(w, "x,y")
	for i := range rows {
		fmt.Fprintf(w, "%.4f,%.4f\n", r.NormFloat64()+2*float64(i%3), r.NormFloat64()+float64(i%3*(i%3)))
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return path
}

// painted is a script that runs what is given and returns the milliseconds until the rows are painted.
const painted = `new Promise((done) => {
	const own = CanvasRenderingContext2D.prototype.putImageData, began = performance.now();
	CanvasRenderingContext2D.prototype.putImageData = function (...a) {
		own.apply(this, a);
		CanvasRenderingContext2D.prototype.putImageData = own;
		done(performance.now() - began);
	};
	%s;
})`

// How fast the page is, for docs/performance.md: 1,000, 100,000 and 1,000,000 rows, a visit an iteration. Pages stay open until the end, so that one
// iteration repeated (-benchtime 1x -count 3) tells more than several.
func BenchmarkFrames(b *testing.B) {
	for _, rows := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			s, err := start(b.TempDir(), overlapping(b, rows))
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { s.stop() }) // after the pages are closed
			for range b.N {
				timed(b, s, rows)
			}
		})
	}
}

// timed logs how long the parts of a visit take, and reports those of the last.
func timed(t *testing.B, s *server, rows int) {
	p := open(t, s, "/watch?data=file&k=3&algorithm=em&init=random&seed=1", look{moves: true})
	p.until("+"+el("scrub")+"?.max > 20", "a climb")
	came := eval[float64](p, "performance.now()")
	p.climbed()
	frames := eval[float64](p, last)
	paint := eval[float64](p, "performance.getEntriesByName('first-contentful-paint')[0].startTime")
	p.key(kb.Home)
	p.frame("0")
	jump := 0.0
	for i := range 3 { // to frames whose colours were not fetched, and then to one that was fetched ahead
		to := eval[float64](p, fmt.Sprintf("%s - 1 - (%s - 1) %% 2 - %d", last, last, 2*i+2))
		ms := eval[float64](p, fmt.Sprintf(painted, fmt.Sprintf("const e = %s; e.value = '%v'; e.dispatchEvent(new Event('input', {bubbles: true})); e.dispatchEvent(new Event('change', {bubbles: true}))", el("scrub"), to)))
		if jump == 0 || ms < jump {
			jump = ms
		}
	}
	p.key(kb.Home)
	p.frame("0")
	eval[bool](p, "new Promise(r => setTimeout(() => r(true), 500))")
	step := eval[float64](p, fmt.Sprintf(painted, el("step-button")+".click()"))
	p.key(kb.Home)
	p.frame("0")
	eval[bool](p, el("play-button")+".click() ?? true")
	rate := eval[[]float64](p, `new Promise((done) => {
		let n = 0, began = 0, before = 0, longest = 0;
		const count = (now) => {
			if (began) { n++; longest = Math.max(longest, now - before); } else began = now;
			before = now;
			if (now - began < 3000) requestAnimationFrame(count); else done([1000 * n / (now - began), longest]);
		};
		requestAnimationFrame(count);
	})`)
	t.ReportMetric(paint, "first-paint-ms")
	t.ReportMetric(rate[0], "frames/s")
	t.ReportMetric(step, "step-ms")
	load, _ := os.ReadFile("/proc/loadavg") // elsewhere it is not told
	t.Logf("%d rows: first paint %.0f ms; the climb begins to show at %.0f ms and has %.0f frames; colours of a frame far away %.1f ms, of the next %.1f ms; playing %.1f frames a second, the longest %.0f ms; load %s",
		rows, paint, came, frames, jump, step, rate[0], rate[1], strings.Fields(string(load) + " ?")[0])
}

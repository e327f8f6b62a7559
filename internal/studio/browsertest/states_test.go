package browsertest

import (
	"fmt"
	"image"
	"image/color"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A state is what a page shows when not all is well, or when there is much of something.
type state struct {
	name  string
	table func(t testing.TB) string // the file that the studio is started with; nil for the studio that all share
	path  string
	act   func(p *page)
	quiet bool // the browser logs that nobody answers
}

var (
	hasError  = "[...document.querySelectorAll('.error')].some(e => e.checkVisibility())"
	hasFitted = func(p *page) { p.appears("fit-button"); p.fitted("2", "spherical") }
	waits     = func(expression string) func(p *page) { return func(p *page) { p.until(expression, "the state") } }
)

// states are those that the pages of TestEveryPageInEveryLook do not show.
var states = []state{
	{name: "empty-watch", path: "/watch?data=file", act: waits(hasError)},
	{name: "empty-race", path: "/race?data=file", act: waits(hasError)},
	{name: "error-address", path: "/watch?data=@faithful&k=minus&algorithm=magic&seed=1.5", act: waits(hasClimb + "&&" + hasError)},
	{name: "error-column", path: "/watch?data=@faithful&x=height", act: waits(hasClimb + "&&" + hasError)},
	{name: "error-set", path: "/watch?data=@nothing", act: refused(422, hasError)},
	{name: "error-groups", path: "/watch?data=@faithful&k=1000", act: waits(hasError)},
	{name: "error-race", path: "/race?data=@faithful&k=1000", act: waits("document.querySelectorAll('[data-testid=race-table] td.bad').length === 4")},
	{name: "error-case", path: "/lab/nothing", act: refused(404, hasError)},
	{name: "error-fit", path: "/data?data=@iris", act: func(p *page) {
		p.appears("fit-button")
		p.choose("fit-k", "9:2")
		p.click("fit-button")
		p.appears("fit-error")
	}},
	{name: "error-picture", path: "/pictures", act: func(p *page) {
		p.until(el("picture-limit")+"?.textContent.length > 0", "the limit")
		p.files("picture-input", write(p, "words.png", "no picture at all"))
		refused(422, hasError)(p)
	}},
	{name: "loading-watch", path: "/watch?data=@digits&k=10&covariance=full&init=random&seed=1", act: waits("document.querySelector('[data-part=run-name]').textContent === 'Stop'")},
	{name: "interrupted-watch", path: "/watch?data=@digits&k=10&covariance=full&init=random&seed=1", act: func(p *page) {
		p.until("document.querySelector('[data-part=run-name]').textContent === 'Stop' && +"+el("scrub")+".max > 4", "a climb under way")
		p.click("run-button")
		p.until("document.querySelector('[data-part=run-name]').textContent === 'Run'", "the end")
		p.atTheEnd()
	}},
	{name: "interrupted-data", path: "/data?data=@digits", act: func(p *page) {
		p.appears("fit-button")
		p.choose("fit-k", "10")
		p.choose("fit-covariance", "full")
		p.click("fit-button")
		p.until(el("fit-status")+".textContent.includes('start 2')", "progress")
		p.click("fit-cancel")
		p.until("!"+el("fit-cancel")+".checkVisibility()", "the end of the fit")
		p.until(hasRows, "the best so far")
	}},
	{name: "error-long", path: "/data?data=@wdbc", act: func(p *page) {
		p.appears("fit-button")
		p.choose("fit-k", "2:9")
		p.click("fit-button")
		p.appears("fit-error")
	}},
	{name: "unfinished-watch", path: "/watch?data=@faithful&k=3&seed=2&init=random&max-iter=5", act: (*page).atTheEnd},
	{name: "unfinished-data", path: "/data?data=@faithful", act: func(p *page) {
		p.appears("fit-button")
		run := eval[string](p, `fetch("/api/runs", {method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify({data: "@faithful", spec: {k: 3, algorithm: "em", max_iter: 5}})}).then(r => r.text()).then(t => JSON.parse(t.split("\n")[0]).run)`)
		p.navigate(p.at.base + "/data?data=@faithful&k=3&run=" + run)
		p.until(hasRows, "the result")
	}},
	{name: "ended-watch", table: oneRow, path: "/watch?data=@faithful&k=2&init=random&seed=3", act: func(p *page) {
		p.until(hasClimb, "a climb")
		p.at.stop()
		p.click("run-button")
		p.until("document.querySelector('.ended').checkVisibility()", "word that it has ended")
	}, quiet: true},
	{name: "many-groups-watch", path: "/watch?data=@faithful&k=13&covariance=spherical&init=random&seed=1", act: (*page).atTheEnd},
	{name: "many-groups-density", path: "/watch?data=@faithful&k=13&covariance=spherical&init=random&seed=1&x=waiting&y=", act: (*page).atTheEnd},
	{name: "many-groups-race", path: "/race?data=@faithful&k=13&algorithms=em,em-lbfgs,anti-annealing,hard-em,squarem,bfgs,ecg,kmeans", act: waits(ended(8))},
	{name: "many-groups-data", path: "/data?data=@iris", act: func(p *page) { p.appears("fit-button"); p.fitted("13", "spherical") }},
	{name: "many-rows-watch", table: func(t testing.TB) string { return overlapping(t, 150_000) }, path: "/watch?data=file&k=3&init=random&seed=1&max-iter=20", act: (*page).atTheEnd},
	{name: "many-columns-data", table: wide, path: "/data?data=file", act: hasFitted},
	{name: "many-columns-watch", table: wide, path: "/watch?data=file&k=2&covariance=spherical&init=random", act: (*page).atTheEnd},
	{name: "long-names-data", table: longNames, path: "/data?data=file", act: hasFitted},
	{name: "long-names-watch", table: longNames, path: "/watch?data=file&k=2&init=random", act: (*page).atTheEnd},
	{name: "long-names-race", table: longNames, path: "/race?data=file&k=2", act: waits(ended(4))},
	{name: "one-row-data", table: oneRow, path: "/data?data=file", act: waits(el("columns-table") + "?.rows.length > 1")},
	{name: "one-row-watch", table: oneRow, path: "/watch?data=file&k=1&init=random", act: waits(hasClimb + "||" + hasError)},
	{name: "constant-data", table: constant, path: "/data?data=file", act: hasFitted},
	{name: "constant-watch", table: constant, path: "/watch?data=file&k=2&init=random", act: waits(hasClimb + "||" + hasError)},
	{name: "constant-density", table: constant, path: "/watch?data=file&k=2&init=random&x=b&y=", act: waits(hasClimb + "||" + hasError)},
	{name: "one-frame-watch", path: "/watch?data=@faithful&model=kmeans&k=1&init=random&max-iter=1", act: waits("+" + el("scrub") + "?.max > 0")},
	{name: "small-picture", path: "/pictures", act: func(p *page) { p.segmented(pixels(p, 3, 3), "2") }},
}

// atTheEnd waits for a climb and goes to its end.
func (p *page) atTheEnd() {
	p.until(hasClimb, "a climb")
	p.do(chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()"))
	p.key(kb.End)
	p.frame(last)
	p.until("document.querySelector('[data-part=chip]').textContent === 'End'", "the end")
}

// refused waits for what is seen after a request that is answered with a status.
func refused(status int, seen string) func(p *page) {
	return func(p *page) {
		p.until(seen, "the message")
		p.until("!"+el("status")+".dataset.busy", "rest")
		p.expect(status)
	}
}

func oneRow(t testing.TB) string { return write(t, "one.csv", "a,b\n1,2\n") }

func constant(t testing.TB) string {
	var b strings.Builder
	b.WriteString("a,b\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%d,7\n", i%2*50+i*i%11)
	}
	return write(t, "constant.csv", b.String())
}

// wide writes a table of 1,000 columns.
func wide(t testing.TB) string {
	var b strings.Builder
	for j := range 1000 {
		fmt.Fprintf(&b, "c%d%c", j, ",\n"[j/999])
	}
	for i := range 40 {
		for j := range 1000 {
			fmt.Fprintf(&b, "%d%c", i%2*30+(i*i+j*i)%17, ",\n"[j/999])
		}
	}
	return write(t, "wide.csv", b.String())
}

// longNames writes a table whose own name, columns and names of rows have 200 letters, without a place to break them.
func longNames(t testing.TB) string {
	var b strings.Builder
	fmt.Fprintf(&b, "id,%s,%s\n", strings.Repeat("length", 34)[:200], strings.Repeat("Breite", 34)[:200])
	for i := range 60 {
		fmt.Fprintf(&b, "%s%d,%d,%d\n", strings.Repeat("row", 66), i, i%2*50+i*i%11, i*i%13)
	}
	return write(t, strings.Repeat("name", 49)+".csv", b.String())
}

// pixels writes a picture of two colours.
func pixels(t testing.TB, width, height int) string {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := range width * height {
		m.SetNRGBA(i%width, i/width, color.NRGBA{uint8(200 - i%2*150), uint8(60 + i), 60, 255})
	}
	return saved(t, m, "pixels.png")
}

// Every state is reached, wide and narrow, and nothing in it is wider than the screen or found by axe-core.
func TestEveryState(t *testing.T) {
	for _, x := range states {
		t.Run(x.name, func(t *testing.T) {
			s := shared
			if x.table != nil {
				var err error
				if s, err = start(t.TempDir(), x.table(t)); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { s.stop() })
			}
			p := open(t, s, x.path, look{})
			x.act(p)
			for _, l := range []int{0, 2} {
				p.emulate(looks[l].look)
				p.fits()
				p.picture(x.name + "-" + looks[l].name)
			}
			p.accessible()
			if x.quiet {
				p.mu.Lock()
				p.said = nil
				p.mu.Unlock()
			}
		})
	}
}

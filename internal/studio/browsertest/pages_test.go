package browsertest

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// A shown is a page as it is looked at: its address, what is done there once, and what must be there before it is looked at.
type shown struct {
	name, path string
	first      func(p *page)
	ready      string
	key        string // is pressed when it is ready
}

var (
	hasClimb = "+" + el("scrub") + "?.max > 1 && !" + el("status") + ".dataset.busy"
	hasSets  = el("set-select") + "?.options.length > 1"
	hasCase  = el("lab-verdict") + "?.textContent.trim().length > 20 && document.querySelector('[data-part=chip]').textContent === 'End'"
	hasRows  = el("rows-table") + "?.rows.length > 1"
	hasAfter = el("picture-after") + "?.naturalWidth > 0 && " + el("palette") + "?.children.length > 0"
)

// pages are all pages.
var pages = []shown{
	{name: "watch", path: "/watch?data=@faithful&k=2&algorithm=em&init=random&seed=3#step=4", ready: hasClimb},
	{name: "watch-density", path: "/watch?data=@faithful&k=2&algorithm=em&init=random&seed=3&x=eruptions&y=#step=9", ready: hasClimb},
	{name: "watch-kmeans", path: "/watch?data=@faithful&model=kmeans&k=3&algorithm=lloyd&init=random&seed=3", ready: hasClimb},
	{name: "watch-annealing", path: "/watch?data=@iris&k=3&algorithm=anti-annealing&init=random&seed=1&x=pc1&y=pc2", ready: hasClimb},
	{name: "watch-by-hand", path: "/watch?data=@iris&k=3&algorithm=em&init=centers", ready: "document.querySelector('[data-part=sentence]')?.textContent.includes('centre 1 of 3')"},
	{name: "race", path: "/race?data=@faithful&k=3&algorithms=em,em-lbfgs,anti-annealing,kmeans&seed=2", ready: ended(4)},
	{name: "lab", path: "/lab", ready: el("lab-list")},
	{name: "lab-local-optimum", path: "/lab/local-optimum", ready: hasCase},
	{name: "lab-tolerance-trap", path: "/lab/tolerance-trap", ready: hasCase},
	{name: "lab-spike", path: "/lab/spike", ready: hasCase},
	{name: "lab-saddle", path: "/lab/saddle", ready: hasCase},
	{name: "lab-long-clusters", path: "/lab/long-clusters", ready: hasCase},
	{name: "lab-annealing", path: "/lab/annealing", ready: hasCase},
	{name: "lab-unbalanced", path: "/lab/unbalanced", ready: hasCase},
	{name: "data", path: "/data", ready: hasSets},
	{name: "data-columns", path: "/data?data=@penguins", ready: el("columns-table") + "?.rows.length > 1"},
	{name: "data-result", path: "/data?data=@iris", first: func(p *page) { p.appears("fit-button"); p.fitted("3", "full") }, ready: hasRows},
	{name: "data-chosen", path: "/data?data=@faithful", first: func(p *page) {
		p.appears("fit-button")
		p.click("fit-button") // nothing is chosen
		p.appears("result-log-likelihood")
	}, ready: hasRows},
	{name: "pictures", path: "/pictures", ready: el("picture-limit") + "?.textContent.startsWith('PNG')"},
	{name: "pictures-after", path: "/pictures", first: func(p *page) { p.segmented(patches(p), "4") }, ready: hasAfter},
	{name: "keys", path: "/watch?data=@faithful&k=2&algorithm=em&init=random&seed=3", ready: hasClimb, key: "?"},
}

// looks are how each page is looked at.
var looks = []struct {
	name string
	look look
}{
	{"light", look{}},
	{"dark", look{dark: true}},
	{"narrow", look{width: 400, height: 800}},
	{"zoomed", look{width: 720, height: 450, scale: 2}}, // what 200 % leaves of 1440 x 900
}

// ended is whether so many climbs of a race have ended, as an expression.
func ended(n int) string {
	return fmt.Sprintf("document.querySelectorAll('[data-testid=race-table] tr[data-finished]').length === %d && !%s.dataset.busy", n, el("status"))
}

// segmented takes a picture to the page Pictures and segments it.
func (p *page) segmented(path, k string) {
	p.Helper()
	p.until(el("picture-limit")+"?.textContent.length > 0", "the limit")
	p.files("picture-input", path)
	p.until("!"+el("picture-run")+".disabled", "the picture")
	p.choose("picture-k", k)
	p.click("picture-run")
	p.until(hasAfter, "the picture after")
}

// Every page, in every look, is silent in the console, no wider than the screen, and has nothing that axe-core finds.
func TestEveryPageInEveryLook(t *testing.T) {
	for _, x := range pages {
		t.Run(x.name, func(t *testing.T) {
			p := open(t, shared, x.path, look{})
			if x.first != nil {
				x.first(p)
			}
			for _, l := range looks {
				p.emulate(l.look)
				p.do(chromedp.Reload())
				p.until(x.ready, "what "+x.name+" shows")
				if x.key != "" {
					p.key(x.key)
				}
				p.fits()
				p.accessible()
				p.picture(x.name + "-" + l.name)
			}
		})
	}
}

package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// pages are the addresses of all pages, with what must be there before they are looked at.
var pages = []struct{ name, path, ready string }{
	{"watch", "/watch?data=@faithful&k=2&algorithm=em&init=random&seed=3", "+" + el("scrub") + "?.max > 1"},
	{"race", "/race?data=@faithful&k=3&algorithms=em,em-lbfgs,kmeans&seed=2", el("race-run")},
	{"lab", "/lab", el("lab-list")},
	{"case", "/lab/local-optimum", el("lab-verdict") + "?.textContent.trim().length > 20"},
	{"data", "/data?data=@iris", el("columns-table") + "?.rows.length > 1"},
	{"pictures", "/pictures", "!" + el("picture-limit") + "?.textContent.startsWith('PNG') === false"},
}

// looks are how each page is looked at.
var looks = []struct {
	name string
	look look
}{
	{"light", look{}},
	{"dark", look{dark: true}},
	{"narrow", look{width: 400, height: 800}},
	{"zoomed", look{width: 720, height: 450}}, // what 200 % leaves of 1440 x 900
}

// Every page, in every look, is silent in the console, no wider than the screen, and has nothing that axe-core finds.
func TestEveryPageInEveryLook(t *testing.T) {
	for _, x := range pages {
		t.Run(x.name, func(t *testing.T) {
			p := open(t, shared, x.path, look{})
			for _, l := range looks {
				p.emulate(l.look)
				p.do(chromedp.Reload())
				p.until(x.ready, "what "+x.name+" shows")
				p.fits()
				p.accessible()
				p.picture(x.name + "-" + l.name)
			}
		})
	}
}

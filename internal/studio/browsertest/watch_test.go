package browsertest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// climbed waits until the climb on the page is there whole.
func (p *page) climbed() {
	p.Helper()
	p.until("+"+el("scrub")+"?.max > 1 && !"+el("status")+".dataset.busy", "a climb")
}

// frame waits until a frame is shown.
func (p *page) frame(at string) {
	p.Helper()
	p.until("+"+el("scrub")+".value === "+at, "frame "+at)
}

// last is the number of the last frame, as an expression.
var last = "+" + el("scrub") + ".max"

// Half steps of EM follow each other, the free energy never falls, and the end is that of the command which is shown.
func TestHalfStepsOfEM(t *testing.T) {
	p := open(t, shared, "/watch?data=@faithful&k=2&covariance=full&algorithm=em&init=random&seed=3", look{})
	p.climbed()
	p.click("first-button")
	p.frame("0")
	before := math.Inf(-1)
	for i := range 8 {
		p.click("step-button")
		p.frame(fmt.Sprint(i + 1))
		p.until(el("where")+".textContent.trim().startsWith('"+string("EM"[i%2])+"')", "the half step")
		f := p.value("free-energy")
		if f < before-1e-9*math.Abs(f) {
			t.Errorf("the free energy falls from %v to %v", before, f)
		}
		before = f
	}
	p.click("last-button")
	p.frame(last)
	end := p.value("log-likelihood")
	shown := strings.Fields(eval[string](p, el("command-text")+".textContent"))
	if len(shown) < 4 || shown[0] != "latent" || shown[1] != "fit" {
		t.Fatalf("the command is %q", shown)
	}
	if want := fit(t, shown[2:]...)["log_likelihood"].(float64); math.Abs(end-want) > 1e-12*math.Abs(want) {
		t.Errorf("the climb ends at %v, its command at %v", end, want)
	}
}

// Every key does what the list of keys says.
func TestEveryKey(t *testing.T) {
	p := open(t, shared, "/watch?data=@faithful&k=2&algorithm=em&init=random&seed=3", look{})
	p.climbed()
	p.do(chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()"))
	p.key(kb.Home)
	p.frame("0")
	p.key(kb.ArrowRight)
	p.frame("1")
	p.key(kb.ArrowRight, kb.ModifierShift)
	p.until("+"+el("scrub")+".value >= 2", "a whole step")
	p.key(kb.ArrowLeft, kb.ModifierShift)
	p.key(kb.Home)
	p.frame("0")
	p.key(kb.End)
	p.frame(last)
	p.key(kb.ArrowLeft)
	p.frame(last + " - 1")
	speed := eval[string](p, el("speed-select")+".value")
	p.key("]")
	p.until(el("speed-select")+".value !== "+quote(speed), "another speed")
	p.key("[")
	picture := eval[string](p, el("scatter")+".parentElement.innerHTML.length + document.querySelector('main').innerHTML")
	p.key("1")
	p.until(el("scatter")+".parentElement.innerHTML.length + document.querySelector('main').innerHTML !== "+quote(picture), "a group that is lit up")
	p.key("1")
	p.key("l")
	p.until("document.querySelector('input[value=togo]').checked", "the distance to go")
	p.key("l")
	p.until("document.querySelector('input[value=value]').checked", "the value")
	p.key("s")
	p.until(el("seed-input")+".value === '4'", "the next seed")
	p.climbed()
	p.key("r")
	p.climbed()
	theme := eval[string](p, "document.documentElement.dataset.theme")
	p.key("t")
	p.until("document.documentElement.dataset.theme !== "+quote(theme), "another theme")
	p.key("?")
	p.until("document.querySelector('dialog').open", "the list of keys")
	p.picture("keys")
	p.accessible()
	p.key(kb.Escape)
	p.until("!document.querySelector('dialog').open", "the end of the list")
}

// The space bar plays, and pauses.
func TestSpacePlaysAndPauses(t *testing.T) {
	p := open(t, shared, "/watch?data=@faithful&k=2&algorithm=em&init=random&seed=3", look{moves: true})
	p.climbed()
	p.do(chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()"))
	p.key(kb.Home)
	p.frame("0")
	p.key(" ")
	p.until("+"+el("scrub")+".value >= 2", "playing")
	p.key(" ")
	p.until(el("play-button")+".getAttribute('aria-label') === 'Play'", "the pause")
	at := eval[string](p, el("scrub")+".value")
	if after := eval[string](p, "new Promise(r => setTimeout(() => r("+el("scrub")+".value), 900))"); after != at {
		t.Errorf("paused at %s, it goes on to %s", at, after)
	}
}

// Nothing moves by itself where the reader prefers that.
func TestNothingMovesWhereThatIsPreferred(t *testing.T) {
	p := open(t, shared, "/watch?data=@faithful&k=2&algorithm=em&init=random&seed=3", look{})
	p.climbed()
	at := eval[string](p, el("scrub")+".value")
	if after := eval[string](p, "new Promise(r => setTimeout(() => r("+el("scrub")+".value), 1000))"); after != at {
		t.Errorf("frame %s became %s by itself", at, after)
	}
}

// Centres are placed by clicking; after the last one the climb starts from them.
func TestCentresArePlacedByClicking(t *testing.T) {
	p := open(t, shared, "/watch?data=@faithful&k=2&algorithm=em&init=centers", look{})
	p.appears("scatter")
	p.until("document.querySelector('[data-part=sentence]').textContent.includes('centre 1 of 2')", "the question")
	box := eval[[]float64](p, "(r => [r.x, r.y, r.width, r.height])("+el("scatter")+".getBoundingClientRect())")
	for _, at := range [][2]float64{{0.3, 0.7}, {0.7, 0.3}} {
		p.do(chromedp.MouseClickXY(box[0]+at[0]*box[2], box[1]+at[1]*box[3]))
	}
	p.climbed()
	if got := p.location(); !strings.Contains(got, "centers=") {
		t.Errorf("the address %s has no centres", got)
	}
}

// The same by keyboard: arrows move, Enter places, Backspace takes away.
func TestCentresArePlacedByKeyboard(t *testing.T) {
	p := open(t, shared, "/watch?data=@faithful&k=2&algorithm=em&init=centers", look{})
	sentence := "document.querySelector('[data-part=sentence]').textContent"
	p.until(sentence+".includes('centre 1 of 2')", "the question")
	p.do(chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()"))
	p.key(kb.ArrowLeft + kb.ArrowLeft + kb.ArrowDown)
	p.key(kb.Enter)
	p.until(sentence+".includes('centre 2 of 2')", "the second question")
	p.key(kb.Backspace)
	p.until(sentence+".includes('centre 1 of 2')", "the first question")
	p.key(kb.Enter)
	p.until(sentence+".includes('centre 2 of 2')", "the second question")
	p.key(kb.ArrowRight + kb.ArrowRight + kb.ArrowRight + kb.ArrowUp)
	p.key(kb.Enter)
	p.climbed()
}

// A reload shows the same frame of the same climb.
func TestAFrameComesBack(t *testing.T) {
	p := open(t, shared, "/watch?data=@faithful&k=2&algorithm=em&init=random&seed=3", look{})
	p.climbed()
	p.do(chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()"))
	p.key(kb.Home)
	for range 3 {
		p.key(kb.ArrowRight)
	}
	p.frame("3")
	p.until("location.hash.startsWith('#step=')", "the step in the address")
	want := p.value("free-energy")
	p.do(chromedp.Reload())
	p.climbed()
	p.frame("3")
	if got := p.value("free-energy"); got != want {
		t.Errorf("after a reload the free energy is %v, before it was %v", got, want)
	}
}

// While the end of a climb is measured, which takes long for many parameters, the page says so, and its steps can be played.
func TestAnEndThatIsMeasuredIsSaid(t *testing.T) {
	p := open(t, shared, "/watch?data=@digits&k=8&covariance=full&algorithm=em&init=random&seed=1", look{})
	p.until(el(`[data-part="measuring"]`)+"?.checkVisibility()", "word that the end is measured")
	if got := p.text(`[data-part="measuring"]`); !strings.Contains(got, "The climb has ended; its end is being measured (standard errors, directions).") || !strings.HasSuffix(got, " s") {
		t.Errorf("it says %q", got)
	}
	p.until("+"+el("scrub")+".max > 10", "the steps")
	p.click("first-button")
	p.frame("0")
	p.click("step-button")
	p.frame("1")
	p.accessible()
	p.picture("watch-measuring")
	p.click("run-button") // Stop
	p.until("!"+el(`[data-part="measuring"]`)+".checkVisibility()", "the end")
	p.click("last-button")
	p.until(el(`[data-part="sentence"]`)+".textContent.startsWith('Stopped')", "word that it was stopped")
}

// The race is run and its end is that of the command.
func TestARaceIsRun(t *testing.T) {
	p := open(t, shared, "/race?data=@faithful&k=3&algorithms=em,em-lbfgs,kmeans&init=random&seed=2", look{})
	p.appears("race-run")
	p.click("race-run")
	rows := "document.querySelectorAll('[data-testid=race-table] tbody tr[data-finished]').length"
	p.until(rows+" === 3", "three finished climbs")
	want := fit(t, "@faithful", "-k", "3", "--algorithm", "em", "--init", "random", "--n-init", "1", "--seed", "2")["log_likelihood"].(float64)
	got := eval[float64](p, "+document.querySelector('[data-testid=race-table] tr[data-algorithm=em]').dataset.logLikelihood")
	if math.Abs(got-want) > 1e-10*math.Abs(want) {
		t.Errorf("EM ends at %v, by the command at %v", got, want)
	}
	p.accessible()
	p.picture("race-run")
}

// Between two ticks of a race the groups are on their way, and stand still for who wants no movement. They move in straight lines.
func TestGroupsOfARaceMove(t *testing.T) {
	for _, moves := range []bool{false, true} {
		p := open(t, shared, "/race?data=@faithful&k=2&algorithms=kmeans&init=random&seed=3", look{moves: moves})
		p.until("document.querySelectorAll('[data-testid=race-table] tbody tr[data-finished]').length === 1 && !"+el("status")+".dataset.busy", "a finished climb")
		p.key(kb.Home)
		p.until("+"+el("race-scrub")+".value === 0", "the start")
		seen := eval[int](p, `new Promise((done) => {
			const over = document.querySelector('[data-testid=race-panel] canvas.over'), seen = new Set([over.toDataURL()]);
			let left = 90;
			const look = () => { seen.add(over.toDataURL()); left-- > 0 ? requestAnimationFrame(look) : done(seen.size); };
			document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}));
			requestAnimationFrame(look);
		})`)
		if moves && seen < 3 || !moves && seen != 2 {
			t.Errorf("moves %v: %d pictures on the way by one sweep", moves, seen)
		}
	}
	p := open(t, shared, "/lab", look{})
	got := given[[]float64](p, "between.js", `((r) => m.groupsBetween(r, 0, 1, 0.25, {groups: [[1, 2, 3], [4, 5, 6]]}, (c) => 1 - c).flatMap((g) => [g.label, g.weight, g.x, g.y, g.vxx, g.vxy, g.vyy, ...g.way]))({
		k: 2, y: "y", stride: 6, components: Float32Array.from([0.5, 0, 0, 1, 0, 1, 0.5, 8, 8, 4, 2, 4, 0.25, 4, 8, 3, 1, 2, 0.75, 8, 8, 4, 2, 4]),
		component(at, c) { return this.components.subarray(12 * at + 6 * c, 12 * at + 6 * c + 6); }})`)
	if want := []float64{1, 0.4375, 1, 2, 1.5, 0.25, 1.25, 0, 0, 0, 0.5625, 8, 8, 4, 2, 4, 8, 8}; !slices.Equal(got, want) {
		t.Errorf("a quarter of the way the groups are %v, want %v", got, want)
	}
}

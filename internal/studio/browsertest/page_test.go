package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience is how long a page may take over what is waited for, on a busy machine.
const patience = 40 * time.Second

// A look is how a page is shown.
type look struct {
	width, height int64   // 1440 x 900 where 0
	scale         float64 // pixels of the screen for one of the page; 1 where 0
	dark          bool
	moves         bool // animations play; else the reader prefers them not to
}

// A page is one tab with cookies of its own.
type page struct {
	testing.TB
	ctx context.Context
	at  *server

	mu   sync.Mutex
	said []string // what the console complained of
}

// open shows a page of a studio to a new visitor. At the end of the test the console must have been silent.
func open(t testing.TB, s *server, path string, l look) *page {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	p := &page{TB: t, ctx: ctx, at: s}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	messages := chromedp.Console(ctx)
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		p.listen(messages)
	}()
	t.Cleanup(func() {
		cancel()
		<-heard
		if len(p.said) > 0 {
			t.Errorf("the console says %q", p.said)
		}
	})
	p.emulate(l)
	p.do(chromedp.Navigate(s.first))
	if strings.Contains(p.location(), "token") {
		t.Errorf("the token stays in the address: %s", p.location())
	}
	p.navigate(s.base + path)
	return p
}

// listen keeps what the console complains of, until the page is closed.
func (p *page) listen(messages func(func(chromedp.ConsoleMessage, error) bool)) {
	for m, err := range messages {
		if err != nil {
			return
		}
		if m.IsException() || m.Type == "error" || m.Type == "assert" || m.Type == "warning" {
			p.mu.Lock()
			p.said = append(p.said, m.String())
			p.mu.Unlock()
		}
	}
}

// expect takes complaints about a request that was refused, as the browser logs them, off the list: a test that provokes one calls it.
func (p *page) expect(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = slices.DeleteFunc(p.said, func(s string) bool { return strings.Contains(s, strconv.Itoa(status)+" ("+http.StatusText(status)) })
}

func (p *page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.Fatal(err)
	}
}

func (p *page) emulate(l look) {
	p.Helper()
	if l.width == 0 {
		l.width, l.height = 1440, 900
	}
	if l.scale == 0 {
		l.scale = 1
	}
	scheme, motion := "light", "reduce"
	if l.dark {
		scheme = "dark"
	}
	if l.moves {
		motion = "no-preference"
	}
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion},
	}})
	if err != nil {
		p.Fatal(err)
	}
	p.do(chromedp.EmulateViewport(l.width, l.height, chromedp.EmulateScale(l.scale)))
}

func (p *page) navigate(address string) {
	p.Helper()
	p.do(chromedp.Navigate(address))
	p.until(`document.querySelector('main')?.children.length > 0`, "a page")
}

func (p *page) location() string { return eval[string](p, "location.href") }

// eval returns the value of an expression in the page; a promise is awaited.
func eval[T any](p *page, expression string) T {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits until an expression is true.
func (p *page) until(expression, what string) {
	p.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if eval[bool](p, "!!("+expression+")") {
			return
		}
		if time.Now().After(end) {
			p.Fatalf("%s: waited %v for %s", p.location(), patience, what)
		}
	}
}

// selector finds an element by its name, or is one already.
func selector(name string) string {
	if strings.ContainsAny(name, ".#[ ") {
		return name
	}
	return `[data-testid="` + name + `"]`
}

// el is an element as an expression.
func el(name string) string { return fmt.Sprintf("document.querySelector(%s)", quote(selector(name))) }

func quote(s string) string {
	b, _ := json.Marshal(s) // a string
	return string(b)
}

func (p *page) shown(name string) bool {
	p.Helper()
	return eval[bool](p, "!!"+el(name)+"?.checkVisibility()")
}

// appears waits until an element is seen.
func (p *page) appears(name string) {
	p.Helper()
	p.until(el(name)+"?.checkVisibility()", name)
}

func (p *page) text(name string) string {
	p.Helper()
	return strings.TrimSpace(eval[string](p, el(name)+".textContent"))
}

// value returns the exact number behind an element.
func (p *page) value(name string) float64 {
	p.Helper()
	s := eval[string](p, el(name)+".dataset.value")
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		p.Fatalf("%s: %v", name, err)
	}
	return v
}

// click presses the mouse in the middle of an element.
func (p *page) click(name string) {
	p.Helper()
	at := p.middle(name)
	p.do(chromedp.MouseClickXY(at[0], at[1]))
}

// middle returns where the middle of an element is, after scrolling it into view.
func (p *page) middle(name string) [2]float64 {
	p.Helper()
	at := eval[[]float64](p, `(e => { e.scrollIntoView({block: "center"}); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })(`+el(name)+`)`)
	return [2]float64{at[0], at[1]}
}

// choose sets a select or an input as a person does.
func (p *page) choose(name, value string) {
	p.Helper()
	got := eval[string](p, fmt.Sprintf(`(e => { e.value = %s; for (const t of ["input", "change"]) e.dispatchEvent(new Event(t, {bubbles: true})); return e.value })(%s)`, quote(value), el(name)))
	if got != value {
		p.Fatalf("%s has no value %q", name, value)
	}
}

// key presses keys, one after the other; kb has names for those without a letter.
func (p *page) key(keys string, modifiers ...kb.Modifier) {
	p.Helper()
	p.do(chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...)))
}

// files puts files into an input, as its dialog would.
func (p *page) files(name string, paths ...string) {
	p.Helper()
	p.do(chromedp.SetUploadFiles(selector(name), paths))
}

// drop lets files fall onto an element.
func (p *page) drop(name string, paths ...string) {
	p.Helper()
	at := p.middle(name)
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: paths, DragOperationsMask: 1}
	for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		if _, err := chromedp.Call(p.ctx, input.DispatchDragEvent, input.DispatchDragEventParams{Type: kind, X: at[0], Y: at[1], Data: data}); err != nil {
			p.Fatal(err)
		}
	}
}

// fetch returns what a link of the page leads to.
func (p *page) fetch(link string) string {
	p.Helper()
	return eval[string](p, fmt.Sprintf("fetch(%s.href).then(r => r.ok ? r.text() : Promise.reject(new Error(r.status)))", el(link)))
}

// accessible runs axe-core over what is shown.
func (p *page) accessible() {
	p.Helper()
	if !eval[bool](p, "typeof axe === 'object'") {
		p.do(chromedp.Evaluate[chromedp.Void](axe))
	}
	found := eval[[]string](p, `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.flatMap(v => v.nodes.map(n => v.id + ": " + n.target.join(" ") + ": " + n.failureSummary.split("\n").slice(0, 2).join(" "))))`)
	for _, f := range found {
		p.Errorf("%s: %s", p.location(), f)
	}
}

// fits reports an error if the page is wider than the screen.
func (p *page) fits() {
	p.Helper()
	if wide := eval[float64](p, "document.documentElement.scrollWidth - innerWidth"); wide > 1 {
		p.Errorf("%s is %v pixels wider than the screen", p.location(), wide)
	}
}

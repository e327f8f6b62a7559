package browsertest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// table writes a file of two groups of rows, with names of columns that need care.
func table(t *testing.T, name string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("<b>width</b>,\"a, b\",name\n")
	for i := range 120 {
		side := float64(i%2) * 7
		fmt.Fprintf(&b, "%.2f,%.2f,r%d\n", side+float64(i*37%100)/40, 2*side-float64(i*53%90)/30, i)
	}
	return write(t, name, b.String())
}

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// fit runs the command and returns what it prints.
func fit(t *testing.T, args ...string) map[string]any {
	t.Helper()
	out, err := exec.Command(command, append([]string{"fit", "--json"}, args...)...).Output()
	if err != nil {
		t.Fatalf("fit %q: %v", args, err)
	}
	var r map[string]any
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// fitted fills the form, fits and waits for the result.
func (p *page) fitted(k, shape string) {
	p.Helper()
	p.choose("fit-k", k)
	p.choose("fit-covariance", shape)
	p.click("fit-button")
	p.appears("result-log-likelihood")
	p.until(el("fit-button")+".checkVisibility()", "the end of the fit")
}

// A file that is dropped is fitted; numbers, labels and model are those of the command, and names are text.
func TestAFileIsDroppedAndFitted(t *testing.T) {
	path := table(t, "two <i>groups<i>.csv")
	p := open(t, shared, "/data", look{})
	p.appears("drop-zone")
	p.until(el("set-select")+".options.length > 1", "the sets")
	p.drop("drop-zone", path)
	p.appears("fit-button")
	if got := p.text("file-name"); got != "two <i>groups<i>.csv" {
		t.Errorf("the file is called %q", got)
	}
	if got := p.text("columns-table"); !strings.Contains(got, "<b>width</b>") || !strings.Contains(got, "a, b") {
		t.Errorf("the table of columns has %q", got)
	}
	p.fitted("2", "full")
	labels := filepath.Join(t.TempDir(), "labels.csv")
	want := fit(t, path, "-k", "2", "--covariance", "full", "--labels", labels)
	if got := p.value("result-log-likelihood"); got != want["log_likelihood"] {
		t.Errorf("log-likelihood %v, the command has %v", got, want["log_likelihood"])
	}
	if got := p.value("result-bic"); got != want["bic"] {
		t.Errorf("BIC %v, the command has %v", got, want["bic"])
	}
	text, err := os.ReadFile(labels)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.fetch("labels-link"); got != string(text) {
		t.Errorf("labels begin with %.80q, those of the command with %.80q", got, text)
	}
	if got := eval[int](p, "document.querySelectorAll('main b, main i').length"); got != 0 {
		t.Errorf("%d elements were made of names", got)
	}
	p.fits()
	p.accessible()
	p.picture("data-result")
}

// The sets that the page offers before it has asked the server are those that there are.
func TestTheSetsAreThoseOfTheCommand(t *testing.T) {
	p := open(t, shared, "/data", look{})
	early := eval[[]string](p, "[...document.getElementById('page-data').content.querySelectorAll('[data-testid=set-select] option')].map(o => o.value).filter(Boolean)")
	there := eval[[]string](p, "fetch('/api/state').then(r => r.json()).then(s => s.sets.map(x => x.name))")
	if !slices.Equal(early, there) {
		t.Errorf("the page offers %q, the studio has %q", early, there)
	}
}

// What a fit would refuse is told in one line; the next file clears it.
func TestABadFileIsExplained(t *testing.T) {
	p := open(t, shared, "/data", look{})
	p.until(el("set-select")+".options.length > 1", "the sets")
	p.files("file-input", write(t, "typo.csv", "age,height\n31,180\n4l,175\n28,169\n"))
	p.appears("file-error")
	if got := p.text("file-error"); !strings.Contains(got, "typo.csv:3") || strings.Contains(got, "\n") {
		t.Errorf("the message is %q", got)
	}
	p.picture("data-error")
	p.accessible()
	p.expect(422)
	p.files("file-input", table(t, "good.csv"))
	p.until(el("file-name")+".textContent === 'good.csv'", "the good file")
	if p.shown("file-error") {
		t.Error("the old message is still there")
	}
}

// A fit is stopped; the page says so and fits again.
func TestAFitIsStopped(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,b,c,d,e,f\n")
	x := uint32(1)
	for range 40000 {
		for j := range 6 {
			x = x*1664525 + 1013904223
			fmt.Fprintf(&b, "%.4f", float64(x>>8)/float64(1<<24)+float64(x>>29)*float64(j%3))
			if j < 5 {
				b.WriteByte(',')
			}
		}
		b.WriteByte('\n')
	}
	p := open(t, shared, "/data", look{})
	p.until(el("set-select")+".options.length > 1", "the sets")
	p.files("file-input", write(t, "wide.csv", b.String()))
	p.appears("fit-button")
	p.click("fit-button") // nothing chosen: that takes long
	p.appears("fit-cancel")
	p.until(el("fit-status")+".textContent.includes('candidate')", "progress")
	p.picture("data-fitting")
	p.click("fit-cancel")
	p.until("!"+el("fit-cancel")+".checkVisibility()", "the end of the fit")
	if got := p.text("fit-status"); !strings.Contains(got, "stop") {
		t.Errorf("a fit that was stopped says %q", got)
	}
	p.picture("data-stopped")
	p.fitted("2", "diag")
}

// A column is left out by its switch, and the command says so.
func TestAColumnIsLeftOut(t *testing.T) {
	p := open(t, shared, "/data?data=@iris", look{})
	p.appears("columns-table")
	p.choose(`[aria-label="use of sepal_width"]`, "out")
	p.fitted("2", "full")
	want := fit(t, "@iris", "-k", "2", "--covariance", "full", "--exclude", "sepal_width")
	if got := p.value("result-log-likelihood"); got != want["log_likelihood"] {
		t.Errorf("log-likelihood %v, the command has %v", got, want["log_likelihood"])
	}
	if got := eval[string](p, el("fit-command")+".textContent"); !strings.Contains(got, "sepal_width") {
		t.Errorf("the command is %q", got)
	}
}

// The address holds the view: reload and Back bring it again.
func TestAResultComesBack(t *testing.T) {
	p := open(t, shared, "/data?data=@iris&k=3&covariance=full", look{})
	p.appears("fit-button")
	p.click("fit-button")
	p.appears("result-log-likelihood")
	want := p.value("result-log-likelihood")
	p.do(chromedp.Reload())
	p.appears("result-log-likelihood")
	if got := p.value("result-log-likelihood"); got != want {
		t.Errorf("after a reload %v, before it %v", got, want)
	}
	p.fitted("2", "full")
	p.until(el("result-k")+".dataset.value === '2'", "two groups")
	p.do(chromedp.NavigateBack())
	p.until(el("result-k")+"?.dataset.value === '3'", "what was there before")
	p.click("nav-watch")
	p.appears("scatter")
	p.do(chromedp.NavigateBack())
	p.until(el("result-k")+"?.dataset.value === '3'", "what was there before")
}

// A row shows how the groups share it; pages and sorting change what is shown. All of it goes by keyboard too.
func TestRowsAreLookedAt(t *testing.T) {
	p := open(t, shared, "/data?data=@iris", look{})
	p.appears("fit-button")
	p.fitted("3", "full")
	p.until(el("rows-table")+".rows.length === 51", "50 rows")
	p.choose("rows-sort", "row")
	p.until(el("rows-table")+".rows[1].cells[0].textContent === '1'", "the first row")
	p.click("rows-after")
	p.until(el("rows-table")+".rows[1].cells[0].textContent === '51'", "the second page")
	p.do(chromedp.Focus(selector("rows-table")+" tbody button"), chromedp.KeyEvent("\r"))
	p.appears("row-shares")
	if got := p.text("row-shares"); !strings.Contains(got, "Row 51") {
		t.Errorf("the shares are of %q", got)
	}
	sum := eval[float64](p, "[..."+el("row-shares")+".querySelectorAll('[data-value]')].reduce((s, e) => s + +e.dataset.value, 0)")
	if sum < 0.999999 || sum > 1.000001 {
		t.Errorf("the shares of a row add up to %v", sum)
	}
	p.accessible()
}

// Another file is labelled by the model of a result, as the command does it.
func TestAnotherFileIsLabelled(t *testing.T) {
	first, second := table(t, "first.csv"), table(t, "second.csv")
	p := open(t, shared, "/data", look{})
	p.appears("drop-zone")
	p.files("file-input", first)
	p.appears("fit-button")
	p.fitted("2", "full")
	model := write(t, "model.json", p.fetch("model-link"))
	p.files("apply-input", second)
	p.appears("apply-link")
	want, err := exec.Command(command, "label", model, second).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := p.fetch("apply-link"); got != string(want) {
		t.Errorf("labels begin with %.80q, those of the command with %.80q", got, want)
	}
	p.files("apply-input", write(t, "others.csv", "x,y\n1,2\n3,4\n5,7\n"))
	p.appears("apply-error")
	if got := p.text("apply-error"); !strings.Contains(got, "others.csv") {
		t.Errorf("the message is %q", got)
	}
	p.expect(422)
}

// A model file that is dropped opens its result, without rows; it can be taken away, and labels a file as the command does.
func TestAModelFileIsDropped(t *testing.T) {
	rows, model := table(t, "rows.csv"), filepath.Join(t.TempDir(), "model <b>.json")
	want := fit(t, rows, "-k", "2", "--covariance", "full", "-o", model)
	p := open(t, shared, "/data", look{})
	p.until(el("set-select")+".options.length > 1", "the sets")
	p.drop("drop-zone", model)
	p.appears("result-log-likelihood")
	for name, key := range map[string]string{"result-k": "k", "result-log-likelihood": "log_likelihood", "result-bic": "bic"} {
		if got := p.value(name); got != want[key] {
			t.Errorf("%s is %v, the command has %v", name, got, want[key])
		}
	}
	if got := p.text("file-name"); got != "model <b>.json" {
		t.Errorf("the file is called %q", got)
	}
	if got := p.text("result-shape"); got != "full covariances (VVV)" {
		t.Errorf("the shape is %q", got)
	}
	for _, name := range []string{"rows-table", "result-scatter", "labels-link", "report-link", "fit-panel", "columns-panel"} {
		if p.shown(name) {
			t.Errorf("%s is shown", name)
		}
	}
	text, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.fetch("model-link"); got != string(text) {
		t.Errorf("the model begins with %.80q", got)
	}
	p.files("apply-input", rows)
	p.appears("apply-link")
	labels, err := exec.Command(command, "label", model, rows).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := p.fetch("apply-link"); got != string(labels) {
		t.Errorf("labels begin with %.80q, those of the command with %.80q", got, labels)
	}
	p.fits()
	p.accessible()
	p.picture("data-model")
	p.do(chromedp.Reload())
	p.appears("result-log-likelihood")
	p.files("file-input", write(t, "cut.json", string(text[:200])))
	p.appears("file-error")
	if got := p.text("file-error"); !strings.Contains(got, "cut.json: line ") {
		t.Errorf("the message is %q", got)
	}
	p.expect(422)
	p.files("file-input", rows)
	p.appears("fit-panel")
	p.fitted("2", "full")
	p.until(el("rows-table")+".checkVisibility()", "the rows of a table")
}

// A studio that was started with a file shows its columns at once.
func TestAFileOfTheCommandLineIsShown(t *testing.T) {
	path := table(t, "given.csv")
	s, err := start(t.TempDir(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.stop() }) // after the page is closed
	p := open(t, s, "/", look{})
	p.until(el("columns-table")+"?.textContent.includes('a, b')", "its columns")
}

// When the studio has ended the page says so, and what is on screen stays.
func TestThePageSaysThatTheStudioHasEnded(t *testing.T) {
	s, err := start(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, s, "/data?data=@iris", look{})
	p.appears("fit-button")
	if err := s.stop(); err != nil {
		t.Errorf("the studio ended with %v", err)
	}
	p.click("fit-button")
	p.until("[...document.querySelectorAll('[role=alert]')].some(e => e.checkVisibility() && e.textContent.includes('has ended'))", "word that it has ended")
	if !p.shown("columns-table") {
		t.Error("what was on screen is gone")
	}
	p.picture("data-ended")
	p.mu.Lock()
	p.said = nil // the browser logs that nobody answers
	p.mu.Unlock()
}

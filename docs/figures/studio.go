package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A view is a page of the studio as docs/studio.md shows it.
type view struct {
	file          string
	width, height int
	address       string // behind the host
	ready         string // what is true on the page once it is there
	steps         []step
}

// A step is something done on a page, and what is true after it; both are expressions of JavaScript.
type step struct{ act, ready string }

// mostStudioBytes is how large the picture of a view may be.
const mostStudioBytes = 250_000

// idle is true when a page waits for nothing.
const idle = `document.querySelector('[data-testid=status]').dataset.busy === undefined`

var views = []view{
	{"studio-watch.png", 1280, 860, "/watch?data=@faithful&k=3&covariance=full&algorithm=em&init=random&seed=2&x=eruptions&y=waiting#step=9",
		idle + ` && document.querySelector('[data-testid=where]').textContent.includes('step')`, nil},
	{"studio-race.png", 1280, 900, "/race?data=@faithful&k=3&algorithms=em,em-lbfgs,kmeans",
		idle + ` && document.querySelectorAll('[data-testid=race-table] [data-finished]').length === 3`,
		[]step{{`document.querySelector('[data-testid=race-scrub]').value = '14',
			document.querySelector('[data-testid=race-scrub]').dispatchEvent(new Event('input', {bubbles: true}))`, idle}}},
	{"studio-data.png", 1280, 1000, "/data?data=@penguins",
		`document.querySelector('[data-testid=fit-button]').checkVisibility()`,
		[]step{{`document.querySelector('[data-testid=fit-button]').click()`, idle + ` && document.querySelector('[data-testid=result-k]').checkVisibility()`},
			{`document.querySelector('[data-testid=result-k]').closest('section').scrollIntoView()`, idle}}},
}

// photographStudio starts the studio and has its views shown by Chromium without a screen. As with the picture of a report the letters are
// those of the machine, so these are made by hand.
func photographStudio() error {
	dir, err := os.MkdirTemp("", "studio")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "latent")
	if err := execute("go", "build", "-o", program, "./cmd/latent"); err != nil {
		return err
	}
	base, token, stop, err := startStudio(program)
	if err != nil {
		return err
	}
	defer stop()
	b, err := openBrowser(dir)
	if err != nil {
		return err
	}
	defer b.close()
	for _, v := range views {
		shot, err := b.picture(v, base, token)
		if err == nil {
			err = v.write(shot)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", v.file, err)
		}
	}
	return nil
}

// write keeps the picture, if it is small enough.
func (v view) write(shot []byte) error {
	small, err := reduced(shot)
	if err != nil {
		return err
	}
	if len(small) > mostStudioBytes {
		return fmt.Errorf("it would have %d bytes; it is to have %d at most", len(small), mostStudioBytes)
	}
	return os.WriteFile(filepath.Join("docs", "figures", v.file), small, 0o666)
}

// startStudio runs the studio and returns its address and the token that lets a browser in.
func startStudio(program string) (base, token string, stop func(), err error) {
	cmd := exec.Command(program, "studio", "--no-open")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", "", nil, err
	}
	stop = func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	base, token, found := strings.Cut(strings.TrimSpace(line), "/?token=")
	if !found {
		stop()
		return "", "", nil, errors.New("the studio printed no address")
	}
	return base, token, stop, nil
}

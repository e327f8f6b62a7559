package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A browser is Chromium without a screen, which takes commands through a pipe: pages that compute and move are pictured when they say that they
// are ready, which its own --screenshot does not wait for.
type browser struct {
	cmd     *exec.Cmd
	to      *os.File
	from    *bufio.Reader
	last    int
	session string // of the one page
}

// openBrowser starts the browser, which keeps its own files in a folder, with an empty page.
func openBrowser(folder string) (*browser, error) {
	name, err := chromium()
	if err != nil {
		return nil, err
	}
	theirs, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	from, answers, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer answers.Close()
	cmd := exec.Command(name, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
		"--user-data-dir="+filepath.Join(folder, "profile"), "about:blank")
	cmd.ExtraFiles = []*os.File{theirs, answers}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	b := &browser{cmd: cmd, to: to, from: bufio.NewReader(from)}
	var page struct{ TargetID, SessionID string }
	err = b.ask("Target.createTarget", map[string]any{"url": "about:blank"}, &page)
	if err == nil {
		err = b.ask("Target.attachToTarget", map[string]any{"targetId": page.TargetID, "flatten": true}, &page)
	}
	if err != nil {
		b.close()
		return nil, err
	}
	b.session = page.SessionID
	return b, nil
}

// close ends the browser.
func (b *browser) close() {
	b.to.Close() // it ends with the pipe
	b.cmd.Wait()
}

// ask gives the browser a command and reads its answer.
func (b *browser) ask(method string, params map[string]any, into any) error {
	b.last++
	said := map[string]any{"id": b.last, "method": method, "params": params}
	if b.session != "" {
		said["sessionId"] = b.session
	}
	line, err := json.Marshal(said)
	if err != nil {
		return err
	}
	if _, err := b.to.Write(append(line, 0)); err != nil {
		return err
	}
	for {
		line, err := b.from.ReadBytes(0)
		if err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		var got struct {
			ID     int
			Error  *struct{ Message string }
			Result json.RawMessage
		}
		switch err := json.Unmarshal(line[:len(line)-1], &got); {
		case err != nil:
			return err
		case got.ID != b.last: // an event
		case got.Error != nil:
			return fmt.Errorf("%s: %s", method, got.Error.Message)
		case into != nil:
			return json.Unmarshal(got.Result, into)
		default:
			return nil
		}
	}
}

// evaluate returns whether an expression of the page is true. One that fails, on a page that is not yet there, is not.
func (b *browser) evaluate(expression string) (bool, error) {
	var got struct{ Result struct{ Value bool } }
	err := b.ask("Runtime.evaluate", map[string]any{"expression": "(() => { try { return !!(" + expression + ") } catch { return false } })()"}, &got)
	return got.Result.Value, err
}

// wait waits until an expression is true and for what is then drawn.
func (b *browser) wait(expression string) error {
	for range 300 {
		ready, err := b.evaluate(expression)
		if err != nil {
			return err
		}
		time.Sleep(200 * time.Millisecond)
		if ready {
			return nil
		}
	}
	return errors.New("the page was not ready within a minute")
}

// picture shows a view and returns what it looks like, as PNG.
func (b *browser) picture(v view, base, token string) ([]byte, error) {
	address := base + strings.Replace(v.address, "?", "?token="+token+"&", 1)
	size := map[string]any{"width": v.width, "height": v.height, "deviceScaleFactor": 1, "mobile": false}
	if err := b.ask("Emulation.setDeviceMetricsOverride", size, nil); err != nil {
		return nil, err
	}
	if err := b.ask("Page.navigate", map[string]any{"url": address}, nil); err != nil {
		return nil, err
	}
	if err := b.wait(v.ready); err != nil {
		return nil, err
	}
	for _, step := range v.steps {
		if _, err := b.evaluate("(" + step.act + ", true)"); err != nil {
			return nil, err
		}
		if err := b.wait(step.ready); err != nil {
			return nil, err
		}
	}
	var shot struct{ Data string }
	if err := b.ask("Page.captureScreenshot", map[string]any{"format": "png"}, &shot); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(shot.Data)
}

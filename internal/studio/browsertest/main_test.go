package browsertest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var (
	command string          // the built program
	browser context.Context // of the one browser of all tests
	shared  *server         // the studio of tests that need none of their own
	axe     string          // the text of axe-core
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

// run builds the command, starts a studio and a browser, and runs the tests.
func run(m *testing.M) int {
	temp, err := os.MkdirTemp("", "latent-browsertest-")
	if err != nil {
		return failed(err)
	}
	defer os.RemoveAll(temp)
	command = filepath.Join(temp, "latent")
	build := exec.Command("go", "build", "-o", command, "./cmd/latent")
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		return failed(fmt.Errorf("%w\n%s", err, out))
	}
	text, err := os.ReadFile("../webcheck/node_modules/axe-core/axe.min.js")
	if err != nil {
		return failed(fmt.Errorf("%w: run npm ci in internal/studio/webcheck", err))
	}
	axe = string(text)
	stop, err := openBrowser()
	if err != nil {
		return failed(fmt.Errorf("no browser: %w: apt-get install chromium fonts-dejavu-core", err))
	}
	defer stop()
	if shared, err = start(temp); err != nil {
		return failed(err)
	}
	defer shared.stop()
	code := m.Run()
	if err := writeIndex(); err != nil {
		return failed(err)
	}
	return code
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// openBrowser starts Chromium.
func openBrowser() (stop func(), err error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.DisableGPU, chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-quic", true), chromedp.Flag("hide-scrollbars", true),
		chromedp.WindowSize(1440, 900))
	ctx, end := chromedp.NewExecAllocator(context.Background(), options...)
	var leave context.CancelFunc
	browser, leave = chromedp.NewContext(ctx)
	if err := chromedp.Do(browser); err != nil { // no time limit here: it would be that of the browser
		end()
		return nil, err
	}
	return func() { leave(); end() }, nil
}

// A server is a running `latent studio`.
type server struct {
	cmd   *exec.Cmd
	first string // the address that it printed, with its token
	base  string // http://127.0.0.1:port
	err   strings.Builder
}

// start runs a studio in a folder, with args after its own.
func start(folder string, args ...string) (*server, error) {
	s := &server{}
	s.cmd = exec.Command(command, append([]string{"studio", "--no-open", "--port", "0"}, args...)...)
	s.cmd.Dir, s.cmd.Stderr = folder, &s.err
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(out)
	found := make(chan string, 1)
	go func() {
		line, _ := lines.ReadString('\n')
		found <- strings.TrimSpace(line)
		io.Copy(io.Discard, lines)
	}()
	select {
	case s.first = <-found:
	case <-time.After(20 * time.Second):
	}
	u, err := url.Parse(s.first)
	if err != nil || u.Host == "" {
		s.cmd.Process.Kill()
		s.cmd.Wait()
		return nil, fmt.Errorf("the studio's first line is %q; it said %s", s.first, s.err.String())
	}
	s.base = u.Scheme + "://" + u.Host
	return s, nil
}

// stop ends the studio as Ctrl-C does, and returns how it ended.
func (s *server) stop() error {
	s.cmd.Process.Signal(os.Interrupt)
	done := make(chan error, 1)
	go func() { done <- s.cmd.Wait() }()
	select {
	case err := <-done:
		return err
	case <-time.After(10 * time.Second):
		s.cmd.Process.Kill()
		return fmt.Errorf("the studio did not end: %w", <-done)
	}
}

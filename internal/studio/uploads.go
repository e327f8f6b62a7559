package studio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	maxUploads = 3   // at once, with the look at what they brought
	maxLabel   = 255 // bytes of a name
	maxSaid    = 2000
)

// label returns the name that an upload is called by: as it is given, but for signs that no line of text has, and not longer than names are.
func label(name string) string {
	name = strings.Map(func(c rune) rune {
		if c == utf8.RuneError || unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || unicode.Is(unicode.Zl, c) || unicode.Is(unicode.Zp, c) {
			return '_'
		}
		return c
	}, name)
	if name = strings.TrimSpace(name); name == "" {
		return "unnamed"
	}
	if len(name) > maxLabel {
		name = strings.ToValidUTF8(name[:maxLabel], "")
	}
	return name
}

// fileName makes of a label a name that a file can have on every system. The ending stays: formats go by it.
func fileName(label string) string {
	name := strings.Map(func(c rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, c) {
			return '_'
		}
		return c
	}, label)
	const longest = 200 // file systems take 255 bytes, and what writes beside a file adds to its name
	if len(name) > longest {
		end := filepath.Ext(name)
		if len(end) > 20 {
			end = ""
		}
		name = strings.ToValidUTF8(name[:longest-len(end)], "") + end
	}
	if name = strings.TrimRight(name, ". "); strings.Trim(name, "._ ") == "" || strings.ContainsAny(name[:1], "-@.~") {
		name = "_" + name
	}
	return name
}

// begin takes one of the places for uploads; false where the answer is that there is none.
func (s *Studio) begin(w http.ResponseWriter) (done func(), ok bool) {
	select {
	case s.uploads <- struct{}{}:
		return func() { <-s.uploads }, true
	default:
		w.Header().Set("Retry-After", "2")
		fail(w, http.StatusServiceUnavailable, "other files are being read: try again in a moment")
		return nil, false
	}
}

// moving reads a body whose deadline moves with every piece that comes.
type moving struct {
	body io.Reader
	c    *http.ResponseController
	wait time.Duration
}

// Read implements io.Reader.
func (m moving) Read(p []byte) (int, error) {
	m.c.SetReadDeadline(time.Now().Add(m.wait)) // a test's recorder has none
	return m.body.Read(p)
}

// receive writes the body of a request to a file. It says what went wrong in words for the page, with a status.
func (s *Studio) receive(w http.ResponseWriter, r *http.Request, path, name string) *refusal {
	tooLong := &refusal{http.StatusRequestEntityTooLarge,
		fmt.Sprintf("%s: more than the %s that are taken here; start latent studio with the file on its command line, where it is read in place, or with a higher --max-upload", name, megabytes(s.MaxUpload))}
	if r.ContentLength > s.MaxUpload {
		return tooLong
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return &refusal{http.StatusInternalServerError, name + ": there is no place to keep it: " + reason(err)}
	}
	c := http.NewResponseController(w)
	_, err = io.Copy(f, moving{http.MaxBytesReader(w, r.Body, s.MaxUpload), c, s.wait})
	c.SetReadDeadline(time.Time{}) // else the answer would end with it
	if bad := f.Close(); err == nil {
		err = bad
	}
	var system *os.PathError
	switch most := (*http.MaxBytesError)(nil); {
	case err == nil:
		return nil
	case errors.As(err, &most):
		return tooLong
	case errors.As(err, &system):
		return &refusal{http.StatusInsufficientStorage, name + ": there is no place to keep it: " + reason(err)}
	}
	return &refusal{http.StatusRequestTimeout, name + ": it did not come whole"}
}

// reason is what an error of the system says, without the path.
func reason(err error) string {
	if system := (*os.PathError)(nil); errors.As(err, &system) {
		return system.Err.Error()
	}
	return err.Error()
}

// megabytes writes a limit.
func megabytes(n int64) string { return fmt.Sprintf("%d MB", n/1_000_000) }

// said keeps what a command prints on its standard error, the beginning of it.
type said struct{ b []byte }

// Write implements io.Writer.
func (s *said) Write(p []byte) (int, error) {
	if room := maxSaid - len(s.b); room > 0 {
		s.b = append(s.b, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

// line returns the last line, which is the error, with the name of a file as its owner calls it.
func (s *said) line(path, name string) string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(s.b), "")), "\n")
	last := strings.TrimPrefix(lines[len(lines)-1], "latent: ")
	last = strings.ReplaceAll(last, path, name)
	if base := filepath.Base(path); base != name && strings.HasPrefix(last, base) {
		last = name + last[len(base):]
	}
	return last
}

// do runs a command. A panic of it is an error that it prints, since it need not run for a request that would answer with it.
func (s *Studio) do(ctx context.Context, args []string, out *capped, errw *said, hooks Hooks) (status int) {
	defer func() {
		if v := recover(); v != nil {
			errw.b, status = fmt.Appendf(nil, "latent: this is a fault of latent studio: %v", v), 1
		}
	}()
	return s.Run(ctx, args, out, errw, hooks)
}

// command runs a command about a file that it may read, and returns what it printed. The status of an error is for the page.
func (s *Studio) command(ctx context.Context, path, name string, hooks Hooks, args ...string) (out []byte, status int, no *refusal) {
	var printed capped
	var errw said
	status = s.do(ctx, args, &printed, &errw, hooks)
	switch {
	case ctx.Err() != nil:
		return nil, status, &refusal{499, "stopped"}
	case printed.over:
		return nil, status, &refusal{http.StatusUnprocessableEntity, name + ": it has too many columns for this page"}
	case status != 0 && status != unfinished:
		text := errw.line(path, name)
		if text == "" {
			text = name + ": this is a fault of latent studio: no reason was given"
		}
		return printed.b, status, &refusal{http.StatusUnprocessableEntity, text}
	}
	return printed.b, status, nil
}

const (
	unfinished = 3       // the exit status of a fit that has a result and is not finished
	maxPrinted = 8 << 20 // bytes of JSON that a command may print: a table of some 30,000 columns
)

// capped keeps what is printed, unless it is too much.
type capped struct {
	b    []byte
	over bool
}

// Write implements io.Writer.
func (c *capped) Write(p []byte) (int, error) {
	if c.over = c.over || len(c.b)+len(p) > maxPrinted; !c.over {
		c.b = append(c.b, p...)
	}
	return len(p), nil
}

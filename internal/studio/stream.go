package studio

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/latent-go/latent"
)

// interval is how often a stream tells of progress.
const interval = 33 * time.Millisecond

// lines are an answer of lines of JSON, for one goroutine at a time.
type lines struct {
	w     http.ResponseWriter
	c     *http.ResponseController
	begun bool
}

// newLines returns an answer that begins with the first line.
func newLines(w http.ResponseWriter) *lines {
	return &lines{w: w, c: http.NewResponseController(w)}
}

// send sends a line. An error means that nobody listens any more, which ends what runs by its request.
func (l *lines) send(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		b = []byte(`{"error":"this is a fault of latent studio: an answer that is no JSON"}`)
	}
	if !l.begun {
		l.w.Header().Set("Content-Type", "application/x-ndjson")
		l.begun = true
	}
	l.c.SetWriteDeadline(time.Now().Add(patience)) // a test's recorder has none
	l.w.Write(append(b, '\n'))
	l.c.Flush()
}

// stream is such an answer with the progress of a fit. What runs never waits for who reads it: progress is set down, and sent by another goroutine.
type stream struct {
	*lines
	stop   chan struct{}
	once   sync.Once
	ended  sync.WaitGroup
	mu     sync.Mutex // of the answer
	latest sync.Mutex // of news
	news   *stride
}

// stride is how far a fit is.
type stride struct {
	Start  int      `json:"start"`
	Starts int      `json:"starts"`
	Sweep  int      `json:"sweep"`
	SE     *float64 `json:"se"`
}

// strideOf returns how far a fit is at a step.
func strideOf(p latent.Progress) *stride {
	return &stride{Start: p.Start, Starts: p.Of, Sweep: p.Sweeps, SE: number(p.Distance)}
}

// newStream begins an answer.
func newStream(w http.ResponseWriter) *stream {
	t := &stream{lines: newLines(w), stop: make(chan struct{})}
	t.ended.Add(1)
	go t.tick()
	return t
}

// send sends a line, for whichever goroutine.
func (t *stream) send(v any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines.send(v)
}

// progress takes note of a step.
func (t *stream) progress(p latent.Progress) {
	s := strideOf(p)
	t.latest.Lock()
	t.news = s
	t.latest.Unlock()
}

// tick sends what is new.
func (t *stream) tick() {
	defer t.ended.Done()
	clock := time.NewTicker(interval)
	defer clock.Stop()
	for {
		select {
		case <-t.stop:
			return
		case <-clock.C:
		}
		t.latest.Lock()
		s := t.news
		t.news = nil
		t.latest.Unlock()
		if s != nil {
			t.send(map[string]any{"progress": s})
		}
	}
}

// end waits until no progress is sent any more. The last line comes after it.
func (t *stream) end() {
	t.once.Do(func() { close(t.stop) })
	t.ended.Wait()
}

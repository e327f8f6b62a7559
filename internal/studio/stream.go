package studio

import (
	"encoding/json"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/latent-go/latent"
)

// interval is how often a stream tells of progress.
const interval = 33 * time.Millisecond

// stream is an answer of lines of JSON. What runs never waits for who reads it: progress is set down, and sent by another goroutine.
type stream struct {
	w      http.ResponseWriter
	c      *http.ResponseController
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

// newStream begins an answer.
func newStream(w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "application/x-ndjson")
	t := &stream{w: w, c: http.NewResponseController(w), stop: make(chan struct{})}
	t.ended.Add(1)
	go t.tick()
	return t
}

// send sends a line.
func (t *stream) send(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		b = []byte(`{"error":"this is a fault of latent studio: an answer that is no JSON"}`)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.c.SetWriteDeadline(time.Now().Add(patience)) // a test's recorder has none
	t.w.Write(append(b, '\n'))                     // an error means that nobody listens any more
	t.c.Flush()
}

// progress takes note of a step.
func (t *stream) progress(p latent.Progress) {
	s := &stride{Start: p.Start, Starts: p.Of, Sweep: p.Sweeps}
	if d := p.Distance; !math.IsNaN(d) && !math.IsInf(d, 0) {
		s.SE = &d
	}
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

package studio

import (
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/model"
)

// candidate takes note of a candidate of a choice.
func (n *run) candidate(at, of int, _ model.Candidate) {
	n.mu.Lock()
	n.tried = &counted{at, of}
	n.mu.Unlock()
}

// progress takes note of a step of a fit that is not watched.
func (n *run) progress(p latent.Progress) {
	n.mu.Lock()
	n.climb, n.judged = strideOf(p), nil
	n.mu.Unlock()
}

// climbed takes note that the climbs have ended.
func (n *run) climbed() {
	n.mu.Lock()
	n.tried, n.climb, n.judged = nil, nil, &judged{true}
	n.mu.Unlock()
}

// newest returns how far the fit is, once; nil where nothing is new.
func (n *run) newest() any {
	n.mu.Lock()
	defer n.mu.Unlock()
	tried, climb, judged := n.tried, n.climb, n.judged
	n.tried, n.climb, n.judged = nil, nil, nil
	switch {
	case judged != nil:
		return judged
	case climb != nil:
		return climb
	case tried != nil:
		return tried
	}
	return nil
}

// stream answers with the course of a run: what is new every 33 ms, whatever the pace of the fit and of the page. Where the fit is refused before
// its rows are read, the answer is the refusal.
func (n *run) stream(w http.ResponseWriter) {
	out := newLines(w)
	clock := time.NewTicker(interval)
	defer clock.Stop()
	sent := 0
	fresh := func() {
		if frames := n.record.since(sent); len(frames) > 0 {
			out.send(map[string]any{"frames": frames})
			sent += len(frames)
		}
		if p := n.newest(); p != nil {
			out.send(map[string]any{"progress": p})
		}
	}
	began := n.began
	for {
		select {
		case <-began:
			n.begin(out)
			began = nil
		case <-clock.C:
			if began == nil {
				fresh()
			}
		case <-n.ended:
			n.finish(out, began != nil, fresh)
			return
		}
	}
}

// begin sends the first line.
func (n *run) begin(out *lines) {
	n.mu.Lock()
	first := map[string]any{"run": n.ID, "columns": n.info.Features, "k": n.k()}
	n.mu.Unlock()
	out.send(first)
}

// finish sends what is left, and the last line. late says that the first was not sent yet.
func (n *run) finish(out *lines, late bool, fresh func()) {
	n.mu.Lock()
	read, last, state := n.info != nil, n.last, n.state
	n.mu.Unlock()
	switch {
	case late && !read && state == failed:
		answer(out.w, http.StatusUnprocessableEntity, last)
		return
	case late:
		n.begin(out)
	}
	fresh()
	out.send(last)
}

// replaceFolder leaves a folder out of a message.
func replaceFolder(message, folder string) string {
	return strings.ReplaceAll(message, folder+string(filepath.Separator), "")
}

package score

import (
	"context"
	"strings"
	"testing"
)

// A nil context and a negative number of columns are errors, not panics of a worker.
func TestArgumentsThatNobodyCanUse(t *testing.T) {
	var none context.Context
	p := &Partition{N: 4, D: 2, X: []float64{0, 0, 0, 1, 5, 5, 5, 6}, Labels: []int{0, 0, 1, 1}}
	if _, err := p.Silhouette(none, nil); err == nil || !strings.Contains(err.Error(), "context is nil") {
		t.Errorf("a nil context: %v", err)
	}
	if _, err := p.SilhouetteOf(none, nil, []int{0, 2}); err == nil || !strings.Contains(err.Error(), "context is nil") {
		t.Errorf("a nil context: %v", err)
	}
	if _, err := p.Silhouette(context.Background(), nil); err != nil {
		t.Errorf("a context: %v", err)
	}
	if err := NewStream(-1).Gather(0, []float64{1}, 1); err == nil {
		t.Error("a row of one column is taken for one of -1")
	}
}

package data

import (
	"context"
	"errors"
	"io"
	"testing"
)

// A pass hands on all rows in order, ends early without an error where it is told to, and with the errors of whoever has one.
func TestEachBlock(t *testing.T) {
	t.Parallel()
	src := &Table{N: 10_000, D: 1}
	for i := range src.N {
		src.F64 = append(src.F64, float64(i))
	}
	next := 0
	if err := EachBlock(t.Context(), src, func(b *Block) error {
		for i := range b.N {
			if b.At(i, 0) != float64(next) || b.First+int64(i) != int64(next) {
				t.Fatalf("row %d is %v", next, b.At(i, 0))
			}
			next++
		}
		return nil
	}); err != nil || next != src.N {
		t.Errorf("%d rows, %v", next, err)
	}
	blocks := 0
	if err := EachBlock(t.Context(), src, func(*Block) error { blocks++; return io.EOF }); err != nil || blocks != 1 {
		t.Errorf("%d blocks, %v", blocks, err)
	}
	own := errors.New("own")
	if err := EachBlock(t.Context(), src, func(*Block) error { return own }); !errors.Is(err, own) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := EachBlock(ctx, src, func(*Block) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

package data

import (
	"context"
	"errors"
	"io"
)

// eachRows is how many rows EachBlock hands on together.
const eachRows = 4096

// EachBlock makes one pass over src and calls each with its rows in order, some thousand at a time. A block, and the memory that it points to, is
// good until each returns. The pass ends with the first error of the source, of each or of ctx; io.EOF from each ends it early, without an error.
func EachBlock(ctx context.Context, src Source, each func(*Block) error) (err error) {
	r, err := src.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var b Block
	for {
		err := ctx.Err()
		if err == nil {
			err = r.Read(&b, eachRows)
		}
		if err == nil {
			err = each(&b)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

package data

import "context"

// A View makes a source of another one: the same rows in the same order, each changed by itself. A type of views that is registered with
// encoding/gob can be sent to where the rows are.
type View interface {
	// Rows returns the changed rows of src.
	Rows(src Source) Source
}

// A Remote is a Source whose rows are held by other machines. They make passes over their own rows and send back what these come to; Open
// brings the rows themselves here, which is meant for a few.
//
// The rows are divided into parts. Each is a run of consecutive rows that begins at a multiple of the number of rows that
// whoever made the Remote was told to align them to.
type Remote interface {
	Source
	// With returns the rows with one more view over them.
	With(View) Remote
	// Views returns the views over the rows, in the order in which they are to be applied.
	Views() []View
	// Pass sends job to where the rows are and returns the answers for all parts, in row order. An error of a part ends the pass.
	Pass(ctx context.Context, job []byte) ([][]byte, error)
}

// Viewed returns v over src: where the rows are on other machines, v is applied there.
func Viewed(src Source, v View) Source {
	if r, ok := src.(Remote); ok {
		return r.With(v)
	}
	return v.Rows(src)
}

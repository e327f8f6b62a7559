package data

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"strings"
	"sync"

	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/par"
)

// chunkSize is how much text one worker takes at a time: large enough that a read costs little beside the parsing,
// small enough that a few of them fit the second-level caches and the memory beside the matrix stays small.
const chunkSize = 1 << 19

// span is a run of whole rows in the text.
type span struct {
	off, end int64 // bytes
	row      int64 // index of the first row, from 0
	line     int64 // line on which it starts, from 1
	rows     int64
}

// chunkFacts is what one look at a chunk tells without knowing whether it starts inside a quoted cell. Arrays have
// the answer for a start outside (0) and inside (1).
type chunkFacts struct {
	odd    bool     // an odd number of quotes: the next chunk starts in the other state
	lines  int64    // all line ends
	rows   [2]int64 // rows that start after a line end of this chunk
	first  [2]int64 // offset of the first of them; -1 for none
	before [2]int64 // line ends up to that one
	blank  [2]blankLines
	nul    int64 // offset of the first NUL byte; -1 for none
}

// blankLines counts lines without a byte outside quotes, and has the numbers of the first ones.
type blankLines struct {
	n  int64
	at []int64 // from 1 in the file; in chunkFacts, line ends of the chunk before it
}

// listedLines is how many blank lines a message names.
const listedLines = 8

// add counts a blank line.
func (b *blankLines) add(line int64) {
	b.n++
	if len(b.at) < listedLines {
		b.at = append(b.at, line)
	}
}

// String returns "1 empty line skipped (line 3)".
func (b *blankLines) String() string {
	var list strings.Builder
	for i, line := range b.at {
		if i > 0 {
			list.WriteString(", ")
		}
		list.WriteString(strconv.FormatInt(line, 10))
	}
	if b.n > int64(len(b.at)) {
		list.WriteString(", ...")
	}
	word := "lines"
	if b.n == 1 {
		word = "line"
	}
	return fmt.Sprintf("%s skipped (%s %s)", counted(b.n, "empty line"), word, list.String())
}

// textIndex cuts the text in spans of whole rows.
type textIndex struct {
	spans []span
	rows  int64
	blank blankLines
}

// indexText looks at all bytes of r from offset from (which starts line number line) to size.
func indexText(ctx context.Context, r io.ReaderAt, name string, from, size, line int64, threads int) (*textIndex, error) {
	n := int((size - from + chunkSize - 1) / chunkSize)
	facts := make([]chunkFacts, n)
	bufs := sync.Pool{New: func() any { b := make([]byte, chunkSize+2); return &b }}
	err := par.Try(threads, n, func(c int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := bufs.Get().(*[]byte)
		defer bufs.Put(p)
		off := from + int64(c)*chunkSize
		end := min(off+chunkSize, size)
		buf := (*p)[:min(end+2, size)-off]
		if err := readFull(r, buf, off, name); err != nil {
			return err
		}
		facts[c] = lookAt(buf, int(end-off), off, end+2 > size)
		return nil
	})
	if err != nil {
		return nil, err
	}
	start := make([]byte, min(2, size-from))
	if err := readFull(r, start, from, name); err != nil {
		return nil, err
	}
	return joinFacts(facts, name, from, size, line, len(start) > 0 && !blankLine(start, true))
}

// joinFacts walks over the chunks in order, now that the state at each start is known.
func joinFacts(facts []chunkFacts, name string, from, size, line int64, rowAtStart bool) (*textIndex, error) {
	t := &textIndex{}
	open := span{off: -1}
	if rowAtStart {
		open = span{off: from, line: line, rows: 1}
	} else if from < size {
		t.blank.add(line)
	}
	in := 0
	for i := range facts {
		f := &facts[i]
		if f.nul >= 0 {
			return nil, fileError(name, "byte %d is NUL: this is not a text file; give --format if it is of another kind", f.nul+1)
		}
		if f.first[in] >= 0 && !(i == 0 && rowAtStart) {
			if open.off >= 0 {
				// The rows that start in this chunk belong to its own span.
				open.end = f.first[in]
				t.spans = append(t.spans, open)
				t.rows += open.rows
			}
			open = span{off: f.first[in], row: t.rows, line: line + f.before[in]}
		}
		open.rows += f.rows[in]
		for _, l := range f.blank[in].at {
			t.blank.add(line + l)
		}
		t.blank.n += f.blank[in].n - int64(len(f.blank[in].at))
		line += f.lines
		if f.odd {
			in = 1 - in
		}
	}
	if open.off >= 0 {
		open.end = size
		t.spans = append(t.spans, open)
		t.rows += open.rows
	}
	return t, nil
}

// lookAt gathers the facts of the first n bytes of buf, which stand at offset off of the text. The bytes after them
// tell whether the next line is blank; atEnd says that the text ends with buf.
func lookAt(buf []byte, n int, off int64, atEnd bool) chunkFacts {
	f := chunkFacts{first: [2]int64{-1, -1}, nul: -1}
	if feeds, plain := kern.Lines(buf, n); plain {
		f.lines = int64(feeds)
		f.rows[0] = f.lines
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 && !(atEnd && i+1 == len(buf)) {
			f.first[0], f.before[0] = off+int64(i)+1, 1
		}
		if f.lines > 0 && atEnd && n == len(buf) && buf[n-1] == '\n' {
			f.rows[0]-- // nothing follows the last line end
		}
		return f
	}
	if i := bytes.IndexByte(buf[:n], 0); i >= 0 {
		f.nul = off + int64(i)
	}
	return lookClosely(buf, n, off, atEnd, f)
}

// closeLook is how many bytes lookClosely marks at a time.
const closeLook = 4096

// lookClosely is lookAt for chunks with quotes or blank lines, 64 bytes at a time (Langdale and Lemire 2019, "Parsing gigabytes of JSON per
// second", section 3.1).
func lookClosely(buf []byte, n int, off int64, atEnd bool, f chunkFacts) chunkFacts {
	var feeds, returns, quotes [closeLook/64 + 1]uint64 // and one word of what follows
	inside := uint64(0)                                 // all bits: an odd number of quotes so far
	for at := 0; at < n; at += closeLook {
		text := buf[at:min(at+closeLook+64, len(buf))]
		kern.Marks(feeds[:], text, '\n')
		kern.Marks(returns[:], text, '\r')
		kern.Marks(quotes[:], text, '"')
		if words := len(text) / 64; len(text) < closeLook+64 { // beyond the text; its last line is blank where nothing is in it
			clear(feeds[(len(text)+63)/64:])
			if atEnd {
				feeds[words] |= 1 << (len(text) % 64)
			}
		}
		for i := range (min(closeLook, n-at) + 63) / 64 {
			ours := ^uint64(0)
			if left := n - at - 64*i; left < 64 {
				ours = 1<<left - 1
			}
			feed, quote := feeds[i]&ours, quotes[i]&ours
			odd := parities(quote) ^ inside
			inside ^= -uint64(bits.OnesCount64(quote) & 1)
			if feed == 0 {
				continue
			}
			next, second := feeds[i]>>1|feeds[i+1]<<63, feeds[i]>>2|feeds[i+1]<<62
			blank := feed & (next | (returns[i]>>1|returns[i+1]<<63)&second)
			// A line end at parity in ends a row if the chunk starts in the state that makes it an outside one.
			f.ends(0, feed, feed&^odd, blank, off, at+64*i, len(buf))
			f.ends(1, feed, feed&odd, blank, off, at+64*i, len(buf))
			f.lines += int64(bits.OnesCount64(feed))
		}
	}
	f.odd = inside != 0
	return f
}

// ends takes in the line ends at parity in, sel of all that stand at and after byte at of size; those of blank have an empty line after them,
// or the end of the text.
func (f *chunkFacts) ends(in int, all, sel, blank uint64, off int64, at, size int) {
	upTo := func(bit int) int64 { return f.lines + int64(bits.OnesCount64(all<<(63-bit))) }
	if rows := sel &^ blank; rows != 0 {
		if f.first[in] < 0 {
			bit := bits.TrailingZeros64(rows)
			f.first[in], f.before[in] = off+int64(at+bit)+1, upTo(bit)
		}
		f.rows[in] += int64(bits.OnesCount64(rows))
	}
	for b := sel & blank; b != 0; b &= b - 1 {
		if bit := bits.TrailingZeros64(b); at+bit+1 < size {
			f.blank[in].add(upTo(bit))
		}
	}
}

// parities returns in each bit whether an odd number of the bits up to it are set.
func parities(w uint64) uint64 {
	for shift := 1; shift < 64; shift *= 2 {
		w ^= w << shift
	}
	return w
}

// blankLine reports whether rest starts with an empty line or is the end of the text.
func blankLine(rest []byte, atEnd bool) bool {
	switch {
	case len(rest) == 0:
		return atEnd
	case rest[0] == '\r':
		return len(rest) > 1 && rest[1] == '\n' || len(rest) == 1 && atEnd
	}
	return rest[0] == '\n'
}

// readFull fills buf from offset off: text that ends early was changed while it was read.
func readFull(r io.ReaderAt, buf []byte, off int64, name string) error {
	n, err := r.ReadAt(buf, off)
	if n == len(buf) {
		return nil
	}
	if err == nil || err == io.EOF {
		return fileError(name, "the file became shorter while it was read")
	}
	return fileError(name, "%v", cause(err))
}

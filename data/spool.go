package data

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/latent-go/latent/internal/scratch"
)

const (
	spoolPart = 1 << 20  // bytes of a part of a spool in memory
	spillSize = 16 << 20 // bytes that a spool holds in memory before it goes on in a temporary file
)

// spool is what comes only once, from a pipe or unpacked, kept so that it can be read at any offset: in memory up to
// max bytes or, with spill, beyond spillSize in a temporary file. It is an io.ReaderAt of size bytes.
type spool struct {
	name  string
	max   int64
	spill bool

	parts [][]byte // in memory: spoolPart bytes each, the last one filled as far as size says
	file  *os.File // where all of it is instead
	size  int64
}

// held returns the bytes in memory.
func (s *spool) held() int64 { return int64(len(s.parts)) * spoolPart }

// ReadAt implements io.ReaderAt.
func (s *spool) ReadAt(p []byte, off int64) (n int, err error) {
	if s.file != nil {
		n, err = s.file.ReadAt(p[:max(0, min(int64(len(p)), s.size-off))], off)
		if err == nil && n < len(p) {
			err = io.EOF
		}
		return n, err
	}
	for n < len(p) && off < s.size {
		part, at := s.parts[off/spoolPart], off%spoolPart
		k := copy(p[n:], part[at:min(spoolPart, at+s.size-off)])
		n, off = n+k, off+int64(k)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Close lets go of the memory and of the temporary file.
func (s *spool) Close() error {
	s.parts = nil
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// room returns memory for what comes next, at the end of what is there.
func (s *spool) room() ([]byte, error) {
	at := s.size % spoolPart
	switch {
	case s.file != nil:
		return s.parts[0], nil
	case at > 0:
		return s.parts[len(s.parts)-1][at:], nil
	case s.spill && s.size > 0 && s.size >= min(spillSize, s.max):
		err := s.toFile()
		return s.parts[0], err
	case s.size >= s.max:
		return nil, &MemoryError{File: s.name, Max: s.max}
	}
	s.parts = append(s.parts, make([]byte, spoolPart))
	return s.parts[len(s.parts)-1], nil
}

// toFile moves everything to a temporary file, and keeps one part as a buffer.
func (s *spool) toFile() (err error) {
	if s.file, err = scratch.File(os.TempDir()); err != nil {
		return s.fileError(err)
	}
	for _, p := range s.parts {
		if _, err := s.file.Write(p); err != nil {
			return s.fileError(err)
		}
	}
	s.parts = [][]byte{s.parts[0]}
	return nil
}

func (s *spool) fileError(err error) error {
	return fileError(s.name, "the temporary file that --stream needs, in %s, cannot be written: %v; set TMPDIR to a folder with more room", os.TempDir(), cause(err))
}

// fill reads r to its end, or to where enough says that the first bytes will do: it is called with what came last and
// returns how much of it is wanted, -1 for all and more.
func (s *spool) fill(ctx context.Context, r io.Reader, enough func([]byte) (int, error)) error {
	for empty := 0; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		buf, err := s.room()
		if err != nil {
			return err
		}
		n, err := r.Read(buf)
		keep := n
		wanted := -1
		if n > 0 {
			var wrong error
			if wanted, wrong = enough(buf[:n]); wrong != nil {
				return wrong
			}
			if wanted >= 0 {
				keep = wanted
			}
		}
		if s.file != nil && keep > 0 {
			if _, err := s.file.Write(buf[:keep]); err != nil {
				return s.fileError(err)
			}
		}
		s.size += int64(keep)
		switch {
		case wanted >= 0, err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if empty++; n > 0 {
			empty = 0
		}
		if empty > 1000 {
			return io.ErrNoProgress
		}
	}
}

// spooled keeps what r gives, unpacked, and opens it. A pipe may be silent for ever: when ctx ends, r is left behind.
func spooled(ctx context.Context, r io.Reader, name string, o Options) (*opened, error) {
	type result struct {
		f   *opened
		err error
	}
	done := make(chan result, 1)
	go func() {
		f, err := spoolAll(ctx, r, name, o)
		done <- result{f, err}
	}()
	select {
	case d := <-done:
		return d.f, d.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// spoolAll is spooled without a way out.
func spoolAll(ctx context.Context, r io.Reader, name string, o Options) (*opened, error) {
	s := &spool{name: name, max: o.MaxMemory, spill: o.Stream}
	e := &enough{name: name, o: o, s: s}
	in, done, err := unpacked(r, name, o.MaxMemory)
	if err == nil {
		err = s.fill(ctx, in, e.look)
		done()
		err = unpackError(err, name, in, o.MaxMemory)
	}
	var f *opened
	if err == nil {
		f, err = openReader(ctx, s, max(s.size, e.claimed), name, o)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	f.files, f.held, f.more = append(f.files, s), s.held(), e.more
	return f, nil
}

// zstdWindow is how much of what came before a decoder of zstd keeps if a frame wants it, as zstd's own program does
// unasked. Frames that want more may, where that much memory may be used.
const zstdWindow = 128 << 20

// unpacker is a decompressor, which knows its name.
type unpacker struct {
	io.Reader
	packing string
}

// unpacked returns r, or what it unpacks to if its first bytes say that it is compressed: all members or frames of it.
// done lets go of the decompressor.
func unpacked(r io.Reader, name string, most int64) (in io.Reader, done func(), err error) {
	b := bufio.NewReaderSize(r, 64<<10)
	start, err := b.Peek(4)
	if err != nil && err != io.EOF {
		return nil, nil, fileError(name, "%v", cause(err))
	}
	packing := packed(start)
	if packing == "" {
		return b, func() {}, nil
	}
	if packing == "gzip" {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, nil, unpackError(err, name, unpacker{packing: packing}, most)
		}
		return unpacker{z, packing}, func() {}, nil
	}
	z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max(most, zstdWindow))))
	if err != nil {
		return nil, nil, unpackError(err, name, unpacker{packing: packing}, most)
	}
	return unpacker{z, packing}, z.Close, nil
}

// unpackError says what is wrong with a pipe or with compressed data.
func unpackError(err error, name string, in io.Reader, most int64) error {
	var known *Error
	var memory *MemoryError
	u, isPacked := in.(unpacker)
	switch {
	case err == nil, errors.As(err, &known), errors.As(err, &memory), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return &MemoryError{File: name, Max: most}
	case isPacked:
		return fileError(name, "the %s data is damaged or cut short (%v)", u.packing, err)
	}
	return fileError(name, "%v", cause(err))
}

package data

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// npySink writes a float64 matrix in C order. The number of rows is in the header, so the header is written again at
// the end.
type npySink struct {
	w    io.Writer
	back io.Seeker // nil where w cannot go back: the cells are held in buf
	base int64     // where the header stands
	d    int
	rows int64
	buf  []byte
}

// npyHeadSize is the size of the whole header: a multiple of 64 that has room for any shape.
const npyHeadSize = 128

func newNPYSink(w io.Writer, cols []OutColumn) (*npySink, error) {
	for _, c := range cols {
		if c.Kind == Text {
			return nil, fmt.Errorf("column %q is text, which NPY cannot hold beside numbers; write CSV or Parquet", c.Name)
		}
	}
	s := &npySink{w: w, d: len(cols)}
	seeker, ok := w.(io.Seeker)
	if !ok {
		return s, nil
	}
	// A pipe has a Seek that fails, and text that is appended to does not start at the end.
	at, err := seeker.Seek(0, io.SeekCurrent)
	if err != nil {
		return s, nil
	}
	if end, err := seeker.Seek(0, io.SeekEnd); err != nil || end != at {
		if _, err := seeker.Seek(at, io.SeekStart); err != nil {
			return nil, err
		}
		return s, nil
	}
	s.back, s.base = seeker, at
	_, err = w.Write(s.header())
	return s, err
}

// header is version 1 of the format, padded with spaces.
func (s *npySink) header() []byte {
	text := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", s.rows, s.d)
	b := []byte("\x93NUMPY\x01\x00")
	b = binary.LittleEndian.AppendUint16(b, npyHeadSize-10)
	b = append(b, text...)
	b = append(b, strings.Repeat(" ", npyHeadSize-1-len(b))...)
	return append(b, '\n')
}

func (s *npySink) whole(j int, v int64) { s.float(j, float64(v)) }

func (s *npySink) float(_ int, v float64) {
	s.buf = binary.LittleEndian.AppendUint64(s.buf, math.Float64bits(v))
}

func (s *npySink) text(int, string) {}

func (s *npySink) end() error {
	s.rows++
	if s.back == nil || len(s.buf) < flushAt {
		return nil
	}
	return s.flush()
}

func (s *npySink) flush() error {
	_, err := s.w.Write(s.buf)
	s.buf = s.buf[:0]
	return err
}

func (s *npySink) close() error {
	if s.back == nil {
		if _, err := s.w.Write(s.header()); err != nil {
			return err
		}
		return s.flush()
	}
	if err := s.flush(); err != nil {
		return err
	}
	if _, err := s.back.Seek(s.base, io.SeekStart); err != nil {
		return err
	}
	if _, err := s.w.Write(s.header()); err != nil {
		return err
	}
	if at, err := s.back.Seek(0, io.SeekCurrent); err != nil || at != s.base+npyHeadSize {
		return errors.New("NPY cannot be written to a file that is open for appending only; give the name of a file")
	}
	_, err := s.back.Seek(0, io.SeekEnd)
	return err
}

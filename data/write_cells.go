package data

import (
	"bufio"
	"encoding/binary"
	"math"
)

// cellsSink writes cells as another machine reads them: see ServePiece.
type cellsSink struct {
	w *bufio.Writer
	b [9]byte
}

func (s *cellsSink) number(v uint64) {
	s.b[0] = 1
	binary.BigEndian.PutUint64(s.b[1:], v)
	s.w.Write(s.b[:])
}

func (s *cellsSink) whole(_ int, v int64) { s.number(uint64(v)) }

func (s *cellsSink) float(_ int, v float64) {
	if v != v {
		s.w.WriteByte(0)
		return
	}
	s.number(math.Float64bits(v))
}

func (s *cellsSink) text(_ int, v string) {
	s.b[0] = 1
	binary.BigEndian.PutUint32(s.b[1:], uint32(len(v)))
	s.w.Write(s.b[:5])
	s.w.WriteString(v)
}

func (s *cellsSink) end() error   { return nil }
func (s *cellsSink) close() error { return s.w.Flush() }

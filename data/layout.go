package data

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A Layout says how a row of numbers is stored: its cells, of 8 or 4 bytes, then its weight and its number in the table, of 8 bytes each, where they
// are there; the lowest byte first.
type Layout struct {
	D       int
	Float32 bool
	Weight  bool
	Row     bool
}

// Stride returns the bytes of a row.
func (l *Layout) Stride() int {
	n := 8 * l.D
	if l.Float32 {
		n = 4 * l.D
	}
	if l.Weight {
		n += 8
	}
	if l.Row {
		n += 8
	}
	return n
}

func (l *Layout) appendCell(b []byte, v float64) []byte {
	if l.Float32 {
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
	}
	return appendUint64(b, math.Float64bits(v))
}

func appendUint64(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }

// Table returns stored rows as a part of a table that begins with row first, from 0.
func (l *Layout) Table(b []byte, first int64) (*Table, error) {
	stride := l.Stride()
	if stride == 0 || len(b)%stride != 0 {
		return nil, fmt.Errorf("%d bytes are no rows of %d", len(b), stride)
	}
	t := &Table{N: len(b) / stride, D: l.D, First: first}
	if l.Float32 {
		t.F32 = make([]float32, 0, t.N*t.D)
	} else {
		t.F64 = make([]float64, 0, t.N*t.D)
	}
	if l.Weight {
		t.W = make([]float64, 0, t.N)
	}
	for range t.N {
		for range t.D {
			if l.Float32 {
				t.F32, b = append(t.F32, math.Float32frombits(binary.LittleEndian.Uint32(b))), b[4:]
			} else {
				t.F64, b = append(t.F64, math.Float64frombits(binary.LittleEndian.Uint64(b))), b[8:]
			}
		}
		if l.Weight {
			t.W, b = append(t.W, math.Float64frombits(binary.LittleEndian.Uint64(b))), b[8:]
		}
		if l.Row {
			t.Row, b = append(t.Row, int64(binary.LittleEndian.Uint64(b))), b[8:]
		}
	}
	return t, nil
}

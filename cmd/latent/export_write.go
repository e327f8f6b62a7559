package main

import (
	"archive/zip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/latent-go/latent/model"
)

// writeNPZ writes a zip of one NPY file an array, uncompressed and without times, as numpy.savez does.
func writeNPZ(w io.Writer, arrays []model.Array) error {
	z := zip.NewWriter(w)
	for _, a := range arrays {
		f, err := z.CreateHeader(&zip.FileHeader{Name: a.Name + ".npy", Method: zip.Store})
		if err != nil {
			return err
		}
		if _, err := f.Write(npy(a)); err != nil {
			return err
		}
	}
	return z.Close()
}

// npy returns an NPY file of version 1: little-endian float64 or int64, or text in UTF-32 as wide as its longest.
func npy(a model.Array) []byte {
	descr, body := "", []byte(nil)
	switch {
	case a.Text != nil:
		wide := 1
		for _, s := range a.Text {
			wide = max(wide, utf8.RuneCountInString(s))
		}
		descr = "<U" + strconv.Itoa(wide)
		for _, s := range a.Text {
			end := len(body) + 4*wide
			for _, r := range s {
				body = binary.LittleEndian.AppendUint32(body, uint32(r))
			}
			body = append(body, make([]byte, end-len(body))...)
		}
	case a.Int != nil:
		descr = "<i8"
		for _, v := range a.Int {
			body = binary.LittleEndian.AppendUint64(body, uint64(v))
		}
	default:
		descr = "<f8"
		for _, v := range a.F64 {
			body = binary.LittleEndian.AppendUint64(body, math.Float64bits(v))
		}
	}
	shape := ""
	for _, n := range a.Shape {
		shape += strconv.Itoa(n) + ", "
	}
	if len(a.Shape) > 1 {
		shape = strings.TrimSuffix(shape, ", ")
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, strings.TrimSuffix(shape, " "))
	const magic = "\x93NUMPY\x01\x00"
	size := (len(magic) + 2 + len(head) + 1 + 63) / 64 * 64 // the numbers begin at a multiple of 64
	b := binary.LittleEndian.AppendUint16([]byte(magic), uint16(size-len(magic)-2))
	b = append(b, head...)
	b = append(b, strings.Repeat(" ", size-1-len(b))...)
	return append(append(b, '\n'), body...)
}

// writeArrays writes one JSON object, an array a line, nested as its shape says.
func writeArrays(w io.Writer, arrays []model.Array) error {
	b := []byte("{")
	for i, a := range arrays {
		at := func(i int) any { return a.F64[i] }
		switch {
		case a.Text != nil:
			at = func(i int) any { return a.Text[i] }
		case a.Int != nil:
			at = func(i int) any { return a.Int[i] }
		}
		b = append(b, [2]string{"\n  ", ",\n  "}[min(i, 1)]...)
		b = append(strconv.AppendQuote(b, a.Name), ": "...)
		var err error
		if b, _, err = appendNested(b, a.Shape, 0, at); err != nil {
			return err
		}
	}
	_, err := w.Write(append(b, "\n}\n"...))
	return err
}

// appendNested appends the array of this shape that begins at value first, and returns where the next begins.
func appendNested(b []byte, shape []int, first int, at func(int) any) ([]byte, int, error) {
	if len(shape) == 0 {
		v, err := json.Marshal(at(first))
		return append(b, v...), first + 1, err
	}
	b = append(b, '[')
	for i := range shape[0] {
		if i > 0 {
			b = append(b, ", "...)
		}
		var err error
		if b, first, err = appendNested(b, shape[1:], first, at); err != nil {
			return b, first, err
		}
	}
	return append(b, ']'), first, nil
}

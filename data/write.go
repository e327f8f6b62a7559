package data

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
)

// A Kind is the type of a column that is written.
type Kind uint8

// The kinds of columns.
const (
	Int   Kind = iota // whole numbers
	Float             // numbers; NaN means that there is no value
	Text
)

// String names what the column holds.
func (k Kind) String() string { return [...]string{"whole numbers", "numbers", "text"}[min(k, Text)] }

// OutColumn is a column of a table that is written.
type OutColumn struct {
	Name string
	Kind Kind
}

// Out is a table being written, cell after cell:
//
//	o, err := data.Create(w, "csv", []data.OutColumn{{Name: "row"}, {Name: "p", Kind: data.Float}})
//	for i, p := range ps {
//		o.Int(int64(i + 1))
//		o.Float(p)
//		if err := o.End(); err != nil { ... }
//	}
//	err = o.Close()
//
// The first error stays: every End after it, and Close, return it. An Out is used by one goroutine at a time.
type Out struct {
	cols []OutColumn
	sink sink
	at   int // cells of the open row
	row  int64
	err  error
}

// sink is a file format. Cells come in order and fit their columns.
type sink interface {
	whole(j int, v int64)
	float(j int, v float64)
	text(j int, s string)
	end() error
	close() error
}

// FormatOf returns the format that the ending of a file name means: tsv, npy or parquet, and csv for any other name. The ending of a format
// that is not written is an error.
func FormatOf(path string) (string, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".tsv", ".npy", ".parquet":
		return ext[1:], nil
	case ".xlsx", ".xls", ".ods", ".json", ".jsonl", ".feather", ".arrow", ".orc", ".h5", ".hdf5", ".npz", ".sav", ".dta", ".rds", ".mat", ".db", ".sqlite",
		".gz", ".zst", ".bz2", ".xz", ".zip", ".html", ".png", ".svg":
		return "", fmt.Errorf("%s: cannot write files that end in %s; use .csv, .tsv, .npy or .parquet", path, ext)
	}
	return "csv", nil
}

// Create starts a table in one of the formats csv, tsv, npy and parquet. CSV and TSV get a header line. In NPY all
// columns become float64, without names; text is refused there. NPY is written as it comes if w can seek (its header
// is completed by Close), else held in memory until Close. "cells" are what ServePiece reads, the types i, d and s, without a header.
func Create(w io.Writer, format string, cols []OutColumn) (*Out, error) {
	if len(cols) == 0 {
		return nil, errors.New("a table needs a column")
	}
	o := &Out{cols: cols}
	var err error
	switch format {
	case "csv":
		o.sink = newCSVSink(w, ',', cols)
	case "tsv":
		o.sink = newCSVSink(w, '\t', cols)
	case "npy":
		o.sink, err = newNPYSink(w, cols)
	case "parquet":
		o.sink, err = newParquetSink(w, cols)
	case "cells":
		o.sink = &cellsSink{w: bufio.NewWriter(w)}
	default:
		err = fmt.Errorf("format %q is not one of csv, tsv, npy, parquet", format)
	}
	if err != nil {
		return nil, err
	}
	return o, nil
}

// fits takes the next cell of the row; false if it has no place there.
func (o *Out) fits(k Kind) bool {
	j := o.at
	o.at++
	if o.err != nil {
		return false
	}
	if j >= len(o.cols) {
		o.err = fmt.Errorf("row %d has more cells than the %d columns", o.row+1, len(o.cols))
		return false
	}
	if want := o.cols[j].Kind; want != k && !(k == Int && want == Float) {
		o.err = fmt.Errorf("row %d: column %q holds %s, not %s", o.row+1, o.cols[j].Name, want, k)
		return false
	}
	return true
}

// Int writes a cell of an Int or Float column.
func (o *Out) Int(v int64) {
	if !o.fits(Int) {
		return
	}
	if j := o.at - 1; o.cols[j].Kind == Float {
		o.sink.float(j, float64(v))
	} else {
		o.sink.whole(j, v)
	}
}

// Float writes a cell of a Float column. NaN is an empty cell in CSV, NaN elsewhere.
func (o *Out) Float(v float64) {
	if o.fits(Float) {
		o.sink.float(o.at-1, v)
	}
}

// Floats writes the cells of several Float columns.
func (o *Out) Floats(vs []float64) {
	for _, v := range vs {
		o.Float(v)
	}
}

// Text writes a cell of a Text column.
func (o *Out) Text(s string) {
	if o.fits(Text) {
		o.sink.text(o.at-1, s)
	}
}

// End ends the row.
func (o *Out) End() error {
	if o.err == nil && o.at != len(o.cols) {
		o.err = fmt.Errorf("row %d has %d cells for %d columns", o.row+1, o.at, len(o.cols))
	}
	if o.err == nil {
		o.err = o.sink.end()
	}
	o.at = 0
	o.row++
	return o.err
}

// Ending returns a function that ends a row of at cells so far: with the cells that put writes, and as End does. Text formats format those
// once, for rows that end alike: put must write the same cells whenever it is called. It is asked for between rows.
func (o *Out) Ending(at int, put func()) func() error {
	var cells []byte
	after := at
	if s, text := o.sink.(*csvSink); text && o.at == 0 && o.err == nil {
		rows := s.buf
		s.buf, o.at = nil, at
		put()
		cells, after = s.buf, o.at
		s.buf, o.at = rows, 0
	}
	return func() error {
		if cells != nil && o.at == at && o.err == nil {
			s := o.sink.(*csvSink)
			s.buf, o.at = append(s.buf, cells...), after
		} else {
			put()
		}
		return o.End()
	}
}

// Close writes what is still held back. It does not close the writer below. A second Close does nothing.
func (o *Out) Close() error {
	if o.sink == nil {
		return o.err
	}
	if o.err == nil && o.at != 0 {
		o.err = fmt.Errorf("row %d was not ended", o.row+1)
	}
	if o.err == nil {
		o.err = o.sink.close()
	}
	o.sink = nil
	if o.err == nil {
		o.err = errClosed
		return nil
	}
	return o.err
}

// errClosed is what rows after Close meet.
var errClosed = errors.New("the table was closed")

// csvSink writes RFC 4180 with LF line ends.
type csvSink struct {
	w     io.Writer
	delim byte
	lone  bool // one column: an empty cell would be an empty line
	buf   []byte
}

// flushAt is how many bytes are gathered before they are written.
const flushAt = 64 << 10

func newCSVSink(w io.Writer, delim byte, cols []OutColumn) *csvSink {
	s := &csvSink{w: w, delim: delim, lone: len(cols) == 1, buf: make([]byte, 0, flushAt+4096)}
	for j, c := range cols {
		s.text(j, c.Name)
	}
	s.buf = append(s.buf, '\n')
	return s
}

func (s *csvSink) next(j int) {
	if j > 0 {
		s.buf = append(s.buf, s.delim)
	}
}

func (s *csvSink) whole(j int, v int64) {
	s.next(j)
	s.buf = strconv.AppendInt(s.buf, v, 10)
}

func (s *csvSink) float(j int, v float64) {
	s.next(j)
	switch {
	case v != v && s.lone:
		s.buf = append(s.buf, `""`...)
	case v != v:
	case math.IsInf(v, 1):
		s.buf = append(s.buf, "inf"...)
	case math.IsInf(v, -1):
		s.buf = append(s.buf, "-inf"...)
	default:
		s.buf = appendFloat(s.buf, v, 64)
	}
}

func (s *csvSink) text(j int, t string) {
	s.next(j)
	s.buf = appendCell(s.buf, t, s.delim, s.lone)
}

// appendCell appends the text of a cell. It quotes what would not come back as it is: readers may trim spaces around a cell. The delimiter
// ' ' stands for any run of spaces and tabs; lone says that the cell is the only one of its row.
func appendCell(b []byte, t string, delim byte, lone bool) []byte {
	plain := t != "" || !lone && delim != ' '
	for i := 0; i < len(t) && plain; i++ {
		switch c := t[i]; {
		case c == delim, c == '"', c == '\n', c == '\r', c == '\t' && delim == ' ':
			plain = false
		case c == ' ' || c == '\t':
			plain = i > 0 && i < len(t)-1
		}
	}
	if plain {
		return append(b, t...)
	}
	b = append(b, '"')
	for {
		before, after, found := strings.Cut(t, `"`)
		b = append(b, before...)
		if !found {
			break
		}
		b = append(b, '"', '"')
		t = after
	}
	return append(b, '"')
}

func (s *csvSink) end() error {
	s.buf = append(s.buf, '\n')
	if len(s.buf) < flushAt {
		return nil
	}
	return s.close()
}

func (s *csvSink) close() error {
	_, err := s.w.Write(s.buf)
	s.buf = s.buf[:0]
	return err
}

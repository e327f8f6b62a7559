package data

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/latent-go/latent/internal/transit"
)

// pieceJob is a pass over the cells of a piece, as it is sent to where they are.
type pieceJob struct {
	Do      string // count, head, cells, measure or build
	Name    string // of the table
	Places  map[int]place
	Columns []string
	Types   string
	NA      []string
	NASet   bool
	Dates   []string

	Text               bool // lines of text, in this dialect
	Delimiter, Decimal byte
	Header             bool

	Wants []want
	Few   []int              // columns whose few values are collected
	Words map[int]pieceWords // of the columns that are read as categories
	Build *pieceBuild
}

// pieceWords is the dictionary of a column.
type pieceWords struct {
	Decimal                         byte
	Numeric, IsText, Settled, Known bool
	Full, Unseen                    bool
	Texts                           []string
	Codes                           []float64 // of the texts, where they are settled
	Levels                          []string  // the only ones that are learnt, where Known
}

// pieceBuild says what rows of numbers are made of.
type pieceBuild struct {
	Layout   Layout
	Drop     bool // rows that lack a cell
	Features []int
	Weight   int // the column, -1 for none
}

// PieceCount is what a piece holds.
type PieceCount struct {
	Piece int    // the number that ServePiece is given in from
	Path  string // its file
	Rows  int64
	Lines int64 // of a text
}

// pieceMeasure is what a pass over a piece leaves.
type pieceMeasure struct {
	Stats []statsWire
	Few   map[int][]float64
	Words map[int]pieceWords
}

// encodeJob returns the bytes of a job, whose types are all here.
func encodeJob(v any) []byte {
	b, err := transit.Encode(v)
	if err != nil {
		panic(err)
	}
	return b
}

// ServePiece serves a job of LoadPieces for one piece, whose cells are body: text, or cells as they are stored, each a byte that is 0 for no value and 1
// before one, numbers with the highest byte first. from is a number of the piece's own, its offset in its file and the file, which are empty where
// there is none, with tabs between them.
func ServePiece(ctx context.Context, job []byte, from string, body []byte, threads int) ([]byte, error) {
	var j pieceJob
	if err := transit.Decode(job, &j); err != nil {
		return nil, err
	}
	c, at, n, err := j.piece(ctx, from, body, threads)
	if err != nil {
		return nil, err
	}
	switch j.Do {
	case "count":
		n.Rows = c.rows()
		if j.Text {
			n.Lines = int64(bytes.Count(body, []byte("\n")))
		}
		return encodeJob(n), nil
	case "head", "cells":
		return j.cells(ctx, c, at, threads)
	case "measure":
		return j.measure(ctx, c, at, threads)
	case "build":
		return j.build(ctx, c, at, threads)
	}
	return nil, fmt.Errorf("a job %q that this program does not know", j.Do)
}

// piece returns the cells of a piece, where it begins, and its number and file.
func (j *pieceJob) piece(ctx context.Context, from string, body []byte, threads int) (cells, place, PieceCount, error) {
	piece, rest, _ := strings.Cut(from, "\t")
	offset, path, _ := strings.Cut(rest, "\t")
	number, err := strconv.Atoi(piece)
	if err != nil {
		return nil, place{}, PieceCount{}, fmt.Errorf("a piece without a number: %q", from)
	}
	start, _ := strconv.ParseInt(offset, 10, 64)
	at, file := j.Places[number], LocalPath(path)
	c, err := j.open(ctx, cmp.Or(file, j.Name), start == 0, at.Line, body, threads)
	return c, at, PieceCount{Piece: number, Path: file}, err
}

// LocalPath returns the path of a file: URL, and any other text as it is.
func LocalPath(url string) string {
	if local, ok := strings.CutPrefix(url, "file:"); ok {
		return "/" + strings.TrimLeft(local, "/")
	}
	return url
}

// open returns the cells of the piece of a file, of which so many lines come before it.
func (j *pieceJob) open(ctx context.Context, file string, first bool, lines int64, body []byte, threads int) (cells, error) {
	na := newNA(&Options{NA: j.NA, NASet: j.NASet})
	var c cells
	if j.Text {
		f := &csvFile{name: file, r: bytes.NewReader(body), na: na, columns: j.Columns, size: int64(len(body)), dialect: dialect{delim: j.Delimiter, decimal: j.Decimal, header: j.Header}}
		line := lines + 1
		if first && len(body) > 0 {
			next, err := f.skipHeader()
			if err != nil {
				return nil, err
			}
			line = next
		}
		index, err := indexText(ctx, f.r, file, f.body, f.size, line, max(1, threads))
		if err != nil {
			return nil, err
		}
		f.spans, f.n = index.spans, index.rows
		c = f
	} else {
		t, err := readTyped(file, j.Columns, j.Types, na, body, j.typed())
		if err != nil {
			return nil, err
		}
		c = t
	}
	if j.Dates != nil {
		c = &dated{cells: c, order: j.Dates, na: na}
	}
	if len(j.Words) == 0 {
		return c, nil
	}
	k := &categories{cells: c, file: file, dict: make([]*dictionary, len(j.Columns)), measuring: j.Do == "measure"}
	for col, w := range j.Words {
		k.dict[col] = w.dictionary(na)
	}
	return k, nil
}

// skipHeader goes over what comes before the first row of a file whose columns are known, and returns the line after it. The names in it must be those
// of the columns: another part of the file would not know of another order.
func (f *csvFile) skipHeader() (line int64, err error) {
	h, err := readHead(f.r, f.size, f.name)
	if err != nil {
		return 0, err
	}
	f.body, line = h.start, h.line
	if !f.header {
		return line, nil
	}
	row, err := (&csvFile{name: f.name, r: f.r, na: f.na, size: f.size, dialect: f.dialect}).firstRow(h)
	if err != nil {
		return 0, err
	}
	if !slices.Equal(headerNames(row.cells), f.columns) {
		return 0, lineError(f.name, h.line, "its columns are not those of the first file, in their order: write all files with one header, or name those apart that have another")
	}
	f.body = row.next
	return row.nextLine, nil
}

// typed says what is read of cells that are stored by their types: those of categories and dates as text.
func (j *pieceJob) typed() []want {
	wants := make([]want, len(j.Types))
	for c := range wants {
		if wants[c] = number; j.Do == "open" { // what will be asked for is not known yet
			wants[c] |= text
		}
		if j.Wants != nil {
			wants[c] = j.Wants[c]
		} else if j.Do == "count" {
			wants[c] = skip
		}
		if _, words := j.Words[c]; wants[c] != skip && (words || j.Dates != nil && j.Dates[c] != "") {
			wants[c] |= text
		}
		if j.Types[c] == 'n' {
			wants[c] &^= text
		}
	}
	return wants
}

// dictionary returns the dictionary as a pass over cells uses it.
func (w *pieceWords) dictionary(na *naTexts) *dictionary {
	d := &dictionary{decimal: w.Decimal, na: na, numeric: w.Numeric, isText: w.IsText, settled: w.Settled, at: map[string]int{}}
	for i, text := range w.Texts {
		own := d.read(text)
		own.code = w.Codes[i]
		d.at[text] = len(d.words)
		d.words = append(d.words, own)
	}
	if w.Known {
		d.known = givenLevels(w.Levels)
	}
	return d
}

// wordsOf returns the dictionaries of the columns that have one.
func wordsOf(l *loader, columns []int, settled bool) map[int]pieceWords {
	words := map[int]pieceWords{}
	for _, c := range columns {
		d := l.dict(c)
		if d == nil {
			continue
		}
		w := pieceWords{Decimal: d.decimal, Numeric: d.numeric, IsText: d.isText, Settled: settled}
		if d.known != nil {
			w.Known, w.Levels = true, d.known.names
		}
		for i := range d.words {
			if settled {
				w.Texts, w.Codes = append(w.Texts, d.words[i].text), append(w.Codes, d.words[i].code)
			}
		}
		words[c] = w
	}
	return words
}

// cells returns the batches of a pass; of a head those with the first rows.
func (j *pieceJob) cells(ctx context.Context, c cells, at place, threads int) ([]byte, error) {
	var list []batch
	rows := 0
	err := c.read(ctx, j.Wants, true, threads, func(b *batch) error {
		list = append(list, b.placed(at))
		if rows += b.N; j.Do == "head" && rows >= headRows {
			return errEnough
		}
		return nil
	})
	if err != nil && err != errEnough {
		return nil, err
	}
	return encodeJob(list), nil
}

// placed returns the batch, in memory of its own, with the rows of the table.
func (b *batch) placed(at place) batch {
	own := *b
	own.First += at.Row
	own.Line, own.F64, own.Value = append([]int64(nil), b.Line...), append([]float64(nil), b.F64...), nil
	own.Text, own.Bad = append([]string(nil), b.Text...), append([]badCell(nil), b.Bad...)
	for i := range own.Bad {
		own.Bad[i].Row += at.Row
	}
	return own
}

// measure is the pass of loader.measure.
func (j *pieceJob) measure(ctx context.Context, c cells, at place, threads int) ([]byte, error) {
	p, m := newPlan(j.Wants), newMerger(len(j.Wants))
	few := map[int]*fewValues{}
	for _, col := range j.Few {
		few[col] = new(fewValues)
	}
	err := c.read(ctx, j.Wants, false, threads, func(b *batch) error {
		m.add(b.First, statsOf(m.fresh(), b, p, func(row int64) int64 { return row + at.Row }))
		addFew(few, b, p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := pieceMeasure{Few: map[int][]float64{}, Words: map[int]pieceWords{}}
	for i := range m.total {
		out.Stats = append(out.Stats, m.total[i].wire())
	}
	for col, f := range few {
		out.Few[col] = f.values
	}
	if k, ok := c.(*categories); ok {
		for col, d := range k.dict {
			if d == nil {
				continue
			}
			w := pieceWords{Full: d.full.Load(), Unseen: d.unseen.Load()}
			for i := range d.words {
				w.Texts = append(w.Texts, d.words[i].text)
			}
			out.Words[col] = w
		}
	}
	return encodeJob(out), nil
}

// build makes rows of numbers.
func (j *pieceJob) build(ctx context.Context, c cells, at place, threads int) ([]byte, error) {
	p, build := newPlan(j.Wants), j.Build
	layout := build.Layout
	var kept []byte
	err := c.read(ctx, j.Wants, true, threads, func(b *batch) error {
		for i := range b.N {
			row := b.F64[i*p.numbers : (i+1)*p.numbers]
			if build.Drop && hasNaN(row) {
				continue
			}
			for _, col := range build.Features {
				kept = layout.appendCell(kept, row[p.number[col]])
			}
			if layout.Weight {
				kept = appendUint64(kept, math.Float64bits(row[p.number[build.Weight]]))
			}
			if layout.Row {
				kept = appendUint64(kept, uint64(at.Row+b.First+int64(i)+1))
			}
		}
		return nil
	})
	return kept, err
}

package data

import (
	"bytes"
	"context"
	"errors"
	"sort"
	"strings"

	"github.com/latent-go/latent/internal/transit"
)

// Pieces is a table whose cells are read by other machines, each a piece of it: a run of consecutive rows. Pieces are in row order.
type Pieces interface {
	// Map sends job to whoever reads the pieces from one to another and returns what ServePiece answers for each. The first error ends it.
	Map(ctx context.Context, job []byte, from, to int) ([][]byte, error)
	// Build does the same for all pieces and keeps the answers where they are: rows of so many bytes each. It returns how many rows
	// each piece gave.
	Build(ctx context.Context, job []byte, stride int) ([]int64, error)
}

// PiecesInfo is what is known of Pieces before any of them is read.
type PiecesInfo struct {
	Name   string // of the table, in messages
	N      int    // pieces
	Format string // csv for lines of text; else what the cells are stored as
	Head   []byte // the beginning of a text, of some lines at least
	// Columns and Types are the names and, a letter each, the types of cells that are stored as such: d and f numbers of 64 and 32 bits, i
	// whole numbers, m decimals, b true or false, s text, t dates and times, n what has no cells that can be read.
	Columns []string
	Types   string
	Counts  []PieceCount // of the pieces; nil has them counted
}

// LoadPieces finds out what the pieces of a table hold, as Load does of a file, and lets the machines that read them make rows of numbers of it.
// rows are those of each piece. Options.Stream is taken as set, and ID, which nothing here reads, is ignored; Limit, Sample, Truth and Carry
// are refused.
func LoadPieces(ctx context.Context, p Pieces, of PiecesInfo, o Options) (rows []int64, layout *Layout, info *Info, err error) {
	for _, no := range []struct {
		name  string
		given bool
	}{{"--limit", o.Limit > 0}, {"--sample", o.Sample > 0}, {"--truth", o.Truth != ""}, {"--append", o.Carry}, {"--model hmm", o.Chain}} {
		if no.given {
			return nil, nil, nil, fileError(of.Name, "%s works with rows on one machine only; leave it out", no.name)
		}
	}
	o.Stream, o.ID = true, ""
	if err := o.check(); err != nil {
		return nil, nil, nil, err
	}
	f, err := openPieces(ctx, p, of, o)
	if err != nil {
		return nil, nil, nil, err
	}
	l, err := loaderOf(&opened{cells: f, name: of.Name, format: of.Format, text: f.text}, o)
	if err != nil {
		return nil, nil, nil, f.placed(err)
	}
	src, err := l.load(ctx)
	if err != nil {
		return nil, nil, nil, f.placed(err)
	}
	s := src.(*stream)
	layout = &Layout{D: len(s.from), Float32: l.o.Float32, Weight: l.weight >= 0, Row: s.drop}
	job := f.job("build", s.plan.wants)
	job.Build = &pieceBuild{*layout, s.drop, l.features, l.weight}
	job.Words = wordsOf(l, l.features, true)
	if rows, err = p.Build(ctx, encodeJob(job), layout.Stride()); err != nil {
		return nil, nil, nil, f.placed(err)
	}
	return rows, layout, l.info, nil
}

// PieceFormat is what a piece is read by. encoding/gob sends it.
type PieceFormat struct{ Job []byte }

// FormatPieces finds out how pieces are written, and counts their rows, for OpenPiece. columns are the names of all columns.
func FormatPieces(ctx context.Context, p Pieces, of PiecesInfo, o Options) (format *PieceFormat, columns []string, err error) {
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	f, err := openPieces(ctx, p, of, o)
	if err != nil {
		return nil, nil, err
	}
	return &PieceFormat{encodeJob(f.job("open", nil))}, f.names(), nil
}

// OpenPiece returns the rows of one piece, numbered as those of the whole table, by options that name the columns of a model (Options.Exact). from
// and body are those of ServePiece.
func OpenPiece(ctx context.Context, format *PieceFormat, from string, body []byte, o Options) (Source, error) {
	var j pieceJob
	if err := transit.Decode(format.Job, &j); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	c, at, _, err := j.piece(ctx, from, body, o.Threads)
	if err != nil {
		return nil, err
	}
	name := "csv"
	f := &opened{cells: c, name: j.Name, format: name}
	if j.Text {
		f.text = c.(*csvFile)
	}
	o.Stream = true
	l, err := loaderOf(f, o)
	if err != nil {
		return nil, err
	}
	l.info.Header, l.before = !j.Text || j.Header, at.Row
	src, err := l.load(ctx)
	return src, err
}

// pieceFile is the cells of a table in pieces.
type pieceFile struct {
	pieces  Pieces
	of      PiecesInfo
	na      *naTexts
	naTexts []string      // of the options; nil for the usual ones
	text    *csvFile      // the dialect and the columns of a text; nil of other formats
	first   []int64       // the first row of each piece, and the number of all rows
	places  map[int]place // of each piece, by the number that ServePiece is given
	path    []string      // the file of each piece; empty where nobody knows
	dates   []string
}

// openPieces looks at the head and counts the rows.
func openPieces(ctx context.Context, p Pieces, of PiecesInfo, o Options) (*pieceFile, error) {
	f := &pieceFile{pieces: p, of: of, na: newNA(&o)}
	if f.na != nil {
		f.naTexts = append([]string{}, f.na.texts...)
	}
	if of.Format == "csv" {
		c, err := headOf(of, o)
		if err != nil {
			return nil, err
		}
		f.text = c
	}
	counts := of.Counts
	if counts == nil {
		answers, err := p.Map(ctx, encodeJob(f.job("count", nil)), 0, of.N)
		if err != nil {
			return nil, err
		}
		counts = make([]PieceCount, len(answers))
		for i, a := range answers {
			if err := transit.Decode(a, &counts[i]); err != nil {
				return nil, err
			}
		}
	}
	var at place
	f.places = map[int]place{}
	for i, c := range counts {
		if i > 0 && c.Path != f.path[i-1] {
			at.Line = 0
		}
		f.first, f.path, f.places[c.Piece] = append(f.first, at.Row), append(f.path, c.Path), at
		at.Row, at.Line = at.Row+c.Rows, at.Line+c.Lines
	}
	f.first = append(f.first, at.Row)
	return f, nil
}

// place is where a piece begins: rows of the table and lines of its file before it.
type place struct{ Row, Line int64 }

// headOf finds out how a text is written and what its columns are called.
func headOf(of PiecesInfo, o Options) (*csvFile, error) {
	h, err := readHead(bytes.NewReader(of.Head), int64(len(of.Head)), of.Name)
	if err != nil {
		return nil, err
	}
	f := &csvFile{name: of.Name, r: bytes.NewReader(of.Head), na: newNA(&o), size: int64(len(of.Head))}
	if f.dialect, err = detect(h, o); err != nil {
		return nil, err
	}
	row, err := f.firstRow(h)
	if err != nil {
		return nil, err
	}
	if f.columns = numbered(len(row.cells)); f.header {
		f.columns = headerNames(row.cells)
	}
	return f, nil
}

// job returns one over the pieces.
func (f *pieceFile) job(do string, wants []want) *pieceJob {
	j := &pieceJob{Do: do, Places: f.places, Name: f.of.Name, Columns: f.of.Columns, Types: f.of.Types, NA: f.naTexts, NASet: f.naTexts != nil, Dates: f.dates, Wants: wants}
	if c := f.text; c != nil {
		j.Text, j.Columns, j.Delimiter, j.Decimal, j.Header = true, c.columns, c.delim, c.decimal, c.header
	}
	return j
}

// names implements cells.
func (f *pieceFile) names() []string {
	if f.text != nil {
		return f.text.columns
	}
	return f.of.Columns
}

// rows implements cells.
func (f *pieceFile) rows() int64 { return f.first[len(f.first)-1] }

// Close implements cells.
func (f *pieceFile) Close() error { return nil }

func (f *pieceFile) kind(column int) byte {
	if f.text != nil {
		return 's'
	}
	return f.of.Types[column]
}

// nested, textual and numeric report what the cells of a column are by their type, as those of parquetFile.
func (f *pieceFile) nested(column int) bool  { return f.kind(column) == 'n' }
func (f *pieceFile) textual(column int) bool { return f.kind(column) == 't' }
func (f *pieceFile) numeric(column int) bool { return strings.IndexByte("dfim", f.kind(column)) >= 0 }

// read implements cells: the cells are brought here. It is for looks at the first rows, and for what is wrong with a cell.
func (f *pieceFile) read(ctx context.Context, wants []want, _ bool, threads int, yield func(*batch) error) error {
	for i := range f.of.N {
		given := 0
		for _, do := range []string{"head", "cells"} {
			if do == "head" && i > 0 {
				continue
			}
			answers, err := f.pieces.Map(ctx, encodeJob(f.job(do, wants)), i, i+1)
			if err != nil {
				return err
			}
			var list []batch
			if err := transit.Decode(answers[0], &list); err != nil {
				return err
			}
			for n := range list[min(given, len(list)):] {
				if err := yield(&list[given+n]); err != nil {
					return err
				}
			}
			given = len(list)
		}
	}
	return nil
}

// measure is the pass of loader.measure, made where the pieces are. It adds to stats and few, and to the dictionaries of the columns that are
// read as categories.
func (f *pieceFile) measure(ctx context.Context, l *loader, p *plan, stats []columnStats, few map[int]*fewValues) error {
	f.dates = l.dates
	job := f.job("measure", p.wants)
	for c := range few {
		job.Few = append(job.Few, c)
	}
	var words []int
	for c, w := range p.wants {
		if w&(number|count) != 0 && l.dict(c) != nil {
			words = append(words, c)
		}
	}
	job.Words = wordsOf(l, words, false)
	answers, err := f.pieces.Map(ctx, encodeJob(job), 0, f.of.N)
	if err != nil {
		return err
	}
	for _, a := range answers {
		var m pieceMeasure
		if err := transit.Decode(a, &m); err != nil {
			return err
		}
		for c := range m.Stats {
			s := m.Stats[c].stats()
			stats[c].merge(&s)
		}
		for c, values := range m.Few {
			few[c].add(values, 1, len(values))
		}
		for c, w := range m.Words {
			d := l.dict(c)
			for _, text := range w.Texts {
				d.learn(text)
			}
			if w.Full {
				d.full.Store(true)
			}
			if w.Unseen {
				d.unseen.Store(true)
			}
		}
	}
	return nil
}

// placed names the file and the line of an error about a row of the table.
func (f *pieceFile) placed(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Row <= 0 || e.Row > f.rows() {
		return err
	}
	i := sort.Search(len(f.path), func(i int) bool { return f.first[i+1] >= e.Row })
	if f.path[i] == "" {
		return err
	}
	own := *e
	own.File = f.path[i]
	first := i
	for first > 0 && f.path[first-1] == f.path[i] {
		first--
	}
	own.Row -= f.first[first]
	return &own
}

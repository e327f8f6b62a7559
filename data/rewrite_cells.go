package data

import (
	"context"
	"io"
	"strings"
)

// cellCopy writes a table in another format than it has, cell by cell.
type cellCopy struct {
	ctx   context.Context
	l     *loader
	src   *stream // with all cells as text
	out   *Out
	lead  bool
	kinds []Kind // of the columns of the file
	of    []int  // column of the file -> feature; -1 for none

	number int64
	r      Reader
	b      Block
	at     int       // the next row of b
	texts  []string  // of the row that is written
	values []float64 // of its features
}

// newCellCopy settles what the columns become. In formats with types, features that are numbers stay so; the others are text. NPY holds
// nothing but numbers, so that all cells must be numbers by their type there.
func newCellCopy(ctx context.Context, w io.Writer, format string, l *loader, lead string) (*cellCopy, error) {
	c := &cellCopy{ctx: ctx, l: l, src: l.newStream(true), lead: lead != "", of: make([]int, len(l.cols.names))}
	var cols []OutColumn
	if c.lead {
		cols = append(cols, OutColumn{Name: lead})
	}
	for j := range c.of {
		c.of[j] = -1
	}
	for i, j := range l.features {
		c.of[j] = i
	}
	for j, name := range l.cols.names {
		kind := Text
		switch feature := c.of[j]; {
		case format == "csv" || format == "tsv", l.isDate(j) && format != "npy":
		case feature >= 0 && l.levelsOf(feature) == nil, format == "npy" && l.isNumeric(j) && (feature < 0 || numeric(l.levelsOf(feature))):
			kind = Float
		}
		c.kinds = append(c.kinds, kind)
		cols = append(cols, OutColumn{Name: name, Kind: kind})
	}
	var err error
	c.out, err = Create(w, format, cols)
	return c, err
}

// numeric reports whether all names are numbers.
func numeric(names []string) bool {
	for _, n := range names {
		if !isNumber(n, '.') {
			return false
		}
	}
	return true
}

func (c *cellCopy) next(lead int64) (err error) {
	c.number, c.at, c.b = lead, 0, Block{}
	c.r, err = c.src.Open(c.ctx)
	return err
}

// advance has the next row at c.at of c.b; false at the end.
func (c *cellCopy) advance() (bool, error) {
	if c.at < c.b.N {
		return true, nil
	}
	c.at = 0
	err := c.r.Read(&c.b, 1024)
	if err == io.EOF {
		return false, nil
	}
	return err == nil, err
}

func (c *cellCopy) fill(i int64, cells []NewCell) (filled int, err error) {
	for {
		more, err := c.advance()
		if err != nil {
			return 0, err
		}
		if !more {
			return 0, fileError(c.l.file.name, "the file was changed while it was read")
		}
		if c.b.Number(c.at)-1 == i {
			break
		}
		if err := c.write(nil, nil); err != nil {
			return 0, err
		}
	}
	return filled, c.write(cells, &filled)
}

// write writes the next row, with new values in missing cells, which it counts.
func (c *cellCopy) write(cells []NewCell, filled *int) error {
	d, i := len(c.kinds), c.at
	c.at++
	c.texts = append(c.texts[:0], c.b.Cells[i*d:(i+1)*d]...)
	c.values = c.values[:0]
	for f := range c.b.D {
		c.values = append(c.values, c.b.At(i, f))
	}
	for _, n := range cells {
		j := c.l.features[n.Column]
		if c.l.isMissing(j, strings.Trim(c.texts[j], " \t\r\n")) {
			c.texts[j] = string(c.l.appendValue(nil, n.Column, n.Value))
			c.values[n.Column] = n.Value
			*filled++
		}
	}
	if c.lead {
		c.out.Int(c.number)
	}
	for j, kind := range c.kinds {
		switch f := c.of[j]; {
		case kind == Text:
			c.out.Text(c.texts[j])
		case f >= 0 && c.l.levelsOf(f) == nil:
			c.out.Float(c.values[f])
		default: // a number by its type, or the name of a level that is one
			v, _, _ := classify([]byte(c.texts[j]), '.', nil)
			c.out.Float(v)
		}
	}
	return c.out.End()
}

func (c *cellCopy) end() error {
	for {
		more, err := c.advance()
		if err == nil && more {
			err = c.write(nil, nil)
		}
		if err != nil || !more {
			c.release()
			return err
		}
	}
}

func (c *cellCopy) close() error { return c.out.Close() }

func (c *cellCopy) release() {
	if c.r != nil {
		c.r.Close() // the file was only read
	}
	c.r = nil
}

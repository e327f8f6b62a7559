package data

import (
	"context"
	"fmt"
	"math"
)

// CellError is a cell that a change of scale has no place for.
type CellError struct {
	Row    int64 // as the source numbers it, from 1; 0 for a row that has no number
	Column string
	Cell   string // the value, as it is told
	Reason string // what is wrong with it
}

// Error names row, column and value, and says what is wrong.
func (e *CellError) Error() string {
	if e.Row == 0 {
		return fmt.Sprintf("column %q: %s %s", e.Column, e.Cell, e.Reason)
	}
	return fmt.Sprintf("row %d, column %q: %s %s", e.Row, e.Column, e.Cell, e.Reason)
}

// Columns returns the names of the columns before the changes.
func (c *Changes) Columns() []string { return c.columns }

// Names returns the names of the columns after the changes, each once: "log price", and "x of lat,lon", "y of lat,lon" and "z of
// lat,lon" in the place of the first of the two.
func (c *Changes) Names() []string { return c.names }

// List returns the changes, with the origins of dates.
func (c *Changes) List() []Change { return c.list }

// From returns for each column after the changes the one before that it is made of, the latitude for a place.
func (c *Changes) From() []int {
	from := make([]int, 0, len(c.names))
	for _, s := range c.steps {
		from = append(from, s.at)
		if s.kind == "geo" {
			from = append(from, s.at, s.at)
		}
	}
	return from
}

// Kinds returns for each column before the changes the kind of its change, date for all dates, "" for none.
func (c *Changes) Kinds() []string {
	kinds := make([]string, len(c.columns))
	for _, s := range c.steps {
		if kinds[s.at] = s.kind; s.kind == "geo" {
			kinds[s.other] = s.kind
		}
	}
	return kinds
}

// Row sets dst, a number for each of Names, to the row x, a number for each of Columns, on the new scales. What is missing, NaN, stays
// so. A number that a scale does not take is a *CellError.
func (c *Changes) Row(dst, x []float64) error {
	for _, s := range c.steps {
		v := x[s.at]
		switch {
		case s.kind == "geo":
			if err := c.place(dst[s.to:s.to+geoWidth], &s, v, x[s.other]); err != nil {
				return err
			}
		case s.kind == "date":
			dst[s.to] = v - s.origin
		case s.curve == nil || v != v:
			dst[s.to] = v
		case !s.curve.takes(v):
			return &CellError{Column: c.columns[s.at], Cell: floatText(v, 64), Reason: s.curve.refuses}
		default:
			dst[s.to] = s.curve.to(v)
		}
	}
	return nil
}

// place sets dst to the point of the unit sphere at a latitude and a longitude in degrees.
func (c *Changes) place(dst []float64, s *step, lat, lon float64) error {
	refuse := func(at int, v float64, reason string) error {
		return &CellError{Column: c.columns[at], Cell: floatText(v, 64), Reason: reason}
	}
	switch {
	case lat != lat && lon != lon:
		dst[0], dst[1], dst[2] = math.NaN(), math.NaN(), math.NaN()
		return nil
	case lat != lat:
		return refuse(s.other, lon, fmt.Sprintf("is a longitude without a latitude in column %q: a place needs both, or neither", c.columns[s.at]))
	case lon != lon:
		return refuse(s.at, lat, fmt.Sprintf("is a latitude without a longitude in column %q: a place needs both, or neither", c.columns[s.other]))
	case lat < -90 || lat > 90:
		return refuse(s.at, lat, "is no latitude: those go from -90 to 90 degrees")
	case lon < -180 || lon > 360:
		return refuse(s.other, lon, "is no longitude: those go from -180 to 360 degrees")
	}
	sinLat, cosLat := math.Sincos(lat * (math.Pi / 180))
	sinLon, cosLon := math.Sincos(lon * (math.Pi / 180))
	dst[0], dst[1], dst[2] = cosLat*cosLon, cosLat*sinLon, sinLat
	return nil
}

// Back sets x, a number for each of Columns, to what the row y, a number for each of Names, is in the units before the changes: of
// three coordinates the latitude and the longitude of their direction, in degrees from -180 to 180.
func (c *Changes) Back(x, y []float64) {
	for _, s := range c.steps {
		v := y[s.to]
		switch {
		case s.kind == "geo":
			east, north := y[s.to+1], y[s.to+2]
			x[s.at] = math.Atan2(north, math.Hypot(v, east)) * (180 / math.Pi)
			x[s.other] = math.Atan2(east, v) * (180 / math.Pi)
		case s.kind == "date":
			x[s.at] = v + s.origin
		case s.curve == nil:
			x[s.at] = v
		default:
			x[s.at] = s.curve.back(v)
		}
	}
}

// Told returns Back of y, in memory of its own.
func (c *Changes) Told(y []float64) []float64 {
	x := make([]float64, len(c.columns))
	c.Back(x, y)
	return x
}

// LogSlope returns what is added to a log density of the row x on the new scales to make it one in the units before them: the sum of
// the logarithms of the slopes of the scales at x. Cells that are missing, days, and places add nothing: a density of places is that
// of the three coordinates.
func (c *Changes) LogSlope(x []float64) (sum float64) {
	for _, s := range c.steps {
		if v := x[s.at]; s.curve != nil && v == v {
			sum += s.curve.logSlope(v)
		}
	}
	return sum
}

// Before returns for each column before the changes the first of those after that are made of it.
func (c *Changes) Before() []int {
	at := make([]int, len(c.columns))
	for _, s := range c.steps {
		if at[s.at] = s.to; s.kind == "geo" {
			at[s.other] = s.to
		}
	}
	return at
}

// Spread returns how a small difference on the new scales is told in the units of column j before them, at the row y on the new
// scales: the derivative of Back. It is NaN for a latitude or a longitude, which hang on three numbers.
func (c *Changes) Spread(j int, y []float64) float64 {
	for _, s := range c.steps {
		switch {
		case s.kind == "geo" && (s.at == j || s.other == j):
			return math.NaN()
		case s.at == j && s.curve != nil:
			return math.Exp(-s.curve.logSlope(s.curve.back(y[s.to])))
		}
	}
	return 1
}

// Rows returns src, whose columns are Columns, on the new scales, in float64, with Block.Slope. A cell that a scale does not take ends the pass that
// comes to it, with a *CellError that names the row.
func (c *Changes) Rows(src Source) Source { return Viewed(src, changesView{c.list, c.columns, c}) }

// changesView is the view of Changes.
type changesView struct {
	List    []Change
	Columns []string
	bound   *Changes // nil where it was sent
}

// Rows implements View.
func (v changesView) Rows(src Source) Source {
	c := v.bound
	if c == nil {
		var err error
		if c, err = Bind(v.List, v.Columns); err != nil {
			return &broken{src, err}
		}
	}
	return c.rows(src)
}

// broken is a source that cannot be read.
type broken struct {
	Source
	err error
}

// Open implements Source.
func (b *broken) Open(context.Context) (Reader, error) { return nil, b.err }

func (c *Changes) rows(src Source) Source {
	d := len(c.columns)
	return &mapped{src, len(c.names), func(n int) bool { return n == d }, func(dst []float64, b *Block) error {
		x := make([]float64, d)
		b.Slope = resized(b.Slope, b.N)
		for i := range b.N {
			for j := range x {
				x[j] = b.At(i, j)
			}
			if err := c.Row(dst[i*len(c.names):(i+1)*len(c.names)], x); err != nil {
				if cell, ok := err.(*CellError); ok {
					cell.Row = b.Number(i)
				}
				return err
			}
			b.Slope[i] = c.LogSlope(x)
		}
		return nil
	}}
}

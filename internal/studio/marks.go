package studio

import (
	"context"
	"encoding/binary"
	"math"
	"net/http"
	"strconv"

	"github.com/latent-go/latent/data"
)

const (
	maxMarks = 100_000 // rows that are marks of their own; of more, cells are
	across   = 320     // cells of the grid
	up       = 240
)

// layout is how the rows of a table are marks.
type layout struct {
	Rows    int64
	Cells   bool      // marks are cells with a mass
	Per     int       // numbers a mark: places, and the mass of a cell
	Marks   []float32 // Per each
	Missing int64     // rows that are in no cell, because they have no place

	// CellOf is the number of the mark that each row belongs to, from 0, and -1 for none; nil where marks are rows.
	CellOf []int32
}

// serveMarks answers the rows of a table as marks.
func (s *Studio) serveMarks(w http.ResponseWriter, r *http.Request, f *file) {
	q := r.URL.Query()
	l, err := s.layout(r.Context(), f, q.Get("x"), q.Get("y"), false)
	if err != nil {
		fail(w, http.StatusUnprocessableEntity, "%s", f.plain(err))
		return
	}
	h := w.Header()
	h.Set("Latent-Marks", map[bool]string{true: "cells", false: "rows"}[l.Cells])
	h.Set("Latent-Rows", strconv.FormatInt(l.Rows, 10))
	h.Set("Latent-Missing", strconv.FormatInt(l.Missing, 10))
	sendFloats(w, l.Marks)
}

// sendFloats answers with numbers, little-endian.
func sendFloats(w http.ResponseWriter, v []float32) {
	b := make([]byte, 4*len(v))
	for i, x := range v {
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(x))
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.Write(b) // an error means that nobody listens any more
}

// layout lays the rows of a table out by one or two axes, the second "" for one. CellOf is set where cellOf says so.
func (s *Studio) layout(ctx context.Context, f *file, x, y string, cellOf bool) (*layout, error) {
	names := []string{x}
	if y != "" {
		names = append(names, y)
	}
	src, axes, err := s.axes(ctx, f, names)
	if err != nil {
		return nil, err
	}
	defer closeSource(src)
	rows, _ := src.Shape()
	if rows < 0 {
		rows = f.looked.Rows
	}
	if rows > maxMarks {
		return gridded(ctx, src, rows, axes, cellOf)
	}
	l := &layout{Per: len(axes)}
	err = data.EachBlock(ctx, src, func(b *data.Block) error {
		for i := range b.N {
			for j := range axes {
				l.Marks = append(l.Marks, float32(axes[j].at(b, i)))
			}
		}
		l.Rows += int64(b.N)
		return nil
	})
	return l, err
}

// gridded lays many rows out as the cells of a grid that hold any. The place of a cell is the mean of its rows.
func gridded(ctx context.Context, src data.Source, rows int64, axes []axis, cellOf bool) (*layout, error) {
	g := newGrid(axes)
	if err := data.EachBlock(ctx, src, g.widen); err != nil {
		return nil, err
	}
	g.ready()
	l := &layout{Cells: true, Per: len(axes) + 1}
	if cellOf {
		l.CellOf = make([]int32, 0, rows)
	}
	err := data.EachBlock(ctx, src, func(b *data.Block) error {
		for i := range b.N {
			c := g.add(b, i)
			if cellOf {
				l.CellOf = append(l.CellOf, c)
			}
			if c < 0 {
				l.Missing++
			}
		}
		l.Rows += int64(b.N)
		return nil
	})
	if err != nil {
		return nil, err
	}
	mark := g.marks(l)
	for i, c := range l.CellOf {
		if c >= 0 {
			l.CellOf[i] = mark[c]
		}
	}
	return l, nil
}

// grid counts rows by cell.
type grid struct {
	axes   []axis
	size   []int // cells along each axis
	lo, hi []float64
	per    []float64   // cells a unit
	mass   []float64   // by cell
	sum    [][]float64 // by axis and cell: of the places less lo
	place  []float64   // of the row at hand
}

func newGrid(axes []axis) *grid {
	g := &grid{axes: axes, size: []int{across, up}[:len(axes)], place: make([]float64, len(axes))}
	for range axes {
		g.lo, g.hi = append(g.lo, math.Inf(1)), append(g.hi, math.Inf(-1))
	}
	return g
}

// widen makes room for the rows of a block.
func (g *grid) widen(b *data.Block) error {
	for j := range g.axes {
		a, lo, hi := &g.axes[j], g.lo[j], g.hi[j]
		for i := range b.N {
			v := a.at(b, i)
			if v < lo {
				lo = v
			}
			if v > hi {
				hi = v
			}
		}
		g.lo[j], g.hi[j] = lo, hi
	}
	return nil
}

// ready makes the cells of the room there is.
func (g *grid) ready() {
	n := 1
	for j, size := range g.size {
		n *= size
		per := float64(size) / (g.hi[j] - g.lo[j])
		if !(per > 0) || math.IsInf(per, 1) {
			per = 0 // all in one place
		}
		g.per = append(g.per, per)
	}
	g.mass = make([]float64, n)
	for range g.axes {
		g.sum = append(g.sum, make([]float64, n))
	}
}

// add counts a row and returns its cell; -1 where it has no place.
func (g *grid) add(b *data.Block, i int) int32 {
	c := 0
	for j := len(g.axes) - 1; j >= 0; j-- {
		v := g.axes[j].at(b, i) - g.lo[j]
		if v != v {
			return -1
		}
		g.place[j] = v
		c = c*g.size[j] + min(int(v*g.per[j]), g.size[j]-1)
	}
	g.mass[c]++
	for j, v := range g.place {
		g.sum[j][c] += v
	}
	return int32(c)
}

// marks sets the marks of a layout to the cells that hold rows, and returns the number of the mark of each cell.
func (g *grid) marks(l *layout) []int32 {
	mark := make([]int32, len(g.mass))
	for c, mass := range g.mass {
		if mass == 0 {
			continue
		}
		mark[c] = int32(len(l.Marks) / l.Per)
		for j := range g.axes {
			l.Marks = append(l.Marks, float32(g.lo[j]+g.sum[j][c]/mass))
		}
		l.Marks = append(l.Marks, float32(mass))
	}
	return mark
}

package studio

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/pca"
	"github.com/latent-go/latent/internal/sweep"
)

const (
	maxMarks = 100_000 // rows that are marks of their own; of more, cells are
	across   = 320     // cells of the grid
	up       = 240
	// maxHeld is how many bytes of features stay in memory for marks, of all tables that are open together; of larger tables
	// every picture reads the file again.
	maxHeld = 512 << 20
)

// An axis is what rows are laid out by: a feature, or a direction in the space of them.
type axis struct {
	Column int       // of the features, from 0; -1 for a direction
	Mean   []float64 // of the features, in the rows that lack none
	Dir    []float64 // of length 1
}

// at returns the place of row i of a block.
func (a *axis) at(b *data.Block, i int) float64 {
	if a.Column >= 0 {
		return b.At(i, a.Column)
	}
	sum := 0.0
	for j, v := range a.Dir {
		sum += v * (b.At(i, j) - a.Mean[j])
	}
	return sum
}

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

// axes returns what the named axes are over the source that is returned with them, which is to be closed.
func (s *Studio) axes(ctx context.Context, f *file, names []string) (data.Source, []axis, error) {
	features, _ := f.features()
	for _, name := range names {
		if !slices.Contains(features, name) && (component(name) == 0 || len(features) == 0) {
			return f.other(ctx, names)
		}
	}
	src, err := s.features(ctx, f)
	if err != nil {
		return nil, nil, err
	}
	var axes []axis
	for _, name := range names {
		a := axis{Column: slices.Index(features, name)}
		if a.Column < 0 {
			if a, err = f.rows.principal(ctx, src, component(name)); err != nil {
				closeSource(src)
				return nil, nil, fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		axes = append(axes, a)
	}
	return src, axes, nil
}

// component returns the number of a principal component by its name; 0 for another name.
func component(name string) int {
	switch name {
	case "pc1":
		return 1
	case "pc2":
		return 2
	}
	return 0
}

// other returns axes one of which is a column that is no feature by itself, such as one that was chosen by hand.
func (f *file) other(ctx context.Context, names []string) (data.Source, []axis, error) {
	var columns []string
	var axes []axis
	for _, name := range names {
		switch there := slices.ContainsFunc(f.looked.Columns, func(c lookedCol) bool { return c.Name == name }); {
		case !there && component(name) > 0:
			return nil, nil, fmt.Errorf("%s: principal components are shown beside columns that are fitted only", f.Name)
		case !there:
			return nil, nil, fmt.Errorf("%s: there is no column %q", f.Name, name)
		}
		at := slices.Index(columns, name)
		if at < 0 {
			at, columns = len(columns), append(columns, name)
		}
		axes = append(axes, axis{Column: at})
	}
	o := f.options()
	o.Exact, o.ExactTypes = columns, nil
	src, _, err := data.Load(ctx, f.Path, o)
	return src, axes, err
}

// options are those by which a fit reads the features that check named.
func (f *file) options() data.Options {
	names, types := f.features()
	o := data.Options{Mixed: true, Exact: names, Missing: "model", CanModel: true, AllowEmpty: true}
	for _, name := range types {
		t, err := data.ParseType(name)
		if err != nil {
			t = data.Number
		}
		o.ExactTypes = append(o.ExactTypes, t)
	}
	return o
}

// kept is a table that was read for its marks, and what was found out about it.
type kept struct {
	mu    sync.Mutex
	table *data.Table // nil where it was not read, or is too large
	bytes int64       // it counts for in Studio.held
	axes  []axis      // principal components
	laid  *laying     // the last layout with its CellOf, made or under way; nil for none
}

// laying is a layout that requests share. Nobody writes to it once it is made.
type laying struct {
	x, y  string
	bytes int64         // it counts for in Studio.held; under kept.mu
	made  chan struct{} // closed when the two below are set
	of    *layout
	err   error

	stop    context.CancelFunc
	waiting atomic.Int64 // requests; more come only while it is the last one
	passed  atomic.Bool  // it is no longer the last one
}

// idle stops a layout that is of no use to anybody: it is not the last one, and no request waits for it.
func (c *laying) idle() {
	if c.passed.Load() && c.waiting.Load() == 0 {
		c.stop()
	}
}

// laid returns the layout of a table of many rows with its CellOf. The last one is kept: the frames of a climb are all on the same axes. Which request
// began it does not matter: it goes on when that one is gone, unless others are asked for.
func (s *Studio) laid(ctx context.Context, f *file, x, y string) (*layout, error) {
	k := &f.rows
	k.mu.Lock()
	c := k.laid
	if c == nil || c.x != x || c.y != y {
		s.unlay(k)
		own, stop := context.WithCancel(s.ctx)
		c = &laying{x: x, y: y, made: make(chan struct{}), stop: stop}
		k.laid = c
		go s.lay(own, f, c)
	}
	c.waiting.Add(1)
	k.mu.Unlock()
	defer func() {
		c.waiting.Add(-1)
		c.idle()
	}()
	select {
	case <-c.made:
		return c.of, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// lay makes a layout, and keeps it where there is room.
func (s *Studio) lay(ctx context.Context, f *file, c *laying) {
	defer c.stop()
	defer close(c.made)
	c.of, c.err = s.layout(ctx, f, c.x, c.y, true)
	f.rows.mu.Lock()
	defer f.rows.mu.Unlock()
	switch {
	case f.rows.laid != c:
		return
	case c.err == nil:
		c.bytes = 4 * int64(len(c.of.CellOf))
	}
	if s.held.Add(c.bytes) > maxHeld || c.err != nil {
		s.unlay(&f.rows)
	}
}

// unlay lets go of the last layout of a table. k.mu is held.
func (s *Studio) unlay(k *kept) {
	c := k.laid
	if c == nil {
		return
	}
	k.laid = nil
	s.held.Add(-c.bytes)
	c.passed.Store(true)
	c.idle()
}

// features returns the rows of the features of a table: in memory where they fit.
func (s *Studio) features(ctx context.Context, f *file) (data.Source, error) {
	f.rows.mu.Lock()
	defer f.rows.mu.Unlock()
	if f.rows.table != nil {
		return f.rows.table, nil
	}
	o := f.options()
	need := 8 * f.looked.Rows * int64(len(o.Exact))
	hold := s.held.Add(need) <= maxHeld
	if !hold {
		s.held.Add(-need)
	}
	o.Stream = !hold
	src, _, err := data.Load(ctx, f.Path, o)
	table, ok := src.(*data.Table)
	if hold && (err != nil || !ok) {
		s.held.Add(-need)
	}
	if err != nil {
		return nil, err
	}
	if hold && ok {
		f.rows.table, f.rows.bytes = table, need
	}
	return src, nil
}

// drop lets go of the rows of a table that is no longer open.
func (s *Studio) drop(f *file) {
	f.rows.mu.Lock()
	defer f.rows.mu.Unlock()
	s.held.Add(-f.rows.bytes)
	f.rows.table, f.rows.bytes = nil, 0
	s.unlay(&f.rows)
}

// principal returns principal component n of a table, from 1.
func (k *kept) principal(ctx context.Context, src data.Source, n int) (axis, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.axes == nil {
		whole, err := data.Checked(wholeRows{src})
		if err != nil {
			return axis{}, err
		}
		look, err := sweep.Look(ctx, whole, 0)
		if err != nil {
			return axis{}, err
		}
		_, d := src.Shape()
		var c *pca.Components
		var rank *pca.RankError
		if c, err = pca.Find(ctx, whole, look, min(2, d), 0); errors.As(err, &rank) {
			if rank.Rank == 0 {
				return axis{}, errors.New("the rows are all in one place: there are no principal components")
			}
			c, err = pca.Find(ctx, whole, look, rank.Rank, 0)
		}
		if err != nil {
			return axis{}, err
		}
		for _, dir := range c.Axes {
			k.axes = append(k.axes, axis{-1, c.Mean, dir})
		}
	}
	if n > len(k.axes) {
		return axis{}, errors.New("the rows vary along one line only: there is no second principal component")
	}
	return k.axes[n-1], nil
}

// wholeRows are the rows of a source that lack no cell.
type wholeRows struct{ data.Source }

// Shape implements data.Source.
func (s wholeRows) Shape() (int64, int) {
	_, d := s.Source.Shape()
	return -1, d
}

// Open implements data.Source.
func (s wholeRows) Open(ctx context.Context) (data.Reader, error) {
	r, err := s.Source.Open(ctx)
	return &wholeReader{Reader: r}, err
}

// wholeReader leaves rows with gaps out.
type wholeReader struct {
	data.Reader
	from  data.Block
	cells []float64
	first int64
}

// Read implements data.Reader.
func (r *wholeReader) Read(b *data.Block, n int) error {
	for {
		if err := r.Reader.Read(&r.from, n); err != nil {
			return err
		}
		d := r.from.D
		r.cells = r.cells[:0]
	rows:
		for i := range r.from.N {
			for j := range d {
				v := r.from.At(i, j)
				if v != v {
					r.cells = r.cells[:len(r.cells)/d*d]
					continue rows
				}
				r.cells = append(r.cells, v)
			}
		}
		if len(r.cells) == 0 {
			continue
		}
		*b = data.Block{N: len(r.cells) / d, D: d, F64: append([]float64(nil), r.cells...), First: r.first}
		r.first += int64(b.N)
		return nil
	}
}

// closeSource closes a source that has something to close.
func closeSource(src data.Source) {
	if c, ok := src.(io.Closer); ok {
		c.Close()
	}
}

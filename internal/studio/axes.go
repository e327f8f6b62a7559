package studio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/pca"
	"github.com/latent-go/latent/internal/sweep"
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

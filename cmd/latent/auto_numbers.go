package main

import (
	"context"
	"io"
	"slices"
	"strconv"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
)

// wantsNumbers returns an option that is for columns of numbers, "" where there is none, and whether it is for numbers alone.
func wantsNumbers(spec *latent.Spec) (flag string, alone bool) {
	switch {
	case spec.PCA > 0:
		return "--pca", true
	case spec.Init == "whitened":
		return "--init whitened", true
	case spec.Covariance != "":
		return "--covariance", false
	case spec.RegCovar != 0:
		return "--reg-covar", false
	case spec.Scale != "" && spec.Scale != "none":
		return "--scale", false
	}
	return "", false
}

// noNumbers refuses an option for numbers where the columns hold other things, and says what to do.
func noNumbers(flag string, alone bool, info *data.Info) error {
	others := holding(info, func(t data.Type) bool { return t != data.Number })
	if alone && len(others) < len(info.Features) {
		return usagef("%s is for numbers alone, but %s %s numbers; leave it out, or fit the numbers alone with --model %s", flag, text.List(firstOf(others, 5), "and"),
			text.Form(len(others), "holds no", "hold no"), kind.Gaussian.Name)
	}
	return usagef("%s is for numbers, but no column of %s is read as such; leave it out, or say with --types which columns hold numbers", flag, info.Name)
}

// takeNumbers takes categories for numbers whose levels are such, as an option wants it: all of them where it is for numbers alone and no others
// remain, or where there would be no number else. Types that were given stay.
func (r *reading) takeNumbers(in *input, alone bool) {
	info := in.info
	values, found := make([][]float64, len(info.Types)), 0
	for j, name := range info.Features {
		if info.Types[j] == data.Category && !r.given(name) && !isText(info, name) {
			if values[j] = numbersOf(info.Levels[j]); values[j] != nil {
				found++
			}
		}
	}
	numbers := len(holding(info, func(t data.Type) bool { return t == data.Number }))
	if found == 0 || alone && numbers+found < len(info.Types) || !alone && numbers > 0 {
		return
	}
	for j, v := range values {
		if v != nil {
			info.Types[j], info.Levels[j] = data.Number, nil
			at := slices.IndexFunc(info.Columns, func(c data.Column) bool { return c.Name == info.Features[j] })
			info.Columns[at].Type = data.Number.String()
		}
	}
	in.src = numbered(in.src, values)
}

// isText reports whether most cells of a column are text.
func isText(info *data.Info, name string) bool {
	return slices.ContainsFunc(info.Columns, func(c data.Column) bool { return c.Name == name && c.Kind == "text" })
}

// numbersOf returns the numbers that levels are; nil where one is none.
func numbersOf(levels []string) []float64 {
	values := make([]float64, len(levels))
	for i, s := range levels {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || v-v != 0 {
			return nil
		}
		values[i] = v
	}
	return values
}

// numbered returns the rows of src with the numbers of values in place of their indexes, in columns where values are not nil. A table is
// changed.
func numbered(src data.Source, values [][]float64) data.Source {
	if t, ok := src.(*data.Table); ok {
		fill(t.F64, values)
		fill(t.F32, values)
		return t
	}
	return &toldSource{src, values}
}

// fill puts the numbers of values in place of their indexes in rows of cells. A missing cell stays.
func fill[T float32 | float64](cells []T, values [][]float64) {
	d := len(values)
	for j, of := range values {
		if of == nil {
			continue
		}
		for at := j; at < len(cells); at += d {
			if v := cells[at]; v == v {
				cells[at] = T(of[int(v)])
			}
		}
	}
}

// toldSource is a source that is read in every pass, with numbers in place of indexes.
type toldSource struct {
	data.Source
	values [][]float64
}

// Open implements data.Source.
func (s *toldSource) Open(ctx context.Context) (data.Reader, error) {
	r, err := s.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &toldReader{Reader: r, values: s.values}, nil
}

// Close lets go of the file.
func (s *toldSource) Close() error {
	if c, ok := s.Source.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

type toldReader struct {
	data.Reader
	values [][]float64
	own    data.Block // of the reader, whose memory is not to be changed
}

// Read implements data.Reader.
func (r *toldReader) Read(b *data.Block, n int) error {
	f64, f32 := b.F64[:0], b.F32[:0]
	err := r.Reader.Read(&r.own, n)
	*b = r.own
	if b.F64 = nil; r.own.F64 != nil {
		b.F64 = append(f64, r.own.F64...)
	}
	if b.F32 = nil; r.own.F32 != nil {
		b.F32 = append(f32, r.own.F32...)
	}
	fill(b.F64, r.values)
	fill(b.F32, r.values)
	return err
}

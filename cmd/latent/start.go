package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// files returns the file that --init reads, if any.
func (s *specFlags) files() []string {
	if kind, name, _ := strings.Cut(s.init, ":"); kind == "model" || kind == "centers" {
		return []string{name}
	}
	return nil
}

// start settles what --init names, and reads the model among that, before it is known how the columns are read.
func (s *specFlags) start(spec *latent.Spec) (err error) {
	kind, name, given := strings.Cut(s.init, ":")
	switch kind {
	case "labels", "model", "centers":
		if name == "" {
			return usagef("--init %s needs a name: labels:COLUMN, model:FILE or centers:FILE", kind)
		}
	default:
		if given {
			return usagef("--init %q is not known; choose one of auto, k-means++, random, kmeans, whitened, small-em, mixed, labels:COLUMN, model:FILE, centers:FILE", s.init)
		}
		return nil
	}
	switch { // before any file is read for a start
	case spec.K == 0 && spec.Penalty == nil:
		return usagef("-k is needed: --init %s gives one start, for one number of groups, such as -k 3", kind)
	case (&latent.Spec{K: 1, Covariance: spec.Covariance}).Chooses():
		return usagef("--covariance names several shapes, but --init %s gives one start, for one of them", kind)
	}
	if spec.Init = kind; kind == "model" {
		spec.Given, err = model.Load(name)
	}
	return err
}

// labelColumn returns the column that --init labels: names, if any.
func (s *specFlags) labelColumn() string {
	if kind, name, _ := strings.Cut(s.init, ":"); kind == "labels" {
		return name
	}
	return ""
}

// startRows reads what a start takes from rows: a file of centres, or a column of labels, which then is not fitted.
func (s *specFlags) startRows(ctx context.Context, spec *latent.Spec, path string, o *data.Options) error {
	switch kind, name, _ := strings.Cut(s.init, ":"); kind {
	case "centers":
		return s.centers(ctx, spec, name, *o)
	case "labels":
		o.Exclude = append(slices.Clone(o.Exclude), name) // what the start is made of is not fitted
		return s.labels(ctx, spec, name, path, *o)
	}
	return nil
}

// centers looks at the file of starting centres before the data are read, so that one that cannot be read costs no time.
// arrange brings its columns into the order of the data's. Centres of levels can only be read by the levels of the data.
func (s *specFlags) centers(ctx context.Context, spec *latent.Spec, name string, o data.Options) error {
	spec.Centers = [][]float64{}
	if o.Categories || o.Mixed {
		_, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s: there is no such file", name)
		}
		return err
	}
	src, _, err := data.Load(ctx, name, centerOptions(o))
	if err != nil {
		return err
	}
	spec.Centers = rowsOf(src.(*data.Table))
	return nil
}

// centerOptions says how centres are read: like the data as far as the file's language goes.
func centerOptions(o data.Options) data.Options {
	return data.Options{Delimiter: o.Delimiter, Decimal: o.Decimal, Threads: o.Threads, Dates: o.Dates}
}

// arrange reads the centres of --init centers: again, in the order of the data's columns, which info tells: by name where
// the file has a header, by position where not. Categories are those of the data, so that a centre is told as a row is.
func (s *specFlags) arrange(ctx context.Context, spec *latent.Spec, info *data.Info, o data.Options) error {
	kind, name, _ := strings.Cut(s.init, ":")
	if kind != "centers" {
		return nil
	}
	co := centerOptions(o)
	co.Exact = info.Features
	if slices.ContainsFunc(spec.Levels, func(names []string) bool { return names != nil }) {
		t, err := levelCenters(ctx, name, co, info)
		if err == nil {
			spec.Centers = rowsOf(t)
		}
		return err
	}
	src, found, err := data.Load(ctx, name, co)
	if err != nil {
		return err
	}
	if err := onlyOf(name, found, info.Features); err != nil {
		return err
	}
	spec.Centers = rowsOf(src.(*data.Table))
	return nil
}

// onlyOf refuses a file of centres with columns that are not fitted. Columns without names are met by position.
func onlyOf(name string, found *data.Info, features []string) error {
	if !found.Header || !slices.ContainsFunc(found.Columns, func(c data.Column) bool { return slices.Contains(features, c.Name) }) {
		return nil
	}
	for _, c := range found.Columns {
		if !slices.Contains(features, c.Name) {
			return fmt.Errorf("%s: column %q is not fitted; --init centers: takes the columns %s and no others", name, c.Name, strings.Join(features[:min(len(features), 10)], ", "))
		}
	}
	return nil
}

// levelCenters reads centres whose cells are levels of the data. A row of nothing but texts looks like names: where the
// file cannot be read by its looks, it is read as one without a header.
func levelCenters(ctx context.Context, name string, co data.Options, features *data.Info) (*data.Table, error) {
	co.Levels = features.Levels
	if co.Mixed = features.Types != nil; co.Mixed {
		co.ExactTypes = slices.Clone(features.Types)
		for j, t := range co.ExactTypes {
			if t == data.Count { // a centre need not be a whole number
				co.ExactTypes[j] = data.Number
			}
		}
	}
	co.Categories = !co.Mixed
	headers := []string{"auto", "no"}
	if !features.Header { // what has no names has none to match
		headers = []string{"no", "auto"}
	}
	var first error
	for _, co.Header = range headers {
		src, found, err := data.Load(ctx, name, co)
		if err == nil {
			err = onlyOf(name, found, features.Features)
		}
		if err == nil {
			return src.(*data.Table), nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

func rowsOf(t *data.Table) [][]float64 {
	rows := make([][]float64, t.N)
	for i := range rows {
		rows[i] = make([]float64, t.D)
		for j := range rows[i] {
			rows[i][j] = t.At(i, j)
		}
	}
	return rows
}

// labels reads the column that --init labels: names, through the same choice of rows.
func (s *specFlags) labels(ctx context.Context, spec *latent.Spec, name, path string, o data.Options) error {
	if path == "-" {
		return usagef("--init %s needs the data to be read twice, which standard input cannot; use a file", text.ShellWord("labels:"+name))
	}
	o.Truth = name
	src, _, err := data.Load(ctx, path, o)
	if err != nil {
		return err
	}
	if c, ok := src.(io.Closer); ok {
		defer c.Close()
	}
	reader, err := src.Open(ctx)
	if err != nil {
		return err
	}
	defer reader.Close()
	var words []string
	var b data.Block
	for {
		err := reader.Read(&b, 4096)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		words = append(words, b.Truth...)
	}
	gaps := int64(0)
	for _, w := range words {
		if w == "" {
			gaps++
		}
	}
	if gaps > 0 {
		return fmt.Errorf("%s: column %q has no value in %s; a start by labels needs one in every row", path, name, text.Count(gaps, "row"))
	}
	names := slices.Compact(slices.Sorted(slices.Values(words)))
	if len(names) != spec.K {
		return fmt.Errorf("%s: column %q has %d different labels, but -k is %d", path, name, len(names), spec.K)
	}
	spec.Labels = make([]int32, len(words))
	for i, w := range words {
		at, _ := slices.BinarySearch(names, w)
		spec.Labels[i] = int32(at)
	}
	return nil
}

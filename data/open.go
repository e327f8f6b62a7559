package data

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// opened is a file whose format is known.
type opened struct {
	cells
	name        string // as printed in messages
	format      string // csv, tsv, npy, idx or parquet
	text        *csvFile
	files       []io.Closer // below the cells
	disk        *regular    // nil for what is no regular file
	disks       *partFiles  // of a table in several files; nil for one file
	parts       *parts      // the cells of such a table
	notes       []string    // what is to be said of the files
	held        int64       // bytes in memory that the cells are read from
	more        bool        // Options.Limit ended the reading before the end was seen
	truth       string      // of a built-in set
	notFeatures []string    // of a built-in set: columns that are no measurements
}

// Close closes the cells and the file below them.
func (f *opened) Close() error {
	err := f.cells.Close()
	for _, file := range f.files {
		file.Close() // it was only read, and may be closed already
	}
	return err
}

// after returns the error that reading ended with. A file that was written to in the meantime is an error in any case,
// and the cause of what else may have been found in it.
func (f *opened) after(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case f.disks != nil:
		return cmp.Or(f.disks.changed(), f.locate(err))
	case f.disk != nil:
		return cmp.Or(f.disk.changed(), err)
	}
	return err
}

// isArray reports whether all cells are numbers of one type.
func (f *opened) isArray() bool { return f.format == "npy" || f.format == "idx" }

// named reports whether the columns have names of their own.
func (f *opened) named() bool {
	return f.text == nil && f.format == "parquet" || f.text != nil && f.text.header
}

// StandardInput is what standard input is called in messages and results, where a file has its path.
const StandardInput = "standard input"

// open opens what a path and o.More name and finds out what it holds. What is compressed, or comes only once, is kept in a spool.
func open(ctx context.Context, path string, o Options) (*opened, error) {
	list, err := listFiles(path, o.More)
	if err != nil {
		if e := (*Error)(nil); o.Name != "" && errors.As(err, &e) && e.File == path {
			e.File = o.Name
		}
		return nil, err
	}
	if len(list.paths) > 1 {
		return openParts(ctx, cmp.Or(o.Name, tableName(path, o.More)), list, o)
	}
	f, err := openOne(ctx, list.paths[0], o)
	if err == nil {
		f.notes = append(f.notes, list.notes...)
	}
	return f, err
}

// tableName is what a table in several files is called.
func tableName(path string, more []string) string {
	if len(more) == 0 {
		return path
	}
	return fmt.Sprintf("%s and %d more", path, len(more))
}

// openOne opens a file, "-" or "@name".
func openOne(ctx context.Context, path string, o Options) (*opened, error) {
	name := cmp.Or(o.Name, path)
	switch {
	case path == "-":
		name = cmp.Or(o.Name, StandardInput)
		if o.Stdin == nil {
			return nil, fileError(name, "there is none here")
		}
		return spooled(ctx, o.Stdin, name, o)
	case strings.HasPrefix(path, "@"):
		return openDataset(ctx, path, name, o)
	}
	f, err := openPath(ctx, path, name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() == 0 { // a pipe has no size and cannot be read twice; files of /proc say 0
		defer f.Close()
		return spooled(ctx, f, name, o)
	}
	disk := &regular{f, name, info}
	of, err := openFile(ctx, f, info.Size(), name, o)
	if err != nil {
		err = cmp.Or(disk.changed(), err)
		f.Close()
		return nil, err
	}
	of.files, of.disk = append(of.files, f), disk
	return of, nil
}

// openPath is os.Open that gives up when ctx ends: a named pipe may wait for its writer for ever.
func openPath(ctx context.Context, path, name string) (*os.File, error) {
	type result struct {
		f   *os.File
		err error
	}
	done := make(chan result)
	go func() {
		f, err := os.Open(path)
		select {
		case done <- result{f, err}:
		case <-ctx.Done():
			f.Close() // an error where there is none, which nobody waits for
		}
	}()
	select {
	case d := <-done:
		if d.err != nil {
			return nil, openError(name, d.err)
		}
		return d.f, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// openError says in plain words why a file could not be opened.
func openError(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fileError(name, "there is no such file")
	case errors.Is(err, fs.ErrPermission):
		return fileError(name, "no permission to read it")
	}
	return fileError(name, "%v", errors.Unwrap(err))
}

func openDataset(ctx context.Context, path, name string, o Options) (*opened, error) {
	b, truth, notFeatures, ok := dataset(path[1:])
	if !ok {
		return nil, fileError(name, "there is no built-in set of this name; see latent datasets")
	}
	if o.Format != "" && o.Format != "auto" && o.Format != "csv" {
		return nil, fileError(name, "a built-in set is csv, not %s; leave --format out", o.Format)
	}
	f, err := openText(ctx, bytes.NewReader(b), int64(len(b)), name, o)
	if err != nil {
		return nil, err
	}
	f.truth, f.notFeatures = truth, notFeatures
	return f, nil
}

// openFile opens a regular file.
func openFile(ctx context.Context, f *os.File, size int64, name string, o Options) (*opened, error) {
	start := make([]byte, min(16, size))
	if err := readFull(f, start, 0, name); err != nil {
		return nil, err
	}
	if packed(start) != "" {
		return spooled(ctx, io.NewSectionReader(f, 0, size), name, o)
	}
	return openReader(ctx, f, size, name, o)
}

// openReader opens what can be read at any offset.
func openReader(ctx context.Context, r io.ReaderAt, size int64, name string, o Options) (*opened, error) {
	start := make([]byte, min(16, size))
	if err := readFull(r, start, 0, name); err != nil {
		return nil, err
	}
	format, err := formatOf(start, name, o)
	if err != nil {
		return nil, err
	}
	var c cells
	switch format {
	case "npy":
		c, err = openNPY(r, size, name)
	case "idx":
		c, err = openIDX(r, size, name)
	case "parquet":
		c, err = openParquet(r, size, name)
	default:
		return openText(ctx, r, size, name, o)
	}
	if err != nil {
		return nil, err
	}
	switch f := c.(type) {
	case *arrayFile:
		f.na = newNA(&o)
	case *parquetFile:
		f.na = newNA(&o)
	}
	return &opened{cells: c, name: name, format: format}, nil
}

func openText(ctx context.Context, r io.ReaderAt, size int64, name string, o Options) (*opened, error) {
	f, err := openCSV(ctx, r, size, name, o)
	if err != nil {
		return nil, err
	}
	format := "csv"
	if f.delim == '\t' {
		format = "tsv"
	}
	return &opened{cells: f, name: name, format: format, text: f}, nil
}

// formatOf goes by --format, then by the first bytes.
func formatOf(start []byte, name string, o Options) (string, error) {
	has := func(magic string) bool { return bytes.HasPrefix(start, []byte(magic)) }
	switch o.Format {
	case "csv", "tsv", "npy", "idx", "parquet":
		return o.Format, nil
	case "", "auto":
	default:
		return "", fileError(name, "format %q is not one of csv, tsv, npy, idx, parquet", o.Format)
	}
	switch {
	case has("\x93NUMPY"):
		return "npy", nil
	case has("PAR1"):
		return "parquet", nil
	case len(start) >= 4 && start[0] == 0 && start[1] == 0 && bytes.IndexByte([]byte{8, 9, 11, 12, 13, 14}, start[2]) >= 0 && start[3] > 0:
		return "idx", nil
	case packed(start) != "":
		return "", fileError(name, "what it unpacks to is compressed again, with %s: unpack it once first", packed(start))
	}
	return "csv", nil // or what its reader names as no table
}

// packed names the compression that the first bytes tell of.
func packed(start []byte) string {
	switch {
	case bytes.HasPrefix(start, []byte("\x1F\x8B")):
		return "gzip"
	case bytes.HasPrefix(start, []byte("\x28\xB5\x2F\xFD")):
		return "zstd"
	}
	return ""
}

package spark

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/latent-go/latent/data"
)

// Input is a table that Spark can read: files, a table that it knows, or a query.
type Input struct {
	Paths  []string // files, patterns or folders
	Format string   // csv, tsv, parquet or orc; empty: by the ends of the names
	Table  string
	Query  string
}

// name is what messages call it.
func (in *Input) name() string {
	switch {
	case in.Table != "":
		return "table " + in.Table
	case in.Query != "":
		return "query"
	}
	return strings.Join(in.Paths, ", ")
}

// kind returns what the application is asked to open.
func (in *Input) kind() (kind, what string, err error) {
	switch {
	case in.Table != "":
		return "table", in.Table, nil
	case in.Query != "":
		return "query", in.Query, nil
	case len(in.Paths) == 0:
		return "", "", errors.New("there is no input")
	}
	var paths []string
	for _, p := range in.Paths {
		if p, err = Path(p); err != nil {
			return "", "", err
		}
		paths = append(paths, p)
	}
	format := in.Format
	if format == "" || format == "auto" {
		format = formatOf(paths[0])
	}
	if format == "csv" || format == "tsv" {
		format = "text"
	}
	return format, strings.Join(paths, "\n"), nil
}

// Path returns a path as Spark understands it from wherever it runs: one that is no URL is taken for one of this machine's file system.
func Path(p string) (string, error) {
	if strings.Contains(p, "://") || strings.HasPrefix(p, "file:") {
		return p, nil
	}
	abs, err := filepath.Abs(p)
	return "file:" + abs, err
}

// formatOf goes by the end of a name. What has none that is known is text.
func formatOf(name string) string {
	for _, f := range []string{"parquet", "orc"} {
		if strings.HasSuffix(name, "."+f) || strings.Contains(filepath.Base(name), "."+f+".") {
			return f
		}
	}
	return "csv"
}

// Load starts an application for one table: see App.Load. Closing the rows ends it. It fails where spark-submit is not found, no master answers, or
// the folder of Config.Checkpoint cannot be begun or gone on with, and as App.Load does.
func Load(ctx context.Context, c Config, in Input, o data.Options) (*Rows, *data.Info, error) {
	if err := c.checkCheckpoint(); err != nil {
		return nil, nil, err
	}
	a, err := Start(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	rows, info, err := a.Load(ctx, in, o)
	if err != nil {
		a.Close()
		return nil, nil, err
	}
	rows.owns = true
	return rows, info, nil
}

// open opens a table and says what is known of it.
func (a *App) open(ctx context.Context, in *Input) (of data.PiecesInfo, err error) {
	kind, what, err := in.kind()
	if err != nil {
		return of, err
	}
	opened, err := a.call(ctx, 'O', []byte(kind), []byte(what))
	if err != nil {
		return of, fmt.Errorf("%s: %w", in.name(), err)
	}
	of = data.PiecesInfo{Name: in.name(), Format: kind}
	if of.N, err = strconv.Atoi(string(opened[0])); err != nil {
		return of, err
	}
	if kind == "text" {
		of.Format, of.Head = "csv", opened[2]
		return of, nil
	}
	for line := range strings.Lines(string(opened[1])) {
		letter, column, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		of.Types, of.Columns = of.Types+letter, append(of.Columns, column)
	}
	for line := range strings.Lines(string(opened[2])) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		piece, err := strconv.Atoi(fields[0])
		rows, err2 := strconv.ParseInt(fields[1], 10, 64)
		if err := cmp.Or(err, err2); err != nil {
			return of, err
		}
		of.Counts = append(of.Counts, data.PieceCount{Piece: piece, Rows: rows, Path: data.LocalPath(fields[2])})
	}
	return of, nil
}

// Load lets Spark read a table and turn it into numbers, as data.Load reads a file. An application holds one table: rows of those before can be read
// no more. Options.Stream is taken as set; Limit, Sample, Truth and Carry are refused. Rows are of Options' features in their order, as float64 or, with
// Float32, float32; they are in the memory of the executors, and 8 or 4 bytes a cell on their disks. Its errors are those of data.Load, with the file
// and the line of a cell, and what Spark says of an input that it cannot read.
func (a *App) Load(ctx context.Context, in Input, o data.Options) (*Rows, *data.Info, error) {
	of, err := a.open(ctx, &in)
	if err != nil {
		return nil, nil, err
	}
	counts, layout, info, err := data.LoadPieces(ctx, pieces{a}, of, o)
	if err != nil {
		return nil, nil, err
	}
	t := &table{app: a, layout: *layout}
	for _, n := range counts {
		t.n += n
	}
	t.each, t.parts = cut(t.n, layout.Stride(), a.config.Parts, a.Cores)
	folder := a.config.Checkpoint
	if folder != "" && a.config.Resume {
		if each, parts := divided(folder); parts > 0 && each*int64(parts) >= t.n {
			t.each, t.parts = each, parts
		}
	}
	if _, err := a.call(ctx, 'A', []byte(strconv.FormatInt(t.each, 10)), []byte(strconv.Itoa(t.parts))); err != nil {
		return nil, nil, err
	}
	a.holds = t
	if folder == "" {
		return &Rows{table: t}, info, nil
	}
	r := &Rows{table: t}
	sum, err := r.sum(ctx)
	if err != nil {
		return nil, nil, err
	}
	from := begun{fmt.Sprintf("%s: %d rows of %d columns", in.name(), t.n, layout.D), t.each, t.parts, sum}
	t.kept, err = openCheckpoint(folder, from, a.config.Resume)
	return r, info, err
}

// pieces implements data.Pieces.
type pieces struct{ *App }

// Map implements data.Pieces.
func (p pieces) Map(ctx context.Context, job []byte, from, to int) ([][]byte, error) {
	return p.call(ctx, 'M', append([]byte{readPiece}, job...), []byte(strconv.Itoa(from)), []byte(strconv.Itoa(to)))
}

// Build implements data.Pieces.
func (p pieces) Build(ctx context.Context, job []byte, stride int) ([]int64, error) {
	answers, err := p.call(ctx, 'B', append([]byte{readPiece}, job...), []byte(strconv.Itoa(stride)), []byte(p.config.Storage))
	if err != nil {
		return nil, err
	}
	counts := make([]int64, len(answers))
	for i, b := range answers {
		if counts[i], err = strconv.ParseInt(string(b), 10, 64); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// apply is Map of a job of the Handler, for all n pieces.
func (p pieces) apply(ctx context.Context, job []byte, n int) ([][]byte, error) {
	return p.call(ctx, 'M', append([]byte{applyPiece}, job...), []byte("0"), []byte(strconv.Itoa(n)))
}

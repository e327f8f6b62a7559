package data

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
)

// Load reads a table: path is a file name, a folder or a pattern (see Parts), "-" for o.Stdin or "@name" for a built-in set. Several
// files are one table, whose rows, types and levels are those of one file with all their rows. The Source is a *Table, or
// a source that reads the files again in every pass if o.Stream is set; that one has a Close method.
func Load(ctx context.Context, path string, o Options) (Source, *Info, error) {
	if err := CheckContext(ctx); err != nil {
		return nil, nil, err
	}
	l, err := newLoader(ctx, path, o)
	if err != nil {
		return nil, nil, err
	}
	src, err := l.load(ctx)
	if err = l.file.after(err); err != nil {
		l.file.Close()
		return nil, nil, err
	}
	if t, ok := src.(*Table); ok {
		return t, l.info, l.file.Close()
	}
	return src, l.info, nil
}

// loader is the work on one file.
type loader struct {
	o       Options
	file    *opened
	cells   cells // file, or the rows picked from it, or those with categories in place of cells
	picked  *picked
	words   *categories // nil as long as no column is read as categories
	cols    *columnSet
	na      *naTexts // nil for the usual texts
	info    *Info
	n       int64 // rows before any is dropped
	before  int64 // rows of the table before the first, where the file is a piece of one
	threads int

	id, weight, truth int      // columns; -1 for none
	sequence, time    int      // the same
	chosen            []int    // candidates for features, in their order
	explicit          bool     // they were named, so they stay
	positional        bool     // o.Exact is met by position
	excluded          []bool   // by o.Exclude
	types             []Type   // of every column of the file
	given             []bool   // types that are settled before any cell is looked at
	wanted            []bool   // columns that o.Types or o.Wanted makes features
	dates             []string // by column its order of day and month, "" for one that is not of o.Dates; nil without
	wide              bool     // look at every column, for a profile
	isSingle          bool     // the cells of the file are float32

	stats    []columnStats
	features []int
	named    map[int][]float64 // values of columns that are called like a counter
	single   *single           // what --float32 makes of the first rows; nil without
	used     atomic.Int64      // bytes that are held
	store    store
}

func newLoader(ctx context.Context, path string, o Options) (*loader, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	f, err := open(ctx, path, o)
	if err != nil {
		return nil, err
	}
	return loaderOf(f, o)
}

// loaderOf settles what can be known of a file before any cell is looked at.
func loaderOf(f *opened, o Options) (*loader, error) {
	l := &loader{o: o, file: f, cells: f.cells, na: newNA(&o), threads: o.Threads, named: map[int][]float64{}}
	if err := l.prepare(); err != nil {
		err = f.after(err)
		f.Close()
		return nil, err
	}
	return l, nil
}

// check sets defaults and refuses options that cannot be.
func (o *Options) check() error {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if !slices.Contains([]string{"", "error", "drop", "model"}, o.Missing) {
		return fileError("", "missing %q is not one of error, drop, model", o.Missing)
	}
	if o.Limit < 0 || o.Sample < 0 || o.MaxMemory < 0 || o.Spare < 0 {
		return fileError("", "limit, sample and memory must not be negative")
	}
	if o.Chain = o.Chain || o.Sequence != "" || o.Time != ""; o.Chain && o.Sample > 0 {
		return fileError("", "a sample of rows has none of the steps in time between them; use the first rows (--limit), or a file with fewer sequences")
	}
	if o.Chain && o.AllowFewer {
		return fileError("", "--allow-fewer has no effect on the rows of sequences: those that lack a value keep their place, and none is dropped")
	}
	if o.MaxMemory == 0 {
		o.MaxMemory = DefaultMaxMemory()
	}
	o.MaxMemory = min(o.MaxMemory, addressable)
	return checkGiven(o)
}

// prepare settles rows, names and roles, before any cell is looked at.
func (l *loader) prepare() error {
	f := l.file
	if a, ok := f.cells.(interface{ single() bool }); ok && a.single() && !l.o.Categories {
		l.o.Float32, l.isSingle = true, true // its cells stay as they are
	}
	l.cols = newColumnSet(f.name, f.names())
	l.info = &Info{Name: f.name, Format: f.format, Header: f.named(), file: f.disk, files: f.disks, na: l.na}
	if l.info.Files = 1; f.parts != nil {
		l.info.Files = len(f.disks.list)
	}
	l.info.Warnings = append(l.info.Warnings, f.notes...)
	if t := f.text; t != nil {
		l.info.HeaderAuto = t.guessed
		l.info.Delimiter, l.info.Decimal = string(t.delim), string(t.decimal)
		l.info.Warnings = append(l.info.Warnings, t.notes...)
		if t.blank.n > 0 {
			one := ""
			if len(t.columns) == 1 {
				one = "; a missing value must be written NA in a file of one column"
			}
			l.warn("%s%s", &t.blank, one)
		}
	}
	l.info.Warnings = append(l.info.Warnings, l.cols.notes...)
	if d := int64(len(l.cols.names)); d > l.o.MaxMemory/columnCost {
		return &MemoryError{File: f.name, What: counted(d, "column"), Need: d * columnCost, Max: l.o.MaxMemory, Stream: true}
	}
	if err := l.readDates(); err != nil {
		return err
	}
	if err := l.pickRows(); err != nil {
		return err
	}
	if err := l.roles(); err != nil {
		return err
	}
	if err := l.giveTypes(); err != nil {
		return err
	}
	if err := l.choose(); err != nil {
		return err
	}
	if l.o.Mixed {
		l.wantTyped()
	}
	return nil
}

func (l *loader) warn(format string, args ...any) {
	l.info.Warnings = append(l.info.Warnings, fmt.Sprintf(format, args...))
}

// part warns that only a part of the rows was read.
func (l *loader) part(format string, args ...any) {
	l.info.Part = fmt.Sprintf(format, args...)
	l.warn("%s", l.info.Part)
}

// pickRows applies Limit and Sample.
func (l *loader) pickRows() error {
	n := l.cells.rows()
	l.info.FileRows, l.n = n, n
	if n == 0 && !l.o.AllowEmpty {
		if l.info.Header {
			return fileError(l.file.name, "no data rows below the header")
		}
		return fileError(l.file.name, "no data rows")
	}
	if l.o.Limit > 0 && l.o.Limit < n {
		l.n = l.o.Limit
	}
	p := &picked{cells: l.cells, n: l.n}
	if l.o.Sample > 0 && l.o.Sample < l.n {
		p.sel = sampleRows(l.n, l.o.Sample, l.o.Seed)
		l.n = l.o.Sample
		p.n = l.n
	}
	if l.file.more {
		l.info.FileRows = -1
	}
	if l.n == n {
		if l.file.more {
			l.part("read the first %s; what follows was not looked at", counted(n, "row"))
		}
		return nil
	}
	if c, ok := l.file.cells.(interface{ cut(rows int64) }); ok { // later rows need not be parsed
		c.cut(p.rowOf(l.n-1) + 1)
	}
	l.cells, l.picked = p, p
	switch {
	case l.file.more && p.sel == nil:
		l.part("read the first %s; what follows was not looked at", counted(l.n, "row"))
	case l.file.more:
		l.part("read %s of the first %s (a random sample); what follows was not looked at", thousands(l.n), counted(l.o.Limit, "row"))
	case p.sel == nil:
		l.part("read %s of %s rows (the first rows)", thousands(l.n), thousands(n))
	default:
		l.part("read %s of %s rows (a random sample)", thousands(l.n), thousands(n))
	}
	return nil
}

// rowOf returns the index in the file of row i.
func (l *loader) rowOf(i int64) int64 {
	if l.picked != nil {
		return l.picked.rowOf(i)
	}
	return i + l.before
}

// roles finds the columns with a part of their own.
func (l *loader) roles() error {
	l.id, l.weight, l.truth, l.sequence, l.time = -1, -1, -1, -1, -1
	truth := l.o.Truth
	if truth == "" {
		truth = l.file.truth
	}
	for _, r := range []struct {
		name    string
		at      *int
		without string // how to do without the column
	}{
		{l.o.ID, &l.id, ""}, {l.o.Weight, &l.weight, ""}, {truth, &l.truth, ""},
		{l.o.Sequence, &l.sequence, "; if all rows are one sequence, pass --sequence ''"},
		{l.o.Time, &l.time, "; if the rows stand in their order in time, pass --time ''"},
	} {
		if r.name == "" {
			continue
		}
		c, ok := l.cols.lookUp(r.name)
		if !ok {
			return fmt.Errorf("%w%s", l.cols.unknown(r.name), r.without)
		}
		*r.at = c
	}
	if l.weight >= 0 && (l.weight == l.id || l.weight == l.truth || l.weight == l.sequence || l.weight == l.time) {
		return columnError(l.file.name, l.cols.names[l.weight], "one column cannot be the weight and something else")
	}
	if l.time >= 0 && l.time == l.sequence {
		return columnError(l.file.name, l.cols.names[l.time], "one column cannot tell sequences apart and be the time in them")
	}
	return nil
}

func (l *loader) hasRole(c int) bool {
	return c == l.id || c == l.weight || c == l.truth || c == l.sequence || c == l.time
}

// role names the part of a column that has one.
func (l *loader) role(c int) string {
	switch c {
	case l.id:
		return "id"
	case l.weight:
		return "weight"
	case l.sequence:
		return "sequence"
	case l.time:
		return "time"
	}
	return "truth"
}

// choose settles which columns are candidates for features.
func (l *loader) choose() error {
	l.excluded = make([]bool, len(l.cols.names))
	out, err := l.cols.match(l.o.Exclude)
	if err != nil {
		return err
	}
	for _, c := range out {
		l.excluded[c] = true
	}
	if len(l.o.Exact) > 0 {
		if done, err := l.chooseExact(); done || err != nil {
			return err
		}
	} else if len(l.o.Columns) > 0 {
		l.explicit = true
		cols, err := l.cols.match(l.o.Columns)
		for _, c := range cols {
			switch {
			case l.hasRole(c):
				l.warn("column %q is the %s and is not fitted, though --columns names it", l.cols.names[c], l.role(c))
			case !l.excluded[c]:
				l.chosen = append(l.chosen, c)
			}
		}
		return err
	}
	for c, name := range l.cols.names {
		usual := !slices.Contains(l.file.notFeatures, name)
		if l.o.Categories { // of what is no measurement, texts are categories
			usual = !l.isNested(c)
		} else if l.o.Mixed {
			usual = usual && !l.isNested(c)
		}
		if !l.hasRole(c) && !l.excluded[c] && usual {
			l.chosen = append(l.chosen, c)
		}
	}
	return nil
}

// chooseExact takes the columns of a model by name, if the file has names; it is not done where they must be taken
// by position.
func (l *loader) chooseExact() (done bool, err error) {
	found, missing := 0, ""
	for _, name := range l.o.Exact {
		if _, ok := l.cols.lookUp(name); ok {
			found++
		} else if missing == "" {
			missing = name
		}
	}
	counts := isCount(l.o.Exact)
	switch named := l.info.Header; {
	case named && counts && found == 0, !named && (counts || missing != ""):
		l.positional = true
		return false, nil
	case missing != "":
		return false, l.cols.unknown(missing)
	}
	for _, name := range l.o.Exact {
		c, _ := l.cols.lookUp(name)
		if slices.Contains(l.chosen, c) { // two names of the model differ in what nobody sees
			return false, l.cols.unknown(name)
		}
		l.chosen = append(l.chosen, c)
	}
	l.explicit = true
	if l.o.Mixed && l.o.ExactTypes != nil {
		for j, c := range l.chosen {
			l.types[c], l.given[c] = l.o.ExactTypes[j], true
		}
	}
	return true, nil
}

// load reads the rows.
func (l *loader) load(ctx context.Context) (Source, error) {
	if err := l.measure(ctx); err != nil {
		return nil, err
	}
	if err := l.decide(ctx); err != nil {
		return nil, err
	}
	l.named, l.single = nil, nil // as long as the file, and a stream keeps the loader
	if err := l.checkMissing(ctx); err != nil {
		return nil, err
	}
	if err := l.settle(ctx); err != nil {
		return nil, err
	}
	if l.o.Stream {
		return l.stream(ctx)
	}
	t, err := l.table()
	if err != nil || !l.o.Chain {
		return t, err
	}
	return t, l.chain(ctx, t)
}

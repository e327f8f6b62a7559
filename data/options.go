package data

import (
	"fmt"
	"io"
)

// Options says how a file is read. The zero value lets the reader decide.
type Options struct {
	Name      string   // what the table is called in Info.Name, errors and warnings; "": its path. An error in one of several files names that file
	More      []string // further files, folders or patterns whose rows follow those of the path, as in Parts
	Format    string   // csv, tsv, npy, idx, parquet; "" or "auto": by content
	Header    string   // yes, no; "" or "auto": by looking at the first lines
	Delimiter string   // one sign, or its name; "" or "auto": by looking
	Decimal   string   // . or ,; "" or "auto": by looking

	Columns []string // features: names, globs, ranges a-d or 1-4, /regex/; nil: every numeric column
	Exclude []string // not features, in the same language
	Exact   []string // features by exact name and in this order, as a model wants them; it overrules Columns

	ID     string // column that names the rows; "" for none
	Weight string // column of row weights; "" for none
	Truth  string // column of known groups; "" for none

	// Chain says that rows follow each other in time, as those of a hidden Markov model do: Block.Sequence is set, and with Missing drop a row that
	// lacks a value keeps its place, without any. Sequence is the column that tells sequences apart; "" makes all rows one. Time is the column, of
	// numbers or dates, that orders the rows of each; "" for the order of the file. Either sets Chain. In memory the rows of a sequence may stand
	// apart in the file, and Table.Row says where they were; with Stream they must stand together and in order.
	Chain          bool
	Sequence, Time string

	// Categories reads features as categories: text or numbers, of which each cell becomes the index of its level, from
	// 0, in the order of Info.Levels. A level is a different text as it stands; where all cells of a column are numbers,
	// a different number. A column may have 10,000. Without Columns and Exact, features are columns of text and columns
	// of whole numbers with at most 50 different ones, unless more than half of 20 or more filled cells are different.
	Categories bool
	// Mixed reads features of every type: numbers, categories and counts side by side. The type of a column is the one that
	// Types or ExactTypes give it. All others are found out: text is a category, and so are 0 and 1, and whole numbers of at
	// most 5 different values with 20 filled cells for each on average; all else is a number. Without Columns and Exact,
	// columns are left out that are no features by their looks: counters and other identifiers, dates and times, free text,
	// text with too many different values, constants, and columns that are empty or hold lists. A column of Types stays.
	Mixed bool
	// Types gives columns their types, with Mixed. A column that is excluded, has a part of its own or is not among Columns
	// stays out, with a warning.
	Types []TypeOf
	// ExactTypes are the types of the columns of Exact, with Mixed; nil to find them out.
	ExactTypes []Type
	// Levels are those that a model knows for each column of Exact; nil for one that is no category. Cells are counted by
	// them, and one that is not among them is an error, or a missing cell where Unseen says so.
	Levels [][]string

	// Wanted are columns of numbers, by name, that are features whatever they look like, where columns are chosen by their looks; with Mixed
	// Types does this.
	Wanted []string

	// Dates are columns of dates and times (see ParseDate): each cell becomes the days since 1970-01-01. A text that is no date
	// is an error.
	Dates []DateColumn

	// Missing says what to do with cells without a value: error refuses them, drop leaves their rows out, and model keeps
	// them as NaN, for a model that reckons with them. "" is error. A missing weight is an error with model too, and an
	// infinite number always.
	Missing string
	// NA are the texts that count as missing, in place of NA, N/A, NaN, null and ?; in any case, and apart from blanks around
	// them. Cells that are numbers by their type, in NPY, IDX and Parquet files, are compared with those that spell numbers.
	// An empty cell always is missing, and so are null and NaN in such files. NASet says that NA holds even if it is empty.
	NA    []string
	NASet bool

	// CanModel says that the caller's kind of model takes missing cells, so that Missing model is advice that helps.
	CanModel bool
	// Unseen says what to do with a level that Levels do not list: error refuses it; missing, with Missing model, takes it for a
	// missing cell and counts it in Info.Unseen. "" is error.
	Unseen string

	AllowFewer bool // with Missing drop: keep what is left where that is less than half of the rows, rather than refuse it
	Float32    bool // store float32
	Carry      bool // hand out every cell of the file too, as text (Block.Cells); only with Stream or Chain
	Stream     bool // read the file again in every pass rather than hold it in memory
	AllowEmpty bool // a file without data rows gives zero rows rather than an error

	Limit  int64  // only the first rows; 0: all
	Sample int64  // that many rows at random, out of the first Limit; 0: all
	Seed   uint64 // of Sample

	// MaxMemory is how many bytes reading may hold: what a pipe or a compressed file unpacks to (with Stream that goes to a
	// temporary file), the rows, and Spare bytes a cell for what is done with them. 0 is DefaultMaxMemory. What would
	// take more is a MemoryError, before it is read where that is known.
	MaxMemory int64
	Spare     int

	Threads int       // 0: all cores
	Stdin   io.Reader // what the path "-" means
}

// Column is what was found out about one column of the file.
type Column struct {
	Name string
	Kind string // number, bits, text, constant, id, empty; "" where it was not looked at
	Use  string // feature, id, weight, truth, sequence, time, ignored
	Why  string // why it is ignored
	Type string // number, category or count for a feature, with Options.Mixed; "" otherwise

	Missing   int64 // cells without a value
	NonFinite int64 // infinite numbers
	Numbers   int64 // finite numbers

	Min, Max, Mean, SD float64 // of the finite numbers; SD with n-1
}

// UnseenLevels are the cells of a column that count as missing because the model does not know their level. They are not
// part of Info.MissingCells.
type UnseenLevels struct {
	Column  string
	Cells   int64
	Example string // the first of them by rows, cut to 60 bytes
}

// Info is what was read and what was decided on the way.
type Info struct {
	Name       string
	Files      int    // files that hold the rows
	Format     string // csv, tsv, npy, idx, parquet
	Header     bool   // the first line holds names
	HeaderAuto bool   // that was decided by looking
	Delimiter  string // "" for formats without
	Decimal    string
	Columns    []Column // all columns of the file, in its order
	Features   []string // the columns of the rows, in their order

	Types []Type // what each feature is; nil without Mixed

	// Levels are the names of the levels of each feature, of those in rows that were kept; nil without Categories or Mixed,
	// and for a feature that is no category. Where all are numbers they are in numeric order and in the shortest text, else
	// in the order of their bytes.
	Levels [][]string
	// MissingCells are the cells of features without a value in the rows that were kept: NaN in the rows that are handed out.
	MissingCells int64
	Unseen       []UnseenLevels // the columns with levels that Options.Levels do not list; see Options.Unseen

	// Sequences are the names of the sequences, in the order of their numbers; nil without Options.Sequence.
	Sequences []string

	FileRows int64 // data rows in the file; -1 where Options.Limit ended the reading before that was known
	Rows     int64 // rows that were kept
	Dropped  int64 // rows that were dropped because a value is missing
	Warnings []string
	// Part is the one of the Warnings that says how much was read where not all rows were; empty where they were.
	Part string

	file  *regular   // nil for what is no regular file
	files *partFiles // nil for what is one file
	na    *naTexts   // nil for the usual texts that mean a missing cell
}

// LeftOut names the columns that could have been features but are not, with the reason: "species (text)".
func (f *Info) LeftOut() []string {
	var out []string
	for _, c := range f.Columns {
		if c.Use == "ignored" && c.Why != "" && c.Why != whyUnchosen {
			out = append(out, fmt.Sprintf("%s (%s)", c.Name, c.Why))
		}
	}
	return out
}

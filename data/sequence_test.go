package data_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
)

// runs is a table of three sequences whose rows lie among each other: in the order of sequences and times x counts from 1.
const runs = "who,when,x,w,note\nb,2,5,2,p\na,10,3,1,q\nb,1,4,2,r\na,9,2,1,s\na,8,1,1,t\nc,7,6,5,u\n"

func loadText(t *testing.T, text string, o data.Options) (data.Source, *data.Info, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runs.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return data.Load(context.Background(), path, o)
}

func TestRowsAreReadInTheOrderOfSequencesAndTimes(t *testing.T) {
	src, info, err := loadText(t, runs, data.Options{Sequence: "who", Time: "when", Weight: "w", ID: "note", Carry: true})
	if err != nil {
		t.Fatal(err)
	}
	table := src.(*data.Table)
	for what, pair := range map[string][2]any{
		"sequences": {table.Sequence, []int32{0, 0, 1, 1, 1, 2}},
		"cells":     {table.F64, []float64{4, 5, 1, 2, 3, 6}},
		"rows":      {table.Row, []int64{3, 1, 5, 4, 2, 6}},
		"weights":   {table.W, []float64{2, 2, 1, 1, 1, 5}},
		"ids":       {table.ID, []string{"r", "p", "t", "s", "q", "u"}},
		"names":     {info.Sequences, []string{"b", "a", "c"}},
		"features":  {info.Features, []string{"x"}},
		"texts":     {table.Cells[:5], []string{"b", "1", "4", "2", "r"}},
	} {
		if fmt.Sprint(pair[0]) != fmt.Sprint(pair[1]) {
			t.Errorf("%s %v, want %v", what, pair[0], pair[1])
		}
	}
	uses := map[string]string{}
	for _, c := range info.Columns {
		uses[c.Name] = c.Use
	}
	if uses["who"] != "sequence" || uses["when"] != "time" {
		t.Errorf("uses %v", uses)
	}
}

// Without a column of sequences all rows are one; times are numbers or dates, in any notation that is read elsewhere.
func TestTimesOrderRows(t *testing.T) {
	for name, times := range map[string][]string{
		"numbers": {"2", "-1", "1e1", "3.5"}, "dates": {"2024-02-01", "2023-12-31", "2024-03-01", "2024-02-01T12:00:00Z"}, "named months": {"3 Feb 2024", "1 Jan 2024", "Mar 5, 2024", "4 Feb 2024"},
		"beyond 2^53": {"9007199254740993", "9007199254740992", "9007199254740995", "9007199254740994"},
	} {
		text := "t;x\n"
		for i, at := range times {
			text += fmt.Sprintf("%s;%d\n", at, i+1)
		}
		src, info, err := loadText(t, text, data.Options{Time: "t"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if table := src.(*data.Table); !slices.Equal(table.F64, []float64{2, 1, 4, 3}) || !slices.Equal(table.Sequence, make([]int32, 4)) || info.Sequences != nil {
			t.Errorf("%s: %v, sequences %v", name, table.F64, table.Sequence)
		}
	}
	src, _, err := loadText(t, "x\n3\n1\n", data.Options{Chain: true})
	if err != nil || !slices.Equal(src.(*data.Table).Sequence, []int32{0, 0}) || src.(*data.Table).Row != nil {
		t.Errorf("%v", err)
	}
}

// A stream hands out the same rows where the file has them in order.
func TestStreamsOfSequences(t *testing.T) {
	var text strings.Builder
	text.WriteString("s,t,x\n")
	for s := range 40 {
		for i := range 1 + s*37%300 {
			fmt.Fprintf(&text, "run %d,%d,%d\n", s, i, s*1000+i)
		}
	}
	o := data.Options{Sequence: "s", Time: "t", Columns: []string{"x"}}
	src, info, err := loadText(t, text.String(), o)
	if err != nil {
		t.Fatal(err)
	}
	table := src.(*data.Table)
	o.Stream = true
	stream, streamed, err := loadText(t, text.String(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.(interface{ Close() error }).Close()
	at := 0
	err = data.EachBlock(context.Background(), stream, func(b *data.Block) error {
		for i := range b.N {
			if b.Sequence[i] != table.Sequence[at] || b.At(i, 0) != table.At(at, 0) {
				t.Fatalf("row %d: sequence %d, x %v", at, b.Sequence[i], b.At(i, 0))
			}
			at++
		}
		return nil
	})
	if err != nil || at != table.N || len(streamed.Sequences) != 40 || !slices.Equal(info.Sequences, streamed.Sequences) {
		t.Errorf("%d rows, %d sequences, %v", at, len(streamed.Sequences), err)
	}
}

// A row that is dropped keeps its place, without any cell.
func TestDroppedRowsKeepTheirPlace(t *testing.T) {
	text := "s,x,y\na,1,2\na,,3\na,4,5\n"
	for _, stream := range []bool{false, true} {
		src, info, err := loadText(t, text, data.Options{Sequence: "s", Missing: "drop", Stream: stream})
		if err != nil {
			t.Fatal(err)
		}
		var cells []float64
		data.EachBlock(context.Background(), src, func(b *data.Block) error {
			for i := range b.N {
				cells = append(cells, b.At(i, 0), b.At(i, 1))
			}
			return nil
		})
		gap := math.NaN()
		if fmt.Sprint(cells) != fmt.Sprint([]float64{1, 2, gap, gap, 4, 5}) || info.Rows != 3 || info.Dropped != 0 {
			t.Errorf("stream %v: cells %v, %d rows", stream, cells, info.Rows)
		}
		if c, ok := src.(interface{ Close() error }); ok {
			c.Close()
		}
	}
}

func TestSequencesThatAreRefused(t *testing.T) {
	chain := func(change func(*data.Options)) data.Options {
		o := data.Options{Sequence: "s", Time: "t", Columns: []string{"x"}}
		if change != nil {
			change(&o)
		}
		return o
	}
	stream := chain(func(o *data.Options) { o.Stream = true })
	weighted := chain(func(o *data.Options) { o.Weight = "w" })
	for want, x := range map[string]struct {
		text string
		o    data.Options
	}{
		`runs.csv:4: column "t": lines 2 and 4 have the same time, 1, in sequence "u"; a sequence has one row a time`:                                                   {"s,t,x\nu,1,1\nv,1,2\nu,1,3\n", chain(nil)},
		`runs.csv:3: column "t": lines 2 and 3 have the same time, 2024-01-31; a sequence has one row a time; name the column that tells sequences apart by --sequence`: {"t,x\n2024-01-31,1\n31 Jan 2024,2\n", data.Options{Time: "t"}},
		`runs.csv:3: column "w": lines 2 and 3 have the weights 1 and 2, but belong to sequence "u"; all rows of a sequence have one weight`:                            {"s,t,x,w\nu,1,1,1\nu,2,2,2\n", weighted},
		`runs.csv:3: column "w": lines 2 and 3 have the weights 1 and 2; all rows of a sequence have one weight`:                                                        {"x,w\n1,1\n2,2\n", data.Options{Chain: true, Weight: "w"}},
		`runs.csv:3: column "s" has no value here, but every row needs its sequence`:                                                                                    {"s,t,x\nu,1,1\nNA,2,2\n", chain(nil)},
		`runs.csv:3: column "t" has no value here, but every row needs its time`:                                                                                        {"s,t,x\nu,1,1\nu,,2\n", chain(nil)},
		`runs.csv:2: column "t": "noon" is neither a number nor a date`:                                                                                                 {"s,t,x\nu,noon,1\n", chain(nil)},
		`runs.csv:3: column "t": "2024-01-31" is not a number, as the times before it are`:                                                                              {"s,t,x\nu,1,1\nu,2024-01-31,2\n", chain(nil)},
		`runs.csv:3: column "t": "7" is not a date, as the times before it are`:                                                                                         {"s,t,x\nu,2024-01-31,1\nu,7,2\n", chain(nil)},
		`runs.csv:2: column "t": "1e999" is not a finite number`:                                                                                                        {"s,t,x\nu,1e999,1\nu,7,2\n", chain(nil)},
		`its columns are: s, t, x; if all rows are one sequence, pass --sequence ''`:                                                                                    {"s,t,x\nu,1,1\n", chain(func(o *data.Options) { o.Sequence = "run" })},
		`its columns are: s, t, x; if the rows stand in their order in time, pass --time ''`:                                                                            {"s,t,x\nu,1,1\n", chain(func(o *data.Options) { o.Time = "hour" })},
		`column "s": one column cannot tell sequences apart and be the time in them`:                                                                                    {"s,t,x\nu,1,1\n", chain(func(o *data.Options) { o.Time = "s" })},
		`column "t": one column cannot be the weight and something else`:                                                                                                {"s,t,x\nu,1,1\n", chain(func(o *data.Options) { o.Weight = "t" })},
		`--allow-fewer has no effect on the rows of sequences`:                                                                                                          {"s,t,x\nu,1,1\n", chain(func(o *data.Options) { o.AllowFewer = true })},
		`a sample of rows has none of the steps in time`:                                                                                                                {"s,t,x\nu,1,1\n", chain(func(o *data.Options) { o.Sample = 1 })},
		`runs.csv:4: column "s": sequence "u" goes on here, after others: a stream needs the rows`:                                                                      {"s,t,x\nu,1,1\nv,1,2\nu,2,3\n", stream},
		`runs.csv:3: column "t": 1 comes after 2 in sequence "u": a stream needs rows in the order of time`:                                                             {"s,t,x\nu,2,1\nu,1,2\n", stream},
		`runs.csv:3: column "t": two rows have the same time, 2, in sequence "u": this line and the one before`:                                                         {"s,t,x\nu,2,1\nu,2,2\n", stream},
		`runs.csv:3: column "w": the weight is 3 here and 1 in the row before, of sequence "u"; all rows of a sequen`:                                                   {"s,t,x,w\nu,1,1,1\nu,2,2,3\n", chain(func(o *data.Options) { o.Weight, o.Stream = "w", true })},
	} {
		_, _, err := loadText(t, x.text, x.o)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

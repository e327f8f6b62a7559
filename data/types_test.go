package data

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// mixedWays are the ways to read a file of columns of every type, which must all give the same rows.
func mixedWays(o Options) []Options {
	var out []Options
	for _, threads := range []int{1, 3} {
		for _, stream := range []bool{false, true} {
			o.Mixed, o.Threads, o.Stream = true, threads, stream
			out = append(out, o)
		}
	}
	return out
}

// mixedText loads a file in every way and tells features, types, levels, cells, row numbers and what was left out.
func mixedText(t *testing.T, in string, o Options) string {
	t.Helper()
	first := ""
	for i, o := range mixedWays(o) {
		o.Stdin = strings.NewReader(in)
		src, info, err := Load(context.Background(), "-", o)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			b := all(t, src, 2)
			got = fmt.Sprint(info.Features, info.Types, info.Levels, b.F64, b.F32, b.Row, info.LeftOut())
		}
		if i == 0 {
			first = got
		} else if got != first {
			t.Errorf("%d threads, stream %v: got %s, before that %s", o.Threads, o.Stream, got, first)
		}
	}
	return first
}

func TestMixed(t *testing.T) {
	for _, c := range []struct {
		name, in string
		o        Options
		want     string // what mixedText starts with
	}{
		{"text and numbers", "x,g\n1.5,b\n2,a\n3,b\n", Options{}, "[x g] [number category] [[] [a b]] [1.5 1 2 0 3 1] [] [1 2 3] []"},
		{"missing cells stay", "x,g\n1.5,\nNA,a\n3,b\n", Options{Missing: "model"}, "[x g] [number category] [[] [a b]] [1.5 NaN NaN 0 3 1]"},
		{"their rows are dropped", "x,g\n1.5,\nNA,a\n3,b\n", Options{Missing: "drop", AllowFewer: true}, "[x g] [number category] [[] [b]] [3 0] [] [3]"},
		{"bits are categories", "x,g\n1,0\n2,1\n4,\n", Options{Missing: "model"}, "[x g] [number category] [[] [0 1]] [1 0 2 1 4 NaN]"},
		{"a type that is given", "x,g\n1,0\n2,1\n4,0\n", Options{Types: []TypeOf{{"g", Number}, {"x", Count}}}, "[x g] [count number] [[] []] [1 0 2 1 4 0]"},
		{"no such column", "size,g\n1,0\n2,1\n4,0\n", Options{Types: []TypeOf{{"sise", Number}}}, `column "sise" is not in standard input; its columns are: size, g`},
		{"an empty column", "x,g\n1.5,\n2,\n3,\n", Options{Missing: "model"}, "[x] [number] [[]] [1.5 2 3] [] [1 2 3] [g (empty)]"},
		{"an empty column that is named", "x,g\n1.5,\n2,\n3,\n", Options{Missing: "model", Columns: []string{"x,g"}}, `standard input: column "g" has no value in any row; use --exclude g`},
		{"no cell at all", "x,g\n,\nNA,\n", Options{Missing: "model"}, `standard input: no column is left to work with: x (empty), g (empty)`},
		{"a model's columns", "g,x\nb,\nb,2\n", Options{Missing: "model", Exact: []string{"x", "g"}, ExactTypes: []Type{Number, Category}, Levels: [][]string{nil, {"c", "b"}}},
			"[x g] [number category] [[] [c b]] [NaN 1 2 1]"},
		{"columns that are named", "x,g,h\n1.5,b,1\n2,a,2\n3,b,3\n", Options{Columns: []string{"h", "g"}}, "[h g] [number category] [[] [a b]] [1 1 2 0 3 1]"},
		{"a type of what is left out", "x,d\n1.5,2024-01-31\n2,2024-02-01\n3,2024-01-31\n", Options{Types: []TypeOf{{"d", Category}}},
			"[x d] [number category] [[] [2024-01-31 2024-02-01]] [1.5 0 2 1 3 0]"},
		{"numbers as categories", "x,y\n1.50,1\n2,2\n1.5,4\n", Options{Types: []TypeOf{{"x", Category}}}, "[x y] [category number] [[1.5 2] []] [0 1 1 2 0 4]"},
		{"two types of one column", "x,y\n1,1\n2,2\n", Options{Types: []TypeOf{{"x", Category}, {"x", Count}}}, `standard input: column "x": its type is given twice, as category and as count`},
		{"a text among numbers", "x,y\n1,1\n2,2\n-,4\n", Options{}, `standard input:4: column "x": "-" is not a number; use --types x=category, --na - if it stands for no value, or --exclude x`},
		{"a text among numbers of a model", "x,y\n1,1\n2,2\n-,4\n", Options{Exact: []string{"x"}, ExactTypes: []Type{Number}}, `standard input:4: column "x": "-" is not a number`},
		{"a text among counts", "x,y\n1,1\n2,2\n-,4\n", Options{Types: []TypeOf{{"x", Count}}}, `standard input:4: column "x": "-" is not a count (a whole number from 0 to 2^53); use --types`},
		{"a negative count", "n,x\n3,.5\n\n0,1.5\n-1,2\n-7,3\n", Options{Types: []TypeOf{{"n", Count}}}, `standard input:5: column "n": "-1" is not a count (a whole number from 0 to 2^53); use --types n=number, or --exclude n`},
		{"a broken count", "n,x\n3,.5\n1.0,1.5\n2.5,2\n", Options{Types: []TypeOf{{"n", Count}}}, `standard input:4: column "n": "2.5" is not a count`},
		{"a count of a model", "n,x\n3,.5\n-1,1.5\n", Options{Exact: []string{"n"}, ExactTypes: []Type{Count}}, `standard input:3: column "n": "-1" is not a count (a whole number from 0 to 2^53)`},
		{"a count beyond 2^53", "n,x\n3,.5\n9007199254740992,1\n9007199254740993,1.5\n", Options{Types: []TypeOf{{"n", Count}}}, `standard input:4: column "n": "9007199254740993" is not a count`},
		{"infinite numbers", "x,g\n1,a\n,b\n1e999,c\n", Options{Missing: "model"}, `standard input:4: column "x": "1e999" is not a finite number`},
		{"a gap", "x,g\n1.5,\n2,a\n3,b\n", Options{}, `standard input:2: column "g" has no value here (1 cell in 1 row is missing); use --missing drop, or --exclude g`},
		{"a gap that a model takes", "x,g\n1.5,\n2,a\n3,b\n", Options{CanModel: true}, `standard input:2: column "g" has no value here (1 cell in 1 row is missing); use --missing model, --missing drop, or --exclude g`},
		{"a row without a weight", "x,w\n,1\n2,\n3,2\n", Options{Missing: "model", Weight: "w"}, `standard input:3: column "w" has no value here, but every row needs a weight (1 row lacks it); fill it in, where 0 leaves a row out`},
		{"rows by their weight", "x,w\n,1\n2,0\n3,2\n", Options{Missing: "model", Weight: "w"}, "[x] [number] [[]] [NaN 2 3]"},
		{"a column of a model without a value", "x,g\n1,\n2,\n", Options{Missing: "model", Exact: []string{"x", "g"}, ExactTypes: []Type{Count, Category}, Levels: [][]string{nil, {"a"}}},
			"[x g] [count category] [[] [a]] [1 NaN 2 NaN]"},
		{"by place", "7,b,\n8,a,\n,b,\n", Options{Header: "no", Missing: "model", Exact: []string{"x", "g", "n"}, ExactTypes: []Type{Number, Category, Count}, Levels: [][]string{nil, {"b", "a"}, nil}},
			"[1 2 3] [number category count] [[] [b a] []] [7 0 NaN 8 1 NaN NaN 0 NaN]"},
		{"by place, of types that the cells do not tell", "7,1.5\n8,2.5\n7,1.50\n", Options{Header: "no", Exact: []string{"x", "g"}, ExactTypes: []Type{Category, Category}, Levels: [][]string{{"7", "8"}, {"1.5", "2.5"}}},
			"[1 2] [category category] [[7 8] [1.5 2.5]] [0 0 1 1 0 0]"},
		{"a level of no model", "x,g\n1,a\n2,b\n", Options{Exact: []string{"x", "g"}, ExactTypes: []Type{Number, Category}, Levels: [][]string{nil, {"a", "c"}}},
			`standard input:3: column "g": "b" is not one of the 2 levels the model knows (a, c)`},
		{"a level of no model below a gap", "x,g\n1,\n2,b\n", Options{Missing: "model", Exact: []string{"x", "g"}, ExactTypes: []Type{Number, Category}, Levels: [][]string{nil, {"a", "c"}}},
			`standard input:3: column "g": "b" is not one of the 2 levels the model knows (a, c)`},
		{"a sample of rows keeps its line", "x,n\n1,1\n2,2\n3,-1\n", Options{Limit: 3, Types: []TypeOf{{"n", Count}}}, `standard input:4: column "n": "-1" is not a count`},
		{"decimal commas", "x;n\n0,5;1.000\n1,5;2.500\n2,5;7\n", Options{}, "[x n] [number number] [[] []] [0.5 1000 1.5 2500 2.5 7]"},
	} {
		if got := mixedText(t, c.in, c.o); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// nColumn is a column called x of the values that f gives for n rows, beside one called y of numbers.
func nColumn(n int, f func(i int) string) string {
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range n {
		fmt.Fprintf(&b, "%s,%d.5\n", f(i), i*i%23)
	}
	return b.String()
}

// inTurn returns a function that gives the values in turn.
func inTurn(values ...string) func(int) string {
	return func(i int) string { return values[i%len(values)] }
}

func TestTypesAreFound(t *testing.T) {
	const left = "left out: "
	for _, c := range []struct {
		name string
		in   string
		want string // the type of x, or why it is left out
	}{
		{"five grades", nColumn(100, func(i int) string { return fmt.Sprint(1 + i*i%5) }), "category"},
		{"five grades of too few", nColumn(99, func(i int) string { return fmt.Sprint(1 + i%5) }), "number"},
		{"six grades", nColumn(600, func(i int) string { return fmt.Sprint(1 + i%6) }), "number"},
		{"negative ones", nColumn(60, inTurn("-1", "0", "1")), "category"},
		{"gaps do not count", nColumn(60, inTurn("1", "2", "NA")), "category"},
		{"too many gaps", nColumn(58, inTurn("1", "2", "NA")), "number"},
		{"fractions", nColumn(100, inTurn("1.5", "2")), "number"},
		{"equal numbers are one", nColumn(40, inTurn("1", "1.0", "01", "2e0")), "category"},
		{"a later value", nColumn(5000, func(i int) string { return fmt.Sprint(max(i-4990, i%2)) }), "number"},
		{"a late fraction", nColumn(5000, func(i int) string { return map[bool]string{true: "0.5", false: "1"}[i == 4999] }), "number"},
		{"few values after many rows", nColumn(5000, func(i int) string { return fmt.Sprint(max(300-i, i%2)) }), "number"},
		{"bits in few rows", "x,y\n1,1.5\n0,2.5\n", "category"},
		{"texts after many numbers", nColumn(1000, func(i int) string {
			return map[bool]string{true: fmt.Sprint(i) + ".5", false: "n" + fmt.Sprint(i%3)}[i < 300]
		}), left + "303 different texts in 1,000 rows"},
		{"numbers after some texts", nColumn(1000, func(i int) string { return map[bool]string{true: "n", false: fmt.Sprint(i % 7)}[i < 300] }), `"n" is not a number`},
		{"a single text", nColumn(30, inTurn("same")), left + "constant"},
		{"a single number", nColumn(30, inTurn("7")), left + "constant"},
		{"nothing", nColumn(30, inTurn("", "NA")), left + "empty"},
		{"row numbers", nColumn(30, func(i int) string { return fmt.Sprint(i + 1) }), left + "counter"},
		{"text all different", nColumn(12, func(i int) string { return fmt.Sprintf("P-%03d", i) }), left + "identifier"},
		{"text mostly different", nColumn(40, func(i int) string { return fmt.Sprintf("P-%03d", i%30) }), left + "mostly different values"},
		{"text of many kinds", nColumn(500, func(i int) string { return fmt.Sprintf("P-%03d", i%51) }), left + "51 different texts in 500 rows"},
		{"text of fewer kinds", nColumn(500, func(i int) string { return fmt.Sprintf("P-%03d", i%50) }), "category"},
		{"text of many kinds in many rows", nColumn(510, func(i int) string { return fmt.Sprintf("P-%03d", i%51) }), "category"},
		{"text of over 10,000 kinds", nColumn(10100, func(i int) string { return fmt.Sprintf("P-%d", i%10001) }), left + "over 10,000 different values"},
		{"sentences", nColumn(3000, func(i int) string { return fmt.Sprintf("asked about order %d", i%60) }), left + "free text"},
		{"sentences, all different", nColumn(30, func(i int) string { return fmt.Sprintf("asked about order %d", i) }), left + "free text"},
		{"answers in words", nColumn(100, inTurn("I do not agree", "I do not know yet", "I agree with all")), "category"},
		{"amounts of money", nColumn(40, func(i int) string { return fmt.Sprintf("$%d.85", i) }), left + `identifier: amounts of money such as "$0.85"; write plain numbers`},
		{"one date a row", nColumn(40, func(i int) string { return fmt.Sprintf("2024-01-%02d", 1+i%28) }), left + "dates"},
		{"dates and a few gaps in words", nColumn(40, func(i int) string {
			return map[bool]string{true: "unknown", false: fmt.Sprintf("%d.1.2024", 1+i%20)}[i%10 == 0]
		}), left + "dates"},
		{"few dates", nColumn(40, inTurn("2024-01-31", "never", "soon")), "category"},
		{"over 10,000 times", nColumn(12000, func(i int) string { return fmt.Sprintf("2024-01-31 %02d:%02d:%02d", i/3600, i/60%60, i%60) }), left + "dates"},
	} {
		for _, o := range mixedWays(Options{Missing: "model"}) {
			o.Stdin = strings.NewReader(c.in)
			_, info, err := Load(context.Background(), "-", o)
			got := ""
			switch {
			case err != nil:
				got = err.Error()
			case info.Columns[0].Use == "feature":
				got = info.Columns[0].Type
			default:
				got = left + info.Columns[0].Why
			}
			if got != c.want && !(err != nil && strings.Contains(got, c.want)) {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		}
	}
}

func TestCounterByName(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"id,y\nA,1.5\nB,2.5\nA,3.5\n", "[id (counter)]"},
		{"Index,y\n4,1.5\n4,2.5\n9,3.5\n", "[Index (counter)]"},
		{"row,y\n4.5,1.5\n4,2.5\n9,3.5\n", "[]"},
		{",y\nA,1.5\nB,2.5\nA,3.5\n", "[unnamed (counter)]"},
	} {
		_, info, err := Load(context.Background(), "-", Options{Mixed: true, Header: "yes", Stdin: strings.NewReader(c.in)})
		if err != nil || fmt.Sprint(info.LeftOut()) != c.want {
			t.Errorf("%q: left out %v, %v; want %s", c.in, info.LeftOut(), err, c.want)
		}
	}
}

func TestDatesInText(t *testing.T) {
	for _, s := range []string{"2024-01-31", "2024/1/31", "20240131T120000Z", "2024-01-31T12:00:00+02:00", "2024-01-31 12:00:00.123", "2024-01", "2024-031", "2024-W05", "2024-W05-1", "2024Q1", "Q1 2024",
		"31.12.2024", "31.12.24", "12/31/2024", "1/31/24 12:00", "12/31/2024 1:05 PM", "31-Dec-2024", "31 December 2024", "Dec 31, 2024", "Wed, 31 Jan 2024", "Jan 2024", "31. Dezember 2024",
		"12:30", "12:30:15", "1:30 pm", "T12:30", "2024年1月31日", "Wed Jan 31 12:00:00 2024", "Wed 2024-01-31", "01/2024", " 2024-01-31 "} {
		if !mostlyDates([]string{s}) {
			t.Errorf("%q is no date", s)
		}
	}
	for _, s := range []string{"", "2024", "P-2024-01", "1.2", "20-30", "3/4", "1-2", "Monday", "Mar", "A 12", "10 km", "Oslo 2024", "192.168.1.1", "v1.2.3", "12:30 to 14:00", "+49 30 1234", "2024-01-31 to 2024-02-01"} {
		if mostlyDates([]string{s}) {
			t.Errorf("%q is a date", s)
		}
	}
	if mostlyDates(nil) {
		t.Error("nothing is a date")
	}
}

func TestTypesThatAreNamedInVain(t *testing.T) {
	in := "x,w,g,h\n1.5,1,a,1\n2,1,b,2\n3,2,b,3\n"
	o := Options{Mixed: true, Weight: "w", Exclude: []string{"g"}, Columns: []string{"x"}, Types: []TypeOf{{"w", Count}, {"g", Category}, {"h", Count}, {"x", Number}}, Stdin: strings.NewReader(in)}
	_, info, err := Load(context.Background(), "-", o)
	want := []string{`column "w" is the weight and is not fitted, though --types names it`, `column "g" is excluded and is not fitted, though --types names it`,
		`column "h" is not among the columns that were chosen and is not fitted, though --types names it`}
	if err != nil || !slices.Equal(info.Warnings, want) || !slices.Equal(info.Features, []string{"x"}) {
		t.Errorf("%v %q, %v", info.Features, info.Warnings, err)
	}
}

func TestTypeNames(t *testing.T) {
	for i, name := range []string{"number", "category", "count"} {
		typ, err := ParseType(name)
		b, _ := json.Marshal([]Type{typ})
		var back []Type
		if err != nil || typ != Type(i) || typ.String() != name || string(b) != `["`+name+`"]` || json.Unmarshal(b, &back) != nil || back[0] != typ {
			t.Errorf("%s: %v %s %v %v", name, typ, b, back, err)
		}
	}
	if _, err := ParseType("colour"); err == nil || err.Error() != `type "colour" is not one of number, category, count` {
		t.Error(err)
	}
	if _, err := json.Marshal(Type(3)); err == nil || Type(3).String() != "Type(3)" {
		t.Error("a type without a name")
	}
}

func TestTypesThatCannotBe(t *testing.T) {
	two := []string{"x", "g"}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Mixed: true, Categories: true}, "at once"},
		{Options{Mixed: true, Exact: two, Types: []TypeOf{{"x", Count}}}, "the model has types of its own"},
		{Options{Mixed: true, Exact: two, ExactTypes: []Type{Number}}, "types are given for 1 column, but the model has 2"},
		{Options{Mixed: true, Exact: two, Levels: [][]string{nil, {"a"}}}, "not which columns are categories"},
		{Options{Mixed: true, Exact: two, ExactTypes: []Type{Number, Category}, Levels: [][]string{{"1"}, {"a"}}}, `column "x": it has levels, but it is a number`},
		{Options{Mixed: true, Exact: two, ExactTypes: []Type{Number, Category}, Levels: [][]string{nil, nil}}, `column "g": 0 levels`},
		{Options{Mixed: true, Exact: two, ExactTypes: []Type{Number, Category}, Levels: [][]string{nil, {"a", "a"}}}, `column "g": the level "a" is there twice`},
		{Options{Unseen: "skip"}, `unseen "skip" is not one of error, missing`},
		{Options{Unseen: "missing", Missing: "model"}, "there are no levels of a model"},
		{Options{Mixed: true, Unseen: "missing", Exact: two, ExactTypes: []Type{Number, Category}, Levels: [][]string{nil, {"a"}}}, "only with --missing model"},
	} {
		c.o.Stdin = strings.NewReader("x,g\n1,a\n2,a\n")
		if _, _, err := Load(context.Background(), "-", c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
}

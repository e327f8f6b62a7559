package data

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// readTexts reads all cells as text: our scanner's view of the file.
func readTexts(text []byte, o Options, threads int) (header []string, rows [][]string, lines []int64, err error) {
	o.Threads = threads
	f, err := openCSV(context.Background(), bytes.NewReader(text), int64(len(text)), "f.csv", o)
	if err != nil {
		return nil, nil, nil, err
	}
	wants := make([]want, len(f.columns))
	for c := range wants {
		wants[c] = text1
	}
	err = f.read(context.Background(), wants, true, threads, func(b *batch) error {
		for i := range b.N {
			rows = append(rows, slices.Clone(b.Text[i*len(wants):(i+1)*len(wants)]))
			lines = append(lines, b.Line[i])
		}
		return nil
	})
	return f.columns, rows, lines, err
}

// text1 is text, under a name that no parameter hides.
const text1 = text

func TestCSVForms(t *testing.T) {
	for _, c := range []struct {
		name, in string
		o        Options
		header   string
		rows     string
		lines    string
	}{
		{"mark, quotes, CRLF, blank line, no last line end", "\xEF\xBB\xBF\"width, cm\",\"height\"\r\n1,2\r\n\r\n3,4\r\n5,6", Options{}, "width, cm|height", "1|2/3|4/5|6", "[2 4 5]"},
		{"line end in a cell", "a,b\n\"x\n\ny\",1\n2,\"say \"\"hi\"\"\"\n", Options{Header: "yes"}, "a|b", "x\n\ny|1/2|say \"hi\"", "[2 5]"},
		{"white space", " a , b\n 1 ,\t2 \n \"3\" , \"4\" \n", Options{}, "a|b", "1|2/3|4", "[2 3]"},
		{"runs of blanks", "  a   b\n 1  2.5  \n10\t3\n", Options{}, "a|b", "1|2.5/10|3", "[2 3]"},
		{"empty cells", "a,b,c\n,,\n1,,3\n", Options{}, "a|b|c", "||/1||3", "[2 3]"},
		{"semicolons", "a;b\n0,125;7,5\n2,375;6\n", Options{}, "a|b", "0,125|7,5/2,375|6", "[2 3]"},
		{"tabs", "a\tb c\n1\t2 3\n", Options{}, "a|b c", "1|2 3", "[2]"},
		{"no header", "1,2\n3,4\n", Options{}, "1|2", "1|2/3|4", "[1 2]"},
		{"blank lines first and last", "\n\r\na,b\n1,2\n\n\n", Options{}, "a|b", "1|2", "[4]"},
		{"one column", "x\n1\n2", Options{}, "x", "1/2", "[2 3]"},
	} {
		header, rows, lines, err := readTexts([]byte(c.in), c.o, 2)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var all []string
		for _, r := range rows {
			all = append(all, strings.Join(r, "|"))
		}
		if strings.Join(header, "|") != c.header || strings.Join(all, "/") != c.rows || fmt.Sprint(lines) != c.lines {
			t.Errorf("%s: got %q %q %v", c.name, header, all, lines)
		}
	}
}

func TestCSVErrors(t *testing.T) {
	long := strings.Repeat("1,2\n", 400000) // two chunks
	for _, c := range []struct {
		in   string
		o    Options
		want string
	}{
		{"a,b\n1,2\n3\n4,5,6\n", Options{}, "f.csv:3: 1 field, but the header has 2"},
		{"a,b\n1,2\n4,5,6,\n", Options{}, "f.csv:3: 4 fields, but the header has 2"},
		{"1,2\n\n3\n", Options{}, "f.csv:3: 1 field, but the first row has 2"},
		{"a b\n1 5 6\n2 7 8\n", Options{Delimiter: " "}, "f.csv:2: 3 fields, but the header has 2"},
		{"a,b\n1,2\n3,\"4\n5,6\n", Options{}, `f.csv:3: column "b": the quote that opens this cell is never closed`},
		{"a,b\n1,2\n3,4\"\n", Options{}, `f.csv:3: column "b": a quote inside an unquoted cell; put the whole cell in quotes and double the quotes inside`},
		{"a,b\n1,2\n3,\"4\"5\n", Options{}, `f.csv:3: column "b": text after the quote that closes a cell; write a quote inside a quoted cell twice`},
		{"", Options{}, "f.csv: the file is empty"},
		{"\n\n", Options{}, "f.csv: the file is empty"},
		{"\xFF\xFEa\x00,\x00b\x00\n\x00", Options{}, "f.csv: UTF-16 text; save it as UTF-8"},
		{"a\x00,\x00b\x00\n\x001\x00,\x002\x00", Options{}, "f.csv: UTF-16 text; save it as UTF-8"},
		{"a,b\n1,2\x00\n", Options{}, "f.csv: byte 8 is NUL: this is not a text file; give --format if it is of another kind"},
		{"a,b\r1,2\r", Options{}, "f.csv: its lines end in CR alone; save it with LF or CRLF line ends"},
		{"a,b\n" + long + "7\n" + long, Options{}, "f.csv:400002: 1 field, but the header has 2"},
		{"a,b\n" + long + "7,\"\n" + long, Options{}, `f.csv:400002: column "b": the quote that opens this cell is never closed`},
	} {
		for _, threads := range []int{1, 3} {
			_, _, _, err := readTexts([]byte(c.in), c.o, threads)
			if err == nil || err.Error() != c.want {
				t.Errorf("%.30q: got %v, want %s", c.in, err, c.want)
			}
		}
	}
}

// randomCSV writes text with every form the scanner knows, over several chunks.
func randomCSV(rng *rand.Rand, rows int) []byte {
	var b bytes.Buffer
	b.WriteString("a,b,c\n")
	for range rows {
		for j := range 3 {
			if j > 0 {
				b.WriteByte(',')
			}
			switch rng.IntN(8) {
			case 0:
				b.WriteString("\"x,\n\"\"y\"\"\n\n\"")
			case 1:
				b.WriteString("\"" + strings.Repeat("long\r\n", rng.IntN(300)) + "\"")
			case 2:
				b.WriteString("NA")
			default:
				b.WriteString(strconv.FormatFloat(rng.NormFloat64(), 'g', -1, 64))
			}
		}
		b.WriteString([]string{"\n", "\r\n", "\n\n", "\r\n\r\n"}[rng.IntN(4)])
	}
	return b.Bytes()
}

// TestCSVChunks checks text of many chunks against encoding/csv, on several numbers of threads.
func TestCSVChunks(t *testing.T) {
	text := randomCSV(rand.New(rand.NewPCG(3, 4)), 20000)
	if len(text) < 3*chunkSize {
		t.Fatalf("only %d bytes", len(text))
	}
	oracle, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, threads := range []int{1, 2, 3, 7} {
		_, rows, _, err := readTexts(text, Options{Header: "yes", Delimiter: ","}, threads)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != len(oracle)-1 {
			t.Fatalf("%d rows, want %d", len(rows), len(oracle)-1)
		}
		for i, r := range rows {
			for j, cell := range r {
				if want := oracle[i+1][j]; strings.ReplaceAll(cell, "\r\n", "\n") != want {
					t.Fatalf("row %d: %q, want %q", i, cell, want)
				}
			}
		}
	}
}

// TestCSVLongLines has cells and lines that are longer than a chunk.
func TestCSVLongLines(t *testing.T) {
	text := "x,t\n1,a\n2," + strings.Repeat("y", 3*chunkSize) + "\n3,b\n"
	_, rows, _, err := readTexts([]byte(text), Options{}, 2)
	if err != nil || len(rows) != 3 || len(rows[1][1]) != 3*chunkSize || rows[2][0] != "3" {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	var names, cells []string
	for i := range 20000 {
		names, cells = append(names, "c"+strconv.Itoa(i)), append(cells, strconv.Itoa(i%7))
	}
	text = strings.Join(names, ",") + "\n" + strings.Join(cells, ",") + "\n" + strings.Join(cells, ",")
	header, rows, _, err := readTexts([]byte(text), Options{}, 2)
	if err != nil || len(header) != 20000 || len(rows) != 2 || rows[1][19999] != strconv.Itoa(19999%7) {
		t.Errorf("%d names, %d rows, %v", len(header), len(rows), err)
	}
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "a,b\r\n\"x\"\"y\",2\r\n\r\n3,4", "\"a\nb\",c\n\"\",\n", "a\n\n\nb", "a,b\n1,\"2\n\"\n", "a,b\r", "x,y\n1,2\r\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, ours, lines, err := readTexts(text, Options{Header: "no", Delimiter: ","}, 2)
		_, again, _, err1 := readTexts(text, Options{Header: "no", Delimiter: ","}, 1)
		if fmt.Sprint(err) != fmt.Sprint(err1) || fmt.Sprint(ours) != fmt.Sprint(again) {
			t.Fatalf("two threads: %v %v, one: %v %v", ours, err, again, err1)
		}
		r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF"))))
		oracle, csvErr := r.ReadAll()
		if err != nil || csvErr != nil {
			return
		}
		if len(ours) != len(oracle) {
			t.Fatalf("%d rows %q, encoding/csv has %d %q", len(ours), ours, len(oracle), oracle)
		}
		for i := range ours {
			if lines[i] < 1 || i > 0 && lines[i] <= lines[i-1] {
				t.Fatalf("lines %v", lines)
			}
			for j := range ours[i] {
				// We trim white space, and keep CRLF inside quotes as it stands.
				a, b := strings.ReplaceAll(ours[i][j], "\r\n", "\n"), oracle[i][j]
				if strings.Trim(a, " \t") != strings.Trim(b, " \t") {
					t.Fatalf("row %d: %q, encoding/csv has %q", i, ours[i], oracle[i])
				}
			}
		}
	})
}

// numericFile writes n x d numbers with all their digits.
func numericFile(tb testing.TB, n, d int) (path string, size int64) {
	path = filepath.Join(tb.TempDir(), "big.csv")
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	rng := rand.New(rand.NewPCG(1, 1))
	var buf []byte
	for i := range n + 1 {
		buf = buf[:0]
		for j := range d {
			if j > 0 {
				buf = append(buf, ',')
			}
			if i == 0 {
				buf = fmt.Appendf(buf, "c%d", j)
			} else {
				buf = strconv.AppendFloat(buf, rng.NormFloat64()*3, 'g', -1, 64)
			}
		}
		w.Write(append(buf, '\n'))
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	size, _ = f.Seek(0, io.SeekCurrent)
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
	return path, size
}

// BenchmarkCSV reads 100,000 x 16 numbers of full precision into a Table.
func BenchmarkCSV(b *testing.B) {
	path, size := numericFile(b, 100000, 16)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Load(context.Background(), path, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// lines is a text of size bytes: head, then the same line again and again.
type lines struct {
	head, line string
	size       int64
}

func (l lines) ReadAt(b []byte, off int64) (int, error) {
	n := int(min(int64(len(b)), l.size-off))
	k := 0
	if off < int64(len(l.head)) {
		k = copy(b[:n], l.head[off:])
	}
	for at := int((off + int64(k) - int64(len(l.head))) % int64(len(l.line))); k < n; at = 0 {
		k += copy(b[k:n], l.line[at:])
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// TestCSVOpenQuote has a quote that turns a whole file into one cell: it is refused without holding the file.
func TestCSVOpenQuote(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a quarter of a GB")
	}
	for head, msg := range map[string]string{
		"x,t\n1,a\n2,\"b\n": "f.csv:3: column \"t\": the quote that opens this cell is never closed",
		"x,t\n1,a\n2,5\"\n": "f.csv:3: column \"t\": a quote inside an unquoted cell",
	} {
		l := lines{head, strings.Repeat("3,c\n", 1<<14), 3 * maxLine}
		f, err := openCSV(context.Background(), l, l.size, "f.csv", Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err = f.read(context.Background(), []want{number, text1}, true, 2, func(*batch) error { return nil })
		runtime.ReadMemStats(&after)
		if err == nil || !strings.HasPrefix(err.Error(), msg) {
			t.Errorf("got %v, want %s", err, msg)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 2*maxLine {
			t.Errorf("%d MB were allocated", n>>20)
		}
	}
}

// slowLook is lookClosely byte by byte.
func slowLook(buf []byte, n int, off int64, atEnd bool) chunkFacts {
	f, in := chunkFacts{first: [2]int64{-1, -1}, nul: -1}, 0
	for i := range n {
		if buf[i] == '"' {
			in = 1 - in
		}
		if buf[i] != '\n' {
			continue
		}
		f.lines++
		if blankLine(buf[i+1:], atEnd) {
			if i+1 < len(buf) {
				f.blank[in].add(f.lines)
			}
			continue
		}
		if f.first[in] < 0 {
			f.first[in], f.before[in] = off+int64(i)+1, f.lines
		}
		f.rows[in]++
	}
	f.odd = in == 1
	return f
}

// A look at a chunk finds what a look at every byte does, wherever the chunk ends: at its end, with the text, or with the text two bytes on.
func TestLooksAtChunksAreThoseAtBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 3000 {
		buf := make([]byte, 1+rng.IntN([]int{10, 200, 2*closeLook + 100}[rng.IntN(3)]))
		few := 1 + rng.IntN(40)
		for i := range buf {
			buf[i] = "\n\n\r\"ab"[min(rng.IntN(6*few), 5)]
		}
		for _, c := range []struct {
			n     int
			atEnd bool
		}{{len(buf), true}, {max(len(buf)-1, 0), true}, {max(len(buf)-2, 0), false}} {
			got := lookClosely(buf, c.n, 100, c.atEnd, chunkFacts{first: [2]int64{-1, -1}, nul: -1})
			if want := slowLook(buf, c.n, 100, c.atEnd); !reflect.DeepEqual(got, want) {
				t.Fatalf("%d of %q, at the end: %v: %+v, want %+v", c.n, buf, c.atEnd, got, want)
			}
		}
	}
}

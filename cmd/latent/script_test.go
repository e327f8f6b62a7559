package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/latent-go/latent/internal/rng"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"latent":         func() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"latent-process": main,
	})
}

// The scripts are the specification of the command: one file a behaviour. Numbers in them come from mathematics or
// from other programs, never from the command itself. Beside what testscript has, they use
//
//	status N latent ARGS...             run it and demand exit status N
//	json FILE PATH OP VALUE             a value of a JSON file: json stdout components.0.weight near 0.5 1e-9
//	cell FILE COLUMN ROW OP VALUE       a cell of a CSV file; rows count from 1
//	same FILE PATH FILE PATH TOLERANCE  two numbers of JSON files
//	count FILE N                        how many rows a CSV file has below its header
//	trace FILE                          what is true of every trace
//	only DIR NAMES...                   these files are in the folder and no others, hidden ones included
//	make WHAT FILE                      a generated table, see tables; CSV, or IDX by its name
//	pack gzip|zstd FILE                 FILE.gz or FILE.zst
//	unpack FILE CSV                     .npy or .parquet as CSV, by readers that are not latent's
//
// OP is = (or !=), near (with a number and an absolute tolerance), <, <=, >, >=, matches, len, null, absent. A path
// goes down by keys and by indices from 0.
func TestScripts(t *testing.T) {
	p := testscript.Params{
		Dir:                filepath.Join("testdata", "script"),
		RequireUniqueNames: true,
		UpdateScripts:      *update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": cmdStatus, "json": cmdJSON, "same": cmdSame, "cell": cmdCell, "count": cmdCount, "trace": cmdTrace,
			"only": cmdOnly, "make": cmdMake, "pack": cmdPack, "unpack": cmdUnpack,
		},
	}
	if testing.Short() { // under the race detector a process takes half a second to start, and there are four hundred
		for _, name := range []string{"same_bytes", "compressed", "out_folder", "label"} {
			p.Files = append(p.Files, filepath.Join(p.Dir, name+".txtar"))
		}
		p.Dir = ""
	}
	testscript.Run(t, p)
}

func need(ts *testscript.TestScript, neg bool, args []string, n int, usage string) {
	if neg || len(args) < n {
		ts.Fatalf("usage: %s", usage)
	}
}

func cmdStatus(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "status N PROGRAM ARGS...")
	got := 0
	var exit *exec.ExitError
	switch err := ts.Exec(args[1], args[2:]...); {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if args[0] != strconv.Itoa(got) {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "json FILE PATH OP [VALUE]")
	v, ok, err := lookUp(ts.ReadFile(args[0]), args[1])
	ts.Check(err)
	if err := judge(v, ok, args[2], args[3:]); err != nil {
		ts.Fatalf("%s: %v", args[1], err)
	}
}

func cmdSame(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 5, "same FILE PATH FILE PATH TOLERANCE")
	var x [2]float64
	for i := range x {
		v, _, err := lookUp(ts.ReadFile(args[2*i]), args[2*i+1])
		ts.Check(err)
		var ok bool
		if x[i], ok = v.(float64); !ok {
			ts.Fatalf("%s of %s is %v, want a number", args[2*i+1], args[2*i], v)
		}
	}
	tol, err := strconv.ParseFloat(args[4], 64)
	ts.Check(err)
	if !(math.Abs(x[0]-x[1]) <= tol) {
		ts.Fatalf("%v and %v", x[0], x[1])
	}
}

// lookUp returns the value at a path of a JSON text.
func lookUp(text, path string) (v any, ok bool, err error) {
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, false, err
	}
	for _, key := range strings.Split(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			if v, ok = x[key]; !ok {
				return nil, false, nil
			}
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(x) {
				return nil, false, err
			}
			v = x[i]
		default:
			return nil, false, nil
		}
	}
	return v, true, nil
}

// judge compares a value; ok is false where there is none.
func judge(v any, ok bool, op string, args []string) error {
	text, isText := v.(string)
	if !isText {
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		text = string(b)
	}
	wants := map[string]int{"null": 0, "absent": 0, "near": 2}
	if n, given := wants[op]; given && len(args) != n || !given && len(args) != 1 {
		return fmt.Errorf("%s takes another number of values than %d", op, len(args))
	}
	switch {
	case op == "absent" && ok:
		return fmt.Errorf("it is %s, want none", text)
	case op == "absent":
		return nil
	case !ok:
		return errors.New("there is none")
	}
	good := false
	switch op {
	case "null":
		good = v == nil
	case "=", "!=":
		good = text == args[0]
		if x, isNumber := v.(float64); isNumber {
			y, err := strconv.ParseFloat(args[0], 64)
			good = err == nil && x == y
		}
		good = good == (op == "=")
	case "matches":
		re, err := regexp.Compile(args[0])
		if err != nil {
			return err
		}
		good = re.MatchString(text)
	case "len":
		n := len(text)
		switch x := v.(type) {
		case []any:
			n = len(x)
		case map[string]any:
			n = len(x)
		case nil:
			n = -1
		}
		good = args[0] == strconv.Itoa(n)
	default:
		x, isNumber := v.(float64)
		if !isNumber {
			return fmt.Errorf("it is %s, want a number", text)
		}
		var w [2]float64
		for i, a := range args {
			var err error
			if w[i], err = strconv.ParseFloat(a, 64); err != nil {
				return err
			}
		}
		switch op {
		case "near":
			good = math.Abs(x-w[0]) <= w[1]
		case "<":
			good = x < w[0]
		case "<=":
			good = x <= w[0]
		case ">":
			good = x > w[0]
		case ">=":
			good = x >= w[0]
		default:
			return fmt.Errorf("%q is not known", op)
		}
	}
	if !good {
		return fmt.Errorf("it is %s, want %s %s", text, op, strings.Join(args, " "))
	}
	return nil
}

// table reads a CSV file; rows[0] is the header.
func table(ts *testscript.TestScript, file string) [][]string {
	rows, err := csv.NewReader(strings.NewReader(ts.ReadFile(file))).ReadAll()
	ts.Check(err)
	if len(rows) == 0 {
		ts.Fatalf("%s is empty", file)
	}
	return rows
}

func cmdCell(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 5, "cell FILE COLUMN ROW OP VALUE")
	rows := table(ts, args[0])
	at := slices.Index(rows[0], args[1])
	i, err := strconv.Atoi(args[2])
	if at < 0 || err != nil || i < 1 || i >= len(rows) {
		ts.Fatalf("%s has no column %q or no row %s", args[0], args[1], args[2])
	}
	var v any = rows[i][at]
	if x, err := strconv.ParseFloat(rows[i][at], 64); err == nil && !math.IsInf(x, 0) && x == x {
		v = x
	}
	if err := judge(v, true, args[3], args[4:]); err != nil {
		ts.Fatalf("column %s, row %d: %v", args[1], i, err)
	}
}

func cmdCount(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "count FILE N")
	if n := len(table(ts, args[0])) - 1; args[1] != strconv.Itoa(n) {
		ts.Fatalf("%d rows, want %s", n, args[1])
	}
}

// cmdTrace checks the laws of the free energy: neither half-step lowers F, it lies below the log-likelihood by kl, and
// at beta 1 the E-step closes that gap.
func cmdTrace(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "trace FILE")
	rows := table(ts, args[0])
	const head = "start,sweep,half,beta,free_energy,log_likelihood,kl,entropy,change,distance,seconds"
	if got := strings.Join(rows[0], ","); got != head {
		ts.Fatalf("columns %s, want %s", got, head)
	}
	number := func(i, j int) float64 {
		v, err := strconv.ParseFloat(rows[i][j], 64)
		if err != nil {
			ts.Fatalf("line %d, %s: %v", i+1, rows[0][j], err)
		}
		return v
	}
	for i := 1; i < len(rows); i++ {
		r, f := rows[i], number(i, 4)
		slack := 1e-9 * math.Abs(f)
		first := i == 1 || rows[i-1][0] != r[0]
		last := i == len(rows)-1 || rows[i+1][0] != r[0]
		switch {
		case !strings.Contains("EMS", r[2]):
			ts.Fatalf("line %d: half %s, want E, M or S", i+1, r[2])
		case first && r[2] == "M":
			ts.Fatalf("line %d: a start begins with half M, want E or S", i+1)
		case last && r[2] == "M":
			ts.Fatalf("line %d: a start ends with half M, want E or S", i+1)
		case !first && r[2] == rows[i-1][2] && r[2] != "S":
			ts.Fatalf("line %d: two halves %s in a row", i+1, r[2])
		case !first && f < number(i-1, 4)-slack && r[3] == rows[i-1][3]:
			ts.Fatalf("line %d: free energy falls from %s to %s", i+1, rows[i-1][4], r[4])
		case first != (r[8] == ""):
			ts.Fatalf("line %d: change is %q", i+1, r[8])
		case !first && math.Abs(number(i, 8)-(f-number(i-1, 4))) > slack:
			ts.Fatalf("line %d: change is %s, free energy goes from %s to %s", i+1, r[8], rows[i-1][4], r[4])
		case r[2] == "M" && (r[5] != "" || r[6] != ""):
			ts.Fatalf("line %d: log_likelihood %q and kl %q after an M half", i+1, r[5], r[6])
		case r[3] != "inf" && !(number(i, 3) > 0):
			ts.Fatalf("line %d: beta %q", i+1, r[3])
		case number(i, 10) < 0:
			ts.Fatalf("line %d: %s seconds", i+1, r[10])
		}
		if r[2] == "M" || r[5] == "" && r[3] == "inf" { // k-means has no likelihood
			continue
		}
		gap, kl := number(i, 5)-f, number(i, 6)
		if r[3] != "inf" {
			gap += (1/number(i, 3) - 1) * number(i, 7)
		}
		if math.Abs(gap-kl) > slack || kl < -slack || r[3] == "1" && kl > slack {
			ts.Fatalf("line %d: after an E half at beta %s: free_energy %s, log_likelihood %s, kl %s", i+1, r[3], r[4], r[5], r[6])
		}
	}
}

func cmdOnly(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "only DIR NAMES...")
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	got := []string{}
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if want := slices.Sorted(slices.Values(args[1:])); !slices.Equal(got, want) {
		ts.Fatalf("%s holds %q, want %q", args[0], got, want)
	}
}

// wide turns a list into rows of d.
func wide(v []float64, d int) [][]float64 {
	var rows [][]float64
	for len(v) >= d {
		rows, v = append(rows, v[:d]), v[d:]
	}
	return rows
}

func column(v ...float64) [][]float64 { return wide(v, 1) }

// halves are 600 rows of two columns of very different units, in two groups; power scales the first column.
func halves(power int) [][]float64 {
	z := rng.Normals(11, 1200)
	rows := make([][]float64, 600)
	for i := range rows {
		y := z[600+i] + 5
		if i < 300 {
			y = z[600+i] - 5
		}
		rows[i] = []float64{math.Ldexp(1000*z[i], power), y}
	}
	return rows
}

// tables are the generated tables, by name.
var tables = map[string]func() (head []string, rows [][]float64){
	"normal-3": func() ([]string, [][]float64) { return []string{"a", "b", "c"}, wide(rng.Normals(21, 900), 3) },
	"normal-8": func() ([]string, [][]float64) {
		return strings.Split("a b c d e f g h", " "), wide(rng.Normals(5, 16000), 8)
	},
	"offset": func() ([]string, [][]float64) {
		var v []float64
		for _, mid := range []float64{1e8, 1e8 + 1000} {
			for range 50 {
				v = append(v, mid-1, mid+1)
			}
		}
		return []string{"x"}, column(v...)
	},
	"repeated": func() ([]string, [][]float64) {
		return []string{"x"}, column(append(rng.Normals(3, 90), slices.Repeat([]float64{7.5}, 15)...)...)
	},
	"heavy": func() ([]string, [][]float64) {
		h := rng.Uniforms(7, 600)
		for i, u := range h {
			h[i] = math.Tan(math.Pi * (u - 0.5))
		}
		return []string{"a", "b"}, wide(h, 2)
	},
	"halves":       func() ([]string, [][]float64) { return []string{"a", "b"}, halves(0) },
	"halves-large": func() ([]string, [][]float64) { return []string{"a", "b"}, halves(30) },
	"halves-small": func() ([]string, [][]float64) { return []string{"a", "b"}, halves(-20) },
	"two-lumps": func() ([]string, [][]float64) {
		var v []float64
		for i := range 21 {
			v = append(v, -4+float64(i)/10, 2+float64(i)/10)
		}
		return []string{"x"}, column(v...)
	},
	"iris-moved": func() ([]string, [][]float64) { // other units, another zero, another order of rows
		b, err := os.ReadFile(filepath.Join("..", "..", "data", "datasets", "iris.csv"))
		if err != nil {
			panic(err)
		}
		scale, shift := []float64{2, 0.5, 10, 1024}, []float64{100, -3, 0, 1e6}
		var rows [][]float64
		for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n")[1:] {
			row := make([]float64, 4)
			for j, cell := range strings.Split(line, ",")[:4] {
				v, err := strconv.ParseFloat(cell, 64)
				if err != nil {
					panic(err)
				}
				row[j] = v*scale[j] + shift[j]
			}
			rows = append(rows, row)
		}
		slices.Reverse(rows)
		return strings.Split("a b c d", " "), rows
	},
	"one-row-wide": func() ([]string, [][]float64) {
		var row []float64
		for i := range 1000 {
			row = append(row, float64(i))
		}
		return nil, [][]float64{row}
	},
	"very-wide": func() ([]string, [][]float64) {
		var head []string
		rows := make([][]float64, 2)
		for i := range 20000 {
			head = append(head, "c"+strconv.Itoa(i))
			rows[0], rows[1] = append(rows[0], float64(i%7)), append(rows[1], float64(i%7+1+i%3))
		}
		return head, rows
	},
}

func cmdMake(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "make WHAT FILE")
	f := tables[args[0]]
	if f == nil {
		ts.Fatalf("no table %s", args[0])
	}
	head, rows := f()
	if strings.HasSuffix(args[1], ".idx") {
		ts.Check(writeIDX(ts.MkAbs(args[1]), rows))
		return
	}
	ts.Check(writeCSV(ts.MkAbs(args[1]), head, rows))
}

// writeIDX writes big-endian float64 in two dimensions.
func writeIDX(path string, rows [][]float64) error {
	b := []byte{0, 0, 0x0E, 2}
	b = binary.BigEndian.AppendUint32(b, uint32(len(rows)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(rows[0])))
	for _, row := range rows {
		for _, v := range row {
			b = binary.BigEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	return os.WriteFile(path, b, 0o666)
}

func writeCSV(path string, head []string, rows [][]float64) error {
	var b bytes.Buffer
	if head != nil {
		b.WriteString(strings.Join(head, ",") + "\n")
	}
	for _, row := range rows {
		for j, v := range row {
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
		}
		b.WriteByte('\n')
	}
	return os.WriteFile(path, b.Bytes(), 0o666)
}

func cmdPack(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "pack gzip|zstd FILE")
	var b bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&b)
	ending := ".gz"
	if args[0] == "zstd" {
		var err error
		w, err = zstd.NewWriter(&b)
		ts.Check(err)
		ending = ".zst"
	}
	_, err := io.WriteString(w, ts.ReadFile(args[1]))
	ts.Check(err)
	ts.Check(w.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[1]+ending), b.Bytes(), 0o666))
}

func cmdUnpack(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "unpack FILE CSV")
	b := []byte(ts.ReadFile(args[0]))
	f := unpackNPY
	if strings.HasSuffix(args[0], ".parquet") {
		f = unpackParquet
	}
	rows, err := f(b)
	ts.Check(err)
	var out bytes.Buffer
	ts.Check(csv.NewWriter(&out).WriteAll(rows))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), out.Bytes(), 0o666))
}

// unpackNPY reads version 1.0 with float64 in row order, and calls the columns 1 to d.
func unpackNPY(b []byte) ([][]string, error) {
	if len(b) < 10 || string(b[:8]) != "\x93NUMPY\x01\x00" {
		return nil, errors.New("not NPY version 1.0")
	}
	n := 10 + int(binary.LittleEndian.Uint16(b[8:]))
	m := regexp.MustCompile(`'descr': '<f8', 'fortran_order': False, 'shape': \((\d+), (\d+)\)`).FindSubmatch(b[10:n])
	if m == nil {
		return nil, fmt.Errorf("header %q", b[10:n])
	}
	count, _ := strconv.Atoi(string(m[1]))
	d, _ := strconv.Atoi(string(m[2]))
	if len(b) != n+count*d*8 {
		return nil, fmt.Errorf("%d bytes for %d x %d", len(b), count, d)
	}
	rows := [][]string{nil}
	for j := range d {
		rows[0] = append(rows[0], strconv.Itoa(j+1))
	}
	for i := range count {
		var row []string
		for j := range d {
			v := math.Float64frombits(binary.LittleEndian.Uint64(b[n+(i*d+j)*8:]))
			row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// unpackParquet reads flat columns through parquet-go's generic rows.
func unpackParquet(b []byte) ([][]string, error) {
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	rows := [][]string{nil}
	for _, field := range f.Schema().Fields() {
		rows[0] = append(rows[0], field.Name())
	}
	for _, group := range f.RowGroups() {
		r := group.Rows()
		buf := make([]parquet.Row, 16)
		for {
			n, err := r.ReadRows(buf)
			for _, row := range buf[:n] {
				var cells []string
				for _, v := range row {
					cells = append(cells, v.String())
				}
				rows = append(rows, cells)
			}
			if err != nil {
				r.Close()
				if err == io.EOF {
					break
				}
				return nil, err
			}
		}
	}
	return rows, nil
}

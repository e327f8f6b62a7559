package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/parquet-go/parquet-go"
)

// applied is a table to label and score: whole numbers from 0 to 200, so that every format can hold them.
type applied struct {
	names []string
	rows  [][]float64
}

// appliedTable makes n rows of columns x and y, with the row's number in a column key before them where keyed is set.
func appliedTable(n int, keyed bool) applied {
	t := applied{names: []string{"x", "y"}}
	if keyed {
		t.names = []string{"key", "x", "y"}
	}
	for i := range n {
		row := []float64{float64(i * 37 % 101), float64(i * 53 % 97)}
		if keyed {
			row = append([]float64{float64(i*7%200 + 1)}, row...)
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// text writes the table as lines of text.
func (t applied) text(delimiter string, header bool) []byte {
	var b bytes.Buffer
	if header {
		b.WriteString(strings.Join(t.names, delimiter) + "\n")
	}
	for _, row := range t.rows {
		for j, v := range row {
			if j > 0 {
				b.WriteString(delimiter)
			}
			b.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// npy writes the table as numpy.save would, in a cell type and an order.
func (t applied) npy(descr string, fortran bool) []byte {
	order := map[bool]string{true: "True", false: "False"}[fortran]
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%d, %d), }", descr, order, len(t.rows), len(t.names))
	head += strings.Repeat(" ", 63-(10+len(head))%64) + "\n"
	b := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(head)))
	b = append(b, head...)
	put := func(v float64) {
		switch descr {
		case "<f8":
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		case "<f4":
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		case "<i8":
			b = binary.LittleEndian.AppendUint64(b, uint64(int64(v)))
		case ">f8":
			b = binary.BigEndian.AppendUint64(b, math.Float64bits(v))
		case "|u1":
			b = append(b, byte(v))
		}
	}
	if fortran {
		for j := range t.names {
			for _, row := range t.rows {
				put(row[j])
			}
		}
		return b
	}
	for _, row := range t.rows {
		for _, v := range row {
			put(v)
		}
	}
	return b
}

// idx writes the table as an IDX file of float64 or of bytes.
func (t applied) idx(wide bool) []byte {
	b := []byte{0, 0, 0x08, 2}
	if wide {
		b[2] = 0x0E
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(t.rows)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(t.names)))
	for _, row := range t.rows {
		for _, v := range row {
			if wide {
				b = binary.BigEndian.AppendUint64(b, math.Float64bits(v))
			} else {
				b = append(b, byte(v))
			}
		}
	}
	return b
}

// parquet writes the table by parquet-go's own writer.
func (t applied) parquet(tb testing.TB) []byte {
	group := parquet.Group{}
	for _, name := range t.names {
		group[name] = parquet.Leaf(parquet.DoubleType)
	}
	schema := parquet.NewSchema("t", group)
	at := make([]int, len(t.names)) // columns of a group stand in the order of their names
	for j, name := range t.names {
		at[j] = slices.IndexFunc(schema.Columns(), func(path []string) bool { return path[0] == name })
	}
	var b bytes.Buffer
	w := parquet.NewWriter(&b, schema)
	for _, row := range t.rows {
		cells := make(parquet.Row, len(row))
		for j, v := range row {
			cells[at[j]] = parquet.DoubleValue(v).Level(0, 0, at[j])
		}
		if _, err := w.WriteRows([]parquet.Row{cells}); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// formats returns the table in every format that is read; those without names of columns are told so.
func (t applied) formats(tb testing.TB) map[string]struct {
	b     []byte
	named bool
} {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(t.text(",", true))
	z.Close()
	return map[string]struct {
		b     []byte
		named bool
	}{
		"named.csv": {t.text(",", true), true}, "bare.csv": {t.text(",", false), false}, "tabs.tsv": {t.text("\t", true), true}, "packed.csv.gz": {packed.Bytes(), true},
		"f8.npy": {t.npy("<f8", false), false}, "f4.npy": {t.npy("<f4", false), false}, "i8.npy": {t.npy("<i8", false), false}, "u1.npy": {t.npy("|u1", false), false},
		"big.npy": {t.npy(">f8", false), false}, "columns.npy": {t.npy("<f8", true), false},
		"f8.idx": {t.idx(true), false}, "u1.idx": {t.idx(false), false}, "t.parquet": {t.parquet(tb), true},
	}
}

// Two round components at (30, 20) and (70, 80) of variance 400 and weights 0.4 and 0.6.
const appliedModel = `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "spherical", "columns": ["x", "y"],
 "weights": [0.4, 0.6], "means": [[30, 20], [70, 80]], "covariances": [400, 400]}`

// appliedTo returns what the model says of a row by the formulas: label, probability of it, log density and squared
// Mahalanobis distance to the group.
func appliedTo(x, y float64) (label int, p, density, far float64) {
	var dist, joint [2]float64
	for c, mean := range [][2]float64{{30, 20}, {70, 80}} {
		dist[c] = ((x-mean[0])*(x-mean[0]) + (y-mean[1])*(y-mean[1])) / 400
		joint[c] = []float64{0.4, 0.6}[c] / (2 * math.Pi * 400) * math.Exp(-dist[c]/2)
	}
	label = 0
	if joint[1] > joint[0] {
		label = 1
	}
	return label + 1, joint[label] / (joint[0] + joint[1]), math.Log(joint[0] + joint[1]), dist[label]
}

// Every verb for new rows takes every format, from a file and from standard input, with each kind of leading cells and into
// each kind of output, and says of every row what the formulas say.
func TestEveryFormatIsLabelledAndScored(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("m.json", []byte(appliedModel), 0o666); err != nil {
		t.Fatal(err)
	}
	verbs := map[string][]string{"label": {"label", "probability", "uncertainty"}, "label --probabilities": {"label", "probability", "uncertainty", "p1", "p2"},
		"score": {"log_density"}, "score --mahalanobis": {"log_density", "mahalanobis_squared"}}
	lengths := []int{1, 70, 5000} // a block, some blocks, more than a batch
	if testing.Short() {
		lengths = lengths[:2]
	}
	for _, n := range lengths {
		for _, keyed := range []bool{false, true} {
			table := appliedTable(n, keyed)
			for name, file := range table.formats(t) {
				if err := os.WriteFile(name, file.b, 0o666); err != nil {
					t.Fatal(err)
				}
				for verb, added := range verbs {
					for _, lead := range []string{"", "--append", "--id"} {
						if keyed && lead != "--id" && !file.named || !keyed && lead == "--id" {
							continue // a third column that no name sets apart is an error of its own; without a key there is no id
						}
						for _, stdin := range []bool{false, true} {
							for _, out := range []string{"", "o.csv", "o.parquet", "o.npy"} {
								if n > 4096 && stdin && out != "" {
									continue // each by itself is enough beyond a batch
								}
								checkApplied(t, table, name, file.b, file.named, verb, added, lead, stdin, out)
							}
						}
					}
				}
			}
		}
	}
}

func checkApplied(t *testing.T, table applied, name string, file []byte, named bool, verb string, added []string, lead string, stdin bool, out string) {
	words := strings.Fields(verb)
	args := append([]string{words[0], "m.json", name}, words[1:]...)
	var in bytes.Reader
	if stdin {
		args[2] = "-"
		in.Reset(file)
	}
	switch lead {
	case "--append":
		args = append(args, lead)
	case "--id":
		args = append(args, lead, map[bool]string{true: "key", false: "1"}[named])
	}
	if out != "" {
		args = append(args, "-o", out)
	}
	if name == "bare.csv" || name == "tabs.tsv" && stdin { // one line of numbers, or of tabs without a name, is told
		args = append(args, "--header", map[bool]string{true: "yes", false: "no"}[named])
	}
	os.Remove(out)
	var stdout, stderr bytes.Buffer
	status := run(context.Background(), args, &in, &stdout, &stderr)
	if out == "o.npy" && lead != "" { // cells of the input are text, as ids are
		if _, err := os.Stat(out); status != 1 || err == nil || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%q: exit status %d, %v: %s", args, status, err, stderr.String())
		}
		return
	}
	if status != 0 {
		t.Errorf("%q of %s: exit status %d: %s", args, name, status, stderr.String())
		return
	}
	got, err := appliedOutput(out, stdout.Bytes())
	if err != nil {
		t.Errorf("%q: %v", args, err)
		return
	}
	if err := compareApplied(table, got, added, lead, named, out == "o.npy"); err != nil {
		t.Errorf("%q of %s: %v", args, name, err)
	}
}

// appliedOutput reads what was written.
func appliedOutput(out string, stdout []byte) ([][]string, error) {
	if out == "" {
		return csv.NewReader(bytes.NewReader(stdout)).ReadAll()
	}
	b, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	switch filepath.Ext(out) {
	case ".npy":
		return unpackNPY(b)
	case ".parquet":
		return unpackParquet(b)
	}
	return csv.NewReader(bytes.NewReader(b)).ReadAll()
}

func compareApplied(table applied, got [][]string, added []string, lead string, named, nameless bool) error {
	if len(got) != len(table.rows)+1 {
		return fmt.Errorf("%d lines for %d rows", len(got), len(table.rows))
	}
	// Places of the input's columns in the output: Parquet keeps its columns in the order of their names.
	place := map[string]int{}
	for j, name := range got[0] {
		place[name] = j
	}
	head := slices.Clone(table.names)
	if !named {
		for j := range head {
			head[j] = strconv.Itoa(j + 1)
		}
	}
	if !nameless {
		for _, name := range added {
			if _, ok := place[name]; !ok {
				return fmt.Errorf("the columns are %q, without %q", got[0], name)
			}
		}
	}
	for i, row := range table.rows {
		line := got[i+1]
		number := func(name string) float64 {
			j, ok := place[name]
			if nameless {
				j, ok = 1+slices.Index(added, name), true
			}
			if !ok {
				return math.NaN()
			}
			v, err := strconv.ParseFloat(line[j], 64)
			if err != nil {
				return math.NaN()
			}
			return v
		}
		switch {
		case lead == "--append":
			for j, name := range head {
				if v := number(name); v != row[j] {
					return fmt.Errorf("row %d, column %q: %v, want %v", i+1, name, v, row[j])
				}
			}
		case lead == "--id":
			if v := number(head[0]); v != row[0] {
				return fmt.Errorf("row %d: id %v, want %v", i+1, v, row[0])
			}
		case nameless:
			if line[0] != strconv.Itoa(i+1) {
				return fmt.Errorf("row %d is numbered %s", i+1, line[0])
			}
		case number("row") != float64(i+1):
			return fmt.Errorf("row %d is numbered %v", i+1, number("row"))
		}
		label, p, density, far := appliedTo(row[len(row)-2], row[len(row)-1])
		want := map[string]float64{"label": float64(label), "probability": p, "uncertainty": 1 - p, "log_density": density, "mahalanobis_squared": far,
			"p1": map[bool]float64{true: p, false: 1 - p}[label == 1], "p2": map[bool]float64{true: p, false: 1 - p}[label == 2]}
		for _, name := range added {
			if v := number(name); !(math.Abs(v-want[name]) <= 1e-12*max(1, math.Abs(want[name]))) {
				return fmt.Errorf("row %d: %s is %v, want %v", i+1, name, v, want[name])
			}
		}
	}
	return nil
}

package data

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// longID is the key of row i: beyond 2^53, each float64 stands for two of them.
func longID(i int) int64 { return 9007199254740993 + int64(i) }

const longRows = 30

// longFiles holds the same table in every format that has whole numbers of 64 bits.
func longFiles(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	var csv, tsv, points strings.Builder
	csv.WriteString("key,y\n")
	tsv.WriteString("key\ty\n")
	points.WriteString("key;y\n")
	type row struct {
		Key int64 `parquet:"key"`
		Y   int64 `parquet:"y"`
	}
	type unsigned struct {
		Key uint64 `parquet:"key"`
		Y   int64  `parquet:"y"`
	}
	type decimal struct {
		Key int64 `parquet:"key,decimal(0:18)"`
		Y   int64 `parquet:"y"`
	}
	type words struct {
		Key string `parquet:"key"`
		Y   int64  `parquet:"y"`
	}
	var rows []row
	var us []unsigned
	var ds []decimal
	var ws []words
	body := []byte{}
	for i := range longRows {
		k, y := longID(i), int64(i%7)
		fmt.Fprintf(&csv, "%d,%d\n", k, y)
		fmt.Fprintf(&tsv, "%d\t%d\n", k, y)
		fmt.Fprintf(&points, "9.007.199.254.740.%d;%d,5\n", 993+i%7, y) // no place for a carry
		rows, us = append(rows, row{k, y}), append(us, unsigned{uint64(k), y})
		ds, ws = append(ds, decimal{k, y}), append(ws, words{fmt.Sprint(k), y})
		body = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(body, uint64(k)), uint64(y))
	}
	files := map[string][]byte{
		"t.csv": []byte(csv.String()), "t.tsv": []byte(tsv.String()), "points.csv": []byte(points.String()),
		"int.parquet": parquetOf(t, rows), "uint.parquet": parquetOf(t, us), "decimal.parquet": parquetOf(t, ds), "text.parquet": parquetOf(t, ws),
		"int.npy": npy(1, npyHead("<i8", "False", fmt.Sprintf("(%d, 2)", longRows)), body...), "uint.npy": npy(1, npyHead("<u8", "False", fmt.Sprintf("(%d, 2)", longRows)), body...),
	}
	paths := map[string]string{}
	for name, b := range files {
		paths[name] = filepath.Join(dir, name)
		if err := os.WriteFile(paths[name], b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

func parquetOf[T any](t *testing.T, rows []T) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[T](&buf)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestLongIntegersAreNamed(t *testing.T) {
	ctx := context.Background()
	for name, path := range longFiles(t) {
		for _, stream := range []bool{false, true} {
			_, info, err := Load(ctx, path, Options{Stream: stream})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			key := info.Columns[0].Name
			want := fmt.Sprintf("column %q holds numbers beyond 2^53", key)
			if len(info.Features) != 1 || info.Features[0] == key || !strings.Contains(strings.Join(info.LeftOut(), ";"), key+" (identifier beyond 2^53)") {
				t.Errorf("%s: fitted %q, left out %q", name, info.Features, info.LeftOut())
			}
			if !strings.Contains(strings.Join(info.Warnings, ";"), want) {
				t.Errorf("%s: warnings %q, want %q", name, info.Warnings, want)
			}
			if _, info, err = Load(ctx, path, Options{Stream: stream, Columns: []string{"1"}}); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if len(info.Features) != 1 || info.Features[0] != key || !strings.Contains(strings.Join(info.Warnings, ";"), want+" such as ") {
				t.Errorf("%s: chosen by hand: fitted %q, warnings %q", name, info.Features, info.Warnings)
			}
			if _, info, err = Load(ctx, path, Options{Stream: stream, Exclude: []string{"1"}}); err != nil || len(info.Warnings) > 0 {
				t.Errorf("%s: excluded: warnings %q, %v", name, info.Warnings, err)
			}
		}
		r, err := Profile(ctx, path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := int64(longRows)
		if name == "points.csv" {
			want = 7
		}
		if r.Distinct[0] != want || !strings.Contains(strings.Join(r.Warnings, ";"), "beyond 2^53") {
			t.Errorf("%s: %d distinct keys, warnings %q", name, r.Distinct[0], r.Warnings)
		}
	}
}

// TestLongIntegersPassThrough: ids and known groups are text, so that two of them are one only if their digits are.
func TestLongIntegersPassThrough(t *testing.T) {
	for name, path := range longFiles(t) {
		if name == "points.csv" {
			continue
		}
		for _, stream := range []bool{false, true} {
			key := "key"
			if strings.HasSuffix(name, ".npy") {
				key = "1"
			}
			src, info, err := Load(context.Background(), path, Options{Stream: stream, ID: key, Truth: key})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if len(info.Warnings) > 0 {
				t.Errorf("%s: warnings %q of a column that is not fitted", name, info.Warnings)
			}
			var want []string
			for i := range longRows {
				want = append(want, fmt.Sprint(longID(i)))
			}
			if got := all(t, src, 7); !slices.Equal(got.ID, want) || !slices.Equal(got.Truth, want) {
				t.Errorf("%s: ids %q, truth %q", name, got.ID[:3], got.Truth[:3])
			}
		}
	}
}

// TestLongMeasurementsStay: times in nanoseconds lose digits too, but they are no identifiers.
func TestLongMeasurementsStay(t *testing.T) {
	var b strings.Builder
	b.WriteString("time,hash,y\n")
	for i := range 40 {
		fmt.Fprintf(&b, "%d,%d,%d\n", 1600000000000000001+int64(i)*1000000007, uint64(i+1)*11400714819323198485, i%5) // a multiplier of Fibonacci hashing
	}
	info, _ := loadText(t, b.String(), Options{})
	if !slices.Equal(info.Features, []string{"time", "y"}) {
		t.Errorf("fitted %q, left out %q", info.Features, info.LeftOut())
	}
	if w := strings.Join(info.Warnings, ";"); !strings.Contains(w, `"time" holds numbers beyond 2^53 such as 1600000000000000001`) || !strings.Contains(w, "--exclude time") {
		t.Errorf("warnings %q", w)
	}
	info, _ = loadText(t, "big,y\n9007199254740992,1\n18014398509481984,2\n", Options{})
	if len(info.Warnings) > 0 || len(info.Features) != 2 {
		t.Errorf("numbers that float64 holds: warnings %q, fitted %q", info.Warnings, info.Features)
	}
}

// TestLongIntegersInASample: only the rows that are read count.
func TestLongIntegersInASample(t *testing.T) {
	text := "key,y\n" + strings.Repeat("5,1\n7,2\n", 20) + "9007199254740993,3\n"
	if info, _ := loadText(t, text, Options{Limit: 40}); strings.Contains(strings.Join(info.Warnings, ";"), "2^53") {
		t.Errorf("warnings %q of a row that is not read", info.Warnings)
	}
	if info, _ := loadText(t, text, Options{}); !strings.Contains(strings.Join(info.Warnings, ";"), "2^53") {
		t.Errorf("warnings %q", info.Warnings)
	}
}

package data

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeNumbers writes n rows of two numbers, 5 i and 2 i, in the format of the name's ending, and returns the path.
func writeNumbers(t *testing.T, name string, n int) string {
	t.Helper()
	var b []byte
	switch filepath.Ext(name) {
	case ".npy":
		var body []byte
		for i := range n {
			body = binary.LittleEndian.AppendUint64(body, math.Float64bits(float64(5*i)))
			body = binary.LittleEndian.AppendUint64(body, math.Float64bits(float64(2*i)))
		}
		b = npy(1, npyHead("<f8", "False", fmt.Sprintf("(%d, 2)", n)), body...)
	case ".idx":
		b = []byte{0, 0, 0x0C, 2}
		b = binary.BigEndian.AppendUint32(b, uint32(n))
		b = binary.BigEndian.AppendUint32(b, 2)
		for i := range n {
			b = binary.BigEndian.AppendUint32(b, uint32(5*i))
			b = binary.BigEndian.AppendUint32(b, uint32(2*i))
		}
	case ".parquet":
		var w bytes.Buffer
		out, err := Create(&w, "parquet", []OutColumn{{Name: "a", Kind: Float}, {Name: "b", Kind: Float}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			out.Floats([]float64{float64(5 * i), float64(2 * i)})
			if err := out.End(); err != nil {
				t.Fatal(err)
			}
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		b = w.Bytes()
	default:
		b = []byte("a,b\n")
		for i := range n {
			b = fmt.Appendf(b, "%d,%d\n", 5*i, 2*i)
		}
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Hour) // what follows is later whatever the steps of the file system's clock
	if err := os.Chtimes(path, past, past); err != nil {
		t.Fatal(err)
	}
	return path
}

// pass reads all rows of src and returns their sum.
func pass(src Source) (sum float64, err error) {
	r, err := src.Open(context.Background())
	if err != nil {
		return 0, err
	}
	defer r.Close()
	for b := (Block{}); ; {
		if err := r.Read(&b, 1000); err == io.EOF {
			return sum, nil
		} else if err != nil {
			return 0, err
		}
		for _, v := range b.F64 {
			sum += v
		}
	}
}

// What other programs do to a file while it is read again and again is one clear error, in every format.
func TestFileChangesBetweenPasses(t *testing.T) {
	const n = 50_000
	for _, name := range []string{"x.npy", "x.idx", "x.csv", "x.parquet"} {
		for _, c := range []struct {
			what, want string
			do         func(path string) error
		}{
			{"cut short", "the file became shorter while it was read", func(path string) error { return os.Truncate(path, 5000) }},
			{"emptied", "the file became shorter while it was read", func(path string) error { return os.Truncate(path, 0) }},
			{"longer", "the file became longer while it was read", func(path string) error {
				f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
				if err == nil {
					_, err = f.WriteString("7,8\n")
				}
				return errors.Join(err, f.Close())
			}},
			{"written to", "the file was written to while it was read", func(path string) error {
				f, err := os.OpenFile(path, os.O_WRONLY, 0)
				if err == nil {
					_, err = f.WriteAt([]byte("8"), 150)
				}
				return errors.Join(err, f.Close())
			}},
		} {
			path := writeNumbers(t, name, n)
			src, info, err := Load(context.Background(), path, Options{Stream: true, Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			if sum, err := pass(src); err != nil || sum != 7*n*(n-1)/2 {
				t.Fatalf("%s: sum %v, %v", name, sum, err)
			}
			if err := info.Changed(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if err := c.do(path); err != nil {
				t.Fatal(err)
			}
			_, err = pass(src)
			if err == nil || !strings.HasPrefix(err.Error(), path+": "+c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s, %s: %v, want %q", name, c.what, err, c.want)
			}
			if err := info.Changed(); err == nil || !strings.Contains(err.Error(), "after it was read") {
				t.Errorf("%s, %s: Changed says %v", name, c.what, err)
			}
			src.(io.Closer).Close()
		}
	}
}

// Rows in memory are those of the file as it was read, whatever becomes of it.
func TestRowsInMemoryAreCopies(t *testing.T) {
	const n = 50_000
	for _, name := range []string{"x.npy", "x.idx", "x.csv", "x.parquet"} {
		path := writeNumbers(t, name, n)
		src, info, err := Load(context.Background(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, 100); err != nil {
			t.Fatal(err)
		}
		if sum, err := pass(src); err != nil || sum != 7*n*(n-1)/2 {
			t.Errorf("%s: sum %v, %v", name, sum, err)
		}
		if err := info.Changed(); err == nil || err.Error() != path+": the file became shorter after it was read" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A file whose size and time are the same after it was written to cannot be told from one that is as it was; its rows are
// wrong, but categories and numbers that were not there before are no panic.
func TestRewrittenWithoutTrace(t *testing.T) {
	path := write(t, "x.csv", "k,v\n"+strings.Repeat("aa,1\nbb,2\n", 30_000))
	for _, o := range []Options{{Categories: true, Stream: true}, {Stream: true, Columns: []string{"v"}}, {Categories: true, Stream: true, Exact: []string{"k"}, Levels: [][]string{{"aa", "bb"}}}} {
		src, _, err := Load(context.Background(), path, o)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		was, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{"zz,9\n", "aa,\"\n", "a,bc\n", "\n\n\n\n\n", ",,,,\n"} {
			now := append(was[:len(was)/2:len(was)/2], strings.Repeat(other, len(was)/10+1)[:len(was)-len(was)/2]...)
			if err := os.WriteFile(path, now, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, time.Time{}, info.ModTime()); err != nil {
				t.Fatal(err)
			}
			if _, err := pass(src); err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: %v", other, err)
			}
		}
		if err := os.WriteFile(path, was, 0o600); err != nil {
			t.Fatal(err)
		}
		src.(io.Closer).Close()
	}
}

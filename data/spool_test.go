package data

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// gzipped and zstandard compress b.
func gzipped(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func zstandard(b []byte) []byte {
	var out bytes.Buffer
	w, _ := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
	w.Write(b)
	w.Close()
	return out.Bytes()
}

// What a spool holds is what was written to it, in memory and in a file, whatever the pieces it came in.
func TestSpool(t *testing.T) {
	all := make([]byte, 5*spoolPart+77)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range all {
		all[i] = byte(rng.Uint32())
	}
	for _, most := range []int64{addressable, 2 * spoolPart} {
		s := &spool{name: "x", max: most, spill: most < addressable}
		if err := s.fill(context.Background(), iotest.OneByteReader(bytes.NewReader(all[:3000])), func([]byte) (int, error) { return -1, nil }); err != nil {
			t.Fatal(err)
		}
		if err := s.fill(context.Background(), iotest.HalfReader(bytes.NewReader(all[3000:])), func([]byte) (int, error) { return -1, nil }); err != nil {
			t.Fatal(err)
		}
		if inFile := s.file != nil; inFile != s.spill || s.size != int64(len(all)) || s.spill && s.held() > spoolPart {
			t.Fatalf("in a file: %t, %d bytes, %d held", inFile, s.size, s.held())
		}
		if err := iotest.TestReader(io.NewSectionReader(s, 0, s.size), all); err != nil {
			t.Error(err)
		}
		reads := 200
		if testing.Short() {
			reads = 20
		}
		for range reads {
			off, n := rng.IntN(len(all)), rng.IntN(3*spoolPart)
			p := make([]byte, n)
			got, err := s.ReadAt(p, int64(off))
			want := min(n, len(all)-off)
			if got != want || (err == io.EOF) != (got < n) || err != nil && err != io.EOF || !bytes.Equal(p[:got], all[off:off+got]) {
				t.Fatalf("%d bytes at %d: %d, %v", n, off, got, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// forever gives the same bytes again and again, and counts them.
type forever struct {
	text string
	read int64
}

func (f *forever) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		n += copy(p[n:], f.text[(f.read+int64(n))%int64(len(f.text)):])
	}
	f.read += int64(n)
	return n, nil
}

// A limit ends the reading of what would never end, soon after the last row that is wanted, and gives the rows that a file
// would give.
func TestLimitEndsReading(t *testing.T) {
	for _, c := range []struct {
		name, head, text string
		limit, sample    int64
		want             []float64
	}{
		{"no header", "", "1,2\n", 3, 0, []float64{1, 2, 1, 2, 1, 2}},
		{"header", "a,b\r\n", "1,2\r\n\r\n3,4\r\n", 3, 0, []float64{1, 2, 3, 4, 1, 2}},
		{"quotes", "a,\"b\nc\"\n", "1,\"2\"\n3,\" 4\n\"\n", 2, 0, []float64{1, 2, 3, 4}},
		{"sample", "a,b\n", "7,8\n", 100_000, 2, []float64{7, 8, 7, 8}},
	} {
		in := &forever{text: c.text}
		o := Options{Stdin: io.MultiReader(strings.NewReader(c.head), in), Limit: c.limit, Sample: c.sample, Format: "csv", Columns: []string{"1-2"}}
		if c.head != "" {
			o.Columns = []string{"*"}
		}
		src, info, err := Load(context.Background(), "-", o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := all(t, src, 10); fmt.Sprint(got.F64) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got.F64, c.want)
		}
		if most := int64(len(c.text))*c.limit + spoolPart + 64<<10; in.read > most {
			t.Errorf("%s: %d bytes were read, want %d at most", c.name, in.read, most)
		}
		if info.FileRows != -1 || !strings.Contains(strings.Join(info.Warnings, "; "), "what follows was not looked at") {
			t.Errorf("%s: %d rows in the file, %q", c.name, info.FileRows, info.Warnings)
		}
	}
}

// An array tells how long it is: of one in C order no more is read than the rows that are wanted.
func TestLimitOfArrays(t *testing.T) {
	const n, limit = 400_000, 5
	whole, err := os.ReadFile(writeNumbers(t, "x.npy", n))
	if err != nil {
		t.Fatal(err)
	}
	idx, err := os.ReadFile(writeNumbers(t, "x.idx", n))
	if err != nil {
		t.Fatal(err)
	}
	fortran := bytes.Replace(whole, []byte("'fortran_order': False"), []byte("'fortran_order': True "), 1)
	for _, c := range []struct {
		name string
		in   []byte
		want string
	}{
		{"npy", whole, "[0 0 5 2 10 4 15 6 20 8]"},
		{"idx", idx, "[0 0 5 2 10 4 15 6 20 8]"},
		{"fortran", fortran, ""},
	} {
		o := Options{Limit: limit, Columns: []string{"1,2"}}
		in := bytes.NewReader(c.in)
		o.Stdin = iotest.HalfReader(in)
		src, info, err := Load(context.Background(), "-", o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := all(t, src, 10)
		if got.N != limit || info.FileRows != n || c.want != "" && fmt.Sprint(got.F64) != c.want {
			t.Errorf("%s: %d of %d rows, %v", c.name, got.N, info.FileRows, got.F64)
		}
		if early := in.Len() > len(c.in)/2; early != (c.want != "") {
			t.Errorf("%s: %d of %d bytes were left", c.name, in.Len(), len(c.in))
		}
	}
}

// What unpacks to more than may be held is an error that says so, whatever it is packed with and wherever it comes from.
func TestUnpackedTooLarge(t *testing.T) {
	text := bytes.Repeat([]byte("1.5,2.5\n"), 4<<20/8*3)
	for name, b := range map[string][]byte{"gzip": gzipped(text), "zstd": zstandard(text), "plain": text} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, from := range []string{"-", path} {
			if from == path && name == "plain" {
				continue
			}
			var tooLarge *MemoryError
			_, _, err := Load(context.Background(), from, Options{Stdin: bytes.NewReader(b), MaxMemory: 2 << 20})
			if !errors.As(err, &tooLarge) || !strings.HasSuffix(err.Error(), ": it is larger, as it comes or unpacked, than the 2 MiB of memory that may be used") {
				t.Errorf("%s from %s: %v", name, from, err)
			}
			// Fewer rows are no problem, and neither are passes over a temporary file.
			for _, o := range []Options{{Limit: 10}, {Stream: true}} {
				o.Stdin, o.MaxMemory = bytes.NewReader(b), 2<<20
				src, _, err := Load(context.Background(), from, o)
				if err != nil {
					t.Errorf("%s from %s, limit %d: %v", name, from, o.Limit, err)
					continue
				}
				want := int64(len(text) / 8)
				if o.Limit > 0 {
					want = o.Limit
				}
				if n, _ := src.Shape(); n != want {
					t.Errorf("%s from %s, limit %d: %d rows, want %d", name, from, o.Limit, n, want)
				}
				if sum, err := pass(src); err != nil || sum != 4*float64(want) {
					t.Errorf("%s from %s: sum %v, %v", name, from, sum, err)
				}
				if c, ok := src.(io.Closer); ok {
					c.Close()
				}
			}
		}
	}
}

// The temporary file of a stream has no name by the time it is read, so nothing is left of it.
func TestSpillLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	text := bytes.Repeat([]byte("1.5,2.5\n"), 3*spillSize/16)
	src, _, err := Load(context.Background(), "-", Options{Stdin: bytes.NewReader(text), Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		wantFolder(t, dir, nil)
	}
	src.(io.Closer).Close()
	wantFolder(t, dir, nil)

	t.Setenv("TMPDIR", filepath.Join(dir, "none"))
	_, _, err = Load(context.Background(), "-", Options{Stdin: bytes.NewReader(text), Stream: true})
	if err == nil || !strings.Contains(err.Error(), "standard input: the temporary file that --stream needs, in ") || !strings.Contains(err.Error(), "set TMPDIR") {
		t.Errorf("no folder for it: %v", err)
	}
}

// Rows that would not fit are refused before there is room made for them, and fit in other forms.
func TestRowsTooLarge(t *testing.T) {
	const n = 100_000 // 2 columns of 8 bytes: 1.53 MiB
	path := writeNumbers(t, "x.npy", n)
	for _, c := range []struct {
		o   Options
		fit bool
	}{
		{Options{}, false}, {Options{Float32: true}, true}, {Options{Limit: n / 2}, true}, {Options{Sample: n / 2}, true}, {Options{Stream: true}, true},
		{Options{Columns: []string{"1"}}, true}, {Options{Columns: []string{"1"}, Spare: 8}, false}, {Options{Float32: true, Spare: 4}, false}, {Options{Columns: []string{"1"}, ID: "2"}, false},
	} {
		c.o.MaxMemory = 1 << 20
		src, _, err := Load(context.Background(), path, c.o)
		var tooLarge *MemoryError
		switch {
		case c.fit && err != nil:
			t.Errorf("%+v: %v", c.o, err)
		case !c.fit && !errors.As(err, &tooLarge):
			t.Errorf("%+v: not refused, but %v", c.o, err)
		case !c.fit && (!strings.Contains(err.Error(), "100,000 rows of ") || !strings.Contains(err.Error(), "MiB, which is more than the 1 MiB of memory")):
			t.Error(err)
		}
		if c, ok := src.(io.Closer); ok {
			c.Close()
		}
	}
	if _, err := Profile(context.Background(), path, Options{MaxMemory: 1 << 20}); err == nil || !strings.Contains(err.Error(), "100,000 rows") {
		t.Errorf("Profile: %v", err)
	}
	wide := filepath.Join(t.TempDir(), "wide.csv")
	if err := os.WriteFile(wide, []byte(strings.Repeat("1,", 5000)+"1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(context.Background(), wide, Options{MaxMemory: 1 << 20}); err == nil || !strings.Contains(err.Error(), "5,001 columns take ") {
		t.Errorf("wide: %v", err)
	}
	// Texts count as they come: 40 bytes each, and 16 for each cell of their column.
	var long strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&long, "%d,%s%020d\n", i%7, strings.Repeat("x", 20), i)
	}
	texts := write(t, "texts.csv", long.String())
	if _, _, err := Load(context.Background(), texts, Options{ID: "2", MaxMemory: 1 << 20}); err == nil || !strings.Contains(err.Error(), "the texts in columns") {
		t.Errorf("texts: %v", err)
	}
	if _, _, err := Load(context.Background(), texts, Options{ID: "2", MaxMemory: 2 << 20}); err != nil {
		t.Error(err)
	}
}

// What is damaged, or no member of its kind, is named; several members are one file.
func TestCompressedOddities(t *testing.T) {
	a, b := []byte("a,b\n1,2\n3,5\n"), []byte("4,7\n5,1\n")
	for _, c := range []struct{ name, in, want string }{
		{"two members", string(gzipped(a)) + string(gzipped(b)), ""},
		{"two frames", string(zstandard(a)) + string(zstandard(b)), ""},
		{"cut short", string(gzipped(a)[:20]), "the gzip data is damaged or cut short"},
		{"cut before its sum", string(gzipped(a)[:len(gzipped(a))-4]), "the gzip data is damaged or cut short"},
		{"zstd cut short", string(zstandard(a)[:12]), "the zstd data is damaged or cut short"},
		{"only a magic", "\x1F\x8B", "the gzip data is damaged or cut short"},
		{"garbage behind", string(gzipped(a)) + "garbage", "the gzip data is damaged or cut short"},
		{"packed twice", string(gzipped(gzipped(a))), "what it unpacks to is compressed again, with gzip"},
		{"xz", "\xFD7zXZ\x00\x00\x04abcdefgh", "a file packed with xz"},
		{"bzip2", "BZh91AY&SY\x00\x00\x00\x00\x00\x00", "a file packed with bzip2"},
		{"nothing inside", string(gzipped(nil)), "the file is empty"},
		{"nothing", "", "the file is empty"},
	} {
		path := write(t, "x.gz", c.in)
		for _, from := range []string{path, "-"} {
			src, _, err := Load(context.Background(), from, Options{Stdin: strings.NewReader(c.in)})
			switch {
			case c.want == "" && err != nil:
				t.Errorf("%s: %v", c.name, err)
			case c.want == "":
				if n, _ := src.Shape(); n != 4 {
					t.Errorf("%s: %d rows", c.name, n)
				}
			case err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n"):
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
		}
	}
}

// A pipe that is silent is left when the context ends.
func TestSilentPipe(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := Load(ctx, "-", Options{Stdin: r}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

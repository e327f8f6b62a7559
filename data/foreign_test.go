package data

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestForeignFiles gives the beginnings of files that are no tables, as their formats define them, in disguise and packed.
func TestForeignFiles(t *testing.T) {
	zipOf := func(names ...string) string {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for _, n := range names {
			f, err := w.Create(n)
			if err != nil {
				t.Fatal(err)
			}
			f.Write([]byte("x"))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, c := range []struct{ text, want string }{
		{`[{"a": 1}, {"a": 2}]`, "a JSON file; save the table in it as CSV"},
		{"\xEF\xBB\xBF\n { \"rows\": [[1,2],[3,4]] }\n", "a JSON file"},
		{"{\"a\":1}\n{\"a\":2}\n", "a JSON file"},
		{"[[1,2],[3,4]]", "a JSON file"},
		{"\n\n<!DOCTYPE html>\n<html><body>404</body></html>", "an HTML page"},
		{"<table><tr><td>1</td></tr></table>", "an HTML page"},
		{"<?xml version=\"1.0\"?><a/>", "an XML file"},
		{"@RELATION iris\n@ATTRIBUTE x NUMERIC\n@DATA\n1\n", "an ARFF file"},
		{"ARROW1\x00\x00\xff\xff\xff\xff", "an Arrow or Feather file"},
		{"FEA1\x00\x00\x00\x00", "a Feather file"},
		{"SQLite format 3\x00\x10\x00", "an SQLite database; export the table as CSV"},
		{"\x80\x04\x95\x1a\x00\x00\x00\x00\x00\x00\x00}", "a Python pickle"},
		{"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\x00", "a former Excel"},
		{"RDX3\nX\n\x00\x00\x00\x03", "an R data file"},
		{"X\n\x00\x00\x00\x03\x00\x04", "an R data file"},
		{"%PDF-1.7\n", "a PDF file"},
		{"\xFF\xFF\xFF\xFF\x78\x00\x00\x00\x10\x00\x00\x00\x00\x00", "a stream of Arrow records"},
		{"\x01\x02\x03\x04\x05\x06\x07\x08DUCK\x40\x00\x00\x00\x00\x00\x00\x00", "a DuckDB database"},
		{"[null, 1]", "a JSON file"},
		{"[true, false]\n", "a JSON file"},
		{"<svg xmlns=\"x\"/>", "an XML file"},
		{"RDA3\nA\n3\n262402\n", "an R data file"},
		{"MATLAB 7.3 MAT-file, Platform: GLNXA64", "a MATLAB file"},
		{"\x73\x02\x01\x00\x02\x00", "a Stata file"},
		{"II*\x00\x08\x00\x00\x00", "this is a picture"},
		{"RIFF\x10\x00\x00\x00WEBPVP8 ", "this is a picture"},
		{"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "a pointer of Git LFS"},
		{"BZh11AY&SY", "a file packed with bzip2; unpack it first"},
		{"BZh91AY&SY", "a file packed with bzip2; unpack it first"},
		{"\xFD7zXZ\x00\x00", "a file packed with xz; unpack it first"},
		{zipOf("[Content_Types].xml", "xl/workbook.xml"), "an Excel or Office file; save the sheet in it as CSV"},
		{zipOf("arr_0.npy"), "(npz); save one array with numpy.save"},
		{zipOf("readme"), "a zip archive (npz or a spreadsheet)"},
	} {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		z.Write([]byte(c.text))
		z.Close()
		for name, b := range map[string][]byte{"t.csv": []byte(c.text), "t.csv.gz": packed.Bytes()} {
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			for _, o := range []Options{{}, {Format: "csv"}} {
				_, _, err := Load(context.Background(), path, o)
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), path+": ") || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s, %q: got %v, want %q", name, c.text[:min(20, len(c.text))], err, c.want)
				}
			}
		}
	}
}

// TestTablesAreNotForeign: tables may begin with the signs of other formats.
func TestTablesAreNotForeign(t *testing.T) {
	for _, text := range []string{"[x],[y]\n1,2\n", "{x},y\n1,2\n", "<x,y\n1,2\n", "@id,y\n1,2\n", "ORCA,y\n1,2\n", "pk,y\n1,2\n", "RDX,y\n1,2\n", "X\n1\n2\n", "BZh,y\n1,2\n", "BZh9,y\n1,2\n", "species,DUCK\n1,2\n3,4\n5,6\n", "[true],[false]\n1,2\n", "MATLAB 5.0,y\n1,2\n", "ARROW1,y\n1,2\n"} {
		if _, _, err := Load(context.Background(), write(t, "t.csv", text), Options{}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

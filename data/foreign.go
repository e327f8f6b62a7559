package data

import (
	"bytes"
	"strings"
	"unicode"
)

// foreign names a kind of file that is no table which can be read here, by its first bytes, and says what to do about it;
// "" for any other. It goes by content alone: the ending of a name proves nothing.
func foreign(start []byte) string {
	for _, k := range magic {
		if len(start) >= k.at+len(k.mark) && string(start[k.at:k.at+len(k.mark)]) == k.mark {
			return k.what
		}
	}
	switch {
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		return archive(start)
	case bytes.HasPrefix(start, []byte("ORC")) && bytes.IndexByte(start, 0) >= 0: // a name may begin so
		return "an ORC file; " + saveTable
	case len(start) > 2 && start[0] == 0x80 && start[1] >= 2 && start[1] <= 5:
		return "a Python pickle; " + saveTable
	case len(start) >= 12 && string(start[:4]) == "\xFF\xFF\xFF\xFF" && string(start[8:12]) == "\x10\x00\x00\x00": // between them, a length
		return "a stream of Arrow records; " + saveTable
	case len(start) >= 20 && string(start[8:12]) == "DUCK" && bytes.IndexByte(start[12:20], 0) >= 0: // a cell may hold DUCK
		return "a DuckDB database; export the table as CSV or Parquet"
	case len(start) >= 10 && string(start[:3]) == "BZh" && string(start[4:10]) == "1AY&SY":
		return "a file packed with bzip2; " + unpackIt
	case len(start) > 4 && start[0] >= 0x71 && start[0] <= 0x77 && (start[1] == 1 || start[1] == 2) && start[2] == 1 && start[3] == 0:
		return "a Stata file; " + saveTable
	}
	return markup(start)
}

const (
	saveTable = "save the table in it as CSV, NPY or Parquet"
	unpackIt  = "unpack it first, or pack the table with gzip or zstd"
)

// magic are the bytes at fixed places that files of a kind have.
var magic = []struct {
	at         int
	mark, what string
}{
	{0, "ARROW1\x00\x00", "an Arrow or Feather file; " + saveTable},
	{0, "FEA1", "a Feather file; " + saveTable},
	{0, "SQLite format 3\x00", "an SQLite database; export the table as CSV"},
	{0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "a former Excel or Office file; " + saveTable},
	{0, "\x89HDF", "an HDF5 file; " + saveTable},
	{0, "CDF\x01", "a NetCDF file; " + saveTable},
	{0, "CDF\x02", "a NetCDF file; " + saveTable},
	{0, "MATLAB 5.0 MAT-file", "a MATLAB file; " + saveTable},
	{0, "MATLAB 7.3 MAT-file", "a MATLAB file; " + saveTable},
	{0, "RDX2\n", "an R data file; " + saveTable},
	{0, "RDX3\n", "an R data file; " + saveTable},
	{0, "RDA2\n", "an R data file; " + saveTable},
	{0, "RDA3\n", "an R data file; " + saveTable},
	{0, "X\n\x00\x00\x00", "an R data file; " + saveTable},
	{0, "<stata_dta>", "a Stata file; " + saveTable},
	{0, "$FL2@(#)", "an SPSS file; " + saveTable},
	{0, "$FL3@(#)", "an SPSS file; " + saveTable},
	{12, "\xC2\xEA\x81\x60", "a SAS file; " + saveTable},
	{0, "Obj\x01", "an Avro file; " + saveTable},
	{0, "%PDF-", "a PDF file; " + saveTable},
	{0, "\xFD7zXZ\x00", "a file packed with xz; " + unpackIt},
	{0, "7z\xBC\xAF\x27\x1C", "a 7-Zip archive; " + unpackIt},
	{0, "\x04\x22\x4D\x18", "a file packed with LZ4; " + unpackIt},
	{257, "ustar", "a tar archive; take the table out of it first"},
	{0, "\x89PNG", notAPicture},
	{0, "\xFF\xD8\xFF", notAPicture},
	{0, "GIF8", notAPicture},
	{0, "II*\x00", notAPicture},
	{0, "MM\x00*", notAPicture},
	{8, "WEBPVP8", notAPicture},
	{0, "version https://git-lfs.github.com/spec/", "a pointer of Git LFS in place of the file; fetch the file with git lfs pull"},
}

const notAPicture = "this is a picture; latent reads tables of numbers, and latent segment pictures"

// archive tells the kinds of zip archives apart by the names in them.
func archive(start []byte) string {
	has := func(name string) bool { return bytes.Contains(start, []byte(name)) }
	switch {
	case has("xl/"), has("[Content_Types].xml"):
		return "an Excel or Office file; save the sheet in it as CSV"
	case has("opendocument.spreadsheet"):
		return "an OpenDocument spreadsheet; save the sheet in it as CSV"
	case has(".npy"):
		return "a zip archive of NumPy arrays (npz); save one array with numpy.save"
	case has("data.pkl"):
		return "a PyTorch file; save the array in it with numpy.save"
	}
	return "a zip archive (npz or a spreadsheet); " + saveTable
}

// markup names text that is written for a program rather than as lines of cells: JSON, HTML, XML, ARFF.
func markup(start []byte) string {
	text := bytes.TrimPrefix(start, []byte("\xEF\xBB\xBF"))
	text = bytes.TrimLeftFunc(text[:min(len(text), 4096)], unicode.IsSpace)
	lower := strings.ToLower(string(text[:min(len(text), 64)]))
	begins := func(words ...string) bool {
		for _, w := range words {
			if strings.HasPrefix(lower, w) {
				return true
			}
		}
		return false
	}
	switch {
	case begins("<!doctype html", "<html", "<head", "<body", "<table", "<!--", "<div", "<meta", "<script"):
		return "an HTML page, perhaps an error or a log-in in place of the table; save the table in it as CSV"
	case begins("<?xml", "<!doctype", "<svg", "<rss", "<data>", "<rows>", "<root>"):
		return "an XML file; save the table in it as CSV"
	case begins("@relation"):
		return "an ARFF file; save the table in it as CSV"
	case isJSON(text):
		return "a JSON file; save the table in it as CSV, NPY or Parquet"
	}
	return ""
}

// isJSON reports whether a text starts as a JSON object or list does.
func isJSON(text []byte) bool {
	if len(text) < 2 {
		return false
	}
	rest := bytes.TrimLeftFunc(text[1:], unicode.IsSpace)
	if len(rest) == 0 {
		return false
	}
	switch text[0] {
	case '{':
		return rest[0] == '"' || rest[0] == '}'
	case '[':
		for _, word := range []string{"null", "true", "false"} {
			if after, ok := bytes.CutPrefix(rest, []byte(word)); ok && len(after) > 0 && bytes.IndexByte([]byte(", \r\n"), after[0]) >= 0 {
				return true
			}
		}
		return bytes.IndexByte([]byte(`{["]`), rest[0]) >= 0 || rest[0] == '-' || rest[0]-'0' <= 9
	}
	return false
}

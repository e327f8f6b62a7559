package data

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file is called by Options.Name wherever its path would be told.
func TestAFileIsCalledByItsName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "upload-1")
	for text, want := range map[string]string{
		"a,b\n1,2\n3\n4,5\n": "my table.csv:3: ",
		"a\nx\ny\nz\n":       "my table.csv: ",
		"":                   "my table.csv: ",
		"age,height\n31,180\n4l,175\n28,169\n7,160\n": "my table.csv:3: ",
		"\x93NUMPY\x01\x00ab":                         "my table.csv: ",
		"PAR1 and nothing":                            "my table.csv: ",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := Load(t.Context(), path, Options{Name: "my table.csv"})
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), dir) {
			t.Errorf("%.10q: %v; it should begin with %q", text, err, want)
		}
	}
	for _, o := range []Options{{Name: "my table.csv"}, {Name: "my table.csv", Stdin: strings.NewReader("a,b\n1,2\n3,4\n")}} {
		from := path
		if o.Stdin != nil {
			from = "-"
		}
		os.WriteFile(path, []byte("a,b\n1,2\n3,4\n"), 0o600)
		_, info, err := Load(t.Context(), from, o)
		if err != nil || info.Name != "my table.csv" {
			t.Fatalf("%v, name %q", err, info.Name)
		}
		if o.Stdin == nil {
			os.WriteFile(path, []byte("a,b\n1,2\n3,4\n5,6\n"), 0o600)
			if err := info.Changed(); err == nil || !strings.HasPrefix(err.Error(), "my table.csv: ") {
				t.Errorf("after a change: %v", err)
			}
		}
	}
	for _, missing := range []string{filepath.Join(dir, "none"), t.TempDir(), "@none"} {
		if _, _, err := Load(t.Context(), missing, Options{Name: "it"}); err == nil || !strings.HasPrefix(err.Error(), "it: ") {
			t.Errorf("%s: %v", missing, err)
		}
	}
}

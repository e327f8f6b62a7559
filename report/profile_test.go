package report

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// line returns the cells of the line of a page's first table that begins with name.
func line(t *testing.T, page, name string) []string {
	t.Helper()
	_, table, _ := strings.Cut(page, `<table class="profile">`)
	table, _, _ = strings.Cut(table, "</table>")
	for _, row := range strings.Split(table, "<tr>") {
		cells := regexp.MustCompile(`<[^>]*>`).Split(row, -1)
		cells = slices.DeleteFunc(cells, func(s string) bool { return s == "" })
		if len(cells) > 0 && cells[0] == name {
			return cells[1:]
		}
	}
	t.Fatalf("the first table has no line %q", name)
	return nil
}

// The first table of a page has every column of the data, those that were not fitted too. Two groups a hundred standard deviations apart: rows
// count for their own alone, so that means are those of three rows each.
func TestAPageBeginsWithAllColumnsOfTheData(t *testing.T) {
	const text = "x,note,far,kind\n0,a,10,u\n1,b,20,u\n2,c,60,v\n200,d,100,v\n201,e,,v\n202,f,200,v\n"
	path := filepath.Join(t.TempDir(), "six.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m := new(model.Model)
	err := m.UnmarshalJSON([]byte(`{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "spherical", "columns": ["x"],
		"weights": [0.5, 0.5], "means": [[1], [201]], "covariances": [1, 1]}`))
	if err != nil {
		t.Fatal(err)
	}
	src, info, err := data.Load(context.Background(), path, data.Options{Exact: m.Columns, Stream: true, Carry: true})
	if err != nil {
		t.Fatal(err)
	}
	defer src.(io.Closer).Close()
	table, err := Describe(context.Background(), m, src, info, 1)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := Gather(context.Background(), m, src, 1)
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := Write(&page, Page{Result: latent.Told(m), Rows: rows, Table: table}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"rows":       "6 3 3",
		"x":          "over 99.9 % 0 101 (100.0) 1 (0.8) 201 (0.8)", // variances 2/3 and 2/3 + 100^2
		"far *":      "73.0 % 1 78 (68.8) 30 (21.6) 150 (50.0)",     // (3 * 48^2 + 2 * 72^2) / 23680
		"kind = v *": "50.0 % 0 67 % 33 % 100 %",                    // half of the rows have the entropy of all, the others none
	} {
		if got := strings.Join(line(t, page.String(), name), " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

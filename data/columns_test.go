package data

import (
	"fmt"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	s := newColumnSet("f.csv", []string{"sepal_length", "sepal_width", "width, cm", "a-b", "x", "y*", "z"})
	for _, c := range []struct{ list, want string }{
		{"x", "[4]"}, {"z,x", "[6 4]"}, {"sepal_*", "[0 1]"}, {"x-z", "[4 5 6]"}, {"1-3", "[0 1 2]"}, {"7", "[6]"},
		{"/^sepal_(l|w)/", "[0 1]"}, {"/^.{1,2}$/", "[4 5 6]"}, {"width, cm", "[2]"}, {"x,width, cm,z", "[4 2 6]"},
		{"a-b", "[3]"}, {"a-b-z", "[3 4 5 6]"}, {"y*", "[5]"}, {"?", "[4 6]"}, {"x,x,1-2", "[4 0 1]"}, {"sepal_width-a-b", "[1 2 3]"},
		{"y", `column "y" is not in f.csv; its columns are: sepal_length, sepal_width, width, cm, a-b, x, y*, z`},
		{"q*", `column "q*" is not in f.csv; its columns are: sepal_length, sepal_width, width, cm, a-b, x, y*, z`},
		{"X", `column "X" is not in f.csv; its columns are: sepal_length, sepal_width, width, cm, a-b, x, y*, z`},
		{"8", `column "8" is not in f.csv; its columns are: sepal_length, sepal_width, width, cm, a-b, x, y*, z`},
		{"z-x", `columns z-x: "z" comes after "x" in f.csv`},
		{"/(/", "columns /(/: error parsing regexp: missing closing ): `(`"},
	} {
		got, err := s.match([]string{c.list})
		out := fmt.Sprint(got)
		if err != nil {
			out = err.Error()
		}
		if out != c.want {
			t.Errorf("%s: got %s, want %s", c.list, out, c.want)
		}
	}
}

func TestUnknownColumnNamesTheNearest(t *testing.T) {
	names := strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda")
	_, err := newColumnSet("f.csv", names).match([]string{"Thetta"})
	want := `column "Thetta" is not in f.csv; the nearest names are: theta, `
	if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Count(err.Error(), ", ") != 7 {
		t.Errorf("got %v", err)
	}
}

func TestColumnNamesAreDistinct(t *testing.T) {
	s := newColumnSet("f.csv", []string{"a", "a", "a_2", "", "", "a"})
	if got := fmt.Sprint(s.names); got != "[a a_3 a_2 unnamed unnamed_2 a_4]" {
		t.Errorf("got %s", got)
	}
	if len(s.notes) != 2 || s.notes[0] != `column 2 is called "a" like another one before it; it is read as "a_3"` {
		t.Errorf("notes: %q", s.notes)
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0}} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("%s, %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func FuzzColumns(f *testing.F) {
	for _, s := range []string{"a", "a-c", "1-2", "/a|b/", "*", "a,b", ",", "-", "//", "a-", "/", "0-9", "?*", "99999999999999999999-1"} {
		f.Add(s, "a,b c,d-e")
	}
	f.Fuzz(func(t *testing.T, list, header string) {
		s := newColumnSet("f.csv", strings.Split(header, ","))
		if len(s.at) != len(s.names) {
			t.Fatalf("names are not distinct: %q", s.names)
		}
		cols, err := s.match([]string{list})
		if err == nil && len(cols) == 0 {
			t.Fatal("no columns and no error")
		}
		for _, c := range cols {
			if c < 0 || c >= len(s.names) {
				t.Fatalf("column %d of %d", c, len(s.names))
			}
		}
		if _, ok := s.at[list]; ok && (err != nil || len(cols) != 1 || s.names[cols[0]] != list) {
			t.Fatalf("an exact name gave %v, %v", cols, err)
		}
	})
}
